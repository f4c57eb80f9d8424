/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/json_edit.h"

#include "base/utf8.h"
#include "text/json_tree.h"

/* How the text is laid out, seen from its first indented member. */
struct style {
    struct str newline;
    struct str unit; /* one level of indentation */
    bool lines;      /* values may stand on lines of their own */
};

struct editing {
    struct arena *a;
    struct str text;
    struct json_node *root;
    struct style style;
    struct buf *out;
};

/* ---- the text around a place ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.n && is_blank(text.p[at]))
        at++;
    return at;
}

static size_t begin_of(const struct json_node *v)
{
    return v->key_end ? v->key_start : v->start;
}

/* White space alone stands before `at` on its line. */
static bool starts_line(struct str text, size_t at)
{
    return at > 0 && edit_line_start(text, at) > 0 &&
           skip_blanks(text, edit_line_start(text, at)) >= at;
}

static struct str indent_at(struct str text, size_t at)
{
    size_t from = edit_line_start(text, at), to = from;

    while (to < at && (text.p[to] == ' ' || text.p[to] == '\t'))
        to++;
    return str_part(text, from, to);
}

static struct style style_of(struct str text, const struct json_node *root)
{
    struct style s = { .newline = edit_newline(text), .unit = STR("  "), .lines = true };

    if (!root->first)
        return s;
    s.lines = starts_line(text, begin_of(root->first));
    if (s.lines && indent_at(text, begin_of(root->first)).n)
        s.unit = indent_at(text, begin_of(root->first));
    return s;
}

/* ---- values in this layout ---- */

static bool is_flat(yyjson_val *v)
{
    for (struct json_iter it = json_iter(v); json_next(&it);)
        if (json_len(it.val))
            return false;
    return true;
}

static void put_line(struct editing *ed, struct buf *out, struct str indent, unsigned level)
{
    buf_add(out, ed->style.newline);
    buf_add(out, indent);
    for (unsigned i = 0; i < level; i++)
        buf_add(out, ed->style.unit);
}

static void put_inline(struct buf *out, yyjson_val *v)
{
    bool obj = json_is_obj(v);

    if (!obj && !json_is_arr(v)) {
        json_put_val(out, v);
        return;
    }
    buf_addc(out, obj ? '{' : '[');
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        buf_addz(out, it.i > 1 ? ", " : "");
        if (obj) {
            json_put_str(out, it.key);
            buf_addz(out, ": ");
        }
        put_inline(out, it.val);
    }
    buf_addc(out, obj ? '}' : ']');
}

/* Objects over several lines, arrays of plain values in one. Depth is json_parse()'s. */
static void put_lines(struct editing *ed, struct buf *out, yyjson_val *v, struct str indent,
                      unsigned level)
{
    bool obj = json_is_obj(v);

    if (!json_len(v) || (!obj && is_flat(v))) {
        put_inline(out, v);
        return;
    }
    buf_addc(out, obj ? '{' : '[');
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        buf_addz(out, it.i > 1 ? "," : "");
        put_line(ed, out, indent, level + 1);
        if (obj) {
            json_put_str(out, it.key);
            buf_addz(out, ": ");
        }
        put_lines(ed, out, it.val, indent, level + 1);
    }
    put_line(ed, out, indent, level);
    buf_addc(out, obj ? '}' : ']');
}

static void put_value(struct editing *ed, yyjson_val *v, struct str indent, unsigned level,
                      bool lines)
{
    if (lines)
        put_lines(ed, ed->out, v, indent, level);
    else
        put_inline(ed->out, v);
}

/* ---- putting in ---- */

static void put_text(struct editing *ed, size_t from, size_t to)
{
    buf_add(ed->out, str_part(ed->text, from, to));
}

static void put_child(struct editing *ed, const char *key, yyjson_val *v, struct str indent,
                      unsigned level, bool lines)
{
    if (key) {
        json_put_str(ed->out, str_of(key));
        buf_addz(ed->out, ": ");
    }
    put_value(ed, v, indent, level, lines);
}

/* Behind `at`, the comments that stand on its line: what is said there is about the value
 * before it. */
static size_t end_of_remarks(struct str text, size_t at)
{
    for (;;) {
        size_t next = skip_blanks(text, at);

        if (next + 1 >= text.n || text.p[next] != '/')
            return at;
        if (text.p[next + 1] == '/') {
            while (next < text.n && text.p[next] != '\n' && text.p[next] != '\r')
                next++;
            return next;
        }
        next += 2;
        while (next + 1 < text.n && !(text.p[next] == '*' && text.p[next + 1] == '/'))
            next++;
        at = next + 2;
    }
}

