/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* HK-1, HK-2, SY-4 to SY-6: each row is a whole file before and after. */
#include "home.h"

#include "plugins/hook_wire.h"
#include "sync/hooks.h"
#include "text/json.h"

static int set_up(void **state)
{
    home_make();
    put_program("bin/cargo-agents");
    env.root = in_home("ws");
    return 0;
}

static const char *run(const char *agent, bool put, const char *text, const char **what,
                       struct error *e)
{
    struct hooks_edit t = { agent_find(str_of(agent)), &env, "symposium", true };
    auto_buf out = BUF(1 << 20);
    struct error mine = { 0 };
    bool ok = put ? hooks_put(&t, str_of(text), &out, what, e ? e : &mine)
                  : hooks_take(&t, str_of(text), &out, what, e ? e : &mine);

    if (!ok && !e)
        fail_msg("%s: %s", agent, mine.msg);
    return ok ? arena_z(&arena, buf_str(&out)) : NULL;
}

/* The file of a new agent, without white space. */
static const char *compact(const char *text)
{
    auto_json j = { 0 };
    auto_buf out = BUF(1 << 20);

    assert_true(json_parse(&j, str_of(text), NULL));
    json_put_val(&out, j.root);
    return arena_z(&arena, buf_str(&out));
}

#define G(agent, event, matcher, more)                                              \
    "\"" event "\":[{\"matcher\":\"" matcher "\",\"hooks\":[{\"type\":\"command\"," \
    "\"command\":\"symposium hook " agent " " event "\"" more "}]}]"

#define TIMEOUT ",\"timeout\":10"
#define GEMINI  ",\"name\":\"symposium\",\"timeout\":10000"

#define COPILOT(event)                                                              \
    "\"" event "\":[{\"type\":\"command\",\"bash\":\"symposium hook copilot " event \
    "\",\"timeoutSec\":10}]"
#define KIRO(event) \
    "\"" event "\":[{\"matcher\":\"*\",\"command\":\"symposium hook kiro " event "\"}]"
#define AGY(event)                                                                         \
    "\"" event "\":[{\"type\":\"command\",\"command\":\"symposium hook antigravity " event \
    "\",\"timeout\":10}]"

static const struct {
    const char *agent, *file;
} new_files[] = {
    { "claude", "{\"hooks\":{" G("claude", "PreToolUse", "*", "") "," G(
                    "claude", "PostToolUse", "*",
                    "") "," G("claude", "UserPromptSubmit", "*",
                              "") "," G("claude", "SessionStart", "*",
                                        "") "," G("claude", "Stop", "*", "") "}}" },
    { "codex", "{\"hooks\":{" G("codex", "PreToolUse", "", TIMEOUT) "," G(
                   "codex", "PostToolUse", "",
                   TIMEOUT) "," G("codex", "UserPromptSubmit", "",
                                  TIMEOUT) "," G("codex", "SessionStart", "",
                                                 TIMEOUT) "," G("codex",
                                                                "Sto"
                                                                "p",
                                                                "", TIMEOUT) "}}" },
    { "gemini", "{\"hooks\":{" G("gemini", "BeforeTool", ".*", GEMINI) "," G(
                    "gemini", "AfterTool", ".*",
                    GEMINI) "," G("gemini", "BeforeAgent", "*",
                                  GEMINI) "," G("gemini", "SessionStart", "*", GEMINI) "}}" },
    { "copilot",
      "{\"version\":1,\"hooks\":{" COPILOT("preToolUse") "," COPILOT("postToolUse") "," COPILOT(
          "userPromptSubmitted") "," COPILOT("sessionStart") "}}" },
    { "kiro", "{\"name\":\"symposium\",\"tools\":[\"*\"],\"resources\":[\"file://AGENTS.md\","
              "\"file://README.md\",\"skill://.kiro/skills/**/SKILL.md\"],\"includeMcpJson\":"
              "true,\"hooks\":{" KIRO("preToolUse") "," KIRO("postToolUse") "," KIRO(
                  "userPromptSubmit") "," KIRO("agentSpawn") "}}" },
    { "antigravity",
      "{\"symposium\":{" G("antigravity", "PreToolUse", "*", TIMEOUT) "," G(
          "antigravity", "PostToolUse", "*",
          TIMEOUT) "," AGY("PreInvocation") "," AGY("SessionStart") "," AGY("Stop") "}}" },
};

