/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "sync/import_server.h"

static bool read_entry(struct arena *a, const char *agent, const char *json,
                       struct server_def *def, struct error *e)
{
    auto_json doc = { 0 };

    assert_true(json_parse(&doc, str_of(json), e));
    return import_server_read(def, a, agent_find(str_of(agent)), doc.root, e);
}

/* SY-22: each agent's own form. */
static void entries_become_servers_of_a_plugin(void **state)
{
    static const struct {
        const char *agent, *json, *toml;
    } cases[] = {
        { "claude", "{\"command\":\"npx\",\"args\":[\"-y\",\"x\"]}",
          "command = \"npx\"\nargs = [\"-y\", \"x\"]\n" },
        { "claude",
          "{\"type\":\"stdio\",\"command\":\"x\",\"args\":[],\"env\":{\"A\":\"${B:-c}\"}}",
          "command = \"x\"\nenv = { A = \"${B:-c}\" }\n" },
        { "opencode",
          "{\"type\":\"local\",\"command\":[\"x\",\"--t\",\"{env:T}\"],"
          "\"environment\":{\"a.b\":\"1\"},\"enabled\":true}",
          "command = \"x\"\nargs = [\"--t\", \"${T}\"]\nenv = { \"a.b\" = \"1\" }\n" },
        { "goose",
          "{\"name\":\"x\",\"type\":\"stdio\",\"cmd\":\"uvx\",\"args\":[\"s\"],\"enabled\":"
          "true,"
          "\"envs\":{\"P\":8080},\"env_keys\":[],\"timeout\":300,\"bundled\":null,"
          "\"description\":\"d\",\"available_tools\":[]}",
          "command = \"uvx\"\nargs = [\"s\"]\nenv = { P = \"8080\" }\n"
          "tool-call-timeout-secs = 300\n" },
        { "codex",
          "{\"command\":\"x\",\"cwd\":\"/"
          "w\",\"startup_timeout_sec\":20,\"tool_timeout_sec\":1.5,"
          "\"enabled_tools\":[\"a\"]}",
          "command = \"x\"\ncwd = \"/w\"\nstartup-timeout-secs = 20\n"
          "tool-call-timeout-secs = 1\nenabled-tools = [\"a\"]\n" },
        { "gemini",
          "{\"command\":\"x\",\"env\":{\"K\":\"$MY_KEY\",\"L\":\"a$b${C}\"},\"timeout\":600000,"
          "\"trust\":false,\"excludeTools\":[\"rm\"]}",
          "command = \"x\"\nenv = { K = \"${MY_KEY}\", L = \"a${b}${C}\" }\n"
          "tool-call-timeout-secs = 600\ndisabled-tools = [\"rm\"]\n" },
        { "claude", "{\"command\":\"x\",\"args\":[\"$A\",\"${1}\",\"a}b\",\"${\"]}",
          "command = \"x\"\nargs = [\"$A\", \"${1}\", \"a}b\", \"${\"]\n" },
        { "vscode",
          "{\"type\":\"stdio\",\"command\":\"x\",\"args\":[\"${env:HOME}/d\",\"${userHome}\"],"
          "\"cwd\":\"${workspaceFolder}\"}",
          "command = \"x\"\nargs = [\"${HOME}/d\", \"${HOME}\"]\n" },
        { "copilot", "{\"type\":\"local\",\"command\":\"x\",\"args\":[],\"tools\":[\"*\"]}",
          "command = \"x\"\n" },
        { "cline",
          "{\"command\":\"x\",\"disabled\":false,\"autoApprove\":[\"a\"],\"timeout\":60}",
          "command = \"x\"\ntool-call-timeout-secs = 60\n" },
        { "claude",
          "{\"type\":\"http\",\"url\":\"https://x.example/"
          "mcp\",\"headers\":{\"Authorization\":\"Bearer "
          "${T}\"}}",
          "url = \"https://x.example/mcp\"\nheaders = { Authorization = \"Bearer ${T}\" }\n" },
        { "claude", "{\"type\":\"sse\",\"url\":\"https://x.example/sse\"}",
          "url = \"https://x.example/sse\"\ntransport = \"sse\"\n" },
        { "gemini",
          "{\"httpUrl\":\"https://x.example\",\"headers\":{\"X\":\"$K\"},\"trust\":true}",
          "url = \"https://x.example\"\nheaders = { X = \"${K}\" }\n" },
        { "codex",
          "{\"url\":\"https://"
          "x.example\",\"bearer_token_env_var\":\"T\",\"http_headers\":{\"R\":"
          "\"eu\"},\"env_http_headers\":{\"K\":\"V\"}}",
          "url = \"https://x.example\"\nheaders = { Authorization = \"Bearer ${T}\", R = "
          "\"eu\", K "
          "= \"${V}\" }\n" },
        { "opencode",
          "{\"type\":\"remote\",\"url\":\"https://x.example\",\"enabled\":true,\"oauth\":false,"
          "\"headers\":{\"A\":\"{env:A}\"}}",
          "url = \"https://x.example\"\nheaders = { A = \"${A}\" }\n" },
        { "goose",
          "{\"name\":\"x\",\"type\":\"streamable_http\",\"uri\":\"https://"
          "x.example\",\"envs\":{},"
          "\"env_keys\":[],\"headers\":{},\"enabled\":true,\"timeout\":300}",
          "url = \"https://x.example\"\ntool-call-timeout-secs = 300\n" },
        { "cline",
          "{\"type\":\"streamableHttp\",\"url\":\"https://x.example\",\"disabled\":false}",
          "url = \"https://x.example\"\n" },
        { "vscode", "{\"type\":\"http\",\"url\":\"https://${env:HOST}/mcp\"}",
          "url = \"https://${HOST}/mcp\"\n" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_buf toml = BUF(1 << 16);
        struct server_def def;
        struct error e;

        if (!read_entry(&a, cases[i].agent, cases[i].json, &def, &e))
            fail_msg("%s: %s", cases[i].json, e.msg);
        def.name = STR("n");
        import_put_toml(&toml, &def);
        assert_has(buf_z(&toml), "name = \"n\"\n");
        assert_string_equal(buf_z(&toml) + strlen("name = \"n\"\n"), cases[i].toml);
    }
}

/* SY-22: disabled entries, those with input prompts, and what would not be the same stay. */
static void what_a_plugin_cannot_say_stays(void **state)
{
    static const struct {
        const char *agent, *json, *why;
    } cases[] = {
        { "claude", "{\"command\":\"x\",\"disabled\":true}", "disabled" },
        { "opencode", "{\"type\":\"local\",\"command\":[\"x\"],\"enabled\":false}",
          "disabled" },
        { "claude", "{\"type\":\"ws\",\"url\":\"wss://x\"}", "neither stdio nor http nor sse" },
        { "gemini", "{\"httpUrl\":\"https://x\",\"oauth\":{\"clientId\":\"a\"}}",
          "no place for its 'oauth'" },
        { "vscode",
          "{\"type\":\"http\",\"url\":\"https://x\",\"headers\":{\"A\":\"${input:t}\"}}",
          "asks for input" },
        { "claude", "{\"url\":\"https://x\",\"command\":\"x\"}", "what only a program has" },
        { "claude", "{\"url\":\"https://x\",\"env\":{\"A\":\"b\"}}",
          "what only a program has" },
        { "claude", "{\"command\":\"x\",\"headers\":{\"A\":\"b\"}}", "headers, and no URL" },
        { "claude", "{\"url\":7}", "'url' is not a URL" },
        { "codex", "{\"url\":\"https://x\",\"bearer_token_env_var\":\"a b\"}",
          "name of a variable" },
        { "codex", "{\"url\":\"https://x\",\"env_http_headers\":{\"A\":\"b c\"}}",
          "names of variables" },
        { "goose", "{\"type\":\"builtin\",\"name\":\"developer\",\"enabled\":true}",
          "a part of Goose" },
        { "vscode", "{\"command\":\"x\",\"args\":[\"${input:token}\"]}", "asks for input" },
        { "vscode", "{\"command\":\"x\",\"env\":{\"A\":\"${input:t}\"}}", "asks for input" },
        { "vscode", "{\"command\":\"x\",\"args\":[\"${config:a.b}\"]}", "only to VS Code" },
        { "cursor", "{\"command\":\"x\",\"args\":[\"${workspaceFolder}/d\"]}",
          "only to Cursor" },
        { "opencode", "{\"command\":[\"x\",\"{file:~/t}\"]}", "only to OpenCode" },
        { "vscode", "{\"command\":\"x\",\"envFile\":\".env\"}", "no place for its 'envFile'" },
        { "goose", "{\"cmd\":\"x\",\"env_keys\":[\"T\"]}", "no place for its 'env_keys'" },
        { "codex", "{\"command\":\"x\",\"env_vars\":[\"T\"]}", "no place for its 'env_vars'" },
        { "claude", "{\"command\":\"${P}/x\"}", "variable in its name" },
        { "claude", "{\"command\":\"x\",\"cwd\":\"${P}\"}", "'cwd' has a variable" },
        { "claude", "{\"command\":\"\"}", "not a command" },
        { "claude", "{\"args\":[]}", "neither a command nor a URL" },
        { "claude", "{\"command\":\"x\",\"args\":\"y\"}", "'args' is not a list" },
        { "claude", "{\"command\":\"x\",\"env\":{\"A=B\":\"c\"}}", "names of variables" },
        { "claude", "{\"command\":\"x\",\"env\":{\"A\":[]}}", "object of strings" },
        { "claude", "{\"command\":\"x\",\"command\":\"y\"}", "twice" },
        { "claude", "[]", "no object" },
        { "gemini", "{\"command\":\"x\",\"includeTools\":[],\"excludeTools\":[\"a\"]}",
          "allows and forbids" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct server_def def;
        struct error e;

        if (read_entry(&a, cases[i].agent, cases[i].json, &def, &e))
            fail_msg("%s was taken", cases[i].json);
        assert_has(e.msg, cases[i].why);
    }
}

static void literal_secrets_are_seen(void **state)
{
    static const struct {
        const char *json, *where;
    } cases[] = {
        { "{\"command\":\"x\",\"env\":{\"API_KEY\":\"abcdef123\"}}", "API_KEY" },
        { "{\"command\":\"x\",\"env\":{\"GITHUB_TOKEN\":\"ghp_xxxxxxxx\"}}", "GITHUB_TOKEN" },
        { "{\"command\":\"x\",\"env\":{\"WHAT\":\"sk-abcdefgh\"}}", "WHAT" },
        { "{\"command\":\"x\",\"env\":{\"API_KEY\":\"${API_KEY}\"}}", NULL },
        { "{\"command\":\"x\",\"env\":{\"API_KEY\":\"\"}}", NULL },
        { "{\"command\":\"x\",\"env\":{\"LOG_LEVEL\":\"verbose\"}}", NULL },
        { "{\"command\":\"x\",\"args\":[\"--token\",\"abcdef123\"]}", "argument 2" },
        { "{\"command\":\"x\",\"args\":[\"--api-key=abcdef123\"]}", "--api-key" },
        { "{\"command\":\"x\",\"args\":[\"--token\",\"${T}\"]}", NULL },
        { "{\"command\":\"x\",\"args\":[\"postgres://u:pass@h/db\"]}", "argument 1" },
        { "{\"command\":\"x\",\"args\":[\"postgres://u:${P}@h/db\"]}", NULL },
        { "{\"command\":\"x\",\"args\":[\"-y\",\"@scope/server\"]}", NULL },
        { "{\"url\":\"https://x\",\"headers\":{\"Authorization\":\"Bearer abcdef\"}}",
          "header 'Authorization'" },
        { "{\"url\":\"https://x\",\"headers\":{\"Authorization\":\"Bearer ${T}\"}}", NULL },
        { "{\"url\":\"https://x\",\"headers\":{\"X-Region\":\"europe-1\"}}", NULL },
        { "{\"url\":\"https://x/?api_key=abcdef\"}", "its URL" },
        { "{\"url\":\"https://x/?a=b&api_key=${K}\"}", NULL },
        { "{\"url\":\"https://u:pass@x/\"}", "its URL" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct server_def def;
        struct error e;
        const char *where;

        assert_true(read_entry(&a, "claude", cases[i].json, &def, &e));
        where = import_server_secret(&a, &def);
        if (!cases[i].where != !where)
            fail_msg("%s: %s", cases[i].json, where ? where : "nothing");
        if (where)
            assert_has(where, cases[i].where);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_become_servers_of_a_plugin),
        cmocka_unit_test(what_a_plugin_cannot_say_stays),
        cmocka_unit_test(literal_secrets_are_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
