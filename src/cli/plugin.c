/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>

#include "base/mem.h"
#include "cli/errand.h"
#include "cli/names.h"
#include "cli/plugin.h"
#include "cli/report.h"
#include "plugins/predicate.h"
#include "pm/locate.h"
#include "pm/query.h"
#include "pm/registries.h"

struct plugin_command {
    struct errand *errand;
    struct package_id id; /* show */
    struct str only;      /* sync */
    struct resolving *resolving;
    struct refresh *refresh;
    struct pm_query *query;
    struct config config;
    struct workspace workspace;
    struct refresh_result refreshed;
    struct strs problems;
    void (*put)(struct plugin_command *p, struct resolution *res);
    int status;
};

static int fail(struct plugin_command *p, const char *text)
{
    errand_clear(p->errand);
    return cli_fail(EXIT_FAILED, "%s", text);
}

/* ---- list ---- */

static void put_list(struct plugin_command *p, struct resolution *res)
{
    struct str registry = { 0 };
    size_t column = plugin_column(res);

    if (cli.json) {
        struct report r;

        report_begin(&r);
        for (size_t i = 0; i < res->plugins.n; i++)
            put_plugin_event(&r, &res->plugins.v[i]);
        p->status = report_end(&r) ? EXIT_OK : EXIT_FAILED;
        return;
    }
    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (!i || !str_eq(st->registry, registry)) {
            fputs(out_paint(stdout, PAINT_BOLD), stdout);
            out_put_words(stdout, st->registry);
            printf("%s\n", out_paint(stdout, PAINT_OFF));
        }
        registry = st->registry;
        put_plugin_line(st, column);
    }
    if (!res->plugins.n && !cli.quiet)
        fputs("There is no plugin; 'symposium search' finds some, docs/guide/plugins.md tells "
              "how to write one.\n",
              stderr);
}

/* ---- show ---- */

static void put_gate(struct buf *out, const char *first, const struct gate *g)
{
    for (size_t i = 0; i < g->n; i++) {
        buf_addz(out, i ? ", " : first);
        buf_add(out, g->v[i]->text);
    }
}

static void put_part(const char *kind, struct str name, const struct gate *g)
{
    auto_buf line = BUF(OUTPUT_MAX);

    buf_addf(&line, "  %-11s ", kind);
    buf_add(&line, name);
    put_gate(&line, name.n ? "  when " : "when ", g);
    out_put_text(stdout, buf_str(&line));
}

static void put_parts(const struct plugin *p)
{
    for (size_t i = 0; i < p->servers.n; i++)
        put_part("server", p->servers.v[i].name, &p->servers.v[i].gate);
    for (size_t i = 0; i < p->skills.n; i++)
        put_part("skills", p->skills.v[i].path.n ? p->skills.v[i].path : p->skills.v[i].git,
                 &p->skills.v[i].gate);
    for (size_t i = 0; i < p->hooks.n; i++)
        put_part("hook", p->hooks.v[i].name, &p->hooks.v[i].gate);
    for (size_t i = 0; i < p->subcommands.n; i++)
        put_part("subcommand", p->subcommands.v[i].name, &p->subcommands.v[i].gate);
    for (size_t i = 0; i < p->predicates.n; i++)
        put_part("predicate", p->predicates.v[i].name, &(struct gate){ 0 });
    for (size_t i = 0; i < p->installations.n; i++)
        put_part("install", p->installations.v[i].name, &(struct gate){ 0 });
    for (size_t i = 0; i < p->edges.n; i++)
        put_part("plugin", p->edges.v[i].name, &p->edges.v[i].gate);
}

static void put_part_event(struct report *r, const char *kind, struct str name)
{
    struct jw *w = report_event(r, kind);

    jw_kstr(w, "name", name);
    jw_end(w);
}

