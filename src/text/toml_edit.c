/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/toml_edit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "text/toml.h"

struct editing {
    struct arena *a;
    struct str text;
    struct str newline;
    struct toml_val *root;
    struct buf *out;
    size_t out_n; /* of what the buffer held before */
    struct error *e;
};

/* ---- text ---- */

static bool start(struct editing *ed, struct arena *a, struct str text, struct buf *out,
                  struct error *e)
{
    *ed = (struct editing){
        .a = a, .text = text, .newline = edit_newline(text), .out = out, .out_n = out->n, .e = e
    };
    ed->root = toml_parse(a, text, e);
    return ed->root != NULL;
}

__attribute__((format(printf, 3, 4))) static bool fail(struct editing *ed,
                                                       const struct toml_val *v,
                                                       const char *fmt, ...)
{
    size_t at = v->key_span.end ? v->key_span.start : v->span.start;
    struct utf8_pos pos = utf8_pos(ed->text, at);
    auto_buf path = BUF(512);
    char what[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    toml_put_path(&path, v);
    return error_set(ed->e, ERR_INVALID, "line %u, column %u: '%s' %s", pos.line, pos.column,
                     path.n ? buf_z(&path) : "the document", what);
}

static void put_text(struct editing *ed, size_t from, size_t to)
{
    buf_add(ed->out, str_part(ed->text, from, to));
}

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.n && (text.p[at] == ' ' || text.p[at] == '\t'))
        at++;
    return at;
}

void toml_put_str(struct buf *out, struct str s)
{
    auto_buf json = BUF(s.n * 6 + 2);

    /* JSON's strings are basic strings of TOML but for DEL. */
    json_put_str(&json, s);
    for (size_t i = 0; i < json.n; i++)
        if (json.p[i] == 0x7f)
            buf_addz(out, "\\u007f");
        else
            buf_addc(out, json.p[i]);
}

void toml_put_key(struct buf *out, struct str key)
{
    bool bare = key.n > 0;

    for (size_t i = 0; i < key.n; i++)
        bare &= ascii_alnum(key.p[i]) || key.p[i] == '_' || key.p[i] == '-';
    if (bare)
        buf_add(out, key);
    else
        toml_put_str(out, key);
}

/* ---- the way ---- */

static bool is_inline(const struct toml_val *v)
{
    return v->kind == TOML_TABLE && v->origin == TOML_VALUE;
}

/* As far as the way exists; *left steps of it do not. NULL: something on it is of another kind.
 */
static struct toml_val *walk(struct editing *ed, struct edit_at at, size_t *left)
{
    struct toml_val *v = ed->root;

    for (size_t i = 0; i < at.n; i++) {
        const struct edit_step *step = &at.v[i];
        struct toml_val *child;

        if (v->kind != (step->key ? TOML_TABLE : TOML_ARRAY)) {
            fail(ed, v, "must be %s, not %s", step->key ? "a table" : "an array",
                 toml_kind_name(v));
            return NULL;
        }
        child = step->key ? toml_get(v, step->key) : toml_at(v, step->index);
        if (!child && !step->key) {
            fail(ed, v, "has no element %zu", step->index);
            return NULL;
        }
        if (!child) {
            *left = at.n - i;
            return v;
        }
        v = child;
    }
    *left = 0;
    return v;
}

/* The header, or the root, whose lines a table made by dotted keys stands among. */
static const struct toml_val *section_of(const struct toml_val *v)
{
    while (v->origin == TOML_DOTTED)
        v = v->parent;
    return v;
}

/* Key parts from below `from` down to `v`, dotted. */
static void put_way(struct buf *out, const struct toml_val *from, const struct toml_val *v)
{
    if (v == from)
        return;
    if (v->parent != from && v->parent->kind == TOML_TABLE)
        put_way(out, from, v->parent);
    if (v->parent->kind == TOML_ARRAY) { /* a header names the array for its last element */
        put_way(out, from, v->parent);
        return;
    }
    if (v->parent != from)
        buf_addc(out, '.');
    toml_put_key(out, v->key);
}

static void put_steps(struct buf *out, struct edit_at at, size_t from, size_t to, bool dot)
{
    for (size_t i = from; i < to; i++) {
        if (dot || i > from)
            buf_addc(out, '.');
        toml_put_key(out, str_of(at.v[i].key));
    }
}

/* ---- putting in ---- */

