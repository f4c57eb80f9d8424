/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/resolve.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/path.h"
#include "plugins/resolve_impl.h"

/* Problem lines stand under every reply; the rest is in the states of the plugins. */
#define MAX_FAILURE_LINES 10

const char *plugin_state_name(enum plugin_state s)
{
    static const char *const names[] = {
        [PLUGIN_ACTIVE] = "active",       [PLUGIN_DORMANT] = "dormant",
        [PLUGIN_CANDIDATE] = "candidate", [PLUGIN_DECLINED] = "declined",
        [PLUGIN_GATED] = "gated",         [PLUGIN_ERROR] = "error",
    };

    return names[s];
}

void add_problem(struct resolver *r, struct str text)
{
    ARENA_PUSH(&r->res->arena, &r->res->problems) = arena_str(&r->res->arena, text);
}

void add_warning(struct resolver *r, struct str text)
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
    r->plugins_only = o->plugins_only;
    if (o->packages)
        r->packages = *o->packages;
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

void resolve_packages(struct resolver *r, const struct package_source *packages)
{
    r->packages = *packages;
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

static void add_failure_row(struct resolver *r, const struct load_failure *f)
{
    ARENA_PUSH(&r->res->arena, &r->res->plugins) = (struct plugin_status){
        .name = f->name, .registry = f->registry, .state = PLUGIN_ERROR, .reason = f->reason
    };
}

static void report_failures(struct resolver *r)
{
    const struct config *config = &r->res->config;

    for (size_t i = 0; i < r->loaded.failures.n; i++) {
        add_failure_row(r, &r->loaded.failures.v[i]);
        if (i < MAX_FAILURE_LINES)
            add_problem(r, r->loaded.failures.v[i].reason);
        if (r->loaded.failures.v[i].unfetched)
            ARENA_PUSH(&r->res->arena, &r->res->remarks) = r->loaded.failures.v[i].reason;
    }
    if (r->loaded.failures.n > MAX_FAILURE_LINES)
        add_problem(r,
                    str_of(arena_printf(&r->res->arena,
                                        "%zu more plugins did not load; see 'symposium doctor'",
                                        r->loaded.failures.n - MAX_FAILURE_LINES)));
    for (size_t i = 0; i < r->quiet.n; i++) {
        add_failure_row(r, &r->quiet.v[i]);
        add_warning(r, r->quiet.v[i].reason);
    }
    for (size_t i = 0; i < r->loaded.warnings.n; i++)
        add_warning(r, r->loaded.warnings.v[i]);
    for (size_t i = 0; i < config->warnings.n; i++)
        (config->malformed ? add_problem : add_warning)(r, config->warnings.v[i]);
}

/* Gates refer to them across plugins. */
static void define_customs(struct evaluator *ev, const struct plugin_status *st)
{
    for (size_t i = 0; i < st->plugin->predicates.n; i++)
        evaluator_define(ev, &st->plugin->predicates.v[i], st->trusted);
}

void add_status(struct resolver *r, const struct plugin_status *st)
{
    ARENA_PUSH(&r->res->arena, &r->res->plugins) = *st;
    ARENA_PUSH(&r->res->arena, &r->nodes) = (struct node){ 0 };
    if (is_active(st))
        define_customs(r->eval, st);
}

void add_failed(struct resolver *r, struct str name, struct str registry, struct str reason,
                bool problem)
{
    struct load_failure f = { .name = name, .registry = registry, .reason = reason };

    if (problem)
        ARENA_PUSH(&r->res->arena, &r->loaded.failures) = f;
    else
        ARENA_PUSH(&r->res->arena, &r->quiet) = f;
}

bool is_active(const struct plugin_status *st)
{
    return st->plugin && st->state == PLUGIN_ACTIVE;
}

void decide(struct resolver *r)
{
    struct arena *a = &r->res->arena;

    r->decided = true;
    for (size_t i = 0; i < r->loaded.plugins.n; i++) {
        const struct plugin *p = r->loaded.plugins.v[i];
        struct plugin_status st = enablement_of(a, &r->enable, p);

        add_status(r, &st);
        if (st.state == PLUGIN_DORMANT && p->servers.n)
            add_problem(r, dormant_problem(a, p));
    }
    packages_decide(r);
    gates_run(r);
}

/* ---- gates of plugins ---- */

void add_job(struct resolver *r, const struct gate *gate, const struct plugin_status *st)
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

    for (; r->gated < res->plugins.n; r->gated++) {
        struct plugin_status *st = &res->plugins.v[r->gated];

        if (!is_active(st))
            continue;
        if (!r->jobs.v[job].holds)
            set_gated(r, st, r->jobs.v[job].refused);
        job++;
    }
    edges_run(r);
}

void gates_run(struct resolver *r)
{
    r->jobs.n = 0;
    for (size_t i = r->gated; i < r->res->plugins.n; i++)
        if (is_active(&r->res->plugins.v[i]))
            add_job(r, &r->res->plugins.v[i].plugin->gate, &r->res->plugins.v[i]);
    evaluator_run(r->eval, r->jobs.v, r->jobs.n, on_plugin_gates, r);
}

/* ---- the end ---- */

static void drop_gone(struct resolver *r)
{
    struct resolution *res = r->res;
    size_t kept = 0;

    for (size_t i = 0; i < res->plugins.n; i++)
        if (!r->nodes.v[i].gone)
            res->plugins.v[kept++] = res->plugins.v[i];
    res->plugins.n = kept;
}

void hand_over(struct resolver *r)
{
    struct resolution *res = r->res;
    void (*done)(void *, struct resolution *) = r->done;
    void *ctx = r->ctx;
    const struct strs *warnings = evaluator_warnings(r->eval);

    drop_gone(r);
    report_failures(r);
    for (size_t i = 0; i < warnings->n; i++)
        add_problem(r, warnings->v[i]);
    res->watch.v = r->watch.v;
    res->watch.n = r->watch.n;
    res->watch.cap = r->watch.cap;
    r->res = NULL;
    resolve_cancel(r);
    done(ctx, res);
}

void resolve_finish(struct resolver *r, const struct found_deps *deps,
                    void (*done)(void *ctx, struct resolution *res), void *ctx)
{
    struct resolution *res = r->res;

    r->done = done;
    r->ctx = ctx;
    take_deps(r, deps);
    load(r);
    r->enable = (struct enable_world){ .config = &res->config,
                                       .root = res->workspace.root,
                                       .deps = &res->deps,
                                       .trust = &r->trust };
    r->world = (struct eval_world){ .root = res->workspace.root,
                                    .deps = &res->deps,
                                    .cache_dir = r->dirs.cache,
                                    .write_cache = r->world.write_cache,
                                    .timeout_ms = r->world.timeout_ms,
                                    .watch_arena = &res->arena,
                                    .watch = &r->watch };
    r->eval = evaluator_new(r->loop, &r->world);
    packages_find(r);
}

void resolve_cancel(struct resolver *r)
{
    if (!r)
        return;
    packages_drop(r);
    map_free(&r->visited);
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

void resolution_define(const struct resolution *res, struct evaluator *ev)
{
    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (is_active(st) || st->state == PLUGIN_GATED)
            define_customs(ev, st);
    }
}

bool resolution_stale(const struct resolution *res)
{
    return watch_stale(res->watch.v, res->watch.n);
}
