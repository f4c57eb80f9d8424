/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Ranked search over tools (MS-64): BM25 with column weights (name 3, server 1, description 1),
 * words ORed, a word of three letters or more matches as prefix too, below whole-word hits; a
 * tool whose name is the query comes first. Deterministic: ties by server, then tool.
 */
#ifndef SYM_META_SEARCH_H
#define SYM_META_SEARCH_H

#include "base/str.h"

struct search_doc {
    struct str server, name, description;
    double score; /* filled by search_rank() */
    size_t index; /* the caller's own number */
};

/* Ranks docs[0..n) in place, best first, and returns how many match at all. A blank query
 * matches nothing. */
size_t search_rank(struct search_doc *docs, size_t n, struct str query);

#endif
