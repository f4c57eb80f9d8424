/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tree.h"

#include "plugins/checkout.h"
#include "plugins/manifest.h"
#include "plugins/registry.h"

struct world {
    struct tree t;
    struct watch_list watch;
    struct loaded out;
    struct load_ctx ctx;
};

static void world_open(struct world *w)
{
    *w = (struct world){ .t = tree_new() };
    w->ctx = (struct load_ctx){ .a = &w->t.a, .watch = &w->watch, .out = &w->out };
}

static void world_close(struct world *w)
{
    tree_free(&w->t);
}

static void load(struct world *w)
{
    registry_load(&w->ctx, STR("team"), tree_path(&w->t, "reg"));
}

/* "subpath=name subpath=name" */
static const char *listing(struct world *w)
{
    auto_buf b = BUF(1 << 20);

    for (size_t i = 0; i < w->out.plugins.n; i++) {
        const struct plugin *p = w->out.plugins.v[i];

        buf_addf(&b, "%s%.*s=%.*s%s", i ? " " : "", STR_F(p->subpath), STR_F(p->name),
                 p->standalone_skill ? "*" : "");
    }
    return arena_z(&w->t.a, buf_str(&b));
}

#define SKILL "---\nname: sk\ndescription: d\n---\nbody\n"

/* PL-2, PL-3 */
static void entries_are_found_recursively_and_sorted(void **state)
{
    struct world w;

    world_open(&w);
    tree_put(&w.t, "reg/b/SYMPOSIUM.toml", "name = \"pb\"");
    tree_put(&w.t, "reg/b/inner/SYMPOSIUM.toml", "name = \"claimed\"");
    tree_put(&w.t, "reg/a/deep/er/SYMPOSIUM.toml", "name = \"pa\"");
    tree_put(&w.t, "reg/a/skill/SKILL.md", SKILL);
    tree_put(&w.t, "reg/a/skill/more/SKILL.md", SKILL);
    tree_put(&w.t, "reg/both/SKILL.md", SKILL);
    tree_put(&w.t, "reg/both/SYMPOSIUM.toml", "name = \"manifest-wins\"");
    tree_put(&w.t, "reg/a-b/SYMPOSIUM.toml", "name = \"dash\"");
    tree_put(&w.t, "reg/.git/x/SYMPOSIUM.toml", "name = \"git\"");
    load(&w);
    assert_string_equal(listing(&w),
                        "a-b=dash a/deep/er=pa a/skill=sk* b=pb both=manifest-wins");
    assert_int_equal(w.out.failures.n, 0);
    assert_str(w.out.plugins.v[1]->registry, "team");
    assert_str(w.out.plugins.v[1]->dir, tree_path(&w.t, "reg/a/deep/er"));
    assert_str(w.out.plugins.v[1]->manifest_path,
               tree_path(&w.t, "reg/a/deep/er/SYMPOSIUM.toml"));
    world_close(&w);
}

/* PL-2 */
static void a_missing_root_is_an_empty_registry(void **state)
{
    struct world w;

    world_open(&w);
    load(&w);
    assert_int_equal(w.out.plugins.n + w.out.failures.n + w.out.warnings.n, 0);
    assert_false(watch_stale(w.watch.v, w.watch.n));
    tree_put(&w.t, "reg/", ""); /* MS-60: its coming is seen */
    assert_true(watch_stale(w.watch.v, w.watch.n));
    world_close(&w);
}

/* PL-2 */
static void a_root_that_is_an_entry_is_an_error(void **state)
{
    static const char *const files[] = { "reg/SYMPOSIUM.toml", "reg/SKILL.md" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct world w;

        world_open(&w);
        tree_put(&w.t, files[i], "name = \"x\"");
        tree_put(&w.t, "reg/a/SYMPOSIUM.toml", "name = \"a\"");
        load(&w);
        assert_int_equal(w.out.plugins.n, 0);
        assert_int_equal(w.out.failures.n, 1);
        assert_has(w.out.failures.v[0].reason.p,
                   "should contain subdirectories with plugins, not be a plugin itself");
        world_close(&w);
    }
}

