/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "plugins/atom.h"
#include "text/semver.h"

static void assert_str(struct str s, const char *want)
{
    assert_int_equal(s.n, strlen(want));
    assert_memory_equal(s.n ? s.p : "", want, s.n);
}

/* PL-17 */
static void an_atom_is_star_or_pm_name_and_requirement(void **state)
{
    static const struct {
        const char *in, *pm, *name;
        bool req;
    } cases[] = {
        { "*", "", "*", false },
        { "serde", "", "serde", false },
        { "  serde  ", "", "serde", false },
        { "cargo:serde", "cargo", "serde", false },
        { "npm:@scope/name", "npm", "@scope/name", false },
        { "@scope/name>=1", "", "@scope/name", true },
        { "my-pm2:a.b_c-d/e^1.2", "my-pm2", "a.b_c-d/e", true },
        { "serde>=1,<2", "", "serde", true },
        { "serde=1.0", "", "serde", true },
        { "serde==1.0.219", "", "serde", true },
        { "serde~1.2.3-rc.1", "", "serde", true },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct error e = { 0 };
        struct atom atom;

        if (!atom_parse(&a, str_of(cases[i].in), &atom, &e))
            fail_msg("%s: %s", cases[i].in, e.msg);
        assert_str(atom.pm, cases[i].pm);
        assert_str(atom.name, cases[i].name);
        assert_int_equal(atom.req != NULL, cases[i].req);
    }
}

