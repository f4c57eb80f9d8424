/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/resolve.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/path.h"
#include "plugins/enablement.h"
#include "plugins/predicate_eval.h"
#include "plugins/registry.h"
#include "plugins/server.h"

/* Problem lines stand under every reply; the rest is in the states of the plugins. */
#define MAX_FAILURE_LINES 10

/*
 *   resolve_finish ─ load ─ decide ─> gates of plugins ─> gates of servers ─> servers ─ done
 *                                     that are enabled    of those that hold
 *
 * Two batches, so that no program runs for the server of a plugin that does not apply.
 */
struct resolver {
    struct loop *loop;
    struct resolution *res; /* what grows; NULL once handed over */
    struct dirs dirs;
    struct watch_list watch;
    struct loaded loaded;
    struct trust trust;
    struct {
        struct custom_def *v;
        size_t n, cap;
    } customs;
    struct {
        struct gate_job *v;
        size_t n, cap;
    } jobs;
    struct eval_world world;
    struct evaluator *eval;
    void (*done)(void *ctx, struct resolution *res);
    void *ctx;
};

const char *plugin_state_name(enum plugin_state s)
{
    static const char *const names[] = {
        [PLUGIN_ACTIVE] = "active",       [PLUGIN_DORMANT] = "dormant",
        [PLUGIN_CANDIDATE] = "candidate", [PLUGIN_DECLINED] = "declined",
        [PLUGIN_GATED] = "gated",         [PLUGIN_ERROR] = "error",
    };

    return names[s];
}

static void add_problem(struct resolver *r, struct str text)
{
    ARENA_PUSH(&r->res->arena, &r->res->problems) = arena_str(&r->res->arena, text);
}

static void add_warning(struct resolver *r, struct str text)
{
    ARENA_PUSH(&r->res->arena, &r->res->warnings) = text;
}

/* ---- begin ---- */

struct resolver *resolve_begin(struct loop *l, const struct resolve_opts *o, struct error *e)
{
    struct resolver *r = NEW(struct resolver);
    struct resolution *res = r->res = NEW(struct resolution);
    struct arena *a = &res->arena;

    r->loop = l;
    r->dirs = (struct dirs){ .config = arena_z(a, str_of(o->dirs->config)),
                             .cache = arena_z(a, str_of(o->dirs->cache)),
                             .logs = arena_z(a, str_of(o->dirs->logs)),
                             .state = arena_z(a, str_of(o->dirs->state)) };
    r->world.timeout_ms = o->shell_timeout_ms;
    r->world.write_cache = !o->read_only_cache;
    watch_add(&r->watch, a, path_join(a, r->dirs.config, "config.toml"));
    config_load(&res->config, &r->dirs, a);
    if (!workspace_find(&res->workspace, o->start_dir, a, &r->watch, e)) {
        resolve_cancel(r);
        return NULL;
    }
    return r;
}

const struct config *resolve_config(const struct resolver *r)
{
    return &r->res->config;
}

const struct workspace *resolve_workspace(const struct resolver *r)
{
    return &r->res->workspace;
}

/* ---- load and decide ---- */

static void take_deps(struct resolver *r, const struct found_deps *found)
{
    struct resolution *res = r->res;
    struct arena *a = &res->arena;

    for (size_t i = 0; i < found->n; i++)
        ARENA_PUSH(a, &res->deps) =
            (struct dep){ .pm = arena_str(a, found->v[i].pm),
                          .name = arena_str(a, found->v[i].name),
                          .version = arena_str(a, found->v[i].version) };
    for (size_t i = 0; i < found->nwatch; i++)
        watch_add(&r->watch, a, arena_z(a, found->watch[i]));
    for (size_t i = 0; i < found->nproblems; i++)
        add_problem(r, found->problems[i]);
    res->pm_degraded = found->degraded;
}

static void load(struct resolver *r)
{
    struct resolution *res = r->res;
    struct load_ctx ctx = { .a = &res->arena, .watch = &r->watch, .out = &r->loaded };

    registries_load(&ctx, &res->config, &r->dirs);
    workspace_plugins_load(&ctx, &res->workspace, res->config.agents_syncing);
    watch_add(&r->watch, &res->arena, trust_path(&r->dirs, &res->arena));
    trust_load(&r->trust, &r->dirs, &res->arena);
}

