/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "loop/http_call.h"

#define BROKEN_OFF \
    0 /* what a callback returns to end the transfer: never the size it was given */

struct str http_head_get(const struct http_head *h, const char *name)
{
    for (size_t i = 0; i < h->n; i++) {
        if (str_icase_eq(h->v[i].name, str_of(name)))
            return h->v[i].value;
    }
    return (struct str){ 0 };
}

/* How many layers of coding this field names ("gzip, br" has two). */
static unsigned count_codings(struct str list)
{
    unsigned n = 0;

    while (list.n) {
        struct str one, rest = { 0 };

        if (!str_cut(list, ',', &one, &rest))
            one = list;
        one = str_trim(one);
        n += one.n && !str_icase_eq(one, STR("identity")) && !str_icase_eq(one, STR("chunked"));
        list = rest;
    }
    return n;
}

struct framing {
    int64_t length; /* -1: not given */
    unsigned codings;
    bool chunked;
};

static bool read_length(struct str value, struct framing *f, struct error *e)
{
    int64_t n;

    if (!str_to_int(value, 0, INT64_MAX, &n))
        return error_set(e, ERR_PROTOCOL, "bad Content-Length '%.*s'",
                         STR_F(str_upto(value, 40)));
    if (f->length >= 0 && f->length != n)
        return error_set(e, ERR_PROTOCOL, "two values of Content-Length");
    f->length = n;
    return true;
}

/*
 * Two statements about where the body ends are an attack on somebody in between (RFC
 * 9112, 6.3), and each further layer of coding multiplies what a few bytes can grow to.
 */
static bool read_framing(const struct http_call *c, struct framing *f, struct error *e)
{
    *f = (struct framing){ .length = -1 };
    for (size_t i = 0; i < c->fields.n; i++) {
        struct http_field field = c->fields.v[i];

        if (str_icase_eq(field.name, STR("content-encoding"))) {
            f->codings += count_codings(field.value);
        } else if (str_icase_eq(field.name, STR("transfer-encoding"))) {
            f->codings += count_codings(field.value);
            f->chunked = true;
        } else if (str_icase_eq(field.name, STR("content-length")) &&
                   !read_length(field.value, f, e)) {
            return false;
        }
    }
    if (f->chunked && f->length >= 0)
        return error_set(e, ERR_PROTOCOL, "both Content-Length and Transfer-Encoding");
    if (f->codings > 1)
        return error_set(e, ERR_PROTOCOL, "more than one content coding");
    return true;
}

static bool body_too_long(const struct http_call *c, struct error *e)
{
    return error_set(e, ERR_LIMIT, "the body has more than %zu bytes", c->max_body);
}

static bool head_complete(struct http_call *c, struct error *e)
{
    struct framing f;
    struct http_head head = { c->status, c->fields.v, c->fields.n, -1 };

    if (c->status < 200) /* "100 Continue" and its like: the answer is still to come */
        return true;
    c->head_done = true;
    if (!read_framing(c, &f, e))
        return false;
    if (c->max_body && !c->head_only && f.length > (int64_t)c->max_body)
        return body_too_long(c, e);
    if (!f.codings)
        head.length = f.length;
    if (c->ops.on_headers)
        c->ops.on_headers(c->ctx, &head);
    return true;
}

static bool status_line(struct http_call *c, struct str line, struct error *e)
{
    struct str version, rest;
    int64_t status;

    arena_free(&c->arena);
    c->fields.v = NULL;
    c->fields.n = c->fields.cap = 0;
    if (!str_cut(line, ' ', &version, &rest) ||
        !str_to_int(str_upto(str_trim(rest), 3), 100, 999, &status))
        return error_set(e, ERR_PROTOCOL, "bad status line");
    c->status = (int)status;
    return true;
}

static bool header_line(struct http_call *c, struct str line, struct error *e)
{
    struct http_field field;
    struct str name, value;

    if (line.n && (line.p[0] == ' ' || line.p[0] == '\t'))
        return error_set(e, ERR_PROTOCOL, "a header folded over several lines");
    line = str_trim(line);
    if (c->head_done) /* a trailer */
        return true;
    if (!line.n)
        return head_complete(c, e);
    if (str_starts(line, STR("HTTP/")))
        return status_line(c, line, e);
    if (!str_cut(line, ':', &name, &value))
        return true; /* no field; libcurl has let it pass */
    field.name = arena_str(&c->arena, str_trim(name));
    field.value = arena_str(&c->arena, str_trim(value));
    ARENA_PUSH(&c->arena, &c->fields) = field;
    return true;
}

size_t http_on_header(char *p, size_t one, size_t n, void *ctx)
{
    struct http_call *c = ctx;

    (void)one; /* always 1 */
    if (c->dead)
        return BROKEN_OFF;
    c->header_bytes += n;
    if (c->header_bytes > c->max_header) {
        error_set(&c->why, ERR_PROTOCOL, "the headers have more than %zu bytes", c->max_header);
        return BROKEN_OFF;
    }
    return header_line(c, (struct str){ p, n }, &c->why) && !c->dead ? n : BROKEN_OFF;
}

size_t http_on_body(char *p, size_t one, size_t n, void *ctx)
{
    struct http_call *c = ctx;

    (void)one; /* always 1 */
    if (c->dead)
        return BROKEN_OFF;
    if (c->paused) {
        c->held = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    c->body_bytes += n;
    if (c->max_body && c->body_bytes > c->max_body) {
        body_too_long(c, &c->why);
        return BROKEN_OFF;
    }
    if (c->ops.on_body && n)
        c->ops.on_body(c->ctx, (struct str){ p, n });
    return c->dead ? BROKEN_OFF : n;
}
