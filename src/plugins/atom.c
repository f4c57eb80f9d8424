/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/atom.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "text/semver.h"

#define SHOWN 80 /* bytes of an atom that a message quotes */

static bool is_name_byte(char c)
{
    return ascii_alnum(c) || (c && strchr("_-./", c));
}

static bool is_operator(char c)
{
    return c && strchr("<>=^~", c);
}

static bool is_space(char c)
{
    return c && strchr(" \t\r\n\v\f", c);
}

bool pm_name_valid(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!ascii_alnum(name.p[i]) && name.p[i] != '-')
            return false;
    return name.n > 0;
}

static bool bad(struct error *e, struct str text, const char *why)
{
    return error_set(e, ERR_INVALID, "dependency '%.*s': %s", STR_F(utf8_cut(text, SHOWN)),
                     why);
}

/* "cargo:" in front, if any. */
static bool take_pm(struct str text, struct str *rest, struct atom *ret, struct error *e)
{
    struct str pm;

    if (!str_cut(text, ':', &pm, rest)) {
        *rest = text;
        return true;
    }
    if (!pm.n)
        return bad(e, text, "the package manager before ':' is missing");
    if (!pm_name_valid(pm))
        return bad(e, text, "what stands before ':' must be a package manager's name");
    ret->pm = pm;
    return true;
}

static bool take_name(struct str text, struct str *rest, struct atom *ret, struct error *e)
{
    size_t n = rest->n && rest->p[0] == '@';

    while (n < rest->n && is_name_byte(rest->p[n]))
        n++;
    ret->name = str_upto(*rest, n);
    *rest = str_from(*rest, n);
    if (n == 0 || str_is(ret->name, "@"))
        return bad(e, text, "the name is missing");
    return true;
}

/* What stands behind the name and is no requirement: each mistake has its own advice. */
static bool refuse_rest(struct str text, struct str rest, const struct atom *atom,
                        struct error *e)
{
    if (rest.p[0] == '(')
        return bad(e, text, "this looks like a predicate; write it under 'predicates'");
    if (rest.p[0] == '@')
        return error_set(e, ERR_INVALID,
                         "dependency '%.*s': write '%.*s==%.*s' for one version",
                         STR_F(utf8_cut(text, SHOWN)), STR_F(utf8_cut(atom->name, SHOWN)),
                         STR_F(utf8_cut(str_from(rest, 1), SHOWN)));
    if (is_space(rest.p[0]))
        return bad(e, text, "nothing may follow after a blank; write 'name>=1' as one word");
    return bad(e, text, "a name holds letters, digits and _ - . / only");
}

/* Our "=1.0" is Cargo's "^1.0"; "==1.0" is exact, and all else means the same in both (PL-18).
 */
static void put_comparator(struct buf *b, struct str one)
{
    bool caret = str_starts(one, STR("=")) && !str_starts(one, STR("=="));

    buf_addz(b, caret ? "^" : "");
    buf_add(b, str_from(one, caret));
}

static bool parse_req(struct arena *a, struct str req, struct atom *ret, struct error *e)
{
    auto_buf b = BUF(2 * ATOM_MAX_BYTES);
    struct semver_req *parsed = ARENA_NEW(a, struct semver_req);
    struct str one, rest = req;
    struct error why = { 0 };

    for (size_t i = 0; i < req.n; i++)
        if (is_space(req.p[i]))
            return bad(e, ret->text, "nothing may follow after a blank");
    while (str_cut(rest, ',', &one, &rest)) {
        put_comparator(&b, one);
        buf_addc(&b, ',');
    }
    put_comparator(&b, rest);
    ret->req = parsed;
    return semver_req_parse(parsed, arena_str(a, buf_str(&b)), &why) ||
           bad(e, ret->text, why.msg);
}

bool atom_parse(struct arena *a, struct str text, struct atom *ret, struct error *e)
{
    struct str rest;

    *ret = (struct atom){ 0 };
    text = str_trim(text);
    if (text.n > ATOM_MAX_BYTES)
        return error_set(e, ERR_LIMIT, "a dependency of more than %d bytes", ATOM_MAX_BYTES);
    if (!text.n)
        return error_set(e, ERR_INVALID, "a dependency must not be empty");
    if (memchr(text.p, '\0', text.n))
        return bad(e, text, "it holds a NUL byte");
    ret->text = text = arena_str(a, text);
    if (text.p[0] == '*') {
        ret->name = text;
        return text.n == 1 || bad(e, text, "'*' stands alone");
    }
    if (!take_pm(text, &rest, ret, e) || !take_name(text, &rest, ret, e))
        return false;
    if (!rest.n)
        return true;
    return is_operator(rest.p[0]) ? parse_req(a, rest, ret, e)
                                  : refuse_rest(text, rest, ret, e);
}

/* ---- comparison ---- */

static char fold(struct str pm, char c)
{
    return c == '_' && str_is(pm, "cargo") ? '-' : c;
}

bool dep_name_eq(struct str pm, struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (fold(pm, a.p[i]) != fold(pm, b.p[i]))
            return false;
    return true;
}

struct str dep_name_key(struct arena *a, struct str pm, struct str name)
{
    char *key = arena_z(a, name);

    for (size_t i = 0; i < name.n; i++)
        key[i] = fold(pm, key[i]);
    return (struct str){ key, name.n };
}

static bool fits(const struct atom *atom, const struct dep *dep)
{
    struct semver v;

    if (atom->pm.n && !str_eq(atom->pm, dep->pm))
        return false;
    if (!dep_name_eq(dep->pm, atom->name, dep->name))
        return false;
    return !atom->req ||
           (semver_parse(&v, dep->version, NULL) && semver_req_fits(atom->req, &v));
}

bool atom_matches(const struct atom *atom, const struct deps *deps)
{
    if (str_is(atom->name, "*"))
        return true;
    for (size_t i = 0; i < deps->n; i++)
        if (fits(atom, &deps->v[i]))
            return true;
    return false;
}

/* ---- lists in one string ---- */

/* The comma at `at` goes on with the requirement before it. */
static bool joins(struct str text, size_t at)
{
    struct str behind = str_trim(str_from(text, at + 1));

    return behind.n && is_operator(behind.p[0]);
}

void atom_list_split(struct arena *a, struct str text, struct strs *ret)
{
    size_t start = 0, depth = 0;

    text = str_trim(text);
    if (!text.n)
        return;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '(') {
            depth++;
        } else if (c == ')') {
            depth -= depth > 0;
        } else if (c == ',' && !depth && !joins(text, i)) {
            ARENA_PUSH(a, ret) = str_trim(str_upto(str_from(text, start), i - start));
            start = i + 1;
        }
    }
    ARENA_PUSH(a, ret) = str_trim(str_from(text, start));
}
