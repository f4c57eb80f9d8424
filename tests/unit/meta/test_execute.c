/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* execute: a real script worker in front of scripted servers (MS-42, MS-45 to MS-50, MS-69,
 * MS-70). */
#include "support.h"

#include "meta/execute.h"

/* clang-format off */
#define TEXT(t)   "{\"type\":\"text\",\"text\":\"" t "\"}"
#define OUT(schema) ",\"outputSchema\":" schema
#define WRAP      "{\"type\":\"object\",\"properties\":{\"result\":{\"type\":\"integer\"}},\"required\":[\"result\"]}"
#define RES(json) "[{\"result\":" json "}]"

static const char server[] =
    "{\"tools\":["
    "{\"name\":\"echo\"},{\"name\":\"say\"},{\"name\":\"json\"},{\"name\":\"bare\"},{\"name\":\"two\"},"
    "{\"name\":\"blocks\"},{\"name\":\"structured\"},{\"name\":\"fails\"},{\"name\":\"fails_mute\"},"
    "{\"name\":\"fails_shaped\"},{\"name\":\"error\"},{\"name\":\"hang\"},{\"name\":\"crash\"},{\"name\":\"slow\"},"
    "{\"name\":\"read_file\"},{\"name\":\"readFile\"},{\"name\":\"get-it\"},{\"name\":\"catch\"},{\"name\":\"then\"},"
    "{\"name\":\"wrapped\"" OUT(WRAP) "},{\"name\":\"wrapped_text\"" OUT(WRAP) "},"
    "{\"name\":\"wide\"" OUT("{\"type\":\"object\",\"properties\":{\"result\":{},\"more\":{}}}") "},"
    "{\"name\":\"marked\"" OUT("{\"properties\":{\"result\":{},\"more\":{}},\"x-fastmcp-wrap-result\":true}") "},"
    "{\"name\":\"off\"" OUT(WRAP) "},"
    "{\"name\":\"remote\"" OUT("{\"$ref\":\"https://example.test/x\"}") "}"
    "],\"calls\":{"
    "\"say\":[{\"text\":\"hello\"}],"
    "\"json\":[{\"text\":\" {\\\"a\\\": [1]} \"}],"
    "\"bare\":[{\"text\":\"123456789012345678901234567890\"}],"
    "\"two\":" RES("{\"content\":[" TEXT("one") "," TEXT("two") "]}") ","
    "\"blocks\":" RES("{\"content\":[" TEXT("t") ",{\"type\":\"image\",\"data\":\"AA==\",\"mimeType\":\"image/png\"}]}") ","
    "\"structured\":" RES("{\"content\":[" TEXT("not this") "],\"structuredContent\":{\"v\":1}}") ","
    "\"fails\":[{\"fail\":\"disk full\"}],"
    "\"fails_mute\":" RES("{\"content\":[],\"isError\":true}") ","
    "\"fails_shaped\":" RES("{\"content\":[" TEXT("why") "],\"structuredContent\":{\"v\":1},\"isError\":true}") ","
    "\"error\":[{\"error\":{\"code\":-32000,\"message\":\"no such row\"}}],"
    "\"hang\":[],\"crash\":[{\"stderr\":\"last words\"},{\"exit\":7}],\"slow\":[{\"sleep\":150},{\"text\":\"late\"}],"
    "\"wrapped\":" RES("{\"content\":[],\"structuredContent\":{\"result\":5}}") ","
    "\"wrapped_text\":[{\"text\":\"five\"}],"
    "\"wide\":" RES("{\"content\":[],\"structuredContent\":{\"result\":5}}") ","
    "\"marked\":" RES("{\"content\":[],\"structuredContent\":{\"result\":\"x\"}}") ","
    "\"off\":" RES("{\"content\":[],\"structuredContent\":{\"result\":\"many\"}}") ","
    "\"remote\":" RES("{\"content\":[],\"structuredContent\":{\"anything\":1}}")
    "}}";
/* clang-format on */

struct run {
    struct world w;
    struct sandbox_limits limits;
    struct sandbox *sandbox;
    struct results results;
    struct catalog *c;
    struct execution *x;
    bool done, is_error;
    char *text;
    struct buf progress;
};

static void on_progress(void *ctx, unsigned finished, struct str what)
{
    struct run *r = ctx;

    buf_addf(&r->progress, "%u %.*s\n", finished, STR_F(what));
}

static void on_done(void *ctx, struct str text, bool is_error)
{
    struct run *r = ctx;

    assert_false(r->done);
    r->done = true;
    r->is_error = is_error;
    r->text = str_dup(text);
}

