/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* session/update into events (docs/spec/tasks.md ACP-12, TK-16). */
#include "acp/internal.h"
#include "base/utf8.h"

/* Re-encoding what was parsed never makes it longer; what is put around it is short. */
#define EVENT_MAX (2 * ACP_LINE_MAX)

/* ---- text ---- */

void acp_text_event(void *ctx, enum acp_event type, struct str data)
{
    struct acp_session *s = ctx;

    if (s->flush)
        timer_clear(s->flush);
    acp_emit(s, type, data);
}

/* Also how a session that could not even begin says so. */
void acp_on_flush(void *ctx)
{
    struct acp_session *s = ctx;

    acp_hold(s);
    if (s->state == ACP_INITIALIZING && !s->call)
        acp_fail(s, s->step, "%s", buf_z(&s->unsent));
    else
        acp_text_flush(&s->text);
    acp_release(s);
}

static void flush_soon(struct acp_session *s)
{
    if (s->flush && s->text.pending.n && !timer_is_set(s->flush))
        timer_set(s->flush, ACP_FLUSH_MS);
}

/* ---- events ---- */

/* Whatever has no event of its own. It does not end a message: agents tell their usage in the
 * middle of one. */
void acp_emit_update(struct acp_session *s, yyjson_val *update)
{
    auto_buf data = BUF(EVENT_MAX);
    struct jw w = jw_to(&data);

    acp_text_flush(&s->text);
    jw_obj(&w);
    jw_key(&w, "update");
    jw_val(&w, update);
    jw_end(&w);
    acp_emit(s, ACP_EV_UPDATE, buf_str(&data));
}

