/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The gate's lifetimes. Network, parser and pool are fakes of ours, so that the test decides
 * when each is done; what the real ones do is tested beside them, and in tests/e2e. */
#include "../../loop_check.h"

#include "loop/work.h"
#include "servers/fetch/gate.h"
#include "servers/fetch/robots.h"

/* ---- servers/fetch/get: answers in the next turn ---- */

struct get {
    struct get_ops ops;
    void *ctx;
    bool cancelled;
};

static void answer(void *ctx)
{
    struct get *g = ctx;
    struct got got = { .status = 200, .type = "text/plain", .body = BUF(64) };

    buf_addz(&got.body, "User-agent: *\n");
    if (!g->cancelled)
        g->ops.done(g->ctx, &got);
    buf_free(&got.body);
    free(g);
}

struct get *get_start(struct net *n, const struct get_request *r, const struct get_ops *ops,
                      void *ctx)
{
    struct get *g = NEW(struct get);

    assert_string_equal(r->url->text, "http://h/robots.txt");
    g->ops = *ops;
    g->ctx = ctx;
    loop_defer(n->loop, answer, g);
    return g;
}

void get_cancel(struct get *g)
{
    if (g)
        g->cancelled = true;
}

/* ---- loop/work, by --wrap: a job runs in the next turn, or when the test wants ---- */

struct work {
    const struct work_ops *ops;
    void *ctx;
    bool cancelled;
};

static bool hold_jobs;
static struct work *held; /* a pool thread has it, and has not come to its first instruction */

struct work *__wrap_work_start(struct loop *l, enum work_kind kind, const struct work_ops *ops,
                               void *ctx);
void __wrap_work_cancel(struct work *w);

static void run_job(void *ctx)
{
    struct work *w = ctx;

    w->ops->run(w->ctx, w);
    w->ops->done(w->ctx, w->cancelled);
    free(w);
}

struct work *__wrap_work_start(struct loop *l, enum work_kind kind, const struct work_ops *ops,
                               void *ctx)
{
    struct work *w = NEW(struct work);

    assert_int_equal(kind, WORK_SHORT);
    w->ops = ops;
    w->ctx = ctx;
    if (hold_jobs)
        held = w;
    else
        loop_defer(l, run_job, w);
    return w;
}

void __wrap_work_cancel(struct work *w)
{
    w->cancelled = true;
}

/* ---- servers/fetch/robots ---- */

struct robots {
    char token[16];
};

static int parsed, freed;
static char last_token[16];

struct robots *robots_parse(struct str text, struct str token)
{
    struct robots *r = NEW(struct robots);

    assert_true(str_is(text, "User-agent: *\n"));
    snprintf(r->token, sizeof r->token, "%.*s", STR_F(token));
    memcpy(last_token, r->token, sizeof last_token);
    parsed++;
    return r;
}

bool robots_allows(const struct robots *r, struct str target)
{
    assert_string_equal(r->token, "Agent");
    return str_is(target, "/yes");
}

size_t robots_size(const struct robots *r)
{
    return sizeof *r;
}

void robots_free(struct robots *r)
{
    freed += r != NULL;
    free(r);
}

/* ---- the tests ---- */

struct seen {
    struct loop *loop;
    int calls;
    bool refused;
};

static void on_checked(void *ctx, struct str refusal)
{
    struct seen *s = ctx;

    s->calls++;
    s->refused = refusal.n > 0;
    loop_stop(s->loop);
}

static struct http_url url_of(const char *target)
{
    return (struct http_url){ "http://h/x", "http", "h", "h", 80, target, "http://h" };
}

static void begin(struct seen *s, struct net *n, bool hold)
{
    s->loop = n->loop = loop_new();
    hold_jobs = hold;
    held = NULL;
    parsed = freed = 0;
}

/* FE-11 */
static void the_file_is_read_once_for_all_that_ask_later(void **state)
{
    struct seen s = { 0 };
    struct net n = { 0 };
    struct http_url yes = url_of("/yes"), no = url_of("/no");
    struct gate *g;

    begin(&s, &n, false);
    g = gate_new(&n, STR("Agent/1 (x)"));
    gate_start(g, &yes, on_checked, &s);
    assert_int_equal(s.calls, 0); /* not from inside */
    run_until_stopped(s.loop, 2000);
    assert_true(s.calls == 1 && !s.refused);
    gate_start(g, &no, on_checked, &s);
    run_until_stopped(s.loop, 2000);
    assert_true(s.calls == 2 && s.refused);
    assert_int_equal(parsed, 1);
    gate_free(g);
    assert_int_equal(freed, 1);
    loop_free(s.loop);
    (void)state;
}

/* SV-11: the end may come while a thread of the pool begins to read a file: it has all it
 * needs. */
static void a_gate_that_is_freed_is_not_looked_at_by_the_pool(void **state)
{
    struct seen s = { 0 };
    struct net n = { 0 };
    struct http_url yes = url_of("/yes");
    struct gate_check *c;
    struct gate *g;

    begin(&s, &n, true);
    g = gate_new(&n, STR("Agent/1 (x)"));
    c = gate_start(g, &yes, on_checked, &s);
    for (int i = 0; !held && i < 100; i++)
        run_for(s.loop, 1);
    assert_non_null(held);
    gate_cancel(c);
    gate_free(g);
    run_job(held);
    assert_int_equal(s.calls, 0);
    assert_int_equal(parsed, 1);
    assert_int_equal(freed, 1);
    assert_string_equal(last_token, "Agent");
    loop_free(s.loop);
    (void)state;
}

static void a_check_that_waits_for_the_network_ends_with_it(void **state)
{
    struct seen s = { 0 };
    struct net n = { 0 };
    struct http_url yes = url_of("/yes");
    struct gate *g;

    begin(&s, &n, false);
    g = gate_new(&n, STR("Agent/1 (x)"));
    gate_cancel(gate_start(g, &yes, on_checked, &s));
    gate_free(g);
    run_for(s.loop, 20);
    assert_int_equal(s.calls, 0);
    assert_int_equal(parsed, 0);
    loop_free(s.loop);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_read_once_for_all_that_ask_later),
        cmocka_unit_test(a_gate_that_is_freed_is_not_looked_at_by_the_pool),
        cmocka_unit_test(a_check_that_waits_for_the_network_ends_with_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
