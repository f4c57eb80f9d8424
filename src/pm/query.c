/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/query.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "loop/timer.h"
#include "plugins/offer.h"
#include "pm/locate.h"
#include "pm/wire.h"

#define MAX_PARAMS (64 * 1024)

struct kind;

struct ask {
    struct pm_query *q;
    const struct pm_program *program;
    struct pm_process *process; /* while it is being asked */
    bool answered;
    struct { /* whichever the kind collects */
        struct query_hit *v;
        size_t n, cap;
    } hits;
    struct fetched_package *package;
    struct str problem; /* empty: none */
    bool nothing;       /* the problem is that it knows nothing of it */
    bool foreign;       /* nothing in the workspace speaks of it */
};

/* What the three questions differ in. */
struct kind {
    const char *method;
    void (*put_params)(const struct ask *a, struct jw *w);
    void (*take)(struct ask *a, yyjson_val *result);
    void (*report)(struct pm_query *q);
    int timeout_ms;
};

struct pm_query {
    struct loop *loop;
    const struct kind *kind;
    struct arena arena;
    const char *root, *cache_dir;
    struct str words;     /* search */
    struct package_id id; /* fetch */
    enum update_level level;
    bool force; /* refresh */
    struct pm_programs programs;
    struct ask *asks; /* one a program */
    size_t waiting;
    struct pm_set *own;
    struct timer *timer;
    struct strs problems;
    union {
        void (*search)(void *ctx, const struct query_found *found);
        void (*fetch)(void *ctx, const struct fetched *found);
        void (*refresh)(void *ctx, const struct strs *problems);
    } done;
    void *ctx;
};

static void set_problem(struct ask *a, const char *what)
{
    a->problem = str_of(arena_printf(&a->q->arena, "package manager '%s': %s: %s",
                                     a->program->name, a->q->kind->method, what));
}

/* ---- search ---- */

static void put_words(const struct ask *a, struct jw *w)
{
    jw_kstr(w, "query", a->q->words);
}

static struct str clean(struct arena *a, struct str text, size_t max)
{
    auto_buf b = BUF(4 * max + 1);

    utf8_put_clean(&b, utf8_cut(text, max));
    return arena_str(a, buf_str(&b));
}

static void take_hits(struct ask *a, yyjson_val *result)
{
    struct arena *mem = &a->q->arena;
    yyjson_val *list = wire_list(result, "plugins");

    if (!list)
        set_problem(a, "the answer is no list");
    for (struct json_iter it = json_iter(list); json_next(&it);) {
        struct package_id id;

        if (a->hits.n == QUERY_MAX_HITS)
            break;
        if (!wire_id(json_get(it.val, "id"), a->program->name, &id)) {
            set_problem(a, "malformed ids dropped");
            continue;
        }
        ARENA_PUSH(mem, &a->hits) =
            (struct query_hit){ .id = { str_of(a->program->name), arena_str(mem, id.name),
                                        arena_str(mem, id.version) },
                                .description =
                                    clean(mem, json_str(json_get(it.val, "description")),
                                          QUERY_MAX_DESCRIPTION) };
    }
}

static void report_hits(struct pm_query *q)
{
    struct {
        struct query_hit *v;
        size_t n, cap;
    } all = { 0 };

    for (size_t i = 0; i < q->programs.n; i++)
        for (size_t k = 0; k < q->asks[i].hits.n; k++)
            ARENA_PUSH(&q->arena, &all) = q->asks[i].hits.v[k];
    q->done.search(q->ctx, &(struct query_found){ .v = all.v,
                                                  .n = all.n,
                                                  .problems = q->problems.v,
                                                  .nproblems = q->problems.n });
}

static const struct kind search = { "search", put_words, take_hits, report_hits,
                                    QUERY_SEARCH_MS };

/* ---- fetch ---- */

