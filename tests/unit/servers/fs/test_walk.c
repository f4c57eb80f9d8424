/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fs_check.h"

/* ---- listings ---- */

/* FS-12. */
static void a_listing_is_sorted_and_on_one_line_each(void **state)
{
    struct place *p = *state;

    make_dir(p, "d");
    assert_says(call(p, fs_list, with_path("d")), "");
    put(p, "d/one", "x");
    assert_says(call(p, fs_list, with_path("d")), "[FILE] one");
    make_dir(p, "d/zdir");
    make_dir(p, "d/Adir");
    put(p, "d/.hidden", "");
    put(p, "d/a\nb\x1b", "");
    put(p, "d/bad\xff", "");
    put(p, "d/.symposium-0123456789abcdef.tmp", ""); /* SV-27 */
    put(p, "d/.symposium-0123456789abcdeg.tmp", "");
    assert_int_equal(symlink("../../out", at(p, "d/link")),
                     0); /* SEC-58: shown, not followed */
    assert_says(
        call(p, fs_list, with_path("d")),
        "[DIR] Adir\n[DIR] zdir\n[FILE] .hidden\n[FILE] .symposium-0123456789abcdeg.tmp\n"
        "[FILE] a\\nb\\x1b\n[FILE] bad\xef\xbf\xbd\n[FILE] link\n[FILE] one");
    assert_fails(call(p, fs_list, with_path("d/link")), "Access denied - symlink target");
    assert_fails(call(p, fs_list, with_path("d/one")), "Not a directory");
    assert_fails(call(p, fs_list, with_path("none")), "No such file");
    assert_fails(call(p, fs_list, with_path("d/bad\xef\xbf\xbd")), "No such file");
}

static struct fs_args sorted(const char *path, const char *by)
{
    return (struct fs_args){ .path = str_of(path), .sort_by = str_of(by) };
}

/* FS-13. */
static void sizes_stand_in_columns_with_totals_below(void **state)
{
    struct place *p = *state;
    auto_buf b = BUF(2000);

    make_dir(p, "d");
    assert_says(call(p, fs_list_sizes, sorted("d", "name")),
                "\nTotal: 0 files, 0 directories\nCombined size: 0 B");
    buf_fill(&b, 'x', 1536);
    put_file(p, "d/b", buf_str(&b));
    put(p, "d/caf\xc3\xa9", "12345");
    make_dir(p, "d/c");
    assert_int_equal(symlink("b", at(p, "d/x")), 0); /* in the root: its target's */
    put_file(p, "../out/secret", buf_str(&b));
    assert_int_equal(symlink("../../out/secret", at(p, "d/y")), 0); /* not: none */
    assert_says(call(p, fs_list_sizes, sorted("d", "name")),
                "[FILE] b                                 1.50 KB\n"
                "[DIR] c\n"
                "[FILE] caf\xc3\xa9                                  5 B\n"
                "[FILE] x                                 1.50 KB\n"
                "[FILE] y                                     0 B\n"
                "\nTotal: 4 files, 1 directories\nCombined size: 3.00 KB");
    assert_says(call(p, fs_list_sizes, sorted("d", "size")),
                "[FILE] b                                 1.50 KB\n"
                "[FILE] x                                 1.50 KB\n"
                "[FILE] caf\xc3\xa9                                  5 B\n"
                "[DIR] c\n"
                "[FILE] y                                     0 B\n"
                "\nTotal: 4 files, 1 directories\nCombined size: 3.00 KB");
    assert_fails(call(p, fs_list_sizes, sorted("d", "date")),
                 "Invalid sortBy value \"date\": expected 'name' or 'size'");
}

/* ---- trees ---- */

static struct fs_args tree(const char *path, struct str *exclude, size_t n)
{
    return (struct fs_args){ .path = str_of(path), .exclude = { exclude, n } };
}

/* FS-15: the form, to the byte. */
static void a_tree_is_json_indented_by_two(void **state)
{
    struct place *p = *state;

    assert_says(call(p, fs_tree, tree(".", NULL, 0)), "[]");
    make_dir(p, "b");
    make_dir(p, "b/deep");
    make_dir(p, "empty");
    put(p, "a", "");
    put(p, "b/q\"\n", "");
    put(p, "b/deep/x", "");
    assert_int_equal(symlink("b", at(p, "link")), 0);
    assert_says(
        call(p, fs_tree, tree(".", NULL, 0)),
        "[\n"
        "  {\n    \"name\": \"a\",\n    \"type\": \"file\"\n  },\n"
        "  {\n    \"name\": \"b\",\n    \"type\": \"directory\",\n    \"children\": [\n"
        "      {\n        \"name\": \"deep\",\n        \"type\": \"directory\",\n"
        "        \"children\": [\n"
        "          {\n            \"name\": \"x\",\n            \"type\": \"file\"\n          "
        "}\n"
        "        ]\n      },\n"
        "      {\n        \"name\": \"q\\\"\\\\n\",\n        \"type\": \"file\"\n      }\n"
        "    ]\n  },\n"
        "  {\n    \"name\": \"empty\",\n    \"type\": \"directory\",\n    \"children\": []\n  "
        "},\n"
        "  {\n    \"name\": \"link\",\n    \"type\": \"file\"\n  }\n"
        "]");
    assert_fails(call(p, fs_tree, tree("a", NULL, 0)), "Not a directory");
}