/* `statement` has no line break. */
static void put_statement(struct editing *ed, const struct toml_val *section,
                          struct str statement)
{
    size_t at = section->items.body_end;
    const struct toml_val *last = NULL;
    struct str indent = { 0 };

    for (size_t i = 0; i < toml_len(section); i++) {
        const struct toml_val *v = toml_at(section, i);

        if (v->origin == TOML_VALUE && v->span.end <= at)
            last = v;
    }
    if (last) {
        size_t from = edit_line_start(ed->text, last->stmt);

        indent = str_part(ed->text, from, skip_blanks(ed->text, from));
    }
    put_text(ed, 0, at);
    if (edit_line_start(ed->text, at) != at)
        buf_add(ed->out, ed->newline);
    buf_add(ed->out, indent);
    buf_add(ed->out, statement);
    buf_add(ed->out, ed->newline);
    put_text(ed, at, ed->text.n);
}

/* Before the closing brace. */
static void put_member(struct editing *ed, const struct toml_val *table, struct str statement)
{
    size_t close = table->span.end - 1, at = close;

    while (at && (ed->text.p[at - 1] == ' ' || ed->text.p[at - 1] == '\t'))
        at--;
    put_text(ed, 0, at);
    buf_addz(ed->out, toml_len(table) ? ", " : " ");
    buf_add(ed->out, statement);
    if (at == close)
        buf_addz(ed->out, toml_len(table) ? "" : " ");
    put_text(ed, at, ed->text.n);
}

static void put_end(struct editing *ed, struct str header, struct str lines)
{
    struct str t = ed->text;
    size_t n = ed->newline.n;
    bool spaced = utf8_skip_bom(t).n == 0 ||
                  (t.n >= 2 * n && str_ends(t, ed->newline) && t.p[t.n - n - 1] == '\n');

    buf_add(ed->out, t);
    if (edit_line_start(t, t.n) != t.n)
        buf_add(ed->out, ed->newline);
    if (!spaced)
        buf_add(ed->out, ed->newline);
    buf_add(ed->out, header);
    buf_add(ed->out, ed->newline);
    buf_add(ed->out, lines);
}

static bool is_last_element(const struct toml_val *v)
{
    for (; v->parent; v = v->parent)
        if (v->parent->origin == TOML_TABLES && v->pos + 1 != toml_len(v->parent))
            return false;
    return true;
}

/* A table that has no lines of its own yet: its header, and the first of them. */
static bool put_table(struct editing *ed, const struct toml_val *v, struct edit_at at,
                      size_t left, struct str value)
{
    auto_buf header = BUF(TOML_MAX_BYTES), line = BUF(TOML_MAX_BYTES);

    if (!is_last_element(v))
        return fail(ed, v, "can only get a table in its last element");
    buf_addc(&header, '[');
    put_way(&header, ed->root, v);
    put_steps(&header, at, at.n - left, at.n - 1, v != ed->root);
    buf_addc(&header, ']');
    toml_put_key(&line, str_of(at.v[at.n - 1].key));
    buf_addf(&line, " = %.*s%.*s", STR_F(value), STR_F(ed->newline));
    put_end(ed, buf_str(&header), buf_str(&line));
    return true;
}

/* `left` steps of the way are missing below `v`. */
static bool put_new(struct editing *ed, const struct toml_val *v, struct edit_at at,
                    size_t left, struct str value)
{
    const struct toml_val *section = section_of(v);
    auto_buf statement = BUF(TOML_MAX_BYTES);
    bool lines = section->origin == TOML_ROOT || section->origin == TOML_HEADER;

    if (v->kind != TOML_TABLE)
        return fail(ed, v, "must be a table, not %s", toml_kind_name(v));
    if (section->origin == TOML_IMPLICIT || (v->origin != TOML_DOTTED && lines && left > 1))
        return put_table(ed, v, at, left, value);
    put_way(&statement, section, v);
    put_steps(&statement, at, at.n - left, at.n, v != section);
    buf_addf(&statement, " = %.*s", STR_F(value));
    if (is_inline(section))
        put_member(ed, section, buf_str(&statement));
    else
        put_statement(ed, section, buf_str(&statement));
    return true;
}

