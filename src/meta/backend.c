/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/backend.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/timer.h"
#include "meta/definition.h"
#include "meta/inventory.h"
#include "meta/launch.h"
#include "meta/toolcache.h"
#include "pm/acquire.h"

enum want_kind { WANT_TOOLS, WANT_CALL };

/* One description or call that has not ended. */
struct want {
    struct want *next;
    uint64_t handle;
    enum want_kind kind;
    backend_known_fn known;
    backend_answer_fn answer;
    void *ctx;
    struct str key; /* owned */
    char *args;
    uint64_t client_call; /* 0: not sent */
    const struct tool *tool;
    struct inventory *inv; /* keeps `tool` alive */
    struct backend *b;
};

struct backend {
    struct backend_env *env;
    struct backend *next_all;
    int refs;
    struct arena arena; /* the definition */
    struct active_server def;
    struct tool_filter filter;
    struct str cache_key;

    enum backend_state state;
    struct mcp_client *client;
    struct inventory *inv;
    bool last_modern, cache_known;
    int attempts;
    int64_t next_try_ms; /* monotonic; 0: at once */
    int64_t started_ms, ready_ms;
    bool called;   /* since the start: not a server started only to be described */
    bool stopping; /* the coming end is ours */
    bool shut;
    bool listing, list_again;
    bool queued;           /* waits for one of the BACKEND_MAX_STARTS places */
    bool holds_start;      /* has one of them */
    struct error *failure; /* of the last start, or the crash that was one too many; owned,
                            * and NULL before: most of a backend's size, and few have one */

    struct acquire *acquire; /* what has to be there before the start; then client is NULL */
    bool prepared;           /* that was done or tried once */
    char *installing;        /* for people; NULL: nothing is */
    char *unmet;             /* requirements that failed; NULL: none */

    struct want *wants;
    uint64_t last_handle;
    struct timer *kick, *idle;
};

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

static void progress(void *ctx);

const char *backend_state_name(enum backend_state s)
{
    return state_names[s];
}

static void enter(struct backend *b, enum backend_state to)
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

/* ---- inventory ---- */

static void adopt(struct backend *b, struct toolset *tools, struct str note)
{
    struct inventory *old = b->inv;

    b->inv = inventory_new(b->def.name, tools, old, &b->filter, note);
    inventory_unref(old);
}