static void each_agents_new_file_is_that_of_the_table(void **state) /* HK-1 */
{
    for (size_t i = 0; i < ARRAY_LEN(new_files); i++) {
        const char *what, *text = run(new_files[i].agent, true, "", &what, NULL);

        assert_string_equal(what, "hooks added");
        assert_string_equal(compact(text), new_files[i].file);
    }
}

static void agents_without_hooks_have_none(void **state) /* HK-1: skills and MCP only */
{
    static const char *const none[] = { "goose",  "opencode", "pi",   "cursor",
                                        "vscode", "qwen",     "cline" };

    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        assert_int_equal(agent_find(str_of(none[i]))->hooks.form, HOOKS_NONE);
        assert_null(hook_dialect_find(str_of(none[i])));
    }
    assert_int_equal(sync_agents_n, ARRAY_LEN(none) + ARRAY_LEN(new_files));
}

static void hooks_lie_in_the_file_that_the_agent_reads(void **state) /* HK-1 */
{
    static const struct sync_env plain = { .home = "/h", .root = "/w" };
    static const struct {
        const char *agent, *project, *user;
    } rows[] = {
        { "claude", "/w/.claude/settings.json", "/h/.claude/settings.json" },
        { "codex", "/w/.codex/hooks.json", "/h/.codex/hooks.json" },
        { "gemini", "/w/.gemini/settings.json", "/h/.gemini/settings.json" },
        { "copilot", "/w/.github/hooks/symposium.json", "/h/.copilot/settings.json" },
        { "kiro", "/w/.kiro/agents/symposium.json", "/h/.kiro/agents/symposium.json" },
        { "antigravity", "/w/.agents/hooks.json", "/h/.gemini/config/hooks.json" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct agent *g = agent_find(str_of(rows[i].agent));

        assert_string_equal(sync_path_of(&arena, &plain, g->hooks.project), rows[i].project);
        assert_string_equal(sync_path_of(&arena, &plain, g->hooks.user), rows[i].user);
    }
}

static void a_second_run_changes_nothing(void **state) /* SY-4 */
{
    for (size_t i = 0; i < ARRAY_LEN(new_files); i++) {
        const char *what,
            *once = run(new_files[i].agent, true, "{\n\t\"a\": 1\n}\n", &what, NULL);

        assert_string_equal(run(new_files[i].agent, true, once, &what, NULL), once);
        assert_null(what);
    }
}

static void registering_and_unregistering_gives_the_bytes_back(void **state) /* SY-6, SY-9 */
{
    static const char *const texts[] = {
        "{\"a\": 1}",
        "{\n  \"a\": 1\n}\n",
        "\xef\xbb\xbf{\r\n\t// mine\r\n\t\"a\": [1, 2,],\r\n}\r\n",
        "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": "
        "\"command\", \"command\": \"mine\"}]}]}, \"b\": 2}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [ { \"type\": "
        "\"command\", \"command\": \"mine\" } ] // kept\n      }\n    ]\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"preToolUse\": [\n      { \"command\": \"x\", \"bash\": \"y\" "
        "}\n"
        "    ],\n    \"disabled\": [\"z\"], \"enabled\": true\n  }\n}",
    };

    for (size_t i = 0; i < ARRAY_LEN(new_files); i++)
        for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
            struct hooks_edit t = { agent_find(str_of(new_files[i].agent)), &env, "symposium",
                                    false };
            const char *what;
            auto_buf there = BUF(1 << 20), back = BUF(1 << 20);

            if (t.agent->hooks.also[0].key && !t.agent->hooks.also[0].in_project)
                continue; /* Kiro's file becomes an agent's, and stays one */
            assert_true(hooks_put(&t, str_of(texts[k]), &there, &what, NULL));
            assert_string_equal(what, "hooks added");
            assert_true(hooks_take(&t, buf_str(&there), &back, &what, NULL));
            assert_string_equal(what, "hooks removed");
            assert_string_equal(buf_z(&back), texts[k]);
        }
}

struct row {
    const char *agent, *before, *after; /* after NULL: as before */
};

