/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PL-1, PL-28, PL-29: what a package's directory embeds. */
#include "../check.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "common/layers.h"

struct dir {
    char path[PATH_MAX];
    struct arena arena;
};

static void put(struct dir *d, const char *name, const char *text)
{
    const char *path = path_join(&d->arena, d->path, name);

    assert_true(file_mkdirs(path_dir(&d->arena, path), NULL));
    assert_true(file_write_atomic(path, str_of(text), 0600, NULL));
}

static void put_link(struct dir *d, const char *name, const char *to)
{
    const char *path = path_join(&d->arena, d->path, name);

    assert_true(file_mkdirs(path_dir(&d->arena, path), NULL));
    assert_int_equal(symlink(to, path), 0);
}

static void open_dir(struct dir *d)
{
    *d = (struct dir){ 0 };
    make_temp_dir(d->path);
}

static void close_dir(struct dir *d)
{
    remove_tree(d->path);
    arena_free(&d->arena);
}

static void the_manifest_file_is_the_first_of_three_names(void **state)
{
    static const struct {
        const char *files[3], *found;
    } cases[] = {
        { { "symposium.toml" }, "symposium.toml" },
        { { "symposium.toml", "Symposium.toml" }, "Symposium.toml" },
        { { "symposium.toml", "Symposium.toml", "SYMPOSIUM.toml" }, "SYMPOSIUM.toml" },
        { { "symposium.TOML", "SYMPOSIUM.toml.bak", "sub/SYMPOSIUM.toml" }, NULL },
        { { "SYMPOSIUM.toml/file", "symposium.toml" }, "symposium.toml" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct dir d;
        const char *found;

        open_dir(&d);
        for (size_t k = 0; k < ARRAY_LEN(cases[i].files) && cases[i].files[k]; k++)
            put(&d, cases[i].files[k], "");
        found = manifest_file(&d.arena, d.path);
        assert_str(str_of(found ? path_base(found) : ""), cases[i].found ? cases[i].found : "");
        close_dir(&d);
    }
}

static void a_link_counts_only_inside_of_the_package(void **state)
{
    static const struct {
        const char *to;
        bool counts;
    } cases[] = {
        { "sub/real.toml", true }, { "../outside.toml", false }, { "/etc/hostname", false },
        { "nowhere", false },      { "SYMPOSIUM.toml", false }, /* itself */
        { "sub", false },          { "/dev/null", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct dir d;
        const char *package;

        open_dir(&d);
        package = path_join(&d.arena, d.path, "p");
        put(&d, "outside.toml", "");
        put(&d, "p/sub/real.toml", "");
        put_link(&d, "p/SYMPOSIUM.toml", cases[i].to);
        assert_int_equal(manifest_file(&d.arena, package) != NULL, cases[i].counts);
        close_dir(&d);
    }
}

static void a_skill_is_found_at_any_level_below_skills(void **state)
{
    static const struct {
        const char *files[2];
        bool found;
    } cases[] = {
        { { "skills/SKILL.md" }, true },
        { { "skills/a/SKILL.md" }, true },
        { { "skills/a/b/c/SKILL.md", "skills/a/README.md" }, true },
        { { "SKILL.md", "skill/a/SKILL.md" }, false },
        { { "skills/a/skill.md" }, false },
        { { "skills/a/SKILL.md/file" }, false },
        { { "skills/a/SKILL.md", "skills/a/.symposium" }, false },
        { { "skills/a/SKILL.md", "skills/.symposium" }, false },
        { { "skills/a/SKILL.md", "skills/b/.symposium" }, true },
        { { "skills/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/SKILL.md" }, true },
        { { "skills/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/SKILL.md" }, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct dir d;

        open_dir(&d);
        for (size_t k = 0; k < 2 && cases[i].files[k]; k++)
            put(&d, cases[i].files[k], "");
        if (skills_exist(d.path) != cases[i].found)
            fail_msg("case %zu", i);
        close_dir(&d);
    }
}

static void looking_for_skills_ends(void **state)
{
    struct dir d;
    int64_t from = clock_ms();

    (void)state;
    open_dir(&d);
    put(&d, "elsewhere/SKILL.md", "");
    put_link(&d, "skills/loop/up", "../..");
    put_link(&d, "skills/elsewhere", "../elsewhere");
    for (int i = 0; i < SKILLS_MAX_ENTRIES + 100; i++)
        put_link(&d, arena_printf(&d.arena, "skills/many/%d", i), "x");
    put(&d, "skills/zz/SKILL.md", "");
    skills_exist(d.path); /* with luck of the order it is found */
    assert_true(clock_ms() - from < 5000 * slack());
    assert_false(skills_exist(path_join(&d.arena, d.path, "skills/loop")));
    close_dir(&d);
}

static void check_embedded(const char *metadata, const char *file, bool any, const char *want)
{
    struct dir d;
    struct embedded got;
    struct error e = { 0 };
    const struct toml_val *own = NULL;

    open_dir(&d);
    if (file)
        put(&d, "SYMPOSIUM.toml", file);
    if (metadata)
        own = toml_get(toml_parse(&d.arena, str_of(metadata), &e), "m");
    assert_true(embedded_read(&d.arena, d.path, own, &got, &e));
    assert_int_equal(got.any, any);
    assert_str(got.manifest, want);
    close_dir(&d);
}

/* PL-29: a malformed layer is dropped, the other one counts; it embeds something all the same.
 */
static void malformed_layers_are_dropped_whole(void **state)
{
#define DEFAULTS "\"skills\":[{\"source\":{\"path\":\"skills\"}}]}"

    (void)state;
    check_embedded(NULL, NULL, false, "{" DEFAULTS);
    check_embedded(NULL, "", true, "{" DEFAULTS);
    check_embedded("m={name='m'}", NULL, true, "{\"name\":\"m\"," DEFAULTS);
    check_embedded("m={name='m'}", "not toml", true, "{\"name\":\"m\"," DEFAULTS);
    check_embedded("m={name='m',skills=1}", "name='f'", true, "{\"name\":\"f\"," DEFAULTS);
    check_embedded("m=7", "name='f'", true, "{\"name\":\"f\"," DEFAULTS);
    check_embedded("m=7", "hooks=7", true, "{" DEFAULTS);
}

static void a_manifest_that_is_too_long_is_an_error(void **state)
{
    auto_buf text = BUF(LAYERS_MAX_JSON * 2);
    struct dir d;
    struct embedded got;
    struct error e = { 0 };

    (void)state;
    open_dir(&d);
    buf_addz(&text, "x = \"");
    buf_fill(&text, 'x', LAYERS_MAX_JSON);
    buf_addz(&text, "\"");
    assert_false(
        embedded_read(&d.arena, d.path, toml_parse(&d.arena, buf_str(&text), NULL), &got, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    close_dir(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manifest_file_is_the_first_of_three_names),
        cmocka_unit_test(a_link_counts_only_inside_of_the_package),
        cmocka_unit_test(a_skill_is_found_at_any_level_below_skills),
        cmocka_unit_test(looking_for_skills_ends),
        cmocka_unit_test(malformed_layers_are_dropped_whole),
        cmocka_unit_test(a_manifest_that_is_too_long_is_an_error),
    };

    log_set_level(LOG_OFF);
    return cmocka_run_group_tests_name("pms/embedded", tests, NULL, NULL);
}
