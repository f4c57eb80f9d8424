/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The whole graph as a resource (ME-23). */
#include <stdlib.h>

#include "base/mem.h"
#include "loop/work.h"
#include "rpc/message.h"
#include "servers/memory/query.h"
#include "servers/memory/service.h"
#include "servers/sending.h"

bool resource_is(void *ctx, struct str uri)
{
    (void)ctx;
    return str_is(uri, MEMORY_URI);
}

void resource_list(void *ctx, struct mcp_req *r)
{
    (void)ctx;
    mcp_reply(r, STR("{\"resources\":[{\"uri\":\"" MEMORY_URI "\",\"name\":\"knowledge-graph\","
                     "\"title\":\"Knowledge Graph\",\"description\":\"All entities and "
                     "relations\",\"mimeType\":\"application/json\"}]}"));
}

struct read {
    struct memory *m;
    struct mcp_req *r; /* NULL once cancelled */
    struct work *work, *running;
    struct buf graph;
    struct sending sending;
    bool failed;
    struct error error;
};

static bool is_cancelled(void *ctx)
{
    const struct read *rd = ctx;

    return work_cancelled(rd->running);
}

static void look(void *ctx, const struct graph *g)
{
    struct read *rd = ctx;
    auto_arena a = ARENA;
    const struct query q = { NULL, &a, is_cancelled, rd };
    struct view v = query_all(&q, g);

    output_view(&rd->graph, &v);
}

static void run(void *ctx, struct work *w)
{
    struct read *rd = ctx;
    auto_buf pretty = BUF(ANSWER_MAX), result = BUF(RESULT_MAX);

    rd->running = w;
    rd->failed = !store_read(rd->m->store, look, rd, &rd->error);
    if (rd->failed || work_cancelled(w))
        return;
    output_pretty(&pretty, buf_str(&rd->graph));
    buf_addz(&result, "{\"contents\":[{\"uri\":\"" MEMORY_URI
                      "\",\"mimeType\":\"application/json\",\"text\":");
    json_put_str(&result, buf_str(&pretty));
    buf_addz(&result, "}]}");
    if (!rd->graph.over && !pretty.over && !result.over)
        rd->failed = !sending_put(&rd->sending, buf_str(&result), &rd->error);
    else
        rd->failed = !error_set(&rd->error, ERR_LIMIT,
                                "the graph has more than %zu bytes as JSON, an answer at most "
                                "%zu: use the tools search_nodes and open_nodes",
                                rd->graph.n, ANSWER_MAX);
    sending_enter(&rd->sending, w);
}

static void done(void *ctx, bool cancelled)
{
    struct read *rd = ctx;

    if (!cancelled)
        mcp_req_on_cancel(rd->r, NULL, NULL);
    if (!cancelled && !rd->failed) {
        sending_reply(&rd->sending, rd->r);
    } else {
        if (!cancelled)
            mcp_reply_error(rd->r, RPC_INTERNAL_ERROR, STR(""), "%s", rd->error.msg);
        sending_drop(&rd->sending);
    }
    memory_warn(rd->m);
    buf_free(&rd->graph);
    free(rd);
}

static void on_cancel(void *ctx)
{
    struct read *rd = ctx;

    work_cancel(rd->work);
    sending_wake(&rd->sending);
}

void resource_read(void *ctx, struct mcp_req *r, struct str uri)
{
    static const struct work_ops ops = { run, done };
    struct memory *m = ctx;
    struct read *rd;

    if (!resource_is(ctx, uri)) {
        mcp_reply_no_resource(r, uri);
        return;
    }
    rd = NEW(struct read);
    *rd = (struct read){ .m = m, .r = r, .graph = BUF(ANSWER_MAX) };
    sending_begin(&rd->sending, m->server, r);
    mcp_req_on_cancel(r, on_cancel, rd);
    rd->work = work_start(server_loop(m->server), WORK_LONG, &ops, rd);
}
