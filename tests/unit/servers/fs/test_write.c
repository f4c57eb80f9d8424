/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fs_check.h"

static struct fs_args content(const char *path, const char *text)
{
    return (struct fs_args){ .path = str_of(path), .content = str_of(text) };
}

/* FS-6. */
static void a_file_is_created_or_replaced_whole(void **state)
{
    struct place *p = *state;
    mode_t mask = umask(022);

    assert_says(call(p, fs_write_file, content("./f", "one")), "Successfully wrote to ./f");
    assert_file(p, "f", "one");
    assert_int_equal(mode_of(p, "f"), 0644);
    assert_says(call(p, fs_write_file, content("f", "")), "Successfully wrote to f");
    assert_file(p, "f", "");
    umask(mask);
}

static void modes_stay(void **state)
{
    static const mode_t modes[] = { 0600, 0755, 0444 | 0200 };
    struct place *p = *state;

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        put(p, "f", "old");
        assert_int_equal(chmod(at(p, "f"), modes[i]), 0);
        assert_false(call(p, fs_write_file, content("f", "new")).failed);
        assert_int_equal(mode_of(p, "f"), modes[i]);
        assert_file(p, "f", "new");
    }
}

/* SEC-58, SEC-61, SEC-62: what must not be written to is as it was. */
static void what_is_no_file_of_ours_is_not_written(void **state)
{
    struct place *p = *state;

    make_dir(p, "d");
    put(p, "../out/secret", "s3cret");
    assert_int_equal(symlink("../out/secret", at(p, "file")), 0);
    assert_int_equal(symlink("../out", at(p, "dir")), 0);
    assert_int_equal(symlink("../out/none", at(p, "dangling")), 0);
    assert_int_equal(symlink("loop", at(p, "loop")), 0);
    assert_int_equal(link(at(p, "../out/secret"), at(p, "hard")), 0);
    assert_int_equal(mkfifo(at(p, "fifo"), 0600), 0);

    assert_fails(call(p, fs_write_file, content("d", "x")), "Is a directory");
    assert_fails(call(p, fs_write_file, content("no/f", "x")),
                 "Parent directory does not exist");
    assert_fails(call(p, fs_write_file, content("f/", "x")), "Is a directory");
    assert_fails(call(p, fs_write_file, content("file", "x")), "Access denied");
    assert_fails(call(p, fs_write_file, content("dir/new", "x")), "Access denied");
    assert_fails(call(p, fs_write_file, content("dangling", "x")), "Access denied");
    assert_fails(call(p, fs_write_file, content("loop", "x")), "");
    assert_fails(call(p, fs_write_file, content("fifo", "x")), "Not a regular file");
    assert_fails(call(p, fs_write_file, content("../out/new", "x")),
                 "Access denied - path outside");
    assert_fails(call(p, fs_write_file, content(".", "x")), "Access denied");
    assert_false(call(p, fs_write_file, content("hard", "new")).failed);
    assert_file(p, "hard", "new");
    assert_file(p, "../out/secret", "s3cret");
    assert_false(exists(p, "../out/none") || exists(p, "../out/new"));
}

static void a_link_within_leads_to_what_is_written(void **state)
{
    struct place *p = *state;

    make_dir(p, "d");
    put(p, "d/f", "old");
    assert_int_equal(symlink("d/f", at(p, "link")), 0);
    assert_int_equal(symlink("d/new", at(p, "dangling")), 0);
    assert_false(call(p, fs_write_file, content("link", "new")).failed);
    assert_false(call(p, fs_write_file, content("dangling", "fresh")).failed);
    assert_file(p, "d/f", "new");
    assert_file(p, "d/new", "fresh");
    assert_int_equal(mode_of(p, "link"), 0777);
}

/* FS-11. */
static void directories_are_made_with_those_above(void **state)
{
    struct place *p = *state;
    mode_t mask = umask(022);

    assert_says(call(p, fs_create_directory, with_path("a/b/c")),
                "Successfully created directory a/b/c");
    assert_true(exists(p, "a/b/c"));
    assert_int_equal(mode_of(p, "a/b"), 0755);
    assert_says(call(p, fs_create_directory, with_path("a/b/c")),
                "Successfully created directory a/b/c");
    assert_false(call(p, fs_create_directory, with_path(".")).failed);
    assert_false(call(p, fs_create_directory, with_path("a/x/../y/")).failed);
    assert_true(exists(p, "a/y") && !exists(p, "a/x"));
    put(p, "a/f", "x");
    assert_fails(call(p, fs_create_directory, with_path("a/f")), "Not a directory");
    assert_fails(call(p, fs_create_directory, with_path("a/f/g")), "");
    umask(mask);
}

/* SEC-58. */
static void no_directory_is_made_outside(void **state)
{
    struct place *p = *state;

    assert_int_equal(symlink("../out", at(p, "dir")), 0);
    assert_int_equal(symlink("../out/none", at(p, "dangling")), 0);
    assert_fails(call(p, fs_create_directory, with_path("../out/x")), "Access denied - path");
    assert_fails(call(p, fs_create_directory, with_path("dir/x/y")), "Access denied");
    assert_fails(call(p, fs_create_directory, with_path("dangling")), "Access denied");
    assert_fails(call(p, fs_create_directory, with_path("dangling/x")), "Access denied");
    assert_false(exists(p, "../out/x") || exists(p, "../out/none"));
    assert_int_equal(symlink("here", at(p, "inner")), 0);
    make_dir(p, "here");
    assert_false(call(p, fs_create_directory, with_path("inner/x")).failed);
    assert_true(exists(p, "here/x"));
}

/* FS-19. */
static void allowed_directories_are_listed_in_both_spellings(void **state)
{
    struct place *p = *state;
    const char *dirs[2];
    auto_buf want = BUF(20000);

    assert_int_equal(symlink("in", at(p, "../alias")), 0);
    dirs[0] = at(p, "../alias");
    dirs[1] = p->out;
    access_unref(p->x);
    p->x = access_new(dirs, 2, false, NULL, NULL);
    buf_addf(&want, "Allowed directories:\n%s/alias\n%s\n%s", p->dir, p->in, p->out);
    assert_says(call(p, fs_allowed, (struct fs_args){ 0 }), buf_z(&want));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(a_file_is_created_or_replaced_whole),
        PLACE_TEST(modes_stay),
        PLACE_TEST(what_is_no_file_of_ours_is_not_written),
        PLACE_TEST(a_link_within_leads_to_what_is_written),
        PLACE_TEST(directories_are_made_with_those_above),
        PLACE_TEST(no_directory_is_made_outside),
        PLACE_TEST(allowed_directories_are_listed_in_both_spellings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