/* PL-17, PL-18: every mistake is answered with the way to write it. */
static void a_wrong_atom_says_how_to_write_it(void **state)
{
    static const struct {
        const char *in, *msg;
    } cases[] = {
        { "", "must not be empty" },
        { "   ", "must not be empty" },
        { "serde >=1", "nothing may follow after a blank" },
        { "serde>=1, <2", "nothing may follow after a blank" },
        { "serde(1)", "write it under 'predicates'" },
        { "depends-on(serde)", "write it under 'predicates'" },
        { "serde@1.0", "write 'serde==1.0'" },
        { "npm:@a/b@2", "write '@a/b==2'" },
        { "*>=1", "'*' stands alone" },
        { "cargo:*", "the name is missing" },
        { "cargo:", "the name is missing" },
        { ":serde", "before ':' is missing" },
        { "car_go:serde", "must be a package manager's name" },
        { "@", "the name is missing" },
        { ">=1", "the name is missing" },
        { "serde!", "a name holds letters" },
        { "serde>=", "dependency 'serde>='" },
        { "serde>=x.y", "dependency 'serde>=x.y'" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct error e = { 0 };
        struct atom atom;

        assert_false(atom_parse(&a, str_of(cases[i].in), &atom, &e));
        if (!strstr(e.msg, cases[i].msg))
            fail_msg("%s: %s", cases[i].in, e.msg);
    }
}

static void an_over_long_atom_is_a_limit(void **state)
{
    char text[ATOM_MAX_BYTES + 2];
    auto_arena a = ARENA;
    struct error e = { 0 };
    struct atom atom;

    (void)state;
    memset(text, 'a', sizeof text);
    assert_true(atom_parse(&a, (struct str){ text, ATOM_MAX_BYTES }, &atom, &e));
    assert_false(atom_parse(&a, (struct str){ text, ATOM_MAX_BYTES + 1 }, &atom, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_false(atom_parse(&a, (struct str){ "a\0b", 3 }, &atom, &e));
}

static bool matches(const char *text, const struct deps *deps)
{
    auto_arena a = ARENA;
    struct error e = { 0 };
    struct atom atom;

    if (!atom_parse(&a, str_of(text), &atom, &e))
        fail_msg("%s: %s", text, e.msg);
    return atom_matches(&atom, deps);
}

#define DEP(pm, name, version)           \
    {                                    \
        STR(pm), STR(name), STR(version) \
    }

/* PL-18 (what the operators mean), PL-20 */
static void matching_goes_by_name_manager_and_any_version(void **state)
{
    static struct dep list[] = {
        DEP("cargo", "serde_json", "1.0.100"), DEP("cargo", "rand", "0.7.3"),
        DEP("cargo", "rand", "0.8.5"),         DEP("npm", "left_pad", "1.3.0"),
        DEP("npm", "@scope/name", "2.0.0"),    DEP("cargo", "path-dep", "*"),
        DEP("npm", "odd", "not a version"),    DEP("cargo", "pre", "1.0.0-beta.2"),
    };
    static const struct deps deps = { .v = list, .n = ARRAY_LEN(list) }, none = { 0 };
    static const struct {
        const char *atom;
        bool holds;
    } cases[] = {
        { "*", true },
        { "rand", true },
        { "cargo:rand", true },
        { "npm:rand", false },
        { "Rand", false },
        { "serde-json", true }, /* cargo: '-' and '_' are the same */
        { "cargo:serde_json", true },
        { "left-pad", false }, /* npm: they are not */
        { "npm:left_pad", true },
        { "@scope/name>=2", true },
        { "rand<0.8", true }, /* any of several versions */
        { "rand>=0.8", true },
        { "rand>=0.9", false },
        { "rand>=0.7.5,<0.8", false }, /* but one of them must fit it all */
        { "serde_json=1.0", true },    /* = is ^ */
        { "serde_json=1", true },
        { "serde_json==1.0", true },
        { "serde_json==1.0.100", true },
        { "serde_json==1.0.99", false },
        { "rand=0.8.1", true },
        { "rand==0.8.1", false },
        { "path-dep", true }, /* an unparsable version satisfies a bare name only */
        { "path-dep>=0", false },
        { "odd", true },
        { "odd>=0.0.0", false },
        { "pre>=1.0.0-beta.1", true },
        { "absent", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (matches(cases[i].atom, &deps) != cases[i].holds)
            fail_msg("%s", cases[i].atom);
    assert_true(matches("*", &none));
    assert_false(matches("rand", &none));
}

/* PL-20, CF-3 */
static void equal_names_have_equal_keys(void **state)
{
    auto_arena a = ARENA;

    (void)state;
    assert_true(dep_name_eq(STR("cargo"), STR("a-b_c"), STR("a_b-c")));
    assert_false(dep_name_eq(STR("npm"), STR("a-b"), STR("a_b")));
    assert_true(str_eq(dep_name_key(&a, STR("cargo"), STR("a_b")),
                       dep_name_key(&a, STR("cargo"), STR("a-b"))));
    assert_str(dep_name_key(&a, STR("npm"), STR("a_b")), "a_b");
}

/* PL-19 */
static void a_yaml_list_is_split_at_top_level_commas(void **state)
{
    static const struct {
        const char *in, *pieces[4];
    } cases[] = {
        { "", { NULL } },
        { "  ", { NULL } },
        { "serde", { "serde" } },
        { "serde>=1,<2, tokio", { "serde>=1,<2", "tokio" } },
        { "any(depends-on(a), env(B)), shell(x, y)",
          { "any(depends-on(a), env(B))", "shell(x, y)" } },
        { "a,,b,", { "a", "", "b", "" } },
        { "a),b", { "a)", "b" } },
        { "a(b,c", { "a(b,c" } },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct strs got = { 0 };
        size_t n = 0;

        atom_list_split(&a, str_of(cases[i].in), &got);
        for (; n < 4 && cases[i].pieces[n]; n++)
            assert_str(got.v[n], cases[i].pieces[n]);
        assert_int_equal(got.n, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_atom_is_star_or_pm_name_and_requirement),
        cmocka_unit_test(a_wrong_atom_says_how_to_write_it),
        cmocka_unit_test(an_over_long_atom_is_a_limit),
        cmocka_unit_test(matching_goes_by_name_manager_and_any_version),
        cmocka_unit_test(equal_names_have_equal_keys),
        cmocka_unit_test(a_yaml_list_is_split_at_top_level_commas),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
