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

struct framing {
    int64_t length;   /* -1: not given */
    unsigned codings; /* layers: "gzip, br" has two */
    bool gzip;        /* one of them */
    bool transfer, chunked;
};

/* True: "chunked" is one of them. */
static bool read_codings(struct str list, struct framing *f)
{
    bool chunked = false;

    while (list.n) {
        struct str one, rest = { 0 };

        if (!str_cut(list, ',', &one, &rest))
            one = list;
        one = str_trim(one);
        if (str_icase_eq(one, STR("chunked")))
            chunked = true;
        else
            f->codings += one.n && !str_icase_eq(one, STR("identity"));
        if (str_icase_eq(one, STR("gzip")) || str_icase_eq(one, STR("x-gzip")))
            f->gzip = true;
        list = rest;
    }
    return chunked;
}

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
            read_codings(field.value, f);
        } else if (str_icase_eq(field.name, STR("transfer-encoding"))) {
            f->chunked |= read_codings(field.value, f);
            f->transfer = true;
        } else if (str_icase_eq(field.name, STR("content-length")) &&
                   !read_length(field.value, f, e)) {
            return false;
        }
    }
    if (f->transfer && f->length >= 0)
        return error_set(e, ERR_PROTOCOL, "both Content-Length and Transfer-Encoding");
    if (f->codings > 1)
        return error_set(e, ERR_PROTOCOL, "more than one content coding");
    return true;
}

static bool body_too_long(const struct http_call *c, struct error *e)
{
    return error_set(e, ERR_LIMIT, "the body has more than %zu bytes", c->max_body);
}

/* The bytes before decoding, of which libcurl tells only who debugs it. */
static int on_raw(CURL *easy, curl_infotype type, char *p, size_t n, void *ctx)
{
    struct http_call *c = ctx;
    size_t last = n < sizeof c->raw_tail ? n : sizeof c->raw_tail;

    (void)easy;
    if (type != CURLINFO_DATA_IN)
        return 0;
    c->raw_bytes += n;
    memmove(c->raw_tail, c->raw_tail + last, sizeof c->raw_tail - last);
    memcpy(c->raw_tail + sizeof c->raw_tail - last, p + n - last, last);
    return 0;
}

/*
 * libcurl does not ask its decoders whether they have come to an end. A length or chunks tell
 * that the body is whole; where only the close of the connection does, gzip's trailer has to.
 */
static void watch_end(struct http_call *c, const struct framing *f)
{
    if (!c->decodes || !f->codings || f->chunked || f->length >= 0)
        return;
    c->end = f->gzip ? END_OF_GZIP : END_UNKNOWN;
    c->curl->easy_setopt(c->easy, CURLOPT_DEBUGFUNCTION, on_raw);
    c->curl->easy_setopt(c->easy, CURLOPT_DEBUGDATA, c);
    c->curl->easy_setopt(c->easy, CURLOPT_VERBOSE, 1L);
}

/* RFC 1952, 2.3.1: the last four bytes are the size of what was packed, modulo 2^32. */
static uint32_t gzip_size(const uint8_t tail[4])
{
    return tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 | (uint32_t)tail[3] << 24;
}

bool http_body_whole(const struct http_call *c, struct error *why)
{
    if (c->end == END_TOLD || c->raw_bytes == 0)
        return true;
    if (c->end == END_UNKNOWN)
        return error_set(
            why, ERR_PROTOCOL,
            "the body is compressed, and neither a length nor chunks nor a trailer "
            "tell whether it is complete");
    return gzip_size(c->raw_tail) == (uint32_t)c->body_bytes ||
           error_set(why, ERR_CLOSED, "the connection was closed within the gzip data");
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
    watch_end(c, &f);
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
    /* A decoder goes on while it is held, into libcurl's memory; and what is decoded has a
     * maximum. */
    if (!c->decodes && http_slice_is_over(c->http)) {
        http_hold(c);
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
