/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The live view of one task, for `task follow` and `task spawn --follow` or --wait:
 *
 *   events after the cursor ─> shown ─ more? ─> again
 *            ^                     └─ ended? ─> the record, and the command ends
 *            └──────── a new event ── wait ┘
 */
#include <string.h>

#include "cli/task.h"
#include "tasks/clean.h"

/* At the end of one wait the next one begins. */
#define WAIT_S    "600"
#define PAGE      "1000"
#define PAGE_SIZE "1048576"

struct follow {
    struct str id;
    int64_t cursor;
    bool events;   /* shown; else only the end is waited for */
    bool open;     /* JSON: the array has begun */
    bool nonempty; /* and has an element */
    struct task_view view;
};

static void ask_events(struct task_cli *t);

/* ---- output ---- */

/* An element of the array, out at once: someone may be reading along. */
static void put_json(struct follow *f, const struct buf *element)
{
    fputs(!f->open ? "[" : f->nonempty ? "," : "", stdout);
    f->open = f->nonempty = true;
    fwrite(buf_z(element), 1, element->n, stdout);
    fflush(stdout);
}

static void show_event(struct follow *f, yyjson_val *event)
{
    auto_buf out = BUF(OUTPUT_MAX);
    struct jw w = jw_to(&out);

    if (!cli.json) {
        task_put_event_text(&out, &f->view, event);
        fwrite(buf_z(&out), 1, out.n, stdout);
        fflush(stdout);
        return;
    }
    jw_obj(&w);
    jw_kstrz(&w, "type", "event");
    jw_kstr(&w, "task_id", f->id);
    jw_key(&w, "event");
    jw_val(&w, event);
    jw_end(&w);
    put_json(f, &out);
}

static void end_output(struct follow *f)
{
    auto_buf out = BUF(64);

    if (cli.json) {
        fputs(f->open ? "]\n" : "[]\n", stdout);
    } else {
        task_put_view_end(&out, &f->view);
        fputs(buf_z(&out), stdout);
    }
    fflush(stdout);
}

/* ---- the end ---- */

static void put_status_line(struct task_cli *t, yyjson_val *task)
{
    struct str why = json_str(json_get(task, "stop_reason"));
    struct follow *f = t->own;

    if (cli.quiet)
        return;
    fprintf(stderr, "symposium: task %.*s %.*s%s%.*s%s\n", STR_F(f->id),
            STR_F(json_str(json_get(task, "status"))), why.n ? " (" : "", STR_F(why),
            why.n ? ")" : "");
}

static void on_record(void *ctx, enum task_code code, struct str result)
{
    struct task_cli *t = ctx;
    struct follow *f = t->own;
    auto_json doc = { 0 };
    auto_buf out = BUF(OUTPUT_MAX);
    enum task_status status = TASK_FAILED;

    if (code != TASK_OK) {
        end_output(f);
        task_end_refused(t, code, result);
        return;
    }
    json_parse(&doc, result, NULL);
    task_status_parse(json_str(json_get(doc.root, "status")), &status);
    if (cli.json) {
        buf_addz(&out, "{\"type\":\"task\",");
        buf_add(&out, str_from(result, 1));
        put_json(f, &out);
    }
    end_output(f);
    if (!cli.json)
        put_status_line(t, doc.root);
    task_end(t, task_exit_status(status));
}

static void ask_record(struct task_cli *t)
{
    struct follow *f = t->own;
    auto_buf text = BUF(1024);
    auto_json args = { 0 };

    buf_addz(&text, "{\"task_id\":");
    json_put_str(&text, f->id);
    buf_addc(&text, '}');
    args = task_json(&text);
    service_get(t->service, args.root, on_record, t);
}

/* ---- the loop ---- */

static void on_waited(void *ctx, enum task_code code, struct str result)
{
    struct task_cli *t = ctx;
    struct follow *f = t->own;

    if (code != TASK_OK) {
        end_output(f);
        task_end_refused(t, code, result);
        return;
    }
    ask_events(t);
}

