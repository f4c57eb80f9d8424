/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tasks/ledger_sqlite.h"

struct recorder {
    struct ledger *ledger;
    struct ledger_watch *watch;
    void (*on_cancel)(void *owner);
    struct map open; /* task id -> struct record */
    bool broken;
};

struct record {
    struct recorder *all;
    char id[TASK_ID_LEN + 1];
    void *owner;
};

/* Of everything that is written: the first failure is told, and nothing more is tried. */
static void on_written(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct recorder *r = ctx;

    (void)a;
    if (!e || r->broken)
        return;
    r->broken = true;
    log_warn("runs of agents are not recorded as tasks: %s", e->msg);
}

static bool writes(const struct record *t)
{
    return t && !t->all->broken && !ledger_is_full(t->all->ledger);
}

static void append(struct record *t, enum task_event type, const struct buf *data)
{
    if (writes(t) && !data->over)
        ledger_append(t->all->ledger, str_of(t->id), type, buf_str(data), on_written, t->all);
}

/* ---- cancelling ---- */

static void on_cancels(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct recorder *r = ctx;

    for (size_t i = 0; !e && i < a->ntasks; i++) {
        struct record *t = map_get(&r->open, a->tasks[i].id);

        if (t)
            r->on_cancel(t->owner);
    }
}

static void on_change(void *ctx)
{
    struct recorder *r = ctx;

    if (!r->broken && map_count(&r->open))
        ledger_cancels(r->ledger, on_cancels, r);
}

/* ---- life ---- */

struct recorder *recorder_new(struct loop *l, const struct ledger_config *config,
                              void (*on_cancel)(void *owner))
{
    struct recorder *r = NEW(struct recorder);

    r->ledger = ledger_new(l, &ledger_sqlite, config);
    r->on_cancel = on_cancel;
    return r;
}

void recorder_flush(struct recorder *r, void (*done)(void *ctx), void *ctx)
{
    ledger_flush(r->ledger, done, ctx);
}

void recorder_free(struct recorder *r)
{
    if (!r)
        return;
    ledger_watch_free(r->watch);
    ledger_drop(r->ledger, r);
    ledger_free(r->ledger);
    map_free(&r->open);
    free(r);
}

/* ---- one run ---- */

static void change(struct record *t, enum task_status from, enum task_status to)
{
    const struct task_change c = {
        .id = str_of(t->id), .from = 1u << from, .to = to, .set.started = to == TASK_RUNNING
    };

    if (writes(t))
        ledger_change(t->all->ledger, &c, on_written, t->all);
}

struct record *record_begin(struct recorder *r, const struct record_new *n, void *owner)
{
    struct task_new task = { 0 };
    struct record *t;

    if (!r)
        return NULL;
    t = NEW(struct record);
    t->all = r;
    t->owner = owner;
    task_id_new(t->id);
    map_put(&r->open, str_of(t->id), t);
    task.record = (struct task_record){
        .id = str_of(t->id),
        .kind = TASK_AGENT,
        .agent = n->agent,
        .workspace = n->workspace,
        .session_id = n->session,
        .prompt = utf8_cut(n->prompt, TASK_PROMPT_MAX),
        .labels = STR("[]"),
        .options = STR("{}"),
        .exit_code = -1,
        .signal = -1,
    };
    if (!r->watch && !r->broken)
        r->watch = ledger_watch_new(r->ledger, on_change, r);
    if (writes(t))
        ledger_submit(r->ledger, &task, on_written, r);
    change(t, TASK_CREATED, TASK_STARTING);
    change(t, TASK_STARTING, TASK_RUNNING);
    return t;
}

void record_call(struct record *t, const struct run_call *call)
{
    auto_buf data = BUF(64 << 10);
    struct jw w = jw_to(&data);

    jw_obj(&w);
    jw_kstr(&w, "toolCallId", str_upto(call->id, 1024));
    if (!call->ended)
        jw_kstr(&w, "title", str_upto(call->name, 1024));
    jw_kstrz(&w, "status",
             !call->ended   ? "in_progress"
             : call->failed ? "failed"
                            : "completed");
    jw_end(&w);
    append(t, call->ended ? TASK_EV_TOOL_UPDATE : TASK_EV_TOOL_CALL, &data);
}

void record_message(struct record *t, struct str text)
{
    auto_buf data = BUF(7 * TASK_PIECE_MAX);
    struct jw w = jw_to(&data);

    jw_obj(&w);
    jw_kstr(&w, "text", utf8_cut(text, TASK_PIECE_MAX));
    jw_end(&w);
    append(t, TASK_EV_MESSAGE, &data);
}

static void put_error(struct buf *out, const struct fault *f)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_kstrz(&w, "kind", fault_name(f->kind));
    jw_kstrz(&w, "message", f->msg);
    jw_end(&w);
}

void record_end(struct record *t, struct str text, const struct fault *f)
{
    struct task_change c = { .from = 1u << TASK_CREATED | 1u << TASK_STARTING |
                                     1u << TASK_RUNNING };
    auto_buf data = BUF(16 << 10);
    struct task_event_row row;

    if (!t)
        return;
    c.id = str_of(t->id);
    c.to = !f ? TASK_SUCCEEDED : f->kind == FAULT_INTERRUPTED ? TASK_CANCELLED : TASK_FAILED;
    c.set.finished = true;
    c.set.stop_reason = str_of(f ? fault_name(f->kind) : "end_turn");
    c.set.result_text = utf8_cut(text, TASK_RESULT_MAX);
    if (f) {
        put_error(&data, f);
        row = (struct task_event_row){ .type = TASK_EV_ERROR, .data = buf_str(&data) };
        c.events = &row;
        c.nevents = 1;
    }
    if (writes(t))
        ledger_change(t->all->ledger, &c, on_written, t->all);
    map_del(&t->all->open, str_of(t->id));
    free(t);
}
