/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * YAML as front matter and agents' settings use it, read into a tree of strings. The only
 * module that knows libyaml.
 *
 * Scalars keep their text and are not typed ("yes" and 1.0 are strings); `plain` tells an
 * unquoted one, so that a reader who wants null or a number can still ask. Refused with
 * ERR_INVALID: aliases and anchors, tags, a second document, a key that is no scalar, a key
 * given twice. Bounds: YAML_MAX_BYTES, YAML_MAX_DEPTH, YAML_MAX_NODES.
 *
 * People write `description: Use this: it helps`, which is no YAML. A plain value that holds
 * ": " or ends with ":" is taken as quoted when parsing fails on its line (servers.md SK-4), in
 * at most YAML_MAX_REPAIRS lines. Lines that parse are never touched.
 */
#ifndef SYM_TEXT_YAML_H
#define SYM_TEXT_YAML_H

#include "base/arena.h"
#include "base/error.h"

#define YAML_MAX_BYTES   ((size_t)1 << 20)
#define YAML_MAX_DEPTH   16
#define YAML_MAX_NODES   4000
#define YAML_MAX_REPAIRS 16

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
    enum yaml_kind kind;
    bool plain;                /* scalar without quotes */
    unsigned line;             /* of the text, from 1 */
    bool flow;                 /* list or map in brackets */
    struct str s;              /* scalar */
    struct str key;            /* members of a map */
    size_t key_start, key_end; /* see yaml_parse_exact() */
    size_t start, end;
    struct yaml *first, *next; /* children in order; the next one of the same parent */
};

/* One document; an empty one is an empty map. Everything is the arena's. Errors begin with
 * "line N: ". */
struct yaml *yaml_parse(struct arena *a, struct str text, struct error *e);

/*
 * The same for a text that is to be edited: nothing is mended, errors begin with "line N,
 * column C: ", and spans say where each key and value stands, as byte offsets [start, end) into
 * the text. A list or map without brackets begins with its first "-" or key and ends where its
 * last child does; a value that is left out is empty, behind the colon.
 */
struct yaml *yaml_parse_exact(struct arena *a, struct str text, struct error *e);

/* NULL when absent or when `map` is NULL or no map. */
const struct yaml *yaml_get(const struct yaml *map, const char *key);
bool yaml_is(const struct yaml *v, enum yaml_kind kind);
struct str yaml_str(const struct yaml *v); /* empty unless a scalar */

#endif
