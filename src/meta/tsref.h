/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Local references inside one schema document: JSON pointers and anchors. Nothing outside the
 * document is ever looked at (TS-22, TS-27). */
#ifndef SYM_META_TSREF_H
#define SYM_META_TSREF_H

#include "base/map.h"
#include "text/json.h"

/* A definition is compared with all it refers to up to this many bodies; with more, with its
 * whole document. */
#define TSREF_CLOSURE_MAX 16

struct tsref {
    yyjson_val *root;
    struct map anchors; /* $anchor -> schema; filled at first need */
    bool anchors_known;
    uint64_t root_hash; /* 0: not computed */
};

void tsref_init(struct tsref *r, yyjson_val *root);
void tsref_done(struct tsref *r);

/* The schema a $ref text names, or NULL. *ret_name is its last segment ("Root" for the
 * document), in the arena. */
yyjson_val *tsref_find(struct tsref *r, struct arena *a, struct str ref, struct str *ret_name);

/* A hash of the schema's canonical text and of everything it refers to: equal for equal
 * definitions in different documents. */
uint64_t tsref_closure_hash(struct tsref *r, yyjson_val *schema);

#endif
