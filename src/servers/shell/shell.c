/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/shell/shell.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "loop/signal.h"
#include "servers/args.h"
#include "servers/roots.h"
#include "servers/server.h"
#include "servers/shell/command.h"
#include "servers/shell/jail.h"

#define USAGE "Usage: symposium shell [--sandbox] [--allow-root] [DIR ...]"

struct shell {
    struct server *server;
    struct roots *roots;
    struct jail *jail; /* NULL: none */
    struct commands *commands;
};

/* ---- execute_command ---- */

struct execute_args {
    struct str program, cwd;
    struct arg_strings args;
    int64_t timeout_ms;
    bool has_args, has_cwd, has_timeout;
};

static const struct arg execute_table[] = {
    { "program", ARG_STRING, offsetof(struct execute_args, program), 0 },
    { "args", ARG_STRINGS, offsetof(struct execute_args, args),
      offsetof(struct execute_args, has_args) },
    { "cwd", ARG_STRING, offsetof(struct execute_args, cwd),
      offsetof(struct execute_args, has_cwd) },
    { "timeout_ms", ARG_INT, offsetof(struct execute_args, timeout_ms),
      offsetof(struct execute_args, has_timeout) },
    { 0 },
};

static bool has_nul(struct str s)
{
    return s.n && memchr(s.p, '\0', s.n);
}

/* Into an argv; false when a NUL byte would cut one of them short. */
static bool make_argv(struct arena *a, struct str program, const struct arg_strings *args,
                      const char *const **ret)
{
    const char **argv = ARENA_ARRAY(a, const char *, args->n + 2);

    argv[0] = arena_z(a, program);
    for (size_t i = 0; i < args->n; i++) {
        if (has_nul(args->v[i]))
            return false;
        argv[i + 1] = arena_z(a, args->v[i]);
    }
    *ret = argv;
    return !has_nul(program);
}

/* False when `r` was answered. */
static bool read_spec(struct mcp_req *r, yyjson_val *args, struct command_spec *ret)
{
    struct execute_args x = { .timeout_ms = COMMAND_TIMEOUT_MS };
    struct arena *a = mcp_req_arena(r);
    struct error e;

    if (!args_read(a, args, execute_table, false, &x, &e)) {
        tool_fail(r, ARGS_FAILED "%s", e.msg);
        return false;
    }
    if (x.timeout_ms < 0) {
        tool_fail(
            r, ARGS_FAILED "field `timeout_ms`: expected an unsigned integer, found %" PRId64,
            x.timeout_ms);
        return false;
    }
    x.program = str_trim(x.program);
    if (!x.program.n) {
        tool_fail(r, "program must be a non-empty executable name or path");
        return false;
    }
    if (x.timeout_ms < 1 || x.timeout_ms > COMMAND_TIMEOUT_MAX) {
        tool_fail(r, "timeout_ms must be between 1 and %d, got %" PRId64, COMMAND_TIMEOUT_MAX,
                  x.timeout_ms);
        return false;
    }
    *ret = (struct command_spec){ .timeout_ms = (int)x.timeout_ms };
    if (x.has_cwd)
        ret->cwd = x.cwd.p ? x.cwd : STR("");
    if (!make_argv(a, x.program, &x.args, &ret->argv)) {
        tool_fail(r, "Failed to spawn %.*s: an argument contains a NUL byte", PATH_MAX,
                  arena_z(a, x.program));
        return false;
    }
    ret->program = ret->argv[0];
    return true;
}

static void execute_command(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    struct shell *s = ctx;
    struct command_setting setting = { 0 };
    struct command_spec spec;

    if (roots_wait(s->roots, r, args, execute_command, ctx))
        return;
    if (!read_spec(r, args, &spec))
        return;
    if (s->jail) {
        setting.env = jail_env(s->jail);
        setting.sandbox_fd = jail_ruleset(s->jail);
    }
    command_run(s->commands, r, roots_now(s->roots), &setting, &spec);
}

#define DESCRIPTION                                                                        \
    "Run one program and return its exit code, stdout and stderr. `program` is an "        \
    "executable name searched in PATH, or a path (relative ones are taken from cwd); "     \
    "`args` are passed as they are: there is no shell, so no quoting, globbing, pipes or " \
    "variables. For shell syntax run `bash` with args [\"-lc\", \"...\"]. cwd must lie "   \
    "within the allowed directories (default: the first one). stdin is empty. Of each "    \
    "output stream 1 MiB is kept (the first 256 KiB and the last 768 KiB). A command "     \
    "that takes longer than timeout_ms is terminated with all its children, which is "     \
    "reported as timed_out. A non-zero exit code is a normal result. "
#define DESCRIPTION_FREE                                                                   \
    "Programs run with this server's permissions and environment: the cwd restriction is " \
    "not a sandbox."
#define DESCRIPTION_SANDBOX                                                                \
    "Programs run with this server's environment, in a sandbox: files can be written, "    \
    "created and removed only within the allowed directories, in a private TMPDIR and on " \
    "/dev/null, /dev/zero, /dev/full, /dev/tty; there are no network sockets, only "       \
    "unix-domain ones. Reading is not limited, and neither are processes that are "        \
    "reachable over unix sockets (docker, D-Bus), nor permissions, owners and times of "   \
    "existing files. Programs that gain rights (sudo) and 32-bit programs do not work."

