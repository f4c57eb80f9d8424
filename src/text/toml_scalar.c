/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Booleans, numbers, dates and times: one run of bytes up to a delimiter, then judged as a
 * whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/toml_impl.h"

/* ---- dates and times ---- */

/* Exactly `count` digits at *at. */
static bool digits(struct str s, size_t *at, unsigned count, unsigned *ret)
{
    *ret = 0;
    for (unsigned i = 0; i < count; i++, (*at)++) {
        if (*at >= s.n || !ascii_digit(s.p[*at]))
            return false;
        *ret = *ret * 10 + (unsigned)(s.p[*at] - '0');
    }
    return true;
}

static bool literal(struct str s, size_t *at, char c)
{
    if (*at >= s.n || s.p[*at] != c)
        return false;
    (*at)++;
    return true;
}

static unsigned days_in(unsigned year, unsigned month)
{
    static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

static bool date(struct str s, size_t *at, struct toml_time *t)
{
    unsigned y, m, d;

    if (!digits(s, at, 4, &y) || !literal(s, at, '-') || !digits(s, at, 2, &m) ||
        !literal(s, at, '-') || !digits(s, at, 2, &d) || m < 1 || m > 12 || d < 1 ||
        d > days_in(y, m))
        return false;
    t->year = (uint16_t)y;
    t->month = (uint8_t)m;
    t->day = (uint8_t)d;
    return true;
}

/* ".123": further digits than nanoseconds are cut. */
static bool fraction(struct str s, size_t *at, struct toml_time *t)
{
    uint32_t unit = 100000000;
    size_t start;

    if (!literal(s, at, '.'))
        return true;
    for (start = *at; *at < s.n && ascii_digit(s.p[*at]); (*at)++, unit /= 10)
        t->nanos += unit * (uint32_t)(s.p[*at] - '0');
    return *at > start;
}

static bool clock_time(struct str s, size_t *at, struct toml_time *t)
{
    unsigned h, m, sec;

    if (!digits(s, at, 2, &h) || !literal(s, at, ':') || !digits(s, at, 2, &m) ||
        !literal(s, at, ':') || !digits(s, at, 2, &sec) || h > 23 || m > 59 || sec > 60)
        return false;
    t->hour = (uint8_t)h;
    t->minute = (uint8_t)m;
    t->second = (uint8_t)sec;
    return fraction(s, at, t);
}

static bool offset(struct str s, size_t *at, struct toml_time *t)
{
    unsigned h, m;
    int sign;

    if (literal(s, at, 'Z') || literal(s, at, 'z'))
        return true;
    sign = literal(s, at, '-') ? -1 : 1;
    if (sign > 0 && !literal(s, at, '+'))
        return false;
    if (!digits(s, at, 2, &h) || !literal(s, at, ':') || !digits(s, at, 2, &m) || h > 23 ||
        m > 59)
        return false;
    t->offset_min = (int16_t)(sign * (int)(h * 60 + m));
    return true;
}

static bool looks_like_date(struct str s)
{
    return s.n >= 5 && ascii_digit(s.p[0]) && ascii_digit(s.p[1]) && ascii_digit(s.p[2]) &&
           ascii_digit(s.p[3]) && s.p[4] == '-';
}

static bool looks_like_time(struct str s)
{
    return s.n >= 3 && ascii_digit(s.p[0]) && ascii_digit(s.p[1]) && s.p[2] == ':';
}

static bool set_time(struct str s, struct toml_val *v)
{
    struct toml_time t = { 0 };
    size_t at = 0;

    if (looks_like_time(s)) {
        v->kind = TOML_LOCAL_TIME;
        if (!clock_time(s, &at, &t))
            return false;
    } else {
        v->kind = TOML_LOCAL_DATE;
        if (!date(s, &at, &t))
            return false;
        if (literal(s, &at, 'T') || literal(s, &at, 't') || literal(s, &at, ' ')) {
            v->kind = TOML_LOCAL_DATETIME;
            if (!clock_time(s, &at, &t))
                return false;
            if (at < s.n) {
                v->kind = TOML_OFFSET_DATETIME;
                if (!offset(s, &at, &t))
                    return false;
            }
        }
    }
    v->s = s;
    v->time = t;
    return at == s.n;
}

/* ---- numbers ---- */

static bool is_base_digit(int c, int base)
{
    if (base == 16)
        return ascii_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    return c >= '0' && c < '0' + base;
}

/* Copies digits with '_' only between digits; returns how many bytes of s they took, 0 when
 * malformed or absent. */
static size_t copy_digits(struct str s, int base, char *to, size_t *n)
{
    size_t i = 0;

    while (i < s.n && is_base_digit(s.p[i], base)) {
        to[(*n)++] = s.p[i++];
        if (i + 1 < s.n && s.p[i] == '_' && is_base_digit(s.p[i + 1], base))
            i++;
    }
    return i;
}

/* A whole number in the given base, behind sign and prefix. */
static bool set_int(struct toml_val *v, char *digits_z, int base)
{
    char *end;

    errno = 0;
    v->kind = TOML_INT;
    v->i = strtoll(digits_z, &end, base);
    return errno == 0 && *end == '\0';
}

static bool set_prefixed(struct str s, struct toml_val *v, const char **why)
{
    char z[TOML_MAX_NUMBER + 1] = "";
    size_t n = 0;
    int base = s.p[1] == 'x' ? 16 : s.p[1] == 'o' ? 8 : 2;

    s = str_from(s, 2);
    if (s.n == 0 || copy_digits(s, base, z, &n) != s.n)
        return false;
    *why = "does not fit in 64 bits";
    return set_int(v, z, base);
}

/* [+-] digits [. digits] [e [+-] digits], no leading zero; inf and nan. */
static bool set_decimal(struct str s, struct toml_val *v, const char **why)
{
    char z[TOML_MAX_NUMBER + 1] = "";
    size_t n = 0, at = 0, took;
    bool whole = true;

    if (s.n && (s.p[0] == '+' || s.p[0] == '-'))
        z[n++] = s.p[at++];
    if (str_is(str_from(s, at), "inf") || str_is(str_from(s, at), "nan")) {
        memcpy(z + n, s.p + at, 3);
        v->kind = TOML_FLOAT;
        v->f = strtod(z, NULL);
        return true;
    }
    took = copy_digits(str_from(s, at), 10, z, &n);
    if (took == 0 || (took > 1 && s.p[at] == '0'))
        return false;
    at += took;
    if (at < s.n && s.p[at] == '.') {
        whole = false;
        z[n++] = s.p[at++];
        took = copy_digits(str_from(s, at), 10, z, &n);
        if (took == 0)
            return false;
        at += took;
    }
    if (at < s.n && (s.p[at] == 'e' || s.p[at] == 'E')) {
        whole = false;
        z[n++] = s.p[at++];
        if (at < s.n && (s.p[at] == '+' || s.p[at] == '-'))
            z[n++] = s.p[at++];
        took = copy_digits(str_from(s, at), 10, z, &n);
        if (took == 0)
            return false;
        at += took;
    }
    if (at != s.n)
        return false;
    if (whole) {
        *why = "does not fit in 64 bits";
        return set_int(v, z, 10);
    }
    v->kind = TOML_FLOAT;
    v->f = strtod(z, NULL);
    return true;
}

/* ---- the whole ---- */

static bool is_delimiter(int c)
{
    return c < 0 || strchr(" \t\r\n,]}#=", c) != NULL;
}

/* The bytes of the value; a date and a time parted by one blank are one value. */
static struct str run_at(const struct toml_lex *x)
{
    struct str rest = str_from(x->text, x->at);
    size_t n = 0;

    while (n < rest.n && !is_delimiter((unsigned char)rest.p[n]))
        n++;
    if (n == 10 && n + 1 < rest.n && rest.p[n] == ' ' && ascii_digit(rest.p[n + 1]) &&
        looks_like_date(rest)) {
        n++;
        while (n < rest.n && !is_delimiter((unsigned char)rest.p[n]))
            n++;
    }
    return str_upto(rest, n);
}

bool toml_lex_scalar(struct toml_lex *x, struct toml_val *v)
{
    struct str s = run_at(x);
    const char *why = "is not a value; text needs quotes";
    bool ok;

    if (s.n == 0)
        return toml_lex_fail(x, x->at, "expected a value");
    if (s.n > TOML_MAX_NUMBER)
        return error_set(x->e, ERR_LIMIT,
                         "line %u: a value of more than %d bytes without quotes", v->line,
                         TOML_MAX_NUMBER);
    if (str_is(s, "true") || str_is(s, "false")) {
        v->kind = TOML_BOOL;
        v->b = s.n == 4;
        ok = true;
    } else if (looks_like_date(s) || looks_like_time(s)) {
        why = "is not a valid date or time";
        ok = set_time(s, v);
    } else if (s.n > 1 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'o' || s.p[1] == 'b')) {
        ok = set_prefixed(s, v, &why);
    } else {
        ok = set_decimal(s, v, &why);
    }
    if (!ok)
        return toml_lex_fail(x, x->at, "'%.*s' %s", STR_F(utf8_cut(s, 60)), why);
    x->at += s.n;
    return true;
}
