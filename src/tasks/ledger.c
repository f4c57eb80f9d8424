/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/ledger.h"

#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "tasks/ledger_queue.h"

#define THREAD_STACK ((size_t)1 << 20)

struct ledger_watch {
    struct ledger *ledger;
    void (*fn)(void *ctx);
    void *ctx;
    bool due;
    struct ledger_watch *next;
};

bool ledger_is_bulk(enum task_event t)
{
    return task_event_is_output(t) || t == TASK_EV_MESSAGE || t == TASK_EV_TOOL_CALL ||
           t == TASK_EV_PLAN || t == TASK_EV_AGENT_UPDATE;
}

/* ---- requests ---- */

static struct request *request_new(enum ledger_op op, ledger_fn done, void *ctx)
{
    struct request *r = NEW(struct request);

    r->op = op;
    r->done = done;
    r->ctx = ctx;
    return r;
}

static struct str keep(struct request *r, struct str s)
{
    return s.n ? arena_str(&r->arena, s) : (struct str){ 0 };
}

static void keep_all(struct request *r, struct str *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *v[i] = keep(r, *v[i]);
}

static void request_free(struct request *r)
{
    arena_free(&r->arena);
    free(r);
}

/* There is no thread: the system has none left. */
static void refuse(struct ledger *l, struct request *r)
{
    r->failed = ARENA_NEW(&r->arena, struct error);
    error_set(r->failed, ERR_LIMIT, "no thread could be started for the ledger");
    r->ready = true;
    bell_ring(l->bell);
}

static void put(struct ledger *l, struct request *r)
{
    r->bytes = r->arena.used;
    *l->open_end = r;
    l->open_end = &r->next;
    l->bytes += r->bytes;
    if (l->nopen++ == 0)
        bell_keep_going(l->bell, true);
    if (!l->has_thread) {
        refuse(l, r);
        return;
    }
    pthread_mutex_lock(&l->lock);
    *l->queue_end = r;
    l->queue_end = &r->queued;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
}

/* Nobody asked to hear of it: said once, until an event gets in again. */
static void tell_loss(struct ledger *l, const struct request *r)
{
    if (r->failed && !l->told_loss && r->failed->kind != ERR_NOT_FOUND)
        log_error("an event of task '%.*s' is lost: %s", STR_F(r->in.append.id),
                  r->failed->msg);
    l->told_loss = r->failed != NULL;
}

/* The oldest one, if it is ready. */
static struct request *take_ready(struct ledger *l)
{
    struct request *r = l->open;
    bool ready = false;

    if (r) {
        pthread_mutex_lock(&l->lock);
        ready = r->ready;
        pthread_mutex_unlock(&l->lock);
    }
    if (!ready)
        return NULL;
    l->open = r->next;
    if (!l->open)
        l->open_end = &l->open;
    l->bytes -= r->bytes;
    if (--l->nopen == 0)
        bell_keep_going(l->bell, false);
    if (r->op == OP_APPEND && !r->done)
        tell_loss(l, r);
    return r;
}

static void answer(struct request *r)
{
    if (!r->dropped && r->flushed)
        r->flushed(r->ctx);
    else if (!r->dropped && r->running_done)
        r->running_done(r->ctx, r->reply.running, r->failed ? 0 : r->reply.nrunning, r->failed);
    else if (!r->dropped && r->done)
        r->done(r->ctx, &r->answer, r->failed);
    request_free(r);
}

/* ---- watching ---- */

static void say_to_thread(struct ledger *l, bool touched)
{
    pthread_mutex_lock(&l->lock);
    l->touched |= touched;
    l->watching = l->watches != NULL;
    l->polling = !l->file;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
}

static void on_touched(void *ctx)
{
    say_to_thread(ctx, true);
}

/* What came before the watch stood is looked for at once. */
static void start_watching(struct ledger *l)
{
    struct error e;

    if (!l->watch_ready || !l->watches || l->file)
        return;
    if (l->watch_dir)
        l->file = filewatch_new(l->loop, l->watch_dir, l->watch_name, on_touched, l, &e);
    if (l->watch_dir && !l->file)
        log_debug("%s: the ledger is asked for changes each %d ms", e.msg, LEDGER_NOTICE_MS);
    say_to_thread(l, true);
}

static void stop_watching(struct ledger *l)
{
    filewatch_free(l->file);
    l->file = NULL;
    timer_clear(l->notice);
    say_to_thread(l, false);
}

static struct ledger_watch *next_due_watch(struct ledger *l)
{
    for (struct ledger_watch *w = l->watches; w; w = w->next) {
        if (!w->due)
            continue;
        w->due = false;
        return w;
    }
    return NULL;
}

/* What is called between enter() and leave() may free the ledger: it is `ended` then. */
static void enter(struct ledger *l)
{
    l->calling++;
}

