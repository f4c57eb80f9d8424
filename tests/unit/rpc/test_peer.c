/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include "rpc/peer.h"

/* One peer whose other side is the test: what it sends is kept, what it hears is noted. */
struct side {
    struct loop *loop;
    struct peer *peer;
    struct buf sent;  /* messages, each with a newline */
    struct buf heard; /* "request:m:7|" ... */
    bool refuse_send, free_in_callback;
    int batches;
};

static bool send_(void *ctx, struct str message, struct error *e)
{
    struct side *s = ctx;

    if (s->refuse_send)
        return error_set(e, ERR_CLOSED, "no way");
    buf_add(&s->sent, message);
    buf_addc(&s->sent, '\n');
    return true;
}

static void maybe_free(struct side *s)
{
    if (!s->free_in_callback)
        return;
    peer_free(s->peer);
    s->peer = NULL;
}

static void on_request(void *ctx, const struct rpc_msg *m)
{
    struct side *s = ctx;

    buf_addf(&s->heard, "request:%.*s:%.*s|", STR_F(m->method), STR_F(m->id));
    maybe_free(s);
}

static void on_notification(void *ctx, const struct rpc_msg *m)
{
    struct side *s = ctx;

    buf_addf(&s->heard, "note:%.*s|", STR_F(m->method));
    maybe_free(s);
}

static void on_fault(void *ctx, enum peer_fault fault, struct str id, const struct error *why)
{
    static const char *const names[] = { "not-json", "not-message", "too-long", "stray" };
    struct side *s = ctx;

    assert_true(why->msg[0] != '\0');
    buf_addf(&s->heard, "%s:%.*s|", names[fault], STR_F(id));
    maybe_free(s);
}

static void on_batch(void *ctx, struct rpc_doc *doc)
{
    struct side *s = ctx;

    s->batches++;
    for (struct json_iter it = json_iter(doc->json.root); json_next(&it);) {
        if (!peer_feed_value(s->peer, doc, it.val))
            return;
    }
}

static const struct peer_ops ops = { send_, on_request, on_notification, on_fault, NULL };
static const struct peer_ops batch_ops = { send_, on_request, on_notification, on_fault,
                                           on_batch };

/* What became of one call. */
struct outcome {
    int times;
    enum err_kind kind;
    int64_t code;
    char text[64]; /* of the result, as JSON */
    bool replied;
    struct side *free_side;
    struct loop *stop;
};

static void done(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct outcome *o = ctx;

    o->times++;
    o->kind = e ? e->kind : ERR_NONE;
    o->replied = reply != NULL;
    if (reply) {
        auto_buf b = BUF(60);

        o->code = reply->code;
        if (reply->result)
            json_put_val(&b, reply->result);
        snprintf(o->text, sizeof o->text, "%s", buf_z(&b));
    }
    if (o->free_side) {
        peer_free(o->free_side->peer);
        o->free_side->peer = NULL;
    }
    if (o->stop)
        loop_stop(o->stop);
}

static void side_init(struct side *s, const struct peer_ops *with)
{
    *s = (struct side){ .loop = loop_new(),
                        .sent = BUF((size_t)1 << 22),
                        .heard = BUF((size_t)1 << 20) };
    s->peer = peer_new(s->loop, with, s);
}

static void side_end(struct side *s)
{
    peer_free(s->peer);
    buf_free(&s->sent);
    buf_free(&s->heard);
    loop_free(s->loop);
}

static uint64_t call(struct side *s, struct outcome *o, int timeout_ms)
{
    struct peer_call c = { .method = "m", .timeout_ms = timeout_ms };
    struct error e;
    uint64_t h = peer_call(s->peer, &c, done, o, &e);

    assert_true(h > 0);
    return h;
}

static bool feed(struct side *s, const char *line)
{
    return peer_feed(s->peer, str_of(line));
}

