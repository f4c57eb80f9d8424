/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a script has and what it may say: MS-34, 35, 36, 38, 40, 66 (timers), SEC-10, 11,
 * 13, 16. */
#include "support.h"

#include "sandbox/frame.h"

/* MS-34, MS-66, SEC-16: the globals are exactly these; the engines differ only in what of the
 * language they know. */
static void the_globals_are_exactly_the_allowed_ones(void **state)
{
    static const char script[] =
        "const language = ['AggregateError', 'Array', 'ArrayBuffer', 'BigInt', "
        "'BigInt64Array', 'BigUint64Array',"
        "'Boolean', 'DataView', 'Date', 'Error', 'EvalError', 'Float32Array', 'Float64Array', "
        "'Function', 'Infinity',"
        "'Int16Array', 'Int32Array', 'Int8Array', 'InternalError', 'JSON', 'Map', 'Math', "
        "'NaN', 'Number', 'Object',"
        "'Promise', 'Proxy', 'RangeError', 'ReferenceError', 'Reflect', 'RegExp', 'Set', "
        "'String', 'Symbol',"
        "'SyntaxError', 'TypeError', 'URIError', 'Uint16Array', 'Uint32Array', 'Uint8Array', "
        "'Uint8ClampedArray',"
        "'WeakMap', 'WeakSet', 'decodeURI', 'decodeURIComponent', 'encodeURI', "
        "'encodeURIComponent', 'escape', 'eval',"
        "'globalThis', 'isFinite', 'isNaN', 'parseFloat', 'parseInt', 'undefined', 'unescape'];"
        "const newer = ['AsyncDisposableStack', 'DisposableStack', 'Float16Array', 'Iterator', "
        "'SuppressedError'];"
        "const ours = ['TextDecoder', 'TextEncoder', 'URL', 'URLSearchParams', 'atob', 'btoa', "
        "'clearTimeout',"
        "'console', 'queueMicrotask', 'results', 'setTimeout', 'structuredClone', 'srv', "
        "'two'];"
        "const have = Object.getOwnPropertyNames(globalThis).filter(n => !['language', "
        "'newer', 'ours', 'have'].includes(n));"
        "return [have.filter(n => ![...language, ...newer, ...ours].includes(n)),"
        "        [...language, ...ours].filter(n => !have.includes(n)), "
        "Object.getOwnPropertySymbols(globalThis).length]";
    struct run r;

    run_script(&r, script);
    assert_z(r.result, "[[],[],1]"); /* the one symbol is toStringTag */
    run_close(&r);
}

/* MS-34, SEC-16, WK-4 */
static void nothing_leads_out_of_the_language(void **state)
{
    static const struct row rows[] = {
        { "[typeof std, typeof os, typeof process, typeof require, typeof fetch, typeof "
          "XMLHttpRequest, typeof WebSocket,"
          " typeof fs, typeof module, typeof Deno, typeof scriptArgs, typeof print].every(t => "
          "t === 'undefined')",
          SCRIPT_OK, "true" },
        { "[typeof WeakRef, typeof FinalizationRegistry, typeof SharedArrayBuffer, typeof "
          "Atomics, typeof WebAssembly,"
          " typeof performance, typeof gc].every(t => t === 'undefined')",
          SCRIPT_OK, "true" },
        { "try { await import('std') } catch (e) { 'rejected' }", SCRIPT_OK, "\"rejected\"" },
        { "try { await import('/etc/passwd') } catch (e) { 'rejected' }", SCRIPT_OK,
          "\"rejected\"" },
        { "import('os').then(() => 'in', () => 'out')", SCRIPT_OK, "\"out\"" },
        { "typeof setTimeout", SCRIPT_OK, "\"function\"" },
        { "new Function('return this')() === globalThis", SCRIPT_OK, "true" },
        { "(0, eval)('this') === globalThis", SCRIPT_OK, "true" },
        { "eval('1 + 1')", SCRIPT_OK, "2" },
        /* the realm of the prelude holds nothing more than the language either */
        { "const other = URL.constructor('return this')(); "
          "['std', 'os', 'srv', 'console', 'results', 'host', 'main', 'SharedArrayBuffer', "
          "'Atomics', 'WeakRef']"
          ".filter(n => n in other)",
          SCRIPT_OK, "[]" },
        { "try { await URL.constructor('return import(\"std\")')() } catch (e) { 'rejected' }",
          SCRIPT_OK, "\"rejected\"" },
        { "Object.getOwnPropertyNames(srv.read).filter(n => !['length', 'name'].includes(n))",
          SCRIPT_OK, "[]" },
        { "const make = async function () {}.constructor; await make('return typeof "
          "process')()",
          SCRIPT_OK, "\"undefined\"" },
        { "const g = (function* () {}).constructor; [...g('yield typeof require')()]",
          SCRIPT_OK, "[\"undefined\"]" },
        { "new Error('x').stack.includes('/')", SCRIPT_OK, "false" },
    };

    RUN_ROWS(rows);
}

