/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The life of a server and its jobs, on real pipes: this program starts itself as "serve" or
 * "bare" (no tools). The tools: `echo` answers at once, `quick` by a short job, `walk MS` by a
 * long one that asks whether it was cancelled and tells so, `deaf` by one that never ends, `big
 * N` with N bytes, `refused` before its job began.
 */
#include "../self.h"

#include <poll.h>

#include "loop/timer.h"
#include "servers/args.h"
#include "servers/job.h"

/* ---- the server ---- */

struct toy {
    struct server *s;
    bool slow_stop;        /* ends only at a signal */
    struct timer *lasting; /* of a slow stop */
};

struct toy_args {
    bool given; /* not used: keeps the next off offset 0 */
    int64_t n;
};

static const struct arg toy_table[] = {
    { "n", ARG_UINT, offsetof(struct toy_args, n), 0 },
    { 0 },
};

static void run_echo(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    struct toy_args v = { 0 };
    struct answer a = ANSWER;
    struct error e;
    struct toy *t = ctx;

    if (!args_read(mcp_req_arena(r), args, toy_table, false, &v, &e)) {
        tool_fail(r, ARGS_FAILED "%s", e.msg);
        return;
    }
    buf_addf(&a.text, "%lld", (long long)v.n);
    a.structured_text = true;
    tool_reply(r, server_spec_of(t->s), &a);
}

struct toy_job {
    int64_t n;
};

static void on_cleanup(struct job *j)
{
    fprintf(stderr, "%s gone\n", (const char *)j->ctx);
}

static struct job *new_job(struct toy *t, struct mcp_req *r, const char *name)
{
    struct job *j = job_new(t->s, r);

    j->ctx = arena_z(&j->arena, str_of(name));
    j->cleanup = on_cleanup;
    return j;
}

static void quick(struct job *j)
{
    buf_addz(&j->answer.text, "quick");
}

static void run_quick(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    (void)args;
    job_start(new_job(ctx, r, "quick"), WORK_SHORT, quick);
}

static void walk(struct job *j)
{
    fputs("walking\n", stderr);
    for (int ms = 0; ms < 400; ms++) {
        if (job_cancelled(j)) {
            fputs("walk cancelled\n", stderr);
            return;
        }
        usleep(1000);
        job_advance(j, 10);
    }
    buf_addz(&j->answer.text, "walked");
}

static void run_walk(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    (void)args;
    job_start(new_job(ctx, r, "walk"), WORK_LONG, walk);
}

static void stay(struct job *j)
{
    fputs("stuck\n", stderr);
    for (;;)
        sleep(1000);
}

static void run_deaf(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    (void)args;
    job_start(new_job(ctx, r, "deaf"), WORK_SHORT, stay);
}

static void big(struct job *j)
{
    buf_fill(&j->answer.text, 'x', *(size_t *)j->ctx);
}

static void run_big(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    struct toy *t = ctx;
    struct job *j = job_new(t->s, r);
    struct toy_args v = { 0 };
    struct error e;

    if (!args_read(&j->arena, args, toy_table, true, &v, &e)) {
        answer_error(&j->answer, ARGS_FAILED "%s", e.msg);
        job_reply(j);
        return;
    }
    j->ctx = arena_alloc(&j->arena, sizeof(size_t));
    *(size_t *)j->ctx = (size_t)v.n;
    job_start(j, WORK_SHORT, big);
}

#define NO_INPUT "{\"type\":\"object\",\"properties\":{}}"

/* clang-format off */
static const struct tool tools[] = {
    { .name = "big",   .title = "Big",   .description = "n bytes", .input = NO_INPUT, .call = run_big },
    { .name = "deaf",  .title = "Deaf",  .description = "never",   .input = NO_INPUT, .call = run_deaf },
    { .name = "echo",  .title = "Echo",  .description = "n",       .input = NO_INPUT,
      .output = "{\"type\":\"object\"}", .read_only = HINT_TRUE, .destructive = HINT_FALSE, .call = run_echo },
    { .name = "quick", .title = "Quick", .description = "quick",   .input = NO_INPUT, .call = run_quick },
    { .name = "walk",  .title = "Walk",  .description = "walk",    .input = NO_INPUT, .call = run_walk },
};
/* clang-format on */

static void start(void *ctx, struct server *s)
{
    struct toy *t = ctx;

    t->s = s;
    assert_non_null(server_mcp(s));
}

static void expired(void *ctx)
{
    (void)ctx;
    fputs("nobody hurried it\n", stderr);
}

static void stop(void *ctx, struct server *s, bool at_once)
{
    struct toy *t = ctx;

    if (!at_once && t->slow_stop) {
        t->lasting = timer_new(server_loop(s), expired, NULL);
        timer_set(t->lasting, 60000);
    } else {
        timer_free(take_ptr(&t->lasting));
        server_stopped(s);
    }
    fprintf(stderr, "stop %d\n", at_once);
}

