/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "name.h"
#include "places.h"
#include "registry.h"

static void names_are_safe_below_node_modules(void **state)
{
    static const struct {
        const char *name;
        bool ok;
    } cases[] = {
        { "a", true },
        { "@s/a", true },
        { "JSONStream", true },
        { "a.b-c_d~e", true },
        { "@S-1/x.y", true },
        { "_old", true },
        { "(a)", true },
        { "", false },
        { ".", false },
        { "..", false },
        { ".bin", false },
        { "a/b", false },
        { "@s", false },
        { "@s/", false },
        { "@/a", false },
        { "@s/a/b", false },
        { "@s/..", false },
        { "@../a", false },
        { "a\n", false },
        { "a\x1b", false },
        { "a b", false },
        { "a\\b", false },
        { "a%2fb", false },
        { "a@1", false },
        { "\xc3\xa4", false },
        { "node_modules", false },
        { "@node_modules/a", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (npm_name_ok(str_of(cases[i].name)) != cases[i].ok)
            fail_msg("'%s'", cases[i].name);
    assert_false(npm_name_ok((struct str){ "a\0b", 3 }));
}

/* PM-19 */
static void aliases_and_places_are_read_out_of_specs(void **state)
{
    static const struct {
        const char *text, *real, *path;
        bool workspace;
    } cases[] = {
        { "^1.0.0", "", "", false },
        { "npm:real@^1", "real", "", false },
        { " npm:@s/real@1.x || 2 ", "@s/real", "", false },
        { "npm:@s/real", "@s/real", "", false },
        { "npm:", "", "", false },
        { "npm:@", "", "", false },
        { "npm:../x@1", "", "", false },
        { "file:../x", "", "../x", false },
        { "link:x", "", "x", false },
        { "portal:/x", "", "/x", false },
        { "./x", "", "./x", false },
        { "..", "", "..", false },
        { "~/x", "", "~/x", false },
        { "~1.2", "", "", false },
        { "workspace:*", "", "", true },
        { "git+ssh://a/b.git", "", "", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct npm_spec s = npm_spec_read(str_of(cases[i].text));

        if (!str_is(s.real, cases[i].real) || !str_is(s.path, cases[i].path) ||
            s.workspace != cases[i].workspace)
            fail_msg("'%s'", cases[i].text);
    }
}

/* PM-2, PL-10: requirements are Cargo's; npm gets its own words. */
static void a_requirement_becomes_npms_range(void **state)
{
    static const struct {
        const char *in, *out; /* NULL: refused */
    } cases[] = {
        { "*", "*" },
        { "1.2.3", "1.2.3" },
        { "1.2.3-rc.1", "1.2.3-rc.1" },
        { "1.2", "^1.2" },
        { "==1.2.3", "=1.2.3" },
        { ">=1, <2.5", ">=1 <2.5" },
        { "~1.2.3", "~1.2.3" },
        { "^0.1.0-beta.2", "^0.1.0-beta.2" },
        { "latest", NULL },
        { "--registry=x", NULL },
        { "git+ssh://x", NULL },
        { "1.2.3 --registry=x", NULL },
        { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_buf out = BUF(1024);
        struct error e = { 0 };
        bool ok = npm_range(str_of(cases[i].in), &out, &e);

        if (ok != (cases[i].out != NULL) || (ok && strcmp(buf_z(&out), cases[i].out) != 0))
            fail_msg("'%s': '%s'", cases[i].in, ok ? buf_z(&out) : e.msg);
    }
}

static void an_exact_version_fits_itself_and_a_requirement_what_it_says(void **state)
{
    static const struct {
        const char *wanted, *version;
        bool strictly, widely;
    } cases[] = {
        { "*", "1.0.0", true, true },         { "1.0.0", "1.0.0", true, true },
        { "1.0.0", "1.1.0", false, true },    { "1.0.0", "2.0.0", false, false },
        { "^1", "1.1.0", true, true },        { ">=2", "1.1.0", false, false },
        { "==1.0.0", "1.0.1", false, false }, { "nonsense", "1.0.0", false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str wanted = str_of(cases[i].wanted), version = str_of(cases[i].version);

        assert_int_equal(id_fits(wanted, version, false), cases[i].strictly);
        assert_int_equal(id_fits(wanted, version, true), cases[i].widely);
    }
}

/* PM-5 */
static void npms_complaint_gets_its_kind(void **state)
{
    static const struct {
        const char *out, *err;
        enum err_kind kind;
        const char *text;
    } cases[] = {
        { "{\"error\":{\"code\":\"E404\",\"summary\":\"Not Found - GET x\"}}", "",
          ERR_NOT_FOUND, "npm: Not Found - GET x" },
        { "{\"error\":{\"code\":\"ENEEDAUTH\",\"summary\":\"log in\"}}", "", ERR_DENIED,
          "npm: log in" },
        { "{\"error\":{\"code\":\"ECONNREFUSED\",\"summary\":\"a\\u001b[31m\\nb\"}}", "",
          ERR_CLOSED, "npm: a b" },
        { "{\"error\":{\"code\":\"EODD\",\"summary\":\"\"}}", "npm error code EODD\n",
          ERR_PROTOCOL, "npm: npm error code EODD" },
        { "", "", ERR_PROTOCOL, "npm: failed without a word" },
        { "[[[", "", ERR_PROTOCOL, "npm: failed without a word" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = { 0 };

        npm_complaint(str_of(cases[i].out), str_of(cases[i].err), &e);
        assert_int_equal(e.kind, cases[i].kind);
        assert_string_equal(e.msg, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_safe_below_node_modules),
        cmocka_unit_test(aliases_and_places_are_read_out_of_specs),
        cmocka_unit_test(a_requirement_becomes_npms_range),
        cmocka_unit_test(an_exact_version_fits_itself_and_a_requirement_what_it_says),
        cmocka_unit_test(npms_complaint_gets_its_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