/* Both as JSON; a date counts as its text. */
static bool same(struct editing *ed, const struct toml_val *v, const struct toml_val *value)
{
    auto_buf a = BUF(4 * (size_t)TOML_MAX_BYTES), b = BUF(4 * (size_t)TOML_MAX_BYTES);

    toml_put_json(&a, v);
    toml_put_json(&b, value);
    return v->kind == value->kind && str_eq(buf_str(&a), buf_str(&b));
}

/* The value parsed by itself, to be sure that it is one. */
static const struct toml_val *read_value(struct editing *ed, struct str value)
{
    const char *text = arena_printf(ed->a, "v = %.*s", STR_F(value));
    struct toml_val *root = toml_parse(ed->a, str_of(text), ed->e);

    return root ? toml_get(root, "v") : NULL;
}

static bool finish(struct editing *ed)
{
    auto_arena a = ARENA;
    struct str made = str_from(buf_str(ed->out), ed->out_n);

    /* The caller hands pieces in; what they make together must be TOML. */
    if (buf_ok(ed->out, ed->e) && toml_parse(&a, made, ed->e))
        return true;
    buf_truncate(ed->out, ed->out_n);
    return false;
}

bool toml_edit_set(struct buf *out, struct str text, struct edit_at at, struct str value,
                   struct error *e)
{
    auto_arena a = ARENA;
    struct editing ed;
    const struct toml_val *given;
    struct toml_val *v;
    size_t left;

    if (!start(&ed, &a, text, out, e) || !(given = read_value(&ed, value)) ||
        !(v = walk(&ed, at, &left)))
        return false;
    if (left)
        return put_new(&ed, v, at, left, value) && finish(&ed);
    if (v->origin != TOML_VALUE)
        return fail(&ed, v, "is a table of its own, where a value was expected");
    if (same(&ed, v, given)) {
        buf_add(out, text);
        return buf_ok(out, e);
    }
    put_text(&ed, 0, v->span.start);
    buf_add(out, value);
    put_text(&ed, v->span.end, text.n);
    return finish(&ed);
}

/* ---- arrays ---- */

/* Behind `at`, a comment that stands on its line: it is about the value before it. */
static size_t end_of_remark(struct str text, size_t at)
{
    size_t next = skip_blanks(text, at);

    if (next == text.n || text.p[next] != '#')
        return at;
    while (next < text.n && text.p[next] != '\n' && text.p[next] != '\r')
        next++;
    return next;
}

static void put_element(struct editing *ed, const struct toml_val *array, struct str value)
{
    const struct toml_val *last = toml_at(array, toml_len(array) - 1);
    size_t tail = array->items.tail;
    bool comma = ed->text.p[tail - 1] == ',';
    size_t from = edit_line_start(ed->text, last->span.start);
    bool lines = from > array->span.start;
    size_t at = lines ? end_of_remark(ed->text, tail) : tail;

    put_text(ed, 0, last->span.end);
    if (!comma)
        buf_addc(ed->out, ',');
    else
        put_text(ed, last->span.end, tail);
    put_text(ed, tail, at);
    if (lines) {
        buf_add(ed->out, ed->newline);
        put_text(ed, from, skip_blanks(ed->text, from));
    } else {
        buf_addc(ed->out, ' ');
    }
    buf_add(ed->out, value);
    if (comma)
        buf_addc(ed->out, ',');
    put_text(ed, at, ed->text.n);
}

bool toml_edit_append(struct buf *out, struct str text, struct edit_at at, struct str value,
                      struct error *e)
{
    auto_arena a = ARENA;
    struct editing ed;
    struct toml_val *v;
    size_t left;

    if (!start(&ed, &a, text, out, e) || !read_value(&ed, value) || !(v = walk(&ed, at, &left)))
        return false;
    value = str_of(left ? arena_printf(&a, "[%.*s]", STR_F(value)) : arena_z(&a, value));
    if (left)
        return put_new(&ed, v, at, left, value) && finish(&ed);
    if (v->kind != TOML_ARRAY || v->origin != TOML_VALUE)
        return fail(&ed, v, "must be an array of values, not %s", toml_kind_name(v));
    if (toml_len(v)) {
        put_element(&ed, v, value);
    } else {
        put_text(&ed, 0, v->span.start + 1);
        buf_add(out, value);
        put_text(&ed, v->span.end - 1, text.n);
    }
    return finish(&ed);
}

bool toml_edit_append_table(struct buf *out, struct str text, struct edit_at at,
                            struct str lines, struct error *e)
{
    auto_arena a = ARENA;
    auto_buf header = BUF(TOML_MAX_BYTES);
    struct editing ed;
    struct toml_val *v;
    size_t left;