static size_t count_chars(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static void put_preview(struct jw *w, yyjson_val *v)
{
    auto_buf json = BUF(EVENT_MAX);
    struct str text, shown;

    json_put_val(&json, v);
    text = buf_str(&json);
    shown = utf8_cut_chars(text, ACP_PREVIEW_MAX);
    if (shown.n == text.n) {
        jw_raw(w, text);
        return;
    }
    jw_obj(w);
    jw_kbool(w, "truncated", true);
    jw_kint(w, "characters", (int64_t)count_chars(text));
    jw_kstr(w, "preview", shown);
    jw_end(w);
}

static bool is_status(struct str word)
{
    return str_is(word, "pending") || str_is(word, "in_progress") ||
           str_is(word, "completed") || str_is(word, "failed");
}

/* A wrong value of an optional member counts as absent (ACP-4). */
static bool is_wrong(const struct acp_session *s, struct str key, yyjson_val *v)
{
    enum acp_kind kind;

    if (str_is(key, "title"))
        return !json_is_str(v);
    if (str_is(key, "locations"))
        return !json_is_arr(v);
    if (str_is(key, "kind"))
        return !json_is_str(v) ||
               (!s->codec->open_enums && !acp_kind_parse(json_str(v), &kind));
    if (str_is(key, "status"))
        return !json_is_str(v) || (!s->codec->open_enums && !is_status(json_str(v)));
    return false;
}

/* The agent's own metadata may repeat what a tool brought, so it is cut like that. */
static void put_tool_member(struct jw *w, struct str key, yyjson_val *v)
{
    jw_key_s(w, key);
    if (str_is(key, "rawOutput") || str_is(key, "_meta"))
        put_preview(w, v);
    else
        jw_val(w, v);
}

static void emit_tool(struct acp_session *s, enum acp_event type, yyjson_val *update)
{
    auto_buf data = BUF(EVENT_MAX);
    struct jw w = jw_to(&data);

    jw_obj(&w);
    for (struct json_iter it = json_iter(update); json_next(&it);) {
        if (str_is(it.key, "sessionUpdate") || str_is(it.key, "content") ||
            json_get_s(update, it.key) != it.val || is_wrong(s, it.key, it.val))
            continue;
        put_tool_member(&w, it.key, it.val);
    }
    jw_end(&w);
    acp_text_break(&s->text);
    acp_emit(s, type, buf_str(&data));
}

static bool is_plan_entry(const struct acp_session *s, yyjson_val *v)
{
    struct str priority = json_str(json_get(v, "priority"));
    struct str status = json_str(json_get(v, "status"));

    if (!json_is_str(json_get(v, "content")) || !priority.n || !status.n)
        return false;
    return s->codec->open_enums || ((str_is(priority, "high") || str_is(priority, "medium") ||
                                     str_is(priority, "low")) &&
                                    is_status(status) && !str_is(status, "failed"));
}

static void emit_plan(struct acp_session *s, yyjson_val *entries)
{
    auto_buf data = BUF(EVENT_MAX);
    struct jw w = jw_to(&data);

    jw_obj(&w);
    jw_key(&w, "entries");
    jw_arr(&w);
    for (struct json_iter it = json_iter(entries); json_is_arr(entries) && json_next(&it);) {
        if (is_plan_entry(s, it.val))
            jw_val(&w, it.val);
    }
    jw_end(&w);
    jw_end(&w);
    acp_text_break(&s->text);
    acp_emit(s, ACP_EV_PLAN, buf_str(&data));
}

/* ---- kinds ---- */

static void on_chunk(struct acp_session *s, enum acp_text_kind kind, yyjson_val *update)
{
    yyjson_val *content = json_get(update, "content");

    if (!str_is(json_str(json_get(content, "type")), "text") ||
        !json_is_str(json_get(content, "text"))) {
        acp_emit_update(s, update);
        return;
    }
    acp_text_chunk(&s->text, kind, json_str(json_get(update, "messageId")),
                   json_str(json_get(content, "text")));
    flush_soon(s);
}

/* Without `content` it leaves the text as it is. */
static void on_whole(struct acp_session *s, enum acp_text_kind kind, yyjson_val *update)
{
    yyjson_val *content = json_get(update, "content");
    struct str id = json_str(json_get(update, "messageId"));
    auto_buf text = BUF(ACP_LINE_MAX);
    bool other = false;

    if (!id.n || !content) {
        acp_emit_update(s, update);
        return;
    }
    for (struct json_iter it = json_iter(content); json_is_arr(content) && json_next(&it);) {
        if (str_is(json_str(json_get(it.val, "type")), "text"))
            buf_add(&text, json_str(json_get(it.val, "text")));
        else
            other = true;
    }
    acp_text_whole(&s->text, kind, id, buf_str(&text));
    flush_soon(s);
    if (other)
        acp_emit_update(s, update);
}

/* In v2 the first word of a tool call is an update like the others. */
static void on_tool(struct acp_session *s, enum acp_event type, yyjson_val *update)
{
    struct str id = json_str(json_get(update, "toolCallId"));

    if (id.n && acp_tools_note(&s->tools, id, update) && s->codec->version > 1)
        type = ACP_EV_TOOL_CALL;
    if (id.n && json_len(update) <= ACP_MEMBERS_MAX)
        emit_tool(s, type, update);
    else
        acp_emit_update(s, update);
}

static void on_plan(struct acp_session *s, yyjson_val *update)
{
    yyjson_val *entries = s->codec->plan_entries(update);

    if (entries)
        emit_plan(s, entries);
    else
        acp_emit_update(s, update);
}

static void on_config(struct acp_session *s, struct rpc_doc *doc, yyjson_val *update)
{
    yyjson_val *config = json_get(update, "configOptions");

    if (json_is_arr(config) && s->state < ACP_PROMPTING)
        acp_keep(&s->config, doc, config);
}

static void on_mode(struct acp_session *s, yyjson_val *update)
{
    struct str mode = json_str(json_get(update, "currentModeId"));

    if (!mode.n)
        return;
    buf_clear(&s->mode);
    buf_add(&s->mode, mode);
}

static void on_kind(struct acp_session *s, enum acp_up up, struct rpc_doc *doc,
                    yyjson_val *update)
{
    switch (up) {
    case ACP_UP_MESSAGE_CHUNK:
    case ACP_UP_THOUGHT_CHUNK:
        on_chunk(s, up == ACP_UP_MESSAGE_CHUNK ? ACP_TEXT_MESSAGE : ACP_TEXT_THOUGHT, update);
        return;
    case ACP_UP_MESSAGE:
    case ACP_UP_THOUGHT:
        on_whole(s, up == ACP_UP_MESSAGE ? ACP_TEXT_MESSAGE : ACP_TEXT_THOUGHT, update);
        return;
    case ACP_UP_TOOL_CALL:
        on_tool(s, ACP_EV_TOOL_CALL, update);
        return;
    case ACP_UP_TOOL_UPDATE:
        on_tool(s, ACP_EV_TOOL_UPDATE, update);
        return;
    case ACP_UP_TOOL_CHUNK:
        return;
    case ACP_UP_PLAN:
        on_plan(s, update);
        return;
    case ACP_UP_CONFIG:
        on_config(s, doc, update);
        break;
    case ACP_UP_MODE:
        on_mode(s, update);
        break;
    case ACP_UP_STATE:
        acp_emit_update(s, update);
        if (!s->freed)
            acp_on_state_update(s, doc, update);
        return;
    case ACP_UP_USER:
    case ACP_UP_OTHER:
        break;
    }
    acp_emit_update(s, update);
}

static enum acp_up up_of(const struct acp_codec *codec, yyjson_val *update)
{
    struct str word = json_str(json_get(update, "sessionUpdate"));

    for (const struct acp_up_name *u = codec->ups; u->name; u++) {
        if (str_is(word, u->name))
            return u->up;
    }
    return ACP_UP_OTHER;
}

/* ---- history ---- */

static bool is_history(enum acp_up up)
{
    return up != ACP_UP_OTHER && up != ACP_UP_CONFIG && up != ACP_UP_MODE && up != ACP_UP_STATE;
}

/*
 * What a resumed session tells of its past is never recorded (TK-25): all until the answer, and
 * until the prompt what can only be history, for some agents answer before they are done.
 */
static bool is_replay(struct acp_session *s, enum acp_up up)
{
    if (!s->turn.resume || s->state >= ACP_PROMPTING)
        return false;
    if (is_history(up)) {
        s->replayed++;
        acp_settle_again(s);
    }
    return is_history(up) || (s->state <= ACP_OPENING && !s->opened.v);
}

/* Of our session, or of the one that is being opened and has no id yet. */
static bool is_ours(const struct acp_session *s, struct str id)
{
    return s->id.n ? str_eq(id, s->id) : !s->turn.resume || str_is(id, s->turn.resume);
}

/* What matters though nobody is told. */
static void on_muted(struct acp_session *s, enum acp_up up, struct rpc_doc *doc,
                     yyjson_val *update)
{
    struct str id = json_str(json_get(update, "toolCallId"));

    s->dropped++;
    if ((up == ACP_UP_TOOL_CALL || up == ACP_UP_TOOL_UPDATE) && id.n)
        acp_tools_note(&s->tools, id, update);
    if (up == ACP_UP_STATE)
        acp_on_state_update(s, doc, update);
}

void acp_on_update(struct acp_session *s, const struct rpc_msg *m)
{
    yyjson_val *update = json_get(m->params, "update");
    enum acp_up up = up_of(s->codec, update);

    if (!json_is_obj(update) || !is_ours(s, json_str(json_get(m->params, "sessionId"))))
        return;
    if (is_replay(s, up))
        return;
    if (s->muted && s->state >= ACP_PROMPTING)
        on_muted(s, up, m->doc, update);
    else
        on_kind(s, up, m->doc, update);
}
