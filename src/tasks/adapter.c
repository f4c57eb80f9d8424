/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/adapter_impl.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"

#define NPM(package) "install it with 'npm install -g " package "'"

/* ---- the built-in table (TK-26) ---- */

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define PINS(...)                                        \
    .pins = (const struct adapter_pin[]){ __VA_ARGS__ }, \
    .npins = ARRAY_LEN(((const struct adapter_pin[]){ __VA_ARGS__ }))
#define OPTIONS(...)                                           \
    .options = (const struct adapter_option[]){ __VA_ARGS__ }, \
    .noptions = ARRAY_LEN(((const struct adapter_option[]){ __VA_ARGS__ }))
#define MODEL(how, id)  .model = { .key = "model", .via = how, .name = id }
#define EFFORT(how, id) .effort = { .key = "effort", .via = how, .name = id }
#define EFFORTS(flag, ...) \
    .effort = { .key = "effort", .via = VIA_JOINED, .name = flag, .values = LIST(__VA_ARGS__) }

/*
 * `without`: CLAUDECODE, set in what Claude Code starts, makes a second one refuse to run; the
 * other two would grant what the pins deny.
 */
static const struct adapter built_in[] = {
    {
        .name = "claude_code",
        .program = "claude-agent-acp",
        .second = "claude-code-acp",
        .install = NPM("@agentclientprotocol/claude-agent-acp"),
        PINS({ ACP_CONFIG, "mode", "default" }),
        MODEL(VIA_CONFIG, "model"),
        EFFORT(VIA_CONFIG, "effort"),
        .resume = true,
        .without = LIST("CLAUDECODE"),
    },
    {
        .name = "codex",
        .program = "codex-acp",
        .install = NPM("@agentclientprotocol/codex-acp"),
        PINS({ ACP_CONFIG, "mode", "read-only" }),
        MODEL(VIA_CONFIG, "model"),
        EFFORT(VIA_CONFIG, "reasoning_effort"),
        .resume = true,
    },
    {
        .name = "copilot",
        .program = "copilot",
        .args = LIST("--acp"),
        .install = NPM("@github/copilot"),
        PINS({ ACP_CONFIG, "allow_all", "off" }),
        MODEL(VIA_JOINED, "--model"),
        EFFORTS("--reasoning-effort", "none", "minimal", "low", "medium", "high", "xhigh",
                "max"),
        .resume = true,
        .without = LIST("COPILOT_ALLOW_ALL"),
    },
    {
        .name = "cline",
        .program = "cline",
        .args = LIST("--acp"),
        .install = NPM("cline"),
        PINS({ ACP_CONFIG, "auto_approve", "false" }),
        MODEL(VIA_CONFIG, "model"),
        EFFORTS("--thinking", "none", "low", "medium", "high", "xhigh"),
        .resume = true,
    },
    {
        .name = "cursor",
        .program = "cursor-agent",
        .args = LIST("acp"),
        .install = "install the Cursor CLI",
        MODEL(VIA_CONFIG, "model"),
        .resume = true,
        .finish = adapter_finish_cursor,
    },
    {
        .name = "opencode",
        .program = "opencode",
        .args = LIST("acp"),
        .install = NPM("opencode-ai"),
        PINS({ ACP_CONFIG, "mode", "build" }),
        MODEL(VIA_CONFIG, "model"),
        .resume = true,
        .without = LIST("OPENCODE_PERMISSION"),
        .finish = adapter_finish_opencode,
    },
    {
        .name = "antigravity",
        .kind = TASK_CLI,
        .program = "agy",
        .install = "install the Antigravity CLI",
        MODEL(VIA_SPLIT, "--model"),
        EFFORTS("--effort", "low", "medium", "high", "xhigh", "max"),
        OPTIONS(
            { "mode", VIA_JOINED, "--mode", .values = LIST("accept-edits", "plan") },
            { "sandbox", VIA_SWITCH, "--sandbox" },
            { "dangerously_skip_permissions", VIA_SWITCH, "--dangerously-skip-permissions" },
            { "print_timeout", VIA_JOINED, "--print-timeout", .pattern = "^[1-9][0-9]*[smh]$",
              .fallback = "5m" }),
        .prompt_flag = "--print",
    },
    {
        .name = "gemini",
        .program = "gemini",
        .args = LIST("--acp"),
        .install = NPM("@google/gemini-cli"),
        PINS({ ACP_MODE, NULL, "default" }),
        MODEL(VIA_SPLIT, "-m"),
        OPTIONS({ "auth_method", VIA_AUTH }),
        .resume = true,
    },
    {
        .name = "qwen",
        .program = "qwen",
        .args = LIST("--acp"),
        .install = NPM("@qwen-code/qwen-code"),
        PINS({ ACP_CONFIG, "mode", "default" }),
        MODEL(VIA_CONFIG, "model"),
        OPTIONS({ "auth_type", VIA_SPLIT, "--auth-type" }),
        .resume = true,
    },
};

/* ---- all of them ---- */

