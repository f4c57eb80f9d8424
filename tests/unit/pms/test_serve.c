/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The conversation and its commands (PM-1, PM-5, PM-6, PM-8), with a package manager of a few
 * methods in a process of its own, since pms_main() is a program's whole life.
 */
#include "../check.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "common/run.h"
#include "text/json.h"

#define MAX_OUT ((size_t)32 << 20)

/* ---- the toy ---- */

static void *toy_open(const struct session *s)
{
    return (void *)s;
}

static void toy_close(void *state)
{
}

static void on_where(struct request *r)
{
    auto_buf out = BUF(4096);
    struct jw w = jw_to(&out);

    assert_ptr_equal(r->state, r->session);
    jw_obj(&w);
    jw_kstrz(&w, "workspace", r->session->workspace);
    jw_kstrz(&w, "cache", r->session->cache_dir);
    jw_kstrz(&w, "sent", session_env(r->session, "SENT"));
    jw_kstrz(&w, "ours", session_env(r->session, "OURS"));
    jw_end(&w);
    request_reply(r, buf_str(&out));
}

static void on_ran(void *ctx, const struct run_result *result, const struct error *why)
{
    struct request *r = ctx;
    auto_buf out = BUF(RUN_MAX_OUTPUT * 2);
    struct jw w = jw_to(&out);

    if (why) {
        request_fail(r, why);
        return;
    }
    jw_obj(&w);
    jw_kint(&w, "code", result->code);
    jw_kint(&w, "bytes", (int64_t)result->out.n);
    jw_kstr(&w, "out", str_upto(result->out, 100));
    jw_kint(&w, "err_bytes", (int64_t)result->err.n);
    jw_kstr(&w, "complaint", run_complaint(result->err));
    jw_end(&w);
    request_reply(r, buf_str(&out));
}

static void on_run(struct request *r)
{
    const char **argv = ARENA_ARRAY(&r->arena, const char *, 4);
    struct run_opts opts = { .argv = argv, .cwd = "/", .timeout_ms = 60000 };
    int64_t ms;

    argv[0] = "/bin/sh";
    argv[1] = "-c";
    argv[2] = arena_z(&r->arena, json_str(json_get(r->params, "script")));
    if (json_get(r->params, "program"))
        argv[0] = arena_z(&r->arena, json_str(json_get(r->params, "program")));
    if (json_int(json_get(r->params, "ms"), &ms))
        opts.timeout_ms = (int)ms;
    opts.progress = "running a script";
    opts.install = "install it";
    run_command(r, &opts, on_ran, r);
}

static void on_fail(struct request *r)
{
    int64_t kind = 0;
    struct error e = { 0 };

    json_int(json_get(r->params, "kind"), &kind);
    error_set(&e, (enum err_kind)kind, "it failed");
    request_fail(r, &e);
}

/* Never answered: dropped at the end. */
static void on_forget(struct request *r)
{
}

static const struct method toy_methods[] = {
    { "where", on_where },   { "run", on_run }, { "fail", on_fail },
    { "forget", on_forget }, { NULL, NULL },
};

static const struct pms_program toy = {
    .name = "toy",
    .help = "usage: toy\n",
    .capabilities = (const char *const[]){ "list_deps", NULL },
    .methods = toy_methods,
    .open = toy_open,
    .close = toy_close,
};

/* ---- talking to it ---- */

struct talk {
    pid_t pid;
    int in, out;
    struct buf said; /* everything */
};

static void start(struct talk *t)
{
    int in[2], out[2];
    char name[] = "toy", *argv[] = { name, NULL };

    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
    fflush(NULL);
    t->pid = fork();
    if (t->pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        close(out[0]);
        setenv("OURS", "from the environment", 1);
        _exit(pms_main(&toy, 1, argv));
    }
    close(in[0]);
    close(out[1]);
    t->in = in[1];
    t->out = out[0];
    t->said = BUF(MAX_OUT);
}

static void put(struct talk *t, const char *line)
{
    assert_int_equal(write(t->in, line, strlen(line)), strlen(line));
    assert_int_equal(write(t->in, "\n", 1), 1);
}

static void hello(struct talk *t)
{
    put(t, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
           "\"protocol_version\":1,\"workspace\":\"/a/./b/\",\"cache_dir\":\"/c\","
           "\"env\":{\"SENT\":\"from initialize\",\"OURS2\":7}}}");
}

