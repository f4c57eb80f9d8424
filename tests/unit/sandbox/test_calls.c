/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls of tools from a script: MS-43, 46, 50 (shape), 51, 68 (results.get), 69, 70, SEC-14,
 * 15, 32. */
#include "support.h"

#include "sandbox/frame.h"

/* MS-43, SEC-32 */
static void a_global_hides_what_promises_and_printers_look_for(void **state)
{
    static const struct row rows[] = {
        { "['then', 'catch', 'finally', 'constructor', 'prototype', '__proto__', 'toJSON', "
          "'toString', 'valueOf', 'inspect']"
          ".filter(k => two[k] !== undefined)",
          SCRIPT_OK, "[]" },
        { "[Symbol.iterator, Symbol.toPrimitive, Symbol.asyncIterator, Symbol.toStringTag, "
          "Symbol('x')]"
          ".filter(k => srv[k] !== undefined)",
          SCRIPT_OK, "[]" },
        { "(await srv) === srv", SCRIPT_OK, "true" },
        { "srv", SCRIPT_OK, "{}" },
        { "JSON.stringify([srv])", SCRIPT_OK, "\"[{}]\"" },
        { "console.log(srv); 1", SCRIPT_OK, "1", NULL, "{}" },
        { "[typeof srv, typeof srv.anything, typeof srv[''], typeof srv[5], typeof srv['a-b']]",
          SCRIPT_OK, "[\"object\",\"function\",\"function\",\"function\",\"function\"]" },
        { "Object.isFrozen(srv) && Object.getPrototypeOf(srv) === null && "
          "Object.keys(srv).length === 0",
          SCRIPT_OK, "true" },
        { "srv.read = 1; 'use it'; typeof srv.read", SCRIPT_OK, "\"function\"" },
        { "'use strict'; try { srv.read = 1; 'set' } catch (e) { e.name }", SCRIPT_OK,
          "\"TypeError\"" },
        { "try { Object.defineProperty(srv, 'x', { value: 1 }); 'set' } catch (e) { e.name }",
          SCRIPT_OK, "\"TypeError\"" },
        { "try { Object.setPrototypeOf(srv, {}); 'set' } catch (e) { e.name }", SCRIPT_OK,
          "\"TypeError\"" },
        { "['read' in srv, 'then' in srv, 'catch' in srv, 'catch' in two]", SCRIPT_OK,
          "[true,false,true,false]" },
        /* declared by exact name: callable all the same */
        { "await srv.catch({ a: 1 })", SCRIPT_OK, "{\"tool\":\"catch\",\"args\":{\"a\":1}}" },
        { "await srv.hasOwnProperty({})", SCRIPT_OK,
          "{\"tool\":\"hasOwnProperty\",\"args\":{}}" },
        { "await srv.then_({})", SCRIPT_OK, "{\"tool\":\"then_\",\"args\":{}}" },
        { "const { read } = srv; (await read({ b: 2 })).args.b", SCRIPT_OK, "2" },
        { "const f = srv.read; (await f.call(null, { c: 3 })).args.c", SCRIPT_OK, "3" },
        { "srv.read({}) instanceof Promise", SCRIPT_OK, "true" },
        { "(await srv['\\ud800 ü \\u0000']({})).tool", SCRIPT_OK,
          "\"\xef\xbf\xbd ü \\u0000\"" },
    };

    RUN_ROWS(rows);
}

