/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/agent.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "plugins/dirs.h"

static const char *const serve[] = { "mcp-serve", NULL };
/* Editors start every server in one directory, whatever is open. */
static const char *const serve_folder[] = { "mcp-serve", "--workspace", "${workspaceFolder}",
                                            NULL };

/* clang-format off */
#define COMMAND { "command", MEMBER_COMMAND }
#define ARGS    { "args", MEMBER_ARGS }
#define ENV     { "env", MEMBER_ENV }

const struct agent sync_agents[] = {
    { .name = "claude", .title = "Claude Code",
      .detect = { BASE_CLAUDE, "" },
      .project = { BASE_ROOT, ".mcp.json" },
      .user = { BASE_CLAUDE_FILE, ".claude.json" },
      .container = "mcpServers", .mcp_only = MCP_ONLY_PROJECT,
      .shape = { COMMAND, ARGS, ENV }, .args = serve,
      .lock_dir = true,
      .skills = { BASE_ROOT, ".claude/skills" },
      .user_skills = { BASE_CLAUDE, "skills" },
      .hooks = { .form = HOOKS_GROUPED, .container = "hooks", .command = "command",
                 .project = { BASE_ROOT, ".claude/settings.json" },
                 .user = { BASE_CLAUDE, "settings.json" },
                 .type = "command", .matcher = "*" } },
    { .name = "codex", .title = "Codex CLI",
      .detect = { BASE_CODEX, "" },
      .project = { BASE_ROOT, ".codex/config.toml" },
      .user = { BASE_CODEX, "config.toml" },
      .format = SYNC_TOML, .container = "mcp_servers",
      .shape = { COMMAND, ARGS, ENV, { "tool_timeout_sec", MEMBER_TIMEOUT, .once = true } },
      .args = serve,
      .project_note = "Codex reads the project's file only where the project is trusted",
      .skills = { BASE_ROOT, ".agents/skills" },
      .user_skills = { BASE_HOME, ".agents/skills" },
      .hooks = { .form = HOOKS_GROUPED, .container = "hooks", .command = "command",
                 .project = { BASE_ROOT, ".codex/hooks.json" },
                 .user = { BASE_CODEX, "hooks.json" },
                 .type = "command", .matcher = "", .timeout_key = "timeout", .timeout = 10,
                 .note = "Codex runs hooks once you have trusted them in /hooks, and none with "
                         "'hooks = false' in [features]" } },
    { .name = "copilot", .title = "Copilot CLI",
      .detect = { BASE_HOME, ".copilot" },
      .user = { BASE_HOME, ".copilot/mcp-config.json" },
      .container = "mcpServers", .mcp_only = MCP_ONLY,
      .shape = { { "type", MEMBER_FIXED, "local" }, COMMAND, ARGS, ENV }, .args = serve,
      .skills = { BASE_ROOT, ".agents/skills" },
      .hooks = { .form = HOOKS_FLAT, .container = "hooks", .command = "bash",
                 .project = { BASE_ROOT, ".github/hooks/symposium.json" },
                 .user = { BASE_HOME, ".copilot/settings.json" },
                 .type = "command", .timeout_key = "timeoutSec", .timeout = 10,
                 .also = { { "version", "1", .in_project = true } } } },
    { .name = "gemini", .title = "Gemini CLI",
      .detect = { BASE_HOME, ".gemini/settings.json" },
      .project = { BASE_ROOT, ".gemini/settings.json" },
      .user = { BASE_HOME, ".gemini/settings.json" },
      .container = "mcpServers",
      .shape = { COMMAND, ARGS, ENV }, .args = serve,
      .note = "Gemini CLI starts MCP servers only in folders that it trusts; it asks when it "
              "starts in a new one, and /permissions changes the answer",
      .skills = { BASE_ROOT, ".agents/skills" },
      .user_skills = { BASE_HOME, ".gemini/skills" },
      .hooks = { .form = HOOKS_GROUPED, .container = "hooks", .command = "command",
                 .project = { BASE_ROOT, ".gemini/settings.json" },
                 .user = { BASE_HOME, ".gemini/settings.json" },
                 /* Only of tools it is an expression. */
                 .type = "command", .name = SYNC_ENTRY, .matcher = ".*", .other_matcher = "*",
                 .timeout_key = "timeout", .timeout = 10000 } },
    { .name = "antigravity", .title = "Antigravity CLI",
      .detect = { BASE_HOME, ".gemini/antigravity-cli" },
      .project = { BASE_ROOT, ".agents/mcp_config.json" },
      .user = { BASE_HOME, ".gemini/config/mcp_config.json" },
      .container = "mcpServers", .mcp_only = MCP_ONLY,
      .shape = { COMMAND, ARGS, ENV }, .args = serve,
      .skills = { BASE_ROOT, ".agents/skills" },
      .user_skills = { BASE_HOME, ".gemini/config/skills" },
      .hooks = { .form = HOOKS_MIXED, .container = SYNC_ENTRY, .command = "command",
                 .project = { BASE_ROOT, ".agents/hooks.json" },
                 .user = { BASE_HOME, ".gemini/config/hooks.json" },
                 .type = "command", .matcher = "*", .timeout_key = "timeout", .timeout = 10 } },
    { .name = "goose", .title = "Goose",
      .detect = { BASE_CONFIG, "goose" },
      .user = { BASE_CONFIG, "goose/config.yaml" },
      .format = SYNC_YAML, .container = "extensions",
      .shape = { { "name", MEMBER_FIXED, SYNC_ENTRY }, { "type", MEMBER_FIXED, "stdio" },
                 { "cmd", MEMBER_COMMAND }, ARGS, { "envs", MEMBER_ENV },
                 { "enabled", MEMBER_TRUE, .once = true } },
      .args = serve,
      .skills = { BASE_ROOT, ".agents/skills" },
      .user_skills = { BASE_HOME, ".agents/skills" } },
    { .name = "kiro", .title = "Kiro",
      .detect = { BASE_HOME, ".kiro" },
      .project = { BASE_ROOT, ".kiro/settings/mcp.json" },
      .user = { BASE_HOME, ".kiro/settings/mcp.json" },
      .container = "mcpServers", .mcp_only = MCP_ONLY,
      .shape = { COMMAND, ARGS, ENV }, .args = serve,
      .skills = { BASE_ROOT, ".kiro/skills" },
      .user_skills = { BASE_HOME, ".kiro/skills" },
      .hooks = { .form = HOOKS_FLAT, .container = "hooks", .command = "command",
                 .project = { BASE_ROOT, ".kiro/agents/symposium.json" },
                 .user = { BASE_HOME, ".kiro/agents/symposium.json" },
                 .matcher = "*",
                 .also = { { "name", "\"" SYNC_ENTRY "\"" },
                           { "tools", "[\"*\"]" },
                           { "resources", "[\"file://AGENTS.md\",\"file://README.md\","
                                          "\"skill://.kiro/skills/**/SKILL.md\"]" },
                           { "includeMcpJson", "true" } },
                 .note = "Kiro runs hooks in its agent 'symposium' "
                         "(kiro-cli chat --agent symposium)" } },
    { .name = "opencode", .title = "OpenCode",
      .detect = { BASE_CONFIG, "opencode" },
      .project = { BASE_ROOT, "opencode.json" },
      .user = { BASE_CONFIG, "opencode/opencode.json" },
      .other_name = "opencode.jsonc",
      .container = "mcp",
      .shape = { { "type", MEMBER_FIXED, "local" }, { "command", MEMBER_COMMAND_LINE },
                 { "environment", MEMBER_ENV }, { "enabled", MEMBER_TRUE, .once = true } },
      .args = serve,
      .skills = { BASE_ROOT, ".agents/skills" },
      .user_skills = { BASE_HOME, ".agents/skills" } },
    { .name = "cursor", .title = "Cursor",
      .project = { BASE_ROOT, ".cursor/mcp.json" },
      .user = { BASE_HOME, ".cursor/mcp.json" },
      .container = "mcpServers", .mcp_only = MCP_ONLY,
      .shape = { COMMAND, ARGS, ENV }, .args = serve_folder },
    { .name = "vscode", .title = "VS Code",
      .project = { BASE_ROOT, ".vscode/mcp.json" },
      .user = { BASE_CONFIG, "Code/User/mcp.json" },
      .container = "servers", .mcp_only = MCP_ONLY,
      .shape = { { "type", MEMBER_FIXED, "stdio" }, COMMAND, ARGS, ENV },
      .args = serve_folder },
    { .name = "qwen", .title = "Qwen Code",
      .project = { BASE_ROOT, ".qwen/settings.json" },
      .user = { BASE_HOME, ".qwen/settings.json" },
      .container = "mcpServers",
      .shape = { COMMAND, ARGS, ENV }, .args = serve },
    { .name = "cline", .title = "Cline",
      .user = { BASE_CLINE, "settings/cline_mcp_settings.json" },
      .container = "mcpServers", .mcp_only = MCP_ONLY,
      .shape = { COMMAND, ARGS, ENV }, .args = serve },
    { .name = "pi", .title = "Pi",
      .detect = { BASE_HOME, ".pi" },
      .project = { BASE_ROOT, ".pi/mcp.json" },
      .user = { BASE_HOME, ".pi/agent/mcp.json" },
      .container = "mcpServers", .mcp_only = MCP_ONLY,
      .shape = { COMMAND, ARGS, ENV }, .args = serve,
      .note = "Pi reads MCP servers only with the package pi-mcp-adapter",
      .skills = { BASE_ROOT, ".agents/skills" },
      .user_skills = { BASE_HOME, ".agents/skills" } },
};
const size_t sync_agents_n = ARRAY_LEN(sync_agents);

