/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"

/* ---- parsing ---- */

/* yyjson on our allocator: no parse fails for want of memory, the process ends. */
static void *alc_malloc(void *ctx, size_t n)
{
    return mem_resize(NULL, n);
}

static void *alc_realloc(void *ctx, void *p, size_t old, size_t n)
{
    return mem_resize(p, n);
}

static void alc_free(void *ctx, void *p)
{
    free(p);
}

static const yyjson_alc allocator = { alc_malloc, alc_realloc, alc_free, NULL };

/* Sets "line 2, column 5 (byte 17): what". Columns count code points. */
static bool fail_at(struct str text, size_t at, enum err_kind kind, const char *what,
                    struct error *e)
{
    struct utf8_pos pos = utf8_pos(text, at);

    return error_set(e, kind, "line %u, column %u (byte %zu): %s", pos.line, pos.column,
                     str_upto(text, at).n, what);
}

static bool check_utf8(struct str text, struct error *e)
{
    size_t at = 0, n;
    uint32_t cp;

    if (utf8_valid(text))
        return true;
    while ((n = utf8_decode(str_from(text, at), &cp)) > 0)
        at += n;
    return fail_at(text, at, ERR_INVALID, "invalid UTF-8", e);
}

static int hex4(const char *p)
{
    int value = 0;

    for (int i = 0; i < 4; i++) {
        int digit = str_hex(p[i]);

        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* p is at "\u". Steps over it or over both halves of a pair; makes a lone half \ufffd. */
static char *step_escape(char *p, const char *end)
{
    int unit = end - p >= 6 ? hex4(p + 2) : -1;

    if (unit < 0)
        return p + 2; /* malformed: the parser says so */
    if (unit < 0xd800 || unit > 0xdfff)
        return p + 6;
    if (unit < 0xdc00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
        int low = hex4(p + 8);

        if (low >= 0xdc00 && low <= 0xdfff)
            return p + 12;
    }
    memcpy(p + 2, "fffd", 4);
    return p + 6;
}

/*
 * The text is followed by SCAN_PADDING bytes, the first of them a quote while the scan runs:
 * its inner loops stop there without looking for the end, and a block read at the last byte is
 * still ours.
 */
#define SCAN_PADDING 16
static_assert(SCAN_PADDING >= YYJSON_PADDING_SIZE, "yyjson reads past the end, too");

typedef unsigned char block __attribute__((vector_size(SCAN_PADDING)));

/* Index of the first of eight bytes that is not 0; w is not 0. */
static inline size_t first_byte(uint64_t w)
{
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

    return (size_t)(little ? __builtin_ctzll(w) : __builtin_clzll(w)) / 8;
}

/* The next quote or backslash. */
static inline char *skip_plain(char *p)
{
    for (;; p += sizeof(block)) {
        block b;
        uint64_t hit[2];

        memcpy(&b, p, sizeof b);
        b = (block)(b == '"') | (block)(b == '\\');
        memcpy(hit, &b, sizeof hit);
        if (hit[0])
            return p + first_byte(hit[0]);
        if (hit[1])
            return p + sizeof hit[0] + first_byte(hit[1]);
    }
}

/* p is behind an opening quote. Returns the place behind the closing one, or end. */
static char *step_string(char *p, char *end)
{
    for (;;) {
        p = skip_plain(p);
        if (p >= end)
            return end;
        if (*p == '"')
            return p + 1;
        if (end - p < 2)
            return end;
        p = p[1] == 'u' ? step_escape(p, end) : p + 2;
    }
}

/* p is at a '/'. Returns the place behind the comment, or behind the '/' if it begins none. */
static char *step_comment(char *p, char *end)
{
    char *stop;

    if (end - p < 2 || (p[1] != '/' && p[1] != '*'))
        return p + 1;
    if (p[1] == '/') {
        stop = memchr(p, '\n', (size_t)(end - p));
        return stop ? stop + 1 : end;
    }
    stop = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
    return stop ? stop + 2 : end;
}

enum { PLAIN, QUOTE, OPEN, CLOSE, SLASH };

static const unsigned char kind_of[256] = {
    ['"'] = QUOTE, ['['] = OPEN, ['{'] = OPEN, [']'] = CLOSE, ['}'] = CLOSE, ['/'] = SLASH,
};

/*
 * What yyjson does not do: limits the depth and repairs lone surrogate escapes in place.
 * Well-formedness is left to the parser, which stops where the two would begin to disagree
 * about what is a string. Returns the place of the first bracket that is too deep, or end.
 */
static char *scan(char *p, char *end, bool comments)
{
    size_t depth = 0;

    for (;;) {
        unsigned char kind;

        while ((kind = kind_of[(unsigned char)*p]) == PLAIN)
            p++;
        if (p >= end)
            return end;
        switch (kind) {
        case QUOTE:
            p = step_string(p + 1, end);
            continue;
        case SLASH:
            p = comments ? step_comment(p, end) : p + 1;
            continue;
        case OPEN:
            if (++depth > JSON_MAX_DEPTH)
                return p;
            break;
        case CLOSE:
            depth -= depth > 0;
            break;
        }
        p++;
    }
}

static bool parse(struct json *ret, struct str text, yyjson_read_flag flags, struct error *e)
{
    bool comments = (flags & YYJSON_READ_ALLOW_COMMENTS) != 0;
    yyjson_read_err err;
    auto_free char *copy = NULL;
    char *deep;
    yyjson_doc *doc;

    *ret = (struct json){ 0 };
    if (text.n == 0)
        return error_set(e, ERR_INVALID, "no JSON value: the text is empty");
    if (!check_utf8(text, e))
        return false;
    copy = mem_resize(NULL, text.n + SCAN_PADDING);
    memcpy(copy, text.p, text.n);
    memset(copy + text.n, 0, SCAN_PADDING);
    copy[text.n] = '"';
    deep = scan(copy, copy + text.n, comments);
    copy[text.n] = '\0';
    if (deep < copy + text.n) {
        char what[64];

        snprintf(what, sizeof what, "nested deeper than %d levels", JSON_MAX_DEPTH);
        return fail_at(text, (size_t)(deep - copy), ERR_LIMIT, what, e);
    }
    doc = yyjson_read_opts(copy, text.n, flags | YYJSON_READ_INSITU | YYJSON_READ_NUMBER_AS_RAW,
                           &allocator, &err);
    if (!doc)
        return fail_at(text, err.pos, ERR_INVALID, err.msg, e);
    doc->str_pool = take_ptr(&copy); /* strings point into it; freed with the document */
    *ret = (struct json){ doc, yyjson_doc_get_root(doc) };
    return true;
}

bool json_parse(struct json *ret, struct str text, struct error *e)
{
    return parse(ret, text, YYJSON_READ_NOFLAG, e);
}

bool json_parse_jsonc(struct json *ret, struct str text, struct error *e)
{
    return parse(ret, text, YYJSON_READ_ALLOW_COMMENTS | YYJSON_READ_ALLOW_TRAILING_COMMAS, e);
}

void json_free(struct json *j)
{
    yyjson_doc_free(j->doc);
    *j = (struct json){ 0 };
}

void json_cleanup(struct json *j)
{
    json_free(j);
}

/* ---- reading ---- */

yyjson_val *json_get(yyjson_val *obj, const char *key)
{
    return json_get_s(obj, str_of(key));
}

yyjson_val *json_get_s(yyjson_val *obj, struct str key)
{
    yyjson_val *found = NULL, *k = yyjson_is_obj(obj) ? unsafe_yyjson_get_first(obj) : NULL;
    bool repeated = false;

    for (size_t left = yyjson_obj_size(obj); left > 0; left--) {
        if (unsafe_yyjson_get_len(k) == key.n &&
            (key.n == 0 || memcmp(unsafe_yyjson_get_str(k), key.p, key.n) == 0)) {
            repeated |= found != NULL;
            found = k + 1;
        }
        k = unsafe_yyjson_get_next(k + 1);
    }
    if (repeated)
        log_debug("duplicate key '%.*s' in JSON, the last one counts", STR_F(key));
    return found;
}

yyjson_val *json_path(yyjson_val *v, const char *dotted)
{
    struct str rest = str_of(dotted), key;

    while (v && str_cut(rest, '.', &key, &rest))
        v = json_get_s(v, key);
    return json_get_s(v, rest);
}

yyjson_val *json_at(yyjson_val *arr, size_t i)
{
    return yyjson_arr_get(arr, i);
}

size_t json_len(yyjson_val *v)
{
    return yyjson_is_ctn(v) ? unsafe_yyjson_get_len(v) : 0;
}

bool json_is_obj(yyjson_val *v)
{
    return yyjson_is_obj(v);
}

bool json_is_arr(yyjson_val *v)
{
    return yyjson_is_arr(v);
}

bool json_is_str(yyjson_val *v)
{
    return yyjson_is_str(v);
}

bool json_is_num(yyjson_val *v)
{
    return yyjson_is_raw(v);
}

bool json_is_bool(yyjson_val *v)
{
    return yyjson_is_bool(v);
}

bool json_is_null(yyjson_val *v)
{
    return yyjson_is_null(v);
}

bool json_is_true(yyjson_val *v)
{
    return yyjson_is_true(v);
}

const char *json_type_name(yyjson_val *v)
{
    switch (yyjson_get_type(v)) {
    case YYJSON_TYPE_OBJ:
        return "object";
    case YYJSON_TYPE_ARR:
        return "array";
    case YYJSON_TYPE_STR:
        return "string";
    case YYJSON_TYPE_RAW:
        return "number";
    case YYJSON_TYPE_BOOL:
        return "boolean";
    case YYJSON_TYPE_NULL:
        return "null";
    default:
        return "nothing";
    }
}

struct str json_str(yyjson_val *v)
{
    return (struct str){ yyjson_get_str(v), yyjson_is_str(v) ? unsafe_yyjson_get_len(v) : 0 };
}

bool json_bool(yyjson_val *v, bool fallback)
{
    return yyjson_is_bool(v) ? unsafe_yyjson_get_bool(v) : fallback;
}

struct str json_num_text(yyjson_val *v)
{
    return (struct str){ yyjson_get_raw(v), yyjson_is_raw(v) ? unsafe_yyjson_get_len(v) : 0 };
}

/* A JSON number taken apart: whole.fraction times ten to the exponent. */
struct decimal {
    bool negative;
    struct str whole, fraction;
    int64_t exponent;
};

#define EXPONENT_MAX (INT64_MAX / 100) /* far past any text's length; more changes nothing */

static struct decimal decimal_of(struct str s)
{
    struct decimal d = { 0 };
    struct str digits, power;

    d.negative = s.p[0] == '-';
    s = str_from(s, d.negative);
    if (!str_cut(s, 'e', &digits, &power) && !str_cut(s, 'E', &digits, &power)) {
        digits = s;
        power.n = 0;
    }
    if (!str_cut(digits, '.', &d.whole, &d.fraction))
        d.whole = digits;
    if (power.n) {
        bool down = power.p[0] == '-';

        for (size_t i = down || power.p[0] == '+'; i < power.n; i++) {
            if (d.exponent < EXPONENT_MAX / 10)
                d.exponent = d.exponent * 10 + (power.p[i] - '0');
        }
        if (down)
            d.exponent = -d.exponent;
    }
    return d;
}

/* value = value * 10 + digit, towards the sign; false on overflow. */
static bool push_digit(int64_t *value, bool negative, int digit)
{
    return !__builtin_mul_overflow(*value, 10, value) &&
           !__builtin_add_overflow(*value, negative ? -digit : digit, value);
}

/*
 * Digits left of the (moved) decimal point make the value, those right of it must be zeros. The
 * exponent moves the point; leading zeros keep a long text from overflowing, so the loop ends
 * at the 20th digit that matters.
 */
static bool decimal_to_int(const struct decimal *d, int64_t *ret)
{
    int64_t point = (int64_t)d->whole.n + d->exponent;
    size_t digits = d->whole.n + d->fraction.n;
    int64_t value = 0;

    for (size_t i = 0; i < digits; i++) {
        char c = i < d->whole.n ? d->whole.p[i] : d->fraction.p[i - d->whole.n];

        if ((int64_t)i >= point) {
            if (c != '0')
                return false;
        } else if (!push_digit(&value, d->negative, c - '0')) {
            return false;
        }
    }
    for (int64_t i = (int64_t)digits; value != 0 && i < point; i++) {
        if (!push_digit(&value, d->negative, 0))
            return false;
    }
    *ret = value;
    return true;
}

bool json_int(yyjson_val *v, int64_t *ret)
{
    struct str s = json_num_text(v);
    struct decimal d;

    if (s.n == 0)
        return false;
    if (str_to_int(s, INT64_MIN, INT64_MAX, ret))
        return true;
    d = decimal_of(s);
    return decimal_to_int(&d, ret);
}

bool json_num(yyjson_val *v, double *ret)
{
    yyjson_val number;

    if (!yyjson_is_raw(v) || !yyjson_read_number(yyjson_get_raw(v), &number,
                                                 YYJSON_READ_ALLOW_INF_AND_NAN, NULL, NULL))
        return false;
    *ret = yyjson_get_num(&number);
    if (*ret == 0 && yyjson_get_raw(v)[0] == '-')
        *ret = -0.0; /* yyjson reads -0 as an integer */
    return true;
}

bool json_opt_str(yyjson_val *obj, const char *key, struct str *ret, struct error *e)
{
    yyjson_val *v = json_get(obj, key);

    if (!v)
        return true;
    if (!yyjson_is_str(v))
        return error_set(e, ERR_INVALID, "'%s' must be a string, not %s", key,
                         json_type_name(v));
    *ret = json_str(v);
    return true;
}

bool json_opt_bool(yyjson_val *obj, const char *key, bool *ret, struct error *e)
{
    yyjson_val *v = json_get(obj, key);

    if (!v)
        return true;
    if (!yyjson_is_bool(v))
        return error_set(e, ERR_INVALID, "'%s' must be true or false, not %s", key,
                         json_type_name(v));
    *ret = yyjson_is_true(v);
    return true;
}

bool json_opt_int(yyjson_val *obj, const char *key, int64_t min, int64_t max, int64_t *ret,
                  struct error *e)
{
    yyjson_val *v = json_get(obj, key);
    int64_t n;

    if (!v)
        return true;
    if (!json_int(v, &n) || n < min || n > max)
        return error_set(e, ERR_INVALID, "'%s' must be an integer from %lld to %lld", key,
                         (long long)min, (long long)max);
    *ret = n;
    return true;
}

struct json_iter json_iter(yyjson_val *v)
{
    size_t n = json_len(v);

    return (struct json_iter){ .v = v, .n = n, .next_ = n ? unsafe_yyjson_get_first(v) : NULL };
}

bool json_next(struct json_iter *it)
{
    if (it->i == it->n)
        return false;
    it->i++;
    it->val = it->next_;
    if (yyjson_is_obj(it->v)) {
        it->key_val = it->next_;
        it->key = json_str(it->next_);
        it->val++;
    }
    it->next_ = unsafe_yyjson_get_next(it->val);
    return true;
}
