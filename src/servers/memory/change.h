/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One mutation, planned beside the graph and applied in one step: while it is planned and the
 * new file is written, any number of threads go on reading the graph as it was, and a mutation
 * that fails leaves nothing behind. Between change_begin() and change_apply() or change_drop()
 * nobody else may plan on the same graph or replace it.
 *
 * Each operation sees what those before it in the same change did. Strings are copied.
 */
#ifndef SYM_SERVERS_MEMORY_CHANGE_H
#define SYM_SERVERS_MEMORY_CHANGE_H

#include "base/error.h"
#include "servers/memory/graph.h"

struct change {
    struct graph *g;
    struct {
        struct entity **v;
        size_t n, cap;
    } new_entities;
    struct {
        struct relation **v;
        size_t n, cap;
    } new_relations;
    struct {
        struct entity **v; /* stored ones that have an `edit` */
        size_t n, cap;
    } edited;
    struct {
        bool **v; /* flags of stored records that go */
        size_t n, cap;
    } doomed;
    struct index new_names, new_triples;
    size_t longest; /* bytes of the longest new line */
    size_t arena_before;
};

struct strings {
    struct str *v;
    size_t n;
};

struct triple {
    struct str from, to, type;
};

void change_begin(struct change *c, struct graph *g);

/* A stored or new one; NULL: there is none. */
const struct entity *change_find(const struct change *c, struct str name);

/* NULL: the name is taken, or the triple is there. */
const struct entity *change_add_entity(struct change *c, struct str name, struct str type,
                                       struct strings obs);
const struct relation *change_add_relation(struct change *c, const struct triple *t);

/* Replaces the observations of a stored entity, once an entity and change, by `kept`, which are
 * some of those it has (not copied), and `added` behind them. */
void change_set_observations(struct change *c, const struct entity *e, struct strings kept,
                             struct strings added);

/* The entities, the relations that touch their names (also of names that are no entity's), and
 * lines that a stored entity of that name hides. Unknown names are fine. */
void change_delete_entities(struct change *c, struct strings names);
void change_delete_relations(struct change *c, const struct triple *v, size_t n);

bool change_is_empty(const struct change *c);

/* ERR_LIMIT: it would make a line that nobody could read again (MEMORY_LINE_MAX). */
bool change_fits(const struct change *c, struct error *e);

/* The file as it will be, a piece at a time; stops at the first piece that is answered false.
 */
typedef bool (*piece_fn)(void *ctx, struct str piece);
bool change_walk(const struct change *c, piece_fn fn, void *ctx);

/* Both end the change. Applying needs the graph for itself. */
void change_apply(struct change *c);
void change_drop(struct change *c);

/* Is this what the graph's file would be, written anew? */
bool graph_is_text(struct graph *g, struct str text);

#endif