/* The names in a tree, one behind the other. */
static const char *names_in(struct place *p, struct said s)
{
    auto_buf out = BUF(1 << 20);
    struct str rest = s.text;
    size_t i;

    assert_false(s.failed);
    while ((i = str_find(rest, STR("\"name\": \""))) != SIZE_MAX) {
        rest = str_from(rest, i + 9);
        buf_add(&out, str_upto(rest, str_find_char(rest, '"')));
        buf_addc(&out, ' ');
    }
    return arena_z(&p->arena, buf_str(&out));
}

static void what_is_excluded_is_not_in_the_tree(void **state)
{
    static const struct {
        const char *pattern, *want;
    } cases[] = {
        { "node_modules", "a.log lib x.log y " },
        { "x.log", "a.log lib node_modules z y " },
        { "lib/x.log", "a.log lib node_modules z y " },
        { "*.log", "lib node_modules z x.log y " },
        { "**/*.log", "lib node_modules z y " },
        { "lib/**", "a.log lib y " },
        { "lib/*", "a.log lib y " },
        { "{node_modules,y}", "a.log lib x.log " },
        { "[xy]", "a.log lib node_modules z x.log " },
        { "z", "a.log lib node_modules x.log y " },
        { "log", "a.log lib node_modules z x.log y " },
    };
    struct place *p = *state;

    make_dir(p, "lib");
    make_dir(p, "lib/node_modules");
    put(p, "lib/node_modules/z", "");
    put(p, "lib/x.log", "");
    put(p, "a.log", "");
    put(p, "y", "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str pattern = str_of(cases[i].pattern);

        assert_string_equal(names_in(p, call(p, fs_tree, tree(".", &pattern, 1))),
                            cases[i].want);
    }
    assert_fails(call(p, fs_tree, tree(".", &STR("["), 1)), "Invalid pattern \"[\": ");
}

/* A chain of n directories below the root, each called "d". */
static void make_chain(struct place *p, int n)
{
    int fd = open(p->in, O_PATH | O_DIRECTORY);

    for (int i = 0; i < n; i++) {
        assert_int_equal(mkdirat(fd, "d", 0755), 0);
        int next = openat(fd, "d", O_PATH | O_DIRECTORY);
        close(fd);
        fd = next;
    }
    close(fd);
}

static size_t count(struct str s, struct str what)
{
    size_t n = 0;

    for (size_t i; (i = str_find(s, what)) != SIZE_MAX; n++)
        s = str_from(s, i + what.n);
    return n;
}

static void a_tree_ends_at_its_depth(void **state)
{
    struct place *p = *state;
    struct said s;

    make_chain(p, FS_DEPTH_MAX - 1);
    s = call(p, fs_tree, tree(".", NULL, 0));
    assert_int_equal(count(s.text, STR("\"d\"")), FS_DEPTH_MAX - 1);
    assert_lacks(s.text.p, "truncated");
    remove_tree(at(p, "d"));
    make_chain(p, FS_DEPTH_MAX + 20);
    s = call(p, fs_tree, tree(".", NULL, 0));
    assert_int_equal(count(s.text, STR("\"d\"")), FS_DEPTH_MAX);
    assert_int_equal(count(s.text, STR("\"\xe2\x80\xa6 truncated\"")), 1);
    s = call(p, fs_search,
             (struct fs_args){ .path = STR("."), .pattern = STR("**"), .exclude = { 0 } });
    assert_int_equal(count(s.text, STR("\n")), FS_DEPTH_MAX);
    assert_has(s.text.p, "not everything was searched");
}

static void an_unreadable_directory_is_empty(void **state)
{
    struct place *p = *state;

    if (geteuid() == 0)
        skip();
    make_dir(p, "d");
    put(p, "d/x", "");
    chmod(at(p, "d"), 0);
    assert_string_equal(names_in(p, call(p, fs_tree, tree(".", NULL, 0))), "d ");
    assert_fails(call(p, fs_tree, tree("d", NULL, 0)), "Permission denied");
    chmod(at(p, "d"), 0755);
}

/* ---- searches ---- */

