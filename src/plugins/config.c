/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/config.h"

#include <stddef.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "plugins/atom.h"
#include "plugins/manifest.h"
#include "text/toml.h"

#define USER_PLUGINS "user-plugins"

struct loader {
    struct config *c;
    struct arena *a;
    const struct dirs *dirs;
    struct error *e;
};

static void set_defaults(struct config *c)
{
    *c = (struct config){
        .auto_sync = true,
        .agents_syncing = true,
        .sync_debounce_secs = 5,
        .log_level = LOG_INFO,
        .recommendations = true,
        .recommendations_git = STR(SYM_RECOMMENDATIONS),
        .user_plugins = true,
        .mcp = { .enabled = true,
                 .script_timeout_secs = 120,
                 .script_memory_limit_mb = 64,
                 .script_stack_limit_kb = 1024,
                 .max_tool_calls = 100,
                 .max_result_bytes = 32768,
                 .max_console_bytes = 8192,
                 .server_startup_timeout_secs = 30,
                 .tool_call_timeout_secs = 60,
                 .max_server_restarts = 5,
                 .restart_stable_reset_secs = 300,
                 .shutdown_grace_secs = 5 },
        .agents_builtin_servers = true,
        .tasks_max_concurrent = 16,
        .tasks_min_free_mb = 512,
        .tasks_keep_days = 30,
        .tasks_keep_tasks = 10000,
        .tasks_keep_mb = 2048,
        .tasks_acp_version = 1,
    };
}

/* ---- small readers ---- */

struct int_row {
    const char *key;
    size_t at; /* of an int in struct config */
    int min, max;
};

static bool read_ints(struct loader *l, const struct toml_val *t, const struct int_row *rows,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int *to = (int *)((char *)l->c + rows[i].at);
        int64_t value = *to;

        if (!toml_opt_int(t, rows[i].key, (struct toml_range){ rows[i].min, rows[i].max },
                          &value, l->e))
            return false;
        *to = (int)value;
    }
    return true;
}

static void warn_of_key(struct loader *l, const struct toml_val *v, const char *meant)
{
    auto_buf path = BUF(512);

    toml_put_path(&path, v);
    ARENA_PUSH(l->a, &l->c->warnings) = str_of(arena_printf(
        l->a, "%s: line %u: unknown key '%s' is ignored%s%s%s", l->c->path.p, v->line,
        buf_z(&path), meant ? "; is it '" : "", meant ? meant : "", meant ? "'?" : ""));
}

/* Keys of a newer version must not disable the file, but a typing error should be seen. */
static void warn_unknown(struct loader *l, const struct toml_val *t, const char *const *known)
{
    size_t from = 0;

    for (struct toml_val *v; (v = toml_unknown(t, known, &from)) && l->c->warnings.n < 100;)
        warn_of_key(l, v, toml_meant(v->key, known));
}

/* At the top level only what looks like a typing error is worth a word (CF-3). */
static void warn_mistyped(struct loader *l, const struct toml_val *root)
{
    static const char *const known[] = {
        "auto-sync",  "agents-syncing",  "sync-debounce-secs",
        "hook-scope", "mcp-scope",       "auto-update",
        "telemetry",  "agent",           "logging",
        "defaults",   "registry",        "plugin-source",
        "plugins",    "package-manager", "mcp",
        "agents",     "tasks",           "task-agent",
        NULL,
    };
    size_t from = 0;

    for (struct toml_val *v;
         (v = toml_unknown(root, known, &from)) && l->c->warnings.n < 100;) {
        const char *meant = toml_meant(v->key, known);

        if (meant)
            warn_of_key(l, v, meant);
    }
}

static bool open_table(struct loader *l, const struct toml_val *root, const char *key,
                       const char *const *known, struct toml_val **ret)
{
    *ret = NULL;
    if (!toml_opt_table(root, key, ret, l->e))
        return false;
    warn_unknown(l, *ret, known);
    return true;
}