/* Each is asked for its own. */
static void put_id(const struct ask *a, struct jw *w)
{
    struct package_id id = a->q->id;

    id.pm = str_of(a->program->name);
    jw_key(w, "id");
    wire_put_id(w, &id);
    jw_kstrz(w, "update", update_level_name(a->q->level));
}

static void take_package(struct ask *a, yyjson_val *result)
{
    struct arena *mem = &a->q->arena;
    struct package_offer o = { .root = json_str(json_get(result, "root")) };
    struct error why = { 0 };
    const char *root = NULL;

    if (!wire_id(json_get(result, "id"), a->program->name, &o.id) ||
        !wire_is_exact(o.id.version))
        error_set(&why, ERR_PROTOCOL, "the answer has no id with an exact version");
    else if (offer_answers(&o, &a->q->id, &why))
        root = offer_root(mem, o.root, &why);
    if (!root) {
        set_problem(a, why.msg);
        return;
    }
    a->package = ARENA_NEW(mem, struct fetched_package);
    *a->package =
        (struct fetched_package){ .id = { str_of(a->program->name), arena_str(mem, o.id.name),
                                          arena_str(mem, o.id.version) },
                                  .root = root };
}

static void report_packages(struct pm_query *q)
{
    struct {
        struct fetched_package *v;
        size_t n, cap;
    } all = { 0 };

    for (size_t i = 0; i < q->programs.n; i++)
        if (q->asks[i].package)
            ARENA_PUSH(&q->arena, &all) = *q->asks[i].package;
    q->done.fetch(q->ctx, &(struct fetched){ .v = all.v,
                                             .n = all.n,
                                             .problems = q->problems.v,
                                             .nproblems = q->problems.n });
}

static const struct kind fetch = { "fetch", put_id, take_package, report_packages,
                                   QUERY_FETCH_MS };

/* ---- refresh ---- */

static void put_force(const struct ask *a, struct jw *w)
{
    jw_kstrz(w, "update", update_level_name(a->q->level));
    jw_kbool(w, "force", a->q->force);
}

static void take_refreshed(struct ask *a, yyjson_val *result)
{
    if (!json_is_obj(result))
        set_problem(a, "the answer is no object");
}

static void report_refreshed(struct pm_query *q)
{
    q->done.refresh(q->ctx, &q->problems);
}

static const struct kind refresh = { "refresh", put_force, take_refreshed, report_refreshed,
                                     PM_TIMEOUT_MS };

/* ---- all ---- */

static void free_query(struct pm_query *q)
{
    pm_set_free(q->own);
    timer_free(q->timer);
    arena_free(&q->arena);
    free(q);
}

/* That one knows nothing of it matters when nobody does; of refreshing, never. */
static void collect_problems(struct pm_query *q)
{
    bool found = q->kind == &refresh;

    for (size_t i = 0; i < q->programs.n; i++)
        found |= q->asks[i].package != NULL || q->asks[i].hits.n;
    for (size_t i = 0; i < q->programs.n; i++)
        if (q->asks[i].problem.n && !(q->asks[i].nothing && found))
            ARENA_PUSH(&q->arena, &q->problems) = q->asks[i].problem;
}

static void conclude(void *ctx)
{
    struct pm_query *q = ctx;

    collect_problems(q);
    q->kind->report(q);
    free_query(q);
}

static void all_answered(struct pm_query *q)
{
    if (q->own)
        pm_set_close(q->own, conclude, q);
    else
        timer_set(q->timer, 0);
}

static void on_answer(void *ctx, yyjson_val *result, const struct error *why)
{
    struct ask *a = ctx;

    a->process = NULL;
    if (result) {
        a->q->kind->take(a, result);
    } else {
        a->nothing = why->kind == ERR_NOT_FOUND || (a->foreign && pm_is_missing(why));
        a->problem = arena_str(&a->q->arena, str_of(why->msg));
    }
    if (--a->q->waiting == 0)
        all_answered(a->q);
}

