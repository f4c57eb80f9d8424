/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/filewatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "loop/internal.h"

struct filewatch {
    uv_fs_event_t uv;
    char *dir, *name;
    void (*fn)(void *ctx);
    void *ctx;
};

static void on_closed(uv_handle_t *h)
{
    struct filewatch *w = h->data;

    free(w->dir);
    free(w->name);
    free(w);
}

/* For what happens to the directory itself libuv gives its name. */
static void on_event(uv_fs_event_t *h, const char *file, int events, int status)
{
    struct filewatch *w = h->data;

    (void)events;
    if (status < 0 || !file || strcmp(file, w->name) == 0 ||
        strcmp(file, path_base(w->dir)) == 0)
        w->fn(w->ctx);
}

struct filewatch *filewatch_new(struct loop *l, const char *dir, const char *name,
                                void (*fn)(void *ctx), void *ctx, struct error *e)
{
    struct filewatch *w = NEW(struct filewatch);
    int rc;

    *w = (struct filewatch){
        .dir = mem_strdup(dir), .name = mem_strdup(name), .fn = fn, .ctx = ctx
    };
    uv_fs_event_init(&l->uv, &w->uv);
    w->uv.data = w;
    rc = uv_fs_event_start(&w->uv, on_event, dir, 0);
    if (rc == 0) {
        uv_unref((uv_handle_t *)&w->uv);
        return w;
    }
    if (rc == UV_ENOENT || rc == UV_ENOTDIR) {
        error_set(e, ERR_NOT_FOUND, "no directory '%s' to watch", dir);
    } else {
        errno = -rc;
        error_set(e, ERR_SYS, "watch '%s'", dir);
    }
    filewatch_free(w);
    return NULL;
}

void filewatch_free(struct filewatch *w)
{
    if (!w)
        return;
    w->fn = NULL;
    uv_close((uv_handle_t *)&w->uv, on_closed);
}
