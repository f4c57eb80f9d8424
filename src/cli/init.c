/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/errand.h"
#include "cli/prompt.h"
#include "cli/report.h"
#include "cli/sync.h"
#include "sync/config_file.h"

struct init {
    struct arena *a;
    const struct args *args;
    const struct dirs *dirs;
    struct sync_env env;
    struct config config;
    struct strs add, remove;
    const char *scope; /* --hook-scope; NULL: not given */
};

/* ---- which agents ---- */

/* What is configured stays chosen; at the first time what was found is. */
static bool choose(struct init *t)
{
    struct choice *v = ARENA_ARRAY(t->a, struct choice, sync_agents_n);
    struct choosing c = { .question = "Which agents should have symposium?",
                          .v = v,
                          .n = sync_agents_n,
                          .several = true };

    for (size_t i = 0; i < sync_agents_n; i++) {
        bool found = agent_detected(&sync_agents[i], &t->env);

        v[i] = (struct choice){
            .name = sync_agents[i].title,
            .note = found ? "(found here)" : NULL,
            .chosen = t->config.agents.n
                          ? strs_has(&t->config.agents, str_of(sync_agents[i].name))
                          : found,
        };
    }
    if (prompt_choose(&c) == CHOOSING_ESCAPED)
        return false;
    for (size_t i = 0; i < sync_agents_n; i++)
        ARENA_PUSH(t->a, v[i].chosen ? &t->add : &t->remove) = str_of(sync_agents[i].name);
    return true;
}

/* False after a message: nothing is to be done. */
static bool pick(struct init *t)
{
    if (t->add.n || t->remove.n || t->scope)
        return true;
    if (cli_interactive()) {
        if (choose(t))
            return true;
        fputs("Nothing was changed.\n", stderr);
        return false;
    }
    if (t->config.agents.n)
        return true;
    t->add = sync_agents_detect(t->a, &t->env);
    if (!t->add.n)
        cli_fail(EXIT_FAILED,
                 "no agent was found; name one: 'symposium init --add-agent NAME', where NAME "
                 "is one of %s",
                 agent_names(t->a));
    return t->add.n > 0;
}

/* ---- what is written ---- */

static bool write_config(struct init *t, struct error *e)
{
    for (size_t i = 0; i < t->add.n; i++)
        if (!config_add_agent(t->dirs, t->add.v[i], NULL, e))
            return false;
    for (size_t i = 0; i < t->remove.n; i++)
        if (!config_remove_agent(t->dirs, t->remove.v[i], NULL, e))
            return false;
    return !t->scope || config_set_hook_scope(t->dirs, !strcmp(t->scope, "project"), NULL, e);
}

static void put_events(const struct init *t, struct report *to, const struct sync_report *r)
{
    struct jw *w;

    sync_report_events(to, r);
    w = report_event(to, "init");
    jw_kbool(w, "ok", !r->failed);
    jw_kstr(w, "config", t->config.path);
    jw_kstrz(w, "hook_scope", t->config.hook_scope_project ? "project" : "global");
    strs_put(w, "agents", &t->config.agents);
    jw_end(w);
}

static void put_text(const struct init *t, const struct sync_report *r)
{
    bool project = t->config.hook_scope_project || t->config.mcp_scope_project;

    sync_report_print(r);
    if (cli.quiet)
        return;
    if (!t->config.agents.n) {
        puts("No agent is configured any more.");
        return;
    }
    fputs("Agents:", stdout);
    for (size_t i = 0; i < t->config.agents.n; i++)
        printf("%s %.*s", i ? "," : "", STR_F(t->config.agents.v[i]));
    printf("\n%s\n", project
                         ? "Next: 'symposium sync' in each project; with project scope only "
                           "that writes."
                         : "Next: 'symposium sync' in a project, then start your agent there.");
}

static int apply(struct init *t)
{
    struct sync_report r = SYNC_REPORT(t->a);
    struct agents_job job = { .dirs = t->dirs, .config = &t->config, .env = &t->env };

    config_load(&t->config, t->dirs, t->a);
    agents_apply(&job, &r);
    if (cli.json) {
        struct report to;

        report_begin(&to);
        put_events(t, &to, &r);
        if (!report_end(&to))
            return EXIT_FAILED;
    } else {
        put_text(t, &r);
    }
    return r.failed ? EXIT_FAILED : EXIT_OK;
}

/* Both lists come from the command line here. */
static bool contradict(const struct init *t)
{
    for (size_t i = 0; i < t->add.n; i++)
        for (size_t k = 0; k < t->remove.n; k++)
            if (str_eq(t->add.v[i], t->remove.v[k]))
                return true;
    return false;
}

int cmd_init(struct arena *a, const struct args *args)
{
    struct init t = {
        .a = a, .args = args, .dirs = cli_dirs(a), .scope = args_value(args, "--hook-scope")
    };
    struct error e;

    if (args->nwords)
        return cli_usage(args->command, "unexpected argument '%s'", args->words[0]);
    if (t.scope && strcmp(t.scope, "global") != 0 && strcmp(t.scope, "project") != 0)
        return cli_usage(args->command, "'--hook-scope' is global or project");
    if (!cli_agents(a, args, "--add-agent", &t.add) ||
        !cli_agents(a, args, "--remove-agent", &t.remove))
        return EXIT_USAGE;
    if (contradict(&t))
        return cli_usage(args->command, "one agent cannot be added and removed");
    if (!t.dirs)
        return EXIT_FAILED;
    if (!sync_env_read(&t.env, a, NULL, &e))
        return cli_fail(EXIT_FAILED, "%s", e.msg);
    config_load(&t.config, t.dirs, a);
    if (!pick(&t))
        return EXIT_FAILED;
    if (!write_config(&t, &e))
        return cli_fail(EXIT_FAILED, "%s", e.msg);
    return apply(&t);
}
