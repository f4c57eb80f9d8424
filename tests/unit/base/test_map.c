/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/map.h"

#define N 5000

static int values[N];

static struct str key_of(char *buf, int i)
{
    return (struct str){ buf, (size_t)sprintf(buf, "key %d", i) };
}

static void keys_are_found_replaced_and_removed(void **state)
{
    struct map m = MAP;
    char k[32];

    assert_null(map_get(&m, STR("none")));
    assert_null(map_del(&m, STR("none")));
    for (int i = 0; i < N; i++)
        assert_null(map_put(&m, key_of(k, i), &values[i]));
    assert_int_equal(map_count(&m), N);
    for (int i = 0; i < N; i++)
        assert_ptr_equal(map_get(&m, key_of(k, i)), &values[i]);
    assert_ptr_equal(map_put(&m, key_of(k, 7), &values[8]), &values[7]);
    for (int i = 0; i < N; i += 2)
        assert_non_null(map_del(&m, key_of(k, i)));
    assert_int_equal(map_count(&m), N / 2);
    for (int i = 0; i < N; i++)
        assert_int_equal(map_has(&m, key_of(k, i)), i % 2);
    map_free(&m);
    assert_int_equal(map_count(&m), 0);
}

static void iteration_follows_insertion(void **state)
{
    struct map m = MAP;
    struct str key;
    void *value;
    int want[] = { 0, 2, 3, 1 };
    char k[32];
    size_t n = 0;

    for (int i = 0; i < 4; i++)
        map_put(&m, key_of(k, i), &values[i]);
    map_del(&m, key_of(k, 1));
    map_put(&m, key_of(k, 1), &values[1]); /* now the last */
    map_put(&m, key_of(k, 2), &values[2]); /* keeps its place */
    for (size_t i = 0; map_next(&m, &i, &key, &value);) {
        assert_ptr_equal(value, &values[want[n]]);
        assert_bytes(key, key_of(k, want[n]));
        n++;
    }
    assert_int_equal(n, 4);
    map_free(&m);
}

static void the_current_key_may_be_deleted_while_iterating(void **state)
{
    struct map m = MAP;
    struct str key;
    char k[32];
    int seen = 0;

    for (int i = 0; i < 100; i++)
        map_put(&m, key_of(k, i), &values[i]);
    for (size_t i = 0; map_next(&m, &i, &key, NULL);) {
        map_del(&m, key);
        seen++;
    }
    assert_int_equal(seen, 100);
    assert_int_equal(map_count(&m), 0);
    map_free(&m);
}

static void coming_and_going_does_not_grow_the_table(void **state)
{
    struct map m = MAP;
    char k[32];

    for (int i = 0; i < 100000; i++) {
        map_put(&m, key_of(k, i), values);
        if (i >= 4)
            assert_ptr_equal(map_del(&m, key_of(k, i - 4)), values);
    }
    assert_int_equal(map_count(&m), 4);
    assert_true(m.slots_cap <= 16);
    map_free(&m);
}

static void keys_are_bytes(void **state)
{
    struct map m = MAP;

    map_put(&m, BYTES(""), &values[1]);
    map_put(&m, BYTES("a\0b"), &values[2]);
    map_put(&m, BYTES("a"), &values[3]);
    assert_ptr_equal(map_get(&m, (struct str){ NULL, 0 }), &values[1]);
    assert_ptr_equal(map_get(&m, BYTES("a\0b")), &values[2]);
    assert_null(map_get(&m, BYTES("a\0c")));
    map_put(&m, STR("null"), NULL);
    assert_true(map_has(&m, STR("null")));
    map_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_found_replaced_and_removed),
        cmocka_unit_test(iteration_follows_insertion),
        cmocka_unit_test(the_current_key_may_be_deleted_while_iterating),
        cmocka_unit_test(coming_and_going_does_not_grow_the_table),
        cmocka_unit_test(keys_are_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
