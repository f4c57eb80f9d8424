/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/semver.h"

#include <string.h>

/* ---- versions ---- */

static bool is_identifier_char(char c)
{
    return ascii_alnum(c) || c == '-';
}

static bool all_digits(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!ascii_digit(s.p[i]))
            return false;
    }
    return s.n > 0;
}

/* Takes a number without leading zero from the front of *s; `what` names the part. */
static bool take_number(struct str *s, const char *what, uint64_t *ret, struct error *e)
{
    uint64_t value = 0;
    size_t n = 0;

    for (; n < s->n && ascii_digit(s->p[n]); n++) {
        uint64_t digit = (uint64_t)(s->p[n] - '0');

        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return error_set(e, ERR_INVALID, "the %s number is too large", what);
    }
    if (n == 0)
        return error_set(e, ERR_INVALID, "expected the %s number at '%.*s'", what, STR_F(*s));
    if (n > 1 && s->p[0] == '0')
        return error_set(e, ERR_INVALID, "the %s number has a leading zero", what);
    *s = str_from(*s, n);
    *ret = value;
    return true;
}

/* Takes dot-separated identifiers. Of a pre-release, numeric ones have no leading zero. */
static bool take_identifiers(struct str *s, bool pre, struct str *ret, struct error *e)
{
    const char *what = pre ? "pre-release" : "build";
    struct str rest, part;
    size_t n = 0;
    bool more = true;

    while (n < s->n && (is_identifier_char(s->p[n]) || s->p[n] == '.'))
        n++;
    *ret = rest = str_upto(*s, n);
    *s = str_from(*s, n);
    while (more) {
        more = str_cut(rest, '.', &part, &rest);
        if (!more)
            part = rest;
        if (part.n == 0)
            return error_set(e, ERR_INVALID, "empty %s identifier", what);
        if (pre && part.n > 1 && part.p[0] == '0' && all_digits(part))
            return error_set(e, ERR_INVALID, "%s number '%.*s' has a leading zero", what,
                             STR_F(part));
    }
    return true;
}

/* Takes the character c from the front of *s. */
static bool take_char(struct str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_from(*s, 1);
    return true;
}

static bool take_suffixes(struct str *s, struct semver *v, struct error *e)
{
    if (take_char(s, '-') && !take_identifiers(s, true, &v->pre, e))
        return false;
    return !take_char(s, '+') || take_identifiers(s, false, &v->build, e);
}

static bool expect_end(struct str s, struct error *e)
{
    return s.n == 0 || error_set(e, ERR_INVALID, "unexpected '%.*s'", STR_F(s));
}

static bool expect_dot(struct str *s, struct error *e)
{
    return take_char(s, '.') ||
           error_set(e, ERR_INVALID, "expected major.minor.patch, all three numbers");
}

static bool check_length(struct str text, struct error *e)
{
    if (text.n > SEMVER_TEXT_MAX)
        return error_set(e, ERR_LIMIT, "a version has at most %d bytes", SEMVER_TEXT_MAX);
    return true;
}

bool semver_parse(struct semver *ret, struct str text, struct error *e)
{
    struct semver v = { 0 };
    struct str s = text;

    if (!check_length(text, e))
        return false;
    if (!take_number(&s, "major", &v.major, e) || !expect_dot(&s, e) ||
        !take_number(&s, "minor", &v.minor, e) || !expect_dot(&s, e) ||
        !take_number(&s, "patch", &v.patch, e) || !take_suffixes(&s, &v, e) ||
        !expect_end(s, e))
        return error_wrap(e, "version '%.*s'", STR_F(text));
    *ret = v;
    return true;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Numeric identifiers by value, of any length, below the others, which compare as text. */
static int compare_identifiers(struct str a, struct str b)
{
    bool a_number = all_digits(a), b_number = all_digits(b);

    if (a_number != b_number)
        return a_number ? -1 : 1;
    if (a_number && a.n != b.n)
        return a.n < b.n ? -1 : 1;
    return str_cmp(a, b);
}

static struct str next_identifier(struct str *s)
{
    struct str part;

    if (!str_cut(*s, '.', &part, s)) {
        part = *s;
        s->n = 0;
    }
    return part;
}

/* No pre-release stands above any; of two with a common beginning the longer stands above. */
static int compare_pre(struct str a, struct str b)
{
    if (a.n == 0 || b.n == 0)
        return (a.n == 0) - (b.n == 0);
    while (a.n && b.n) {
        int c = compare_identifiers(next_identifier(&a), next_identifier(&b));

        if (c)
            return c;
    }
    return (a.n > 0) - (b.n > 0);
}

int semver_cmp(const struct semver *a, const struct semver *b)
{
    int c = compare_numbers(a->major, b->major);

    c = c ? c : compare_numbers(a->minor, b->minor);
    c = c ? c : compare_numbers(a->patch, b->patch);
    return c ? c : compare_pre(a->pre, b->pre);
}

/* ---- requirements ---- */

/* Longer operators first. */
static const struct {
    const char *text;
    enum semver_op op;
} operators[] = {
    { ">=", SEMVER_GREATER_EQ }, { "<=", SEMVER_LESS_EQ }, { "==", SEMVER_EXACT },
    { ">", SEMVER_GREATER },     { "<", SEMVER_LESS },     { "=", SEMVER_EXACT },
    { "^", SEMVER_CARET },       { "~", SEMVER_TILDE },
};

/* False when there is none; *ret is then untouched. */
static bool take_operator(struct str *s, enum semver_op *ret)
{
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        struct str text = str_of(operators[i].text);

        if (str_starts(*s, text)) {
            *s = str_trim(str_from(*s, text.n));
            *ret = operators[i].op;
            return true;
        }
    }
    return false;
}

