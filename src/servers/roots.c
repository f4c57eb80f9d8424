/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/roots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "loop/timer.h"
#include "loop/work.h"

/* A call put off. */
struct waiting {
    struct waiting *next;
    struct roots *roots;
    struct mcp_req *r;
    yyjson_val *args;
    void (*call)(void *ctx, struct mcp_req *r, yyjson_val *args);
    void *ctx;
};

/* The client's answer being looked at on the thread pool. Outlives the roots, if it must. */
struct look {
    struct roots *roots; /* NULL: nobody waits any more */
    struct arena arena;
    struct {
        const char **v;
        size_t n, cap;
    } dirs;
    struct access *found; /* NULL: none of them is usable */
};

struct roots {
    struct server *server;
    struct access *now;
    bool may_ask, asked, asking; /* asked: nothing has changed since */
    struct look *look;
    struct waiting *waiting; /* oldest first */
    struct timer *patience;  /* for all of it; made when first needed */
    void (*changed)(void *ctx, const struct access *x);
    void *changed_ctx;
};

/* ---- the command line ---- */

static void warn(const char *line)
{
    fprintf(stderr, "%s\n", line);
}

struct roots *roots_new(const char *const *dirs, size_t ndirs, bool allow_root,
                        const char *usage)
{
    static const char *const here[] = { "." };
    struct roots *o = NEW(struct roots);
    struct error e;

    o->may_ask = ndirs == 0;
    o->now = ndirs ? access_new(dirs, ndirs, allow_root, warn, &e)
                   : access_new(here, 1, allow_root, warn, &e);
    if (o->now)
        return o;
    fprintf(stderr, "Error: %s - nothing can be served\n%s\n", e.msg, usage);
    free(o);
    return NULL;
}

void roots_start(struct roots *o, struct server *s,
                 void (*changed)(void *ctx, const struct access *x), void *ctx)
{
    o->server = s;
    o->changed = changed;
    o->changed_ctx = ctx;
}

struct access *roots_now(const struct roots *o)
{
    return o->now;
}

/* ---- the client's ---- */

/* What was put off goes on with the directories of now. */
static void settle(void *ctx)
{
    struct roots *o = ctx;
    struct waiting *w;

    o->asking = false;
    timer_clear(o->patience);
    while ((w = o->waiting)) {
        struct waiting call = *w;

        o->waiting = w->next;
        free(w);
        mcp_req_on_cancel(call.r, NULL, NULL);
        call.call(call.ctx, call.r, call.args);
    }
}

/* On the pool's thread: it may be a file system that does not answer. */
static void find(void *ctx, struct work *w)
{
    struct look *look = ctx;

    (void)w;
    look->found = access_new(look->dirs.v, look->dirs.n, false, NULL, NULL);
}

static bool ask(struct roots *o);

static void on_found(void *ctx, bool cancelled)
{
    struct look *look = ctx;
    struct roots *o = look->roots;

    (void)cancelled;
    if (o && look->found) {
        access_unref(o->now);
        o->now = take_ptr(&look->found);
        log_debug("the client's roots are in force: %s", access_names(o->now, &look->arena));
        if (o->changed)
            o->changed(o->changed_ctx, o->now);
    }
    access_unref(look->found);
    arena_free(&look->arena);
    free(look);
    if (!o)
        return;
    o->look = NULL;
    /* They changed while they were named: what was found may be what they were. */
    if (o->asking && !o->asked && o->waiting && ask(o))
        return;
    settle(o);
}

static void on_roots(void *ctx, yyjson_val *roots, const struct error *e)
{
    static const struct work_ops ops = { find, on_found };
    struct roots *o = ctx;
    struct look *look;

    if (e) {
        log_debug("no roots from the client: %s", e->msg);
        settle(o);
        return;
    }
    look = NEW(struct look);
    *look = (struct look){ .roots = o, .arena = ARENA };
    for (struct json_iter it = json_iter(roots); json_next(&it);) {
        const char *path = path_of_file_uri(&look->arena, json_str(json_get(it.val, "uri")));

        if (path && look->dirs.n < ACCESS_ROOTS_MAX)
            ARENA_PUSH(&look->arena, &look->dirs) = path;
    }
    o->look = look;
    work_start(server_loop(o->server), WORK_SHORT, &ops, look);
}

static bool ask(struct roots *o)
{
    o->asked = true; /* whatever comes of it: a silent client delays only these calls */
    o->asking = mcp_server_list_roots(server_mcp(o->server), ROOTS_WAIT_MS, on_roots, o, NULL);
    return o->asking;
}

void roots_changed(struct roots *o)
{
    o->asked = false;
}

/* ---- calls ---- */

static void on_cancel(void *ctx)
{
    struct waiting *w = ctx;

    for (struct waiting **at = &w->roots->waiting; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            break;
        }
    }
    free(w);
}

static void put_off(struct roots *o, struct waiting call)
{
    struct waiting **end = &o->waiting, *w = NEW(struct waiting);

    while (*end)
        end = &(*end)->next;
    *w = call;
    *end = w;
    mcp_req_on_cancel(w->r, on_cancel, w);
}

bool roots_wait(struct roots *o, struct mcp_req *r, yyjson_val *args,
                void (*call)(void *ctx, struct mcp_req *r, yyjson_val *args), void *ctx)
{
    if (!o->may_ask || !mcp_req_has_roots(r))
        return false;
    if (!o->asking && !o->asked) {
        /* An earlier answer may still be looked at, longer than anybody waits: it has no say
         * any more. */
        if (o->look)
            o->look->roots = NULL;
        o->look = NULL;
        if (ask(o) && !o->patience)
            o->patience = timer_new(server_loop(o->server), settle, o);
        if (o->asking)
            timer_set(o->patience, ROOTS_WAIT_MS);
    }
    if (o->asking)
        put_off(o, (struct waiting){ NULL, o, r, args, call, ctx });
    return o->asking;
}

void roots_free(struct roots *o)
{
    if (!o)
        return;
    if (o->look)
        o->look->roots = NULL;
    timer_free(o->patience);
    access_unref(o->now);
    free(o);
}
