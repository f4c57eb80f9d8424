/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls of a ready server: tools/list over its pages, tools/call over its rounds. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/client_internal.h"
#include "mcp/content.h"

#define NOTE_MAX 1024

/* What a list has gathered so far. */
struct gathered {
    struct buf tools; /* JSON array text, not closed yet */
    struct buf note;
    struct map cursors; /* seen */
    size_t pages, ntools;
};

struct mcp_call {
    struct mcp_client *c;
    struct mcp_call *prev, *next;
    uint64_t id;   /* the caller's handle; also the progress token */
    uint64_t wire; /* the peer's handle of the request that is open; 0: never sent */
    char *wire_id; /* its id as JSON text: a timed-out call has lost it */
    int timeout_ms;
    int64_t deadline_ms;
    struct error *failed; /* why it ends, decided by us; NULL: not */
    unsigned rounds;
    bool refreshed;  /* the list was read again for its sake */
    struct str name; /* tools/call: owned, may hold NUL; p == NULL: tools/list */
    char *args;
    struct gathered *list;
    mcp_result_fn on_result;
    mcp_tools_fn on_tools;
    void *ctx;
};

static void on_reply(void *ctx, const struct rpc_msg *reply, const struct error *e);

/* ---- bookkeeping ---- */

static struct mcp_call *call_new(struct mcp_client *c, int timeout_ms, void *ctx)
{
    struct mcp_call *call = NEW(struct mcp_call), *last = c->calls;

    call->c = c;
    call->id = ++c->last_call;
    call->timeout_ms = timeout_ms;
    call->deadline_ms = clock_ms() + timeout_ms;
    call->ctx = ctx;
    while (last && last->next)
        last = last->next;
    call->prev = last;
    if (last)
        last->next = call;
    else
        c->calls = call;
    c->ncalls++;
    return call;
}

static void call_unlink(struct mcp_call *call)
{
    struct mcp_client *c = call->c;

    if (call->prev)
        call->prev->next = call->next;
    else
        c->calls = call->next;
    if (call->next)
        call->next->prev = call->prev;
    c->ncalls--;
}

static void call_free(struct mcp_call *call)
{
    if (call->list) {
        buf_free(&call->list->tools);
        buf_free(&call->list->note);
        map_free(&call->list->cursors);
        free(call->list);
    }
    free(call->failed);
    free(call->wire_id);
    free((char *)call->name.p);
    free(call->args);
    free(call);
}

static struct mcp_call *call_by_id(struct mcp_client *c, uint64_t id)
{
    for (struct mcp_call *call = c->calls; call; call = call->next)
        if (call->id == id)
            return call;
    return NULL;
}

struct mcp_call *client_call_by_wire_id(struct mcp_client *c, struct str id)
{
    for (struct mcp_call *call = c->calls; call; call = call->next)
        if (call->wire_id && str_is(id, call->wire_id))
            return call;
    return NULL;
}

struct mcp_call *client_oldest_call(struct mcp_client *c)
{
    struct mcp_call *call = c->calls;

    while (call && !call->wire)
        call = call->next;
    return call;
}

/* ---- the end of a call: unlinked first, told last ---- */

static void fail(struct mcp_call *call, const struct error *why)
{
    call_unlink(call);
    if (call->on_result)
        call->on_result(call->ctx, NULL, why);
    else
        call->on_tools(call->ctx, STR("[]"), STR(""), why);
    call_free(call);
}

static void finish_result(struct mcp_call *call, yyjson_val *result)
{
    call_unlink(call);
    call->on_result(call->ctx, result, NULL);
    call_free(call);
}

static void keep_failure(struct mcp_call *call, const struct error *why)
{
    if (!call->failed)
        call->failed = NEW(struct error);
    *call->failed = *why;
}

/* A call that failed before it was sent ends in the next loop turn, never inside the function
 * that made it. */
static void fail_soon(struct mcp_call *call, const struct error *why)
{
    keep_failure(call, why);
    call->wire = 0;
    timer_set(call->c->soon, 0);
}

/* A call that is not on the wire: with its failure decided, or waiting for the reason of the
 * end. */
static struct mcp_call *first_unsent(struct mcp_client *c, bool decided)
{
    struct mcp_call *call = c->calls;

    /* clang's analyzer does not see that a freed call was unlinked before. */
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    while (call && (call->wire || (decided && !call->failed)))
        call = call->next;
    return call;
}

