/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/git_program.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "plugins/checkout.h"
#include "pm/environment.h"

#define MAX_WORDS 600 /* bytes of git's own in a message */

/* The user's configuration may say otherwise; the command line wins. */
static const char *const settings[] = {
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.askPass=",
    "core.autocrlf=false",
    "core.bigFileThreshold=8m",
    "core.fsync=none",
    "core.sparseCheckout=false",
    "core.symlinks=true",
    "credential.interactive=false",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "fetch.unpackLimit=1", /* one pack, whose size can be watched */
    "fetch.writeCommitGraph=false",
    "filter.lfs.process=",
    "filter.lfs.required=false",
    "filter.lfs.smudge=",
    "gc.auto=0",
    "http.lowSpeedLimit=100",
    "http.lowSpeedTime=30",
    "init.defaultBranch=main",
    "init.templateDir=",
    "maintenance.auto=false",
    "pack.threads=1",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "transfer.bundleURI=false",
};

/* Beats every protocol.*.allow of a configuration. */
static const char *const variables[] = {
    "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh",
    "GIT_ATTR_NOSYSTEM=1",
    "GIT_LFS_SKIP_SMUDGE=1",
    "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_OPTIONAL_LOCKS=0",
    "GIT_TERMINAL_PROMPT=0",
    "SSH_ASKPASS_REQUIRE=never",
    "GCM_INTERACTIVE=never",
    "LC_ALL=C",
};

const char git_plain_attributes[] = "* -text -ident -filter !eol !working-tree-encoding\n";

struct words {
    const char **v;
    size_t n, cap;
};

static void put_argv(struct words *w, struct arena *a, const struct git_command *g)
{
    ARENA_PUSH(a, w) = "git";
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        ARENA_PUSH(a, w) = "-c";
        ARENA_PUSH(a, w) = settings[i];
    }
    if (g->git_dir)
        ARENA_PUSH(a, w) = arena_printf(a, "--git-dir=%s", g->git_dir);
    if (g->work_tree)
        ARENA_PUSH(a, w) = arena_printf(a, "--work-tree=%s", g->work_tree);
    for (size_t i = 0; g->args[i]; i++)
        ARENA_PUSH(a, w) = g->args[i];
    ARENA_PUSH(a, w) = NULL;
}

static bool is_ours(const char *entry)
{
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        size_t n = strcspn(variables[i], "=") + 1;

        if (!strncmp(entry, variables[i], n))
            return true;
    }
    return false;
}

static void put_env(struct words *w, struct arena *a, char **inherited)
{
    for (char **at = inherited; *at; at++)
        if (!is_ours(*at))
            ARENA_PUSH(a, w) = *at;
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        ARENA_PUSH(a, w) = variables[i];
    ARENA_PUSH(a, w) = NULL;
}

struct command *git_start(struct loop *l, const struct git_command *g,
                          void (*done)(void *ctx, const struct command_end *how), void *ctx)
{
    char **inherited = environment_new(NULL, 0);
    struct words argv = { 0 }, env = { 0 };
    struct command *c;
    auto_arena a = ARENA;

    put_argv(&argv, &a, g);
    put_env(&env, &a, inherited);
    c = command_start(l,
                      &(struct command_opts){ .argv = argv.v,
                                              .env = env.v,
                                              .cwd = "/",
                                              .timeout_ms = g->timeout_ms,
                                              .max_out = g->max_out },
                      done, ctx);
    environment_free(inherited);
    return c;
}

/* ---- what went wrong ---- */