void adapters_load(struct adapters *ret, struct arena *a, const struct config *c)
{
    size_t cap = ARRAY_LEN(built_in) + c->task_agents.n;
    const struct adapter **all = ARENA_ARRAY(a, const struct adapter *, cap);

    *ret = (struct adapters){ .v = all };
    for (size_t i = 0; i < ARRAY_LEN(built_in); i++) {
        struct adapter *ad = ARENA_NEW(a, struct adapter);

        *ad = built_in[i];
        ad->version = c->tasks_acp_version;
        all[ret->n++] = ad;
    }
    for (size_t i = 0; i < c->task_agents.n; i++) {
        struct error e;
        const struct adapter *ad = adapter_declared(a, &c->task_agents.v[i], ret, &e);

        if (ad)
            all[ret->n++] = ad;
        else
            ARENA_PUSH(a, &ret->problems) = str_of(arena_printf(
                a, "[[task-agent]] '%.*s': %s; it is left out",
                STR_F(str_upto(c->task_agents.v[i].name, ADAPTER_VALUE_MAX)), e.msg));
    }
}

const struct adapter *adapter_find(const struct adapters *all, struct str name)
{
    for (size_t i = 0; i < all->n; i++)
        if (str_is(name, all->v[i]->name))
            return all->v[i];
    return NULL;
}

const char *adapter_name(const struct adapter *ad)
{
    return ad->name;
}

/* ---- the program (TK-19) ---- */

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Relative and empty entries are left out: the workspace must not decide what is run. */
static const char *search(struct arena *a, const char *name, const char *path)
{
    struct str rest = str_of(path), dir;
    bool more = true;

    if (path_is_abs(name))
        return is_program(name) ? name : NULL;
    while (more) {
        const char *found;

        more = str_cut(rest, ':', &dir, &rest);
        if (!more)
            dir = rest;
        if (!dir.n || dir.p[0] != '/')
            continue;
        found = path_join(a, arena_z(a, dir), name);
        if (is_program(found))
            return found;
    }
    return NULL;
}

const char *adapter_program(const struct adapter *ad, const char *path, struct arena *a,
                            struct error *e)
{
    const char *found = search(a, ad->program, path);

    if (!found && ad->second)
        found = search(a, ad->second, path);
    if (!found)
        error_set(e, ERR_NOT_FOUND, "there is no '%s'%s%s%s%s for agent '%s': %s", ad->program,
                  ad->second ? " and no '" : "", ad->second ? ad->second : "",
                  ad->second ? "'" : "", path_is_abs(ad->program) ? "" : " in PATH", ad->name,
                  ad->install);
    return found;
}

/* ---- the schema of `options` (TK-8) ---- */

static const struct common_key {
    const char *key, *schema;
} common_keys[] = {
    { "model", "{\"type\":\"string\",\"minLength\":1,\"maxLength\":256,\"description\":"
               "\"model of the agent, as the agent names it\"}" },
    { "effort", "{\"type\":\"string\",\"minLength\":1,\"maxLength\":256,\"description\":"
                "\"reasoning effort, as the agent names it\"}" },
    { "allow",
      "{\"type\":\"array\",\"maxItems\":9,\"uniqueItems\":true,\"items\":{\"enum\":[\"read\","
      "\"edit\",\"delete\",\"move\",\"search\",\"execute\",\"think\",\"fetch\",\"other\"]},"
      "\"description\":\"kinds of tool call that are allowed when the agent asks; default: "
      "none\"}" },
    { "symposium", "{\"type\":\"boolean\",\"default\":false,\"description\":\"give the agent "
                   "our own MCP servers: the tools of symposium, and task hand-off\"}" },
    /* Of whoever answers the spawn, not of the agent (TK-60). */
    { "follow",
      "{\"type\":\"boolean\",\"default\":false,\"description\":\"answer with a task of "
      "the MCP tasks extension, where the client has it\"}" },
};

bool adapter_is_common_key(struct str key)
{
    for (size_t i = 0; i < ARRAY_LEN(common_keys); i++)
        if (str_is(key, common_keys[i].key))
            return true;
    return false;
}

static bool listed_before(const struct adapters *all, size_t upto, const char *key)
{
    for (size_t i = 0; i < upto; i++)
        for (size_t k = 0; k < all->v[i]->noptions; k++)
            if (!strcmp(all->v[i]->options[k].key, key))
                return true;
    return false;
}

/* Two adapters may mean different things by one key: what both say holds. */
static void put_option(struct jw *w, const struct adapters *all, const char *key)
{
    auto_buf agents = BUF(4096);
    bool text = false, flag = false;

    for (size_t i = 0; i < all->n; i++) {
        for (size_t k = 0; k < all->v[i]->noptions; k++) {
            const struct adapter_option *o = &all->v[i]->options[k];

            if (strcmp(o->key, key) != 0)
                continue;
            buf_addf(&agents, "%s%s", agents.n ? ", " : "", all->v[i]->name);
            *(o->via == VIA_SWITCH ? &flag : &text) = true;
        }
    }
    jw_key(w, key);
    jw_obj(w);
    jw_key(w, "type");
    jw_raw(w, text && flag ? STR("[\"boolean\",\"string\"]")
              : flag       ? STR("\"boolean\"")
                           : STR("\"string\""));
    jw_key(w, "description");
    buf_addz(&agents, " only");
    jw_str(w, buf_str(&agents));
    jw_end(w);
}

void adapters_put_option_keys(struct jw *w, const struct adapters *all)
{
    for (size_t i = 0; i < ARRAY_LEN(common_keys); i++) {
        jw_key(w, common_keys[i].key);
        jw_raw(w, str_of(common_keys[i].schema));
    }
    for (size_t i = 0; i < all->n; i++) {
        const struct adapter *ad = all->v[i];

        for (size_t k = 0; k < ad->noptions; k++)
            if (!listed_before(all, i, ad->options[k].key))
                put_option(w, all, ad->options[k].key);
    }
}