void client_end_early(struct mcp_client *c, const struct error *why)
{
    struct mcp_call *call;

    while ((call = first_unsent(c, !why)) != NULL)
        fail(call, call->failed ? call->failed : why);
}

void client_call_fail(struct mcp_client *c, struct mcp_call *call, const struct error *why)
{
    keep_failure(call, why);
    peer_call_cancel(c->peer, call->wire);
}

/* ---- sending ---- */

/* Params of the next request of this call. `cursor` and `state` may be NULL. */
static void put_params(struct buf *out, const struct mcp_call *call, yyjson_val *cursor,
                       yyjson_val *state)
{
    const struct mcp_client *c = call->c;
    struct jw w = jw_to(out);

    jw_obj(&w);
    if (call->name.p) {
        jw_kstr(&w, "name", call->name);
        jw_key(&w, "arguments");
        jw_raw(&w, str_of(call->args));
    }
    if (cursor) {
        jw_key(&w, "cursor");
        jw_val(&w, cursor);
    }
    if (state) {
        jw_key(&w, "requestState");
        jw_val(&w, state);
    }
    if (mcp_client_modern(c)) {
        jw_key(&w, "_meta");
        client_put_modern_meta(&w, c, c->rev, call->name.p ? call->id : 0);
    } else if (call->name.p) {
        jw_key(&w, "_meta");
        jw_obj(&w);
        jw_kint(&w, "progressToken", (int64_t)call->id);
        jw_end(&w);
    }
    jw_end(&w);
}

/* False: *e says why nothing was sent. */
static bool send_request(struct mcp_call *call, yyjson_val *cursor, yyjson_val *state,
                         struct error *e)
{
    struct mcp_client *c = call->c;
    int64_t left = call->deadline_ms - clock_ms();
    auto_buf params = BUF(PEER_MESSAGE_MAX);
    struct peer_call request = {
        .method = call->name.p ? "tools/call" : "tools/list",
        .timeout_ms = left > 0 ? (int)left : 1,
    };

    put_params(&params, call, cursor, state);
    if (!buf_ok(&params, e))
        return false;
    request.params = buf_str(&params);
    call->wire = peer_call(c->peer, &request, on_reply, call, e);
    if (!call->wire)
        return false;
    free(call->wire_id);
    call->wire_id = str_dup(peer_call_id(c->peer, call->wire));
    return true;
}

static void send_first(struct mcp_call *call)
{
    struct error e;

    if (call->c->state != CLIENT_READY) {
        error_set(&e, ERR_CLOSED, "server is not ready");
        fail_soon(call, &e);
    } else if (!send_request(call, NULL, NULL, &e) && e.kind != ERR_CLOSED) {
        fail_soon(call, &e);
    }
    /* Into a closed pipe: the end of the server is under way and will say why (MS-50). */
}

/* A later page or round, from inside a reply. */
static void send_next(struct mcp_call *call, yyjson_val *cursor, yyjson_val *state)
{
    struct error e;

    if (!send_request(call, cursor, state, &e) && e.kind != ERR_CLOSED)
        fail(call, &e);
}

/* ---- tools/list ---- */