static bool open_list(struct loader *l, const struct toml_val *root, const char *key,
                      struct toml_val **ret)
{
    *ret = NULL;
    if (!toml_opt_array(root, key, TOML_TABLE, ret, l->e))
        return false;
    return toml_len(*ret) <= CONFIG_MAX_ITEMS ||
           toml_fail(l->e, *ret, "holds more than %d entries", CONFIG_MAX_ITEMS);
}

static bool need_str(struct loader *l, const struct toml_val *t, const char *key,
                     struct str *ret)
{
    if (!toml_opt_str(t, key, ret, l->e))
        return false;
    return ret->n || toml_fail(l->e, t, "needs a '%s'", key);
}

static bool read_strs(struct loader *l, const struct toml_val *t, const char *key,
                      struct strs *ret)
{
    struct toml_val *list = NULL;

    if (!toml_opt_array(t, key, TOML_STRING, &list, l->e))
        return false;
    for (size_t i = 0; i < toml_len(list); i++)
        ARENA_PUSH(l->a, ret) = toml_str(toml_at(list, i));
    return true;
}

static bool read_scope(struct loader *l, const struct toml_val *root, const char *key,
                       bool *ret_project)
{
    struct str text = { 0 };

    if (!toml_opt_str(root, key, &text, l->e))
        return false;
    if (!toml_get(root, key))
        return true;
    *ret_project = str_is(text, "project");
    return *ret_project || str_is(text, "global") ||
           toml_fail(l->e, toml_get(root, key), "must be \"global\" or \"project\"");
}

/* ---- sections ---- */

static bool read_top(struct loader *l, const struct toml_val *root)
{
    static const struct int_row rows[] = {
        { "sync-debounce-secs", offsetof(struct config, sync_debounce_secs), 0, 1000000 },
    };
    struct config *c = l->c;

    if (!toml_opt_bool(root, "auto-sync", &c->auto_sync, l->e) ||
        !toml_opt_bool(root, "agents-syncing", &c->agents_syncing, l->e) ||
        !read_ints(l, root, rows, ARRAY_LEN(rows)) ||
        !read_scope(l, root, "hook-scope", &c->hook_scope_project))
        return false;
    c->mcp_scope_project = c->hook_scope_project;
    return read_scope(l, root, "mcp-scope", &c->mcp_scope_project);
}

static bool read_agents(struct loader *l, const struct toml_val *root)
{
    static const char *const known[] = { "name", NULL };
    static const char *const agents[] = { "claude",      "codex",  "copilot", "gemini",
                                          "antigravity", "goose",  "kiro",    "opencode",
                                          "cursor",      "vscode", "qwen",    "cline",
                                          "pi" };
    struct toml_val *list;

    if (!open_list(l, root, "agent", &list))
        return false;
    for (size_t i = 0; i < toml_len(list); i++) {
        const struct toml_val *t = toml_at(list, i);
        struct str name = { 0 };
        size_t k = 0;

        warn_unknown(l, t, known);
        if (!need_str(l, t, "name", &name))
            return false;
        while (k < ARRAY_LEN(agents) && !str_is(name, agents[k]))
            k++;
        if (k == ARRAY_LEN(agents))
            return toml_fail(l->e, toml_get(t, "name"), "is no agent that symposium knows");
        ARENA_PUSH(l->a, &l->c->agents) = name;
    }
    return true;
}

static bool read_logging(struct loader *l, const struct toml_val *root)
{
    static const char *const known[] = { "level", NULL };
    struct toml_val *t;
    struct str level = { 0 };

    if (!open_table(l, root, "logging", known, &t) || !toml_opt_str(t, "level", &level, l->e))
        return false;
    return !toml_get(t, "level") || log_level_parse(level, &l->c->log_level) ||
           toml_fail(l->e, toml_get(t, "level"),
                     "must be \"trace\", \"debug\", \"info\", \"warn\" or \"error\"");
}

static bool read_defaults(struct loader *l, const struct toml_val *root)
{
    static const char *const known[] = { RECOMMENDATIONS, USER_PLUGINS, NULL };
    struct toml_val *t;

    return open_table(l, root, "defaults", known, &t) &&
           toml_opt_bool(t, RECOMMENDATIONS, &l->c->recommendations, l->e) &&
           toml_opt_bool(t, USER_PLUGINS, &l->c->user_plugins, l->e);
}