const struct former_place sync_former_places[] = {
    { "claude", { BASE_ROOT, ".claude/settings.json" }, SYNC_JSON, "mcpServers" },
    { "claude", { BASE_CLAUDE, "settings.json" }, SYNC_JSON, "mcpServers" },
    { "vscode", { BASE_ROOT, ".vscode/mcp.json" }, SYNC_JSON, NULL },
    { "vscode", { BASE_ROOT, ".vscode/mcp.json" }, SYNC_JSON, "mcpServers" },
    { "goose", { BASE_ROOT, ".goose/config.yaml" }, SYNC_YAML, "extensions" },
};
const size_t sync_former_places_n = ARRAY_LEN(sync_former_places);
/* clang-format on */

/* ---- the environment ---- */

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static const char *absolute(struct arena *a, const char *path)
{
    auto_free char *cwd = NULL;

    if (!path || path_is_abs(path))
        return path ? path_clean(a, path) : NULL;
    cwd = getcwd(NULL, 0);
    return cwd ? path_clean(a, path_join(a, cwd, path)) : NULL;
}

/* The base-directory rules tell programs to ignore relative values. */
static const char *xdg(struct arena *a, const char *name)
{
    const char *value = variable(name);

    return value && path_is_abs(value) ? path_clean(a, value) : NULL;
}

