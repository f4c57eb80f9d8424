/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From `initialize` to an open session. */
#include "acp/internal.h"
#include "base/clock.h"
#include "base/log.h"

/* ---- initialize ---- */

static void on_initialized(void *ctx, const struct rpc_msg *reply, const struct error *e);
static void authenticate_or_open(struct acp_session *s);

/* Nothing is called back from inside acp_session_new(): a failure is told by the timer. */
void acp_begin(struct acp_session *s)
{
    auto_buf params = BUF(4096);
    struct jw w = jw_to(&params);
    struct peer_call c = { .method = "initialize", .timeout_ms = s->turn.request_ms };
    struct error e;

    s->codec->put_initialize(&w);
    c.params = buf_str(&params);
    s->step = "initialize";
    s->call = peer_call(s->peer, &c, on_initialized, s, &e);
    if (!s->call) {
        acp_put_error(&s->unsent, s, NULL, &e);
        timer_set(s->flush, 0);
    }
}

/* "'a', 'b'": what a login could be made with. */
static void read_logins(struct acp_session *s)
{
    for (struct json_iter it = json_iter(s->agent.auth_methods); json_next(&it);) {
        struct str id = json_str(json_get(it.val, s->codec->auth_id));

        if (!id.n || s->logins.n > ACP_TEXT_SHOWN)
            continue;
        buf_addz(&s->logins, s->logins.n ? ", '" : "'");
        acp_put_cut(&s->logins, id);
        buf_addz(&s->logins, "'");
    }
}

/* The agent decides; what it answers must be ours, and not newer than what we offered. */
static bool read_initialized(struct acp_session *s, const struct rpc_msg *reply)
{
    const struct acp_codec *codec = NULL;
    int64_t version = 0;

    if (json_int(json_get(reply->result, "protocolVersion"), &version))
        codec = acp_codec_of(version);
    if (!codec || codec->version > s->turn.version) {
        acp_fail(s, "initialize",
                 "the agent speaks version %lld of the protocol, not %d as asked for",
                 (long long)version, s->turn.version);
        return false;
    }
    s->codec = codec;
    acp_keep(&s->initialized, reply->doc, reply->result);
    codec->read_agent(&s->agent, reply->result);
    read_logins(s);
    return true;
}

static void on_initialized(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct acp_session *s = ctx;

    if (!acp_answered(s))
        return;
    acp_hold(s);
    if (e)
        acp_fail_reply(s, s->step, reply, e);
    else if (read_initialized(s, reply))
        authenticate_or_open(s);
    acp_release(s);
}

/* ---- authenticate ---- */

static void open_session(struct acp_session *s);

/* A method for terminals asks a person; it must never be passed to `authenticate` (ACP-6). */
static bool is_terminal_method(const struct acp_session *s, const char *id)
{
    for (struct json_iter it = json_iter(s->agent.auth_methods); json_next(&it);) {
        if (str_is(json_str(json_get(it.val, s->codec->auth_id)), id))
            return str_is(json_str(json_get(it.val, "type")), "terminal");
    }
    return false;
}

static void on_authenticated(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct acp_session *s = ctx;

    if (!acp_answered(s))
        return;
    acp_hold(s);
    if (e)
        acp_fail_reply(s, s->step, reply, e);
    else
        open_session(s);
    acp_release(s);
}

static void authenticate_or_open(struct acp_session *s)
{
    const char *method = s->turn.auth_method;
    auto_buf params = BUF(64 << 10);
    struct jw w = jw_to(&params);

    if (!method) {
        open_session(s);
        return;
    }
    acp_enter(s, ACP_AUTHENTICATING);
    if (is_terminal_method(s, method)) {
        acp_fail(s, "authenticate", "the method '%s' needs a person at a terminal", method);
        return;
    }
    jw_obj(&w);
    jw_kstrz(&w, "methodId", method);
    jw_end(&w);
    acp_call(s, s->codec->login, "authenticate", &params, on_authenticated);
}

/* ---- is the session known? ---- */

static void list_sessions(struct acp_session *s, struct str cursor);
static void resume_session(struct acp_session *s);

static bool page_has(const struct acp_session *s, yyjson_val *result)
{
    return acp_list_has(json_get(result, "sessions"), "sessionId", s->turn.resume);
}

