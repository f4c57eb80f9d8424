/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/subcommand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/errand.h"
#include "loop/timer.h"
#include "plugins/enablement.h"
#include "plugins/installation.h"
#include "pm/acquire.h"
#include "pm/resolving.h"

#define NAME_SHOWN       80   /* bytes of a word that names nothing */
#define HELP_PATIENCE_MS 1500 /* for the part of plugins in a help text */

struct subcommands {
    struct errand *errand;   /* gone once it has run */
    const struct dirs *dirs; /* the command's */
    struct str name;         /* to be run */
    struct resolving *resolving;
    struct resolution *res;
    struct acquire *acquire;
    struct timer *late; /* help does not wait for ever */
    struct strs argv;   /* empty: nothing is to be run */
    const struct plugin *plugin;
};

/* ---- the program ---- */

/* Programs that its plugin installed are found first, as by a hook (HK-6). */
static void set_environment(struct arena *a, const struct subcommands *s)
{
    const struct plugin *p = s->plugin;
    struct str front = install_path_prefix(a, s->dirs->cache, &p, 1);
    const char *path = getenv("PATH");

    if (front.n)
        setenv("PATH",
               arena_printf(a, "%.*s%s%s", STR_F(front), path ? ":" : "", path ? path : ""), 1);
}

/* In our place: the terminal, signals and the exit status are its own. */
static int become(struct arena *a, const struct subcommands *s, char **rest)
{
    size_t n = 0;
    char **argv;

    while (rest[n])
        n++;
    argv = ARENA_ARRAY(a, char *, s->argv.n + n + 1);
    for (size_t i = 0; i < s->argv.n; i++)
        argv[i] = arena_z(a, s->argv.v[i]);
    memcpy(argv + s->argv.n, rest, n * sizeof *rest);
    set_environment(a, s);
    fflush(NULL);
    execvp(argv[0], argv);
    return cli_fail(EXIT_FAILED, "'%.*s' of plugin '%.*s': cannot run '%s': %s", STR_F(s->name),
                    STR_F(s->plugin->name), argv[0], strerror(errno));
}

/* ---- which one ---- */

static int unknown(const struct subcommands *s)
{
    return cli_fail(EXIT_USAGE, "no command '%.*s'; 'symposium help' lists them",
                    STR_F(utf8_cut(s->name, NAME_SHOWN)));
}

static int clash(const struct active_subcommand *x, const struct active_subcommand *y)
{
    return cli_fail(EXIT_FAILED,
                    "the plugins '%.*s' and '%.*s' both have a subcommand '%.*s'; list one of "
                    "them in [plugins] disable of config.toml",
                    STR_F(x->plugin->name), STR_F(y->plugin->name), STR_F(x->def->name));
}

static void on_progress(void *ctx, struct str line)
{
    struct subcommands *s = ctx;

    errand_say(s->errand, line);
}

static void on_acquired(void *ctx, const struct acquired *got, const struct error *why)
{
    struct subcommands *s = ctx;
    struct arena *a = s->errand->a;

    s->acquire = NULL;
    errand_clear(s->errand);
    for (size_t i = 0; i < got->problems.n; i++)
        cli_fail(EXIT_FAILED, "%.*s", STR_F(got->problems.v[i]));
    for (size_t i = 0; !why && i < got->argv.n; i++)
        ARENA_PUSH(a, &s->argv) = arena_str(a, got->argv.v[i]);
    errand_end(s->errand, why ? cli_fail(EXIT_FAILED, "'%.*s' of plugin '%.*s': %s",
                                         STR_F(s->name), STR_F(s->plugin->name), why->msg)
                              : EXIT_OK);
}

/* On first use it is fetched or built. */
static void acquire(struct subcommands *s, const struct active_subcommand *c)
{
    static const struct acquire_ops ops = { on_progress, on_acquired };
    struct install_use use = { .name = c->def->command };
    struct install_plan plan;
    struct acquire_opts o = { .cache_dir = s->errand->dirs->cache,
                              .plan = &plan,
                              .level =
                                  s->errand->level_given ? s->errand->level : UPDATE_CHECK };
    struct error e;

    s->plugin = c->plugin;
    if (!install_plan_make(&plan, s->errand->a, c->plugin, &use, &e)) {
        errand_end(s->errand, cli_fail(EXIT_FAILED, "'%.*s' of plugin '%.*s': %s",
                                       STR_F(s->name), STR_F(c->plugin->name), e.msg));
        return;
    }
    s->acquire = acquire_start(s->errand->loop, &o, &ops, s);
}

