/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "loop/work.h"
#include "rpc/message.h"
#include "servers/skills/impl.h"

static void on_run(void *ctx, struct work *w)
{
    struct task *t = ctx;

    t->running = w;
    t->run(t);
    if (t->json.over)
        error_set(&t->error, ERR_LIMIT,
                  "the result has more than %zu bytes, an answer at most %zu: read the files "
                  "from the skill's directory",
                  t->json.max, ANSWER_MAX);
    if (!t->no_resource && !t->error.kind)
        sending_put(&t->sending, buf_str(&t->json), &t->error);
    buf_free(&t->json);
    sending_enter(&t->sending, w);
}

static void answer(struct task *t, struct mcp_req *r)
{
    mcp_req_on_cancel(r, NULL, NULL);
    if (t->no_resource)
        mcp_reply_no_resource(r, t->uri);
    else if (t->error.kind)
        mcp_reply_error(r, RPC_INTERNAL_ERROR, (struct str){ 0 }, "%s", t->error.msg);
    else
        sending_reply(&t->sending, r);
}

static void on_done(void *ctx, bool cancelled)
{
    struct task *t = ctx;
    struct mcp_req *r = take_ptr(&t->r);

    (void)cancelled; /* only by on_cancel: r is NULL then */
    if (r)
        answer(t, r);
    sending_drop(&t->sending);
    buf_free(&t->json);
    arena_free(&t->arena);
    free(t);
}

static void on_cancel(void *ctx)
{
    struct task *t = ctx;

    t->r = NULL;
    work_cancel(t->work);
    sending_wake(&t->sending);
}

void task_start(struct skills *s, struct mcp_req *r, struct str uri,
                void (*run)(struct task *t))
{
    static const struct work_ops ops = { on_run, on_done };
    struct task *t = NEW(struct task);

    t->arena = ARENA;
    t->json = BUF(RESULT_MAX);
    t->skills = s;
    t->uri = arena_str(&t->arena, uri);
    t->r = r;
    t->run = run;
    sending_begin(&t->sending, s->server, r);
    mcp_req_on_cancel(r, on_cancel, t);
    t->work = work_start(server_loop(s->server), WORK_LONG, &ops, t);
}

bool task_cancelled(const void *task)
{
    const struct task *t = task;

    return t->running && work_cancelled(t->running);
}
