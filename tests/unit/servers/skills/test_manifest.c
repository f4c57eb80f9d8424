/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "place.h"

#include "servers/skills/digest.h"
#include "servers/skills/manifest.h"

static char dir[PATH_MAX + 8], file[PATH_MAX + 32];
static struct skill skill;

/* The skill `s`, at the top of the workspace. */
static int make_skill(void **state)
{
    make_ws(state);
    put_skill("s", SKILL("s", "d"));
    snprintf(dir, sizeof dir, "%s/s", ws);
    snprintf(file, sizeof file, "%s/SKILL.md", dir);
    skill = (struct skill){ .name = STR("s"), .dir = dir, .file = file };
    return 0;
}

static void assert_files(const char *want)
{
    auto_arena a = ARENA;
    auto_place p = { .fd = -1 };
    auto_buf got = BUF(1 << 20);
    struct manifest m;
    struct error e;

    assert_true(place_open(&p, &skill, &e));
    if (!manifest_read(&p, &a, NULL, NULL, &m, &e))
        fail_msg("%s", e.msg);
    for (size_t i = 0; i < m.n; i++)
        buf_addf(&got, "%s%.*s", i ? " " : "", STR_F(m.v[i]));
    assert_string_equal(buf_z(&got), want);
}

static void assert_fails(const char *want)
{
    auto_arena a = ARENA;
    auto_place p = { .fd = -1 };
    struct manifest m;
    struct error e;

    assert_true(place_open(&p, &skill, &e));
    assert_false(manifest_read(&p, &a, NULL, NULL, &m, &e));
    assert_has(e.msg, want);
}

/* SK-8 */
static void files_are_listed_sorted_without_the_skills_own(void **state)
{
    put_file("s/b.txt", STR(""));
    put_file("s/a/SKILL.md", STR(""));
    put_file("s/a-b", STR(""));
    put_file("s/a/z", STR(""));
    put_file("s/.hidden/x", STR(""));
    assert_int_equal(mkdir(in_ws("s/empty"), 0755), 0);
    assert_int_equal(mkfifo(in_ws("s/fifo"), 0600), 0);
    assert_files(".hidden/x a-b a/SKILL.md a/z b.txt");
}

/* SK-8 */
static void a_link_counts_as_the_file_it_leads_to_once(void **state)
{
    put_file("s/real/one.md", STR(""));
    put_link("s/z-alias", "real/one.md");
    put_link("s/a-alias", "real/one.md");
    put_link("s/absolute", in_ws("s/real/one.md"));
    put_link("s/own", "SKILL.md");
    put_link("s/linked-dir", "real");
    put_link("s/loop-dir", ".");
    assert_files("a-alias own");
}

/* SK-8 */
static void a_link_out_or_to_nowhere_is_an_error(void **state)
{
    put_file("outside", STR(""));
    put_file("s/refs/x", STR(""));
    put_link("s/refs/out", "../../outside");
    assert_fails("resource target escapes skill directory: refs/out");
    assert_int_equal(unlink(in_ws("s/refs/out")), 0);
    put_link("s/dir", "..");
    assert_fails("resource target escapes skill directory: dir");
    assert_int_equal(unlink(in_ws("s/dir")), 0);
    put_link("s/passwd", "/etc/passwd");
    assert_fails("resource target escapes skill directory: passwd");
    assert_int_equal(unlink(in_ws("s/passwd")), 0);
    put_file("s2/x", STR("")); /* a name that begins alike */
    put_link("s/near", "../s2/x");
    assert_fails("resource target escapes skill directory: near");
    assert_int_equal(unlink(in_ws("s/near")), 0);
    put_link("s/gone", "nowhere");
    assert_fails("resource target cannot be resolved: gone");
    assert_int_equal(unlink(in_ws("s/gone")), 0);
    put_link("s/self", "self");
    assert_fails("resource target cannot be resolved: self");
    assert_int_equal(unlink(in_ws("s/self")), 0);
    assert_files("refs/x");
}

/* SK-9 */
static void at_most_1000_files(void **state)
{
    for (int i = 0; i < 1000; i++) {
        char rel[64];

        snprintf(rel, sizeof rel, "s/many/%04d", i);
        put_file(rel, STR(""));
    }
    put_link("s/alias", "many/0001"); /* no file of its own */
    {
        auto_arena a = ARENA;
        auto_place p = { .fd = -1 };
        struct manifest m;

        assert_true(place_open(&p, &skill, NULL));
        assert_true(manifest_read(&p, &a, NULL, NULL, &m, NULL));
        assert_int_equal(m.n, 1000);
    }
    put_file("s/one-more", STR(""));
    assert_fails("resource count exceeds 1000");
}