/* PL-1 */
static void of_several_manifests_one_wins_with_a_warning(void **state)
{
    struct world w;

    world_open(&w);
    tree_put(&w.t, "reg/a/symposium.toml", "name = \"lower\"");
    tree_put(&w.t, "reg/a/Symposium.toml", "name = \"title\"");
    tree_put(&w.t, "reg/b/symposium.toml", "name = \"alone\"");
    load(&w);
    assert_string_equal(listing(&w), "a=title b=alone");
    assert_int_equal(w.out.warnings.n, 1);
    assert_has(w.out.warnings.v[0].p, "Symposium.toml is used");
    world_close(&w);
}

/* PL-16 */
static void a_bad_entry_is_skipped_and_named(void **state)
{
    struct world w;

    world_open(&w);
    tree_put(&w.t, "reg/a/SYMPOSIUM.toml", "name = \"a\"");
    tree_put(&w.t, "reg/b/SYMPOSIUM.toml", "name = \"b\"\n[[mcp_servers]]\nname = \"s\"\n");
    tree_put(&w.t, "reg/c/SKILL.md", "no front matter");
    tree_put(&w.t, "reg/d/SYMPOSIUM.toml/", "");
    tree_put(&w.t, "reg/e/SYMPOSIUM.toml", "name = \"e\"");
    load(&w);
    assert_string_equal(listing(&w), "a=a e=e");
    assert_int_equal(w.out.failures.n, 3);
    assert_has(w.out.failures.v[0].reason.p,
               arena_printf(&w.t.a, "skipping %s: ", tree_path(&w.t, "reg/b/SYMPOSIUM.toml")));
    assert_has(w.out.failures.v[0].reason.p, "line 2: ");
    assert_has(w.out.failures.v[0].reason.p, "(server 's') needs a 'command'");
    assert_str(w.out.failures.v[1].name, "c");
    world_close(&w);
}

/* PL-2 */
static void links_do_not_lead_out_of_the_root(void **state)
{
    struct world w;

    world_open(&w);
    tree_put(&w.t, "out/x/SYMPOSIUM.toml", "name = \"outside\"");
    tree_put(&w.t, "reg/in/SYMPOSIUM.toml", "name = \"inside\"");
    assert_int_equal(symlink(tree_path(&w.t, "out"), tree_path(&w.t, "reg/link")), 0);
    assert_int_equal(symlink(".", tree_path(&w.t, "reg/loop")), 0);
    load(&w);
    assert_string_equal(listing(&w), "in=inside");
    world_close(&w);
}

/* PL-2: 16 directories down is found, 17 is not, and that is said. */
static void the_walk_ends_at_its_depth(void **state)
{
    for (int depth = 16; depth <= 17; depth++) {
        struct world w;
        auto_buf path = BUF(4096);

        world_open(&w);
        buf_addz(&path, "reg");
        for (int i = 0; i < depth; i++)
            buf_addz(&path, "/d");
        buf_addz(&path, "/SYMPOSIUM.toml");
        tree_put(&w.t, buf_z(&path), "name = \"deep\"");
        load(&w);
        assert_int_equal(w.out.plugins.n, depth == 16);
        assert_int_equal(w.out.warnings.n, depth == 17);
        world_close(&w);
    }
}

/* PL-2: the ceiling is 10,000 entries. */
static void entries_are_bounded(void **state)
{
    struct world w;

    world_open(&w);
    tree_put(&w.t, "reg/", "");
    for (int i = 0; i < REGISTRY_MAX_ENTRIES + 5; i++) {
        const char *dir = tree_path(&w.t, arena_printf(&w.t.a, "reg/%05d", i));

        assert_int_equal(mkdir(dir, 0755), 0);
        assert_int_equal(symlink("/dev/null/none", path_join(&w.t.a, dir, "SYMPOSIUM.toml")),
                         0);
    }
    load(&w);
    assert_int_equal(w.out.failures.n, REGISTRY_MAX_ENTRIES);
    assert_int_equal(w.out.warnings.n, 1);
    assert_has(w.out.warnings.v[0].p, "10000 plugins");
    world_close(&w);
}

