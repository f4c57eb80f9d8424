/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "world.h"

#include "base/clock.h"
#include "plugins/server.h"
#include "plugins/trust.h"

/* ---- gates ---- */

/* MS-10: plugin gate and entry gate, servers sorted. PL-20, PL-23. */
static void servers_need_both_gates(void **state)
{
    struct world *w = world_new();

    tree_put(&w->t, "cfg/config.toml",
             arena_printf(&w->t.a,
                          "[[registry]]\nname = \"fixtures\"\npath = \"%s\"\n"
                          "[plugins]\ndisable = [\"every-table\", \"older-forms\", "
                          "\"minimal\"]\n",
                          path_real(&w->t.a, "tests/fixtures/plugins", NULL)));
    user_plugin(w, "elsewhere", "depends-on = [\"npm:serde\"]\n" RUN("hidden") ANY);
    add_dep(w, "cargo", "serde", "1.0.200");
    resolve(w);
    assert_servers(w, "always on-serde zebra");
    assert_problems(w, "");
    assert_states(w, "elsewhere gated: its depends-on or predicates do not hold here\n"
                     "every-table declined: listed in [plugins] disable\n"
                     "gated active: registry fixtures\n"
                     "minimal declined: listed in [plugins] disable\n"
                     "older-forms declined: listed in [plugins] disable\n");
    world_free(w);
}

/* MS-8: outside any workspace, without dependencies, resolution succeeds; only `*` gates hold.
 */
static void nothing_at_all_resolves(void **state)
{
    struct world *w = world_new();

    tree_put(&w->t, "plain/", "");
    w->start = "plain";
    resolve(w);
    assert_servers(w, "");
    assert_problems(w, "");
    assert_false(w->res->workspace.found);
    user_plugin(w, "star", ANY RUN("s"));
    user_plugin(w, "serde", "depends-on = [\"serde\"]\n" RUN("t"));
    resolve(w);
    assert_servers(w, "s");
    world_free(w);
}

static void programs_decide_gates_of_trusted_plugins(void **state)
{
    struct world *w = world_new();

    user_plugin(w, "a",
                ANY "predicates = [\"shell(exit 0)\"]\n" RUN("yes")
                    RUN("no") "predicates = [\"shell(exit 1)\"]\n");
    user_plugin(w, "b", ANY "predicates = [\"shell(test -f here)\"]\n" RUN("here"));
    resolve(w);
    assert_servers(w, "yes");
    tree_put(&w->t, "ws/here", "");
    resolve(w);
    assert_servers(w, "here yes");
    world_free(w);
}

/* ---- enablement: PL-24, PL-33, PL-36, PL-38 ---- */

static void a_dormant_plugin_says_how_to_wake_it(void **state)
{
    struct world *w = world_new();

    user_plugin(w, "sleeper", RUN("s"));
    user_plugin(w, "silent", "");
    resolve(w);
    assert_servers(w, "");
    /* MS-8: only one that defines servers is a problem line. */
    assert_problems(w, "plugin 'sleeper': dormant, " DORMANT "\n");
    assert_states(w, "silent dormant: " DORMANT "\nsleeper dormant: " DORMANT "\n");
    world_free(w);
}

