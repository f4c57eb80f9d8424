/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Frames as bytes and as protocol, without any process: WK-5, SEC-19. */
#include "support.h"

#include "sandbox/frame.h"

static void put_frame(struct buf *b, struct str payload)
{
    char head[FRAME_HEAD];

    for (int i = 0; i < FRAME_HEAD; i++)
        head[i] = (char)(payload.n >> 8 * i);
    buf_add(b, (struct str){ head, sizeof head });
    buf_add(b, payload);
}

struct seen {
    struct buf all;
    int n, stop_after;
};

static bool on_payload(void *ctx, struct str payload)
{
    struct seen *s = ctx;

    buf_add(&s->all, payload);
    buf_addc(&s->all, '|');
    return ++s->n != s->stop_after;
}

/* WK-5: whatever the cuts, the payloads are the same */
static void a_stream_is_cut_into_frames_at_any_border(void **state)
{
    auto_buf stream = BUF(4096);

    put_frame(&stream, STR("one"));
    put_frame(&stream, STR("2"));
    put_frame(&stream, STR("three, a longer one"));
    for (size_t step = 1; step <= stream.n; step++) {
        struct seen s = { .all = BUF(4096) };
        struct frame_reader r;

        frame_reader_init(&r);
        for (size_t at = 0; at < stream.n; at += step)
            assert_true(frame_feed(&r, str_upto(str_from(buf_str(&stream), at), step),
                                   on_payload, &s, NULL));
        assert_str(buf_str(&s.all), "one|2|three, a longer one|");
        frame_reader_free(&r);
        buf_free(&s.all);
    }
}

/* SEC-19 */
static void a_bad_length_ends_the_stream_before_anything_is_kept(void **state)
{
    static const struct str heads[] = {
        BYTES("\0\0\0\0"),
        BYTES("\1\0\0\1"),
        BYTES("\xff\xff\xff\xff"),
        BYTES("\0\0\0\x80"),
    };

    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        for (size_t step = 1; step <= 5; step += 4) {
            struct seen s = { .all = BUF(64) };
            struct error e = { 0 };
            struct frame_reader r;
            bool ok = true;

            frame_reader_init(&r);
            for (size_t at = 0; ok && at < 4; at += step)
                ok = frame_feed(&r, str_upto(str_from(heads[i], at), step), on_payload, &s, &e);
            if (ok) /* seen with the next byte at the latest */
                ok = frame_feed(&r, STR("x"), on_payload, &s, &e);
            assert_false(ok);
            assert_int_equal(e.kind, ERR_PROTOCOL);
            assert_int_equal(s.n, 0);
            assert_true(r.acc.cap < 4096);
            frame_reader_free(&r);
            buf_free(&s.all);
        }
    }
}

static void the_callback_may_stop_the_feeding(void **state)
{
    auto_buf stream = BUF(4096);

    put_frame(&stream, STR("a"));
    put_frame(&stream, STR("b"));
    put_frame(&stream, STR("c"));
    for (size_t cut = 0; cut < stream.n; cut++) {
        struct seen s = { .all = BUF(64), .stop_after = 2 };
        struct error e = { 0 };
        struct frame_reader r;
        bool ok;

        frame_reader_init(&r);
        ok = frame_feed(&r, str_upto(buf_str(&stream), cut), on_payload, &s, &e) &&
             frame_feed(&r, str_from(buf_str(&stream), cut), on_payload, &s, &e);
        assert_false(ok);
        assert_int_equal(e.kind, ERR_NONE);
        assert_int_equal(s.n, 2);
        frame_reader_free(&r);
        buf_free(&s.all);
    }
}

static bool decode(struct frame *f, const char *json, struct error *e)
{
    return frame_decode(f, str_of(json), e);
}