/* MS-35: nothing passes from one script to the next */
static void every_script_has_its_own_process(void **state)
{
    static const struct row rows[] = {
        { "globalThis.left = 1; Array.prototype.left = 2; Object.prototype.left = 3; 'set'",
          SCRIPT_OK, "\"set\"" },
        { "[typeof left, [].left, ({}).left]", SCRIPT_OK, "[\"undefined\",null,null]" },
        { "Math.random() !== Math.random()", SCRIPT_OK, "true" },
    };
    struct run r;
    char *first;

    RUN_ROWS(rows);
    run_script(&r, "Math.random()");
    first = mem_strdup(r.result);
    run_close(&r);
    run_script(&r, "Math.random()");
    assert_string_not_equal(first, r.result);
    free(first);
    run_close(&r);
}

/* MS-36, SEC-10: found at once, not at the deadline */
static void a_promise_that_nothing_can_settle_ends_the_script(void **state)
{
    static const char *const scripts[] = {
        "await new Promise(() => {})",
        "return new Promise(() => {})",
        "new Promise(() => {})",
        "await srv.echo({}); await new Promise(() => {})",
        "await new Promise(r => setTimeout(r, 5)); await new Promise(() => {})",
        "({ then() {} })",
    };

    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct run r;

        run_script(&r, scripts[i]);
        assert_int_equal(r.outcome, SCRIPT_ERROR);
        assert_z(r.message,
                 "script never finished: awaiting a promise that nothing can settle");
        assert_true(r.ms < 100 * slack());
        run_close(&r);
    }
}

/* MS-38 */
static void an_error_says_what_was_thrown(void **state)
{
    static const struct row rows[] = {
        { "throw new TypeError('no such thing')", SCRIPT_ERROR, NULL,
          "TypeError: no such thing" },
        { "throw new Error('plain')", SCRIPT_ERROR, NULL, "plain" },
        { "throw 'a string'", SCRIPT_ERROR, NULL, "a string" },
        { "throw { code: 5 }", SCRIPT_ERROR, NULL, "{\"code\":5}" },
        { "throw undefined", SCRIPT_ERROR, NULL, "undefined" },
        { "throw null", SCRIPT_ERROR, NULL, "null" },
        { "throw 1n", SCRIPT_ERROR, NULL, "1" },
        { "throw Symbol('s')", SCRIPT_ERROR, NULL, "[symbol]" },
        { "Promise.reject(new RangeError('far'))", SCRIPT_ERROR, NULL, "RangeError: far" },
        { "const e = new Error('m'); Object.defineProperty(e, 'message', { get() { throw 1 } "
          "}); throw e",
          SCRIPT_ERROR, NULL, "Error" },
        { "const e = new Error('m'); Object.defineProperty(e, 'stack', { value: { toString() { "
          "throw 1 } } }); throw e",
          SCRIPT_ERROR, NULL, "m" },
        { "setTimeout(() => { throw new Error('in a timer') }, 1); await new Promise(r => "
          "setTimeout(r, 50))",
          SCRIPT_ERROR, NULL, "in a timer" },
        { "queueMicrotask(() => { throw new Error('in a microtask') }); await new Promise(r => "
          "setTimeout(r, 50))",
          SCRIPT_ERROR, NULL, "in a microtask" },
        { "const a = () => { throw new Error('from the function') }; a", SCRIPT_ERROR, NULL,
          "from the function" },
        { "({ get then() { throw new Error('then') } })", SCRIPT_ERROR, NULL, "then" },
        { "const e = new Error('\\ud800'); throw e", SCRIPT_ERROR, NULL, "\xef\xbf\xbd" },
    };

    RUN_ROWS(rows);
}

