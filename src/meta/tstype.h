/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * TypeScript types as a small tree, and how they print. Built from JSON Schema by
 * meta/tsschema; all nodes live in one arena. Constructors simplify while building: nested
 * unions are flat, duplicates gone, `unknown` absorbs a union and vanishes from an
 * intersection.
 */
#ifndef SYM_META_TSTYPE_H
#define SYM_META_TSTYPE_H

#include "base/arena.h"
#include "base/buf.h"

enum ts_kind {
    TS_WORD, /* keyword or literal, printed as is */
    TS_UNION,
    TS_INTERSECTION,
    TS_ARRAY, /* items.v[0][] */
    TS_TUPLE,
    TS_OBJECT,
    TS_RECORD, /* Record<string, items.v[0]> */
    TS_ALIAS,  /* a named definition */
};

struct ts_alias;

struct ts_list {
    const struct ts_type **v;
    size_t n, cap;
};

struct ts_prop {
    struct str name; /* as in the schema; quoted when printed if it must be */
    bool optional;
    const struct ts_type *type;
    struct str doc; /* finished comment text, empty: none */
};

struct ts_type {
    enum ts_kind kind;
    bool one_line; /* object literal of a const */
    struct str word;
    struct ts_list items;
    size_t required;            /* tuple: elements from here on are optional */
    const struct ts_type *rest; /* tuple: ...rest[]; NULL: none */
    struct {
        struct ts_prop *v;
        size_t n, cap;
    } props;
    const struct ts_type *index; /* object: [key: string]: index; NULL: none */
    struct ts_alias *alias;
};

struct ts_alias {
    struct str name;            /* as printed */
    struct str base;            /* the definition's own name, before _2, _3 */
    uint64_t body_hash;         /* of the definition and everything it refers to (TS-23) */
    const struct ts_type *body; /* NULL until rendered */
    int mark;                   /* cycle search: 0 new, 1 open, 2 done */
    bool printed;
};

const struct ts_type *ts_word(struct arena *a, const char *word);
const struct ts_type *ts_word_s(struct arena *a, struct str word);
bool ts_is_word(const struct ts_type *t, const char *word);
const struct ts_type *ts_union(struct arena *a, const struct ts_list *members);
const struct ts_type *ts_intersection(struct arena *a, const struct ts_list *members);
const struct ts_type *ts_array(struct arena *a, const struct ts_type *item);
const struct ts_type *ts_record(struct arena *a, const struct ts_type *value);

/*
 * Makes every alias body legal TypeScript: an alias that reaches itself without an object,
 * array or tuple between is cut there (TS-25, TS-26), and a Record that would close such a
 * circle is written as an index signature, which TypeScript resolves lazily.
 */
void ts_cut_cycles(struct arena *a, struct ts_alias *const *aliases, size_t n);

/* `indent` is the column of the line the type begins on; objects break over lines. */
void ts_print(struct buf *out, const struct ts_type *t, unsigned indent);

/* A JSON string literal that shows safely: control, bidi and zero-width characters as \uXXXX.
 */
void ts_put_quoted(struct buf *out, struct str s);

/* An identifier as is, anything else quoted (TS-31). */
void ts_put_key(struct buf *out, struct str name);

#endif
