/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mcp/era.h"

#include "base/mem.h"

/* clang-format off */
static const struct mcp_rev_info revs[MCP_REV_COUNT] = {
    [MCP_2024_11_05] = {
        .name = "2024-11-05",
        .resource_not_found = MCP_RESOURCE_NOT_FOUND,
    },
    [MCP_2025_03_26] = {
        .name = "2025-03-26", .batch = true, .annotations = true,
        .resource_not_found = MCP_RESOURCE_NOT_FOUND,
    },
    [MCP_2025_06_18] = {
        .name = "2025-06-18", .annotations = true, .structured = true,
        .resource_not_found = MCP_RESOURCE_NOT_FOUND,
    },
    [MCP_2025_11_25] = {
        .name = "2025-11-25", .annotations = true, .structured = true, .icons = true,
        .execution = true, .resource_not_found = MCP_RESOURCE_NOT_FOUND,
    },
    [MCP_2026_07_28] = {
        .name = "2026-07-28", .modern = true, .annotations = true, .structured = true,
        .icons = true, .any_structured = true, .resource_not_found = -32602,
    },
};

static const struct { const char *name; enum mcp_rev rev; } aliases[] = {
    { "2024-10-07", MCP_2024_11_05 },     /* a pre-release that both SDKs still list */
};
/* clang-format on */

const struct mcp_rev_info *mcp_rev_info(enum mcp_rev rev)
{
    return &revs[rev];
}

bool mcp_rev_parse(struct str name, enum mcp_rev *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(revs); i++)
        if (str_is(name, revs[i].name)) {
            *ret = (enum mcp_rev)i;
            return true;
        }
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (str_is(name, aliases[i].name)) {
            *ret = aliases[i].rev;
            return true;
        }
    return false;
}