static void session_unknown(struct acp_session *s)
{
    acp_fail(s, "resume_session", "the agent knows no session '%s'", s->turn.resume);
}

/* First the sessions of the workspace; agents differ in how they compare paths, so then all. A
 * list that is too long to be read is no proof. */
static void on_page(struct acp_session *s, yyjson_val *result)
{
    yyjson_val *next = json_get(result, "nextCursor");

    if (page_has(s, result)) {
        s->known = true;
        resume_session(s);
    } else if (json_str(next).n && s->pages < ACP_LIST_PAGES) {
        list_sessions(s, json_str(next));
    } else if (!s->list_all) {
        s->list_all = true;
        s->pages = 0;
        list_sessions(s, (struct str){ 0 });
    } else if (json_str(next).n) {
        log_debug("acp: more than %d pages of sessions", ACP_LIST_PAGES);
        resume_session(s);
    } else {
        session_unknown(s);
    }
}

/* An agent that cannot list after all is asked in the other way. */
static void on_listed(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct acp_session *s = ctx;

    if (!acp_answered(s))
        return;
    acp_hold(s);
    if (!e && json_is_arr(json_get(reply->result, "sessions")))
        on_page(s, reply->result);
    else if (e && !reply)
        acp_fail_reply(s, s->step, NULL, e);
    else
        resume_session(s);
    acp_release(s);
}

static void list_sessions(struct acp_session *s, struct str cursor)
{
    auto_buf params = BUF(ACP_REQUEST_BYTES);
    struct jw w = jw_to(&params);

    s->pages++;
    jw_obj(&w);
    if (!s->list_all)
        jw_kstrz(&w, "cwd", s->turn.cwd);
    if (cursor.n)
        jw_kstr(&w, "cursor", cursor);
    jw_end(&w);
    acp_call(s, "session/list", "list_sessions", &params, on_listed);
}

/* ---- opening ---- */

/* What all three requests hold. */
static void put_workspace(struct jw *w, const struct acp_session *s)
{
    jw_kstrz(w, "cwd", s->turn.cwd);
    jw_key(w, "mcpServers");
    jw_arr(w);
    for (size_t i = 0; i < s->turn.nservers; i++)
        s->codec->put_server(w, &s->turn.servers[i]);
    jw_end(w);
}

static void keep_settings(struct acp_session *s, struct rpc_doc *doc, yyjson_val *result)
{
    yyjson_val *config = json_get(result, "configOptions");
    yyjson_val *modes = json_get(result, "modes");
    yyjson_val *models = json_get(result, "models");

    acp_keep(&s->config, doc, json_is_arr(config) ? config : NULL);
    acp_keep(&s->modes, doc, json_is_obj(modes) ? modes : NULL);
    acp_keep(&s->models, doc, json_is_obj(models) ? models : NULL);
    buf_clear(&s->mode);
    buf_add(&s->mode, json_str(json_get(modes, "currentModeId")));
    buf_clear(&s->model);
    buf_add(&s->model, json_str(json_get(models, "currentModelId")));
}

static void session_is_open(struct acp_session *s, struct rpc_doc *doc, yyjson_val *result,
                            struct str id)
{
    auto_buf data = BUF(8 * ACP_ID_MAX);
    struct jw w = jw_to(&data);

    s->id = arena_str(&s->arena, id);
    keep_settings(s, doc, result);
    jw_obj(&w);
    jw_kstr(&w, "session_id", s->id);
    jw_end(&w);
    acp_text_break(&s->text);
    acp_emit(s, ACP_EV_SESSION, buf_str(&data));
    if (s->freed || acp_is_over(s))
        return;
    acp_enter(s, ACP_SETTING);
    acp_settings_begin(s);
}

static void session_is_new(struct acp_session *s, const struct rpc_msg *reply)
{
    struct str id = json_str(json_get(reply->result, "sessionId"));

    if (!id.n || id.n > ACP_ID_MAX)
        acp_fail(s, s->step, "the agent's answer has no usable 'sessionId'");
    else
        session_is_open(s, reply->doc, reply->result, id);
}