static void calls_notes_and_answers_are_written_as_json_rpc(void **state)
{
    struct side s;
    struct outcome o = { 0 };
    struct error e;

    side_init(&s, &ops);
    struct peer_call plain = { .method = "a/\"b", .timeout_ms = 1000 };
    struct peer_call full = {
        .method = "c", .params = STR("{\"x\":\n1}"), .timeout_ms = 1000, .string_id = true
    };
    assert_int_equal(peer_call(s.peer, &plain, done, &o, &e), 1);
    assert_int_equal(peer_call(s.peer, &full, done, &o, &e), 2);
    assert_str(peer_call_id(s.peer, 1), "1");
    assert_str(peer_call_id(s.peer, 2), "\"probe-2\"");
    assert_str(peer_call_id(s.peer, 3), "");
    assert_true(peer_notify(s.peer, "n", (struct str){ 0 }, &e));
    assert_true(peer_notify(s.peer, "n", STR("{}"), &e));
    assert_true(peer_reply(s.peer, STR("\"q\""), STR("[1]"), &e));
    assert_true(peer_reply_error(s.peer, STR("9"), -32601, STR("no \"m\""), STR("{}"), &e));
    assert_true(peer_reply_error(s.peer, (struct str){ 0 }, RPC_PARSE_ERROR, STR("bad"),
                                 (struct str){ 0 }, &e));
    assert_str(
        buf_str(&s.sent),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a/\\\"b\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":\"probe-2\",\"method\":\"c\",\"params\":{\"x\": 1}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":[1]}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32601,\"message\":\"no "
        "\\\"m\\\"\",\"data\":{}}}\n"
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"bad\"}}\n");
    assert_int_equal(o.times, 0); /* nothing is called back from inside peer_call() */
    side_end(&s);
    assert_int_equal(o.times, 2);
    (void)state;
}

static void answers_reach_their_calls_in_any_order(void **state)
{
    struct outcome o[3] = { 0 };
    struct side s;

    side_init(&s, &ops);
    for (size_t i = 0; i < 3; i++)
        call(&s, &o[i], 1000);
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"three\"}"));
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1e400}}"));
    assert_true(
        feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-5,\"message\":\"two\"}}"));
    assert_string_equal(o[2].text, "\"three\"");
    assert_string_equal(o[0].text, "{\"a\":1e400}");
    assert_int_equal(o[1].kind, ERR_INVALID);
    assert_true(o[1].replied);
    assert_int_equal(o[1].code, -5);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(o[i].times, 1);
    assert_int_equal(peer_inflight(s.peer), 0);
    assert_int_equal(peer_stats(s.peer).answers, 3);
    loop_run(s.loop); /* no timer of a finished call holds the loop */
    side_end(&s);
    (void)state;
}

static void both_sides_may_call_each_with_its_own_ids(void **state)
{
    struct outcome o = { 0 };
    struct side s;

    side_init(&s, &ops);
    call(&s, &o, 1000);
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"theirs\"}"));
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"theirs\"}"));
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"note\"}"));
    assert_str(buf_str(&s.heard), "request:theirs:1|request:theirs:\"1\"|note:note|");
    assert_int_equal(o.times, 0);
    side_end(&s);
    (void)state;
}

/* SEC-27: unknown id, string for number, null, fraction: dropped and counted; the true answer
 * still works. */
static void answers_with_a_wrong_id_are_dropped_and_counted(void **state)
{
    static const struct {
        const char *id;
        bool stray;
    } cases[] = {
        { "2", true },
        { "0", true },
        { "-1", true },
        { "\"1\"", true },
        { "\"probe-1\"", true },
        { "\"\"", true },
        { "18446744073709551617", true },
        { "null", false },
        { "2.0", true },
        { "-1e0", true },
        { "1.5", false },
        { "1e-1", false },
        { "true", false },
        { "[1]", false },
    };
    struct outcome o = { 0 };
    struct side s;
    uint64_t stray = 0, malformed = 0;

    side_init(&s, &ops);
    call(&s, &o, 1000);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char line[128];

        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\"wrong\"}",
                 cases[i].id);
        assert_true(feed(&s, line));
        stray += cases[i].stray;
        malformed += !cases[i].stray;
        assert_int_equal(o.times, 0);
        assert_int_equal(peer_stats(s.peer).stray, stray);
        assert_int_equal(peer_stats(s.peer).malformed, malformed);
    }
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"right\"}"));
    assert_int_equal(o.times, 1);
    assert_string_equal(o.text, "\"right\"");
    side_end(&s);
    (void)state;
}