static bool check_registry_name(struct loader *l, const struct toml_val *t, struct str name)
{
    static const char *const taken[] = { USER_PLUGINS, RECOMMENDATIONS, "workspace" };

    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        if (str_is(name, taken[i]))
            return toml_fail(l->e, toml_get(t, "name"), "is the name of a built-in source");
    for (size_t i = 0; i < l->c->registries.n; i++)
        if (str_eq(name, l->c->registries.v[i].name))
            return toml_fail(l->e, toml_get(t, "name"), "names a second registry so");
    return true;
}

static bool read_registry(struct loader *l, const struct toml_val *t)
{
    static const char *const known[] = { "name", "git", "path", "auto-update", NULL };
    struct registry_config reg = { .auto_update = true };

    if (!toml_known_only(t, known, l->e) || !need_str(l, t, "name", &reg.name) ||
        !check_registry_name(l, t, reg.name) || !toml_opt_str(t, "git", &reg.git, l->e) ||
        !toml_opt_str(t, "path", &reg.path, l->e) ||
        !toml_opt_bool(t, "auto-update", &reg.auto_update, l->e))
        return false;
    if ((reg.git.n != 0) == (reg.path.n != 0))
        return toml_fail(l->e, t, "needs exactly one of 'git' and 'path'");
    if (reg.path.n)
        reg.path =
            str_of(path_clean(l->a, path_join(l->a, l->dirs->config, arena_z(l->a, reg.path))));
    ARENA_PUSH(l->a, &l->c->registries) = reg;
    return true;
}

static bool read_registries(struct loader *l, const struct toml_val *root)
{
    static const char *const keys[] = { "registry", "plugin-source" };

    for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
        struct toml_val *list;

        if (!open_list(l, root, keys[k], &list))
            return false;
        for (size_t i = 0; i < toml_len(list); i++)
            if (!read_registry(l, toml_at(list, i)))
                return false;
    }
    return true;
}

static bool read_ref(struct loader *l, const struct toml_val *v, bool scoped,
                     struct plugin_ref *ref)
{
    static const char *const known[] = { "name", "pm", NULL };
    static const char *const known_scoped[] = { "name", "pm", "workspace", NULL };

    if (toml_is(v, TOML_STRING)) {
        ref->name = toml_str(v);
        return ref->name.n || toml_fail(l->e, v, "must not be empty");
    }
    if (!toml_is(v, TOML_TABLE))
        return toml_fail(l->e, v, "must be a name or a table with 'name'");
    return toml_known_only(v, scoped ? known_scoped : known, l->e) &&
           need_str(l, v, "name", &ref->name) && toml_opt_str(v, "pm", &ref->pm, l->e) &&
           toml_opt_str(v, "workspace", &ref->workspace, l->e);
}

static bool read_refs(struct loader *l, const struct toml_val *t, const char *key,
                      struct plugin_refs *ret)
{
    const struct toml_val *list = toml_get(t, key);

    if (list && !toml_is(list, TOML_ARRAY))
        return toml_fail(l->e, list, "must be an array, not %s", toml_kind_name(list));
    if (toml_len(list) > CONFIG_MAX_ITEMS)
        return toml_fail(l->e, list, "holds more than %d entries", CONFIG_MAX_ITEMS);
    for (size_t i = 0; i < toml_len(list); i++) {
        struct plugin_ref ref = { 0 };

        if (!read_ref(l, toml_at(list, i), ret == &l->c->use, &ref))
            return false;
        ARENA_PUSH(l->a, ret) = ref;
    }
    return true;
}

static bool read_plugins(struct loader *l, const struct toml_val *root)
{
    static const char *const known[] = { "auto-enable", "disable", "trust-workspace", "use",
                                         NULL };
    struct str trust = { 0 };
    struct toml_val *t;

    if (!open_table(l, root, "plugins", known, &t) ||
        !read_refs(l, t, "auto-enable", &l->c->auto_enable) ||
        !read_refs(l, t, "disable", &l->c->disable) || !read_refs(l, t, "use", &l->c->use) ||
        !toml_opt_str(t, "trust-workspace", &trust, l->e))
        return false;
    l->c->trust_workspace_always = str_is(trust, "always");
    return !toml_get(t, "trust-workspace") || l->c->trust_workspace_always ||
           str_is(trust, "ask") ||
           toml_fail(l->e, toml_get(t, "trust-workspace"), "must be \"ask\" or \"always\"");
}