static void check(const struct row *rows, size_t n, bool put)
{
    for (size_t i = 0; i < n; i++) {
        const char *what, *got = run(rows[i].agent, put, rows[i].before, &what, NULL);

        assert_string_equal(got, rows[i].after ? rows[i].after : rows[i].before);
        assert_int_equal(what != NULL, rows[i].after != NULL);
    }
}

/* A whole Claude file, with something of the caller's in PreToolUse. */
#define CLAUDE(pre)                                                                    \
    "{\"hooks\":{\"PreToolUse\":[" pre "]," G("claude", "PostToolUse", "*", "") "," G( \
        "claude", "UserPromptSubmit", "*", "") "," G("claude", "SessionStart", "*",    \
                                                     "") "," G("claude", "Stop", "*", "") "}}"

#define OURS                                                                                   \
    "{\"matcher\":\"*\",\"hooks\":[{\"type\":\"command\",\"command\":\"symposium hook claude " \
    "PreToolUse\"}]}"
#define CMD(c) "{\"matcher\":\"*\",\"hooks\":[{\"type\":\"command\",\"command\":\"" c "\"}]}"
#define THEIRS \
    "{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"audit.sh\"}]}"

static void what_is_ours_is_kept_right_and_once(void **state) /* HK-2, SY-4 */
{
    static const struct row rows[] = {
        /* another person's hooks, before, behind and beside ours */
        { "claude", CLAUDE(THEIRS "," OURS), NULL },
        { "claude", CLAUDE(OURS "," THEIRS), NULL },
        { "claude",
          CLAUDE("{\"matcher\":\"*\",\"hooks\":[{\"command\":\"a\"},{\"type\":\"command\","
                 "\"command\":\"symposium hook claude PreToolUse\"}]}"),
          NULL },
        { "claude", CLAUDE(THEIRS),
          CLAUDE(THEIRS
                 ", {\"matcher\": \"*\", \"hooks\": [{\"type\": \"command\", \"command\": "
                 "\"symposium hook claude PreToolUse\"}]}") },
        /* the user's own matcher, timeout and members stay */
        { "claude",
          CLAUDE("{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":"
                 "\"symposium hook claude PreToolUse\",\"timeout\":5,\"x\":1}]}"),
          NULL },
        /* the older name is replaced, and of several ours one stays */
        { "claude",
          CLAUDE(CMD("cargo-agents hook claude pre-tool-use") "," THEIRS "," CMD(
              "symposium hook claude PreToolUse")),
          CLAUDE(THEIRS "," OURS) },
        { "claude", CLAUDE(CMD("cargo-agents hook claude pre-tool-use") "," THEIRS "," OURS),
          CLAUDE(THEIRS "," OURS) },
        { "claude", CLAUDE(OURS "," THEIRS "," OURS), CLAUDE(OURS "," THEIRS) },
        { "claude",
          CLAUDE(OURS ",{\"matcher\":\"x\",\"hooks\":[{\"command\":\"symposium hook claude "
                      "PreToolUse\"},{\"command\":\"b\"}]}"),
          CLAUDE(OURS ",{\"matcher\":\"x\",\"hooks\":[{\"command\":\"b\"}]}") },
        /* another event, agent or way of writing it is brought to ours, where it stands */
        { "claude", CLAUDE(CMD("symposium hook claude pre-tool-use")), CLAUDE(OURS) },
        { "claude", CLAUDE(CMD("symposium hook")), CLAUDE(OURS) },
        { "claude", CLAUDE(CMD("/nowhere/symposium hook claude PreToolUse")), CLAUDE(OURS) },
        /* not ours: only the name in it */
        { "claude", CLAUDE(CMD("symposium hooks") "," OURS), NULL },
        { "claude", CLAUDE(CMD("echo symposium hook claude PreToolUse") "," OURS), NULL },
        { "claude", CLAUDE(CMD("my-symposium hook claude PreToolUse") "," OURS), NULL },
        { "claude", CLAUDE(CMD("symposium mcp-serve") "," OURS), NULL },
    };

    check(rows, ARRAY_LEN(rows), true);
}

static void the_older_name_alone_is_replaced_by_ours(void **state) /* HK-2 */
{
    const char *what,
        *got = run("claude", true, CLAUDE(CMD("cargo-agents hook claude x")), &what, NULL);

    assert_string_equal(compact(got), CLAUDE(OURS));
    assert_string_equal(what, "hooks updated");
}

