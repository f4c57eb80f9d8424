/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/sending.h"

#include "base/mem.h"
#include "servers/outlet.h"

void sending_begin(struct sending *g, struct server *s, const struct mcp_req *r)
{
    /* A form may be larger than the result, a little. */
    *g = (struct sending){ .server = s, .form = mcp_req_form(r), .json = BUF(2 * ANSWER_MAX) };
}

bool sending_put(struct sending *g, struct str result, struct error *e)
{
    buf_free(&g->json);
    g->json = BUF(2 * ANSWER_MAX);
    return mcp_form_put(&g->form, &g->json, result, e);
}

void sending_enter(struct sending *g, const struct work *w)
{
    if (outlet_enter(server_outlet(g->server), g->json.n, w))
        g->entered = g->json.n;
}

void sending_wake(struct sending *g)
{
    outlet_wake(server_outlet(g->server));
}

void sending_reply(struct sending *g, struct mcp_req *r)
{
    mcp_req_on_cancel(r, NULL, NULL);
    mcp_reply_formed(r, buf_str(&g->json));
    sending_drop(g);
}

void sending_drop(struct sending *g)
{
    if (g->entered)
        outlet_leave(server_outlet(g->server), g->entered);
    g->entered = 0;
    buf_free(&g->json);
}
