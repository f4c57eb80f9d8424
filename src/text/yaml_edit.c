/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/yaml_edit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "text/yaml_json.h"

#define UNIT_MAX   8
#define INDENT_MAX 200 /* a mapping that stands further right is no hand's work */

struct editing {
    struct arena *a;
    struct str text;
    struct str newline;
    struct yaml *root;
    size_t unit; /* blanks of one level */
    struct buf *out;
    size_t out_n; /* of what the buffer held before */
    struct error *e;
};

/* ---- text ---- */

static void put_text(struct editing *ed, size_t from, size_t to)
{
    buf_add(ed->out, str_part(ed->text, from, to));
}

/* Without line breaks and blanks that libyaml counts to a text over several lines. */
static size_t trimmed_end(struct str text, const struct yaml *v)
{
    size_t end = v->end;

    while (end > v->start && strchr(" \t\r\n", text.p[end - 1]))
        end--;
    return end;
}

static size_t indent_of(struct str text, const struct yaml *map)
{
    return map->first->key_start - edit_line_start(text, map->first->key_start);
}

__attribute__((format(printf, 3, 4))) static bool fail(struct editing *ed, size_t at,
                                                       const char *fmt, ...)
{
    struct utf8_pos pos = utf8_pos(ed->text, at);
    char what[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return error_set(ed->e, ERR_INVALID, "line %u, column %u: %s", pos.line, pos.column, what);
}

/* The first nested mapping shows how far a level is moved in. */
static size_t unit_of(struct str text, const struct yaml *root)
{
    size_t outer = root->first && !root->flow ? indent_of(text, root) : 0;

    if (root->kind != YAML_MAP || root->flow)
        return 2;
    for (const struct yaml *v = root->first; v; v = v->next)
        if (v->kind == YAML_MAP && !v->flow && v->first) {
            size_t inner = indent_of(text, v);

            return inner > outer && inner - outer <= UNIT_MAX ? inner - outer : 2;
        }
    return 2;
}

static bool start(struct editing *ed, struct arena *a, struct str text, struct buf *out,
                  struct error *e)
{
    *ed = (struct editing){
        .a = a, .text = text, .newline = edit_newline(text), .out = out, .out_n = out->n, .e = e
    };
    ed->root = yaml_parse_exact(a, text, e);
    if (ed->root)
        ed->unit = unit_of(text, ed->root);
    return ed->root != NULL;
}

static bool equal_nodes(const struct yaml *a, const struct yaml *b);

/* Children in order; a member of the key (NULL: none) is left out of both. */
static bool equal_children(const struct yaml *a, const struct yaml *b, const char *but)
{
    const struct yaml *x = a->first, *y = b->first;

    for (;;) {
        while (x && but && str_is(x->key, but))
            x = x->next;
        while (y && but && str_is(y->key, but))
            y = y->next;
        if (!x || !y)
            return x == y;
        if (!str_eq(x->key, y->key) || !equal_nodes(x, y))
            return false;
        x = x->next;
        y = y->next;
    }
}

static bool equal_nodes(const struct yaml *a, const struct yaml *b)
{
    return a->kind == b->kind && a->plain == b->plain && str_eq(a->s, b->s) &&
           equal_children(a, b, NULL);
}

/* Both hold the same but for the place. A mapping on the way may be new, or empty now. */
static bool same_but(const struct yaml *a, const struct yaml *b, struct edit_at at)
{
    static const struct yaml none = { .kind = YAML_MAP };
    const char *key = at.v[0].key;

    a = !a || yaml_is_null(a) ? &none : a;
    b = !b || yaml_is_null(b) ? &none : b;
    if (a->kind != YAML_MAP || b->kind != YAML_MAP)
        return equal_nodes(a, b);
    return equal_children(a, b, key) &&
           (at.n == 1 || same_but(yaml_get(a, key), yaml_get(b, key),
                                  (struct edit_at){ at.v + 1, at.n - 1 }));
}

/*
 * What was made must be YAML again, and nothing else in it have changed: behind a text over
 * lines whose last one has no line break, for one, nothing can be put without giving it one.
 */
static bool finish(struct editing *ed, struct edit_at at)
{
    auto_arena a = ARENA;
    struct yaml *made = NULL;

    if (buf_ok(ed->out, ed->e))
        made = yaml_parse_exact(&a, str_from(buf_str(ed->out), ed->out_n), ed->e);
    if (made && !same_but(ed->root, made, at)) {
        made = NULL;
        error_set(ed->e, ERR_INVALID,
                  "line 1, column 1: cannot be edited without changing "
                  "another value; end the last line with a line break");
    }
    if (!made)
        buf_truncate(ed->out, ed->out_n);
    return made != NULL;
}

/* ---- values ---- */

/* Words that some version of YAML takes for something else than text. */
static bool is_reserved(struct str s)
{
    static const char *const words[] = { "null", "true", "false", "yes", "no",
                                         "on",   "off",  "y",     "n" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_icase_eq(s, str_of(words[i])))
            return true;
    return false;
}

static bool is_letter(char c)
{
    return ascii_letter(c) || c == '_' || c == '/';
}

static void put_string(struct buf *out, struct str s)
{
    bool bare = s.n && is_letter(s.p[0]) && !is_reserved(s);

    for (size_t i = 0; i < s.n; i++)
        bare &= is_letter(s.p[i]) || ascii_digit(s.p[i]) || s.p[i] == '-' || s.p[i] == '.';
    if (bare)
        buf_add(out, s);
    else
        json_put_str(out, s); /* a double-quoted scalar has JSON's escapes */
}

static void put_flow(struct buf *out, yyjson_val *v)
{
    bool obj = json_is_obj(v);

    if (json_is_str(v)) {
        put_string(out, json_str(v));
    } else if (!obj && !json_is_arr(v)) {
        json_put_val(out, v);
    } else {
        buf_addc(out, obj ? '{' : '[');
        for (struct json_iter it = json_iter(v); json_next(&it);) {
            buf_addz(out, it.i > 1 ? ", " : "");
            if (obj) {
                put_string(out, it.key);
                buf_addz(out, ": ");
            }
            put_flow(out, it.val);
        }
        buf_addc(out, obj ? '}' : ']');
    }
}

static void put_members(struct editing *ed, yyjson_val *map, size_t indent);

/* "key: value" and what follows on further lines, each ended. Depth is json_parse()'s. */
static void put_member(struct editing *ed, struct str key, yyjson_val *v, size_t indent)
{
    buf_fill(ed->out, ' ', indent);
    put_string(ed->out, key);
    buf_addc(ed->out, ':');
    if (json_is_obj(v) && json_len(v)) {
        buf_add(ed->out, ed->newline);
        put_members(ed, v, indent + ed->unit);
        return;
    }
    buf_addc(ed->out, ' ');
    put_flow(ed->out, v);
    buf_add(ed->out, ed->newline);
}

static void put_members(struct editing *ed, yyjson_val *map, size_t indent)
{
    for (struct json_iter it = json_iter(map); json_next(&it);)
        put_member(ed, it.key, it.val, indent);
}

/* ---- the way ---- */

static bool is_empty_map(struct editing *ed, const struct yaml *v)
{
    struct str written = str_part(ed->text, v->start, v->end);

    if (yaml_is_null(v))
        return true;
    return v->kind == YAML_MAP && !v->first &&
           (!v->flow || str_trim(str_upto(str_from(written, 1), written.n - 2)).n == 0);
}

/* Keys can be put into it, or it has some that may be on the way. */
static bool check_map(struct editing *ed, const struct yaml *v)
{
    const char *name = v->key.n ? v->key.p : "the document";
    size_t from;

    if (is_empty_map(ed, v))
        return true;
    if (v->kind != YAML_MAP)
        return fail(ed, v->start, "'%s' must be a mapping", name);
    if (v->flow)
        return fail(ed, v->start,
                    "'%s' is written in braces; write it in block style, one key a line", name);
    from = edit_line_start(ed->text, v->first->key_start);
    for (size_t i = from; i < v->first->key_start; i++)
        if (ed->text.p[i] != ' ' || i - from > INDENT_MAX)
            return fail(ed, v->first->key_start,
                        "the first key of '%s' must stand on a line "
                        "of its own",
                        name);
    return true;
}

/* As far as the way exists; *left steps of it do not. */
static const struct yaml *walk(struct editing *ed, struct edit_at at, size_t *left)
{
    const struct yaml *v = ed->root;

    for (size_t i = 0; i < at.n; i++) {
        const struct yaml *child;

        if (!check_map(ed, v))
            return NULL;
        child = yaml_get(v, at.v[i].key);
        if (!child) {
            *left = at.n - i;
            return v;
        }
        v = child;
    }
    *left = 0;
    return v;
}

/* ---- putting in ---- */

/* The text up to `at`, which is a line's end, with a line break whatever the text ends with. */
static void put_lines_before(struct editing *ed, size_t from, size_t at)
{
    put_text(ed, from, at);
    if (edit_line_start(ed->text, at) != at)
        buf_add(ed->out, ed->newline);
}

static void put_behind_last(struct editing *ed, const struct yaml *map, struct str key,
                            yyjson_val *v)
{
    const struct yaml *last = map->first;
    size_t at;

    while (last->next)
        last = last->next;
    at = edit_line_end(ed->text, trimmed_end(ed->text, last));
    put_lines_before(ed, 0, at);
    put_member(ed, key, v, indent_of(ed->text, map));
    put_text(ed, at, ed->text.n);
}

/* In place of what an empty document consists of. */
static void put_root(struct editing *ed, struct str key, yyjson_val *v)
{
    const struct yaml *old = ed->root;
    bool none = old->start == old->end;
    size_t from = none ? ed->text.n : old->start, to = none ? ed->text.n : old->end;
    size_t rest = to;

    while (rest < ed->text.n && strchr(" \t\r", ed->text.p[rest]))
        rest++;
    if (rest < ed->text.n && ed->text.p[rest] == '\n')
        to = rest + 1;
    put_lines_before(ed, 0, from);
    put_member(ed, key, v, 0);
    put_text(ed, to, ed->text.n);
}

/* Into a mapping that is null or {}: that goes, and what stands behind it on its line stays. */
static void put_first(struct editing *ed, const struct yaml *map, struct str key, yyjson_val *v)
{
    size_t from = map->start, at = edit_line_end(ed->text, map->end);

    while (from > map->key_end && ed->text.p[from - 1] == ' ')
        from--;
    put_text(ed, 0, from);
    put_lines_before(ed, map->end, at);
    put_member(ed, key, v,
               map->key_start - edit_line_start(ed->text, map->key_start) + ed->unit);
    put_text(ed, at, ed->text.n);
}

static bool equal(const struct yaml *v, yyjson_val *value)
{
    auto_buf there = BUF(16 * YAML_MAX_BYTES);
    struct jw w = jw_to(&there);
    auto_json j = { 0 };

    yaml_put_json(&w, v);
    return json_parse(&j, buf_str(&there), NULL) && json_equal(j.root, value);
}

static bool put_instead(struct editing *ed, const struct yaml *old, yyjson_val *v)
{
    bool empty = old->start == old->end;
    size_t end = trimmed_end(ed->text, old);

    if (old->kind != YAML_SCALAR && !old->flow && old->first) {
        size_t indent = old->start - edit_line_start(ed->text, old->start);

        if (old->kind != YAML_LIST || !json_is_arr(v) || !json_len(v))
            return fail(ed, old->start, "'%s' is not of the kind that is needed", old->key.p);
        put_text(ed, 0, old->start);
        for (struct json_iter it = json_iter(v); json_next(&it);) {
            if (it.i > 1) {
                buf_add(ed->out, ed->newline);
                buf_fill(ed->out, ' ', indent);
            }
            buf_addz(ed->out, "- ");
            put_flow(ed->out, it.val);
        }
        put_text(ed, end, ed->text.n);
        return true;
    }
    put_text(ed, 0, old->start);
    buf_addz(ed->out, empty && old->start && ed->text.p[old->start - 1] == ':' ? " " : "");
    put_flow(ed->out, v);
    put_text(ed, end, ed->text.n);
    return true;
}

bool yaml_edit_set(struct buf *out, struct str text, struct edit_at at, struct str value,
                   struct error *e)
{
    auto_arena a = ARENA;
    auto_json given = { 0 }, whole = { 0 };
    struct editing ed;
    const struct yaml *v;
    size_t left;
    struct str key;

    if (!start(&ed, &a, text, out, e) || !json_parse(&given, value, e) ||
        !(v = walk(&ed, at, &left)))
        return false;
    if (!left && equal(v, given.root)) {
        buf_add(out, text);
        return buf_ok(out, e);
    }
    if (!left)
        return put_instead(&ed, v, given.root) && finish(&ed, at);
    if (!edit_nest(&whole, at, left, value, e))
        return false;
    key = str_of(at.v[at.n - left].key);
    if (v == ed.root && is_empty_map(&ed, v))
        put_root(&ed, key, whole.root);
    else if (is_empty_map(&ed, v))
        put_first(&ed, v, key, whole.root);
    else
        put_behind_last(&ed, v, key, whole.root);
    return finish(&ed, at);
}

/* ---- taking out ---- */

static void take_out(struct editing *ed, const struct yaml *parent, const struct yaml *v)
{
    size_t from = edit_line_start(ed->text, v->key_start);
    size_t to = edit_line_end(ed->text, trimmed_end(ed->text, v));
    size_t colon = parent->key_end;

    if (parent == ed->root || parent->first->next) {
        put_text(ed, 0, from);
    } else {
        while (ed->text.p[colon] != ':')
            colon++;
        put_text(ed, 0, colon + 1);
        buf_addz(ed->out, " {}");
        put_text(ed, colon + 1, from);
    }
    put_text(ed, to, ed->text.n);
}

bool yaml_edit_remove(struct buf *out, struct str text, struct edit_at at, struct error *e)
{
    auto_arena a = ARENA;
    struct editing ed;
    const struct yaml *v, *parent = NULL;

    if (!start(&ed, &a, text, out, e))
        return false;
    v = ed.root;
    for (size_t i = 0; v && i < at.n; i++) {
        parent = v;
        v = yaml_get(v, at.v[i].key);
    }
    if (!v || !parent) { /* not there, or no path at all */
        buf_add(out, text);
        return buf_ok(out, e);
    }
    if (!check_map(&ed, parent))
        return false;
    take_out(&ed, parent, v);
    return finish(&ed, at);
}
