/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The turn of an agent that speaks ACP: what the session tells becomes events and a verdict. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "tasks/run_impl.h"

/* The bits of one run that stops: of the turn's regular end, and of one that never began. */
static struct child_ladder after_turn(const struct run *r)
{
    int eof = r->called_off ? RUN_EOF_CALLED_OFF : RUN_EOF_MS;

    return (struct child_ladder){ eof, eof + RUN_TERM_MS };
}

static bool on_send(void *ctx, struct str line, struct error *e)
{
    struct run *r = ctx;

    if (!r->child)
        return error_set(e, ERR_CLOSED, "the agent is gone");
    return child_write_line(r->child, line, e);
}

/* ---- events ---- */

static void start_message(struct run *r, struct str id)
{
    buf_clear(&r->result);
    free(r->message_id);
    r->message_id = id.n ? str_dup(id) : NULL;
}

/* The last message of the turn, from its beginning, is the result (TK-9). */
static void keep_message(struct run *r, struct str data)
{
    auto_json j = { 0 };
    struct str id;

    if (!json_parse(&j, data, NULL))
        return;
    id = json_str(json_get(j.root, "message_id"));
    if (json_bool(json_get(j.root, "replaces"), false) ||
        (!json_bool(json_get(j.root, "continues"), false) &&
         !(id.n && r->message_id && str_is(id, r->message_id))))
        start_message(r, id);
    buf_add(&r->result,
            utf8_cut(json_str(json_get(j.root, "text")), TASK_RESULT_MAX - r->result.n));
}

static void keep_session(struct run *r, struct str data)
{
    auto_json j = { 0 };

    if (json_parse(&j, data, NULL))
        run_record_session(r, json_str(json_get(j.root, "session_id")), data);
}

static void on_event(void *ctx, enum acp_event type, struct str data)
{
    static const enum task_event as[] = {
        [ACP_EV_SESSION] = TASK_EV_SESSION,         [ACP_EV_MESSAGE] = TASK_EV_MESSAGE,
        [ACP_EV_THOUGHT] = TASK_EV_THOUGHT,         [ACP_EV_TOOL_CALL] = TASK_EV_TOOL_CALL,
        [ACP_EV_TOOL_UPDATE] = TASK_EV_TOOL_UPDATE, [ACP_EV_PLAN] = TASK_EV_PLAN,
        [ACP_EV_UPDATE] = TASK_EV_AGENT_UPDATE,
    };
    struct run *r = ctx;

    if (type == ACP_EV_SESSION) {
        keep_session(r, data);
        return;
    }
    if (type == ACP_EV_MESSAGE && !r->muted)
        keep_message(r, data);
    run_output(r, as[type], data);
}

/* ---- permissions (TK-31) ---- */

struct permit {
    struct run *r;
    struct permit *next;
    uint64_t id; /* of the session */
};

static void permit_free(struct permit *p)
{
    struct permit **at = &p->r->permits;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    free(p);
}

/* The agent learns of it only when it is on the disk. */
static void on_permit(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct permit *p = ctx;
    struct run *r = p->r;
    uint64_t id = p->id;

    (void)a;
    permit_free(p);
    acp_session_permit(r->session, id, !e);
    if (!e || r->called_off)
        return;
    run_error(r, "permission", "a decision could not be recorded: %s", e->msg);
    r->verdict = TASK_FAILED;
    run_call_off(r);
}

static void on_permission(void *ctx, uint64_t id, const struct acp_permission *ask)
{
    struct run *r = ctx;
    struct permit *p = NEW(struct permit);
    const struct acp_decision *d = &ask->decision;
    auto_buf out = BUF(ACP_LINE_MAX * 2);
    struct jw w = jw_to(&out);

    *p = (struct permit){ .r = r, .next = r->permits, .id = id };
    r->permits = p;
    jw_obj(&w);
    jw_kstr(&w, "tool_call_id", str_upto(ask->tool_call_id, ACP_ID_MAX));
    jw_kstrz(&w, "tool_kind", acp_kind_name(ask->kind));
    if (ask->title.n)
        jw_kstr(&w, "title", utf8_cut(ask->title, ACP_PREVIEW_MAX));
    jw_kstrz(&w, "outcome", d->selected ? "selected" : "cancelled");
    if (d->selected) {
        jw_kstr(&w, "option_id", d->option_id);
        jw_kstrz(&w, "option_kind", d->option_kind);
    }
    jw_end(&w);
    ledger_append(r->all->env.ledger, str_of(r->id), TASK_EV_PERMISSION, buf_str(&out),
                  on_permit, p);
}

