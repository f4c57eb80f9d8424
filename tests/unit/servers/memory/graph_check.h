/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A graph as text, and the six mutations and three queries by the name of their tool. */
#ifndef SYM_TEST_GRAPH_CHECK_H
#define SYM_TEST_GRAPH_CHECK_H

#include "../../check.h"

#include "servers/memory/mutate.h"
#include "servers/memory/query.h"

static inline struct graph *load_text(struct str text)
{
    char *copy = mem_strndup(text.p, text.n);

    return graph_load(copy, text.n);
}

/* Everything but the lines: "E name:type[obs|obs]+extra", "R from>to:type", "K line",
 * "B number why". */
static inline void dump(struct buf *b, const struct graph *g)
{
    for (size_t i = 0; i < g->entities.n; i++) {
        const struct entity *e = g->entities.v[i];

        buf_addf(b, "E %.*s:%.*s[", STR_F(e->name), STR_F(e->type));
        for (size_t k = 0; k < e->nobs; k++)
            buf_addf(b, "%s%.*s", k ? "|" : "", STR_F(e->obs[k]));
        buf_addf(b, "]%.*s\n", STR_F(e->extra));
    }
    for (size_t i = 0; i < g->relations.n; i++) {
        const struct relation *r = g->relations.v[i];

        buf_addf(b, "R %.*s>%.*s:%.*s\n", STR_F(r->from), STR_F(r->to), STR_F(r->type));
    }
    for (size_t i = 0; i < g->kept.n; i++)
        buf_addf(b, "K %.*s\n", STR_F(g->kept.v[i].line));
    for (size_t i = 0; i < g->bad.n; i++)
        buf_addf(b, "B %zu %s\n", g->bad.v[i].number, g->bad.v[i].why);
}

static inline bool add_piece(void *ctx, struct str piece)
{
    buf_add(ctx, piece);
    return true;
}

/* The file that a rewrite gives. */
static inline void rewrite(struct buf *b, struct graph *g)
{
    struct change none;

    change_begin(&none, g);
    change_walk(&none, add_piece, b);
    change_drop(&none);
}

struct mutation_row {
    const char *tool;
    request_fn arguments;
    mutate_fn run;
};

static const struct mutation_row mutation_rows[] = {
    { "create_entities", request_entities, mutate_create_entities },
    { "create_relations", request_relations, mutate_create_relations },
    { "add_observations", request_observations, mutate_add_observations },
    { "delete_entities", request_entity_names, mutate_delete_entities },
    { "delete_observations", request_deletions, mutate_delete_observations },
    { "delete_relations", request_relations, mutate_delete_relations },
};

static inline const struct mutation_row *mutation_row(const char *tool)
{
    for (size_t i = 0; i < ARRAY_LEN(mutation_rows); i++)
        if (strcmp(tool, mutation_rows[i].tool) == 0)
            return &mutation_rows[i];
    fail_msg("no mutation '%s'", tool);
    return NULL;
}

/* Applies it when it changes anything. True if it did; *e for bad arguments. */
static inline bool mutate(struct graph *g, const char *tool, const char *args, struct answer *a,
                          struct error *e)
{
    const struct mutation_row *row = mutation_row(tool);
    auto_arena arena = ARENA;
    struct request r = { 0 };
    struct change c;
    auto_json j = { 0 };

    *e = (struct error){ 0 };
    assert_true(json_parse(&j, str_of(args), e));
    if (!row->arguments(&arena, j.root, &r, e))
        return false;
    change_begin(&c, g);
    if (!row->run(&r, &c, a) || change_is_empty(&c)) {
        change_drop(&c);
        return false;
    }
    change_apply(&c);
    return true;
}

#endif
