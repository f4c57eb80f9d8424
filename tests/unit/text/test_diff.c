/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <sys/wait.h>

#include "base/file.h"
#include "text/diff.h"

static void assert_diff(const char *old, const char *new, const char *want)
{
    auto_buf out = BUF(10000);

    diff_unified(&out, str_of(old), str_of(new), STR("a"), STR("b"));
    assert_str(buf_str(&out), want);
}

/* FS-10: three lines of context, the mark for a missing last line break. */
static void the_unified_form_is_the_usual_one(void **state)
{
    static const struct {
        const char *old, *new, *want;
    } cases[] = {
        { "", "", "" },
        { "x\n", "x\n", "" },
        { "", "x\n", "@@ -0,0 +1,1 @@\n+x\n" },
        { "x\n", "", "@@ -1,1 +0,0 @@\n-x\n" },
        { "x\n", "y\n", "@@ -1,1 +1,1 @@\n-x\n+y\n" },
        { "x", "y",
          "@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of "
          "file\n" },
        { "x\n", "x", "@@ -1,1 +1,1 @@\n-x\n+x\n\\ No newline at end of file\n" },
        { "a\nx", "b\nx", "@@ -1,2 +1,2 @@\n-a\n+b\n x\n\\ No newline at end of file\n" },
        { "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n",
          "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n" },
        { "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "X\n2\n3\n4\n5\n6\n7\nY\n9\n",
          "@@ -1,9 +1,9 @@\n-1\n+X\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+Y\n 9\n" },
        { "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "X\n2\n3\n4\n5\n6\n7\n8\nY\n",
          "@@ -1,4 +1,4 @@\n-1\n+X\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+Y\n" },
        { "a\na\n", "a\na\na\n", "@@ -1,2 +1,3 @@\n a\n a\n+a\n" },
        { "a\nb\nc\n", "a\nc\n", "@@ -1,3 +1,2 @@\n a\n-b\n c\n" },
        { "\n", "\n\n", "@@ -1,1 +1,2 @@\n \n+\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf want = BUF(10000);

        buf_addf(&want, "--- a\n+++ b\n%s", cases[i].want);
        assert_diff(cases[i].old, cases[i].new, buf_z(&want));
    }
}

/* ---- oracles ---- */

static uint32_t seed = 1;

static uint32_t next_random(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void random_text(struct buf *b, unsigned lines, unsigned alphabet)
{
    buf_clear(b);
    for (unsigned i = 0; i < lines; i++)
        buf_addf(b, "%c\n", (char)('a' + next_random(alphabet)));
    if (b->n && next_random(4) == 0)
        buf_truncate(b, b->n - 1);
}

/* Some lines of `from` changed, left out, doubled. */
static void random_edit(struct buf *b, struct str from, unsigned alphabet)
{
    struct str line;

    buf_clear(b);
    while (str_cut(from, '\n', &line, &from)) {
        unsigned what = next_random(12);

        if (what == 0)
            buf_addf(b, "%c\n", (char)('a' + next_random(alphabet)));
        if (what != 1)
            buf_addf(b, "%.*s\n", STR_F(line));
        if (what == 2)
            buf_addf(b, "%.*s\n", STR_F(line));
    }
    buf_add(b, from);
}

#define LINES_MAX 64

static size_t split_lines(struct str s, struct str *v)
{
    size_t n = 0;

    while (s.n) {
        size_t brk = str_find_char(s, '\n');

        v[n] = brk == SIZE_MAX ? s : str_upto(s, brk + 1);
        s = str_from(s, v[n++].n);
    }
    return n;
}

static void add_lines(struct buf *out, const struct str *v, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        buf_add(out, v[i]);
}

/* What the changes make of the old text. */
static void apply(struct buf *out, struct str old, struct str new, const struct diff_changes *c)
{
    struct str a[LINES_MAX], b[LINES_MAX];
    size_t n = split_lines(old, a), at = 0;

    split_lines(new, b);
    for (size_t i = 0; i < c->n; i++) {
        add_lines(out, a, at, c->v[i].old_at);
        add_lines(out, b, c->v[i].new_at, c->v[i].new_at + c->v[i].new_n);
        at = c->v[i].old_at + c->v[i].old_n;
    }
    add_lines(out, a, at, n);
}

/* Lines that a shortest script changes, by the table of all prefixes. */
static size_t least_changes(struct str old, struct str new)
{
    static size_t best[LINES_MAX + 1][LINES_MAX + 1];
    struct str a[LINES_MAX], b[LINES_MAX];
    size_t na = split_lines(old, a), nb = split_lines(new, b);

    for (size_t i = 0; i <= na; i++) {
        for (size_t j = 0; j <= nb; j++) {
            if (i == 0 || j == 0)
                best[i][j] = i + j;
            else if (str_eq(a[i - 1], b[j - 1]))
                best[i][j] = best[i - 1][j - 1];
            else
                best[i][j] =
                    1 + (best[i - 1][j] < best[i][j - 1] ? best[i - 1][j] : best[i][j - 1]);
        }
    }
    return best[na][nb];
}

static void small_scripts_are_right_and_shortest(void **state)
{
    auto_buf old = BUF(1000), new = BUF(1000), got = BUF(2000);

    for (int round = 0; round < 20000; round++) {
        unsigned alphabet = 2 + next_random(5);
        struct diff_changes c;
        size_t changed = 0;

        random_text(&old, next_random(24), alphabet);
        if (round % 2)
            random_edit(&new, buf_str(&old), alphabet);
        else
            random_text(&new, next_random(24), alphabet);
        diff_lines(buf_str(&old), buf_str(&new), &c);
        buf_clear(&got);
        apply(&got, buf_str(&old), buf_str(&new), &c);
        assert_bytes(buf_str(&got), buf_str(&new));
        for (size_t i = 0; i < c.n; i++)
            changed += c.v[i].old_n + c.v[i].new_n;
        assert_int_equal(changed, least_changes(buf_str(&old), buf_str(&new)));
        free(c.v);
    }
}

static void write_text(const char *dir, const char *name, struct str text)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_true(file_write_atomic(path, text, 0600, NULL));
}

/* patch(1) makes the new text of the old one. */
static void assert_patch_applies(const char *dir, struct str old, struct str new)
{
    auto_buf out = BUF(64 << 20), got = BUF(64 << 20);
    char command[4 * PATH_MAX], path[PATH_MAX + 16];

    diff_unified(&out, old, new, STR("old"), STR("new"));
    write_text(dir, "old", old);
    write_text(dir, "patch", buf_str(&out));
    snprintf(path, sizeof path, "%s/got", dir);
    unlink(path);
    snprintf(command, sizeof command,
             "cd '%s' && patch -s --binary -o got old <patch && [ ! -e got.rej ]", dir);
    assert_int_equal(system(command), 0);
    assert_true(file_read(path, &got, NULL));
    assert_bytes(buf_str(&got), new);
}

static void patch_applies_what_we_print(void **state)
{
    auto_buf old = BUF(100000), new = BUF(100000);
    char dir[PATH_MAX];

    if (system("command -v patch >/dev/null") != 0)
        skip();
    make_temp_dir(dir);
    for (int round = 0; round < 60; round++) {
        random_text(&old, 1 + next_random(200), 3 + next_random(20));
        random_edit(&new, buf_str(&old), 20);
        if (old.n && !str_eq(buf_str(&old), buf_str(&new)))
            assert_patch_applies(dir, buf_str(&old), buf_str(&new));
    }
    remove_tree(dir);
}

/* ---- bounds ---- */

static void check_large(struct str old, struct str new, const char *what)
{
    int64_t before = clock_ms();
    struct diff_changes c;

    diff_lines(old, new, &c);
    if (clock_ms() - before > 1500 * slack())
        fail_msg("%s took %lld ms", what, (long long)(clock_ms() - before));
    free(c.v);
}

static void large_texts_take_no_seconds(void **state)
{
    auto_buf old = BUF(64 << 20), new = BUF(64 << 20);

    for (int i = 0; i < 100000; i++) {
        buf_addf(&old, "old line %d\n", i);
        buf_addf(&new, "new line %d\n", i);
    }
    check_large(buf_str(&old), buf_str(&new), "rewritten wholly");

    /* Blank lines and braces everywhere, the rest new: nothing to set aside. */
    buf_clear(&old);
    buf_clear(&new);
    for (int i = 0; i < 100000; i++) {
        buf_addf(&old, "%u\n", next_random(50));
        buf_addf(&new, "%u\n", next_random(50));
    }
    check_large(buf_str(&old), buf_str(&new), "noise of 50 lines");

    /* All lines moved: each stands on both sides, in the opposite order. */
    buf_clear(&old);
    buf_clear(&new);
    for (int i = 0; i < 100000; i++) {
        buf_addf(&old, "%d\n", i);
        buf_addf(&new, "%d\n", 100000 - i);
    }
    check_large(buf_str(&old), buf_str(&new), "reversed");

    buf_clear(&old);
    buf_clear(&new);
    for (int i = 0; i < 300000; i++) {
        buf_addf(&old, "%d\n", i % 7);
        buf_addf(&new, "%d\n", i % 5);
    }
    check_large(buf_str(&old), buf_str(&new), "more lines than are compared");
}

static void past_the_effort_the_script_is_still_right(void **state)
{
    auto_buf old = BUF(1 << 20), new = BUF(1 << 20);
    char dir[PATH_MAX];

    random_text(&old, 4000, 4);
    random_text(&new, 4000, 4);
    if (system("command -v patch >/dev/null") != 0)
        skip();
    make_temp_dir(dir);
    assert_patch_applies(dir, buf_str(&old), buf_str(&new));
    remove_tree(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_unified_form_is_the_usual_one),
        cmocka_unit_test(small_scripts_are_right_and_shortest),
        cmocka_unit_test(patch_applies_what_we_print),
        cmocka_unit_test(large_texts_take_no_seconds),
        cmocka_unit_test(past_the_effort_the_script_is_still_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
