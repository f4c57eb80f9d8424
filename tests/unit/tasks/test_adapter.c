/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "adapter_check.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"

/* What an agent is started with, for each option that it has (TK-26, TK-27, TK-29, TK-31). */
static void each_agent_gets_its_arguments_and_settings(void **state)
{
    static const struct asked_row {
        struct asked asked;
        const char *want;
    } cases[] = {
        { { "claude_code" }, "claude-agent-acp | mode=default |" },
        { { "claude_code", "{\"model\":\"opus[1m]\",\"effort\":\"high\"}" },
          "claude-agent-acp | mode=default model=opus[1m] effort=high |" },
        { { "claude_code", "{\"model\":\"-free text, the list decides\"}" },
          "claude-agent-acp | mode=default model=-free text, the list decides |" },
        { { "claude_code", .session_id = "s-1" },
          "claude-agent-acp | mode=default | resume=s-1" },
        { { "codex" }, "codex-acp | mode=read-only |" },
        { { "codex", "{\"effort\":\"low\",\"model\":\"m\"}" },
          "codex-acp | mode=read-only model=m reasoning_effort=low |" },
        { { "copilot" }, "copilot --acp | allow_all=off |" },
        { { "copilot", "{\"model\":\"a/b.c:d\",\"effort\":\"xhigh\"}" },
          "copilot --acp --model=a/b.c:d --reasoning-effort=xhigh | allow_all=off |" },
        { { "copilot", "{\"effort\":\"minimal\"}" },
          "copilot --acp --reasoning-effort=minimal | allow_all=off |" },
        { { "cline" }, "cline --acp | auto_approve=false |" },
        { { "cline", "{\"model\":\"m\",\"effort\":\"none\"}" },
          "cline --acp --thinking=none | auto_approve=false model=m |" },
        { { "cursor" }, "cursor-agent acp | mode:plan |" },
        { { "cursor", "{\"allow\":[\"read\"],\"model\":\"m\"}" },
          "cursor-agent acp | mode:plan model=m | allow=1" },
        { { "cursor", "{\"allow\":[\"edit\",\"execute\"],\"model\":\"m\"}" },
          "cursor-agent acp | mode:agent model=m | allow=34" },
        { { "opencode" }, "opencode acp | mode=build |" },
        { { "opencode", "{\"model\":\"fake/fake\"}" },
          "opencode acp | mode=build model=fake/fake |" },
        { { "antigravity" }, "agy --print-timeout=5m --print=do it | |" },
        { { "antigravity", "{\"model\":\"m\",\"effort\":\"max\",\"mode\":\"plan\",\"sandbox\":"
                           "true,\"dangerously_skip_permissions\":true,\"print_timeout\":"
                           "\"90s\"}" },
          "agy --model m --effort=max --mode=plan --sandbox --dangerously-skip-permissions "
          "--print-timeout=90s --print=do it | |" },
        { { "antigravity", "{\"mode\":\"accept-edits\",\"sandbox\":false}", "--help\nx=y" },
          "agy --mode=accept-edits --print-timeout=5m --print=--help\nx=y | |" },
        { { "antigravity", "{\"allow\":[]}" }, "agy --print-timeout=5m --print=do it | |" },
        { { "gemini" }, "gemini --acp | mode:default |" },
        { { "gemini", "{\"model\":\"gemini-2.5-flash\",\"auth_method\":\"gemini-api-key\"}" },
          "gemini --acp -m gemini-2.5-flash | mode:default | auth=gemini-api-key" },
        { { "qwen" }, "qwen --acp | mode=default |" },
        { { "qwen", "{\"model\":\"m\",\"auth_type\":\"openai\"}", .session_id = "x" },
          "qwen --acp --auth-type openai | mode=default model=m | resume=x" },
        { { "qwen", "{\"allow\":[\"read\",\"edit\",\"delete\",\"move\",\"search\",\"execute\","
                    "\"think\",\"fetch\",\"other\",\"read\"]}" },
          "qwen --acp | mode=default | allow=767" },
        { { "qwen", "{\"symposium\":true,\"follow\":true}" },
          "qwen --acp | mode=default | symposium:/opt/symposium mcp-serve "
          "symposium-tasks:/opt/symposium symm" },
        { { "qwen", "{\"symposium\":false,\"model\":\"a\",\"model\":\"b\"}" },
          "qwen --acp | mode=default model=b |" },
    };
    auto_arena a = ARENA;
    struct adapters all;

    load_adapters(&all, &a, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(plan_text(&a, &all, &cases[i].asked), cases[i].want);
    (void)state;
}

static void what_an_agent_cannot_do_is_refused_by_name(void **state)
{
    static const struct {
        struct asked asked;
        const char *want;
    } cases[] = {
        /* unknown keys (TK-15) */
        { { "qwen", "{\"colour\":1}" },
          "! agent 'qwen' has no option 'colour'; it has 'model', 'allow', 'symposium', "
          "'follow', 'auth_type'" },
        { { "gemini", "{\"effort\":\"high\"}" }, "! agent 'gemini' has no option 'effort'" },
        { { "cursor", "{\"effort\":\"high\"}" }, "! agent 'cursor' has no option 'effort'" },
        { { "opencode", "{\"effort\":\"high\"}" },
          "! agent 'opencode' has no option 'effort'" },
        { { "qwen", "{\"effort\":\"high\"}" }, "! agent 'qwen' has no option 'effort'" },
        { { "antigravity", "{\"allow\":[\"read\"]}" },
          "! agent 'antigravity' does not ask: 'allow' must be empty, or left out" },
        { { "antigravity", "{\"symposium\":true}" },
          "! agent 'antigravity' has no option 'symposium'" },
        { { "gemini", "{\"auth_type\":\"x\"}" }, "! agent 'gemini' has no option 'auth_type'" },
        { { "codex", "{\"print_timeout\":\"5m\"}" }, "! agent 'codex' has no option" },
        /* pinned settings (TK-29) */
        { { "codex", "{\"mode\":\"agent-full-access\"}" },
          "! option 'mode' of agent 'codex' is pinned and cannot be set" },
        { { "copilot", "{\"allow_all\":\"on\"}" },
          "! option 'allow_all' of agent 'copilot' is" },
        { { "cline", "{\"auto_approve\":true}" },
          "! option 'auto_approve' of agent 'cline' is" },
        { { "gemini", "{\"mode\":\"yolo\"}" }, "! option 'mode' of agent 'gemini' is pinned" },
        { { "cursor", "{\"mode\":\"agent\"}" }, "! option 'mode' of agent 'cursor' is pinned" },
        { { "qwen", "{\"mode\":\"yolo\"}" }, "! option 'mode' of agent 'qwen' is pinned" },
        /* tokens and lists */
        { { "copilot", "{\"model\":\"-x\"}" }, "! option 'model' must begin with a letter" },
        { { "copilot", "{\"model\":\"a b\"}" }, "! option 'model' must begin with a letter" },
        { { "gemini", "{\"model\":\"--yolo\"}" }, "! option 'model' must begin with a letter" },
        { { "gemini", "{\"model\":\"\"}" }, "! option 'model' must have 1 to 256 bytes" },
        { { "claude_code", "{\"model\":\"a\\u0000b\"}" }, "! option 'model' must have 1 to" },
        { { "claude_code", "{\"model\":\"a\\nb\"}" }, "! option 'model' must have 1 to 256" },
        { { "claude_code", "{\"model\":7}" }, "! option 'model' must be a string, not" },
        { { "claude_code", "{\"model\":null}" },
          "! option 'model' must be a string, not null" },
        { { "copilot", "{\"effort\":\"extreme\"}" },
          "! option 'effort' must be one of none, minimal, low, medium, high, xhigh, max, not "
          "'extreme'" },
        { { "cline", "{\"effort\":\"max\"}" }, "! option 'effort' must be one of none, low," },
        { { "antigravity", "{\"effort\":\"none\"}" }, "! option 'effort' must be one of low," },
        { { "antigravity", "{\"mode\":\"yolo\"}" },
          "! option 'mode' must be one of accept-edi" },
        { { "antigravity", "{\"print_timeout\":\"0m\"}" },
          "! option 'print_timeout' must match ^[1-9][0-9]*[smh]$, not '0m'" },
        { { "antigravity", "{\"print_timeout\":\"5\"}" },
          "! option 'print_timeout' must match" },
        { { "antigravity", "{\"print_timeout\":5}" },
          "! option 'print_timeout' must be a str" },
        { { "qwen", "{\"auth_type\":\"--yolo\"}" }, "! option 'auth_type' must begin with a" },
        /* booleans are booleans (TK-29) */
        { { "antigravity", "{\"sandbox\":\"true\"}" },
          "! option 'sandbox' must be true or false, not" },
        { { "antigravity", "{\"sandbox\":1}" }, "! option 'sandbox' must be true or false" },
        { { "antigravity", "{\"dangerously_skip_permissions\":null}" },
          "! option 'dangerously_skip_permissions' must be true or false, not null" },
        { { "qwen", "{\"symposium\":\"yes\"}" }, "! option 'symposium' must be true or false" },
        { { "qwen", "{\"follow\":1}" }, "! option 'follow' must be true or false" },
        /* allow (TK-31) */
        { { "qwen", "{\"allow\":\"edit\"}" }, "! option 'allow' must be an array, not" },
        { { "qwen", "{\"allow\":[\"switch_mode\"]}" },
          "! option 'allow' may hold read, edit," },
        { { "qwen", "{\"allow\":[\"everything\"]}" }, "! option 'allow' may hold read, edit," },
        { { "qwen", "{\"allow\":[1]}" }, "! option 'allow' may hold read, edit," },
        /* cursor (TK-32) */
        { { "cursor", "{\"allow\":[\"execute\"]}" },
          "! agent 'cursor' runs commands only in the mode in which it edits without asking" },
        /* sessions (TK-25, TK-26) */
        { { "antigravity", .session_id = "x" }, "! agent 'antigravity' cannot resume a" },
        { { "qwen", .session_id = "a\nb" }, "! 'session_id' must have 1 to" },
    };
    auto_arena a = ARENA;
    struct adapters all;

    load_adapters(&all, &a, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = plan_text(&a, &all, &cases[i].asked);

        if (strncmp(got, cases[i].want, strlen(cases[i].want)) != 0)
            fail_msg("%zu: got '%s', want '%s'", i, got, cases[i].want);
    }
    (void)state;
}

/* TK-27: one argv element. */
static void a_prompt_in_argv_has_its_bounds(void **state)
{
    auto_arena a = ARENA;
    struct adapters all;
    auto_buf prompt = BUF(100001);
    struct plan_request req = { .workspace = STR("/w") };
    struct task_plan plan;
    struct error e;

    load_adapters(&all, &a, NULL);
    buf_fill(&prompt, 'x', 100000);
    req.prompt = buf_str(&prompt);
    assert_true(adapter_plan(&plan, &a, adapter_find(&all, STR("antigravity")), &req, &e));
    assert_int_equal(strlen(plan.argv[2]), strlen("--print=") + 100000);
    buf_addc(&prompt, 'x');
    req.prompt = buf_str(&prompt);
    assert_false(adapter_plan(&plan, &a, adapter_find(&all, STR("antigravity")), &req, &e));
    assert_has(e.msg, "at most 100000 bytes, not 100001");
    assert_true(adapter_plan(&plan, &a, adapter_find(&all, STR("qwen")), &req, &e));
    req.prompt = BYTES("a\0b");
    assert_false(adapter_plan(&plan, &a, adapter_find(&all, STR("antigravity")), &req, &e));
    assert_has(e.msg, "NUL");
    assert_true(adapter_plan(&plan, &a, adapter_find(&all, STR("qwen")), &req, &e));
    (void)state;
}

/* TK-19, TK-24, TK-28 */
static void the_environment_is_ours_but_for_what_is_pinned(void **state)
{
    static const char *const ours[] = { "PATH=/bin",
                                        "SYMPOSIUM_TASK_CHAIN=forged",
                                        "CLAUDECODE=1",
                                        "COPILOT_ALLOW_ALL=1",
                                        "OPENCODE_PERMISSION={\"*\":\"allow\"}",
                                        "XDG_STATE_HOME=/s",
                                        "ODD",
                                        NULL };
    static const struct {
        const char *agent, *options, *want;
    } cases[] = {
        { "qwen", "{}",
          "PATH=/bin\nCLAUDECODE=1\nCOPILOT_ALLOW_ALL=1\nOPENCODE_PERMISSION={\"*\":\"allow\"}"
          "\nXDG_STATE_HOME=/s\nODD\nSYMPOSIUM_TASK_CHAIN=a,b\n" },
        { "claude_code", "{}",
          "PATH=/bin\nCOPILOT_ALLOW_ALL=1\nOPENCODE_PERMISSION={\"*\":\"allow\"}\n"
          "XDG_STATE_HOME=/s\nODD\nSYMPOSIUM_TASK_CHAIN=a,b\n" },
        { "copilot", "{}",
          "PATH=/bin\nCLAUDECODE=1\nOPENCODE_PERMISSION={\"*\":\"allow\"}\nXDG_STATE_HOME=/s\n"
          "ODD\nSYMPOSIUM_TASK_CHAIN=a,b\n" },
        { "opencode", "{}",
          "PATH=/bin\nCLAUDECODE=1\nCOPILOT_ALLOW_ALL=1\nXDG_STATE_HOME=/s\nODD\n"
          "SYMPOSIUM_TASK_CHAIN=a,b\nOPENCODE_CONFIG_CONTENT={\"permission\":{\"*\":\"ask\","
          "\"edit\":\"ask\",\"bash\":\"ask\",\"webfetch\":\"ask\"}}\n" },
        { "claude_code", "{\"symposium\":true}",
          "PATH=/bin\nCOPILOT_ALLOW_ALL=1\nOPENCODE_PERMISSION={\"*\":\"allow\"}\n"
          "XDG_STATE_HOME=/s\nODD\nSYMPOSIUM_TASK_CHAIN=a,b\nserver XDG_STATE_HOME=/s\n"
          "server SYMPOSIUM_TASK_CHAIN=a,b\n" },
    };
    auto_arena a = ARENA;
    struct adapters all;

    load_adapters(&all, &a, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct asked asked = { cases[i].agent, cases[i].options, .chain = "a,b", .env = ours };

        assert_string_equal(plan_env(&a, &all, &asked), cases[i].want);
    }
    (void)state;
}

/* TK-28: everything of the user's is kept, but the permissions. */
static void opencodes_config_is_kept_and_its_permissions_are_forced(void **state)
{
    static const struct {
        const char *theirs, *want;
    } cases[] = {
        { "{\"model\":\"x\",\"n\":1e400,\"permission\":\"allow\",\"agent\":{\"a\":[1]}}",
          "OPENCODE_CONFIG_CONTENT={\"model\":\"x\",\"n\":1e400,\"agent\":{\"a\":[1]},"
          "\"permission\":{\"*\":\"ask\",\"edit\":\"ask\",\"bash\":\"ask\",\"webfetch\":"
          "\"ask\"}"
          "}\n" },
        { "{}",
          "OPENCODE_CONFIG_CONTENT={\"permission\":{\"*\":\"ask\",\"edit\":\"ask\",\"bash\""
          ":\"ask\",\"webfetch\":\"ask\"}}\n" },
        { "[]", "! the environment's OPENCODE_CONFIG_CONTENT is not a JSON object" },
        { "", "! the environment's OPENCODE_CONFIG_CONTENT is not a JSON object" },
        { "{\"a\":}", "! the environment's OPENCODE_CONFIG_CONTENT is not a JSON object" },
    };
    auto_arena a = ARENA;
    struct adapters all;

    load_adapters(&all, &a, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *env[] = { arena_printf(&a, "OPENCODE_CONFIG_CONTENT=%s", cases[i].theirs),
                              NULL };
        struct asked asked = { "opencode", .env = env };

        assert_string_equal(plan_env(&a, &all, &asked), cases[i].want);
    }
    (void)state;
}

/* ---- the program ---- */

static void put_program(struct arena *a, const char *dir, const char *rel, mode_t mode)
{
    const char *path = path_join(a, dir, rel);

    assert_true(file_mkdirs(path_dir(a, path), NULL));
    assert_true(file_write_cache(path, STR("#!/bin/sh\n"), NULL));
    assert_int_equal(chmod(path, mode), 0);
}

/* With the directory for each '$'. */
static const char *in_dir(struct arena *a, const char *text, const char *dir)
{
    auto_buf out = BUF(8 * PATH_MAX);

    for (; *text; text++) {
        if (*text == '$')
            buf_addz(&out, dir);
        else
            buf_addc(&out, *text);
    }
    return arena_z(a, buf_str(&out));
}

/* TK-17, TK-19 */
static void the_program_is_the_first_in_the_absolute_entries_of_path(void **state)
{
    char dir[PATH_MAX];
    auto_arena a = ARENA;
    struct adapters all;
    static const struct {
        const char *agent, *path, *want; /* $: the directory */
    } cases[] = {
        { "qwen", "$/a:$/b", "$/b/qwen" },     /* in a it is not executable */
        { "qwen", "$/d:$/b:$/c", "$/b/qwen" }, /* in d it is a directory */
        { "qwen", "$/c:$/b", "$/c/qwen" },
        { "qwen", "", NULL },
        { "qwen", "::b:.:./b:", NULL },
        { "claude_code", "$/b:$/c", "$/c/claude-agent-acp" },
        { "claude_code", "$/b", "$/b/claude-code-acp" },
    };

    make_temp_dir(dir);
    put_program(&a, dir, "a/qwen", 0644);
    put_program(&a, dir, "b/qwen", 0755);
    put_program(&a, dir, "c/qwen", 0755);
    put_program(&a, dir, "b/claude-code-acp", 0755);
    put_program(&a, dir, "c/claude-agent-acp", 0755);
    put_program(&a, dir, "d/qwen/x", 0755);
    assert_int_equal(chdir(dir), 0);
    load_adapters(&all, &a, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *path = in_dir(&a, cases[i].path, dir);
        const char *want = cases[i].want ? in_dir(&a, cases[i].want, dir) : NULL;
        struct error e = { 0 };
        const char *got =
            adapter_program(adapter_find(&all, str_of(cases[i].agent)), path, &a, &e);

        if (want)
            assert_string_equal(got, want);
        else
            assert_null(got);
    }
    assert_int_equal(chdir("/"), 0);
    remove_tree(dir);
    (void)state;
}

/* TK-17 */
static void a_missing_program_is_told_with_the_package_to_install(void **state)
{
    static const struct {
        const char *agent, *want;
    } cases[] = {
        { "claude_code", "no 'claude-agent-acp' and no 'claude-code-acp' in PATH for agent "
                         "'claude_code': install it with 'npm install -g "
                         "@agentclientprotocol/claude-agent-acp'" },
        { "codex", "@agentclientprotocol/codex-acp" },
        { "copilot", "@github/copilot" },
        { "cline", "install -g cline'" },
        { "cursor", "install the Cursor CLI" },
        { "opencode",
          "there is no 'opencode' in PATH for agent 'opencode': install it with 'npm "
          "install -g opencode-ai'" },
        { "antigravity", "no 'agy' in PATH for agent 'antigravity': install the Antigravity" },
        { "gemini", "@google/gemini-cli" },
        { "qwen", "@qwen-code/qwen-code" },
    };
    auto_arena a = ARENA;
    struct adapters all;

    load_adapters(&all, &a, NULL);
    assert_int_equal(all.n, ARRAY_LEN(cases));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error e = { 0 };

        assert_string_equal(adapter_name(all.v[i]), cases[i].agent);
        assert_null(adapter_program(all.v[i], "/nowhere", &a, &e));
        assert_int_equal(e.kind, ERR_NOT_FOUND);
        assert_has(e.msg, cases[i].want);
    }
    (void)state;
}

