/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/signal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/proctree.h"
#include "loop/internal.h"

static const int end_signals[] = { SIGTERM, SIGINT, SIGHUP };

struct signals {
    uv_signal_t uv[ARRAY_LEN(end_signals)];
    size_t open;
    void (*fn)(void *ctx, int signo);
    void *ctx;
};

static void on_end_signal(uv_signal_t *h, int signo)
{
    struct signals *s = h->data;

    s->fn(s->ctx, signo);
}

struct signals *signals_new(struct loop *l, void (*fn)(void *ctx, int signo), void *ctx)
{
    struct signals *s = NEW(struct signals);

    s->fn = fn;
    s->ctx = ctx;
    s->open = ARRAY_LEN(end_signals);
    for (size_t i = 0; i < ARRAY_LEN(end_signals); i++) {
        uv_signal_init(&l->uv, &s->uv[i]);
        s->uv[i].data = s;
        uv_signal_start(&s->uv[i], on_end_signal, end_signals[i]);
        uv_unref((uv_handle_t *)&s->uv[i]);
    }
    return s;
}

static void on_closed(uv_handle_t *h)
{
    struct signals *s = h->data;

    if (--s->open == 0)
        free(s);
}

void signals_free(struct signals *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < ARRAY_LEN(end_signals); i++)
        uv_close((uv_handle_t *)&s->uv[i], on_closed);
}

/* ---- reaping ---- */

static void hold_loop(struct loop *l)
{
    if (l->watches.n)
        uv_ref((uv_handle_t *)&l->sigchld);
    else
        uv_unref((uv_handle_t *)&l->sigchld);
}

static bool watch_take(struct loop *l, pid_t pid, struct watch *ret)
{
    for (size_t i = 0; i < l->watches.n; i++) {
        if (l->watches.v[i].pid != pid)
            continue;
        *ret = l->watches.v[i];
        l->watches.v[i] = l->watches.v[--l->watches.n];
        hold_loop(l);
        return true;
    }
    return false;
}

/* The only waitpid() of a process with a loop. */
static void reap_all(void *ctx)
{
    struct loop *l = ctx;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0 || (pid < 0 && errno == EINTR)) {
        struct watch w;

        if (pid < 0)
            continue;
        if (watch_take(l, pid, &w))
            w.fn(w.ctx, pid, status);
        else
            log_trace("reaped orphan %d", (int)pid);
    }
}

static void on_sigchld(uv_signal_t *h, int signo)
{
    (void)signo;
    reap_all(h->data);
}

void reaper_init(struct loop *l)
{
    uv_signal_init(&l->uv, &l->sigchld);
    l->sigchld.data = l;
    l->reap_soon = (struct deferred){ .fn = reap_all, .ctx = l };
}

void reaper_close(struct loop *l)
{
    uv_close((uv_handle_t *)&l->sigchld, NULL);
    free(l->watches.v);
    l->watches.v = NULL;
    l->watches.n = l->watches.cap = 0;
}

void reaper_watch(struct loop *l, pid_t pid, exit_fn fn, void *ctx)
{
    VEC_PUSH(&l->watches) = (struct watch){ .pid = pid, .fn = fn, .ctx = ctx };
    if (!l->sigchld_on) {
        /* Caught from the first child on; that one may have exited before. */
        l->sigchld_on = true;
        uv_signal_start(&l->sigchld, on_sigchld, SIGCHLD);
        defer(l, &l->reap_soon);
    }
    hold_loop(l);
}

void reaper_forget(struct loop *l, pid_t pid)
{
    struct watch gone;

    watch_take(l, pid, &gone);
}

void reaper_adopt_orphans(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void reaper_disown_orphans(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

int reaper_sweep(int ms)
{
    return proctree_kill(ms, NULL, NULL);
}
