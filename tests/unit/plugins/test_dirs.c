/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tree.h"

#include <pwd.h>

#include "plugins/dirs.h"

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* CF-1 */
static void each_directory_resolves_on_its_own(void **state)
{
    static const struct {
        const char *symposium, *xdg_config, *xdg_cache, *xdg_state, *home;
        const char *config, *cache, *logs, *st;
    } cases[] = {
        { NULL, NULL, NULL, NULL, "/h", "/h/.symposium", "/h/.symposium/cache",
          "/h/.symposium/logs", "/h/.symposium/state" },
        { "/s", "/xc", "/xk", "/xs", "/h", "/s", "/s/cache", "/s/logs", "/s/state" },
        { "/s/", NULL, NULL, NULL, NULL, "/s", "/s/cache", "/s/logs", "/s/state" },
        { NULL, "/xc", NULL, NULL, "/h", "/xc/symposium", "/xc/symposium/cache",
          "/xc/symposium/logs", "/xc/symposium/state" },
        { NULL, NULL, "/xk", NULL, "/h", "/h/.symposium", "/xk/symposium", "/h/.symposium/logs",
          "/h/.symposium/state" },
        { NULL, NULL, NULL, "/xs", "/h", "/h/.symposium", "/h/.symposium/cache",
          "/xs/symposium/logs", "/xs/symposium" },
        { "", "", "", "", "/h", "/h/.symposium", "/h/.symposium/cache", "/h/.symposium/logs",
          "/h/.symposium/state" },
        { NULL, "relative", "relative", "relative", "/h", "/h/.symposium",
          "/h/.symposium/cache", "/h/.symposium/logs", "/h/.symposium/state" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct dirs d;

        set("SYMPOSIUM_HOME", cases[i].symposium);
        set("XDG_CONFIG_HOME", cases[i].xdg_config);
        set("XDG_CACHE_HOME", cases[i].xdg_cache);
        set("XDG_STATE_HOME", cases[i].xdg_state);
        set("HOME", cases[i].home);
        assert_true(dirs_find(&d, &a, NULL));
        assert_string_equal(d.config, cases[i].config);
        assert_string_equal(d.cache, cases[i].cache);
        assert_string_equal(d.logs, cases[i].logs);
        assert_string_equal(d.state, cases[i].st);
    }
}

/* CF-1, MS-8: agents filter environments, and ~ has a meaning without HOME. */
static void without_any_variable_the_users_entry_counts(void **state)
{
    static const char *const empty[] = { NULL, "" };
    const struct passwd *user = getpwuid(getuid());

    for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
        auto_arena a = ARENA;
        struct error e = { 0 };
        struct dirs d;

        set("SYMPOSIUM_HOME", NULL);
        set("XDG_CONFIG_HOME", NULL);
        set("HOME", empty[i]);
        if (user) {
            assert_true(dirs_find(&d, &a, &e));
            assert_string_equal(d.config,
                                path_clean(&a, path_join(&a, user->pw_dir, ".symposium")));
        } else {
            assert_false(dirs_find(&d, &a, &e));
            assert_int_equal(e.kind, ERR_NOT_FOUND);
            assert_has(e.msg, "HOME");
        }
    }
}

/* CF-1: a relative SYMPOSIUM_HOME is taken from the current directory. */
static void results_are_absolute(void **state)
{
    auto_arena a = ARENA;
    struct dirs d;

    set("SYMPOSIUM_HOME", "some/where");
    assert_true(dirs_find(&d, &a, NULL));
    assert_true(path_is_abs(d.config));
    assert_true(str_ends(str_of(d.config), STR("/some/where")));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_directory_resolves_on_its_own),
        cmocka_unit_test(without_any_variable_the_users_entry_counts),
        cmocka_unit_test(results_are_absolute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