/* TK-8 */
static void the_schema_of_options_names_each_of_them_once(void **state)
{
    static const char *const keys[] = {
        "model",         "effort",      "allow",    "symposium",
        "follow",        "mode",        "sandbox",  "dangerously_skip_permissions",
        "print_timeout", "auth_method", "auth_type"
    };
    auto_arena a = ARENA;
    auto_buf out = BUF(1 << 20);
    auto_json j = { 0 };
    struct adapters all;
    struct jw w = jw_to(&out);

    load_adapters(&all, &a, NULL);
    jw_obj(&w);
    adapters_put_option_keys(&w, &all);
    jw_end(&w);
    assert_true(json_parse(&j, buf_str(&out), NULL));
    assert_int_equal(json_len(j.root), ARRAY_LEN(keys));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_non_null(json_get(j.root, keys[i]));
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_agent_gets_its_arguments_and_settings),
        cmocka_unit_test(what_an_agent_cannot_do_is_refused_by_name),
        cmocka_unit_test(a_prompt_in_argv_has_its_bounds),
        cmocka_unit_test(the_environment_is_ours_but_for_what_is_pinned),
        cmocka_unit_test(opencodes_config_is_kept_and_its_permissions_are_forced),
        cmocka_unit_test(the_program_is_the_first_in_the_absolute_entries_of_path),
        cmocka_unit_test(a_missing_program_is_told_with_the_package_to_install),
        cmocka_unit_test(the_schema_of_options_names_each_of_them_once),
    };

    return cmocka_run_group_tests_name("tasks/adapter", tests, NULL, NULL);
}