static void on_new(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct acp_session *s = ctx;

    if (!acp_answered(s))
        return;
    acp_hold(s);
    if (e)
        acp_fail_reply(s, s->step, reply, e);
    else
        session_is_new(s, reply);
    acp_release(s);
}

/* The history should stand before the answer, but gemini sends it behind. */
void acp_settle_again(struct acp_session *s)
{
    int64_t left = s->settle_until - clock_ms();

    if (s->opened.v && left > 0)
        timer_set(s->settle, left < ACP_SETTLE_MS ? (int)left : ACP_SETTLE_MS);
}

void acp_on_settled(void *ctx)
{
    struct acp_session *s = ctx;
    struct acp_kept opened = s->opened;

    s->opened = (struct acp_kept){ 0 };
    acp_hold(s);
    if (!acp_is_over(s) && !s->known && !s->replayed)
        session_unknown(s);
    else if (!acp_is_over(s))
        session_is_open(s, opened.doc, opened.v, str_of(s->turn.resume));
    acp_keep(&opened, NULL, NULL);
    acp_release(s);
}

/* Announced, but not there (qwen). */
static bool lacks_resume(const struct acp_session *s, const struct rpc_msg *reply)
{
    return s->agent.resume && s->agent.load && reply && reply->kind == RPC_ERROR &&
           reply->code == RPC_METHOD_NOT_FOUND;
}

static void request_session(struct acp_session *s);

/* ACP-19: agents differ in the code that they refuse an unknown id with, so each refusal names
 * the id. One that agrees to anything is found out by what it has to tell. */
static void on_resumed(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct acp_session *s = ctx;
    auto_buf text = BUF(8 * ACP_TEXT_SHOWN);

    if (!acp_answered(s))
        return;
    acp_hold(s);
    if (lacks_resume(s, reply)) {
        s->agent.resume = false;
        request_session(s);
    } else if (e) {
        acp_put_error(&text, s, reply, e);
        acp_fail(s, s->step, "session '%s': %s", s->turn.resume, buf_z(&text));
    } else if (s->replays) {
        acp_keep(&s->opened, reply->doc, reply->result);
        s->settle_until = clock_ms() + ACP_SETTLE_MAX_MS;
        acp_settle_again(s);
    } else {
        session_is_open(s, reply->doc, reply->result, str_of(s->turn.resume));
    }
    acp_release(s);
}

/* `session/resume` tells nothing of the past, so it is preferred, but then only a list can show
 * that the session is known. */
static void request_session(struct acp_session *s)
{
    bool replay = s->agent.load && (!s->agent.resume || (s->agent.list && !s->known));
    const char *method = replay ? s->codec->replay : "session/resume";
    auto_buf params = BUF(ACP_REQUEST_BYTES);
    struct jw w = jw_to(&params);

    s->replays = replay;
    jw_obj(&w);
    jw_kstrz(&w, "sessionId", s->turn.resume);
    put_workspace(&w, s);
    if (replay)
        s->codec->put_replay(&w);
    jw_end(&w);
    acp_call(s, method, s->agent.resume && !replay ? "resume_session" : "load_session", &params,
             on_resumed);
}

static void resume_session(struct acp_session *s)
{
    acp_enter(s, ACP_OPENING);
    if (s->agent.load || s->agent.resume)
        request_session(s);
    else
        acp_fail(s, "resume_session", "the agent cannot go on with an earlier session");
}

static void open_session(struct acp_session *s)
{
    auto_buf params = BUF(ACP_REQUEST_BYTES);
    struct jw w = jw_to(&params);

    if (s->turn.nservers && !s->agent.mcp_stdio) {
        acp_enter(s, ACP_OPENING);
        acp_fail(s, "new_session", "the agent takes no MCP servers over stdio");
        return;
    }
    if (s->turn.resume && s->agent.list) {
        acp_enter(s, ACP_LISTING);
        list_sessions(s, (struct str){ 0 });
        return;
    }
    if (s->turn.resume) {
        resume_session(s);
        return;
    }
    acp_enter(s, ACP_OPENING);
    jw_obj(&w);
    put_workspace(&w, s);
    jw_end(&w);
    acp_call(s, "session/new", "new_session", &params, on_new);
}
