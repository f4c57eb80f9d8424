/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tree.h"

#include "base/sha256.h"
#include "plugins/skill_search.h"

#define SKILL(name) "---\nname: " name "\ndescription: d\n---\nbody\n"

static void search(struct tree *t, const char *dir, bool lenient, struct found_skills *ret)
{
    struct skill_place p = { .dir = tree_path(t, dir), .home = t->root, .lenient = lenient };

    *ret = (struct found_skills){ 0 };
    skill_search(&t->a, &p, ret);
}

/* "name path name path"; paths below the root */
static const char *names_of(struct tree *t, const struct found_skills *f)
{
    const char *all = "";

    for (size_t i = 0; i < f->n; i++)
        all = arena_printf(&t->a, "%s%s%.*s %s", all, i ? " " : "", STR_F(f->v[i].name),
                           f->v[i].dir + strlen(t->root) + 1);
    return all;
}

/* PL-28 */
static void skills_are_found_at_any_depth_and_the_shallowest_kept(void **state)
{
    struct tree t = tree_new();
    struct found_skills f;

    (void)state;
    tree_put(&t, "s/a/SKILL.md", SKILL("a"));
    tree_put(&t, "s/a/inner/SKILL.md", SKILL("inner"));
    tree_put(&t, "s/deep/er/b/SKILL.md", SKILL("b"));
    tree_put(&t, "s/copy/SKILL.md", SKILL("copy"));
    tree_put(&t, "s/copy/.symposium", "");
    tree_put(&t, "s/made/x/SKILL.md", SKILL("x"));
    tree_put(&t, "s/made/.symposium", "");
    tree_put(&t, "s/.git/hooks/SKILL.md", SKILL("git"));
    tree_put(&t, "s/.hidden/SKILL.md", SKILL("hidden"));
    tree_put(&t, "s/file", "");
    search(&t, "s", false, &f);
    assert_string_equal(names_of(&t, &f), "hidden s/.hidden a s/a b s/deep/er/b");
    assert_int_equal(f.warnings.n, 1);
    assert_has(f.warnings.v[0].p,
               "s/copy: holds '.symposium', as copies that sync has made do");
    search(&t, "s/a", false, &f);
    assert_string_equal(names_of(&t, &f), "a s/a");
    search(&t, "none", false, &f);
    assert_int_equal(f.n + f.warnings.n, 0);
    tree_free(&t);
}

/* PL-28: copies of a sync beside a workspace's own skills are no news; what only looks like
 * one, or lies where no sync writes, is. */
