/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tool definitions and call results: building them for a client's revision, and reading a
 * server's. */
#ifndef SYM_MCP_CONTENT_H
#define SYM_MCP_CONTENT_H

#include "mcp/era.h"
#include "text/json.h"

/* Writes a tool definition with what the revision lacks taken away (mcp.md 6.1); order of keys
 * kept. */
void mcp_put_tool(struct buf *out, yyjson_val *tool, enum mcp_rev rev);

/* Writes a CallToolResult in the same way: unknown blocks kept, audio and resource_link
 * replaced for older clients, non-object structuredContent wrapped. `result` is the modern
 * form. */
void mcp_put_result(struct buf *out, yyjson_val *result, enum mcp_rev rev);

/* The items of prompts/list, and of prompts/get's messages. */
void mcp_put_prompt(struct buf *out, yyjson_val *prompt, enum mcp_rev rev);
void mcp_put_message(struct buf *out, yyjson_val *message, enum mcp_rev rev);

/* The items of resources/list and resources/templates/list, and of resources/read's contents.
 */
void mcp_put_resource(struct buf *out, yyjson_val *item, enum mcp_rev rev);

/* execution.taskSupport is "required": such a tool cannot be called (mcp.md 7.1), only shown as
 * that. */
bool mcp_tool_needs_task(yyjson_val *tool);

/* {"type":"text","text":...} */
void mcp_put_text_block(struct jw *w, struct str text);

/* {"content":[{"type":"text","text":...}],"isError":...} ; isError is written only when true.
 */
void mcp_put_text_result(struct buf *out, struct str text, bool is_error);

/*
 * The result ladder of a backing call (meta-server.md MS-47), tried in this order.
 */
enum mcp_value_kind {
    MCP_VALUE_ERROR, /* isError: `text` is the joined text, or "tool failed" */
    MCP_VALUE_JSON,  /* `json` is the value as JSON text: structuredContent, parsed text, or the
                        content array */
    MCP_VALUE_TEXT,  /* `text` is the joined text */
};
struct mcp_value {
    enum mcp_value_kind kind;
    struct str json, text; /* in the arena */
    bool structured;       /* json came from structuredContent */
};
struct mcp_value mcp_value_of(struct arena *a, yyjson_val *call_result);

#endif