static const struct execution_ops ops = { on_progress, on_done, NULL };

static void open_with(struct run *r, struct active_server *const *servers, size_t n)
{
    r->progress = BUF(1 << 16);
    r->limits = (struct sandbox_limits){ .timeout_ms = 20000 * slack(),
                                         .memory_bytes = (size_t)64 << 20,
                                         .stack_bytes = (size_t)1 << 20,
                                         .console_bytes = 8192,
                                         .result_bytes = 4096,
                                         .max_calls = 20 };
    r->c = world_catalog(&r->w, servers, n, NULL);
    r->sandbox = sandbox_new(r->w.loop, &r->limits);
}

static void open_usual(struct run *r)
{
    struct active_server *a;

    *r = (struct run){ 0 };
    world_open(&r->w);
    a = world_server(&r->w, "my-a", server);
    open_with(r, &a, 1);
}

static void limit(struct run *r, unsigned calls, int timeout_ms)
{
    r->limits.max_calls = calls;
    r->limits.timeout_ms = timeout_ms;
    sandbox_free(r->sandbox);
    r->sandbox = sandbox_new(r->w.loop, &r->limits);
}

static struct execution *begin(struct run *r, const char *script)
{
    struct execution_opts o = { r->sandbox, r->limits, &r->results };

    free(r->text);
    r->text = NULL;
    r->done = false;
    buf_clear(&r->progress);
    return execute_run(r->c, &o, str_of(script), &ops, r);
}

static const char *execute(struct run *r, const char *script)
{
    begin(r, script);
    world_until(&r->w, &r->done, 30000);
    return r->text;
}

static void run_close(struct run *r)
{
    sandbox_free(r->sandbox);
    catalog_unref(r->c);
    results_free(&r->results);
    buf_free(&r->progress);
    free(r->text);
    world_close(&r->w);
}

/* Each row: a script, and the whole reply. */
static void values_and_failures_reach_the_script(void **state)
{
    static const struct {
        const char *script, *want;
    } cases[] = {
        /* MS-47, in the order of the ladder */
        { "await my_a.fails()",
          "{\"error\":\"script_error\",\"message\":\"my-a.fails: disk full" },
        { "await my_a.fails_mute().catch(e => e.message)", "\"my-a.fails_mute: tool failed\"" },
        { "await my_a.fails_shaped().catch(e => e instanceof Error && e.message)",
          "\"my-a.fails_shaped: why\"" },
        { "await my_a.structured()", "{\"v\":1}" },
        { "await my_a.two()", "\"one\\ntwo\"" },
        { "await my_a.json()", "{\"a\":[1]}" },
        { "await my_a.bare()", "\"123456789012345678901234567890\"" },
        { "await my_a.say()", "\"hello\"" },
        { "(await my_a.blocks()).map(b => b.type)", "[\"text\",\"image\"]" },
        /* MS-48 */
        { "await my_a.wrapped()", "5" },
        { "await my_a.wide()", "{\"result\":5}" },
        { "await my_a.marked()", "\"x\"" },
        /* MS-49: once a tool, the value unchanged; text is held against the schema, too */
        { "[await my_a.off(), await my_a.off()]",
          "[\"many\",\"many\"]\n[my-a.off: result off-shape, treat as unknown]" },
        { "await my_a.wrapped_text()",
          "\"five\"\n[my-a.wrapped_text: result off-shape, treat as unknown]" },
        { "await my_a.remote()", "{\"anything\":1}" },
        /* MS-50 */
        { "await my_a.error().catch(e => e.message)", "\"my-a.error: no such row\"" },
        { "await my_a.crash().catch(e => e.message)",
          "\"my-a.crash: server exited with status 7; stderr: last words\"" },
        /* MS-46 */
        { "[await my_a.echo(), await my_a.echo(null), await my_a.echo(undefined), "
          "await my_a.echo({a: 1}, 2), await my_a.echo('x'), await my_a.echo([1])]",
          "[{},{},{},{\"a\":1},{\"value\":\"x\"},{\"value\":[1]}]" },
        /* MS-45 */
        { "await my_a.ECHO({x: 1})", "{\"x\":1}" },
        { "await my_a.get_it({x: 1})", "{\"x\":1}" },
        { "await my_a.READFILE().catch(e => e.message)",
          "\"my-a.READFILE: this name could be 'read_file', 'readFile'; use the exact one\"" },
        { "await my_a.ekho().catch(e => e.message)",
          "\"my-a.ekho: no such tool; the closest is 'echo'; list_tools shows them all\"" },
        /* MS-43: declared names that a proxy hides; never thenable */
        { "[typeof my_a.catch, typeof my_a.finally, typeof my_a.then, await my_a.then_({y: "
          "1})]",
          "[\"function\",\"undefined\",\"undefined\",{\"y\":1}]" },
        /* MS-41: what had finished, in order of first finish */
        { "await my_a.say(); await my_a.json(); await my_a.say(); throw new Error('x')",
          "{\"error\":\"script_error\",\"message\":\"x\\n    at script:1:" },
    };
    struct run r;

    (void)state;
    open_usual(&r);
    execute(&r, "await my_a.say()"); /* from here on the tools are known (MS-43) */
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool is_error = str_starts(str_of(cases[i].want), STR("{\"error\""));

        execute(&r, cases[i].script);
        if (r.is_error != is_error ||
            (is_error ? strncmp(r.text, cases[i].want, strlen(cases[i].want))
                      : strcmp(r.text, cases[i].want)))
            fail_msg("%s\n got: %s\nwant: %s", cases[i].script, r.text, cases[i].want);
    }
    assert_has(r.text, "\ncalls finished: my-a.say \xc3\x97"
                       "2, my-a.json \xc3\x97"
                       "1");
    run_close(&r);
}

