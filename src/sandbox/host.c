/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Scripts on one side, worker processes (slots) on the other, and one pump that brings them
 * together: it starts at most one process a turn of the loop, so that a burst of scripts never
 * keeps the loop from others, and only after replies are out.
 */
#include "sandbox/host.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "lockdown/confine.h"
#include "lockdown/landlock.h"
#include "lockdown/seccomp.h"
#include "loop/timer.h"
#include "sandbox/engine.h"
#include "sandbox/quota.h"
#include "sandbox/slot.h"

#define REFILL_DELAY_MS 20 /* after a script has begun; its end refills at once */
/* After the session's first message: its first answers need the processors, and a client that
 * only looks (MS-2) leaves before any worker is started. */
#define PREWARM_DELAY_MS 20
#define BACKOFF_FIRST_MS 100 /* after a worker died without a script; doubles up to */
#define BACKOFF_MAX_MS   10000
#define START_TRIES      3 /* deaths in a row, then the waiting script is told */
#define CONSOLE_OVER     "[further output dropped]"
#define SCRIPT_FRAME_MAX (FRAME_HEAD + FRAME_MAX)

enum script_state { SCRIPT_QUEUED, SCRIPT_RUNNING, SCRIPT_ENDING };

struct script {
    struct sandbox *sandbox;
    struct script *prev, *next; /* of the list that its state says: queue or running */
    enum script_state state;
    struct script_ops ops;
    void *ctx;
    struct arena arena; /* names of the globals */
    struct str *names;
    size_t nnames;
    struct buf frame; /* until sent */
    struct slot *slot;
    struct timer *deadline;
    struct buf console;
    bool has_console; /* a first line, even an empty one */
    bool killed;      /* by us, at the deadline */
    bool silenced;    /* cancelled from inside a callback of its own end */
};

struct list {
    struct script *first, *last;
    unsigned n;
};

struct sandbox {
    struct loop *loop;
    struct sandbox_limits limits;
    struct timer *pump;
    struct slot *idle[SANDBOX_MAX_RUNNING + SANDBOX_WARM]; /* starting or ready */
    unsigned nidle;
    struct slot *spent[SANDBOX_MAX_RUNNING]; /* served, to be disposed of by the pump */
    unsigned nspent;
    struct list queue, running;
    bool usable, unsandboxed, warm;
    bool used;       /* a script has come: one worker is warm before, SANDBOX_WARM after */
    unsigned deaths; /* of workers without a script, in a row */
    int64_t not_before_ms; /* back-off */
};

/* ---- lists ---- */

static void list_add(struct list *l, struct script *s)
{
    s->prev = l->last;
    s->next = NULL;
    *(l->last ? &l->last->next : &l->first) = s;
    l->last = s;
    l->n++;
}

static void list_remove(struct list *l, struct script *s)
{
    *(s->prev ? &s->prev->next : &l->first) = s->next;
    *(s->next ? &s->next->prev : &l->last) = s->prev;
    l->n--;
}

/* The first one, no longer in the list; NULL: there is none. */
static struct script *list_take(struct list *l)
{
    struct script *s = l->first;

    if (!s)
        return NULL;
    assert(!s->prev);
    list_remove(l, s);
    return s;
}

static void script_destroy(struct script *s)
{
    slot_free(s->slot);
    timer_free(s->deadline);
    buf_free(&s->frame);
    buf_free(&s->console);
    arena_free(&s->arena);
    free(s);
}

/* ---- the pump ---- */

