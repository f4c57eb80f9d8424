/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whole syncs over the files of all agents: SY-1 to SY-11, SEC-80 to SEC-82. */
#include "../check.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/path.h"
#include "sync/document.h"
#include "sync/sync.h"

#define BOM "\xef\xbb\xbf"

static char tree[PATH_MAX]; /* home, ws (the workspace), state, bin/symposium */
static struct arena arena;
static struct dirs dirs;
static struct sync_env env;

static const char *in_tree(const char *name)
{
    return path_join(&arena, tree, name);
}

static void put(const char *path, struct str content)
{
    assert_true(file_mkdirs(path_dir(&arena, path), NULL));
    assert_true(file_write_cache(path, content, NULL));
}

static int set_up(void **state)
{
    make_temp_dir(tree);
    put(in_tree("bin/symposium"), STR("#!/bin/sh\n"));
    assert_int_equal(chmod(in_tree("bin/symposium"), 0755), 0);
    assert_int_equal(mkdir(in_tree("home"), 0755), 0);
    assert_int_equal(mkdir(in_tree("ws"), 0755), 0);
    dirs = (struct dirs){ .state = in_tree("state") };
    env = (struct sync_env){ .home = in_tree("home"),
                             .root = in_tree("ws"),
                             .path = in_tree("bin"),
                             .self = in_tree("bin/symposium") };
    return 0;
}

static int tear_down(void **state)
{
    remove_tree(tree);
    arena_free(&arena);
    return 0;
}

static struct str get(const char *path)
{
    auto_buf b = BUF(1 << 20);

    return file_read(path, &b, NULL) ? arena_str(&arena, buf_str(&b)) : STR("(none)");
}

static struct stat look(const char *path)
{
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    return st;
}

/* `names` separated by blanks. */
static struct sync_job job_of(const char *names, bool project)
{
    struct sync_job job = {
        .dirs = &dirs, .env = &env, .project = project, .tool_timeout_secs = 130
    };
    struct str rest = str_of(names), head;

    while (rest.n) {
        if (!str_cut(rest, ' ', &head, &rest)) {
            head = rest;
            rest = STR("");
        }
        ARENA_PUSH(&arena, &job.agents) = head;
    }
    return job;
}

static struct sync_report apply(const struct sync_job *job)
{
    struct sync_report r = SYNC_REPORT(&arena);

    bool ok = sync_entries_apply(job, &r);

    assert_int_equal(ok, !r.failed);
    return r;
}

static const char *text_of(const struct sync_report *r)
{
    auto_buf b = BUF(1 << 20);

    for (size_t i = 0; i < r->n; i++) {
        sync_line_put_text(&b, &r->v[i]);
        if (r->v[i].kind != SYNC_DIFF)
            buf_addc(&b, '\n');
    }
    return arena_z(&arena, buf_str(&b));
}

/* ---- twelve hostile states of every agent's file ---- */

enum state {
    COMMENTS,
    HAS_BOM,
    HAS_CRLF,
    TABS,
    TRAILING_COMMAS,
    DUPLICATES,
    TRUNCATED,
    EMPTY,
    LINKED,
    PRIVATE,
    READ_ONLY_DIR,
    DISABLED,
    STATES
};

static const char *const state_names[STATES] = {
    "comments",  "byte order mark", "CRLF", "tabs", "trailing commas", "duplicate keys",
    "truncated", "empty",           "link", "0600", "read-only dir",   "disabled",
};

static struct str json_text(const struct agent *g, enum state s)
{
    const char *c = g->container;
    bool list = strcmp(g->name, "opencode") == 0;

