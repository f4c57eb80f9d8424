/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * spawn_task (TK-8): what is asked for becomes a row of the ledger, then a run of this process.
 *
 *   arguments ─ workspace ─ chain ─ plan ─ row ─ run ─ running | queued | failed
 *       └─────────┴─ invalid_request ─┴──────┘            (the answer)
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "loop/work.h"
#include "tasks/chain.h"
#include "tasks/service_impl.h"
#include "tasks/worktree.h"

struct spawning {
    struct spawn_args args;
    char id[TASK_ID_LEN + 1];
    const struct adapter *adapter;
    const char *workspace;
    struct json options;
    struct task_plan plan;
    struct look *look;
    struct chain_check *chain;
};

/* A job of the pool, which may outlive the call: a disk that does not answer. */
struct look {
    struct op *o; /* NULL: nobody wants to know any more */
    char *workspace;
    bool worktree;
    bool wrong;
    struct error error; /* why */
};

/* ---- answers ---- */

static void answer_status(struct op *o, enum task_status status, struct str why)
{
    struct spawning *sp = o->own;
    auto_buf out = BUF(SERVICE_RESULT_MAX);
    struct jw w = jw_to(&out);

    jw_obj(&w);
    jw_kstrz(&w, "task_id", sp->id);
    jw_kstrz(&w, "status", task_status_name(status));
    if (why.n)
        jw_kstr(&w, "error", why);
    jw_end(&w);
    op_answer(o, buf_str(&out));
}

/* The ledger cannot be written: there is no row, and yet the answer is a task (TK-3). */
static void answer_unrecorded(struct op *o, const struct error *e)
{
    answer_status(o, TASK_FAILED, str_of(e->msg));
}

/* ---- how it began ---- */

static void on_failed_start(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct op *o = ctx;
    auto_json data = { 0 };
    struct str why = { 0 };

    if (e) {
        answer_unrecorded(o, e);
        return;
    }
    /* The last one: it says why the run ended. */
    if (a->nevents && json_parse(&data, a->events[a->nevents - 1].data, NULL))
        why = json_str(json_get(data.root, "message"));
    answer_status(o, a->tasks[0].status, why);
}

/* It ended without having run: its `error` events say why. */
static void answer_ended(struct op *o)
{
    struct spawning *sp = o->own;
    struct events_query q = {
        .id = str_of(sp->id),
        .limit = LEDGER_EVENTS_MAX,
        .types = 1u << TASK_EV_ERROR,
        .max_bytes = SERVICE_EVENT_BYTES,
    };

    ledger_events(o->s->ledger, &q, on_failed_start, o);
}

static void on_running(void *ctx)
{
    struct hand *h = ctx;
    struct op *o = take_ptr(&h->spawner);

    if (o)
        answer_status(o, TASK_RUNNING, (struct str){ 0 });
}

static void on_queued(void *ctx)
{
    struct hand *h = ctx;
    struct op *o = take_ptr(&h->spawner);

    if (o)
        answer_status(o, TASK_CREATED, (struct str){ 0 });
}

static void on_done(void *ctx)
{
    struct hand *h = ctx;
    struct service *s = h->s;
    struct hand **at = &s->hands;
    struct op *o = h->spawner;

    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    run_free(h->run);
    free(h);
    if (o)
        answer_ended(o);
    if (!s->hands && s->idle)
        s->idle(s->idle_ctx);
    service_look_whether_stopped(s);
}

static void start_run(struct op *o)
{
    static const struct run_ops ops = { on_running, on_queued, on_done };
    struct service *s = o->s;
    struct spawning *sp = o->own;
    struct hand *h = NEW(struct hand);
    struct run_opts opts = {
        .id = str_of(sp->id),
        .plan = &sp->plan,
        .priority = (int)sp->args.priority,
        .deadline_s = (int)sp->args.deadline_s,
        .max_output = sp->args.max_output,
        .worktree = sp->args.worktree,
        .workspace = sp->workspace,
    };

    *h = (struct hand){ .next = s->hands, .s = s, .spawner = o };
    s->hands = h;
    h->run = run_new(s->runs, &opts, &ops, h);
}

