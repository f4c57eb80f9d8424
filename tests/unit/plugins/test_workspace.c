/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tree.h"

#include "plugins/workspace.h"

#define PKG         "[package]\nname = \"p\"\n"
#define WS(members) "[workspace]\nmembers = [" members "]\n"

struct put {
    const char *path, *text;
};

struct root_case {
    const char *what;
    struct put files[8];
    const char *home;         /* below the tree; NULL: elsewhere */
    const char *start, *root; /* below the tree */
    bool found;
};

/* CF-2 */
static const struct root_case root_cases[] = {
    { "nothing anywhere: the start", { { "a/b/", "" } }, NULL, "a/b", "a/b", false },
    { "nearest package.json",
      { { "a/package.json", "{}" }, { "a/b/c/", "" } },
      NULL,
      "a/b/c",
      "a",
      true },
    { "pyproject.toml",
      { { "a/pyproject.toml", "" }, { "a/b/", "" } },
      NULL,
      "a/b",
      "a",
      true },
    { "go.mod", { { "a/go.mod", "" }, { "a/b/", "" } }, NULL, "a/b", "a", true },
    { ".git as a directory", { { "a/.git/", "" }, { "a/b/", "" } }, NULL, "a/b", "a", true },
    { ".git as a file", { { "a/.git", "gitdir: x" }, { "a/b/", "" } }, NULL, "a/b", "a", true },
    { "the nearest of two wins",
      { { "go.mod", "" }, { "a/pyproject.toml", "" }, { "a/b/", "" } },
      NULL,
      "a/b",
      "a",
      true },
    { "a Cargo package without a workspace",
      { { "a/Cargo.toml", PKG }, { "a/src/", "" } },
      NULL,
      "a/src",
      "a",
      true },
    { "a Cargo member yields to its workspace",
      { { "Cargo.toml", WS("\"crates/*\"") }, { "crates/x/Cargo.toml", PKG } },
      NULL,
      "crates/x",
      ".",
      true },
    { "a package that is no member does not",
      { { "Cargo.toml", WS("\"crates/*\"") }, { "other/x/Cargo.toml", PKG } },
      NULL,
      "other/x",
      "other/x",
      true },
    { "an excluded package does not",
      { { "Cargo.toml", WS("\"crates/*\"") "exclude = [\"crates/x\"]\n" },
        { "crates/x/Cargo.toml", PKG } },
      NULL,
      "crates/x",
      "crates/x",
      true },
    { "a path dependency inside the root is a member",
      { { "Cargo.toml", PKG "[dependencies]\nx = { path = \"libs/x\" }\n" WS("") },
        { "libs/x/Cargo.toml", PKG } },
      NULL,
      "libs/x",
      ".",
      true },
    { "an npm member yields to its workspace",
      { { "package.json", "{\"workspaces\":[\"packages/*\"]}" },
        { "packages/x/package.json", "{}" } },
      NULL,
      "packages/x",
      ".",
      true },
    { "the object form of workspaces",
      { { "package.json", "{\"workspaces\":{\"packages\":[\"p/**\"]}}" },
        { "p/q/r/package.json", "{}" } },
      NULL,
      "p/q/r",
      ".",
      true },
    { "a member that pnpm knows",
      { { "package.json", "{}" },
        { "pnpm-workspace.yaml", "packages:\n  - 'p/*'\n  - '!**/y'\n" },
        { "p/x/package.json", "{}" } },
      NULL,
      "p/x",
      ".",
      true },
    { "a negated pattern of pnpm",
      { { "package.json", "{}" },
        { "pnpm-workspace.yaml", "packages:\n  - 'p/*'\n  - '!**/y'\n" },
        { "p/y/package.json", "{}" } },
      NULL,
      "p/y",
      "p/y",
      true },
    { "a pnpm-workspace.yaml that is none",
      { { "package.json", "{}" },
        { "pnpm-workspace.yaml", "packages: [\n" },
        { "p/x/package.json", "{}" } },
      NULL,
      "p/x",
      "p/x",
      true },
    { "a negated npm pattern",
      { { "package.json", "{\"workspaces\":[\"p/*\",\"!p/x\"]}" },
        { "p/x/package.json", "{}" } },
      NULL,
      "p/x",
      "p/x",
      true },
    { "braces in an npm pattern",
      { { "package.json", "{\"workspaces\":[\"./p/{x,y}\"]}" }, { "p/x/package.json", "{}" } },
      NULL,
      "p/x",
      ".",
      true },
    { "a negated npm pattern and a later one that names the same again",
      { { "package.json", "{\"workspaces\":[\"p/*\",\"!p/x\",\"p/x\"]}" },
        { "p/x/package.json", "{}" } },
      NULL,
      "p/x",
      ".",
      true },
    { "an npm member inside a Cargo member goes up twice",
      { { "Cargo.toml", WS("\"web\"") },
        { "web/Cargo.toml", PKG },
        { "web/package.json", "{\"workspaces\":[\"ui\"]}" },
        { "web/ui/package.json", "{}" } },
      NULL,
      "web/ui",
      ".",
      true },
    { "the search never passes .git",
      { { "Cargo.toml", WS("\"sub\"") }, { "sub/.git/", "" }, { "sub/Cargo.toml", PKG } },
      NULL,
      "sub",
      "sub",
      true },
    { "nor when nothing was found yet",
      { { "go.mod", "" }, { "a/.git/", "" }, { "a/b/", "" } },
      NULL,
      "a/b",
      "a",
      true },
    { "HOME is no workspace",
      { { "go.mod", "" }, { "h/package.json", "{}" }, { "h/a/", "" } },
      "h",
      "h/a",
      ".",
      true },
    { "HOME with .git is the end of the search",
      { { "go.mod", "" }, { "h/.git/", "" }, { "h/a/", "" } },
      "h",
      "h/a",
      "h/a",
      false },
    { "HOME as the cwd is one", { { "h/package.json", "{}" } }, "h", "h", "h", true },
    { "a broken manifest is a marker all the same",
      { { "a/Cargo.toml", "[[[" }, { "a/b/", "" } },
      NULL,
      "a/b",
      "a",
      true },
};

