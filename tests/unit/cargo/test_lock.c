/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "lock.h"

static void assert_str(struct str got, const char *want)
{
    if (!str_is(got, want))
        fail_msg("'%.*s' instead of '%s'", STR_F(got), want);
}

/* PM-15 */
static void a_reference_is_a_name_a_version_and_a_source(void **state)
{
    static const struct {
        const char *in, *name, *version, *source;
    } cases[] = {
        { "serde", "serde", "", "" },
        { "serde 1.0.0", "serde", "1.0.0", "" },
        { "serde 1.0.0 (registry+https://registry.example/index)", "serde", "1.0.0",
          "registry+https://registry.example/index" },
        { "x 0.1.0 (git+https://git.example/x?rev=ab#abcd)", "x", "0.1.0",
          "git+https://git.example/x?rev=ab" },
        { "x 0.1.0 (path+file:///a dir/x)", "x", "0.1.0", "path+file:///a dir/x" },
        { "x 0.1.0 garbage", "x", "0.1.0", "" },
        { "x 0.1.0 (", "x", "0.1.0", "" },
        { "x 0.1.0 ()", "x", "0.1.0", "" },
        { "", "", "", "" },
        { " ", "", "", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct lock_ref r = lock_ref_parse(str_of(cases[i].in));

        assert_str(r.name, cases[i].name);
        assert_str(r.version, cases[i].version);
        assert_str(r.source, cases[i].source);
    }
}

#define R "registry+https://registry.example/index"
#define G "git+https://git.example/a?branch=b"

static const char *const text =
    "[[package]]\nname=\"a\"\nversion=\"1.0.0\"\nsource=\"" R "\"\n"
    "[[package]]\nname=\"a\"\nversion=\"1.0.0\"\nsource=\"" G "#0123\"\n"
    "[[package]]\nname=\"a\"\nversion=\"2.0.0\"\nsource=\"" R "\"\n"
    "[[package]]\nname=\"p\"\nversion=\"1.0.0\"\n"
    "[[package]]\nname=\"p\"\nversion=\"1.0.0\"\nsource=\"" R "\"\n"
    "[[package]]\nname=\"p\"\nversion=\"3.0.0\"\nsource=\"" R "\"\n"
    "[[package]]\nname=\"incomplete\"\n";

/* PM-15: what several packages fit gives all of them, a path package alone. */
static void a_reference_finds_the_packages_that_fit(void **state)
{
    static const struct {
        const char *ref, *found; /* "version source-letter" pairs */
    } cases[] = {
        { "a", "1.0.0r 1.0.0g 2.0.0r " },
        { "a 1.0.0", "1.0.0r 1.0.0g " },
        { "a 2.0.0", "2.0.0r " },
        { "a 1.0.0 (" G ")", "1.0.0g " },
        { "a 1.0.0 (" G "#4567)", "1.0.0g " },
        { "a 1.0.0 (" R ")", "1.0.0r " },
        { "a 1.0.0 (elsewhere)", "" },
        { "a 3.0.0", "" },
        { "p", "1.0.0p " },
        { "p 1.0.0", "1.0.0p " },
        { "p 1.0.0 (" R ")", "1.0.0r " },
        { "p 3.0.0", "3.0.0r " },
        { "incomplete", "" },
        { "b", "" },
    };
    auto_arena a = ARENA;
    struct error e = { 0 };
    struct lock l;

    (void)state;
    assert_true(lock_parse(&l, &a, str_of(text), &e));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct lock_ref ref = lock_ref_parse(str_of(cases[i].ref));
        auto_buf got = BUF(1024);

        for (struct lock_package *p = NULL; (p = lock_next(&l, &ref, p));)
            buf_addf(&got, "%.*s%c ", STR_F(p->version), p->source.n ? p->source.p[0] : 'p');
        assert_str(buf_str(&got), cases[i].found);
    }
    lock_free(&l);
}

static void text_that_is_no_toml_is_an_error(void **state)
{
    auto_arena a = ARENA;
    struct error e = { 0 };
    struct lock l;

    (void)state;
    assert_false(lock_parse(&l, &a, STR("<<<<<<< HEAD\n"), &e));
    assert_int_equal(e.kind, ERR_INVALID);
    assert_true(lock_parse(&l, &a, STR(""), &e));
    lock_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_is_a_name_a_version_and_a_source),
        cmocka_unit_test(a_reference_finds_the_packages_that_fit),
        cmocka_unit_test(text_that_is_no_toml_is_an_error),
    };

    return cmocka_run_group_tests_name("cargo/lock", tests, NULL, NULL);
}
