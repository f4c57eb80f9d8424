/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"

static void joining_places_one_slash(void **state)
{
    static const struct {
        const char *dir, *rel, *want;
    } cases[] = {
        { "a", "b", "a/b" },       { "a/", "b", "a/b" }, { "a//", "b", "a/b" },
        { "/", "b", "/b" },        { "a", "/b", "/b" },  { "", "b", "b" },
        { "/a", "b/c", "/a/b/c" },
    };
    auto_arena a = ARENA;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(path_join(&a, cases[i].dir, cases[i].rel), cases[i].want);
}

static void cleaning_is_lexical(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "", "." },
        { ".", "." },
        { "/", "/" },
        { "//", "/" },
        { "a", "a" },
        { "a/", "a" },
        { "./a", "a" },
        { "a/./b", "a/b" },
        { "a//b", "a/b" },
        { "a/..", "." },
        { "a/../b", "b" },
        { "a/b/..", "a" },
        { "/a/..", "/" },
        { "/..", "/" },
        { "/../a", "/a" },
        { "..", ".." },
        { "../..", "../.." },
        { "../a/..", ".." },
        { "../../a/../b", "../../b" },
        { "a/../..", ".." },
        { "a/../../b", "../b" },
        { "/a/b/../../..", "/" },
        { "...", "..." },
        { "a/.../b", "a/.../b" },
        { "/a/b/../c/./d//", "/a/c/d" },
        { "..a/..", "." },
    };
    auto_arena a = ARENA;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(path_clean(&a, cases[i].in), cases[i].want);
}

static void directory_and_base_are_taken_apart(void **state)
{
    static const struct {
        const char *in, *dir, *base;
    } cases[] = {
        { "a", ".", "a" },     { "/a", "/", "a" },   { "a/b", "a", "b" }, { "/", "/", "" },
        { "/a/b", "/a", "b" }, { "a//b", "a", "b" }, { "//a", "/", "a" },
    };
    auto_arena a = ARENA;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_string_equal(path_dir(&a, cases[i].in), cases[i].dir);
        assert_string_equal(path_base(cases[i].in), cases[i].base);
    }
}

/* The string-prefix mistake of CVE-2025-53110: a root /a/b must not admit /a/bX. */
static void beneath_compares_components(void **state)
{
    static const struct {
        const char *dir, *path;
        bool want;
    } cases[] = {
        { "/a/b", "/a/b", true },
        { "/a/b", "/a/b/c", true },
        { "/a/b", "/a/bX", false },
        { "/a/b", "/a", false },
        { "/", "/a", true },
        { "/", "/", true },
        { "/w/in", "/w/in-evil/f", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(path_beneath(cases[i].dir, cases[i].path), cases[i].want);
}

static void the_home_directory_is_written_as_in_a_shell(void **state)
{
    static const struct {
        const char *home, *in, *out;
    } cases[] = {
        { "/h", "~", "/h" },      { "/h", "~/x", "/h/x" },    { "/h", "~u/x", "~u/x" },
        { "/h", "/a/~", "/a/~" }, { "/h", "a/~/b", "a/~/b" }, { "/h", "", "" },
        { "rel", "~/x", "~/x" },  { "", "~/x", "~/x" },       { NULL, "~/x", "~/x" },
    };
    auto_free char *before = getenv("HOME") ? mem_strdup(getenv("HOME")) : NULL;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;

        if (cases[i].home)
            setenv("HOME", cases[i].home, 1);
        else
            unsetenv("HOME");
        assert_string_equal(path_expand_home(&a, cases[i].in), cases[i].out);
    }
    if (before)
        setenv("HOME", before, 1);
}

static void a_file_uri_of_this_machine_is_a_path(void **state) /* SV-26, CF-2 */
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "file:///a/b", "/a/b" },
        { "FILE://LocalHost/a", "/a" },
        { "file:///a%20b%2Fc", "/a b/c" },
        { "file:///", "/" },
        { "file:///%C3%A9", "/\xc3\xa9" },
        { "file://host/a", NULL },
        { "file:/a", NULL },
        { "file://", NULL },
        { "http:///a", NULL },
        { "", NULL },
        { "file:///a%", NULL },
        { "file:///a%2", NULL },
        { "file:///a%zz", NULL },
        { "file:///a%00b", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        const char *path = path_of_file_uri(&a, str_of(cases[i].in));

        if (!cases[i].out)
            assert_null(path);
        else
            assert_string_equal(path ? path : "(null)", cases[i].out);
    }
}

static void make_file(struct arena *a, const char *dir, const char *name, mode_t mode)
{
    file_mkdirs(dir, NULL);
    assert_true(file_write_atomic(path_join(a, dir, name), STR("#!/bin/sh\n"), mode, NULL));
}

static void search_takes_the_first_program_in_path(void **state)
{
    char dir[PATH_MAX];
    auto_arena a = ARENA;
    char *one, *two, *var;

    make_temp_dir(dir);
    one = path_join(&a, dir, "one");
    two = path_join(&a, dir, "two");
    make_file(&a, one, "both", 0755);
    make_file(&a, two, "both", 0755);
    make_file(&a, one, "plain", 0644); /* not executable: the next one counts */
    make_file(&a, two, "plain", 0755);
    file_mkdirs(path_join(&a, one, "sub"), NULL); /* a directory is no program */
    var = arena_printf(&a, "/dev/null/none:%s:%s", one, two);

    assert_string_equal(path_search(&a, "both", var), path_join(&a, one, "both"));
    assert_string_equal(path_search(&a, "plain", var), path_join(&a, two, "plain"));
    assert_null(path_search(&a, "sub", var));
    assert_null(path_search(&a, "none", var));
    assert_null(path_search(&a, "", var));
    assert_null(path_search(&a, "both", NULL));
    assert_null(path_search(&a, "both", ""));
    assert_string_equal(path_search(&a, path_join(&a, one, "both"), NULL),
                        path_join(&a, one, "both"));
    assert_null(path_search(&a, path_join(&a, one, "plain"), var));
    assert_int_equal(chdir(one), 0); /* an empty element is the current directory */
    assert_string_equal(path_search(&a, "both", arena_printf(&a, ":%s", two)), "./both");
    assert_int_equal(chdir("/"), 0);
    remove_tree(dir);
}

static void real_paths_follow_links(void **state)
{
    char dir[PATH_MAX];
    auto_arena a = ARENA;
    char *real, *link;
    struct error e;

    make_temp_dir(dir);
    real = path_real(&a, dir, &e);
    link = path_join(&a, dir, "link");
    assert_int_equal(symlink(".", link), 0);
    assert_string_equal(path_real(&a, link, &e), real);
    assert_null(path_real(&a, path_join(&a, dir, "none"), &e));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    assert_int_equal(symlink("loop", path_join(&a, dir, "loop")), 0);
    assert_null(path_real(&a, path_join(&a, dir, "loop"), &e));
    assert_int_equal(e.kind, ERR_SYS);
    remove_tree(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joining_places_one_slash),
        cmocka_unit_test(cleaning_is_lexical),
        cmocka_unit_test(directory_and_base_are_taken_apart),
        cmocka_unit_test(beneath_compares_components),
        cmocka_unit_test(the_home_directory_is_written_as_in_a_shell),
        cmocka_unit_test(a_file_uri_of_this_machine_is_a_path),
        cmocka_unit_test(search_takes_the_first_program_in_path),
        cmocka_unit_test(real_paths_follow_links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