static bool read_more(struct talk *t, int ms)
{
    struct pollfd f = { .fd = t->out, .events = POLLIN };
    ssize_t n;
    char *room;

    if (poll(&f, 1, ms) <= 0)
        return false;
    room = buf_room(&t->said, 1 << 16);
    assert_non_null(room);
    n = read(t->out, room, 1 << 16);
    if (n > 0)
        t->said.n += (size_t)n;
    room[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Waits until the text was said. */
static void hear(struct talk *t, const char *text)
{
    int64_t until = clock_ms() + 10000 * slack();

    while (!strstr(buf_z(&t->said), text))
        if (!read_more(t, (int)(until - clock_ms())))
            fail_msg("'%s' is missing in '%s'", text, buf_z(&t->said));
}

/* Ends it and returns how long that took. */
static int64_t end(struct talk *t, int signo)
{
    int64_t from = clock_ms();
    int status;

    if (signo)
        kill(t->pid, signo);
    else
        close(t->in);
    while (read_more(t, 20000 * slack()))
        continue;
    assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (signo)
        close(t->in);
    close(t->out);
    return clock_ms() - from;
}

/* What was killed may take a moment to be gone. */
static void assert_gone(const char *marker)
{
    int64_t until = clock_ms() + 1000 * slack();
    char command[256];

    /* the pattern does not match its own command line */
    snprintf(command, sizeof command, "! grep -qsaP '[%c]%s' /proc/[0-9]*/cmdline", marker[0],
             marker + 1);
    while (system(command) != 0)
        if (clock_ms() > until)
            fail_msg("'%s' still runs", marker);
}

/* ---- tests ---- */

/* PM-6: initialize first and once; what it says is there for every request. */
static void initialize_comes_first_and_once(void **state)
{
    struct talk t;

    (void)state;
    start(&t);
    put(&t, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"where\"}");
    hear(&t, "\"id\":9,\"error\":{\"code\":-32600");
    put(&t, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"initialize\",\"params\":{"
            "\"workspace\":\"relative\"}}");
    hear(&t, "\"id\":8,\"error\":{\"code\":-32602");
    hello(&t);
    hear(&t, "\"id\":0,\"result\":{\"protocol_version\":1,\"name\":\"toy\","
             "\"capabilities\":[\"list_deps\"]}}");
    put(&t, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"initialize\"}");
    hear(&t, "\"id\":7,\"error\":{\"code\":-32600");
    put(&t, "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"where\"}");
    hear(&t, "\"id\":6,\"result\":{\"workspace\":\"/a/b\",\"cache\":\"/c\","
             "\"sent\":\"from initialize\",\"ours\":\"from the environment\"}}");
    end(&t, 0);
    buf_free(&t.said);
}

/* PM-5: the kinds of errors and their codes. */
static void each_kind_of_error_has_its_code(void **state)
{
    static const struct {
        enum err_kind kind;
        int code;
    } cases[] = {
        { ERR_NOT_FOUND, PMS_NOT_FOUND }, { ERR_TIMEOUT, PMS_NETWORK },
        { ERR_CLOSED, PMS_NETWORK },      { ERR_INVALID, PMS_INVALID_INPUT },
        { ERR_LIMIT, PMS_INVALID_INPUT }, { ERR_DENIED, PMS_AUTH_REQUIRED },
        { ERR_PROTOCOL, -32603 },         { ERR_SYS, -32603 },
    };
    struct talk t;

    (void)state;
    start(&t);
    hello(&t);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char line[256], want[256];

        snprintf(
            line, sizeof line,
            "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"fail\",\"params\":{\"kind\":%d}}",
            i + 1, cases[i].kind);
        snprintf(want, sizeof want, "\"id\":%zu,\"error\":{\"code\":%d,\"message\":\"it failed",
                 i + 1, cases[i].code);
        put(&t, line);
        hear(&t, want);
    }
    end(&t, 0);
    buf_free(&t.said);
}

/* PM-1: an answer waits for no other one. */
static void requests_are_answered_as_they_are_done(void **state)
{
    struct talk t;

    (void)state;
    start(&t);
    hello(&t);
    put(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run\",\"params\":{\"script\":"
            "\"while [ ! -e /tmp/symposium-go-on-$PPID ]; do sleep 0.01; done;"
            " rm /tmp/symposium-go-on-$PPID; echo one; echo error: two >&2; exit 3\"}}");
    put(&t, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"where\"}");
    put(&t, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"run\",\"params\":{\"script\":"
            "\"touch /tmp/symposium-go-on-$PPID\"}}");
    hear(&t, "\"id\":2,\"result\"");
    hear(&t, "\"id\":1,\"result\":{\"code\":3,\"bytes\":4,\"out\":\"one\\n\","
             "\"err_bytes\":11,\"complaint\":\"error: two\"}");
    hear(&t, "\"id\":3,\"result\":{\"code\":0");
    end(&t, 0);
    buf_free(&t.said);
}

static void a_command_is_bounded_in_time_and_output(void **state)
{
    static const struct {
        const char *params, *want;
    } cases[] = {
        { "\"ms\":200,\"script\":\"trap '' TERM; sleep 70601 & sleep 70601\"",
          "{\"code\":-32002,\"message\":\"'/bin/sh' took longer than" },
        { "\"script\":\"head -c 9000000 /dev/zero; sleep 70601\"",
          "{\"code\":-32003,\"message\":\"'/bin/sh' wrote more than 8388608 bytes" },
        { "\"script\":\"head -c 8388608 /dev/zero\"", "{\"code\":0,\"bytes\":8388608" },
        { "\"script\":\"for i in 1 2 3 4 5 6 7 8 9; do head -c 9000 /dev/zero | tr '\\\\0' x;"
          " echo; done >&2; echo last >&2\"",
          "\"err_bytes\":9006,\"complaint\":\"last\"" },
        { "\"script\":\"kill -9 $$\"", "{\"code\":-1" },
        { "\"program\":\"/no/such/program\",\"script\":\"\"",
          "{\"code\":-32005,\"message\":\"cannot execute '/no/such/program': no such program, "
          "or "
          "the interpreter it names is missing; install it\"" },
        { "\"program\":\"/etc\",\"script\":\"\"", "{\"code\":-32603" },
        { "\"ms\":200,\"script\":\"(trap '' TERM; sleep 70601) & sleep 70601\"",
          "{\"code\":-32002" },
        { "\"script\":\"sleep 70602 & setsid sleep 70602 & echo early\"",
          "{\"code\":0,\"bytes\":6" },
    };
    struct talk t;

    (void)state;
    start(&t);
    hello(&t);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char line[512], want[256];

        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"run\",\"params\":{%s}}", i + 1,
                 cases[i].params);
        snprintf(want, sizeof want, "\"id\":%zu,", i + 1);
        put(&t, line);
        hear(&t, want);
        hear(&t, cases[i].want);
    }
    assert_gone("sleep\\x0070601");
    end(&t, 0);
    assert_gone("sleep\\x0070602"); /* left in the background: until we end */
    buf_free(&t.said);
}

