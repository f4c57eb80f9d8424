/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SH-5: what is kept of a stream. */
#include "../../check.h"

#include "base/utf8.h"
#include "servers/shell/capture.h"

#define KEPT (CAPTURE_HEAD + CAPTURE_TAIL)

/* `n` bytes of a stream whose every position can be told from its neighbours. */
static char *stream_of(size_t n)
{
    char *s = mem_alloc(n + 1);

    for (size_t i = 0; i < n; i++)
        s[i] = "01234567\n"[i % 8 ? i / 8 >> i % 8 * 3 & 7 : 8];
    return s;
}

static void feed(struct capture *c, struct str s, size_t step)
{
    while (s.n) {
        struct str part = str_upto(s, step);

        capture_add(c, part);
        s = str_from(s, part.n);
    }
}

static void check(struct str in, size_t step, const char *note, struct str head,
                  struct str tail)
{
    struct capture c = CAPTURE;
    auto_buf out = BUF(CAPTURE_TEXT_MAX), want = BUF(CAPTURE_TEXT_MAX);

    feed(&c, in, step);
    assert_int_equal(capture_truncated(&c), note != NULL);
    capture_put(&c, &out);
    assert_true(buf_ok(&out, NULL) && utf8_valid(buf_str(&out)));
    buf_add(&want, head);
    if (note)
        buf_addf(&want, "\n[... %s bytes left out ...]\n", note);
    buf_add(&want, tail);
    assert_int_equal(out.n, want.n);
    assert_memory_equal(out.p ? out.p : "", want.p ? want.p : "", want.n);
    capture_free(&c);
}

static void the_first_and_the_last_are_kept_however_it_comes(void **state)
{
    static const struct {
        size_t n;
        const char *note;
    } cases[] = {
        { 0, NULL },
        { 1, NULL },
        { CAPTURE_HEAD - 1, NULL },
        { CAPTURE_HEAD, NULL },
        { CAPTURE_HEAD + 1, NULL },
        { KEPT - 1, NULL },
        { KEPT, NULL },
        { KEPT + 1, "1" },
        { KEPT + 1000000, "1000000" },
        { 3 * KEPT, "2097152" },
    };
    static const size_t steps[] = { 777, 16384, 1u << 30 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_free char *s = stream_of(cases[i].n);
        struct str in = { s, cases[i].n };

        for (size_t j = 0; j < ARRAY_LEN(steps); j++) {
            if (cases[i].note)
                check(in, steps[j], cases[i].note, str_upto(in, CAPTURE_HEAD),
                      str_from(in, in.n - CAPTURE_TAIL));
            else
                check(in, steps[j], NULL, in, STR(""));
        }
    }
    (void)state;
}

/* A character of four bytes at each place around the seams; what is cut is counted. */
static void cuts_are_between_characters(void **state)
{
    for (size_t shift = 0; shift < 4; shift++) {
        auto_buf in = BUF(4 * KEPT), head = BUF(KEPT), tail = BUF(KEPT);
        char note[32];
        size_t before, after;

        buf_fill(&in, 'a', shift);
        while (in.n < 2 * KEPT)
            buf_addz(&in, "\xf0\x9f\x8e\xb5");
        buf_truncate(&in, 2 * KEPT + shift);
        before = CAPTURE_HEAD - (CAPTURE_HEAD - shift) % 4;
        after = CAPTURE_TAIL - CAPTURE_TAIL % 4;
        buf_add(&head, str_upto(buf_str(&in), before));
        buf_add(&tail, str_from(buf_str(&in), in.n - after));
        snprintf(note, sizeof note, "%zu", in.n - before - after);
        check(buf_str(&in), 1000, note, buf_str(&head), buf_str(&tail));
    }
    (void)state;
}

static void the_ring_may_begin_within_a_character(void **state)
{
    auto_buf in = BUF(4 * KEPT);

    buf_fill(&in, 'a', KEPT);
    buf_addz(&in, "\xe2\x82\xac"); /* of it the ring holds the last two bytes or fewer */
    buf_fill(&in, 'b', CAPTURE_TAIL - 2);
    check(buf_str(&in), 4096, "786435", str_upto(buf_str(&in), CAPTURE_HEAD),
          str_from(buf_str(&in), in.n - (CAPTURE_TAIL - 2)));
    (void)state;
}

static void a_character_across_head_and_tail_is_whole_when_nothing_is_missing(void **state)
{
    auto_buf in = BUF(4 * KEPT);

    buf_fill(&in, 'a', CAPTURE_HEAD - 1);
    buf_addz(&in, "\xe2\x82\xac"
                  "end");
    check(buf_str(&in), 5, NULL, buf_str(&in), STR(""));
    (void)state;
}

static void what_is_no_text_becomes_replacement_characters(void **state)
{
    static const struct {
        struct str in, out;
    } cases[] = {
        { BYTES("a\xff"
                "b"),
          BYTES("a\xef\xbf\xbd"
                "b") },
        { BYTES("\xe2\x82"), BYTES("\xef\xbf\xbd") },
        { BYTES("\x80\x80"), BYTES("\xef\xbf\xbd\xef\xbf\xbd") },
        { BYTES("a\0b"), BYTES("a\0b") },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check(cases[i].in, 1, NULL, cases[i].out, STR(""));
    (void)state;
}

/* Nothing but bytes that no character begins with: it ends, and fits. */
static void a_stream_of_nonsense_fits(void **state)
{
    struct capture c = CAPTURE;
    auto_buf in = BUF(2 * KEPT), out = BUF(CAPTURE_TEXT_MAX);

    buf_fill(&in, '\x80', 2 * KEPT);
    capture_add(&c, buf_str(&in));
    capture_put(&c, &out);
    assert_true(buf_ok(&out, NULL) && utf8_valid(buf_str(&out)));
    assert_in_range(out.n, 3 * (KEPT - 3), CAPTURE_TEXT_MAX);
    capture_free(&c);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_and_the_last_are_kept_however_it_comes),
        cmocka_unit_test(cuts_are_between_characters),
        cmocka_unit_test(the_ring_may_begin_within_a_character),
        cmocka_unit_test(a_character_across_head_and_tail_is_whole_when_nothing_is_missing),
        cmocka_unit_test(what_is_no_text_becomes_replacement_characters),
        cmocka_unit_test(a_stream_of_nonsense_fits),
    };

    return cmocka_run_group_tests_name("servers/shell/capture", tests, NULL, NULL);
}
