/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lister_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "direct.h"

/* PM-15, PM-22: each fixture's remark says what it is about. */
static void each_fixture_gives_its_expected_list(void **state)
{
    static const char *const names[] = {
        "single",
        "every-kind",
        "every-kind-unlocked",
        "several-versions",
        "format-0",
        "format-1",
        "format-2",
        "members",
        "exclude",
        "inheritance",
        "inheritance-locked",
        "patched",
        "patched-unlocked",
        "same-name",
        "path-single",
        "stale-lock",
        "broken-lock",
        "broken-member",
        "odd-shapes",
        "nested",
        "none",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct asked g = { 0 };
        struct fixture f;

        fixture_make(&f, names[i]);
        g.l = lister_new(&cargo_lister, f.root);
        check_lists(&g, "cargo", names[i], arena_z(&f.arena, f.expected));
        end(&g, &f);
    }
}

static bool watches(yyjson_val *answer, const char *path)
{
    for (struct json_iter it = json_iter(json_get(answer, "watch")); json_next(&it);)
        if (str_is(json_str(it.val), path))
            return true;
    return false;
}

/* PM-2, PM-3: the bare array, unless the answer depends on files that whoever asks does not
 * find by itself. */
static void the_answer_is_bare_unless_there_is_something_to_watch(void **state)
{
    static const struct {
        const char *fixture, *watched;
    } cases[] = {
        { "single", NULL },
        { "exclude", NULL },
        { "members", "outside/Cargo.toml" },
        { "patched", NULL },
        { "inheritance", "ext/Cargo.toml" },
        { "nested", "root/backend/Cargo.lock" },
        { "nested", "root/native/Cargo.toml" }, /* absent: it may come */
        { "nested", "root" },
        { "none", "root" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct asked g = { 0 };
        struct fixture f;
        yyjson_val *answer;

        fixture_make(&f, cases[i].fixture);
        g.l = lister_new(&cargo_lister, f.root);
        answer = ask(&g);
        if (json_is_arr(answer) != !cases[i].watched)
            fail_msg("%s: %s", cases[i].fixture, json_type_name(answer));
        if (cases[i].watched && !watches(answer, path_join(&f.arena, f.top, cases[i].watched)))
            fail_msg("%s: '%s' is not watched", cases[i].fixture, cases[i].watched);
        end(&g, &f);
    }
}

static const char *const manifest = "[package]\nname = \"app\"\nversion = \"1.0.0\"\n";

static void put_lock(struct fixture *f, const char *version)
{
    fixture_write(f, "Cargo.lock",
                  str_of(arena_printf(&f->arena,
                                      "version = 4\n[[package]]\nname = \"app\"\n"
                                      "version = \"1.0.0\"\ndependencies = [\"x\"]\n"
                                      "[[package]]\nname = \"x\"\nversion = \"%s\"\n"
                                      "source = \"registry+https://registry.example/index\"\n",
                                      version)));
}

/* Writes in place with a given modification time: same inode, same size. */
static void rewrite(struct fixture *f, const char *file, const char *from, const char *to,
                    long ns)
{
    const char *path = path_join(&f->arena, f->root, file);
    struct timespec times[2] = { { 1700000000, ns }, { 1700000000, ns } };
    auto_buf text = BUF(4096);
    char *at;
    auto_close int fd = open(path, O_RDWR | O_CLOEXEC);

    assert_true(file_read(path, &text, NULL));
    at = strstr(text.p, from);
    assert_non_null(at);
    memcpy(at, to, strlen(to));
    assert_int_equal(pwrite(fd, text.p, text.n, 0), text.n);
    assert_int_equal(futimens(fd, times), 0);
}

/* PM-15: cached on the modification time in nanoseconds. */
static void an_answer_is_kept_until_the_lockfile_is_a_nanosecond_newer(void **state)
{
    struct asked g = { 0 };
    struct fixture f;

    (void)state;
    fixture_make(&f, NULL);
    fixture_write(&f, "Cargo.toml", str_of(manifest));
    put_lock(&f, "1.0.0");
    rewrite(&f, "Cargo.lock", "1.0.0", "1.0.0", 500);
    g.l = lister_new(&cargo_lister, f.root);
    check_lists(&g, "cargo", "first", "x 1.0.0\n");
    rewrite(&f, "Cargo.lock", "\"x\"\nversion = \"1.0.0\"", "\"x\"\nversion = \"2.0.0\"", 500);
    check_lists(&g, "cargo", "same stamp", "x 1.0.0\n");
    rewrite(&f, "Cargo.lock", "2.0.0", "2.0.0", 501);
    check_lists(&g, "cargo", "one nanosecond later", "x 2.0.0\n");
    end(&g, &f);
}

static void a_change_of_any_input_gives_a_new_answer(void **state)
{
    struct asked g = { 0 };
    struct fixture f;

    (void)state;
    fixture_make(&f, NULL);
    g.l = lister_new(&cargo_lister, f.root);
    check_lists(&g, "cargo", "nothing", "");
    fixture_write(&f, "sub/Cargo.toml",
                  str_of("[package]\nname=\"s\"\n[dependencies]\na=\"1\"\n"));
    check_lists(&g, "cargo", "a manifest below came", "a *\n");
    fixture_write(&f, "Cargo.toml", str_of("[workspace]\nmembers=[\"m/*\"]\n"));
    check_lists(&g, "cargo", "one at the root came", "");
    fixture_write(&f, "m/one/Cargo.toml",
                  str_of("[package]\nname=\"o\"\n[dependencies]\nb=\"1\"\n"));
    check_lists(&g, "cargo", "the members' directory came", "b *\n");
    fixture_write(&f, "m/two/Cargo.toml",
                  str_of("[package]\nname=\"t\"\n[dependencies]\nc=\"1\"\n"));
    check_lists(&g, "cargo", "a member came", "b *\nc *\n");
    fixture_write(&f, "m/two/Cargo.toml",
                  str_of("[package]\nname=\"t\"\n[dependencies]\ncc=\"1\"\n"));
    check_lists(&g, "cargo", "a member's manifest changed", "b *\ncc *\n");
    end(&g, &f);
}

static void a_malformed_root_manifest_is_an_error_that_names_file_and_line(void **state)
{
    struct error e = { 0 };
    struct fixture f;
    struct lister *l;
    struct str json;

    (void)state;
    fixture_make(&f, NULL);
    fixture_write(&f, "Cargo.toml", str_of("[package]\nname = \n"));
    l = lister_new(&cargo_lister, f.root);
    assert_false(lister_list(l, &json, &e));
    assert_int_equal(e.kind, ERR_INVALID);
    assert_non_null(strstr(e.msg, "root/Cargo.toml'"));
    assert_non_null(strstr(e.msg, "line 2"));
    fixture_write(&f, "Cargo.toml", str_of(manifest));
    assert_true(lister_list(l, &json, &e));
    lister_free(l);
    fixture_free(&f);
}

static void without_a_workspace_every_list_is_empty(void **state)
{
    struct asked g = { .l = lister_new(&cargo_lister, NULL) };

    (void)state;
    check_lists(&g, "cargo", "none", "");
    check_lists(&g, "cargo", "none again", "");
    json_free(&g.doc);
    lister_free(g.l);
}

/* PM-22: at most 200 directories are looked at. */
static void nested_manifests_are_sought_in_200_directories(void **state)
{
    struct asked g = { 0 };
    struct fixture f;

    (void)state;
    fixture_make(&f, NULL);
    for (int i = 0; i < 205; i++)
        fixture_write(
            &f, arena_printf(&f.arena, "d%03d/Cargo.toml", i),
            str_of(arena_printf(&f.arena,
                                "[package]\nname=\"p\"\n[dependencies]\nx%03d=\"1\"\n", i)));
    g.l = lister_new(&cargo_lister, f.root);
    assert_int_equal(json_len(deps_of(ask(&g))), 200);
    end(&g, &f);
}

/* A pattern that would walk without end is an error, not a hang. */
static void patterns_are_bounded(void **state)
{
    struct error e = { 0 };
    auto_buf text = BUF(1 << 16);
    struct fixture f;
    struct lister *l;
    struct str json;

    (void)state;
    fixture_make(&f, NULL);
    for (int i = 0; i < 16; i++)
        fixture_write(&f, arena_printf(&f.arena, "a/b%d/c/d/e/f/Cargo.toml", i),
                      str_of("[package]\nname=\"p\"\n"));
    fixture_write(&f, "Cargo.toml",
                  str_of("[workspace]\nmembers=[\"**/**/**/**/**/**/**/**/**/**\"]\n"));
    l = lister_new(&cargo_lister, f.root);
    assert_false(lister_list(l, &json, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    buf_addz(&text, "[workspace]\nmembers=[\"");
    buf_fill(&text, '*', 2000);
    buf_addz(&text, "\"]\n");
    fixture_write(&f, "Cargo.toml", buf_str(&text));
    assert_false(lister_list(l, &json, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    lister_free(l);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fixture_gives_its_expected_list),
        cmocka_unit_test(the_answer_is_bare_unless_there_is_something_to_watch),
        cmocka_unit_test(an_answer_is_kept_until_the_lockfile_is_a_nanosecond_newer),
        cmocka_unit_test(a_change_of_any_input_gives_a_new_answer),
        cmocka_unit_test(a_malformed_root_manifest_is_an_error_that_names_file_and_line),
        cmocka_unit_test(without_a_workspace_every_list_is_empty),
        cmocka_unit_test(nested_manifests_are_sought_in_200_directories),
        cmocka_unit_test(patterns_are_bounded),
    };

    log_set_level(LOG_OFF); /* the fixtures' warnings */
    return cmocka_run_group_tests_name("cargo/list", tests, NULL, NULL);
}