static void one_file_may_serve_two_agents(void **state)
{
    const char *what, *claude = run("claude", true, "", &what, NULL);
    const char *both = run("gemini", true, claude, &what, NULL);

    assert_string_equal(run("claude", true, both, &what, NULL), both);
    assert_string_equal(run("gemini", true, both, &what, NULL), both);
    assert_string_equal(compact(run("gemini", false, both, &what, NULL)), compact(claude));
}

static void another_path_to_a_symposium_that_runs_is_right(void **state) /* SY-3 */
{
    const char *text =
        arena_printf(&arena, CLAUDE(CMD("%s/bin/symposium hook claude PreToolUse")), home);
    const char *quoted =
        arena_printf(&arena, CLAUDE(CMD("'%s/bin/symposium' hook claude PreToolUse")), home);
    const char *what;

    assert_string_equal(run("claude", true, text, &what, NULL), text);
    assert_string_equal(run("claude", true, quoted, &what, NULL), quoted);
}

static void a_path_with_blanks_is_quoted_for_the_shell(void **state)
{
    struct hooks_edit t = { agent_find(STR("claude")), &env, "/o'p t/symposium", false };
    auto_buf once = BUF(1 << 20), again = BUF(1 << 20);
    const char *what;

    assert_true(hooks_put(&t, STR(""), &once, &what, NULL));
    assert_has(buf_z(&once), "'/o'\\\\''p t/symposium' hook claude Stop");
    assert_true(hooks_put(&t, buf_str(&once), &again, &what, NULL));
    assert_string_equal(buf_z(&again), buf_z(&once));
}

static void events_that_are_no_longer_ours_are_let_go(void **state) /* HK-2 */
{
    static const struct row rows[] = {
        { "claude",
          "{\"hooks\":{" G("claude", "PreToolUse", "*", "") "," G(
              "claude", "PostToolUse", "*",
              "") "," G("claude", "UserPromptSubmit", "*",
                        "") "," G("claude", "SessionStart", "*",
                                  "") "," G("claude", "Stop", "*",
                                            "") ",\"SessionEnd\":["
                                                "{\"hooks\":[{\"command\":"
                                                "\"cargo-agents hook "
                                                "claude session-end\"}]}]}"
                                                "}",
          CLAUDE(OURS) },
    };

    check(rows, ARRAY_LEN(rows), true);
}

static void unregistering_takes_ours_alone(void **state) /* SY-9 */
{
    static const struct row rows[] = {
        { "claude", CLAUDE(OURS), "{}" },
        { "claude", CLAUDE(THEIRS "," OURS), "{\"hooks\":{\"PreToolUse\":[" THEIRS "]}}" },
        { "claude", "{\"hooks\":{\"PreToolUse\":[" THEIRS "],\"Stop\":[]}}", NULL },
        { "claude", "{\"hooks\":[1]}", NULL },
        { "claude", "", NULL },
        { "claude", "{\"a\":1,\"hooks\":{\"Other\":[" CMD("cargo-agents hook x y") "]}}",
          "{\"a\":1}" },
        { "copilot", "{\"version\":1,\"hooks\":{" COPILOT("preToolUse") "}}",
          "{\"version\":1}" },
    };

    check(rows, ARRAY_LEN(rows), false);
}

static void a_file_that_is_not_what_it_should_be_is_refused(void **state) /* SY-5 */
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "{\"hooks\":", "line 1, column" },
        { "[]", "line 1, column 1" },
        { "{\n  \"hooks\": []\n}", "line 2, column 12" },
        { "{\n  \"hooks\": {\n\"PreToolUse\": {} }\n}", "line 3, column 15" },
        { "{\"hooks\": \"x\"}", "line 1, column 11" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error e = { 0 };
        const char *what;

        assert_null(run("claude", true, rows[i].text, &what, &e));
        assert_has(e.msg, rows[i].why);
    }
}