/* MS-42; and a script that calls nothing runs though its server cannot start. */
static void without_servers_no_script_runs(void **state)
{
    struct active_server *bad;
    struct run r = { 0 };

    (void)state;
    world_open(&r.w);
    open_with(&r, NULL, 0);
    ARENA_PUSH(&r.c->res->arena, &r.c->problems) = STR("plugin 'x': dormant");
    assert_null(begin(&r, "1"));
    assert_true(r.done && r.is_error);
    assert_string_equal(r.text,
                        "No MCP servers apply to this workspace.\n[plugin 'x': dormant]");
    run_close(&r);

    r = (struct run){ 0 };
    world_open(&r.w);
    bad = world_server(&r.w, "bad", "{}");
    bad->argv.v[0] = STR("/no/such/program");
    open_with(&r, &bad, 1);
    assert_string_equal(execute(&r, "1 + 1"), "2");
    execute(&r, "await bad.x().catch(e => e.message)"); /* MS-50, MS-53 */
    assert_has(r.text, "\"bad.x: start failed at spawn after ");
    run_close(&r);
}

/* MS-69 */
static void calls_beyond_the_limit_are_refused(void **state)
{
    struct run r;

    (void)state;
    open_usual(&r);
    limit(&r, 2, 20000 * slack());
    execute(&r, "for (;;) await my_a.echo()");
    assert_true(r.is_error);
    assert_int_equal(strncmp(r.text, "{\"error\":\"tool_call_limit\",\"limit\":2}", 37), 0);
    execute(&r, "const out = []; for (let i = 0; i < 5; i++) { try { await my_a.echo(); "
                "out.push('ok') } catch (e) { out.push(e.message) } } out");
    assert_false(r.is_error);
    assert_has(r.text, "[\"ok\",\"ok\",\"tool call limit of 2 reached\",");
    assert_has(r.text, "\n[execute: tool call limit of 2 reached, 3 calls refused]");
    assert_int_equal(world_received(&r.w, "my-a", "tools/call"), 4); /* nothing is sent */
    run_close(&r);
}

/* MS-70 */
static void calls_not_awaited_are_waited_for_and_told(void **state)
{
    struct run r;

    (void)state;
    open_usual(&r);
    assert_string_equal(execute(&r, "my_a.slow(); 'value'"), "\"value\"");
    assert_string_equal(buf_z(&r.progress), "1 my-a.slow\n");
    assert_string_equal(execute(&r, "my_a.fails(); 1"),
                        "1\n[my-a.fails: not awaited, failed: disk full]");
    limit(&r, 20, 1000);
    execute(&r, "my_a.hang(); 'value'");
    assert_string_equal(r.text,
                        "\"value\"\n[my-a.hang: not awaited and not finished, cancelled]");
    assert_false(r.is_error);
    world_run(&r.w, 50);
    assert_int_equal(world_received(&r.w, "my-a", "notifications/cancelled"), 1);
    run_close(&r);
}

