/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

static void appending_keeps_order_and_a_nul_behind(void **state)
{
    auto_buf b = BUF(10000);

    assert_string_equal(buf_z(&b), "");
    buf_add(&b, STR("one"));
    buf_addc(&b, ' ');
    buf_addz(&b, "two");
    buf_addf(&b, " %d", 3);
    buf_fill(&b, '.', 2);
    assert_str(buf_str(&b), "one two 3..");
    assert_int_equal(b.p[b.n], '\0');
    for (int i = 0; i < 1000; i++)
        buf_addc(&b, 'x');
    assert_int_equal(b.n, 1011);
    assert_int_equal(b.p[b.n], '\0');
    buf_addf(&b, "%2000d", 7);
    assert_int_equal(b.n, 3011);
    assert_true(buf_ok(&b, NULL));
}

static void what_would_pass_the_maximum_is_dropped_whole(void **state)
{
    auto_buf b = BUF(5);
    struct error e;

    buf_add(&b, STR("12345"));
    assert_true(buf_ok(&b, &e));
    buf_clear(&b);
    buf_add(&b, STR("123"));
    buf_add(&b, STR("456"));
    assert_str(buf_str(&b), "123");
    buf_addc(&b, '4'); /* would fit, comes too late */
    assert_str(buf_str(&b), "123");
    assert_false(buf_ok(&b, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_string_equal(e.msg, "more than 5 bytes");
    buf_clear(&b);
    assert_true(buf_ok(&b, NULL));
}

static void every_way_to_append_respects_the_maximum(void **state)
{
    for (int way = 0; way < 5; way++) {
        auto_buf b = BUF(3);

        switch (way) {
        case 0:
            buf_addz(&b, "abcd");
            break;
        case 1:
            buf_addf(&b, "%d", 1234);
            break;
        case 2:
            buf_fill(&b, 'x', 4);
            break;
        case 3:
            assert_null(buf_room(&b, 4));
            break;
        case 4:
            buf_fill(&b, 'x', SIZE_MAX);
            break;
        }
        assert_true(b.over);
        assert_int_equal(b.n, 0);
    }
}

static void room_may_be_used_in_part(void **state)
{
    auto_buf b = BUF(100);
    char *to = buf_room(&b, 50);

    memset(to, 'y', 50);
    b.n += 2;
    assert_string_equal(buf_z(&b), "yy");
}

static void front_and_end_are_dropped(void **state)
{
    auto_buf b = BUF(100);

    buf_truncate(&b, 0);
    buf_drop_front(&b, 5);
    buf_addz(&b, "abc");
    buf_truncate(&b, 9);
    assert_string_equal(buf_z(&b), "abc");
    buf_truncate(&b, 1);
    assert_string_equal(b.p, "a");
    buf_clear(&b);

    buf_addz(&b, "abcdef");
    buf_drop_front(&b, 2);
    assert_string_equal(buf_z(&b), "cdef");
    buf_drop_front(&b, 100);
    assert_string_equal(buf_z(&b), "");
}

static void taken_bytes_are_owned_and_the_buffer_is_empty(void **state)
{
    struct buf b = BUF(100);
    auto_free char *empty = buf_take(&b), *full = NULL;

    assert_string_equal(empty, "");
    buf_addz(&b, "mine");
    full = buf_take(&b);
    assert_string_equal(full, "mine");
    assert_int_equal(b.n, 0);
    assert_int_equal(b.max, 100);
    buf_addz(&b, "again");
    buf_free(&b);
}

static void the_last_bytes_are_kept(void **state)
{
    auto_buf b = BUF(4);
    static const struct {
        const char *add, *want;
    } steps[] = {
        { "ab", "ab" }, { "cd", "abcd" }, { "e", "bcde" }, { "", "bcde" }, { "1234567", "4567" }
    };

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        buf_add_last(&b, str_of(steps[i].add));
        assert_string_equal(buf_z(&b), steps[i].want);
        assert_false(b.over);
    }
}

static void swapped_buffers_keep_their_ceilings(void **state)
{
    auto_buf x = BUF(3), y = BUF(100);

    buf_addz(&x, "abc");
    buf_swap(&x, &y);
    assert_string_equal(buf_z(&x), "");
    assert_string_equal(buf_z(&y), "abc");
    buf_addc(&y, 'd');
    assert_true(y.over && !x.over);
}

static void a_buffer_of_maximum_zero_takes_nothing_but_the_empty_text(void **state)
{
    auto_buf b = BUF(0);

    buf_add(&b, STR(""));
    assert_true(buf_ok(&b, NULL));
    buf_addc(&b, 'x');
    assert_false(buf_ok(&b, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appending_keeps_order_and_a_nul_behind),
        cmocka_unit_test(what_would_pass_the_maximum_is_dropped_whole),
        cmocka_unit_test(every_way_to_append_respects_the_maximum),
        cmocka_unit_test(room_may_be_used_in_part),
        cmocka_unit_test(front_and_end_are_dropped),
        cmocka_unit_test(taken_bytes_are_owned_and_the_buffer_is_empty),
        cmocka_unit_test(the_last_bytes_are_kept),
        cmocka_unit_test(swapped_buffers_keep_their_ceilings),
        cmocka_unit_test(a_buffer_of_maximum_zero_takes_nothing_but_the_empty_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
