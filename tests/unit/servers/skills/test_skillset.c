/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "place.h"

#include "servers/skills/skillset.h"

static struct buf warned = { .max = 4 << 20 };

static void warn(const char *line)
{
    buf_addf(&warned, "%s\n", line);
}

static void load(struct skillset *c, const char *home)
{
    struct error e;

    buf_clear(&warned);
    if (!skillset_load(c, ws, home, warn, &e))
        fail_msg("%s", e.msg);
}

/* "name=dir ..." in the order of the catalogue, directories relative to the workspace. */
static void assert_skills(const char *home, const char *want)
{
    auto_buf got = BUF(1 << 16);
    struct skillset c;

    load(&c, home);
    for (size_t i = 0; i < c.n; i++) {
        buf_addf(&got, "%s%.*s=%s", i ? " " : "", STR_F(c.v[i].name),
                 c.v[i].dir + strlen(ws) + 1);
        assert_ptr_equal(skillset_find(&c, c.v[i].name), &c.v[i]);
    }
    assert_string_equal(buf_z(&got), want);
    skillset_free(&c);
}

/* SK-1 */
static void direct_children_of_three_roots_are_found(void **state)
{
    put_skill(".agents/skills/b", SKILL("b", "d"));
    put_skill(".claude/skills/a", SKILL("a", "d"));
    put_skill(".opencode/skills/c", SKILL("c", "d"));
    put_skill(".agents/skills/b/inner", SKILL("inner", "d"));
    put_skill(".agents/skills/group/deep", SKILL("deep", "d"));
    put_skill(".other/skills/x", SKILL("x", "d"));
    put_file(".agents/skills/README.md", STR("no skill"));
    put_file(".agents/skills/empty/notes.md", STR("no skill"));
    assert_skills(NULL, "a=.claude/skills/a b=.agents/skills/b c=.opencode/skills/c");
    assert_string_equal(buf_z(&warned), "");
}

/* SK-1: root order, then canonical path; the first of a name wins, with a warning. */
static void the_first_of_a_name_wins(void **state)
{
    put_skill(".opencode/skills/same", SKILL("same", "3"));
    put_skill(".claude/skills/same", SKILL("same", "2"));
    put_skill(".agents/skills/z", SKILL("twin", "later"));
    put_skill(".agents/skills/y", SKILL("twin", "first"));
    put_skill("home/.agents/skills/same", SKILL("same", "4"));
    assert_skills(in_ws("home"), "same=.claude/skills/same twin=.agents/skills/y");
    assert_has(buf_z(&warned), "/.agents/skills/z/SKILL.md: left out, the skill 'twin' in ");
    assert_has(buf_z(&warned), "/.opencode/skills/same/SKILL.md: left out");
    assert_has(buf_z(&warned), "home/.agents/skills/same/SKILL.md: left out");
}

/* SK-1 */
static void a_canonical_directory_counts_once(void **state)
{
    put_skill("shared/one", SKILL("one", "d"));
    put_link(".agents/skills/alias", "../../shared/one");
    put_link(".agents/skills/one", "../../shared/one");
    put_link(".claude/skills", "../.agents/skills");
    assert_skills(NULL, "one=shared/one");
    assert_string_equal(buf_z(&warned), "");
}

/* SK-1 */
static void what_leads_out_of_the_workspace_is_left_out(void **state)
{
    char out[PATH_MAX], skill[PATH_MAX + 32];

    make_temp_dir(out);
    snprintf(skill, sizeof skill, "%s/SKILL.md", out);
    assert_true(file_write_cache(skill, str_of(SKILL("out", "d")), NULL));
    put_link(".agents/skills/out", out);
    put_link(".claude/skills/file/SKILL.md", skill);
    put_link(".claude/skills/gone", "nowhere");
    put_link(".claude/skills/dangling/SKILL.md", "nowhere");
    put_link(".claude/skills/sibling/SKILL.md", "../good/SKILL.md");
    put_skill(".claude/skills/good", SKILL("good", "d"));
    put_file(".claude/skills/inner/real.md", str_of(SKILL("inner", "d")));
    put_link(".claude/skills/inner/SKILL.md", "real.md");
    assert_int_equal(mkfifo(in_ws(".claude/skills/fifo"), 0600), 0);
    put_file(".claude/skills/pipe/x", STR(""));
    assert_int_equal(mkfifo(in_ws(".claude/skills/pipe/SKILL.md"), 0600), 0);
    assert_skills(NULL, "good=.claude/skills/good inner=.claude/skills/inner");
    assert_has(buf_z(&warned), ".agents/skills/out: left out, it leads out of ");
    assert_has(buf_z(&warned), "file/SKILL.md: line 1: left out, it leads out");
    assert_has(buf_z(&warned), "sibling/SKILL.md: line 1: left out, it leads out");
    assert_has(buf_z(&warned), "gone: left out: No such file");
    assert_has(buf_z(&warned), "dangling/SKILL.md: line 1: cannot be read: No such file");
    assert_has(buf_z(&warned), "pipe/SKILL.md: line 1: left out, it is no regular file");
    remove_tree(out);
}

