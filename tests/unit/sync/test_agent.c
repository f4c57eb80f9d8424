/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/file.h"
#include "base/path.h"
#include "plugins/config.h"
#include "sync/agent.h"

static const struct sync_env plain = { .home = "/h", .root = "/w" };
static const struct sync_env moved = {
    .home = "/h",
    .root = "/w",
    .claude_config_dir = "/claude",
    .codex_home = "/codex",
    .xdg_config_home = "/xdg",
    .cline_data_dir = "/cline",
};

static void each_agent_has_the_files_of_the_table(void **state) /* SY-3, SY-10 */
{
    static const struct {
        const char *name, *project, *user, *user_moved;
    } rows[] = {
        { "claude", "/w/.mcp.json", "/h/.claude.json", "/claude/.claude.json" },
        { "codex", "/w/.codex/config.toml", "/h/.codex/config.toml", "/codex/config.toml" },
        { "copilot", NULL, "/h/.copilot/mcp-config.json", NULL },
        { "gemini", "/w/.gemini/settings.json", "/h/.gemini/settings.json", NULL },
        { "antigravity", "/w/.agents/mcp_config.json", "/h/.gemini/config/mcp_config.json",
          NULL },
        { "goose", NULL, "/h/.config/goose/config.yaml", "/xdg/goose/config.yaml" },
        { "kiro", "/w/.kiro/settings/mcp.json", "/h/.kiro/settings/mcp.json", NULL },
        { "opencode", "/w/opencode.json", "/h/.config/opencode/opencode.json",
          "/xdg/opencode/opencode.json" },
        { "cursor", "/w/.cursor/mcp.json", "/h/.cursor/mcp.json", NULL },
        { "vscode", "/w/.vscode/mcp.json", "/h/.config/Code/User/mcp.json",
          "/xdg/Code/User/mcp.json" },
        { "qwen", "/w/.qwen/settings.json", "/h/.qwen/settings.json", NULL },
        { "cline", NULL, "/h/.cline/data/settings/cline_mcp_settings.json",
          "/cline/settings/cline_mcp_settings.json" },
        { "pi", "/w/.pi/mcp.json", "/h/.pi/agent/mcp.json", NULL },
    };

    assert_int_equal(sync_agents_n, ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        const struct agent *g = agent_find(str_of(rows[i].name));
        const char *project = rows[i].project ? rows[i].project : rows[i].user;
        const char *user_moved = rows[i].user_moved ? rows[i].user_moved : rows[i].user;
        bool instead;

        assert_ptr_equal(g, &sync_agents[i]);
        assert_string_equal(agent_mcp_file(&a, g, &plain, true, &instead), project);
        assert_int_equal(instead, rows[i].project == NULL);
        assert_string_equal(agent_mcp_file(&a, g, &plain, false, &instead), rows[i].user);
        assert_false(instead);
        assert_string_equal(agent_mcp_file(&a, g, &moved, false, &instead), user_moved);
    }
    assert_null(agent_find(STR("emacs")));
}

static void without_a_workspace_there_is_no_project_file(void **state)
{
    auto_arena a = ARENA;
    struct sync_env env = { .home = "/h" };
    bool instead;

    assert_string_equal(agent_mcp_file(&a, agent_find(STR("kiro")), &env, true, &instead),
                        "/h/.kiro/settings/mcp.json");
    assert_true(instead);
}