/* mcp.md section 2: numbers are compared by value. */
static void a_number_written_in_another_way_is_the_same_id(void **state)
{
    static const char *const ids[] = { "1.0", "1e0", "10e-1", "0.1E+1" };

    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct outcome o = { 0 };
        struct side s;
        char line[128];

        side_init(&s, &ops);
        call(&s, &o, 1000);
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":7}", ids[i]);
        assert_true(feed(&s, line));
        assert_int_equal(o.times, 1);
        assert_string_equal(o.text, "7");
        side_end(&s);
    }
    (void)state;
}

static void a_string_id_is_not_answered_by_the_number(void **state)
{
    struct outcome o = { 0 };
    struct peer_call c = { .method = "m", .timeout_ms = 1000, .string_id = true };
    struct side s;

    side_init(&s, &ops);
    assert_int_equal(peer_call(s.peer, &c, done, &o, NULL), 1);
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}"));
    assert_int_equal(o.times, 0);
    assert_int_equal(peer_stats(s.peer).stray, 1);
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":\"probe-1\",\"result\":1}"));
    assert_int_equal(o.times, 1);
    side_end(&s);
    (void)state;
}

/* SEC-28 */
static void of_two_answers_the_first_wins(void **state)
{
    struct outcome o = { 0 };
    struct side s;

    side_init(&s, &ops);
    call(&s, &o, 1000);
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"first\"}"));
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"second\"}"));
    assert_true(feed(
        &s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"third\"}}"));
    assert_int_equal(o.times, 1);
    assert_string_equal(o.text, "\"first\"");
    assert_int_equal(peer_stats(s.peer).late, 2);
    assert_str(buf_str(&s.heard), "");
    side_end(&s);
    (void)state;
}

/* SEC-25, MS-57: a timeout ends the call only; its late answer meets no other call. */
static void a_late_answer_is_dropped_and_not_given_to_a_new_call(void **state)
{
    struct outcome first = { 0 }, second = { 0 };
    struct side s;
    int64_t at = clock_ms();

    side_init(&s, &ops);
    first.stop = s.loop;
    call(&s, &first, 30);
    run_until_stopped(s.loop, 1000);
    assert_true(clock_ms() - at >= 30);
    assert_int_equal(first.kind, ERR_TIMEOUT);
    assert_false(first.replied);
    call(&s, &second, 1000);
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"late\"}"));
    assert_int_equal(first.times, 1);
    assert_int_equal(second.times, 0);
    assert_int_equal(peer_stats(s.peer).late, 1);
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"mine\"}"));
    assert_string_equal(second.text, "\"mine\"");
    side_end(&s);
    (void)state;
}

/* SEC-29: such an answer refuses its call; nothing else is hurt. */
static void a_broken_answer_ends_its_call_with_a_protocol_error(void **state)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{\"code\":1,\"message\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1}",
        "{\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"text\"}",
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},"
         "{\"jsonrpc\":\"2.0\",\"method\":\"never\"},7,[]]"),
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct outcome o = { 0 }, other = { 0 };
        struct side s;

        side_init(&s, &ops);
        call(&s, &o, 1000);
        call(&s, &other, 1000);
        assert_true(feed(&s, lines[i]));
        assert_int_equal(o.times, 1);
        assert_int_equal(o.kind, ERR_PROTOCOL);
        assert_false(o.replied);
        assert_int_equal(other.times, 0);
        assert_int_equal(peer_stats(s.peer).malformed, 1);
        assert_null(strstr(buf_z(&s.heard), "never"));
        assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1}"));
        assert_int_equal(other.kind, ERR_NONE);
        side_end(&s);
    }
    (void)state;
}

