/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../plugins/tree.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/rand.h"
#include "sync/config_file.h"
#include "sync/import.h"
#include "sync/rewrite.h"
#include "sync/sync.h"

/* A home, a project and our own directories, in one tree. */
struct desk {
    struct tree t;
    struct dirs dirs;
    struct sync_env env;
    struct import im;
    struct sync_report report;
    const char *said;
};

static struct desk *desk_new(void)
{
    struct desk *d = NEW(struct desk);

    d->t = tree_new();
    d->dirs = (struct dirs){ .config = tree_path(&d->t, "cfg"),
                             .cache = tree_path(&d->t, "cfg/cache"),
                             .logs = tree_path(&d->t, "cfg/logs"),
                             .state = tree_path(&d->t, "cfg/state") };
    d->env = (struct sync_env){ .home = tree_path(&d->t, "home"),
                                .root = tree_path(&d->t, "ws"),
                                .path = "/bin",
                                .self = "/bin/sh" };
    tree_put(&d->t, "home/", "");
    tree_put(&d->t, "ws/", "");
    return d;
}

static void desk_free(struct desk *d)
{
    tree_free(&d->t);
    free(d);
}

static const char *content(struct desk *d, const char *rel)
{
    auto_buf b = BUF(1 << 20);

    return file_read(tree_path(&d->t, rel), &b, NULL) ? arena_z(&d->t.a, buf_str(&b)) : NULL;
}

static void scan(struct desk *d)
{
    struct error e;

    d->im = (struct import){ .a = &d->t.a, .dirs = &d->dirs, .env = &d->env };
    d->report = SYNC_REPORT(&d->t.a);
    import_scan(&d->im);
    for (size_t i = 0; i < d->im.entries.n; i++)
        if (d->im.entries.v[i].state == IMPORT_ASKS)
            import_stay(&d->im, &d->im.entries.v[i], "not asked");
    if (!import_name(&d->im, &e))
        fail_msg("%s", e.msg);
}

/* All of it but starting the servers, as the command does it. */
static void move(struct desk *d)
{
    struct config config;
    struct sync_job job = { .dirs = &d->dirs, .env = &d->env, .tool_timeout_secs = 70 };
    struct error e;

    config_load(&config, &d->dirs, &d->t.a);
    d->im.new_agents = import_agents(&d->im, &config);
    if (!import_begin(&d->im, &e) || !import_write(&d->im, &e))
        fail_msg("%s", e.msg);
    assert_true(import_take_out(&d->im, &d->report));
    for (size_t i = 0; i < d->im.new_agents.n; i++)
        assert_true(config_add_agent(&d->dirs, d->im.new_agents.v[i], NULL, &e));
    config_load(&config, &d->dirs, &d->t.a);
    job.agents = config.agents;
    assert_true(sync_entries_apply(&job, &d->report));
    assert_true(import_end(&d->im, &e));
}

static void say(struct desk *d)
{
    auto_buf b = BUF(1 << 20);

    for (size_t i = 0; i < d->report.n; i++) {
        sync_line_put_text(&b, &d->report.v[i]);
        buf_addc(&b, '\n');
    }
    d->said = arena_z(&d->t.a, buf_str(&b));
}

static bool undo(struct desk *d)
{
    struct error e = { 0 };
    bool ok;

    d->report = SYNC_REPORT(&d->t.a);
    ok = import_undo(&d->t.a, &d->dirs, &d->report, &e);
    say(d);
    if (!ok)
        d->said = arena_printf(&d->t.a, "%s%s\n", d->said, e.msg);
    return ok;
}

