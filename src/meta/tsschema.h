/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * JSON Schema to TypeScript (docs/spec/meta-server.md 5.1, rows TS-1 to TS-34). Never fails:
 * what cannot be said in TypeScript is `unknown`. Nothing is fetched, opened or executed.
 * Definitions become named aliases, shared over one output.
 */
#ifndef SYM_META_TSSCHEMA_H
#define SYM_META_TSSCHEMA_H

#include "base/map.h"
#include "meta/tstype.h"
#include "text/json.h"

#define TS_MAX_DEPTH        64
#define TS_MAX_NODES        10000 /* per tool, over input and output schema */
#define TS_MAX_ENUM         200
#define TS_DOC_PROPERTY_MAX 500 /* characters */
#define TS_DOC_TOOL_MAX     1000

/* One output: the alias names used so far. `reserved` are the script globals, which no alias
 * may equal (TS-30). */
struct ts_output {
    struct arena *a;
    struct map names;   /* taken names */
    struct map by_base; /* definition name -> struct ts_alias_list of that name */
    struct {
        struct ts_alias **v;
        size_t n, cap;
    } aliases; /* in order of first use */
};

void ts_output_init(struct ts_output *o, struct arena *a);
void ts_output_reserve(struct ts_output *o, struct str global);
void ts_output_done(struct ts_output *o);

/* Nodes left for one tool; give the same counter to both of its schemas. */
struct ts_budget {
    unsigned nodes;
};

/* The type of a whole schema document (NULL: unknown). Local references resolve within `root`;
 * `at` is root or a subschema of it. */
const struct ts_type *ts_of_schema(struct ts_output *o, yyjson_val *root, yyjson_val *at,
                                   struct ts_budget *budget);

/* Follows a root $ref (TS-28); returns the schema that decides about parameters. */
yyjson_val *ts_resolve_root(yyjson_val *root);

/* Appends a comment's inside: cleaned, white space collapsed, no comment end, at most max
 * characters (TS-32). */
void ts_put_doc(struct buf *out, struct str text, size_t max);

#endif