/* MCP 2025-03-26 has batches; the owner says so by giving on_batch. */
static void batches_are_served_where_the_owner_takes_them(void **state)
{
    struct outcome o = { 0 };
    struct side s;

    side_init(&s, &batch_ops);
    call(&s, &o, 1000);
    assert_true(feed(&s, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":5},{\"jsonrpc\":\"2.0\","
                         "\"id\":4,\"method\":\"r\"}]"));
    assert_int_equal(s.batches, 1);
    assert_string_equal(o.text, "5");
    assert_str(buf_str(&s.heard), "request:r:4|");
    side_end(&s);
    (void)state;
}

/* SEC-38, SEC-39 */
static void what_is_no_message_is_dropped_counted_and_told(void **state)
{
    static const struct {
        const char *line, *heard;
    } cases[] = {
        { "hello", "not-json:|" },
        { "{\"a\":\"\xff\"}", "not-json:|" },
        { "{\"a\":\"\xed\xa0\x80\"}", "not-json:|" },
        { "{", "not-json:|" },
        { "{}{}", "not-json:|" },
        { "{}", "not-message:|" },
        { "7", "not-message:|" },
        { "[]", "not-message:|" },
        { "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":1}", "not-message:8|" },
        { "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"m\",\"params\":1}",
          "not-message:\"x\"|" },
        { "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":1}", "stray:99|" },
    };
    auto_buf deep = BUF((size_t)1 << 20);
    struct outcome o = { 0 };
    struct side s;

    side_init(&s, &ops);
    call(&s, &o, 1000);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_clear(&s.heard);
        assert_true(feed(&s, cases[i].line));
        assert_str(buf_str(&s.heard), cases[i].heard);
    }
    buf_addz(&deep, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":");
    buf_fill(&deep, '[', 100000);
    buf_fill(&deep, ']', 100000);
    buf_addc(&deep, '}');
    buf_clear(&s.heard);
    assert_true(peer_feed(s.peer, buf_str(&deep)));
    assert_str(buf_str(&s.heard), "not-json:|");
    assert_int_equal(peer_stats(s.peer).malformed,
                     ARRAY_LEN(cases)); /* the stray one is counted apart */
    assert_int_equal(o.times, 0);
    side_end(&s);
    (void)state;
}

/* security.md 3.2 */
static void a_line_that_was_too_long_fails_the_oldest_call_only(void **state)
{
    struct outcome o[2] = { 0 };
    struct side s;

    side_init(&s, &ops);
    call(&s, &o[0], 1000);
    call(&s, &o[1], 1000);
    assert_true(peer_feed_too_long(s.peer, 4096));
    assert_int_equal(o[0].kind, ERR_LIMIT);
    assert_int_equal(o[0].times, 1);
    assert_int_equal(o[1].times, 0);
    assert_str(buf_str(&s.heard), "too-long:|");
    assert_true(peer_feed_too_long(s.peer, 4096));
    assert_true(peer_feed_too_long(s.peer, 4096)); /* no call is open: only told */
    assert_int_equal(o[1].times, 1);
    side_end(&s);
    (void)state;
}

static void each_call_has_its_own_deadline(void **state)
{
    static const int ms[] = { 200, 20, 100, 20 };
    struct outcome o[ARRAY_LEN(ms)] = { 0 };
    struct side s;
    int64_t at = clock_ms();

    side_init(&s, &ops);
    for (size_t i = 0; i < ARRAY_LEN(ms); i++) {
        o[i].stop = s.loop;
        call(&s, &o[i], ms[i]);
    }
    while (!o[1].times || !o[3].times)
        run_until_stopped(s.loop, 1000);
    assert_int_equal(o[0].times, 0);
    while (!o[2].times)
        run_until_stopped(s.loop, 1000);
    assert_true(clock_ms() - at >= 100);
    while (!o[0].times)
        run_until_stopped(s.loop, 1000);
    assert_true(clock_ms() - at >= 200);
    for (size_t i = 0; i < ARRAY_LEN(ms); i++) {
        assert_int_equal(o[i].times, 1);
        assert_int_equal(o[i].kind, ERR_TIMEOUT);
    }
    side_end(&s);
    (void)state;
}