static bool read_pm(struct loader *l, const struct toml_val *t)
{
    static const char *const owner_keys[] = { "name", "pass-env", NULL };
    struct pm_config pm = { 0 };

    if (!need_str(l, t, "name", &pm.name) || !read_strs(l, t, "pass-env", &pm.pass_env) ||
        !manifest_installation(l->a, t, owner_keys, &pm.how, l->e))
        return false;
    if (!pm_name_valid(pm.name))
        return toml_fail(l->e, toml_get(t, "name"), "must consist of letters, digits and '-'");
    for (size_t i = 0; i < l->c->pms.n; i++)
        if (str_eq(pm.name, l->c->pms.v[i].name))
            return toml_fail(l->e, toml_get(t, "name"), "names a second package manager so");
    pm.how.name = pm.name;
    ARENA_PUSH(l->a, &l->c->pms) = pm;
    return true;
}

static bool read_pms(struct loader *l, const struct toml_val *root)
{
    struct toml_val *list;

    if (!open_list(l, root, "package-manager", &list))
        return false;
    for (size_t i = 0; i < toml_len(list); i++)
        if (!read_pm(l, toml_at(list, i)))
            return false;
    return true;
}

/* A call must be able to end before its script does. */
static bool check_timeouts(struct loader *l, const struct toml_val *t)
{
    const struct mcp_config *m = &l->c->mcp;
    const char *key = toml_get(t, "tool-call-timeout-secs") ? "tool-call-timeout-secs"
                                                            : "script-timeout-secs";

    return m->tool_call_timeout_secs < m->script_timeout_secs ||
           toml_fail(l->e, toml_get(t, key),
                     "is out of range: tool-call-timeout-secs (%d) must be below "
                     "script-timeout-secs (%d)",
                     m->tool_call_timeout_secs, m->script_timeout_secs);
}

static bool read_mcp(struct loader *l, const struct toml_val *root)
{
#define ROW(key, field, min, max)                         \
    {                                                     \
        key, offsetof(struct config, mcp.field), min, max \
    }
    static const struct int_row rows[] = {
        ROW("script-timeout-secs", script_timeout_secs, 1, 1000000),
        ROW("script-memory-limit-mb", script_memory_limit_mb, 1, 65536),
        /* Below, no script gets anywhere; above, a worker's address space may not hold it. */
        ROW("script-stack-limit-kb", script_stack_limit_kb, 32, 1 << 16),
        ROW("max-tool-calls", max_tool_calls, 1, 1000000),
        ROW("max-result-bytes", max_result_bytes, 1, 16 << 20),
        ROW("max-console-bytes", max_console_bytes, 0, 16 << 20),
        ROW("server-startup-timeout-secs", server_startup_timeout_secs, 1, 1000000),
        ROW("tool-call-timeout-secs", tool_call_timeout_secs, 1, 1000000),
        ROW("max-server-restarts", max_server_restarts, 0, 1000000),
        ROW("restart-stable-reset-secs", restart_stable_reset_secs, 1, 1000000),
        ROW("shutdown-grace-secs", shutdown_grace_secs, 1, 3600),
    };
#undef ROW
    const char *known[ARRAY_LEN(rows) + 5] = { "enabled", "read-only", "proxy-url", "ca-file" };
    struct toml_val *t = NULL;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        known[i + 4] = rows[i].key;
    if (!toml_opt_table(root, "mcp", &t, l->e) || !toml_known_only(t, known, l->e) ||
        !toml_opt_bool(t, "enabled", &l->c->mcp.enabled, l->e) ||
        !toml_opt_bool(t, "read-only", &l->c->mcp.read_only, l->e) ||
        !toml_opt_str(t, "proxy-url", &l->c->mcp.proxy_url, l->e) ||
        !toml_opt_str(t, "ca-file", &l->c->mcp.ca_file, l->e) ||
        !read_ints(l, t, rows, ARRAY_LEN(rows)))
        return false;
    return check_timeouts(l, t);
}

