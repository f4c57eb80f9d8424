/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of this folder share: the loop's insides. Not for other folders. */
#ifndef SYM_LOOP_INTERNAL_H
#define SYM_LOOP_INTERNAL_H

#include <pthread.h>
#include <uv.h>

#include "base/str.h"
#include "loop/child.h"
#include "loop/loop.h"
#include "loop/pipe.h"
#include "loop/signal.h"
#include "loop/work.h"

/* One read hands on at most this much: little enough that even two-byte lines are dealt with in
 * a few milliseconds. One buffer serves all pipes of a loop: its bytes live for one callback
 * only. */
#define LOOP_READ_SIZE ((size_t)16 << 10)

/* A call put off to the end of the current callback. Embedded in its owner, so that queueing
 * allocates nothing. */
struct deferred {
    void (*fn)(void *ctx);
    void *ctx;
    struct deferred *next;
    unsigned round;
    bool queued, owned; /* owned: allocated by loop_defer() and freed after the call */
};

struct watch {
    pid_t pid;
    exit_fn fn;
    void *ctx;
};

/* The jobs of one kind. */
struct lane {
    struct work *waiting; /* oldest first; while `given` is at the kind's maximum */
    struct work **waiting_last;
    unsigned given;
};

struct loop {
    uv_loop_t uv;
    uv_idle_t idle; /* active while `first` is set: keeps the loop from sleeping */
    struct deferred *first, **last;
    unsigned round; /* of the calls that `first` holds next */
    uv_signal_t sigchld;
    bool sigchld_on;
    struct deferred reap_soon; /* an exit may have come before SIGCHLD was caught */
    struct {
        struct watch *v;
        size_t n, cap;
    } watches;
    struct child *lingering; /* freed, not yet known to be gone */
    int lingering_count;
    struct deferred gone; /* child_on_gone(); fn NULL: nobody waits */
    struct {
        struct work *open; /* all whose `done` is to come; n of them */
        unsigned n, left;  /* left: cancelled, and not to be waited for */
        struct lane lanes[WORK_KINDS];
        /* Lookups come back through these; the async is active while one is under way. */
        bool lookups_on;
        uv_async_t found_one;
        pthread_mutex_t found_lock;
        struct work *found;
    } works;
    char *read_buf; /* LOOP_READ_SIZE, made by the first pipe */
};

void defer(struct loop *l, struct deferred *d);
void defer_cancel(struct loop *l, struct deferred *d);

char *loop_read_buf(struct loop *l);

/* signal.c: starts and ends the one SIGCHLD handler. */
void reaper_init(struct loop *l);
void reaper_close(struct loop *l);

/* work.c: what lookups come back through. */
void work_close(struct loop *l);

/* child.c: forgets the lingering children at the end of the loop. */
void child_drop_lingering(struct loop *l);

/*
 * Reads what is there now, without waiting for the loop's turn, and hands it on, at most `max`
 * bytes; beyond what an ordinary pipe holds (64 KiB) only as long as that is quick, so that the
 * last gasp of a flood holds nobody up. Used before a decision that depends on "nothing more is
 * in the pipe": timers run before readiness is looked at.
 */
void pipe_drain(struct pipe *p, size_t max);

#endif
