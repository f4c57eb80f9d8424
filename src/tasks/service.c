/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The life of the service and of its calls; the calls that are one question to the ledger. */
#include "tasks/service.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tasks/ledger_sqlite.h"
#include "tasks/service_impl.h"

#define FOLLOWED_MS 1000 /* between two changes of one task that are told (TK-23) */

const char *task_code_name(enum task_code c)
{
    static const char *const names[] = {
        [TASK_OK] = "ok",
        [TASK_UNKNOWN_AGENT] = "unknown_agent",
        [TASK_INVALID_REQUEST] = "invalid_request",
        [TASK_NOT_FOUND] = "task_not_found",
        [TASK_INVALID_TRANSITION] = "invalid_transition",
    };

    return names[c];
}

/* ---- watching the ledger, while somebody wants to know ---- */

static void ask_followed(struct followed *f);

/* Ops may end, and others come, from what one of them does. */
static void on_ledger_change(void *ctx)
{
    struct service *s = ctx;

    for (struct op *o = s->ops, *next; o; o = next) {
        next = o->next;
        if (o->on_change)
            o->on_change(o);
    }
    for (struct followed *f = s->followed; f; f = f->next)
        ask_followed(f);
}

static void update_watch(struct service *s)
{
    bool wanted = s->followed != NULL;

    for (struct op *o = s->ops; o && !wanted; o = o->next)
        wanted = o->on_change != NULL;
    if (wanted && !s->watch) {
        s->watch = ledger_watch_new(s->ledger, on_ledger_change, s);
    } else if (!wanted) {
        ledger_watch_free(s->watch);
        s->watch = NULL;
    }
}

/* ---- one call ---- */

struct op *op_new(struct service *s, service_fn done, void *ctx)
{
    struct op *o = NEW(struct op);

    *o = (struct op){ .next = s->ops, .s = s, .arena = ARENA, .done = done, .ctx = ctx };
    s->ops = o;
    return o;
}

/* Nothing is called back for it any more. */
static void op_quiet(struct op *o)
{
    ledger_drop(o->s->ledger, o);
    timer_free(o->soon);
    if (o->cleanup)
        o->cleanup(o);
}

static void op_unlink(struct op *o)
{
    struct service *s = o->s;
    struct op **at = &s->ops;

    while (*at != o)
        at = &(*at)->next;
    *at = o->next;
    op_quiet(o);
    update_watch(s);
}

static void op_free(struct op *o)
{
    arena_free(&o->arena);
    free(o);
}

/* `text` may be the op's own. */
static void op_end(struct op *o, enum task_code code, struct str text)
{
    op_unlink(o);
    if (o->done)
        o->done(o->ctx, code, text);
    op_free(o);
}

void op_answer(struct op *o, struct str result)
{
    op_end(o, TASK_OK, result);
}

void op_refuse(struct op *o, enum task_code code, struct str text)
{
    op_end(o, code, text);
}

void op_refuse_error(struct op *o, const struct error *e)
{
    op_end(o, e->kind == ERR_NOT_FOUND ? TASK_NOT_FOUND : TASK_INVALID_REQUEST, str_of(e->msg));
}

static void on_soon(void *ctx)
{
    struct op *o = ctx;

    op_end(o, o->code, o->text);
}

void op_refuse_soon(struct op *o, enum task_code code, struct str text)
{
    o->code = code;
    o->text = arena_str(&o->arena, text);
    o->soon = timer_new(o->s->loop, on_soon, o);
    timer_set(o->soon, 0);
}

void op_wait(struct op *o, void (*on_change)(struct op *o))
{
    o->on_change = on_change;
    update_watch(o->s);
}

void op_answer_record(struct op *o, const struct task_record *t)
{
    auto_buf out = BUF(SERVICE_RESULT_MAX);
    struct jw w = jw_to(&out);

    task_put(&w, t, true);
    op_answer(o, buf_str(&out));
}

void service_drop(struct service *s, const void *ctx)
{
    for (struct op *o = s->ops, *next; o; o = next) {
        next = o->next;
        if (o->ctx != ctx || !o->done)
            continue;
        o->done = NULL;
        if (o->survives)
            continue;
        op_unlink(o);
        op_free(o);
    }
}

