/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tree.h"

#include "plugins/config.h"

static void load(struct tree *t, const char *text, struct config *ret)
{
    struct dirs dirs = { .config = t->root };

    if (text)
        tree_put(t, "config.toml", text);
    config_load(ret, &dirs, &t->a);
}

static void assert_defaults(const struct config *c)
{
    assert_true(c->auto_sync && c->agents_syncing && c->recommendations && c->user_plugins);
    assert_int_equal(c->sync_debounce_secs, 5);
    assert_false(c->hook_scope_project || c->mcp_scope_project || c->trust_workspace_always);
    assert_int_equal(c->agents.n + c->registries.n + c->pms.n + c->task_agents.n, 0);
    assert_int_equal(c->auto_enable.n + c->disable.n + c->use.n + c->agent_models.n, 0);
    assert_int_equal(c->log_level, LOG_INFO);
    assert_true(c->mcp.enabled && !c->mcp.read_only && c->agents_builtin_servers);
    assert_int_equal(c->mcp.script_timeout_secs, 120);
    assert_int_equal(c->mcp.script_memory_limit_mb, 64);
    assert_int_equal(c->mcp.script_stack_limit_kb, 1024);
    assert_int_equal(c->mcp.max_tool_calls, 100);
    assert_int_equal(c->mcp.max_result_bytes, 32768);
    assert_int_equal(c->mcp.max_console_bytes, 8192);
    assert_int_equal(c->mcp.server_startup_timeout_secs, 30);
    assert_int_equal(c->mcp.tool_call_timeout_secs, 60);
    assert_int_equal(c->mcp.max_server_restarts, 5);
    assert_int_equal(c->mcp.restart_stable_reset_secs, 300);
    assert_int_equal(c->mcp.shutdown_grace_secs, 5);
    assert_int_equal(c->tasks_max_concurrent, 16);
    assert_int_equal(c->tasks_min_free_mb, 512);
    assert_int_equal(c->tasks_keep_days, 30);
    assert_int_equal(c->tasks_keep_tasks, 10000);
    assert_int_equal(c->tasks_keep_mb, 2048);
    assert_int_equal(c->tasks_acp_version, 1);
}

/* CF-3, meta-server.md 1.2 */
static void an_absent_or_empty_file_is_all_defaults(void **state)
{
    static const char *const texts[] = { NULL, "", "future-key = 1\n[future]\nx = 2\n",
                                         "auto-update = \"on\"\n[telemetry]\nlevel = 3\n" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct tree t = tree_new();
        struct config c;

        load(&t, texts[i], &c);
        assert_false(c.malformed);
        assert_int_equal(c.warnings.n, 0);
        assert_defaults(&c);
        tree_free(&t);
    }
}

static const char everything[] =
    "auto-sync = false\n"
    "agents-syncing = false\n"
    "sync-debounce-secs = 9\n"
    "hook-scope = \"project\"\n"
    "mcp-scope = \"global\"\n"
    "[[agent]]\nname = \"claude\"\n"
    "[[agent]]\nname = \"pi\"\n"
    "[logging]\nlevel = \"trace\"\n"
    "[defaults]\nsymposium-recommendations = false\nuser-plugins = false\n"
    "[[registry]]\nname = \"team\"\npath = \"team/plugins\"\nauto-update = false\n"
    "[[registry]]\nname = \"away\"\ngit = \"https://example.com/a/b\"\n"
    "[[plugin-source]]\nname = \"older\"\npath = \"/abs/./older/\"\n"
    "[plugins]\n"
    "auto-enable = [\"*\", { pm = \"cargo\", name = \"widget\" }]\n"
    "disable = [\"bad\"]\n"
    "use = [\"g\", { name = \"w\", pm = \"cargo\", workspace = \"/w\" }]\n"
    "trust-workspace = \"always\"\n"
    "[[package-manager]]\nname = \"conda\"\nexecutable = \"conda-pm\"\nargs = [\"-x\"]\n"
    "pass-env = [\"CONDA_PREFIX\"]\n"
    "[mcp]\n"
    "enabled = false\nscript-timeout-secs = 31\nscript-memory-limit-mb = 32\n"
    "script-stack-limit-kb = 33\nmax-tool-calls = 34\nmax-result-bytes = 35\n"
    "max-console-bytes = 0\nserver-startup-timeout-secs = 36\ntool-call-timeout-secs = 30\n"
    "max-server-restarts = 0\nrestart-stable-reset-secs = 37\nshutdown-grace-secs = 38\n"
    "read-only = true\n"
    "[agents]\nbuiltin-servers = false\n"
    "[agents.models]\nfast = \"small-1\"\n"
    "[tasks]\nmax-concurrent = 1\nmin-free-mb = 2\nkeep-days = 3\nkeep-tasks = 4\nkeep-mb = 5\n"
    "acp-version = 2\n"
    "[[task-agent]]\nname = \"mine\"\ncommand = [\"a\", \"b\"]\n"
    "[task-agent.env]\nX = \"1\"\n";

