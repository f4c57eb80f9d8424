/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/tstype.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "meta/names.h"

#define PRINT_MAX ((size_t)64 << 20)
/* Chains of aliases longer than this, and searches wider, are cut as if they closed a circle.
 */
#define CYCLE_MAX_DEPTH 400
#define CYCLE_MAX_STEPS 2000

/* Nearly all types of real schemas are one of these: a large one needs half the memory. */
static const struct ts_type *common_word(struct str word)
{
#define WORD(text)                                         \
    {                                                      \
        .kind = TS_WORD, .word = { text, sizeof text - 1 } \
    }
    static const struct ts_type common[] = { WORD("string"),  WORD("number"), WORD("boolean"),
                                             WORD("unknown"), WORD("null"),   WORD("object") };
#undef WORD

    for (size_t i = 0; i < ARRAY_LEN(common); i++)
        if (str_eq(word, common[i].word))
            return &common[i];
    return NULL;
}

const struct ts_type *ts_word_s(struct arena *a, struct str word)
{
    const struct ts_type *known = common_word(word);
    struct ts_type *t;

    if (known)
        return known;
    t = ARENA_NEW(a, struct ts_type);
    t->kind = TS_WORD;
    t->word = word;
    return t;
}

const struct ts_type *ts_word(struct arena *a, const char *word)
{
    return ts_word_s(a, str_of(word));
}

bool ts_is_word(const struct ts_type *t, const char *word)
{
    return t->kind == TS_WORD && str_is(t->word, word);
}

static const struct ts_type *wrapped(struct arena *a, enum ts_kind kind,
                                     const struct ts_type *item)
{
    struct ts_type *t = ARENA_NEW(a, struct ts_type);

    t->kind = kind;
    ARENA_PUSH(a, &t->items) = item;
    return t;
}

const struct ts_type *ts_array(struct arena *a, const struct ts_type *item)
{
    return wrapped(a, TS_ARRAY, item);
}

const struct ts_type *ts_record(struct arena *a, const struct ts_type *value)
{
    return wrapped(a, TS_RECORD, value);
}

/* Members of a union or intersection by their printed text: equal text is an equal type. */
struct collector {
    struct arena *a;
    enum ts_kind kind;
    struct map seen;
    struct ts_list out;
};

static void collect(struct collector *c, const struct ts_type *t)
{
    auto_buf text = BUF(PRINT_MAX);

    if (t->kind == c->kind) {
        for (size_t i = 0; i < t->items.n; i++)
            collect(c, t->items.v[i]);
        return;
    }
    if (t->kind == TS_WORD) {
        if (map_put(&c->seen, t->word, &c->seen))
            return;
    } else {
        ts_print(&text, t, 0);
        if (map_put(&c->seen, buf_str(&text), &c->seen))
            return;
    }
    ARENA_PUSH(c->a, &c->out) = t;
}

/* `absorbing` decides alone, `neutral` says nothing beside others. */
static const struct ts_type *combine(struct arena *a, enum ts_kind kind,
                                     const struct ts_list *members, const char *absorbing,
                                     const char *neutral)
{
    struct collector c = { .a = a, .kind = kind };
    struct ts_type *t;
    size_t kept = 0;

    for (size_t i = 0; i < members->n; i++)
        collect(&c, members->v[i]);
    map_free(&c.seen);
    for (size_t i = 0; i < c.out.n; i++) {
        if (ts_is_word(c.out.v[i], absorbing))
            return c.out.v[i];
        if (!ts_is_word(c.out.v[i], neutral))
            c.out.v[kept++] = c.out.v[i];
    }
    if (!kept)
        return ts_word(a, c.out.n ? neutral : "unknown");
    if (kept == 1)
        return c.out.v[0];
    t = ARENA_NEW(a, struct ts_type);
    t->kind = kind;
    t->items = c.out;
    t->items.n = kept;
    return t;
}

const struct ts_type *ts_union(struct arena *a, const struct ts_list *members)
{
    return combine(a, TS_UNION, members, "unknown", "never");
}

