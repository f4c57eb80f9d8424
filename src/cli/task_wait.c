/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* `task wait ID...`: for the end of all of them, or of one. */
#include <stdio.h>

#include "cli/task.h"
#include "tasks/service_args.h"

/* At the end of one wait of the service the next one begins. */
#define ROUND_S 600

struct wait {
    int64_t left_s; /* of --timeout; -1: none */
    int64_t round_s;
};

static void ask(struct task_cli *t);

/* The worst of them (TK-34): one that failed, then one that was cancelled. */
static int worst(yyjson_val *tasks)
{
    int status = EXIT_OK;

    for (struct json_iter it = json_iter(tasks); json_next(&it);) {
        enum task_status s;

        if (!task_status_parse(json_str(json_get(it.val, "status")), &s) ||
            !task_is_terminal(s))
            continue;
        if (s == TASK_FAILED || status == EXIT_OK)
            status = task_exit_status(s);
        if (s == TASK_FAILED)
            break;
    }
    return status;
}

static void show(yyjson_val *tasks)
{
    struct report r;

    if (!cli.json) {
        for (struct json_iter it = json_iter(tasks); json_next(&it);)
            printf("%.*s  %.*s\n", STR_F(json_str(json_get(it.val, "task_id"))),
                   STR_F(json_str(json_get(it.val, "status"))));
        return;
    }
    report_begin(&r);
    for (struct json_iter it = json_iter(tasks); json_next(&it);) {
        struct jw *w = report_event(&r, "task");

        for (struct json_iter m = json_iter(it.val); json_next(&m);) {
            jw_key_s(w, m.key);
            jw_val(w, m.val);
        }
        jw_end(w);
    }
    report_end(&r);
}

static void on_waited(void *ctx, enum task_code code, struct str result)
{
    struct task_cli *t = ctx;
    struct wait *w = t->own;
    auto_json doc = { 0 };
    bool timed_out;

    if (code != TASK_OK) {
        task_end_refused(t, code, result);
        return;
    }
    json_parse(&doc, result, NULL);
    timed_out = json_is_true(json_get(doc.root, "timed_out"));
    if (w->left_s > 0)
        w->left_s -= w->round_s;
    if (timed_out && w->left_s != 0) {
        ask(t);
        return;
    }
    show(json_get(doc.root, "tasks"));
    if (timed_out)
        task_end(t, cli_fail(EXIT_FAILED, "not ended within the time"));
    else
        task_end(t, worst(json_get(doc.root, "tasks")));
}

static void ask(struct task_cli *t)
{
    struct wait *w = t->own;
    auto_buf text = BUF((size_t)64 << 10);
    auto_json args = { 0 };
    struct jw jw = jw_to(&text);

    w->round_s = w->left_s >= 0 && w->left_s < ROUND_S ? w->left_s : ROUND_S;
    jw_obj(&jw);
    jw_key(&jw, "task_ids");
    jw_arr(&jw);
    for (size_t i = 0; i < t->nwords; i++)
        jw_str(&jw, str_upto(str_of(t->words[i]), 256));
    jw_end(&jw);
    jw_kstrz(&jw, "mode", args_has(t->args, "--any") ? "any" : "all");
    jw_kint(&jw, "timeout_s", w->round_s);
    jw_end(&jw);
    args = task_json(&text);
    service_wait(t->service, args.root, on_waited, NULL, t);
}

static bool prepare(struct task_cli *t, int *status)
{
    struct wait *w = t->own = ARENA_NEW(t->a, struct wait);
    const char *timeout = args_value(t->args, "--timeout");

    w->left_s = -1;
    if (!timeout || str_to_int(str_of(timeout), 0, INT32_MAX, &w->left_s))
        return true;
    *status = cli_fail(EXIT_USAGE, "'--timeout' is a number of seconds");
    return false;
}

static const char *const options[] = { "--any", "--timeout", NULL };

const struct task_action task_wait = {
    .name = "wait",
    .usage = "wait ID... [--any] [--timeout SECONDS]",
    .min_words = 1,
    .max_words = SERVICE_WAIT_IDS,
    .options = options,
    .prepare = prepare,
    .begin = ask,
};
