/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Values kept for the session (MS-68). */
#include "../check.h"

#include "meta/results.h"

static void a_kept_value_is_found_by_id_and_by_uri(void **state)
{
    struct results r = { 0 };
    char id[RESULT_ID_SIZE], uri[128];

    (void)state;
    assert_true(results_keep(&r, STR("{\"a\":1}"), id));
    assert_int_equal(strlen(id), 32);
    assert_str(results_get(&r, str_of(id)), "{\"a\":1}");
    snprintf(uri, sizeof uri, RESULT_URI_PREFIX "%s", id);
    assert_str(results_get(&r, str_of(uri)), "{\"a\":1}");
    assert_null(results_get(&r, STR("0123456789abcdef0123456789abcdef")).p);
    assert_null(results_get(&r, STR("")).p);
    results_free(&r);
    assert_null(results_get(&r, str_of(id)).p);
}

static void the_oldest_go_first_and_one_too_large_is_not_kept(void **state)
{
    struct results r = { 0 };
    char ids[3][RESULT_ID_SIZE], other[RESULT_ID_SIZE];
    char *big = mem_alloc(RESULT_MAX_BYTES + 1);

    (void)state;
    memset(big, 'x', RESULT_MAX_BYTES + 1);
    assert_false(results_keep(&r, (struct str){ big, RESULT_MAX_BYTES + 1 }, other));
    for (int i = 0; i < 3; i++)
        assert_true(results_keep(&r, (struct str){ big, RESULT_MAX_BYTES }, ids[i]));
    assert_null(results_get(&r, str_of(ids[0])).p);
    assert_int_equal(results_get(&r, str_of(ids[1])).n, RESULT_MAX_BYTES);
    assert_int_equal(results_get(&r, str_of(ids[2])).n, RESULT_MAX_BYTES);
    assert_true(r.bytes <= RESULTS_MAX_BYTES);
    results_free(&r);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_value_is_found_by_id_and_by_uri),
        cmocka_unit_test(the_oldest_go_first_and_one_too_large_is_not_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
