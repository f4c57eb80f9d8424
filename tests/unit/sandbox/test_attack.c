/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scripts that want to run for ever, or to take all memory: SEC-1 to SEC-9, 20, 21, MS-36, 37,
 * WK-6, WK-7. */
#include "support.h"

#include <dirent.h>

#define T_MS 400

static struct sandbox_limits attack_limits(void)
{
    struct sandbox_limits l = DEFAULT_LIMITS;

    l.timeout_ms = T_MS;
    return l;
}

/* SEC-1, 2, 3, 4, 9, MS-36, WK-6: not catchable, ended by T + 500 ms, whether the engine polls
 * or not */
static void endless_scripts_end_at_the_deadline(void **state)
{
    /* clang-format off */
    static const char *const scripts[] = {
        "while (1) {}",
        "try { while (1) {} } catch { 'caught' } finally { while (1) {} }",
        "for (;;) { try { while (1) {} } catch {} }",
        "const f = () => { try { while (1) {} } finally { f() } }; f()",
        "for (;;) { try { new Promise(() => { while (1) {} }) } catch {} }",
        "for (;;) (async () => { while (1) {} })()",
        "function* g() { try { while (1) yield } finally { while (1) {} } } for (const x of g()) ;",
        "/(a+)+$/.test('a'.repeat(40) + '!')",
        "'a'.repeat(40).replace(/(a|aa)+$/, () => { while (1) {} })",
        "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
        "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "let s = 'x'.repeat(2e7); for (;;) s.indexOf('y')",
        "(function f() { Promise.resolve().then(f) })()",
        "(function f() { queueMicrotask(f) })(); 1",
        "async function f() { await f() } f(); for (;;) await null",
        "for (;;) { try { let n = 3n; for (;;) n = n * n } catch {} }",
        "let n = 10n ** 100000n; for (;;) n.toString()",
        "[1, 2, 3].sort(() => { while (1) {} })",
        "JSON.stringify({ get a() { while (1) {} } })",
        "({ toJSON() { while (1) {} } })",
        "() => ({ get then() { while (1) {} } })",
        "srv.t({ get a() { while (1) {} } })",
        "console.log({ toJSON() { while (1) {} } })",
        "setTimeout(() => { while (1) {} }, 1); await new Promise(r => setTimeout(r, 200))",
        "const tick = () => setTimeout(tick, 0); tick(); await new Promise(() => {})",
        "await new Promise(r => setTimeout(r, 1e9))",
        "await srv.never({})",
        "srv.echo({}).then(() => { while (1) {} }); 1",
        "new Proxy({}, { get() { while (1) {} } }).x",
        "Error.prepareStackTrace = () => { while (1) {} }; try { null.x } catch {} while (1) {}",
        "Error.prepareStackTrace = () => { while (1) {} }; srv.t({}); while (1) {}",
        "eval('while(1){}')",
        "new URL({ toString() { while (1) {} } })",
        "for (;;) structuredClone({ a: [1, 2, 3] })",
        "for (;;) new TextDecoder().decode(new Uint8Array(1e6))",
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct sandbox_limits l = attack_limits();
        struct run r;

        run_with(&r, scripts[i], &l);
        if (r.outcome != SCRIPT_TIMEOUT && r.outcome != SCRIPT_MEMORY)
            fail_msg("'%s': outcome %d %s %s", scripts[i], (int)r.outcome, r.result, r.message);
        if (r.outcome == SCRIPT_TIMEOUT)
            assert_z(r.message, "script timed out after 0.4 s");
        if (r.ms > T_MS + 500 + 40 * slack())
            fail_msg("'%s': ended after %d ms", scripts[i], r.ms);
        assert_true(r.outcome == SCRIPT_MEMORY || r.ms >= T_MS);
        run_close(&r);
    }
}

/* MS-36, WK-6: a clean end says where */
static void a_clean_timeout_names_the_line(void **state)
{
    struct sandbox_limits l = attack_limits();
    struct run r;

    run_with(&r, "const a = 1;\nfunction spin() {\n  while (Date.now()) {}\n}\nspin()", &l);
    assert_int_equal(r.outcome, SCRIPT_TIMEOUT);
    assert_has(r.stack, "at spin (script:3:");
    run_close(&r);
}

