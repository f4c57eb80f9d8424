/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/json_tree.h"

#include <string.h>

#include "base/utf8.h"
#include "text/json.h"

/* The text was parsed before, so the scan below meets nothing that is no JSONC, and no more
 * than JSON_MAX_DEPTH levels. */
struct scan {
    struct arena *a;
    struct str text;
    size_t at;
    size_t nodes;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A line ends at either half of a CRLF, as for the parser. */
static size_t skip_comment(struct str text, size_t at)
{
    size_t n;

    if (text.p[at + 1] == '*') {
        n = str_find(str_from(text, at + 2), STR("*/"));
        return n == SIZE_MAX ? text.n : at + n + 4;
    }
    while (at < text.n && text.p[at] != '\n' && text.p[at] != '\r')
        at++;
    return at;
}

size_t json_skip_blank(struct str text, size_t at)
{
    while (at < text.n) {
        if (is_space(text.p[at]))
            at++;
        else if (text.p[at] == '/' && at + 1 < text.n)
            at = skip_comment(text, at);
        else
            break;
    }
    return at;
}

static char look(struct scan *s)
{
    s->at = json_skip_blank(s->text, s->at);
    return s->at < s->text.n ? s->text.p[s->at] : '\0';
}

static void skip_string(struct scan *s)
{
    for (s->at++; s->at < s->text.n && s->text.p[s->at] != '"'; s->at++)
        if (s->text.p[s->at] == '\\')
            s->at++;
    s->at++;
}

/* A number, true, false or null. */
static void skip_word(struct scan *s)
{
    while (s->at < s->text.n && !is_space(s->text.p[s->at]) &&
           !strchr(",:]}/", s->text.p[s->at]))
        s->at++;
}

static struct str decode(struct scan *s, size_t start, size_t end)
{
    struct str quoted = { s->text.p + start, end - start };
    auto_json j = { 0 };

    if (str_find_char(quoted, '\\') == SIZE_MAX)
        return arena_str(s->a, (struct str){ quoted.p + 1, quoted.n - 2 });
    return json_parse(&j, quoted, NULL) ? arena_str(s->a, json_str(j.root)) : (struct str){ 0 };
}

static void add_child(struct json_node *parent, struct json_node *child)
{
    child->parent = parent;
    child->prev = parent->last;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

static struct json_node *scan_value(struct scan *s);

static void scan_children(struct scan *s, struct json_node *parent)
{
    char close = parent->kind == JSON_NODE_OBJECT ? '}' : ']';

    while (look(s) != close && s->at < s->text.n && s->nodes <= JSON_TREE_MAX_NODES) {
        size_t key_start = s->at, key_end = 0;
        struct json_node *child;

        if (parent->kind == JSON_NODE_OBJECT) {
            skip_string(s);
            key_end = s->at;
            look(s);
            s->at++; /* the colon */
        }
        child = scan_value(s);
        add_child(parent, child);
        if (key_end) {
            child->key_start = key_start;
            child->key_end = key_end;
            child->key = decode(s, key_start, key_end);
        }
        if (look(s) == ',') {
            child->comma = true;
            child->comma_end = ++s->at;
        }
    }
    s->at++;
}

static struct json_node *scan_value(struct scan *s)
{
    struct json_node *v = ARENA_NEW(s->a, struct json_node);
    char c = look(s);

    s->nodes++;
    v->start = s->at;
    v->kind = c == '{' ? JSON_NODE_OBJECT : c == '[' ? JSON_NODE_ARRAY : JSON_NODE_SCALAR;
    if (v->kind != JSON_NODE_SCALAR) {
        s->at++;
        scan_children(s, v);
    } else if (c == '"') {
        skip_string(s);
    } else {
        skip_word(s);
    }
    v->end = s->at;
    return v;
}

struct json_node *json_tree(struct arena *a, struct str text, struct error *e)
{
    struct scan s = { .a = a, .text = text };
    auto_json j = { 0 };
    struct json_node *root;

    if (text.n > JSON_TREE_MAX_BYTES) {
        error_set(e, ERR_LIMIT, "more than %zu bytes", JSON_TREE_MAX_BYTES);
        return NULL;
    }
    s.at = text.n - utf8_skip_bom(text).n;
    if (!json_parse_jsonc(&j, str_from(text, s.at), e))
        return NULL;
    root = scan_value(&s);
    if (s.nodes <= JSON_TREE_MAX_NODES)
        return root;
    error_set(e, ERR_LIMIT, "more than %u values", JSON_TREE_MAX_NODES);
    return NULL;
}

struct json_node *json_tree_get(const struct json_node *object, const char *key)
{
    struct json_node *v = object && object->kind == JSON_NODE_OBJECT ? object->last : NULL;

    while (v && !str_is(v->key, key))
        v = v->prev;
    return v;
}

struct json_node *json_tree_at(const struct json_node *array, size_t i)
{
    struct json_node *v = array && array->kind == JSON_NODE_ARRAY ? array->first : NULL;

    while (v && i--)
        v = v->next;
    return v;
}
