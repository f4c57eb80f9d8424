/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks as resources (TK-23): the record, and the text of all that the agent said. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "loop/timer.h"
#include "rpc/message.h"
#include "servers/symm/impl.h"
#include "tasks/clean.h"

#define SCHEME "task://"
#define RESULT "/result"
#define LISTED "{\"limit\":100}" /* tasks in resources/list; list_tasks pages through all */

static bool parse_uri(struct str uri, struct str *ret_id, bool *ret_result)
{
    struct str rest;

    if (!str_starts(uri, STR(SCHEME)))
        return false;
    rest = str_from(uri, strlen(SCHEME));
    *ret_result = str_ends(rest, STR(RESULT));
    *ret_id = *ret_result ? str_upto(rest, rest.n - strlen(RESULT)) : rest;
    return task_id_valid(*ret_id);
}

/* ---- lists ---- */

static void put_listed(struct jw *w, yyjson_val *task)
{
    struct str id = json_str(json_get(task, "task_id"));
    auto_buf uri = BUF(256), about = BUF(4096), clean = BUF(16384);

    buf_addf(&uri, SCHEME "%.*s", STR_F(id));
    buf_addf(&about, "%.*s, %.*s, in %.*s", STR_F(json_str(json_get(task, "agent"))),
             STR_F(json_str(json_get(task, "status"))),
             STR_F(str_upto(json_str(json_get(task, "workspace")), 1000)));
    task_put_clean(&clean, buf_str(&about));
    jw_obj(w);
    jw_kstr(w, "uri", buf_str(&uri));
    jw_kstr(w, "name", id);
    jw_kstr(w, "description", buf_str(&clean));
    jw_kstrz(w, "mimeType", "application/json");
    jw_end(w);
}

static void then_listed(struct symm_req *q, struct str result)
{
    auto_buf out = BUF(RESULT_MAX);
    auto_json doc = { 0 };
    struct jw w = jw_to(&out);

    json_parse(&doc, result, NULL);
    jw_obj(&w);
    jw_key(&w, "resources");
    jw_arr(&w);
    for (struct json_iter it = json_iter(json_get(doc.root, "tasks")); json_next(&it);)
        put_listed(&w, it.val);
    jw_end(&w);
    jw_end(&w);
    symm_req_reply(q, buf_str(&out));
}

/* Without a ledger there is nothing to list; a tool says why. */
static void nothing_listed(struct symm_req *q, enum task_code code, struct str text)
{
    (void)code;
    (void)text;
    symm_req_reply(q, STR("{\"resources\":[]}"));
}

void symm_resource_list(void *ctx, struct mcp_req *r)
{
    struct symm *s = ctx;
    auto_json args = { 0 };

    json_parse(&args, STR(LISTED), NULL);
    service_list(s->service, args.root, symm_req_done,
                 symm_req_new(s, r, then_listed, nothing_listed));
}

void symm_resource_templates(void *ctx, struct mcp_req *r)
{
    (void)ctx;
    mcp_reply(r, STR("{\"resourceTemplates\":["
                     "{\"uriTemplate\":\"" SCHEME "{task_id}\",\"name\":\"task\",\"title\":"
                     "\"Task\",\"description\":\"The record of a task, as get_task gives it\","
                     "\"mimeType\":\"application/json\"},"
                     "{\"uriTemplate\":\"" SCHEME "{task_id}" RESULT "\",\"name\":"
                     "\"task-result\",\"title\":\"Result of a task\",\"description\":"
                     "\"All that the agent said in the turn\",\"mimeType\":\"text/plain\"}]}"));
}

/* ---- reading ---- */

