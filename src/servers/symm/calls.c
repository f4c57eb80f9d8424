/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The seven tools: each asks the service, whose result is the tool's. */
#include "servers/symm/impl.h"

typedef void (*call_fn)(struct service *s, yyjson_val *args, service_fn done, void *ctx);

static void ask(struct symm *s, struct mcp_req *r, yyjson_val *args, call_fn call)
{
    call(s->service, args, symm_req_done, symm_req_new(s, r, symm_req_reply_tool, NULL));
}

void symm_get(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    ask(ctx, r, args, service_get);
}

void symm_events(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    ask(ctx, r, args, service_events);
}

void symm_list(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    ask(ctx, r, args, service_list);
}

void symm_resolve(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    ask(ctx, r, args, service_resolve);
}

void symm_cancel(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    ask(ctx, r, args, service_cancel);
}

/* ---- spawn_task ---- */

/* The task is there: a handle of it instead. */
static void then_handle(struct symm_req *q, struct str result)
{
    auto_json task = { 0 }, args = { 0 };

    json_parse(&task, result, NULL);
    args = symm_req_id_args(json_str(json_get(task.root, "task_id")));
    q->then = symm_handle_reply;
    q->refused = NULL;
    service_get(q->s->service, args.root, symm_req_done, q);
}

static bool wants_handle(const struct mcp_req *r, yyjson_val *args)
{
    bool follow = json_is_true(json_get(args, "follow")) ||
                  json_is_true(json_path(args, "options.follow"));

    return follow && mcp_req_offers(r, SYMM_TASKS_EXTENSION);
}

void symm_spawn(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    struct symm *s = ctx;
    bool handle = wants_handle(r, args);

    service_spawn(s->service, args, symm_req_done,
                  symm_req_new(s, r, handle ? then_handle : symm_req_reply_tool, NULL));
}

/* ---- wait_tasks ---- */

static void on_progress(void *ctx, double elapsed_s, double timeout_s, struct str message)
{
    struct symm_req *q = ctx;

    mcp_progress(q->r, elapsed_s, timeout_s, message);
}

static void wait(struct symm_req *q, yyjson_val *args)
{
    q->then = symm_req_reply_tool;
    q->refused = NULL;
    service_wait(q->s->service, args, symm_req_done, on_progress, q);
}

static yyjson_val *args_of(const struct symm_req *q)
{
    return json_get(mcp_req_params(q->r), "arguments");
}

/* One that has ended needs no handle. */
static void then_wait_or_handle(struct symm_req *q, struct str record)
{
    auto_json task = { 0 };
    enum task_status status;

    json_parse(&task, record, NULL);
    if (task_status_parse(json_str(json_get(task.root, "status")), &status) &&
        !task_is_terminal(status))
        symm_handle_reply(q, record);
    else
        wait(q, args_of(q));
}

/* The wait says what is wrong, in its own words. */
static void wait_anyway(struct symm_req *q, enum task_code code, struct str text)
{
    (void)code;
    (void)text;
    wait(q, args_of(q));
}

/* A wait for the end of one task, without a limit of the caller's: that is what a handle is. */
static bool is_handle(const struct mcp_req *r, yyjson_val *args)
{
    yyjson_val *ids = json_get(args, "task_ids"), *until = json_get(args, "until");

    return mcp_req_offers(r, SYMM_TASKS_EXTENSION) && json_is_arr(ids) && json_len(ids) == 1 &&
           json_is_str(json_at(ids, 0)) && !json_get(args, "timeout_s") &&
           (!until || str_is(json_str(until), "terminal"));
}

void symm_wait(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    struct symm *s = ctx;
    struct symm_req *q = symm_req_new(s, r, then_wait_or_handle, wait_anyway);
    auto_json id = { 0 };

    if (!is_handle(r, args)) {
        wait(q, args);
        return;
    }
    id = symm_req_id_args(json_str(json_at(json_get(args, "task_ids"), 0)));
    service_get(s->service, id.root, symm_req_done, q);
}