static void an_agent_is_detected_by_its_directory(void **state) /* SY-1 */
{
    static const struct {
        const char *name, *makes;
        bool file;
    } rows[] = {
        { "claude", ".claude", false },
        { "codex", ".codex", false },
        { "copilot", ".copilot", false },
        { "gemini", ".gemini/settings.json", true },
        { "antigravity", ".gemini/antigravity-cli", false },
        { "goose", ".config/goose", false },
        { "kiro", ".kiro", false },
        { "opencode", ".config/opencode", false },
        { "cursor", ".cursor", false },
        { "vscode", ".config/Code/User", false },
        { "qwen", ".qwen", false },
        { "cline", ".cline/data/settings", false },
        { "pi", ".pi", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        char home[PATH_MAX];
        struct sync_env env = { .home = home };
        const char *path;

        make_temp_dir(home);
        path = path_join(&a, home, rows[i].makes);
        for (size_t k = 0; k < sync_agents_n; k++)
            assert_false(agent_detected(&sync_agents[k], &env));
        assert_true(file_mkdirs(rows[i].file ? path_dir(&a, path) : path, NULL));
        if (rows[i].file)
            assert_true(file_write_cache(path, STR(""), NULL));
        for (size_t k = 0; k < sync_agents_n; k++)
            if (agent_detected(&sync_agents[k], &env) !=
                !strcmp(sync_agents[k].name, rows[i].name))
                fail_msg("'%s' with '%s'", sync_agents[k].name, rows[i].makes);
        remove_tree(home);
    }
}

static void opencodes_other_file_is_taken_where_it_exists(void **state) /* SY-3 */
{
    auto_arena a = ARENA;
    char root[PATH_MAX];
    struct sync_env env = { .home = "/h", .root = root };
    const struct agent *g = agent_find(STR("opencode"));
    const char *other;
    bool instead;

    make_temp_dir(root);
    other = path_join(&a, root, "opencode.jsonc");
    assert_string_equal(agent_mcp_file(&a, g, &env, true, &instead),
                        path_join(&a, root, "opencode.json"));
    assert_true(file_write_cache(other, STR("{}"), NULL));
    assert_string_equal(agent_mcp_file(&a, g, &env, true, &instead), other);
    remove_tree(root);
}

static void the_environment_is_read_as_agents_read_it(void **state) /* CF-6, SY-3 */
{
    auto_arena a = ARENA;
    struct sync_env env;

    setenv("HOME", "/proc/self", 1);
    setenv("CLAUDE_CONFIG_DIR", "/c/", 1);
    setenv("CODEX_HOME", "", 1);
    setenv("XDG_CONFIG_HOME", "relative", 1);
    setenv("XDG_STATE_HOME", "/state", 1);
    setenv("SYMPOSIUM_HOME", "/sym", 1);
    setenv("CLINE_DIR", "/cl", 1);
    unsetenv("XDG_CACHE_HOME");
    assert_true(sync_env_read(&env, &a, NULL, NULL));
    assert_string_equal(env.home, "/proc/self");
    assert_string_equal(env.claude_config_dir, "/c");
    assert_null(env.codex_home);
    assert_null(env.xdg_config_home);
    assert_string_equal(env.cline_data_dir, "/cl/data");
    assert_non_null(strstr(env.self, "test_sync_agent"));
    assert_int_equal(env.carried.n, 2);
    assert_str(env.carried.v[0].key, "SYMPOSIUM_HOME");
    assert_str(env.carried.v[0].value, "/sym");
    assert_str(env.carried.v[1].key, "XDG_STATE_HOME");
    setenv("HOME", "/no/such/home", 1);
    assert_false(sync_env_read(&env, &a, NULL, NULL));
}

static void every_agent_of_the_table_may_stand_in_the_configuration(void **state) /* CF-3 */
{
    auto_arena a = ARENA;
    char home[PATH_MAX];
    struct dirs dirs = { .config = home };
    struct config c;
    auto_buf text = BUF(4096);

    make_temp_dir(home);
    for (size_t i = 0; i < sync_agents_n; i++)
        buf_addf(&text, "[[agent]]\nname = \"%s\"\n", sync_agents[i].name);
    assert_true(file_write_cache(path_join(&a, home, "config.toml"), buf_str(&text), NULL));
    config_load(&c, &dirs, &a);
    assert_false(c.malformed);
    assert_int_equal(c.agents.n, sync_agents_n);
    remove_tree(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_agent_has_the_files_of_the_table),
        cmocka_unit_test(without_a_workspace_there_is_no_project_file),
        cmocka_unit_test(an_agent_is_detected_by_its_directory),
        cmocka_unit_test(opencodes_other_file_is_taken_where_it_exists),
        cmocka_unit_test(the_environment_is_read_as_agents_read_it),
        cmocka_unit_test(every_agent_of_the_table_may_stand_in_the_configuration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
