/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* ---- values ---- */

/* The letter behind the backslash; 'u' stands for \u00XX; 0: the byte needs no escape. */
static const char escape_of[256] = {
    [0 ... 7] = 'u', ['\b'] = 'b', ['\t'] = 't',      ['\n'] = 'n', [11] = 'u',
    ['\f'] = 'f',    ['\r'] = 'r', [14 ... 31] = 'u', ['"'] = '"',  ['\\'] = '\\',
};

/* Is a byte of these eight below 0x20, a quote or a backslash? */
static bool has_escape(uint64_t w)
{
    const uint64_t ones = UINT64_MAX / 255, highs = ones * 0x80;
    uint64_t quote = w ^ ones * '"', slash = w ^ ones * '\\';

    return (((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) &
           highs;
}

#define ESCAPED_MAX 6                 /* bytes that one may take: "\u001f" */
#define CHUNK       ((size_t)4 << 10) /* quoted at once, with room for the worst */

static char *put_escape(char *to, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    char c = escape_of[byte];

    *to++ = '\\';
    *to++ = c;
    if (c == 'u') {
        *to++ = '0';
        *to++ = '0';
        *to++ = hex[byte >> 4];
        *to++ = hex[byte & 15];
    }
    return to;
}

/* Writes s escaped; the end of what was written. Eight bytes at once where none needs it. */
static char *put_escaped(char *to, struct str s)
{
    for (size_t i = 0, end; i < s.n;) {
        uint64_t w;

        if (s.n - i >= sizeof w) {
            memcpy(&w, s.p + i, sizeof w);
            if (!has_escape(w)) {
                memcpy(to, &w, sizeof w);
                to += sizeof w;
                i += sizeof w;
                continue;
            }
        }
        for (end = s.n - i < sizeof w ? s.n : i + sizeof w; i < end; i++) {
            if (escape_of[(unsigned char)s.p[i]])
                to = put_escape(to, (unsigned char)s.p[i]);
            else
                *to++ = s.p[i];
        }
    }
    return to;
}

static size_t escaped_length(struct str s)
{
    size_t n = s.n;

    for (size_t i = 0; i < s.n; i++) {
        char c = escape_of[(unsigned char)s.p[i]];

        n += c == 'u' ? ESCAPED_MAX - 1 : c != 0;
    }
    return n;
}

/* Quotes valid UTF-8. */
static void put_quoted(struct buf *b, struct str s)
{
    buf_addc(b, '"');
    while (s.n) {
        struct str part = str_upto(s, CHUNK);
        size_t room = ESCAPED_MAX * part.n;
        char *to;

        /* Near the ceiling only what is really needed is asked for. */
        if (room > b->max - b->n)
            room = escaped_length(part);
        to = buf_room(b, room);
        if (!to)
            return;
        b->n += (size_t)(put_escaped(to, part) - to);
        s = str_from(s, part.n);
    }
    buf_addc(b, '"');
}

void json_put_str(struct buf *b, struct str s)
{
    if (utf8_valid(s)) {
        put_quoted(b, s);
    } else {
        auto_buf clean = BUF(3 * s.n); /* a replacement has 3 bytes */

        utf8_put_lossy(&clean, s);
        put_quoted(b, buf_str(&clean));
    }
}

void json_put_int(struct buf *b, int64_t n)
{
    buf_addf(b, "%lld", (long long)n);
}

void json_put_num(struct buf *b, double d)
{
    yyjson_val v = { 0 };
    size_t n;
    char *text;

    if (!isfinite(d)) {
        buf_add(b, STR("null"));
        return;
    }
    if (fabs(d) < 0x1p53 && d == (double)(int64_t)d && !(d == 0 && signbit(d))) {
        json_put_int(b, (int64_t)d);
        return;
    }
    unsafe_yyjson_set_real(&v, d);
    text = yyjson_val_write(&v, YYJSON_WRITE_NOFLAG, &n);
    if (!text)
        mem_exhausted();
    if (str_ends((struct str){ text, n }, STR(".0")))
        n -= 2;
    buf_add(b, (struct str){ text, n });
    free(text);
}

/* An object's members by key, duplicates behind one another in order of appearance. */
struct member {
    struct str key;
    yyjson_val *val;
    size_t at;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int c = str_cmp(x->key, y->key);

    return c ? c : (x->at > y->at) - (x->at < y->at);
}

static void put_value(struct buf *b, yyjson_val *v, bool canonical);

static void put_sorted_object(struct buf *b, yyjson_val *v)
{
    size_t n = json_len(v), i = 0;
    auto_free struct member *m = mem_alloc(n * sizeof *m);
    bool comma = false;

    for (struct json_iter it = json_iter(v); json_next(&it); i++)
        m[i] = (struct member){ it.key, it.val, i };
    qsort(m, n, sizeof *m, compare_members);
    buf_addc(b, '{');
    for (i = 0; i < n; i++) {
        if (i + 1 < n && str_eq(m[i].key, m[i + 1].key))
            continue; /* the last duplicate counts */
        if (comma)
            buf_addc(b, ',');
        comma = true;
        put_quoted(b, m[i].key);
        buf_addc(b, ':');
        put_value(b, m[i].val, true);
    }
    buf_addc(b, '}');
}

static void put_container(struct buf *b, yyjson_val *v, bool canonical)
{
    bool is_obj = json_is_obj(v);

    buf_addc(b, is_obj ? '{' : '[');
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        if (it.i > 1)
            buf_addc(b, ',');
        if (is_obj) {
            put_quoted(b, it.key);
            buf_addc(b, ':');
        }
        put_value(b, it.val, canonical);
    }
    buf_addc(b, is_obj ? '}' : ']');
}

/* Recursion ends: no parsed document is deeper than JSON_MAX_DEPTH. */
static void put_value(struct buf *b, yyjson_val *v, bool canonical)
{
    switch (yyjson_get_type(v)) {
    case YYJSON_TYPE_OBJ:
        if (canonical) {
            put_sorted_object(b, v);
            return;
        }
        put_container(b, v, canonical);
        return;
    case YYJSON_TYPE_ARR:
        put_container(b, v, canonical);
        return;
    case YYJSON_TYPE_STR:
        put_quoted(b, json_str(v));
        return;
    case YYJSON_TYPE_RAW:
        buf_add(b, json_num_text(v));
        return;
    case YYJSON_TYPE_BOOL:
        buf_addz(b, yyjson_is_true(v) ? "true" : "false");
        return;
    default:
        buf_add(b, STR("null"));
    }
}

void json_put_val(struct buf *b, yyjson_val *v)
{
    put_value(b, v, false);
}

void json_put_canonical(struct buf *b, yyjson_val *v)
{
    put_value(b, v, true);
}

bool json_equal(yyjson_val *a, yyjson_val *b)
{
    auto_buf x = BUF(JSON_EQUAL_MAX), y = BUF(JSON_EQUAL_MAX);

    if (!a || !b)
        return a == b;
    json_put_canonical(&x, a);
    json_put_canonical(&y, b);
    return !x.over && !y.over && str_eq(buf_str(&x), buf_str(&y));
}

/* ---- the writer ---- */

struct jw jw_to(struct buf *b)
{
    return (struct jw){ .b = b };
}

static uint64_t level_bit(const struct jw *w)
{
    return (uint64_t)1 << (w->depth - 1);
}

static bool in_object(const struct jw *w)
{
    return w->depth > 0 && (w->is_obj & level_bit(w));
}

/* Places the comma a value or key needs. */
static void separate(struct jw *w)
{
    if (w->depth == 0)
        return;
    if (w->has_item & level_bit(w))
        buf_addc(w->b, ',');
    w->has_item |= level_bit(w);
}

static void before_value(struct jw *w)
{
    assert(w->after_key == in_object(w));
    if (!w->after_key)
        separate(w);
    w->after_key = false;
}

static void open_level(struct jw *w, bool is_obj)
{
    before_value(w);
    assert(w->depth < JW_MAX_DEPTH);
    buf_addc(w->b, is_obj ? '{' : '[');
    w->depth++;
    w->has_item &= ~level_bit(w);
    w->is_obj = is_obj ? w->is_obj | level_bit(w) : w->is_obj & ~level_bit(w);
}

void jw_obj(struct jw *w)
{
    open_level(w, true);
}

void jw_arr(struct jw *w)
{
    open_level(w, false);
}

void jw_end(struct jw *w)
{
    assert(w->depth > 0 && !w->after_key);
    buf_addc(w->b, in_object(w) ? '}' : ']');
    w->depth--;
}

void jw_key(struct jw *w, const char *key)
{
    jw_key_s(w, str_of(key));
}

void jw_key_s(struct jw *w, struct str key)
{
    assert(in_object(w) && !w->after_key);
    separate(w);
    json_put_str(w->b, key);
    buf_addc(w->b, ':');
    w->after_key = true;
}

void jw_str(struct jw *w, struct str s)
{
    before_value(w);
    json_put_str(w->b, s);
}

void jw_strz(struct jw *w, const char *z)
{
    if (z)
        jw_str(w, str_of(z));
    else
        jw_null(w);
}

void jw_int(struct jw *w, int64_t n)
{
    before_value(w);
    json_put_int(w->b, n);
}

void jw_num(struct jw *w, double d)
{
    before_value(w);
    json_put_num(w->b, d);
}

void jw_bool(struct jw *w, bool v)
{
    before_value(w);
    buf_addz(w->b, v ? "true" : "false");
}

void jw_null(struct jw *w)
{
    before_value(w);
    buf_add(w->b, STR("null"));
}

void jw_val(struct jw *w, yyjson_val *v)
{
    before_value(w);
    json_put_val(w->b, v);
}

void jw_raw(struct jw *w, struct str json)
{
    before_value(w);
    buf_add(w->b, json);
}

void jw_kstr(struct jw *w, const char *key, struct str s)
{
    jw_key(w, key);
    jw_str(w, s);
}

void jw_kstrz(struct jw *w, const char *key, const char *z)
{
    jw_key(w, key);
    jw_strz(w, z);
}

void jw_kint(struct jw *w, const char *key, int64_t n)
{
    jw_key(w, key);
    jw_int(w, n);
}

void jw_kbool(struct jw *w, const char *key, bool v)
{
    jw_key(w, key);
    jw_bool(w, v);
}