    if (!start(&ed, &a, text, out, e) || !(v = walk(&ed, at, &left)))
        return false;
    if (!left && v->origin != TOML_TABLES)
        return fail(&ed, v, "must be an array of tables, not %s", toml_kind_name(v));
    if (left && v->origin == TOML_VALUE)
        return fail(&ed, v, "is an inline table, which cannot hold an array of tables");
    buf_addz(&header, "[[");
    put_steps(&header, at, 0, at.n, false);
    buf_addz(&header, "]]");
    put_end(&ed, buf_str(&header), lines);
    return finish(&ed);
}

/* ---- taking out ---- */

/* Pieces of the text that go; in any order, never overlapping by half. */
struct cuts {
    struct toml_span *v;
    size_t n, cap;
};

static void cut(struct cuts *c, size_t from, size_t to)
{
    VEC_PUSH(c) = (struct toml_span){ (uint32_t)from, (uint32_t)to };
}

/* Where the text of a table with a header begins: with an empty line before it. */
static size_t before_header(struct str text, const struct toml_val *v)
{
    size_t from = edit_line_start(text, v->span.start), up;

    if (!from)
        return from;
    up = edit_line_start(text, from - 1);
    return str_trim(str_part(text, up, from)).n ? from : up;
}

static void cut_statement(struct editing *ed, struct cuts *c, const struct toml_val *v)
{
    cut(c, edit_line_start(ed->text, v->stmt), edit_line_end(ed->text, v->span.end));
}

/* A member of an inline table or an element, with one comma. */
static void cut_item(struct editing *ed, struct cuts *c, const struct toml_val *v)
{
    const struct toml_val *next = toml_at(v->parent, v->pos + 1);
    const struct toml_val *prev = v->pos ? toml_at(v->parent, v->pos - 1) : NULL;
    size_t from = v->key.n || v->key_span.end ? v->stmt : v->span.start;

    if (next)
        cut(c, from, next->key_span.end ? next->stmt : next->span.start);
    else if (prev)
        cut(c, prev->span.end, v->span.end);
    else
        cut(c, from, v->parent->kind == TOML_ARRAY ? v->parent->items.tail : v->span.end);
}

static void cut_value(struct editing *ed, struct cuts *c, const struct toml_val *v)
{
    const struct toml_val *section;

    switch (v->origin) {
    case TOML_VALUE:
        section = v->parent->kind == TOML_TABLE ? section_of(v->parent) : v->parent;
        if (section->origin == TOML_VALUE)
            cut_item(ed, c, v);
        else
            cut_statement(ed, c, v);
        break;
    case TOML_HEADER:
        cut(c, before_header(ed->text, v), v->items.body_end);
        __attribute__((fallthrough));
    default:
        for (size_t i = 0; i < toml_len(v); i++) {
            const struct toml_val *child = toml_at(v, i);

            /* What stands in the body went with it. */
            if (v->origin != TOML_HEADER || child->origin == TOML_HEADER ||
                child->origin == TOML_TABLES || child->origin == TOML_IMPLICIT)
                cut_value(ed, c, child);
        }
    }
}

static int by_start(const void *a, const void *b)
{
    const struct toml_span *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static void put_rest(struct editing *ed, struct cuts *c)
{
    size_t at = 0;

    if (c->n)
        qsort(c->v, c->n, sizeof *c->v, by_start);
    for (size_t i = 0; i < c->n; i++) {
        if (c->v[i].start > at)
            put_text(ed, at, c->v[i].start);
        if (c->v[i].end > at)
            at = c->v[i].end;
    }
    put_text(ed, at, ed->text.n);
    free(c->v);
}

bool toml_edit_remove(struct buf *out, struct str text, struct edit_at at, struct error *e)
{
    auto_arena a = ARENA;
    struct cuts cuts = { 0 };
    struct editing ed;
    struct toml_val *v;

    if (!start(&ed, &a, text, out, e))
        return false;
    v = ed.root;
    for (size_t i = 0; v && i < at.n; i++)
        v = at.v[i].key ? toml_get(v, at.v[i].key) : toml_at(v, at.v[i].index);
    if (v)
        cut_value(&ed, &cuts, v);
    put_rest(&ed, &cuts);
    return finish(&ed);
}