/* PL-33: each row is a [plugins] table and what becomes of one plugin with a server. */
static void lists_of_the_configuration_decide(void **state)
{
    static const struct {
        const char *plugin, *lists, *servers, *states;
    } cases[] = {
        { RUN("s"), "use = [\"p\"]", "s", "p active: [plugins] use\n" },
        { RUN("s"), "use = [{ name = \"p\", pm = \"user-plugins\" }]", "s",
          "p active: [plugins] use\n" },
        { RUN("s"), "use = [{ name = \"p\", pm = \"cargo\" }]", "",
          "p dormant: " DORMANT "\n" },
        { RUN("s"), "use = [{ name = \"p\", workspace = \"@WS@\" }]", "s",
          "p active: [plugins] use\n" },
        { RUN("s"), "use = [{ name = \"p\", workspace = \"@WS@/../ws\" }]", "s",
          "p active: [plugins] use\n" },
        { RUN("s"), "use = [{ name = \"p\", workspace = \"/elsewhere\" }]", "",
          "p dormant: " DORMANT "\n" },
        { RUN("s"), "auto-enable = [\"p\"]", "", "p dormant: " DORMANT "\n" },
        { ANY RUN("s"), "disable = [\"p\"]", "", "p declined: listed in [plugins] disable\n" },
        { ANY RUN("s"), "disable = [\"p\"]\nuse = [\"p\"]\nauto-enable = [\"p\"]", "",
          "p declined: listed in [plugins] disable\n" },
        { ANY RUN("s"), "disable = [{ name = \"p\", pm = \"cargo\" }]", "s",
          "p active: registry user-plugins\n" },
        { "predicates = [\"env(SYMPOSIUM_TEST_UNSET)\"]\n" RUN("s"), "use = [\"p\"]", "",
          "p gated: its depends-on or predicates do not hold here\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world *w = world_new();
        struct str lists = str_of(cases[i].lists);
        size_t at = str_find(lists, STR("@WS@"));
        auto_buf config = BUF(4096);

        buf_addz(&config, "[plugins]\n");
        if (at != SIZE_MAX)
            buf_addf(&config, "%.*s%s%s", (int)at, lists.p, tree_path(&w->t, "ws"),
                     lists.p + at + 4);
        else
            buf_add(&config, lists);
        tree_put(&w->t, "cfg/config.toml", buf_z(&config));
        user_plugin(w, "p", cases[i].plugin);
        resolve(w);
        assert_servers(w, cases[i].servers);
        assert_states(w, cases[i].states);
        world_free(w);
    }
}

/* PL-36, PL-37: both plugins of one name load; order is registries, then root, then members. */
static void plugins_come_in_order(void **state)
{
    struct world *w = world_new();

    tree_put(
        &w->t, "cfg/config.toml",
        "[[registry]]\nname = \"z\"\npath = \"z\"\n[[registry]]\nname = \"a\"\npath = \"a\"\n"
        "[plugins]\ntrust-workspace = \"always\"\n");
    tree_put(&w->t, "cfg/z/p/SYMPOSIUM.toml", "name = \"same\"\n" ANY);
    tree_put(&w->t, "cfg/a/q/SYMPOSIUM.toml", "name = \"same\"\n" ANY);
    user_plugin(w, "mine", ANY);
    tree_put(&w->t, "ws/package.json", "{\"workspaces\":[\"m2\",\"m1\"]}");
    tree_put(&w->t, "ws/m2/package.json", "{}");
    tree_put(&w->t, "ws/m1/package.json", "{}");
    tree_put(&w->t, "ws/m2/SYMPOSIUM.toml", "");
    tree_put(&w->t, "ws/m1/SYMPOSIUM.toml", "");
    tree_put(&w->t, "ws/SYMPOSIUM.toml", "");
    w->start = "ws/m1";
    resolve(w);
    assert_states(w, "mine active: registry user-plugins\nsame active: registry z\n"
                     "same active: registry a\nws active: workspace root\n"
                     "m1 active: workspace member\nm2 active: workspace member\n");
    world_free(w);
}

/* PL-16, PL-38 */
static void a_manifest_that_does_not_load_is_an_error_state_and_a_problem(void **state)
{
    struct world *w = world_new();
    const char *path;

    user_plugin(w, "bad", "colour = 1\n");
    user_plugin(w, "good", ANY RUN("s"));
    path = tree_path(&w->t, "cfg/plugins/bad/SYMPOSIUM.toml");
    resolve(w);
    assert_servers(w, "s");
    assert_int_equal(w->res->problems.n, 1);
    assert_has(w->res->problems.v[0].p,
               arena_printf(&w->t.a, "skipping %s: line 2: 'colour'", path));
    assert_int_equal(w->res->plugins.v[w->res->plugins.n - 1].state, PLUGIN_ERROR);
    world_free(w);
}

/* Problem lines stand under every reply, so a broken registry must not fill it. */
static void many_failures_are_counted_not_listed(void **state)
{
    struct world *w = world_new();

    for (int i = 0; i < 15; i++)
        user_plugin(w, arena_printf(&w->t.a, "bad-%02d", i), "colour = 1\n");
    resolve(w);
    assert_int_equal(w->res->plugins.n, 15);
    assert_int_equal(w->res->problems.n, 11);
    assert_str(w->res->problems.v[10], "5 more plugins did not load; see 'symposium doctor'");
    world_free(w);
}

static void a_malformed_configuration_is_a_problem_and_defaults(void **state)
{
    struct world *w = world_new();

    tree_put(&w->t, "cfg/config.toml", "[mcp]\nread-only = 3\n");
    user_plugin(w, "good", ANY RUN("s"));
    resolve(w);
    assert_servers(w, "s");
    assert_int_equal(w->res->problems.n, 1);
    assert_has(w->res->problems.v[0].p, "'mcp.read-only'");
    world_free(w);
}

/* PL-15, PL-37: a custom predicate that two plugins define counts for neither. */
static void a_custom_predicate_defined_twice_is_dropped(void **state)
{
    static const char def[] = ANY "[[predicate]]\nname = \"yes\"\ncommand = { executable = "
                                  "\"/bin/true\" }\n";
    struct world *w = world_new();

    user_plugin(w, "d1", def);
    user_plugin(w, "user", ANY "predicates = [\"yes()\"]\n" RUN("s"));
    resolve(w);
    assert_servers(w, "s");
    user_plugin(w, "d2", def);
    resolve(w);
    assert_servers(w, "");
    assert_true(w->res->problems.n > 0);
    world_free(w);
}

/* ---- trust: PL-32 ---- */

static void give_trust(struct world *w, bool on)
{
    for (size_t i = 0; i < w->res->plugins.n; i++) {
        const struct plugin *p = w->res->plugins.v[i].plugin;
        struct trust_entry entry = { w->res->workspace.root, p->manifest_path,
                                     p->manifest_sha256 };

        if (p->origin == ORIGIN_WORKSPACE)
            assert_true(trust_set(&w->dirs, &entry, 1, on, NULL));
    }
}

static void a_workspaces_own_servers_need_consent(void **state)
{
    struct world *w = world_new();

    tree_put(&w->t, "ws/SYMPOSIUM.toml", RUN("own"));
    resolve(w);
    assert_servers(w, "");
    assert_problems(w, "own: " UNTRUSTED "\n");
    assert_false(w->res->plugins.v[0].trusted);
    give_trust(w, true);
    assert_true(resolution_stale(w->res)); /* MS-60: consent is seen without a restart */
    resolve(w);
    assert_servers(w, "own");
    assert_problems(w, "");
    tree_put(&w->t, "ws/SYMPOSIUM.toml", RUN("own") "args = [\"-c\", \"evil\"]\n");
    resolve(w);
    assert_servers(w, "");
    assert_problems(w, "own: " UNTRUSTED "\n");
    give_trust(w, true);
    resolve(w);
    assert_servers(w, "own");
    give_trust(w, false);
    resolve(w);
    assert_servers(w, "");
    world_free(w);
}

/* PL-32: nothing of an untrusted manifest is run to find out whether it applies. */
static void programs_of_an_untrusted_workspace_do_not_run(void **state)
{
    struct world *w = world_new();

    tree_put(&w->t, "ws/SYMPOSIUM.toml",
             "predicates = [\"shell(touch ran)\"]\n" RUN(
                 "a") "predicates = [\"shell(touch ran)\"]\n"
                      "[[predicate]]\nname = \"mine\"\ncommand = { executable = "
                      "\"/usr/bin/touch\", args = "
                      "[\"ran\"] }\n");
    user_plugin(w, "asks", ANY RUN("b") "predicates = [\"mine()\"]\n");
    resolve(w);
    assert_servers(w, "");
    assert_false(file_exists(tree_path(&w->t, "ws/ran")));
    assert_states(w, "asks active: registry user-plugins\nws gated: " UNTRUSTED "\n");
    assert_problems(w, "a: " UNTRUSTED "\nb: " UNTRUSTED "\n");
    tree_put(&w->t, "cfg/config.toml", "[plugins]\ntrust-workspace = \"always\"\n");
    resolve(w);
    assert_servers(w, "a b");
    assert_true(file_exists(tree_path(&w->t, "ws/ran")));
    world_free(w);
}

/*
 * PL-32: a server left out because a program was not asked has a line; one that would be left
 * out whatever the program said has none. Each row: the plugin's gate, the server's gate.
 */
static void whoever_waits_for_consent_has_a_line(void **state)
{
    static const struct {
        const char *plugin, *server;
        bool told;
    } cases[] = {
        { "shell(true)", NULL, true },
        { "not(shell(true))", NULL, true },
        { "any(env(SYMPOSIUM_TEST_UNSET), shell(true))", NULL, true },
        { "all(depends-on(absent), shell(true))", NULL, false },
        { "env(SYMPOSIUM_TEST_UNSET)", NULL, false },
        { "not(shell(true))", "env(SYMPOSIUM_TEST_UNSET)", true }, /* not looked at yet */
        { "workspace-member()", "shell(true)", true },
        { "workspace-member()", "all(shell(true), env(SYMPOSIUM_TEST_UNSET))", false },
        { "workspace-member()", "env(SYMPOSIUM_TEST_UNSET)", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world *w = world_new();

        tree_put(&w->t, "ws/SYMPOSIUM.toml",
                 arena_printf(&w->t.a, "predicates = [\"%s\"]\n" RUN("s") "%s%s%s",
                              cases[i].plugin, cases[i].server ? "predicates = [\"" : "",
                              cases[i].server ? cases[i].server : "",
                              cases[i].server ? "\"]\n" : ""));
        resolve(w);
        assert_servers(w, "");
        assert_problems(w, cases[i].told ? "s: " UNTRUSTED "\n" : "");
        world_free(w);
    }
}

/* PL-32: consent is for the workspace, so a member's manifest has its own. */
static void members_need_their_own_consent(void **state)
{
    struct world *w = world_new();

    tree_put(&w->t, "ws/package.json", "{\"workspaces\":[\"m\"]}");
    tree_put(&w->t, "ws/m/package.json", "{}");
    tree_put(&w->t, "ws/SYMPOSIUM.toml", RUN("root"));
    resolve(w);
    give_trust(w, true);
    tree_put(&w->t, "ws/m/SYMPOSIUM.toml", RUN("member"));
    resolve(w);
    assert_servers(w, "root");
    assert_problems(w, "member: " UNTRUSTED "\n");
    world_free(w);
}

/* ---- servers ---- */

/* MS-11, MS-63, and what this version lacks: refused by name, the others stay. */
static void servers_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *entry, *problem;
    } cases[] = {
        { SERVER("x") "url = \"https://example.com/mcp\"\n"
                      "headers = { Authorization = \"Bearer ${SYM_TEST_UNSET}\" }\n",
          "x: header 'Authorization': environment variable 'SYM_TEST_UNSET' is not set" },
        { SERVER("x") "installation = \"setup\"\n",
          "x: installation 'setup' has no 'executable' or 'script' to run" },
        { SERVER("x") "installation = \"a\"\n",
          "x: installations require each other: 'a' -> 'b' -> 'a'" },
        { SERVER("x") "command = \"/bin/sh\"\nrequirements = [\"b\"]\n",
          "x: installations require each other: 'b' -> 'a' -> 'b'" },
        { SERVER("x") "installation = \"gone\"\n",
          "x: plugin 'p' declares no installation 'gone'" },
        { SERVER("x") "command = \"/bin/sh\"\nrequirements = [\"gone\"]\n",
          "x: plugin 'p' declares no installation 'gone'" },
        { SERVER("list_tools") "command = \"/bin/sh\"\n",
          "list_tools: this name is reserved for a tool of symposium; give the server another "
          "one" },
        { SERVER("execute") "command = \"/bin/sh\"\n",
          "execute: this name is reserved for a tool of symposium; give the server another "
          "one" },
        { SERVER("x") "command = \"/bin/sh\"\nargs = [\"${SYMPOSIUM_TEST_UNSET}\"]\n",
          "x: environment variable 'SYMPOSIUM_TEST_UNSET' is not set" },
        { SERVER("x") "command = \"/bin/sh\"\nenv = { A = \"${SYMPOSIUM_TEST_UNSET}\" }\n",
          "x: environment variable 'SYMPOSIUM_TEST_UNSET' is not set" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world *w = world_new();

        user_plugin(w, "p",
                    arena_printf(&w->t.a,
                                 ANY "[[installations]]\nname = \"setup\"\n"
                                     "install_commands = [\"true\"]\n"
                                     "[[installations]]\nname = \"a\"\nscript = \"x\"\n"
                                     "requirements = [\"b\"]\n"
                                     "[[installations]]\nname = \"b\"\n"
                                     "requirements = [\"a\"]\n%s" RUN("stays"),
                                 cases[i].entry));
        resolve(w);
        assert_servers(w, "stays");
        assert_problems(w, arena_printf(&w->t.a, "%s\n", cases[i].problem));
        world_free(w);
    }
}

/* MS-11 */
static void the_first_plugin_keeps_a_server_name(void **state)
{
    struct world *w = world_new();

    user_plugin(w, "b-second", ANY RUN("fs") "args = [\"2\"]\n");
    user_plugin(w, "a-first", ANY RUN("fs") "args = [\"1\"]\n");
    user_plugin(w, "c-gated", "depends-on = [\"none\"]\n" RUN("fs"));
    resolve(w);
    assert_servers(w, "fs");
    assert_str(w->res->servers.v[0].argv.v[1], "1");
    assert_problems(w,
                    "fs: plugin 'a-first' already has a server of this name; the one of plugin "
                    "'b-second' is left out\n");
    world_free(w);
}

static const struct active_server *one(struct world *w, const char *entry)
{
    user_plugin(w, "p", arena_printf(&w->t.a, ANY "%s", entry));
    resolve(w);
    assert_int_equal(w->res->servers.n, 1);
    return &w->res->servers.v[0];
}

/* MS-13 */
static void the_directory_is_taken_from_the_workspace_root(void **state)
{
    static const struct {
        const char *entry, *cwd;
    } cases[] = {
        { RUN("s"), "ws" },
        { RUN("s") "cwd = \"sub/./dir\"\n", "ws/sub/dir" },
        { RUN("s") "cwd = \"../out\"\n", "out" },
        { RUN("s") "cwd = \"/tmp/./x\"\n", "/tmp/x" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world *w = world_new();

        tree_put(&w->t, "ws/deep/", "");
        w->start = "ws/deep";
        assert_str(one(w, cases[i].entry)->cwd, tree_path(&w->t, cases[i].cwd));
        world_free(w);
    }
}

/* MS-59, PL-11: what is there is the command; else the name, until the first start brings it.
 */
static void an_installation_is_the_command_or_its_name(void **state)
{
    struct world *w = world_new();
    const char *entry = SERVER("s") "installation = \"tool\"\nargs = [\"--own\"]\n"
                                    "requirements = [\"extra\"]\n"
                                    "[[installations]]\nname = \"extra\"\n"
                                    "install_commands = [\"true\"]\n"
                                    "[[installations]]\nname = \"tool\"\nsource = \"cargo\"\n"
                                    "crate = \"tool\"\nargs = [\"--its\"]\n",
               *ready = SERVER("s") "installation = \"tool\"\nargs = [\"--own\"]\n"
                                    "[[installations]]\nname = \"tool\"\nscript = \"./run\"\n"
                                    "args = [\"--its\"]\n";
    const struct active_server *s = one(w, entry);

    assert_int_equal(s->plan.n, 2);
    assert_true(s->plan.runs);
    assert_str(s->plan.v[0].in.name, "extra");
    assert_int_equal(s->nprogram, 1);
    assert_int_equal(s->argv.n, 2);
    assert_str(s->argv.v[0], "tool");
    assert_str(s->argv.v[1], "--own");

    s = one(w, ready);
    assert_int_equal(s->nprogram, 3);
    assert_str(s->argv.v[0], "/bin/sh");
    assert_str(s->argv.v[1], tree_path(&w->t, "cfg/plugins/p/run"));
    assert_str(s->argv.v[2], "--its");
    assert_str(s->argv.v[3], "--own");
    world_free(w);
}

/* The image that runs serves it, with the arguments of the entry (meta-server.md 1.1). */
static void a_builtin_is_our_own_image(void **state)
{
    static const char *const names[] = { "filesystem", "fetch", "memory", "shell", "skills" };

    setenv("SYMPOSIUM_TEST_DIR", "notes", 1);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct world *w = world_new();
        const struct active_server *s = one(
            w, arena_printf(&w->t.a,
                            SERVER("s") "builtin = \"%s\"\n"
                                        "args = [\"${SYMPOSIUM_TEST_DIR}/x\", \"mcp-serve\"]\n"
                                        "env = { A = \"1\" }\ncwd = \"sub\"\n",
                            names[i]));

        assert_str(s->path, "/proc/self/exe");
        assert_int_equal(s->argv.n, 4);
        assert_str(s->argv.v[0], "symposium");
        assert_str(s->argv.v[1], names[i]);
        assert_str(s->argv.v[2], "notes/x");
        assert_int_equal(s->env.n, 1);
        assert_str(s->cwd, tree_path(&w->t, "ws/sub"));
        world_free(w);
    }
    unsetenv("SYMPOSIUM_TEST_DIR");
    (void)state;
}

/* PL-32: nothing of a workspace runs before consent, our own image neither. */
static void a_builtin_of_an_untrusted_workspace_is_refused(void **state)
{
    struct world *w = world_new();

    tree_put(&w->t, "ws/SYMPOSIUM.toml", SERVER("own") "builtin = \"shell\"\n");
    resolve(w);
    assert_servers(w, "");
    assert_problems(w, "own: " UNTRUSTED "\n");
    give_trust(w, true);
    resolve(w);
    assert_servers(w, "own");
    assert_str(w->res->servers.v[0].argv.v[1], "shell");
    world_free(w);
    (void)state;
}

/* MS-14 and the defaults of [mcp] */
static void timeouts_are_clamped_below_the_script_deadline(void **state)
{
    static const struct {
        const char *config, *keys;
        int startup_ms, call_ms;
    } cases[] = {
        { "", "", 30000, 60000 },
        { "", "startup-timeout-secs = 7\ntool-call-timeout-secs = 8\n", 7000, 8000 },
        { "", "tool-call-timeout-secs = 119\n", 30000, 119000 },
        { "", "tool-call-timeout-secs = 120\n", 30000, 119000 },
        { "", "tool-call-timeout-secs = 999999\n", 30000, 119000 },
        { "[mcp]\nscript-timeout-secs = 2\ntool-call-timeout-secs = 1\n"
          "server-startup-timeout-secs = 3\n",
          "tool-call-timeout-secs = 50\n", 3000, 1000 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world *w = world_new();
        const struct active_server *s;

        tree_put(&w->t, "cfg/config.toml", cases[i].config);
        s = one(w, arena_printf(&w->t.a, RUN("s") "%s", cases[i].keys));
        assert_int_equal(s->startup_timeout_ms, cases[i].startup_ms);
        assert_int_equal(s->tool_call_timeout_ms, cases[i].call_ms);
        world_free(w);
    }
}

static void variables_are_expanded_in_args_and_env(void **state)
{
    struct world *w = world_new();
    const struct active_server *s;

    setenv("SYMPOSIUM_TEST_A", "value", 1);
    s = one(w, RUN("${X}") "args = [\"-d\", \"${SYMPOSIUM_TEST_A}/x\", \"$HOME\"]\n"
                           "env = { K = \"${SYMPOSIUM_TEST_NONE:-d}\" }\n");
    assert_str(s->name, "${X}");
    assert_str(s->argv.v[0], "/bin/sh");
    assert_str(s->argv.v[2], "value/x");
    assert_str(s->argv.v[3], "$HOME");
    assert_str(s->env.v[0].value, "d");
    world_free(w);
}

static void references_follow_the_shell(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "plain", "plain" },
        { "", "" },
        { "${A}", "a" },
        { "x${A}y${A}z", "xayaz" },
        { "${N:-}", "" },
        { "${N:-d}", "d" },
        { "${E:-d}", "d" },
        { "${E}", "" },
        { "${A:-d}", "a" },
        { "${N:-a:-b}", "a:-b" },
        { "$A ${} ${1} ${A B} ${", "$A ${} ${1} ${A B} ${" },
        { "${A", "${A" },
        { "$${A}", "$a" },
        { "${N}", NULL },
        { "ok ${N} ${A}", NULL },
    };

    setenv("A", "a", 1);
    setenv("E", "", 1);
    unsetenv("N");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct error e = { 0 };
        struct str got = { 0 };

        if (server_expand(&a, str_of(cases[i].text), &got, &e) != (cases[i].want != NULL))
            fail_msg("%s", cases[i].text);
        if (cases[i].want)
            assert_str(got, cases[i].want);
        else
            assert_has(e.msg, "'N'");
    }
}

