/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/utf8.h"

struct reader {
    yaml_parser_t parser;
    struct arena *a;
    struct error *e;
    unsigned nodes;
    size_t bad_line; /* where libyaml gave up, from 1; 0: it did not */
    bool exact;
    struct str text;
    /* libyaml counts characters; marks are asked for in the order of the text, nearly. */
    size_t chars, bytes;
};

__attribute__((format(printf, 3, 4))) static bool fail_at(struct reader *r, yaml_mark_t at,
                                                          const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (r->exact)
        return error_set(r->e, ERR_INVALID, "line %zu, column %zu: %s", at.line + 1,
                         at.column + 1, text);
    return error_set(r->e, ERR_INVALID, "line %zu: %s", at.line + 1, text);
}

static bool is_inside_character(struct str s, size_t at)
{
    return at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80;
}

static size_t offset_of(struct reader *r, yaml_mark_t at)
{
    for (; r->chars < at.index && r->bytes < r->text.n; r->chars++) {
        r->bytes++;
        while (is_inside_character(r->text, r->bytes))
            r->bytes++;
    }
    for (; r->chars > at.index && r->bytes > 0; r->chars--) {
        r->bytes--;
        while (r->bytes > 0 && is_inside_character(r->text, r->bytes))
            r->bytes--;
    }
    return r->bytes;
}

static bool next_event(struct reader *r, yaml_event_t *ev)
{
    if (yaml_parser_parse(&r->parser, ev))
        return true;
    r->bad_line = r->parser.problem_mark.line + 1;
    return fail_at(r, r->parser.problem_mark, "%s",
                   r->parser.problem ? r->parser.problem : "not YAML");
}

static struct yaml *new_node(struct reader *r, const yaml_event_t *ev, enum yaml_kind kind)
{
    struct yaml *v;

    if (++r->nodes > YAML_MAX_NODES) {
        error_set(r->e, ERR_LIMIT, "more than %d YAML values", YAML_MAX_NODES);
        return NULL;
    }
    v = ARENA_NEW(r->a, struct yaml);
    v->kind = kind;
    v->line = (unsigned)ev->start_mark.line + 1;
    if (r->exact) {
        v->start = offset_of(r, ev->start_mark);
        v->end = offset_of(r, ev->end_mark);
    }
    return v;
}

static bool has_anchor_or_tag(const yaml_event_t *ev)
{
    switch (ev->type) {
    case YAML_SCALAR_EVENT:
        return ev->data.scalar.anchor || ev->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return ev->data.sequence_start.anchor || ev->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return ev->data.mapping_start.anchor || ev->data.mapping_start.tag;
    default:
        return ev->type == YAML_ALIAS_EVENT;
    }
}

static struct str scalar_text(struct reader *r, const yaml_event_t *ev)
{
    return arena_str(
        r->a, (struct str){ (const char *)ev->data.scalar.value, ev->data.scalar.length });
}

static struct yaml *read_node(struct reader *r, yaml_event_t *ev, unsigned depth);

/* The key's event is given; the value is read here. */
static struct yaml *read_member(struct reader *r, const struct yaml *map,
                                const yaml_event_t *ev, unsigned depth)
{
    size_t key_start = r->exact ? offset_of(r, ev->start_mark) : 0;
    size_t key_end = r->exact ? offset_of(r, ev->end_mark) : 0;
    yaml_event_t value;
    struct yaml *v;
    struct str key;

    if (ev->type != YAML_SCALAR_EVENT || has_anchor_or_tag(ev)) {
        fail_at(r, ev->start_mark, "a key must be a simple string");
        return NULL;
    }
    key = scalar_text(r, ev);
    if (yaml_get(map, key.p)) {
        fail_at(r, ev->start_mark, "key '%s' is given twice", key.p);
        return NULL;
    }
    if (!next_event(r, &value))
        return NULL;
    v = read_node(r, &value, depth);
    if (v) {
        v->key = key;
        v->key_start = key_start;
        v->key_end = key_end;
    }
    yaml_event_delete(&value);
    return v;
}

static bool read_children(struct reader *r, struct yaml *of, unsigned depth)
{
    yaml_event_type_t end =
        of->kind == YAML_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    struct yaml **tail = &of->first;

    for (;;) {
        yaml_event_t ev;
        struct yaml *child = NULL;
        bool done;

        if (!next_event(r, &ev))
            return false;
        done = ev.type == end;
        if (done && of->flow && r->exact)
            of->end = offset_of(r, ev.end_mark);
        if (!done)
            child = of->kind == YAML_MAP ? read_member(r, of, &ev, depth)
                                         : read_node(r, &ev, depth);
        yaml_event_delete(&ev);
        if (done || !child)
            return done;
        *tail = child;
        tail = &child->next;
        of->end = child->end;
    }
}

static struct yaml *read_node(struct reader *r, yaml_event_t *ev, unsigned depth)
{
    bool scalar = ev->type == YAML_SCALAR_EVENT;
    struct yaml *v;

    if (has_anchor_or_tag(ev)) {
        fail_at(r, ev->start_mark, "anchors, aliases and tags are not accepted here");
        return NULL;
    }
    if (depth > YAML_MAX_DEPTH) {
        error_set(r->e, ERR_LIMIT, "line %zu: nested deeper than %d", ev->start_mark.line + 1,
                  YAML_MAX_DEPTH);
        return NULL;
    }
    v = new_node(r, ev,
                 scalar                                 ? YAML_SCALAR
                 : ev->type == YAML_MAPPING_START_EVENT ? YAML_MAP
                                                        : YAML_LIST);
    if (!v)
        return NULL;
    if (scalar) {
        v->s = scalar_text(r, ev);
        v->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return v;
    }
    v->flow = v->kind == YAML_MAP ? ev->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                                  : ev->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    return read_children(r, v, depth + 1) ? v : NULL;
}