static void load_cache(struct backend *b)
{
    struct toolcache_entry entry;

    if (b->cache_known || b->inv)
        return;
    b->cache_known = true;
    b->cache_key = toolcache_key(&b->arena, &b->def);
    if (!b->env->cache_dir || !toolcache_load(b->env->cache_dir, b->cache_key, &entry))
        return;
    b->last_modern = entry.modern;
    adopt(b, &entry.tools, (struct str){ 0 });
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

/* ---- wants ---- */

static struct want *new_want(struct backend *b, enum want_kind kind, void *ctx)
{
    struct want *w = NEW(struct want), **at = &b->wants;

    *w = (struct want){ .handle = ++b->last_handle, .kind = kind, .ctx = ctx, .b = b };
    while (*at)
        at = &(*at)->next;
    *at = w;
    return w;
}

static void free_want(struct want *w)
{
    inventory_unref(w->inv);
    free((char *)w->key.p);
    free(w->args);
    free(w);
}

static void unlink_want(struct backend *b, struct want *w)
{
    struct want **at = &b->wants;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    /* A retired backend goes when its last call has ended. */
    if (!b->refs && !b->wants)
        timer_set(b->kick, 0);
}

/* Ends a want: unlinked first, called last. */
static void conclude(struct backend *b, struct want *w, yyjson_val *result,
                     const struct error *e)
{
    struct backend_answer answer = { .tool = w->tool, .result = result, .e = e };

    unlink_want(b, w);
    if (w->known)
        w->known(w->ctx, e);
    if (w->answer)
        w->answer(w->ctx, &answer);
    free_want(w);
}

/*
 * The next want that is not at the server. Handles grow along the list, so a loop that
 * remembers the last one survives whatever a callback adds or cancels; `upto` keeps it from
 * what was added meanwhile.
 */
static struct want *next_waiting(const struct backend *b, uint64_t after, uint64_t upto)
{
    for (struct want *w = b->wants; w && w->handle <= upto; w = w->next)
        if (w->handle > after && !w->client_call)
            return w;
    return NULL;
}

static void on_called(void *ctx, yyjson_val *result, const struct error *e)
{
    struct want *w = ctx;

    w->client_call = 0;
    conclude(w->b, w, result, e);
}

/* Resolves the key and sends the call; false with *e when it does not resolve. */
static bool send_call(struct backend *b, struct want *w, struct error *e)
{
    const struct tool *t = names_resolve(&b->inv->names, w->key, e);

    if (!t)
        return false;
    inventory_unref(w->inv);
    w->tool = t;
    w->inv = inventory_ref(b->inv);
    b->called = true;
    timer_clear(b->idle);
    w->client_call = mcp_client_call(b->client, t->name, str_of(w->args),
                                     b->def.tool_call_timeout_ms, on_called, w);
    return true;
}

static void fail_waiting(struct backend *b, const struct error *why)
{
    uint64_t upto = b->last_handle;
    struct want *w;

    while ((w = next_waiting(b, 0, upto)))
        conclude(b, w, NULL, why);
}

/* ---- start and end of the process ---- */

/* Gives its place among the starting ones to those that wait for one. */
static void release_start(struct backend *b)
{
    if (!b->holds_start)
        return;
    b->holds_start = false;
    b->env->starting--;
    for (struct backend *other = b->env->all; other; other = other->next_all)
        if (other->queued)
            timer_set(other->kick, 0);
}

static bool take_start(struct backend *b)
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
    release_start(b);
    if (++b->attempts > b->env->max_restarts) {
        enter(b, BACKEND_FAILED);
        error_wrap(b->failure, "failed %d time%s, not tried again in this session", b->attempts,
                   b->attempts == 1 ? "" : "s");
    } else {
        for (int i = 1; i < b->attempts && delay < BACKEND_MAX_DELAY_MS; i++)
            delay *= 2;
        b->next_try_ms =
            clock_ms() + (delay < BACKEND_MAX_DELAY_MS ? delay : BACKEND_MAX_DELAY_MS);
        enter(b, BACKEND_COLD);
    }
    log_info("%.*s: %s", STR_F(b->def.name), why->msg);
    changed(b);
    fail_waiting(b, b->failure);
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
        enter(b, BACKEND_FAILED);
    } else {
        enter(b, BACKEND_COLD);
    }
    if (!b->stopping)
        log_info("%.*s: %s", STR_F(b->def.name), why->msg);
    changed(b);
    timer_set(b->kick, 0);
}

static void drop_client(struct backend *b)
{
    struct mcp_client *client = b->client;

    b->client = NULL;
    b->listing = b->list_again = false;
    timer_clear(b->idle);
    mcp_client_free(client);
}

static void on_closed(void *ctx, const struct error *why)
{
    struct backend *b = ctx;
    struct error copy = *why;

    drop_client(b);
    if (b->state == BACKEND_STARTING && !b->stopping) {
        start_failed(b, &copy);
        return;
    }
    if (b->state == BACKEND_STARTING) {
        release_start(b);
        enter(b, BACKEND_COLD);
        timer_set(b->kick, 0);
        return;
    }
    ended_when_ready(b, &copy);
}

static void became_ready(struct backend *b)
{
    release_start(b);
    b->ready_ms = clock_ms();
    enter(b, BACKEND_READY);
    timer_set(b->idle, b->env->idle_ms ? b->env->idle_ms : BACKEND_IDLE_MS);
    changed(b);
    progress(b);
}

static void take_list(struct backend *b, struct toolset *tools, struct str note)
{
    struct inventory *before = b->inv ? inventory_ref(b->inv) : NULL;

    b->last_modern = mcp_client_modern(b->client);
    adopt(b, tools, note);
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
        drop_client(b);
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

static void on_idle(void *ctx)
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

static void end_acquire(struct backend *b)
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

    end_acquire(b);
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

    release_start(b); /* it may take long, and others need not wait for it */
    b->acquire = acquire_start(b->env->loop, &o, &ops, b);
}

/* Requirements are tried once; a program of an installation is looked for each time. */
static bool must_acquire(const struct backend *b)
{
    return b->def.plan.runs || (b->def.plan.n && !b->prepared);
}

static void start(struct backend *b)
{
    b->called = false;
    b->stopping = false;
    enter(b, BACKEND_STARTING);
    if (must_acquire(b))
        acquire(b);
    else
        start_client(b, NULL);
    changed(b);
}

/* ---- what to do next ---- */

static bool any_waiting(const struct backend *b, enum want_kind kind)
{
    for (const struct want *w = b->wants; w; w = w->next)
        if (!w->client_call && w->kind == kind)
            return true;
    return false;
}