/* PM-8: the end of stdin, or a signal, ends everything; what waits its turn never starts. */
static void the_end_takes_running_and_waiting_commands_with_it(void **state)
{
    static const int how[] = { 0, SIGTERM, SIGINT, SIGHUP };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(how); i++) {
        struct talk t;

        start(&t);
        hello(&t);
        put(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"forget\"}");
        for (int k = 2; k < 2 + 3 * RUN_PARALLEL; k++) {
            char line[256];

            snprintf(line, sizeof line,
                     "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"run\",\"params\":{"
                     "\"script\":\"trap '' TERM; sleep 70603 & sleep 70603; echo\"}}",
                     k);
            put(&t, line);
        }
        hear(&t, "\"id\":0,");
        usleep(100000);
        assert_true(end(&t, how[i]) < PMS_END_MS * slack());
        for (int k = 2; k < 2 + 3 * RUN_PARALLEL; k++) {
            char want[64];

            snprintf(want, sizeof want, "\"id\":%d,\"error\":{\"code\":-32002", k);
            assert_has(buf_z(&t.said), want);
        }
        assert_lacks(buf_z(&t.said), "\"id\":1,");
        assert_gone("sleep\\x0070603");
        buf_free(&t.said);
    }
}

/* Whoever asked is gone: nothing is left to do. */
static void a_closed_stdout_ends_it(void **state)
{
    struct talk t;
    int status;

    (void)state;
    start(&t);
    hello(&t);
    hear(&t, "\"id\":0,");
    put(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run\",\"params\":{"
            "\"script\":\"sleep 70604\"}}");
    close(t.out);
    put(&t, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"where\"}");
    assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
    assert_true(WIFEXITED(status));
    assert_gone("sleep\\x0070604");
    close(t.in);
    buf_free(&t.said);
}

static void open_requests_are_bounded(void **state)
{
    struct talk t;

    (void)state;
    start(&t);
    hello(&t);
    for (int i = 1; i <= PMS_MAX_OPEN + 1; i++) {
        char line[128];

        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"forget\"}", i);
        put(&t, line);
    }
    hear(&t, "\"id\":1025,\"error\":{\"code\":-32603");
    put(&t, "{\"jsonrpc\":\"2.0\",\"id\":2000,\"method\":\"where\"}");
    hear(&t, "\"id\":2000,\"error\":{\"code\":-32603");
    end(&t, 0);
    buf_free(&t.said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialize_comes_first_and_once),
        cmocka_unit_test(each_kind_of_error_has_its_code),
        cmocka_unit_test(requests_are_answered_as_they_are_done),
        cmocka_unit_test(a_command_is_bounded_in_time_and_output),
        cmocka_unit_test(the_end_takes_running_and_waiting_commands_with_it),
        cmocka_unit_test(a_closed_stdout_ends_it),
        cmocka_unit_test(open_requests_are_bounded),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("pms/serve", tests, NULL, NULL);
}
