/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "rpc/id.h"

#include <string.h>

#define EXPONENT_MAX 1000000 /* of an id; a larger one is no number we can compare */

/* A number's value: its digits without zeros at either end, times ten to the exponent. */
struct number {
    char digits[RPC_ID_MAX];
    size_t n;
    int64_t exponent;
    bool negative;
};

static bool take_exponent(struct number *v, struct str s)
{
    int64_t exponent;

    if (!str_to_int(str_from(s, s.n && s.p[0] == '+'), -EXPONENT_MAX, EXPONENT_MAX, &exponent))
        return false;
    v->exponent += exponent;
    return true;
}

static void trim_zeros(struct number *v)
{
    while (v->n && v->digits[v->n - 1] == '0') {
        v->n--;
        v->exponent++;
    }
    if (v->n == 0) { /* -0 and 0e5 are 0 */
        v->exponent = 0;
        v->negative = false;
    }
}

/* The text is a JSON number, of which only the length and the exponent need a check. */
static bool read_number(struct number *v, struct str s)
{
    bool fraction = false;

    v->n = 0;
    v->exponent = 0;
    v->negative = s.n && s.p[0] == '-';
    if (s.n > RPC_ID_MAX)
        return false;
    for (size_t i = v->negative; i < s.n; i++) {
        char c = s.p[i];

        if (c == 'e' || c == 'E') {
            if (!take_exponent(v, str_from(s, i + 1)))
                return false;
            break;
        }
        if (c == '.') {
            fraction = true;
            continue;
        }
        v->exponent -= fraction;
        if (v->n || c != '0')
            v->digits[v->n++] = c;
    }
    trim_zeros(v);
    return true;
}

static bool is_number(struct str id)
{
    return id.n && id.p[0] != '"';
}

/* The only text of its value: nearly every number is. */
static bool is_usual(struct str number)
{
    for (size_t i = 0; i < number.n; i++)
        if (memchr(".eE", number.p[i], 3))
            return false;
    return !str_is(number, "-0");
}

static bool same_value(struct str a, struct str b)
{
    struct number x, y;

    return read_number(&x, a) && read_number(&y, b) && x.negative == y.negative &&
           x.exponent == y.exponent &&
           str_eq((struct str){ x.digits, x.n }, (struct str){ y.digits, y.n });
}

bool rpc_id_eq(struct str a, struct str b)
{
    if (str_eq(a, b))
        return true;
    if (!is_number(a) || !is_number(b) || (is_usual(a) && is_usual(b)))
        return false;
    return same_value(a, b);
}

bool rpc_id_is_integer(struct str number)
{
    struct number v;

    return read_number(&v, number) && v.exponent >= 0;
}

int64_t rpc_id_value(struct str id)
{
    struct number v;
    int64_t value = 0;

    if (str_to_int(id, 1, INT64_MAX, &value)) /* as nearly all are */
        return value;
    if (!is_number(id) || !read_number(&v, id) || v.negative || v.exponent < 0)
        return 0;
    if (!str_to_int((struct str){ v.digits, v.n }, 1, INT64_MAX, &value))
        return 0;
    for (; v.exponent > 0; v.exponent--)
        if (__builtin_mul_overflow(value, 10, &value))
            return 0;
    return value;
}
