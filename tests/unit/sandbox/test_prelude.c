/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The prelude's conformance (MS-66): each file of cases/ is a script that returns the list of
 * its cases that failed. */
#include "support.h"

#include "base/file.h"

static void run_cases(const char *name)
{
    struct sandbox_limits l = DEFAULT_LIMITS;
    auto_buf source = BUF(SANDBOX_MAX_SOURCE);
    auto_free char *path = mem_printf("%s/%s", TEST_CASES, name);
    struct error e = { 0 };
    struct run r;

    l.timeout_ms = 30000;
    if (!file_read(path, &source, &e))
        fail_msg("%s", e.msg);
    run_with(&r, buf_z(&source), &l);
    if (r.outcome != SCRIPT_OK)
        fail_msg("%s: %s\n%s", name, r.message, r.stack);
    assert_z(r.result, "[]");
    run_close(&r);
}

static void urls_are_parsed_as_the_standard_says(void **state)
{
    run_cases("url.js");
}

static void clone_text_base64_and_params_conform(void **state)
{
    run_cases("prelude.js");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(urls_are_parsed_as_the_standard_says),
    cmocka_unit_test(clone_text_base64_and_params_conform),
};

TEST_MAIN(tests)
