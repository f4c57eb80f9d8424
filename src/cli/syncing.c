/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/sync.h"
#include "loop/timer.h"
#include "plugins/skills_active.h"
#include "pm/acquire_all.h"
#include "pm/autosync.h"
#include "pm/registries.h"
#include "pm/resolving.h"
#include "sync/hooks.h"
#include "sync/skills.h"
#include "sync/sweep.h"

#define CODEX_SLACK_SECS 10 /* SY-3: beyond our own deadline of a script */

struct syncing {
    struct loop *loop;
    struct syncing_opts o;
    struct syncing_ops ops;
    void *ctx;
    struct arena arena;
    struct sync_report report;
    struct config config; /* as it is at the start: which registries to fetch */
    struct timer *begin;
    struct refresh *refresh;
    struct resolving *resolving;
    struct resolution *res;
    struct acquire_all *acquire;
    struct skills_finding *finding;
    struct active_skills *skills;
    struct str stamp; /* of the workspace, before it was looked at */
    bool decided;     /* ops.decide was asked */
};

static void note(struct syncing *s, struct str text)
{
    sync_report_add(&s->report, (struct sync_line){ .kind = SYNC_NOTE, .text = text });
}

/* What could not be fetched is told with the reason; that it is missing afterwards is no second
 * line. */
static bool is_told(const struct syncing *s, struct str line)
{
    size_t end = str_find(line, STR("': "));
    struct str head = str_upto(line, end);

    if (end == SIZE_MAX || !str_starts(line, STR("registry '")))
        return false;
    for (size_t i = 0; i < s->report.n; i++)
        if (str_starts(s->report.v[i].text, head))
            return true;
    return false;
}

static void notes(struct syncing *s, const struct strs *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        if (!is_told(s, lines->v[i]))
            note(s, lines->v[i]);
}

static void on_progress(void *ctx, struct str line)
{
    struct syncing *s = ctx;

    if (s->ops.progress)
        s->ops.progress(s->ctx, line);
}

/* What one repository or installation is brought to. */
static enum update_level level_of(const struct syncing *s)
{
    return s->o.level == UPDATE_NONE && s->o.missing ? UPDATE_CHECK : s->o.level;
}

/* ---- the end ---- */

static void finish(struct syncing *s)
{
    struct syncing_end end = { &s->report, s->res, s->skills ? s->skills->n : 0 };

    on_progress(s, (struct str){ 0 });
    s->ops.done(s->ctx, &end);
    syncing_cancel(s);
}

static void fail(struct syncing *s, const char *why)
{
    sync_report_addf(&s->report, SYNC_ERROR, STR(""), "%s", why);
    finish(s);
}

void syncing_cancel(struct syncing *s)
{
    if (!s)
        return;
    timer_free(s->begin);
    refresh_cancel(s->refresh);
    resolving_cancel(s->resolving);
    acquire_all_cancel(s->acquire);
    active_skills_cancel(s->finding);
    active_skills_free(s->skills);
    resolution_free(s->res);
    arena_free(&s->arena);
    free(s);
}

/* ---- files ---- */

/* Those of the configuration, and those named on the command line. */
static struct strs agents_of(struct arena *a, const struct agents_job *job)
{
    struct strs all = { 0 };

    for (size_t i = 0; i < job->config->agents.n; i++)
        if (!strs_has(&all, job->config->agents.v[i]))
            ARENA_PUSH(a, &all) = job->config->agents.v[i];
    for (size_t i = 0; i < job->only.n; i++)
        if (!strs_has(&all, job->only.v[i]))
            ARENA_PUSH(a, &all) = job->only.v[i];
    return all;
}

static struct sync_job sync_job_of(struct arena *a, const struct agents_job *job)
{
    return (struct sync_job){
        .dirs = job->dirs,
        .env = job->env,
        .agents = agents_of(a, job),
        .only = job->only,
        .dry_run = job->dry_run,
        .tool_timeout_secs = job->config->mcp.script_timeout_secs + CODEX_SLACK_SECS,
    };
}

