/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/hook_dispatch.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/hook_run.h"
#include "loop/timer.h"
#include "plugins/hook_match.h"
#include "plugins/predicate_eval.h"

struct chosen {
    struct hook_dispatch *of;
    const struct plugin *plugin;
    const struct hook *hook;
    struct hook_run *run; /* NULL: not begun, or ended */
    struct hook_verdict verdict;
    struct hook_outcome outcome; /* what == NULL: no answer yet */
};

struct hook_dispatch {
    struct loop *loop;
    struct hook_dispatch_opts o;
    struct arena arena;
    struct {
        struct chosen *v;
        size_t n, cap;
    } hooks;
    struct gate_job *jobs; /* one a hook */
    struct evaluator *eval;
    struct buf canonical; /* stdin in our own form */
    size_t next, running;
    int64_t until_ms;
    struct timer *timer; /* 0 ms: begins; then the end of everything */
    bool begun;
    void (*done)(void *ctx, const struct hook_decided *d);
    void *ctx;
};

/* ---- choosing ---- */

static bool concerns(const struct hook_dispatch *d, const struct hook *h)
{
    const struct hook_input *in = d->o.input;

    return h->event == in->event &&
           (!h->agent.n || str_is(h->agent, hook_dialect_name(in->dialect)));
}

static bool is_native(const struct hook_dispatch *d, const struct hook *h)
{
    return str_is(h->format, hook_dialect_name(d->o.input->dialect));
}

static bool has_native(const struct hook_dispatch *d, const struct plugin *p)
{
    for (size_t i = 0; i < p->hooks.n; i++)
        if (concerns(d, &p->hooks.v[i]) && is_native(d, &p->hooks.v[i]))
            return true;
    return false;
}

static bool is_about_tools(const struct hook_input *in)
{
    return in->event == HOOK_PRE_TOOL_USE || in->event == HOOK_POST_TOOL_USE;
}

static void conclude(struct chosen *c, const char *what, const char *why)
{
    c->outcome.what = what;
    c->outcome.why = why;
}

static void fail(struct chosen *c, const char *why)
{
    conclude(c, "failed", why);
    c->outcome.warn = true;
}

/* One that does not match leaves no trace; a matcher that cannot be understood does. */
static void choose(struct hook_dispatch *d, const struct plugin *p, const struct hook *h)
{
    struct error e = { 0 };
    bool matches =
        !is_about_tools(d->o.input) || hook_matches(h->matcher, d->o.input->tool_name, &e);
    struct chosen *c;

    if ((!matches && !e.kind) || d->hooks.n >= HOOK_MAX)
        return;
    c = &ARENA_PUSH(&d->arena, &d->hooks);
    *c = (struct chosen){ .of = d, .plugin = p, .hook = h, .outcome = { p->name, h->name } };
    if (!matches)
        fail(c, arena_printf(&d->arena, "%s", e.msg));
}

static bool may_run(const struct plugin_status *st)
{
    return st->state == PLUGIN_ACTIVE && st->trusted && st->plugin;
}

/* The agent's own format beats ours, plugin by plugin; other formats are for other agents. */
static void choose_all(struct hook_dispatch *d)
{
    for (size_t i = 0; i < d->o.res->plugins.n; i++) {
        const struct plugin_status *st = &d->o.res->plugins.v[i];
        bool native = may_run(st) && has_native(d, st->plugin);

        for (size_t k = 0; may_run(st) && k < st->plugin->hooks.n; k++) {
            const struct hook *h = &st->plugin->hooks.v[k];

            if (concerns(d, h) && (native ? is_native(d, h) : str_is(h->format, "symposium")))
                choose(d, st->plugin, h);
        }
    }
}

/* ---- the end ---- */

/* `done` last: it may free the dispatch. */
static void finish(struct hook_dispatch *d)
{
    struct hook_decided out = { 0 };

    for (size_t i = 0; i < d->hooks.n; i++) {
        struct chosen *c = &d->hooks.v[i];

        if (!c->outcome.what)
            fail(c, "had not answered when the agent's time for hooks was over");
        hook_verdict_merge(&out.verdict, &d->arena, &c->verdict);
        ARENA_PUSH(&d->arena, &out.outcomes) = c->outcome;
    }
    timer_clear(d->timer);
    d->done(d->ctx, &out);
}

/* ---- running ---- */

static void start_more(struct hook_dispatch *d);

static void take_answer(struct chosen *c, const struct hook_result *how)
{
    struct arena *a = &c->of->arena;
    const struct hook_input *in = c->of->o.input;
    static const char *const said[] = { [HOOK_UNDECIDED] = "answered",
                                        [HOOK_ALLOW] = "allowed",
                                        [HOOK_ASK] = "asked",
                                        [HOOK_DENY] = "denied" };
    struct error e = { 0 };

    if (hook_verdict_read(&c->verdict, a, in, c->hook->format, how->out, &e))
        conclude(c, said[c->verdict.decision], NULL);
    else
        fail(c, arena_printf(a, "%s", e.msg));
}