/* ---- the row ---- */

static void on_never_started(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct op *o = ctx;

    (void)a;
    if (e)
        answer_unrecorded(o, e);
    else
        answer_ended(o);
}

/* The process ends: nothing is started any more (TK-22). */
static void fail_row(struct op *o)
{
    struct spawning *sp = o->own;
    const struct task_event_row why = {
        .type = TASK_EV_ERROR,
        .data = STR("{\"message\":\"symposium is shutting down\"}"),
    };
    const struct task_change c = {
        .id = str_of(sp->id),
        .from = 1u << TASK_CREATED,
        .to = TASK_FAILED,
        .set.finished = true,
        .events = &why,
        .nevents = 1,
    };

    ledger_change(o->s->ledger, &c, on_never_started, o);
}

static void on_submitted(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct op *o = ctx;
    struct spawning *sp = o->own;

    if (e) {
        answer_unrecorded(o, e);
        return;
    }
    if (a->yes) { /* an older one of the same key */
        memcpy(sp->id, a->tasks[0].id.p, TASK_ID_LEN);
        answer_status(o, a->tasks[0].status, (struct str){ 0 });
    } else if (o->s->closing) {
        fail_row(o);
    } else {
        start_run(o);
    }
}

/* The task that this process works for, if it works for one: the last but one of the chain. */
static struct str parent_of(const char *chain)
{
    struct str all = str_of(chain);

    if (all.n < 2 * TASK_ID_LEN + 1)
        return (struct str){ 0 };
    return (struct str){ all.p + all.n - 2 * TASK_ID_LEN - 1, TASK_ID_LEN };
}

static void submit(struct op *o, const char *chain)
{
    struct spawning *sp = o->own;
    const struct spawn_args *args = &sp->args;
    const struct task_new row = {
        .record = {
            .id = str_of(sp->id),
            .kind = sp->plan.kind,
            .agent = args->agent,
            .workspace = str_of(sp->workspace),
            .prompt = args->prompt,
            .session_id = args->session_id,
            .initiator_id = args->initiator_id,
            .executor_id = args->executor_id,
            .parent_id = args->parent_id.n ? args->parent_id : parent_of(chain),
            .labels = args->labels,
            .options = args->options,
            .priority = (int)args->priority,
        },
        .idempotency_key = args->key,
        .max_output = args->max_output,
    };

    ledger_submit(o->s->ledger, &row, on_submitted, o);
}

/* ---- chain and plan ---- */

static void on_chain(void *ctx, const char *chain, const struct error *e)
{
    struct op *o = ctx;
    struct service *s = o->s;
    struct spawning *sp = o->own;
    struct plan_request req = {
        .prompt = sp->args.prompt,
        .workspace = str_of(sp->workspace),
        .session_id = sp->args.session_id,
        .options = sp->options.root,
        .env = s->config->env,
        .self = s->config->self,
    };
    struct error why;

    sp->chain = NULL;
    if (e && e->kind != ERR_CLOSED) {
        op_refuse_error(o, e);
        return;
    }
    if (e) {
        answer_unrecorded(o, e);
        return;
    }
    req.chain = arena_z(&o->arena, str_of(chain));
    if (adapter_plan(&sp->plan, &o->arena, sp->adapter, &req, &why))
        submit(o, req.chain);
    else
        op_refuse(o, TASK_INVALID_REQUEST, str_of(why.msg));
}

/* ---- the workspace ---- */

static void run_look(void *ctx, struct work *w)
{
    struct look *l = ctx;

    (void)w;
    if (!file_is_dir(l->workspace))
        l->wrong = !error_set(&l->error, ERR_INVALID, "'workspace' is no directory: '%s'",
                              l->workspace);
    else if (l->worktree)
        l->wrong = !worktree_possible(l->workspace, &l->error);
}