static void every_kind_of_frame_is_decoded(void **state)
{
    struct error e = { 0 };
    struct frame f;

    assert_true(decode(&f, "{\"type\":\"ready\"}", &e));
    assert_int_equal(f.type, FRAME_READY);
    frame_free(&f);
    assert_true(decode(&f,
                       "{\"type\":\"call\",\"id\":7,\"server\":1,\"key\":\"k\\u0000\",\"args\":"
                       "\"{\\\"a\\\":1}\"}",
                       &e));
    assert_int_equal(f.type, FRAME_CALL);
    assert_int_equal(f.id, 7);
    assert_int_equal(f.server, 1);
    assert_bytes(f.key, BYTES("k\0"));
    assert_str(f.args, "{\"a\":1}");
    frame_free(&f);
    assert_true(decode(&f, "{\"type\":\"get\",\"id\":8,\"key\":\"k\"}", &e));
    assert_int_equal(f.id, 8);
    frame_free(&f);
    assert_true(decode(
        &f, "{\"type\":\"console\",\"level\":\"error\",\"text\":\"t\",\"over\":true}", &e));
    assert_int_equal(f.level, CONSOLE_ERROR);
    assert_true(f.over);
    frame_free(&f);
    assert_true(decode(
        &f, "{\"type\":\"result\",\"json\":\"[1]\",\"total\":9,\"refused\":2,\"loose\":[]}",
        &e));
    assert_str(f.json, "[1]");
    assert_int_equal(f.total, 9);
    assert_int_equal(f.refused, 2);
    frame_free(&f);
    assert_true(decode(&f,
                       "{\"type\":\"error\",\"kind\":\"timeout\",\"message\":\"m\",\"stack\":"
                       "\"s\",\"refused\":0,\"loose\":[]}",
                       &e));
    assert_int_equal(f.kind, ERROR_TIMEOUT);
    frame_free(&f);
    assert_true(decode(&f, "{\"type\":\"memory_exhausted\",\"unknown\":[]}", &e));
    frame_free(&f);
}

/* WK-5: each missing or wrong member is found */
static void a_malformed_frame_is_a_protocol_error(void **state)
{
    /* clang-format off */
    static const char *const bad[] = {
        "",
        "x",
        "{",
        "null",
        "[]",
        "7",
        "\"ready\"",
        "{}",
        "{\"type\":7}",
        "{\"type\":\"Ready\"}",
        "{\"type\":\"call\",\"server\":0,\"key\":\"k\",\"args\":\"{}\"}",
        "{\"type\":\"call\",\"id\":1.5,\"server\":0,\"key\":\"k\",\"args\":\"{}\"}",
        "{\"type\":\"call\",\"id\":4294967296,\"server\":0,\"key\":\"k\",\"args\":\"{}\"}",
        "{\"type\":\"call\",\"id\":1e400,\"server\":0,\"key\":\"k\",\"args\":\"{}\"}",
        "{\"type\":\"call\",\"id\":\"1\",\"server\":0,\"key\":\"k\",\"args\":\"{}\"}",
        "{\"type\":\"call\",\"id\":1,\"server\":-1,\"key\":\"k\",\"args\":\"{}\"}",
        "{\"type\":\"call\",\"id\":1,\"server\":0,\"args\":\"{}\"}",
        "{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"k\"}",
        "{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"k\",\"args\":null}",
        "{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"k\",\"args\":\"\"}",
        "{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"k\",\"args\":\"[]\"}",
        "{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"k\",\"args\":\"{}}\"}",
        "{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"k\",\"args\":\"{\\n}\"}",
        "{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"k\",\"args\":\"{}\\u0000\"}",
        "{\"type\":\"get\",\"id\":1}",
        "{\"type\":\"get\",\"key\":\"k\"}",
        "{\"type\":\"console\",\"text\":\"\"}",
        "{\"type\":\"console\",\"level\":\"log\"}",
        "{\"type\":\"result\",\"total\":2,\"refused\":0,\"loose\":[]}",
        "{\"type\":\"result\",\"json\":\"12\",\"refused\":0,\"loose\":[]}",
        "{\"type\":\"result\",\"json\":\"12\",\"total\":1,\"refused\":0,\"loose\":[]}",
        "{\"type\":\"result\",\"json\":\"12\",\"total\":2,\"loose\":[]}",
        "{\"type\":\"result\",\"json\":\"12\",\"total\":2,\"refused\":0}",
        "{\"type\":\"result\",\"json\":\"12\",\"total\":2,\"refused\":0,\"loose\":{}}",
        "{\"type\":\"error\",\"message\":\"\",\"stack\":\"\",\"refused\":0,\"loose\":[]}",
        "{\"type\":\"error\",\"kind\":\"script\",\"stack\":\"\",\"refused\":0,\"loose\":[]}",
        "{\"type\":\"error\",\"kind\":\"script\",\"message\":\"\",\"refused\":0,\"loose\":[]}",
        "{\"type\":\"error\",\"kind\":\"script\",\"message\":\"\",\"stack\":\"\",\"refused\":-1,\"loose\":[]}",
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct error e = { 0 };
        struct frame f;

        if (decode(&f, bad[i], &e))
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(e.kind, ERR_PROTOCOL);
    }
}