    switch (s) {
    case COMMENTS:
        return str_of(
            arena_printf(&arena,
                         "// mine: { \"%s\": 1 }\n{\n  /* \"symposium\" */\n  \"%s\": "
                         "{\n    \"b\": {\"command\": \"x // y\"} // last\n    // "
                         "end\n  }, // more\n  \"z\": [1, 2] /* } */\n}\n// bye\n",
                         c, c));
    case HAS_BOM:
        return str_of(arena_printf(&arena, BOM "{\"%s\": {}, \"z\": \"\\u00fc\"}", c));
    case HAS_CRLF:
        return str_of(arena_printf(
            &arena, "{\r\n  \"%s\": {\r\n    \"b\": {\"command\": \"x\"}\r\n  }\r\n}\r\n", c));
    case TABS:
        return str_of(arena_printf(
            &arena, "{\n\t\"z\":\t1,\n\t\"%s\":\t{\n\t\t\"b\": {\t}\n\t}\n}\n", c));
    case TRAILING_COMMAS:
        return str_of(arena_printf(
            &arena, "{\n  \"%s\": {\n    \"b\": {\"command\": \"x\",},\n  },\n}\n", c));
    case DUPLICATES:
        return str_of(arena_printf(
            &arena, "{\"%s\": {\"a\": 1}, \"z\": 1, \"z\": 2, \"%s\": {\"b\": 2}}\n", c, c));
    case TRUNCATED:
        return str_of(arena_printf(&arena, "{\n  \"%s\": {\n    \"b\": {\"comm", c));
    case EMPTY:
        return STR("");
    case DISABLED:
        return str_of(arena_printf(
            &arena,
            "{\"%s\": {\"symposium\": {\"enabled\": false, \"disabled\": true, \"type\": "
            "\"%s\", \"command\": %s, \"args\": [\"mcp-serve\"%s]}}}\n",
            c, !strcmp(g->name, "vscode") ? "stdio" : "local",
            list ? "[\"symposium\", \"mcp-serve\"]" : "\"symposium\"",
            g->args[1] ? ", \"--workspace\", \"${workspaceFolder}\"" : ""));
    default:
        return str_of(arena_printf(&arena, "{\"%s\": {\"b\": {}}}\n", c));
    }
}

static struct str toml_text(enum state s)
{
    switch (s) {
    case COMMENTS:
        return STR("# [mcp_servers.symposium]\nmodel = \"x\" # mine\n\n[mcp_servers.b] # b\n"
                   "command = 'x # y' # last\n# end\n");
    case HAS_BOM:
        return STR(BOM "model = \"\xc3\xbc\"\n");
    case HAS_CRLF:
        return STR("model = \"x\"\r\n\r\n[mcp_servers.b]\r\ncommand = 'x'\r\n");
    case TABS:
        return STR("\tmodel\t= 'x'\n[mcp_servers.b]\n\tcommand\t=\t'x'\n");
    case TRAILING_COMMAS:
        return STR("[mcp_servers.b]\nargs = [\n  'x',\n]\n");
    case DUPLICATES:
        return STR("model = 'x'\nmodel = 'y'\n");
    case TRUNCATED:
        return STR("model = 'x'\n[mcp_servers.b]\ncommand = 'x");
    case EMPTY:
        return STR("");
    case DISABLED:
        return STR("[mcp_servers.symposium]\nenabled = false\ncommand = 'symposium'\n"
                   "args = ['mcp-serve']\n");
    default:
        return STR("[mcp_servers.b]\ncommand = 'x'\n");
    }
}

static struct str yaml_text(enum state s)
{
    switch (s) {
    case COMMENTS:
        return STR("# extensions:\nGOOSE_MODEL: x # mine\nextensions: # all\n  # first\n  b:\n"
                   "    cmd: 'x # y' # last\n  # end\nz: |\n  extensions:\n    symposium: 1\n");
    case HAS_BOM:
        return STR(BOM "a: \xc3\xbc\nextensions:\n  b: {}\n");
    case HAS_CRLF:
        return STR("a: 1\r\nextensions:\r\n  b:\r\n    cmd: x\r\nz: 2\r\n");
    case TABS:
        return STR("extensions:\n\tb:\n\t\tcmd: x\n"); /* no YAML */
    case TRAILING_COMMAS:
        return STR("extensions:\n  b:\n    args: [x, ]\n");
    case DUPLICATES:
        return STR("extensions:\n  b: 1\n  b: 2\n");
    case TRUNCATED:
        return STR("extensions:\n  b:\n    args: [x\n");
    case EMPTY:
        return STR("");
    case DISABLED:
        return STR("extensions:\n  symposium:\n    enabled: false\n    type: stdio\n    name: "
                   "symposium\n    cmd: symposium\n    args:\n    - mcp-serve\n");
    default:
        return STR("extensions:\n  b:\n    cmd: x\n");
    }
}

static bool is_malformed(const struct agent *g, enum state s)
{
    return s == TRUNCATED || (s == DUPLICATES && g->format != SYNC_JSON) ||
           (s == TABS && g->format == SYNC_YAML);
}