/* MCP-C21: progress starts the timeout again, up to a hard maximum. */
static void progress_prolongs_a_call_but_not_beyond_the_hard_maximum(void **state)
{
    struct outcome o = { 0 };
    struct side s;
    int64_t at;
    uint64_t h;

    side_init(&s, &ops);
    peer_set_hard_timeout(s.peer, 300);
    peer_set_hard_timeout(s.peer, 100000); /* only ever lower */
    at = clock_ms();
    h = call(&s, &o, 100);
    while (!o.times && clock_ms() - at < 5000 * slack()) {
        run_for(s.loop, 10);
        peer_call_touch(s.peer, h);
    }
    assert_int_equal(o.kind, ERR_TIMEOUT);
    assert_true(clock_ms() - at >= 300);
    peer_call_touch(s.peer, h); /* no longer open: nothing */
    side_end(&s);
    (void)state;
}

static void a_call_with_an_endless_timeout_still_has_the_hard_maximum(void **state)
{
    struct outcome o = { 0 };
    struct side s;

    side_init(&s, &ops);
    peer_set_hard_timeout(s.peer, 20);
    o.stop = s.loop;
    call(&s, &o, INT32_MAX);
    run_until_stopped(s.loop, 1000);
    assert_int_equal(o.kind, ERR_TIMEOUT);
    side_end(&s);
    (void)state;
}

static void a_call_without_a_timeout_outlives_those_that_have_one(void **state)
{
    struct outcome o[2] = { 0 };
    struct side s;

    side_init(&s, &ops);
    peer_set_hard_timeout(s.peer, 20);
    o[1].stop = s.loop;
    call(&s, &o[0], PEER_NO_TIMEOUT);
    call(&s, &o[1], 10);
    run_until_stopped(s.loop, 1000);
    run_for(s.loop, 40);
    assert_int_equal(o[1].kind, ERR_TIMEOUT);
    assert_int_equal(o[0].times, 0);
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}"));
    assert_int_equal(o[0].times, 1);
    assert_int_equal(o[0].kind, ERR_NONE);
    side_end(&s);
    (void)state;
}

static void a_cancelled_call_ends_at_once_and_its_answer_is_late(void **state)
{
    struct outcome o = { 0 };
    struct side s;
    uint64_t h;

    side_init(&s, &ops);
    h = call(&s, &o, 1000);
    assert_true(peer_call_cancel(s.peer, h));
    assert_int_equal(o.times, 1);
    assert_int_equal(o.kind, ERR_CLOSED);
    assert_false(peer_call_cancel(s.peer, h));
    assert_false(peer_call_cancel(s.peer, 77));
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}"));
    assert_int_equal(o.times, 1);
    assert_int_equal(peer_stats(s.peer).late, 1);
    side_end(&s);
    (void)state;
}

static void more_calls_than_the_ceiling_fail_at_once(void **state)
{
    struct outcome o = { 0 }, extra = { 0 };
    struct peer_call c = { .method = "m", .timeout_ms = 1000 };
    struct error e;
    struct side s;

    side_init(&s, &ops);
    for (int i = 0; i < PEER_MAX_INFLIGHT; i++)
        call(&s, &o, 60000);
    assert_int_equal(peer_call(s.peer, &c, done, &extra, &e), 0);
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_non_null(strstr(e.msg, "1024"));
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":500,\"result\":1}"));
    assert_true(peer_call(s.peer, &c, done, &extra, &e) > 0);
    assert_int_equal(extra.times, 0);
    side_end(&s);
    assert_int_equal(o.times, PEER_MAX_INFLIGHT);
    assert_int_equal(extra.times, 1);
    (void)state;
}