static void the_program_is_searched_in_path(void **state)
{
    static const struct {
        const char *keys, *program;
    } cases[] = {
        { "command = \"tool\"\n", "bin1/tool" },
        { "command = \"tool\"\nenv = { PATH = \"@/bin2\" }\n", "bin2/tool" },
        { "command = \"./local\"\n", "ws/local" },
        { "command = \"./local\"\ncwd = \"sub\"\n", "ws/sub/local" },
        { "command = \"@/bin2/tool\"\n", "bin2/tool" },
        { "command = \"not-there\"\n", NULL },
    };
    const char *files[] = { "bin1/tool", "bin2/tool", "ws/local", "ws/sub/local" };
    const char *path = strdup(getenv("PATH"));

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world *w = world_new();
        const struct active_server *s;
        auto_buf keys = BUF(4096);

        for (size_t k = 0; k < ARRAY_LEN(files); k++)
            assert_int_equal(chmod(tree_put(&w->t, files[k], "#!/bin/sh\n"), 0755), 0);
        for (const char *c = cases[i].keys; *c; c++)
            buf_addf(&keys, *c == '@' ? "%s" : "%.0s", w->t.root),
                buf_add(&keys, (struct str){ c, *c != '@' });
        setenv("PATH", tree_path(&w->t, "bin1"), 1);
        s = one(w, arena_printf(&w->t.a, SERVER("s") "%s", buf_z(&keys)));
        if (cases[i].program)
            assert_str(s->argv.v[0], tree_path(&w->t, cases[i].program));
        else
            assert_str(s->argv.v[0], "not-there"); /* the start says what is missing */
        world_free(w);
    }
    setenv("PATH", path, 1);
    free((char *)path);
}

