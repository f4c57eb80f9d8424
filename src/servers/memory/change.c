/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void change_begin(struct change *c, struct graph *g)
{
    *c = (struct change){ .g = g, .arena_before = g->arena.used };
}

static struct entity *find_new(const struct change *c, uint64_t hash, struct str name)
{
    size_t at = INDEX_FIRST;
    struct entity *e;

    while ((e = index_next(&c->new_names, hash, &at)))
        if (str_eq(e->name, name))
            return e;
    return NULL;
}

const struct entity *change_find(const struct change *c, struct str name)
{
    uint64_t hash = str_hash(name);
    struct entity *e = graph_entity(c->g, hash, name);

    return e ? e : find_new(c, hash, name);
}

/* ---- additions ---- */

static struct str *copy_behind(struct arena *a, struct strings kept, struct strings s)
{
    struct str *v = ARENA_ARRAY(a, struct str, kept.n + s.n);

    if (kept.n)
        memcpy(v, kept.v, kept.n * sizeof *v);
    for (size_t i = 0; i < s.n; i++)
        v[kept.n + i] = arena_str(a, s.v[i]);
    return v;
}

static struct str keep_line(struct change *c, const struct buf *b)
{
    if (b->n > c->longest)
        c->longest = b->n;
    return arena_str(&c->g->arena, buf_str(b));
}

static struct str entity_line(struct change *c, const struct entity *e)
{
    auto_buf b = BUF(MEMORY_FILE_MAX);

    entity_put_line(&b, e);
    return keep_line(c, &b);
}

static struct str relation_line(struct change *c, const struct relation *r)
{
    auto_buf b = BUF(MEMORY_FILE_MAX);

    relation_put_line(&b, r);
    return keep_line(c, &b);
}

const struct entity *change_add_entity(struct change *c, struct str name, struct str type,
                                       struct strings obs)
{
    struct arena *a = &c->g->arena;
    struct entity *e;

    if (change_find(c, name))
        return NULL;
    e = ARENA_NEW(a, struct entity);
    *e = (struct entity){ .name = arena_str(a, name),
                          .type = arena_str(a, type),
                          .obs = copy_behind(a, (struct strings){ 0 }, obs),
                          .nobs = obs.n,
                          .hash = str_hash(name) };
    e->line = entity_line(c, e);
    index_put(&c->new_names, e->hash, e);
    VEC_PUSH(&c->new_entities) = e;
    return e;
}

static bool is_new_triple(const struct change *c, uint64_t hash, const struct triple *t)
{
    size_t at = INDEX_FIRST;
    struct relation *r;

    while ((r = index_next(&c->new_triples, hash, &at)))
        if (relation_is(r, t->from, t->to, t->type))
            return false;
    return !graph_relation(c->g, hash, t->from, t->to, t->type);
}

const struct relation *change_add_relation(struct change *c, const struct triple *t)
{
    struct arena *a = &c->g->arena;
    uint64_t from = str_hash(t->from), to = str_hash(t->to);
    uint64_t hash = graph_triple_hash(from, to, t->type);
    struct relation *r;

    if (!is_new_triple(c, hash, t))
        return NULL;
    r = ARENA_NEW(a, struct relation);
    *r = (struct relation){ .from = arena_str(a, t->from),
                            .to = arena_str(a, t->to),
                            .type = arena_str(a, t->type),
                            .from_hash = from,
                            .to_hash = to };
    r->line = relation_line(c, r);
    index_put(&c->new_triples, hash, r);
    VEC_PUSH(&c->new_relations) = r;
    return r;
}

void change_set_observations(struct change *c, const struct entity *e, struct strings kept,
                             struct strings added)
{
    struct arena *a = &c->g->arena;
    struct entity *stored = graph_entity(c->g, e->hash, e->name);
    struct entity *now = ARENA_NEW(a, struct entity);

    *now = *stored;
    now->obs = copy_behind(a, kept, added);
    now->nobs = kept.n + added.n;
    now->line = entity_line(c, now);
    stored->edit = now;
    VEC_PUSH(&c->edited) = stored;
}

/* ---- deletions ---- */

static void doom(struct change *c, bool *flag)
{
    if (*flag)
        return;
    *flag = true;
    VEC_PUSH(&c->doomed) = flag;
}

void change_delete_entities(struct change *c, struct strings names)
{
    struct graph *g = c->g;
    struct index set = { 0 };

    for (size_t i = 0; i < names.n; i++) {
        uint64_t hash = str_hash(names.v[i]);
        struct entity *e = graph_entity(g, hash, names.v[i]);

        if (e)
            doom(c, &e->doomed);
        if (!index_find_str(&set, hash, names.v[i]))
            index_put(&set, hash, &names.v[i]);
    }
    for (size_t i = 0; i < g->relations.n; i++) {
        struct relation *r = g->relations.v[i];

        if (index_find_str(&set, r->from_hash, r->from) ||
            index_find_str(&set, r->to_hash, r->to))
            doom(c, &r->doomed);
    }
    for (size_t i = 0; i < g->kept.n; i++)
        if (g->kept.v[i].name.p && index_find_str(&set, g->kept.v[i].hash, g->kept.v[i].name))
            doom(c, &g->kept.v[i].doomed);
    index_free(&set);
}

/* The indexed ones are doomed; what repeats them goes with them. */
static void doom_repeats(struct change *c)
{
    struct graph *g = c->g;

    for (size_t i = 0; i < g->relations.n; i++) {
        struct relation *r = g->relations.v[i];
        uint64_t hash;

        if (!r->repeated)
            continue;
        hash = graph_triple_hash(r->from_hash, r->to_hash, r->type);
        if (graph_relation(g, hash, r->from, r->to, r->type)->doomed)
            doom(c, &r->doomed);
    }
}

