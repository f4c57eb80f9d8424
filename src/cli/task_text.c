/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks and their events as text for people; what agents wrote is cleaned (TK-18). */
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/task.h"
#include "tasks/clean.h"

#define LINE_MAX_CHARS 200 /* of a title, a command line, a message of one line */
#define PROMPT_MIN     10  /* columns; narrower the table leaves it out */
#define COLUMNS        6

/* ---- words ---- */

/* On one line, not too long. */
static void put_line(struct buf *out, struct str text)
{
    auto_buf clean = BUF(4 * text.n + 16);
    struct str shown;

    utf8_put_clean(&clean, text);
    shown = utf8_cut_chars(buf_str(&clean), LINE_MAX_CHARS);
    buf_add(out, shown);
    if (shown.n < clean.n)
        buf_addz(out, "...");
}

static struct str text_of(yyjson_val *obj, const char *key)
{
    return json_str(json_get(obj, key));
}

static void paint(struct buf *out, enum paint p)
{
    buf_addz(out, out_paint(stdout, p));
}

static enum paint paint_of(struct str status)
{
    return str_is(status, "failed") || str_is(status, "rejected")      ? PAINT_RED
           : str_is(status, "succeeded") || str_is(status, "accepted") ? PAINT_GREEN
           : str_is(status, "running") || str_is(status, "starting")   ? PAINT_YELLOW
                                                                       : PAINT_OFF;
}

/* Milliseconds since 1970; false when it is no time of ours. */
static bool parse_time(struct str s, int64_t *ret)
{
    struct tm tm = { 0 };
    char z[32];
    const char *end;

    if (s.n < 20 || s.n >= sizeof z)
        return false;
    memcpy(z, s.p, s.n);
    z[s.n] = '\0';
    end = strptime(z, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!end)
        return false;
    *ret = (int64_t)timegm(&tm) * 1000;
    return true;
}

static void put_span(struct buf *out, int64_t s)
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' } };

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (s >= 2 * units[i].seconds) {
            buf_addf(out, "%lld%c", (long long)(s / units[i].seconds), units[i].unit);
            return;
        }
    buf_addf(out, "%llds", (long long)(s > 0 ? s : 0));
}

void task_put_age(struct buf *out, struct str time, int64_t now_ms)
{
    int64_t then;

    if (parse_time(time, &then))
        put_span(out, (now_ms - then) / 1000);
}

/* ---- the table ---- */

struct row {
    struct buf cell[COLUMNS];
    enum paint paint; /* of the status */
};

/* From the left, by what people need most: what finds no room is left out from the right. */
static const char *const headings[COLUMNS] = { "ID",         "STATUS", "AGENT",
                                               "RESOLUTION", "AGE",    "PROMPT" };

static size_t chars(const struct buf *b)
{
    size_t n = 0;

    for (struct str rest = buf_str(b), one; rest.n; rest = str_from(rest, one.n), n++)
        one = utf8_cut_chars(rest, 1);
    return n;
}

static void fill_row(struct row *r, yyjson_val *task, int64_t now_ms)
{
    static const char *const keys[] = { "task_id", "status", "agent", "resolution" };

    for (size_t i = 0; i < COLUMNS; i++)
        r->cell[i] = BUF((size_t)64 << 10);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        put_line(&r->cell[i], text_of(task, keys[i]));
    task_put_age(&r->cell[4], text_of(task, "created_at"), now_ms);
    put_line(&r->cell[5], text_of(task, "prompt"));
    r->paint = paint_of(text_of(task, "status"));
}

static void put_cut(struct buf *out, struct str text, size_t room, size_t have)
{
    bool cut = room && have > room;

    buf_add(out, cut ? utf8_cut_chars(text, room - 3) : text);
    if (cut)
        buf_addz(out, "...");
}

static void put_row(struct buf *out, const struct row *r, const size_t *width, size_t columns,
                    size_t room)
{
    for (size_t i = 0; i < columns; i++) {
        size_t have = chars(&r->cell[i]);

        if (i == COLUMNS - 1) {
            put_cut(out, buf_str(&r->cell[i]), room, have);
            continue;
        }
        paint(out, i == 1 ? r->paint : PAINT_OFF);
        buf_add(out, buf_str(&r->cell[i]));
        paint(out, PAINT_OFF);
        if (i + 1 < columns)
            buf_fill(out, ' ', width[i] - have + 2);
    }
    buf_addc(out, '\n');
}

static void measure(const struct row *rows, size_t n, size_t *widths)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            if (chars(&rows[i].cell[c]) > widths[c])
                widths[c] = chars(&rows[i].cell[c]);
}

