/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The `list_tools` tool (docs/spec/meta-server.md section 4): what exists, as an index, a
 * ranked search, or TypeScript declarations. */
#ifndef SYM_META_LIST_TOOLS_H
#define SYM_META_LIST_TOOLS_H

#include "meta/catalog.h"
#include "meta/tsdecl.h"

#define LIST_INDEX_MAX     ((size_t)6000) /* bytes of the index before it gets coarser (MS-16) */
#define LIST_LINE_CHARS    80             /* characters of a description in the index */
#define LIST_TEXT_MAX      ((size_t)24 << 20)
#define LIST_LIMIT_DEFAULT 8
#define LIST_LIMIT_MAX     50
#define LIST_MAX_NAMES     1000 /* of `servers` and of `tools` */
#define LIST_MAX_WORDS     1000 /* bytes of `pattern` and of `query` */

struct list_query {
    struct strs servers, tools;
    bool has_servers, has_tools;
    struct str pattern, query; /* empty: absent */
    enum list_detail detail;   /* as it takes effect (MS-17) */
    size_t limit;
};

/* From the tool's arguments; views stay in `args`. ERR_INVALID names a wrongly typed key
 * (MS-7). */
bool list_query_read(struct list_query *ret, yyjson_val *args, struct arena *a,
                     struct error *e);

struct listing;
/*
 * Describes what the query asks for, starting servers where nothing fresh is known (MS-19).
 * `done` is called once, from inside when all is known and soon said; NULL is returned then.
 * Large inventories are read and declared in slices of a few milliseconds. The query and the
 * catalog (counted) are kept; the query's memory must live until then.
 */
typedef void (*list_done_fn)(void *ctx, struct str text);
struct listing *list_tools_run(struct catalog *c, const struct list_query *q, list_done_fn done,
                               void *ctx);
/* Ends the wait; servers already starting go on. */
void list_tools_cancel(struct listing *l);

#endif