/* All bytes of `old` stand in `new` in their order: nothing but insertions. */
static bool is_within(struct str old, struct str new)
{
    size_t i = 0;

    for (size_t k = 0; i < old.n && k < new.n; k++)
        i += old.p[i] == new.p[k];
    return i == old.n;
}

static void make(const char *path, struct str text, enum state s)
{
    put(path, text);
    if (s == LINKED) {
        const char *target = arena_printf(&arena, "%s.target", path);

        assert_int_equal(rename(path, target), 0);
        assert_int_equal(symlink(path_base(target), path), 0);
    } else if (s == PRIVATE) {
        assert_int_equal(chmod(path, 0600), 0);
    } else if (s == READ_ONLY_DIR) {
        assert_int_equal(chmod(path_dir(&arena, path), 0555), 0);
    }
}

/* Nothing of ours beside the files. */
static void assert_no_leftovers(const char *dir)
{
    DIR *d = opendir(dir);

    for (struct dirent *entry; d && (entry = readdir(d));)
        if (strstr(entry->d_name, ".symposium-") || strstr(entry->d_name, ".lock"))
            fail_msg("%s in %s", entry->d_name, dir);
    closedir(d);
}

static void assert_refused(const struct sync_report *r, const char *path, struct str old,
                           const char *part)
{
    assert_true(r->failed);
    assert_has(text_of(r), "error: ");
    assert_has(text_of(r), path);
    assert_has(text_of(r), part);
    assert_bytes(get(path), old);
}

static void assert_entry_is_there(const struct agent *g, struct str text)
{
    auto_json j = { 0 };
    yyjson_val *entry;

    assert_true(document_read(g->format, text, &j, NULL));
    entry = json_get(json_get(j.root, g->container), "symposium");
    assert_true(json_is_obj(entry));
    for (size_t i = 0; i < SHAPE_MAX && g->shape[i].key; i++)
        if (g->shape[i].what != MEMBER_ENV && !g->shape[i].once)
            assert_non_null(json_get(entry, g->shape[i].key));
}

/* Once more changes nothing; without the agent, the entry is gone and nothing else. */
static void assert_settled(const struct sync_job *job, const struct agent *g, const char *path,
                           struct str old)
{
    struct stat before = look(path), after;
    struct sync_report r = apply(job);
    struct sync_job none = job_of("", job->project);

    assert_false(r.failed);
    assert_has(text_of(&r), arena_printf(&arena, "%s: unchanged %s", g->name, path));
    after = look(path);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    r = apply(&none);
    assert_false(r.failed);
    assert_has(text_of(&r), "MCP entry removed");
    assert_true(document_same_but(g->format, old, get(path),
                                  EDIT_AT({ g->container }, { "symposium" }), NULL));
    assert_true(str_find(get(path), STR("mcp-serve")) == SIZE_MAX);
}

static void check_state(const struct agent *g, enum state s, bool project)
{
    struct sync_job job = job_of(g->name, project);
    bool instead;
    const char *path = agent_mcp_file(&arena, g, &env, project, &instead);
    struct str old = g->format == SYNC_JSON   ? json_text(g, s)
                     : g->format == SYNC_TOML ? toml_text(s)
                                              : yaml_text(s);
    struct sync_report r;

    make(path, old, s);
    r = apply(&job);
    if (is_malformed(g, s)) {
        assert_refused(&r, path, old, ": line ");
        assert_has(text_of(&r), ", column ");
        return;
    }
    if (s == READ_ONLY_DIR) {
        assert_refused(&r, path, old, "is read-only");
        assert_int_equal(chmod(path_dir(&arena, path), 0755), 0);
        return;
    }
    if (r.failed)
        fail_msg("%s", text_of(&r));
    assert_entry_is_there(g, get(path));
    if (!is_within(old, get(path)))
        fail_msg("\n%.*s\n-- became --\n%.*s", STR_F(old), STR_F(get(path)));
    assert_true(document_same_but(g->format, old, get(path),
                                  EDIT_AT({ g->container }, { "symposium" }), NULL));
    if (s == DISABLED)
        assert_bytes(get(path), old);
    if (s == LINKED)
        assert_true(S_ISLNK(look(path).st_mode));
    if (s == PRIVATE)
        assert_int_equal(look(path).st_mode & 07777, 0600);
    if (s == HAS_CRLF)
        for (size_t i = 0; i < get(path).n; i++)
            assert_true(get(path).p[i] != '\n' || get(path).p[i - 1] == '\r');
    assert_no_leftovers(path_dir(&arena, path));
    assert_settled(&job, g, path, old);
}