/* Ends what can be answered without a running server. */
static void settle_cold(struct backend *b, int64_t wait_ms)
{
    uint64_t at = 0, upto = b->last_handle;
    struct error e = { 0 };
    struct want *w;

    while ((w = next_waiting(b, at, upto))) {
        at = w->handle;
        if (w->kind == WANT_TOOLS && b->inv) {
            conclude(b, w, NULL, NULL);
        } else if (w->kind == WANT_CALL && b->inv &&
                   !names_resolve(&b->inv->names, w->key, &e)) {
            conclude(b, w, NULL, &e);
        } else if (wait_ms > 0 &&
                   (w->kind == WANT_TOOLS || wait_ms > b->def.tool_call_timeout_ms)) {
            e = *b->failure;
            error_wrap(&e, "next try in %lld s", (long long)(wait_ms + 999) / 1000);
            conclude(b, w, NULL, &e);
        }
    }
}

static void progress_cold(struct backend *b)
{
    int64_t wait = b->next_try_ms ? b->next_try_ms - clock_ms() : 0;

    b->queued = false;
    settle_cold(b, wait);
    if (!b->wants || b->shut)
        return;
    if (wait > 0) {
        timer_set(b->kick, (int)wait);
        return;
    }
    if (any_waiting(b, WANT_CALL) || take_start(b))
        start(b);
}

/* A server that is being closed because nobody called it, or whose connection is just being
 * dropped, takes no calls: they wait for the next start. */
static bool takes_calls(const struct backend *b)
{
    return b->state == BACKEND_READY && b->client && !b->stopping;
}

static void progress_ready(struct backend *b)
{
    uint64_t at = 0, upto = b->last_handle;
    struct error e;
    struct want *w;

    while ((w = next_waiting(b, at, upto))) {
        at = w->handle;
        if (w->kind == WANT_TOOLS)
            conclude(b, w, NULL, NULL);
        else if (takes_calls(b) && !send_call(b, w, &e))
            conclude(b, w, NULL, &e);
    }
}

static void free_backend(struct backend *b)
{
    acquire_cancel(b->acquire);
    end_acquire(b);
    free(b->unmet);
    timer_free(b->kick);
    timer_free(b->idle);
    inventory_unref(b->inv);
    arena_free(&b->arena);
    free(b->failure);
    free(b);
}

static void destroy(struct backend *b)
{
    struct backend **at = &b->env->all;

    for (; *at != b; at = &(*at)->next_all)
        assert(*at);
    *at = b->next_all;
    release_start(b);
    free_backend(b);
}

/* Without references and calls: the server is stopped, then everything goes. */
static void progress_retired(struct backend *b)
{
    if (!b->client) {
        destroy(b);
        return;
    }
    if (!b->stopping)
        mcp_client_stop(b->client, b->env->ladder);
    b->stopping = true;
}

/* Callbacks may let go of the last reference: destroy() comes in a turn of its own. */
static void progress(void *ctx)
{
    struct backend *b = ctx;

    if (!b->refs && !b->wants) {
        progress_retired(b);
        return;
    }
    switch (b->state) {
    case BACKEND_COLD:
        progress_cold(b);
        break;
    case BACKEND_READY:
        progress_ready(b);
        break;
    case BACKEND_FAILED:
        fail_waiting(b, b->failure);
        break;
    case BACKEND_STARTING:
        break;
    }
}

/* ---- public ---- */

static void copy_def(struct backend *b, const struct active_server *def)
{
    b->def = definition_copy(&b->arena, def);
    b->filter = filter_copy(&b->arena, def->def, b->env->read_only);
}

struct backend *backend_new(struct backend_env *env, const struct active_server *def)
{
    struct backend *b = NEW(struct backend), **at = &env->all;

    while (*at)
        at = &(*at)->next_all;
    *at = b;
    b->env = env;
    b->refs = 1;
    b->kick = timer_new(env->loop, progress, b);
    b->idle = timer_new(env->loop, on_idle, b);
    timer_background(b->idle);
    copy_def(b, def);
    return b;
}

struct backend *backend_ref(struct backend *b)
{
    b->refs++;
    return b;
}

void backend_unref(struct backend *b)
{
    if (b && --b->refs == 0)
        timer_set(b->kick, 0);
}

bool backend_same(const struct backend *b, const struct active_server *def)
{
    return definition_same(&b->def, def);
}

/* The same tools through a new filter; calls in flight keep the old one. */
static void refilter(struct backend *b)
{
    struct inventory *old = b->inv;

    if (!old)
        return;
    b->inv = inventory_refilter(old, &b->filter);
    inventory_unref(old);
}