static void sizes_are_bounded(void **state)
{
    static const struct {
        const char *before, *after;
        size_t max;
    } cases[] = {
        { "{\"type\":\"call\",\"id\":1,\"server\":0,\"args\":\"{}\",\"key\":\"", "\"}",
          FRAME_KEY_MAX },
        { "{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"\",\"args\":\"{\\\"k\\\":\\\"",
          "\\\"}\"}", FRAME_ARGS_MAX - sizeof "{'k':''}" + 1 },
        { "{\"type\":\"get\",\"id\":1,\"key\":\"", "\"}", FRAME_KEY_MAX },
        { "{\"type\":\"result\",\"total\":99999999,\"refused\":0,\"loose\":[],\"json\":\"",
          "\"}", FRAME_RESULT_MAX },
        { "{\"type\":\"error\",\"kind\":\"script\",\"stack\":\"\",\"refused\":0,\"loose\":[],"
          "\"message\":\"",
          "\"}", FRAME_ERROR_MAX },
        { "{\"type\":\"error\",\"kind\":\"script\",\"message\":\"abc\",\"refused\":0,\"loose\":"
          "[],\"stack\":\"",
          "\"}", FRAME_ERROR_MAX - 3 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t more = 0; more < 2; more++) {
            auto_buf b = BUF(FRAME_MAX);
            struct error e = { 0 };
            struct frame f;

            buf_addz(&b, cases[i].before);
            buf_fill(&b, 'x', cases[i].max + more);
            buf_addz(&b, cases[i].after);
            assert_int_equal(frame_decode(&f, buf_str(&b), &e), more == 0);
            if (!more)
                frame_free(&f);
        }
    }
}

/* ---- the guard ---- */

/* Feeds frames until one is refused; its number, or -1. */
static int first_refused(struct frame_guard *g, const char *const *frames, struct error *e)
{
    for (int i = 0; frames[i]; i++) {
        struct frame f;
        bool ok;

        if (!decode(&f, frames[i], e))
            fail_msg("'%s': %s", frames[i], e->msg);
        ok = frame_guard_check(g, &f, strlen(frames[i]), e);
        frame_free(&f);
        if (!ok)
            return i;
    }
    return -1;
}

#define READY      "{\"type\":\"ready\"}"
#define CALL(id)   "{\"type\":\"call\",\"id\":" #id ",\"server\":0,\"key\":\"k\",\"args\":\"{}\"}"
#define GET(id)    "{\"type\":\"get\",\"id\":" #id ",\"key\":\"k\"}"
#define LOG(text)  "{\"type\":\"console\",\"level\":\"log\",\"text\":\"" text "\"}"
#define WARN(text) "{\"type\":\"console\",\"level\":\"warn\",\"text\":\"" text "\"}"
#define OVER(text) \
    "{\"type\":\"console\",\"level\":\"log\",\"over\":true,\"text\":\"" text "\"}"
#define RESULT(loose) \
    "{\"type\":\"result\",\"json\":\"1\",\"total\":1,\"refused\":0,\"loose\":[" loose "]}"
#define MEMORY "{\"type\":\"memory_exhausted\"}"