#define INPUT                                                                                \
    "{\"type\":\"object\",\"properties\":{"                                                  \
    "\"program\":{\"type\":\"string\",\"description\":"                                      \
    "\"Executable name (searched in PATH) or path\"},"                                       \
    "\"args\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"default\":[],"           \
    "\"description\":\"Arguments, passed unchanged\"},"                                      \
    "\"cwd\":{\"type\":[\"string\",\"null\"],\"default\":null,\"description\":"              \
    "\"Working directory within the allowed directories; default: the first of them\"},"     \
    "\"timeout_ms\":{\"type\":\"integer\",\"minimum\":0,\"default\":120000,\"description\":" \
    "\"Milliseconds until the command is terminated, 1 to 600000\"}},"                       \
    "\"required\":[\"program\"]}"

#define OUTPUT                                                                                 \
    "{\"type\":\"object\",\"properties\":{"                                                    \
    "\"exit_code\":{\"type\":[\"integer\",\"null\"],\"description\":"                          \
    "\"null: ended by a signal\"},"                                                            \
    "\"stdout\":{\"type\":\"string\"},\"stderr\":{\"type\":\"string\"},"                       \
    "\"timed_out\":{\"type\":\"boolean\"},"                                                    \
    "\"stdout_truncated\":{\"type\":\"boolean\"},\"stderr_truncated\":{\"type\":\"boolean\"}," \
    "\"signal\":{\"type\":[\"string\",\"null\"],\"description\":\"For example SIGKILL\"},"     \
    "\"duration_ms\":{\"type\":\"integer\",\"minimum\":0}},"                                   \
    "\"required\":[\"exit_code\",\"stdout\",\"stderr\",\"timed_out\",\"stdout_truncated\","    \
    "\"stderr_truncated\",\"signal\",\"duration_ms\"]}"

#define EXECUTE_COMMAND(text)                                                                \
    {                                                                                        \
        .name = "execute_command", .title = "Execute Command", .description = (text),        \
        .input = INPUT, .output = OUTPUT, .read_only = HINT_FALSE, .destructive = HINT_TRUE, \
        .idempotent = HINT_FALSE, .open_world = HINT_TRUE, .call = execute_command,          \
    }

static const struct tool tool_free[] = { EXECUTE_COMMAND(DESCRIPTION DESCRIPTION_FREE) };
static const struct tool tool_sandbox[] = { EXECUTE_COMMAND(DESCRIPTION DESCRIPTION_SANDBOX) };

/* ---- life ---- */

static void on_roots_changed(void *ctx)
{
    struct shell *s = ctx;

    roots_changed(s->roots);
}

static void on_new_roots(void *ctx, const struct access *x)
{
    struct shell *s = ctx;
    struct error e;

    /* Without it commands may write less than they should, never more. */
    if (s->jail && !jail_set_roots(s->jail, x, &e))
        fprintf(stderr, "Warning: the sandbox keeps its former directories: %s\n", e.msg);
}

static void on_start(void *ctx, struct server *server)
{
    struct shell *s = ctx;

    /* What a command left running by setsid is none of ours (SH-7), and not ours to sweep. */
    reaper_disown_orphans();
    s->server = server;
    s->commands = commands_new(server);
    roots_start(s->roots, server, on_new_roots, s);
}

static void on_stopped(void *ctx)
{
    struct shell *s = ctx;

    roots_free(take_ptr(&s->roots));
    commands_free(take_ptr(&s->commands));
    server_stopped(s->server);
}

static void on_stop(void *ctx, struct server *server, bool at_once)
{
    struct shell *s = ctx;

    (void)server;
    (void)at_once; /* who hurries gets the grace all the same; who hurries again does not */
    if (s->commands)
        commands_stop(s->commands, on_stopped, s);
}

int shell_run(const struct shell_opts *o)
{
    struct shell s = { 0 };
    struct server_spec def = {
        .mcp = {
            .name = "mcp-shell",
            .title = "Shell",
            .instructions =
                "Runs programs directly, without a shell in between, with this server's "
                "operating-system permissions. The working directory (cwd) is limited to the "
                "allowed directories; that is not a sandbox.",
            .list_scope = MCP_SCOPE_PUBLIC,
            .roots_changed = on_roots_changed,
        },
        .tools = o->sandbox ? tool_sandbox : tool_free,
        .ntools = 1,
        .split_advice = "send the output to a file and read that",
        .start = on_start,
        .stop = on_stop,
    };
    struct error e;
    int status;

    s.roots = roots_new(o->dirs, o->ndirs, o->allow_root, USAGE);
    if (!s.roots)
        return 1;
    if (o->sandbox) {
        def.mcp.instructions =
            "Runs programs directly, without a shell in between, with this server's "
            "operating-system permissions, in a sandbox: they write only within the allowed "
            "directories and a private TMPDIR, and reach no network. The working directory "
            "(cwd) is limited to the allowed directories.";
        s.jail = jail_new(roots_now(s.roots), &e);
        if (!s.jail) {
            fprintf(stderr, "Error: --sandbox cannot be had: %s; nothing is started\n", e.msg);
            roots_free(s.roots);
            return 1;
        }
    }
    status = server_run(&def, &s);
    jail_free(s.jail);
    return status;
}