static void root_is_the_nearest_marked_directory(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(root_cases); i++) {
        const struct root_case *c = &root_cases[i];
        struct tree t = tree_new();
        struct watch_list watch = { 0 };
        struct workspace ws = { 0 };

        for (size_t k = 0; k < ARRAY_LEN(c->files) && c->files[k].path; k++)
            tree_put(&t, c->files[k].path, c->files[k].text);
        setenv("HOME", c->home ? tree_path(&t, c->home) : "/dev/null/none", 1);
        assert_true(workspace_find(&ws, tree_path(&t, c->start), &t.a, &watch, NULL));
        if (!str_is(ws.root, tree_path(&t, c->root)) || ws.found != c->found)
            fail_msg("%s: root is %.*s, found %d", c->what, STR_F(ws.root), ws.found);
        tree_free(&t);
    }
}

struct member_case {
    const char *what;
    struct put files[10];
    const char *members; /* sorted, separated by blanks */
};

static const struct member_case member_cases[] = {
    { "sorted, only with a manifest, the root not among them",
      { { "Cargo.toml", PKG WS("\"c/*\", \".\"") },
        { "c/b/Cargo.toml", PKG },
        { "c/a/Cargo.toml", PKG },
        { "c/none/", "" },
        { "c/.hidden/Cargo.toml", PKG } },
      "c/a c/b" },
    { "an exclude takes what is below it too",
      { { "Cargo.toml", WS("\"c/**\"") "exclude = [\"c/x\"]\n" },
        { "c/x/y/Cargo.toml", PKG },
        { "c/z/w/Cargo.toml", PKG } },
      "c/z/w" },
    { "path dependencies of all kinds, and theirs",
      { { "Cargo.toml", WS("\"a\"") "[workspace.dependencies]\ne = { path = \"e\" }\n" },
        { "a/Cargo.toml",
          PKG "[dev-dependencies]\nb = { path = \"../b\" }\n[target.'cfg(unix)'.dependencies]\n"
              "d = { path = \"../d\" }\n[dependencies]\ne = { workspace = true }\n" },
        { "b/Cargo.toml", PKG "[build-dependencies]\nc = { path = \"../c\" }\n" },
        { "c/Cargo.toml", PKG },
        { "d/Cargo.toml", PKG },
        { "e/Cargo.toml", PKG },
        { "f/Cargo.toml", PKG } },
      "a b c d e" },
    { "nothing outside the root",
      { { "Cargo.toml", WS("\"../out\", \"/\"") }, { "../out/Cargo.toml", PKG } },
      "" },
    { "Cargo and npm together, each once",
      { { "Cargo.toml", WS("\"x\"") },
        { "package.json", "{\"workspaces\":[\"x\",\"y\"]}" },
        { "x/Cargo.toml", PKG },
        { "x/package.json", "{}" },
        { "y/package.json", "{}" } },
      "x y" },
    { "node_modules is never searched",
      { { "package.json", "{\"workspaces\":[\"**\"]}" },
        { "node_modules/m/package.json", "{}" },
        { "p/package.json", "{}" } },
      "p" },
    { "patterns of the wrong type declare nothing",
      { { "Cargo.toml", "[workspace]\nmembers = 3\n" },
        { "package.json", "{\"workspaces\":7}" } },
      "" },
};

