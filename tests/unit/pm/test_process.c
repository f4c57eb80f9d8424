/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support.h"

#include "base/log.h"
#include "pm/process.h"

/* What came of the calls of one test. */
struct outcome {
    struct loop *loop;
    int wait_for; /* answers until the loop is stopped */
    int answers;
    struct buf result; /* all results as JSON, each followed by a blank; "-" for none */
    struct error why;  /* of the last that was none */
    struct pm_process *free_it; /* freed from inside the next answer */
};

static void on_answer(void *ctx, yyjson_val *result, const struct error *why)
{
    struct outcome *o = ctx;
    struct pm_process *victim = take_ptr(&o->free_it);

    assert_int_equal(result == NULL, why != NULL);
    if (result)
        json_put_val(&o->result, result);
    else
        buf_addc(&o->result, '-');
    buf_addc(&o->result, ' ');
    if (why)
        o->why = *why;
    pm_process_free(victim);
    if (++o->answers == o->wait_for)
        loop_stop(o->loop);
}

struct bench {
    struct loop *loop;
    struct scratch scratch;
    const char *log;
    struct outcome out;
};

static void set_up(struct bench *b)
{
    *b = (struct bench){ .loop = loop_new() };
    scratch_make(&b->scratch);
    b->log = scratch_path(&b->scratch, "starts");
    setenv("FAKE_PM_LOG", b->log, 1);
    b->out = (struct outcome){ .loop = b->loop, .wait_for = 1, .result = BUF(1 << 20) };
}

static void tear_down(struct bench *b)
{
    buf_free(&b->out.result);
    loop_free(b->loop);
    scratch_free(&b->scratch);
    unsetenv("FAKE_PM_LOG");
}

/* A fake that calls itself "fake" and is expected to. */
static struct pm_process *fake(struct bench *b, const char *mode, const char *arg)
{
    static const struct str pass[] = { STR("FAKE_PM_LOG") };
    const char *argv[] = { FAKE_PM, "fake", mode, arg, NULL };

    return pm_process_new(b->loop, &(struct pm_opts){ .name = "fake",
                                                      .argv = argv,
                                                      .pass_env = pass,
                                                      .npass_env = 1,
                                                      .workspace = b->scratch.dir,
                                                      .cache_dir = "/some/cache" });
}

static void list(struct bench *b, struct pm_process *p, int timeout_ms)
{
    pm_process_call(p, "list_deps", (struct str){ 0 }, timeout_ms, on_answer, &b->out);
}

static void assert_result(const struct bench *b, const char *want)
{
    if (strcmp(buf_z(&b->out.result), want) != 0)
        fail_msg("'%s' instead of '%s' (%s)", buf_z(&b->out.result), want, b->out.why.msg);
}

/* PM-1, PM-2 */
static void a_good_program_is_asked_after_one_handshake(void **state)
{
    struct bench b;
    struct pm_process *p;

    (void)state;
    set_up(&b);
    p = fake(&b, "good", "[1,{\"a\":\"b\"}]");
    run_for(b.loop, 20);
    assert_false(file_exists(b.log)); /* PM-9: lazily started */
    list(&b, p, 5000);
    assert_int_equal(b.out.answers, 0);
    run_until_stopped(b.loop, 5000);
    b.out.answers = 0;
    list(&b, p, 5000);
    run_until_stopped(b.loop, 5000);
    assert_result(&b, "[1,{\"a\":\"b\"}] [1,{\"a\":\"b\"}] ");
    assert_int_equal(starts_in(b.log), 1); /* PM-9: one process */
    assert_false(pm_process_dead(p));
    pm_process_free(p);
    tear_down(&b);
}

static void finish_handshake(struct bench *b, struct pm_process *p)
{
    pm_process_call(p, "other", (struct str){ 0 }, 5000 * slack(), on_answer, &b->out);
    run_until_stopped(b->loop, 5000);
    assert_false(pm_process_dead(p));
    b->out.answers = 0;
    buf_clear(&b->out.result);
}

/* PM-8: whatever a program does, the answer is empty, with a reason. SEC-48: another name,
 * another version. SEC-50: silence. */