/* ---- get_task ---- */

static void on_record(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct op *o = ctx;

    if (e)
        op_refuse_error(o, e);
    else
        op_answer_record(o, &a->tasks[0]);
}

void service_get(struct service *s, yyjson_val *args, service_fn done, void *ctx)
{
    struct op *o = op_new(s, done, ctx);
    struct str id;
    struct error e;

    if (id_args_read(&id, &o->arena, args, &e))
        ledger_get(s->ledger, id, on_record, o);
    else
        op_refuse_soon(o, TASK_INVALID_REQUEST, str_of(e.msg));
}

/* ---- get_events ---- */

static void on_events(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct op *o = ctx;
    auto_buf out = BUF(SERVICE_RESULT_MAX);
    struct jw w = jw_to(&out);

    if (e) {
        op_refuse_error(o, e);
        return;
    }
    jw_obj(&w);
    jw_key(&w, "events");
    jw_arr(&w);
    for (size_t i = 0; i < a->nevents; i++)
        task_put_event(&w, &a->events[i]);
    jw_end(&w);
    jw_kint(&w, "cursor", a->cursor);
    jw_kstrz(&w, "status", task_status_name(a->tasks[0].status));
    jw_kbool(&w, "more", a->more);
    jw_kint(&w, "first_seq", a->first_seq);
    jw_end(&w);
    op_answer(o, buf_str(&out));
}

void service_events(struct service *s, yyjson_val *args, service_fn done, void *ctx)
{
    struct op *o = op_new(s, done, ctx);
    struct events_query q;
    struct error e;

    if (events_args_read(&q, &o->arena, args, &e))
        ledger_events(s->ledger, &q, on_events, o);
    else
        op_refuse_soon(o, TASK_INVALID_REQUEST, str_of(e.msg));
}

/* ---- list_tasks ---- */

static void on_list(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct op *o = ctx;
    auto_buf out = BUF(SERVICE_RESULT_MAX);
    struct jw w = jw_to(&out);

    if (e) {
        op_refuse_error(o, e);
        return;
    }
    jw_obj(&w);
    jw_key(&w, "tasks");
    jw_arr(&w);
    for (size_t i = 0; i < a->ntasks; i++)
        task_put(&w, &a->tasks[i], false);
    jw_end(&w);
    if (a->more)
        jw_kstr(&w, "next_cursor", a->text);
    jw_end(&w);
    op_answer(o, buf_str(&out));
}

void service_list(struct service *s, yyjson_val *args, service_fn done, void *ctx)
{
    struct op *o = op_new(s, done, ctx);
    struct list_query q;
    struct error e;

    if (list_args_read(&q, &o->arena, args, &e))
        ledger_list(s->ledger, &q, on_list, o);
    else
        op_refuse_soon(o, TASK_INVALID_REQUEST, str_of(e.msg));
}

/* ---- followed tasks (TK-23) ---- */

static struct followed **find_followed(struct service *s, struct str id)
{
    struct followed **at = &s->followed;

    while (*at && !str_is(id, (*at)->id))
        at = &(*at)->next;
    return at;
}

/* At most once a second each, the last change is never lost. */
static void tell_followed(struct followed *f)
{
    struct service *s = f->s;

    f->pending = timer_is_set(f->pace);
    if (f->pending || !s->changed)
        return;
    timer_set(f->pace, FOLLOWED_MS);
    s->changed(s->changed_ctx, str_of(f->id));
}

static void on_pace(void *ctx)
{
    struct followed *f = ctx;

    if (f->pending)
        tell_followed(f);
}

static void on_followed(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    struct followed *f = ctx;
    int64_t before = f->seq;

    f->asked = false;
    if (!e) /* a task that is not, or no longer: nothing changes there */
        f->seq = a->tasks[0].last_seq;
    if (f->again) {
        f->again = false;
        ask_followed(f);
    }
    if (before >= 0 && f->seq > before)
        tell_followed(f);
}

static void ask_followed(struct followed *f)
{
    struct str id = str_of(f->id);

    f->again = f->asked;
    if (f->asked)
        return;
    f->asked = true;
    ledger_get_many(f->s->ledger, &id, 1, on_followed, f);
}

