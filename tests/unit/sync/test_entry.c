/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SY-3, SY-4, SY-6: each row is a whole file before and after. */
#include "home.h"

#include "sync/entry.h"
#include "sync/sync.h"

static int set_up(void **state)
{
    home_make();
    put_program("old/symposium");
    put_program("old/other");
    return 0;
}

/* '@' in a text stands for the home directory. */
static const char *filled(const char *text)
{
    auto_buf b = BUF(1 << 16);

    for (; *text; text++)
        if (*text == '@')
            buf_addz(&b, home);
        else
            buf_addc(&b, *text);
    return arena_z(&arena, buf_str(&b));
}

struct row {
    const char *what, *agent, *before;
    const char *after; /* NULL: as before */
    const char *done;
};

static void check_row(const struct row *r)
{
    const char *why;
    struct entry t = { agent_find(str_of(r->agent)), &env, sync_command(&arena, &env, &why),
                       130 };
    const char *before = filled(r->before), *done = NULL;
    const char *after = r->after ? filled(r->after) : before;
    auto_buf out = BUF(1 << 16), again = BUF(1 << 16);
    struct error e = { 0 };

    if (!sync_entry_put(&t, str_of(before), &out, &done, &e))
        fail_msg("%s: %s", r->what, e.msg);
    if (strcmp(buf_z(&out), after) != 0)
        fail_msg("%s:\n%s\n-- instead of --\n%s", r->what, buf_z(&out), after);
    assert_string_equal(done ? done : "", r->done ? r->done : "");
    /* Idempotent to the byte. */
    assert_true(sync_entry_put(&t, buf_str(&out), &again, &done, NULL));
    assert_null(done);
    assert_str(buf_str(&again), buf_z(&out));
}

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_row(&rows[i]);
}

#define ADDED   "MCP entry added"
#define UPDATED "MCP entry updated"

static void each_agent_gets_the_entry_of_its_shape(void **state) /* SY-3 */
{
    static const struct row rows[] = {
        { "claude", "claude", "",
          "{\n  \"mcpServers\": {\n    \"symposium\": {\n      \"command\": \"symposium\",\n"
          "      \"args\": [\"mcp-serve\"]\n    }\n  }\n}\n",
          ADDED },
        { "codex", "codex", "model = \"x\"\n",
          "model = \"x\"\n\n[mcp_servers.symposium]\ncommand = \"symposium\"\n"
          "args = [\"mcp-serve\"]\ntool_timeout_sec = 130\n",
          ADDED },
        { "codex beside another", "codex", "[mcp_servers.a]\ncommand = 'a'\n",
          "[mcp_servers.a]\ncommand = 'a'\n\n[mcp_servers.symposium]\n"
          "command = \"symposium\"\nargs = [\"mcp-serve\"]\ntool_timeout_sec = 130\n",
          ADDED },
        { "copilot", "copilot", "{\"mcpServers\": {}}",
          "{\"mcpServers\": {\"symposium\": {\"type\": \"local\", \"command\": \"symposium\", "
          "\"args\": [\"mcp-serve\"]}}}",
          ADDED },
        { "gemini", "gemini", "{\"a\": 1}",
          "{\"a\": 1, \"mcpServers\": {\"symposium\": {\"command\": \"symposium\", \"args\": "
          "[\"mcp-serve\"]}}}",
          ADDED },
        { "goose", "goose", "GOOSE_MODEL: x\nextensions:\n  dev:\n    enabled: true\n",
          "GOOSE_MODEL: x\nextensions:\n  dev:\n    enabled: true\n  symposium:\n"
          "    name: symposium\n    type: stdio\n    cmd: symposium\n    args: [mcp-serve]\n"
          "    enabled: true\n",
          ADDED },
        { "opencode", "opencode", "{\n  // mine\n  \"theme\": \"x\", // dark\n}\n",
          "{\n  // mine\n  \"theme\": \"x\", // dark\n  \"mcp\": {\n    \"symposium\": {\n"
          "      \"type\": \"local\",\n      \"command\": [\"symposium\", \"mcp-serve\"],\n"
          "      \"enabled\": true\n    }\n  },\n}\n",
          ADDED },
        { "cursor", "cursor", "{\"mcpServers\": {}}",
          "{\"mcpServers\": {\"symposium\": {\"command\": \"symposium\", \"args\": "
          "[\"mcp-serve\", \"--workspace\", \"${workspaceFolder}\"]}}}",
          ADDED },
        { "vscode", "vscode", "{\"servers\": {}}",
          "{\"servers\": {\"symposium\": {\"type\": \"stdio\", \"command\": \"symposium\", "
          "\"args\": [\"mcp-serve\", \"--workspace\", \"${workspaceFolder}\"]}}}",
          ADDED },
    };

    check(rows, ARRAY_LEN(rows));
}

