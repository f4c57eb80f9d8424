/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Records and graphs as the tools return them: JSON without the key `type` and without fields
 * that are not ours (ME-7 to ME-15), compact or with two spaces a level. */
#ifndef SYM_SERVERS_MEMORY_OUTPUT_H
#define SYM_SERVERS_MEMORY_OUTPUT_H

#include "servers/memory/graph.h"

/* What a read found, in the order of the answer. */
struct view {
    const struct entity **entities;
    size_t nentities;
    const struct relation **relations;
    size_t nrelations;
};

void output_strings(struct buf *b, const struct str *v, size_t n);
void output_entity(struct buf *b, const struct entity *e);
void output_relation(struct buf *b, const struct relation *r);
void output_view(struct buf *b, const struct view *v);

/* Compact JSON of ours, as JSON.stringify(value, null, 2) would write it. */
void output_pretty(struct buf *b, struct str json);

#endif
