/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Statements to tree. What may be opened or extended is decided by toml_val.origin alone:
 *
 *                    stepped through by    stepped through by    opened by      opened by
 *     existing       a header              a dotted key          [t] as last    [[t]] as last
 *     ---------------------------------------------------------------------------------------
 *     TOML_IMPLICIT  yes                   yes, becomes DOTTED   yes, once      no
 *     TOML_DOTTED    yes                   yes                   no             no
 *     TOML_HEADER    yes                   no                    no             no
 *     TOML_TABLES    its last element      no                    no             yes: one more
 *     TOML_VALUE     no                    no                    no             no
 */
#include <string.h>

#include "base/utf8.h"
#include "text/toml_impl.h"

static bool value(struct toml_lex *x, struct toml_val *v);

/* ---- places in the tree ---- */

static void add_name(struct buf *b, struct str name)
{
    buf_addc(b, '\'');
    utf8_put_clean(b, utf8_cut(name, 80));
    buf_addc(b, '\'');
}

static bool clash(struct toml_lex *x, const struct toml_part *part, const struct toml_val *old,
                  const char *what)
{
    auto_buf name = BUF(512);

    add_name(&name, part->name);
    return toml_lex_fail(x, part->span.start, "%s %s (line %u)", buf_z(&name), what, old->line);
}

/* The value of a new key or element; `start` is where its text begins. */
static struct toml_val *add(struct toml_lex *x, struct toml_val *parent, enum toml_kind kind,
                            struct str key, size_t start)
{
    struct toml_val *v = toml_tree_add(&x->tree, parent, kind, key, x->e);
    uint32_t line = toml_lex_line(x, start);

    if (v)
        v->line = line;
    else
        error_wrap(x->e, "line %u", line);
    return v;
}

static struct toml_val *add_member(struct toml_lex *x, struct toml_val *parent,
                                   enum toml_kind kind, const struct toml_part *part)
{
    struct toml_val *v = add(x, parent, kind, part->name, part->span.start);

    if (v)
        v->key_span = part->span;
    return v;
}

/* One part of a dotted key that is not its last. */
static struct toml_val *step_dotted(struct toml_lex *x, struct toml_val *from,
                                    const struct toml_part *part)
{
    struct toml_val *v = toml_get_s(from, part->name);

    if (!v) {
        v = add_member(x, from, TOML_TABLE, part);
        if (v)
            v->origin = TOML_DOTTED;
        return v;
    }
    if (v->kind == TOML_TABLE && (v->origin == TOML_DOTTED || v->origin == TOML_IMPLICIT)) {
        v->origin = TOML_DOTTED;
        return v;
    }
    clash(x, part, v, "cannot be extended by a dotted key: it is already defined");
    return NULL;
}

/* One part of a header that is not its last. */
static struct toml_val *step_header(struct toml_lex *x, struct toml_val *from,
                                    const struct toml_part *part)
{
    struct toml_val *v = toml_get_s(from, part->name);

    if (!v) {
        v = add_member(x, from, TOML_TABLE, part);
        if (v)
            v->origin = TOML_IMPLICIT;
        return v;
    }
    if (v->origin == TOML_TABLES)
        return v->items.v[v->items.n - 1];
    if (v->origin != TOML_VALUE)
        return v;
    clash(x, part, v, "is a closed value and cannot get a table");
    return NULL;
}

typedef struct toml_val *(*step_fn)(struct toml_lex *x, struct toml_val *from,
                                    const struct toml_part *part);

/* A whole key: walks from `from` through all parts but the last and gives the table that the
 * last belongs to. */
static struct toml_val *key_path(struct toml_lex *x, struct toml_val *from, step_fn step,
                                 struct toml_part *last)
{
    for (;;) {
        if (!toml_lex_key(x, last))
            return NULL;
        toml_lex_blank(x);
        if (!toml_lex_take(x, "."))
            return from;
        toml_lex_blank(x);
        from = step(x, from, last);
        if (!from)
            return NULL;
    }
}

/* ---- values ---- */

static bool member(struct toml_lex *x, struct toml_val *table)
{
    size_t stmt = x->at;
    struct toml_part last;
    struct toml_val *owner = key_path(x, table, step_dotted, &last), *v;

    if (!owner)
        return false;
    if (!toml_lex_take(x, "="))
        return toml_lex_fail(x, x->at, "expected '=' behind the key");
    v = toml_get_s(owner, last.name);
    if (v)
        return clash(x, &last, v, "is already defined");
    v = add_member(x, owner, TOML_BOOL, &last);
    if (!v)
        return false;
    v->stmt = (uint32_t)stmt;
    toml_lex_blank(x);
    return value(x, v);
}

static bool array(struct toml_lex *x, struct toml_val *v)
{
    size_t open = x->at++;

    for (;;) {
        struct toml_val *element;

        if (!toml_lex_space(x))
            return false;
        if (toml_lex_take(x, "]"))
            return true;
        if (x->at == x->text.n)
            return toml_lex_fail(x, open, "the array is not closed");
        if (v->items.n && x->text.p[v->items.tail - 1] != ',')
            return toml_lex_fail(x, x->at, "expected ',' or ']'");
        element = add(x, v, TOML_BOOL, (struct str){ 0 }, x->at);
        if (!element || !value(x, element))
            return false;
        v->items.tail = element->span.end;
        if (!toml_lex_space(x))
            return false;
        if (toml_lex_take(x, ","))
            v->items.tail = (uint32_t)x->at;
    }
}