/* SEC-5, SEC-6, MS-37 */
static void memory_is_bounded_and_exhaustion_cannot_be_caught(void **state)
{
    const size_t must_exhaust = 8; /* the others may also end by an exception of the language */
    /* clang-format off */
    static const char *const scripts[] = {
        "let a = []; for (;;) a.push({})",
        "for (let i = 0; i < 40; i++) { try { let a = []; for (;;) a.push({ i }) } catch {} } 'survived'",
        "let a = [1]; for (;;) a = a.concat(a)",
        "let s = 'x'; for (;;) s = (s + s + s.length).split('').join('')",
        "new Array(1e8).fill(0)",
        "new ArrayBuffer(1e9)",
        "new Uint8Array(2 ** 30)",
        "'x'.repeat(2 ** 29).split('')",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
        "let f = () => {}; for (;;) { const g = f; f = () => g }",
        "10n ** 100000000n",
        "const a = []; for (;;) a.push(Symbol('x'.repeat(1000)))",
        "const a = []; for (;;) a.push(srv.never.bind(null))",
        "for (;;) setTimeout(() => 1, 1e6)",
        "const p = []; for (;;) p.push(new Promise(() => {}))",
        "JSON.stringify(Array.from({ length: 3e6 }, () => 'xxxxxxxxxx'))",
        "btoa('x'.repeat(5e7))",
        "new RegExp('(?:a{1,1000}b?){1,1000}'.repeat(500))",
        "const s = 'x'.repeat(3e7); s + s.toUpperCase() + s.toLowerCase()",
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct sandbox_limits l = DEFAULT_LIMITS;
        struct run r;

        l.timeout_ms = 20000;
        run_with(&r, scripts[i], &l);
        if (r.outcome == SCRIPT_CRASHED || r.outcome == SCRIPT_TIMEOUT)
            fail_msg("'%s': outcome %d %s", scripts[i], (int)r.outcome, r.message);
        if (i < must_exhaust && r.outcome != SCRIPT_MEMORY)
            fail_msg("'%s': outcome %d %s", scripts[i], (int)r.outcome, r.message);
        run_close(&r);
    }
}

/* The largest RSS that any of our children had, in KiB. */
static long children_rss(void)
{
    struct dirent *d;
    long most = 0;
    DIR *proc = opendir("/proc");

    while ((d = readdir(proc))) {
        auto_free char *path = mem_printf("/proc/%s/status", d->d_name);
        FILE *f = d->d_name[0] >= '0' && d->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        long parent = 0, rss = 0;
        char line[256];

        while (f && fgets(line, sizeof line, f)) {
            sscanf(line, "PPid: %ld", &parent);
            sscanf(line, "VmRSS: %ld", &rss);
        }
        if (f)
            fclose(f);
        if (parent == getpid() && rss > most)
            most = rss;
    }
    closedir(proc);
    return most;
}

struct sampler {
    struct timer *t;
    long most;
};

static void on_sample(void *ctx)
{
    struct sampler *s = ctx;
    long now = children_rss();

    s->most = now > s->most ? now : s->most;
    timer_set(s->t, 2);
}

/* SEC-5, MS-37: RSS <= limit + 16 MiB. A sanitizer keeps freed memory for itself, so only plain
 * builds are measured. */
static void resident_memory_stays_near_the_limit(void **state)
{
    /* clang-format off */
    static const char *const scripts[] = {
        "let a = []; for (;;) a.push({})",
        "let a = []; for (;;) a.push(new Uint8Array(50000).fill(1))",
        "let a = []; for (let i = 0; ; i++) { a.push('x'.repeat(i % 5000) + i); if (i % 3 == 0) a[i >> 1] = null }",
    };
    /* clang-format on */

#ifdef SYM_SANITIZED
    skip();
#endif
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct sampler s = { 0 };
        struct run r;

        run_open(&r, NULL);
        s.t = timer_new(r.loop, on_sample, &s);
        run_begin(&r, str_of(scripts[i]));
        timer_set(s.t, 1);
        run_wait(&r);
        timer_free(s.t);
        assert_int_equal(r.outcome, SCRIPT_MEMORY);
        assert_true(s.most > 0);
        if (s.most > (64 + 16) * 1024)
            fail_msg("'%s': %ld KiB", scripts[i], s.most);
        run_close(&r);
    }
}

/* SEC-7, SEC-8, MS-37: passed on unchanged, catchable; the next script works */
static void deep_recursion_is_an_ordinary_error(void **state)
{
    static const struct row rows[] = {
        { "function f(){f()};f()", SCRIPT_ERROR },
        { "try { (function f() { f() })() } catch (e) { ['RangeError', "
          "'InternalError'].includes(e.name) }",
          SCRIPT_OK, "true" },
        { "JSON.parse('['.repeat(1e6))", SCRIPT_ERROR },
        { "JSON.parse('{\"a\":'.repeat(1e6))", SCRIPT_ERROR },
        { "let d = []; for (let i = 0; i < 1e5; i++) d = [d]; try { JSON.stringify(d) } catch "
          "(e) { 'caught' }",
          SCRIPT_OK, "\"caught\"" },
        { "let d = []; for (let i = 0; i < 1e5; i++) d = [d]; d", SCRIPT_ERROR },
        { "let d = {}; for (let i = 0; i < 1e5; i++) d = { d }; try { structuredClone(d) } "
          "catch (e) { 'caught' }",
          SCRIPT_OK, "\"caught\"" },
        { "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))", SCRIPT_ERROR },
        { "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; try { a.flat(Infinity).length } "
          "catch { 'caught' }",
          SCRIPT_OK },
        { "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); try { p.x } catch { "
          "'caught' }",
          SCRIPT_OK },
        { "let a = 'x'; for (let i = 0; i < 1e5; i++) a = a + i; a.length > 1e5", SCRIPT_OK,
          "true" },
        { "1 + 1", SCRIPT_OK, "2" },
    };

    RUN_ROWS(rows);
}