static void frames_are_legal_only_in_their_state(void **state)
{
    static const struct {
        enum guard_state from;
        const char *frames[6];
        int refused;
    } cases[] = {
        { GUARD_STARTING, { READY }, -1 },
        { GUARD_STARTING, { READY, READY }, 1 },
        { GUARD_STARTING, { CALL(1) }, 0 },
        { GUARD_STARTING, { RESULT("") }, 0 },
        { GUARD_STARTING, { MEMORY }, -1 },
        { GUARD_STARTING, { MEMORY, MEMORY }, 1 },
        { GUARD_STARTING, { READY, LOG("x") }, 1 },
        { GUARD_READY, { RESULT("") }, 0 },
        { GUARD_RUNNING, { READY }, 0 },
        { GUARD_RUNNING, { CALL(1), CALL(2), GET(3), LOG("x"), RESULT("") }, -1 },
        { GUARD_RUNNING, { CALL(1), CALL(1) }, 1 },
        { GUARD_RUNNING, { CALL(5), CALL(4) }, 1 },
        { GUARD_RUNNING, { CALL(0) }, 0 },
        { GUARD_RUNNING, { CALL(1), GET(1) }, 1 },
        { GUARD_RUNNING, { GET(1), GET(2) }, 1 },
        { GUARD_RUNNING, { RESULT(""), LOG("x") }, 1 },
        { GUARD_RUNNING, { RESULT(""), RESULT("") }, 1 },
        { GUARD_RUNNING, { MEMORY, RESULT("") }, 1 },
        { GUARD_RUNNING, { CALL(1), CALL(2), CALL(3), CALL(4) }, 3 }, /* max_calls 3 */
        { GUARD_RUNNING,
          { LOG("123456789"), LOG("12345678"), LOG("") },
          -1 }, /* 10 + 9 + 1 of 20 */
        { GUARD_RUNNING, { LOG("123456789"), LOG("123456789"), LOG("") }, 2 },
        { GUARD_RUNNING, { WARN("123456789012"), LOG("") }, 1 }, /* 7 + 12 + 1 */
        { GUARD_RUNNING, { OVER(""), LOG("") }, 1 },
        { GUARD_RUNNING, { LOG("123456789"), OVER("1234567890"), RESULT("") }, -1 },
        { GUARD_RUNNING, { LOG("123456789"), OVER("12345678901") }, 1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct frame_guard g = {
            .state = cases[i].from, .nglobals = 1, .max_calls = 3, .console_max = 20
        };
        struct error e = { 0 };
        int got = first_refused(&g, cases[i].frames, &e);

        if (got != cases[i].refused)
            fail_msg("case %zu: frame %d was refused (%s), want %d", i, got, e.msg,
                     cases[i].refused);
        frame_guard_free(&g);
    }
}

/* MS-70, WK-5: what the final frame says about calls must fit what was answered */
static void loose_calls_must_fit_the_calls_made(void **state)
{
    static const struct {
        const char *frame;
        bool ok;
    } cases[] = {
        { RESULT(""), true },
        { RESULT("{\"id\":1}"), true },                   /* open */
        { RESULT("{\"id\":3,\"message\":\"m\"}"), true }, /* failed */
        { RESULT("{\"id\":1},{\"id\":3,\"message\":\"m\"}"), true },
        { RESULT("{\"id\":3,\"message\":\"m\"},{\"id\":1}"), false },
        { RESULT("{\"id\":1},{\"id\":1}"), false },
        { RESULT("{\"id\":1,\"message\":\"m\"}"), false },
        { RESULT("{\"id\":2}"), false }, /* answered */
        { RESULT("{\"id\":2,\"message\":\"m\"}"), false },
        { RESULT("{\"id\":3}"), false },
        { RESULT("{\"id\":4}"), false },
        { RESULT("{\"id\":0}"), false },
        { RESULT("{}"), false },
        { RESULT("null"), false },
        { RESULT("{\"id\":3,\"message\":5}"), false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        static const char *const calls[] = { CALL(1), CALL(2), CALL(3), NULL };
        const char *const last[] = { cases[i].frame, NULL };
        struct frame_guard g = { .state = GUARD_RUNNING, .nglobals = 1, .max_calls = 3 };
        struct error e = { 0 };

        assert_int_equal(first_refused(&g, calls, &e), -1);
        assert_true(frame_guard_reply(&g, 2, 1, false));
        assert_true(frame_guard_reply(&g, 3, 1, true));
        assert_int_equal(first_refused(&g, last, &e) == -1, cases[i].ok);
        frame_guard_free(&g);
    }
}

static void only_open_calls_are_answered_once(void **state)
{
    static const char *const frames[] = { CALL(1), GET(2), NULL };
    struct frame_guard g = { .state = GUARD_RUNNING, .nglobals = 1, .max_calls = 3 };
    struct error e = { 0 };

    assert_int_equal(first_refused(&g, frames, &e), -1);
    assert_false(frame_guard_reply(&g, 0, 1, false));
    assert_false(frame_guard_reply(&g, 3, 1, false));
    assert_true(frame_guard_reply(&g, 1, 1, false));
    assert_false(frame_guard_reply(&g, 1, 1, false));
    assert_true(frame_guard_reply(&g, 2, 1, false));
    assert_false(frame_guard_reply(&g, 2, 1, false));
    assert_int_equal(g.open, 0);
    frame_guard_free(&g);
}

static void traffic_beyond_the_hard_limit_is_a_lie(void **state)
{
    static const char *const frames[] = { CALL(1), NULL };
    struct frame_guard g = {
        .state = GUARD_RUNNING, .nglobals = 1, .max_calls = 3, .traffic = FRAME_TRAFFIC_HARD
    };
    struct error e = { 0 };

    assert_int_equal(first_refused(&g, frames, &e), 0);
    assert_has(e.msg, "bytes of calls and replies");
    frame_guard_free(&g);
}

/* ---- writing ---- */

static void the_parents_frames_are_what_the_header_says(void **state)
{
    static const struct str exact[] = { { "catch", 5 } };
    static const struct script_global globals[] = { { { "a", 1 }, exact, 1 },
                                                    { { "b", 1 }, NULL, 0 } };
    struct script_job job = { STR("1 + \"x\"\n"), globals, 2 };
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct error e = { 0 };
    auto_buf out = BUF(FRAME_HEAD + FRAME_MAX);

    assert_true(frame_put_script(&out, &job, &l, &e));
    assert_str(str_from(buf_str(&out), FRAME_HEAD),
               "{\"type\":\"script\",\"source\":\"1 + "
               "\\\"x\\\"\\n\",\"timeout_ms\":5000,\"console_bytes\":8192,"
               "\"result_bytes\":32768,\"max_calls\":100,\"globals\":[{\"name\":\"a\","
               "\"exact\":[\"catch\"]},"
               "{\"name\":\"b\",\"exact\":[]}]}");
    assert_int_equal((unsigned char)out.p[0] | (unsigned char)out.p[1] << 8,
                     out.n - FRAME_HEAD);
    assert_true(frame_put_reply(&out, 9, STR("[1,{}]"), &e));
    assert_str(str_from(buf_str(&out), FRAME_HEAD),
               "{\"type\":\"reply\",\"id\":9,\"value\":[1,{}]}");
    assert_true(frame_put_reply_error(&out, 9, STR("no"), &e));
    assert_str(str_from(buf_str(&out), FRAME_HEAD),
               "{\"type\":\"reply\",\"id\":9,\"error\":\"no\"}");
}

static void a_frame_that_would_be_too_long_is_refused(void **state)
{
    auto_buf value = BUF(FRAME_MAX + 2), out = BUF(FRAME_HEAD + FRAME_MAX);
    struct error e = { 0 };

    buf_addc(&value, '"');
    buf_fill(&value, 'x', FRAME_MAX - 30);
    buf_addc(&value, '"');
    assert_false(frame_put_reply(&out, 1, buf_str(&value), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_true(frame_put_reply(&out, 1, STR("1"), &e)); /* the buffer is usable again */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_stream_is_cut_into_frames_at_any_border),
    cmocka_unit_test(a_bad_length_ends_the_stream_before_anything_is_kept),
    cmocka_unit_test(the_callback_may_stop_the_feeding),
    cmocka_unit_test(every_kind_of_frame_is_decoded),
    cmocka_unit_test(a_malformed_frame_is_a_protocol_error),
    cmocka_unit_test(sizes_are_bounded),
    cmocka_unit_test(frames_are_legal_only_in_their_state),
    cmocka_unit_test(loose_calls_must_fit_the_calls_made),
    cmocka_unit_test(only_open_calls_are_answered_once),
    cmocka_unit_test(traffic_beyond_the_hard_limit_is_a_lie),
    cmocka_unit_test(the_parents_frames_are_what_the_header_says),
    cmocka_unit_test(a_frame_that_would_be_too_long_is_refused),
};

TEST_MAIN(tests)