static const struct meaning {
    const char *said;
    enum err_kind kind;
} meanings[] = {
    { "could not read Username", ERR_DENIED },
    { "could not read Password", ERR_DENIED },
    { "Authentication failed", ERR_DENIED },
    { "Permission denied", ERR_DENIED },
    { "Host key verification failed", ERR_DENIED },
    { "returned error: 401", ERR_DENIED },
    { "returned error: 403", ERR_DENIED },
    { "dubious ownership", ERR_DENIED },
    { "couldn't find remote ref", ERR_NOT_FOUND },
    { "does not appear to be a git repository", ERR_NOT_FOUND },
    { "Not a valid object name", ERR_NOT_FOUND },
    { "not our ref", ERR_NOT_FOUND },
    { "not a tree object", ERR_NOT_FOUND },
    { "ot found", ERR_NOT_FOUND },
    { "Could not resolve host", ERR_CLOSED },
    { "unable to access", ERR_CLOSED },
    { "unable to connect", ERR_CLOSED },
    { "Connection", ERR_CLOSED },
    { "Could not read from remote", ERR_CLOSED },
    { "early EOF", ERR_CLOSED },
    { "hung up", ERR_CLOSED },
    { "unexpected disconnect", ERR_CLOSED },
};

static const char *advice(enum err_kind kind)
{
    switch (kind) {
    case ERR_DENIED:
        return "git has no login for it: give it a credential helper or an SSH key";
    case ERR_NOT_FOUND:
        return "check address, ref and path";
    case ERR_CLOSED:
        return "the rest goes on without it; try again when the network is there";
    case ERR_TIMEOUT:
        return "try again later";
    case ERR_LIMIT:
        return "name a part of the repository with '/tree/<ref>/<path>'";
    case ERR_NONE:
    case ERR_INVALID:
    case ERR_PROTOCOL:
    case ERR_SYS:
        break;
    }
    return "the checkout stays as it was";
}

static enum err_kind kind_of(struct str said)
{
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (str_find(said, str_of(meanings[i].said)) != SIZE_MAX)
            return meanings[i].kind;
    return ERR_INVALID;
}

static struct str replace(struct arena *a, struct str text, struct str needle, struct str with)
{
    auto_buf out = BUF(8 * COMMAND_LAST_BYTES);
    size_t at;

    while (needle.n && (at = str_find(text, needle)) != SIZE_MAX) {
        buf_add(&out, str_upto(text, at));
        buf_add(&out, with);
        text = str_from(text, at + needle.n);
    }
    buf_add(&out, text);
    return arena_str(a, buf_str(&out));
}

/* Password or token, with the '@' behind it; git leaves the password out by itself, and shows
 * what stands before it. */
static struct str hide_login(struct arena *a, struct str said, struct str url)
{
    size_t scheme = str_find(url, STR("://"));
    struct str authority, login, rest, user;
    const char *at;

    if (scheme == SIZE_MAX || !str_cut(str_from(url, scheme + 3), '/', &authority, &rest))
        return said;
    at = authority.n ? memrchr(authority.p, '@', authority.n) : NULL;
    if (!at)
        return said;
    login = str_upto(authority, (size_t)(at - authority.p));
    said = replace(a, said, str_of(arena_printf(a, "%.*s@", STR_F(login))), STR(""));
    if (!str_cut(login, ':', &user, &rest) || !user.n)
        return said;
    return replace(a, said, str_of(arena_printf(a, "%.*s@", STR_F(user))), STR(""));
}

/* Without secrets, and without what git says to everybody. */
static struct str essence(struct arena *a, struct str said, const struct git_source *s)
{
    said = str_upto(said, str_find(said, STR("\nPlease make sure")));
    said = replace(a, said, STR("fatal: "), STR(""));
    return hide_login(a, replace(a, said, s->url, s->shown), s->url);
}

bool git_explain(const struct command_end *how, const char *what, const struct git_source *s,
                 struct error *e)
{
    enum err_kind kind = how->why->kind;
    auto_arena a = ARENA;
    const char *words = command_last_words(&a, essence(&a, how->said, s), MAX_WORDS);

    if (kind == ERR_NOT_FOUND) /* the program */
        return error_set(e, kind, "%s '%.*s': there is no 'git' in PATH; install it", what,
                         STR_F(s->shown));
    if (kind == ERR_CLOSED && how->said.n)
        kind = kind_of(how->said);
    return error_set(e, kind, "%s '%.*s': %s; %s", what, STR_F(s->shown),
                     *words && how->why->kind == ERR_CLOSED ? words : how->why->msg,
                     advice(kind));
}
