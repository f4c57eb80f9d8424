/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Subscriptions to resources in both forms (mcp.md 6.2, 6.8), and resources/updated. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mcp/server_internal.h"

/* ---- sets of URIs ---- */

static struct uri **find(struct uris *u, struct str uri)
{
    struct uri **at = &u->first;

    while (*at && !str_is(uri, (*at)->text))
        at = &(*at)->next;
    return at;
}

bool mcp_uris_has(const struct uris *u, struct str uri)
{
    for (const struct uri *x = u->first; x; x = x->next)
        if (str_is(uri, x->text))
            return true;
    return false;
}

bool mcp_uris_add(struct uris *u, struct str uri)
{
    struct uri **at = find(u, uri);

    if (*at)
        return true;
    if (u->n >= MCP_SERVER_MAX_WATCHED)
        return false;
    *at = mem_alloc(sizeof **at + uri.n + 1);
    memcpy((*at)->text, uri.p, uri.n);
    u->n++;
    return true;
}

bool mcp_uris_remove(struct uris *u, struct str uri)
{
    struct uri **at = find(u, uri), *gone = *at;

    if (!gone)
        return false;
    *at = gone->next;
    free(gone);
    u->n--;
    return true;
}

void mcp_uris_free(struct uris *u)
{
    while (u->first) {
        struct uri *gone = u->first;

        u->first = gone->next;
        free(gone);
    }
    u->n = 0;
}

/* ---- subscriptions ---- */

bool mcp_watchable(const struct mcp_server *s, struct str uri)
{
    return uri.n <= MCP_SERVER_MAX_WATCHED_URI && str_find_char(uri, '\0') == SIZE_MAX &&
           mcp_offers(s->def, CAP_WATCH, MCP_LATEST_MODERN) &&
           s->def->resources_watchable(s->def_ctx, uri);
}

void mcp_watch_count(struct mcp_server *s, size_t added, size_t removed)
{
    bool before = s->nwatched > 0, after;

    s->nwatched += added;
    s->nwatched -= removed;
    after = s->nwatched > 0;
    if (before != after && !s->ending && s->def->resources_watched)
        s->def->resources_watched(s->def_ctx, after);
}

void mcp_run_subscribe(struct mcp_req *r)
{
    struct mcp_server *s = r->s;
    struct str uri = json_str(json_get(r->params, "uri"));
    size_t before = s->watched.n;

    if (!json_is_str(json_get(r->params, "uri"))) {
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "'uri' must be a string");
    } else if (!mcp_watchable(s, uri)) {
        mcp_reply_no_resource(r, uri);
    } else if (!mcp_uris_add(&s->watched, uri)) {
        mcp_reply_error(r, RPC_INTERNAL_ERROR, STR(""), "more than %d subscriptions",
                        MCP_SERVER_MAX_WATCHED);
    } else {
        mcp_watch_count(s, s->watched.n - before, 0);
        mcp_reply(r, STR("{}"));
    }
}

void mcp_run_unsubscribe(struct mcp_req *r)
{
    struct mcp_server *s = r->s;
    yyjson_val *uri = json_get(r->params, "uri");

    if (!json_is_str(uri)) {
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "'uri' must be a string");
        return;
    }
    if (mcp_uris_remove(&s->watched, json_str(uri)))
        mcp_watch_count(s, 0, 1);
    mcp_reply(r, STR("{}"));
}

/* ---- notifications/resources/updated ---- */

/* `l` NULL: the form of a legacy session. */
static void send_updated(struct mcp_server *s, const char *uri, const struct listen *l)
{
    auto_buf params = BUF(MCP_MESSAGE_MAX);
    struct jw w = jw_to(&params);

    jw_obj(&w);
    jw_kstrz(&w, "uri", uri);
    if (l)
        mcp_put_subscription(&w, l);
    jw_end(&w);
    peer_notify(s->peer, "notifications/resources/updated", buf_str(&params), NULL);
}

void mcp_flush_updated(struct mcp_server *s)
{
    for (const struct uri *u = s->updated.first; u; u = u->next) {
        struct str uri = str_of(u->text);

        if (mcp_uris_has(&s->watched, uri))
            send_updated(s, u->text, NULL);
        for (const struct listen *l = s->listens; l; l = l->next)
            if (mcp_uris_has(&l->watched, uri))
                send_updated(s, u->text, l);
    }
    mcp_uris_free(&s->updated);
}

static void on_updated_pace(void *ctx)
{
    struct mcp_server *s = ctx;

    if (!s->updated.n)
        return;
    timer_set(s->updated_pace, MCP_UPDATED_MS);
    mcp_flush_updated(s);
}

bool mcp_server_watches(const struct mcp_server *s, struct str uri)
{
    if (mcp_uris_has(&s->watched, uri))
        return true;
    for (const struct listen *l = s->listens; l; l = l->next)
        if (mcp_uris_has(&l->watched, uri))
            return true;
    return false;
}

void mcp_server_resource_updated(struct mcp_server *s, struct str uri)
{
    if (s->ending || !mcp_server_watches(s, uri))
        return;
    /* Full: so many changes wait that a round of them is due before this one finds room. */
    if (!mcp_uris_add(&s->updated, uri)) {
        mcp_flush_updated(s);
        mcp_uris_add(&s->updated, uri);
    }
    if (!s->updated_pace) {
        s->updated_pace = timer_new(s->loop, on_updated_pace, s);
        timer_background(s->updated_pace);
    }
    if (timer_is_set(s->updated_pace))
        return;
    timer_set(s->updated_pace, MCP_UPDATED_MS);
    mcp_flush_updated(s);
}
