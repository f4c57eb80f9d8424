/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a run writes into the ledger: events, within bounds of memory and of the task's cap, and
 * the changes of its status. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/procstat.h"
#include "base/utf8.h"
#include "tasks/run_impl.h"

/* A control character is six bytes in JSON. */
#define PIECE_JSON_MAX (6 * TASK_PIECE_MAX + 64)

/* ---- events ---- */

static void mute(struct run *r)
{
    r->muted = true;
    if (r->session)
        acp_session_mute(r->session);
}

/* Once all that was handed over is in the ledger the agent may go on. */
static void on_recorded(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct run *r = ctx;

    if (e)
        log_warn("task %s: an event could not be recorded: %s", r->id, e->msg);
    else if (!a->yes && !r->muted)
        mute(r); /* at the task's cap, for which the ledger made an `error` */
    if (--r->unanswered)
        return;
    r->pending = 0;
    if (r->paused && r->child)
        child_resume(r->child);
    r->paused = false;
}

static void hold_back(struct run *r)
{
    bool runs = r->state == RUN_RUNNING || r->state == RUN_CANCELLING;

    if (r->paused || !runs || !r->child ||
        (r->pending <= RUN_PENDING_MAX && !ledger_is_full(r->all->env.ledger)))
        return;
    r->paused = true;
    child_pause(r->child);
}

void run_event(struct run *r, enum task_event type, struct str data)
{
    r->unanswered++;
    r->pending += data.n;
    ledger_append(r->all->env.ledger, str_of(r->id), type, data, on_recorded, r);
    hold_back(r);
}