static void a_call_that_cannot_be_sent_fails_and_is_never_called_back(void **state)
{
    struct outcome o = { 0 };
    struct peer_call c = { .method = "m", .timeout_ms = 10 };
    struct error e;
    struct side s;

    side_init(&s, &ops);
    s.refuse_send = true;
    assert_int_equal(peer_call(s.peer, &c, done, &o, &e), 0);
    assert_int_equal(e.kind, ERR_CLOSED);
    assert_string_equal(e.msg, "no way");
    assert_int_equal(peer_inflight(s.peer), 0);
    loop_run(s.loop);
    side_end(&s);
    assert_int_equal(o.times, 0);
    (void)state;
}

static void a_message_over_the_ceiling_is_not_sent(void **state)
{
    auto_free char *big = mem_alloc(PEER_MESSAGE_MAX);
    struct outcome o = { 0 };
    struct error e;
    struct side s;

    side_init(&s, &ops);
    memset(big, '1', PEER_MESSAGE_MAX);
    struct peer_call c = { .method = "m",
                           .timeout_ms = 10,
                           .params = { big, PEER_MESSAGE_MAX } };
    assert_int_equal(peer_call(s.peer, &c, done, &o, &e), 0);
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_false(peer_reply(s.peer, STR("1"), c.params, &e));
    assert_int_equal(s.sent.n, 0);
    assert_true(peer_notify(s.peer, "still-works", (struct str){ 0 }, &e));
    side_end(&s);
    (void)state;
}

static void closing_ends_every_call_once_with_the_reason(void **state)
{
    struct outcome o[5] = { 0 }, after = { 0 };
    struct peer_call c = { .method = "m", .timeout_ms = 10 };
    struct error why, e;
    struct side s;

    side_init(&s, &ops);
    for (size_t i = 0; i < ARRAY_LEN(o); i++)
        call(&s, &o[i], 1000);
    error_set(&why, ERR_CLOSED, "the server exited with code 3");
    peer_close(s.peer, &why);
    peer_close(s.peer, &why);
    for (size_t i = 0; i < ARRAY_LEN(o); i++) {
        assert_int_equal(o[i].times, 1);
        assert_int_equal(o[i].kind, ERR_CLOSED);
    }
    assert_int_equal(peer_call(s.peer, &c, done, &after, &e), 0);
    assert_string_equal(e.msg, why.msg);
    assert_false(peer_notify(s.peer, "n", (struct str){ 0 }, &e));
    assert_true(feed(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}"));
    assert_int_equal(s.heard.n, 0);
    loop_run(s.loop);
    side_end(&s);
    assert_int_equal(after.times, 0);
    (void)state;
}

static void a_peer_may_be_freed_by_each_of_its_callbacks(void **state)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
        "junk",
        "{}",
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":1}",
        "[1,2]",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct outcome o = { 0 };
        struct side s;

        side_init(&s, &ops);
        call(&s, &o, 1000);
        s.free_in_callback = true;
        assert_false(feed(&s, lines[i]));
        assert_int_equal(o.times, 1); /* the open call ended with it */
        side_end(&s);
    }
    (void)state;
}

