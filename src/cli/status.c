/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "cli/errand.h"
#include "cli/report.h"
#include "plugins/checkout.h"

struct status {
    struct errand *errand;
    struct resolving *resolving;
};

/* ---- registries ---- */

struct registry_row {
    struct str name, place;
    const char *state; /* "ok", "not fetched", "wrong", "not in this build" */
    struct str detail;
};

static struct registry_row git_row(struct arena *a, const struct dirs *dirs, struct str name,
                                   struct str git)
{
    struct registry_row row = { .name = name, .place = git, .state = "ok" };
    struct git_source source;
    struct checkout_meta meta;
    struct error e;

    if (!git_source_parse(&source, a, git, &e)) {
        row.state = "wrong";
        row.detail = arena_str(a, str_of(e.msg));
        return row;
    }
    row.place = source.shown;
    if (!checkout_meta_read(&meta, a, dirs->cache, &source)) {
        row.state = "not fetched";
        row.detail = STR("'symposium plugin sync' fetches it");
        return row;
    }
    row.detail =
        str_of(arena_printf(a, "commit %.*s of %.*s", STR_F(str_upto(meta.commit_sha, 12)),
                            STR_F(meta.fetched_at)));
    return row;
}

struct registry_rows {
    struct registry_row *v;
    size_t n, cap;
};

static void find_registries(struct arena *a, const struct dirs *dirs, const struct config *c,
                            struct registry_rows *ret)
{
    if (c->recommendations && c->recommendations_git.n)
        ARENA_PUSH(a, ret) = git_row(a, dirs, STR(RECOMMENDATIONS), c->recommendations_git);
    else if (c->recommendations)
        ARENA_PUSH(a, ret) = (struct registry_row){
            .name = STR(RECOMMENDATIONS),
            .state = "not in this build",
            .detail = STR("this build has no such registry"),
        };
    if (c->user_plugins)
        ARENA_PUSH(a, ret) = (struct registry_row){
            .name = STR("user-plugins"),
            .place = str_of(arena_printf(a, "%s/plugins", dirs->config)),
            .state = "ok",
        };
    for (size_t i = 0; i < c->registries.n; i++) {
        const struct registry_config *r = &c->registries.v[i];

        ARENA_PUSH(a, ret) =
            r->git.n
                ? git_row(a, dirs, r->name, r->git)
                : (struct registry_row){ .name = r->name, .place = r->path, .state = "ok" };
    }
}

/* ---- for programs ---- */

static bool put_events(const struct resolution *res, const struct registry_rows *registries)
{
    struct report r;
    struct jw *w;

    report_begin(&r);
    w = report_event(&r, "workspace");
    jw_kstr(w, "root", res->workspace.root);
    jw_kbool(w, "found", res->workspace.found);
    strs_put(w, "members", &res->workspace.members);
    strs_put(w, "agents", &res->config.agents);
    jw_kint(w, "dependencies", (int64_t)res->deps.n);
    jw_end(w);
    for (size_t i = 0; i < registries->n; i++) {
        w = report_event(&r, "registry");
        jw_kstr(w, "name", registries->v[i].name);
        jw_kstrz(w, "state", registries->v[i].state);
        if (registries->v[i].place.n)
            jw_kstr(w, "place", registries->v[i].place);
        if (registries->v[i].detail.n)
            jw_kstr(w, "detail", registries->v[i].detail);
        jw_end(w);
    }
    for (size_t i = 0; i < res->plugins.n; i++)
        put_plugin_event(&r, &res->plugins.v[i]);
    put_problem_events(&r, &res->problems);
    for (size_t i = 0; i < res->warnings.n; i++)
        report_text(&r, "warning", res->warnings.v[i]);
    return report_end(&r);
}

/* ---- for people ---- */

static void heading(const char *text)
{
    printf("%s%s%s\n", out_paint(stdout, PAINT_BOLD), text, out_paint(stdout, PAINT_OFF));
}

static void put_workspace(const struct resolution *res)
{
    heading("Workspace");
    fputs("  ", stdout);
    out_put_text(stdout, res->workspace.root);
    printf("  %zu member%s, %zu direct dependenc%s\n", res->workspace.members.n,
           res->workspace.members.n == 1 ? "" : "s", res->deps.n,
           res->deps.n == 1 ? "y" : "ies");
    fputs("  agents:", stdout);
    for (size_t i = 0; i < res->config.agents.n; i++) {
        fputs(i ? ", " : " ", stdout);
        out_put_words(stdout, res->config.agents.v[i]);
    }
    puts(res->config.agents.n ? "" : " none; 'symposium init' configures them");
}

static void put_registries(const struct registry_rows *l)
{
    heading("Registries");
    for (size_t i = 0; i < l->n; i++) {
        fputs("  ", stdout);
        out_put_words(stdout, l->v[i].name);
        printf("  %s  ", l->v[i].state);
        out_put_words(stdout, l->v[i].place);
        fputs(l->v[i].place.n && l->v[i].detail.n ? ", " : "", stdout);
        out_put_words(stdout, l->v[i].detail);
        putchar('\n');
    }
}

/* Of these lines those that no plugin's row has told already. */
static void put_untold(struct arena *a, const struct resolution *res, const struct strs *lines)
{
    struct map told = MAP;
    struct strs rest = { 0 };

    for (size_t i = 0; i < res->plugins.n; i++)
        map_put(&told, res->plugins.v[i].reason, a);
    for (size_t i = 0; i < lines->n; i++)
        if (!map_has(&told, lines->v[i]))
            ARENA_PUSH(a, &rest) = lines->v[i];
    put_problem_lines(&rest);
    map_free(&told);
}

static void put_text(struct arena *a, const struct resolution *res,
                     const struct registry_rows *registries)
{
    size_t column = plugin_column(res);

    put_workspace(res);
    put_registries(registries);
    heading("Plugins");
    for (size_t i = 0; i < res->plugins.n; i++)
        put_plugin_line(&res->plugins.v[i], column);
    if (!res->plugins.n)
        puts("  none");
    put_untold(a, res, &res->warnings);
    put_untold(a, res, &res->problems);
}

/* ---- the command ---- */

static void on_resolved(void *ctx, struct resolution *res)
{
    struct status *s = ctx;
    struct registry_rows registries = { 0 };
    bool ok = true;

    s->resolving = NULL;
    errand_clear(s->errand);
    find_registries(s->errand->a, s->errand->dirs, &res->config, &registries);
    if (cli.json)
        ok = put_events(res, &registries);
    else
        put_text(s->errand->a, res, &registries);
    resolution_free(res);
    errand_end(s->errand, ok ? EXIT_OK : EXIT_FAILED);
}

static void begin(struct errand *e, void *ctx)
{
    struct status *s = ctx;
    struct error why;

    s->errand = e;
    s->resolving = errand_resolve(e, on_resolved, s, &why);
    if (!s->resolving)
        errand_end(e, cli_fail(EXIT_FAILED, "%s", why.msg));
}

static void cancel(void *ctx)
{
    struct status *s = ctx;

    resolving_cancel(take_ptr(&s->resolving));
}

int cmd_status(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin, cancel };
    struct status s = { 0 };

    if (args->nwords)
        return cli_usage(args->command, "unexpected argument '%s'", args->words[0]);
    return errand_run(a, args, &job, &s);
}
