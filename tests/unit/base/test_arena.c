/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/arena.h"

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    static const size_t sizes[] = {
        0, 1, 7, 16, 100, 511, 513, 2048, 5000, 70000, 3, 300000, 1
    };
    unsigned char *p[ARRAY_LEN(sizes)];
    auto_arena a = ARENA;

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        p[i] = arena_alloc(&a, sizes[i]);
        assert_int_equal((uintptr_t)p[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(p[i][k], 0);
        memset(p[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(p[i][k], i + 1);
    }
    assert_true(a.used >= 2048 + 5000 + 70000 + 300000);
}

static void strings_are_copied_and_terminated(void **state)
{
    auto_arena a = ARENA;
    char text[] = "abc";
    struct str s = arena_str(&a, (struct str){ text, 3 });

    text[0] = 'x';
    assert_str(s, "abc");
    assert_int_equal(s.p[3], '\0');
    assert_string_equal(arena_z(&a, (struct str){ 0 }), "");
    assert_string_equal(arena_printf(&a, "%d-%s", 7, "b"), "7-b");
    assert_int_equal(strlen(arena_printf(&a, "%5000d", 1)), 5000);
}

static void lists_grow_and_keep_their_elements(void **state)
{
    struct {
        int *v;
        size_t n, cap;
    } list = { 0 };
    auto_arena a = ARENA;

    for (int i = 0; i < 1000; i++)
        ARENA_PUSH(&a, &list) = i;
    assert_int_equal(list.n, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(list.v[i], i);
}

static void many_small_pieces_share_blocks(void **state)
{
    auto_arena a = ARENA;
    char *last = NULL;

    for (int i = 0; i < 20000; i++) {
        last = arena_alloc(&a, 16);
        memset(last, 1, 16);
    }
    assert_int_equal(a.used, 20000 * 16);
    last = arena_grow(&a, NULL, 4, 100, &(size_t){ 0 });
    assert_int_equal(last[399], 0);
}

static void freed_arena_is_usable_again(void **state)
{
    struct arena a = ARENA;

    arena_alloc(&a, 10);
    arena_free(&a);
    assert_int_equal(a.used, 0);
    assert_string_equal(arena_z(&a, STR("again")), "again");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(strings_are_copied_and_terminated),
        cmocka_unit_test(lists_grow_and_keep_their_elements),
        cmocka_unit_test(many_small_pieces_share_blocks),
        cmocka_unit_test(freed_arena_is_usable_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