/* CF-2: members are found here, without a package manager. */
static void members_come_from_manifests(void **state)
{
    setenv("HOME", "/dev/null/none", 1);
    for (size_t i = 0; i < ARRAY_LEN(member_cases); i++) {
        const struct member_case *c = &member_cases[i];
        struct tree t = tree_new();
        struct watch_list watch = { 0 };
        struct workspace ws = { 0 };
        auto_buf got = BUF(4096);

        for (size_t k = 0; k < ARRAY_LEN(c->files) && c->files[k].path; k++)
            tree_put(&t, path_join(&t.a, "w", c->files[k].path), c->files[k].text);
        assert_true(workspace_find(&ws, tree_path(&t, "w"), &t.a, &watch, NULL));
        for (size_t k = 0; k < ws.members.n; k++)
            buf_addf(&got, "%s%s", k ? " " : "", ws.members.v[k].p + ws.root.n + 1);
        if (strcmp(buf_z(&got), c->members) != 0)
            fail_msg("%s: members are '%s'", c->what, buf_z(&got));
        tree_free(&t);
    }
}

/* A link in the tree that leads out of it must not make a foreign directory a member. */
static void a_linked_member_outside_is_not_taken(void **state)
{
    struct tree t = tree_new();
    struct watch_list watch = { 0 };
    struct workspace ws = { 0 };

    tree_put(&t, "w/Cargo.toml", WS("\"link\""));
    tree_put(&t, "out/Cargo.toml", PKG);
    assert_int_equal(symlink(tree_path(&t, "out"), tree_path(&t, "w/link")), 0);
    assert_true(workspace_find(&ws, tree_path(&t, "w"), &t.a, &watch, NULL));
    assert_int_equal(ws.members.n, 0);
    tree_free(&t);
}

/* A manifest of a clone may name anything: what it costs is bounded, now and at each look for
 * changes. */
static void a_manifest_that_names_without_end_costs_little(void **state)
{
    static const struct {
        const char *file, *head, *item, *tail;
    } cases[] = {
        { "package.json", "{\"workspaces\":[\"m\"", ",\"x%d\"", "]}" },
        { "package.json", "{\"workspaces\":[\"m\",\"*\"", ",\"!%d*[a-z]\"", "]}" },
        { "Cargo.toml", "[workspace]\nmembers = [\"m\"", ",\"x%d\"", "]\n" },
        { "Cargo.toml", "[workspace]\nmembers = [\"m\"]\nexclude = [\"*\"", ",\"%d\"", "]\n" },
        { "Cargo.toml", "[workspace]\nmembers = [\"m\"]\n[dependencies]\nz = \"1\"\n",
          "x%d = { path = \"y%d\" }\n", "" },
    };

    setenv("HOME", "/dev/null/none", 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tree t = tree_new();
        struct watch_list watch = { 0 };
        struct workspace ws = { 0 };
        auto_buf text = BUF(WORKSPACE_MAX_MANIFEST);
        int64_t start;

        buf_addz(&text, cases[i].head);
        for (int k = 0; text.n < WORKSPACE_MAX_MANIFEST - 64; k++) {
            char item[64];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(item, sizeof item, cases[i].item, k, k);
#pragma GCC diagnostic pop
            buf_addz(&text, item);
        }
        buf_addz(&text, cases[i].tail);
        tree_put(&t, path_join(&t.a, "w", cases[i].file), buf_z(&text));
        tree_put(&t, path_join(&t.a, "w/m", cases[i].file), "{}");
        start = clock_ms();
        assert_true(workspace_find(&ws, tree_path(&t, "w"), &t.a, &watch, NULL));
        assert_true(clock_ms() - start < 250 * slack());
        assert_true(watch.n <= WORKSPACE_MAX_STEPS + 100);
        tree_free(&t);
    }
}

