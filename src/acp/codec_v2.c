/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The draft of version 2: a turn ends with a state update, messages may come whole. */
#include "acp/codec.h"

static void put_initialize(struct jw *w)
{
    jw_obj(w);
    jw_kint(w, "protocolVersion", 2);
    acp_put_info(w, "info");
    jw_key(w, "capabilities");
    jw_obj(w);
    jw_end(w);
    jw_end(w);
}

/* An agent with sessions has list and resume; history is told by resume (there is no load). */
static void read_agent(struct acp_agent *ret, yyjson_val *result)
{
    yyjson_val *session = json_path(result, "capabilities.session");
    yyjson_val *methods = json_get(result, "authMethods");

    *ret = (struct acp_agent){
        .list = json_is_obj(session),
        .resume = json_is_obj(session),
        .load = json_is_obj(session),
        .mcp_stdio = json_is_obj(json_path(session, "mcp.stdio")),
        .auth_methods = json_is_arr(methods) ? methods : NULL,
    };
}

static void put_server(struct jw *w, const struct acp_mcp_server *server)
{
    jw_obj(w);
    jw_kstrz(w, "type", "stdio");
    acp_put_stdio(w, server);
    jw_end(w);
}

static void put_replay(struct jw *w)
{
    jw_key(w, "replayFrom");
    jw_obj(w);
    jw_kstrz(w, "type", "start");
    jw_end(w);
}

static void put_value(struct jw *w, bool boolean, const char *value)
{
    jw_kstrz(w, "type", boolean ? "boolean" : "id");
    if (boolean)
        jw_kbool(w, "value", acp_value_is_on(value));
    else
        jw_kstrz(w, "value", value);
}

static yyjson_val *plan_entries(yyjson_val *update)
{
    yyjson_val *plan = json_get(update, "plan");

    return str_is(json_str(json_get(plan, "type")), "items") ? json_get(plan, "entries") : NULL;
}

static void read_ask(struct acp_ask *ret, yyjson_val *params)
{
    yyjson_val *subject = json_get(params, "subject");
    struct str title = json_str(json_get(params, "title"));

    *ret = (struct acp_ask){ 0 };
    if (str_is(json_str(json_get(subject, "type")), "tool_call")) {
        acp_read_tool_call(ret, json_get(subject, "toolCall"));
    } else if (str_is(json_str(json_get(subject, "type")), "command")) {
        ret->command = true;
        ret->tool_call_id = json_str(json_get(subject, "toolCallId"));
    }
    if (title.n)
        ret->title = title;
}

static const struct acp_up_name ups[] = {
    { "user_message_chunk", ACP_UP_USER },
    { "user_message", ACP_UP_USER },
    { "agent_message_chunk", ACP_UP_MESSAGE_CHUNK },
    { "agent_message", ACP_UP_MESSAGE },
    { "agent_thought_chunk", ACP_UP_THOUGHT_CHUNK },
    { "agent_thought", ACP_UP_THOUGHT },
    { "tool_call_update", ACP_UP_TOOL_UPDATE },
    { "tool_call_content_chunk", ACP_UP_TOOL_CHUNK },
    { "plan_update", ACP_UP_PLAN },
    { "config_option_update", ACP_UP_CONFIG },
    { "state_update", ACP_UP_STATE },
    { 0 },
};

const struct acp_codec acp_codec_v2 = {
    .version = 2,
    .login = "auth/login",
    .auth_id = "methodId",
    .option_id = "configId",
    .replay = "session/resume",
    .open_enums = true,
    .ends_by_update = true,
    .ups = ups,
    .put_initialize = put_initialize,
    .read_agent = read_agent,
    .put_server = put_server,
    .put_replay = put_replay,
    .put_value = put_value,
    .plan_entries = plan_entries,
    .read_ask = read_ask,
};