void service_watch(struct service *s, struct str id, bool on)
{
    struct followed **at = find_followed(s, id), *f = *at;

    if (on == (f != NULL) || id.n != TASK_ID_LEN)
        return;
    if (on) {
        f = *at = NEW(struct followed);
        f->s = s;
        f->seq = -1;
        memcpy(f->id, id.p, id.n);
        f->pace = timer_new(s->loop, on_pace, f);
        timer_background(f->pace);
        update_watch(s);
        ask_followed(f);
        return;
    }
    *at = f->next;
    ledger_drop(s->ledger, f);
    timer_free(f->pace);
    free(f);
    update_watch(s);
}

void service_watch_none(struct service *s)
{
    while (s->followed)
        service_watch(s, str_of(s->followed->id), false);
}

void service_watch_sweep(struct service *s, bool (*keep)(void *ctx, struct str id), void *ctx)
{
    struct followed *next;

    for (struct followed *f = s->followed; f; f = next) {
        next = f->next;
        if (!keep(ctx, str_of(f->id)))
            service_watch(s, str_of(f->id), false);
    }
}

void service_on_change(struct service *s, void (*fn)(void *ctx, struct str id), void *ctx)
{
    s->changed = fn;
    s->changed_ctx = ctx;
}

/* ---- life ---- */

static const char *env_value(const char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    return "";
}

struct service *service_new(struct loop *l, const struct service_config *c)
{
    struct service *s = NEW(struct service);
    struct ledger_config ledger = {
        .state_dir = c->dirs->state,
        .keep_days = c->config->tasks_keep_days,
        .keep_tasks = c->config->tasks_keep_tasks,
        .keep_mb = c->config->tasks_keep_mb,
    };
    struct run_env env = {
        .loop = l,
        .state_dir = c->dirs->state,
        .path = env_value(c->env, "PATH"),
        .max_concurrent = c->config->tasks_max_concurrent,
        .min_free_mb = c->config->tasks_min_free_mb,
    };

    *s = (struct service){ .loop = l, .config = c, .arena = ARENA };
    adapters_load(&s->adapters, &s->arena, c->config);
    env.ledger = s->ledger = ledger_new(l, &ledger_sqlite, &ledger);
    s->runs = runs_new(&env);
    return s;
}

struct ledger *service_ledger(struct service *s)
{
    return s->ledger;
}

size_t service_running(const struct service *s)
{
    size_t n = 0;

    for (const struct hand *h = s->hands; h; h = h->next)
        n++;
    return n;
}

void service_on_idle(struct service *s, void (*fn)(void *ctx), void *ctx)
{
    s->idle = fn;
    s->idle_ctx = ctx;
}

void service_hurry(struct service *s)
{
    for (struct op *o = s->ops, *next; o; o = next) {
        next = o->next;
        if (o->hurry)
            o->hurry(o);
    }
}

static void on_flushed(void *ctx)
{
    struct service *s = ctx;

    if (s->stopped)
        s->stopped(s->stopped_ctx);
}

/* What a run had to say was told to the ledger before it ended. */
void service_look_whether_stopped(struct service *s)
{
    if (!s->closing || s->hands || s->spawning || s->flushing)
        return;
    s->flushing = true;
    ledger_flush(s->ledger, on_flushed, s);
}

void service_shutdown(struct service *s, void (*done)(void *ctx), void *ctx)
{
    if (s->closing)
        return;
    s->closing = true;
    s->stopped = done;
    s->stopped_ctx = ctx;
    runs_shutdown(s->runs);
    service_look_whether_stopped(s);
}

void service_free(struct service *s)
{
    if (!s)
        return;
    while (s->ops) {
        struct op *o = s->ops;

        s->ops = o->next;
        op_quiet(o);
        op_free(o);
    }
    while (s->hands) {
        struct hand *h = s->hands;

        s->hands = h->next;
        run_free(h->run);
        free(h);
    }
    service_watch_none(s);
    runs_free(s->runs);
    ledger_watch_free(s->watch);
    ledger_free(s->ledger);
    arena_free(&s->arena);
    free(s);
}
