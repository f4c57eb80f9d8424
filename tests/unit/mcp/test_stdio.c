/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A server on real pipes: this program starts itself as "serve", whose tools are `echo`
 * (answers at once), `later MS` (answers after that), `never`, `big N` (answers N bytes), and
 * `late big N` (the same after LATE_BIG_MS). MCP-S1, S2; MS-1, MS-3.
 */
#include "support.h"

#include <errno.h>
#include <poll.h>

#include "../self.h"

#include "mcp/stdio.h"

#define LATE_BIG_MS 300

/* ---- the server ---- */

struct pending {
    struct mcp_req *r;
    struct timer *t;
    size_t bytes;
};

struct served {
    struct loop *loop;
    struct mcp_stdio *stdio;
    int status;
};

static void answer_text(struct mcp_req *r, size_t n)
{
    auto_buf out = BUF(64 << 20);

    buf_addz(&out, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    buf_fill(&out, 'z', n);
    buf_addz(&out, "\"}]}");
    mcp_reply(r, buf_str(&out));
}

static void on_later(void *ctx)
{
    struct pending *p = ctx;
    struct mcp_req *r = p->r;
    size_t bytes = p->bytes;

    timer_free(p->t);
    free(p);
    answer_text(r, bytes);
}

static void on_later_cancel(void *ctx)
{
    struct pending *p = ctx;

    timer_free(p->t);
    free(p);
    fputs("cancelled\n", stderr);
}

static void tools_list(void *ctx, struct mcp_req *r)
{
    mcp_reply(r, STR("{\"tools\":[]}"));
}

static void tools_call(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args)
{
    struct served *s = ctx;
    int64_t n = 0;
    struct pending *p;

    json_int(json_get(args, "n"), &n);
    if (!str_is(name, "later") && !str_is(name, "never") && !str_is(name, "late big")) {
        answer_text(r, str_is(name, "big") ? (size_t)n : 1);
        return;
    }
    p = NEW(struct pending);
    p->r = r;
    p->t = timer_new(s->loop, on_later, p);
    p->bytes = str_is(name, "late big") ? (size_t)n : 1;
    if (!str_is(name, "never"))
        timer_set(p->t, p->bytes > 1 ? LATE_BIG_MS : (int)n);
    mcp_req_on_cancel(r, on_later_cancel, p);
}

static void on_done(void *ctx, enum stdio_end why)
{
    struct served *s = ctx;

    s->status = why == STDIO_EOF ? 10 : why == STDIO_HANGUP ? 20 : 30;
    mcp_stdio_free(s->stdio, why == STDIO_EOF ? 400 : 0);
}

static int serve(void)
{
    static const struct mcp_server_def def = {
        .name = "s",
        .version = "1",
        .tools_list_changed = true,
        .tools_list = tools_list,
        .tools_call = tools_call,
    };
    struct served s = { .loop = loop_new() };

    s.stdio = mcp_stdio_new(s.loop, &def, &s, on_done);
    loop_run(s.loop);
    loop_free(s.loop);
    return s.status;
}

/* ---- its client ---- */

/* Reads until n lines are there or the end; waits ms * slack at most. */
static size_t hear(struct self *p, struct buf *out, size_t lines, int ms)
{
    int64_t until = clock_ms() + (int64_t)ms * slack();
    size_t seen = 0;

    for (size_t i = 0; i < out->n; i++)
        seen += out->p[i] == '\n';
    while (seen < lines && clock_ms() < until) {
        struct pollfd fd = { .fd = p->out, .events = POLLIN };
        char bytes[65536];
        ssize_t n;

        if (poll(&fd, 1, 20) != 1)
            continue;
        n = read(p->out, bytes, sizeof bytes);
        if (n <= 0)
            break;
        for (ssize_t i = 0; i < n; i++)
            seen += bytes[i] == '\n';
        buf_add(out, (struct str){ bytes, (size_t)n });
    }
    return seen;
}

#define INIT                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" \
    "\"2025-11-25\"}}\n"
#define INITED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define LIST   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n"
#define CALL(id, name, n)                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                                      \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\",\"arguments\":{\"n\":" n \
    "}}}\n"
#define LISTEN                                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"subscriptions/listen\",\"params\":{" \
    "\"notifications\":{\"toolsListChanged\":true},\"_meta\":{"                          \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                        \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n"

/* MS-3: exactly so many lines, then exit. */
static void input_ends_after_its_requests_are_answered(void **state)
{
    static const struct {
        const char *what, *input;
        size_t lines;
    } rows[] = {
        { "MS-3: initialize, initialized, tools/list: two lines", INIT INITED LIST, 2 },
        { "nothing at all", "", 0 },
        { "a slow call is waited for", INIT CALL("3", "later", "150"), 2 },
        { "the last line may lack its newline",
          INIT "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}", 2 },
        { "CRLF and blank lines (mcp.md 4)",
          "\r\n\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\r\n\n", 1 },
        { "a listen is answered at once, with its closing result",
          LISTEN CALL("3", "later", "100"), 3 },
        { "a cut line is malformed", "{\"jsonrpc\":\"2.0\",\"id\"", 1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf out = BUF(1 << 20);
        struct self p;

        print_message("    %s\n", rows[i].what);
        self_start(&p, "test_mcp_stdio", "serve");
        self_say(&p, rows[i].input);
        close(p.in);
        p.in = -1;
        assert_int_equal(hear(&p, &out, 99, 2000), rows[i].lines);
        for (struct str line, rest = buf_str(&out); str_cut(rest, '\n', &line, &rest);) {
            auto_json j = { 0 };

            parse(&j, line); /* MCP-S1: nothing else on stdout */
            assert_true(str_is(json_str(json_get(j.root, "jsonrpc")), "2.0"));
        }
        assert_int_equal(self_finish(&p, 100), 10);
    }
}

/* MS-3: stdout closed: everything is cancelled at once, idle or busy, found by writing or not.
 */
static void a_client_that_hung_up_ends_the_server(void **state)
{
    static const struct {
        const char *what, *input;
        bool close_in;
    } rows[] = {
        { "found at the end of stdin", INIT CALL("3", "never", "0"), true },
        { "found by an answer", INIT CALL("3", "later", "100"), false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf out = BUF(1 << 20);
        struct self p;

        print_message("    %s\n", rows[i].what);
        self_start(&p, "test_mcp_stdio", "serve");
        self_say(&p, rows[i].input);
        hear(&p, &out, 1, 1000);
        close(p.out);
        p.out = -1;
        if (rows[i].close_in) {
            close(p.in);
            p.in = -1;
        }
        assert_int_equal(self_finish(&p, 500), 20);
    }
}

/* The reader goes away while the last answer is awaited: noticed although nothing is written.
 */
static void a_hang_up_after_the_end_of_input_is_noticed(void **state)
{
    auto_buf out = BUF(1 << 20);
    struct self p;

    self_start(&p, "test_mcp_stdio", "serve");
    self_say(&p, INIT CALL("3", "never", "0"));
    close(p.in);
    p.in = -1;
    hear(&p, &out, 1, 1000);
    usleep(100 * 1000);
    assert_int_equal(waitpid(p.pid, NULL, WNOHANG), 0);
    close(p.out);
    p.out = -1;
    assert_int_equal(self_finish(&p, 500), 20);
}

/* MCP-S2, MS-3: signals end it at once, and what was open is cancelled. */
static void signals_end_the_server(void **state)
{
    static const int signals[] = { SIGTERM, SIGINT, SIGHUP };

    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        auto_buf out = BUF(1 << 20);
        char err[256] = "";
        struct self p;

        self_start(&p, "test_mcp_stdio", "serve");
        self_say(&p, INIT CALL("3", "never", "0") LIST);
        assert_int_equal(hear(&p, &out, 2, 1000), 2);
        kill(p.pid, signals[i]);
        assert_true(read(p.err, err, sizeof err - 1) > 0);
        assert_string_equal(err, "cancelled\n");
        assert_int_equal(self_finish(&p, 300), 30);
    }
}

/* A client that does not read gets no more answers made for it, and all of them once it reads.
 */
static void answers_wait_for_a_slow_reader(void **state)
{
    auto_buf out = BUF(64 << 20);
    struct self p;

    self_start(&p, "test_mcp_stdio", "serve");
    for (int i = 0; i < 30; i++)
        self_say(&p, CALL("3", "big", "1000000"));
    usleep(200 * 1000);
    close(p.in);
    p.in = -1;
    assert_int_equal(hear(&p, &out, 30, 10000), 30);
    assert_int_equal(self_finish(&p, 500), 10);
}

/* MS-3: more than ever waits for stdout, asked for in one write. */
static void no_answer_is_lost_however_much_there_is(void **state)
{
    auto_buf out = BUF(512 << 20), ask = BUF(1 << 20);
    struct self p;

    self_start(&p, "test_mcp_stdio", "serve");
    for (int i = 0; i < 24; i++)
        buf_addz(&ask, CALL("3", "big", "4000000"));
    self_say(&p, buf_z(&ask));
    assert_int_equal(hear(&p, &out, 24, 20000), 24);
    assert_null(strstr(buf_z(&out), "\"error\""));
    close(p.in);
    p.in = -1;
    assert_int_equal(self_finish(&p, 500), 10);
}

/* Answers made at once for all that is open cannot wait for room: the last ones say so. */
static void an_answer_without_room_becomes_an_error(void **state)
{
    auto_buf out = BUF(512 << 20), ask = BUF(1 << 20);
    struct self p;

    self_start(&p, "test_mcp_stdio", "serve");
    for (int i = 0; i < 24; i++)
        buf_addf(&ask, CALL("%d", "late big", "4000000"), i);
    self_say(&p, buf_z(&ask));
    usleep(2 * LATE_BIG_MS * 1000);
    assert_int_equal(hear(&p, &out, 24, 20000), 24);
    assert_non_null(strstr(buf_z(&out), "-32603"));
    assert_non_null(strstr(buf_z(&out), "has not read"));
    close(p.in);
    p.in = -1;
    assert_int_equal(self_finish(&p, 500), 10);
}

/* MS-3: the end of input gives a client that reads slowly the time it takes. */
static void a_reader_that_goes_on_gets_all_after_the_end_of_input(void **state)
{
    auto_buf out = BUF(64 << 20);
    struct self p;

    self_start(&p, "test_mcp_stdio", "serve");
    for (int i = 0; i < 3; i++)
        self_say(&p, CALL("3", "big", "1000000"));
    close(p.in);
    p.in = -1;
    for (int i = 0; i < 12; i++) {
        char some[32 << 10];
        ssize_t n;

        usleep(100 * 1000);
        n = read(p.out, some, sizeof some);
        assert_true(n > 0);
        buf_add(&out, (struct str){ some, (size_t)n });
    }
    assert_int_equal(hear(&p, &out, 3, 10000), 3);
    assert_int_equal(self_finish(&p, 500), 10);
}

/* mcp.md 4: 16 MiB a line. */
static void an_over_long_line_is_answered_and_survived(void **state)
{
    auto_buf out = BUF(1 << 20), line = BUF(32 << 20);
    struct self p;

    self_start(&p, "test_mcp_stdio", "serve");
    buf_fill(&line, 'x', 17 << 20);
    buf_addc(&line, '\n');
    fcntl(p.in, F_SETFL, 0);
    for (size_t at = 0; at < line.n;) {
        ssize_t n = write(p.in, line.p + at, line.n - at);

        assert_true(n > 0);
        at += (size_t)n;
    }
    self_say(&p, LIST);
    assert_int_equal(hear(&p, &out, 2, 2000), 2);
    assert_non_null(strstr(buf_z(&out), "-32600"));
    assert_null(strstr(buf_z(&out), "\"id\":null"));
    close(p.in);
    p.in = -1;
    assert_int_equal(self_finish(&p, 200), 10);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input_ends_after_its_requests_are_answered),
        cmocka_unit_test(a_client_that_hung_up_ends_the_server),
        cmocka_unit_test(a_hang_up_after_the_end_of_input_is_noticed),
        cmocka_unit_test(signals_end_the_server),
        cmocka_unit_test(answers_wait_for_a_slow_reader),
        cmocka_unit_test(no_answer_is_lost_however_much_there_is),
        cmocka_unit_test(an_answer_without_room_becomes_an_error),
        cmocka_unit_test(a_reader_that_goes_on_gets_all_after_the_end_of_input),
        cmocka_unit_test(an_over_long_line_is_answered_and_survived),
    };

    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        return serve();
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
