/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/gateway.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/timer.h"
#include "pm/resolving.h"

#define REAP_MS  400  /* beyond a ladder's kill: what it killed is reaped in no time */
#define SWEEP_MS 1000 /* how often it is looked whether a former sandbox is idle */

/* A request that waits for a resolution. */
struct waiter {
    struct waiter *next;
    uint64_t handle;
    gateway_fn fn;
    void *ctx;
};

/* The sandbox of one set of limits. A change of configuration makes a new one; the old one goes
 * with its last script. */
struct box {
    struct sandbox *sandbox;
    struct sandbox_limits limits;
};

struct gateway {
    struct gateway_opts o;
    struct backend_env env;
    struct catalog *catalog;
    struct config defaults; /* before the first resolution */
    struct arena arena;
    char *start_dir;
    bool provisional;            /* the catalog stands for a resolution that failed */
    bool moved;                  /* or is of a former start_dir */
    struct resolving *resolving; /* a resolution is under way */
    int64_t began_ms;            /* since then */
    struct pm_set *pms;          /* one process a package manager, over all refreshes (PM-9) */
    struct waiter *waiters;
    uint64_t last_handle;
    struct timer *late;   /* GATEWAY_RESOLVE_MS after began_ms */
    struct timer *ending; /* looks whether the shutdown is over */
    struct box box;
    struct {
        struct sandbox **v;
        size_t n, cap;
    } old_boxes; /* of former limits, while they have scripts */
    struct timer *sweep;
    struct results results;
    bool prewarmed;
    void (*shut_done)(void *ctx);
    void *shut_ctx;
    int64_t shut_until_ms;
};

/* ---- the inventory ---- */

static const struct mcp_config *mcp_config(const struct gateway *g)
{
    return &gateway_config(g)->mcp;
}

const struct config *gateway_config(const struct gateway *g)
{
    return g->catalog ? &g->catalog->res->config : &g->defaults;
}

struct catalog *gateway_catalog(const struct gateway *g)
{
    return g->catalog;
}

static void flush_waiters(struct gateway *g)
{
    struct catalog *c = catalog_ref(g->catalog);

    timer_clear(g->late);
    for (uint64_t upto = g->last_handle; g->waiters && g->waiters->handle <= upto;) {
        struct waiter w = *g->waiters;

        free(g->waiters);
        g->waiters = w.next;
        w.fn(w.ctx, c);
    }
    catalog_unref(c);
}

static struct sandbox_limits limits_of(const struct mcp_config *c)
{
    return (struct sandbox_limits){
        .timeout_ms = c->script_timeout_secs * 1000,
        .memory_bytes = (size_t)c->script_memory_limit_mb << 20,
        .stack_bytes = (size_t)c->script_stack_limit_kb << 10,
        .console_bytes = (size_t)c->max_console_bytes,
        .result_bytes = (size_t)c->max_result_bytes,
        .max_calls = (unsigned)c->max_tool_calls,
    };
}

static bool same_limits(const struct sandbox_limits *x, const struct sandbox_limits *y)
{
    return x->timeout_ms == y->timeout_ms && x->memory_bytes == y->memory_bytes &&
           x->stack_bytes == y->stack_bytes && x->console_bytes == y->console_bytes &&
           x->result_bytes == y->result_bytes && x->max_calls == y->max_calls;
}

static void on_sweep(void *ctx)
{
    struct gateway *g = ctx;
    size_t kept = 0;

    for (size_t i = 0; i < g->old_boxes.n; i++) {
        if (sandbox_idle(g->old_boxes.v[i]))
            sandbox_free(g->old_boxes.v[i]);
        else
            g->old_boxes.v[kept++] = g->old_boxes.v[i];
    }
    g->old_boxes.n = kept;
    if (kept)
        timer_set(g->sweep, SWEEP_MS);
}

static void apply_limits(struct gateway *g)
{
    struct sandbox_limits limits = limits_of(mcp_config(g));

    if (g->box.sandbox && same_limits(&limits, &g->box.limits))
        return;
    if (g->box.sandbox) {
        VEC_PUSH(&g->old_boxes) = g->box.sandbox;
        on_sweep(g);
    }
    g->box.limits = limits;
    g->box.sandbox = sandbox_new(g->o.loop, &limits);
    if (g->prewarmed)
        sandbox_prewarm(g->box.sandbox);
}

