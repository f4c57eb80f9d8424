/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "text/semver.h"

static struct semver version(const char *text)
{
    struct semver v;
    struct error e;

    if (!semver_parse(&v, str_of(text), &e))
        fail_msg("%s", e.msg);
    return v;
}

/* Semantic Versioning 2.0.0, items 2, 9 and 10. */
static void versions_are_taken_apart_or_refused(void **state)
{
    static const char *const good[] = {
        "0.0.0",         "1.2.3",
        "10.20.30",      "1.0.0-alpha",
        "1.0.0-alpha.1", "1.0.0-0.3.7",
        "1.0.0--",       "1.0.0-x-y.z",
        "1.0.0+001",     "1.0.0-a+b",
        "1.0.0+a-b.00",  "18446744073709551615.0.0",
        "1.0.0-0a",      "1.0.0-99999999999999999999",
    };
    static const char *const bad[] = {
        "",          "1",
        "1.2",       "1.2.",
        "1.2.3.4",   "01.2.3",
        "1.02.3",    "1.2.03",
        "v1.2.3",    "=1.2.3",
        "1.2.3-",    "1.2.3+",
        "1.2.3-01",  "1.2.3-a..b",
        "1.2.3-.a",  "1.2.3-a.",
        "1.2.3-a_b", "1.2.3 ",
        " 1.2.3",    "1.-2.3",
        "a.b.c",     "18446744073709551616.0.0",
        "1.2.3+a+b", "1.2.x",
        "*",         "1.2.3-\xc3\xa9",
    };
    struct semver v = version("1.22.333-rc.1+b.5");
    auto_buf long_text = BUF(1000);
    struct error e;

    assert_int_equal(v.major, 1);
    assert_int_equal(v.minor, 22);
    assert_int_equal(v.patch, 333);
    assert_str(v.pre, "rc.1");
    assert_str(v.build, "b.5");
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        version(good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (semver_parse(&v, str_of(bad[i]), &e))
            fail_msg("accepted: '%s'", bad[i]);
        assert_int_equal(e.kind, ERR_INVALID);
    }
    buf_addz(&long_text, "1.0.0-");
    buf_fill(&long_text, 'a', SEMVER_TEXT_MAX);
    assert_false(semver_parse(&v, buf_str(&long_text), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
}

/* Item 11, with its own example as the middle of the row. */
static void precedence_is_that_of_the_standard(void **state)
{
    static const char *const ascending[] = {
        "0.0.1",
        "0.1.0",
        "0.9.9",
        "1.0.0-0",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-99999999999999999999",
        "1.0.0-100000000000000000000",
        "1.0.0--",
        "1.0.0-A",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.1",
        "1.2.0",
        "1.10.0",
        "2.0.0",
        "10.0.0",
    };
    struct semver with_build = version("1.0.0+x"), without = version("1.0.0");

    for (size_t i = 0; i < ARRAY_LEN(ascending); i++) {
        for (size_t k = 0; k < ARRAY_LEN(ascending); k++) {
            struct semver a = version(ascending[i]), b = version(ascending[k]);
            int c = semver_cmp(&a, &b);

            if ((c > 0) - (c < 0) != (i > k) - (i < k))
                fail_msg("'%s' against '%s' gave %d", ascending[i], ascending[k], c);
        }
    }
    assert_int_equal(semver_cmp(&with_build, &without), 0);
}

/* Cargo's rules; a blank separates versions that fit from those that do not. */
static void requirements_select_as_cargo_does(void **state)
{
    static const struct {
        const char *req, *fits, *not ;
    } cases[] = {
        { "*", "0.0.0 1.2.3 99.0.0", "1.0.0-rc.1" },
        { "x", "1.2.3", "1.0.0-a" },
        { "1.2.3", "1.2.3 1.2.4 1.9.0", "1.2.2 2.0.0 1.2.3-rc.1 2.0.0-rc.1 0.9.9" },
        { "^1.2.3", "1.2.3 1.9.0", "2.0.0 1.2.2" },
        { "1.2", "1.2.0 1.3.0", "1.1.9 2.0.0" },
        { "1", "1.0.0 1.9.9", "0.9.9 2.0.0" },
        { "0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2 1.0.0" },
        { "^0.0.3", "0.0.3", "0.0.4 0.0.2 0.1.0" },
        { "^0.0", "0.0.0 0.0.9", "0.1.0" },
        { "^0", "0.0.0 0.9.9", "1.0.0" },
        { "0.1", "0.1.0 0.1.9", "0.2.0 0.0.9" },
        { "~1.2.3", "1.2.3 1.2.9", "1.3.0 1.2.2" },
        { "~1.2", "1.2.0 1.2.9", "1.3.0 1.1.9" },
        { "~1", "1.0.0 1.9.9", "2.0.0 0.9.9" },
        { "=1.2.3", "1.2.3 1.2.3+b", "1.2.4 1.2.3-a" },
        { "==1.0.219", "1.0.219", "1.0.220 1.0.218" },
        { "=1.2", "1.2.0 1.2.9", "1.3.0" },
        { "=1", "1.0.0 1.9.9", "2.0.0" },
        { ">1.2.3", "1.2.4 2.0.0", "1.2.3 1.2.2" },
        { ">1.2", "1.3.0 2.0.0", "1.2.0 1.2.9" },
        { ">1", "2.0.0", "1.0.0 1.9.9" },
        { ">=1.2.3", "1.2.3 9.0.0", "1.2.2" },
        { ">=1", "1.0.0 2.0.0", "0.9.9" },
        { ">= 1.2", "1.2.0", "1.1.9" },
        { "<1.2.3", "1.2.2 0.1.0", "1.2.3" },
        { "<1.2", "1.1.9", "1.2.0 1.2.9" },
        { "<1", "0.9.9", "1.0.0" },
        { "<=1.2.3", "1.2.3 0.1.0", "1.2.4" },
        { "<=1.2", "1.2.9", "1.3.0" },
        { "<=1", "1.9.9", "2.0.0" },
        { ">=1.2, <1.5", "1.2.0 1.4.9", "1.1.9 1.5.0" },
        { " >=1.2,<1.5 , ^1 ", "1.3.0", "1.6.0" },
        { "1.*", "1.0.0 1.9.9", "2.0.0 0.9.9" },
        { "1.2.*", "1.2.0 1.2.9", "1.3.0" },
        { "1.*.*", "1.5.0", "2.0.0" },
        { "1.x", "1.5.0", "2.0.0" },
        { "1.2.3-rc.1", "1.2.3-rc.1 1.2.3-rc.2 1.2.3 1.3.0",
          "1.2.3-beta 1.2.4-rc.1 1.3.0-rc.1" },
        { ">=1.0.0-rc.1, <1.0.0", "1.0.0-rc.2", "1.0.0 1.0.1-rc.1 0.9.0" },
        { "=1.0.0-a", "1.0.0-a", "1.0.0-b 1.0.0" },
        { "~1.2.3-beta.2", "1.2.3-beta.4 1.2.3 1.2.9", "1.2.4-beta.2 1.2.3-beta.1" },
        { "1.2.3+ignored", "1.2.3 1.5.0", "2.0.0" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct semver_req req;
        struct error e;

        if (!semver_req_parse(&req, str_of(cases[i].req), &e))
            fail_msg("%s", e.msg);
        for (int want = 0; want < 2; want++) {
            auto_free char *list = mem_strdup(want ? cases[i].fits : cases[i].not );

            for (char *save, *t = strtok_r(list, " ", &save); t;
                 t = strtok_r(NULL, " ", &save)) {
                struct semver v = version(t);

                if (semver_req_fits(&req, &v) != want)
                    fail_msg("'%s' for '%s' should be %d", t, cases[i].req, want);
            }
        }
    }
}

static void malformed_requirements_are_refused(void **state)
{
    static const char *const bad[] = {
        "",   " ",      ",",     "1,",    ",1",     ">",      ">=",  "^",   "1.2.3.4",
        "a",  "1.a",    "*.1",   "1.*.3", "*, 1",   ">*",     "1 2", "><1", "=>1",
        "!1", "1 || 2", "1 - 2", "01",    "1.2-rc", "1.2.3-", "v1",
    };
    auto_buf many = BUF(1000);
    struct semver_req req;
    struct error e;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (semver_req_parse(&req, str_of(bad[i]), &e))
            fail_msg("accepted: '%s'", bad[i]);
        assert_int_equal(e.kind, ERR_INVALID);
    }
    for (int i = 0; i <= SEMVER_REQ_MAX; i++)
        buf_addz(&many, i ? ",>1" : ">1");
    assert_false(semver_req_parse(&req, buf_str(&many), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_taken_apart_or_refused),
        cmocka_unit_test(precedence_is_that_of_the_standard),
        cmocka_unit_test(requirements_select_as_cargo_does),
        cmocka_unit_test(malformed_requirements_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
