/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The revisions of MCP as data: what differs between them is a column of one table, never a
 * condition elsewhere. Legacy revisions negotiate by `initialize`; modern ones (2026-07-28)
 * carry everything in each request's _meta.
 */
#ifndef SYM_MCP_ERA_H
#define SYM_MCP_ERA_H

#include "base/str.h"

enum mcp_rev {
    MCP_2024_11_05,
    MCP_2025_03_26,
    MCP_2025_06_18,
    MCP_2025_11_25,
    MCP_2026_07_28,
};
#define MCP_REV_COUNT     5
#define MCP_LATEST_LEGACY MCP_2025_11_25
#define MCP_LATEST_MODERN MCP_2026_07_28

struct mcp_rev_info {
    const char *name;
    bool modern;      /* per-request _meta, resultType, subscriptions/listen; no ping, no server
                         requests */
    bool batch;       /* JSON-RPC arrays (2025-03-26 only) */
    bool annotations; /* tool annotations; progress message; audio blocks */
    bool structured; /* title, outputSchema, structuredContent, _meta on items, resource_link */
    bool icons;      /* icons, Implementation.description */
    bool execution;  /* tool.execution (core tasks, 2025-11-25 only) */
    bool any_structured;    /* structuredContent may be any JSON value, outputSchema any root */
    int resource_not_found; /* error code: -32002 or -32602 */
};

const struct mcp_rev_info *mcp_rev_info(enum mcp_rev rev);

/* 2024-10-07 is an alias of 2024-11-05. False for a revision we do not speak. */
bool mcp_rev_parse(struct str name, enum mcp_rev *ret);

/* Error codes of MCP beyond JSON-RPC's own. */
enum {
    MCP_RESOURCE_NOT_FOUND = -32002,
    MCP_HEADER_MISMATCH = -32020,
    MCP_MISSING_CAPABILITY = -32021,
    MCP_UNSUPPORTED_VERSION = -32022,
};

#define MCP_META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define MCP_META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define MCP_META_CLIENT_INFO  "io.modelcontextprotocol/clientInfo"
#define MCP_META_SERVER_INFO  "io.modelcontextprotocol/serverInfo"
#define MCP_META_LOG_LEVEL    "io.modelcontextprotocol/logLevel"
#define MCP_META_SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

#endif
