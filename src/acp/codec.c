/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "acp/codec.h"

#include <string.h>

const struct acp_codec *acp_codec_of(int64_t version)
{
    if (version == acp_codec_v1.version)
        return &acp_codec_v1;
    return version == acp_codec_v2.version ? &acp_codec_v2 : NULL;
}

void acp_put_info(struct jw *w, const char *key)
{
    jw_key(w, key);
    jw_obj(w);
    jw_kstrz(w, "name", "symposium");
    jw_kstrz(w, "title", "Symposium");
    jw_kstrz(w, "version", SYM_VERSION);
    jw_end(w);
}

static void put_variable(struct jw *w, const char *pair)
{
    struct str name, value;

    if (!str_cut(str_of(pair), '=', &name, &value))
        return;
    jw_obj(w);
    jw_kstr(w, "name", name);
    jw_kstr(w, "value", value);
    jw_end(w);
}

void acp_put_stdio(struct jw *w, const struct acp_mcp_server *server)
{
    jw_kstrz(w, "name", server->name);
    jw_kstrz(w, "command", server->command);
    jw_key(w, "args");
    jw_arr(w);
    for (size_t i = 0; server->args && server->args[i]; i++)
        jw_strz(w, server->args[i]);
    jw_end(w);
    jw_key(w, "env");
    jw_arr(w);
    for (size_t i = 0; server->env && server->env[i]; i++)
        put_variable(w, server->env[i]);
    jw_end(w);
}

bool acp_value_is_on(const char *value)
{
    return strcmp(value, "true") == 0 || strcmp(value, "on") == 0;
}

bool acp_value_is_off(const char *value)
{
    return strcmp(value, "false") == 0 || strcmp(value, "off") == 0;
}

void acp_read_tool_call(struct acp_ask *ret, yyjson_val *tool_call)
{
    ret->tool_call = json_is_obj(tool_call) ? tool_call : NULL;
    ret->tool_call_id = json_str(json_get(tool_call, "toolCallId"));
    ret->title = json_str(json_get(tool_call, "title"));
}