static void carry(struct sync_env *env, struct arena *a)
{
    static const char *const names[] = { "SYMPOSIUM_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
                                         "XDG_STATE_HOME" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = i ? xdg(a, names[i]) : absolute(a, variable(names[i]));

        if (value)
            ARENA_PUSH(a, &env->carried) =
                (struct key_value){ str_of(names[i]), str_of(value) };
    }
}

static const char *below(struct arena *a, const char *dir, const char *rel)
{
    return dir ? path_join(a, dir, rel) : NULL;
}

bool sync_env_read(struct sync_env *ret, struct arena *a, const char *root, struct error *e)
{
    const char *cline = absolute(a, variable("CLINE_DATA_DIR"));

    *ret = (struct sync_env){
        .home = absolute(a, dirs_home(a)),
        .root = root,
        .claude_config_dir = absolute(a, variable("CLAUDE_CONFIG_DIR")),
        .codex_home = absolute(a, variable("CODEX_HOME")),
        .xdg_config_home = xdg(a, "XDG_CONFIG_HOME"),
        .cline_data_dir = cline ? cline : below(a, absolute(a, variable("CLINE_DIR")), "data"),
        .cline_mcp_file = absolute(a, variable("CLINE_MCP_SETTINGS_PATH")),
        .path = variable("PATH"),
        .self = path_real(a, "/proc/self/exe", NULL),
    };
    carry(ret, a);
    if (!ret->home)
        return error_set(e, ERR_NOT_FOUND,
                         "no home directory: HOME is not set, and this user has none");
    /* That of a system user is named and not there: it is not ours to make. */
    return file_is_dir(ret->home) ||
           error_set(e, ERR_NOT_FOUND, "the home directory '%s' does not exist", ret->home);
}

