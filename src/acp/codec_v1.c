/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Version 1, the stable one. */
#include "acp/codec.h"

/* No fs, no terminal, no elicitation: they are not announced, and answered with -32601
 * (ACP-6, ACP-15). */
static void put_initialize(struct jw *w)
{
    jw_obj(w);
    jw_kint(w, "protocolVersion", 1);
    jw_key(w, "clientCapabilities");
    jw_obj(w);
    jw_key(w, "session");
    jw_obj(w);
    jw_key(w, "configOptions");
    jw_obj(w);
    jw_key(w, "boolean");
    jw_obj(w);
    jw_end(w);
    jw_end(w);
    jw_end(w);
    jw_end(w);
    acp_put_info(w, "clientInfo");
    jw_end(w);
}

static void read_agent(struct acp_agent *ret, yyjson_val *result)
{
    yyjson_val *caps = json_get(result, "agentCapabilities");
    yyjson_val *session = json_get(caps, "sessionCapabilities");
    yyjson_val *methods = json_get(result, "authMethods");

    *ret = (struct acp_agent){
        .load = json_is_true(json_get(caps, "loadSession")),
        .list = json_is_obj(json_get(session, "list")),
        .resume = json_is_obj(json_get(session, "resume")),
        .mcp_stdio = true,
        .auth_methods = json_is_arr(methods) ? methods : NULL,
    };
}

/* The only kind without a `type`. */
static void put_server(struct jw *w, const struct acp_mcp_server *server)
{
    jw_obj(w);
    acp_put_stdio(w, server);
    jw_end(w);
}

static void put_replay(struct jw *w)
{
}

static void put_value(struct jw *w, bool boolean, const char *value)
{
    if (boolean) {
        jw_kstrz(w, "type", "boolean");
        jw_kbool(w, "value", acp_value_is_on(value));
    } else {
        jw_kstrz(w, "value", value);
    }
}

static yyjson_val *plan_entries(yyjson_val *update)
{
    return json_get(update, "entries");
}

static void read_ask(struct acp_ask *ret, yyjson_val *params)
{
    *ret = (struct acp_ask){ 0 };
    acp_read_tool_call(ret, json_get(params, "toolCall"));
}

static const struct acp_up_name ups[] = {
    { "user_message_chunk", ACP_UP_USER },
    { "agent_message_chunk", ACP_UP_MESSAGE_CHUNK },
    { "agent_thought_chunk", ACP_UP_THOUGHT_CHUNK },
    { "tool_call", ACP_UP_TOOL_CALL },
    { "tool_call_update", ACP_UP_TOOL_UPDATE },
    { "plan", ACP_UP_PLAN },
    { "config_option_update", ACP_UP_CONFIG },
    { "current_mode_update", ACP_UP_MODE },
    { 0 },
};

const struct acp_codec acp_codec_v1 = {
    .version = 1,
    .login = "authenticate",
    .auth_id = "id",
    .option_id = "id",
    .replay = "session/load",
    .ups = ups,
    .put_initialize = put_initialize,
    .read_agent = read_agent,
    .put_server = put_server,
    .put_replay = put_replay,
    .put_value = put_value,
    .plan_entries = plan_entries,
    .read_ask = read_ask,
};
