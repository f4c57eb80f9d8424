/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>

#include "base/casefold.h"
#include "base/mem.h"
#include "cli/errand.h"
#include "cli/names.h"
#include "cli/report.h"
#include "plugins/offer.h"
#include "plugins/registry.h"
#include "pm/locate.h"
#include "pm/query.h"

struct search {
    struct errand *errand;
    struct str words;
    struct str only; /* the package manager or registry that is meant; empty: all */
    struct config config;
    struct workspace workspace;
    struct pm_query *query;
    struct report report; /* --json */
    size_t hits;
};

/* ---- one hit ---- */

struct hit {
    struct str source; /* registry or package manager */
    struct str name, version, description;
};

static void put_hit(struct search *s, const struct hit *h)
{
    struct jw *w;

    s->hits++;
    if (cli.json) {
        w = report_event(&s->report, "hit");
        jw_kstr(w, "source", h->source);
        jw_kstr(w, "name", h->name);
        if (h->version.n)
            jw_kstr(w, "version", h->version);
        if (h->description.n)
            jw_kstr(w, "description", h->description);
        jw_end(w);
        return;
    }
    fputs(out_paint(stdout, PAINT_BOLD), stdout);
    out_put_words(stdout, h->source);
    putchar(':');
    out_put_words(stdout, h->name);
    fputs(out_paint(stdout, PAINT_OFF), stdout);
    fputs(h->version.n ? " " : "", stdout);
    out_put_words(stdout, h->version);
    fputs(h->description.n ? "  " : "", stdout);
    out_put_words(stdout, h->description);
    putchar('\n');
}

/* ---- registries ---- */

static bool holds(struct arena *a, struct str text, struct str folded_words)
{
    auto_buf folded = BUF(4 * text.n + 64);

    (void)a;
    casefold_put(&folded, text);
    return str_find(buf_str(&folded), folded_words) != SIZE_MAX;
}

static bool is_package_manager(const struct config *c, struct str name)
{
    for (size_t i = 0; i < c->pms.n; i++)
        if (str_eq(c->pms.v[i].name, name))
            return true;
    return pm_is_builtin(name);
}

/* "npm:left-pad", as hits are printed and 'use' takes them. A colon behind anything else
 * belongs to the words ("std::vec"). */
static void read_prefix(struct search *s)
{
    struct str head, rest;

    if (!str_cut(s->words, ':', &head, &rest) || !str_trim(rest).n ||
        (!name_is_registry(&s->config, head) && !is_package_manager(&s->config, head)))
        return;
    s->only = head;
    s->words = str_trim(rest);
}

/* PM-12: a part of the key or of the name, upper and lower case alike. */
static void search_registries(struct search *s)
{
    struct arena *a = s->errand->a;
    struct watch_list watch = { 0 };
    struct loaded loaded = { 0 };
    struct load_ctx load = { .a = a, .watch = &watch, .out = &loaded };
    auto_buf words = BUF(4 * s->words.n + 64);

    casefold_put(&words, s->words);
    registries_load(&load, &s->config, s->errand->dirs);
    for (size_t i = 0; i < loaded.plugins.n; i++) {
        const struct plugin *p = loaded.plugins.v[i];
        struct hit h = { .source = p->registry, .name = p->name };

        if (s->only.n && !str_eq(s->only, p->registry))
            continue;
        if (!holds(a, p->name, buf_str(&words)) && !holds(a, p->subpath, buf_str(&words)))
            continue;
        if (!str_eq(p->name, p->subpath))
            h.description = str_of(arena_printf(a, "(%.*s)", STR_F(p->subpath)));
        put_hit(s, &h);
    }
}

/* ---- package managers ---- */

static void finish(struct search *s, const struct strs *problems)
{
    int status = EXIT_OK;

    if (cli.json) {
        put_problem_events(&s->report, problems);
        status = report_end(&s->report) ? EXIT_OK : EXIT_FAILED;
    } else {
        put_problem_lines(problems);
        if (!s->hits && !cli.quiet)
            fputs("Nothing was found.\n", stderr);
    }
    errand_end(s->errand, status);
}

static void on_found(void *ctx, const struct query_found *found)
{
    struct search *s = ctx;
    struct strs problems = { 0 };

    s->query = NULL;
    errand_clear(s->errand);
    for (size_t i = 0; i < found->n; i++) {
        const struct query_hit *q = &found->v[i];

        put_hit(s, &(struct hit){ q->id.pm, q->id.name, q->id.version, q->description });
    }
    for (size_t i = 0; i < found->nproblems; i++)
        ARENA_PUSH(s->errand->a, &problems) = found->problems[i];
    finish(s, &problems);
}

static void begin(struct errand *e, void *ctx)
{
    struct search *s = ctx;
    struct watch_list watch = { 0 };
    struct query_opts o = { .dirs = e->dirs,
                            .config = &s->config,
                            .workspace = &s->workspace,
                            .everywhere = true,
                            .pms = e->pms };
    struct error why;

    s->errand = e;
    config_load(&s->config, e->dirs, e->a);
    read_prefix(s);
    if (!workspace_find(&s->workspace, e->start_dir, e->a, &watch, &why)) {
        errand_end(e, cli_fail(EXIT_FAILED, "%s", why.msg));
        return;
    }
    if (cli.json)
        report_begin(&s->report);
    search_registries(s);
    fflush(stdout);
    /* A search among packages asks a server. */
    if ((e->level_given && e->level == UPDATE_NONE) ||
        (s->only.n && !is_package_manager(&s->config, s->only))) {
        finish(s, &(struct strs){ 0 });
        return;
    }
    o.only = s->only;
    errand_say(e, STR("asking the package managers"));
    s->query = pm_search(e->loop, &o, s->words, on_found, s);
}

static void cancel(void *ctx)
{
    struct search *s = ctx;

    pm_query_cancel(take_ptr(&s->query));
    buf_free(&s->report.text);
}

int cmd_search(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin, cancel };
    struct search s = { 0 };
    auto_buf words = BUF(QUERY_MAX_WORDS);
    struct error e;

    for (size_t i = 0; i < args->nwords; i++) {
        buf_addz(&words, i ? " " : "");
        buf_addz(&words, args->words[i]);
    }
    if (!buf_ok(&words, &e))
        return cli_usage(args->command, "the words: %s", e.msg);
    s.words = str_trim(buf_str(&words));
    if (!s.words.n)
        return cli_usage(args->command, "name what to search for");
    return errand_run(a, args, &job, &s);
}
