/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The knowledge graph of one version of the file, in memory. Each record keeps its line as it
 * stands in the file, so that a rewrite copies slices and serialises only what changed (ME-2),
 * and everything that is no record of ours is kept verbatim (ME-3).
 *
 *     text    ----[line][line][line]-------    as read; most slices point into it
 *     arena   decoded strings, new lines, the records themselves
 *     entities, relations, kept, bad           pointers, in stored order
 *     by_name -> entity       by_triple -> relation
 *
 * Any number of threads may read it while none changes it. One at a time may plan a change
 * (change.h), which touches only what readers leave alone, and needs the graph for itself just
 * to apply it.
 */
#ifndef SYM_SERVERS_MEMORY_GRAPH_H
#define SYM_SERVERS_MEMORY_GRAPH_H

#include "base/arena.h"
#include "base/buf.h"
#include "servers/memory/index.h"

#define MEMORY_LINE_MAX ((size_t)16 << 20)  /* a longer line is a bad one */
#define MEMORY_FILE_MAX ((size_t)512 << 20) /* a longer file is not read */

struct entity {
    struct str line; /* without newline */
    struct str name, type;
    struct str *obs;
    size_t nobs;
    struct str extra; /* unknown fields: `,"k":1`; empty: none */
    uint64_t hash;    /* of the name */
    uint64_t seq;     /* grows in stored order */
    /* change.c's, nobody else looks */
    struct entity *edit; /* as it will be */
    bool doomed;
};

struct relation {
    struct str line;
    struct str from, to, type;
    uint64_t from_hash, to_hash; /* of the names */
    bool repeated;               /* an earlier one is the same triple, and in the index */
    bool has_repeats;            /* it is that one */
    bool doomed;                 /* change.c's */
};

/* A line of an unknown type, or an entity whose name an earlier line has. */
struct kept {
    struct str line;
    struct str name; /* of that entity; p == NULL: not one */
    uint64_t hash;
    bool doomed; /* change.c's */
};

struct bad_line {
    size_t number; /* from 1 */
    struct str text;
    const char *why;
};

struct graph {
    char *text; /* owned */
    struct arena arena;
    struct {
        struct entity **v;
        size_t n, cap;
    } entities;
    struct {
        struct relation **v;
        size_t n, cap;
    } relations;
    struct {
        struct kept *v;
        size_t n, cap;
    } kept;
    struct {
        struct bad_line *v;
        size_t n, cap;
    } bad;
    struct index by_name, by_triple;
    uint64_t next_seq;
    size_t live, waste; /* bytes of lines in use; bytes that changes left behind */
};

/* Reads the text of a file (owned by the graph from now on, with a NUL at text[n]). Never
 * fails: what cannot be read is in `bad`. */
struct graph *graph_load(char *text, size_t n);
void graph_free(struct graph *g); /* NULL is accepted */

struct entity *graph_entity(const struct graph *g, uint64_t hash, struct str name);
uint64_t graph_triple_hash(uint64_t from_hash, uint64_t to_hash, struct str type);
struct relation *graph_relation(const struct graph *g, uint64_t triple_hash, struct str from,
                                struct str to, struct str type);
bool relation_is(const struct relation *r, struct str from, struct str to, struct str type);

/* Appending to the graph; the record is the arena's. graph_load() and change_apply() only. */
void graph_add_entity(struct graph *g, struct entity *e);
void graph_add_relation(struct graph *g, struct relation *r);

/* The line of a record, written anew (ME-2). */
void entity_put_line(struct buf *b, const struct entity *e);
void relation_put_line(struct buf *b, const struct relation *r);

#endif