static void every_misbehaviour_gives_an_empty_answer_with_a_reason(void **state)
{
    static const struct {
        const char *mode, *arg;
        enum err_kind kind;
        const char *why;
    } cases[] = {
        { "exit", "", ERR_CLOSED, "exited with status 7" },
        { "banner", "", ERR_PROTOCOL, "malformed" },
        { "garbage", "", ERR_PROTOCOL, "malformed" },
        { "half", "", ERR_PROTOCOL, "malformed" },
        { "both", "", ERR_PROTOCOL, "exactly one of" },
        { "die", "", ERR_CLOSED, "exited with status 3: last words" },
        { "kill", "", ERR_CLOSED, "ended by signal 9" },
        { "version", "999", ERR_PROTOCOL,
          "refused: it speaks protocol version 999, not 1" }, /* SEC-48, PM-6 */
        { "version", "\"1\"", ERR_PROTOCOL, "refused: it speaks protocol version" },
        { "version", "1.5", ERR_PROTOCOL, "refused: it speaks protocol version" },
        { "name", "npm", ERR_PROTOCOL, "refused: it calls itself 'npm'" }, /* SEC-48, PM-6 */
        { "name", "", ERR_PROTOCOL, "refused: it calls itself ''" },
        { "name", "fake\\u001b[2J", ERR_PROTOCOL, "refused: it calls itself 'fake'" },
        { "hello-error", "-32603", ERR_PROTOCOL, "'initialize' failed: because" },
        { "hello-not-object", "", ERR_PROTOCOL, "refused" },
        { "hello-silent", "", ERR_TIMEOUT, "'initialize'" },
        { "hang", "", ERR_TIMEOUT, "list_deps" }, /* SEC-50 */
        { "wrong-id", "", ERR_PROTOCOL, "answered a request that was not made" },
        { "string-id", "", ERR_PROTOCOL, "answered a request that was not made" },
        { "long", "", ERR_LIMIT, "line of more than 16777216 bytes" }, /* PM-1 */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool silent = cases[i].kind == ERR_TIMEOUT;
        struct pm_process *p;
        struct bench b;

        set_up(&b);
        p = fake(&b, cases[i].mode, cases[i].arg);
        if (strcmp(cases[i].mode, "hang") == 0)
            finish_handshake(&b, p); /* its short deadline is for list_deps alone */
        list(&b, p, silent ? 150 * slack() : 5000 * slack());
        run_until_stopped(b.loop, 6000);
        assert_result(&b, "- ");
        if (b.out.why.kind != cases[i].kind)
            fail_msg("%s: kind %d: %s", cases[i].mode, (int)b.out.why.kind, b.out.why.msg);
        assert_has(b.out.why.msg, "package manager 'fake'");
        assert_has(b.out.why.msg, cases[i].why);
        assert_true(pm_process_dead(p));

        /* PM-9: it is not started again in this run. */
        b.out.answers = 0;
        list(&b, p, 5000);
        run_until_stopped(b.loop, 1000);
        assert_result(&b, "- - ");
        assert_has(b.out.why.msg, cases[i].why);
        assert_int_equal(starts_in(b.log), 1);
        pm_process_free(p);
        tear_down(&b);
    }
}

static void a_program_that_cannot_be_started_is_a_reason_too(void **state)
{
    static const char *const programs[] = { "/nonexistent/pm", "no-such-pm-in-path",
                                            "/etc/passwd" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        const char *argv[] = { programs[i], NULL };
        struct pm_process *p;
        struct bench b;

        set_up(&b);
        p = pm_process_new(b.loop, &(struct pm_opts){ .name = "fake", .argv = argv });
        list(&b, p, 5000);
        run_until_stopped(b.loop, 1000);
        assert_result(&b, "- ");
        assert_has(b.out.why.msg, programs[i]);
        pm_process_free(p);
        tear_down(&b);
    }
}

/* What harms nobody is no failure: stderr without end (PM-9: drained into a ring), a request or
 * notification from the program, a second answer. */
