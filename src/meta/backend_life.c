/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/timer.h"
#include "meta/backend_impl.h"
#include "meta/launch.h"
#include "meta/toolcache.h"

static const char *const state_names[] = {
    [BACKEND_COLD] = "cold",
    [BACKEND_STARTING] = "starting",
    [BACKEND_READY] = "ready",
    [BACKEND_FAILED] = "failed",
};

static const unsigned next_of[] = {
    [BACKEND_COLD] = 1u << BACKEND_STARTING,
    [BACKEND_STARTING] = 1u << BACKEND_READY | 1u << BACKEND_COLD | 1u << BACKEND_FAILED,
    [BACKEND_READY] = 1u << BACKEND_COLD | 1u << BACKEND_FAILED,
    [BACKEND_FAILED] = 0,
};

const char *backend_state_name(enum backend_state s)
{
    return state_names[s];
}

void backend_enter(struct backend *b, enum backend_state to)
{
    assert(next_of[b->state] & 1u << to);
    log_debug("%.*s: %s -> %s", STR_F(b->def.name), state_names[b->state], state_names[to]);
    b->state = to;
}

static void changed(struct backend *b)
{
    if (b->env->on_change)
        b->env->on_change(b->env->ctx);
}

/* ---- start and end of the process ---- */

void backend_release_start(struct backend *b)
{
    if (!b->holds_start)
        return;
    b->holds_start = false;
    b->env->starting--;
    for (struct backend *other = b->env->all; other; other = other->next_all)
        if (other->queued)
            timer_set(other->kick, 0);
}

bool backend_take_start(struct backend *b)
{
    b->queued = b->env->starting >= BACKEND_MAX_STARTS;
    if (b->queued)
        return false;
    b->env->starting++;
    b->holds_start = true;
    return true;
}

static void note_failure(struct backend *b, const struct error *why)
{
    if (!b->failure)
        b->failure = NEW(struct error);
    *b->failure = *why;
}

static void start_failed(struct backend *b, const struct error *why)
{
    int64_t delay = 1000;

    note_failure(b, why);
    backend_release_start(b);
    if (++b->attempts > b->env->max_restarts) {
        backend_enter(b, BACKEND_FAILED);
        error_wrap(b->failure, "failed %d time%s, not tried again in this session", b->attempts,
                   b->attempts == 1 ? "" : "s");
    } else {
        for (int i = 1; i < b->attempts && delay < BACKEND_MAX_DELAY_MS; i++)
            delay *= 2;
        b->next_try_ms =
            clock_ms() + (delay < BACKEND_MAX_DELAY_MS ? delay : BACKEND_MAX_DELAY_MS);
        backend_enter(b, BACKEND_COLD);
    }
    log_info("%.*s: %s", STR_F(b->def.name), why->msg);
    changed(b);
    backend_fail_waiting(b, b->failure);
    timer_set(b->kick, 0);
}

static void ended_when_ready(struct backend *b, const struct error *why)
{
    bool stable = clock_ms() - b->ready_ms >= b->env->stable_reset_ms;

    if (stable)
        b->attempts = 0;
    else if (!b->stopping)
        b->attempts++;
    b->next_try_ms = 0;
    if (!b->stopping && b->attempts > b->env->max_restarts) {
        note_failure(b, why);
        error_wrap(b->failure, "crashed %d times, not started again in this session",
                   b->attempts);
        backend_enter(b, BACKEND_FAILED);
    } else {
        backend_enter(b, BACKEND_COLD);
    }
    if (!b->stopping)
        log_info("%.*s: %s", STR_F(b->def.name), why->msg);
    changed(b);
    timer_set(b->kick, 0);
}

void backend_drop_client(struct backend *b)
{
    struct mcp_client *client = b->client;

    b->client = NULL;
    b->listing = b->list_again = false;
    timer_clear(b->idle);
    if (client)
        b->route = *mcp_client_route(client);
    mcp_client_free(client);
}

static void on_closed(void *ctx, const struct error *why)
{
    struct backend *b = ctx;
    struct error copy = *why;

    backend_drop_client(b);
    if (b->state == BACKEND_STARTING && !b->stopping) {
        start_failed(b, &copy);
        return;
    }
    if (b->state == BACKEND_STARTING) {
        backend_release_start(b);
        backend_enter(b, BACKEND_COLD);
        changed(b);
        timer_set(b->kick, 0);
        return;
    }
    ended_when_ready(b, &copy);
}

static void became_ready(struct backend *b)
{
    backend_release_start(b);
    b->ready_ms = clock_ms();
    backend_enter(b, BACKEND_READY);
    timer_set(b->idle, b->env->idle_ms ? b->env->idle_ms : BACKEND_IDLE_MS);
    changed(b);
    backend_progress(b);
}

/* A list like the one on disk is not written again: a start costs no fsync. */
static void save_cache(struct backend *b, const struct toolset *before)
{
    const struct toolset *tools = inventory_tools(b->inv);
    struct str info = mcp_client_server_info(b->client);
    struct error e;

    if (!b->env->cache_dir)
        return;
    if (before && toolcache_is_same(before, tools, b->last_modern, info))
        return;
    if (!toolcache_store(b->env->cache_dir, b->cache_key, tools, b->last_modern, info, &e))
        log_debug("%.*s: tool cache not written: %s", STR_F(b->def.name), e.msg);
}