/* Skips to the first value; an empty stream ends at once. */
static struct yaml *read_document(struct reader *r)
{
    struct yaml *root = NULL;

    for (;;) {
        yaml_event_t ev;
        yaml_event_type_t type;

        if (!next_event(r, &ev))
            return NULL;
        type = ev.type;
        if (type == YAML_STREAM_END_EVENT) {
            root = root ? root : new_node(r, &ev, YAML_MAP);
        } else if (type == YAML_DOCUMENT_START_EVENT && root) {
            fail_at(r, ev.start_mark, "a second document");
            root = NULL;
            type = YAML_STREAM_END_EVENT;
        } else if (type == YAML_SCALAR_EVENT || type == YAML_SEQUENCE_START_EVENT ||
                   type == YAML_MAPPING_START_EVENT || type == YAML_ALIAS_EVENT) {
            root = read_node(r, &ev, 1);
            if (!root)
                type = YAML_STREAM_END_EVENT;
        }
        yaml_event_delete(&ev);
        if (type == YAML_STREAM_END_EVENT)
            return root;
    }
}

static struct yaml *parse_once(struct arena *a, struct str text, bool exact,
                               size_t *ret_bad_line, struct error *e)
{
    struct reader r = { .a = a, .e = e, .text = text, .exact = exact };
    struct yaml *root;

    /* libyaml would take it for the first column of the first line. */
    text = utf8_skip_bom(text);
    r.bytes = r.text.n - text.n;

    if (!yaml_parser_initialize(&r.parser)) {
        error_set(e, ERR_SYS, "cannot start the YAML parser");
        return NULL;
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)(text.n ? text.p : ""),
                                 text.n);
    root = read_document(&r);
    yaml_parser_delete(&r.parser);
    *ret_bad_line = r.bad_line;
    return root;
}

/* The value of a line `key: value` when it is plain and holds ": " or ends with ":"; the bytes
 * before it go to *ret_head. */
static bool loose_value(struct str line, struct str *ret_head, struct str *ret_value)
{
    size_t at = str_find(line, STR(": "));
    struct str value;

    if (at == SIZE_MAX)
        return false;
    value = str_trim(str_from(line, at + 2));
    if (value.n == 0 || strchr("'\"|>[{&*!#%@`", value.p[0]) ||
        (str_find(value, STR(": ")) == SIZE_MAX && !str_ends(value, STR(":"))))
        return false;
    *ret_head = str_upto(line, at + 2);
    *ret_value = value;
    return true;
}

static void put_quoted(struct buf *out, struct str value)
{
    buf_addc(out, '\'');
    for (size_t i = 0; i < value.n; i++) {
        buf_addc(out, value.p[i]);
        if (value.p[i] == '\'')
            buf_addc(out, '\'');
    }
    buf_addc(out, '\'');
}

/* The text with the loose value of line `n` quoted. False: that line has none. */
static bool quote_loose_value(struct str text, size_t n, struct buf *out)
{
    struct str rest = text, line, head, value;

    for (size_t i = 1; i < n; i++)
        if (!str_cut(rest, '\n', &line, &rest))
            return false;
    line = rest;
    if (!str_cut(rest, '\n', &line, &rest))
        rest = (struct str){ 0 };
    if (!loose_value(line, &head, &value))
        return false;
    buf_add(out, (struct str){ text.p, (size_t)(line.p - text.p) });
    buf_add(out, head);
    put_quoted(out, value);
    buf_addc(out, '\n');
    buf_add(out, rest);
    return !out->over;
}

static bool is_short_enough(struct str text, struct error *e)
{
    return text.n <= YAML_MAX_BYTES ||
           error_set(e, ERR_LIMIT, "more than %zu bytes of YAML", YAML_MAX_BYTES);
}

struct yaml *yaml_parse_exact(struct arena *a, struct str text, struct error *e)
{
    size_t bad_line;

    return is_short_enough(text, e) ? parse_once(a, text, true, &bad_line, e) : NULL;
}

/* Each repair mends one line, so the line where the next attempt stops is still the file's. */
struct yaml *yaml_parse(struct arena *a, struct str text, struct error *e)
{
    auto_buf mended = BUF(2 * YAML_MAX_BYTES);
    size_t bad_line = 0;
    struct yaml *root;

    if (!is_short_enough(text, e))
        return NULL;
    root = parse_once(a, text, false, &bad_line, e);
    for (int i = 0; !root && bad_line && i < YAML_MAX_REPAIRS; i++) {
        auto_buf next = BUF(2 * YAML_MAX_BYTES);

        if (!quote_loose_value(mended.n ? buf_str(&mended) : text, bad_line, &next))
            break;
        buf_free(&mended);
        mended = next;
        next = BUF(0);
        root = parse_once(a, buf_str(&mended), false, &bad_line, e);
    }
    return root;
}

const struct yaml *yaml_get(const struct yaml *map, const char *key)
{
    if (!map || map->kind != YAML_MAP)
        return NULL;
    for (const struct yaml *v = map->first; v; v = v->next)
        if (str_is(v->key, key))
            return v;
    return NULL;
}

bool yaml_is(const struct yaml *v, enum yaml_kind kind)
{
    return v && v->kind == kind;
}

struct str yaml_str(const struct yaml *v)
{
    return yaml_is(v, YAML_SCALAR) ? v->s : (struct str){ 0 };
}