static void assert_ref(const struct plugin_ref *r, const char *pm, const char *name,
                       const char *workspace)
{
    assert_str(r->pm, pm);
    assert_str(r->name, name);
    assert_str(r->workspace, workspace);
}

static void assert_lists(struct tree *t, const struct config *c)
{
    assert_int_equal(c->agents.n, 2);
    assert_str(c->agents.v[1], "pi");
    assert_int_equal(c->registries.n, 3);
    assert_str(c->registries.v[0].name, "team");
    assert_str(c->registries.v[0].path, tree_path(t, "team/plugins"));
    assert_false(c->registries.v[0].auto_update);
    assert_str(c->registries.v[1].git, "https://example.com/a/b");
    assert_true(c->registries.v[1].auto_update);
    assert_str(c->registries.v[2].path, "/abs/older");
    assert_ref(&c->auto_enable.v[0], "", "*", "");
    assert_ref(&c->auto_enable.v[1], "cargo", "widget", "");
    assert_ref(&c->disable.v[0], "", "bad", "");
    assert_ref(&c->use.v[0], "", "g", "");
    assert_ref(&c->use.v[1], "cargo", "w", "/w");
    assert_str(c->pms.v[0].name, "conda");
    assert_str(c->pms.v[0].how.executable, "conda-pm");
    assert_str(c->pms.v[0].how.args.v[0], "-x");
    assert_str(c->pms.v[0].pass_env.v[0], "CONDA_PREFIX");
    assert_str(c->agent_models.v[0].key, "fast");
    assert_str(c->agent_models.v[0].value, "small-1");
    assert_str(c->task_agents.v[0].name, "mine");
    assert_str(c->task_agents.v[0].json,
               "{\"name\":\"mine\",\"command\":[\"a\",\"b\"],\"env\":{\"X\":\"1\"}}");
}

/* CF-3 and the thirteen keys of meta-server.md 1.2 */
static void every_key_is_read(void **state)
{
    struct tree t = tree_new();
    struct config c;

    load(&t, everything, &c);
    if (c.malformed || c.warnings.n)
        fail_msg("%s", c.warnings.v[0].p);
    assert_false(c.auto_sync || c.agents_syncing || c.recommendations || c.user_plugins);
    assert_int_equal(c.sync_debounce_secs, 9);
    assert_true(c.hook_scope_project && !c.mcp_scope_project && c.trust_workspace_always);
    assert_int_equal(c.log_level, LOG_TRACE);
    assert_lists(&t, &c);
    assert_true(!c.mcp.enabled && c.mcp.read_only && !c.agents_builtin_servers);
    assert_int_equal(c.mcp.script_timeout_secs, 31);
    assert_int_equal(c.mcp.script_memory_limit_mb, 32);
    assert_int_equal(c.mcp.script_stack_limit_kb, 33);
    assert_int_equal(c.mcp.max_tool_calls, 34);
    assert_int_equal(c.mcp.max_result_bytes, 35);
    assert_int_equal(c.mcp.max_console_bytes, 0);
    assert_int_equal(c.mcp.server_startup_timeout_secs, 36);
    assert_int_equal(c.mcp.tool_call_timeout_secs, 30);
    assert_int_equal(c.mcp.max_server_restarts, 0);
    assert_int_equal(c.mcp.restart_stable_reset_secs, 37);
    assert_int_equal(c.mcp.shutdown_grace_secs, 38);
    assert_int_equal(c.tasks_max_concurrent, 1);
    assert_int_equal(c.tasks_min_free_mb, 2);
    assert_int_equal(c.tasks_keep_days, 3);
    assert_int_equal(c.tasks_keep_tasks, 4);
    assert_int_equal(c.tasks_keep_mb, 5);
    assert_int_equal(c.tasks_acp_version, 2);
    tree_free(&t);
}

static void the_mcp_scope_follows_the_hook_scope(void **state)
{
    struct tree t = tree_new();
    struct config c;

    load(&t, "hook-scope = \"project\"\n", &c);
    assert_true(c.mcp_scope_project);
    tree_free(&t);
}

