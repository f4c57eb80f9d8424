/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "acp/tools.h"

#include <stdlib.h>

#include "acp/session.h"
#include "base/mem.h"

static void unlink_tool(struct acp_tools *t, struct acp_tool *tool)
{
    *(tool->older ? &tool->older->newer : &t->oldest) = tool->newer;
    *(tool->newer ? &tool->newer->older : &t->newest) = tool->older;
    tool->older = tool->newer = NULL;
}

static void link_newest(struct acp_tools *t, struct acp_tool *tool)
{
    tool->older = t->newest;
    *(t->newest ? &t->newest->newer : &t->oldest) = tool;
    t->newest = tool;
}

static void forget(struct acp_tools *t, struct acp_tool *tool)
{
    unlink_tool(t, tool);
    map_del(&t->by_id, tool->id);
    free((char *)(uintptr_t)tool->id.p);
    free(tool);
}

static struct acp_tool *add(struct acp_tools *t, struct str id)
{
    struct acp_tool *tool = NEW(struct acp_tool);

    if (map_count(&t->by_id) >= ACP_TOOLS_MAX)
        forget(t, t->oldest);
    *tool = (struct acp_tool){ .kind = ACP_OTHER, .open = true, .id = { str_dup(id), id.n } };
    map_put(&t->by_id, id, tool);
    return tool;
}

static bool is_final(struct str status)
{
    return str_is(status, "completed") || str_is(status, "failed") ||
           str_is(status, "cancelled");
}

bool acp_tools_note(struct acp_tools *t, struct str id, yyjson_val *v)
{
    struct str kind = json_str(json_get(v, "kind"));
    struct str status = json_str(json_get(v, "status"));
    struct acp_tool *tool;
    bool is_new;

    if (id.n > ACP_ID_MAX)
        return true;
    tool = map_get(&t->by_id, id);
    is_new = !tool;
    if (tool)
        unlink_tool(t, tool);
    else
        tool = add(t, id);
    link_newest(t, tool);
    if (kind.n)
        acp_kind_parse(kind, &tool->kind);
    if (status.n)
        tool->open = !is_final(status);
    return is_new;
}

enum acp_kind acp_tools_kind(const struct acp_tools *t, struct str id)
{
    const struct acp_tool *tool = map_get(&t->by_id, id);

    return tool ? tool->kind : ACP_OTHER;
}

struct str acp_tools_close_one(struct acp_tools *t)
{
    for (struct acp_tool *tool = t->oldest; tool; tool = tool->newer) {
        if (tool->open) {
            tool->open = false;
            return tool->id;
        }
    }
    return (struct str){ 0 };
}

void acp_tools_free(struct acp_tools *t)
{
    while (t->oldest)
        forget(t, t->oldest);
    map_free(&t->by_id);
}
