/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/first_root.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "plugins/workspace.h"

/* A request put off. */
struct waiting {
    struct waiting *next;
    void (*go)(void *ctx);
    void *ctx;
};

struct first_root {
    struct gateway *gateway;
    char *start_dir;
    struct mcp_server *server; /* while it is asked */
    bool asked;                /* nothing has changed since */
    int64_t until_ms;          /* nobody waits longer */
    struct waiting *waiting;   /* oldest first */
};

struct first_root *first_root_new(struct gateway *g, const char *start_dir)
{
    struct first_root *f = NEW(struct first_root);

    f->gateway = g;
    f->start_dir = mem_strdup(start_dir);
    return f;
}

void first_root_free(struct first_root *f)
{
    if (!f)
        return;
    while (f->waiting)
        first_root_forget(f, f->waiting->ctx);
    free(f->start_dir);
    free(f);
}

void first_root_changed(struct first_root *f)
{
    f->asked = false;
}

/* ---- asking ---- */

static bool is_in_workspace(const struct first_root *f)
{
    auto_arena a = ARENA;
    struct workspace w = { 0 };
    struct watch_list watch = { 0 };

    return workspace_find(&w, f->start_dir, &a, &watch, NULL) && w.found;
}

static const char *first_dir(struct arena *a, yyjson_val *roots)
{
    for (struct json_iter it = json_iter(roots); json_next(&it) && it.i <= FIRST_ROOT_MAX;) {
        const char *path = path_of_file_uri(a, json_str(json_get(it.val, "uri")));
        const char *real = path ? path_real(a, path, NULL) : NULL;

        if (real && file_is_dir(real))
            return real;
    }
    return NULL;
}

static void go_on(struct first_root *f)
{
    struct waiting *w;

    while ((w = f->waiting)) {
        struct waiting call = *w;

        f->waiting = w->next;
        free(w);
        call.go(call.ctx);
    }
}

void first_root_input_ended(struct first_root *f)
{
    f->asked = true;
    f->until_ms = 0;
    go_on(f);
}

static bool ask(struct first_root *f, struct mcp_server *s);

static void on_roots(void *ctx, yyjson_val *roots, const struct error *e)
{
    struct first_root *f = ctx;
    struct mcp_server *s = take_ptr(&f->server);
    auto_arena a = ARENA;
    const char *dir = e ? NULL : first_dir(&a, roots);

    if (e && e->kind == ERR_CLOSED)
        return; /* the server is being freed, and with it all that waits */
    if (dir) {
        log_info("the workspace is the client's first root, '%s'", dir);
        gateway_move(f->gateway, dir);
    } else {
        log_debug("no directory among the client's roots%s%s", e ? ": " : "", e ? e->msg : "");
    }
    /* They changed while they were named: what we heard may be what they were. */
    if (!e && !f->asked && f->waiting && ask(f, s))
        return;
    go_on(f);
}

static bool ask(struct first_root *f, struct mcp_server *s)
{
    int64_t left = f->until_ms - clock_ms();

    f->asked = true; /* whatever comes of it */
    if (left > 0 && mcp_server_list_roots(s, (int)left, on_roots, f, NULL))
        f->server = s;
    return f->server != NULL;
}

void first_root_ask(struct first_root *f, struct mcp_server *s, const struct mcp_req *r)
{
    if (f->server || f->asked || !mcp_req_has_roots(r) || is_in_workspace(f))
        return;
    f->until_ms = clock_ms() + FIRST_ROOT_WAIT_MS;
    ask(f, s);
}

/* ---- requests ---- */

bool first_root_wait(struct first_root *f, struct mcp_server *s, const struct mcp_req *r,
                     void (*go)(void *ctx), void *ctx)
{
    struct waiting **end = &f->waiting;

    first_root_ask(f, s, r);
    if (!f->server || !mcp_req_has_roots(r))
        return false;
    while (*end)
        end = &(*end)->next;
    *end = NEW(struct waiting);
    **end = (struct waiting){ NULL, go, ctx };
    return true;
}

void first_root_forget(struct first_root *f, const void *ctx)
{
    for (struct waiting **at = &f->waiting; *at; at = &(*at)->next) {
        struct waiting *w = *at;

        if (w->ctx != ctx)
            continue;
        *at = w->next;
        free(w);
        return;
    }
}