__attribute__((format(printf, 2, 3))) static void note(struct gathered *g, const char *fmt, ...)
{
    char text[NOTE_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (g->note.n)
        buf_addz(&g->note, "; ");
    buf_addz(&g->note, text);
}

/* Over HTTP some arguments of some tools travel in headers as well (mcp.md 5.4). False: its
 * annotations are invalid, and the tool must not be offered (MCP-C16). */
static bool remember_params(struct mcp_call *call, yyjson_val *tool)
{
    struct mcp_client *c = call->c;
    struct str name = json_str(json_get(tool, "name"));
    struct tool_params found, *kept;
    struct error why;

    if (!c->remote || !mcp_client_modern(c))
        return true;
    if (!tool_params_read(&found, json_get(tool, "inputSchema"), &why)) {
        note(call->list, "tool '%.*s' dropped: %s", STR_F(str_upto(name, 64)), why.msg);
        return false;
    }
    kept = map_del(&c->params, name);
    if (kept)
        tool_params_free(kept);
    if (!found.n) {
        free(kept);
        return true;
    }
    kept = kept ? kept : NEW(struct tool_params);
    *kept = found;
    map_put(&c->params, name, kept);
    return true;
}

static void remember_task_tool(struct mcp_client *c, yyjson_val *tool)
{
    if (mcp_tool_needs_task(tool))
        map_put(&c->task_tools, json_str(json_get(tool, "name")), c);
}

static void finish_list(struct mcp_call *call)
{
    struct gathered *g = call->list;

    buf_addc(&g->tools, ']');
    call_unlink(call);
    call->on_tools(call->ctx, buf_str(&g->tools), buf_str(&g->note), NULL);
    call_free(call);
}

/* False: a cap was reached, and the note says which. */
static bool add_page(struct mcp_call *call, yyjson_val *tools)
{
    struct gathered *g = call->list;

    for (struct json_iter it = json_iter(tools); json_next(&it);) {
        if (g->ntools == MCP_MAX_TOOLS) {
            note(g, "tool list ended at %d tools", MCP_MAX_TOOLS);
            return false;
        }
        if (!remember_params(call, it.val))
            continue;
        if (g->ntools++)
            buf_addc(&g->tools, ',');
        json_put_val(&g->tools, it.val);
        if (g->tools.over) {
            note(g, "tool list is too large");
            return false;
        }
        remember_task_tool(call->c, it.val);
    }
    return true;
}

/* The empty string is a cursor like any other (MCP-C7). */
static bool more_pages(struct gathered *g, yyjson_val *cursor)
{
    if (!json_is_str(cursor))
        return false;
    if (map_has(&g->cursors, json_str(cursor))) {
        note(g, "tool list repeats a cursor, ended there");
        return false;
    }
    if (g->pages >= MCP_MAX_PAGES) {
        note(g, "tool list ended after %d pages", MCP_MAX_PAGES);
        return false;
    }
    map_put(&g->cursors, json_str(cursor), g);
    return true;
}

static void on_page(struct mcp_call *call, yyjson_val *result)
{
    struct gathered *g = call->list;
    yyjson_val *tools = json_get(result, "tools");
    yyjson_val *cursor = json_get(result, "nextCursor");
    struct error e;

    if (!json_is_arr(tools)) {
        error_set(&e, ERR_PROTOCOL, "tools/list was answered without an array 'tools'");
        fail(call, &e);
        return;
    }
    g->pages++;
    if (!add_page(call, tools) && g->tools.over) {
        error_set(&e, ERR_LIMIT, "tool list of more than %zu bytes", MCP_LIST_MAX);
        fail(call, &e);
    } else if (g->ntools < MCP_MAX_TOOLS && more_pages(g, cursor)) {
        send_next(call, cursor, NULL);
    } else {
        finish_list(call);
    }
}

void mcp_client_list_tools(struct mcp_client *c, int timeout_ms, mcp_tools_fn done, void *ctx)
{
    struct mcp_call *call;

    if (c->freed)
        return;
    call = call_new(c, timeout_ms, ctx);
    call->on_tools = done;
    call->list = NEW(struct gathered);
    call->list->tools = BUF(MCP_LIST_MAX);
    call->list->note = BUF(NOTE_MAX);
    buf_addc(&call->list->tools, '[');
    send_first(call);
}

/* ---- tools/call ---- */

/* Only a state to send back: the server wants the same request again, e.g. to shed load
 * (mcp.md 6.10). */
static void on_input_required(struct mcp_call *call, yyjson_val *result)
{
    yyjson_val *state = json_get(result, "requestState");
    struct error e;

    if (json_len(json_get(result, "inputRequests")) > 0)
        error_set(&e, ERR_DENIED, "needs user input");
    else if (!json_is_str(state))
        error_set(&e, ERR_PROTOCOL, "input_required without inputRequests and requestState");
    else if (++call->rounds > MCP_MRTR_ROUNDS)
        error_set(&e, ERR_LIMIT, "asked to be called again more than %d times",
                  MCP_MRTR_ROUNDS);
    else {
        send_next(call, NULL, state);
        return;
    }
    fail(call, &e);
}

/* An absent resultType is "complete", an unknown one is the one place where we are strict
 * (MCP-C5). */
static void on_result(struct mcp_call *call, yyjson_val *result)
{
    yyjson_val *type = json_get(result, "resultType");
    struct str name = json_str(type);
    struct error e;

    if (!json_is_obj(result)) {
        error_set(&e, ERR_PROTOCOL, "invalid answer: the result is no object");
    } else if (!type || !mcp_client_modern(call->c) || str_is(name, "complete")) {
        if (call->name.p)
            finish_result(call, result);
        else
            on_page(call, result);
        return;
    } else if (call->name.p && str_is(name, "input_required")) {
        on_input_required(call, result);
        return;
    } else {
        error_set(&e, ERR_PROTOCOL, "invalid answer: unknown resultType '%.*s'",
                  STR_F(str_upto(name, 64)));
    }
    fail(call, &e);
}

/* ---- headers that the server disagreed with: the list is read again, and the call sent once
 * more (mcp.md 5.4) ---- */

struct refresh {
    struct mcp_client *c;
    uint64_t call;
};

static void on_refreshed(void *ctx, struct str tools, struct str note, const struct error *e)
{
    struct refresh *r = ctx;
    struct mcp_call *call = call_by_id(r->c, r->call);

    (void)tools, (void)note;
    if (call && call->failed)
        fail(call, call->failed);
    else if (call && e)
        fail(call, e);
    else if (call)
        send_next(call, NULL, NULL);
    free(r);
}

static bool refresh(struct mcp_call *call, const struct rpc_msg *reply)
{
    struct refresh *r;
    int64_t left = call->deadline_ms - clock_ms();

    if (!call->c->remote || !mcp_client_modern(call->c) || !call->name.p || call->refreshed ||
        reply->code != MCP_HEADER_MISMATCH)
        return false;
    call->refreshed = true;
    call->wire = 0;
    r = NEW(struct refresh);
    *r = (struct refresh){ call->c, call->id };
    mcp_client_list_tools(call->c, left > 1 ? (int)left : 1, on_refreshed, r);
    return true;
}

static void on_remote_error(struct mcp_call *call, const struct rpc_msg *reply)
{
    struct str text = utf8_cut(reply->message, MCP_ERROR_TEXT_MAX);
    struct error e;

    if (refresh(call, reply))
        return;
    if (text.n)
        error_set(&e, ERR_INVALID, "%.*s", STR_F(text));
    else
        error_set(&e, ERR_INVALID, "error %lld", (long long)reply->code);
    fail(call, &e);
}

/* The server lives on; it is told that nobody waits any more (MS-57, MCP-C12). */
static void on_timeout(struct mcp_call *call)
{
    struct error e;

    client_notify_cancelled(call->c, str_of(call->wire_id), "timed out");
    error_set(&e, ERR_TIMEOUT, "timed out after %.4g s", (double)call->timeout_ms / 1000);
    fail(call, &e);
}

static void on_reply(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct mcp_call *call = ctx;

    if (!e)
        on_result(call, reply->result);
    else if (reply)
        on_remote_error(call, reply);
    else if (call->failed)
        fail(call, call->failed);
    else if (e->kind == ERR_TIMEOUT)
        on_timeout(call);
    else
        fail(call, e);
}

uint64_t mcp_client_call(struct mcp_client *c, struct str tool, struct str args_json,
                         int timeout_ms, mcp_result_fn done, void *ctx)
{
    struct mcp_call *call;
    struct error e;
    uint64_t id;

    if (c->freed)
        return 0;
    call = call_new(c, timeout_ms, ctx);
    id = call->id;
    call->on_result = done;
    call->name = (struct str){ str_dup(tool), tool.n };
    call->args = str_dup(args_json.n ? args_json : STR("{}"));
    if (map_has(&c->task_tools, tool)) {
        error_set(&e, ERR_DENIED,
                  "tool needs task support, which is not offered: it cannot be called");
        fail_soon(call, &e);
    } else {
        send_first(call);
    }
    return id;
}

void mcp_client_cancel(struct mcp_client *c, uint64_t call)
{
    struct mcp_call *open = call_by_id(c, call);
    struct error e;

    if (!open)
        return;
    error_set(&e, ERR_CLOSED, "cancelled");
    if (!open->wire) {
        fail(open, &e);
        return;
    }
    client_notify_cancelled(c, str_of(open->wire_id), "cancelled");
    client_call_fail(c, open, &e);
}

void client_call_progress(struct mcp_client *c, yyjson_val *token)
{
    int64_t id;
    struct mcp_call *call = json_int(token, &id) && id > 0 ? call_by_id(c, (uint64_t)id) : NULL;

    if (!call || !call->wire)
        return;
    call->deadline_ms = clock_ms() + call->timeout_ms;
    peer_call_touch(c->peer, call->wire);
}
