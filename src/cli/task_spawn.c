/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * `task spawn` (TK-34): the task belongs to a process of its own, `symposium task-owner`, in a
 * session of its own, that runs exactly this task and then exits.
 *
 *   task spawn ──arguments, JSON──> task-owner      one line back: the answer of spawn_task
 *        └─ prints the id, or follows ─ ... ─ may end at any time; the owner goes on
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/task.h"
#include "loop/spawn.h"

#define ARGS_MAX   (8 * TASK_PROMPT_MAX) /* each byte of the prompt may be escaped */
#define ANSWER_MAX ((size_t)64 << 10)

/* ---- the arguments of spawn_task ---- */

/* As long as the prompt may be, and a little: the service says what is too long. */
static bool read_stdin(struct buf *out, struct error *e)
{
    char chunk[4096];
    ssize_t n;

    while ((n = read(STDIN_FILENO, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(e, ERR_SYS, "read the prompt from stdin");
        buf_add(out, (struct str){ chunk, (size_t)n });
        if (out->over)
            return error_set(e, ERR_LIMIT, "the prompt has more than %zu bytes", out->max);
    }
    return true;
}

static bool put_prompt(struct jw *w, const struct task_cli *t, struct error *e)
{
    auto_buf prompt = BUF(TASK_PROMPT_MAX + 1);

    if (t->nwords == 2 && !strcmp(t->words[1], "-")) {
        if (!read_stdin(&prompt, e))
            return false;
    } else {
        for (size_t i = 1; i < t->nwords; i++)
            buf_addf(&prompt, "%s%s", i > 1 ? " " : "", t->words[i]);
        if (!buf_ok(&prompt, e))
            return false;
    }
    jw_kstr(w, "prompt", buf_str(&prompt));
    return true;
}

/* Options that are one key of spawn_task's arguments. */
static const struct {
    const char *option, *key;
    bool number;
} keys[] = {
    { "--model", "model", false },          { "--effort", "effort", false },
    { "--resume", "session_id", false },    { "--initiator", "initiator_id", false },
    { "--executor", "executor_id", false }, { "--parent", "parent_task_id", false },
    { "--key", "idempotency_key", false },  { "--deadline", "deadline_s", true },
    { "--priority", "priority", true },     { "--max-output", "max_output_bytes", true },
};

static bool put_keys(struct jw *w, const struct args *args, struct error *e)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *value = args_value(args, keys[i].option);
        int64_t n;

        if (!value)
            continue;
        if (!keys[i].number)
            jw_kstrz(w, keys[i].key, value);
        else if (str_to_int(str_of(value), INT64_MIN, INT64_MAX, &n))
            jw_kint(w, keys[i].key, n);
        else
            return error_set(e, ERR_INVALID, "'%s' is a number, not '%s'", keys[i].option,
                             value);
    }
    return true;
}

/* "edit,execute" */
static void put_allow(struct jw *w, const struct args *args)
{
    jw_key(w, "allow");
    jw_arr(w);
    for (size_t i = 0; i < args->ngiven; i++) {
        struct str rest, one;

        if (strcmp(args->given[i].option->name, "--allow") != 0)
            continue;
        rest = str_of(args->given[i].value);
        while (str_next(&rest, ',', &one))
            jw_str(w, one);
    }
    jw_end(w);
}

static void put_labels(struct jw *w, const struct args *args)
{
    jw_key(w, "labels");
    jw_arr(w);
    for (size_t i = 0; i < args->ngiven; i++)
        if (!strcmp(args->given[i].option->name, "--label"))
            jw_strz(w, args->given[i].value);
    jw_end(w);
}

/* "name=value": true and false are booleans, all else is text. */
static bool put_options(struct jw *w, const struct args *args, struct error *e)
{
    jw_key(w, "options");
    jw_obj(w);
    for (size_t i = 0; i < args->ngiven; i++) {
        struct str name, value;

        if (strcmp(args->given[i].option->name, "--option") != 0)
            continue;
        if (!str_cut(str_of(args->given[i].value), '=', &name, &value) || !name.n)
            return error_set(e, ERR_INVALID, "'--option' is NAME=VALUE, not '%s'",
                             args->given[i].value);
        jw_key_s(w, name);
        if (str_is(value, "true") || str_is(value, "false"))
            jw_bool(w, str_is(value, "true"));
        else
            jw_str(w, value);
    }
    jw_end(w);
    return true;
}

static bool put_arguments(struct buf *out, const struct task_cli *t, struct error *e)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_kstrz(&w, "agent", t->words[0]);
    jw_kstrz(&w, "workspace", t->cwd);
    if (!put_prompt(&w, t, e) || !put_keys(&w, t->args, e) || !put_options(&w, t->args, e))
        return false;
    put_allow(&w, t->args);
    put_labels(&w, t->args);
    if (args_has(t->args, "--worktree"))
        jw_kbool(&w, "worktree", true);
    jw_end(&w);
    return buf_ok(out, e);
}

/* ---- the owner ---- */

