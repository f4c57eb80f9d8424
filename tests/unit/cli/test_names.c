/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Names of plugins and packages as people write them. */
#include "../check.h"

#include "cli/names.h"

static void a_name_may_say_whose_it_is(void **state)
{
    static const struct {
        const char *text, *pm, *name; /* name NULL: refused */
    } cases[] = {
        { "widget", "", "widget" },
        { "cargo:widget", "cargo", "widget" },
        { "npm:@scope/tool", "npm", "@scope/tool" },
        { "@scope/tool", "", "@scope/tool" },
        { "a:b:c", "a", "b:c" },
        { "", NULL, NULL },
        { ":", NULL, NULL },
        { ":x", NULL, NULL },
        { "x:", NULL, NULL },
        { "a\nb", NULL, NULL },
        { "a\x7f", NULL, NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct package_id id;
        struct error e;
        bool ok = name_read(&id, str_of(cases[i].text), &e);

        assert_int_equal(ok, cases[i].name != NULL);
        if (!ok)
            continue;
        assert_str(id.pm, cases[i].pm);
        assert_str(id.name, cases[i].name);
    }
}

static void a_name_is_bounded(void **state)
{
    char text[NAME_MAX_BYTES + 2];
    struct package_id id;
    struct error e;

    (void)state;
    memset(text, 'a', sizeof text);
    assert_true(name_read(&id, (struct str){ text, NAME_MAX_BYTES }, &e));
    assert_false(name_read(&id, (struct str){ text, NAME_MAX_BYTES + 1 }, &e));
    assert_int_equal(e.kind, ERR_INVALID);
}

/* Of several rows of one name the active one is the answer. */
static void PL_20_names_of_crates_do_not_tell_hyphens_from_underscores(void **state)
{
    static const struct plugin crate = { .origin = ORIGIN_PACKAGE,
                                         .registry = { "cargo", 5 },
                                         .package = { "a-b", 3 } };
    static const struct plugin package = { .origin = ORIGIN_PACKAGE,
                                           .registry = { "npm", 3 },
                                           .package = { "a-b", 3 } };
    struct plugin_status rows[] = {
        { .plugin = &crate,
          .name = STR("a-b"),
          .registry = STR("cargo"),
          .state = PLUGIN_CANDIDATE },
        { .plugin = &package,
          .name = STR("a-b"),
          .registry = STR("npm"),
          .state = PLUGIN_ACTIVE },
        { .name = STR("bad"), .registry = STR("mine"), .state = PLUGIN_ERROR },
    };
    const struct resolution res = { .plugins = { rows, ARRAY_LEN(rows), 0 } };
    static const struct {
        const char *pm, *name;
        int row;
        size_t n;
    } cases[] = {
        { "", "a-b", 1, 2 },     { "", "a_b", 0, 1 },     { "cargo", "a_b", 0, 1 },
        { "npm", "a_b", -1, 0 }, { "", "bad", 2, 1 },     { "other", "bad", -1, 0 },
        { "", "c", -1, 0 },      { "mine", "bad", 2, 1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct package_id id = { str_of(cases[i].pm), str_of(cases[i].name), { 0 } };
        size_t n;
        const struct plugin_status *found = name_find(&res, &id, &n);

        assert_int_equal(n, cases[i].n);
        assert_ptr_equal(found, cases[i].row < 0 ? NULL : &rows[cases[i].row]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_may_say_whose_it_is),
        cmocka_unit_test(a_name_is_bounded),
        cmocka_unit_test(PL_20_names_of_crates_do_not_tell_hyphens_from_underscores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