static void check_chain(struct op *o)
{
    struct service *s = o->s;
    struct spawning *sp = o->own;
    const struct chain_spawn what = {
        .env = s->config->env,
        .id = str_of(sp->id),
        .agent = sp->args.agent,
        .workspace = str_of(sp->workspace),
        .prompt = sp->args.prompt,
    };

    sp->chain = chain_check(s->loop, s->ledger, &what, on_chain, o);
}

static void on_looked(void *ctx, bool cancelled)
{
    struct look *l = ctx;
    struct op *o = l->o;

    if (o)
        ((struct spawning *)o->own)->look = NULL;
    if (o && cancelled)
        op_refuse(o, TASK_INVALID_REQUEST, STR("symposium is shutting down"));
    else if (o && l->wrong)
        op_refuse(o, TASK_INVALID_REQUEST, str_of(l->error.msg));
    else if (o)
        check_chain(o);
    free(l->workspace);
    free(l);
}

/* On the pool: the disk may take its time. */
static void look_at_workspace(struct op *o)
{
    static const struct work_ops ops = { run_look, on_looked };
    struct spawning *sp = o->own;
    struct look *l = sp->look = NEW(struct look);

    l->o = o;
    l->workspace = mem_strdup(sp->workspace);
    l->worktree = sp->args.worktree;
    work_start(o->s->loop, WORK_SHORT, &ops, l);
}

/* ---- the call ---- */

static void cleanup(struct op *o)
{
    struct service *s = o->s;
    struct spawning *sp = o->own;

    for (struct hand *h = s->hands; h; h = h->next)
        if (h->spawner == o)
            h->spawner = NULL;
    if (sp->look)
        sp->look->o = NULL;
    chain_check_free(sp->chain);
    json_free(&sp->options);
    s->spawning--;
    service_look_whether_stopped(s);
}

static bool unknown_agent(const struct adapters *all, struct str name, struct error *e)
{
    auto_buf text = BUF(ERROR_MSG_MAX);

    buf_addf(&text, "no agent '%.*s'; there are ", STR_F(str_upto(name, 100)));
    for (size_t i = 0; i < all->n; i++)
        buf_addf(&text, "%s%s", i ? ", " : "", adapter_name(all->v[i]));
    for (size_t i = 0; i < all->problems.n; i++)
        buf_addf(&text, "; %.*s", STR_F(all->problems.v[i]));
    return error_set(e, ERR_NOT_FOUND, "%s", buf_z(&text));
}

static bool prepare(struct op *o, yyjson_val *args, enum task_code *code, struct error *e)
{
    struct service *s = o->s;
    struct spawning *sp = o->own;

    *code = TASK_INVALID_REQUEST;
    if (!spawn_args_read(&sp->args, &o->arena, args, e))
        return false;
    sp->adapter = adapter_find(&s->adapters, sp->args.agent);
    if (!sp->adapter) {
        *code = TASK_UNKNOWN_AGENT;
        return unknown_agent(&s->adapters, sp->args.agent, e);
    }
    sp->workspace = sp->args.workspace.n ? sp->args.workspace.p : s->config->cwd;
    return json_parse(&sp->options, sp->args.options, e);
}

void service_spawn(struct service *s, yyjson_val *args, service_fn done, void *ctx)
{
    struct op *o = op_new(s, done, ctx);
    struct spawning *sp = o->own = ARENA_NEW(&o->arena, struct spawning);
    enum task_code code;
    struct error e;

    s->spawning++;
    o->cleanup = cleanup;
    o->survives = true;
    task_id_new(sp->id);
    if (prepare(o, args, &code, &e))
        look_at_workspace(o);
    else
        op_refuse_soon(o, code, str_of(e.msg));
}