static void put_part_events(struct report *r, const struct plugin *p)
{
    for (size_t i = 0; i < p->servers.n; i++)
        put_part_event(r, "server", p->servers.v[i].name);
    for (size_t i = 0; i < p->skills.n; i++)
        put_part_event(r, "skills",
                       p->skills.v[i].path.n ? p->skills.v[i].path : p->skills.v[i].git);
    for (size_t i = 0; i < p->hooks.n; i++)
        put_part_event(r, "hook", p->hooks.v[i].name);
    for (size_t i = 0; i < p->subcommands.n; i++)
        put_part_event(r, "subcommand", p->subcommands.v[i].name);
    for (size_t i = 0; i < p->predicates.n; i++)
        put_part_event(r, "predicate", p->predicates.v[i].name);
    for (size_t i = 0; i < p->installations.n; i++)
        put_part_event(r, "installation", p->installations.v[i].name);
    for (size_t i = 0; i < p->edges.n; i++)
        put_part_event(r, "edge", p->edges.v[i].name);
}

static void put_shown(const struct plugin_status *st)
{
    put_plugin_line(st, st->name.n);
    if (!st->plugin)
        return;
    fputs("  at          ", stdout);
    out_put_text(stdout,
                 st->plugin->manifest_path.n ? st->plugin->manifest_path : st->plugin->dir);
    if (st->plugin->gate.n)
        put_part("applies", (struct str){ 0 }, &st->plugin->gate);
    if (!st->trusted)
        puts("  it may not run programs");
    put_parts(st->plugin);
}

static void put_show(struct plugin_command *p, struct resolution *res)
{
    struct report r;
    size_t n;

    if (!name_find(res, &p->id, &n)) {
        p->status = fail(p, arena_printf(p->errand->a,
                                         "no plugin '%.*s' here; 'symposium plugin list' names "
                                         "those there are",
                                         STR_F(p->id.name)));
        return;
    }
    if (cli.json)
        report_begin(&r);
    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (!name_means(&p->id, st))
            continue;
        if (!cli.json) {
            put_shown(st);
            continue;
        }
        put_plugin_event(&r, st);
        if (st->plugin)
            put_part_events(&r, st->plugin);
    }
    if (cli.json && !report_end(&r))
        p->status = EXIT_FAILED;
}

/* ---- both ---- */

static void on_resolved(void *ctx, struct resolution *res)
{
    struct plugin_command *p = ctx;

    p->resolving = NULL;
    errand_clear(p->errand);
    p->put(p, res);
    resolution_free(res);
    errand_end(p->errand, p->status);
}

static void begin_resolving(struct errand *e, void *ctx)
{
    struct plugin_command *p = ctx;
    struct error why;

    p->errand = e;
    p->resolving = errand_resolve(e, on_resolved, p, &why);
    if (!p->resolving)
        errand_end(e, fail(p, why.msg));
}

/* ---- sync ---- */

static void finish_sync(struct plugin_command *p)
{
    const struct refresh_result *r = &p->refreshed;
    int status = r->failed ? EXIT_FAILED : EXIT_OK;

    errand_clear(p->errand);
    if (cli.json) {
        struct report to;
        struct jw *w;

        report_begin(&to);
        put_problem_events(&to, &p->problems);
        w = report_event(&to, "plugin-sync");
        jw_kint(w, "current", (int64_t)r->current);
        jw_kint(w, "changed", (int64_t)r->changed);
        jw_kint(w, "failed", (int64_t)r->failed);
        jw_end(w);
        status = report_end(&to) ? status : EXIT_FAILED;
    } else {
        put_problem_lines(&p->problems);
        if (!cli.quiet)
            printf("Git registries: %zu new, %zu as before, %zu failed.\n", r->changed,
                   r->current, r->failed);
    }
    errand_end(p->errand, status);
}

static void keep_problem(struct plugin_command *p, struct str line)
{
    ARENA_PUSH(p->errand->a, &p->problems) = arena_str(p->errand->a, line);
}

static void on_pms(void *ctx, const struct strs *problems)
{
    struct plugin_command *p = ctx;

    p->query = NULL;
    for (size_t i = 0; i < problems->n; i++)
        keep_problem(p, problems->v[i]);
    finish_sync(p);
}

static enum update_level sync_level(const struct plugin_command *p)
{
    return p->errand->level_given ? p->errand->level : UPDATE_FETCH;
}