/* MS-15: this test program stands for our own executable. */
static void our_own_mcp_serve_is_refused(void **state)
{
    static const struct {
        const char *args;
        bool refused;
    } cases[] = {
        { "[\"mcp-serve\"]", true },
        { "[\"-v\", \"--update\", \"none\", \"mcp-serve\", \"--workspace\", \"x\"]", true },
        { "[\"--workspace\", \"/x\", \"mcp-serve\"]", true },
        { "[\"--workspace=/x\", \"-q\", \"mcp-serve\"]", true },
        { "[\"--workspace\", \"mcp-serve\", \"doctor\"]", false },
        { "[\"--workspace\"]", false },
        { "[\"filesystem\", \"mcp-serve\"]", false },
        { "[]", false },
    };
    auto_arena a = ARENA;
    const char *self = path_real(&a, "/proc/self/exe", NULL);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world *w = world_new();

        assert_int_equal(symlink(self, tree_path(&w->t, "ws/link")), 0);
        user_plugin(w, "p",
                    arena_printf(&w->t.a, ANY SERVER("s") "command = \"./link\"\nargs = %s\n",
                                 cases[i].args));
        resolve(w);
        assert_servers(w, cases[i].refused ? "" : "s");
        assert_problems(w, cases[i].refused
                               ? "s: this is symposium's own mcp-serve, which would "
                                 "start itself without end\n"
                               : "");
        world_free(w);
    }
}