static bool inline_table(struct toml_lex *x, struct toml_val *v)
{
    x->at++;
    toml_lex_blank(x);
    if (toml_lex_take(x, "}"))
        return true;
    for (;;) {
        if (!member(x, v))
            return false;
        toml_lex_blank(x);
        if (toml_lex_take(x, "}"))
            return true;
        if (!toml_lex_take(x, ","))
            return toml_lex_fail(x, x->at, "expected ',' or '}' on the same line");
        toml_lex_blank(x);
    }
}

static bool nest(struct toml_lex *x, struct toml_val *v, enum toml_kind kind)
{
    return toml_tree_nest(v, kind, x->e) || error_wrap(x->e, "line %u", v->line);
}

/* v is in the tree already, so its children find their parent; kind and content are set here.
 */
static bool value(struct toml_lex *x, struct toml_val *v)
{
    bool ok;

    v->span.start = (uint32_t)x->at;
    switch (toml_lex_peek(x)) {
    case '"':
    case '\'':
        v->kind = TOML_STRING;
        ok = toml_lex_string(x, &v->s);
        break;
    case '[':
        ok = nest(x, v, TOML_ARRAY) && array(x, v);
        break;
    case '{':
        ok = nest(x, v, TOML_TABLE) && inline_table(x, v);
        break;
    default:
        ok = toml_lex_scalar(x, v);
    }
    v->span.end = (uint32_t)x->at;
    return ok;
}

/* ---- headers ---- */

/* [t]: a new table, or one that was only implied so far. */
static struct toml_val *open_table(struct toml_lex *x, struct toml_val *owner,
                                   const struct toml_part *last)
{
    struct toml_val *v = toml_get_s(owner, last->name);

    if (!v)
        return add_member(x, owner, TOML_TABLE, last);
    if (v->origin == TOML_IMPLICIT) {
        v->line = toml_lex_line(x, last->span.start);
        v->key_span = last->span;
        return v;
    }
    clash(x, last, v, "is already defined");
    return NULL;
}

/* [[t]]: one more element. */
static struct toml_val *open_element(struct toml_lex *x, struct toml_val *owner,
                                     const struct toml_part *last)
{
    struct toml_val *list = toml_get_s(owner, last->name), *v;

    if (list && list->origin != TOML_TABLES) {
        clash(x, last, list, "is already defined as something else than an array of tables");
        return NULL;
    }
    if (!list) {
        list = add_member(x, owner, TOML_ARRAY, last);
        if (!list)
            return NULL;
        list->origin = TOML_TABLES;
    }
    v = add(x, list, TOML_TABLE, (struct str){ 0 }, last->span.start);
    if (v)
        v->key_span = last->span;
    return v;
}

/* Reads a header and gives the table that the following lines belong to. */
static struct toml_val *header(struct toml_lex *x, struct toml_val *root)
{
    size_t start = x->at;
    bool many = toml_lex_take(x, "[[");
    struct toml_part last;
    struct toml_val *owner, *v;

    if (!many)
        x->at++;
    toml_lex_blank(x);
    owner = key_path(x, root, step_header, &last);
    if (!owner)
        return NULL;
    if (!toml_lex_take(x, many ? "]]" : "]")) {
        toml_lex_fail(x, x->at, "expected '%s' behind the table's name", many ? "]]" : "]");
        return NULL;
    }
    v = many ? open_element(x, owner, &last) : open_table(x, owner, &last);
    if (!v)
        return NULL;
    v->origin = TOML_HEADER;
    v->stmt = (uint32_t)start;
    v->span = (struct toml_span){ (uint32_t)start, (uint32_t)x->at };
    return v;
}

/* ---- the document ---- */

static bool document(struct toml_lex *x, struct toml_val *root)
{
    struct toml_val *section = root;

    root->items.body_end = (uint32_t)x->at;
    for (;;) {
        if (!toml_lex_space(x))
            return false;
        if (x->at == x->text.n)
            return true;
        if (toml_lex_peek(x) == '[') {
            section = header(x, root);
            if (!section)
                return false;
        } else if (!member(x, section)) {
            return false;
        }
        if (!toml_lex_eol(x))
            return false;
        section->items.body_end = (uint32_t)x->at;
    }
}

/* Offset of the first byte that is not valid UTF-8. */
static size_t bad_byte(struct str s)
{
    size_t at = 0, n;
    uint32_t cp;

    while (at < s.n && (n = utf8_decode(str_from(s, at), &cp)) > 0)
        at += n;
    return at;
}

struct toml_val *toml_parse(struct arena *a, struct str text, struct error *e)
{
    struct toml_lex x = { .tree = { .a = a }, .line = 1, .e = e };
    struct toml_val *root;

    if (text.n > TOML_MAX_BYTES) {
        error_set(e, ERR_LIMIT, "more than %u bytes", TOML_MAX_BYTES);
        return NULL;
    }
    x.text = text;
    if (!utf8_valid(text)) {
        toml_lex_fail(&x, bad_byte(text), "not valid UTF-8");
        return NULL;
    }
    x.text = arena_str(a, text);
    toml_lex_take(&x, "\xEF\xBB\xBF");
    root = toml_tree_root(&x.tree);
    root->origin = TOML_ROOT;
    root->line = 1;
    root->span = (struct toml_span){ (uint32_t)x.at, (uint32_t)text.n };
    return document(&x, root) ? root : NULL;
}
