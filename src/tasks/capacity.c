/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/capacity.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/timer.h"

#define MEMINFO_MAX ((size_t)64 << 10)

struct ticket {
    struct capacity *c;
    struct ticket *next;
    char id[TASK_ID_LEN + 1];
    int priority;
    bool waits; /* that was told */
    struct ticket_ops ops;
    void *ctx;
};

struct capacity {
    struct capacity_opts o;
    struct ticket *first; /* the best first */
    struct ticket *claiming;
    struct timer *timer;
    bool changed; /* while a claim was under way */
};

/* ---- memory ---- */

int64_t capacity_available_mb(struct str meminfo)
{
    struct str line, key, rest, unit;
    int64_t kb;

    while (meminfo.n) {
        if (!str_cut(meminfo, '\n', &line, &meminfo)) {
            line = meminfo;
            meminfo = (struct str){ 0 };
        }
        if (!str_cut(line, ':', &key, &rest) || !str_is(str_trim(key), "MemAvailable"))
            continue;
        rest = str_trim(rest);
        if (!str_cut(rest, ' ', &rest, &unit) || !str_is(str_trim(unit), "kB") ||
            !str_to_int(rest, 0, INT64_MAX, &kb))
            return -1;
        return kb / 1024;
    }
    return -1;
}

/* Where the kernel does not tell, tasks are not held back. */
static bool has_memory(const struct capacity *c)
{
    auto_buf text = BUF(MEMINFO_MAX);
    int64_t mb;

    if (!c->o.min_free_mb)
        return true;
    if (!file_read(c->o.meminfo, &text, NULL))
        return true;
    mb = capacity_available_mb(buf_str(&text));
    return mb < 0 || mb >= c->o.min_free_mb;
}

/* ---- the queue ---- */

static bool is_better(const struct ticket *a, const struct ticket *b)
{
    return a->priority != b->priority ? a->priority > b->priority : strcmp(a->id, b->id) < 0;
}

static void unlink_ticket(struct ticket *t)
{
    struct ticket **at = &t->c->first;

    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
}

static void try_again(struct capacity *c, int ms)
{
    if (c->first && !c->claiming)
        timer_set(c->timer, ms);
    else
        timer_clear(c->timer);
}

/* All of them: none behind the best gets in before it. Last, for an owner may give up some. */
static void tell_waiting(struct capacity *c)
{
    struct ticket *t = c->first;

    while (t) {
        if (t->waits) {
            t = t->next;
            continue;
        }
        t->waits = true;
        t->ops.on_wait(t->ctx);
        t = c->first;
    }
}

static void on_claim(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct ticket *t = ctx;
    struct capacity *c = t->c;
    struct ticket_ops ops = t->ops;
    void *owner = t->ctx;

    c->claiming = NULL;
    if (!e && !a->yes) {
        try_again(c, c->changed ? 0 : CAPACITY_RETRY_MS);
        c->changed = false;
        tell_waiting(c);
        return;
    }
    unlink_ticket(t);
    free(t);
    try_again(c, 0);
    ops.on_claim(owner, e);
}

static void attempt(void *ctx)
{
    struct capacity *c = ctx;
    struct ticket *t = c->first;

    if (!t || c->claiming)
        return;
    if (!has_memory(c)) {
        log_debug("task %s waits: less than %d MB of memory are available", t->id,
                  c->o.min_free_mb);
        try_again(c, CAPACITY_RETRY_MS);
        tell_waiting(c);
        return;
    }
    c->claiming = t;
    c->changed = false;
    ledger_claim(c->o.ledger, str_of(t->id), c->o.max_running, on_claim, t);
}

void capacity_look(struct capacity *c)
{
    if (c->claiming)
        c->changed = true;
    else
        try_again(c, 0);
}

struct ticket *ticket_new(struct capacity *c, struct str id, int priority,
                          const struct ticket_ops *ops, void *ctx)
{
    struct ticket *t = NEW(struct ticket), **at = &c->first;

    *t = (struct ticket){ .c = c, .priority = priority, .ops = *ops, .ctx = ctx };
    memcpy(t->id, id.p, TASK_ID_LEN);
    while (*at && is_better(*at, t))
        at = &(*at)->next;
    t->next = *at;
    *at = t;
    try_again(c, 0);
    return t;
}

bool ticket_free(struct ticket *t)
{
    struct capacity *c = t->c;
    bool claiming = c->claiming == t;

    unlink_ticket(t);
    if (claiming) {
        c->claiming = NULL;
        ledger_drop(c->o.ledger, t);
    }
    free(t);
    try_again(c, 0);
    return claiming;
}

struct capacity *capacity_new(const struct capacity_opts *o)
{
    struct capacity *c = NEW(struct capacity);

    c->o = *o;
    if (!c->o.meminfo)
        c->o.meminfo = "/proc/meminfo";
    c->timer = timer_new(o->loop, attempt, c);
    return c;
}

void capacity_free(struct capacity *c)
{
    if (!c)
        return;
    timer_free(c->timer);
    free(c);
}