/* SEC-80, SEC-81, SEC-82, SY-4, SY-5, SY-6, SY-8, SY-9 */
static void every_agents_file_survives_every_state(void **state)
{
    for (size_t i = 0; i < sync_agents_n; i++) {
        print_message("%s:", sync_agents[i].name);
        for (enum state s = 0; s < STATES; s++)
            for (int project = 0; project < 2; project++) {
                print_message("%s %s", s || project ? "," : "", state_names[s]);
                set_up(NULL);
                check_state(&sync_agents[i], s, project);
                tear_down(NULL);
            }
        print_message("\n");
    }
}

/* ---- many at once ---- */

static void one_agents_error_does_not_stop_the_others(void **state) /* SY-5 */
{
    struct sync_job job = job_of("claude gemini goose kiro", false);
    struct sync_report r;

    put(in_tree("home/.gemini/settings.json"), STR("{\n  \"mcpServers\": [],\n}"));
    r = apply(&job);
    assert_true(r.failed);
    assert_has(text_of(&r),
               arena_printf(&arena,
                            "gemini: error: %s/home/.gemini/settings.json: line 2, column 17: "
                            "'mcpServers' must be an object",
                            tree));
    assert_has(text_of(&r), "claude: written ");
    assert_has(text_of(&r), "goose: written ");
    assert_has(text_of(&r), "kiro: written ");
    assert_str(get(in_tree("home/.gemini/settings.json")), "{\n  \"mcpServers\": [],\n}");
}

static void files_are_made_where_there_are_none(void **state)
{
    auto_buf names = BUF(1000);
    struct sync_job job;
    struct sync_report r;

    for (size_t i = 0; i < sync_agents_n; i++)
        buf_addf(&names, "%s%s", i ? " " : "", sync_agents[i].name);
    for (int project = 0; project < 2; project++) {
        job = job_of(buf_z(&names), project);
        r = apply(&job);
        assert_false(r.failed);
        for (size_t i = 0; i < sync_agents_n; i++) {
            bool instead;
            const char *path = agent_mcp_file(&arena, &sync_agents[i], &env, project, &instead);

            assert_entry_is_there(&sync_agents[i], get(path));
            assert_int_equal(look(path).st_mode & 0077, project && !instead ? 0044 : 0);
        }
    }
    /* SY-1: Claude Code and Antigravity are known by a directory that has none of these. */
    assert_int_equal(sync_agents_detect(&arena, &env).n, sync_agents_n - 2);
}

static void what_has_no_project_file_gets_the_users_and_says_so(void **state) /* SY-10 */
{
    struct sync_job job = job_of("copilot kiro codex pi", true);
    struct sync_report r = apply(&job);

    assert_has(text_of(&r), "copilot: Copilot CLI has no MCP file of a project");
    assert_has(text_of(&r), arena_printf(&arena, "copilot: written %s/home/.copilot/", tree));
    assert_has(text_of(&r), arena_printf(&arena, "kiro: written %s/ws/.kiro/", tree));
    assert_has(text_of(&r), "codex: Codex reads the project's file only where");
    assert_has(text_of(&r), "pi: Pi reads MCP servers only with the package pi-mcp-adapter");
    assert_lacks(text_of(&r), "kiro: Kiro");
    r = apply(&job); /* once is enough */
    assert_lacks(text_of(&r), "copilot: Copilot");
    assert_lacks(text_of(&r), "codex: Codex");
    assert_lacks(text_of(&r), "pi: Pi");
}

static void a_dry_run_shows_a_diff_and_writes_nothing(void **state) /* SY-11 */
{
    struct sync_job job = job_of("kiro codex", false);
    const char *path = in_tree("home/.kiro/settings/mcp.json");
    struct sync_report r;

    put(path, STR("{\n  \"a\": 1\n}\n"));
    job.dry_run = true;
    r = apply(&job);
    assert_has(text_of(&r),
               arena_printf(&arena,
                            "kiro: would write %s: MCP entry added\n--- %s\n+++ %s\n"
                            "@@ -1,3 +1,9 @@\n {\n-  \"a\": 1\n+  \"a\": 1,\n",
                            path, path, path));
    assert_has(text_of(&r), "--- /dev/null\n");
    assert_str(get(path), "{\n  \"a\": 1\n}\n");
    assert_false(file_exists(in_tree("home/.codex")));
    assert_false(file_exists(dirs.state));
}

