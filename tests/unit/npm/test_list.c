/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lister_check.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "direct.h"

/* PM-18, PM-19, PM-22: each fixture's remark says what it is about. */
static void each_fixture_gives_its_expected_list(void **state)
{
    static const char *const names[] = {
        "workspace",     "object-form", "version-1",  "shrinkwrap",    "installed",
        "unlocked",      "pnpm",        "odd-shapes", "stale-lock",    "broken-lock",
        "other-manager", "npm-manager", "empty-lock", "broken-member", "hostile",
        "same-name",     "nested",      "none",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct asked g = { 0 };
        struct fixture f;

        fixture_make_of(&f, "npm", names[i]);
        g.l = lister_new(&npm_lister, f.root);
        check_lists(&g, "npm", names[i], arena_z(&f.arena, f.expected));
        end(&g, &f);
    }
}

static bool watches(const struct fixture *f, yyjson_val *answer, const char *path)
{
    auto_arena a = ARENA;

    for (struct json_iter it = json_iter(json_get(answer, "watch")); json_next(&it);)
        if (str_is(json_str(it.val), path_join(&a, f->root, path)))
            return true;
    return false;
}

/* PM-2: manifests and lockfiles are known to whoever asks; node_modules, and what pnpm alone
 * names, are not. */
static void what_the_core_does_not_look_at_is_to_be_watched(void **state)
{
    struct asked g = { 0 };
    struct fixture f;
    yyjson_val *answer;

    (void)state;
    fixture_make_of(&f, "npm", "object-form");
    g.l = lister_new(&npm_lister, f.root);
    assert_true(json_is_arr(ask(&g)));
    end(&g, &f);

    g = (struct asked){ 0 };
    fixture_make_of(&f, "npm", "installed");
    g.l = lister_new(&npm_lister, f.root);
    answer = ask(&g);
    assert_true(watches(&f, answer, "node_modules/a/package.json"));
    assert_true(watches(&f, answer, "node_modules/not-there/package.json"));
    assert_true(watches(&f, answer, "m/x/node_modules/a/package.json"));
    assert_false(watches(&f, answer, "m/x/package.json"));
    assert_false(watches(&f, answer, "package-lock.json"));
    end(&g, &f);

    g = (struct asked){ 0 };
    fixture_make_of(&f, "npm", "pnpm");
    g.l = lister_new(&npm_lister, f.root);
    answer = ask(&g);
    assert_true(watches(&f, answer, "packages/a/package.json"));
    assert_true(watches(&f, answer, "packages"));
    assert_false(watches(&f, answer, "package.json"));
    assert_false(watches(&f, answer, "pnpm-workspace.yaml"));
    end(&g, &f);

    g = (struct asked){ 0 };
    fixture_make_of(&f, "npm", "nested");
    g.l = lister_new(&npm_lister, f.root);
    answer = ask(&g);
    assert_true(watches(&f, answer, "web/package.json"));
    assert_true(watches(&f, answer, "web/package-lock.json"));
    end(&g, &f);
}

static void an_answer_follows_what_it_came_from(void **state)
{
    struct asked g = { 0 };
    struct fixture f;

    (void)state;
    fixture_make_of(&f, "npm", "stale-lock");
    g.l = lister_new(&npm_lister, f.root);
    check_lists(&g, "npm", "first", "fresh 1.3.0\nnew *\nold 1.0.0\n");
    fixture_write(&f, "node_modules/new/package.json",
                  STR("{\"name\":\"new\",\"version\":\"1.0.7\"}"));
    check_lists(&g, "npm", "installed since", "fresh 1.3.0\nnew 1.0.7\nold 1.0.0\n");
    fixture_write(&f, "npm-shrinkwrap.json",
                  STR("{\"packages\":{\"node_modules/old\":{\"version\":\"1.0.1\"}}}"));
    check_lists(&g, "npm", "a lockfile that wins", "fresh 1.3.0\nnew 1.0.7\nold 1.0.1\n");
    end(&g, &f);
}

