/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/activity.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"

const char *activity_phase_name(enum activity_phase p)
{
    static const char *const names[] = {
        [ACTIVITY_STARTING] = "starting",   [ACTIVITY_MODEL] = "model",
        [ACTIVITY_TOOL] = "tool",           [ACTIVITY_WAITING] = "waiting",
        [ACTIVITY_COMPLETED] = "completed", [ACTIVITY_FAILED] = "failed",
    };

    return names[p];
}

/* Clean, on a UTF-8 border. */
static void copy(char *to, size_t max, struct str s)
{
    auto_buf clean = BUF(4096);

    utf8_put_clean(&clean, str_upto(s, 1024));
    s = utf8_cut(buf_str(&clean), max);
    if (s.n)
        memcpy(to, s.p, s.n);
    to[s.n] = '\0';
}

void activity_set(struct activity *a, enum activity_phase p, const char *summary)
{
    *a = (struct activity){ .phase = p, .since_ms = clock_ms() };
    copy(a->summary, ACTIVITY_SUMMARY_MAX, str_of(summary));
}

/* ---- tools ---- */

static const struct verb {
    const char *prefix, *verb;
} verbs[] = {
    { "read", "Reading" },        { "get_file", "Reading" }, { "view", "Reading" },
    { "write", "Writing" },       { "edit", "Writing" },     { "create", "Writing" },
    { "move", "Writing" },        { "search", "Searching" }, { "find", "Searching" },
    { "grep", "Searching" },      { "glob", "Searching" },   { "list", "Searching" },
    { "directory", "Searching" },
};

static const char *const commands[] = {
    "cargo test",    "cargo build", "cargo check", "cargo clippy", "npm test",
    "npm run build", "pytest",      "go test",     "go build",     "make",
};

static bool runs_commands(struct str name)
{
    static const char *const tools[] = { "execute_command", "run_command", "bash", "shell",
                                         "exec" };

    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (str_is(name, tools[i]))
            return true;
    return false;
}

/* A command line as words with blanks between them; of a list the first words. */
static void join(struct buf *out, yyjson_val *v)
{
    if (json_is_str(v))
        buf_add(out, json_str(v));
    for (struct json_iter it = json_iter(json_is_arr(v) ? v : NULL); json_next(&it);) {
        if (it.i > 1)
            buf_addc(out, ' ');
        buf_add(out, json_str(it.val));
    }
}

static void describe_command(struct activity *a, yyjson_val *args)
{
    auto_buf line = BUF(4096);

    join(&line, json_get(args, "command"));
    if (!line.n && json_is_str(json_get(args, "program"))) { /* our own shell's form (SH-2) */
        join(&line, json_get(args, "program"));
        if (json_len(json_get(args, "args")))
            buf_addc(&line, ' ');
        join(&line, json_get(args, "args"));
    }
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        struct str c = str_of(commands[i]), s = buf_str(&line);

        if (str_starts(s, c) && (s.n == c.n || s.p[c.n] == ' ')) {
            snprintf(a->summary, sizeof a->summary, "Running %s", commands[i]);
            return;
        }
    }
    snprintf(a->summary, sizeof a->summary, "Running shell command");
}

/* The path as seen from the workspace; NULL when it lies outside, or climbs. */
static const char *shown_path(struct arena *a, const char *workspace, yyjson_val *args)
{
    struct str path = json_str(json_get(args, "path"));
    const char *clean;
    size_t n = strlen(workspace);

    if (!path.n || path.n > 4096 || str_find(path, STR("..")) != SIZE_MAX ||
        str_has_control(path))
        return NULL;
    clean = path_clean(a, arena_z(a, path));
    if (!path_is_abs(clean))
        return clean[0] == '~' ? NULL : clean;
    if (!path_beneath(workspace, clean))
        return NULL;
    return clean[n] == '/' ? clean + n + 1 : ".";
}

static void describe_path(struct activity *a, const char *verb, const char *workspace,
                          yyjson_val *args)
{
    auto_arena scratch = ARENA;
    const char *path = shown_path(&scratch, workspace, args);

    if (path) {
        copy(a->target, ACTIVITY_TARGET_MAX, str_of(path));
        copy(a->summary, ACTIVITY_SUMMARY_MAX,
             str_of(arena_printf(&scratch, "%s %s", verb, path)));
    }
}

void activity_tool(struct activity *a, const char *workspace, struct str name, yyjson_val *args)
{
    auto_arena scratch = ARENA;

    activity_set(a, ACTIVITY_TOOL,
                 arena_printf(&scratch, "Calling %.*s", STR_F(str_upto(name, 200))));
    copy(a->tool, sizeof a->tool - 1, name);
    if (runs_commands(name)) {
        describe_command(a, args);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        if (str_starts(name, str_of(verbs[i].prefix))) {
            describe_path(a, verbs[i].verb, workspace, args);
            return;
        }
    }
}

void activity_put(struct jw *w, const struct activity *a)
{
    int64_t now = clock_ms();

    jw_obj(w);
    jw_kstrz(w, "phase", activity_phase_name(a->phase));
    jw_kstrz(w, "summary", a->summary);
    if (a->tool[0])
        jw_kstrz(w, "tool", a->tool);
    if (a->target[0])
        jw_kstrz(w, "target", a->target);
    jw_kint(w, "activity_elapsed_ms", now - a->since_ms);
    if (a->deadline_ms)
        jw_kint(w, "operation_timeout_remaining_ms",
                a->deadline_ms > now ? a->deadline_ms - now : 0);
    jw_end(w);
}