/* A pattern whose class is as long as the manifest would be walked for each name. */
static void an_endless_pattern_names_nothing(void **state)
{
    struct tree t = tree_new();
    struct watch_list watch = { 0 };
    struct workspace ws = { 0 };
    auto_buf text = BUF(WORKSPACE_MAX_MANIFEST);

    buf_addz(&text, "{\"workspaces\":[\"*[");
    buf_fill(&text, 'a', 900000);
    buf_addz(&text, "]\",\"m\"]}");
    tree_put(&t, "w/package.json", buf_z(&text));
    tree_put(&t, "w/m/package.json", "{}");
    tree_put(&t, "w/ba/package.json", "{}");
    assert_true(workspace_find(&ws, tree_path(&t, "w"), &t.a, &watch, NULL));
    assert_int_equal(ws.members.n, 1);
    tree_free(&t);
}

/* PM-22: which ecosystems concern a root without manifests of its own. */
static void manifests_below_are_seen_to_depth_two(void **state)
{
    static const struct {
        const char *file;
        bool cargo, npm;
    } cases[] = {
        { "x/Cargo.toml", true, false },        { "x/y/package.json", false, true },
        { "x/y/z/Cargo.toml", false, false },   { "node_modules/x/package.json", false, false },
        { ".hidden/Cargo.toml", false, false }, { "vendor/x/Cargo.toml", false, false },
    };

    setenv("HOME", "/dev/null/none", 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tree t = tree_new();
        struct watch_list watch = { 0 };
        struct workspace ws = { 0 };

        tree_put(&t, ".git/", "");
        tree_put(&t, cases[i].file, "");
        assert_true(workspace_find(&ws, t.root, &t.a, &watch, NULL));
        assert_int_equal(ws.cargo, cases[i].cargo);
        assert_int_equal(ws.npm, cases[i].npm);
        tree_free(&t);
    }
}

static void a_start_that_is_no_directory_is_an_error(void **state)
{
    struct tree t = tree_new();
    struct watch_list watch = { 0 };
    struct workspace ws = { 0 };
    struct error e = { 0 };

    assert_false(workspace_find(&ws, tree_path(&t, "none"), &t.a, &watch, &e));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    assert_false(workspace_find(&ws, tree_put(&t, "file", ""), &t.a, &watch, &e));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    tree_free(&t);
}

/* MS-60: also what was not there is watched, so that it is seen when it comes. */
static void every_path_looked_at_is_watched(void **state)
{
    static const struct {
        const char *change, *text;
        bool stale;
    } cases[] = {
        { "w/c/new/Cargo.toml", PKG, true }, { "w/package.json", "{}", true },
        { "w/Cargo.toml", PKG "\n", true },  { "w/c/a/Cargo.toml", PKG "\n", true },
        { "w/.git/HEAD", "x", false },       { "other", "", false },
    };

    setenv("HOME", "/dev/null/none", 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tree t = tree_new();
        struct watch_list watch = { 0 };
        struct workspace ws = { 0 };

        tree_put(&t, "w/.git/", "");
        tree_put(&t, "w/Cargo.toml", WS("\"c/*\""));
        tree_put(&t, "w/c/a/Cargo.toml", PKG);
        assert_true(workspace_find(&ws, tree_path(&t, "w"), &t.a, &watch, NULL));
        assert_false(watch_stale(watch.v, watch.n));
        tree_put(&t, cases[i].change, cases[i].text);
        if (watch_stale(watch.v, watch.n) != cases[i].stale)
            fail_msg("after a change of %s", cases[i].change);
        tree_free(&t);
    }
}

static void a_watch_list_holds_each_path_once(void **state)
{
    struct tree t = tree_new();
    struct watch_list w = { 0 };

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 1000; i++)
            watch_add(&w, &t.a, arena_printf(&t.a, "%s/%d", t.root, i));
    assert_int_equal(w.n, 1000);
    assert_str(w.v[999].path, tree_path(&t, "999"));
    assert_false(w.v[0].stamp.exists);
    tree_free(&t);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_is_the_nearest_marked_directory),
        cmocka_unit_test(members_come_from_manifests),
        cmocka_unit_test(a_linked_member_outside_is_not_taken),
        cmocka_unit_test(a_manifest_that_names_without_end_costs_little),
        cmocka_unit_test(an_endless_pattern_names_nothing),
        cmocka_unit_test(manifests_below_are_seen_to_depth_two),
        cmocka_unit_test(a_start_that_is_no_directory_is_an_error),
        cmocka_unit_test(every_path_looked_at_is_watched),
        cmocka_unit_test(a_watch_list_holds_each_path_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
