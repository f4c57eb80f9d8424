/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include "loop/lines.h"

struct heard {
    char text[512]; /* each line in brackets; an over-long one in <> */
    size_t n;
    int stop_after; /* 0: never */
    int lines;
};

static bool hear(void *ctx, struct str line, bool too_long)
{
    struct heard *h = ctx;

    h->n += (size_t)snprintf(h->text + h->n, sizeof h->text - h->n,
                             too_long ? "<%.*s>" : "[%.*s]", STR_F(line));
    return !h->stop_after || ++h->lines < h->stop_after;
}

static const struct {
    const char *in, *heard, *rest;
} cases[] = {
    { "", "", "" },
    { "a\n", "[a]", "" },
    { "a\nb\n", "[a][b]", "" },
    { "a\r\nb\r\n", "[a][b]", "" },
    { "\n\n\r\n\na\n\n", "[a]", "" },
    { "a\nb", "[a]", "b" },
    { "a\nb\r", "[a]", "b" },
    { "a\rb\n", "[a\rb]", "" },
    { "12345678\n", "[12345678]", "" },
    { "12345678\r\n", "[12345678]", "" },
    { "123456789\nb\n", "<123456789>[b]", "" },
    { "12345678\r\r\nb\n", "<12345678\r\r>[b]", "" },
    { "ok\n1234567890", "[ok]<1234567890>", "" },
};

static void lines_come_whole_whatever_the_reads_are(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = strlen(cases[i].in);

        for (size_t at = 0; at <= n; at++) {
            struct heard h = { 0 };
            struct lines l;
            struct str all = { cases[i].in, n };

            lines_init(&l, 8);
            assert_true(lines_feed(&l, str_upto(all, at), hear, &h));
            assert_true(lines_feed(&l, str_from(all, at), hear, &h));
            /* What is shown of an over-long line depends on the read that made it so: compare
             * up to there. */
            if (!strchr(cases[i].heard, '<'))
                assert_string_equal(h.text, cases[i].heard);
            else
                assert_int_equal(strchr(h.text, '<') != NULL, 1);
            assert_str(lines_rest(&l), cases[i].rest);
            lines_free(&l);
        }
    }
    (void)state;
}

static void an_over_long_line_is_told_once_with_its_head(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct heard h = { 0 };
        struct lines l;

        lines_init(&l, 8);
        assert_true(lines_feed(&l, str_of(cases[i].in), hear, &h));
        assert_string_equal(h.text, cases[i].heard);
        lines_free(&l);
    }
    (void)state;
}

static void bytes_one_at_a_time_give_the_same_lines(void **state)
{
    const char *in = "first\r\n\nsecond\n1234567890abc\nthird\n";
    struct heard h = { 0 };
    struct lines l;

    lines_init(&l, 8);
    for (const char *p = in; *p; p++)
        assert_true(lines_feed(&l, (struct str){ p, 1 }, hear, &h));
    assert_string_equal(h.text, "[first][second]<1234567890>[third]");
    lines_free(&l);
    (void)state;
}

static void a_line_within_one_read_is_not_copied(void **state)
{
    struct heard h = { 0 };
    struct lines l;

    lines_init(&l, 0);
    assert_true(lines_feed(&l, STR("one\ntwo\n"), hear, &h));
    assert_null(l.acc.p);
    lines_free(&l);
    (void)state;
}

static bool count_bytes(void *ctx, struct str line, bool too_long)
{
    size_t *told = ctx;

    assert_true(too_long);
    assert_int_equal(line.n, LINES_HEAD);
    (*told)++;
    return true;
}

/* security.md 3.2: a line over the ceiling is discarded to its newline; memory stays bounded.
 */
static void a_gibibyte_without_newline_needs_no_memory(void **state)
{
    size_t chunk = (size_t)64 << 10, total = (size_t)1 << 30, told = 0;
    auto_free char *x = mem_alloc(chunk);
    struct lines l;

    memset(x, 'x', chunk);
    lines_init(&l, (size_t)1 << 20);
    for (size_t n = 0; n < total; n += chunk)
        assert_true(lines_feed(&l, (struct str){ x, chunk }, count_bytes, &told));
    assert_int_equal(told, 1);
    assert_true(l.discarded_run == total);
    assert_int_equal(l.acc.cap, 0);
    assert_int_equal(lines_rest(&l).n, 0);
    lines_free(&l);
    (void)state;
}

static void the_discarded_run_ends_with_a_good_line(void **state)
{
    struct heard h = { 0 };
    struct lines l;

    lines_init(&l, 4);
    assert_true(lines_feed(&l, STR("123456\n\n1234567\n"), hear, &h));
    assert_int_equal(l.discarded_run, 13);
    assert_true(lines_feed(&l, STR("ok\n"), hear, &h));
    assert_int_equal(l.discarded_run, 0);
    lines_free(&l);
    (void)state;
}

static void feeding_stops_when_the_receiver_says_so(void **state)
{
    struct heard h = { .stop_after = 2 };
    struct lines l;

    lines_init(&l, 8);
    assert_false(lines_feed(&l, STR("a\nb\nc\nd\n"), hear, &h));
    assert_string_equal(h.text, "[a][b]");
    lines_free(&l);
    (void)state;
}

struct owner {
    struct lines *l;
};

static bool free_lines(void *ctx, struct str line, bool too_long)
{
    struct owner *o = ctx;

    (void)line;
    (void)too_long;
    lines_free(o->l);
    free(o->l);
    o->l = NULL;
    return false;
}

static void the_receiver_may_free_the_lines(void **state)
{
    static const char *const in[] = { "whole\nrest", "far too long\nrest",
                                      "far too long and not ended" };

    for (size_t i = 0; i < ARRAY_LEN(in); i++) {
        struct owner o = { NEW(struct lines) };

        lines_init(o.l, 8);
        assert_true(lines_feed(o.l, STR("b"), free_lines, &o));
        assert_false(lines_feed(o.l, str_of(in[i]), free_lines, &o));
        assert_null(o.l);
    }
    (void)state;
}

static void memory_of_a_large_line_is_given_back(void **state)
{
    size_t n = (size_t)1 << 20;
    auto_free char *x = mem_alloc(n);
    struct heard h = { 0 };
    struct lines l;

    memset(x, 'x', n);
    lines_init(&l, 0);
    assert_true(lines_feed(&l, (struct str){ x, n }, hear, &h));
    assert_true(lines_feed(&l, STR("y"), hear, &h));
    assert_true(lines_feed(&l, STR("\n"), hear, &h));
    assert_int_equal(l.acc.cap, 0);
    lines_free(&l);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_whole_whatever_the_reads_are),
        cmocka_unit_test(an_over_long_line_is_told_once_with_its_head),
        cmocka_unit_test(bytes_one_at_a_time_give_the_same_lines),
        cmocka_unit_test(a_line_within_one_read_is_not_copied),
        cmocka_unit_test(a_gibibyte_without_newline_needs_no_memory),
        cmocka_unit_test(the_discarded_run_ends_with_a_good_line),
        cmocka_unit_test(feeding_stops_when_the_receiver_says_so),
        cmocka_unit_test(the_receiver_may_free_the_lines),
        cmocka_unit_test(memory_of_a_large_line_is_given_back),
    };

    return cmocka_run_group_tests_name("loop/lines", tests, NULL, NULL);
}