/* MS-76: the script goes, the server is told, and nothing is answered. */
static void a_cancelled_execution_never_answers(void **state)
{
    struct execution *x;
    struct run r;

    (void)state;
    open_usual(&r);
    execute(&r, "await my_a.echo()");
    x = begin(&r, "await Promise.all([my_a.hang(), my_a.hang()])");
    assert_non_null(x);
    for (int i = 0; i < 1000 && world_received(&r.w, "my-a", "\"hang\"") < 2; i++)
        world_run(&r.w, 10);
    execute_cancel(x);
    x = begin(&r, "for (;;);"); /* and one that has not begun */
    execute_cancel(x);
    world_run(&r.w, 100);
    assert_false(r.done);
    assert_int_equal(world_received(&r.w, "my-a", "notifications/cancelled"), 2);
    assert_string_equal(execute(&r, "7"), "7");
    run_close(&r);
}

/* MS-77: each finished call in turn. MS-51: side by side. */
static void progress_counts_finished_calls(void **state)
{
    struct run r;

    (void)state;
    open_usual(&r);
    execute(&r, "await Promise.all([my_a.slow(), my_a.say(), my_a.error().catch(() => 0)]); "
                "await my_a.say()");
    assert_string_equal(buf_z(&r.progress), "1 my-a.say\n2 my-a.slow\n3 my-a.say\n");
    run_close(&r);
}

/* MS-68: the uncut value under its id, as a parsed value. */
static void a_cut_result_is_had_by_its_id(void **state)
{
    char id[RESULT_ID_SIZE], script[200];
    struct run r;
    const char *at;

    (void)state;
    open_usual(&r);
    execute(&r, "Array.from({length: 5000}, (_, i) => i)");
    assert_has(r.text, "\n[result truncated: 4096 of ");
    at = strstr(r.text, RESULT_URI_PREFIX);
    assert_non_null(at);
    memcpy(id, at + strlen(RESULT_URI_PREFIX), sizeof id - 1);
    id[sizeof id - 1] = '\0';
    snprintf(script, sizeof script, "const v = await results.get('%s'); [v.length, v[4999]]",
             id);
    assert_string_equal(execute(&r, script), "[5000,4999]");
    execute(&r, "await results.get('00000000000000000000000000000000')");
    assert_has(r.text, "no result is kept under this id");
    run_close(&r);
}

/* MS-12: every name that a script finds in its global scope is taken. */
static void no_server_takes_the_name_of_a_global(void **state)
{
    struct active_server *defs[200];
    auto_buf unknown = BUF(1 << 16);
    struct json names = { 0 };
    struct catalog *c;
    struct run r;
    size_t n = 0;

    (void)state;
    open_usual(&r);
    execute(&r, "Object.getOwnPropertyNames(globalThis).concat("
                "Object.getOwnPropertyNames(Object.prototype)).filter(n => n !== 'my_a')");
    assert_true(json_parse(&names, str_of(r.text), NULL));
    assert_true(json_len(names.root) > 60);
    for (struct json_iter it = json_iter(names.root); json_next(&it); n++) {
        assert_true(n < ARRAY_LEN(defs));
        defs[n] = world_server(&r.w, "x", "{}");
        defs[n]->name = json_str(it.val);
    }
    c = world_catalog(&r.w, defs, n, NULL);
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->v[i].name, c->v[i].global))
            buf_addf(&unknown, " %.*s", STR_F(c->v[i].name));
    assert_string_equal(buf_z(&unknown), "");
    catalog_unref(c);
    json_free(&names);
    run_close(&r);
}

/* MS-33, MS-35: refused before a worker sees it. */
static void a_refused_script_is_an_error_result(void **state)
{
    auto_buf source = BUF((size_t)1 << 20);
    struct run r;

    (void)state;
    open_usual(&r);
    buf_fill(&source, ' ', SANDBOX_MAX_SOURCE + 1);
    assert_null(begin(&r, buf_z(&source)));
    assert_true(r.done && r.is_error);
    assert_string_equal(r.text,
                        "{\"error\":\"script_error\",\"message\":\"source over 256 KiB\"}");
    run_close(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_and_failures_reach_the_script),
    cmocka_unit_test(without_servers_no_script_runs),
    cmocka_unit_test(calls_beyond_the_limit_are_refused),
    cmocka_unit_test(calls_not_awaited_are_waited_for_and_told),
    cmocka_unit_test(a_cancelled_execution_never_answers),
    cmocka_unit_test(progress_counts_finished_calls),
    cmocka_unit_test(a_cut_result_is_had_by_its_id),
    cmocka_unit_test(no_server_takes_the_name_of_a_global),
    cmocka_unit_test(a_refused_script_is_an_error_result),
};

TEST_MAIN(tests)