/* MS-46 */
static void the_first_argument_becomes_an_arguments_object(void **state)
{
    static const struct {
        const char *call, *args;
    } cases[] = {
        { "srv.t()", "{}" },
        { "srv.t(null)", "{}" },
        { "srv.t(undefined)", "{}" },
        { "srv.t({})", "{}" },
        { "srv.t({ a: 1 }, { b: 2 }, 3)", "{\"a\":1}" },
        { "srv.t('x')", "{\"value\":\"x\"}" },
        { "srv.t(5)", "{\"value\":5}" },
        { "srv.t(false)", "{\"value\":false}" },
        { "srv.t([1, [2]])", "{\"value\":[1,[2]]}" },
        { "srv.t(new Date(0))", "{\"value\":\"1970-01-01T00:00:00.000Z\"}" },
        { "srv.t(() => 1)", "{}" },
        { "srv.t({ u: undefined, f() {}, s: Symbol(), n: null, nan: NaN, inf: -Infinity, z: -0 "
          "})",
          "{\"n\":null,\"nan\":null,\"inf\":null,\"z\":0}" },
        { "srv.t({ u: undefined, a: 1, v: undefined })", "{\"a\":1}" },
        { "srv.t({ a: [undefined, () => 1, , 2] })", "{\"a\":[null,null,null,2]}" },
        { "srv.t({ [Symbol('k')]: 1, '': 2, 'a\"b\\n': 3, 7: 4 })",
          "{\"7\":4,\"\":2,\"a\\\"b\\n\":3}" },
        { "srv.t({ d: new Date(0), m: new Map([[1, 2]]), r: /x/ })",
          "{\"d\":\"1970-01-01T00:00:00.000Z\",\"m\":{},\"r\":{}}" },
        { "srv.t({ toJSON() { return { mine: 1 } } })", "{\"mine\":1}" },
        { "class P { constructor() { this.x = 1 } toJSON() { return { p: this.x } } } srv.t({ "
          "p: new P() })",
          "{\"p\":{\"p\":1}}" },
        { "srv.t({ u: new URL('http://h/') })", "{\"u\":\"http://h/\"}" },
        { "srv.t(Object.create({ inherited: 1 }, { hidden: { value: 2 }, own: { value: 3, "
          "enumerable: true } }))",
          "{\"own\":3}" },
        { "srv.t(JSON.parse('{\"__proto__\":{\"a\":1},\"b\":2}'))",
          "{\"__proto__\":{\"a\":1},\"b\":2}" },
        { "srv.t(new Proxy({ a: 1 }, {}))", "{\"a\":1}" },
        { "srv.t({ p: new Proxy(new Proxy([1, [2]], {}), {}) })", "{\"p\":[1,[2]]}" },
        { "srv.t({ big: 12345678901234567890, small: 1e-7, e: 1e21, third: 1 / 3 })",
          "{\"big\":12345678901234567000,\"small\":1e-7,\"e\":1e21,\"third\":0."
          "3333333333333333}" },
        { "srv.t({ s: '\\ud800 \\u2028 é' })", "{\"s\":\"\xef\xbf\xbd \xe2\x80\xa8 é\"}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf want = BUF(1024), source = BUF(1024);
        struct run r;

        buf_addf(&source, "%s; 0", cases[i].call);
        buf_addf(&want, "srv.t %s\n", cases[i].args);
        run_script(&r, buf_z(&source));
        if (r.outcome != SCRIPT_OK)
            fail_msg("'%s': %s", cases[i].call, r.message);
        /* numbers may be written in another form of the same value:
         * 12345678901234567000, 1.2345678901234567e19 */
        if (!strstr(cases[i].call, "big"))
            assert_z(buf_z(&r.calls), buf_z(&want));
        run_close(&r);
    }
}

/* MS-46, SEC-15 */
static void arguments_that_cannot_be_sent_are_refused_inside_the_script(void **state)
{
    static const struct {
        const char *args, *message;
    } cases[] = {
        { "{ x: 'x'.repeat(2e6) }", "arguments are larger than 1 MiB of JSON" },
        { "{ x: '\"'.repeat(6e5) }", "arguments are larger than 1 MiB of JSON" },
        { "{ x: new Array(4e9) }", "arguments are larger than 1 MiB of JSON" },
        { "{ get x() { throw new Error('from the getter') } }", "from the getter" },
        { "{ toJSON() { throw new Error('from toJSON') } }", "from toJSON" },
        { "new Proxy({}, { ownKeys() { throw new Error('from the trap') } })",
          "from the trap" },
        { "new Proxy({}, { getPrototypeOf() { throw new Error('from the prototype') } })",
          "from the prototype" },
        { "{ p: new Proxy([1], { get() { throw new Error('from the length') } }) }",
          "from the length" },
        { "(() => { const r = Proxy.revocable([], {}); r.revoke(); return { p: r.proxy } })()",
          "revoked" },
        { "{ n: 1n }", "BigInt" },
        { "1n", "BigInt" },
        { "(() => { const c = {}; c.c = c; return c })()", "nested deeper than 128" },
        { "(() => { const c = []; c.push(c); return c })()", "nested deeper than 128" },
        { "(() => { let d = {}; for (let i = 0; i < 1e4; i++) d = { d }; return d })()",
          "nested deeper than 128" },
        { "(() => { let p = {}; for (let i = 0; i < 1e4; i++) p = new Proxy(p, {}); return { p "
          "} })()",
          "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf source = BUF(1024);
        struct run r;

        /* a rejection, never an exception thrown past the promise; and the next call is served
         */
        buf_addf(&source,
                 "const p = srv.t(%s); const m = await p.then(() => 'sent', e => e.message); "
                 "await two.ok(); m",
                 cases[i].args);
        run_script(&r, buf_z(&source));
        if (r.outcome != SCRIPT_OK)
            fail_msg("'%s': %s", cases[i].args, r.message);
        assert_has(r.result, cases[i].message);
        if (*cases[i].message) {
            assert_z(buf_z(&r.calls), "two.ok {}\n");
            assert_int_equal(r.ncalls, 1);
        }
        run_close(&r);
    }
}

static void nesting_of_128_is_sent(void **state)
{
    struct run r;

    run_script(&r, "let d = 1; for (let i = 0; i < 127; i++) d = [d]; await srv.t({ d }); "
                   "await srv.t(d); try { await srv.t([d]) } catch (e) { e.message }");
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_has(r.result, "nested deeper than 128");
    assert_int_equal(r.ncalls, 2);
    run_close(&r);
}

/* MS-50 (shape): a failure is an exception with the message, the stack is that of the call */
static void a_failed_call_is_an_exception(void **state)
{
    static const struct row rows[] = {
        { "try { await srv.fail() } catch (e) { [e instanceof Error, e.name, e.message, "
          "/script:1/.test(e.stack)] }",
          SCRIPT_OK, "[true,\"Error\",\"srv.fail: boom\",true]" },
        { "await srv.fail()", SCRIPT_ERROR, NULL, "srv.fail: boom" },
        { "srv.fail().catch(e => 'caught ' + e.message)", SCRIPT_OK,
          "\"caught srv.fail: boom\"" },
        { "(await Promise.allSettled([srv.fail(), srv.echo({})])).map(r => r.status)",
          SCRIPT_OK, "[\"rejected\",\"fulfilled\"]" },
        { "await Promise.any([srv.fail(), srv.fail()])", SCRIPT_ERROR, NULL, "AggregateError" },
    };
    struct run r;

    RUN_ROWS(rows);
    run_script(&r, "const a = 1;\nasync function go() {\n  await srv.fail();\n}\nawait go()");
    assert_has(r.stack, "script:3:");
    run_close(&r);
}

/* MS-51 */
static void calls_run_concurrently_up_to_the_cap(void **state)
{
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct run r;

    run_script(&r, "(await Promise.all(Array.from({ length: 8 }, (_, i) => (i % 2 ? srv : "
                   "two).delay({ ms: 250, i })))).map(x => x.i)");
    assert_z(r.result, "[0,1,2,3,4,5,6,7]");
    assert_int_equal(r.max_in_flight, 8);
    assert_true(r.ms >= 250 && r.ms < 250 + 100 * slack());
    run_close(&r);

    /* more than 64 wait in the worker and go when others are answered, in order */
    l.max_calls = 300;
    run_with(&r,
             "const a = await Promise.all(Array.from({ length: 300 }, (_, i) => srv.delay({ "
             "ms: 100 + i % 3, i })));"
             "a.every((x, i) => x.i === i)",
             &l);
    assert_z(r.result, "true");
    assert_int_equal(r.ncalls, 300);
    assert_int_equal(r.max_in_flight, SANDBOX_MAX_INFLIGHT);
    run_close(&r);
}

static void answers_may_come_in_any_order(void **state)
{
    struct run r;

    run_script(&r, "const o = []; await Promise.all([30, 10, 20].map(ms => srv.delay({ ms "
                   "}).then(() => o.push(ms)))); o");
    assert_z(r.result, "[10,20,30]");
    run_close(&r);
}

/* MS-69 */
static void calls_beyond_the_limit_are_rejected_and_not_sent(void **state)
{
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct run r;

    l.max_calls = 3;
    run_with(&r, "for (let i = 0; i < 5; i++) await srv.echo({ i })", &l);
    assert_int_equal(r.outcome, SCRIPT_CALL_LIMIT);
    assert_z(r.message, "tool call limit of 3 reached");
    assert_int_equal(r.ncalls, 3);
    assert_int_equal(r.refused, 1);
    run_close(&r);

    run_with(&r,
             "const m = []; for (let i = 0; i < 7; i++) await srv.echo({ i }).catch(e => "
             "m.push(e.message, e instanceof Error)); m",
             &l);
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_has(r.result, "\"tool call limit of 3 reached\",true,");
    assert_int_equal(r.refused, 4);
    assert_int_equal(r.ncalls, 3);
    run_close(&r);

    run_with(&r, "for (let i = 0; i < 9; i++) srv.echo({ i }); 'not awaited'", &l);
    assert_z(r.result, "\"not awaited\"");
    assert_int_equal(r.refused, 6);
    assert_int_equal(r.loose.n, 0);
    run_close(&r);

    run_with(&r,
             "try { await Promise.all(Array.from({ length: 5 }, () => srv.echo({}))) } catch "
             "(e) { throw new Error('mine: ' + e.message) }",
             &l);
    assert_int_equal(r.outcome, SCRIPT_ERROR);
    assert_z(r.message, "mine: tool call limit of 3 reached");
    run_close(&r);
}

/* SEC-14 */
static void a_million_calls_without_await_stay_within_the_caps(void **state)
{
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct run r;

    l.timeout_ms = 60000;
    run_with(&r, "for (let i = 0; i < 1e6; i++) srv.delay({ ms: 400 }); 'sent'", &l);
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_int_equal(r.ncalls, 100);
    assert_int_equal(r.max_in_flight, SANDBOX_MAX_INFLIGHT);
    assert_int_equal(r.refused, 999900);
    run_close(&r);
}

/* MS-70 */
static void the_end_waits_for_calls_that_were_not_awaited(void **state)
{
    struct run r;

    run_script(
        &r,
        "const o = []; [1, 2].forEach(async i => o.push(await srv.delay({ ms: 60 * i }))); o");
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_true(r.ms >= 120);
    assert_z(r.result,
             "[{\"ms\":60},{\"ms\":120}]"); /* the value as it is when they have finished */
    assert_int_equal(r.loose.n, 0);
    run_close(&r);
}

/* MS-70, WK-6 */
static void calls_not_finished_at_the_deadline_are_cancelled(void **state)
{
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct run r;

    l.timeout_ms = 300;
    run_with(&r, "srv.echo({}); srv.never({}); two.never({}); 'value'", &l);
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_z(r.result, "\"value\"");
    assert_z(buf_z(&r.loose), "2:open\n3:open\n");
    assert_int_equal(r.dropped, 2);
    assert_true(r.ms >= 300 && r.ms < 300 + 500 * slack());
    run_close(&r);

    /* awaited: that is the timeout */
    run_with(&r, "await srv.never({})", &l);
    assert_int_equal(r.outcome, SCRIPT_TIMEOUT);
    assert_z(r.message, "script timed out after 0.3 s");
    assert_int_equal(r.dropped, 1);
    run_close(&r);
}

/* MS-70 */
static void failures_that_nobody_handles_are_told(void **state)
{
    static const struct {
        const char *source, *loose;
    } cases[] = {
        { "srv.fail(); 1", "1:srv.fail: boom\n" },
        { "srv.echo({}); two.fail(); 1", "2:two.fail: boom\n" },
        { "srv.fail().catch(() => 0); 1", "" },
        { "srv.fail().then(x => x); 1", "1:srv.fail: boom\n" },
        { "(async () => { await srv.fail() })(); 1", "1:srv.fail: boom\n" },
        { "[1, 2].forEach(async () => { await srv.fail() }); 1",
          "1:srv.fail: boom\n2:srv.fail: boom\n" },
        { "const p = srv.fail(); await new Promise(r => setTimeout(r, 30)); await p.catch(() "
          "=> 0); 1",
          "" },
        { "try { await srv.fail() } catch {} 1", "" },
        { "await Promise.allSettled([srv.fail()]); 1", "" },
        { "try { await Promise.all([srv.fail(), two.fail()]) } catch {} 1", "" },
        { "Promise.reject(new Error('not a call')); 1", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct run r;

        run_script(&r, cases[i].source);
        if (r.outcome != SCRIPT_OK || strcmp(buf_z(&r.loose), cases[i].loose) != 0)
            fail_msg("'%s': outcome %d %s, loose '%s'", cases[i].source, (int)r.outcome,
                     r.message, buf_z(&r.loose));
        run_close(&r);
    }
}

/* MS-70: the failure that ended the script is not told twice */
static void the_failure_that_ended_the_script_is_not_loose(void **state)
{
    struct run r;

    run_script(&r, "two.fail().catch(() => 0); await srv.fail()");
    assert_int_equal(r.outcome, SCRIPT_ERROR);
    assert_z(buf_z(&r.loose), "");
    run_close(&r);
    run_script(&r, "two.fail(); await srv.delay({ ms: 30 }); throw new Error('other')");
    assert_z(buf_z(&r.loose), "1:two.fail: boom\n");
    run_close(&r);
}

/* MS-68 */
static void kept_results_are_read_with_and_without_await(void **state)
{
    static const struct row rows[] = {
        { "results.get('known').kept", SCRIPT_OK, "[1,2]" },
        { "(await results.get('known')).kept", SCRIPT_OK, "[1,2]" },
        { "try { results.get('gone') } catch (e) { e.message }", SCRIPT_OK,
          "\"no kept result of that id\"" },
        { "results.get()", SCRIPT_ERROR, NULL, "id must be a string" },
        { "results.get({ toString() { return 'known' } })", SCRIPT_ERROR, NULL,
          "id must be a string" },
        /* while other answers are on their way, which then come in order */
        { "const o = []; const ps = [1, 2, 3].map(i => srv.echo({ i }).then(x => o.push(x.i)));"
          "o.push(results.get('known').kept[0] + 10); await Promise.all(ps); "
          "o.push(results.get('known').kept[1] + 10); o",
          SCRIPT_OK, "[11,1,2,3,12]" },
        /* Replies that come while the stack is full are not lost (each settles once it is
         * empty), and results.get() itself throws or answers, but never hangs. */
        { "let ps = []; for (let i = 0; i < 20; i++) ps.push(srv.echo({ i })); "
          "const ask = () => { try { results.get('known') } catch {} }; "
          "function deep() { try { return deep() } catch { "
          "const end = Date.now() + 100; while (Date.now() < end) ask() } } "
          "try { deep() } catch {} (await Promise.all(ps)).length",
          SCRIPT_OK, "20" },
        { "let n = 0; for (let i = 0; i < 500; i++) n += results.get('known').kept[1]; n",
          SCRIPT_OK, "1000" },
    };

    RUN_ROWS(rows);
}

/* WK-5: 48 MiB of calls and answers, then further calls are rejected; an answer over a frame's
 * size is an exception */
static void the_data_of_one_script_is_bounded(void **state)
{
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct run r;

    l.timeout_ms = 20000;
    run_with(&r,
             "let n = 0; try { for (;;) { await srv.big({ n: 4e6 }); n++ } } catch (e) { [n, "
             "e.message] }",
             &l);
    assert_z(r.result, "[12,\"" FRAME_TEXT_DATA_LIMIT "\"]");
    run_close(&r);
    run_with(&r, "try { await srv.big({ n: 17e6 }) } catch (e) { e.message }", &l);
    assert_has(r.result, "larger than 16 MiB");
    run_close(&r);
    l.memory_bytes = (size_t)256 << 20;
    run_with(&r,
             "(await Promise.allSettled(Array.from({ length: 60 }, () => srv.big({ n: 1e6 "
             "})))).filter(x => x.status === 'rejected').length",
             &l);
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_true(atoi(r.result) >= 10 && atoi(r.result) <= 14);
    run_close(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_global_hides_what_promises_and_printers_look_for),
    cmocka_unit_test(the_first_argument_becomes_an_arguments_object),
    cmocka_unit_test(arguments_that_cannot_be_sent_are_refused_inside_the_script),
    cmocka_unit_test(nesting_of_128_is_sent),
    cmocka_unit_test(a_failed_call_is_an_exception),
    cmocka_unit_test(calls_run_concurrently_up_to_the_cap),
    cmocka_unit_test(answers_may_come_in_any_order),
    cmocka_unit_test(calls_beyond_the_limit_are_rejected_and_not_sent),
    cmocka_unit_test(a_million_calls_without_await_stay_within_the_caps),
    cmocka_unit_test(the_end_waits_for_calls_that_were_not_awaited),
    cmocka_unit_test(calls_not_finished_at_the_deadline_are_cancelled),
    cmocka_unit_test(failures_that_nobody_handles_are_told),
    cmocka_unit_test(the_failure_that_ended_the_script_is_not_loose),
    cmocka_unit_test(kept_results_are_read_with_and_without_await),
    cmocka_unit_test(the_data_of_one_script_is_bounded),
};

TEST_MAIN(tests)
