/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/sse.h"

#include <string.h>

#define BOM        STR("\xef\xbb\xbf")
#define FIELD_ROOM 64 /* bytes of a line beside its value: field name, colon, space */

void sse_init(struct sse *s, size_t max_data)
{
    *s = (struct sse){
        .line = BUF(max_data + FIELD_ROOM),
        .data = BUF(max_data),
        .type = BUF(SSE_TYPE_MAX),
        .id = BUF(SSE_ID_MAX),
        .retry_ms = -1,
    };
}

void sse_free(struct sse *s)
{
    buf_free(&s->line);
    buf_free(&s->data);
    buf_free(&s->type);
    buf_free(&s->id);
}

/* ---- one line ---- */

static void add_data(struct sse *s, struct str value)
{
    if (s->has_data)
        buf_addc(&s->data, '\n');
    s->has_data = true;
    buf_add(&s->data, value);
    s->too_long |= s->data.over;
}

static void set_id(struct sse *s, struct str value)
{
    if (value.n > SSE_ID_MAX || (value.n && memchr(value.p, '\0', value.n)))
        return;
    buf_clear(&s->id);
    buf_add(&s->id, value);
}

static void set_retry(struct sse *s, struct str value)
{
    int64_t ms;

    if (str_to_int(value, 0, SSE_RETRY_MAX, &ms))
        s->retry_ms = (int)ms;
}

static void field(struct sse *s, struct str line)
{
    struct str name = line, value = { 0 };

    if (str_cut(line, ':', &name, &value) && str_starts(value, STR(" ")))
        value = str_from(value, 1);
    if (str_is(name, "data")) {
        add_data(s, value);
    } else if (str_is(name, "event")) {
        buf_clear(&s->type);
        buf_add(&s->type, str_upto(value, SSE_TYPE_MAX));
    } else if (str_is(name, "id")) {
        set_id(s, value);
    } else if (str_is(name, "retry")) {
        set_retry(s, value);
    }
}

/* An event without data is none: its id counts all the same. */
static bool dispatch(struct sse *s, sse_fn on_event, void *ctx)
{
    struct sse_event event = {
        .type = buf_str(&s->type),
        .data = s->too_long ? STR("") : buf_str(&s->data),
        .too_long = s->too_long,
    };
    bool told = s->too_long || s->data.n > 0, more = true;

    if (told)
        more = on_event(ctx, &event);
    buf_clear(&s->data);
    buf_clear(&s->type);
    s->has_data = s->too_long = false;
    return more;
}

static bool end_of_line(struct sse *s, struct str line, sse_fn on_event, void *ctx)
{
    if (!s->begun && str_starts(line, BOM))
        line = str_from(line, BOM.n);
    s->begun = true;
    if (s->line.over)
        s->too_long = true; /* of whatever field: what it said is lost */
    else if (line.n == 0)
        return dispatch(s, on_event, ctx);
    else if (line.p[0] != ':')
        field(s, line);
    return true;
}

/* ---- bytes ---- */

static size_t line_length(struct str s)
{
    const char *lf = s.n ? memchr(s.p, '\n', s.n) : NULL;
    size_t n = lf ? (size_t)(lf - s.p) : s.n;
    const char *cr = n ? memchr(s.p, '\r', n) : NULL;

    return cr ? (size_t)(cr - s.p) : n;
}

/* A comment is not kept, however long it is. */
static void keep(struct sse *s, struct str part)
{
    bool comment =
        s->line.n ? s->line.p[0] == ':' : !s->line.over && str_starts(part, STR(":"));

    if (!comment)
        buf_add(&s->line, part);
    else if (!s->line.n)
        buf_addc(&s->line, ':');
}

void sse_feed(struct sse *s, struct str rest, sse_fn on_event, void *ctx)
{
    bool more = true;

    while (more && rest.n) {
        size_t n;

        if (s->after_cr && rest.p[0] == '\n')
            rest = str_from(rest, 1);
        s->after_cr = false;
        n = line_length(rest);
        if (n == rest.n) {
            keep(s, rest);
            return;
        }
        s->after_cr = rest.p[n] == '\r';
        if (s->line.n || s->line.over || n > s->line.max) { /* too long in one piece too */
            keep(s, str_upto(rest, n));
            more = end_of_line(s, buf_str(&s->line), on_event, ctx);
        } else {
            more = end_of_line(s, str_upto(rest, n), on_event, ctx);
        }
        buf_clear(&s->line);
        rest = str_from(rest, n + 1);
    }
}