/* CF-3: one warning that names place and key, and nothing but defaults. */
static void a_mistake_turns_the_whole_file_off_and_is_named(void **state)
{
    static const struct {
        const char *text, *warning;
    } cases[] = {
        { "auto-sync = false\nx = = 1\n", "config.toml: line 2, column 5" },
        { "auto-sync = 1\n", "line 1: 'auto-sync'" },
        { "hook-scope = \"user\"\n", "line 1: 'hook-scope' must be" },
        { "[mcp]\nmax-tools = 3\n", "line 2: 'mcp.max-tools' is not a known key" },
        { "[mcp]\nmax-tool-calls = 0\n", "line 2: 'mcp.max-tool-calls'" },
        { "[mcp]\nscript-stack-limit-kb = 31\n", "must be at least 32, not 31" },
        { "[mcp]\nscript-stack-limit-kb = 65537\n", "must be at most 65536" },
        { "[mcp]\nmax-console-bytes = -1\n", "'mcp.max-console-bytes'" },
        { "[mcp]\nread-only = 1\n", "'mcp.read-only'" },
        { "[mcp]\nscript-timeout-secs = 60\n", "line 2: 'mcp.script-timeout-secs' is out of "
                                               "range: tool-call-timeout-secs (60) must be "
                                               "below script-timeout-secs (60)" },
        { "[mcp]\ntool-call-timeout-secs = 120\n",
          "line 2: 'mcp.tool-call-timeout-secs' is out of range: tool-call-timeout-secs (120) "
          "must "
          "be below script-timeout-secs (120)" },
        { "[[registry]]\nname = \"a\"\n", "exactly one of 'git' and 'path'" },
        { "[[registry]]\nname = \"a\"\npath = \"p\"\ngit = \"g\"\n", "exactly one of" },
        { "[[registry]]\npath = \"p\"\n", "needs a 'name'" },
        { "[[registry]]\nname = \"a\"\npath = \"p\"\nurl = \"u\"\n",
          "'registry[0].url' is not a known key" },
        { "[[registry]]\nname = \"user-plugins\"\npath = \"p\"\n", "built-in" },
        { "[[registry]]\nname = \"a\"\npath = \"p\"\n[[plugin-source]]\nname = \"a\"\npath = "
          "\"q\"\n",
          "second registry" },
        { "[plugins]\ndisable = \"x\"\n", "'plugins.disable' must be an array" },
        { "[plugins]\ndisable = [1]\n", "'plugins.disable[0]'" },
        { "[plugins]\ndisable = [{ name = \"x\", workspace = \"/w\" }]\n", "workspace" },
        { "[plugins]\ntrust-workspace = \"yes\"\n", "'plugins.trust-workspace' must be" },
        { "[[agent]]\nname = \"emacs\"\n", "'agent[0].name' is no agent" },
        { "[logging]\nlevel = \"loud\"\n", "'logging.level' must be" },
        { "[[package-manager]]\nname = \"a b\"\n", "'package-manager[0].name'" },
        { "[[package-manager]]\nname = \"a\"\nexec = \"x\"\n", "is not a known key" },
        { "[tasks]\nacp-version = 3\n", "'tasks.acp-version'" },
        { "[[task-agent]]\ncommand = []\n", "needs a 'name'" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tree t = tree_new();
        struct config c;

        load(&t, cases[i].text, &c);
        if (!c.malformed || c.warnings.n != 1)
            fail_msg("accepted: %s", cases[i].text);
        assert_has(c.warnings.v[0].p, cases[i].warning);
        assert_has(c.warnings.v[0].p, tree_path(&t, "config.toml"));
        assert_defaults(&c);
        tree_free(&t);
    }
}

/* A key of a later version inside a known table must not turn the file off. */
static void an_unknown_key_in_other_tables_is_a_warning(void **state)
{
    struct tree t = tree_new();
    struct config c;

    load(&t, "auto-sync = false\n[plugins]\nenable = []\n", &c);
    assert_false(c.malformed || c.auto_sync);
    assert_int_equal(c.warnings.n, 1);
    assert_has(c.warnings.v[0].p, "line 3: unknown key 'plugins.enable' is ignored");
    tree_free(&t);
}

/* CF-3: ignored; but [plugin] for [plugins] would leave on what was to be off, without a word.
 */
static void a_mistyped_key_at_the_top_is_a_warning(void **state)
{
    static const struct {
        const char *text, *warning;
    } cases[] = {
        { "[plugin]\ndisable = [\"a\"]\n",
          "line 1: unknown key 'plugin' is ignored; is it 'plugins'?" },
        { "autosync = false\n",
          "line 1: unknown key 'autosync' is ignored; is it 'auto-sync'?" },
        { "[[registy]]\nname = \"a\"\n",
          "line 1: unknown key 'registy' is ignored; is it 'registry'?" },
        { "[plugins]\nuses = []\n",
          "line 2: unknown key 'plugins.uses' is ignored; is it 'use'?" },
        { "[something-new]\nx = 1\n", NULL },
        { "auto-update = true\n[telemetry]\nx = 1\n[[plugin-source]]\nname = \"a\"\npath = "
          "\"/p\"\n",
          NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tree t = tree_new();
        struct config c;

        load(&t, cases[i].text, &c);
        assert_false(c.malformed);
        assert_int_equal(c.warnings.n, cases[i].warning ? 1 : 0);
        if (cases[i].warning)
            assert_has(c.warnings.v[0].p, cases[i].warning);
        tree_free(&t);
    }
}

static void a_file_that_is_no_file_is_malformed(void **state)
{
    struct tree t = tree_new();
    struct config c;

    tree_put(&t, "config.toml/", "");
    load(&t, NULL, &c);
    assert_true(c.malformed);
    assert_defaults(&c);
    tree_free(&t);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_absent_or_empty_file_is_all_defaults),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(the_mcp_scope_follows_the_hook_scope),
        cmocka_unit_test(a_mistake_turns_the_whole_file_off_and_is_named),
        cmocka_unit_test(an_unknown_key_in_other_tables_is_a_warning),
        cmocka_unit_test(a_mistyped_key_at_the_top_is_a_warning),
        cmocka_unit_test(a_file_that_is_no_file_is_malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
