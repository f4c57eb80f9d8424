/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* subscriptions/listen: streams that never end by themselves (mcp.md 6.8), and list_changed in
 * both forms. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mcp/server_internal.h"

struct listen **mcp_listen_find(struct mcp_server *s, struct str id)
{
    struct listen **at = &s->listens;

    while (*at && !rpc_id_eq(id, str_of((*at)->id)))
        at = &(*at)->next;
    return *at ? at : NULL;
}

void mcp_listen_drop(struct mcp_server *s, struct listen **at)
{
    struct listen *l = *at;

    size_t watched = l->watched.n;

    *at = l->next;
    mcp_uris_free(&l->watched);
    free(l);
    s->nlistens--;
    mcp_watch_count(s, 0, watched);
}

void mcp_put_subscription(struct jw *w, const struct listen *l)
{
    jw_key(w, "_meta");
    jw_obj(w);
    jw_key(w, MCP_META_SUBSCRIPTION);
    jw_raw(w, str_of(l->id));
    jw_end(w);
}

/* First message of the stream: what of the filter we can serve. */
static void acknowledge(struct mcp_server *s, const struct listen *l)
{
    auto_buf params = BUF(MCP_MESSAGE_MAX);
    struct jw w = jw_to(&params);

    jw_obj(&w);
    jw_key(&w, "notifications");
    jw_obj(&w);
    if (l->tools_changed)
        jw_kbool(&w, "toolsListChanged", true);
    if (l->watched.n) {
        jw_key(&w, "resourceSubscriptions");
        jw_arr(&w);
        for (const struct uri *u = l->watched.first; u; u = u->next)
            jw_strz(&w, u->text);
        jw_end(&w);
    }
    jw_end(&w);
    mcp_put_subscription(&w, l);
    jw_end(&w);
    peer_notify(s->peer, "notifications/subscriptions/acknowledged", buf_str(&params), NULL);
}

/* Those of its URIs that can be subscribed to; of too many only the first are looked at. */
static void watch(struct mcp_server *s, struct listen *l, yyjson_val *uris)
{
    if (!json_is_arr(uris))
        return;
    for (struct json_iter it = json_iter(uris);
         json_next(&it) && it.i <= MCP_SERVER_MAX_WATCHED;)
        if (json_is_str(it.val) && mcp_watchable(s, json_str(it.val)))
            mcp_uris_add(&l->watched, json_str(it.val));
}

bool mcp_listen_open(struct mcp_req *r, yyjson_val *filter)
{
    struct mcp_server *s = r->s;
    struct listen *l, **end = &s->listens;

    if (s->nlistens >= MCP_SERVER_MAX_LISTENS)
        return false;
    l = mem_alloc(sizeof *l + r->id.n + 1);
    memcpy(l->id, r->id.p, r->id.n);
    l->tools_changed =
        s->def->tools_list_changed && json_is_true(json_get(filter, "toolsListChanged"));
    watch(s, l, json_get(filter, "resourceSubscriptions"));
    while (*end)
        end = &(*end)->next;
    *end = l;
    s->nlistens++;
    acknowledge(s, l);
    mcp_watch_count(s, l->watched.n, 0);
    return true;
}

/* ---- list_changed ---- */

static void send_changed(struct mcp_server *s)
{
    if (s->initialized)
        peer_notify(s->peer, "notifications/tools/list_changed", STR(""), NULL);
    for (struct listen *l = s->listens; l; l = l->next) {
        auto_buf params = BUF(MCP_MESSAGE_MAX);
        struct jw w = jw_to(&params);

        if (!l->tools_changed)
            continue;
        jw_obj(&w);
        mcp_put_subscription(&w, l);
        jw_end(&w);
        peer_notify(s->peer, "notifications/tools/list_changed", buf_str(&params), NULL);
    }
}

static void on_changed_pace(void *ctx)
{
    struct mcp_server *s = ctx;

    if (!s->changed_pending)
        return;
    s->changed_pending = false;
    timer_set(s->changed_pace, MCP_LIST_CHANGED_MS);
    send_changed(s);
}

void mcp_server_tools_changed(struct mcp_server *s)
{
    if (!s->def->tools_list_changed)
        return;
    if (!s->changed_pace) {
        s->changed_pace = timer_new(s->loop, on_changed_pace, s);
        timer_background(s->changed_pace);
    }
    if (timer_is_set(s->changed_pace)) {
        s->changed_pending = true;
        return;
    }
    timer_set(s->changed_pace, MCP_LIST_CHANGED_MS);
    send_changed(s);
}

void mcp_server_end_listens(struct mcp_server *s)
{
    mcp_flush_updated(s);
    while (s->listens) {
        struct listen *l = s->listens;
        auto_buf result = BUF(MCP_MESSAGE_MAX);
        struct jw w = jw_to(&result);

        jw_obj(&w);
        jw_kstrz(&w, "resultType", "complete");
        jw_key(&w, "_meta");
        jw_obj(&w);
        jw_key(&w, MCP_META_SUBSCRIPTION);
        jw_raw(&w, str_of(l->id));
        jw_key(&w, MCP_META_SERVER_INFO);
        mcp_put_implementation(&w, s->def, MCP_LATEST_MODERN);
        jw_end(&w);
        jw_end(&w);
        peer_reply(s->peer, str_of(l->id), buf_str(&result), NULL);
        mcp_listen_drop(s, &s->listens);
    }
    if (s->def->input_ended)
        s->def->input_ended(s->def_ctx);
}
