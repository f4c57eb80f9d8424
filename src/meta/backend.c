/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/backend.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/timer.h"
#include "meta/backend_impl.h"
#include "meta/definition.h"
#include "meta/toolcache.h"

/* ---- inventory ---- */

void backend_adopt(struct backend *b, struct toolset *tools, struct str note)
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
    backend_adopt(b, &entry.tools, (struct str){ 0 });
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

void backend_fail_waiting(struct backend *b, const struct error *why)
{
    uint64_t upto = b->last_handle;
    struct want *w;

    while ((w = next_waiting(b, 0, upto)))
        conclude(b, w, NULL, why);
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
    if (any_waiting(b, WANT_CALL) || backend_take_start(b))
        backend_start(b);
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
    backend_end_acquire(b);
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
    backend_release_start(b);
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
void backend_progress(void *ctx)
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
        backend_fail_waiting(b, b->failure);
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
    b->kick = timer_new(env->loop, backend_progress, b);
    b->idle = timer_new(env->loop, backend_on_idle, b);
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

const char *backend_revision(const struct backend *b)
{
    return b->client && mcp_client_ready(b->client)
               ? mcp_rev_info(mcp_client_rev(b->client))->name
               : NULL;
}

const struct mcp_route *backend_route(const struct backend *b)
{
    return b->client ? mcp_client_route(b->client) : &b->route;
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
            backend_end_acquire(b);
            backend_enter(b, BACKEND_COLD);
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
    backend_drop_client(b); /* ends the calls in flight, which frees their wants */
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
