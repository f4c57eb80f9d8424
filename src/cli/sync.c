/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/sync.h"

#include <stdio.h>

#include "cli/candidates.h"
#include "cli/consent.h"
#include "cli/errand.h"
#include "cli/output.h"
#include "cli/report.h"
#include "plugins/resolve.h"

struct sync_command {
    struct errand *errand;
    struct syncing *syncing;
    struct syncing_opts o;
};

static void on_progress(void *ctx, struct str line)
{
    struct sync_command *c = ctx;

    errand_say(c->errand, line);
}

static bool decide(void *ctx, const struct resolution *res)
{
    struct sync_command *c = ctx;

    if (!candidates_count(res) || !cli_interactive())
        return false;
    errand_clear(c->errand);
    return candidates_ask(c->errand->a, c->errand->dirs, res);
}

static void put_summary(const struct sync_command *c, const struct syncing_end *end)
{
    const struct config *config = end->res ? &end->res->config : NULL;

    if (!config || cli.quiet)
        return;
    if (!config->agents.n && !c->o.only.n)
        puts("No agent is configured; 'symposium init' does that.");
    else if (!end->report->failed)
        printf("%s: %zu server%s, %zu skill%s for this workspace.\n",
               c->o.dry_run ? "Nothing was written" : "In sync", end->res->servers.n,
               end->res->servers.n == 1 ? "" : "s", end->skills, end->skills == 1 ? "" : "s");
    if (candidates_count(end->res))
        printf("%zu package%s of this workspace bring%s a plugin; 'symposium status' names "
               "them.\n",
               candidates_count(end->res), candidates_count(end->res) == 1 ? "" : "s",
               candidates_count(end->res) == 1 ? "s" : "");
}

static void put_result(struct report *r, const struct sync_command *c,
                       const struct syncing_end *end)
{
    struct jw *w = report_event(r, "sync");

    jw_kbool(w, "ok", !end->report->failed);
    jw_kbool(w, "dry_run", c->o.dry_run);
    if (end->res) {
        jw_kstr(w, "workspace", end->res->workspace.root);
        strs_put(w, "agents", &end->res->config.agents);
        jw_kint(w, "servers", (int64_t)end->res->servers.n);
        jw_kint(w, "skills", (int64_t)end->skills);
        jw_kint(w, "candidates", (int64_t)candidates_count(end->res));
    }
    jw_end(w);
}

static void on_done(void *ctx, const struct syncing_end *end)
{
    struct sync_command *c = ctx;
    int status = end->report->failed ? EXIT_FAILED : EXIT_OK;

    c->syncing = NULL;
    errand_clear(c->errand);
    if (cli.json) {
        struct report r;

        report_begin(&r);
        sync_report_events(&r, end->report);
        put_result(&r, c, end);
        status = report_end(&r) ? status : EXIT_FAILED;
    } else {
        sync_report_print(end->report);
        put_summary(c, end);
    }
    errand_end(c->errand, status);
}

static void begin(struct errand *e, void *ctx)
{
    static const struct syncing_ops ops = { on_progress, decide, on_done };
    struct sync_command *c = ctx;

    c->errand = e;
    c->o.dirs = e->dirs;
    c->o.start_dir = e->start_dir;
    c->o.level = e->level;
    c->o.missing = !e->level_given && !c->o.dry_run;
    c->o.pms = e->pms;
    if (cli_interactive() && !c->o.dry_run)
        consent_offer(e->a, e->dirs, e->start_dir);
    c->syncing = syncing_begin(e->loop, &c->o, &ops, c);
}

static void cancel(void *ctx)
{
    struct sync_command *c = ctx;

    syncing_cancel(c->syncing);
    c->syncing = NULL;
}

int cmd_sync(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin, cancel };
    struct sync_command c = { .o = { .dry_run = args_has(args, "--dry-run") } };

    if (args->nwords)
        return cli_usage(args->command, "unexpected argument '%s'; '--agent' names an agent",
                         args->words[0]);
    if (!cli_agents(a, args, "--agent", &c.o.only))
        return EXIT_USAGE;
    return errand_run(a, args, &job, &c);
}