void run_error(struct run *r, const char *step, const char *fmt, ...)
{
    auto_buf out = BUF(RUN_DATA_MAX);
    struct jw w = jw_to(&out);
    char text[ERROR_MSG_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    jw_obj(&w);
    jw_kstrz(&w, "message", text);
    if (step)
        jw_kstrz(&w, "step", step);
    jw_end(&w);
    run_event(r, TASK_EV_ERROR, buf_str(&out));
}

void run_output(struct run *r, enum task_event type, struct str data)
{
    if (r->muted)
        return;
    if (task_event_is_output(type))
        r->output += (int64_t)data.n;
    if (r->output / RUN_OUTPUT_TIMES < r->max_output) {
        run_event(r, type, data);
        return;
    }
    run_error(r, NULL, "output cap: what comes after %d times %lld bytes is not recorded",
              RUN_OUTPUT_TIMES, (long long)r->max_output);
    mute(r);
}

/* ---- text of stdout and stderr (TK-18) ---- */

static void emit_text(struct run *r, enum child_stream stream, bool last)
{
    struct buf *text = &r->text[stream];
    struct str whole = last ? buf_str(text) : utf8_whole(buf_str(text));
    auto_buf out = BUF(PIECE_JSON_MAX);
    struct jw w = jw_to(&out);

    if (!whole.n)
        return;
    jw_obj(&w);
    jw_kstr(&w, "text", whole); /* invalid bytes become U+FFFD */
    jw_end(&w);
    run_output(r, stream == CHILD_STDOUT ? TASK_EV_STDOUT : TASK_EV_STDERR, buf_str(&out));
    buf_drop_front(text, whole.n);
}

void run_text(struct run *r, enum child_stream stream, struct str bytes)
{
    struct buf *text = &r->text[stream];

    if (stream == CHILD_STDOUT)
        buf_add_last(&r->result, bytes);
    while (bytes.n && !r->muted) {
        size_t room = TASK_PIECE_MAX - text->n;

        buf_add(text, str_upto(bytes, room));
        bytes = str_from(bytes, room);
        if (text->n == TASK_PIECE_MAX)
            emit_text(r, stream, false);
    }
    if (text->n && !timer_is_set(r->text_timer))
        timer_set(r->text_timer, RUN_TEXT_MS);
}

void run_flush_text(struct run *r)
{
    bool last = r->state >= RUN_RECORDING;

    for (enum child_stream s = CHILD_STDOUT; s <= CHILD_STDERR; s++)
        emit_text(r, s, last);
}

/* ---- status ---- */

static void put_process(struct run *r, struct task_process *p)
{
    struct procstat st = { 0 };

    p->pid = child_pid(r->child);
    p->keeper = child_keeper(r->child);
    if (procstat_read("/proc", (pid_t)p->pid, &st))
        p->pid_start = st.start;
    if (procstat_read("/proc", (pid_t)p->keeper, &st))
        p->keeper_start = st.start;
}

/* Somebody else took the row (TK-5: our owner's lock was not ours), or the ledger cannot be
 * written: what is not recorded must not run. */
static void lose_row(struct run *r, const struct error *e)
{
    log_warn("task %s: its start could not be recorded (%s): it is ended", r->id,
             e ? e->msg : "the task is another's now");
    if (r->state < RUN_RECORDING)
        r->verdict = TASK_FAILED;
    run_call_off(r);
}

static void on_running(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct run *r = ctx;

    if (e || !a->yes) {
        lose_row(r, e);
        return;
    }
    run_recorded(r);
    r->ops.on_running(r->ctx);
}

void run_record_running(struct run *r)
{
    auto_buf out = BUF(RUN_DATA_MAX);
    struct jw w = jw_to(&out);
    struct task_event_row started = { .type = TASK_EV_PROCESS_STARTED };
    struct task_change c = {
        .id = str_of(r->id),
        .from = 1u << TASK_STARTING,
        .to = TASK_RUNNING,
        .set.started = true,
        .events = &started,
        .nevents = 1,
    };

    put_process(r, &c.set.process);
    jw_obj(&w);
    jw_kint(&w, "pid", c.set.process.pid);
    jw_kint(&w, "pgid", c.set.process.pid); /* it leads its own group (WK-8) */
    jw_kstrz(&w, "argv0", r->program);
    jw_end(&w);
    started.data = buf_str(&out);
    ledger_change(r->all->env.ledger, &c, on_running, r);
}

static void on_fields(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct run *r = ctx;

    (void)a;
    if (e)
        log_warn("task %s: its record could not be changed: %s", r->id, e->msg);
}

void run_record_session(struct run *r, struct str session_id, struct str data)
{
    const struct task_event_row begun = { .type = TASK_EV_SESSION, .data = data };
    const struct task_change c = {
        .id = str_of(r->id),
        .from = 1u << TASK_RUNNING,
        .to = TASK_RUNNING,
        .set.session_id = session_id,
        .events = &begun,
        .nevents = 1,
    };

    ledger_change(r->all->env.ledger, &c, on_fields, r);
}

void run_record_worktree(struct run *r, const char *branch)
{
    const struct task_change c = {
        .id = str_of(r->id),
        .from = 1u << TASK_STARTING,
        .to = TASK_STARTING,
        .set.worktree = str_of(r->cwd),
        .set.branch = str_of(branch),
    };

    ledger_change(r->all->env.ledger, &c, on_fields, r);
}

/* ---- the last one ---- */

static void on_ended(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct run *r = ctx;
    int most = r->all->closing ? 1 : RUN_RECORD_TRIES;

    (void)a; /* without yes somebody else has ended it */
    if (!e) {
        run_done(r);
        return;
    }
    log_warn("task %s: its end could not be recorded: %s", r->id, e->msg);
    if (++r->tries < most)
        timer_set(r->timer, RUN_RECORD_RETRY_MS);
    else
        run_done(r); /* our owner's lock goes with us: then others say "owner lost" (TK-5) */
}

static void put_or_null(struct jw *w, const char *key, int value)
{
    jw_key(w, key);
    if (value >= 0)
        jw_int(w, value);
    else
        jw_null(w);
}

static void put_exit(struct run *r, struct jw *w, int code, int sig)
{
    jw_obj(w);
    put_or_null(w, "exit_code", code);
    put_or_null(w, "signal", sig);
    if (r->plan.kind == TASK_ACP) {
        jw_key(w, "stop_reason");
        jw_strz(w, r->stop_reason.n ? r->stop_reason.p : NULL);
    }
    jw_end(w);
}

/* The end of a long output may begin within a character. */
static struct str whole_characters(struct str s)
{
    size_t n = 0;

    while (n < 3 && n < s.n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n++;
    return str_from(s, n);
}

/* Also the second try. */
void run_record_again(struct run *r)
{
    auto_buf out = BUF(RUN_DATA_MAX);
    struct jw w = jw_to(&out);
    int code = r->exited ? r->how.code : -1;
    int sig = r->exited && r->how.signal ? r->how.signal : -1;
    struct task_event_row exited = { .type = TASK_EV_PROCESS_EXITED };
    struct task_change c = {
        .id = str_of(r->id),
        .from = 1u << TASK_CREATED | 1u << TASK_STARTING | 1u << TASK_RUNNING,
        .to = r->verdict,
        .set = { .finished = true,
                 .exit_code = &code,
                 .signal = &sig,
                 .stop_reason = r->stop_reason,
                 .usage = r->usage },
    };
    auto_buf result = BUF(4 * TASK_RESULT_MAX);

    if (r->started) {
        put_exit(r, &w, code, sig);
        exited.data = buf_str(&out);
        c.events = &exited;
        c.nevents = 1;
    }
    utf8_put_lossy(&result, whole_characters(buf_str(&r->result)));
    c.set.result_text = utf8_cut(buf_str(&result), TASK_RESULT_MAX);
    ledger_change(r->all->env.ledger, &c, on_ended, r);
}

void run_record_end(struct run *r)
{
    run_enter(r, RUN_RECORDING);
    run_flush_text(r);
    timer_clear(r->timer);
    run_end_turn(r);
    child_free(take_ptr(&r->child));
    run_record_again(r);
}
