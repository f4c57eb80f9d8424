/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The parts of active plugins: servers, skill groups, subcommands. */
#include <stdlib.h>

#include "base/path.h"
#include "plugins/resolve_impl.h"
#include "plugins/server.h"

struct claims {
    struct map by_name; /* server name -> plugin that has it */
    struct map programs;
};

void add_refused(struct resolver *r, const struct server_def *def)
{
    add_problem(
        r, str_of(arena_printf(&r->res->arena, "%.*s: " UNTRUSTED_REASON, STR_F(def->name))));
}

/* ---- servers ---- */

static void add_server(struct resolver *r, struct claims *claims,
                       const struct plugin_status *st, const struct server_def *def)
{
    struct resolution *res = r->res;
    struct server_world w = { .a = &res->arena,
                              .watch = &r->watch,
                              .root = res->workspace.root,
                              .cache_dir = r->dirs.cache,
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

static int by_server_name(const void *a, const void *b)
{
    const struct active_server *x = a, *y = b;

    return str_cmp(x->name, y->name);
}

/* ---- skill groups ---- */

/* The directory, canonical; NULL when it is not there, or lies elsewhere (with a warning). */
static const char *group_dir(struct resolver *r, const struct plugin *p,
                             const struct skill_group *g)
{
    struct arena *a = &r->res->arena;
    const char *path = path_join(a, p->dir.p, g->path.p), *real, *home;

    if (!watch_add(&r->watch, a, path_clean(a, path)).exists)
        return NULL;
    real = path_real(a, path, NULL);
    home = path_real(a, p->dir.p, NULL);
    if (!real || !home)
        return NULL;
    if (path_beneath(home, real))
        return real;
    add_warning(r, str_of(arena_printf(a,
                                       "plugin '%.*s': its skills '%.*s' lead out of its "
                                       "directory; they are left out",
                                       STR_F(p->name), STR_F(g->path))));
    return NULL;
}

static void add_group(struct resolver *r, const struct plugin_status *st,
                      const struct skill_group *g)
{
    const char *dir = g->path.n ? group_dir(r, st->plugin, g) : NULL;

    if (dir || g->git.n)
        ARENA_PUSH(&r->res->arena, &r->res->groups) =
            (struct active_group){ .plugin = st->plugin,
                                   .group = g,
                                   .dir = str_of(dir),
                                   .git = g->git,
                                   .trusted = st->trusted };
}

static void warn_refused(struct resolver *r, const struct plugin_status *st, const char *what,
                         struct str which)
{
    add_warning(r, str_of(arena_printf(&r->res->arena,
                                       "plugin '%.*s': its %s '%.*s': " UNTRUSTED_REASON,
                                       STR_F(st->name), what, STR_F(which))));
}

/* ---- all ---- */

static int by_subcommand_name(const void *a, const void *b)
{
    const struct active_subcommand *x = a, *y = b;

    return str_cmp(x->def->name, y->def->name);
}

/* Each takes its part of the jobs, in the order of add_jobs(). */
static void take_servers(struct resolver *r, struct claims *claims,
                         const struct plugin_status *st, const struct gate_job *job)
{
    for (size_t i = 0; i < st->plugin->servers.n; i++) {
        if (job[i].holds)
            add_server(r, claims, st, &st->plugin->servers.v[i]);
        else if (job[i].refused)
            add_refused(r, &st->plugin->servers.v[i]);
    }
}

static void take_groups(struct resolver *r, const struct plugin_status *st,
                        const struct gate_job *job)
{
    for (size_t i = 0; i < st->plugin->skills.n; i++) {
        const struct skill_group *g = &st->plugin->skills.v[i];

        if (job[i].holds)
            add_group(r, st, g);
        else if (job[i].refused)
            warn_refused(r, st, "skills", g->path.n ? g->path : g->git);
    }
}

static void take_subcommands(struct resolver *r, const struct plugin_status *st,
                             const struct gate_job *job)
{
    for (size_t i = 0; i < st->plugin->subcommands.n; i++) {
        const struct subcommand *def = &st->plugin->subcommands.v[i];

        if (job[i].holds)
            ARENA_PUSH(&r->res->arena, &r->res->subcommands) =
                (struct active_subcommand){ st->plugin, def, st->trusted };
        else if (job[i].refused)
            warn_refused(r, st, "subcommand", def->name);
    }
}

static void add_jobs(struct resolver *r, const struct plugin_status *st)
{
    const struct plugin *p = st->plugin;

    for (size_t i = 0; i < p->servers.n; i++)
        add_job(r, &p->servers.v[i].gate, st);
    for (size_t i = 0; i < p->skills.n; i++)
        add_job(r, &p->skills.v[i].gate, st);
    for (size_t i = 0; i < p->subcommands.n; i++)
        add_job(r, &p->subcommands.v[i].gate, st);
}

static void on_part_gates(void *ctx)
{
    struct resolver *r = ctx;
    struct resolution *res = r->res;
    const struct gate_job *job = r->jobs.v;
    struct claims claims = { 0 };

    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (!is_active(st) || r->plugins_only)
            continue;
        take_servers(r, &claims, st, job);
        job += st->plugin->servers.n;
        take_groups(r, st, job);
        job += st->plugin->skills.n;
        take_subcommands(r, st, job);
        job += st->plugin->subcommands.n;
    }
    map_free(&claims.by_name);
    map_free(&claims.programs);
    if (res->servers.n)
        qsort(res->servers.v, res->servers.n, sizeof *res->servers.v, by_server_name);
    if (res->subcommands.n)
        qsort(res->subcommands.v, res->subcommands.n, sizeof *res->subcommands.v,
              by_subcommand_name);
    hand_over(r);
}

void parts_run(struct resolver *r)
{
    r->jobs.n = 0;
    for (size_t i = 0; i < r->res->plugins.n; i++)
        if (is_active(&r->res->plugins.v[i]) && !r->plugins_only)
            add_jobs(r, &r->res->plugins.v[i]);
    evaluator_run(r->eval, r->jobs.v, r->jobs.n, on_part_gates, r);
}
