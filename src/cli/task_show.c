/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The actions that are one question: `task show`, `ls`, `resolve`, `cancel`. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/task.h"
#include "tasks/service_args.h"

#define ERRORS_SHOWN 5                   /* of a task that failed */
#define TEXT_MAX     ((size_t)256 << 10) /* of arguments: a note is the longest */

/* ---- one task ---- */

static void put_members(struct jw *w, yyjson_val *task)
{
    for (struct json_iter it = json_iter(task); json_next(&it);) {
        jw_key_s(w, it.key);
        jw_val(w, it.val);
    }
}

static void show_json(yyjson_val *const *tasks, size_t n)
{
    struct report r;

    report_begin(&r);
    for (size_t i = 0; i < n; i++) {
        struct jw *w = report_event(&r, "task");

        put_members(w, tasks[i]);
        jw_end(w);
    }
    report_end(&r);
}

static void show_record(yyjson_val *task)
{
    auto_buf out = BUF(OUTPUT_MAX);

    if (cli.json) {
        show_json(&task, 1);
        return;
    }
    task_put_record(&out, task, clock_wall_ms());
    fwrite(buf_z(&out), 1, out.n, stdout);
}

static void on_record(void *ctx, enum task_code code, struct str result)
{
    struct task_cli *t = ctx;
    auto_json doc = { 0 };

    if (code != TASK_OK) {
        task_end_refused(t, code, result);
        return;
    }
    json_parse(&doc, result, NULL);
    show_record(doc.root);
    task_end(t, EXIT_OK);
}

/* Of a task that failed: why. */
static void on_errors(void *ctx, enum task_code code, struct str result)
{
    struct task_cli *t = ctx;
    auto_json doc = { 0 };
    auto_buf out = BUF(OUTPUT_MAX);
    struct task_view view = { 0 };

    if (code == TASK_OK && json_parse(&doc, result, NULL))
        for (struct json_iter it = json_iter(json_get(doc.root, "events")); json_next(&it);)
            task_put_event_text(&out, &view, it.val);
    if (out.n)
        fputc('\n', stdout);
    fwrite(buf_z(&out), 1, out.n, stdout);
    task_end(t, EXIT_OK);
}

/* At the end of its events, where the reason is. */
static void show_errors(struct task_cli *t, int64_t last_seq)
{
    auto_buf text = BUF(TEXT_MAX);
    auto_json args = { 0 };
    struct jw w = jw_to(&text);

    jw_obj(&w);
    jw_kstrz(&w, "task_id", t->words[0]);
    jw_key(&w, "types");
    jw_arr(&w);
    jw_strz(&w, task_event_name(TASK_EV_ERROR));
    jw_end(&w);
    jw_kint(&w, "after_seq",
            last_seq > LEDGER_EVENTS_SCANNED ? last_seq - LEDGER_EVENTS_SCANNED : 0);
    jw_kint(&w, "limit", ERRORS_SHOWN);
    jw_end(&w);
    args = task_json(&text);
    service_events(t->service, args.root, on_errors, t);
}

static void on_shown(void *ctx, enum task_code code, struct str result)
{
    struct task_cli *t = ctx;
    auto_json doc = { 0 };
    int64_t last_seq = 0;

    if (code != TASK_OK) {
        task_end_refused(t, code, result);
        return;
    }
    json_parse(&doc, result, NULL);
    json_int(json_get(doc.root, "last_seq"), &last_seq);
    show_record(doc.root);
    if (!cli.json && str_is(json_str(json_get(doc.root, "status")), "failed"))
        show_errors(t, last_seq);
    else
        task_end(t, EXIT_OK);
}

/* The object of the id and of one option, which may be absent. */
static void begin_args(struct jw *w, const struct task_cli *t, const char *option,
                       const char *key)
{
    const char *value = option ? args_value(t->args, option) : NULL;

    jw_obj(w);
    jw_kstr(w, "task_id", str_upto(str_of(t->words[0]), 256));
    if (value)
        jw_kstrz(w, key, value);
}

static void ask(struct task_cli *t, struct buf *text,
                void (*call)(struct service *s, yyjson_val *args, service_fn done, void *ctx),
                service_fn done)
{
    auto_json args = { 0 };
    struct error e;

    if (!buf_ok(text, &e)) {
        task_end(t, cli_fail(EXIT_USAGE, "%s", e.msg));
        return;
    }
    args = task_json(text);
    call(t->service, args.root, done, t);
}

static void begin_show(struct task_cli *t)
{
    auto_buf text = BUF(TEXT_MAX);
    struct jw w = jw_to(&text);

    begin_args(&w, t, NULL, NULL);
    jw_end(&w);
    ask(t, &text, service_get, on_shown);
}

