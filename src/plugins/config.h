/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* config.toml with all keys (docs/spec/plugins.md CF-3, meta-server.md 1.2). Reading only;
 * sync/config_file.h writes. */
#ifndef SYM_PLUGINS_CONFIG_H
#define SYM_PLUGINS_CONFIG_H

#include "base/log.h"
#include "plugins/dirs.h"
#include "plugins/plugin.h"

/* The built-in git registry; where it is is the build option of this name (CF-3). */
#define RECOMMENDATIONS "symposium-recommendations"

struct mcp_config {
    bool enabled;
    int script_timeout_secs;
    int script_memory_limit_mb;
    int script_stack_limit_kb;
    int max_tool_calls;
    int max_result_bytes;
    int max_console_bytes;
    int server_startup_timeout_secs;
    int tool_call_timeout_secs;
    int max_server_restarts;
    int restart_stable_reset_secs;
    int shutdown_grace_secs;
    bool read_only;
    /* For servers with a 'url'; empty: none, and the system's certificates. */
    struct str proxy_url, ca_file;
};

struct registry_config {
    struct str name, git, path; /* exactly one of git and path; path absolute */
    bool auto_update;
};

struct plugin_ref { /* an entry of [plugins] auto-enable, disable, use */
    struct str pm;  /* empty: any */
    struct str name;
    struct str workspace; /* use only; empty: global */
};

struct plugin_refs {
    struct plugin_ref *v;
    size_t n, cap;
};

struct pm_config {
    struct str name;
    struct strs pass_env;
    struct installation how; /* source executable script args install_commands, as PL-11 */
};

struct task_agent_config { /* kept whole for the task server */
    struct str name;
    struct str json; /* the table as JSON, TOML key names */
};

struct config {
    struct str path;
    struct strs warnings; /* for people: file, line, column or key */
    bool malformed; /* the file did not parse or validate; all defaults apply, writers refuse */

    bool auto_sync, agents_syncing;
    bool hook_scope_project, mcp_scope_project;
    bool recommendations, user_plugins;
    struct str recommendations_git; /* empty: this build has none */
    bool trust_workspace_always;
    bool agents_builtin_servers;
    int sync_debounce_secs;
    enum log_level log_level;
    int tasks_max_concurrent, tasks_min_free_mb, tasks_keep_days, tasks_keep_tasks,
        tasks_keep_mb, tasks_acp_version;
    struct mcp_config mcp;

    struct strs agents;
    struct plugin_refs auto_enable, disable, use;
    struct key_values agent_models;
    struct {
        struct registry_config *v;
        size_t n, cap;
    } registries;
    struct {
        struct pm_config *v;
        size_t n, cap;
    } pms;
    struct {
        struct task_agent_config *v;
        size_t n, cap;
    } task_agents;
};

#define CONFIG_MAX_BYTES ((size_t)1 << 20)
#define CONFIG_MAX_ITEMS 1000 /* of each list */

/*
 * Never fails: an absent file is all defaults, a bad one all defaults with `malformed` and a
 * warning. Unknown keys at the top level are ignored, with a warning where one is nearly a
 * known one; in [mcp], [[registry]] and [[package-manager]] they are errors, elsewhere
 * warnings. `path` is always set.
 */
void config_load(struct config *ret, const struct dirs *dirs, struct arena *a);

#endif