/* ---- places ---- */

static const char *base_of(struct arena *a, const struct sync_env *env, enum sync_base base)
{
    const char *given = NULL, *rel = "";

    switch (base) {
    case BASE_NONE:
        return NULL;
    case BASE_ROOT:
        return env->root;
    case BASE_HOME:
        break;
    case BASE_CONFIG:
        given = env->xdg_config_home;
        rel = ".config";
        break;
    case BASE_CLAUDE:
        given = env->claude_config_dir;
        rel = ".claude";
        break;
    case BASE_CLAUDE_FILE:
        given = env->claude_config_dir;
        break;
    case BASE_CODEX:
        given = env->codex_home;
        rel = ".codex";
        break;
    case BASE_CLINE:
        given = env->cline_data_dir;
        rel = ".cline/data";
        break;
    }
    return given ? given : *rel ? path_join(a, env->home, rel) : env->home;
}

const char *sync_path_of(struct arena *a, const struct sync_env *env, struct sync_path p)
{
    const char *base = base_of(a, env, p.base);

    if (p.base == BASE_CLINE && env->cline_mcp_file)
        return env->cline_mcp_file;
    return base && *p.rel ? path_join(a, base, p.rel) : base;
}

const struct agent *agent_find(struct str name)
{
    for (size_t i = 0; i < sync_agents_n; i++)
        if (str_is(name, sync_agents[i].name))
            return &sync_agents[i];
    return NULL;
}

bool sync_is_ours(const char *program)
{
    const char *name = path_base(program);

    return !strcmp(name, "symposium") || !strcmp(name, "cargo-agents");
}

const char *agent_names(struct arena *a)
{
    const char *all = "";

    for (size_t i = 0; i < sync_agents_n; i++)
        all = arena_printf(a, "%s%s%s", all, i ? ", " : "", sync_agents[i].name);
    return all;
}

bool agent_detected(const struct agent *g, const struct sync_env *env)
{
    auto_arena a = ARENA;
    bool own = g->detect.base != BASE_NONE;
    const char *path = sync_path_of(&a, env, own ? g->detect : g->user);

    return file_exists(own ? path : path_dir(&a, path));
}

const char *agent_other_file(struct arena *a, const struct agent *g, const char *path)
{
    return g->other_name ? path_join(a, path_dir(a, path), g->other_name) : NULL;
}

const char *agent_mcp_file(struct arena *a, const struct agent *g, const struct sync_env *env,
                           bool project, bool *ret_instead)
{
    const char *path = project ? sync_path_of(a, env, g->project) : NULL, *other;

    *ret_instead = project && !path;
    if (!path)
        path = sync_path_of(a, env, g->user);
    other = agent_other_file(a, g, path);
    return other && file_exists(other) ? other : path;
}