static void a_peer_may_be_freed_by_the_end_of_a_call(void **state)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}",
        "{\"jsonrpc\":\"2.0\",\"id\":1}",
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1},"
         "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1}]"),
        "timeout",
        "close",
        "cancel",
        "too-long",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct outcome o = { 0 }, others[3] = { 0 };
        struct error why;
        struct side s;

        side_init(&s, &ops);
        o.free_side = &s;
        o.stop = s.loop;
        call(&s, &o, 10);
        for (size_t k = 0; k < ARRAY_LEN(others); k++)
            call(&s, &others[k], 10);
        error_set(&why, ERR_CLOSED, "gone");
        if (strcmp(lines[i], "timeout") == 0)
            run_until_stopped(s.loop, 1000);
        else if (strcmp(lines[i], "close") == 0)
            peer_close(s.peer, &why);
        else if (strcmp(lines[i], "cancel") == 0)
            peer_call_cancel(s.peer, 1);
        else if (strcmp(lines[i], "too-long") == 0)
            assert_false(peer_feed_too_long(s.peer, 1));
        else
            assert_false(feed(&s, lines[i]));
        assert_null(s.peer);
        assert_int_equal(o.times, 1);
        for (size_t k = 0; k < ARRAY_LEN(others); k++)
            assert_int_equal(others[k].times, 1);
        side_end(&s);
    }
    (void)state;
}

/* A flood of answers, good and bad, in any order: each call once, nothing left. */
static void ten_thousand_mixed_answers_leave_nothing_behind(void **state)
{
    static struct outcome o[10001];
    struct side s;
    uint64_t seed = 1, first_open = 1, last = 0;

    memset(o, 0, sizeof o);
    side_init(&s, &ops);
    while (first_open <= 10000) {
        char line[96];

        while (last < 10000 && last - first_open + 1 < 300)
            last = call(&s, &o[last + 1], 60000);
        buf_clear(&s.sent);
        buf_clear(&s.heard);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":1}",
                 (unsigned long long)(first_open + (seed >> 33) % 310));
        assert_true(feed(&s, line));
        while (first_open <= 10000 && o[first_open].times)
            first_open++;
    }
    for (size_t i = 1; i <= 10000; i++)
        assert_int_equal(o[i].times, 1);
    assert_int_equal(peer_inflight(s.peer), 0);
    side_end(&s);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_notes_and_answers_are_written_as_json_rpc),
        cmocka_unit_test(answers_reach_their_calls_in_any_order),
        cmocka_unit_test(both_sides_may_call_each_with_its_own_ids),
        cmocka_unit_test(answers_with_a_wrong_id_are_dropped_and_counted),
        cmocka_unit_test(a_number_written_in_another_way_is_the_same_id),
        cmocka_unit_test(a_string_id_is_not_answered_by_the_number),
        cmocka_unit_test(of_two_answers_the_first_wins),
        cmocka_unit_test(a_late_answer_is_dropped_and_not_given_to_a_new_call),
        cmocka_unit_test(a_broken_answer_ends_its_call_with_a_protocol_error),
        cmocka_unit_test(batches_are_served_where_the_owner_takes_them),
        cmocka_unit_test(what_is_no_message_is_dropped_counted_and_told),
        cmocka_unit_test(a_line_that_was_too_long_fails_the_oldest_call_only),
        cmocka_unit_test(each_call_has_its_own_deadline),
        cmocka_unit_test(progress_prolongs_a_call_but_not_beyond_the_hard_maximum),
        cmocka_unit_test(a_call_with_an_endless_timeout_still_has_the_hard_maximum),
        cmocka_unit_test(a_call_without_a_timeout_outlives_those_that_have_one),
        cmocka_unit_test(a_cancelled_call_ends_at_once_and_its_answer_is_late),
        cmocka_unit_test(more_calls_than_the_ceiling_fail_at_once),
        cmocka_unit_test(a_call_that_cannot_be_sent_fails_and_is_never_called_back),
        cmocka_unit_test(a_message_over_the_ceiling_is_not_sent),
        cmocka_unit_test(closing_ends_every_call_once_with_the_reason),
        cmocka_unit_test(a_peer_may_be_freed_by_each_of_its_callbacks),
        cmocka_unit_test(a_peer_may_be_freed_by_the_end_of_a_call),
        cmocka_unit_test(ten_thousand_mixed_answers_leave_nothing_behind),
    };

    return cmocka_run_group_tests_name("rpc/peer", tests, NULL, NULL);
}