static void apply_config(struct gateway *g, const struct mcp_config *c)
{
    int grace = c->shutdown_grace_secs * 1000;

    g->env.max_restarts = c->max_server_restarts;
    g->env.stable_reset_ms = c->restart_stable_reset_secs * 1000;
    g->env.ladder = (struct child_ladder){ grace * 6 / 10, grace * 9 / 10 };
    g->env.read_only = c->read_only;
}

/* Puts the resolution in force (taken). */
static void swap(struct gateway *g, struct resolution *res)
{
    struct catalog *old = g->catalog;

    apply_config(g, &res->config.mcp);
    g->provisional = false;
    g->catalog = catalog_new(&g->env, res, old);
    catalog_unref(old);
    apply_limits(g);
    if (g->o.on_inventory)
        g->o.on_inventory(g->o.ctx);
    flush_waiters(g);
}

/* An inventory without servers that says why. */
static struct resolution *empty_resolution(struct gateway *g, const char *problem)
{
    struct resolution *res = NEW(struct resolution);

    config_load(&res->config, g->o.dirs, &res->arena);
    ARENA_PUSH(&res->arena, &res->problems) = arena_str(&res->arena, str_of(problem));
    return res;
}

static void on_resolved(void *ctx, struct resolution *res)
{
    struct gateway *g = ctx;

    g->resolving = NULL;
    swap(g, res);
}

static void begin(struct gateway *g)
{
    struct resolving_opts o = { .dirs = g->o.dirs,
                                .start_dir = g->start_dir,
                                .level = g->catalog ? UPDATE_NONE : g->o.level,
                                .pms = g->pms };
    struct error e;

    g->moved = false;
    g->resolving = resolving_begin(g->o.loop, &o, on_resolved, g, &e);
    g->began_ms = clock_ms();
    if (g->resolving)
        return;
    swap(g, empty_resolution(g, e.msg));
    g->provisional = true;
}

/* The last known inventory stays in force a little longer, and says so. */
static void note_late(struct gateway *g)
{
    static const char text[] =
        "workspace: still being resolved after 5 s; this is the last known inventory";
    struct catalog *c = g->catalog;

    if (!c) {
        g->catalog = catalog_new(&g->env, empty_resolution(g, text), NULL);
        apply_limits(g);
        if (g->o.on_inventory)
            g->o.on_inventory(g->o.ctx);
    } else if (!c->problems.n || !str_is(c->problems.v[c->problems.n - 1], text)) {
        ARENA_PUSH(&c->res->arena, &c->problems) = str_of(text);
    }
}

static void on_late(void *ctx)
{
    struct gateway *g = ctx;

    note_late(g);
    flush_waiters(g);
}

static bool is_fresh(const struct gateway *g)
{
    return g->catalog && !g->provisional && !g->moved &&
           (!gateway_config(g)->auto_sync || !resolution_stale(g->catalog->res));
}

static struct waiter *add_waiter(struct gateway *g, gateway_fn fn, void *ctx)
{
    struct waiter *w = NEW(struct waiter), **at = &g->waiters;

    *w = (struct waiter){ NULL, ++g->last_handle, fn, ctx };
    while (*at)
        at = &(*at)->next;
    *at = w;
    return w;
}

uint64_t gateway_current(struct gateway *g, gateway_fn fn, void *ctx)
{
    uint64_t handle;
    int64_t left;

    if (!g->resolving && is_fresh(g)) {
        fn(ctx, g->catalog);
        return 0;
    }
    handle = add_waiter(g, fn, ctx)->handle;
    if (!g->resolving)
        begin(g);
    if (!g->resolving)
        return 0; /* could not even begin: all waiters have been called */
    left = g->began_ms + GATEWAY_RESOLVE_MS - clock_ms();
    if (left <= 0) {
        on_late(g);
        return 0;
    }
    if (!timer_is_set(g->late))
        timer_set(g->late, (int)left);
    return handle;
}

void gateway_move(struct gateway *g, const char *start_dir)
{
    bool known = g->catalog || g->resolving;

    if (!strcmp(start_dir, g->start_dir))
        return;
    resolving_cancel(take_ptr(&g->resolving));
    free(g->start_dir);
    g->start_dir = mem_strdup(start_dir);
    g->moved = true;
    if (known)
        begin(g);
}

