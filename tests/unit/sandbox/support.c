/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support.h"

#include "loop/signal.h"

#define TEST_LIMIT_MS 60000

struct delayed {
    struct delayed *next;
    struct run *r;
    struct timer *timer;
    uint32_t id;
    char *value;
};

static void answer(struct run *r, uint32_t id, struct str value)
{
    r->in_flight--;
    script_reply(r->script, id, value);
}

static void on_delay(void *ctx)
{
    struct delayed *d = ctx;

    if (!d->r->ended && d->r->script)
        answer(d->r, d->id, str_of(d->value));
}

static void answer_later(struct run *r, uint32_t id, struct str value, int ms)
{
    struct delayed *d = NEW(struct delayed);

    *d = (struct delayed){ r->delayed, r, timer_new(r->loop, on_delay, d), id, str_dup(value) };
    r->delayed = d;
    timer_set(d->timer, ms);
}

static int64_t int_arg(struct str args, const char *key)
{
    auto_json j = { 0 };
    int64_t n = 0;

    if (json_parse(&j, args, NULL))
        json_int(json_get(j.root, key), &n);
    return n;
}

static void on_call(void *ctx, uint32_t id, struct str global, struct str key, struct str args)
{
    struct run *r = ctx;
    auto_buf out = BUF((size_t)32 << 20);

    r->ncalls++;
    r->in_flight++;
    if (r->in_flight > r->max_in_flight)
        r->max_in_flight = r->in_flight;
    if (r->calls.n < 4096)
        buf_addf(&r->calls, "%.*s.%.*s %.*s\n", STR_F(global), STR_F(key),
                 STR_F(str_upto(args, 200)));
    if (str_is(key, "never")) {
        return;
    } else if (str_is(key, "fail")) {
        r->in_flight--;
        buf_addf(&out, "%.*s.fail: boom", STR_F(global));
        script_reply_error(r->script, id, buf_str(&out));
    } else if (str_is(key, "echo")) {
        answer(r, id, args);
    } else if (str_is(key, "delay")) {
        answer_later(r, id, args, (int)int_arg(args, "ms"));
    } else if (str_is(key, "big")) {
        buf_addc(&out, '"');
        buf_fill(&out, 'x', (size_t)int_arg(args, "n"));
        buf_addc(&out, '"');
        answer(r, id, buf_str(&out));
    } else {
        buf_addz(&out, "{\"tool\":");
        json_put_str(&out, key);
        buf_addz(&out, ",\"args\":");
        buf_add(&out, args);
        buf_addc(&out, '}');
        answer(r, id, buf_str(&out));
    }
}

static void on_get_result(void *ctx, uint32_t id, struct str key)
{
    struct run *r = ctx;

    if (str_is(key, "known"))
        script_reply(r->script, id, STR("{\"kept\":[1,2]}"));
    else
        script_reply_error(r->script, id, STR("no kept result of that id"));
}

static void on_drop(void *ctx, uint32_t id)
{
    struct run *r = ctx;

    assert_false(r->ended);
    r->dropped++;
    r->in_flight--;
}

static void on_end(void *ctx, const struct script_end *end)
{
    struct run *r = ctx;

    r->end_count++;
    r->ended = true;
    r->ms = (int)((clock_us() - r->started_us) / 1000);
    r->outcome = end->outcome;
    r->result = str_dup(end->result);
    r->message = str_dup(end->message);
    r->stack = str_dup(end->stack);
    r->console = str_dup(end->console);
    r->total = end->result_total;
    r->refused = end->calls_refused;
    for (size_t i = 0; i < end->nloose; i++)
        buf_addf(&r->loose, "%u:%.*s\n", end->loose[i].id,
                 STR_F(end->loose[i].finished ? end->loose[i].message : STR("open")));
    loop_stop(r->loop);
}

static void on_test_limit(void *ctx)
{
    struct run *r = ctx;

    loop_stop(r->loop);
}

void run_open(struct run *r, const struct sandbox_limits *limits)
{
    *r = (struct run){ .limits = limits ? *limits : DEFAULT_LIMITS };
    r->calls = BUF((size_t)1 << 20);
    r->loose = BUF((size_t)1 << 20);
    r->loop = loop_new();
    r->sandbox = sandbox_new(r->loop, &r->limits);
    r->limit = timer_new(r->loop, on_test_limit, r);
}

void run_begin(struct run *r, struct str source)
{
    static const struct str exact[] = { { "catch", 5 } };
    static const struct script_global globals[] = {
        { { "srv", 3 }, exact, 1 },
        { { "two", 3 }, NULL, 0 },
    };
    static const struct script_ops ops = { on_call, on_get_result, on_drop, on_end };
    struct script_job job = { source, globals, ARRAY_LEN(globals) };
    struct error e = { 0 };

    r->started_us = clock_us();
    r->script = sandbox_run(r->sandbox, &job, &ops, r, &e);
    if (!r->script)
        fail_msg("sandbox_run: %s", e.msg);
}

void run_wait(struct run *r)
{
    timer_set(r->limit, TEST_LIMIT_MS);
    loop_run(r->loop);
    timer_clear(r->limit);
    if (!r->ended)
        fail_msg("the script did not end");
}

void run_close(struct run *r)
{
    assert_true(r->end_count <= 1);
    while (r->delayed) {
        struct delayed *d = r->delayed;

        r->delayed = d->next;
        timer_free(d->timer);
        free(d->value);
        free(d);
    }
    timer_free(r->limit);
    sandbox_free(r->sandbox);
    loop_free(r->loop);
    free(r->result);
    free(r->message);
    free(r->stack);
    free(r->console);
    buf_free(&r->calls);
    buf_free(&r->loose);
}

void run_with(struct run *r, const char *source, const struct sandbox_limits *limits)
{
    run_open(r, limits);
    run_begin(r, str_of(source));
    run_wait(r);
}

void run_script(struct run *r, const char *source)
{
    run_with(r, source, NULL);
}

void check_z(const char *got, const char *want, const char *file, int line)
{
    if (got && strcmp(got, want) == 0)
        return;
    print_error("got  '%s'\nwant '%s'\n", got ? got : "(null)", want);
    _fail(file, line);
}

void run_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct run r;

        run_script(&r, rows[i].source);
        if (r.outcome != rows[i].outcome)
            fail_msg("'%s': outcome %d (%s %s), want %d", rows[i].source, (int)r.outcome,
                     r.result, r.message, (int)rows[i].outcome);
        if (rows[i].result)
            assert_z(r.result, rows[i].result);
        if (rows[i].message)
            assert_has(r.message, rows[i].message);
        if (rows[i].console)
            assert_z(r.console, rows[i].console);
        run_close(&r);
    }
}