/* ---- clean-up ---- */

static void entries_in_former_places_go(void **state) /* SY-9 */
{
    static const struct {
        const char *path, *before, *after;
    } rows[] = {
        { "ws/.claude/settings.json",
          "{\"mcpServers\": {\"symposium\": {\"command\": \"symposium\"}}, \"hooks\": {}}",
          "{\"hooks\": {}}" },
        { "home/.claude/settings.json",
          "{\"mcpServers\": {\"symposium\": {\"command\": \"cargo-agents\"}}}", "{}" },
        { "ws/.vscode/mcp.json",
          "{\"symposium\": {\"command\": \"symposium\"}, \"mcpServers\": {\"symposium\": "
          "{\"command\": \"symposium\"}, \"b\": {}}, \"servers\": {}}",
          "{\"mcpServers\": {\"b\": {}}, \"servers\": {}}" },
        { "ws/.goose/config.yaml", "extensions:\n  symposium:\n    cmd: symposium\n", "" },
    };
    struct sync_job job = job_of("kiro", true);
    struct sync_report r;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        put(in_tree(rows[i].path), str_of(rows[i].before));
    r = apply(&job);
    assert_false(r.failed);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_str(get(in_tree(rows[i].path)), rows[i].after);
}

static void both_names_of_a_file_are_cleaned(void **state) /* SY-9 */
{
    struct sync_job with = job_of("opencode", true), without = job_of("", true);

    apply(&with);
    put(in_tree("ws/opencode.jsonc"), STR("{}"));
    apply(&with);
    assert_true(str_find(get(in_tree("ws/opencode.json")), STR("mcp-serve")) != SIZE_MAX);
    assert_true(str_find(get(in_tree("ws/opencode.jsonc")), STR("mcp-serve")) != SIZE_MAX);
    apply(&without);
    assert_true(str_find(get(in_tree("ws/opencode.json")), STR("mcp-serve")) == SIZE_MAX);
    assert_true(str_find(get(in_tree("ws/opencode.jsonc")), STR("mcp-serve")) == SIZE_MAX);
}

static void a_foreign_file_of_an_agent_not_configured_is_no_matter(void **state)
{
    struct sync_job job = job_of("kiro", false);
    struct sync_report r;

    put(in_tree("home/.cursor/mcp.json"), STR("{ malformed"));
    put(in_tree("home/.qwen/settings.json"), STR("{ \"symposium\" malformed"));
    put(in_tree("home/.gemini/settings.json"), STR("{\"mcpServers\": {\"x\": {}}}"));
    r = apply(&job);
    assert_false(r.failed);
    assert_lacks(text_of(&r), "cursor");
    assert_lacks(text_of(&r), "gemini");
    assert_has(text_of(&r), "qwen: ");
    assert_has(text_of(&r), "line 1, column ");
    assert_str(get(in_tree("home/.qwen/settings.json")), "{ \"symposium\" malformed");
}

static void an_entry_that_cannot_be_removed_is_an_error(void **state)
{
    struct sync_job with = job_of("kiro", false), without = job_of("pi", false);
    struct sync_report r;

    apply(&with);
    assert_int_equal(chmod(in_tree("home/.kiro/settings"), 0555), 0);
    r = apply(&without);
    assert_true(r.failed);
    assert_has(text_of(&r), "kiro: error: ");
    assert_has(text_of(&r), "the directory is read-only");
    assert_int_equal(chmod(in_tree("home/.kiro/settings"), 0755), 0);
}