static void what_is_right_or_the_users_stays(void **state) /* SY-4, SY-6 */
{
    static const struct row rows[] = {
        { "in another layout", "claude",
          "{ \"mcpServers\":{\"symposium\":{ \"args\":[ \"mcp-serve\" "
          "],\"command\":\"symposium\" "
          "} } }" },
        { "another path that runs a symposium", "claude",
          "{\"mcpServers\":{\"symposium\":{\"command\":\"@/old/symposium\",\"args\":["
          "\"mcp-serve\"]}}}" },
        { "members of the user's own", "claude",
          "{\"mcpServers\":{\"symposium\":{\"command\":\"symposium\",\"args\":[\"mcp-serve\"],"
          "\"timeout\":5,\"disabled\":true,\"env\":{\"TOKEN\":\"x\"},\"alwaysAllow\":[]}}}" },
        { "opencode, disabled", "opencode",
          "{\"mcp\":{\"symposium\":{\"type\":\"local\",\"command\":[\"symposium\","
          "\"mcp-serve\"],\"enabled\":false}}}" },
        { "goose, disabled, as goose writes it", "goose",
          "extensions:\n  symposium:\n    enabled: false\n    type: stdio\n    name: "
          "symposium\n"
          "    cmd: symposium\n    args:\n    - mcp-serve\n    envs: {}\n    timeout: 300\n" },
        { "codex, with a time of the user's", "codex",
          "[mcp_servers]\nsymposium = { command = 'symposium', args = ['mcp-serve'], "
          "tool_timeout_sec = 5, enabled = false }\n" },
        { "codex, without that time", "codex",
          "mcp_servers.symposium.command = 'symposium'\n"
          "mcp_servers.symposium.args = ['mcp-serve']\n" },
        { "of duplicate entries the last one counts", "claude",
          "{\"mcpServers\":{\"symposium\":{\"command\":\"x\"},\"symposium\":{\"command\":"
          "\"symposium\",\"args\":[\"mcp-serve\"]}}}" },
    };

    check(rows, ARRAY_LEN(rows));
}