void gateway_forget(struct gateway *g, uint64_t handle)
{
    for (struct waiter **at = &g->waiters; *at; at = &(*at)->next) {
        if ((*at)->handle == handle) {
            struct waiter *w = *at;

            *at = w->next;
            free(w);
            break;
        }
    }
    if (!g->waiters)
        timer_clear(g->late);
}

/* ---- scripts ---- */

void gateway_prewarm(struct gateway *g)
{
    g->prewarmed = true;
    if (!g->box.sandbox)
        apply_limits(g);
    sandbox_prewarm(g->box.sandbox);
}

struct execution *gateway_execute(struct gateway *g, struct catalog *c, struct str source,
                                  const struct execution_ops *ops, void *ctx)
{
    struct execution_opts o = { g->box.sandbox, g->box.limits, &g->results };

    return execute_run(c, &o, source, ops, ctx);
}

struct str gateway_result(const struct gateway *g, struct str uri)
{
    return results_get(&g->results, uri);
}

/* ---- life ---- */

/* Whatever may have been the last of a shutdown is looked at in a turn of its own. */
static void look_soon(void *ctx)
{
    struct gateway *g = ctx;

    if (g->shut_done)
        timer_set(g->ending, 0);
}

static void on_backend_change(void *ctx)
{
    struct gateway *g = ctx;

    look_soon(g);
    if (g->o.on_server_change)
        g->o.on_server_change(g->o.ctx);
}

static void look_at_end(void *ctx)
{
    struct gateway *g = ctx;
    void (*done)(void *) = g->shut_done;
    int64_t left = g->shut_until_ms - clock_ms();

    if ((backends_running(&g->env) || child_lingering(g->o.loop)) && left > 0) {
        timer_set(g->ending, (int)left);
        return;
    }
    g->shut_done = NULL;
    child_on_gone(g->o.loop, NULL, NULL);
    if (done)
        done(g->shut_ctx);
}

struct gateway *gateway_new(const struct gateway_opts *o)
{
    struct gateway *g = NEW(struct gateway);

    g->o = *o;
    g->start_dir = mem_strdup(o->start_dir);
    config_load(&g->defaults, o->dirs, &g->arena);
    g->pms = pm_set_new(o->loop);
    if (o->level == UPDATE_NONE)
        pm_set_offline(g->pms); /* a start makes no connection (MS-2) */
    g->env = (struct backend_env){
        .loop = o->loop, .cache_dir = o->dirs->cache, .on_change = on_backend_change, .ctx = g
    };
    apply_config(g, &g->defaults.mcp);
    g->late = timer_new(o->loop, on_late, g);
    g->ending = timer_new(o->loop, look_at_end, g);
    g->sweep = timer_new(o->loop, on_sweep, g);
    timer_background(g->sweep);
    return g;
}

struct child_ladder gateway_ladder(const struct gateway *g, bool at_once)
{
    return at_once ? (struct child_ladder){ 0, 1000 } : g->env.ladder;
}

void gateway_shutdown(struct gateway *g, struct child_ladder ladder, void (*done)(void *ctx),
                      void *ctx)
{
    int grace = mcp_config(g)->shutdown_grace_secs * 1000, at_most;

    backends_shutdown(&g->env, ladder);
    g->shut_done = done;
    g->shut_ctx = ctx;
    /* In an orderly end all of the grace is room for that (MS-58). */
    at_most = ladder.term_ms && ladder.kill_ms < grace ? grace : ladder.kill_ms + REAP_MS;
    g->shut_until_ms = clock_ms() + at_most;
    child_on_gone(g->o.loop, look_soon, g);
    look_at_end(g);
}

void gateway_free(struct gateway *g)
{
    if (!g)
        return;
    if (g->shut_done)
        child_on_gone(g->o.loop, NULL, NULL);
    resolving_cancel(g->resolving);
    pm_set_free(g->pms);
    while (g->waiters)
        gateway_forget(g, g->waiters->handle);
    sandbox_free(g->box.sandbox);
    for (size_t i = 0; i < g->old_boxes.n; i++)
        sandbox_free(g->old_boxes.v[i]);
    free(g->old_boxes.v);
    catalog_unref(g->catalog);
    backends_free(&g->env);
    results_free(&g->results);
    free(g->start_dir);
    timer_free(g->late);
    timer_free(g->ending);
    timer_free(g->sweep);
    arena_free(&g->arena);
    free(g);
}