static void block(struct chosen *c, const struct hook_result *how)
{
    struct arena *a = &c->of->arena;
    auto_buf text = BUF(4 * HOOK_STDERR_MAX);

    utf8_put_lossy(&text, how->err);
    c->verdict =
        (struct hook_verdict){ .decision = HOOK_DENY, .reason = arena_str(a, buf_str(&text)) };
    conclude(c, "blocked", NULL);
}

static void on_run_end(void *ctx, const struct hook_result *how)
{
    struct chosen *c = ctx;
    struct hook_dispatch *d = c->of;

    c->outcome.ms = how->ms;
    if (how->end == HOOK_ANSWERED)
        take_answer(c, how);
    else if (how->end == HOOK_BLOCKED)
        block(c, how);
    else
        fail(c, arena_printf(&d->arena, "%s", how->why));
    hook_run_free(c->run);
    c->run = NULL;
    d->running--;
    start_more(d);
}

static const char *work_dir(struct hook_dispatch *d)
{
    const char *cwd = arena_z(&d->arena, d->o.input->cwd);

    return *cwd == '/' && file_is_dir(cwd) ? cwd : arena_z(&d->arena, d->o.res->workspace.root);
}

static void start(struct chosen *c)
{
    struct hook_dispatch *d = c->of;
    struct hook_command command;
    int64_t left = d->until_ms - clock_ms();
    struct hook_run_opts o = { .command = &command,
                               .cwd = work_dir(d),
                               .input =
                                   is_native(d, c->hook) ? d->o.native : buf_str(&d->canonical),
                               .timeout_ms = HOOK_TIMEOUT_MS };
    struct error e = { 0 };

    if (left < o.timeout_ms)
        o.timeout_ms = left > 1 ? (int)left : 1;
    if (!hook_command_make(&command, &d->arena, d->o.cache_dir, c->plugin, c->hook, &e)) {
        fail(c, arena_printf(&d->arena, "%s", e.msg));
        return;
    }
    c->run = hook_run_start(d->loop, &o, on_run_end, c);
    d->running++;
}

static void start_more(struct hook_dispatch *d)
{
    while (d->next < d->hooks.n && d->running < HOOK_PARALLEL) {
        struct chosen *c = &d->hooks.v[d->next++];

        if (!c->outcome.what)
            start(c);
    }
    if (d->running == 0)
        finish(d);
}

/* ---- gates ---- */

static void on_gates(void *ctx)
{
    struct hook_dispatch *d = ctx;

    for (size_t i = 0; i < d->hooks.n; i++) {
        struct chosen *c = &d->hooks.v[i];

        if (!c->outcome.what && !d->jobs[i].holds)
            conclude(c, "gated", NULL);
    }
    start_more(d);
}

static void run_gates(struct hook_dispatch *d)
{
    struct eval_world world = { .root = d->o.res->workspace.root,
                                .deps = &d->o.res->deps,
                                .cache_dir = d->o.cache_dir,
                                .write_cache = true };

    d->jobs = ARENA_ARRAY(&d->arena, struct gate_job, d->hooks.n);
    for (size_t i = 0; i < d->hooks.n; i++)
        d->jobs[i] = (struct gate_job){ .gate = &d->hooks.v[i].hook->gate,
                                        .owner = d->hooks.v[i].plugin,
                                        .may_run = true };
    d->eval = evaluator_new(d->loop, &world);
    resolution_define(d->o.res, d->eval);
    evaluator_run(d->eval, d->jobs, d->hooks.n, on_gates, d);
}

/* ---- life ---- */

static void on_timer(void *ctx)
{
    struct hook_dispatch *d = ctx;

    if (d->begun || !d->hooks.n) {
        finish(d);
        return;
    }
    d->begun = true;
    timer_set(d->timer, d->o.timeout_ms);
    hook_input_put(&d->canonical, d->o.input);
    run_gates(d);
}

struct hook_dispatch *hook_dispatch_start(struct loop *l, const struct hook_dispatch_opts *o,
                                          void (*done)(void *ctx, const struct hook_decided *d),
                                          void *ctx)
{
    struct hook_dispatch *d = NEW(struct hook_dispatch);

    *d = (struct hook_dispatch){ .loop = l,
                                 .o = *o,
                                 .canonical = BUF(HOOK_MAX_ANSWER),
                                 .until_ms = clock_ms() + o->timeout_ms,
                                 .done = done,
                                 .ctx = ctx };
    choose_all(d);
    d->timer = timer_new(l, on_timer, d);
    timer_set(d->timer, 0);
    return d;
}

void hook_dispatch_free(struct hook_dispatch *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->hooks.n; i++)
        hook_run_free(d->hooks.v[i].run);
    evaluator_free(d->eval);
    timer_free(d->timer);
    buf_free(&d->canonical);
    arena_free(&d->arena);
    free(d);
}