static void refresh_pms(struct plugin_command *p)
{
    struct query_opts o = { .dirs = p->errand->dirs,
                            .config = &p->config,
                            .workspace = &p->workspace,
                            .pms = p->errand->pms };

    errand_say(p->errand, STR("asking the package managers"));
    p->query = pm_refresh(p->errand->loop, &o, sync_level(p), true, on_pms, p);
}

static void on_registries(void *ctx, const struct refresh_result *r)
{
    struct plugin_command *p = ctx;

    p->refresh = NULL;
    p->refreshed = *r;
    p->refreshed.warnings = (struct strs){ 0 };
    for (size_t i = 0; i < r->warnings.n; i++)
        keep_problem(p, r->warnings.v[i]);
    if (p->only.n)
        finish_sync(p);
    else
        refresh_pms(p);
}

static void on_progress(void *ctx, struct str line)
{
    struct plugin_command *p = ctx;

    errand_say(p->errand, line);
}

static bool is_pm(const struct plugin_command *p, struct str name)
{
    struct pm_programs all = { 0 };

    pm_locate(&all, p->errand->a, p->errand->dirs, &p->config, &p->workspace);
    for (size_t i = 0; i < all.n; i++)
        if (str_is(name, all.v[i].name))
            return true;
    return false;
}

static void begin_sync(struct errand *e, void *ctx)
{
    static const struct refresh_ops ops = { on_progress, on_registries };
    struct plugin_command *p = ctx;
    struct registries_opts o = { .dirs = e->dirs, .config = &p->config, .force = true };
    struct watch_list watch = { 0 };
    struct error why;

    p->errand = e;
    config_load(&p->config, e->dirs, e->a);
    if (!workspace_find(&p->workspace, e->start_dir, e->a, &watch, &why)) {
        errand_end(e, fail(p, why.msg));
        return;
    }
    if (p->only.n && !name_is_registry(&p->config, p->only)) {
        bool pm = is_pm(p, p->only);

        if (pm)
            refresh_pms(p);
        else
            errand_end(e, fail(p, arena_printf(e->a,
                                               "no registry and no package manager is called "
                                               "'%.*s'; 'symposium status' names them",
                                               STR_F(p->only))));
        return;
    }
    o.level = sync_level(p);
    o.only = p->only;
    p->refresh = registries_refresh(e->loop, &o, &ops, p);
}

/* ---- the command ---- */

static void cancel(void *ctx)
{
    struct plugin_command *p = ctx;

    resolving_cancel(take_ptr(&p->resolving));
    refresh_cancel(take_ptr(&p->refresh));
    pm_query_cancel(take_ptr(&p->query));
}

static int run_sync(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin_sync, cancel };
    struct plugin_command p = { 0 };

    if (args->nwords > 2)
        return cli_usage(args->command, "one registry at a time");
    if (args->nwords == 2)
        p.only = str_of(args->words[1]);
    return errand_run(a, args, &job, &p);
}

static int run_list(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin_resolving, cancel };
    struct plugin_command p = { .put = put_list };

    if (args->nwords > 1)
        return cli_usage(args->command, "unexpected argument '%s'", args->words[1]);
    return errand_run(a, args, &job, &p);
}

static int run_show(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin_resolving, cancel };
    struct plugin_command p = { .put = put_show };
    struct error e;

    if (args->nwords != 2)
        return cli_usage(args->command, "name one plugin: 'symposium plugin show NAME'");
    if (!name_read(&p.id, str_of(args->words[1]), &e))
        return cli_usage(args->command, "%s", e.msg);
    return errand_run(a, args, &job, &p);
}

int cmd_plugin(struct arena *a, const struct args *args)
{
    static const struct {
        const char *name;
        int (*run)(struct arena *a, const struct args *args);
    } actions[] = {
        { "sync", run_sync },
        { "list", run_list },
        { "show", run_show },
        { "validate", plugin_validate },
    };
    const char *action = args->nwords ? args->words[0] : "";

    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        if (str_is(str_of(action), actions[i].name)) {
            if (args_has(args, "--check-names") && actions[i].run != plugin_validate)
                return cli_usage(args->command, "'--check-names' is for 'plugin validate'");
            return actions[i].run(a, args);
        }
    return cli_usage(args->command, "say what: sync, list, show or validate");
}
