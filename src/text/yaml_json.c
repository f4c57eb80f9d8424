/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/yaml_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum type { TYPE_TEXT, TYPE_NULL, TYPE_TRUE, TYPE_FALSE, TYPE_NUMBER, TYPE_OCTAL, TYPE_HEX };

/* clang-format off */
static const struct { const char *text; enum type type; } words[] = {
    { "", TYPE_NULL },     { "~", TYPE_NULL },
    { "null", TYPE_NULL }, { "Null", TYPE_NULL }, { "NULL", TYPE_NULL },
    { "true", TYPE_TRUE }, { "True", TYPE_TRUE }, { "TRUE", TYPE_TRUE },
    { "false", TYPE_FALSE }, { "False", TYPE_FALSE }, { "FALSE", TYPE_FALSE },
};
/* clang-format on */

/* Longer than any number that people write; a run of digits beyond is text. */
#define NUMBER_MAX 64

/* How many digits s begins with; they are taken off it. */
static size_t take_digits(struct str *s)
{
    size_t n = 0;

    while (n < s->n && ascii_digit(s->p[n]))
        n++;
    *s = str_from(*s, n);
    return n;
}

static bool take_char(struct str *s, const char *any)
{
    for (; s->n && *any; any++)
        if (s->p[0] == *any) {
            *s = str_from(*s, 1);
            return true;
        }
    return false;
}

/* [-+]? ( digits [. digits?]? | . digits ) ([eE] [-+]? digits)? */
static bool is_decimal(struct str s)
{
    size_t whole, fraction = 0;

    take_char(&s, "-+");
    whole = take_digits(&s);
    if (take_char(&s, "."))
        fraction = take_digits(&s);
    if (whole + fraction == 0)
        return false;
    if (take_char(&s, "eE")) {
        take_char(&s, "-+");
        if (take_digits(&s) == 0)
            return false;
    }
    return s.n == 0;
}

static bool is_based(struct str s, const char *prefix, const char *digits)
{
    if (s.n <= 2 || !str_starts(s, str_of(prefix)))
        return false;
    s = str_from(s, 2);
    while (take_char(&s, digits))
        ;
    return s.n == 0;
}

static enum type type_of(const struct yaml *v)
{
    if (!v->plain)
        return TYPE_TEXT;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(v->s, words[i].text))
            return words[i].type;
    if (v->s.n > NUMBER_MAX)
        return TYPE_TEXT;
    return is_decimal(v->s)                                 ? TYPE_NUMBER
           : is_based(v->s, "0o", "01234567")               ? TYPE_OCTAL
           : is_based(v->s, "0x", "0123456789abcdefABCDEF") ? TYPE_HEX
                                                            : TYPE_TEXT;
}

bool yaml_is_null(const struct yaml *v)
{
    return yaml_is(v, YAML_SCALAR) && type_of(v) == TYPE_NULL;
}

static double based(struct str digits, int base)
{
    double n = 0;

    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i];

        n = n * base + (ascii_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return n;
}

static void put_number(struct jw *w, struct str text, double n)
{
    int64_t whole;

    if (!isfinite(n))
        jw_str(w, text);
    else if (str_to_int(text, INT64_MIN, INT64_MAX, &whole))
        jw_int(w, whole);
    else
        jw_num(w, n);
}

static void put_scalar(struct jw *w, const struct yaml *v)
{
    char z[NUMBER_MAX + 1] = { 0 };

    switch (type_of(v)) {
    case TYPE_TEXT:
        jw_str(w, v->s);
        return;
    case TYPE_NULL:
        jw_null(w);
        return;
    case TYPE_TRUE:
    case TYPE_FALSE:
        jw_bool(w, type_of(v) == TYPE_TRUE);
        return;
    case TYPE_NUMBER:
        for (size_t i = 0; i < v->s.n; i++)
            z[i] = v->s.p[i];
        put_number(w, v->s, strtod(z, NULL));
        return;
    case TYPE_OCTAL:
        put_number(w, v->s, based(str_from(v->s, 2), 8));
        return;
    case TYPE_HEX:
        put_number(w, v->s, based(str_from(v->s, 2), 16));
        return;
    }
}

void yaml_put_json(struct jw *w, const struct yaml *v)
{
    if (v->kind == YAML_SCALAR) {
        put_scalar(w, v);
        return;
    }
    if (v->kind == YAML_MAP)
        jw_obj(w);
    else
        jw_arr(w);
    for (const struct yaml *child = v->first; child; child = child->next) {
        if (v->kind == YAML_MAP)
            jw_key_s(w, child->key);
        yaml_put_json(w, child);
    }
    jw_end(w);
}