const struct ts_type *ts_intersection(struct arena *a, const struct ts_list *members)
{
    return combine(a, TS_INTERSECTION, members, "never", "unknown");
}

/* ---- cycles ---- */

struct cutter {
    struct arena *a;
    unsigned depth;
    unsigned steps;
};

static const struct ts_type *cut(struct cutter *c, const struct ts_type *t);

/* Does t reach an open alias by way of unions, intersections, records and aliases alone? */
static bool reaches_open(struct cutter *c, const struct ts_type *t)
{
    if (++c->steps > CYCLE_MAX_STEPS)
        return true;
    if (t->kind == TS_ALIAS) {
        struct ts_alias *alias = t->alias;
        bool found;

        if (alias->mark == 1)
            return true;
        if (alias->mark == 2 || !alias->body)
            return false;
        alias->mark = 2; /* for this search only: do not walk in circles */
        found = reaches_open(c, alias->body);
        alias->mark = 0;
        return found;
    }
    if (t->kind != TS_UNION && t->kind != TS_INTERSECTION && t->kind != TS_RECORD)
        return false;
    for (size_t i = 0; i < t->items.n; i++)
        if (reaches_open(c, t->items.v[i]))
            return true;
    return false;
}

static void cut_alias(struct cutter *c, struct ts_alias *alias)
{
    if (alias->mark || !alias->body)
        return;
    alias->mark = 1;
    c->depth++;
    alias->body = cut(c, alias->body);
    c->depth--;
    alias->mark = 2;
    if (!alias->body)
        alias->body = ts_word(c->a, "unknown");
}

static const struct ts_type *cut_members(struct cutter *c, const struct ts_type *t)
{
    struct ts_list kept = { 0 };
    bool same = true;

    for (size_t i = 0; i < t->items.n; i++) {
        const struct ts_type *m = cut(c, t->items.v[i]);

        same = same && m == t->items.v[i];
        if (m)
            ARENA_PUSH(c->a, &kept) = m;
    }
    if (same)
        return t;
    if (!kept.n)
        return NULL;
    return t->kind == TS_UNION ? ts_union(c->a, &kept) : ts_intersection(c->a, &kept);
}

static const struct ts_type *cut_record(struct cutter *c, const struct ts_type *t)
{
    struct ts_type *object;

    c->steps = 0;
    if (!reaches_open(c, t->items.v[0])) {
        (void)cut(c, t->items.v[0]);
        return t;
    }
    object = ARENA_NEW(c->a, struct ts_type);
    object->kind = TS_OBJECT;
    object->index = t->items.v[0];
    object->one_line = true;
    return object;
}

/* The type without what closes a circle; NULL when nothing is left. */
static const struct ts_type *cut(struct cutter *c, const struct ts_type *t)
{
    switch (t->kind) {
    case TS_ALIAS:
        if (t->alias->mark == 1 || c->depth > CYCLE_MAX_DEPTH)
            return NULL;
        cut_alias(c, t->alias);
        return t;
    case TS_UNION:
    case TS_INTERSECTION:
        return cut_members(c, t);
    case TS_RECORD:
        return cut_record(c, t);
    case TS_WORD:
    case TS_ARRAY:
    case TS_TUPLE:
    case TS_OBJECT:
        return t;
    }
    return t;
}

void ts_cut_cycles(struct arena *a, struct ts_alias *const *aliases, size_t n)
{
    struct cutter c = { .a = a };

    for (size_t i = 0; i < n; i++)
        cut_alias(&c, aliases[i]);
}

/* ---- printing ---- */