/* SK-1: in order, and only with --user. */
static void the_users_skills_come_last_and_stay_in_their_root(void **state)
{
    put_skill("home/.agents/skills/mine", SKILL("mine", "d"));
    put_skill("home/.claude/skills/mine", SKILL("mine", "later"));
    put_skill("home/elsewhere", SKILL("elsewhere", "d"));
    put_link("home/.agents/skills/out", "../../elsewhere");
    put_skill("home/store/linked", SKILL("linked", "d"));
    put_skill(".agents/skills/ours", SKILL("ours", "d"));
    assert_skills(NULL, "ours=.agents/skills/ours");
    assert_skills(in_ws("home"), "mine=home/.agents/skills/mine ours=.agents/skills/ours");
    assert_has(buf_z(&warned), "skills/out: left out, it leads out of ");
}

/* SK-1: malformed ones are warned about with path and line, the others are not affected; SK-3:
 * what is only odd is loaded. */
static void a_bad_skill_does_not_touch_its_neighbours(void **state)
{
    auto_buf big = BUF(4 << 20), text = BUF(1 << 16);

    put_skill(".agents/skills/bad", "---\nname: bad\ndescription: [x\n---\n");
    put_skill(".agents/skills/blank", "---\nname: blank\ndescription: ' '\n---\n");
    put_skill(".agents/skills/dir-name", SKILL("other-name", "d"));
    put_skill(".agents/skills/good", SKILL("good", "Use it: always"));
    buf_addz(&big, SKILL("big", "d"));
    buf_fill(&big, 'x', (1 << 20) + 1 - big.n);
    put_file(".agents/skills/big/SKILL.md", buf_str(&big));
    buf_addz(&text, "---\nname: long\ndescription: ");
    for (int i = 0; i < 1025; i++)
        buf_addz(&text, "\xC3\xA9");
    buf_addz(&text, "\n---\n");
    put_file(".agents/skills/long/SKILL.md", buf_str(&text));
    assert_skills(NULL, "good=.agents/skills/good long=.agents/skills/long "
                        "other-name=.agents/skills/dir-name");
    assert_has(buf_z(&warned), ".agents/skills/bad/SKILL.md: line ");
    assert_has(buf_z(&warned), ".agents/skills/blank/SKILL.md: line 3: 'description'");
    assert_has(buf_z(&warned), ".agents/skills/big/SKILL.md: line 1: ");
    assert_has(buf_z(&warned), "dir-name/SKILL.md: the name 'other-name' is not that of");
    assert_has(buf_z(&warned), "long/SKILL.md: line 3: the description has more than 1024");
    assert_lacks(buf_z(&warned), "good/SKILL.md");
}

static void a_workspace_without_skills_has_none(void **state)
{
    put_file(".agents/skills", STR("a file"));
    assert_skills(in_ws("no-home"), "");
    assert_string_equal(buf_z(&warned), "");
}

/* SV-7 */
static void a_workspace_that_is_no_directory_is_an_error(void **state)
{
    struct skillset c;
    struct error e;

    put_file("file", STR(""));
    assert_false(skillset_load(&c, in_ws("missing"), NULL, warn, &e));
    assert_has(e.msg, "missing");
    assert_false(skillset_load(&c, in_ws("file"), NULL, warn, &e));
    assert_has(e.msg, "is not a directory");
}

static void all_descriptions_together_are_bounded(void **state)
{
    auto_buf text = BUF(1 << 20);
    struct skillset c;

    for (int i = 0; i < 5; i++) {
        char dir[64];

        buf_clear(&text);
        buf_addf(&text, "---\nname: s%d\ndescription: ", i);
        buf_fill(&text, 'x', 100000);
        buf_addz(&text, "\n---\n");
        snprintf(dir, sizeof dir, ".agents/skills/s%d", i);
        put_skill(dir, buf_z(&text));
    }
    load(&c, NULL);
    assert_int_equal(c.n, 3);
    assert_has(buf_z(&warned), "s3/SKILL.md: left out, all descriptions together");
    skillset_free(&c);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, make_ws, remove_ws)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(direct_children_of_three_roots_are_found),
        CASE(the_first_of_a_name_wins),
        CASE(a_canonical_directory_counts_once),
        CASE(what_leads_out_of_the_workspace_is_left_out),
        CASE(the_users_skills_come_last_and_stay_in_their_root),
        CASE(a_bad_skill_does_not_touch_its_neighbours),
        CASE(a_workspace_without_skills_has_none),
        CASE(a_workspace_that_is_no_directory_is_an_error),
        CASE(all_descriptions_together_are_bounded),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    buf_free(&warned);
    return failed;
}