/* PM-5 */
static void a_malformed_root_manifest_is_an_error_that_names_it(void **state)
{
    static const char *const texts[] = { "{", "[]", "", "\"x\"", "{\"a\":\"\xff\"}" };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct asked g = { 0 };
        struct error e = { 0 };
        struct fixture f;
        struct str json;

        fixture_make_of(&f, "npm", NULL);
        fixture_write(&f, "package.json", str_of(texts[i]));
        g.l = lister_new(&npm_lister, f.root);
        assert_false(lister_list(g.l, &json, &e));
        assert_int_equal(e.kind, ERR_INVALID);
        assert_non_null(strstr(e.msg, "package.json"));
        end(&g, &f);
    }
}

/* A lockfile of the largest projects, and more. */
static void a_lockfile_of_a_hundred_thousand_packages_is_read_in_time(void **state)
{
    auto_buf lock = BUF(64 << 20), deps = BUF(1 << 20);
    struct asked g = { 0 };
    struct fixture f;
    int64_t began;

    (void)state;
    buf_addz(&lock, "{\"lockfileVersion\":3,\"packages\":{\"\":{}");
    for (int i = 0; i < 100000; i++)
        buf_addf(&lock,
                 ",\"node_modules/package-%d\":{\"version\":\"1.%d.0\",\"resolved\":"
                 "\"https://registry.example/package-%d.tgz\",\"integrity\":\"sha512-%080d\","
                 "\"dependencies\":{\"a\":\"^1.0.0\",\"b\":\"^2.0.0\"}}",
                 i, i, i, i);
    buf_addz(&lock, "}}");
    buf_addz(&deps, "{\"dependencies\":{\"package-0\":\"1\"");
    for (int i = 1; i < 1000; i++)
        buf_addf(&deps, ",\"package-%d\":\"1\"", i * 99);
    buf_addz(&deps, "}}");
    fixture_make_of(&f, "npm", NULL);
    fixture_write(&f, "package.json", buf_str(&deps));
    fixture_write(&f, "package-lock.json", buf_str(&lock));
    g.l = lister_new(&npm_lister, f.root);
    began = clock_ms();
    assert_int_equal(json_len(ask(&g)), 1000);
    assert_true(clock_ms() - began < 1000 * slack());
    end(&g, &f);
}

/* Bounds: dependencies of one manifest, a manifest's bytes, members. */
static void what_is_too_much_is_left_out(void **state)
{
    auto_buf deps = BUF(6 << 20);
    struct asked g = { 0 };
    struct error e = { 0 };
    struct fixture f;
    struct str json;

    (void)state;
    buf_addz(&deps, "{\"optionalDependencies\":{\"package-0\":\"workspace:*\"");
    for (int i = 1; i < 20000; i++)
        buf_addf(&deps, ",\"package-%d\":\"workspace:*\"", i);
    buf_addz(&deps, ",\"package-0\":\"1\"}}");
    fixture_make_of(&f, "npm", NULL);
    fixture_write(&f, "package.json", buf_str(&deps));
    g.l = lister_new(&npm_lister, f.root);
    check_lists(&g, "npm", "past the bound even what is said again", "");
    lister_free(g.l);

    buf_fill(&deps, ' ', 5 << 20);
    fixture_write(&f, "package.json", buf_str(&deps));
    g.l = lister_new(&npm_lister, f.root);
    assert_false(lister_list(g.l, &json, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    end(&g, &f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fixture_gives_its_expected_list),
        cmocka_unit_test(what_the_core_does_not_look_at_is_to_be_watched),
        cmocka_unit_test(an_answer_follows_what_it_came_from),
        cmocka_unit_test(a_malformed_root_manifest_is_an_error_that_names_it),
        cmocka_unit_test(a_lockfile_of_a_hundred_thousand_packages_is_read_in_time),
        cmocka_unit_test(what_is_too_much_is_left_out),
    };

    log_set_level(LOG_OFF);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
