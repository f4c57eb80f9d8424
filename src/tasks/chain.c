/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/chain.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/procstat.h"
#include "loop/timer.h"

/* ---- finding it ---- */

static void add(struct chain *c, struct str id)
{
    if (c->n == CHAIN_DEPTH_MAX) {
        c->too_deep = true;
        return;
    }
    memcpy(c->id[c->n], id.p, TASK_ID_LEN);
    c->id[c->n++][TASK_ID_LEN] = '\0';
}

static const char *variable(const char *const *env)
{
    size_t n = strlen(CHAIN_VARIABLE "=");

    for (; env && *env; env++)
        if (!strncmp(*env, CHAIN_VARIABLE "=", n))
            return *env + n;
    return NULL;
}

bool chain_read(struct chain *ret, const char *const *env)
{
    struct str rest = str_of(variable(env)), id;
    bool more = true;

    *ret = (struct chain){ 0 };
    while (more) {
        more = str_cut(rest, ',', &id, &rest);
        if (!more)
            id = rest;
        if (!task_id_valid(id)) {
            *ret = (struct chain){ 0 };
            return false;
        }
        add(ret, id);
    }
    return true;
}

static bool is_of(const struct task_process *p, int64_t pid, uint64_t start)
{
    return start && ((p->pid == pid && p->pid_start == start) ||
                     (p->keeper == pid && p->keeper_start == start));
}

static void reverse(struct chain *c)
{
    char id[sizeof c->id[0]];

    for (size_t i = 0, k = c->n; i + 1 < k; i++) {
        k--;
        memcpy(id, c->id[i], sizeof id);
        memcpy(c->id[i], c->id[k], sizeof id);
        memcpy(c->id[k], id, sizeof id);
    }
}

/* An agent and its keeper are two steps on the way up, and one task. */
static bool is_last(const struct chain *c, struct str id)
{
    return c->n && str_is(id, c->id[c->n - 1]);
}

void chain_walk(struct chain *ret, const char *proc, int64_t pid, const struct task_running *v,
                size_t n)
{
    struct procstat st;

    *ret = (struct chain){ 0 };
    for (int steps = 0; steps < CHAIN_PARENTS_MAX; steps++) {
        if (!procstat_read(proc, (pid_t)pid, &st) || st.parent <= 0)
            break;
        pid = st.parent;
        if (!procstat_read(proc, (pid_t)pid, &st))
            break;
        for (size_t i = 0; i < n; i++)
            if (is_of(&v[i].process, pid, st.start) && !is_last(ret, v[i].id))
                add(ret, v[i].id);
    }
    reverse(ret);
}

/* ---- the question ---- */

struct chain_check {
    struct ledger *ledger;
    struct timer *soon; /* an answer found inside the call */
    struct chain above;
    size_t looked_at; /* ancestors whose record came */
    struct str agent, workspace, prompt;
    char id[TASK_ID_LEN + 1];
    struct arena arena;
    struct error error;
    void (*done)(void *ctx, const char *chain, const struct error *e);
    void *ctx;
};

void chain_check_free(struct chain_check *c)
{
    if (!c)
        return;
    ledger_drop(c->ledger, c);
    timer_free(c->soon);
    arena_free(&c->arena);
    free(c);
}

static void finish(struct chain_check *c, const struct error *e)
{
    auto_buf chain = BUF((CHAIN_DEPTH_MAX + 1) * (TASK_ID_LEN + 1));
    void (*done)(void *, const char *, const struct error *) = c->done;
    struct error copy = e ? *e : (struct error){ 0 };
    void *ctx = c->ctx;

    for (size_t i = 0; i < c->above.n; i++)
        buf_addf(&chain, "%s,", c->above.id[i]);
    buf_addz(&chain, c->id);
    chain_check_free(c);
    done(ctx, buf_z(&chain), e ? &copy : NULL);
}

/* Of whatever kind: it is not the request that is wrong. */
static void fail(struct chain_check *c, const struct error *e)
{
    struct error copy = *e;

    copy.kind = ERR_CLOSED;
    finish(c, &copy);
}

static void look_at_next(struct chain_check *c);

static void on_ancestor(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct chain_check *c = ctx;
    const struct task_record *t = e ? NULL : &a->tasks[0];
    struct error why;

    if (e && e->kind != ERR_NOT_FOUND) {
        fail(c, e);
        return;
    }
    if (t && str_eq(t->agent, c->agent) && str_eq(t->workspace, c->workspace) &&
        str_eq(t->prompt, c->prompt)) {
        error_set(&why, ERR_INVALID,
                  "task %.*s, for which this one would work, has the same agent, workspace and "
                  "prompt: it would never end",
                  STR_F(t->id));
        finish(c, &why);
        return;
    }
    c->looked_at++;
    look_at_next(c);
}

static void ask(struct chain_check *c)
{
    ledger_get(c->ledger, str_of(c->above.id[c->looked_at]), on_ancestor, c);
}

static void look_at_next(struct chain_check *c)
{
    if (c->looked_at == c->above.n)
        finish(c, NULL);
    else
        ask(c);
}

static bool is_too_deep(struct chain_check *c, struct error *e)
{
    if (!c->above.too_deep && c->above.n < CHAIN_DEPTH_MAX)
        return false;
    return !error_set(e, ERR_INVALID,
                      "tasks may be handed on at most %d deep, and %d are above this one",
                      CHAIN_DEPTH_MAX, CHAIN_DEPTH_MAX);
}

static void on_running(void *ctx, const struct task_running *v, size_t n, const struct error *e)
{
    struct chain_check *c = ctx;
    struct error why;

    if (e) {
        fail(c, e);
        return;
    }
    chain_walk(&c->above, "/proc", getpid(), v, n);
    if (is_too_deep(c, &why))
        finish(c, &why);
    else
        look_at_next(c);
}

static void on_soon(void *ctx)
{
    struct chain_check *c = ctx;
    struct error why = c->error;

    finish(c, &why);
}

struct chain_check *chain_check(
    struct loop *l, struct ledger *ledger, const struct chain_spawn *s,
    void (*done)(void *ctx, const char *chain, const struct error *e), void *ctx)
{
    struct chain_check *c = NEW(struct chain_check);

    *c = (struct chain_check){ .ledger = ledger, .done = done, .ctx = ctx };
    memcpy(c->id, s->id.p, TASK_ID_LEN);
    c->agent = arena_str(&c->arena, s->agent);
    c->workspace = arena_str(&c->arena, s->workspace);
    c->prompt = arena_str(&c->arena, s->prompt);
    c->soon = timer_new(l, on_soon, c);
    if (!chain_read(&c->above, s->env))
        ledger_running(ledger, on_running, c);
    else if (is_too_deep(c, &c->error))
        timer_set(c->soon, 0);
    else
        ask(c); /* what was read is one at least */
    return c;
}