/* How many columns fit, the last one cut to *room (0: not cut). */
static size_t fit(const size_t *widths, size_t width, size_t *room)
{
    size_t used = 0, columns = COLUMNS;

    *room = 0;
    for (size_t c = 0; c < COLUMNS - 1; c++)
        used += widths[c] + 2;
    if (!width)
        return columns;
    if (used + PROMPT_MIN <= width) {
        *room = width - used;
        return columns;
    }
    for (columns--, used -= 2; columns > 1 && used > width; columns--)
        used -= widths[columns - 1] + 2;
    return columns;
}

void task_put_table(struct buf *out, yyjson_val *tasks, int64_t now_ms, size_t width)
{
    size_t n = json_len(tasks) + 1, widths[COLUMNS] = { 0 }, columns, room;
    struct row *rows = mem_alloc(n * sizeof *rows);

    for (size_t i = 0; i < COLUMNS; i++) {
        rows[0].cell[i] = BUF(64);
        buf_addz(&rows[0].cell[i], headings[i]);
    }
    for (struct json_iter it = json_iter(tasks); json_next(&it);)
        fill_row(&rows[it.i], it.val, now_ms);
    measure(rows, n, widths);
    columns = fit(widths, width, &room);
    for (size_t i = 0; i < n; i++)
        put_row(out, &rows[i], widths, columns, room);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            buf_free(&rows[i].cell[c]);
    free(rows);
}

/* ---- one task ---- */

static void put_field(struct buf *out, const char *name, struct str value)
{
    if (!value.n)
        return;
    buf_addf(out, "%-11s ", name);
    put_line(out, value);
    buf_addc(out, '\n');
}

static void put_time_field(struct buf *out, const char *name, struct str time, int64_t now_ms)
{
    if (!time.n)
        return;
    buf_addf(out, "%-11s %.*s (", name, STR_F(time));
    task_put_age(out, time, now_ms);
    buf_addz(out, " ago)\n");
}

static void put_json_field(struct buf *out, const char *name, yyjson_val *v)
{
    auto_buf text = BUF((size_t)64 << 10);

    if (!json_len(v))
        return;
    json_put_val(&text, v);
    put_field(out, name, buf_str(&text));
}

static void put_body(struct buf *out, const char *name, struct str text)
{
    if (!text.n)
        return;
    buf_addf(out, "\n%s%s%s\n", out_paint(stdout, PAINT_BOLD), name,
             out_paint(stdout, PAINT_OFF));
    task_put_clean(out, text);
    if (text.p[text.n - 1] != '\n')
        buf_addc(out, '\n');
}

void task_put_record(struct buf *out, yyjson_val *task, int64_t now_ms)
{
    static const char *const fields[][2] = {
        { "task", "task_id" },           { "agent", "agent" },
        { "workspace", "workspace" },    { "prompt", "prompt" },
        { "worktree", "worktree" },      { "branch", "branch" },
        { "status", "status" },          { "stop reason", "stop_reason" },
        { "session", "session_id" },     { "resolution", "resolution" },
        { "initiator", "initiator_id" }, { "executor", "executor_id" },
        { "parent", "parent_task_id" },
    };
    int64_t code;

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        put_field(out, fields[i][0], text_of(task, fields[i][1]));
    if (json_int(json_get(task, "exit_code"), &code))
        buf_addf(out, "%-11s %lld\n", "exit code", (long long)code);
    if (json_int(json_get(task, "signal"), &code))
        buf_addf(out, "%-11s %lld\n", "signal", (long long)code);
    put_time_field(out, "created", text_of(task, "created_at"), now_ms);
    put_time_field(out, "started", text_of(task, "started_at"), now_ms);
    put_time_field(out, "finished", text_of(task, "finished_at"), now_ms);
    put_json_field(out, "labels", json_get(task, "labels"));
    put_json_field(out, "usage", json_get(task, "usage"));
    put_body(out, "Note", text_of(task, "note"));
    put_body(out, "Result", text_of(task, "result_text"));
}

/* ---- events ---- */

/* A line of its own: "tool  edit: change a.txt (pending)". */
static void begin_line(struct buf *out, struct task_view *v, enum paint p, const char *word)
{
    task_put_view_end(out, v);
    paint(out, p);
    buf_addf(out, "%-6s ", word);
}

static void end_line(struct buf *out)
{
    paint(out, PAINT_OFF);
    buf_addc(out, '\n');
}

static void put_word_line(struct buf *out, struct task_view *v, enum paint p, const char *word,
                          struct str text)
{
    begin_line(out, v, p, word);
    put_line(out, text);
    end_line(out);
}

static void put_said(struct buf *out, struct task_view *v, yyjson_val *data, enum paint p)
{
    struct str text = text_of(data, "text");

    if (!text.n)
        return;
    if (!json_is_true(json_get(data, "continues")))
        task_put_view_end(out, v);
    paint(out, p);
    task_put_clean(out, text);
    paint(out, PAINT_OFF);
    v->mid_line = text.p[text.n - 1] != '\n';
}

