/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/symm/symm.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "loop/timer.h"
#include "servers/symm/impl.h"

/* Beyond the time that all runs have to end in: a disk that does not answer. */
#define LAST_MS (RUN_SHUTDOWN_MS + 1000)

/* ---- the end ---- */

static void on_stopped(void *ctx)
{
    struct symm *s = ctx;
    struct server *server = take_ptr(&s->server);

    timer_free(take_ptr(&s->last));
    timer_free(take_ptr(&s->tidy));
    service_free(take_ptr(&s->service));
    server_stopped(server);
}

/* Nothing that we started outlives us: its keepers see to that. */
static void on_last(void *ctx)
{
    (void)ctx;
    log_error("the tasks did not end within %d s: the ledger's disk does not answer",
              LAST_MS / 1000);
    _exit(1);
}

static void on_stop(void *ctx, struct server *server, bool at_once)
{
    struct symm *s = ctx;

    (void)server;
    (void)at_once; /* the ladder of TK-21 is as short as it can be */
    if (s->last)
        return;
    service_on_change(s->service, NULL, NULL);
    timer_clear(s->tidy);
    s->last = timer_new(server_loop(server), on_last, s);
    timer_set(s->last, LAST_MS);
    service_shutdown(s->service, on_stopped, s);
}

static void on_input_ended(void *ctx)
{
    struct symm *s = ctx;

    service_hurry(s->service);
}

/* ---- the definition ---- */

static void on_start(void *ctx, struct server *server)
{
    struct symm *s = ctx;

    s->server = server;
    s->service = service_new(server_loop(server), s->config);
    s->tidy = timer_new(server_loop(server), symm_resource_tidy, s);
    service_on_change(s->service, symm_resource_changed, s);
}

static const struct mcp_extension extensions[] = { { SYMM_TASKS_EXTENSION, "{}" } };

static const struct mcp_method_def methods[] = {
    { "tasks/get", symm_handle_get, SYMM_TASKS_EXTENSION, true },
    { "tasks/update", symm_handle_update, SYMM_TASKS_EXTENSION, true },
    { "tasks/cancel", symm_handle_cancel, SYMM_TASKS_EXTENSION, true },
};

static const struct server_spec definition = {
    .mcp = {
        .name = "symm-mcp",
        .title = "Tasks",
        .instructions =
            "Hand work to other coding agents. spawn_task starts one; wait_tasks waits for it, "
            "get_events shows what it does, get_task what it said in the end. Then judge the "
            "result with resolve_task (accepted, rejected, needs_followup, superseded); for a "
            "follow-up spawn again with its session_id. Status says how the run ended, "
            "resolution what you think of it. All agents of this user share one list of tasks.",
        .list_scope = MCP_SCOPE_PRIVATE,
        .resource_scope = MCP_SCOPE_PRIVATE,
        .resources_list = symm_resource_list,
        .resources_templates_list = symm_resource_templates,
        .resources_read = symm_resource_read,
        .no_resource = "no such task",
        .resources_watchable = symm_resource_watchable,
        .resources_watched = symm_resource_watched,
        .extensions = extensions,
        .nextensions = ARRAY_LEN(extensions),
        .methods = methods,
        .nmethods = ARRAY_LEN(methods),
        .input_ended = on_input_ended,
    },
    .split_advice = "get_events with a smaller limit or max_bytes, and after_seq.",
    .start = on_start,
    .stop = on_stop,
};

int symm_run(const struct symm_opts *o)
{
    auto_arena a = ARENA;
    const char *path = getenv("PATH");
    const struct service_config config = {
        .config = o->config,
        .dirs = o->dirs,
        .cwd = o->cwd,
        .self = o->self,
        .env = (const char *const *)environ,
    };
    struct symm s = { .config = &config };
    struct server_spec def = definition;
    struct adapters all;
    struct symm_tools tools;

    adapters_load(&all, &a, o->config);
    for (size_t i = 0; i < all.problems.n; i++)
        log_warn("%.*s", STR_F(all.problems.v[i]));
    symm_tools_make(&tools, &a, &all, path ? path : "");
    def.tools = tools.v;
    def.ntools = SYMM_TOOLS;
    return server_run(&def, &s);
}
