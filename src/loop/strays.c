/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/strays.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/procstat.h"
#include "base/proctree.h"
#include "loop/internal.h"
#include "loop/timer.h"

#define PAUSE_FIRST_MS 2
#define PAUSE_LAST_MS  1000

static bool adopts_orphans(void)
{
    int on = 0;

    return prctl(PR_GET_CHILD_SUBREAPER, &on, 0, 0, 0) == 0 && on;
}

/* The oldest of the keepers that are mourned: a stray may be of any of them. */
static uint64_t first_born(const struct loop *l)
{
    uint64_t first = UINT64_MAX;

    for (const struct stray_wait *w = l->strays.first; w; w = w->next)
        first = w->born < first ? w->born : first;
    return first;
}

static bool is_stray(struct loop *l, pid_t child, uint64_t born)
{
    struct procstat st;

    return !reaper_watches(l, child) && getsid(child) != getsid(0) &&
           (!procstat_read("/proc", child, &st) || st.start >= born);
}

static void end_stray(pid_t child)
{
    pid_t group = getpgid(child);

    if (proctree_is_group_below(child, group))
        kill(-group, SIGKILL);
    kill(child, SIGKILL);
}

/* How many there were. */
static int end_all(struct loop *l)
{
    struct pid_list children = { 0 };
    uint64_t born = first_born(l);
    int n = 0;

    proctree_children(proctree_source(), &children);
    for (size_t i = 0; i < children.n; i++) {
        if (!is_stray(l, children.v[i], born))
            continue;
        end_stray(children.v[i]);
        n++;
    }
    pid_list_free(&children);
    return n;
}

static void look_again(void *ctx)
{
    struct loop *l = ctx;

    l->strays.pause_ms *= 2;
    strays_look(l);
}

void strays_look(struct loop *l)
{
    struct stray_wait *all = l->strays.first;
    int left = all ? end_all(l) : 0;

    if (left) {
        if (l->strays.pause_ms > PAUSE_LAST_MS)
            l->strays.pause_ms = PAUSE_LAST_MS;
        timer_set(l->strays.timer, l->strays.pause_ms);
        return;
    }
    if (!all)
        return;
    timer_clear(l->strays.timer);
    l->strays.first = NULL;
    while (all) {
        struct stray_wait *w = all;

        all = w->next;
        w->done(w->ctx);
    }
}

bool strays_end(struct loop *l, struct stray_wait *w)
{
    if (!adopts_orphans())
        return false;
    log_debug("a keeper was killed: what it kept is ended");
    w->next = l->strays.first;
    l->strays.first = w;
    l->strays.pause_ms = PAUSE_FIRST_MS;
    if (!l->strays.timer) {
        l->strays.timer = timer_new(l, look_again, l);
        timer_background(l->strays.timer);
    }
    timer_set(l->strays.timer, 0);
    return true;
}

bool strays_awaits(const struct loop *l, const struct stray_wait *w)
{
    const struct stray_wait *at = l->strays.first;

    while (at && at != w)
        at = at->next;
    return at != NULL;
}

void strays_close(struct loop *l)
{
    timer_free(l->strays.timer);
    l->strays.timer = NULL;
    l->strays.first = NULL;
}