/* "agent name state->server" of all entries */
static const char *plan_of(struct desk *d)
{
    const char *all = "";

    for (size_t i = 0; i < d->im.entries.n; i++) {
        const struct import_entry *k = &d->im.entries.v[i];

        all = arena_printf(&d->t.a, "%s%s%s:%.*s", all, i ? " " : "", k->agent->name,
                           STR_F(k->name));
        all = arena_printf(&d->t.a, "%s%s%.*s", all,
                           k->state != IMPORT_MOVES ? "-"
                           : k->again               ? "="
                                                    : ">",
                           STR_F(k->state == IMPORT_MOVES ? k->def.name : STR("")));
    }
    return all;
}

/* Every agent's file as somebody may have written it: comments, CRLF, byte order marks. */
static const struct {
    const char *path, *text;
} files[] = {
    { "home/.claude.json",
      "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"gh\": {\n      \"type\": "
      "\"stdio\",\n"
      "      \"command\": \"gh-mcp\",\n      \"args\": [\"--all\"],\n      \"env\": {}\n    "
      "},\n"
      "    \"web\": { \"type\": \"http\", \"url\": \"https://x.example\" }\n  },\n"
      "  \"big\": 12345678901234567890123, \"projects\": {}\n}" },
    { "ws/.mcp.json", "{ \"mcpServers\": { \"proj\": { \"command\": \"proj-mcp\" } } }\n" },
    { "home/.codex/config.toml",
      "# mine\r\nmodel = \"o\"\r\n\r\n[mcp_servers.gh]   # the same\r\ncommand = \"gh-mcp\"\r\n"
      "args = [\"--all\"]\r\n\r\n[mcp_servers.db.env]\r\nU = '1'\r\n\r\n[mcp_servers.db]\r\n"
      "command = \"db\"\r\n[profiles.x]\r\ny = 1\r\n" },
    { "ws/.codex/config.toml", "[mcp_servers]\nt = { command = \"t\" } # inline\n" },
    { "home/.copilot/mcp-config.json",
      "\xEF\xBB\xBF{\r\n\t\"mcpServers\": {\r\n\t\t\"cop\": {\"type\":\"local\","
      "\"command\":\"cop\",\"args\":[],\"tools\":[\"*\"]}\r\n\t}\r\n}\r\n" },
    { "home/.gemini/settings.json",
      "{\n  // colours\n  \"theme\": \"x\",\n  \"mcpServers\": {\n    // one\n    \"gem\": "
      "{ \"command\": \"gem\", \"trust\": true },\n    \"off\": {\"command\":\"o\","
      "\"disabled\":true}, // two\n  },\n}\n" },
    { "ws/.gemini/settings.json", "{\"mcpServers\":{\"gem\":{\"command\":\"another\"}}}" },
    { "home/.gemini/config/mcp_config.json",
      "{\"mcpServers\":{\"anti\":{\"command\":\"a\"}}}" },
    { "home/.config/goose/config.yaml",
      "# top\nGOOSE_MODEL: x\nextensions:\n  developer:\n    type: builtin\n    enabled: true\n"
      "  # my own\n  gs:\n    name: gs\n    type: stdio\n    cmd: gs-mcp\n    args:\n    - "
      "--x\n"
      "    enabled: true   # yes\n    envs: {}\nother: [1, 2]\n" },
    { "home/.kiro/settings/mcp.json",
      "{\n    \"mcpServers\": {\n        \"kiro\": {\n            \"command\": \"k\",\n"
      "            \"autoApprove\": []\n        }\n    }\n}\n" },
    { "home/.config/opencode/opencode.json",
      "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"oc\": "
      "{\"type\": \"local\", \"command\": [\"oc\", \"-s\"], \"enabled\": true}\n  }\n}\n" },
    { "ws/opencode.jsonc",
      "/* p */ {\"mcp\":{\"ocp\":{\"type\":\"local\",\"command\":[\"p\"],},},}" },
    { "home/.cursor/mcp.json", "{\r\n  \"mcpServers\": {\r\n    \"cur\": { // c\r\n      "
                               "\"command\": \"cur\"\r\n    },\r\n"
                               "  }\r\n}" },
    { "ws/.vscode/mcp.json",
      "{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"vs\": {\n\t\t\t\"type\": \"stdio\",\n"
      "\t\t\t\"command\": \"vs\",\n\t\t\t\"args\": [\"${env:HOME}\"]\n\t\t},\n"
      "\t\t\"asks\": {\"command\": \"a\", \"env\": {\"T\": \"${input:t}\"}}\n\t}\n}\n" },
    { "home/.config/Code/User/mcp.json", "{\"servers\":{\"vsu\":{\"command\":\"u\"}}}\n" },
    { "home/.qwen/settings.json", "{\"mcpServers\":{\"qw\":{\"command\":\"q\"}}}\n\n" },
    { "home/.cline/data/settings/cline_mcp_settings.json",
      "{\n  \"mcpServers\": {\n    \"cl\": {\n      \"command\": \"cl\",\n      \"timeout\": "
      "60,\n"
      "      \"disabled\": false\n    }\n  }\n}\n" },
    { "home/.pi/agent/mcp.json", "{\"mcpServers\":{\"pi\":{\"command\":\"pi-x\"}}}" },
    { "ws/.kiro/settings/mcp.json", "" },
    { "cfg/config.toml", "# my settings\r\nauto-sync = false\r\n" },
};