static void take_list(struct backend *b, struct toolset *tools, struct str note)
{
    struct inventory *before = b->inv ? inventory_ref(b->inv) : NULL;

    b->last_modern = mcp_client_modern(b->client);
    backend_adopt(b, tools, note);
    save_cache(b, before ? inventory_tools(before) : NULL);
    inventory_unref(before);
}

static void on_listed(void *ctx, struct str tools, struct str note, const struct error *e)
{
    struct backend *b = ctx;
    struct toolset set;
    struct error why;
    bool first = b->state == BACKEND_STARTING;

    if (!b->listing)
        return; /* the connection is being dropped */
    b->listing = false;
    if (!e && !toolset_load(&set, tools, &why))
        e = &why;
    if (e && first) {
        mcp_client_start_error(b->client, "tools/list", e, &why);
        backend_drop_client(b);
        start_failed(b, &why);
        return;
    }
    if (e)
        log_info("%.*s: tools could not be listed again: %s", STR_F(b->def.name), e->msg);
    else
        take_list(b, &set, note);
    if (first) {
        became_ready(b);
        return;
    }
    changed(b);
    if (b->list_again) {
        b->list_again = false;
        b->listing = true;
        mcp_client_list_tools(b->client, b->def.startup_timeout_ms, on_listed, b);
    }
}

static void on_ready(void *ctx)
{
    struct backend *b = ctx;
    int64_t left = b->started_ms + b->def.startup_timeout_ms - clock_ms();

    b->listing = true;
    mcp_client_list_tools(b->client, left > 1 ? (int)left : 1, on_listed, b);
}

static void on_tools_changed(void *ctx)
{
    struct backend *b = ctx;

    if (b->state != BACKEND_READY)
        return;
    b->list_again = b->listing;
    if (b->listing)
        return;
    b->listing = true;
    mcp_client_list_tools(b->client, b->def.startup_timeout_ms, on_listed, b);
}

void backend_on_idle(void *ctx)
{
    struct backend *b = ctx;

    if (b->state != BACKEND_READY || b->called || b->wants)
        return;
    b->stopping = true;
    mcp_client_stop(b->client, b->env->ladder);
}

/* The start-up time-out begins here: nothing that was installed before counts (MS-59). */
static void start_client(struct backend *b, const struct strs *program)
{
    static const struct mcp_client_ops ops = { on_ready, on_closed, on_tools_changed };
    auto_arena a = ARENA;
    struct active_server def = program ? launch_with(&a, &b->def, program) : b->def;
    struct mcp_client_opts o;

    launch_options(&a, &def, &o);
    if (b->inv)
        o.era = b->last_modern ? MCP_ERA_MODERN : MCP_ERA_LEGACY;
    b->started_ms = clock_ms();
    b->client = mcp_client_start(b->env->loop, &o, &ops, b);
}

/* ---- what has to be there before ---- */

static void on_progress(void *ctx, struct str line)
{
    struct backend *b = ctx;

    free(b->installing);
    b->installing = str_dup(line);
    changed(b);
}

void backend_end_acquire(struct backend *b)
{
    free(b->installing);
    b->installing = NULL;
    b->acquire = NULL;
}

static void note_unmet(struct backend *b, const struct strs *problems)
{
    auto_buf text = BUF(2 * ERROR_MSG_MAX);

    free(b->unmet);
    b->unmet = NULL;
    for (size_t i = 0; i < problems->n; i++)
        buf_addf(&text, "%s%.*s", i ? "; " : "", STR_F(problems->v[i]));
    if (problems->n)
        b->unmet = buf_take(&text);
}

static void on_acquired(void *ctx, const struct acquired *got, const struct error *why)
{
    struct backend *b = ctx;

    backend_end_acquire(b);
    b->prepared = true;
    note_unmet(b, &got->problems);
    if (why) {
        start_failed(b, why);
        return;
    }
    start_client(b, b->def.plan.runs ? &got->argv : NULL);
    changed(b);
}

static void acquire(struct backend *b)
{
    static const struct acquire_ops ops = { on_progress, on_acquired };
    struct acquire_opts o = { .cache_dir = b->env->cache_dir,
                              .plan = &b->def.plan,
                              .level = UPDATE_CHECK };

    backend_release_start(b); /* it may take long, and others need not wait for it */
    b->acquire = acquire_start(b->env->loop, &o, &ops, b);
}

/* Requirements are tried once; a program of an installation is looked for each time. */
static bool must_acquire(const struct backend *b)
{
    return b->def.plan.runs || (b->def.plan.n && !b->prepared);
}

void backend_start(struct backend *b)
{
    b->called = false;
    b->stopping = false;
    backend_enter(b, BACKEND_STARTING);
    if (must_acquire(b))
        acquire(b);
    else
        start_client(b, NULL);
    changed(b);
}
