/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>

#include "base/mem.h"
#include "base/path.h"
#include "cli/errand.h"
#include "cli/names.h"
#include "cli/report.h"
#include "plugins/offer.h"
#include "plugins/skill_search.h"
#include "pm/offers.h"
#include "pm/query.h"

struct package {
    struct package_id id; /* version exact */
    const char *root;
    struct found_skills skills;
};

struct package_info {
    struct errand *errand;
    struct package_id id; /* as it was asked for */
    struct config config;
    struct workspace workspace;
    struct pm_query *query;
    struct offers *offers;
    struct {
        struct package *v;
        size_t n, cap;
    } found;
    size_t at; /* the package whose plugin is asked for */
    struct strs problems;
};

/* ---- output ---- */

static void put_events(struct report *r, const struct package *p)
{
    struct jw *w = report_event(r, "package");

    jw_kstr(w, "pm", p->id.pm);
    jw_kstr(w, "name", p->id.name);
    jw_kstr(w, "version", p->id.version);
    jw_kstrz(w, "source", p->root);
    jw_end(w);
    for (size_t i = 0; i < p->skills.n; i++) {
        w = report_event(r, "skill");
        jw_kstr(w, "name", p->skills.v[i].name);
        jw_kstr(w, "description", p->skills.v[i].description);
        jw_kstrz(w, "path", p->skills.v[i].file);
        jw_end(w);
    }
}

static void put_text(struct arena *a, const struct package *p)
{
    fputs(out_paint(stdout, PAINT_BOLD), stdout);
    out_put_words(stdout, package_text(a, &p->id));
    printf("%s\n  source  ", out_paint(stdout, PAINT_OFF));
    out_put_text(stdout, str_of(p->root));
    for (size_t i = 0; i < p->skills.n; i++) {
        fputs("  skill   ", stdout);
        out_put_words(stdout, p->skills.v[i].name);
        fputs("  ", stdout);
        out_put_words(stdout, str_of(p->skills.v[i].file));
        putchar('\n');
    }
    if (!p->skills.n)
        puts("  no skills");
}

static void finish(struct package_info *t)
{
    int status = t->found.n ? EXIT_OK : EXIT_FAILED;
    struct report r;

    errand_clear(t->errand);
    if (cli.json)
        report_begin(&r);
    for (size_t i = 0; i < t->found.n; i++) {
        if (cli.json)
            put_events(&r, &t->found.v[i]);
        else
            put_text(t->errand->a, &t->found.v[i]);
    }
    if (cli.json) {
        put_problem_events(&r, &t->problems);
        status = report_end(&r) ? status : EXIT_FAILED;
    } else {
        put_problem_lines(&t->problems);
        if (!t->found.n)
            cli_fail(status,
                     "no package manager here has '%.*s'; 'symposium search' finds names",
                     STR_F(t->id.name));
    }
    errand_end(t->errand, status);
}

/* ---- skills ---- */

static void search_in(struct package_info *t, struct package *p, const char *rel)
{
    struct skill_place place = { .dir = path_join(t->errand->a, p->root, rel),
                                 .home = p->root };

    skill_search(t->errand->a, &place, &p->skills);
}

static void find_skills(struct package_info *t, const struct package_offers *offers)
{
    struct package *p = &t->found.v[t->at];
    const struct plugin *plugin = NULL;
    struct error e;

    for (size_t i = 0; offers && !plugin && i < offers->n; i++)
        if (str_eq(offers->v[i].id.pm, p->id.pm))
            plugin = offer_plugin(t->errand->a, &offers->v[i], &e);
    for (size_t i = 0; plugin && i < plugin->skills.n; i++)
        if (plugin->skills.v[i].path.n)
            search_in(t, p, plugin->skills.v[i].path.p);
    if (!plugin)
        search_in(t, p, "skills");
    for (size_t i = 0; i < p->skills.warnings.n; i++)
        ARENA_PUSH(t->errand->a, &t->problems) = p->skills.warnings.v[i];
}

static void ask_next(struct package_info *t);

static void on_loaded(void *ctx, const struct package_offers *offers)
{
    struct package_info *t = ctx;

    find_skills(t, offers);
    t->at++;
    ask_next(t);
}

/* The plugin that it embeds says where its skills are. */
static void ask_next(struct package_info *t)
{
    const struct package_source *source = offers_source(t->offers);
    struct package_id exact;

    if (t->at == t->found.n) {
        finish(t);
        return;
    }
    exact = t->found.v[t->at].id;
    exact.version = str_of(arena_printf(t->errand->a, "=%.*s", STR_F(exact.version)));
    source->load(source->ctx, &exact, false, on_loaded, t);
}

/* ---- the package ---- */

static void on_fetched(void *ctx, const struct fetched *got)
{
    struct package_info *t = ctx;
    struct arena *a = t->errand->a;
    struct offers_opts o = { .dirs = t->errand->dirs,
                             .config = &t->config,
                             .workspace = &t->workspace,
                             .level = UPDATE_NONE,
                             .pms = t->errand->pms };

    t->query = NULL;
    for (size_t i = 0; i < got->n; i++) {
        const struct fetched_package *g = &got->v[i];
        struct package_id id = { arena_str(a, g->id.pm), arena_str(a, g->id.name),
                                 arena_str(a, g->id.version) };

        ARENA_PUSH(a, &t->found) =
            (struct package){ .id = id, .root = arena_z(a, str_of(g->root)) };
    }
    /* That one of two has it is no problem of the other. */
    for (size_t i = 0; !got->n && i < got->nproblems; i++)
        ARENA_PUSH(a, &t->problems) = arena_str(a, got->problems[i]);
    t->offers = offers_new(t->errand->loop, &o);
    ask_next(t);
}

static void begin(struct errand *e, void *ctx)
{
    struct package_info *t = ctx;
    struct watch_list watch = { 0 };
    struct query_opts o = { .dirs = e->dirs,
                            .config = &t->config,
                            .workspace = &t->workspace,
                            .everywhere = true,
                            .pms = e->pms };
    struct error why;

    t->errand = e;
    config_load(&t->config, e->dirs, e->a);
    if (!workspace_find(&t->workspace, e->start_dir, e->a, &watch, &why)) {
        errand_end(e, cli_fail(EXIT_FAILED, "%s", why.msg));
        return;
    }
    errand_say(e, STR("asking the package managers"));
    t->query =
        pm_fetch(e->loop, &o, &t->id, e->level_given ? e->level : UPDATE_CHECK, on_fetched, t);
}

static void cancel(void *ctx)
{
    struct package_info *t = ctx;

    pm_query_cancel(take_ptr(&t->query));
    offers_free(take_ptr(&t->offers));
}

int cmd_package_info(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin, cancel };
    struct package_info t = { 0 };
    struct error e;

    if (args->nwords != 1)
        return cli_usage(args->command, "name one package");
    if (!name_read(&t.id, str_of(args->words[0]), &e))
        return cli_usage(args->command, "%s", e.msg);
    t.id.version = str_of(args_value(args, "--version"));
    return errand_run(a, args, &job, &t);
}