static void put_files(struct desk *d)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        tree_put(&d->t, files[i].path, files[i].text);
}

/* All regular files of a directory of the tree, with their contents. */
static const char *dump(struct desk *d, const char *dir)
{
    const char *list = tree_path(&d->t, "list");
    const char *cmd =
        arena_printf(&d->t.a,
                     "cd %s && find %s -type f ! -path '*/state/*' | LC_ALL=C sort | "
                     "xargs -d '\\n' -r sha256sum > %s",
                     d->t.root, dir, list);

    assert_int_equal(system(cmd), 0);
    return content(d, "list");
}

/* SY-22, acceptance: import, then undo, leaves every file as it was, to the byte. */
static void import_and_undo_leave_every_file_as_it_was(void **state)
{
    struct desk *d = desk_new();
    const char *before;

    (void)state;
    put_files(d);
    before = dump(d, "home ws cfg");
    for (int round = 0; round < 2; round++) {
        scan(d);
        assert_int_equal(d->im.problems.n, 0);
        assert_int_equal(import_moving(&d->im), 20);
        move(d);
        say(d);
        assert_false(d->report.failed);
        for (size_t i = 0; i + 2 < ARRAY_LEN(files); i++) /* each of the agents' was changed */
            assert_string_not_equal(content(d, files[i].path), files[i].text);
        assert_has(content(d, "home/.claude.json"), "\"symposium\"");
        assert_has(content(d, "cfg/plugins/imported/SYMPOSIUM.toml"),
                   "url = \"https://x.example\"");
        assert_lacks(content(d, "home/.claude.json"), "gh-mcp");
        assert_lacks(content(d, "home/.config/goose/config.yaml"), "gs-mcp");
        assert_has(content(d, "home/.config/goose/config.yaml"), "developer:");
        assert_has(content(d, "ws/.vscode/mcp.json"), "${input:t}");
        assert_has(content(d, "cfg/plugins/imported/SYMPOSIUM.toml"), "depends-on = [\"*\"]");
        assert_has(content(d, "ws/SYMPOSIUM.toml"), "proj-mcp");
        assert_true(undo(d));
        assert_string_equal(dump(d, "home ws cfg"), before);
    }
    assert_false(undo(d));
    assert_has(d->said, "there is no import to undo");
    desk_free(d);
}