void agents_apply(const struct agents_job *job, struct sync_report *r)
{
    auto_arena a = ARENA;
    struct sync_plan plan = SYNC_PLAN(&a);
    struct sync_job mcp = sync_job_of(&a, job), hooks = mcp;

    mcp.project = job->config->mcp_scope_project;
    hooks.project = job->config->hook_scope_project;
    if (job->env->root || !mcp.project)
        sync_entries_plan(&plan, &mcp, r);
    if (job->env->root || !hooks.project)
        sync_hooks_plan(&plan, &hooks);
    sync_plan_run(&plan, job->dirs, job->dry_run, r);
}

static void write_files(struct syncing *s)
{
    const struct config *config = &s->res->config;
    struct sync_env env;
    struct agents_job job = { .dirs = s->o.dirs,
                              .config = config,
                              .env = &env,
                              .only = s->o.only,
                              .dry_run = s->o.dry_run };
    struct sync_job skills_job;
    struct sync_skills what = { s->skills, config->sync_debounce_secs,
                                s->res->pm_degraded || s->skills->incomplete };
    struct error e;

    if (!sync_env_read(&env, &s->arena, arena_z(&s->arena, s->res->workspace.root), &e)) {
        fail(s, e.msg);
        return;
    }
    skills_job = sync_job_of(&s->arena, &job);
    agents_apply(&job, &s->report);
    sync_skills_apply(&skills_job, &what, &s->report);
    if (!s->o.dry_run && !s->o.only.n && !s->report.failed)
        autosync_note(s->o.dirs->cache, &s->res->workspace, s->stamp);
    finish(s);
}

/* ---- skills that apply ---- */

static void on_skills(void *ctx, struct active_skills *found)
{
    struct syncing *s = ctx;

    s->finding = NULL;
    s->skills = found;
    notes(s, &found->warnings);
    write_files(s);
}

static void find_skills(struct syncing *s)
{
    struct skills_query q = { .res = s->res,
                              .dirs = s->o.dirs,
                              .read_only_cache = s->o.dry_run };

    s->finding = active_skills_find(s->loop, &q, on_skills, s);
}

/* ---- installations ---- */

static void on_acquired(void *ctx, const struct strs *problems)
{
    struct syncing *s = ctx;

    s->acquire = NULL;
    notes(s, problems);
    find_skills(s);
}

/* A hook cannot wait for a program to be built, and a server that need not be built starts at
 * once. */
static void acquire(struct syncing *s)
{
    static const struct acquire_all_ops ops = { on_progress, on_acquired };
    struct acquire_all_opts o = { .cache_dir = s->o.dirs->cache, .level = level_of(s) };
    struct plugins v = { 0 };

    for (size_t i = 0; o.level != UPDATE_NONE && i < s->res->plugins.n; i++) {
        const struct plugin_status *st = &s->res->plugins.v[i];

        if (st->state == PLUGIN_ACTIVE && st->trusted)
            ARENA_PUSH(&s->arena, &v) = st->plugin;
    }
    if (v.n)
        s->acquire = acquire_plugins(s->loop, &o, v.v, v.n, &ops, s);
    else
        find_skills(s);
}

/* ---- git sources of skills ---- */

static void on_sources(void *ctx, const struct refresh_result *r)
{
    struct syncing *s = ctx;

    s->refresh = NULL;
    notes(s, &r->warnings);
    acquire(s);
}

struct items {
    struct refresh_item *v;
    size_t n, cap;
};

/* With `missing` alone, only what has no checkout yet. */
static void add_item(struct syncing *s, struct items *l, struct str label, struct str git)
{
    struct git_source source;
    struct error e;
    bool absent = !git_source_parse(&source, &s->arena, git, &e) ||
                  !checkout_find(&s->arena, s->o.dirs->cache, &source, &e);

    if (s->o.level != UPDATE_NONE || (s->o.missing && absent))
        ARENA_PUSH(&s->arena, l) = (struct refresh_item){ label, git, level_of(s) };
}