/* MS-37: the configured stack is the one in force */
static void the_stack_limit_is_the_configured_one(void **state)
{
    static const char script[] = "let n = 0; function f() { n++; f() } try { f() } catch {} n";
    struct sandbox_limits small = DEFAULT_LIMITS, large = DEFAULT_LIMITS;
    struct run r;
    int few, many;

    small.stack_bytes = (size_t)256 << 10;
    large.stack_bytes = (size_t)16 << 20;
    run_with(&r, script, &small);
    few = atoi(r.result);
    run_close(&r);
    run_with(&r, script, &large);
    assert_int_equal(r.outcome, SCRIPT_OK);
    many = atoi(r.result);
    run_close(&r);
    assert_true(few > 100 && many > 20 * few);
}

/* the smallest that config.toml allows: no time is over, and the key is named */
static void a_stack_limit_too_small_for_any_script_says_so(void **state)
{
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct run r;

    l.stack_bytes = 1024;
    run_with(&r, "1", &l);
    assert_int_equal(r.outcome, SCRIPT_ERROR);
    assert_has(r.message, "script-stack-limit-kb");
    run_close(&r);
}

/* SEC-20: cancelled within 300 ms, also in a native loop; calls are dropped and nothing more is
 * said */
static void on_cancel_time(void *ctx)
{
    struct run *r = ctx;

    script_cancel(r->script);
    r->script = NULL;
    loop_stop(r->loop);
}

static void a_cancelled_script_is_gone_at_once(void **state)
{
    static const char *const scripts[] = {
        "srv.never({}); Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
        "srv.never({}); let n = 10n ** 300000n; for (;;) n.toString()",
        "await srv.never({})",
    };

    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct timer *t;
        int64_t start;
        struct run r;

        run_open(&r, NULL);
        t = timer_new(r.loop, on_cancel_time, &r);
        run_begin(&r, str_of(scripts[i]));
        timer_set(t, 150);
        loop_run(r.loop);
        assert_null(r.script);
        assert_int_equal(r.dropped, 1);
        start = clock_ms();
        while (children_rss() > 0 && clock_ms() - start < 300 * slack()) {
            timer_set(t, 10000);
            loop_defer(r.loop, (void (*)(void *))loop_stop, r.loop);
            loop_run(r.loop);
        }
        assert_true(clock_ms() - start < 300 * slack());
        assert_int_equal(r.end_count, 0);
        timer_free(t);
        run_close(&r);
    }
}

/* ---- SEC-21 ---- */

struct storm {
    struct loop *loop;
    struct timer *ping;
    int64_t last_ping, worst_ping, worst_end, started;
    int open;
};

static void storm_end(void *ctx, const struct script_end *end)
{
    struct storm *s = ctx;
    int64_t took = clock_ms() - s->started;

    assert_int_equal(end->outcome, SCRIPT_TIMEOUT);
    s->worst_end = took > s->worst_end ? took : s->worst_end;
    if (--s->open == 0)
        loop_stop(s->loop);
}

static void storm_ping(void *ctx)
{
    struct storm *s = ctx;
    int64_t late = clock_ms() - s->last_ping - 5;

    s->worst_ping = late > s->worst_ping ? late : s->worst_ping;
    s->last_ping = clock_ms();
    timer_set(s->ping, 5);
}

static void sixty_four_spinning_scripts_leave_the_loop_responsive(void **state)
{
    static const struct script_ops ops = { .on_end = storm_end };
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct script_job job = { .source = STR("while (1) {}") };
    struct storm s = { .loop = loop_new(), .open = 64 };
    struct sandbox *sb;

    l.timeout_ms = 1000;
    sb = sandbox_new(s.loop, &l);
    s.ping = timer_new(s.loop, storm_ping, &s);
    s.started = s.last_ping = clock_ms();
    for (int i = 0; i < 64; i++)
        assert_non_null(sandbox_run(sb, &job, &ops, &s, NULL));
    timer_set(s.ping, 5);
    loop_run(s.loop);
    assert_int_equal(s.open, 0);
    if (s.worst_ping > 50 * slack())
        fail_msg("the loop was late by %d ms", (int)s.worst_ping);
    /* the deadline counts from each one's start; with two processors 64 starts take their time
     */
    if (s.worst_end > 1500 + 500 * slack())
        fail_msg("the last one ended after %d ms", (int)s.worst_end);
    timer_free(s.ping);
    sandbox_free(sb);
    loop_free(s.loop);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(endless_scripts_end_at_the_deadline),
    cmocka_unit_test(a_clean_timeout_names_the_line),
    cmocka_unit_test(memory_is_bounded_and_exhaustion_cannot_be_caught),
    cmocka_unit_test(resident_memory_stays_near_the_limit),
    cmocka_unit_test(deep_recursion_is_an_ordinary_error),
    cmocka_unit_test(the_stack_limit_is_the_configured_one),
    cmocka_unit_test(a_stack_limit_too_small_for_any_script_says_so),
    cmocka_unit_test(a_cancelled_script_is_gone_at_once),
    cmocka_unit_test(sixty_four_spinning_scripts_leave_the_loop_responsive),
};

TEST_MAIN(tests)