void change_delete_relations(struct change *c, const struct triple *v, size_t n)
{
    bool repeats = false;

    for (size_t i = 0; i < n; i++) {
        uint64_t hash = graph_triple_hash(str_hash(v[i].from), str_hash(v[i].to), v[i].type);
        struct relation *r = graph_relation(c->g, hash, v[i].from, v[i].to, v[i].type);

        if (!r)
            continue;
        doom(c, &r->doomed);
        repeats |= r->has_repeats;
    }
    if (repeats)
        doom_repeats(c);
}

bool change_is_empty(const struct change *c)
{
    return !c->new_entities.n && !c->new_relations.n && !c->edited.n && !c->doomed.n;
}

bool change_fits(const struct change *c, struct error *e)
{
    if (c->longest <= MEMORY_LINE_MAX)
        return true;
    return error_set(e, ERR_LIMIT,
                     "an entity or relation would take %zu bytes in the file, at most %zu are "
                     "allowed: nothing was saved",
                     c->longest, MEMORY_LINE_MAX);
}

/* ---- the new file ---- */

/* Lines that stand behind one another in memory go out as one piece. */
struct run {
    piece_fn fn;
    void *ctx;
    struct str piece; /* its last line without the newline */
};

static bool flush(struct run *r)
{
    bool ok = !r->piece.p || (r->fn(r->ctx, r->piece) && r->fn(r->ctx, STR("\n")));

    r->piece = (struct str){ 0 };
    return ok;
}

static bool put(struct run *r, struct str line)
{
    if (r->piece.p && line.p == r->piece.p + r->piece.n + 1 && line.p[-1] == '\n') {
        r->piece.n += 1 + line.n;
        return true;
    }
    if (!flush(r))
        return false;
    r->piece = line;
    return true;
}

bool change_walk(const struct change *c, piece_fn fn, void *ctx)
{
    const struct graph *g = c->g;
    struct run r = { .fn = fn, .ctx = ctx };
    bool ok = true;

    for (size_t i = 0; ok && i < g->entities.n; i++) {
        const struct entity *e = g->entities.v[i];

        if (!e->doomed)
            ok = put(&r, e->edit ? e->edit->line : e->line);
    }
    for (size_t i = 0; ok && i < c->new_entities.n; i++)
        ok = put(&r, c->new_entities.v[i]->line);
    for (size_t i = 0; ok && i < g->relations.n; i++)
        if (!g->relations.v[i]->doomed)
            ok = put(&r, g->relations.v[i]->line);
    for (size_t i = 0; ok && i < c->new_relations.n; i++)
        ok = put(&r, c->new_relations.v[i]->line);
    for (size_t i = 0; ok && i < g->kept.n; i++)
        if (!g->kept.v[i].doomed)
            ok = put(&r, g->kept.v[i].line);
    return ok && flush(&r);
}

static bool match(void *ctx, struct str piece)
{
    struct str *rest = ctx;

    if (!str_starts(*rest, piece))
        return false;
    *rest = str_from(*rest, piece.n);
    return true;
}

bool graph_is_text(struct graph *g, struct str text)
{
    struct change none = { .g = g };

    return !g->bad.n && change_walk(&none, match, &text) && text.n == 0;
}

/* ---- the end ---- */

static void forget(struct change *c)
{
    free(c->new_entities.v);
    free(c->new_relations.v);
    free(c->edited.v);
    free(c->doomed.v);
    index_free(&c->new_names);
    index_free(&c->new_triples);
    *c = (struct change){ 0 };
}

void change_drop(struct change *c)
{
    if (!c->g)
        return;
    for (size_t i = 0; i < c->edited.n; i++)
        c->edited.v[i]->edit = NULL;
    for (size_t i = 0; i < c->doomed.n; i++)
        *c->doomed.v[i] = false;
    c->g->waste += c->g->arena.used - c->arena_before;
    forget(c);
}

static void lose(struct graph *g, size_t line)
{
    g->live -= line;
    g->waste += line;
}

static void remove_entities(struct graph *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->entities.n; i++) {
        struct entity *e = g->entities.v[i];

        if (e->doomed) {
            index_del(&g->by_name, e->hash, e);
            lose(g, e->line.n);
        } else {
            g->entities.v[n++] = e;
        }
    }
    g->entities.n = n;
}

static void remove_relations(struct graph *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->relations.n; i++) {
        struct relation *r = g->relations.v[i];

        if (r->doomed) {
            if (!r->repeated)
                index_del(&g->by_triple, graph_triple_hash(r->from_hash, r->to_hash, r->type),
                          r);
            lose(g, r->line.n);
        } else {
            g->relations.v[n++] = r;
        }
    }
    g->relations.n = n;
}

static void remove_kept(struct graph *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->kept.n; i++)
        if (!g->kept.v[i].doomed)
            g->kept.v[n++] = g->kept.v[i];
    g->kept.n = n;
}

void change_apply(struct change *c)
{
    struct graph *g = c->g;

    for (size_t i = 0; i < c->edited.n; i++) {
        struct entity *e = c->edited.v[i];
        bool doomed = e->doomed;

        lose(g, e->line.n);
        g->waste += e->nobs * sizeof *e->obs;
        *e = *e->edit;
        e->edit = NULL;
        e->doomed = doomed;
        g->live += e->line.n;
    }
    if (c->doomed.n) {
        remove_entities(g);
        remove_relations(g);
        remove_kept(g);
    }
    for (size_t i = 0; i < c->new_entities.n; i++)
        graph_add_entity(g, c->new_entities.v[i]);
    for (size_t i = 0; i < c->new_relations.n; i++)
        graph_add_relation(g, c->new_relations.v[i]);
    g->bad.n = 0; /* the file was written without them */
    forget(c);
}
