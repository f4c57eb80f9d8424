/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Any bytes as a memory file: whatever is in them, nothing of it is lost, and what a rewrite
 * gives is read again as the same graph, and written again as the same file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "servers/memory/change.h"
#include "servers/memory/output.h"
#include "text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OUT_MAX ((size_t)64 << 20)

static void must(bool ok)
{
    if (!ok)
        abort();
}

static struct graph *load(struct str text)
{
    return graph_load(mem_strndup(text.p, text.n), text.n);
}

static bool add(void *ctx, struct str piece)
{
    buf_add(ctx, piece);
    return true;
}

static void rewrite(struct buf *out, struct graph *g)
{
    const struct change none = { .g = g };

    must(change_walk(&none, add, out));
}

static void check_entity(const struct graph *g, const struct entity *e)
{
    auto_buf line = BUF(OUT_MAX);
    auto_json j = { 0 };

    must(graph_entity(g, e->hash, e->name) == e);
    must(e->hash == str_hash(e->name) && utf8_valid(e->name) && utf8_valid(e->type));
    entity_put_line(&line, e);
    must(json_parse(&j, buf_str(&line), NULL));
    must(str_eq(json_str(json_get(j.root, "name")), e->name));
    must(json_len(json_get(j.root, "observations")) == e->nobs);
    for (size_t i = 0; i < e->nobs; i++)
        must(utf8_valid(e->obs[i]));
}

static void check_relation(const struct graph *g, const struct relation *r)
{
    uint64_t hash = graph_triple_hash(r->from_hash, r->to_hash, r->type);
    const struct relation *first = graph_relation(g, hash, r->from, r->to, r->type);

    must(first && (r->repeated ? first != r && first->has_repeats : first == r));
}

/* Each object and each bad part of a line stands somewhere in the text. */
static void check_places(const struct graph *g, struct str text)
{
    size_t last = 0;

    for (size_t i = 0; i < g->kept.n; i++)
        must(str_find(text, g->kept.v[i].line) != SIZE_MAX);
    for (size_t i = 0; i < g->bad.n; i++) {
        must(g->bad.v[i].number > last && g->bad.v[i].text.n);
        must(str_find(text, g->bad.v[i].text) != SIZE_MAX);
        last = g->bad.v[i].number;
    }
}

/* A change that touches every kind of record, applied; memory and file stay one. */
static void change_all(struct graph *g)
{
    struct change c;
    struct str some[] = { STR("a"), STR("\"\n") };
    auto_buf planned = BUF(OUT_MAX), applied = BUF(OUT_MAX);

    change_begin(&c, g);
    for (size_t i = 0; i < g->entities.n; i += 2)
        change_set_observations(&c, g->entities.v[i], (struct strings){ 0 },
                                (struct strings){ some, 2 });
    for (size_t i = 0; i < g->relations.n; i += 2) {
        const struct relation *r = g->relations.v[i];

        change_delete_relations(&c, &(struct triple){ r->from, r->to, r->type }, 1);
    }
    change_delete_entities(&c, (struct strings){ some, 1 });
    change_add_entity(&c, STR("new"), STR("t"), (struct strings){ some, 2 });
    must(change_walk(&c, add, &planned));
    change_apply(&c);
    rewrite(&applied, g);
    must(str_eq(buf_str(&planned), buf_str(&applied)));
}

static void check(struct graph *g)
{
    for (size_t i = 0; i < g->entities.n; i++)
        check_entity(g, g->entities.v[i]);
    for (size_t i = 0; i < g->relations.n; i++)
        check_relation(g, g->relations.v[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { (const char *)data, size };
    auto_buf once = BUF(OUT_MAX), twice = BUF(OUT_MAX);
    struct graph *g = load(text), *again;

    check(g);
    check_places(g, text);
    rewrite(&once, g);
    again = load(buf_str(&once));
    check(again);
    must(again->bad.n == 0 && again->entities.n == g->entities.n);
    must(again->relations.n == g->relations.n && again->kept.n == g->kept.n);
    must(graph_is_text(again, buf_str(&once)));
    rewrite(&twice, again);
    must(str_eq(buf_str(&once), buf_str(&twice)));
    change_all(g);
    check(g);
    graph_free(g);
    graph_free(again);
    return 0;
}