static void begin_cancel(struct task_cli *t)
{
    auto_buf text = BUF(TEXT_MAX);
    struct jw w = jw_to(&text);

    begin_args(&w, t, "--reason", "reason");
    jw_end(&w);
    ask(t, &text, service_cancel, on_record);
}

static void begin_resolve(struct task_cli *t)
{
    auto_buf text = BUF(TEXT_MAX);
    struct jw w = jw_to(&text);

    begin_args(&w, t, "--note", "note");
    jw_kstrz(&w, "resolution", t->words[1]);
    jw_end(&w);
    ask(t, &text, service_resolve, on_record);
}

/* ---- task ls ---- */

static size_t terminal_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int64_t n;

    if (!out_is_terminal(stdout))
        return 0;
    if (columns && str_to_int(str_of(columns), 1, 10000, &n))
        return (size_t)n;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static void show_table(yyjson_val *tasks)
{
    auto_buf out = BUF(OUTPUT_MAX);

    task_put_table(&out, tasks, clock_wall_ms(), terminal_width());
    fwrite(buf_z(&out), 1, out.n, stdout);
}

static void on_page(void *ctx, enum task_code code, struct str result)
{
    struct task_cli *t = ctx;
    auto_json doc = { 0 };
    yyjson_val *tasks, *next;

    if (code != TASK_OK) {
        task_end_refused(t, code, result);
        return;
    }
    json_parse(&doc, result, NULL);
    tasks = json_get(doc.root, "tasks");
    next = json_get(doc.root, "next_cursor");
    if (!cli.json && !json_len(tasks))
        fputs(cli.quiet ? "" : "no tasks\n", stderr);
    else if (!cli.json)
        show_table(tasks);
    else {
        size_t n = 0;
        yyjson_val **all = ARENA_ARRAY(t->a, yyjson_val *, json_len(tasks));

        for (struct json_iter it = json_iter(tasks); json_next(&it);)
            all[n++] = it.val;
        show_json(all, n);
    }
    if (!cli.json && !cli.quiet && json_is_str(next))
        fputs("there are older ones; --limit N shows more\n", stderr);
    task_end(t, EXIT_OK);
}

/* The options of `ls` that are a key of list_tasks. */
static const char *const filters[][2] = {
    { "--status", "status" },
    { "--kind", "kind" },
    { "--label", "label" },
    { "--initiator", "initiator_id" },
};

static void begin_list(struct task_cli *t)
{
    auto_buf text = BUF(TEXT_MAX);
    const char *limit = args_value(t->args, "--limit");
    struct jw w = jw_to(&text);
    auto_json args = { 0 };
    int64_t n = SERVICE_LIST;

    if (limit && !str_to_int(str_of(limit), 1, LEDGER_LIST_MAX, &n)) {
        task_end(t,
                 cli_fail(EXIT_USAGE, "'--limit' is a number from 1 to %d", LEDGER_LIST_MAX));
        return;
    }
    jw_obj(&w);
    jw_kint(&w, "limit", n);
    if (args_has(t->args, "--here"))
        jw_kstrz(&w, "workspace", t->cwd);
    for (size_t i = 0; i < ARRAY_LEN(filters); i++)
        if (args_value(t->args, filters[i][0]))
            jw_kstrz(&w, filters[i][1], args_value(t->args, filters[i][0]));
    jw_end(&w);
    args = task_json(&text);
    service_list(t->service, args.root, on_page, t);
}

/* ---- the table ---- */

static const char *const no_options[] = { NULL };
static const char *const list_options[] = { "--status", "--kind",  "--label", "--initiator",
                                            "--here",   "--limit", NULL };
static const char *const resolve_options[] = { "--note", NULL };
static const char *const cancel_options[] = { "--reason", NULL };

const struct task_action task_show = {
    .name = "show",
    .alias = "get",
    .usage = "show ID",
    .min_words = 1,
    .max_words = 1,
    .options = no_options,
    .begin = begin_show,
};

const struct task_action task_list = {
    .name = "ls",
    .alias = "list",
    .usage = "ls [--status S] [--kind K] [--label L] [--initiator I] [--here] [--limit N]",
    .options = list_options,
    .begin = begin_list,
};

const struct task_action task_resolve = {
    .name = "resolve",
    .usage = "resolve ID accepted|rejected|needs_followup|superseded [--note TEXT]",
    .min_words = 2,
    .max_words = 2,
    .options = resolve_options,
    .begin = begin_resolve,
};

const struct task_action task_cancel = {
    .name = "cancel",
    .usage = "cancel ID [--reason TEXT]",
    .min_words = 1,
    .max_words = 1,
    .options = cancel_options,
    .begin = begin_cancel,
};