static void put_behind_last(struct editing *ed, const struct json_node *parent, const char *key,
                            yyjson_val *v)
{
    const struct json_node *last = parent->last;
    bool lines = starts_line(ed->text, begin_of(last));
    size_t comma = last->comma ? last->comma_end : last->end;
    size_t at = lines ? end_of_remarks(ed->text, comma) : comma;
    struct str indent = indent_at(ed->text, begin_of(last));

    put_text(ed, 0, last->end);
    if (last->comma)
        put_text(ed, last->end, comma);
    else
        buf_addc(ed->out, ',');
    put_text(ed, comma, at);
    if (lines)
        put_line(ed, ed->out, indent, 0);
    else
        buf_addc(ed->out, ' ');
    put_child(ed, key, v, indent, 0, lines);
    if (last->comma)
        buf_addc(ed->out, ',');
    put_text(ed, at, ed->text.n);
}

/* Comments may stand in a container without values: they stay before the new one. */
static void put_first(struct editing *ed, const struct json_node *parent, const char *key,
                      yyjson_val *v)
{
    size_t from = parent->start + 1, to = parent->end - 1;
    struct str inner = str_part(ed->text, from, to);
    struct str indent = indent_at(ed->text, begin_of(parent));
    bool bare = str_trim(inner).n == 0;
    /* A line comment may end at a carriage return, which goes with the blanks below. */
    bool lines = ed->style.lines || str_find_char(inner, '\n') != SIZE_MAX ||
                 str_find_char(inner, '\r') != SIZE_MAX;

    while (!bare && inner.n && (is_blank(inner.p[inner.n - 1]) || inner.p[inner.n - 1] == '\n'))
        inner.n--;
    put_text(ed, 0, from);
    if (!bare)
        buf_add(ed->out, inner);
    if (lines)
        put_line(ed, ed->out, indent, 1);
    else if (!bare)
        buf_addc(ed->out, ' ');
    put_child(ed, key, v, indent, 1, lines);
    if (lines)
        put_line(ed, ed->out, indent, 0);
    put_text(ed, to, ed->text.n);
}

static void put_into(struct editing *ed, const struct json_node *parent, const char *key,
                     yyjson_val *v)
{
    if (parent->last)
        put_behind_last(ed, parent, key, v);
    else
        put_first(ed, parent, key, v);
}

static void put_instead(struct editing *ed, const struct json_node *old, yyjson_val *v)
{
    put_text(ed, 0, old->start);
    put_value(ed, v, indent_at(ed->text, begin_of(old)), 0,
              starts_line(ed->text, begin_of(old)));
    put_text(ed, old->end, ed->text.n);
}

/* ---- taking out ---- */

/* The whole line goes when nothing else stands on it; a last value takes the comma before it
 * along, unless the text likes a comma behind the last. */
static void take_out(struct editing *ed, const struct json_node *v)
{
    size_t from = begin_of(v), to = v->comma ? v->comma_end : v->end;
    const struct json_node *before = v->next ? NULL : v->prev;
    bool drops_comma = before && !v->comma;
    size_t line_end = skip_blanks(ed->text, to);

    if (starts_line(ed->text, from) && line_end < ed->text.n && ed->text.p[line_end] == '\n') {
        from = edit_line_start(ed->text, from) - 1;
        if (from && ed->text.p[from - 1] == '\r')
            from--;
        to = line_end;
        if (ed->text.p[to - 1] == '\r')
            to--;
    } else if (v->next) {
        to = skip_blanks(ed->text, to);
    } else if (before) {
        from = before->comma_end;
    }
    if (drops_comma) {
        put_text(ed, 0, before->end);
        put_text(ed, before->comma_end, from);
    } else {
        put_text(ed, 0, from);
    }
    put_text(ed, to, ed->text.n);
}

/* ---- the way ---- */

static bool start(struct editing *ed, struct arena *a, struct str *text, struct buf *out,
                  struct error *e)
{
    struct str body = str_trim(*text);

    if (!utf8_skip_bom(body).n)
        *text = arena_str(a, str_of(arena_printf(a, "%.*s{}\n", STR_F(body))));
    *ed = (struct editing){ .a = a, .text = *text, .out = out };
    ed->root = json_tree(a, *text, e);
    if (!ed->root)
        return false;
    ed->style = style_of(*text, ed->root);
    return true;
}

static bool wrong_kind(const struct editing *ed, const struct json_node *v, const char *what,
                       struct error *e)
{
    struct utf8_pos pos = utf8_pos(ed->text, v->start);

