/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "text/url.h"

static void resolves_to(const char *base, const char *reference, const char *want)
{
    struct buf out = BUF(4096);

    assert_true(url_resolve(str_of(base), str_of(reference), &out));
    assert_str(buf_str(&out), want);
    buf_free(&out);
}

struct vector {
    const char *reference, *want;
};

/* RFC 3986, sections 5.4.1 and 5.4.2 (strict). */
static const struct vector normal[] = {
    { "g:h", "g:h" },
    { "g", "http://a/b/c/g" },
    { "./g", "http://a/b/c/g" },
    { "g/", "http://a/b/c/g/" },
    { "/g", "http://a/g" },
    { "//g", "http://g" },
    { "?y", "http://a/b/c/d;p?y" },
    { "g?y", "http://a/b/c/g?y" },
    { "#s", "http://a/b/c/d;p?q#s" },
    { "g#s", "http://a/b/c/g#s" },
    { "g?y#s", "http://a/b/c/g?y#s" },
    { ";x", "http://a/b/c/;x" },
    { "g;x", "http://a/b/c/g;x" },
    { "g;x?y#s", "http://a/b/c/g;x?y#s" },
    { "", "http://a/b/c/d;p?q" },
    { ".", "http://a/b/c/" },
    { "./", "http://a/b/c/" },
    { "..", "http://a/b/" },
    { "../", "http://a/b/" },
    { "../g", "http://a/b/g" },
    { "../..", "http://a/" },
    { "../../", "http://a/" },
    { "../../g", "http://a/g" },
};

static const struct vector abnormal[] = {
    { "../../../g", "http://a/g" },
    { "../../../../g", "http://a/g" },
    { "/./g", "http://a/g" },
    { "/../g", "http://a/g" },
    { "g.", "http://a/b/c/g." },
    { ".g", "http://a/b/c/.g" },
    { "g..", "http://a/b/c/g.." },
    { "..g", "http://a/b/c/..g" },
    { "./../g", "http://a/b/g" },
    { "./g/.", "http://a/b/c/g/" },
    { "g/./h", "http://a/b/c/g/h" },
    { "g/../h", "http://a/b/c/h" },
    { "g;x=1/./y", "http://a/b/c/g;x=1/y" },
    { "g;x=1/../y", "http://a/b/c/y" },
    { "g?y/./x", "http://a/b/c/g?y/./x" },
    { "g?y/../x", "http://a/b/c/g?y/../x" },
    { "g#s/./x", "http://a/b/c/g#s/./x" },
    { "g#s/../x", "http://a/b/c/g#s/../x" },
    { "http:g", "http:g" },
};

static void references_resolve_as_in_rfc_3986(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(normal); i++)
        resolves_to("http://a/b/c/d;p?q", normal[i].reference, normal[i].want);
    for (size_t i = 0; i < ARRAY_LEN(abnormal); i++)
        resolves_to("http://a/b/c/d;p?q", abnormal[i].reference, abnormal[i].want);
}

static void corners_of_the_base_resolve(void **state)
{
    static const struct {
        const char *base, *reference, *want;
    } cases[] = {
        { "http://h", "x", "http://h/x" },
        { "http://h", "?q", "http://h?q" },
        { "http://h?old", "x", "http://h/x" },
        { "http://h/a?b/c", "d", "http://h/d" },
        { "http://h/a#f", "", "http://h/a" },
        { "http://h:8/a/", "../b", "http://h:8/b" },
        { "s:a/b", "..", "s:/" },
        { "s:a", "b", "s:b" },
        { "http://h/a//b", "..", "http://h/a/" },
        { "http://h/a//b", "../c", "http://h/a/c" },
        { "http://h/", "//", "http://" },
        { "http://h/a", "?", "http://h/a?" },
        { "http://h/a?q", "#", "http://h/a?q#" },
        { "http://h/a", "x:y", "x:y" },
        { "http://h/a/b", "1:2", "http://h/a/1:2" },
        { "http://h/a", "http://o/../x/./y", "http://o/x/y" },
        { "", "http://o/x", "http://o/x" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        resolves_to(cases[i].base, cases[i].reference, cases[i].want);
}

static void without_any_scheme_there_is_no_target(void **state)
{
    struct buf out = BUF(64);

    assert_false(url_resolve(STR("/a/b"), STR("c"), &out));
    assert_false(url_resolve(STR(""), STR(""), &out));
    assert_int_equal(out.n, 0);
    buf_free(&out);
}

static void an_absent_part_differs_from_an_empty_one(void **state)
{
    struct url_parts u = url_split(STR("s://a/p?q#f"));

    assert_str(u.scheme, "s");
    assert_str(u.authority, "a");
    assert_str(u.path, "/p");
    assert_str(u.query, "q");
    assert_str(u.fragment, "f");
    u = url_split(STR("s://?#"));
    assert_true(u.authority.p && u.authority.n == 0 && u.query.p && u.query.n == 0);
    assert_true(u.fragment.p && u.fragment.n == 0);
    u = url_split(STR("p"));
    assert_true(!u.scheme.p && !u.authority.p && !u.query.p && !u.fragment.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_resolve_as_in_rfc_3986),
        cmocka_unit_test(corners_of_the_base_resolve),
        cmocka_unit_test(without_any_scheme_there_is_no_target),
        cmocka_unit_test(an_absent_part_differs_from_an_empty_one),
    };

    return cmocka_run_group_tests_name("text/url", tests, NULL, NULL);
}