void backend_update(struct backend *b, const struct active_server *def)
{
    struct arena old = b->arena;
    struct tool_filter before = b->filter;

    b->arena = ARENA;
    copy_def(b, def);
    b->cache_key = arena_str(&b->arena, b->cache_key);
    if (!filter_same(&before, &b->filter))
        refilter(b);
    arena_free(&old);
}

struct str backend_name(const struct backend *b)
{
    return b->def.name;
}

struct loop *backend_loop(const struct backend *b)
{
    return b->env->loop;
}

enum backend_state backend_state(const struct backend *b)
{
    return b->state;
}

const struct names *backend_names(const struct backend *b)
{
    load_cache((struct backend *)b);
    return b->inv ? &b->inv->names : NULL;
}

const struct names *backend_names_read(const struct backend *b)
{
    return b->inv ? &b->inv->names : NULL;
}

struct inventory *backend_inventory(const struct backend *b)
{
    load_cache((struct backend *)b);
    return b->inv;
}

void backend_put_problems(const struct backend *b, void (*line)(void *ctx, struct str text),
                          void *ctx)
{
    auto_buf text = BUF(2 * ERROR_MSG_MAX);

    for (size_t i = 0; b->inv && i < b->inv->problems.n; i++)
        line(ctx, b->inv->problems.v[i]);
    if (b->unmet) {
        buf_addf(&text, "%.*s: %s", STR_F(b->def.name), b->unmet);
        line(ctx, buf_str(&text));
        buf_clear(&text);
    }
    if (b->state != BACKEND_FAILED)
        return;
    buf_addf(&text, "%.*s: %s", STR_F(b->def.name), b->failure->msg);
    line(ctx, buf_str(&text));
}

bool backend_modern(const struct backend *b)
{
    return b->client ? mcp_client_modern(b->client) : b->last_modern;
}

struct str backend_installing(const struct backend *b)
{
    return str_of(b->installing);
}

uint64_t backend_describe(struct backend *b, backend_known_fn done, void *ctx)
{
    struct want *w = new_want(b, WANT_TOOLS, ctx);

    w->known = done;
    load_cache(b);
    if (b->state != BACKEND_STARTING)
        timer_set(b->kick, 0);
    return w->handle;
}

uint64_t backend_call(struct backend *b, struct str key, struct str args,
                      backend_answer_fn done, void *ctx)
{
    struct want *w = new_want(b, WANT_CALL, ctx);
    struct error e;

    w->answer = done;
    w->key = (struct str){ str_dup(key), key.n }; /* a NUL inside is a byte like any other */
    w->args = str_dup(args);
    load_cache(b);
    if (takes_calls(b) && send_call(b, w, &e))
        return w->handle;
    if (b->state != BACKEND_STARTING)
        timer_set(b->kick, 0);
    return w->handle;
}

void backend_cancel(struct backend *b, uint64_t handle)
{
    struct want *w = b->wants;

    while (w && w->handle != handle)
        w = w->next;
    if (!w)
        return;
    if (w->client_call) {
        /* The client calls back before it returns: on_called() frees the want. */
        w->answer = NULL;
        if (b->client)
            mcp_client_cancel(b->client, w->client_call);
        return;
    }
    unlink_want(b, w);
    free_want(w);
}

void backends_shutdown(struct backend_env *env, struct child_ladder ladder)
{
    for (struct backend *b = env->all; b; b = b->next_all) {
        b->shut = true;
        b->stopping = true;
        if (b->acquire) {
            acquire_cancel(b->acquire);
            end_acquire(b);
            enter(b, BACKEND_COLD);
        }
        if (b->client)
            mcp_client_stop(b->client, ladder);
    }
}

size_t backends_running(const struct backend_env *env)
{
    size_t n = 0;

    for (const struct backend *b = env->all; b; b = b->next_all)
        n += b->client != NULL;
    return n;
}

static void free_wants(struct backend *b)
{
    struct want *next;

    for (struct want *w = b->wants; w; w = w->next) {
        w->known = NULL;
        w->answer = NULL;
    }
    drop_client(b); /* ends the calls in flight, which frees their wants */
    for (struct want *w = b->wants; w; w = next) {
        next = w->next;
        free_want(w);
    }
    b->wants = NULL;
}

void backends_free(struct backend_env *env)
{
    struct backend *next;

    for (struct backend *b = env->all; b; b = next) {
        next = b->next_all;
        b->shut = true;
        free_wants(b);
        free_backend(b);
    }
    env->all = NULL;
    env->starting = 0;
}
