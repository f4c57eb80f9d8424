/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Where the two versions of the protocol differ (docs/spec/tasks.md ACP-16), as one table each.
 * Whatever reads alike in both is read by the session itself.
 */
#ifndef SYM_ACP_CODEC_H
#define SYM_ACP_CODEC_H

#include "acp/session.h"

/* What an agent told of itself in its answer to `initialize`: views of that answer. */
struct acp_agent {
    bool list, resume, load;  /* session/list, session/resume, session/load */
    bool mcp_stdio;           /* takes MCP servers over stdio */
    yyjson_val *auth_methods; /* array or NULL */
};

/* What a session update means to us. */
enum acp_up {
    ACP_UP_OTHER, /* told as ACP_EV_UPDATE */
    ACP_UP_USER,  /* the same, and history when replayed */
    ACP_UP_MESSAGE_CHUNK,
    ACP_UP_THOUGHT_CHUNK,
    ACP_UP_MESSAGE, /* whole: replaces what was said under its id */
    ACP_UP_THOUGHT,
    ACP_UP_TOOL_CALL,
    ACP_UP_TOOL_UPDATE,
    ACP_UP_TOOL_CHUNK, /* of its content, which is not kept */
    ACP_UP_PLAN,
    ACP_UP_CONFIG, /* the next two are told as ACP_EV_UPDATE too */
    ACP_UP_MODE,
    ACP_UP_STATE,
};

/* The subject of a permission request. */
struct acp_ask {
    yyjson_val *tool_call; /* object or NULL */
    struct str tool_call_id, title;
    bool command; /* a command line: ACP_EXECUTE, whatever the tool call says */
};

struct acp_codec {
    int version;
    const char *login;     /* method */
    const char *auth_id;   /* member of an auth method that names it */
    const char *option_id; /* member of a config option that names it */
    const char *replay;    /* the method that opens a session and tells its history */
    bool open_enums;       /* unknown words are kept, not made the default (ACP-4) */
    bool ends_by_update;   /* the answer to session/prompt only says that it was accepted */
    const struct acp_up_name {
        const char *name;
        enum acp_up up;
    } * ups; /* ends with a NULL name */

    void (*put_initialize)(struct jw *w); /* the whole params */
    void (*read_agent)(struct acp_agent *ret, yyjson_val *result);
    void (*put_server)(struct jw *w, const struct acp_mcp_server *server);
    void (*put_replay)(struct jw *w); /* members that ask for the history */
    void (*put_value)(struct jw *w, bool boolean, const char *value); /* "value" and "type" */
    yyjson_val *(*plan_entries)(yyjson_val *update);                  /* NULL: has none */
    void (*read_ask)(struct acp_ask *ret, yyjson_val *params);
};

extern const struct acp_codec acp_codec_v1, acp_codec_v2;

/* NULL: a version that we do not speak. */
const struct acp_codec *acp_codec_of(int64_t version);

/* ---- shared by both ---- */

void acp_put_info(struct jw *w, const char *key); /* key and Implementation */
/* name, command, args and env as members of an open object. */
void acp_put_stdio(struct jw *w, const struct acp_mcp_server *server);
bool acp_value_is_on(const char *value); /* of a boolean option */
bool acp_value_is_off(const char *value);
/* toolCallId and title of a tool call. */
void acp_read_tool_call(struct acp_ask *ret, yyjson_val *tool_call);

#endif
