/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one request that we make of a client: roots/list, of legacy revisions (servers.md SV-26).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/server_internal.h"

struct roots_call {
    struct mcp_server *s;
    char *id; /* of our request, as JSON text */
    mcp_roots_fn done;
    void *ctx;
};

bool mcp_client_has_roots(const struct mcp_server *s)
{
    return s->initialized && json_is_obj(json_get(s->client_caps, "roots"));
}

static bool has_legacy_request(const struct mcp_server *s)
{
    for (const struct mcp_req *r = s->reqs; r; r = r->next)
        if (!mcp_rev_info(r->rev)->modern)
            return true;
    return false;
}

/* We stop waiting, so the client may stop looking. */
static void send_cancelled(const struct roots_call *call)
{
    auto_buf params = BUF(MCP_MESSAGE_MAX);
    struct jw w = jw_to(&params);

    jw_obj(&w);
    jw_key(&w, "requestId");
    jw_raw(&w, str_of(call->id));
    jw_kstrz(&w, "reason", "timeout");
    jw_end(&w);
    peer_notify(call->s->peer, "notifications/cancelled", buf_str(&params), NULL);
}

static void on_roots(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct roots_call call = *(struct roots_call *)ctx;
    yyjson_val *roots = reply && !e ? json_get(reply->result, "roots") : NULL;
    struct error why = { 0 };

    free(ctx);
    if (e && e->kind == ERR_TIMEOUT)
        send_cancelled(&call);
    free(call.id);
    if (e)
        why = *e;
    else if (!json_is_arr(roots))
        error_set(&why, ERR_PROTOCOL, "the client's answer to roots/list has no 'roots'");
    call.done(call.ctx, json_is_arr(roots) ? roots : NULL, why.kind ? &why : NULL);
}

bool mcp_server_list_roots(struct mcp_server *s, int timeout_ms, mcp_roots_fn done, void *ctx,
                           struct error *e)
{
    const struct peer_call opts = { .method = "roots/list", .timeout_ms = timeout_ms };
    struct roots_call *call;
    uint64_t handle;

    if (!mcp_client_has_roots(s) || !has_legacy_request(s))
        return error_set(e, ERR_INVALID, "the client cannot be asked for roots now");
    call = NEW(struct roots_call);
    *call = (struct roots_call){ .s = s, .done = done, .ctx = ctx };
    handle = peer_call(s->peer, &opts, on_roots, call, e);
    if (!handle) {
        free(call);
        return false;
    }
    call->id = str_dup(peer_call_id(s->peer, handle));
    return true;
}