static void report_failures(struct resolver *r)
{
    const struct config *config = &r->res->config;

    for (size_t i = 0; i < r->loaded.failures.n; i++) {
        const struct load_failure *f = &r->loaded.failures.v[i];

        ARENA_PUSH(&r->res->arena, &r->res->plugins) = (struct plugin_status){
            .name = f->name, .registry = f->registry, .state = PLUGIN_ERROR, .reason = f->reason
        };
        if (i < MAX_FAILURE_LINES)
            add_problem(r, f->reason);
    }
    if (r->loaded.failures.n > MAX_FAILURE_LINES)
        add_problem(r,
                    str_of(arena_printf(&r->res->arena,
                                        "%zu more plugins did not load; see 'symposium doctor'",
                                        r->loaded.failures.n - MAX_FAILURE_LINES)));
    for (size_t i = 0; i < r->loaded.warnings.n; i++)
        add_warning(r, r->loaded.warnings.v[i]);
    for (size_t i = 0; i < config->warnings.n; i++)
        (config->malformed ? add_problem : add_warning)(r, config->warnings.v[i]);
}

/* Custom predicates of every enabled plugin: gates refer to them across plugins. */
static void take_customs(struct resolver *r, const struct plugin_status *st)
{
    const struct plugin *p = st->plugin;

    for (size_t i = 0; i < p->predicates.n; i++)
        ARENA_PUSH(&r->res->arena, &r->customs) =
            (struct custom_def){ .def = &p->predicates.v[i], .trusted = st->trusted };
}

static void decide(struct resolver *r)
{
    struct resolution *res = r->res;
    struct enable_world w = { .config = &res->config,
                              .root = res->workspace.root,
                              .trust = &r->trust };

    for (size_t i = 0; i < r->loaded.plugins.n; i++) {
        const struct plugin *p = r->loaded.plugins.v[i];
        struct plugin_status st = enablement_of(&res->arena, &w, p);

        ARENA_PUSH(&res->arena, &res->plugins) = st;
        if (st.state == PLUGIN_ACTIVE)
            take_customs(r, &st);
        else if (st.state == PLUGIN_DORMANT && p->servers.n)
            add_problem(r, dormant_problem(&res->arena, p));
    }
}

/* ---- servers ---- */

struct claims {
    struct map by_name; /* server name -> plugin that has it */
    struct map programs;
};

static void add_server(struct resolver *r, struct claims *claims,
                       const struct plugin_status *st, const struct server_def *def)
{
    struct resolution *res = r->res;
    struct server_world w = { .a = &res->arena,
                              .watch = &r->watch,
                              .root = res->workspace.root,
                              .mcp = &res->config.mcp,
                              .programs = &claims->programs };
    const struct plugin *first = map_get(&claims->by_name, def->name);
    struct active_server server;
    struct error why = { 0 };

    if (first)
        error_set(&why, ERR_INVALID,
                  "plugin '%.*s' already has a server of this name; the one of "
                  "plugin '%.*s' is left out",
                  STR_F(first->name), STR_F(st->name));
    else if (server_prepare(&w, st->plugin, def, st->trusted, &server, &why))
        ARENA_PUSH(&res->arena, &res->servers) = server;
    if (!first)
        map_put(&claims->by_name, def->name, (void *)st->plugin);
    if (why.kind != ERR_NONE)
        add_problem(r,
                    str_of(arena_printf(&res->arena, "%.*s: %s", STR_F(def->name), why.msg)));
}

static int by_name(const void *a, const void *b)
{
    const struct active_server *x = a, *y = b;

    return str_cmp(x->name, y->name);
}

static void hand_over(struct resolver *r)
{
    struct resolution *res = r->res;
    void (*done)(void *, struct resolution *) = r->done;
    void *ctx = r->ctx;
    const struct strs *warnings = evaluator_warnings(r->eval);

    for (size_t i = 0; i < warnings->n; i++)
        add_problem(r, warnings->v[i]);
    res->watch.v = r->watch.v;
    res->watch.n = r->watch.n;
    res->watch.cap = r->watch.cap;
    r->res = NULL;
    resolve_cancel(r);
    done(ctx, res);
}