static unsigned min_unsigned(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many workers should be there without a script: for those that may start now, and the warm
 * ones. */
static unsigned wanted(const struct sandbox *sb)
{
    unsigned warm = sb->used ? SANDBOX_WARM : 1;

    return min_unsigned(sb->queue.n, SANDBOX_MAX_RUNNING - sb->running.n) +
           (sb->warm ? warm : 0);
}

static void pump_in(struct sandbox *sb, int ms)
{
    int64_t wait = sb->not_before_ms - clock_ms();

    if (sb->nidle < wanted(sb) && !sb->nspent)
        timer_set(sb->pump, wait > ms ? (int)wait : ms);
}

/*
 * A worker that has sent its final frame is put away here: ending it takes some system calls,
 * which are no part of the script's time. The pump does it a turn of the loop later.
 */
static void put_away(struct sandbox *sb, struct slot *slot)
{
    if (sb->nspent == SANDBOX_MAX_RUNNING) {
        slot_free(slot);
        return;
    }
    slot_mute(slot);
    sb->spent[sb->nspent++] = slot;
    timer_set(sb->pump, 0);
}

static void dispose_spent(struct sandbox *sb)
{
    while (sb->nspent)
        slot_free(sb->spent[--sb->nspent]);
}

static void forget_idle(struct sandbox *sb, struct slot *slot)
{
    for (unsigned i = 0; i < sb->nidle; i++) {
        if (sb->idle[i] == slot) {
            sb->idle[i] = sb->idle[--sb->nidle];
            return;
        }
    }
}

static struct slot *take_ready(struct sandbox *sb)
{
    for (unsigned i = 0; i < sb->nidle; i++) {
        struct slot *slot = sb->idle[i];

        if (slot_is_ready(slot)) {
            forget_idle(sb, slot);
            return slot;
        }
    }
    return NULL;
}

/* ---- a script's end ---- */

/*
 * Takes the script from its worker and off its list, and drops the calls still open. False when
 * a callback has silenced it meanwhile; the list is then already without it.
 */
static bool detach(struct script *s)
{
    struct sandbox *sb = s->sandbox;
    struct frame_guard *g = s->slot ? slot_guard(s->slot) : NULL;
    auto_free uint32_t *open = NULL;
    size_t nopen = 0, cap = 0;

    for (size_t i = 0; g && i < g->ncalls; i++) {
        if (g->calls[i].state == GUARD_OPEN) {
            open = mem_grow(open, sizeof *open, nopen + 1, &cap);
            open[nopen++] = g->calls[i].id;
        }
    }
    if (s->state == SCRIPT_QUEUED) {
        list_remove(&sb->queue, s);
        list_add(&sb->running, s);
    }
    s->state = SCRIPT_ENDING;
    timer_free(s->deadline);
    s->deadline = NULL;
    if (g && g->state == GUARD_FINISHED)
        put_away(sb, s->slot);
    else
        slot_free(s->slot);
    s->slot = NULL;
    for (size_t i = 0; i < nopen && !s->silenced; i++)
        s->ops.on_drop(s->ctx, open[i]);
    if (s->silenced)
        return false;
    list_remove(&sb->running, s);
    pump_in(sb, 0);
    return true;
}

static void finish(struct script *s, struct script_end *end)
{
    if (detach(s)) {
        end->console = buf_str(&s->console);
        s->silenced = true; /* it is over: a cancel from inside is too late */
        s->ops.on_end(s->ctx, end);
    }
    script_destroy(s);
}

static void finish_crashed(struct script *s, struct str message)
{
    struct script_end end = { .outcome = SCRIPT_CRASHED, .message = message };

    finish(s, &end);
}

static bool read_loose(struct arena *a, const struct frame *f, struct script_end *end)
{
    size_t n = 0;
    struct script_loose_call *v = ARENA_ARRAY(a, struct script_loose_call, json_len(f->loose));

    for (struct json_iter it = json_iter(f->loose); json_next(&it);) {
        if (!frame_loose(it.val, &v[n++], NULL))
            return false;
    }
    end->loose = v;
    end->nloose = n;
    return true;
}

static void finish_by_frame(struct script *s, const struct frame *f)
{
    static const enum script_outcome outcome_of[] = {
        [ERROR_SCRIPT] = SCRIPT_ERROR,
        [ERROR_TIMEOUT] = SCRIPT_TIMEOUT,
        [ERROR_CALL_LIMIT] = SCRIPT_CALL_LIMIT,
    };
    struct script_end end = { .outcome = SCRIPT_MEMORY };
    auto_arena arena = ARENA;

    s->sandbox->deaths = 0;
    if (f->type != FRAME_MEMORY_EXHAUSTED) {
        end.outcome = f->type == FRAME_RESULT ? SCRIPT_OK : outcome_of[f->kind];
        end.result = f->json;
        end.result_total = f->total;
        end.message = f->message;
        end.stack = f->stack;
        end.calls_refused = f->refused;
        read_loose(&arena, f, &end);
    }
    finish(s, &end);
}

/* ---- a running script's worker ---- */

static void begin_console_line(struct script *s)
{
    if (s->has_console)
        buf_addc(&s->console, '\n');
    s->has_console = true;
}

/* The guard has checked the sum; this buffer only ever needs a newline less and the mark more.
 */
static void add_console(struct script *s, const struct frame *f)
{
    if (!f->over || f->text.n) {
        begin_console_line(s);
        buf_add(&s->console, console_prefix(f->level));
        buf_add(&s->console, f->text);
    }
    if (f->over) {
        begin_console_line(s);
        buf_addz(&s->console, CONSOLE_OVER);
    }
}

static void on_frame(void *ctx, const struct frame *f)
{
    struct script *s = ctx;

    switch (f->type) {
    case FRAME_CALL:
        s->ops.on_call(s->ctx, f->id, s->names[f->server], f->key, f->args);
        break;
    case FRAME_GET:
        s->ops.on_get_result(s->ctx, f->id, f->key);
        break;
    case FRAME_CONSOLE:
        add_console(s, f);
        break;
    case FRAME_RESULT:
    case FRAME_ERROR:
    case FRAME_MEMORY_EXHAUSTED:
        finish_by_frame(s, f);
        break;
    case FRAME_READY:
    case FRAME_TYPE_COUNT:
        break;
    }
}

static bool ended_by_signal(const struct slot_gone *how, int signo)
{
    return WIFSIGNALED(how->wait_status) && WTERMSIG(how->wait_status) == signo;
}

/* Without a final frame: the exit tells why (WK-7). */
static void on_gone(void *ctx, struct slot *slot, const struct slot_gone *how)
{
    struct script *s = ctx;
    struct script_end end = { .outcome = SCRIPT_CRASHED };
    struct error why = how->why; /* *how ends with the slot */
    char text[64];

    (void)slot;
    if (how->broke_protocol) {
        end.message = str_of(why.msg);
    } else if (s->killed || ended_by_signal(how, SIGXCPU)) {
        snprintf(text, sizeof text, "script timed out after %g s",
                 s->sandbox->limits.timeout_ms / 1000.0);
        end = (struct script_end){ .outcome = SCRIPT_TIMEOUT, .message = str_of(text) };
    } else if (WIFEXITED(how->wait_status) && WEXITSTATUS(how->wait_status) == QUOTA_EXIT) {
        end.outcome = SCRIPT_MEMORY;
    } else {
        end.message = str_of(why.msg);
    }
    finish(s, &end);
}

static void on_deadline(void *ctx)
{
    struct script *s = ctx;

    s->killed = true;
    slot_kill(s->slot);
}

static void begin(struct script *s, struct slot *slot)
{
    static const struct slot_ops ops = { NULL, on_frame, on_gone };
    struct sandbox *sb = s->sandbox;

    list_remove(&sb->queue, s);
    list_add(&sb->running, s);
    s->state = SCRIPT_RUNNING;
    s->slot = slot;
    s->deadline = timer_new(sb->loop, on_deadline, s);
    timer_set(s->deadline, sb->limits.timeout_ms + SANDBOX_KILL_GRACE_MS);
    slot_give(slot, buf_str(&s->frame), s->nnames, &ops, s);
    buf_free(&s->frame);
}

/* ---- workers without a script ---- */

static void serve_queue(struct sandbox *sb)
{
    while (sb->queue.first && sb->running.n < SANDBOX_MAX_RUNNING) {
        struct slot *slot = take_ready(sb);

        if (!slot)
            break;
        begin(sb->queue.first, slot);
    }
}

static void on_idle_ready(void *ctx, struct slot *slot)
{
    struct sandbox *sb = ctx;

    (void)slot;
    serve_queue(sb);
}

static void fail_first(struct sandbox *sb, const char *why)
{
    struct script *s = sb->queue.first;
    auto_buf text = BUF(ERROR_MSG_MAX + 64);

    buf_addf(&text, "no script worker could be started: %s", why);
    finish_crashed(s, buf_str(&text));
}

/* Never a spin: each death without a script makes the next start wait longer. */
static void after_death(struct sandbox *sb, const char *why)
{
    int wait = BACKOFF_MAX_MS;

    if (sb->deaths < 7)
        wait = min_unsigned(BACKOFF_FIRST_MS << sb->deaths, BACKOFF_MAX_MS);
    sb->deaths++;
    log_debug("script worker lost (%u in a row): %s; next start in %d ms", sb->deaths, why,
              wait);
    sb->not_before_ms = clock_ms() + wait;
    pump_in(sb, 0);
    if (sb->deaths >= START_TRIES && sb->queue.first)
        fail_first(sb, why);
}

static void on_idle_frame(void *ctx, const struct frame *f)
{
    (void)ctx;
    (void)f;
}

static void on_idle_gone(void *ctx, struct slot *slot, const struct slot_gone *how)
{
    struct sandbox *sb = ctx;
    struct error why = how->why;

    forget_idle(sb, slot);
    slot_free(slot);
    after_death(sb, why.msg);
}

static void on_pump(void *ctx)
{
    static const struct slot_ops ops = { on_idle_ready, on_idle_frame, on_idle_gone };
    struct sandbox *sb = ctx;
    struct error e = { 0 };
    struct slot *slot;

    dispose_spent(sb);
    if (sb->nidle >= wanted(sb))
        return;
    if (clock_ms() < sb->not_before_ms) {
        pump_in(sb, 0);
        return;
    }
    slot = slot_start(sb->loop, &sb->limits, sb->unsandboxed, &ops, sb, &e);
    if (!slot) {
        after_death(sb, e.msg);
        return;
    }
    sb->idle[sb->nidle++] = slot;
    pump_in(sb, 0);
}

/* ---- the public side ---- */

struct sandbox *sandbox_new(struct loop *l, const struct sandbox_limits *limits)
{
    const char *allow = getenv("SYMPOSIUM_ALLOW_UNSANDBOXED");
    struct sandbox *sb = NEW(struct sandbox);

    *sb = (struct sandbox){ .loop = l, .limits = *limits };
    sb->unsandboxed = allow && strcmp(allow, "1") == 0;
    sb->usable = sb->unsandboxed || sandbox_probe_layers().usable;
    sb->pump = timer_new(l, on_pump, sb);
    return sb;
}

void sandbox_prewarm(struct sandbox *sb)
{
    sb->warm = sb->usable;
    if (!timer_is_set(sb->pump))
        pump_in(sb, PREWARM_DELAY_MS);
}

bool sandbox_idle(const struct sandbox *sb)
{
    return !sb->queue.n && !sb->running.n;
}

void sandbox_free(struct sandbox *sb)
{
    struct script *s;

    if (!sb)
        return;
    while ((s = list_take(&sb->queue)))
        script_destroy(s);
    while ((s = list_take(&sb->running))) {
        if (s->state == SCRIPT_ENDING)
            s->silenced = true; /* detach() is below us on the stack; its caller frees it */
        else
            script_destroy(s);
    }
    for (unsigned i = 0; i < sb->nidle; i++)
        slot_free(sb->idle[i]);
    dispose_spent(sb);
    timer_free(sb->pump);
    free(sb);
}

static void copy_names(struct script *s, const struct script_job *job)
{
    s->nnames = job->nglobals;
    s->names = ARENA_ARRAY(&s->arena, struct str, job->nglobals);
    for (size_t i = 0; i < job->nglobals; i++)
        s->names[i] = arena_str(&s->arena, job->globals[i].name);
}

struct script *sandbox_run(struct sandbox *sb, const struct script_job *job,
                           const struct script_ops *ops, void *ctx, struct error *e)
{
    struct script *s;
    struct slot *slot;

    if (!sb->usable) {
        error_set(e, ERR_DENIED,
                  "scripts cannot be locked down on this machine (no seccomp filter); "
                  "SYMPOSIUM_ALLOW_UNSANDBOXED=1 runs them without");
        return NULL;
    }
    if (job->source.n > SANDBOX_MAX_SOURCE) {
        error_set(e, ERR_LIMIT, "source over %zu KiB", SANDBOX_MAX_SOURCE >> 10);
        return NULL;
    }
    if (sb->queue.n + sb->running.n >= SANDBOX_MAX_RUNNING + SANDBOX_MAX_WAITING) {
        error_set(e, ERR_LIMIT, "too many scripts");
        return NULL;
    }
    s = NEW(struct script);
    *s = (struct script){ .sandbox = sb, .ops = *ops, .ctx = ctx, .arena = ARENA };
    s->frame = BUF(SCRIPT_FRAME_MAX);
    s->console = BUF(sb->limits.console_bytes + sizeof CONSOLE_OVER + 16);
    if (!frame_put_script(&s->frame, job, &sb->limits, e)) {
        script_destroy(s);
        return NULL;
    }
    copy_names(s, job);
    sb->used = true;
    list_add(&sb->queue, s);
    slot = sb->queue.first == s && sb->running.n < SANDBOX_MAX_RUNNING ? take_ready(sb) : NULL;
    if (slot) {
        begin(s, slot);
        if (!timer_is_set(sb->pump))
            pump_in(sb, REFILL_DELAY_MS);
    } else {
        pump_in(sb, 0);
    }
    return s;
}

/* Sends the frame, or an error in its place when it is too long or the script may not have that
 * much any more. */
static void reply(struct script *s, uint32_t id, struct buf *frame, bool fits, bool failed)
{
    struct frame_guard *g;

    if (s->state != SCRIPT_RUNNING)
        return;
    g = slot_guard(s->slot);
    if (!fits || g->traffic + frame->n > FRAME_TRAFFIC_SOFT) {
        auto_buf text = BUF(128);

        if (fits)
            buf_addz(&text, FRAME_TEXT_DATA_LIMIT);
        else
            buf_addf(&text, "answer larger than %zu MiB", FRAME_MAX >> 20);
        frame_put_reply_error(frame, id, buf_str(&text), NULL);
        failed = true;
    }
    if (frame_guard_reply(g, id, frame->n, failed))
        slot_send(s->slot, buf_str(frame));
}

void script_reply(struct script *s, uint32_t id, struct str value_json)
{
    auto_buf frame = BUF(SCRIPT_FRAME_MAX);
    bool fits = frame_put_reply(&frame, id, value_json, NULL);

    reply(s, id, &frame, fits, false);
}

void script_reply_error(struct script *s, uint32_t id, struct str message)
{
    auto_buf frame = BUF(SCRIPT_FRAME_MAX);
    bool fits = frame_put_reply_error(&frame, id, message, NULL);

    reply(s, id, &frame, fits, true);
}

void script_cancel(struct script *s)
{
    if (s->state != SCRIPT_ENDING) {
        detach(s);
        script_destroy(s);
    } else if (!s->silenced) {
        s->silenced = true; /* detach() is below us on the stack */
        list_remove(&s->sandbox->running, s);
    }
}

/* ---- what there is ---- */

struct sandbox_layers sandbox_probe_layers(void)
{
    struct sandbox_layers l = {
        .seccomp = seccomp_available(),
        .no_new_privs = confine_has_no_new_privs(),
        .mdwe = confine_has_no_exec_memory(),
        .landlock_abi = landlock_abi(),
    };
    int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0u);

    l.pidfd = pidfd >= 0;
    if (pidfd >= 0)
        close(pidfd);
    l.usable = l.seccomp && l.no_new_privs;
    return l;
}

const char *sandbox_engine(void)
{
    return engine_version();
}