/* MS-38, field.md: a rival returned 249,521 bytes here */
static void message_and_stack_together_are_bounded(void **state)
{
    /* clang-format off */
    static const char *const scripts[] = {
        "throw new Error('x'.repeat(1e6))",
        "throw 'é'.repeat(1e6)",
        "throw { text: 'y'.repeat(1e6) }",
        "const e = new Error('m'); Object.defineProperty(e, 'stack', { value: '    at a (script:1:1)\\n'.repeat(1e5) }); throw e",
        "const e = new Error('m'); e.name = 'n'.repeat(1e5); throw e",
        "function f() { f() } f()",
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct run r;

        run_script(&r, scripts[i]);
        assert_int_equal(r.outcome, SCRIPT_ERROR);
        assert_true(strlen(r.message) + strlen(r.stack) <= FRAME_ERROR_MAX);
        assert_true(strlen(r.message) > 0);
        run_close(&r);
    }
}

/* MS-40 */
static void console_lines_come_in_order_with_their_prefixes(void **state)
{
    static const struct row rows[] = {
        { "console.log('a', 1, { b: [2] }, null, true); 0", SCRIPT_OK, NULL, NULL,
          "a 1 {\"b\":[2]} null true" },
        { "console.log('l'); console.info('i'); console.debug('d'); console.trace('t'); "
          "console.warn('w');"
          "console.error('e'); 0",
          SCRIPT_OK, NULL, NULL, "l\ni\nd\nt\n[warn] w\n[error] e" },
        { "console.log(); console.log(''); console.log('x'); 0", SCRIPT_OK, NULL, NULL,
          "\n\nx" },
        { "console.log(undefined, () => 1, Symbol('s'), 12n, NaN); 0", SCRIPT_OK, NULL, NULL,
          "undefined [function] [symbol] 12 null" },
        { "console.log(new TypeError('bad'), [new Error('x')]); 0", SCRIPT_OK, NULL, NULL,
          "TypeError: bad [{}]" },
        { "const c = {}; c.c = c; console.log(c, { n: 1n }, { toJSON() { throw 1 } }); 0",
          SCRIPT_OK, "0", NULL, "[unprintable] [unprintable] [unprintable]" },
        { "const { log } = console; log('detached'); 0", SCRIPT_OK, NULL, NULL, "detached" },
        { "console.log('\\ud800|é|😀'); 0", SCRIPT_OK, NULL, NULL, "\xef\xbf\xbd|é|😀" },
        { "console.log({ toJSON() { console.log('inner'); return 'outer' } }); 0", SCRIPT_OK,
          NULL, NULL, "inner\n\"outer\"" },
        /* and on errors: what was said before is there */
        { "console.log('before'); throw new Error('after')", SCRIPT_ERROR, NULL, "after",
          "before" },
        { "console.warn('before'); await new Promise(() => {})", SCRIPT_ERROR, NULL,
          "never finished", "[warn] before" },
        { "console.log('before'); const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)",
          SCRIPT_MEMORY, NULL, NULL, "before" },
    };

    RUN_ROWS(rows);
}

