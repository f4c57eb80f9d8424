/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of this folder share. Include first: cmocka wants its own order of headers. */
#ifndef SYM_TEST_PM_SUPPORT_H
#define SYM_TEST_PM_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "loop/loop.h"
#include "loop/timer.h"

/* Bounds on time are multiplied by this: sanitizers and busy machines are slow. */
static inline int slack(void)
{
    const char *s = getenv("TEST_SLACK");
    int n = s ? atoi(s) : 0;

    return n > 0 ? n : 4;
}

struct patience {
    struct loop *loop;
    bool over;
};

static inline void lose_patience(void *ctx)
{
    struct patience *p = ctx;

    p->over = true;
    loop_stop(p->loop);
}

/* Runs the loop until somebody stops it; fails the test when that takes longer than ms * slack.
 */
static inline void run_until_stopped(struct loop *l, int ms)
{
    struct patience p = { .loop = l };
    struct timer *t = timer_new(l, lose_patience, &p);

    timer_set(t, ms * slack());
    loop_run(l);
    timer_free(t);
    if (p.over)
        fail_msg("nothing stopped the loop within %d ms", ms * slack());
}

static inline void stop_loop(void *ctx)
{
    loop_stop(ctx);
}

/* Lets the loop run for so long, whatever happens. */
static inline void run_for(struct loop *l, int ms)
{
    struct timer *t = timer_new(l, stop_loop, l);

    timer_set(t, ms);
    loop_run(l);
    timer_free(t);
}

static inline void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text);
}

/* A temporary directory, removed by scratch_free(). */
struct scratch {
    struct arena arena;
    const char *dir;
};

static inline int scratch_remove(const char *path, const struct stat *st, int kind,
                                 struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline void scratch_make(struct scratch *s)
{
    char dir[] = "/tmp/symposium-pm-XXXXXX";

    *s = (struct scratch){ 0 };
    assert_non_null(mkdtemp(dir));
    s->dir = arena_z(&s->arena, str_of(dir));
}

static inline void scratch_free(struct scratch *s)
{
    nftw(s->dir, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
    arena_free(&s->arena);
}

static inline const char *scratch_path(struct scratch *s, const char *name)
{
    return path_join(&s->arena, s->dir, name);
}

static inline void scratch_write(struct scratch *s, const char *name, const char *text)
{
    struct error e = { 0 };
    const char *path = scratch_path(s, name);

    if (!file_mkdirs(path_dir(&s->arena, path), &e) ||
        !file_write_atomic(path, str_of(text), 0600, &e))
        fail_msg("%s", e.msg);
}

/* How often a fake package manager was started, by the log it writes. */
static inline int64_t starts_in(const char *log)
{
    return file_stamp(log).size;
}

#endif