static void only_members_that_are_wrong_change(void **state) /* SY-4 */
{
    static const struct row rows[] = {
        { "a program that is gone", "claude",
          "{\"mcpServers\":{\"symposium\":{\"timeout\":5,\"command\":\"@/gone/symposium\", "
          "\"args\" :[ \"mcp-serve\" ]}}}",
          "{\"mcpServers\":{\"symposium\":{\"timeout\":5,\"command\":\"symposium\", "
          "\"args\" :[ \"mcp-serve\" ]}}}",
          UPDATED },
        { "another program", "claude",
          "{\"mcpServers\":{\"symposium\":{\"command\":\"@/old/other\",\"args\":[]}}}",
          "{\"mcpServers\":{\"symposium\":{\"command\":\"symposium\",\"args\":[\"mcp-serve\"]}}"
          "}",
          UPDATED },
        { "no arguments", "claude",
          "{\n  \"mcpServers\": {\n    \"symposium\": {\n      // old\n      \"command\": "
          "\"symposium\"\n    }\n  }\n}\n",
          "{\n  \"mcpServers\": {\n    \"symposium\": {\n      // old\n      \"command\": "
          "\"symposium\",\n      \"args\": [\"mcp-serve\"]\n    }\n  }\n}\n",
          UPDATED },
        { "opencode keeps the path that works", "opencode",
          "{\"mcp\":{\"symposium\":{\"type\":\"local\",\"command\":[\"@/old/symposium\"],"
          "\"enabled\":false}}}",
          "{\"mcp\":{\"symposium\":{\"type\":\"local\",\"command\":[\"@/old/symposium\", "
          "\"mcp-serve\"],\"enabled\":false}}}",
          UPDATED },
        { "goose", "goose",
          "extensions:\n  symposium: # ours\n    enabled: false\n    type: builtin\n    cmd: "
          "gone\n    args:\n    - serve\n    name: symposium\n",
          "extensions:\n  symposium: # ours\n    enabled: false\n    type: stdio\n    cmd: "
          "symposium\n    args:\n    - mcp-serve\n    name: symposium\n",
          UPDATED },
        { "codex", "codex",
          "[mcp_servers.symposium] # ours\ncommand = 'gone' # x\nargs = ['mcp-serve']\n"
          "[mcp_servers.symposium.env]\nA = '1'\n",
          "[mcp_servers.symposium] # ours\ncommand = \"symposium\" # x\nargs = ['mcp-serve']\n"
          "[mcp_servers.symposium.env]\nA = '1'\n",
          UPDATED },
    };

    check(rows, ARRAY_LEN(rows));
}

static void variables_are_carried(void **state) /* SY-3 */
{
    static const struct row rows[] = {
        { "claude", "claude", "{}",
          "{\n  \"mcpServers\": {\n    \"symposium\": {\n      \"command\": \"symposium\",\n"
          "      \"args\": [\"mcp-serve\"],\n      \"env\": {\n        \"SYMPOSIUM_HOME\": "
          "\"/s\",\n        \"XDG_STATE_HOME\": \"/t\"\n      }\n    }\n  }\n}",
          ADDED },
        { "opencode", "opencode", "{\"mcp\": {}}",
          "{\"mcp\": {\"symposium\": {\"type\": \"local\", \"command\": [\"symposium\", "
          "\"mcp-serve\"], \"environment\": {\"SYMPOSIUM_HOME\": \"/s\", \"XDG_STATE_HOME\": "
          "\"/t\"}, \"enabled\": true}}}",
          ADDED },
        { "goose", "goose", "",
          "extensions:\n  symposium:\n    name: symposium\n    type: stdio\n    cmd: "
          "symposium\n"
          "    args: [mcp-serve]\n    envs:\n      SYMPOSIUM_HOME: /s\n      XDG_STATE_HOME: "
          "/t\n    enabled: true\n",
          ADDED },
        { "codex", "codex", "",
          "[mcp_servers.symposium]\ncommand = \"symposium\"\nargs = [\"mcp-serve\"]\n"
          "env = { SYMPOSIUM_HOME = \"/s\", XDG_STATE_HOME = \"/t\" }\n"
          "tool_timeout_sec = 130\n",
          ADDED },
        { "into the user's own", "claude",
          "{\"mcpServers\": {\"symposium\": {\"command\": \"symposium\", \"args\": "
          "[\"mcp-serve\"], \"env\": {\"A\": \"1\", \"XDG_STATE_HOME\": \"/old\"}}}}",
          "{\"mcpServers\": {\"symposium\": {\"command\": \"symposium\", \"args\": "
          "[\"mcp-serve\"], \"env\": {\"A\": \"1\", \"XDG_STATE_HOME\": \"/t\", "
          "\"SYMPOSIUM_HOME\": \"/s\"}}}}",
          UPDATED },
        { "codex, into a table of its own", "codex",
          "[mcp_servers.symposium]\ncommand = 'symposium'\nargs = ['mcp-serve']\n\n"
          "[mcp_servers.symposium.env]\nA = '1'\n",
          "[mcp_servers.symposium]\ncommand = 'symposium'\nargs = ['mcp-serve']\n\n"
          "[mcp_servers.symposium.env]\nA = '1'\nSYMPOSIUM_HOME = \"/s\"\n"
          "XDG_STATE_HOME = \"/t\"\n",
          UPDATED },
    };
    struct key_value carried[] = { { STR("SYMPOSIUM_HOME"), STR("/s") },
                                   { STR("XDG_STATE_HOME"), STR("/t") } };

    env.carried = (struct key_values){ carried, 2, 2 };
    check(rows, ARRAY_LEN(rows));
}