static bool shows_unsafely(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || (cp >= 0x200b && cp <= 0x200f) ||
           (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff;
}

void ts_put_quoted(struct buf *out, struct str s)
{
    buf_addc(out, '"');
    for (struct str rest = s; rest.n;) {
        uint32_t cp;
        size_t n = utf8_decode(rest, &cp);

        if (!n) {
            utf8_put(out, 0xfffd);
            n = 1;
        } else if (cp == '"' || cp == '\\') {
            buf_addf(out, "\\%c", (int)cp);
        } else if (shows_unsafely(cp)) {
            buf_addf(out, "\\u%04x", cp);
        } else {
            buf_add(out, str_upto(rest, n));
        }
        rest = str_from(rest, n);
    }
    buf_addc(out, '"');
}

void ts_put_key(struct buf *out, struct str name)
{
    /* `new(...)` in a type literal would be a construct signature. */
    if (is_identifier(name) && !str_is(name, "new"))
        buf_add(out, name);
    else
        ts_put_quoted(out, name);
}

static void print_operand(struct buf *out, const struct ts_type *t, unsigned indent,
                          bool parens)
{
    if (parens)
        buf_addc(out, '(');
    ts_print(out, t, indent);
    if (parens)
        buf_addc(out, ')');
}

static bool is_compound(const struct ts_type *t)
{
    return t->kind == TS_UNION || t->kind == TS_INTERSECTION;
}

static void print_joined(struct buf *out, const struct ts_type *t, unsigned indent)
{
    bool is_union = t->kind == TS_UNION;

    for (size_t i = 0; i < t->items.n; i++) {
        if (i)
            buf_addz(out, is_union ? " | " : " & ");
        print_operand(out, t->items.v[i], indent, !is_union && t->items.v[i]->kind == TS_UNION);
    }
}

static void print_tuple(struct buf *out, const struct ts_type *t, unsigned indent)
{
    buf_addc(out, '[');
    for (size_t i = 0; i < t->items.n; i++) {
        bool optional = i >= t->required;

        buf_addz(out, i ? ", " : "");
        print_operand(out, t->items.v[i], indent, optional && is_compound(t->items.v[i]));
        buf_addz(out, optional ? "?" : "");
    }
    if (t->rest) {
        buf_addz(out, t->items.n ? ", ..." : "...");
        print_operand(out, t->rest, indent, is_compound(t->rest));
        buf_addz(out, "[]");
    }
    buf_addc(out, ']');
}

static void new_line(struct buf *out, unsigned indent)
{
    buf_addc(out, '\n');
    buf_fill(out, ' ', indent);
}

static void member_start(struct buf *out, const struct ts_type *t, unsigned indent)
{
    if (t->one_line)
        buf_addc(out, ' ');
    else
        new_line(out, indent + 2);
}

static void print_object(struct buf *out, const struct ts_type *t, unsigned indent)
{
    if (!t->props.n && !t->index) {
        buf_addz(out, "{}");
        return;
    }
    buf_addc(out, '{');
    for (size_t i = 0; i < t->props.n; i++) {
        const struct ts_prop *p = &t->props.v[i];

        member_start(out, t, indent);
        if (p->doc.n) {
            buf_addz(out, "/** ");
            buf_add(out, p->doc);
            buf_addz(out, " */");
            member_start(out, t, indent);
        }
        ts_put_key(out, p->name);
        buf_addz(out, p->optional ? "?: " : ": ");
        ts_print(out, p->type, indent + 2);
        buf_addc(out, ';');
    }
    if (t->index) {
        member_start(out, t, indent);
        buf_addz(out, "[key: string]: ");
        ts_print(out, t->index, indent + 2);
        buf_addc(out, ';');
    }
    if (t->one_line)
        buf_addc(out, ' ');
    else
        new_line(out, indent);
    buf_addc(out, '}');
}

void ts_print(struct buf *out, const struct ts_type *t, unsigned indent)
{
    switch (t->kind) {
    case TS_WORD:
        buf_add(out, t->word);
        break;
    case TS_UNION:
    case TS_INTERSECTION:
        print_joined(out, t, indent);
        break;
    case TS_ARRAY:
        print_operand(out, t->items.v[0], indent, is_compound(t->items.v[0]));
        buf_addz(out, "[]");
        break;
    case TS_TUPLE:
        print_tuple(out, t, indent);
        break;
    case TS_OBJECT:
        print_object(out, t, indent);
        break;
    case TS_RECORD:
        buf_addz(out, "Record<string, ");
        ts_print(out, t->items.v[0], indent);
        buf_addc(out, '>');
        break;
    case TS_ALIAS:
        buf_add(out, t->alias->name);
        break;
    }
}
