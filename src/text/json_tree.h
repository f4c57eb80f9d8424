/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Where each value of a JSON or JSONC text stands in it: for changes that leave every other
 * byte as it was (text/json_edit.h). Values themselves are read with text/json.h.
 *
 * Spans are byte offsets [start, end) into the text as given; a byte order mark counts.
 */
#ifndef SYM_TEXT_JSON_TREE_H
#define SYM_TEXT_JSON_TREE_H

#include "base/arena.h"
#include "base/error.h"

#define JSON_TREE_MAX_BYTES ((size_t)64 << 20)
#define JSON_TREE_MAX_NODES 2000000u /* values; some 250 MB */

enum json_node_kind { JSON_NODE_OBJECT, JSON_NODE_ARRAY, JSON_NODE_SCALAR };

struct json_node {
    enum json_node_kind kind;
    size_t start, end;         /* the value; of containers with brackets */
    size_t key_start, key_end; /* the key with its quotes; both 0 outside objects */
    struct str key;            /* decoded */
    bool comma;                /* a comma follows the value; behind a last one it is JSONC's */
    size_t comma_end;          /* behind that comma */
    struct json_node *parent, *first, *last, *prev, *next;
};

/*
 * The root; everything is the arena's. Accepted is what json_parse_jsonc() accepts, and its
 * error says what is wrong otherwise: "line L, column C: ...". ERR_LIMIT beyond
 * the ceilings above.
 */
struct json_node *json_tree(struct arena *a, struct str text, struct error *e);

/* NULL when absent or not that kind. Of duplicate keys the last. */
struct json_node *json_tree_get(const struct json_node *object, const char *key);
struct json_node *json_tree_at(const struct json_node *array, size_t i);

/* The end of white space and comments from `at` on. */
size_t json_skip_blank(struct str text, size_t at);

#endif