static bool is_active(const struct plugin_status *st)
{
    return st->plugin && st->state == PLUGIN_ACTIVE;
}

/* Consent is what its gate waits for, so it must be asked for: nothing vanishes without a line
 * (PL-32). */
static void add_refused(struct resolver *r, const struct server_def *def)
{
    add_problem(
        r, str_of(arena_printf(&r->res->arena, "%.*s: " UNTRUSTED_REASON, STR_F(def->name))));
}

static void on_server_gates(void *ctx)
{
    struct resolver *r = ctx;
    struct resolution *res = r->res;
    struct claims claims = { 0 };
    size_t job = 0;

    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        for (size_t k = 0; is_active(st) && k < st->plugin->servers.n; k++, job++) {
            if (r->jobs.v[job].holds)
                add_server(r, &claims, st, &st->plugin->servers.v[k]);
            else if (r->jobs.v[job].refused)
                add_refused(r, &st->plugin->servers.v[k]);
        }
    }
    map_free(&claims.by_name);
    map_free(&claims.programs);
    if (res->servers.n)
        qsort(res->servers.v, res->servers.n, sizeof *res->servers.v, by_name);
    hand_over(r);
}

/* ---- gates ---- */

static void add_job(struct resolver *r, const struct gate *gate, const struct plugin_status *st)
{
    ARENA_PUSH(&r->res->arena, &r->jobs) =
        (struct gate_job){ .gate = gate, .owner = st->plugin, .may_run = st->trusted };
}

static void set_gated(struct resolver *r, struct plugin_status *st, bool refused)
{
    st->state = PLUGIN_GATED;
    st->reason =
        refused ? STR(UNTRUSTED_REASON) : STR("its depends-on or predicates do not hold here");
    for (size_t i = 0; refused && i < st->plugin->servers.n; i++)
        add_refused(r, &st->plugin->servers.v[i]);
}

static void on_plugin_gates(void *ctx)
{
    struct resolver *r = ctx;
    struct resolution *res = r->res;
    size_t job = 0;

    for (size_t i = 0; i < res->plugins.n; i++) {
        struct plugin_status *st = &res->plugins.v[i];

        if (!is_active(st))
            continue;
        if (!r->jobs.v[job].holds)
            set_gated(r, st, r->jobs.v[job].refused);
        job++;
    }
    r->jobs.n = 0;
    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        for (size_t k = 0; is_active(st) && k < st->plugin->servers.n; k++)
            add_job(r, &st->plugin->servers.v[k].gate, st);
    }
    evaluator_run(r->eval, r->jobs.v, r->jobs.n, on_server_gates, r);
}

void resolve_finish(struct resolver *r, const struct found_deps *deps,
                    void (*done)(void *ctx, struct resolution *res), void *ctx)
{
    struct resolution *res = r->res;

    r->done = done;
    r->ctx = ctx;
    take_deps(r, deps);
    load(r);
    decide(r);
    report_failures(r);
    r->world = (struct eval_world){ .root = res->workspace.root,
                                    .deps = &res->deps,
                                    .customs = r->customs.v,
                                    .ncustoms = r->customs.n,
                                    .cache_dir = r->dirs.cache,
                                    .write_cache = r->world.write_cache,
                                    .timeout_ms = r->world.timeout_ms,
                                    .watch_arena = &res->arena,
                                    .watch = &r->watch };
    r->eval = evaluator_new(r->loop, &r->world);
    for (size_t i = 0; i < res->plugins.n; i++)
        if (is_active(&res->plugins.v[i]))
            add_job(r, &res->plugins.v[i].plugin->gate, &res->plugins.v[i]);
    evaluator_run(r->eval, r->jobs.v, r->jobs.n, on_plugin_gates, r);
}

void resolve_cancel(struct resolver *r)
{
    if (!r)
        return;
    evaluator_free(r->eval);
    resolution_free(r->res);
    free(r);
}

void resolution_free(struct resolution *res)
{
    struct arena arena;

    if (!res)
        return;
    arena = res->arena;
    arena_free(&arena);
    free(res);
}

bool resolution_stale(const struct resolution *res)
{
    return watch_stale(res->watch.v, res->watch.n);
}