static void fetch_sources(struct syncing *s)
{
    static const struct refresh_ops ops = { on_progress, on_sources };
    struct items items = { 0 };

    for (size_t i = 0; i < s->res->groups.n; i++) {
        const struct active_group *g = &s->res->groups.v[i];

        if (g->git.n)
            add_item(s, &items,
                     str_of(arena_printf(&s->arena, "skills of plugin '%.*s'",
                                         STR_F(g->plugin->name))),
                     g->git);
    }
    if (items.n)
        s->refresh = checkouts_refresh(s->loop, s->o.dirs->cache, items.v, items.n, &ops, s);
    else
        acquire(s);
}

/* ---- resolution ---- */

static void resolve(struct syncing *s);

static void on_resolved(void *ctx, struct resolution *res)
{
    struct syncing *s = ctx;

    s->resolving = NULL;
    s->res = res;
    on_progress(s, (struct str){ 0 });
    if (!s->decided && s->ops.decide && !s->o.dry_run) {
        s->decided = true;
        if (s->ops.decide(s->ctx, res)) {
            resolution_free(take_ptr(&s->res));
            resolve(s);
            return;
        }
    }
    notes(s, &res->warnings);
    notes(s, &res->problems);
    fetch_sources(s);
}

static void resolve(struct syncing *s)
{
    struct resolving_opts o = { .dirs = s->o.dirs,
                                .start_dir = s->o.start_dir,
                                .level = s->o.level,
                                .missing = s->o.missing,
                                .timeout_ms = s->o.timeout_ms,
                                .read_only_cache = s->o.dry_run,
                                .pms = s->o.pms };
    struct error e;

    on_progress(s, STR("looking at the workspace"));
    s->resolving = resolving_begin(s->loop, &o, on_resolved, s, &e);
    if (!s->resolving) {
        fail(s, e.msg);
        return;
    }
    s->stamp = autosync_stamp(&s->arena, resolving_workspace(s->resolving));
}

/* ---- registries ---- */

static void on_registries(void *ctx, const struct refresh_result *r)
{
    struct syncing *s = ctx;

    s->refresh = NULL;
    notes(s, &r->warnings);
    resolve(s);
}

static void add_registry(struct syncing *s, struct items *l, struct str name, struct str git)
{
    add_item(s, l, str_of(arena_printf(&s->arena, "registry '%.*s'", STR_F(name))), git);
}

static bool fetch_registries(struct syncing *s)
{
    static const struct refresh_ops ops = { on_progress, on_registries };
    struct registries_opts all = { .dirs = s->o.dirs,
                                   .config = &s->config,
                                   .level = s->o.level };
    struct items items = { 0 };

    if (s->o.level != UPDATE_NONE) {
        s->refresh = registries_refresh(s->loop, &all, &ops, s);
        return true;
    }
    if (s->config.recommendations && s->config.recommendations_git.n)
        add_registry(s, &items, STR(RECOMMENDATIONS), s->config.recommendations_git);
    for (size_t i = 0; i < s->config.registries.n; i++)
        if (s->config.registries.v[i].git.n)
            add_registry(s, &items, s->config.registries.v[i].name,
                         s->config.registries.v[i].git);
    if (items.n)
        s->refresh = checkouts_refresh(s->loop, s->o.dirs->cache, items.v, items.n, &ops, s);
    return items.n > 0;
}

/* A configuration that cannot be read names no agent: acting on that would take symposium out
 * of all of them. */
static void on_begin(void *ctx)
{
    struct syncing *s = ctx;
    struct str why;

    config_load(&s->config, s->o.dirs, &s->arena);
    why = s->config.warnings.n ? s->config.warnings.v[0] : s->config.path;
    if (s->config.malformed) {
        fail(s, arena_printf(&s->arena, "%.*s; nothing was written", STR_F(why)));
        return;
    }
    if (!s->o.dry_run)
        sync_sweep(s->o.dirs);
    if (!fetch_registries(s))
        resolve(s);
}

struct syncing *syncing_begin(struct loop *l, const struct syncing_opts *o,
                              const struct syncing_ops *ops, void *ctx)
{
    struct syncing *s = NEW(struct syncing);

    *s = (struct syncing){ .loop = l, .o = *o, .ops = *ops, .ctx = ctx };
    s->report = SYNC_REPORT(&s->arena);
    s->begin = timer_new(l, on_begin, s);
    timer_set(s->begin, 0);
    return s;
}
