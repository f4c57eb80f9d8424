/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/sync.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "sync/entry.h"
#include "sync/rewrite.h"

/* ---- which command ---- */

static bool same_file(const char *x, const char *y)
{
    struct stat a, b;

    return stat(x, &a) == 0 && stat(y, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

const char *sync_command(struct arena *a, const struct sync_env *env, const char **ret_why)
{
    const char *found = path_search(a, "symposium", env->path ? env->path : "");

    *ret_why = NULL;
    if (found && env->self && same_file(found, env->self))
        return "symposium";
    if (!env->self) {
        *ret_why =
            "agents will start 'symposium' from PATH: where this program lies is unknown";
        return "symposium";
    }
    *ret_why = found
                   ? arena_printf(a,
                                  "agents will start '%s': the 'symposium' in PATH is another "
                                  "program, '%s'",
                                  env->self, found)
                   : arena_printf(a, "agents will start '%s': there is no 'symposium' in PATH",
                                  env->self);
    return env->self;
}

struct strs sync_agents_detect(struct arena *a, const struct sync_env *env)
{
    struct strs all = { 0 };

    for (size_t i = 0; i < sync_agents_n; i++)
        if (agent_detected(&sync_agents[i], env))
            ARENA_PUSH(a, &all) = str_of(sync_agents[i].name);
    return all;
}

/* ---- the plan ---- */

static bool run_put(void *ctx, struct str text, struct buf *out, const char **ret_what,
                    struct error *e)
{
    return sync_entry_put(ctx, text, out, ret_what, e);
}

static bool run_take(void *ctx, struct str text, struct buf *out, const char **ret_what,
                     struct error *e)
{
    return sync_entry_take(ctx, text, out, ret_what, e);
}

bool sync_job_has(const struct sync_job *job, const char *agent)
{
    return strs_has(&job->agents, str_of(agent));
}

bool sync_job_concerns(const struct sync_job *job, const char *agent)
{
    return !job->only.n || strs_has(&job->only, str_of(agent));
}

/* One file may serve several agents, through links: what one of them is to keep there, another
 * one does not lose. */
static bool is_kept(struct arena *a, const struct sync_job *job, const char *path,
                    const struct entry_place *place)
{
    const char *real = sync_real_path(a, path);
    bool instead;

    for (size_t i = 0; i < sync_agents_n; i++) {
        const struct agent *g = &sync_agents[i];

        if (place->container && !strcmp(g->container, place->container) &&
            sync_job_has(job, g->name) &&
            !strcmp(real,
                    sync_real_path(a, agent_mcp_file(a, g, job->env, job->project, &instead))))
            return true;
    }
    return false;
}

struct take {
    const char *agent, *path;
    struct entry_place place;
    bool lock_dir;
};

static void plan_take(struct sync_plan *p, const struct sync_job *job, struct take t)
{
    struct entry_place *ctx;

    if (!t.path || is_kept(p->a, job, t.path, &t.place))
        return;
    ctx = ARENA_NEW(p->a, struct entry_place);
    *ctx = t.place;
    sync_plan_add(p, &(struct sync_edit){ .path = t.path,
                                          .agent = t.agent,
                                          .run = run_take,
                                          .ctx = ctx,
                                          .lock_dir = t.lock_dir,
                                          .clean_up = true });
}

static void plan_put(struct sync_plan *p, const struct sync_job *job, const struct agent *g,
                     const char *command)
{
    struct entry *ctx = ARENA_NEW(p->a, struct entry);
    bool instead, in_project;
    const char *path = agent_mcp_file(p->a, g, job->env, job->project, &instead);
    struct sync_edit edit = { .path = path, .agent = g->name, .run = run_put, .ctx = ctx };
    size_t n = 0;

    in_project = job->project && !instead;
    *ctx = (struct entry){ g, job->env, command, job->tool_timeout_secs };
    edit.mode = in_project ? REWRITE_NEW_MODE : REWRITE_SECRET_MODE;
    edit.lock_dir = g->lock_dir && !in_project;
    if (instead && job->env->root)
        edit.notes[n++] = arena_printf(
            p->a, "%s has no MCP file of a project; its entry is in the user's file", g->title);
    if (in_project && g->project_note)
        edit.notes[n++] = g->project_note;
    if (g->note)
        edit.notes[n] = g->note;
    sync_plan_add(p, &edit);
}

/* Under both of its names: whoever chose the other one since should not keep an old entry. */
static void plan_drop(struct sync_plan *p, const struct sync_job *job, const struct agent *g)
{
    const char *path = job->project ? sync_path_of(p->a, job->env, g->project) : NULL;
    bool in_user_file = !path;
    struct entry_place place = { g->format, g->container,
                                 (g->mcp_only &
                                  (in_user_file ? MCP_ONLY_USER : MCP_ONLY_PROJECT)) != 0 };

    if (!path)
        path = sync_path_of(p->a, job->env, g->user);
    plan_take(p, job, (struct take){ g->name, path, place, g->lock_dir && in_user_file });
    plan_take(p, job, (struct take){ g->name, agent_other_file(p->a, g, path), place, false });
}

void sync_entries_plan(struct sync_plan *p, const struct sync_job *job, struct sync_report *r)
{
    const char *why, *command = sync_command(p->a, job->env, &why);

    if (why && job->agents.n)
        sync_report_addf(r, SYNC_NOTE, STR(""), "%s", why);
    for (size_t i = 0; i < sync_agents_n; i++) {
        const struct agent *g = &sync_agents[i];

        if (!sync_job_concerns(job, g->name))
            continue;
        if (sync_job_has(job, g->name))
            plan_put(p, job, g, command);
        else
            plan_drop(p, job, g);
    }
    for (size_t i = 0; i < sync_former_places_n; i++) {
        const struct former_place *f = &sync_former_places[i];

        if (!sync_job_concerns(job, f->agent))
            continue;
        plan_take(p, job,
                  (struct take){ f->agent,
                                 sync_path_of(p->a, job->env, f->path),
                                 { f->format, f->container },
                                 false });
    }
}

bool sync_entries_apply(const struct sync_job *job, struct sync_report *r)
{
    auto_arena a = ARENA;
    struct sync_plan p = SYNC_PLAN(&a);

    sync_entries_plan(&p, job, r);
    return sync_plan_run(&p, job->dirs, job->dry_run, r);
}
