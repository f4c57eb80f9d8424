/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Noticing what other programs do to the file. A look is a job that reads the file again if it
 * changed; looks are caused by inotify, and by the clock as long as there is no directory to
 * watch. After a watch was set anew there is always one more look, for what happened before.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/filewatch.h"
#include "loop/timer.h"
#include "loop/work.h"
#include "servers/memory/service.h"

#define RETRY_MS  500                 /* while the directory cannot be watched */
#define SETTLE_MS (STORE_TICK_MS + 5) /* after an event: writers come in bursts */

/* A directory and the name in it that is the file. */
struct spot {
    char *dir, *name; /* owned */
    int fd;           /* of the directory, until it is watched; -1: none */
    dev_t dev;
    ino_t ino;
};

struct follow {
    struct memory *m; /* NULL: stopped, the look that runs frees it */
    struct filewatch *watch;
    struct spot spot; /* what it watches */
    struct timer *timer;
    bool looking, again;
    uint64_t told; /* store_foreign() that subscribers know of */

    /* The job's. */
    struct store *store;
    struct spot found;
};

static void spot_free(struct spot *s)
{
    if (s->dir && s->fd >= 0)
        close(s->fd);
    free(s->dir);
    free(s->name);
    *s = (struct spot){ 0 };
}

static bool spot_same(const struct spot *a, const struct spot *b)
{
    return a->dir && strcmp(a->dir, b->dir) == 0 && strcmp(a->name, b->name) == 0 &&
           a->dev == b->dev && a->ino == b->ino;
}

static void follow_free(struct follow *f)
{
    spot_free(&f->spot);
    spot_free(&f->found);
    free(f);
}

static void nothing(void *ctx, const struct graph *g)
{
    (void)ctx, (void)g;
}

static void run(void *ctx, struct work *w)
{
    struct follow *f = ctx;
    auto_arena a = ARENA;
    const char *dir, *name;
    struct stat st = { 0 };
    int fd;

    (void)w;
    store_read(f->store, nothing, NULL, NULL); /* a failure is told to those who call tools */
    store_place(f->store, &a, &dir, &name);
    fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        fstat(fd, &st);
    f->found = (struct spot){ mem_strdup(dir), mem_strdup(name), fd, st.st_dev, st.st_ino };
}

static void start_look(void *ctx);

static void on_event(void *ctx)
{
    struct follow *f = ctx;

    timer_set(f->timer, SETTLE_MS);
}

/* True when the watch is a new one. Of a path that the job has opened, since to walk one may
 * take for ever (a server of files that is gone) and this is the loop's thread. */
static bool set_watch(struct follow *f)
{
    char path[64];

    if (f->watch && spot_same(&f->spot, &f->found))
        return false;
    filewatch_free(take_ptr(&f->watch));
    spot_free(&f->spot);
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->found.fd);
    if (f->found.fd >= 0)
        f->watch =
            filewatch_new(server_loop(f->m->server), path, f->found.name, on_event, f, NULL);
    if (!f->watch) {
        timer_set(f->timer, RETRY_MS);
        return false;
    }
    close(f->found.fd);
    f->spot = f->found;
    f->spot.fd = -1;
    f->found = (struct spot){ 0 };
    return true;
}

static void done(void *ctx, bool cancelled)
{
    struct follow *f = ctx;
    uint64_t now;

    f->looking = false;
    if (!f->m || cancelled) {
        follow_free(f);
        return;
    }
    f->again |= set_watch(f);
    spot_free(&f->found);
    now = store_foreign(f->store);
    memory_warn(f->m);
    if (f->again)
        start_look(f);
    if (now != f->told) {
        f->told = now;
        memory_changed(f->m);
    }
}

static void start_look(void *ctx)
{
    static const struct work_ops ops = { run, done };
    struct follow *f = ctx;

    f->again = f->looking;
    if (f->looking)
        return;
    f->looking = true;
    work_start(server_loop(f->m->server), WORK_LONG, &ops, f);
}

void follow_start(struct memory *m)
{
    struct follow *f = NEW(struct follow);

    *f = (struct follow){ .m = m, .store = m->store, .told = store_foreign(m->store) };
    f->timer = timer_new(server_loop(m->server), start_look, f);
    timer_background(f->timer);
    m->follow = f;
    start_look(f);
}

void follow_stop(struct memory *m)
{
    struct follow *f = take_ptr(&m->follow);

    if (!f)
        return;
    filewatch_free(take_ptr(&f->watch));
    timer_free(take_ptr(&f->timer));
    f->m = NULL;
    if (!f->looking)
        follow_free(f);
}