static void configured_registries_come_in_the_order_of_the_file(void **state)
{
    struct world w;
    struct dirs dirs;
    struct config c;

    world_open(&w);
    dirs = (struct dirs){ .config = tree_path(&w.t, "cfg"), .cache = tree_path(&w.t, "cache") };
    tree_put(&w.t, "cfg/config.toml",
             "[defaults]\nsymposium-recommendations = false\n[[registry]]\nname = \"z\"\npath "
             "= \"zz\"\n[[registry]]\nname = \"g\"\n"
             "git = \"https://example.com/x\"\n[[registry]]\nname = \"a\"\npath = \"aa\"\n");
    tree_put(&w.t, "cfg/plugins/u/SYMPOSIUM.toml", "name = \"user\"");
    tree_put(&w.t, "cfg/zz/p/SYMPOSIUM.toml", "name = \"second\"");
    tree_put(&w.t, "cfg/aa/p/SYMPOSIUM.toml", "name = \"third\"");
    config_load(&c, &dirs, &w.t.a);
    registries_load(&w.ctx, &c, &dirs);
    assert_string_equal(listing(&w), "u=user p=second p=third"); /* PL-36 */
    assert_str(w.out.plugins.v[0]->registry, "user-plugins");
    assert_int_equal(w.out.failures.n, 1);
    assert_str(
        w.out.failures.v[0].reason,
        "registry 'g': 'https://example.com/x' is not fetched yet; run 'symposium plugin "
        "sync'");
    assert_int_equal(w.out.warnings.n, 0);
    world_close(&w);
}

/* PM-13, CF-3, CF-5, PL-36: a checkout is read like a path registry, but for links that lead
 * out. */
static void git_registries_are_their_checkouts(void **state)
{
    static const char *const sources[] = { "a/recommended",
                                           "https://example.com/t/team/tree/v1" };
    struct world w;
    struct dirs dirs;
    struct config c;

    world_open(&w);
    dirs = (struct dirs){ .config = tree_path(&w.t, "cfg"), .cache = tree_path(&w.t, "cache") };
    tree_put(&w.t, "cfg/config.toml",
             "[[registry]]\nname = \"team\"\ngit = \"https://example.com/t/team/tree/v1\"\n");
    tree_put(&w.t, "cfg/plugins/u/SYMPOSIUM.toml", "name = \"user\"");
    tree_put(&w.t, "outside/SYMPOSIUM.toml", "name = \"outside\"");
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct git_source s;
        const char *dir;

        assert_true(git_source_parse(&s, &w.t.a, str_of(sources[i]), NULL));
        dir = arena_printf(&w.t.a, "cache/plugin-sources/%s", s.key.p);
        tree_put(
            &w.t, arena_printf(&w.t.a, "%s/" CHECKOUT_META, dir),
            arena_printf(&w.t.a, "{\"commit_sha\":\"1\",\"source_url\":\"%s\"}", s.shown.p));
        tree_put(&w.t, arena_printf(&w.t.a, "%s/p/SYMPOSIUM.toml", dir),
                 arena_printf(&w.t.a, "name = \"p%zu\"", i));
        tree_put(&w.t, arena_printf(&w.t.a, "%s/in/x", dir), "");
        tree_put(&w.t, arena_printf(&w.t.a, "%s/out/x", dir), "");
        assert_int_equal(
            symlink("../p/SYMPOSIUM.toml",
                    tree_path(&w.t, arena_printf(&w.t.a, "%s/in/SYMPOSIUM.toml", dir))),
            0);
        assert_int_equal(
            symlink(tree_path(&w.t, "outside/SYMPOSIUM.toml"),
                    tree_path(&w.t, arena_printf(&w.t.a, "%s/out/SYMPOSIUM.toml", dir))),
            0);
    }
    config_load(&c, &dirs, &w.t.a);
    c.recommendations_git = STR("a/recommended");
    registries_load(&w.ctx, &c, &dirs);
    assert_string_equal(listing(&w), "in=p0 p=p0 u=user in=p1 p=p1");
    assert_str(w.out.plugins.v[0]->registry, RECOMMENDATIONS);
    assert_str(w.out.plugins.v[3]->registry, "team");
    assert_int_equal(w.out.failures.n, 2);
    assert_has(w.out.failures.v[0].reason.p,
               "/out/SYMPOSIUM.toml: it is a link that leads out");

    /* not fetched: of the recommendations a warning, of the user's own a failure */
    w.out = (struct loaded){ 0 };
    dirs.cache = tree_path(&w.t, "empty");
    registries_load(&w.ctx, &c, &dirs);
    assert_int_equal(w.out.failures.n, 1);
    assert_int_equal(w.out.warnings.n, 1);
    assert_has(w.out.warnings.v[0].p,
               "registry 'symposium-recommendations': 'https://github.com/a/"
               "recommended' is not fetched yet");
    world_close(&w);
}