static int serve(const char *what)
{
    struct toy t = { .slow_stop = !strcmp(what, "slow") };
    struct server_spec def = {
        .mcp = { .name = "toy", .instructions = "play" },
        .tools = tools,
        .ntools = ARRAY_LEN(tools),
        .split_advice = "ask for less",
        .start = start,
        .stop = stop,
    };

    if (!strcmp(what, "bare"))
        def.ntools = 0;
    return server_run(&def, &t);
}

/* ---- its client ---- */

struct peer {
    struct self self;
    struct buf heard;
};

static void begin(struct peer *p, const char *what)
{
    self_start(&p->self, "test_servers_server", what);
    p->heard = BUF(64 << 20);
}

static void say(struct peer *p, const char *text)
{
    self_say(&p->self, text);
}

static void end_input(struct peer *p)
{
    close(p->self.in);
    p->self.in = -1;
}

/* Reads what comes on fd until `want` is in it, or the end. */
static void hear(struct peer *p, int fd, const char *want)
{
    int64_t until = clock_ms() + 3000 * slack();

    while (!want || !strstr(buf_z(&p->heard), want)) {
        struct pollfd one = { .fd = fd, .events = POLLIN };
        char bytes[65536];
        ssize_t n;

        if (clock_ms() > until)
            fail_msg("'%s' did not come; there is: %.2000s", want ? want : "the end",
                     buf_z(&p->heard));
        if (poll(&one, 1, 20) != 1)
            continue;
        n = read(fd, bytes, sizeof bytes);
        if (n <= 0)
            break;
        buf_add(&p->heard, (struct str){ bytes, (size_t)n });
    }
    if (want)
        assert_has(buf_z(&p->heard), want);
}

/* Its exit status is 0, within ms * slack. */
static void finish(struct peer *p, int ms)
{
    assert_int_equal(self_finish(&p->self, ms), 0);
    buf_free(&p->heard);
}

#define INIT                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" \
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
#define LIST "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n"
#define CALL(id, name, more)          \
    "{\"jsonrpc\":\"2.0\",\"id\":" id \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"" more "}}\n"
#define N(n) ",\"arguments\":{\"n\":" n "}"
#define CANCEL(id)                                     \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" \
    "cancelled\",\"params\":{\"requestId\":" id "}}\n"

/* Everything that `input` gives, until the end. */
static void check_answers(const char *what, const char *input, const char *const *want)
{
    struct peer p;

    begin(&p, what);
    say(&p, input);
    end_input(&p);
    hear(&p, p.self.out, NULL);
    for (; *want; want++)
        assert_has(buf_z(&p.heard), *want);
    finish(&p, 1000);
}

/* SV-12, SV-15, SV-16, SV-18, SV-19: the table is the list, in its order; an unknown tool is
 * -32602, bad arguments are a result. */
static void the_table_is_what_is_listed_and_called(void **state)
{
    static const char *const want[] = {
        "\"serverInfo\":{\"name\":\"toy\",\"version\":\"" SYM_VERSION "\"}",
        "\"instructions\":\"play\"",
        "{\"name\":\"echo\",\"title\":\"Echo\",\"description\":\"n\",\"inputSchema\":" NO_INPUT
        ",\"outputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true,"
        "\"destructiveHint\":false}},{\"name\":\"quick\"",
        "\"id\":3,\"error\":{\"code\":-32602,\"message\":\"tool not found\"}",
        "\"id\":4,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"failed to deserialize "
        "parameters: missing field `n`\"}],\"isError\":true}",
        "\"id\":5,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"7\"}],"
        "\"structuredContent\":{\"content\":\"7\"},\"isError\":false}",
        "\"id\":6,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"quick\"}],"
        "\"isError\":false}",
        "\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"failed to deserialize "
        "parameters: unknown field `x`\"}],\"isError\":true}",
        NULL,
    };

    check_answers("serve",
                  INIT LIST CALL("3", "nothing", "") CALL("4", "echo", "")
                      CALL("5", "echo", N("7.0")) CALL("6", "quick", "")
                          CALL("7", "big", ",\"arguments\":{\"n\":1,\"x\":1}"),
                  want);
    (void)state;
}

/* SV-12 */
static void a_server_without_tools_says_so(void **state)
{
    static const char *const want[] = {
        "\"capabilities\":{}",
        "\"id\":2,\"result\":{\"tools\":[]}",
        "\"id\":3,\"error\":{\"code\":-32601",
        NULL,
    };

    check_answers("bare", INIT LIST CALL("3", "echo", N("1")), want);
    (void)state;
}

/* SV-14, SV-11: the short answer does not wait for the long one, which is still given after the
 * end of the input. */
static void a_long_job_delays_nobody(void **state)
{
    struct peer p;
    const char *walked, *quickly;

    begin(&p, "serve");
    say(&p, INIT CALL("3", "walk", "") CALL("4", "walk", "") CALL("5", "walk", "")
                CALL("6", "walk", "") CALL("7", "walk", "") CALL("8", "quick", ""));
    end_input(&p);
    hear(&p, p.self.out, NULL);
    walked = strstr(buf_z(&p.heard), "walked");
    quickly = strstr(buf_z(&p.heard), "\"quick\"");
    assert_true(walked && quickly && quickly < walked);
    for (const char *id = "34567"; *id; id++) {
        char want[64];

        snprintf(want, sizeof want, "\"id\":%c,\"result\":{\"content\":[{\"type\":\"text\",",
                 *id);
        assert_has(buf_z(&p.heard), want);
    }
    finish(&p, 1000);
    (void)state;
}

