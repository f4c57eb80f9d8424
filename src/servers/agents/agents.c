/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/agents.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "loop/timer.h"
#include "plugins/trust.h"
#include "servers/agents/impl.h"

/* ---- the end (AG-19) ---- */

static void on_recorded(void *ctx)
{
    struct agents *s = ctx;
    struct server *server = take_ptr(&s->server);

    timer_free(take_ptr(&s->last));
    recorder_free(take_ptr(&s->recorder));
    server_stopped(server);
}

static void finish(struct agents *s)
{
    sessions_free(take_ptr(&s->sessions));
    if (s->recorder)
        recorder_flush(s->recorder, on_recorded, s);
    else
        on_recorded(s);
}

/* Only while it stops: outside of that idleness is nothing special. */
static void on_idle(void *ctx)
{
    struct agents *s = ctx;

    if (s->last)
        timer_set(s->last, 0);
}

/* Nothing runs any more, or it took too long. The second time the disk does not answer. */
static void on_last(void *ctx)
{
    struct agents *s = ctx;

    if (!s->sessions) {
        log_error("the ledger's disk does not answer");
        _exit(1);
    }
    timer_set(s->last, AGENTS_SHUTDOWN_MS);
    finish(s);
}

static void on_stop(void *ctx, struct server *server, bool at_once)
{
    struct agents *s = ctx;

    (void)at_once;
    if (s->last)
        return;
    s->last = timer_new(server_loop(server), on_last, s);
    timer_set(s->last, AGENTS_SHUTDOWN_MS);
    sessions_cancel(s->sessions);
}

static void on_input_ended(void *ctx)
{
    agents_end_waits(ctx);
}

/* ---- the beginning ---- */

static void on_change(void *ctx, struct session *session)
{
    agents_changed(ctx, session);
}

/* Asked anew each time: the consent may have been given meanwhile. */
static bool may_run(void *ctx, const struct agent_def *d)
{
    const struct agents *s = ctx;
    const struct agents_opts *o = s->o;

    return !agent_asks(d) || o->config->trust_workspace_always ||
           (o->dirs && trust_has(o->dirs, o->root, d->sha256));
}

static void on_start(void *ctx, struct server *server)
{
    static const struct sessions_ops ops = { on_change, on_idle };
    struct agents *s = ctx;
    const struct agents_opts *o = s->o;
    struct sessions_opts so = { &s->env, &s->roster, &s->skills, NULL, may_run, s };

    s->server = server;
    s->env.loop = server_loop(server);
    if (o->dirs && s->roster.n) {
        const struct ledger_config config = { o->dirs->state, o->config->tasks_keep_days,
                                              o->config->tasks_keep_tasks,
                                              o->config->tasks_keep_mb };

        so.recorder = s->recorder = recorder_new(s->env.loop, &config, session_cancel);
    }
    s->sessions = sessions_new(&so, &ops, s);
}

static void warn_agent(void *ctx, const char *line)
{
    (void)ctx;
    log_warn("%s", line);
}

static void warn_skill(const char *line)
{
    log_warn("%s", line);
}

static const struct server_spec definition = {
    .mcp = {
        .name = "mcp-agents",
        .title = "Agents",
        .instructions =
            "Agents work in the background with a context of their own. Start one with "
            "spawn_agent and keep its agent_id; send follow-ups with send_input; get results "
            "with wait_agent, which waits for all of the agents you name.",
        .input_ended = on_input_ended,
    },
    .split_advice = "wait for fewer agents at once.",
    .start = on_start,
    .stop = on_stop,
};

/* What an agent starts runs as the same user: without this it could read the credentials in
 * /proc (AG-26). A leak checker wants to look at us as a debugger does. */
static void hide_environment(void)
{
#ifndef SYM_SANITIZED
    prctl(PR_SET_DUMPABLE, 0);
#endif
}

int agents_run(const struct agents_opts *o)
{
    const struct agent_settings settings = { &o->config->agent_models,
                                             !o->config->agents_builtin_servers };
    const struct roster_opts roster = { &settings, warn_agent, NULL };
    struct agents s = {
        .o = o, .env = { .self = o->self, .active = o->active, .mcp = &o->config->mcp }
    };
    struct server_spec def = definition;
    struct tool tools[AGENTS_TOOLS];
    struct strs credentials = { 0 };
    auto_arena a = ARENA;
    struct error e;
    int status;

    if (!roster_load(&s.roster, &a, o->workspace, &roster, &e) ||
        !skillset_load(&s.skills, s.roster.workspace, NULL, warn_skill, &e)) {
        fprintf(stderr, "Error: %s\n", e.msg);
        return 1;
    }
    s.env.workspace = s.roster.workspace;
    for (size_t i = 0; i < s.roster.n; i++)
        if (s.roster.v[i].env_key.n && !strs_has(&credentials, s.roster.v[i].env_key))
            ARENA_PUSH(&a, &credentials) = s.roster.v[i].env_key;
    s.env.credentials = &credentials;
    hide_environment();
    agents_tools_make(tools, &a, &s.roster);
    def.tools = tools;
    def.ntools = s.roster.n ? AGENTS_TOOLS : 0;
    s.def = &def;
    status = server_run(&def, &s);
    skillset_free(&s.skills);
    return status;
}