static void wait_for_more(struct task_cli *t)
{
    struct follow *f = t->own;
    auto_buf text = BUF(4096);
    auto_json args = { 0 };

    buf_addz(&text, "{\"task_ids\":[");
    json_put_str(&text, f->id);
    buf_addz(&text, "],\"timeout_s\":" WAIT_S);
    if (f->events) {
        buf_addz(&text, ",\"until\":\"event\",\"after\":{");
        json_put_str(&text, f->id);
        buf_addf(&text, ":%lld}", (long long)f->cursor);
    }
    buf_addc(&text, '}');
    args = task_json(&text);
    service_wait(t->service, args.root, on_waited, NULL, t);
}

static void on_events(void *ctx, enum task_code code, struct str result)
{
    struct task_cli *t = ctx;
    struct follow *f = t->own;
    auto_json doc = { 0 };
    enum task_status status = TASK_FAILED;

    if (code != TASK_OK) {
        end_output(f);
        task_end_refused(t, code, result);
        return;
    }
    json_parse(&doc, result, NULL);
    for (struct json_iter it = json_iter(json_get(doc.root, "events"));
         f->events && json_next(&it);)
        show_event(f, it.val);
    json_int(json_get(doc.root, "cursor"), &f->cursor);
    task_status_parse(json_str(json_get(doc.root, "status")), &status);
    if (f->events && json_is_true(json_get(doc.root, "more")))
        ask_events(t);
    else if (task_is_terminal(status))
        ask_record(t);
    else
        wait_for_more(t);
}

static void ask_events(struct task_cli *t)
{
    struct follow *f = t->own;
    auto_buf text = BUF(1024);
    auto_json args = { 0 };

    buf_addz(&text, "{\"task_id\":");
    json_put_str(&text, f->id);
    /* Only the status is asked for, where no event is shown. */
    buf_addf(&text, ",\"after_seq\":%lld,\"limit\":%s,\"max_bytes\":" PAGE_SIZE "}",
             (long long)f->cursor, f->events ? PAGE : "1");
    args = task_json(&text);
    service_events(t->service, args.root, on_events, t);
}

void task_follow_begin(struct task_cli *t, struct str id, int64_t after, bool events)
{
    struct follow *f = ARENA_NEW(t->a, struct follow);

    *f = (struct follow){
        .id = id, .cursor = after, .events = events, .view.verbose = cli.verbose
    };
    t->own = f;
    ask_events(t);
}

void task_follow_interrupted(struct task_cli *t)
{
    struct follow *f = t->own;

    if (!f)
        return;
    end_output(f);
    fprintf(stderr,
            "symposium: task %.*s runs on; 'symposium task follow %.*s' shows it, "
            "'symposium task cancel %.*s' ends it\n",
            STR_F(f->id), STR_F(f->id), STR_F(f->id));
}

/* ---- task follow ---- */

static bool read_after(const struct args *args, int64_t *ret)
{
    const char *after = args_value(args, "--after");

    *ret = 0;
    return !after || str_to_int(str_of(after), 0, INT64_MAX, ret);
}

static bool prepare(struct task_cli *t, int *status)
{
    int64_t after;

    if (read_after(t->args, &after))
        return true;
    *status = cli_fail(EXIT_USAGE, "'--after' is the seq of an event");
    return false;
}

static void begin(struct task_cli *t)
{
    int64_t after;

    read_after(t->args, &after);
    task_follow_begin(t, str_of(t->words[0]), after, true);
}

static const char *const options[] = { "--after", NULL };

const struct task_action task_follow = {
    .name = "follow",
    .alias = "events",
    .usage = "follow ID [--after SEQ]",
    .min_words = 1,
    .max_words = 1,
    .options = options,
    .prepare = prepare,
    .begin = begin,
    .interrupted = task_follow_interrupted,
};