/* People link one agent's file to another's. */
static void a_file_that_two_agents_share_keeps_the_entry_of_one(void **state)
{
    struct sync_job job = job_of("kiro", false);
    const char *path = in_tree("home/.kiro/settings/mcp.json");
    static const char *const links[] = { "home/.cursor", "home/.copilot" };
    struct sync_report r;
    struct stat before;

    put(path, STR("{\"mcpServers\": {\"symposium\": {\"command\": \"symposium\", \"args\": "
                  "[\"mcp-serve\"], \"disabled\": true}}}"));
    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        assert_int_equal(mkdir(in_tree(links[i]), 0755), 0);
        assert_int_equal(symlink(path, path_join(&arena, in_tree(links[i]),
                                                 i ? "mcp-config.json" : "mcp.json")),
                         0);
    }
    before = look(path);
    r = apply(&job);
    assert_false(r.failed);
    assert_int_equal(look(path).st_ino, before.st_ino);
    job =
        job_of("kiro cursor", false); /* which want different arguments: the last one has it */
    r = apply(&job);
    assert_false(r.failed);
    before = look(path);
    r = apply(&job);
    assert_int_equal(look(path).st_ino, before.st_ino);
    assert_lacks(text_of(&r), "written");
    assert_has(arena_z(&arena, get(path)), "\"disabled\": true");
}

/* ---- the seam ---- */

static bool add_member(void *ctx, struct str text, struct buf *out, const char **ret_what,
                       struct error *e)
{
    *ret_what = "hooks added";
    return document_set(SYNC_JSON, out, text, EDIT_AT({ "hooks" }), str_of(ctx), e);
}

static bool never(void *ctx, struct str text, struct buf *out, const char **ret_what,
                  struct error *e)
{
    return error_set(e, ERR_INVALID, "line 1, column 1: no hooks here");
}

static void all_edits_of_one_file_are_one_rewrite_or_none(void **state)
{
    struct sync_job job = job_of("gemini", true);
    const char *path = in_tree("ws/.gemini/settings.json");
    struct sync_plan plan = SYNC_PLAN(&arena);
    struct sync_report r = SYNC_REPORT(&arena);
    struct sync_edit edit = {
        .path = path, .agent = "gemini", .run = add_member, .ctx = (char[]){ "{\"x\": 1}" }
    };

    put(in_tree("real.json"), STR("{}"));
    assert_true(file_mkdirs(path_dir(&arena, path), NULL));
    assert_int_equal(symlink("../../real.json", path), 0);
    sync_entries_plan(&plan, &job, &r);
    sync_plan_add(&plan, &edit);
    edit.path = in_tree("real.json"); /* another name of it */
    edit.ctx = (char[]){ "{\"x\": 2}" };
    sync_plan_add(&plan, &edit);
    assert_true(sync_plan_run(&plan, &dirs, false, &r));
    assert_has(text_of(&r), "MCP entry added");
    assert_has(text_of(&r), "hooks added");
    assert_has(arena_z(&arena, get(path)), "\"x\": 2");
    assert_has(arena_z(&arena, get(path)), "mcp-serve");

    unlink(in_tree("real.json"));
    put(in_tree("real.json"), STR("{}"));
    plan = SYNC_PLAN(&arena);
    r = SYNC_REPORT(&arena);
    sync_entries_plan(&plan, &job, &r);
    edit.run = never;
    sync_plan_add(&plan, &edit);
    assert_false(sync_plan_run(&plan, &dirs, false, &r));
    assert_has(text_of(&r), "no hooks here");
    assert_str(get(path), "{}");
}

static void claudes_own_lock_is_waited_for(void **state)
{
    struct sync_job job = job_of("claude", false);
    const char *lock = in_tree("home/.claude.json.lock");
    int64_t before = clock_ms();
    pid_t pid;

    put(in_tree("home/.claude.json"), STR("{}"));
    assert_int_equal(mkdir(lock, 0700), 0);
    pid = fork();
    if (pid == 0) {
        usleep(300 * 1000);
        _exit(rmdir(lock) != 0);
    }
    assert_false(apply(&job).failed);
    assert_true(clock_ms() - before >= 250);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_no_leftovers(in_tree("home"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_agents_file_survives_every_state),
        TEST(one_agents_error_does_not_stop_the_others),
        TEST(files_are_made_where_there_are_none),
        TEST(what_has_no_project_file_gets_the_users_and_says_so),
        TEST(a_dry_run_shows_a_diff_and_writes_nothing),
        TEST(entries_in_former_places_go),
        TEST(both_names_of_a_file_are_cleaned),
        TEST(a_foreign_file_of_an_agent_not_configured_is_no_matter),
        TEST(an_entry_that_cannot_be_removed_is_an_error),
        TEST(a_file_that_two_agents_share_keeps_the_entry_of_one),
        TEST(all_edits_of_one_file_are_one_rewrite_or_none),
        TEST(claudes_own_lock_is_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