static void run(struct subcommands *s)
{
    const struct active_subcommand *found = NULL;

    for (size_t i = 0; i < s->res->subcommands.n; i++) {
        const struct active_subcommand *c = &s->res->subcommands.v[i];

        if (!str_eq(c->def->name, s->name))
            continue;
        if (found) {
            errand_end(s->errand, clash(found, c));
            return;
        }
        found = c;
    }
    if (!found)
        errand_end(s->errand, unknown(s));
    else if (!found->trusted)
        errand_end(s->errand,
                   cli_fail(EXIT_FAILED, "'%.*s' of plugin '%.*s': " UNTRUSTED_REASON,
                            STR_F(s->name), STR_F(found->plugin->name)));
    else
        acquire(s, found);
}

/* ---- the errand ---- */

static void on_resolved(void *ctx, struct resolution *res)
{
    struct subcommands *s = ctx;

    s->resolving = NULL;
    s->res = res;
    errand_say(s->errand, (struct str){ 0 });
    if (s->name.n)
        run(s);
    else
        errand_end(s->errand, EXIT_OK);
}

static void on_late(void *ctx)
{
    struct subcommands *s = ctx;

    errand_end(s->errand, EXIT_FAILED);
}

static void begin(struct errand *e, void *ctx)
{
    struct subcommands *s = ctx;
    struct resolving_opts o = {
        .dirs = e->dirs, .start_dir = e->start_dir, .level = UPDATE_NONE, .pms = e->pms
    };
    struct error why;

    s->errand = e;
    s->dirs = e->dirs;
    errand_say(e, STR("looking at the workspace"));
    s->resolving = resolving_begin(e->loop, &o, on_resolved, s, &why);
    if (!s->resolving) {
        errand_end(e, s->name.n ? unknown(s) : EXIT_FAILED);
    } else if (!s->name.n) {
        s->late = timer_new(e->loop, on_late, s);
        timer_set(s->late, HELP_PATIENCE_MS);
    }
}

/* The resolution stays: what is run or listed is in it. */
static void cancel(void *ctx)
{
    struct subcommands *s = ctx;

    timer_free(take_ptr(&s->late));
    resolving_cancel(take_ptr(&s->resolving));
    acquire_cancel(take_ptr(&s->acquire));
}

static const struct errand_job job = { begin, cancel };

int subcommand_run(struct arena *a, char **argv, int at)
{
    struct subcommands s = { .name = str_of(argv[at]) };
    struct args args;
    struct error e;
    int status;

    if (!args_parse(&args, a, at, argv, &e))
        return cli_fail(EXIT_USAGE, "%s", e.msg);
    cli_set_globals(&args);
    status = errand_run(a, &args, &job, &s);
    if (status == EXIT_OK && s.argv.n)
        status = become(a, &s, argv + at + 1);
    resolution_free(s.res);
    return status;
}

/* ---- help ---- */

static struct resolution *resolve(struct arena *a, const struct args *args)
{
    struct subcommands s = { 0 };

    if (errand_run(a, args, &job, &s) == EXIT_OK)
        return s.res;
    resolution_free(s.res);
    return NULL;
}

static void put_audience(const struct resolution *res, bool for_humans, FILE *to)
{
    bool any = false;

    for (size_t i = 0; i < res->subcommands.n; i++) {
        const struct active_subcommand *c = &res->subcommands.v[i];

        if (c->def->for_humans != for_humans)
            continue;
        if (!any)
            fprintf(to, "\nFrom plugins, for %s:\n", for_humans ? "people" : "agents");
        any = true;
        fprintf(to, "  %-13.*s ", STR_F(c->def->name));
        out_put_words(to, c->def->description);
        fputs("  (", to);
        out_put_words(to, c->plugin->name);
        fputs(c->trusted ? ")\n" : ", not trusted yet)\n", to);
    }
}

void subcommands_put(struct arena *a, const struct args *args, FILE *to)
{
    struct resolution *res = resolve(a, args);

    if (!res)
        return;
    put_audience(res, true, to);
    put_audience(res, false, to);
    resolution_free(res);
}

void subcommands_put_events(struct arena *a, const struct args *args, struct report *to)
{
    struct resolution *res = resolve(a, args);

    for (size_t i = 0; res && i < res->subcommands.n; i++) {
        const struct active_subcommand *c = &res->subcommands.v[i];
        struct jw *w = report_event(to, "subcommand");

        jw_kstr(w, "name", c->def->name);
        jw_kstr(w, "summary", c->def->description);
        jw_kstrz(w, "audience", c->def->for_humans ? "humans" : "agents");
        jw_kstr(w, "plugin", c->plugin->name);
        jw_kbool(w, "trusted", c->trusted);
        jw_end(w);
    }
    resolution_free(res);
}