static void put_message(struct buf *out, struct task_view *v, yyjson_val *data)
{
    put_said(out, v, data, PAINT_OFF);
}

static void put_thought(struct buf *out, struct task_view *v, yyjson_val *data)
{
    put_said(out, v, data, PAINT_DIM);
}

static void put_tool(struct buf *out, struct task_view *v, yyjson_val *data)
{
    struct str title = text_of(data, "title"), kind = text_of(data, "kind");
    struct str status = text_of(data, "status");

    /* Of an update without news people need to know nothing. */
    if (!title.n && !status.n && !v->verbose)
        return;
    begin_line(out, v, PAINT_BOLD, "tool");
    if (kind.n)
        buf_addf(out, "%.*s: ", STR_F(str_upto(kind, 32)));
    put_line(out, title.n ? title : text_of(data, "toolCallId"));
    if (status.n)
        buf_addf(out, " (%.*s)", STR_F(str_upto(status, 32)));
    end_line(out);
}

static void put_plan(struct buf *out, struct task_view *v, yyjson_val *data)
{
    for (struct json_iter it = json_iter(json_get(data, "entries")); json_next(&it);) {
        struct str status = text_of(it.val, "status");

        begin_line(out, v, PAINT_DIM, it.i == 1 ? "plan" : "");
        buf_addz(out, str_is(status, "completed")     ? "[x] "
                      : str_is(status, "in_progress") ? "[>] "
                                                      : "[ ] ");
        put_line(out, text_of(it.val, "content"));
        end_line(out);
    }
}

static void put_status(struct buf *out, struct task_view *v, yyjson_val *data)
{
    struct str to = text_of(data, "to");

    put_word_line(out, v, paint_of(to), "status", to);
}

static void put_error(struct buf *out, struct task_view *v, yyjson_val *data)
{
    put_word_line(out, v, PAINT_RED, "error", text_of(data, "message"));
}

static void put_stderr(struct buf *out, struct task_view *v, yyjson_val *data)
{
    struct str rest = text_of(data, "text"), line;

    while (str_next(&rest, '\n', &line))
        put_word_line(out, v, PAINT_DIM, "stderr", line);
}

/* {"kind":"edit","outcome":"selected","option_kind":"allow_once"} and what else it says. */
static void put_plain(struct buf *out, struct task_view *v, yyjson_val *data, const char *word)
{
    auto_buf text = BUF((size_t)1 << 20);

    begin_line(out, v, PAINT_DIM, word);
    for (struct json_iter it = json_iter(data); json_next(&it);) {
        buf_clear(&text);
        if (json_is_str(it.val))
            buf_add(&text, json_str(it.val));
        else
            json_put_val(&text, it.val);
        buf_addz(out, it.i > 1 ? ", " : "");
        put_line(out, it.key);
        buf_addz(out, ": ");
        put_line(out, buf_str(&text));
    }
    end_line(out);
}

static void put_permission(struct buf *out, struct task_view *v, yyjson_val *data)
{
    put_plain(out, v, data, "asked");
}

static void put_resolved(struct buf *out, struct task_view *v, yyjson_val *data)
{
    put_word_line(out, v, paint_of(text_of(data, "resolution")), "judged",
                  text_of(data, "resolution"));
}

static void put_cancelled(struct buf *out, struct task_view *v, yyjson_val *data)
{
    put_word_line(out, v, PAINT_OFF, "cancel", text_of(data, "reason"));
}

static void put_session(struct buf *out, struct task_view *v, yyjson_val *data)
{
    put_word_line(out, v, PAINT_DIM, "session", text_of(data, "session_id"));
}

/* clang-format off */
static const struct {
    const char *type;
    void (*put)(struct buf *out, struct task_view *v, yyjson_val *data);
} views[] = {
    { "agent_message",    put_message },
    { "agent_thought",    put_thought },
    { "stdout",           put_message },
    { "stderr",           put_stderr },
    { "tool_call",        put_tool },
    { "tool_call_update", put_tool },
    { "plan",             put_plan },
    { "permission",       put_permission },
    { "status_changed",   put_status },
    { "session_started",  put_session },
    { "task_cancelled",   put_cancelled },
    { "task_resolved",    put_resolved },
    { "error",            put_error },
};
/* clang-format on */

void task_put_event_text(struct buf *out, struct task_view *v, yyjson_val *event)
{
    yyjson_val *data = json_get(event, "data");
    auto_buf word = BUF(64);

    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        if (str_is(text_of(event, "type"), views[i].type)) {
            views[i].put(out, v, data);
            return;
        }
    if (!v->verbose)
        return;
    buf_add(&word, str_upto(text_of(event, "type"), 32));
    put_plain(out, v, data, buf_z(&word));
}

void task_put_view_end(struct buf *out, struct task_view *v)
{
    if (v->mid_line)
        buf_addc(out, '\n');
    v->mid_line = false;
}
