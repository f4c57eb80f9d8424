/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The protocol's tasks extension (mcp.md 7.2, TK-60): our task ids are its task ids, and all it
 * asks for is in the ledger, so a handle outlives the server that gave it.
 */
#include "base/mem.h"
#include "mcp/content.h"
#include "rpc/message.h"
#include "servers/symm/impl.h"
#include "tasks/clean.h"

static const char *wire_status(enum task_status s)
{
    switch (s) {
    case TASK_CREATED:
    case TASK_STARTING:
    case TASK_RUNNING:
        return "working";
    case TASK_SUCCEEDED:
    case TASK_FAILED: /* the call has a result, which says so */
        return "completed";
    case TASK_CANCELLED:
        return "cancelled";
    }
    return "working";
}

static enum task_status status_of(yyjson_val *record)
{
    enum task_status s = TASK_CREATED;

    task_status_parse(json_str(json_get(record, "status")), &s);
    return s;
}

/* When its status last changed, as far as the record knows. */
static struct str last_change(yyjson_val *record)
{
    static const char *const stamps[] = { "finished_at", "started_at", "created_at" };
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(stamps) && !json_is_str(json_get(record, stamps[i])))
        i++;
    return json_str(json_get(record, stamps[i]));
}

/* The members of a Task, without the braces. */
static void put_task(struct jw *w, yyjson_val *record)
{
    enum task_status status = status_of(record);

    jw_kstr(w, "taskId", json_str(json_get(record, "task_id")));
    jw_kstrz(w, "status", wire_status(status));
    jw_kstrz(w, "statusMessage", task_status_name(status));
    jw_kstr(w, "createdAt", json_str(json_get(record, "created_at")));
    jw_kstr(w, "lastUpdatedAt", last_change(record));
    jw_key(w, "ttlMs"); /* what retention allows (TK-6) */
    jw_null(w);
    jw_kint(w, "pollIntervalMs", SYMM_POLL_MS);
}

void symm_handle_reply(struct symm_req *q, struct str record)
{
    auto_buf out = BUF(ANSWER_MAX);
    auto_json doc = { 0 };
    struct jw w = jw_to(&out);

    json_parse(&doc, record, NULL);
    jw_obj(&w);
    jw_kstrz(&w, "resultType", "task");
    put_task(&w, doc.root);
    jw_end(&w);
    symm_req_reply(q, buf_str(&out));
}

/* ---- tasks/get ---- */

/* What the tool would have answered had it waited: the task. */
static void put_result(struct jw *w, struct str record, bool is_error)
{
    auto_buf clean = BUF(ANSWER_MAX);

    task_put_clean_json(&clean, record);
    jw_key(w, "result");
    jw_obj(w);
    jw_kstrz(w, "resultType", "complete");
    jw_key(w, "content");
    jw_arr(w);
    mcp_put_text_block(w, buf_str(&clean));
    jw_end(w);
    jw_key(w, "structuredContent");
    jw_raw(w, buf_str(&clean));
    jw_kbool(w, "isError", is_error);
    jw_end(w);
}

static void then_details(struct symm_req *q, struct str record)
{
    auto_buf out = BUF(ANSWER_MAX);
    auto_json doc = { 0 };
    struct jw w = jw_to(&out);
    enum task_status status;

    json_parse(&doc, record, NULL);
    status = status_of(doc.root);
    jw_obj(&w);
    put_task(&w, doc.root);
    if (status == TASK_SUCCEEDED || status == TASK_FAILED)
        put_result(&w, record, status == TASK_FAILED);
    jw_end(&w);
    symm_req_reply(q, buf_str(&out));
}

static void no_such_task(struct symm_req *q, enum task_code code, struct str text)
{
    mcp_reply_error(symm_req_end(q),
                    code == TASK_NOT_FOUND ? RPC_INVALID_PARAMS : RPC_INTERNAL_ERROR, STR(""),
                    "%.*s", STR_F(text));
}

/* ---- the methods ---- */

static void with_task(struct symm *s, struct mcp_req *r,
                      void (*then)(struct symm_req *q, struct str record))
{
    yyjson_val *id = json_get(mcp_req_params(r), "taskId");
    auto_json args = { 0 };

    if (!json_is_str(id)) {
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "'taskId' must be a string");
        return;
    }
    args = symm_req_id_args(json_str(id));
    service_get(s->service, args.root, symm_req_done, symm_req_new(s, r, then, no_such_task));
}

void symm_handle_get(void *ctx, struct mcp_req *r)
{
    with_task(ctx, r, then_details);
}

/* No task of ours asks its caller for input: there is nothing that an answer could be for. */
static void then_nothing(struct symm_req *q, struct str record)
{
    (void)record;
    symm_req_reply(q, STR("{}"));
}

void symm_handle_update(void *ctx, struct mcp_req *r)
{
    if (json_is_obj(json_get(mcp_req_params(r), "inputResponses")))
        with_task(ctx, r, then_nothing);
    else
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "'inputResponses' must be an object");
}

/* Acknowledged at once: how it ends, tasks/get tells. */
static void then_cancel(struct symm_req *q, struct str record)
{
    struct symm *s = q->s;
    auto_json doc = { 0 }, args = { 0 };

    json_parse(&doc, record, NULL);
    args = symm_req_id_args(json_str(json_get(doc.root, "task_id")));
    service_cancel(s->service, args.root, NULL, NULL);
    symm_req_reply(q, STR("{}"));
}

void symm_handle_cancel(void *ctx, struct mcp_req *r)
{
    with_task(ctx, r, then_cancel);
}
