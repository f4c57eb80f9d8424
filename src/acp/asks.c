/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Permission requests (docs/spec/tasks.md TK-31, ACP-14): decided at once, answered when the
 * owner says that the decision is recorded.
 */
#include <stdlib.h>

#include "acp/internal.h"
#include "base/log.h"
#include "base/mem.h"

#define RPC_CANCELLED (-32800)

struct acp_open_ask {
    uint64_t id;
    char *rpc_id;         /* JSON text */
    struct str option_id; /* owned; p is NULL: cancelled */
    bool reject;
    struct acp_open_ask *next;
};

static void ask_free(struct acp_open_ask *a)
{
    free(a->rpc_id);
    free((char *)(uintptr_t)a->option_id.p);
    free(a);
}

static struct acp_open_ask *take(struct acp_session *s, struct acp_open_ask **at)
{
    struct acp_open_ask *a = *at;

    *at = a->next;
    s->nasks--;
    return a;
}

/* ---- answers ---- */

static void answer_cancelled(struct acp_session *s, struct str rpc_id)
{
    peer_reply(s->peer, rpc_id, STR("{\"outcome\":{\"outcome\":\"cancelled\"}}"), NULL);
}

static void answer_selected(struct acp_session *s, const struct acp_open_ask *a)
{
    auto_buf result = BUF(ACP_REQUEST_BYTES);
    struct jw w = jw_to(&result);

    jw_obj(&w);
    jw_key(&w, "outcome");
    jw_obj(&w);
    jw_kstrz(&w, "outcome", "selected");
    jw_kstr(&w, "optionId", a->option_id);
    jw_end(&w);
    jw_end(&w);
    peer_reply(s->peer, str_of(a->rpc_id), buf_str(&result), NULL);
}

void acp_session_permit(struct acp_session *s, uint64_t id, bool recorded)
{
    struct acp_open_ask **at = &s->asks, *a;

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    if (!*at || s->freed)
        return;
    a = take(s, at);
    if (recorded && a->option_id.p && !s->cancelled) {
        s->rejected = a->reject;
        answer_selected(s, a);
    } else {
        answer_cancelled(s, str_of(a->rpc_id));
    }
    ask_free(a);
}

void acp_asks_cancel(struct acp_session *s)
{
    while (s->asks && !s->freed) {
        struct acp_open_ask *a = take(s, &s->asks);

        answer_cancelled(s, str_of(a->rpc_id));
        ask_free(a);
    }
}

void acp_asks_free(struct acp_session *s)
{
    while (s->asks)
        ask_free(take(s, &s->asks));
}

/* The agent does not want the answer any more (ACP-11). */
void acp_on_cancel_request(struct acp_session *s, yyjson_val *params)
{
    auto_buf id = BUF(RPC_ID_MAX);

    json_put_val(&id, json_get(params, "requestId"));
    for (struct acp_open_ask **at = &s->asks; *at; at = &(*at)->next) {
        struct acp_open_ask *a;

        if (!rpc_id_eq(buf_str(&id), str_of((*at)->rpc_id)))
            continue;
        a = take(s, at);
        peer_reply_error(s->peer, str_of(a->rpc_id), RPC_CANCELLED, STR("cancelled"), STR(""),
                         NULL);
        ask_free(a);
        return;
    }
}

/* ---- requests ---- */

/* What the request says; where it says nothing, what was said of that tool call before. */
static enum acp_kind kind_of(struct acp_session *s, const struct acp_ask *ask)
{
    struct str word = json_str(json_get(ask->tool_call, "kind"));
    enum acp_kind kind;

    if (ask->command)
        return ACP_EXECUTE;
    if (!word.n)
        return acp_tools_kind(&s->tools, ask->tool_call_id);
    acp_kind_parse(word, &kind);
    return kind;
}

static bool is_of_turn(const struct acp_session *s, yyjson_val *params)
{
    return s->state == ACP_PROMPTING && str_eq(json_str(json_get(params, "sessionId")), s->id);
}

static struct acp_open_ask *keep(struct acp_session *s, struct str rpc_id,
                                 const struct acp_decision *d)
{
    struct acp_open_ask *a = NEW(struct acp_open_ask);

    *a = (struct acp_open_ask){
        .id = ++s->last_ask,
        .rpc_id = str_dup(rpc_id),
        .option_id = { d->selected ? str_dup(d->option_id) : NULL, d->option_id.n },
        .reject = d->selected && str_is(STR("reject_once"), d->option_kind),
        .next = s->asks,
    };
    s->asks = a;
    s->nasks++;
    return a;
}

void acp_on_ask(struct acp_session *s, const struct rpc_msg *m)
{
    struct acp_permission p = { 0 };
    struct acp_ask ask;

    if (!is_of_turn(s, m->params) || s->nasks >= ACP_ASKS_MAX) {
        log_debug("acp: a permission request that is not of the turn, or one too many");
        answer_cancelled(s, m->id);
        return;
    }
    acp_text_break(&s->text);
    if (s->freed)
        return;
    s->codec->read_ask(&ask, m->params);
    p.kind = kind_of(s, &ask);
    p.tool_call_id = ask.tool_call_id;
    p.title = ask.title;
    if (!s->cancelled)
        p.decision = acp_decide(json_get(m->params, "options"), p.kind, s->turn.allow);
    s->ops.on_permission(s->ctx, keep(s, m->id, &p.decision)->id, &p);
}