/* SY-22 */
static void equal_servers_move_once_and_unequal_names_get_numbers(void **state)
{
    struct desk *d = desk_new();
    struct error e;
    const char *text;

    (void)state;
    tree_put(&d->t, "home/.claude.json",
             "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\"same\":{\"command\":\"x\"},"
             "\"b\":{\"command\":\"b\",\"env\":{\"M\":\"1\",\"N\":\"2\"}}}}");
    tree_put(&d->t, "home/.cursor/mcp.json",
             "{\"mcpServers\":{\"a\":{\"command\":\"y\"},\"b\":{\"command\":\"b\","
             "\"args\":[],\"env\":{\"N\":\"2\",\"M\":\"1\"}}}}");
    tree_put(&d->t, "home/.qwen/settings.json", "{\"mcpServers\":{\"a\":{\"command\":\"z\"}}}");
    tree_put(&d->t, "ws/.mcp.json",
             "{\"mcpServers\":{\"a\":{\"command\":\"p\"},\"a2\":{\"command\":\"x\"}}}");
    scan(d);
    assert_string_equal(plan_of(d),
                        "claude:a>a claude:same=a claude:b>b claude:a>a-4 claude:a2- "
                        "cursor:a>a-2 cursor:b=b qwen:a>a-3");
    move(d);
    text = content(d, "cfg/plugins/imported/SYMPOSIUM.toml");
    assert_string_equal(text, "# Servers that 'symposium import' found in agents' files.\n"
                              "name = \"imported\"\ndepends-on = [\"*\"]\n\n"
                              "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\n\n"
                              "[[mcp_servers]]\nname = \"b\"\ncommand = \"b\"\n"
                              "env = { M = \"1\", N = \"2\" }\n\n"
                              "[[mcp_servers]]\nname = \"a-2\"\ncommand = \"y\"\n\n"
                              "[[mcp_servers]]\nname = \"a-3\"\ncommand = \"z\"\n");
    assert_has(content(d, "ws/SYMPOSIUM.toml"), "name = \"a-4\"\ncommand = \"p\"\n");
    assert_has(content(d, "ws/.mcp.json"), "\"a2\"");

    /* Again: what is there already is not put there twice; ours stays where it is. */
    tree_put(&d->t, "home/.kiro/settings/mcp.json",
             "{\"mcpServers\":{\"a\":{\"command\":\"y\"},\"new\":{\"command\":\"new\"}}}");
    scan(d);
    assert_has(plan_of(d), "claude:symposium- ");
    assert_has(plan_of(d), "kiro:a=a-2 kiro:new>new");
    move(d);
    assert_has(content(d, "cfg/plugins/imported/SYMPOSIUM.toml"), text);

    /* The later one first. */
    assert_true(undo(d));
    assert_string_equal(content(d, "cfg/plugins/imported/SYMPOSIUM.toml"), text);
    assert_true(undo(d));
    assert_null(content(d, "cfg/plugins/imported/SYMPOSIUM.toml"));
    (void)e;
    desk_free(d);
}