static bool take_wildcard(struct str *s)
{
    return take_char(s, '*') || take_char(s, 'x') || take_char(s, 'X');
}

/* Takes "1", "1.2", "1.2.3-pre+build", "1.*", "1.2.*", "1.*.*". */
static bool take_partial(struct str *s, struct semver_comparator *c, bool *ret_wild,
                         struct error *e)
{
    static const char *const names[] = { "major", "minor", "patch" };
    uint64_t *numbers[] = { &c->v.major, &c->v.minor, &c->v.patch };
    bool wild = false;

    for (int i = 0; i < 3; i++) {
        if (i > 0 && !take_char(s, '.'))
            break;
        if (i > 0 && take_wildcard(s)) {
            wild = true;
        } else if (wild) {
            return error_set(e, ERR_INVALID, "a number after a wildcard");
        } else {
            if (!take_number(s, names[i], numbers[i], e))
                return false;
            c->parts = i + 1;
        }
    }
    *ret_wild = wild;
    return c->parts < 3 || take_suffixes(s, &c->v, e);
}

static bool parse_comparator(struct semver_comparator *ret, struct str s, struct error *e)
{
    struct semver_comparator c = { .op = SEMVER_CARET };
    bool explicit_op = take_operator(&s, &c.op), wild = false;

    if (!check_length(s, e) || !take_partial(&s, &c, &wild, e) || !expect_end(s, e))
        return false;
    if (wild && !explicit_op)
        c.op = SEMVER_EXACT;
    *ret = c;
    return true;
}

static bool parse_req(struct semver_req *ret, struct str text, struct error *e)
{
    struct str rest = str_trim(text), part;
    bool more = true;

    ret->n = 0;
    if (rest.n == 1 && take_wildcard(&rest))
        return true;
    while (more) {
        more = str_cut(rest, ',', &part, &rest);
        if (!more)
            part = rest;
        if (ret->n == SEMVER_REQ_MAX)
            return error_set(e, ERR_LIMIT, "more than %d comparators", SEMVER_REQ_MAX);
        if (!parse_comparator(&ret->v[ret->n], str_trim(part), e))
            return false;
        ret->n++;
    }
    return true;
}

bool semver_req_parse(struct semver_req *ret, struct str text, struct error *e)
{
    return parse_req(ret, text, e) ||
           error_wrap(e, "version requirement '%.*s'", STR_F(str_upto(text, SEMVER_TEXT_MAX)));
}

/* Compares only the parts that the comparator gives, and the pre-release if it gives all. */
static int compare_given(const struct semver *v, const struct semver_comparator *c)
{
    int d = compare_numbers(v->major, c->v.major);

    if (d == 0 && c->parts > 1)
        d = compare_numbers(v->minor, c->v.minor);
    if (d == 0 && c->parts > 2)
        d = compare_numbers(v->patch, c->v.patch);
    return d == 0 && c->parts > 2 ? compare_pre(v->pre, c->v.pre) : d;
}

/* The parts that must stay: all before and with the first that is not 0; of "0.0" and "0" the
 * last one given. */
static bool compatible(const struct semver *v, const struct semver_comparator *c)
{
    int parts = c->parts;

    if (v->major != c->v.major)
        return false;
    if (c->v.major > 0 || parts == 1)
        return true;
    if (v->minor != c->v.minor)
        return false;
    return c->v.minor > 0 || parts == 2 || v->patch == c->v.patch;
}

static bool fits(const struct semver *v, const struct semver_comparator *c)
{
    int d = compare_given(v, c);

    switch (c->op) {
    case SEMVER_EXACT:
        return d == 0;
    case SEMVER_GREATER:
        return d > 0;
    case SEMVER_GREATER_EQ:
        return d >= 0;
    case SEMVER_LESS:
        return d < 0;
    case SEMVER_LESS_EQ:
        return d <= 0;
    case SEMVER_TILDE:
        return d >= 0 && v->major == c->v.major && (c->parts < 2 || v->minor == c->v.minor);
    case SEMVER_CARET:
        return d >= 0 && compatible(v, c);
    }
    return false;
}

static bool names_same_release(const struct semver_comparator *c, const struct semver *v)
{
    return c->v.pre.n > 0 && c->v.major == v->major && c->v.minor == v->minor &&
           c->v.patch == v->patch;
}

bool semver_req_fits(const struct semver_req *req, const struct semver *version)
{
    bool pre_allowed = version->pre.n == 0;

    for (size_t i = 0; i < req->n; i++) {
        if (!fits(version, &req->v[i]))
            return false;
        pre_allowed |= names_same_release(&req->v[i], version);
    }
    return pre_allowed;
}