static struct said search(struct place *p, const char *pattern, struct str *exclude, size_t n)
{
    return call(p, fs_search,
                (struct fs_args){
                    .path = STR("."), .pattern = str_of(pattern), .exclude = { exclude, n } });
}

/* The results with the root taken away, separated by blanks. */
static const char *relative(struct place *p, struct said s)
{
    auto_buf out = BUF(1 << 20);
    struct str rest = s.text, line, prefix = str_of(path_join(&p->arena, p->in, ""));
    bool more = true;

    assert_false(s.failed);
    while (more) {
        more = str_cut(rest, '\n', &line, &rest);
        line = more ? line : rest;
        if (str_starts(line, prefix))
            line = str_from(line, prefix.n);
        buf_add(&out, line);
        if (more)
            buf_addc(&out, ' ');
    }
    return arena_z(&p->arena, buf_str(&out));
}

/* FS-17. */
static void a_search_gives_sorted_absolute_paths(void **state)
{
    static const struct {
        const char *pattern, *exclude, *want;
    } cases[] = {
        { "*.c", NULL, "a.c" },
        { "**/*.c", NULL, "a.c src-x/d.c src/.h/e.c src/b.c src/sub/c.c" },
        { "src", NULL, "src" },
        { "**/s*", NULL, "src src-x src/sub" },
        { "src/*", NULL, "src/.h src/b.c src/link src/sub" },
        { "**/*.c", "src/**", "a.c src-x/d.c" },
        { "**/*.c", "src", "a.c src-x/d.c" },
        { "**/*.c", "**/sub", "a.c src-x/d.c src/.h/e.c src/b.c" },
        { "**/[ab].c", NULL, "a.c src/b.c" },
        { "**/[!ab].c", NULL, "src-x/d.c src/.h/e.c src/sub/c.c" },
        { "{src,src-x}/*.c", NULL, "src-x/d.c src/b.c" },
        { "**/?.c", "*/*", "a.c" },
        { "*.rs", NULL, "No matches found" },
        { "", NULL, "No matches found" },
        { "src/link/*", NULL, "No matches found" },
        { "**/n\\n", NULL, "No matches found" },
    };
    struct place *p = *state;

    make_dir(p, "src");
    make_dir(p, "src/sub");
    make_dir(p, "src/.h");
    make_dir(p, "src-x");
    put(p, "a.c", "");
    put(p, "src/b.c", "");
    put(p, "src/sub/c.c", "");
    put(p, "src/.h/e.c", "");
    put(p, "src-x/d.c", "");
    put(p, "src/sub/.symposium-0123456789abcdef.tmp", "");
    put(p, "../out/secret.c", "");
    assert_int_equal(symlink("../../out", at(p, "src/link")), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str exclude = str_of(cases[i].exclude);
        struct said s = search(p, cases[i].pattern, &exclude, cases[i].exclude != NULL);

        if (strcmp(relative(p, s), cases[i].want) != 0)
            fail_msg("'%s' without '%s': %s", cases[i].pattern, cases[i].exclude,
                     relative(p, s));
    }
    assert_fails(search(p, "{a", NULL, 0), "Invalid pattern \"{a\": '{' without '}'");
    assert_fails(search(p, "a", &STR("[x"), 1), "Invalid pattern \"[x\": ");
    put(p, "n\nn\xff", "");
    assert_string_equal(relative(p, search(p, "n*", NULL, 0)), "n\\nn\xef\xbf\xbd");
}

static void a_search_ends_at_its_number_of_results(void **state)
{
    struct place *p = *state;
    struct said s;
    char name[16];

    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < 4000; i++) {
            int fd;

            snprintf(name, sizeof name, "f%d-%04d", d, i);
            fd = open(at(p, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
            assert_true(fd >= 0);
            close(fd);
        }
    }
    s = search(p, "f[0-1]*", NULL, 0);
    assert_int_equal(count(s.text, STR("\n")), 7999);
    s = search(p, "f*", NULL, 0);
    assert_int_equal(count(s.text, STR("\n")), FS_RESULTS_MAX);
    assert_true(str_ends(s.text, STR("/f2-1999\n(only the first 10000 of 12000 matches: narrow "
                                     "the search)")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(a_listing_is_sorted_and_on_one_line_each),
        PLACE_TEST(sizes_stand_in_columns_with_totals_below),
        PLACE_TEST(a_tree_is_json_indented_by_two),
        PLACE_TEST(what_is_excluded_is_not_in_the_tree),
        PLACE_TEST(a_tree_ends_at_its_depth),
        PLACE_TEST(an_unreadable_directory_is_empty),
        PLACE_TEST(a_search_gives_sorted_absolute_paths),
        PLACE_TEST(a_search_ends_at_its_number_of_results),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
