/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The prompt, and how it ends. */
#include "acp/internal.h"
#include "base/log.h"

#define RPC_CANCELLED (-32800)

void acp_stop(struct acp_session *s, const struct acp_stop *how)
{
    struct acp_stop told = *how;

    told.after_reject = s->rejected && !s->cancelled && str_is(how->reason, "cancelled");
    log_debug("acp: stopped: %.*s%.*s", STR_F(str_upto(told.reason, 64)),
              STR_F(str_upto(told.error, ACP_TEXT_SHOWN)));
    acp_enter(s, ACP_STOPPED);
    acp_hold(s);
    acp_asks_cancel(s);
    acp_text_flush(&s->text);
    if (!s->freed)
        s->ops.on_stopped(s->ctx, &told);
    acp_release(s);
}

static void stop_with_error(struct acp_session *s, const struct rpc_msg *reply,
                            const struct error *e)
{
    auto_buf text = BUF(8 * ACP_TEXT_SHOWN);

    if (s->cancelled && reply && reply->code == RPC_CANCELLED) {
        acp_stop(s, &(struct acp_stop){ .reason = STR("cancelled") });
        return;
    }
    acp_put_error(&text, s, reply, e);
    acp_stop(s, &(struct acp_stop){ .error = buf_str(&text) });
}

/* `end` is the answer to the prompt, or the update of v2 that stands for it. */
static void stop_with_result(struct acp_session *s, yyjson_val *end)
{
    yyjson_val *usage = json_get(end, "usage");
    auto_buf text = BUF(ACP_USAGE_MAX);

    if (json_is_obj(usage))
        json_put_val(&text, usage);
    if (!buf_ok(&text, NULL))
        buf_clear(&text);
    acp_stop(s, &(struct acp_stop){ .reason = json_str(json_get(end, "stopReason")),
                                    .usage = buf_str(&text) });
}

static void on_prompted(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct acp_session *s = ctx;

    if (!acp_answered(s))
        return;
    acp_hold(s);
    s->accepted = true;
    if (e)
        stop_with_error(s, reply, e);
    else if (!s->codec->ends_by_update)
        stop_with_result(s, reply->result);
    else if (s->idle.v)
        stop_with_result(s, s->idle.v);
    acp_release(s);
}

/*
 * v2: idle ends the turn; without a reason only after it was running, for an agent may say that
 * it is idle before it begins.
 */
void acp_on_state_update(struct acp_session *s, struct rpc_doc *doc, yyjson_val *update)
{
    struct str state = json_str(json_get(update, "state"));

    if (s->state != ACP_PROMPTING)
        return;
    s->running = s->running || str_is(state, "running");
    if (!str_is(state, "idle") || (!json_str(json_get(update, "stopReason")).n && !s->running))
        return;
    if (s->accepted)
        stop_with_result(s, update);
    else
        acp_keep(&s->idle, doc, update);
}

/* Answers may be large, and turns are long. */
static void forget_settings(struct acp_session *s)
{
    acp_keep(&s->initialized, NULL, NULL);
    acp_keep(&s->config, NULL, NULL);
    acp_keep(&s->modes, NULL, NULL);
    acp_keep(&s->models, NULL, NULL);
    s->agent.auth_methods = NULL;
}

/* The one request without a deadline of its own (TK-20). */
void acp_prompt(struct acp_session *s)
{
    auto_buf params = BUF(ACP_REQUEST_BYTES);
    struct jw w = jw_to(&params);
    struct peer_call c = { .method = "session/prompt", .timeout_ms = PEER_NO_TIMEOUT };
    struct error e;

    jw_obj(&w);
    jw_kstr(&w, "sessionId", s->id);
    jw_key(&w, "prompt");
    jw_arr(&w);
    jw_obj(&w);
    jw_kstrz(&w, "type", "text");
    jw_kstr(&w, "text", s->turn.prompt);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    c.params = buf_str(&params);
    s->step = "prompt";
    s->call = buf_ok(&params, &e) ? peer_call(s->peer, &c, on_prompted, s, &e) : 0;
    if (!s->call) {
        acp_fail_reply(s, "prompt", NULL, &e);
        return;
    }
    acp_enter(s, ACP_PROMPTING);
    forget_settings(s);
    s->ops.on_prompting(s->ctx);
}