/* SV-14 */
static void a_cancelled_job_ends_and_is_not_answered(void **state)
{
    struct peer p;

    begin(&p, "serve");
    say(&p, INIT CALL("3", "walk", ""));
    hear(&p, p.self.err, "walking\n");
    say(&p, CANCEL("3") CALL("4", "quick", ""));
    hear(&p, p.self.err, "walk cancelled\n");
    hear(&p, p.self.err, "walk gone\n");
    end_input(&p);
    hear(&p, p.self.out, NULL);
    assert_has(buf_z(&p.heard), "\"id\":4");
    assert_lacks(buf_z(&p.heard), "\"id\":3");
    finish(&p, 1000);
    (void)state;
}

static void progress_is_told_to_who_asked(void **state)
{
    struct peer p;

    begin(&p, "serve");
    say(&p,
        INIT CALL("3", "walk", ",\"_meta\":{\"progressToken\":\"t\"}") CALL("4", "walk", ""));
    end_input(&p);
    hear(&p, p.self.out, NULL);
    assert_has(buf_z(&p.heard), "\"method\":\"notifications/progress\",\"params\":{"
                                "\"progressToken\":\"t\",\"progress\":");
    finish(&p, 1000);
    (void)state;
}

/* SV-30, over the wire */
static void a_result_too_large_is_a_tool_error(void **state)
{
    static const char *const want[] = {
        "\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"The result has more "
        "than "
        "9961472 bytes, an answer at most 9961472. To get it in parts: ask for less\"}],"
        "\"isError\":true}",
        "xxx\"}],\"isError\":false}}\n",
        NULL,
    };

    check_answers("serve", INIT CALL("3", "big", N("9961472")) CALL("4", "big", N("9950000")),
                  want);
    (void)state;
}

/* SV-11: at once at a signal, whatever is still running; what no one can end is left behind. */
static void a_signal_ends_it_at_once(void **state)
{
    static const struct {
        const char *tool, *running, *want;
        int ms;
    } cases[] = {
        { CALL("3", "walk", ""), "walking\n", "walk cancelled\n", 1000 },
        { CALL("3", "deaf", ""), "stuck\n", "leaving behind 1 jobs", WORK_END_MS + 1000 },
    };
    static const int signals[] = { SIGTERM, SIGINT, SIGHUP };

    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(signals); i++) {
        size_t of = i / ARRAY_LEN(signals);
        struct peer p;

        if (of == 1 && i % ARRAY_LEN(signals))
            continue; /* one of the slow ones is enough */
        begin(&p, "serve");
        say(&p, INIT);
        hear(&p, p.self.out, "serverInfo");
        say(&p, cases[of].tool);
        hear(&p, p.self.err, cases[of].running);
        kill(p.self.pid, signals[i % ARRAY_LEN(signals)]);
        hear(&p, p.self.err, "stop 1\n");
        hear(&p, p.self.err, cases[of].want);
        finish(&p, cases[of].ms);
    }
    (void)state;
}

/* SV-11: stdout closed, found although nothing is written */
static void a_closed_stdout_ends_it_at_once(void **state)
{
    struct peer p;

    begin(&p, "serve");
    say(&p, INIT CALL("3", "walk", ""));
    hear(&p, p.self.out, "serverInfo");
    close(p.self.out);
    p.self.out = open("/dev/null", O_RDONLY | O_CLOEXEC);
    end_input(&p);
    hear(&p, p.self.err, "stop 1\n");
    finish(&p, 1000);
    (void)state;
}

static void a_signal_makes_a_slow_stop_hurry(void **state)
{
    struct peer p;

    begin(&p, "slow");
    say(&p, INIT);
    end_input(&p);
    hear(&p, p.self.err, "stop 0\n");
    assert_int_equal(waitpid(p.self.pid, NULL, WNOHANG), 0);
    kill(p.self.pid, SIGTERM);
    hear(&p, p.self.err, "stop 1\n");
    finish(&p, 1000);
    (void)state;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_what_is_listed_and_called),
        cmocka_unit_test(a_server_without_tools_says_so),
        cmocka_unit_test(a_long_job_delays_nobody),
        cmocka_unit_test(a_cancelled_job_ends_and_is_not_answered),
        cmocka_unit_test(progress_is_told_to_who_asked),
        cmocka_unit_test(a_result_too_large_is_a_tool_error),
        cmocka_unit_test(a_signal_ends_it_at_once),
        cmocka_unit_test(a_closed_stdout_ends_it_at_once),
        cmocka_unit_test(a_signal_makes_a_slow_stop_hurry),
    };

    if (argc > 1)
        return serve(argv[1]);
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("servers/server", tests, NULL, NULL);
}
