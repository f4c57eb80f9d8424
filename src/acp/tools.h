/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What is remembered of tool calls: the kind, for permission requests that leave it out
 * (ACP-14), and which are open, to be marked at a cancel (ACP-11). At most ACP_TOOLS_MAX; the
 * one that was longest not spoken of is forgotten.
 */
#ifndef SYM_ACP_TOOLS_H
#define SYM_ACP_TOOLS_H

#include "acp/permission.h"
#include "base/map.h"

#define ACP_TOOLS_MAX 1024

struct acp_tool {
    enum acp_kind kind;
    bool open;
    struct str id; /* owned */
    struct acp_tool *older, *newer;
};

struct acp_tools {
    struct map by_id;
    struct acp_tool *oldest, *newest;
};

#define ACP_TOOLS ((struct acp_tools){ .by_id = MAP })

/* Learns from a tool call or its update (`v` has its toolCallId, kind and status). True: not
 * seen before. An id that is too long is not remembered, and never seen before. */
bool acp_tools_note(struct acp_tools *t, struct str id, yyjson_val *v);
enum acp_kind acp_tools_kind(const struct acp_tools *t, struct str id); /* else ACP_OTHER */
/* Any that is open, closed now; its id is valid until the next call. Empty: none. */
struct str acp_tools_close_one(struct acp_tools *t);
void acp_tools_free(struct acp_tools *t);

#endif
