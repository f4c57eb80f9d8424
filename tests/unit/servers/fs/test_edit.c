/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fs_check.h"

#include <sys/wait.h>

#include "servers/fs/edit_text.h"

/* FS-7, FS-8: one edit each. */
static void an_edit_replaces_the_first_place_it_fits(void **state)
{
    static const struct {
        const char *content, *old, *new, *want; /* NULL: no place */
    } cases[] = {
        { "a b a", "a", "x", "x b a" },
        { "cost: 5", "5", "$& $1 $$", "cost: $& $1 $$" },
        { "a\r\nb\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\n" },
        { "a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n" },
        { "", "", "new\n", "new\n" },
        { "", "a", "b", NULL },
        { "abc", "abc", "", "" },
        /* White space aside, by lines. */
        { "    foo();\n", "foo()", "bar()", "    bar();\n" },
        { "    foo();\n    bar();\n", "foo();\nbar();", "one();", "    one();\n" },
        { "\tfoo  \n", "  foo", "  bar", "\tbar\n" },
        { "x\n  a\n  b\ny\n", "a\nb", "c", "x\n  c\ny\n" },
        { "x\n  a\n  b\ny\n", " a\n b", "c", "x\n  c\ny\n" },
        /* The first of several runs. */
        { " a\nb\n a\nb\n", "a \nb", "z", " z\n a\nb\n" },
        /* A run may begin inside what looked like one. */
        { " a\n a\n b\n", "a \na\nb", "z", " z\n" },
        { " a\n a\n a\n b\n", "a \na\nb", "z", " a\n z\n" },
        /* Line 0: the indent found, whatever was given. Others: only if both are indented, by
         * the difference. */
        { "  if x:\n    y\n", " if x:\n   y", " if z:\n   y", "  if z:\n  y\n" },
        { "\tif x:\n\t\ty\n", " if x:\n   y", " if x:\n     y", "\tif x:\n\t  y\n" },
        { "\tif x:\n\t\ty\n", " if x:\n\ty", " if x:\n\t\ty", "\tif x:\n\t\ty\n" },
        { "    if x:\n        y\n", " if x:\n     y", " if x:\n  y", "    if x:\n y\n" },
        { "  a\n  b\n", " a\n          b", " a\n b", "  a\nb\n" },
        { "  a\n  b\n", " a\nb", " a\n      b", "  a\n      b\n" },
        { "  a\n  b\n", " a\n b", " a\nb", "  a\nb\n" },
        { "  a\n", " a ", "a\n\tc\n", "  a\n\tc\n\n" },
        /* An old text that ends in a line end wants an empty line behind. */
        { "  a\n\nb", "a \n", "c\n", "  c\n\nb" },
        { "  a\nb", "a \n", "c\n", NULL },
        { "a\nb", "b\nc", "x", NULL },
        { "a", "a\nb\nc", "x", NULL },
        /* Characters of several bytes that begin alike. */
        { "\xc3\xa9\n", "\xc3\xa9", "\xc3\xa8", "\xc3\xa8\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fs_edit edit = { str_of(cases[i].old), str_of(cases[i].new) };
        auto_buf out = BUF(10000);
        struct edit_text t;
        struct error e;
        bool ok;

        assert_true(edit_text_load(&t, str_of(cases[i].content), &e));
        ok = edit_text_apply(&t, &edit, &e);
        if (ok != (cases[i].want != NULL))
            fail_msg("case %zu: %s", i, ok ? "found" : e.msg);
        edit_text_store(&t, &out);
        assert_str(buf_str(&out), ok ? cases[i].want : cases[i].content);
        if (!ok)
            assert_int_equal(e.kind, ERR_NOT_FOUND);
        edit_text_free(&t);
    }
}

/* FS-9. */
static void line_ends_byte_order_mark_and_a_last_line_without_end_stay(void **state)
{
    static const struct {
        const char *content, *old, *new, *want;
    } cases[] = {
        { "\xef\xbb\xbf"
          "a\r\nb",
          "a", "x\ny",
          "\xef\xbb\xbf"
          "x\r\ny\r\nb" },
        { "\xef\xbb\xbf", "", "x\n",
          "\xef\xbb\xbf"
          "x\n" },
        { "a\r\nb\r\n", "b", "c", "a\r\nc\r\n" },
        { "a\nb", "b", "c", "a\nc" },
        /* Mixed: each line its own, new ones the commoner kind. */
        { "1\n2\r\n3\n4\n", "3", "x", "1\n2\r\nx\n4\n" },
        { "1\n2\r\n3\n4\n", "1\n2\n3", "1\n2\nx", "1\n2\r\nx\n4\n" },
        { "1\n2\r\n3\n4\n", "3", "x\ny\nz", "1\n2\r\nx\ny\nz\n4\n" },
        { "1\r\n2\r\n3\n4", "2", "x\ny", "1\r\nx\r\ny\r\n3\n4" },
        { "1\n2\r\n3\n4\r\n", "2\n3\n", "", "1\n4\r\n" },
        { "1\n2\r\n3\r\n4\n5\r\n", "2\n3\n4\n", "2\nx\n4\n", "1\n2\r\nx\r\n4\n5\r\n" },
        { "1\n2\r\n", "", "", NULL },
        { "a\rb\r\nc\n", "c", "d", "a\rb\r\nd\n" },
        { "\n\r\n\r\n", "\n\n\n", "\n", "\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fs_edit edit = { str_of(cases[i].old), str_of(cases[i].new) };
        auto_buf out = BUF(10000);
        struct edit_text t;
        struct error e;

        assert_true(edit_text_load(&t, str_of(cases[i].content), &e));
        edit_text_store(&t, &out);
        assert_str(buf_str(&out), cases[i].content); /* untouched as it was */
        buf_clear(&out);
        assert_int_equal(edit_text_apply(&t, &edit, &e), cases[i].want != NULL);
        edit_text_store(&t, &out);
        assert_str(buf_str(&out), cases[i].want ? cases[i].want : cases[i].content);
        edit_text_free(&t);
    }
}

static void matching_by_lines_is_linear(void **state)
{
    auto_buf content = BUF(FS_EDIT_MAX), old = BUF(FS_EDIT_MAX);
    int64_t before = clock_ms();
    struct edit_text t;
    struct error e;

    for (int i = 0; i < 1000000; i++)
        buf_addz(&content, " a\n");
    for (int i = 0; i < 100000; i++)
        buf_addz(&old, "a \n");
    buf_addz(&old, "b");
    assert_true(edit_text_load(&t, buf_str(&content), &e));
    assert_false(edit_text_apply(&t, &(struct fs_edit){ buf_str(&old), STR("x") }, &e));
    /* White space counts once, not once a line, on either side. */
    buf_clear(&old);
    buf_fill(&old, ' ', 1000000);
    buf_addc(&old, 'x');
    assert_false(edit_text_apply(&t, &(struct fs_edit){ buf_str(&old), STR("x") }, &e));
    edit_text_free(&t);
    buf_clear(&content);
    buf_clear(&old);
    for (int i = 0; i < 100000; i++) {
        buf_addz(&content, "a\n");
        buf_addz(&old, " a\n");
    }
    buf_fill(&content, ' ', 1000000);
    buf_addz(&content, "b\n");
    buf_addz(&old, "c");
    assert_true(edit_text_load(&t, buf_str(&content), &e));
    assert_false(edit_text_apply(&t, &(struct fs_edit){ buf_str(&old), STR("x") }, &e));
    edit_text_free(&t);
    assert_true(clock_ms() - before < 1000 * slack());
}

/* ---- the tool ---- */

static struct fs_args edits(const char *path, struct fs_edit *v, size_t n)
{
    return (struct fs_args){ .path = str_of(path), .edits = v, .nedits = n };
}

/* FS-10: the fenced diff, also of a dry run, which writes nothing. */
static void the_answer_is_a_fenced_unified_diff(void **state)
{
    struct fs_edit edit = { STR("two"), STR("zwei") };
    struct place *p = *state;
    auto_buf want = BUF(20000);
    struct fs_args in = edits("f", &edit, 1);

    put(p, "f", "one\r\ntwo\r\nthree");
    buf_addf(&want,
             "```diff\n--- %s/f\toriginal\n+++ %s/f\tmodified\n@@ -1,3 +1,3 @@\n one\n-two\n"
             "+zwei\n three\n\\ No newline at end of file\n```\n\n",
             p->in, p->in);
    in.dry_run = true;
    assert_says(call(p, fs_edit_file, in), buf_z(&want));
    assert_file(p, "f", "one\r\ntwo\r\nthree");
    in.dry_run = false;
    assert_says(call(p, fs_edit_file, in), buf_z(&want));
    assert_file(p, "f", "one\r\nzwei\r\nthree");
}

static void the_fence_is_longer_than_any_in_the_diff(void **state)
{
    struct fs_edit edit = { STR("x"), STR("````") };
    struct place *p = *state;
    struct said s;

    put(p, "f", "x\n");
    s = call(p, fs_edit_file, edits("f", &edit, 1));
    assert_true(!s.failed && str_starts(s.text, STR("`````diff\n")) &&
                str_ends(s.text, STR("\n`````\n\n")));
}

/* FS-7: in order, and all or nothing. */
static void edits_are_done_in_order_and_a_failure_writes_nothing(void **state)
{
    struct fs_edit good[] = { { STR("a"), STR("b") }, { STR("b"), STR("c") } };
    struct fs_edit bad[] = { { STR("c"), STR("d") }, { STR("nothing like it\n"), STR("x") } };
    struct place *p = *state;
    struct said s;

    put(p, "f", "a\nnothing  like  it at all\n");
    assert_false(call(p, fs_edit_file, edits("f", good, 2)).failed);
    assert_file(p, "f", "c\nnothing  like  it at all\n");
    s = call(p, fs_edit_file, edits("f", bad, 2));
    assert_true(s.failed && str_starts(s.text, STR("Could not find exact match for edit:\n"
                                                   "nothing like it\n\n")));
    assert_has(s.text.p, "Read the file again");
    assert_has(s.text.p, "line 2: nothing  like  it at all");
    assert_file(p, "f", "c\nnothing  like  it at all\n");
}

static ino_t inode(struct place *p, const char *rel)
{
    struct stat st;

    assert_int_equal(stat(at(p, rel), &st), 0);
    return st.st_ino;
}

/* FS-8, FS-9: where nothing changes nothing is written. */
static void what_changes_nothing_does_not_write(void **state)
{
    struct fs_edit same = { STR("a"), STR("a") };
    struct place *p = *state;
    ino_t before;

    put(p, "f", "a\r\nb\n");
    before = inode(p, "f");
    assert_false(call(p, fs_edit_file, edits("f", NULL, 0)).failed);
    assert_false(call(p, fs_edit_file, edits("f", &same, 1)).failed);
    assert_int_equal(inode(p, "f"), before);
    same.new_text = STR("b");
    assert_false(call(p, fs_edit_file, edits("f", &same, 1)).failed);
    assert_int_not_equal(inode(p, "f"), before);
}

static void what_is_no_text_or_no_place_is_refused(void **state)
{
    struct fs_edit edit = { STR("a"), STR("b") }, empty = { { 0 }, STR("x") };
    struct place *p = *state;

    put_file(p, "latin", BYTES("caf\xe9 a"));
    assert_fails(call(p, fs_edit_file, edits("latin", &edit, 1)), "it is not UTF-8 text");
    put(p, "f", "a");
    assert_fails(call(p, fs_edit_file, edits("f", &empty, 1)), "oldText is empty");
    make_dir(p, "d");
    assert_fails(call(p, fs_edit_file, edits("d", &edit, 1)), "Is a directory");
    assert_fails(call(p, fs_edit_file, edits("none", &edit, 1)), "No such file");
    assert_int_equal(mkfifo(at(p, "fifo"), 0600), 0); /* SEC-61 */
    assert_fails(call(p, fs_edit_file, edits("fifo", &edit, 1)), "not a regular file");
    assert_int_equal(truncate(at(p, "f"), (off_t)FS_EDIT_MAX + 1), 0);
    assert_fails(call(p, fs_edit_file, edits("f", &edit, 1)), "more than 16777216");
    put(p, "../out/secret", "a"); /* SEC-58 */
    assert_int_equal(symlink("../out/secret", at(p, "link")), 0);
    assert_fails(call(p, fs_edit_file, edits("link", &edit, 1)),
                 "Access denied - symlink target");
    assert_file(p, "../out/secret", "a");
}

/* SV-27: mode, and a link as the path; SEC-62: another name of the file. */
static void mode_and_links_survive_an_edit(void **state)
{
    struct fs_edit edit = { STR("a"), STR("b") };
    struct place *p = *state;

    put(p, "run", "a");
    assert_int_equal(chmod(at(p, "run"), 0755), 0);
    assert_int_equal(symlink("run", at(p, "link")), 0);
    put(p, "../out/other", "a");
    assert_int_equal(link(at(p, "../out/other"), at(p, "hard")), 0);
    assert_false(call(p, fs_edit_file, edits("link", &edit, 1)).failed);
    assert_file(p, "run", "b");
    assert_int_equal(mode_of(p, "run"), 0755);
    assert_int_equal(mode_of(p, "link"), 0777); /* still a link */
    assert_false(call(p, fs_edit_file, edits("hard", &edit, 1)).failed);
    assert_file(p, "hard", "b");
    assert_file(p, "../out/other", "a");
}

/* SV-30: what was written is never called a failure. */
static void a_diff_too_long_for_an_answer_is_left_out(void **state)
{
    auto_buf quotes = BUF(FS_EDIT_MAX);
    struct fs_edit edit = { STR("a\n"), { 0 } };
    struct place *p = *state;
    struct said s;

    put(p, "f", "a\n");
    buf_fill(&quotes, '"', 5000000);
    edit.new_text = buf_str(&quotes);
    s = call(p, fs_edit_file, edits("f", &edit, 1));
    assert_false(s.failed);
    assert_true(str_starts(s.text, STR("Successfully edited ")));
    assert_bytes(get_file(p, "f"), buf_str(&quotes));
}

static void the_diff_applies_to_what_was_there(void **state)
{
    struct fs_edit v[] = { { STR("line 3\n"), STR("") },
                           { STR("line 40"), STR("x\ny") },
                           { STR("line 99\n"), STR("line 99") } };
    struct place *p = *state;
    char command[4 * PATH_MAX];
    auto_buf b = BUF(10000);
    struct said s;

    if (system("command -v patch >/dev/null") != 0)
        skip();
    for (int i = 0; i < 100; i++)
        buf_addf(&b, "line %d\n", i);
    put_file(p, "f", buf_str(&b));
    put_file(p, "../out/f", buf_str(&b));
    s = call(p, fs_edit_file, edits("f", v, 3));
    assert_false(s.failed);
    put_file(p, "../out/diff", s.text);
    snprintf(command, sizeof command,
             "cd '%s' && grep -v '^```' diff | sed '$d' | patch -s f && cmp f ../in/f", p->out);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_replaces_the_first_place_it_fits),
        cmocka_unit_test(line_ends_byte_order_mark_and_a_last_line_without_end_stay),
        cmocka_unit_test(matching_by_lines_is_linear),
        PLACE_TEST(the_answer_is_a_fenced_unified_diff),
        PLACE_TEST(the_fence_is_longer_than_any_in_the_diff),
        PLACE_TEST(edits_are_done_in_order_and_a_failure_writes_nothing),
        PLACE_TEST(what_changes_nothing_does_not_write),
        PLACE_TEST(what_is_no_text_or_no_place_is_refused),
        PLACE_TEST(mode_and_links_survive_an_edit),
        PLACE_TEST(a_diff_too_long_for_an_answer_is_left_out),
        PLACE_TEST(the_diff_applies_to_what_was_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