/* PL-4, PL-5 */
static void workspace_directories_are_plugins(void **state)
{
    static const struct {
        const char *file, *text;
        bool agents_syncing;
        const char *want;
    } cases[] = {
        { "ws/SYMPOSIUM.toml", "name = \"own\"", true, "=own" },
        { "ws/SYMPOSIUM.toml", "", true, "=ws" },
        { "ws/skills/a/SKILL.md", SKILL, false, "=ws" },
        { "ws/.agents/skills/a/SKILL.md", SKILL, true, "=ws" },
        { "ws/.agents/skills/a/SKILL.md", SKILL, false, "" },
        { "ws/m/symposium.toml", "", true, "m=m" },
        { "ws/README.md", "", true, "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str member;
        struct workspace ws = { 0 };
        struct world w;

        world_open(&w);
        member = str_of(tree_path(&w.t, "ws/m"));
        ws.root = str_of(tree_path(&w.t, "ws"));
        ws.members = (struct strs){ .v = &member, .n = 1 };
        tree_put(&w.t, cases[i].file, cases[i].text);
        workspace_plugins_load(&w.ctx, &ws, cases[i].agents_syncing);
        assert_string_equal(listing(&w), cases[i].want);
        world_close(&w);
    }
}

/* A clone with large manifests in every member must not fill the memory. */
static void manifests_of_a_workspace_are_bounded_together(void **state)
{
    struct strs members = { 0 };
    struct workspace ws = { 0 };
    auto_buf text = BUF(MANIFEST_MAX_BYTES);
    struct world w;

    world_open(&w);
    buf_addz(&text, "# ");
    buf_fill(&text, 'x', MANIFEST_MAX_BYTES - 2);
    for (int i = 0; i < 10; i++) {
        const char *dir = arena_printf(&w.t.a, "ws/m%d", i);

        tree_put(&w.t, arena_printf(&w.t.a, "%s/SYMPOSIUM.toml", dir), buf_z(&text));
        ARENA_PUSH(&w.t.a, &members) = str_of(tree_path(&w.t, dir));
    }
    ws.root = str_of(tree_path(&w.t, "ws"));
    ws.members = members;
    workspace_plugins_load(&w.ctx, &ws, false);
    assert_int_equal(w.out.plugins.n, WORKSPACE_MAX_PLUGIN_BYTES / MANIFEST_MAX_BYTES);
    assert_int_equal(w.out.failures.n, 2);
    assert_has(w.out.failures.v[0].reason.p, "too large");
    world_close(&w);
}

static void a_manifest_has_at_most_256_kib(void **state)
{
    auto_buf text = BUF(2 * MANIFEST_MAX_BYTES);
    struct world w;

    world_open(&w);
    buf_addz(&text, "name = \"x\"\n# ");
    buf_fill(&text, 'x', MANIFEST_MAX_BYTES);
    tree_put(&w.t, "reg/a/SYMPOSIUM.toml", buf_z(&text));
    load(&w);
    assert_int_equal(w.out.failures.n, 1);
    assert_has(w.out.failures.v[0].reason.p, "262144 bytes");
    world_close(&w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_found_recursively_and_sorted),
        cmocka_unit_test(a_missing_root_is_an_empty_registry),
        cmocka_unit_test(a_root_that_is_an_entry_is_an_error),
        cmocka_unit_test(of_several_manifests_one_wins_with_a_warning),
        cmocka_unit_test(a_bad_entry_is_skipped_and_named),
        cmocka_unit_test(links_do_not_lead_out_of_the_root),
        cmocka_unit_test(the_walk_ends_at_its_depth),
        cmocka_unit_test(entries_are_bounded),
        cmocka_unit_test(configured_registries_come_in_the_order_of_the_file),
        cmocka_unit_test(git_registries_are_their_checkouts),
        cmocka_unit_test(workspace_directories_are_plugins),
        cmocka_unit_test(manifests_of_a_workspace_are_bounded_together),
        cmocka_unit_test(a_manifest_has_at_most_256_kib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