static void leave(struct ledger *l)
{
    if (--l->calling == 0 && l->ended)
        free(l);
}

/* A watch may free others, too. */
static void on_notice(void *ctx)
{
    struct ledger *l = ctx;
    struct ledger_watch *w;

    enter(l);
    l->noticed_ms = clock_ms();
    for (w = l->watches; w; w = w->next)
        w->due = true;
    while (!l->ended && (w = next_due_watch(l)))
        w->fn(w->ctx);
    leave(l);
}

static void plan_notice(struct ledger *l)
{
    int64_t wait_ms = l->noticed_ms + LEDGER_NOTICE_GAP_MS - clock_ms();

    if (l->watches && !timer_is_set(l->notice))
        timer_set(l->notice, wait_ms > 0 ? (int)wait_ms : 0);
}

struct ledger_watch *ledger_watch_new(struct ledger *l, void (*fn)(void *ctx), void *ctx)
{
    struct ledger_watch *w = NEW(struct ledger_watch);

    *w = (struct ledger_watch){ .ledger = l, .fn = fn, .ctx = ctx, .next = l->watches };
    l->watches = w;
    start_watching(l);
    return w;
}

void ledger_watch_free(struct ledger_watch *w)
{
    struct ledger_watch **at;

    if (!w)
        return;
    for (at = &w->ledger->watches; *at != w; at = &(*at)->next)
        continue;
    *at = w->next;
    if (!w->ledger->watches)
        stop_watching(w->ledger);
    free(w);
}

/* ---- the thread speaks ---- */

static void hear_news(struct ledger *l)
{
    auto_free char *trouble = NULL;
    bool changed, opened;

    pthread_mutex_lock(&l->lock);
    trouble = take_ptr(&l->trouble);
    changed = l->changed;
    opened = l->opened && !l->watch_ready;
    l->changed = false;
    pthread_mutex_unlock(&l->lock);
    if (opened) {
        l->watch_ready = true;
        if (l->note)
            log_warn("%s", l->note);
        start_watching(l);
    }
    if (trouble)
        log_warn("the end of tasks whose owner is gone cannot be recorded: %s", trouble);
    if (changed)
        plan_notice(l);
}

static void on_bell(void *ctx)
{
    struct ledger *l = ctx;
    int64_t end = clock_ms() + LEDGER_TURN_MS;
    struct request *r;

    enter(l);
    hear_news(l);
    while (!l->ended && (r = take_ready(l))) {
        answer(r);
        if (!l->ended && clock_ms() >= end) {
            bell_ring(l->bell); /* others have their turn first */
            break;
        }
    }
    leave(l);
}

/* ---- life ---- */

/* Signals are the loop's. */
static bool start_thread(struct ledger *l)
{
    pthread_attr_t attr;
    sigset_t all, was;
    int rc;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    rc = pthread_create(&l->thread, &attr, ledger_thread, l);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    pthread_attr_destroy(&attr);
    return rc == 0;
}

struct ledger *ledger_new(struct loop *loop, const struct ledger_engine *engine,
                          const struct ledger_config *c)
{
    struct ledger *l = NEW(struct ledger);
    pthread_condattr_t attr;

    l->loop = loop;
    l->engine = engine;
    l->config = *c;
    l->config.state_dir = mem_strdup(c->state_dir);
    l->open_end = &l->open;
    l->queue_end = &l->queue;
    l->bell = bell_new(loop, on_bell, l);
    l->notice = timer_new(loop, on_notice, l);
    timer_background(l->notice);
    pthread_mutex_init(&l->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&l->wake, &attr);
    pthread_condattr_destroy(&attr);
    l->has_thread = start_thread(l);
    return l;
}

bool ledger_is_full(const struct ledger *l)
{
    return l->nopen >= LEDGER_QUEUE_MAX || l->bytes >= LEDGER_QUEUE_BYTES;
}

void ledger_drop(struct ledger *l, const void *ctx)
{
    for (struct request *r = l->open; r; r = r->next) {
        if (r->ctx == ctx)
            r->dropped = true;
    }
}

static void end_thread(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    l->stopping = true;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
}

void ledger_free(struct ledger *l)
{
    if (!l)
        return;
    if (l->has_thread)
        end_thread(l);
    while (l->open) {
        struct request *r = l->open;

        l->open = r->next;
        request_free(r);
    }
    filewatch_free(l->file);
    timer_free(l->notice);
    bell_free(l->bell);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->lock);
    free((char *)(uintptr_t)l->config.state_dir);
    free(l->watch_dir);
    free(l->watch_name);
    free(l->note);
    free(l->trouble);
    l->ended = true;
    if (!l->calling)
        free(l);
}

/* ---- what can be asked ---- */