/* SK-9 */
static void depth_is_bounded(void **state)
{
    put_file("s/1/2/3/4/5/6/7/file", STR(""));
    assert_int_equal(mkdir(in_ws("s/1/2/3/4/5/6/7/8"), 0755), 0);
    assert_files("1/2/3/4/5/6/7/file");
    put_file("s/1/2/3/4/5/6/7/8/file", STR(""));
    assert_fails("resource depth exceeds 8");
    assert_int_equal(unlink(in_ws("s/1/2/3/4/5/6/7/8/file")), 0);
    assert_int_equal(mkdir(in_ws("s/1/2/3/4/5/6/7/8/9"), 0755), 0);
    assert_fails("resource directory depth exceeds 8");
}

static bool at_once(const void *ctx)
{
    return true;
}

static void a_walk_can_be_stopped(void **state)
{
    auto_arena a = ARENA;
    auto_place p = { .fd = -1 };
    struct manifest m;
    struct error e;

    for (int i = 0; i < 100; i++) {
        char rel[64];

        snprintf(rel, sizeof rel, "s/%d", i);
        put_file(rel, STR(""));
    }
    assert_true(place_open(&p, &skill, NULL));
    assert_false(manifest_read(&p, &a, at_once, NULL, &m, &e));
    assert_int_equal(e.kind, ERR_CLOSED);
}

/* SK-7: the file is read again; what was registered must still be what is there. */
static void the_document_is_read_again_and_must_be_where_it_was(void **state)
{
    auto_arena a = ARENA;
    auto_place p = { .fd = -1 };
    struct document d;
    struct error e;

    assert_true(place_open(&p, &skill, &e));
    put_skill("s", SKILL("s", "new"));
    assert_true(place_document(&p, &a, &d, &e));
    assert_str(d.description, "new");
    put_skill("s", SKILL("t", "d"));
    assert_false(place_document(&p, &a, &d, &e));
    assert_string_equal(e.msg, "registered SKILL.md name changed");
    put_skill("s", "---\nname: s\n---\n");
    assert_false(place_document(&p, &a, &d, &e));
    assert_has(e.msg, "SKILL.md: line 1: 'description' is missing");

    assert_int_equal(rename(file, in_ws("s/other.md")), 0);
    put_link("s/SKILL.md", "other.md");
    put_skill("s", SKILL("s", "d"));
    assert_false(place_document(&p, &a, &d, &e));
    assert_string_equal(e.msg, "registered SKILL.md changed location");
    assert_int_equal(unlink(file), 0);
    put_link("s/SKILL.md", "../outside.md");
    put_file("outside.md", str_of(SKILL("s", "d")));
    assert_false(place_document(&p, &a, &d, &e));
    assert_string_equal(e.msg, "registered SKILL.md changed location");
    assert_int_equal(unlink(file), 0);
    assert_false(place_document(&p, &a, &d, &e));
    assert_has(e.msg, "SKILL.md");
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_false(place_document(&p, &a, &d, &e));
}

/* SK-7, SK-8: a directory that became a link is not the skill any more. */
static void a_directory_that_moved_is_not_followed(void **state)
{
    auto_place p = { .fd = -1 };
    struct error e;

    assert_int_equal(rename(dir, in_ws("t")), 0);
    assert_false(place_open(&p, &skill, &e));
    put_link("s", "t");
    assert_false(place_open(&p, &skill, &e));
    assert_string_equal(e.msg, "registered SKILL.md changed location");
}

/* SK-30 */
static void a_digest_follows_its_file(void **state)
{
    struct digests *d = digests_new();
    auto_arena a = ARENA;
    auto_place p = { .fd = -1 };
    char first[SHA256_HEX_SIZE], again[SHA256_HEX_SIZE], changed[SHA256_HEX_SIZE];
    struct stat st;
    int fd;

    assert_true(place_open(&p, &skill, NULL));
    for (int i = 0; i < 2; i++) {
        put_file("s/x", STR("abc"));
        fd = place_file(&p, &a, STR("x"), &st, NULL);
        assert_true(digests_get(d, fd, &st, first, NULL));
        close(fd);
        assert_string_equal(first,
                            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        put_file("s/x", STR("abd")); /* the same size, perhaps within one tick of the clock */
        fd = place_file(&p, &a, STR("x"), &st, NULL);
        assert_true(digests_get(d, fd, &st, changed, NULL));
        close(fd);
        assert_string_not_equal(first, changed);
    }
    usleep(150 * 1000);
    for (int i = 0; i < 2; i++) {
        fd = place_file(&p, &a, STR("x"), &st, NULL);
        assert_true(digests_get(d, fd, &st, again, NULL));
        /* The second time nothing is read. */
        assert_int_equal(lseek(fd, 0, SEEK_CUR), i == 0 ? 3 : 0);
        close(fd);
        assert_string_equal(again, changed);
    }
    digests_free(d);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, make_skill, remove_ws)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(files_are_listed_sorted_without_the_skills_own),
        CASE(a_link_counts_as_the_file_it_leads_to_once),
        CASE(a_link_out_or_to_nowhere_is_an_error),
        CASE(at_most_1000_files),
        CASE(depth_is_bounded),
        CASE(a_walk_can_be_stopped),
        CASE(the_document_is_read_again_and_must_be_where_it_was),
        CASE(a_directory_that_moved_is_not_followed),
        CASE(a_digest_follows_its_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