/* ---- the end ---- */

static void on_prompting(void *ctx)
{
    struct run *r = ctx;

    r->prompting = true;
}

static void on_failed(void *ctx, const struct acp_failure *why)
{
    struct run *r = ctx;
    auto_buf out = BUF(RUN_DATA_MAX);
    struct jw w = jw_to(&out);

    r->stopped = true;
    if (!r->called_off) {
        jw_obj(&w);
        jw_kstr(&w, "message", utf8_cut(why->text, ERROR_MSG_MAX));
        jw_kstrz(&w, "step", why->step);
        if (why->setting)
            jw_kstrz(&w, "setting", why->setting);
        if (why->value)
            jw_kstrz(&w, "value", why->value);
        jw_end(&w);
        run_event(r, TASK_EV_ERROR, buf_str(&out));
    }
    run_stop_process(r, after_turn(r));
}

static bool is_known_reason(struct str reason)
{
    static const char *const known[] = { "end_turn", "max_tokens", "max_turn_requests",
                                         "refusal", "cancelled" };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(reason, known[i]))
            return true;
    return false;
}

static void explain(struct run *r, const struct acp_stop *how)
{
    if (how->error.n)
        run_error(r, "prompt", "%.*s", STR_F(str_upto(how->error, ERROR_MSG_MAX)));
    else if (how->after_reject)
        run_error(r, NULL, "ended after a rejected permission");
    else if (!is_known_reason(how->reason))
        run_error(r, NULL, "ended for an unknown reason: '%.*s'",
                  STR_F(str_upto(how->reason, ACP_ID_MAX)));
}

static void on_stopped(void *ctx, const struct acp_stop *how)
{
    struct run *r = ctx;

    r->stopped = true;
    r->stop_reason = arena_str(&r->arena, str_upto(how->reason, ACP_ID_MAX));
    if (how->usage.n <= RUN_DATA_MAX) /* a few numbers */
        r->usage = arena_str(&r->arena, how->usage);
    if (!r->called_off) {
        r->verdict = str_is(how->reason, "end_turn") ? TASK_SUCCEEDED : TASK_FAILED;
        explain(r, how);
    }
    run_stop_process(r, after_turn(r));
}

/* ---- life ---- */

void run_begin_turn(struct run *r)
{
    static const struct acp_session_ops ops = {
        .send = on_send,
        .on_event = on_event,
        .on_permission = on_permission,
        .on_prompting = on_prompting,
        .on_failed = on_failed,
        .on_stopped = on_stopped,
    };

    r->session = acp_session_new(r->all->env.loop, &r->plan.turn, &ops, r);
}

/* Lines of one that is called off before its session began say nothing. */
void run_feed(struct run *r, struct str line, bool too_long)
{
    if (r->session && too_long)
        acp_session_feed_too_long(r->session);
    else if (r->session)
        acp_session_feed(r->session, line);
}

void run_cancel_turn(struct run *r)
{
    acp_session_cancel(r->session);
}

void run_close_turn(struct run *r, const struct error *why)
{
    if (r->session)
        acp_session_closed(r->session, why);
}

void run_end_turn(struct run *r)
{
    if (r->session && acp_session_dropped(r->session))
        log_debug("task %s: %llu events were not recorded, past the output cap", r->id,
                  (unsigned long long)acp_session_dropped(r->session));
    acp_session_free(take_ptr(&r->session));
    while (r->permits) {
        struct permit *p = r->permits;

        r->permits = p->next;
        ledger_drop(r->all->env.ledger, p);
        free(p);
    }
}
