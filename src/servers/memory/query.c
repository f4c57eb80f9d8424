/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/casefold.h"
#include "base/mem.h"

#define LOOK_UP_EVERY 256    /* entities between two questions whether to stop */
#define FIELD_END     '\xff' /* in no UTF-8 text, so that nothing matches across two fields */

struct view query_all(const struct query *q, const struct graph *g)
{
    struct view v = { ARENA_ARRAY(q->arena, const struct entity *, g->entities.n),
                      g->entities.n,
                      ARENA_ARRAY(q->arena, const struct relation *, g->relations.n),
                      g->relations.n };

    for (size_t i = 0; i < g->entities.n; i++)
        v.entities[i] = g->entities.v[i];
    for (size_t i = 0; i < g->relations.n; i++)
        v.relations[i] = g->relations.v[i];
    return v;
}

/* The relations with an end among the view's entities. */
static void add_relations(const struct query *q, const struct graph *g, struct view *v)
{
    struct index found = { 0 };

    v->relations =
        ARENA_ARRAY(q->arena, const struct relation *, v->nentities ? g->relations.n : 0);
    for (size_t i = 0; i < v->nentities; i++)
        index_put(&found, v->entities[i]->hash, (struct str *)&v->entities[i]->name);
    for (size_t i = 0; v->nentities && i < g->relations.n; i++) {
        const struct relation *r = g->relations.v[i];

        if (index_find_str(&found, r->from_hash, r->from) ||
            index_find_str(&found, r->to_hash, r->to))
            v->relations[v->nrelations++] = r;
    }
    index_free(&found);
}

static int by_place(const void *a, const void *b)
{
    const struct entity *const *x = a, *const *y = b;

    return ((*x)->seq > (*y)->seq) - ((*x)->seq < (*y)->seq);
}

struct view query_open(const struct query *q, const struct graph *g)
{
    const struct arg_strings *names = &q->r->names;
    struct view v = { .entities = ARENA_ARRAY(q->arena, const struct entity *, names->n) };
    size_t n = 0;

    for (size_t i = 0; i < names->n; i++) {
        const struct entity *e = graph_entity(g, str_hash(names->v[i]), names->v[i]);

        if (e)
            v.entities[v.nentities++] = e;
    }
    if (v.nentities)
        qsort(v.entities, v.nentities, sizeof(struct entity *), by_place);
    for (size_t i = 0; i < v.nentities; i++)
        if (i == 0 || v.entities[i] != v.entities[i - 1])
            v.entities[n++] = v.entities[i];
    v.nentities = n;
    add_relations(q, g, &v);
    return v;
}

/* ---- search ---- */

static bool contains(struct str text, struct str part)
{
    return part.n == 0 || memmem(text.p, text.n, part.p, part.n) != NULL;
}

/* Everything of an entity that is searched, folded. */
static struct str searched(struct buf *scratch, const struct entity *e)
{
    buf_clear(scratch);
    casefold_put(scratch, e->name);
    buf_addc(scratch, FIELD_END);
    casefold_put(scratch, e->type);
    for (size_t i = 0; i < e->nobs; i++) {
        buf_addc(scratch, FIELD_END);
        casefold_put(scratch, e->obs[i]);
    }
    return buf_str(scratch);
}

struct words {
    struct str v[QUERY_WORDS_MAX];
    size_t n;
    bool several; /* before those that are alike were made one */
};

static bool is_known(const struct words *w, struct str word)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_eq(w->v[i], word))
            return true;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct words words_of(struct str text)
{
    struct words w = { .n = 0 };
    size_t count = 0;

    for (size_t i = 0; i < text.n && w.n < QUERY_WORDS_MAX;) {
        size_t start;

        while (i < text.n && is_blank(text.p[i]))
            i++;
        for (start = i; i < text.n && !is_blank(text.p[i]);)
            i++;
        if (i == start)
            break;
        count++;
        if (!is_known(&w, (struct str){ text.p + start, i - start }))
            w.v[w.n++] = (struct str){ text.p + start, i - start };
    }
    w.several = count > 1;
    return w;
}

struct hit {
    const struct entity *e;
    size_t words;
};

static int best_first(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;

    if (x->words != y->words)
        return x->words < y->words ? 1 : -1;
    return by_place(&x->e, &y->e);
}

static size_t count_words(struct str text, const struct words *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        n += contains(text, w->v[i]);
    return n;
}

static bool must_stop(const struct query *q, size_t i)
{
    return i % LOOK_UP_EVERY == 0 && q->cancelled(q->ctx);
}

static void find_whole(const struct query *q, const struct graph *g, struct str text,
                       struct view *v)
{
    auto_buf scratch = BUF(2 * MEMORY_FILE_MAX);

    for (size_t i = 0; i < g->entities.n && !must_stop(q, i); i++)
        if (text.n == 0 || contains(searched(&scratch, g->entities.v[i]), text))
            v->entities[v->nentities++] = g->entities.v[i];
}

static void find_words(const struct query *q, const struct graph *g, const struct words *w,
                       struct view *v)
{
    auto_buf scratch = BUF(2 * MEMORY_FILE_MAX);
    struct {
        struct hit *v;
        size_t n, cap;
    } hits = { 0 };

    for (size_t i = 0; i < g->entities.n && !must_stop(q, i); i++) {
        size_t n = count_words(searched(&scratch, g->entities.v[i]), w);

        if (n)
            VEC_PUSH(&hits) = (struct hit){ g->entities.v[i], n };
    }
    if (hits.n)
        qsort(hits.v, hits.n, sizeof *hits.v, best_first);
    for (size_t i = 0; i < hits.n; i++)
        v->entities[v->nentities++] = hits.v[i].e;
    free(hits.v);
}

struct view query_search(const struct query *q, const struct graph *g)
{
    struct view v = { .entities = ARENA_ARRAY(q->arena, const struct entity *, g->entities.n) };
    auto_buf text = BUF(2 * MEMORY_LINE_MAX);

    casefold_put(&text, q->r->query);
    find_whole(q, g, buf_str(&text), &v);
    if (!v.nentities) {
        struct words w = words_of(buf_str(&text));

        if (w.several)
            find_words(q, g, &w, &v);
    }
    add_relations(q, g, &v);
    return v;
}
