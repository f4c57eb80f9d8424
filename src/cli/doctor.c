/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/doctor.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "cli/session.h"
#include "loop/timer.h"
#include "meta/inventory.h"

struct visit {
    struct doctor *d;
    const struct catalog_server *server;
    struct backend *backend; /* a start of its own, beside the gateway's */
    uint64_t handle;         /* being described */
    int64_t began_ms, took_ms;
    struct str failure; /* empty: it listed its tools */
};

struct doctor {
    struct arena *a;
    struct session *session;
    struct findings findings;
    struct backend_env env;
    struct visit *visits;
    size_t n, open; /* open: visits and the script that have not ended */
    struct sandbox *sandbox;
    struct script *script;
    int64_t script_began_ms;
    struct timer *again;
};

/* ---- the end ---- */

static void put_server(struct doctor *d, const struct visit *v)
{
    const struct names *names = backend_names(v->backend);
    struct row row = { .type = "server",
                       .name = v->server->name,
                       .state = "failed",
                       .revision = backend_revision(v->backend) };

    if (v->server->def->url.n)
        row.route = backend_route(v->backend);

    if (v->failure.n) {
        row.detail = v->failure;
        findings_problem(
            &d->findings,
            str_of(arena_printf(d->a, "%.*s: %.*s", STR_F(v->server->name), STR_F(v->failure))),
            NULL);
    } else {
        row.state = "ok";
        row.listed = true;
        row.tools = names ? names->n : 0;
        row.ms = v->took_ms;
        if (backend_inventory(v->backend))
            doctor_filters(&d->findings, v->server->def,
                           inventory_tools(backend_inventory(v->backend)));
    }
    findings_row(&d->findings, &row);
}

static void when_stopped(void *ctx)
{
    struct doctor *d = ctx;

    if (!backends_running(&d->env))
        session_end(d->session, findings_end(&d->findings));
}

/* The end of each server. */
static void on_change(void *ctx)
{
    struct doctor *d = ctx;

    if (!d->open)
        timer_set(d->again, 0);
}

static void one_less(struct doctor *d)
{
    if (--d->open)
        return;
    session_clear(d->session);
    for (size_t i = 0; i < d->n; i++)
        put_server(d, &d->visits[i]);
    doctor_gated_servers(&d->findings, d->session->catalog->res);
    fflush(stdout);
    backends_shutdown(&d->env, gateway_ladder(d->session->gateway, false));
    when_stopped(d);
}

/* ---- servers ---- */

static void on_known(void *ctx, const struct error *why)
{
    struct visit *v = ctx;

    v->handle = 0;
    v->took_ms = clock_ms() - v->began_ms;
    if (why)
        v->failure = str_of(arena_printf(v->d->a, "%s", why->msg));
    one_less(v->d);
}

static void visit_servers(struct doctor *d)
{
    const struct catalog *c = d->session->catalog;

    /* No tool cache: every server has to start and tell (MS-61). */
    d->env = (struct backend_env){ .loop = d->session->loop,
                                   .on_change = on_change,
                                   .ctx = d,
                                   .max_restarts = 1,
                                   .ladder = gateway_ladder(d->session->gateway, false) };
    d->n = c->n;
    d->visits = ARENA_ARRAY(d->a, struct visit, c->n + 1);
    for (size_t i = 0; i < c->n; i++) {
        struct visit *v = &d->visits[i];

        *v = (struct visit){ .d = d, .server = &c->v[i], .began_ms = clock_ms() };
        v->backend = backend_new(&d->env, c->v[i].def);
        d->open++;
        v->handle = backend_describe(v->backend, on_known, v);
    }
}

/* ---- a script ---- */

static void script_row(struct doctor *d, const char *state, struct str detail)
{
    struct row row = {
        .type = "sandbox", .name = STR("script"), .state = state, .detail = detail
    };

    session_clear(d->session);
    findings_row(&d->findings, &row);
    if (!str_is(str_of(state), "ok"))
        findings_problem(&d->findings,
                         str_of(arena_printf(d->a, "scripts cannot run: %.*s", STR_F(detail))),
                         "see the layers above; 'symposium -v doctor' says more");
}

static void on_script_end(void *ctx, const struct script_end *end)
{
    struct doctor *d = ctx;
    long long ms = (long long)(clock_ms() - d->script_began_ms);

    d->script = NULL;
    if (end->outcome == SCRIPT_OK && str_is(end->result, "42"))
        script_row(d, "ok",
                   str_of(arena_printf(d->a, "one ran in %lld ms, start included", ms)));
    else
        script_row(d, "failed", end->message.n ? end->message : STR("a wrong answer"));
    one_less(d);
}

static void no_call(void *ctx, uint32_t id, struct str global, struct str key, struct str args)
{
    (void)ctx, (void)id, (void)global, (void)key, (void)args;
}

static void no_result(void *ctx, uint32_t id, struct str key)
{
    (void)ctx, (void)id, (void)key;
}

static void no_drop(void *ctx, uint32_t id)
{
    (void)ctx, (void)id;
}

static void try_script(struct doctor *d)
{
    static const struct script_ops ops = { no_call, no_result, no_drop, on_script_end };
    static const struct sandbox_limits limits = { .timeout_ms = 10000,
                                                  .memory_bytes = (size_t)16 << 20,
                                                  .stack_bytes = (size_t)256 << 10,
                                                  .console_bytes = 1024,
                                                  .result_bytes = 1024,
                                                  .max_calls = 1 };
    struct script_job job = { .source = STR("[6].map(n => n * 7)[0]") };
    struct error e;

    d->script_began_ms = clock_ms();
    d->sandbox = sandbox_new(d->session->loop, &limits);
    d->script = sandbox_run(d->sandbox, &job, &ops, d, &e);
    if (d->script)
        d->open++;
    else
        script_row(d, "failed", arena_str(d->a, str_of(e.msg)));
}

/* ---- the session ---- */

static void begin(struct session *s, void *ctx)
{
    struct doctor *d = ctx;

    d->session = s;
    d->again = timer_new(s->loop, when_stopped, d);
    if (cli.json)
        report_begin(&d->findings.report);
    session_clear(s);
    doctor_inventory(&d->findings, s->catalog, s->dirs);
    doctor_layers(&d->findings);
    fflush(stdout);
    d->open = 1;
    try_script(d);
    visit_servers(d);
    one_less(d);
}

static void waiting_for(void *ctx, struct buf *names)
{
    struct doctor *d = ctx;

    for (size_t i = 0; i < d->n; i++)
        if (d->visits[i].handle)
            session_put_starting(names, d->visits[i].backend);
}

static void finish(void *ctx)
{
    struct doctor *d = ctx;

    timer_free(d->again);
    sandbox_free(d->sandbox);
    backends_free(&d->env);
    buf_free(&d->findings.report.text);
}

int cmd_doctor(struct arena *a, const struct args *args)
{
    static const struct session_job job = {
        .begin = begin, .waiting_for = waiting_for, .finish = finish, .even_disabled = true
    };
    struct doctor d = { .a = a, .findings = { .a = a } };

    if (args->nwords)
        return cli_usage(args->command, "unexpected argument '%s'", args->words[0]);
    return session_run(a, args, &job, &d);
}