static bool read_agents_table(struct loader *l, const struct toml_val *root)
{
    static const char *const known[] = { "models", "builtin-servers", NULL };
    struct toml_val *t, *models = NULL;

    if (!open_table(l, root, "agents", known, &t) ||
        !toml_opt_bool(t, "builtin-servers", &l->c->agents_builtin_servers, l->e) ||
        !toml_opt_table(t, "models", &models, l->e))
        return false;
    for (size_t i = 0; i < toml_len(models); i++) {
        const struct toml_val *m = toml_at(models, i);

        if (!toml_is(m, TOML_STRING))
            return toml_fail(l->e, m, "must be a string, not %s", toml_kind_name(m));
        ARENA_PUSH(l->a, &l->c->agent_models) = (struct key_value){ m->key, toml_str(m) };
    }
    return true;
}

static bool read_tasks(struct loader *l, const struct toml_val *root)
{
    static const struct int_row rows[] = {
        { "max-concurrent", offsetof(struct config, tasks_max_concurrent), 1, 1000 },
        { "min-free-mb", offsetof(struct config, tasks_min_free_mb), 0, 1 << 30 },
        { "keep-days", offsetof(struct config, tasks_keep_days), 1, 1000000 },
        { "keep-tasks", offsetof(struct config, tasks_keep_tasks), 1, 1 << 30 },
        { "keep-mb", offsetof(struct config, tasks_keep_mb), 1, 1 << 30 },
        { "acp-version", offsetof(struct config, tasks_acp_version), 1, 2 },
    };
    const char *known[ARRAY_LEN(rows) + 1] = { 0 };
    struct toml_val *t;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        known[i] = rows[i].key;
    return open_table(l, root, "tasks", known, &t) && read_ints(l, t, rows, ARRAY_LEN(rows));
}

static bool read_task_agents(struct loader *l, const struct toml_val *root)
{
    struct toml_val *list;

    if (!open_list(l, root, "task-agent", &list))
        return false;
    for (size_t i = 0; i < toml_len(list); i++) {
        struct task_agent_config agent = { 0 };
        auto_buf json = BUF(4 * CONFIG_MAX_BYTES);

        if (!need_str(l, toml_at(list, i), "name", &agent.name))
            return false;
        toml_put_json(&json, toml_at(list, i));
        if (!buf_ok(&json, l->e))
            return false;
        agent.json = arena_str(l->a, buf_str(&json));
        ARENA_PUSH(l->a, &l->c->task_agents) = agent;
    }
    return true;
}

/* ---- the file ---- */

static bool read_file(struct loader *l)
{
    static bool (*const sections[])(struct loader *, const struct toml_val *) = {
        read_top, read_agents, read_logging,      read_defaults, read_registries,  read_plugins,
        read_pms, read_mcp,    read_agents_table, read_tasks,    read_task_agents,
    };
    auto_buf text = BUF(CONFIG_MAX_BYTES);
    struct toml_val *root;

    if (!file_read(l->c->path.p, &text, l->e))
        return l->e->kind == ERR_NOT_FOUND;
    root = toml_parse(l->a, buf_str(&text), l->e);
    if (!root)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        if (!sections[i](l, root))
            return false;
    warn_mistyped(l, root);
    return true;
}

void config_load(struct config *ret, const struct dirs *dirs, struct arena *a)
{
    struct error why = { 0 };
    struct loader l = { .c = ret, .a = a, .dirs = dirs, .e = &why };
    struct str path = str_of(path_join(a, dirs->config, "config.toml"));
    bool ok;

    set_defaults(ret);
    ret->path = path;
    ok = read_file(&l);
    if (ok)
        return;
    set_defaults(ret);
    ret->path = path;
    ret->malformed = true;
    ARENA_PUSH(a, &ret->warnings) = str_of(arena_printf(
        a, "%s: %s; all settings have their defaults until it is corrected", path.p, why.msg));
}