/* PM-8: a write into its closed stdin fails before its exit is seen; the exit is the reason. */
static void the_reason_of_an_end_is_waited_for(void **state)
{
    static const struct {
        const char *arg, *why;
    } cases[] = {
        { "exits", "package manager 'fake': exited with status 3: last words" },
        { "stays", "package manager 'fake': the other side closed the pipe" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pm_process *p;
        struct bench b;

        set_up(&b);
        p = fake(&b, "deaf", cases[i].arg);
        list(&b, p, 5000 * slack());
        run_until_stopped(b.loop, 5000);
        b.out.answers = 0;
        list(&b, p, 5000 * slack());
        assert_false(pm_process_dead(p));
        run_until_stopped(b.loop, 5000);
        assert_result(&b, "[] - ");
        assert_int_equal(b.out.why.kind, ERR_CLOSED);
        assert_string_equal(b.out.why.msg, cases[i].why);
        assert_true(pm_process_dead(p));
        pm_process_free(p);
        tear_down(&b);
    }
}

static void a_noisy_program_is_tolerated(void **state)
{
    static const char *const modes[] = { "stderr", "asks", "twice" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct pm_process *p;
        struct bench b;

        set_up(&b);
        p = fake(&b, modes[i], "[5]");
        list(&b, p, 5000);
        run_until_stopped(b.loop, 5000);
        run_for(b.loop, 30);
        assert_result(&b, "[5] ");
        assert_false(pm_process_dead(p));
        pm_process_free(p);
        tear_down(&b);
    }
}

/* PM-1: matched by id, whatever the order. */
static void several_requests_are_in_flight(void **state)
{
    struct pm_process *p;
    struct bench b;

    (void)state;
    set_up(&b);
    b.out.wait_for = 2;
    p = fake(&b, "swap", "");
    pm_process_call(p, "load_plugin", STR("{}"), 5000, on_answer, &b.out);
    pm_process_call(p, "active_plugins", STR("{}"), 5000, on_answer, &b.out);
    run_until_stopped(b.loop, 5000);
    assert_result(&b, "\"second\" \"first\" ");
    pm_process_free(p);
    tear_down(&b);
}

/* PM-5 */
static void each_error_code_has_its_meaning(void **state)
{
    static const struct {
        const char *code;
        enum err_kind kind;
        const char *why;
    } cases[] = {
        { "-32601", ERR_NOT_FOUND, "does not offer it" },
        { "-32001", ERR_NOT_FOUND, "because" },
        { "-32003", ERR_INVALID, "because" },
        { "-32004", ERR_DENIED, "authentication required: because" },
        { "-32005", ERR_SYS, "a program is missing: because" },
        { "-32602", ERR_PROTOCOL, "because" },
        { "-1", ERR_PROTOCOL, "because" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pm_process *p;
        struct bench b;

        set_up(&b);
        p = fake(&b, "error", cases[i].code);
        list(&b, p, 5000);
        run_until_stopped(b.loop, 5000);
        assert_result(&b, "- ");
        assert_int_equal(b.out.why.kind, cases[i].kind);
        assert_has(b.out.why.msg, cases[i].why);
        assert_int_equal(pm_is_missing(&b.out.why), cases[i].kind == ERR_SYS);
        assert_false(pm_is_network(&b.out.why));
        assert_false(pm_process_dead(p)); /* an error is an answer */
        pm_process_free(p);
        tear_down(&b);
    }
}

/* PM-5: -32002 is retried 3 times, later each time, while the deadline allows. */
static void a_network_failure_is_retried(void **state)
{
    static const struct {
        const char *failures;
        int timeout_ms;
        const char *result;
    } cases[] = {
        { "1", 20000, "[] " },
        { "2", 20000, "[] " },
        { "4", 0, "- " }, /* the next wait would pass the deadline */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pm_process *p;
        struct bench b;

        set_up(&b);
        p = fake(&b, "network", cases[i].failures);
        list(&b, p, cases[i].timeout_ms ? cases[i].timeout_ms : 200 * slack());
        run_until_stopped(b.loop, 8000);
        assert_result(&b, cases[i].result);
        if (cases[i].result[0] == '-') {
            assert_int_equal(b.out.why.kind, ERR_CLOSED);
            assert_has(b.out.why.msg, "network");
        }
        pm_process_free(p);
        tear_down(&b);
    }
}

/* PM-5: a try that could only end behind the deadline would cost the process instead. */
static void a_slow_network_failure_is_not_tried_beyond_the_deadline(void **state)
{
    char ms[16];
    struct pm_process *p;
    struct bench b;

    (void)state;
    set_up(&b);
    snprintf(ms, sizeof ms, "%d", 300 * slack());
    p = fake(&b, "slow-network", ms);
    list(&b, p, 700 * slack());
    run_until_stopped(b.loop, 8000);
    assert_result(&b, "- ");
    assert_true(pm_is_network(&b.out.why));
    assert_false(pm_process_dead(p));
    pm_process_free(p);
    tear_down(&b);
}

/* PM-2: capabilities. */
static void a_method_that_is_not_offered_is_not_called(void **state)
{
    struct pm_process *p;
    struct bench b;

    (void)state;
    set_up(&b);
    p = fake(&b, "no-list", "");
    list(&b, p, 5000);
    run_until_stopped(b.loop, 5000);
    assert_result(&b, "- ");
    assert_int_equal(b.out.why.kind, ERR_NOT_FOUND);
    assert_false(pm_process_dead(p));
    pm_process_free(p);
    tear_down(&b);
}

static void initialize_tells_version_workspace_and_cache(void **state)
{
    struct pm_process *p;
    struct bench b;

    (void)state;
    set_up(&b);
    setenv("SYMPOSIUM_CARGO", "/opt/cargo", 1); /* CF-6: forwarded */
    p = fake(&b, "params", "");
    list(&b, p, 5000);
    run_until_stopped(b.loop, 5000);
    assert_result(&b,
                  arena_printf(&b.scratch.arena,
                               "{\"protocol_version\":1,\"workspace\":\"%s\",\"cache_dir\":"
                               "\"/some/cache\",\"env\":{\"SYMPOSIUM_CARGO\":\"/opt/cargo\"}} ",
                               b.scratch.dir));
    unsetenv("SYMPOSIUM_CARGO");
    pm_process_free(p);
    tear_down(&b);
}

/* PM-10 */
static void the_environment_is_a_list_of_names_and_nothing_else(void **state)
{
    static const char *const passed[] = {
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "LC_ALL",
        "TMPDIR",
        "XDG_CACHE_HOME",
        "CARGO_HOME",
        "RUSTUP_TOOLCHAIN",
        "npm_config_registry",
        "NPM_CONFIG_CACHE",
        "NODE_EXTRA_CA_CERTS",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "SSH_AUTH_SOCK",
        "GIT_SSH_COMMAND",
        "SYMPOSIUM_CARGO",
        "HTTPS_PROXY",
        "no_proxy",
        "FAKE_PM_LOG",
    };
    static const char *const kept_back[] = {
        "API_TOKEN", "SYMPOSIUM_HOME", "LD_PRELOAD_X",          "CARGOX", "PATHX",
        "LC",        "FAKE_PM_LOG2",   "AWS_SECRET_ACCESS_KEY",
    };
    bool ours[ARRAY_LEN(passed)];
    struct pm_process *p;
    struct bench b;

    (void)state;
    set_up(&b);
    for (size_t i = 0; i < ARRAY_LEN(passed); i++) {
        ours[i] = !getenv(passed[i]);
        setenv(passed[i], "x", 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(kept_back); i++)
        setenv(kept_back[i], "x", 1);
    p = fake(&b, "names", "");
    list(&b, p, 5000);
    run_until_stopped(b.loop, 5000);
    for (size_t i = 0; i < ARRAY_LEN(passed); i++) {
        assert_has(buf_z(&b.out.result),
                   arena_printf(&b.scratch.arena, "\"name\":\"%s\"", passed[i]));
        if (ours[i])
            unsetenv(passed[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(kept_back); i++) {
        if (strstr(buf_z(&b.out.result),
                   arena_printf(&b.scratch.arena, "\"name\":\"%s\"", kept_back[i])))
            fail_msg("'%s' was passed", kept_back[i]);
        unsetenv(kept_back[i]);
    }
    pm_process_free(p);
    tear_down(&b);
}

static void freeing_ends_open_calls_and_may_happen_inside_an_answer(void **state)
{
    struct pm_process *p;
    struct bench b;

    (void)state;
    set_up(&b);
    p = fake(&b, "hang", "");
    b.out.wait_for = 4;
    list(&b, p, 5000);
    run_for(b.loop, 50); /* open or waiting */
    list(&b, p, 5000);
    pm_process_free(p);
    assert_result(&b, "- - ");
    assert_int_equal(b.out.why.kind, ERR_CLOSED);

    p = fake(&b, "good", "[]");
    list(&b, p, 5000);
    list(&b, p, 5000);
    b.out.free_it = p;
    run_until_stopped(b.loop, 5000);
    assert_int_equal(b.out.answers, 4);
    tear_down(&b);
}

static void dropped_calls_are_not_answered(void **state)
{
    struct outcome other;
    struct pm_process *p;
    struct bench b;

    (void)state;
    set_up(&b);
    other = b.out;
    p = fake(&b, "good", "[]");
    pm_process_call(p, "list_deps", (struct str){ 0 }, 5000, on_answer, &other);
    pm_process_drop(p, &other); /* still waiting for the handshake */
    list(&b, p, 5000);
    run_until_stopped(b.loop, 5000);
    pm_process_call(p, "list_deps", (struct str){ 0 }, 5000, on_answer, &other);
    pm_process_drop(p, &other); /* open */
    b.out.answers = 0;
    list(&b, p, 5000);
    run_until_stopped(b.loop, 5000);
    assert_int_equal(other.answers, 0);
    assert_result(&b, "[] [] ");
    pm_process_free(p);
    tear_down(&b);
}

static void on_gone(void *ctx)
{
    loop_stop(ctx);
}

/* PM-9: stdin close, SIGTERM, SIGKILL. */
static void closing_ends_any_program(void **state)
{
    static const struct {
        const char *mode;
        int within_ms;
    } cases[] = { { "good", 500 }, { "stubborn", 3000 } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pm_process *p;
        struct bench b;

        set_up(&b);
        p = fake(&b, cases[i].mode, "[]");
        finish_handshake(&b, p);
        pm_process_close(p, on_gone, b.loop);
        run_until_stopped(b.loop, cases[i].within_ms);
        assert_true(pm_process_dead(p));
        pm_process_free(p);
        tear_down(&b);
    }
}

static void closing_what_never_ran_is_reported_from_the_loop(void **state)
{
    struct pm_process *p;
    struct bench b;

    (void)state;
    set_up(&b);
    p = fake(&b, "good", "[]");
    pm_process_close(p, on_gone, b.loop);
    run_until_stopped(b.loop, 100);
    list(&b, p, 100);
    run_until_stopped(b.loop, 100);
    assert_result(&b, "- ");
    assert_false(file_exists(b.log));
    pm_process_free(p);
    pm_process_free(NULL);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_program_is_asked_after_one_handshake),
        cmocka_unit_test(every_misbehaviour_gives_an_empty_answer_with_a_reason),
        cmocka_unit_test(a_program_that_cannot_be_started_is_a_reason_too),
        cmocka_unit_test(the_reason_of_an_end_is_waited_for),
        cmocka_unit_test(a_noisy_program_is_tolerated),
        cmocka_unit_test(several_requests_are_in_flight),
        cmocka_unit_test(each_error_code_has_its_meaning),
        cmocka_unit_test(a_network_failure_is_retried),
        cmocka_unit_test(a_slow_network_failure_is_not_tried_beyond_the_deadline),
        cmocka_unit_test(a_method_that_is_not_offered_is_not_called),
        cmocka_unit_test(initialize_tells_version_workspace_and_cache),
        cmocka_unit_test(the_environment_is_a_list_of_names_and_nothing_else),
        cmocka_unit_test(freeing_ends_open_calls_and_may_happen_inside_an_answer),
        cmocka_unit_test(dropped_calls_are_not_answered),
        cmocka_unit_test(closing_ends_any_program),
        cmocka_unit_test(closing_what_never_ran_is_reported_from_the_loop),
    };

    log_set_level(LOG_OFF);
    return cmocka_run_group_tests_name("pm/process", tests, NULL, NULL);
}
