/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <errno.h>

#include "base/error.h"
#include "base/utf8.h"

static void setting_returns_false_and_keeps_kind_and_text(void **state)
{
    struct error e;

    assert_false(error_set(&e, ERR_NOT_FOUND, "no server '%s'", "fs"));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    assert_int_equal(e.sys, 0);
    assert_string_equal(e.msg, "no server 'fs'");
}

static void system_errors_keep_errno_and_end_with_its_meaning(void **state)
{
    struct error e;

    errno = ENOSPC;
    error_set(&e, ERR_SYS, "write '%s'", "x");
    assert_int_equal(e.sys, ENOSPC);
    assert_int_equal(errno, ENOSPC);
    assert_string_equal(e.msg, "write 'x': No space left on device");
    errno = 99999;
    error_set(&e, ERR_SYS, "write");
    assert_string_equal(e.msg, "write: error 99999");
}

static void wrapping_puts_context_in_front(void **state)
{
    struct error e;

    error_set(&e, ERR_LIMIT, "too long");
    assert_false(error_wrap(&e, "file '%s'", "a"));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_string_equal(e.msg, "file 'a': too long");
}

static void without_a_place_for_it_an_error_is_just_false(void **state)
{
    assert_false(error_set(NULL, ERR_SYS, "%d", 1));
    assert_false(error_wrap(NULL, "%d", 1));
}

static void long_texts_are_cut_between_code_points(void **state)
{
    char text[2 * ERROR_MSG_MAX + 1];
    struct error e;

    /* Every alignment of a three-byte character against the end. */
    for (size_t shift = 0; shift < 3; shift++) {
        memset(text, 'a', shift);
        for (size_t i = shift; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xe2\x82\xac", 4);
        error_set(&e, ERR_INVALID, "%s", text);
        assert_true(strlen(e.msg) >= ERROR_MSG_MAX - 3 && strlen(e.msg) < ERROR_MSG_MAX);
        assert_true(utf8_valid(str_of(e.msg)));
        error_wrap(&e, "%s", "context");
        assert_true(utf8_valid(str_of(e.msg)));
        assert_true(str_starts(str_of(e.msg), STR("context: a")) || shift == 0);
        error_wrap(&e, "%s", text);
        assert_true(utf8_valid(str_of(e.msg)));

        errno = EIO;
        error_set(&e, ERR_SYS, "%s", text);
        assert_true(utf8_valid(str_of(e.msg)));
        assert_true(str_ends(str_of(e.msg), STR(": Input/output error")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting_returns_false_and_keeps_kind_and_text),
        cmocka_unit_test(system_errors_keep_errno_and_end_with_its_meaning),
        cmocka_unit_test(wrapping_puts_context_in_front),
        cmocka_unit_test(without_a_place_for_it_an_error_is_just_false),
        cmocka_unit_test(long_texts_are_cut_between_code_points),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
