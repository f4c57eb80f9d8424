/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/graph.h"

#include <stdlib.h>

#include "base/mem.h"
#include "text/json.h"

void graph_free(struct graph *g)
{
    if (!g)
        return;
    free(g->entities.v);
    free(g->relations.v);
    free(g->kept.v);
    free(g->bad.v);
    index_free(&g->by_name);
    index_free(&g->by_triple);
    arena_free(&g->arena);
    free(g->text);
    free(g);
}

struct entity *graph_entity(const struct graph *g, uint64_t hash, struct str name)
{
    size_t at = INDEX_FIRST;
    struct entity *e;

    while ((e = index_next(&g->by_name, hash, &at)))
        if (str_eq(e->name, name))
            return e;
    return NULL;
}

uint64_t graph_triple_hash(uint64_t from_hash, uint64_t to_hash, struct str type)
{
    return index_mix(index_mix(from_hash, to_hash), str_hash(type));
}

bool relation_is(const struct relation *r, struct str from, struct str to, struct str type)
{
    return str_eq(r->from, from) && str_eq(r->to, to) && str_eq(r->type, type);
}

struct relation *graph_relation(const struct graph *g, uint64_t triple_hash, struct str from,
                                struct str to, struct str type)
{
    size_t at = INDEX_FIRST;
    struct relation *r;

    while ((r = index_next(&g->by_triple, triple_hash, &at)))
        if (relation_is(r, from, to, type))
            return r;
    return NULL;
}

void graph_add_entity(struct graph *g, struct entity *e)
{
    e->seq = g->next_seq++;
    VEC_PUSH(&g->entities) = e;
    index_put(&g->by_name, e->hash, e);
    g->live += e->line.n;
}

void graph_add_relation(struct graph *g, struct relation *r)
{
    uint64_t hash = graph_triple_hash(r->from_hash, r->to_hash, r->type);
    struct relation *first = graph_relation(g, hash, r->from, r->to, r->type);

    VEC_PUSH(&g->relations) = r;
    r->repeated = first != NULL;
    if (first)
        first->has_repeats = true;
    else
        index_put(&g->by_triple, hash, r);
    g->live += r->line.n;
}

/* ---- lines ---- */

static void put_member(struct buf *b, const char *lead, struct str value)
{
    buf_addz(b, lead);
    json_put_str(b, value);
}

void entity_put_line(struct buf *b, const struct entity *e)
{
    put_member(b, "{\"type\":\"entity\",\"name\":", e->name);
    put_member(b, ",\"entityType\":", e->type);
    buf_addz(b, ",\"observations\":[");
    for (size_t i = 0; i < e->nobs; i++)
        put_member(b, i ? "," : "", e->obs[i]);
    buf_addc(b, ']');
    buf_add(b, e->extra);
    buf_addc(b, '}');
}

void relation_put_line(struct buf *b, const struct relation *r)
{
    put_member(b, "{\"type\":\"relation\",\"from\":", r->from);
    put_member(b, ",\"to\":", r->to);
    put_member(b, ",\"relationType\":", r->type);
    buf_addc(b, '}');
}