static void what_stands_around_keeps_its_bytes(void **state) /* SY-6 */
{
    static const char before[] =
        "\xef\xbb\xbf// top\r\n{\r\n\t\"permissions\" : { \"allow\" : [ "
        "\"Bash\" ] },\t/* x */\r\n\t\"hooks\" : {\r\n\t\t\"Stop\" : [ "
        "{ \"hooks\" : [ { \"type\" : \"command\", \"command\" : "
        "\"mine\" } ] } ],\r\n\t},\r\n}\r\n";
    const char *what, *after = run("claude", true, before, &what, NULL);

    assert_has(after,
               "// top\r\n{\r\n\t\"permissions\" : { \"allow\" : [ \"Bash\" ] },\t/* x */"
               "\r\n\t\"hooks\" : {\r\n\t\t\"Stop\" : [ { \"hooks\" : [ { \"type\" : "
               "\"command\", \"command\" : \"mine\" } ] }");
    assert_string_equal(run("claude", false, after, &what, NULL), before);
}

static void the_plan_goes_by_scope_and_by_what_is_configured(
    void **state) /* SY-9, SY-10, SY-11 */
{
    struct dirs dirs = { in_home("cfg"), in_home("cfg/cache"), in_home("cfg/logs"),
                         in_home("cfg/state") };
    struct str agents[] = { STR("codex"), STR("gemini") };
    struct sync_job job = {
        .dirs = &dirs, .env = &env, .agents = { agents, 2, 2 }, .project = true
    };
    struct sync_report r = SYNC_REPORT(&arena);
    struct sync_plan plan = SYNC_PLAN(&arena);
    auto_buf text = BUF(1 << 16);

    assert_true(file_mkdirs(in_home("ws/.claude"), NULL));
    assert_true(file_write_cache(in_home("ws/.claude/settings.json"), STR(CLAUDE(OURS)), NULL));
    /* Its MCP entry is in the same file: one rewrite. */
    sync_entries_plan(&plan, &job, &r);
    sync_hooks_plan(&plan, &job);
    assert_true(sync_plan_run(&plan, &dirs, false, &r));
    assert_true(file_exists(in_home("ws/.codex/hooks.json")));
    assert_false(file_exists(in_home(".codex/hooks.json")));
    assert_true(file_read(in_home("ws/.claude/settings.json"), &text, NULL));
    assert_string_equal(buf_z(&text), "{}");
    buf_clear(&text);
    assert_true(file_read(in_home("ws/.gemini/settings.json"), &text, NULL));
    assert_has(buf_z(&text), "mcp-serve");
    assert_has(buf_z(&text), "symposium hook gemini BeforeTool");
    buf_clear(&text);
    for (size_t i = 0; i < r.n; i++) {
        sync_line_put_text(&text, &r.v[i]);
        buf_addc(&text, '\n');
    }
    assert_has(buf_z(&text), "codex: Codex runs hooks once you have trusted them in /hooks");
    assert_has(buf_z(&text), "/ws/.codex/hooks.json: hooks added");
    assert_has(buf_z(&text), "/ws/.claude/settings.json: hooks removed");
    assert_false(r.failed);
    r = SYNC_REPORT(&arena);
    assert_true(sync_plan_run(&plan, &dirs, false, &r));
    for (size_t i = 0; i < r.n; i++) /* there already: nothing more to tell */
        assert_int_equal(r.v[i].kind, SYNC_UNCHANGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_agents_new_file_is_that_of_the_table),
        cmocka_unit_test(agents_without_hooks_have_none),
        cmocka_unit_test(hooks_lie_in_the_file_that_the_agent_reads),
        cmocka_unit_test(a_second_run_changes_nothing),
        cmocka_unit_test(registering_and_unregistering_gives_the_bytes_back),
        cmocka_unit_test(what_is_ours_is_kept_right_and_once),
        cmocka_unit_test(the_older_name_alone_is_replaced_by_ours),
        cmocka_unit_test(one_file_may_serve_two_agents),
        cmocka_unit_test(another_path_to_a_symposium_that_runs_is_right),
        cmocka_unit_test(a_path_with_blanks_is_quoted_for_the_shell),
        cmocka_unit_test(events_that_are_no_longer_ours_are_let_go),
        cmocka_unit_test(unregistering_takes_ours_alone),
        cmocka_unit_test(a_file_that_is_not_what_it_should_be_is_refused),
        cmocka_unit_test(what_stands_around_keeps_its_bytes),
        cmocka_unit_test(the_plan_goes_by_scope_and_by_what_is_configured),
    };

    return cmocka_run_group_tests(tests, set_up, home_remove);
}