void ledger_flush(struct ledger *l, void (*done)(void *ctx), void *ctx)
{
    struct request *r = request_new(OP_FLUSH, NULL, ctx);

    r->flushed = done;
    put(l, r);
}

void ledger_submit(struct ledger *l, const struct task_new *t, ledger_fn done, void *ctx)
{
    struct request *r = request_new(OP_SUBMIT, done, ctx);
    struct task_new *in = &r->in.submit;
    struct task_record *n = &in->record;
    struct str *const all[] = { &n->id,          &n->agent,           &n->workspace,
                                &n->prompt,      &n->session_id,      &n->initiator_id,
                                &n->executor_id, &n->parent_id,       &n->labels,
                                &n->options,     &in->idempotency_key };

    *in = *t;
    keep_all(r, all, ARRAY_LEN(all));
    put(l, r);
}

void ledger_claim(struct ledger *l, struct str id, int max_running, ledger_fn done, void *ctx)
{
    struct request *r = request_new(OP_CLAIM, done, ctx);

    r->in.claim.id = keep(r, id);
    r->in.claim.max_running = max_running;
    put(l, r);
}

static const int *keep_int(struct request *r, const int *value)
{
    int *copy = value ? ARENA_NEW(&r->arena, int) : NULL;

    if (value)
        *copy = *value;
    return copy;
}

static const struct task_event_row *keep_events(struct request *r,
                                                const struct task_event_row *v, size_t n)
{
    struct task_event_row *copy = n ? ARENA_ARRAY(&r->arena, struct task_event_row, n) : NULL;

    for (size_t i = 0; i < n; i++) {
        copy[i] = v[i];
        copy[i].data = keep(r, v[i].data);
    }
    return copy;
}

void ledger_change(struct ledger *l, const struct task_change *c, ledger_fn done, void *ctx)
{
    struct request *r = request_new(OP_CHANGE, done, ctx);
    struct task_change *in = &r->in.change;
    struct str *const all[] = { &in->id,         &in->set.note,       &in->set.stop_reason,
                                &in->set.usage,  &in->set.session_id, &in->set.worktree,
                                &in->set.branch, &in->set.result_text };

    *in = *c;
    keep_all(r, all, ARRAY_LEN(all));
    in->set.exit_code = keep_int(r, c->set.exit_code);
    in->set.signal = keep_int(r, c->set.signal);
    in->events = keep_events(r, c->events, c->nevents);
    put(l, r);
}

void ledger_append(struct ledger *l, struct str id, enum task_event type, struct str data,
                   ledger_fn done, void *ctx)
{
    struct request *r = request_new(OP_APPEND, done, ctx);

    r->in.append.id = keep(r, id);
    r->in.append.data = keep(r, data);
    r->in.append.type = type;
    put(l, r);
}

void ledger_cancels(struct ledger *l, ledger_fn done, void *ctx)
{
    put(l, request_new(OP_CANCELS, done, ctx));
}

static void get(struct ledger *l, const struct str *ids, size_t n, bool whole, ledger_fn done,
                void *ctx)
{
    struct request *r = request_new(OP_GET, done, ctx);

    r->in.get.ids = ARENA_ARRAY(&r->arena, struct str, n);
    for (size_t i = 0; i < n; i++)
        r->in.get.ids[i] = keep(r, ids[i]);
    r->in.get.n = n;
    r->in.get.whole = whole;
    put(l, r);
}

void ledger_get(struct ledger *l, struct str id, ledger_fn done, void *ctx)
{
    get(l, &id, 1, true, done, ctx);
}

void ledger_get_many(struct ledger *l, const struct str *ids, size_t n, ledger_fn done,
                     void *ctx)
{
    get(l, ids, n, false, done, ctx);
}

void ledger_result(struct ledger *l, struct str id, ledger_fn done, void *ctx)
{
    struct request *r = request_new(OP_RESULT, done, ctx);

    r->in.id = keep(r, id);
    put(l, r);
}

void ledger_events(struct ledger *l, const struct events_query *q, ledger_fn done, void *ctx)
{
    struct request *r = request_new(OP_EVENTS, done, ctx);

    r->in.events = *q;
    r->in.events.id = keep(r, q->id);
    put(l, r);
}

void ledger_list(struct ledger *l, const struct list_query *q, ledger_fn done, void *ctx)
{
    struct request *r = request_new(OP_LIST, done, ctx);
    struct list_query *in = &r->in.list;
    struct str *const all[] = { &in->workspace, &in->label, &in->initiator_id, &in->cursor };

    *in = *q;
    keep_all(r, all, ARRAY_LEN(all));
    put(l, r);
}

void ledger_running(struct ledger *l, ledger_running_fn done, void *ctx)
{
    struct request *r = request_new(OP_RUNNING, NULL, ctx);

    r->running_done = done;
    put(l, r);
}