    return error_set(e, ERR_INVALID, "line %u, column %u: '%.*s' must be %s", pos.line,
                     pos.column, STR_F(v->key.n ? v->key : STR("the document")), what);
}

static struct json_node *child_at(const struct json_node *parent, const struct edit_step *step)
{
    return step->key ? json_tree_get(parent, step->key) : json_tree_at(parent, step->index);
}

/* As far as the way exists; *left steps of it do not. NULL: something on it is of another kind,
 * or an element is not there. */
static struct json_node *walk(const struct editing *ed, struct edit_at at, size_t *left,
                              struct error *e)
{
    struct json_node *v = ed->root;

    for (size_t i = 0; i < at.n; i++) {
        bool object = at.v[i].key != NULL;
        struct json_node *child;

        if (v->kind != (object ? JSON_NODE_OBJECT : JSON_NODE_ARRAY)) {
            wrong_kind(ed, v, object ? "an object" : "an array", e);
            return NULL;
        }
        child = child_at(v, &at.v[i]);
        if (!child && !object) {
            wrong_kind(ed, v, "longer", e);
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

static bool same(const struct editing *ed, const struct json_node *v, yyjson_val *value)
{
    auto_json there = { 0 };

    return json_parse_jsonc(&there, str_part(ed->text, v->start, v->end), NULL) &&
           json_equal(there.root, value);
}

/* The rest of the way is made along with the value. */
static bool add_way(struct editing *ed, const struct json_node *parent, struct edit_at at,
                    size_t left, struct str value, struct error *e)
{
    auto_json j = { 0 };

    if (!edit_nest(&j, at, left, value, e))
        return false;
    put_into(ed, parent, at.v[at.n - left].key, j.root);
    return buf_ok(ed->out, e);
}

bool json_edit_set(struct buf *out, struct str text, struct edit_at at, struct str value,
                   struct error *e)
{
    auto_arena a = ARENA;
    auto_json j = { 0 };
    struct editing ed;
    struct json_node *v;
    size_t left;

    if (!start(&ed, &a, &text, out, e) || !(v = walk(&ed, at, &left, e)) ||
        !json_parse(&j, value, e))
        return false;
    if (left)
        return add_way(&ed, v, at, left, value, e);
    if (same(&ed, v, j.root))
        buf_add(out, text);
    else
        put_instead(&ed, v, j.root);
    return buf_ok(out, e);
}

bool json_edit_append(struct buf *out, struct str text, struct edit_at at, struct str value,
                      struct error *e)
{
    auto_arena a = ARENA;
    auto_json j = { 0 };
    struct editing ed;
    struct json_node *v;
    size_t left;

    if (!start(&ed, &a, &text, out, e) || !(v = walk(&ed, at, &left, e)) ||
        !json_parse(&j, value, e))
        return false;
    if (left)
        return add_way(&ed, v, at, left, str_of(arena_printf(&a, "[%.*s]", STR_F(value))), e);
    if (v->kind != JSON_NODE_ARRAY)
        return wrong_kind(&ed, v, "an array", e);
    put_into(&ed, v, NULL, j.root);
    return buf_ok(out, e);
}

/* One of them; false when there is none. */
static bool remove_one(struct buf *out, struct str text, struct edit_at at, struct error *e)
{
    auto_arena a = ARENA;
    struct editing ed;
    struct json_node *v;

    if (!start(&ed, &a, &text, out, e))
        return false;
    v = ed.root;
    for (size_t i = 0; v && i < at.n; i++)
        v = child_at(v, &at.v[i]);
    if (!v)
        return false;
    take_out(&ed, v);
    return true;
}

bool json_edit_remove(struct buf *out, struct str text, struct edit_at at, struct error *e)
{
    auto_buf now = BUF(JSON_TREE_MAX_BYTES), next = BUF(JSON_TREE_MAX_BYTES);
    struct error failed = { 0 };
    unsigned n = 0;

    buf_add(&now, text);
    while (remove_one(&next, buf_str(&now), at, &failed)) {
        if (++n > JSON_EDIT_MAX_SAME)
            return error_set(e, ERR_LIMIT, "'%s' is there more than %u times",
                             at.v[at.n - 1].key ? at.v[at.n - 1].key : "", JSON_EDIT_MAX_SAME);
        buf_swap(&now, &next);
        buf_clear(&next);
        if (!at.v[at.n - 1].key)
            break;
    }
    if (failed.kind) {
        if (e)
            *e = failed;
        return false;
    }
    buf_add(out, buf_str(&now));
    return buf_ok(&now, e) && buf_ok(out, e);
}