static void a_skill_that_is_taken_for_a_copy_is_told_of(void **state)
{
    static const struct {
        bool lenient;
        const char *marker; /* NULL: a link that leads nowhere */
        bool told;
    } cases[] = {
        { true, "", false }, { true, "mine", true },  { true, NULL, true },
        { false, "", true }, { false, "mine", true }, { false, NULL, true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tree t = tree_new();
        struct found_skills f;

        tree_put(&t, "s/b/SKILL.md", SKILL("b"));
        tree_put(&t, "s/a/SKILL.md", SKILL("a"));
        if (cases[i].marker)
            tree_put(&t, "s/a/.symposium", cases[i].marker);
        else
            assert_int_equal(symlink("nowhere", tree_path(&t, "s/a/.symposium")), 0);
        search(&t, "s", cases[i].lenient, &f);
        assert_string_equal(names_of(&t, &f), "b s/b");
        assert_int_equal(f.warnings.n, cases[i].told);
        tree_free(&t);
    }
}

/* PL-28, PL-27: bad front matter beside good */
static void a_bad_skill_is_warned_about_and_its_siblings_stay(void **state)
{
    static const struct {
        const char *text, *warning;
    } bad[] = {
        { "", "no front matter" },
        { "---\nname: n\n---\n", "needs a 'description'" },
        { "---\ndescription: d\n---\n", "needs a 'name'" },
        { "---\nname: [n]\ndescription: d\n---\n", "'name' must be a string" },
        { "---\nname: n\ndescription: d\ncrates: x\n---\n", "renamed to 'depends-on'" },
        { "---\nname: up/x\ndescription: d\n---\n", "slash" },
        { "---\nname: .hid\ndescription: d\n---\n", "begins with a dot" },
        { "---\nname: \"a\\tb\"\ndescription: d\n---\n", "control character" },
        { "---\nname: n\ndescription: d\n", "no closing" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct tree t = tree_new();
        struct found_skills f;

        tree_put(&t, "s/bad/SKILL.md", bad[i].text);
        tree_put(&t, "s/good/SKILL.md", SKILL("good"));
        search(&t, "s", false, &f);
        assert_string_equal(names_of(&t, &f), "good s/good");
        assert_int_equal(f.warnings.n, 1);
        assert_has(f.warnings.v[0].p, "s/bad/SKILL.md: ");
        assert_has(f.warnings.v[0].p, bad[i].warning);
        tree_free(&t);
    }
}

/* PL-27 */
static void a_workspace_skill_needs_no_front_matter(void **state)
{
    struct tree t = tree_new();
    struct found_skills f;

    (void)state;
    tree_put(&t, "s/plain/SKILL.md", "# How to\n");
    tree_put(&t, "s/nameless/SKILL.md", "---\ndescription: d\nlicense: [1]\n---\n");
    tree_put(&t, "s/named/SKILL.md", "\xEF\xBB\xBF---\r\nname: other\r\n---\r\n");
    tree_put(&t, "s/torn/SKILL.md", "---\nname: n\n");
    search(&t, "s", true, &f);
    assert_string_equal(names_of(&t, &f), "other s/named nameless s/nameless plain s/plain");
    assert_int_equal(f.warnings.n, 1);
    assert_has(f.warnings.v[0].p, "s/torn/SKILL.md: ");
    tree_free(&t);
}

static void links_count_where_they_stay_in_the_home(void **state)
{
    struct tree t = tree_new(), other = tree_new();
    struct found_skills f;

    (void)state;
    tree_put(&other, "x/SKILL.md", SKILL("foreign"));
    tree_put(&t, "lib/a/SKILL.md", SKILL("a"));
    tree_put(&t, "s/real/real.md", SKILL("r"));
    assert_int_equal(symlink("../lib/a", tree_path(&t, "s/a")), 0);
    assert_int_equal(symlink("../lib/a", tree_path(&t, "s/again")), 0);
    assert_int_equal(symlink(".", tree_path(&t, "s/circle")), 0);
    assert_int_equal(symlink(tree_path(&other, "x"), tree_path(&t, "s/foreign")), 0);
    assert_int_equal(symlink("nowhere", tree_path(&t, "s/dangling")), 0);
    assert_int_equal(symlink("real.md", tree_path(&t, "s/real/SKILL.md")), 0);
    search(&t, "s", false, &f);
    assert_string_equal(names_of(&t, &f), "a lib/a r s/real");
    assert_string_equal(f.v[1].file, tree_path(&t, "s/real/real.md"));
    assert_int_equal(f.warnings.n, 0);

    tree_put(&t, "s/thief/", "");
    assert_int_equal(symlink("../../lib/a/SKILL.md", tree_path(&t, "s/thief/SKILL.md")), 0);
    search(&t, "s/thief", false, &f);
    assert_int_equal(f.n, 0);
    assert_has(f.warnings.v[0].p, "leads out of the skill's directory");
    tree_free(&t);
    tree_free(&other);
}

static void what_is_too_much_is_left_out_with_a_warning(void **state)
{
    struct tree t = tree_new();
    struct found_skills f;
    char *big = mem_alloc(SKILL_MAX_BYTES + 2);
    const char *deep = "s";

    (void)state;
    memset(big, 'x', SKILL_MAX_BYTES + 1);
    tree_put(&t, "s/big/SKILL.md", big);
    for (int i = 0; i < SKILL_SEARCH_MAX_DEPTH; i++)
        deep = arena_printf(&t.a, "%s/d", deep);
    tree_put(&t, arena_printf(&t.a, "%s/SKILL.md", deep), SKILL("deep"));
    search(&t, "s", false, &f);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.warnings.n, 1);
    assert_has(f.warnings.v[0].p, "more than 1048576 bytes");
    tree_put(&t, arena_printf(&t.a, "%s/e/SKILL.md", path_dir(&t.a, deep)), SKILL("e"));
    tree_put(&t, arena_printf(&t.a, "%s/g/h/SKILL.md", path_dir(&t.a, deep)), SKILL("h"));
    search(&t, "s", false, &f);
    assert_int_equal(f.n, 2);
    assert_has(f.warnings.v[1].p, "deeper than 16");
    free(big);
    tree_free(&t);
}

/* SY-13: SHA-256 of "<path>" in quotes; the example is `printf '"/s/SKILL.md"' | sha256sum`. */
static void the_origin_is_a_hash_of_the_canonical_path(void **state)
{
    struct tree t = tree_new();
    struct found_skills f;
    char hex[65];
    const char *json;

    (void)state;
    tree_put(&t, "s/SKILL.md", SKILL("a"));
    search(&t, "s/../s", false, &f);
    json = arena_printf(&t.a, "\"%s/s/SKILL.md\"", t.root);
    sha256_hex(str_of(json), hex);
    hex[8] = '\0';
    assert_string_equal(f.v[0].origin, hex);
    tree_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skills_are_found_at_any_depth_and_the_shallowest_kept),
        cmocka_unit_test(a_skill_that_is_taken_for_a_copy_is_told_of),
        cmocka_unit_test(a_bad_skill_is_warned_about_and_its_siblings_stay),
        cmocka_unit_test(a_workspace_skill_needs_no_front_matter),
        cmocka_unit_test(links_count_where_they_stay_in_the_home),
        cmocka_unit_test(what_is_too_much_is_left_out_with_a_warning),
        cmocka_unit_test(the_origin_is_a_hash_of_the_canonical_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
