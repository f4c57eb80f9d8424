/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "common/scratch.h"
#include "fetched.h"
#include "fixture.h"
#include "places.h"

/* The directory below the root, or "none". */
static const char *find(struct fixture *f, struct places *p, const char *name,
                        const char *version)
{
    const struct id id = { STR("npm"), str_of(name), str_of(version) };
    const char *root = path_real(&f->arena, f->root, NULL);
    struct installed package;

    if (!places_find(p, &id, &package))
        return "none";
    assert_true(str_eq(package.name, id.name));
    return path_beneath(root, package.dir) ? package.dir + strlen(root) + 1 : package.dir;
}

/* PM-20 */
static void a_dependency_is_found_where_it_is_installed(void **state)
{
    static const struct {
        const char *name, *version, *dir;
    } cases[] = {
        { "a", "1.0.0", "node_modules/a" },
        { "a", "2.0.0", "m/x/node_modules/a" },
        { "a", "*", "node_modules/a" },
        { "a", ">=2", "m/x/node_modules/a" },
        { "a", "3.0.0", "none" },
        { "real", "2.0.0", "node_modules/nick" }, /* its name, not what it is called */
        { "nick", "*", "none" },
        { "@s/b", "1.0.0-rc.1+build", "node_modules/@s/b" },
        { "@s/other", "*", "none" }, /* not installed: not offered */
        { "ui", "*", "none" },       /* a member: a plugin of the workspace */
        { "y", "*", "none" },        /* without a version that is one */
        { "../m/x", "*", "none" },
    };
    struct fixture f;
    struct places p;

    (void)state;
    fixture_make_of(&f, "npm", "installed");
    places_read(&p, &f.arena, f.root);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(find(&f, &p, cases[i].name, cases[i].version), cases[i].dir);
    places_free(&p);
    fixture_free(&f);
}

/* PM-20: root is the real path; pnpm's links lead there. */
static void links_of_pnpm_are_followed(void **state)
{
    struct fixture f;
    struct places p;

    (void)state;
    fixture_make_of(&f, "npm", "pnpm");
    places_read(&p, &f.arena, f.root);
    assert_string_equal(find(&f, &p, "react", "18.3.1"),
                        "node_modules/.pnpm/react@18.3.1/node_modules/react");
    assert_string_equal(find(&f, &p, "@w/b", "*"), "none");
    places_free(&p);
    fixture_free(&f);
}

/* PM-22 */
static void packages_of_nested_workspaces_are_found(void **state)
{
    struct fixture f;
    struct places p;

    (void)state;
    fixture_make_of(&f, "npm", "nested");
    fixture_write(&f, "services/api/node_modules/a/package.json",
                  STR("{\"name\":\"a\",\"version\":\"2.0.0\"}"));
    places_read(&p, &f.arena, f.root);
    assert_string_equal(find(&f, &p, "a", "2.0.0"), "services/api/node_modules/a");
    assert_string_equal(find(&f, &p, "a", "1.0.0"), "none");
    places_free(&p);
    fixture_free(&f);
}

static void without_a_workspace_nothing_is_found(void **state)
{
    const struct id id = { STR("npm"), STR("a"), STR("*") };
    auto_arena a = ARENA;
    struct installed package;
    struct places p;

    (void)state;
    places_read(&p, &a, NULL);
    assert_false(places_find(&p, &id, &package));
    places_free(&p);
}

static void put_fetched(struct fixture *f, const char *version)
{
    const char *temp;
    struct installed package;
    struct inputs in = { .arena = &f->arena };
    struct error e = { 0 };
    const char *dir;

    temp = fetched_temp(&f->arena, f->top, &e);
    if (!temp)
        fail_msg("%s", e.msg);
    dir = path_join(&f->arena, temp, "package");
    if (!file_mkdirs(dir, &e) ||
        !file_write_atomic(
            path_join(&f->arena, dir, "package.json"),
            str_of(arena_printf(&f->arena, "{\"name\":\"@s/a\",\"version\":\"%s\"}", version)),
            0600, &e))
        fail_msg("%s", e.msg);
    assert_true(installed_read(&in, dir, &package));
    assert_true(fetched_keep(&f->arena, f->top, dir, &package, &e));
    scratch_remove(temp);
    assert_false(file_exists(temp));
}

/* PM-7: same id, same content; PM-21 */
static void what_was_fetched_is_found_again_by_version_and_requirement(void **state)
{
    static const struct {
        const char *wanted, *found;
    } cases[] = {
        { "1.0.0", "1.0.0" },  { "*", "10.0.0" },   { "^1", "1.20.0" },
        { "1.1.0", "1.20.0" }, { ">=2, <9", NULL }, { "3.0.0", NULL },
    };
    struct fixture f;

    (void)state;
    fixture_make_of(&f, "npm", NULL);
    put_fetched(&f, "1.0.0");
    put_fetched(&f, "1.3.0");
    put_fetched(&f, "1.20.0");
    put_fetched(&f, "10.0.0");
    put_fetched(&f, "10.0.0"); /* by two processes */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct id id = { STR("npm"), STR("@s/a"), str_of(cases[i].wanted) };
        struct inputs in = { .arena = &f.arena };
        struct installed package;

        assert_int_equal(fetched_find(&in, f.top, &id, &package), cases[i].found != NULL);
        if (cases[i].found)
            assert_true(str_is(package.version, cases[i].found));
        assert_false(fetched_find(&in, NULL, &id, &package));
    }
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dependency_is_found_where_it_is_installed),
        cmocka_unit_test(links_of_pnpm_are_followed),
        cmocka_unit_test(packages_of_nested_workspaces_are_found),
        cmocka_unit_test(without_a_workspace_nothing_is_found),
        cmocka_unit_test(what_was_fetched_is_found_again_by_version_and_requirement),
    };

    log_set_level(LOG_OFF);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