/* MS-40 */
static void console_text_is_bounded_and_the_overflow_marked(void **state)
{
    static const struct {
        size_t max;
        const char *source, *console;
    } cases[] = {
        { 0, "console.log('a'); 7", "[further output dropped]" },
        { 0, "7", "" },
        { 4, "console.log('abc'); 7", "abc" },
        { 4, "console.log('abc'); console.log('d'); 7", "abc\n[further output dropped]" },
        { 4, "console.log('abcd'); 7", "abc\n[further output dropped]" },
        { 5, "console.log('éé'); console.log('x'); 7", "éé\n[further output dropped]" },
        { 4, "console.log('éé'); console.log('x'); 7", "é\n[further output dropped]" },
        { 6, "console.warn('abc'); 7", "[further output dropped]" },
        { 11, "console.warn('abc'); 7", "[warn] abc" },
        { 10, "console.warn('abc'); 7", "[warn] ab\n[further output dropped]" },
        { 9, "for (let i = 0; i < 1e4; i++) console.log(i); 7",
          "0\n1\n2\n3\n[further output dropped]" },
        { 8, "console.log('x'.repeat(1e7), 'y'); 7", "xxxxxxx\n[further output dropped]" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sandbox_limits l = DEFAULT_LIMITS;
        struct run r;

        l.console_bytes = cases[i].max;
        run_with(&r, cases[i].source, &l);
        assert_int_equal(r.outcome, SCRIPT_OK);
        assert_z(r.result, "7");
        assert_z(r.console, cases[i].console);
        run_close(&r);
    }
}

/* MS-66 */
static void timers_and_microtasks_run_in_order(void **state)
{
    static const struct row rows[] = {
        { "const o = []; setTimeout(() => o.push('t2'), 20); setTimeout(() => o.push('t1'), "
          "10); setTimeout(() => o.push('t0'));"
          "queueMicrotask(() => o.push('m')); Promise.resolve().then(() => o.push('p')); "
          "o.push('s');"
          "await new Promise(r => setTimeout(r, 40)); o.join()",
          SCRIPT_OK, "\"s,m,p,t0,t1,t2\"" },
        { "const o = []; for (let i = 0; i < 20; i++) setTimeout(() => o.push(i), 5); await "
          "new Promise(r => setTimeout(r, 30)); o.join()",
          SCRIPT_OK, "\"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\"" },
        { "await new Promise((r, _, x) => setTimeout((a, b) => r([a, b]), 1, 'one', 2))",
          SCRIPT_OK, "[\"one\",2]" },
        { "const o = []; const id = setTimeout(() => o.push('no'), 1); clearTimeout(id); "
          "clearTimeout(id); clearTimeout(99);"
          "clearTimeout(); clearTimeout('x'); await new Promise(r => setTimeout(r, 20)); "
          "o.length",
          SCRIPT_OK, "0" },
        { "const o = []; const ids = []; for (let i = 0; i < 50; i++) ids.push(setTimeout(() "
          "=> o.push(i), i % 7));"
          "ids.filter((_, i) => i % 2).forEach(id => clearTimeout(id)); await new Promise(r => "
          "setTimeout(r, 40));"
          "o.length === 25 && o.every(i => i % 2 === 0)",
          SCRIPT_OK, "true" },
        { "const a = Date.now(); await new Promise(r => setTimeout(r, 60)); Date.now() - a >= "
          "59",
          SCRIPT_OK, "true" },
        { "setTimeout(() => {}, NaN); setTimeout(() => {}, -5); typeof setTimeout(() => {}, "
          "Infinity)",
          SCRIPT_OK, "\"number\"" },
        { "setTimeout('code')", SCRIPT_ERROR, NULL, "must be a function" },
        { "queueMicrotask(1)", SCRIPT_ERROR, NULL, "must be a function" },
        { "await new Promise(r => setTimeout(() => setTimeout(() => r('nested'), 1), 1))",
          SCRIPT_OK, "\"nested\"" },
        { "await new Promise(r => setTimeout(async () => r(await srv.echo({ in: 'timer' })), "
          "1))",
          SCRIPT_OK, "{\"in\":\"timer\"}" },
    };

    RUN_ROWS(rows);
}

/* MS-66 */
static void pending_timers_do_not_keep_a_settled_script_alive(void **state)
{
    struct run r;

    run_script(&r, "setTimeout(() => console.log('late'), 3000); 1");
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_true(r.ms < 500 * slack());
    assert_z(r.console, "");
    run_close(&r);
}

/* SEC-13: whatever a script has done to its globals, host marshalling, console and results are
 * as before */
static void polluted_prototypes_do_not_reach_the_host(void **state)
{
    static const char poison[] =
        "Object.defineProperty(Object.prototype, 'message', { get() { throw new "
        "Error('getter') }, configurable: true });"
        "Object.prototype.toJSON = () => 'pwn'; Array.prototype.toJSON = () => 'pwn';"
        "Array.prototype.map = null; Array.prototype.push = null; String.prototype.slice = "
        "null; Array.prototype.join = null;"
        "Promise.prototype.then = function () { throw new Error('then') }; Promise.resolve = "
        "null; Promise.reject = null;"
        "Object.prototype.error = 'pwn'; Object.prototype.value = 'pwn'; Object.prototype.id = "
        "7; Object.prototype.type = 'x';"
        "Function.prototype.call = null; Function.prototype.apply = null; JSON.stringify = () "
        "=> 'pwn'; JSON.parse = null;"
        "Symbol.iterator; Array.prototype[Symbol.iterator] = null; Map.prototype.get = null; "
        "Map.prototype.set = null;"
        "RegExp.prototype.exec = null; RegExp.prototype.test = null; String.prototype.replace "
        "= null;"
        "globalThis.Error = null; globalThis.Promise = null; globalThis.Array = null; "
        "globalThis.JSON = null;"
        "globalThis.Object = null; globalThis.Uint8Array = null; globalThis.TypeError = null;";
    static const struct {
        const char *rest, *result, *call;
    } cases[] = {
        { "const r = await srv.read({ path: 'a', list: [1] }); delete {}.__proto__.toJSON; "
          "[].__proto__.toJSON = undefined; r",
          "{\"tool\":\"read\",\"args\":{\"path\":\"a\",\"list\":[1]}}",
          "srv.read {\"path\":\"a\",\"list\":[1]}\n" },
        { "let m; try { await srv.fail() } catch (e) { m = e.message } m", "\"srv.fail: boom\"",
          "srv.fail {}\n" },
        { "let m; try { results.get('no') } catch (e) { m = e.message } m",
          "\"no kept result of that id\"", "" },
        { "results.get('known').kept[1]", "2", "" },
        { "console.log('text', 1); 1", "1", "" },
        { "new URL('http://h/a/../b?c=d').href", "\"http://h/b?c=d\"", "" },
        { "atob(btoa('x')) + new TextDecoder().decode(new TextEncoder().encode('é'))", "\"xé\"",
          "" },
        { "structuredClone(new Map()).size", "0", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf source = BUF(8192);
        struct run r;

        buf_addf(&source, "%s\n%s", poison, cases[i].rest);
        run_script(&r, buf_z(&source));
        if (r.outcome != SCRIPT_OK)
            fail_msg("'%s': %s", cases[i].rest, r.message);
        assert_z(r.result, cases[i].result);
        assert_z(buf_z(&r.calls), cases[i].call);
        run_close(&r);
    }
}

/* SEC-13: a pollution that breaks await itself breaks the script, not us */
static void a_hostile_then_on_every_object_only_harms_the_script(void **state)
{
    struct run r;

    run_script(&r, "let n = 0; Object.defineProperty(Object.prototype, 'then', { get() { n++; "
                   "if (n > 50) return undefined;"
                   "return srv.echo({ n }) && undefined }, configurable: true }); await "
                   "srv.echo({ a: 1 }); n > 0");
    assert_true(r.outcome == SCRIPT_OK || r.outcome == SCRIPT_ERROR);
    run_close(&r);
}

/* SEC-11, MS-68, MS-39 (the worker's part): whole up to 8 MiB, beyond that the beginning and
 * the length */
static void a_long_result_is_whole_or_cut_on_a_character(void **state)
{
    struct run r;

    run_script(&r, "'x'.repeat(5e6)");
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_int_equal(r.total, 5000002);
    assert_int_equal(strlen(r.result), 5000002);
    run_close(&r);
    run_script(&r, "'é'.repeat(4.5e6)");
    assert_int_equal(r.total, 9000002);
    assert_int_equal(strlen(r.result), 32767); /* 32,768 would split the last é */
    run_close(&r);
    /* every byte doubles in the frame: as JSON 8 MiB, as a frame over 16 */
    run_script(&r, "'\"'.repeat(4194303)");
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_int_equal(r.total, (size_t)8 << 20);
    assert_true(strlen(r.result) == r.total || strlen(r.result) <= 32768);
    run_close(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_globals_are_exactly_the_allowed_ones),
    cmocka_unit_test(nothing_leads_out_of_the_language),
    cmocka_unit_test(every_script_has_its_own_process),
    cmocka_unit_test(a_promise_that_nothing_can_settle_ends_the_script),
    cmocka_unit_test(an_error_says_what_was_thrown),
    cmocka_unit_test(message_and_stack_together_are_bounded),
    cmocka_unit_test(console_lines_come_in_order_with_their_prefixes),
    cmocka_unit_test(console_text_is_bounded_and_the_overflow_marked),
    cmocka_unit_test(timers_and_microtasks_run_in_order),
    cmocka_unit_test(pending_timers_do_not_keep_a_settled_script_alive),
    cmocka_unit_test(polluted_prototypes_do_not_reach_the_host),
    cmocka_unit_test(a_hostile_then_on_every_object_only_harms_the_script),
    cmocka_unit_test(a_long_result_is_whole_or_cut_on_a_character),
};

TEST_MAIN(tests)