static bool start_owner(int in, int out, struct error *e)
{
    static const char *const argv[] = { "symposium", "task-owner", NULL };
    const struct spawn_opts o = {
        .argv = argv,
        .env = (const char *const *)environ,
        .fds = { in, out, -1, -1 },
        .new_session = true,
    };
    struct spawned child;

    if (!spawn(&o, &child, e))
        return false;
    if (child.pidfd >= 0)
        close(child.pidfd);
    return true;
}

static bool read_answer(int fd, struct buf *out, struct error *e)
{
    char chunk[4096];
    ssize_t n;

    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(e, ERR_SYS, "read what the task's process says");
        buf_add(out, (struct str){ chunk, (size_t)n });
    }
    if (!out->n)
        return error_set(e, ERR_CLOSED, "the task's process ended without a word");
    return buf_ok(out, e);
}

/* It answers once the agent's process runs, or the task waits for room, or has failed. */
static bool ask_owner(struct str arguments, struct buf *answer, struct error *e)
{
    int to[2] = { -1, -1 }, from[2] = { -1, -1 };
    auto_close int a = -1, b = -1, c = -1, d = -1;
    bool ok;

    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        ok = error_set(e, ERR_SYS, "make a pipe");
    else
        ok = start_owner(to[0], from[1], e);
    a = to[0], b = to[1], c = from[0], d = from[1];
    if (!ok)
        return false;
    close(take_fd(&a));
    close(take_fd(&d));
    if (!file_write_all(b, arguments, e))
        return error_wrap(e, "tell the task's process what to do");
    close(take_fd(&b));
    return read_answer(c, answer, e);
}

/* ---- task spawn ---- */

struct spawned_task {
    struct str id;
    enum task_status status;
};

static void tell(const struct task_cli *t, yyjson_val *answer)
{
    struct str why = json_str(json_get(answer, "error"));
    struct report r;
    struct jw *w;

    if (!cli.json) {
        printf("%.*s\n", STR_F(json_str(json_get(answer, "task_id"))));
        fflush(stdout);
        if (why.n)
            cli_fail(EXIT_FAILED, "%.*s", STR_F(why));
        return;
    }
    /* --follow writes an array of its own, which ends with the task. */
    if (args_has(t->args, "--follow") || args_has(t->args, "--wait"))
        return;
    report_begin(&r);
    w = report_event(&r, "task");
    for (struct json_iter it = json_iter(answer); json_next(&it);) {
        jw_key_s(w, it.key);
        jw_val(w, it.val);
    }
    jw_end(w);
    report_end(&r);
}

static bool follows(const struct args *args)
{
    return args_has(args, "--follow") || args_has(args, "--wait");
}

/* True: it is to be followed. */
static bool read_spawned(struct task_cli *t, struct str text, int *status)
{
    struct spawned_task *sp = t->own = ARENA_NEW(t->a, struct spawned_task);
    auto_json doc = { 0 };
    struct error e;

    if (!json_parse(&doc, text, &e)) {
        *status = cli_fail(EXIT_FAILED, "the answer of the task's process: %s", e.msg);
        return false;
    }
    if (!json_is_str(json_get(doc.root, "task_id"))) {
        *status = cli_fail(EXIT_FAILED, "%.*s", STR_F(json_str(json_get(doc.root, "refused"))));
        return false;
    }
    tell(t, doc.root);
    sp->id = arena_str(t->a, json_str(json_get(doc.root, "task_id")));
    task_status_parse(json_str(json_get(doc.root, "status")), &sp->status);
    *status = sp->status == TASK_FAILED ? EXIT_FAILED : EXIT_OK;
    return follows(t->args);
}

static bool prepare(struct task_cli *t, int *status)
{
    auto_buf arguments = BUF(ARGS_MAX), answer = BUF(ANSWER_MAX);
    struct error e;

    *status = EXIT_USAGE;
    if (args_has(t->args, "--follow") && args_has(t->args, "--wait")) {
        cli_fail(EXIT_USAGE, "'--wait' is '--follow' without events: one of the two");
        return false;
    }
    if (!put_arguments(&arguments, t, &e)) {
        cli_fail(EXIT_USAGE, "%s", e.msg);
        return false;
    }
    signal(SIGPIPE, SIG_IGN); /* its process may end before it has read all */
    if (!ask_owner(buf_str(&arguments), &answer, &e)) {
        *status = cli_fail(EXIT_FAILED, "%s", e.msg);
        return false;
    }
    return read_spawned(t, buf_str(&answer), status);
}

static void begin(struct task_cli *t)
{
    struct spawned_task *sp = t->own;

    task_follow_begin(t, sp->id, 0, args_has(t->args, "--follow"));
}

static const char *const options[] = {
    "--model",    "--effort", "--allow", "--option",     "--resume",   "--deadline",
    "--priority", "--label",  "--key",   "--initiator",  "--executor", "--parent",
    "--worktree", "--follow", "--wait",  "--max-output", NULL,
};

const struct task_action task_spawn = {
    .name = "spawn",
    .usage = "spawn AGENT PROMPT|- [--allow KIND,...] [--follow|--wait] [OPTION...]",
    .min_words = 2,
    .max_words = SIZE_MAX - 1,
    .options = options,
    .prepare = prepare,
    .begin = begin,
    .interrupted = task_follow_interrupted,
};
