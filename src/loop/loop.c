/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/internal.h"
#include "loop/work.h"

/* Runs the calls queued so far; what they queue in turn waits for the next round, so that the
 * loop cannot starve I/O. */
static void on_idle(uv_idle_t *h)
{
    struct loop *l = h->data;
    unsigned round = l->round++;

    while (l->first && l->first->round == round) {
        void (*fn)(void *) = l->first->fn;
        void *ctx = l->first->ctx;

        defer_cancel(l, l->first);
        fn(ctx);
    }
    if (!l->first)
        uv_idle_stop(&l->idle);
}

void defer(struct loop *l, struct deferred *d)
{
    if (d->queued)
        return;
    d->queued = true;
    d->round = l->round;
    d->next = NULL;
    *l->last = d;
    l->last = &d->next;
    uv_idle_start(&l->idle, on_idle);
}

void defer_cancel(struct loop *l, struct deferred *d)
{
    if (!d->queued)
        return;
    for (struct deferred **at = &l->first; *at; at = &(*at)->next) {
        if (*at != d)
            continue;
        *at = d->next;
        if (!*at)
            l->last = at;
        break;
    }
    d->queued = false;
    if (d->owned)
        free(d);
}

void loop_defer(struct loop *l, void (*fn)(void *ctx), void *ctx)
{
    struct deferred *d = NEW(struct deferred);

    *d = (struct deferred){ .fn = fn, .ctx = ctx, .owned = true };
    defer(l, d);
}

char *loop_read_buf(struct loop *l)
{
    if (!l->read_buf)
        l->read_buf = mem_alloc(LOOP_READ_SIZE);
    return l->read_buf;
}

/* Whoever started us may have left signals ignored or blocked; exits would be lost, and we
 * could not be ended. */
static void set_signals(void)
{
    static const int ours[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP };
    struct sigaction was;
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a log line past a limit of ours is no reason to die */
    if (sigaction(SIGCHLD, NULL, &was) == 0 && was.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        sigaddset(&set, ours[i]);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

struct loop *loop_new(void)
{
    struct loop *l = NEW(struct loop);

    set_signals();
    l->last = &l->first;
    if (uv_loop_init(&l->uv) != 0)
        abort(); /* no epoll instance: nothing this process is for can work */
    l->uv.data = l;
    uv_idle_init(&l->uv, &l->idle);
    l->idle.data = l;
    reaper_init(l);
    return l;
}

void loop_run(struct loop *l)
{
    uv_run(&l->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *l)
{
    uv_stop(&l->uv);
}

void loop_free(struct loop *l)
{
    if (!l || !work_settle(l, WORK_END_MS))
        return;
    while (l->first)
        defer_cancel(l, l->first);
    child_drop_lingering(l);
    reaper_close(l);
    work_close(l);
    uv_close((uv_handle_t *)&l->idle, NULL);
    while (
        uv_run(&l->uv,
               UV_RUN_DEFAULT)) /* lets the closing handles finish; again after a loop_stop() */
        continue;
    int busy = uv_loop_close(&l->uv);
    assert(busy == 0); /* an object outlived its loop */
    (void)busy;
    free(l->read_buf);
    free(l);
}
