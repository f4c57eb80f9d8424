/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "servers/job.h"
#include "servers/symm/impl.h"
#include "tasks/clean.h"

/* Up to this much a result is made fit for the client at once, beyond it on the thread pool. */
#define AT_ONCE_MAX ((size_t)64 << 10)

static void on_cancel(void *ctx)
{
    struct symm_req *q = ctx;

    service_drop(q->s->service, q);
    ledger_drop(service_ledger(q->s->service), q);
    free(q);
}

struct symm_req *symm_req_new(struct symm *s, struct mcp_req *r,
                              void (*then)(struct symm_req *q, struct str result),
                              void (*refused)(struct symm_req *q, enum task_code code,
                                              struct str text))
{
    struct symm_req *q = NEW(struct symm_req);

    *q = (struct symm_req){ .s = s, .r = r, .then = then, .refused = refused };
    mcp_req_on_cancel(r, on_cancel, q);
    return q;
}

struct mcp_req *symm_req_end(struct symm_req *q)
{
    struct mcp_req *r = q->r;

    mcp_req_on_cancel(r, NULL, NULL);
    free(q);
    return r;
}

void symm_req_reply(struct symm_req *q, struct str result)
{
    mcp_reply(symm_req_end(q), result);
}

static void fail(struct symm_req *q, enum task_code code, struct str text)
{
    auto_buf clean = BUF(ANSWER_MAX);

    task_put_clean(&clean, text);
    tool_fail(symm_req_end(q), "%s: %s", task_code_name(code), buf_z(&clean));
}

void symm_req_done(void *ctx, enum task_code code, struct str result)
{
    struct symm_req *q = ctx;

    if (code == TASK_OK)
        q->then(q, result);
    else if (q->refused)
        q->refused(q, code, result);
    else
        fail(q, code, result);
}

struct json symm_req_id_args(struct str id)
{
    auto_buf text = BUF(4096);
    struct json doc = { 0 };
    struct jw w = jw_to(&text);

    jw_obj(&w);
    jw_kstr(&w, "task_id", str_upto(id, 100));
    jw_end(&w);
    json_parse(&doc, buf_str(&text), NULL);
    return doc;
}

/* ---- the result of a tool ---- */

static void fill(struct answer *a, struct str result)
{
    task_put_clean_json(&a->structured, result);
    buf_add(&a->text, buf_str(&a->structured));
}

static void run_fill(struct job *j)
{
    fill(&j->answer, *(struct str *)j->ctx);
}

void symm_req_reply_tool(struct symm_req *q, struct str result)
{
    struct symm *s = q->s;
    struct mcp_req *r = symm_req_end(q);
    struct answer a = ANSWER;
    struct str *copy;
    struct job *j;

    if (result.n <= AT_ONCE_MAX) {
        fill(&a, result);
        tool_reply(r, server_spec_of(s->server), &a);
        return;
    }
    j = job_new(s->server, r);
    j->ctx = copy = ARENA_NEW(&j->arena, struct str);
    *copy = arena_str(&j->arena, result);
    job_start(j, WORK_SHORT, run_fill);
}