static void the_name_of_cargos_subcommand_counts_too(void **state)
{
    auto_arena a = ARENA;
    const char *self = path_real(&a, "/proc/self/exe", NULL);
    struct world *w = world_new();

    assert_int_equal(symlink(self, tree_path(&w->t, "ws/cargo-agents")), 0);
    user_plugin(w, "p",
                ANY SERVER("s") "command = \"./cargo-agents\"\n"
                                "args = [\"agents\", \"mcp-serve\"]\n");
    resolve(w);
    assert_servers(w, "");
    world_free(w);
}

/* ---- freshness: MS-60 ---- */

static void every_input_makes_a_resolution_stale(void **state)
{
    static const struct {
        const char *path, *text;
    } changes[] = {
        { "cfg/config.toml", "auto-sync = true\n" },
        { "cfg/plugins/p/SYMPOSIUM.toml", "name = \"p\"\n" },
        { "cfg/plugins/new/SYMPOSIUM.toml", "name = \"new\"\n" },
        { "cfg/plugins/p/deeper/x", "" },
        { "ws/SYMPOSIUM.toml", "" },
        { "ws/package.json", "{}" },
        { "ws/Cargo.toml", "" },
        { "ws/flag", "" },
        { "elsewhere/lock", "" },
        { "cfg/state/trusted.json", "{}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        struct world *w = world_new();
        struct str named = str_of(tree_path(&w->t, "elsewhere/lock"));
        struct found_deps deps = { .watch = &named, .nwatch = 1 };
        struct resolve_opts o = { .dirs = &w->dirs, .start_dir = tree_path(&w->t, "ws") };

        user_plugin(w, "p", ANY "predicates = [\"path_exists(flag)\"]\n");
        resolve_finish(resolve_begin(w->loop, &o, NULL), &deps, on_done, w);
        loop_run(w->loop);
        assert_false(resolution_stale(w->res));
        tree_put(&w->t, "ws/unrelated/file", "");
        tree_put(&w->t, changes[i].path, changes[i].text);
        if (!resolution_stale(w->res))
            fail_msg("a change of %s is not seen", changes[i].path);
        world_free(w);
    }
}

/* ---- life cycle ---- */

static void a_cancelled_resolver_calls_nobody(void **state)
{
    struct world *w = world_new();
    struct resolve_opts o = { .dirs = &w->dirs, .start_dir = tree_path(&w->t, "ws") };
    struct found_deps none = { 0 };
    struct resolver *r;

    user_plugin(w, "slow", ANY "predicates = [\"shell(sleep 20)\"]\n");
    resolve_cancel(resolve_begin(w->loop, &o, NULL));
    r = resolve_begin(w->loop, &o, NULL);
    resolve_finish(r, &none, on_done, w);
    resolve_cancel(r);
    loop_run(w->loop);
    assert_null(w->res);
    resolve_cancel(NULL);
    world_free(w);
}

static void a_missing_start_directory_is_an_error(void **state)
{
    struct world *w = world_new();
    struct resolve_opts o = { .dirs = &w->dirs, .start_dir = tree_path(&w->t, "nowhere") };
    struct error e = { 0 };

    assert_null(resolve_begin(w->loop, &o, &e));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    world_free(w);
}

static void warnings_of_package_managers_are_problems(void **state)
{
    struct world *w = world_new();
    struct resolve_opts o = { .dirs = &w->dirs, .start_dir = tree_path(&w->t, "ws") };
    struct str line = STR("package manager 'cargo': did not answer");
    struct found_deps deps = { .problems = &line, .nproblems = 1, .degraded = true };

    resolve_finish(resolve_begin(w->loop, &o, NULL), &deps, on_done, w);
    loop_run(w->loop);
    assert_problems(w, "package manager 'cargo': did not answer\n");
    assert_true(w->res->pm_degraded);
    world_free(w);
}

/* MS-2: fifty plugins with a hundred servers must not be felt at the start. */
static void fifty_plugins_resolve_at_once(void **state)
{
    const char *slack = getenv("TEST_SLACK");
    int64_t bound_us = 4000 * (slack ? atoi(slack) : 4), best = INT64_MAX;
    struct world *w = world_new();

    for (int i = 0; i < 50; i++)
        user_plugin(w, arena_printf(&w->t.a, "plugin-%02d", i),
                    arena_printf(&w->t.a,
                                 ANY "[[mcp_servers]]\nname = \"a%d\"\ncommand = \"sh\"\n"
                                     "args = [\"-c\", \"true\"]\nenv = { K = \"v\" }\n"
                                     "[[mcp_servers]]\nname = \"b%d\"\ncommand = \"sh\"\n"
                                     "depends-on = [\"serde>=1\"]\n",
                                 i, i));
    add_dep(w, "cargo", "serde", "1.0.0");
    for (int round = 0; round < 5; round++) {
        int64_t start = clock_us();

        resolve(w);
        if (clock_us() - start < best)
            best = clock_us() - start;
    }
    assert_int_equal(w->res->servers.n, 100);
    print_message("%lld us, %zu paths watched, %zu bytes\n", (long long)best, w->res->watch.n,
                  w->res->arena.used);
    assert_true(best < bound_us);
    world_free(w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_need_both_gates),
        cmocka_unit_test(nothing_at_all_resolves),
        cmocka_unit_test(programs_decide_gates_of_trusted_plugins),
        cmocka_unit_test(a_dormant_plugin_says_how_to_wake_it),
        cmocka_unit_test(lists_of_the_configuration_decide),
        cmocka_unit_test(plugins_come_in_order),
        cmocka_unit_test(a_manifest_that_does_not_load_is_an_error_state_and_a_problem),
        cmocka_unit_test(many_failures_are_counted_not_listed),
        cmocka_unit_test(a_malformed_configuration_is_a_problem_and_defaults),
        cmocka_unit_test(a_custom_predicate_defined_twice_is_dropped),
        cmocka_unit_test(a_workspaces_own_servers_need_consent),
        cmocka_unit_test(programs_of_an_untrusted_workspace_do_not_run),
        cmocka_unit_test(whoever_waits_for_consent_has_a_line),
        cmocka_unit_test(members_need_their_own_consent),
        cmocka_unit_test(servers_are_refused_with_a_reason),
        cmocka_unit_test(the_first_plugin_keeps_a_server_name),
        cmocka_unit_test(the_directory_is_taken_from_the_workspace_root),
        cmocka_unit_test(an_installation_is_the_command_or_its_name),
        cmocka_unit_test(a_builtin_is_our_own_image),
        cmocka_unit_test(a_builtin_of_an_untrusted_workspace_is_refused),
        cmocka_unit_test(timeouts_are_clamped_below_the_script_deadline),
        cmocka_unit_test(variables_are_expanded_in_args_and_env),
        cmocka_unit_test(references_follow_the_shell),
        cmocka_unit_test(the_program_is_searched_in_path),
        cmocka_unit_test(our_own_mcp_serve_is_refused),
        cmocka_unit_test(the_name_of_cargos_subcommand_counts_too),
        cmocka_unit_test(every_input_makes_a_resolution_stale),
        cmocka_unit_test(a_cancelled_resolver_calls_nobody),
        cmocka_unit_test(a_missing_start_directory_is_an_error),
        cmocka_unit_test(warnings_of_package_managers_are_problems),
        cmocka_unit_test(fifty_plugins_resolve_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
