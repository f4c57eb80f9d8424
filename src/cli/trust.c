/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/mem.h"
#include "cli/consent.h"
#include "cli/errand.h"
#include "cli/output.h"
#include "pm/resolving.h"

struct trust_command {
    struct errand *errand;
    struct resolving *resolving;
    struct resolution *res; /* owns the plugins of packages in `consent` */
    struct consent consent;
};

static void put_manifest(struct arena *a, struct report *r, const struct plugin *p,
                         bool trusted)
{
    struct jw *w = report_event(r, "manifest");
    struct strs lines = { 0 };

    consent_lines(a, p, &lines);
    jw_kstr(w, "path", consent_place(p));
    jw_kstr(w, "sha256", p->manifest_sha256);
    jw_kbool(w, "trusted", trusted);
    strs_put(w, "runs", &lines);
    jw_end(w);
}

static int report(struct arena *a, const struct consent *c, bool trusted)
{
    struct report r;

    report_begin(&r);
    for (size_t i = 0; i < c->plugins.n; i++)
        put_manifest(a, &r, c->plugins.v[i], trusted || consent_given(c, c->plugins.v[i]));
    return report_end(&r) ? EXIT_OK : EXIT_FAILED;
}

static void say(const char *what, const struct consent *c)
{
    if (cli.quiet || cli.json)
        return;
    printf("%s ", what);
    out_put_text(stdout, c->workspace.root);
}

/* Changes nothing; the status tells whether consent is missing. */
static int show(struct arena *a, const struct consent *c)
{
    int status = cli.json ? report(a, c, false) : EXIT_OK;

    if (!cli.json)
        consent_show(stdout, a, c, true);
    return consent_missing(c) ? EXIT_FAILED : status;
}

static int take_back(struct arena *a, const struct dirs *dirs, const struct consent *c)
{
    struct consent after = *c;
    struct trust none = { 0 };
    struct error e;

    if (!consent_set(a, dirs, c, false, &e))
        return cli_fail(EXIT_FAILED, "%s", e.msg);
    say("No longer trusted:", c);
    after.trust = &none;
    return cli.json ? report(a, &after, false) : EXIT_OK;
}

/* A person sees what it is about and is asked. Elsewhere running the command is the consent. */
static int give(struct arena *a, const struct args *args, const struct dirs *dirs,
                const struct consent *c)
{
    struct error e;

    if (!cli.quiet && !cli.json)
        consent_show(stderr, a, c, false);
    if (!args_has(args, "--yes") && out_is_terminal(stdin) && !consent_ask("Trust it?")) {
        say("Not trusted:", c);
        return EXIT_FAILED;
    }
    if (!consent_set(a, dirs, c, true, &e))
        return cli_fail(EXIT_FAILED, "%s", e.msg);
    say("Trusted:", c);
    return cli.json ? report(a, c, true) : EXIT_OK;
}

/* There is nothing to ask. */
static int nothing_to_do(struct arena *a, const struct consent *c)
{
    if (!c->plugins.n)
        say("Nothing in this workspace runs a program:", c);
    else if (c->config.trust_workspace_always)
        say("Trusted by [plugins] trust-workspace:", c);
    else
        say("Already trusted:", c);
    return cli.json ? report(a, c, false) : EXIT_OK;
}

/* ---- what there is to consent to ---- */

static void on_resolved(void *ctx, struct resolution *res)
{
    struct trust_command *t = ctx;

    t->resolving = NULL;
    t->res = res;
    consent_add_packages(&t->consent, t->errand->a, res);
    errand_end(t->errand, EXIT_OK);
}

/* The consent is given behind the loop, where Ctrl-C at the question ends us. */
static void begin(struct errand *e, void *ctx)
{
    struct trust_command *t = ctx;
    struct resolving_opts o = { .dirs = e->dirs, .start_dir = e->start_dir, .pms = e->pms };
    struct error why;

    t->errand = e;
    if (!consent_find(&t->consent, e->a, e->dirs, e->start_dir, &why)) {
        errand_end(e, cli_fail(EXIT_FAILED, "%s", why.msg));
        return;
    }
    consent_add_agents(&t->consent, e->a, e->start_dir);
    if (args_has(e->args, "--remove")) {
        errand_end(e, EXIT_OK);
        return;
    }
    t->resolving = resolving_begin(e->loop, &o, on_resolved, t, &why);
    if (!t->resolving)
        errand_end(e, cli_fail(EXIT_FAILED, "%s", why.msg));
}

static void cancel(void *ctx)
{
    struct trust_command *t = ctx;

    resolving_cancel(take_ptr(&t->resolving));
}

static int act(struct arena *a, const struct args *args, const struct consent *c)
{
    const struct dirs *dirs = cli_dirs(a);

    if (args_has(args, "--remove"))
        return take_back(a, dirs, c);
    if (args_has(args, "--show") && c->plugins.n)
        return show(a, c);
    return consent_missing(c) ? give(a, args, dirs, c) : nothing_to_do(a, c);
}

int cmd_trust(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin, cancel };
    struct trust_command t = { 0 };
    int status;

    if (args->nwords)
        return cli_usage(args->command,
                         "unexpected argument '%s'; --workspace names a directory",
                         args->words[0]);
    if (args_has(args, "--show") && args_has(args, "--remove"))
        return cli_usage(args->command,
                         "'--show' changes nothing, '--remove' does: one of them");
    status = errand_run(a, args, &job, &t);
    if (status == EXIT_OK)
        status = act(a, args, &t.consent);
    resolution_free(t.res);
    return status;
}
