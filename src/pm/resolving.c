/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/resolving.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"
#include "pm/acquire_all.h"
#include "pm/query.h"

/*
 *   begin ─ acquire, refresh (check, fetch only) ─ deps ─ resolve with offers ─ processes end
 *   ─ done
 */
struct resolving {
    struct loop *loop;
    struct resolving_opts o;
    struct resolver *resolver; /* NULL once done */
    struct pm_set *own;        /* without o.pms */
    struct acquire_all *acquire;
    struct pm_query *refresh;
    struct deps_query *deps;
    struct offers *offers;
    struct resolution *res; /* finished, while our processes end */
    struct strs problems;   /* of what comes before the dependencies */
    struct arena arena;
    void (*done)(void *ctx, struct resolution *res);
    void *ctx;
};

static struct pm_set *pms(const struct resolving *r)
{
    return r->own ? r->own : r->o.pms;
}

static void conclude(void *ctx)
{
    struct resolving *r = ctx;
    struct resolution *res = r->res;
    void (*done)(void *, struct resolution *) = r->done;
    void *to = r->ctx;

    r->res = NULL;
    resolving_cancel(r);
    done(to, res);
}

static void on_resolved(void *ctx, struct resolution *res)
{
    struct resolving *r = ctx;

    r->resolver = NULL;
    r->res = res;
    offers_save(r->offers);
    for (size_t i = 0; i < r->problems.n; i++)
        ARENA_PUSH(&res->arena, &res->problems) = arena_str(&res->arena, r->problems.v[i]);
    if (r->own)
        pm_set_close(r->own, conclude, r);
    else
        conclude(r);
}

static void on_deps(void *ctx, const struct found_deps *found)
{
    struct resolving *r = ctx;

    r->deps = NULL;
    resolve_finish(r->resolver, found, on_resolved, r);
}

static void find_deps(struct resolving *r)
{
    struct deps_opts d = { .dirs = r->o.dirs,
                           .config = resolve_config(r->resolver),
                           .workspace = resolve_workspace(r->resolver),
                           .write_cache = !r->o.read_only_cache,
                           .pms = pms(r) };

    r->deps = deps_find(r->loop, &d, on_deps, r);
}

static void add_problems(struct resolving *r, const struct strs *problems)
{
    for (size_t i = 0; i < problems->n; i++)
        ARENA_PUSH(&r->arena, &r->problems) = arena_str(&r->arena, problems->v[i]);
}

static void on_refreshed(void *ctx, const struct strs *problems)
{
    struct resolving *r = ctx;

    r->refresh = NULL;
    add_problems(r, problems);
    find_deps(r);
}

static void refresh(struct resolving *r)
{
    struct query_opts q = { .dirs = r->o.dirs,
                            .config = resolve_config(r->resolver),
                            .workspace = resolve_workspace(r->resolver),
                            .timeout_ms = r->o.timeout_ms,
                            .pms = pms(r) };

    r->refresh =
        pm_refresh(r->loop, &q, r->o.level, r->o.level == UPDATE_FETCH, on_refreshed, r);
}

/* Behind the acquisition: which programs there are is looked up once. */
static void begin_packages(struct resolving *r)
{
    struct offers_opts oo = { .dirs = r->o.dirs,
                              .config = resolve_config(r->resolver),
                              .workspace = resolve_workspace(r->resolver),
                              .write_cache = !r->o.read_only_cache,
                              .level = r->o.level,
                              .missing = r->o.missing,
                              .timeout_ms = r->o.timeout_ms,
                              .pms = pms(r) };

    r->offers = offers_new(r->loop, &oo);
    resolve_packages(r->resolver, offers_source(r->offers));
    if (r->o.level == UPDATE_NONE)
        find_deps(r);
    else
        refresh(r);
}

static void on_acquired(void *ctx, const struct strs *problems)
{
    struct resolving *r = ctx;

    r->acquire = NULL;
    add_problems(r, problems);
    begin_packages(r);
}

static void acquire(struct resolving *r)
{
    static const struct acquire_all_ops ops = { .done = on_acquired };
    struct acquire_all_opts o = { .cache_dir = r->o.dirs->cache, .level = r->o.level };

    r->acquire = acquire_package_managers(r->loop, &o, r->o.dirs, resolve_config(r->resolver),
                                          resolve_workspace(r->resolver), &ops, r);
}

struct resolving *resolving_begin(struct loop *l, const struct resolving_opts *o,
                                  void (*done)(void *ctx, struct resolution *res), void *ctx,
                                  struct error *e)
{
    struct resolve_opts ro = { .dirs = o->dirs,
                               .start_dir = o->start_dir,
                               .shell_timeout_ms = o->shell_timeout_ms,
                               .read_only_cache = o->read_only_cache,
                               .plugins_only = o->plugins_only };
    struct resolver *resolver = resolve_begin(l, &ro, e);
    struct resolving *r;

    if (!resolver)
        return NULL;
    r = NEW(struct resolving);
    *r = (struct resolving){
        .loop = l, .o = *o, .resolver = resolver, .done = done, .ctx = ctx
    };
    if (!o->pms)
        r->own = pm_set_new(l);
    if (r->own && o->level == UPDATE_NONE && !o->missing)
        pm_set_offline(r->own);
    if (o->level == UPDATE_NONE)
        begin_packages(r);
    else
        acquire(r);
    return r;
}

const struct config *resolving_config(const struct resolving *r)
{
    return r->resolver ? resolve_config(r->resolver) : &r->res->config;
}

const struct workspace *resolving_workspace(const struct resolving *r)
{
    return r->resolver ? resolve_workspace(r->resolver) : &r->res->workspace;
}

void resolving_cancel(struct resolving *r)
{
    if (!r)
        return;
    acquire_all_cancel(r->acquire);
    pm_query_cancel(r->refresh);
    deps_cancel(r->deps);
    resolve_cancel(r->resolver);
    resolution_free(r->res);
    offers_free(r->offers);
    pm_set_free(r->own);
    arena_free(&r->arena);
    free(r);
}