/* SY-22 */
static void a_secret_goes_into_no_project_file_and_makes_the_plugin_private(void **state)
{
    struct desk *d = desk_new();
    struct stat st;

    (void)state;
    tree_put(&d->t, "home/.claude.json",
             "{\"mcpServers\":{\"s\":{\"command\":\"s\",\"env\":{\"API_KEY\":\"abcdefgh\"}}}}");
    tree_put(&d->t, "ws/.mcp.json",
             "{\"mcpServers\":{\"p\":{\"command\":\"p\",\"env\":{\"API_KEY\":\"abcdefgh\"}}}}");
    tree_put(&d->t, "cfg/plugins/imported/SYMPOSIUM.toml",
             "name = \"imported\"\ndepends-on = [\"*\"]\n");
    scan(d);
    assert_string_equal(plan_of(d), "claude:s>s claude:p-");
    move(d);
    assert_null(content(d, "ws/SYMPOSIUM.toml"));
    assert_has(content(d, "ws/.mcp.json"), "abcdefgh");
    assert_int_equal(stat(tree_path(&d->t, "cfg/plugins/imported/SYMPOSIUM.toml"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(undo(d));

    /* Asked, and answered with yes, it goes into the user's plugin. */
    d->im = (struct import){ .a = &d->t.a, .dirs = &d->dirs, .env = &d->env };
    import_scan(&d->im);
    assert_int_equal(d->im.entries.v[1].state, IMPORT_ASKS);
    import_decide(&d->im.entries.v[1], true);
    assert_true(import_name(&d->im, &(struct error){ 0 }));
    assert_string_equal(plan_of(d), "claude:s>s claude:p>p");
    assert_true(d->im.entries.v[1].to_user);
    desk_free(d);
}

/* SY-22, SY-5 */
static void a_file_that_cannot_be_read_is_named_and_left(void **state)
{
    struct desk *d = desk_new();

    (void)state;
    tree_put(&d->t, "home/.claude.json", "{ \"mcpServers\": {");
    tree_put(&d->t, "ws/.mcp.json", "{\"mcpServers\":{\"p\":{\"command\":\"p\"}}}");
    tree_put(&d->t, "home/.codex/config.toml", "a = \n");
    tree_put(&d->t, "home/.cursor/mcp.json", "{\"mcpServers\":[]}");
    tree_put(&d->t, "home/.qwen/settings.json", "{\"mcpServers\":{\"q\":{\"command\":\"q\"}}}");
    scan(d);
    assert_int_equal(d->im.problems.n, 3);
    assert_has(d->im.problems.v[0].p, ".claude.json: line 1");
    /* Claude could not be given our entry for what it would lose. */
    assert_string_equal(plan_of(d), "claude:p- qwen:q>q");
    assert_has(d->im.entries.v[0].reason.p, "another file of Claude Code cannot be read");
    desk_free(d);
}

/* SY-22: what changed since is changed back entry by entry, and told. */
static void undo_of_a_changed_file_puts_the_entries_back(void **state)
{
    struct desk *d = desk_new();
    const char *claude, *plugin;

    (void)state;
    put_files(d);
    scan(d);
    move(d);
    claude = content(d, "home/.claude.json");
    tree_put(&d->t, "home/.claude.json",
             arena_printf(&d->t.a, "%s\n", claude)); /* the agent wrote it */
    plugin = content(d, "cfg/plugins/imported/SYMPOSIUM.toml");
    tree_put(&d->t, "cfg/plugins/imported/SYMPOSIUM.toml",
             arena_printf(&d->t.a, "%s\n[[mcp_servers]]\nname = \"own\"\ncommand = \"own\"\n",
                          plugin));
    tree_put(
        &d->t, "home/.config/goose/config.yaml",
        arena_printf(&d->t.a, "%snewer: 1\n", content(d, "home/.config/goose/config.yaml")));
    tree_put(&d->t, "cfg/config.toml",
             arena_printf(&d->t.a, "%s# newer\n", content(d, "cfg/config.toml")));
    assert_true(undo(d));
    assert_has(d->said, "changed since the import, so 1 entries were put back");
    assert_has(content(d, "home/.claude.json"), "gh-mcp");
    assert_has(content(d, "home/.claude.json"), "\"symposium\"");
    assert_has(content(d, "home/.config/goose/config.yaml"), "gs-mcp");
    assert_has(content(d, "home/.config/goose/config.yaml"), "newer: 1");
    plugin = content(d, "cfg/plugins/imported/SYMPOSIUM.toml");
    assert_has(plugin, "\"own\"");
    assert_lacks(plugin, "gh-mcp");
    assert_has(content(d, "cfg/config.toml"), "# newer");
    assert_lacks(content(d, "cfg/config.toml"), "claude");
    assert_string_equal(content(d, "home/.cursor/mcp.json"), files[12].text);
    desk_free(d);
}

/* An entry that somebody changed between the look and the move stays. */
static void an_entry_that_changed_meanwhile_stays(void **state)
{
    struct desk *d = desk_new();

    (void)state;
    tree_put(&d->t, "home/.claude.json",
             "{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"b\":{\"command\":\"b\"}}}");
    scan(d);
    tree_put(&d->t, "home/.claude.json",
             "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"args\":[\"-x\"]},\"b\":{\"command\":"
             "\"b\"}}}");
    move(d);
    say(d);
    assert_has(d->said, "1 entry has changed meanwhile and stays there");
    assert_has(content(d, "home/.claude.json"), "\"-x\"");
    assert_lacks(content(d, "home/.claude.json"), "\"b\"");
    desk_free(d);
}

/* A server that did not start is taken out of the plugin again. */
static void what_stays_after_all_leaves_the_plugin(void **state)
{
    struct desk *d = desk_new();
    struct error e;

    (void)state;
    tree_put(&d->t, "home/.claude.json",
             "{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"b\":{\"command\":\"b\"}}}");
    scan(d);
    assert_true(import_begin(&d->im, &e));
    assert_true(import_write(&d->im, &e));
    assert_has(content(d, "cfg/plugins/imported/SYMPOSIUM.toml"), "\"a\"");
    import_stay(&d->im, &d->im.entries.v[0], "it does not start");
    assert_true(import_write(&d->im, &e));
    assert_lacks(content(d, "cfg/plugins/imported/SYMPOSIUM.toml"), "\"a\"");
    assert_true(import_take_out(&d->im, &d->report));
    assert_has(content(d, "home/.claude.json"), "\"a\"");
    assert_lacks(content(d, "home/.claude.json"), "\"b\"");
    desk_free(d);
}

/* Killed anywhere, each server is in its file or in a plugin, and undo brings all back. */
static void killed_at_any_moment_nothing_is_lost(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct desk *d = desk_new();
        pid_t pid;
        struct error e = { 0 };
        struct str plugin;

        put_files(d);
        pid = fork();
        if (pid == 0) {
            scan(d);
            move(d);
            _exit(0);
        }
        usleep((useconds_t)(rand_u64() % 60000));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        plugin = str_of(content(d, "cfg/plugins/imported/SYMPOSIUM.toml"));
        for (size_t k = 0; k < ARRAY_LEN(files); k++) {
            static const char *const names[] = { "gh-mcp", "cur", "gs-mcp" };
            static const char *const where[] = { "home/.claude.json", "home/.cursor/mcp.json",
                                                 "home/.config/goose/config.yaml" };

            if (k < ARRAY_LEN(names) &&
                str_find(str_of(content(d, where[k])), str_of(names[k])) == SIZE_MAX)
                assert_true(str_find(plugin, str_of(names[k])) != SIZE_MAX);
        }
        if (!undo(d))
            assert_has(d->said, "there is no import to undo");
        assert_null(content(d, "cfg/plugins/imported/SYMPOSIUM.toml"));
        assert_null(content(d, "ws/SYMPOSIUM.toml"));
        for (size_t k = 0; k + 2 < ARRAY_LEN(files); k++) {
            const char *now = content(d, files[k].path);

            assert_non_null(now);
            /* The same servers, whatever the layout. */
            assert_true(strstr(files[k].text, "command") == NULL || strstr(now, "command"));
        }
        scan(d);
        assert_int_equal(import_moving(&d->im), 20);
        (void)e;
        desk_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(import_and_undo_leave_every_file_as_it_was),
        cmocka_unit_test(equal_servers_move_once_and_unequal_names_get_numbers),
        cmocka_unit_test(a_secret_goes_into_no_project_file_and_makes_the_plugin_private),
        cmocka_unit_test(a_file_that_cannot_be_read_is_named_and_left),
        cmocka_unit_test(undo_of_a_changed_file_puts_the_entries_back),
        cmocka_unit_test(an_entry_that_changed_meanwhile_stays),
        cmocka_unit_test(what_stays_after_all_leaves_the_plugin),
        cmocka_unit_test(killed_at_any_moment_nothing_is_lost),
    };

    umask(022);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