static void reply_contents(struct symm_req *q, const char *mime, struct str text)
{
    auto_buf out = BUF(RESULT_MAX);
    struct jw w = jw_to(&out);
    struct error e;

    jw_obj(&w);
    jw_key(&w, "contents");
    jw_arr(&w);
    jw_obj(&w);
    jw_kstr(&w, "uri", json_str(json_get(mcp_req_params(q->r), "uri")));
    jw_kstrz(&w, "mimeType", mime);
    jw_kstr(&w, "text", text);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    if (buf_ok(&out, &e))
        symm_req_reply(q, buf_str(&out));
    else
        mcp_reply_error(symm_req_end(q), RPC_INTERNAL_ERROR, STR(""),
                        "it has %zu bytes, %s: use the tool get_events with types "
                        "[\"agent_message\"]",
                        text.n, e.msg);
}

static void then_record(struct symm_req *q, struct str record)
{
    auto_buf clean = BUF(ANSWER_MAX);

    task_put_clean_json(&clean, record);
    reply_contents(q, "application/json", buf_str(&clean));
}

static void no_resource(struct symm_req *q, enum task_code code, struct str text)
{
    struct str uri = json_str(json_get(mcp_req_params(q->r), "uri"));

    if (code == TASK_NOT_FOUND)
        mcp_reply_no_resource(symm_req_end(q), uri);
    else
        mcp_reply_error(symm_req_end(q), RPC_INTERNAL_ERROR, STR(""), "%.*s", STR_F(text));
}

static void on_result(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct symm_req *q = ctx;
    auto_buf clean = BUF((size_t)4 * TASK_OUTPUT_MAX);

    if (e) {
        no_resource(q, e->kind == ERR_NOT_FOUND ? TASK_NOT_FOUND : TASK_INVALID_REQUEST,
                    str_of(e->msg));
        return;
    }
    /* Beyond that it does not fit an answer, however clean. */
    if (a->text.n <= ANSWER_MAX)
        task_put_clean(&clean, a->text);
    reply_contents(q, "text/plain", a->text.n <= ANSWER_MAX ? buf_str(&clean) : a->text);
}

void symm_resource_read(void *ctx, struct mcp_req *r, struct str uri)
{
    struct symm *s = ctx;
    auto_json args = { 0 };
    struct symm_req *q;
    struct str id;
    bool result;

    if (!parse_uri(uri, &id, &result)) {
        mcp_reply_no_resource(r, uri);
        return;
    }
    q = symm_req_new(s, r, then_record, no_resource);
    if (result) {
        ledger_result(service_ledger(s->service), id, on_result, q);
        return;
    }
    args = symm_req_id_args(id);
    service_get(s->service, args.root, symm_req_done, q);
}

/* ---- subscriptions ---- */

static const char *const ends[] = { "", RESULT };

static bool is_watched(void *ctx, struct str id)
{
    const struct symm *s = ctx;
    bool watched = false;

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        auto_buf uri = BUF(256);

        buf_addf(&uri, SCHEME "%.*s%s", STR_F(id), ends[i]);
        watched |= mcp_server_watches(server_mcp(s->server), buf_str(&uri));
    }
    return watched;
}

void symm_resource_tidy(void *ctx)
{
    struct symm *s = ctx;

    service_watch_sweep(s->service, is_watched, s);
}

/* Followed from now on: subscriptions are made of nothing else. What is refused in the end is
 * let go of soon. */
bool symm_resource_watchable(void *ctx, struct str uri)
{
    struct symm *s = ctx;
    struct str id;
    bool result;

    if (!parse_uri(uri, &id, &result))
        return false;
    service_watch(s->service, id, true);
    if (s->server)
        timer_set(s->tidy, 0);
    return true;
}

void symm_resource_watched(void *ctx, bool any)
{
    struct symm *s = ctx;

    if (!any)
        service_watch_none(s->service);
}

/* Both resources of the task may have changed. One that nobody is subscribed to any more is no
 * longer followed. */
void symm_resource_changed(void *ctx, struct str id)
{
    struct symm *s = ctx;

    if (!s->server)
        return;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        auto_buf uri = BUF(256);

        buf_addf(&uri, SCHEME "%.*s%s", STR_F(id), ends[i]);
        mcp_server_resource_updated(server_mcp(s->server), buf_str(&uri));
    }
    if (!is_watched(s, id))
        service_watch(s->service, id, false);
}