static void a_wrong_container_is_an_error_with_its_place(void **state) /* SY-5, SEC-81 */
{
    static const struct {
        const char *agent, *text, *error;
    } rows[] = {
        { "claude", "{\n  \"mcpServers\": []}",
          "line 2, column 17: 'mcpServers' must be an object" },
        { "claude", "{\"mcpServers\": {\"symposium\": 1}}", "'symposium' must be an object" },
        { "claude", "[]", "line 1, column 1: the document must be an object" },
        { "claude", "{\"a\": 1,,}", "line 1, column " },
        { "claude", "{\"mcpServers\": {", "line 1, column " },
        { "codex", "mcp_servers = 1\n", "line 1, column 1: 'mcp_servers' must be a table" },
        { "codex", "[mcp_servers\n", "line 1, column " },
        { "codex", "a = 1\na = 2\n", "line 2, column " },
        { "goose", "extensions: []\n", "line 1, column 13: 'extensions' must be a mapping" },
        { "goose", "extensions: {a: {}}\n", "write it in block style" },
        { "goose", "extensions:\n\ta: 1\n", "line 2, column " },
        { "goose", "- 1\n", "line 1, column 1: the document must be an object" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct entry t = { agent_find(str_of(rows[i].agent)), &env, "symposium", 130 };
        const char *done;
        auto_buf out = BUF(1 << 16);
        struct error e = { 0 };

        assert_false(sync_entry_put(&t, str_of(rows[i].text), &out, &done, &e));
        assert_int_equal(e.kind, ERR_INVALID);
        assert_has(e.msg, rows[i].error);
        assert_int_equal(out.n, 0);
    }
}

static void only_what_runs_a_symposium_is_taken_out(void **state) /* SY-9 */
{
    static const struct {
        enum sync_format format;
        const char *container, *before, *after;
    } rows[] = {
        { SYNC_JSON, "mcpServers",
          "{\"mcpServers\": {\"symposium\": {\"command\": \"/x/cargo-agents\"}, \"b\": {}}}",
          "{\"mcpServers\": {\"b\": {}}}" },
        { SYNC_JSON, NULL, "{\"symposium\": {\"command\": \"x\", \"args\": [\"mcp-serve\"]}}",
          "{}" },
        { SYNC_JSON, "mcp", "{\"mcp\": {\"symposium\": {\"command\": [\"symposium\"]}}}",
          "{}" },
        { SYNC_TOML, "mcp_servers",
          "a = 1\n\n[mcp_servers.symposium]\ncommand = "
          "'symposium'\n[mcp_servers.symposium.env]\n"
          "B = '1'\n\n[c]\n",
          "a = 1\n\n[c]\n" },
        { SYNC_YAML, "extensions", "extensions:\n  symposium:\n    cmd: symposium\na: 1\n",
          "a: 1\n" },
        { SYNC_YAML, "extensions", "a: 1\nextensions:\n  symposium:\n    cmd: symposium\n",
          "a: 1\n" },
        { SYNC_YAML, "extensions",
          "extensions:\n  # mine\n  symposium:\n    cmd: symposium\na: 1\n",
          "  # mine\na: 1\n" },
        { SYNC_JSON, "mcp",
          "{\n  \"a\": 1,\n  \"mcp\": {\n    // mine\n    \"symposium\": {\"command\": "
          "\"symposium\"}\n  }\n}\n",
          "{\n  \"a\": 1,\n  \"mcp\": {\n    // mine\n  }\n}\n" },
        { SYNC_JSON, "mcpServers",
          "{\"mcpServers\": {\"symposium\": {\"command\": \"npx\", \"args\": [\"x\"]}}}",
          NULL },
        { SYNC_JSON, "mcpServers", "{\"mcpServers\": {\"symposium\": {\"url\": \"http://x\"}}}",
          NULL },
        { SYNC_JSON, "mcpServers", "{\"mcpServers\": 1}", NULL },
        { SYNC_YAML, "extensions", "", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct entry_place p = { rows[i].format, rows[i].container };
        auto_buf out = BUF(1 << 16);
        const char *done;

        assert_true(sync_entry_take(&p, str_of(rows[i].before), &out, &done, NULL));
        assert_str(buf_str(&out), rows[i].after ? rows[i].after : rows[i].before);
        assert_int_equal(done != NULL, rows[i].after != NULL);
    }
}

/* Put in and taken out again, a text is what it was, byte by byte. */
static void a_container_that_we_made_goes_with_our_entry(void **state) /* SY-9 */
{
    static const struct {
        const char *agent, *before;
        const char *after; /* NULL: as before */
    } rows[] = {
        { "claude", "{\n  \"a\": 1\n}\n", NULL },
        { "claude", "{\"a\": 1}", NULL },
        { "claude", "{}", "{\n}" },
        { "codex", "a = 1\n", NULL },
        { "codex", "a = 1\n\n[b]\nc = 2\n", NULL },
        { "gemini", "{\r\n\t\"a\": [1]\r\n}\r\n", NULL },
        { "goose", "a: 1\n", NULL },
        { "goose", "# x\na: 1\nb:\n  - 2\n", NULL },
        { "opencode", "{\n  // x\n  \"a\": 1, // y\n}\n", NULL },
        { "opencode", "{\"$schema\": \"x\"}\n", NULL },
        { "qwen", "{\n  \"a\": {\"mcpServers\": {}}\n}\n", NULL },
        { "opencode", "{\"mcp\": {\"b\": 1}}\n", NULL },
        { "copilot", "{}", "{\n  \"mcpServers\": {\n  }\n}" }, /* it refuses a file without */
        { "vscode", "{\"inputs\": []}", "{\"inputs\": [], \"servers\": {}}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct agent *g = agent_find(str_of(rows[i].agent));
        struct entry t = { g, &env, "symposium", 130 };
        struct entry_place p = { g->format, g->container, g->mcp_only & MCP_ONLY_USER };
        auto_buf with = BUF(1 << 16), out = BUF(1 << 16);
        const char *done;
        struct error e = { 0 };

        if (!sync_entry_put(&t, str_of(rows[i].before), &with, &done, &e) ||
            !sync_entry_take(&p, buf_str(&with), &out, &done, &e))
            fail_msg("%s %s: %s", rows[i].agent, rows[i].before, e.msg);
        assert_str(buf_str(&out), rows[i].after ? rows[i].after : rows[i].before);
    }
}

static void the_command_is_the_name_only_where_that_is_this_program(void **state) /* SY-3 */
{
    const char *why;

    assert_string_equal(sync_command(&arena, &env, &why), "symposium");
    assert_null(why);
    assert_int_equal(symlink(in_home("bin/symposium"), in_home("link")), 0);
    env.self = in_home("link");
    assert_string_equal(sync_command(&arena, &env, &why), "symposium");
    env.self = in_home("old/symposium");
    assert_string_equal(sync_command(&arena, &env, &why), env.self);
    assert_has(why, "is another program");
    env.path = "/nowhere";
    assert_string_equal(sync_command(&arena, &env, &why), env.self);
    assert_has(why, "there is no 'symposium' in PATH");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, home_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_agent_gets_the_entry_of_its_shape),
        TEST(what_is_right_or_the_users_stays),
        TEST(only_members_that_are_wrong_change),
        TEST(variables_are_carried),
        TEST(a_wrong_container_is_an_error_with_its_place),
        TEST(only_what_runs_a_symposium_is_taken_out),
        TEST(a_container_that_we_made_goes_with_our_entry),
        TEST(the_command_is_the_name_only_where_that_is_this_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