static struct pm_query *new_query(struct loop *l, const struct query_opts *o,
                                  const struct kind *kind, void *ctx)
{
    struct pm_query *q = NEW(struct pm_query);
    struct workspace any = *o->workspace;

    *q = (struct pm_query){ .loop = l, .kind = kind, .ctx = ctx };
    q->timer = timer_new(l, conclude, q);
    q->root = arena_z(&q->arena, o->workspace->root);
    q->cache_dir = arena_z(&q->arena, str_of(o->dirs->cache));
    if (o->everywhere)
        any.cargo = any.npm = true;
    pm_locate(&q->programs, &q->arena, o->dirs, o->config, &any);
    q->asks = ARENA_ARRAY(&q->arena, struct ask, q->programs.n);
    return q;
}

static void ask_one(struct ask *a, const struct query_opts *o)
{
    struct pm_query *q = a->q;
    auto_buf params = BUF(MAX_PARAMS);
    struct jw w = jw_to(&params);

    if (!a->program->argv) {
        a->problem = a->program->problem;
        return;
    }
    jw_obj(&w);
    q->kind->put_params(a, &w);
    jw_end(&w);
    a->process = pm_set_open(q->own ? q->own : o->pms, a->program, q->root, q->cache_dir);
    q->waiting++;
    pm_process_call(a->process, q->kind->method, buf_str(&params),
                    o->timeout_ms ? o->timeout_ms : q->kind->timeout_ms, on_answer, a);
}

/* All of them, or the one that the id names. */
static void ask(struct pm_query *q, const struct query_opts *o)
{
    struct str only = q->id.pm;
    bool known = !only.n;

    if (!o->pms)
        q->own = pm_set_new(q->loop);
    for (size_t i = 0; i < q->programs.n; i++) {
        q->asks[i] = (struct ask){ .q = q,
                                   .program = &q->programs.v[i],
                                   .foreign = !pm_concerns(str_of(q->programs.v[i].name),
                                                           o->workspace) };
        if (only.n && !str_is(only, q->programs.v[i].name))
            continue;
        known = true;
        ask_one(&q->asks[i], o);
    }
    if (!known)
        ARENA_PUSH(&q->arena, &q->problems) = str_of(arena_printf(
            &q->arena, "package manager '%.*s' is not set up", STR_F(utf8_cut(only, 64))));
    if (!q->waiting)
        all_answered(q);
}

struct pm_query *pm_search(struct loop *l, const struct query_opts *o, struct str words,
                           void (*done)(void *ctx, const struct query_found *found), void *ctx)
{
    struct pm_query *q = new_query(l, o, &search, ctx);

    q->done.search = done;
    q->words = arena_str(&q->arena, utf8_cut(words, QUERY_MAX_WORDS));
    q->id.pm = arena_str(&q->arena, o->only);
    ask(q, o);
    return q;
}

struct pm_query *pm_fetch(struct loop *l, const struct query_opts *o,
                          const struct package_id *id, enum update_level level,
                          void (*done)(void *ctx, const struct fetched *found), void *ctx)
{
    struct pm_query *q = new_query(l, o, &fetch, ctx);

    q->done.fetch = done;
    q->level = level;
    q->id = (struct package_id){ arena_str(&q->arena, id->pm), arena_str(&q->arena, id->name),
                                 arena_str(&q->arena, id->version) };
    ask(q, o);
    return q;
}

struct pm_query *pm_refresh(struct loop *l, const struct query_opts *o, enum update_level level,
                            bool force, void (*done)(void *ctx, const struct strs *problems),
                            void *ctx)
{
    struct pm_query *q = new_query(l, o, &refresh, ctx);

    q->done.refresh = done;
    q->level = level;
    q->force = force;
    ask(q, o);
    return q;
}

void pm_query_cancel(struct pm_query *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->programs.n; i++)
        if (q->asks[i].process)
            pm_process_drop(q->asks[i].process, &q->asks[i]);
    free_query(q);
}
