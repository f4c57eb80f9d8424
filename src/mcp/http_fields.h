/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Header fields of the modern Streamable HTTP transport (mcp.md 5.4): the encoding of values,
 * and which arguments of a tool travel in a header as well. Pure.
 */
#ifndef SYM_MCP_HTTP_FIELDS_H
#define SYM_MCP_HTTP_FIELDS_H

#include "text/json.h"

#define HTTP_PARAMS_MAX 64 /* annotated properties of one tool */

/* As it is, or "=?base64?..?=" where a field value cannot hold it, or it looks like that. */
void http_put_value(struct buf *out, struct str value);

/* One property annotated with "x-mcp-header". Owned by its list. */
struct tool_param {
    char *field; /* "Mcp-Param-<Name>" */
    char **path; /* property names from the root, ends with NULL */
};
struct tool_params {
    struct tool_param *v;
    size_t n, cap;
};

/*
 * Finds the annotations of a tool's input schema. False with the reason in *why: an annotation
 * breaks a rule, and the tool must not be offered (MCP-C16). ret->n == 0 where there are none.
 */
bool tool_params_read(struct tool_params *ret, yyjson_val *input_schema, struct error *why);
void tool_params_free(struct tool_params *p);

/* The argument's value as text; false when there is none to send: absent, null, or no scalar.
 */
bool tool_param_value(const struct tool_param *p, yyjson_val *arguments, struct buf *out);

#endif
