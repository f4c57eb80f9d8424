/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/adapter_impl.h"

#include <string.h>

#include "base/mem.h"
#include "tasks/chain.h"
#include "text/regex.h"

/* Where the files of symposium are: an agent may filter what its MCP servers get to see. */
static const char *const passed_on[] = {
    "SYMPOSIUM_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
};

bool adapter_is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_alnum(s.p[i]) && (!i || !s.p[i] || !strchr("._:/@+[]-", s.p[i])))
            return false;
    return s.n != 0;
}

/* ---- what the request says ---- */

static bool has_option(const struct adapter *ad, struct str key)
{
    for (size_t i = 0; i < ad->noptions; i++)
        if (str_is(key, ad->options[i].key))
            return true;
    return (ad->model.via && str_is(key, "model")) ||
           (ad->effort.via && str_is(key, "effort")) ||
           (ad->kind == TASK_ACP && str_is(key, "symposium")) || str_is(key, "allow") ||
           str_is(key, "follow");
}

static bool is_pinned(const struct adapter *ad, struct str key)
{
    for (size_t i = 0; i < ad->npins; i++)
        if (str_is(key, ad->pins[i].id ? ad->pins[i].id : "mode"))
            return true;
    return ad->finish == adapter_finish_cursor && str_is(key, "mode");
}

static const char *names_of_options(struct arena *a, const struct adapter *ad)
{
    static const char *const common[] = { "model", "effort", "allow", "symposium", "follow" };
    auto_buf out = BUF(ADAPTER_ITEMS_MAX * ADAPTER_VALUE_MAX * 2);

    for (size_t i = 0; i < ARRAY_LEN(common); i++)
        if (has_option(ad, str_of(common[i])))
            buf_addf(&out, "%s'%s'", out.n ? ", " : "", common[i]);
    for (size_t i = 0; i < ad->noptions; i++)
        buf_addf(&out, ", '%s'", ad->options[i].key);
    return arena_z(a, buf_str(&out));
}

static bool check_keys(struct planner *p)
{
    for (struct json_iter it = json_iter(p->req->options); json_next(&it);) {
        struct str key = str_upto(it.key, ADAPTER_VALUE_MAX);

        if (has_option(p->ad, it.key))
            continue;
        if (is_pinned(p->ad, it.key))
            return error_set(p->e, ERR_INVALID,
                             "option '%.*s' of agent '%s' is pinned and cannot be set",
                             STR_F(key), p->ad->name);
        return error_set(p->e, ERR_INVALID, "agent '%s' has no option '%.*s'; it has %s",
                         p->ad->name, STR_F(key), names_of_options(p->a, p->ad));
    }
    return true;
}

static bool read_bool(struct planner *p, const char *key, bool *ret)
{
    yyjson_val *v = json_get(p->req->options, key);

    if (v && !json_is_bool(v))
        return error_set(p->e, ERR_INVALID, "option '%s' must be true or false, not %s", key,
                         json_type_name(v));
    *ret = json_bool(v, false);
    return true;
}

static bool is_listed(const char *const *values, struct str s)
{
    for (; *values; values++)
        if (str_is(s, *values))
            return true;
    return false;
}

static const char *joined(struct arena *a, const char *const *values)
{
    auto_buf out = BUF((ADAPTER_VALUE_MAX + 2) * ADAPTER_ITEMS_MAX);

    for (; *values; values++)
        buf_addf(&out, "%s%s", out.n ? ", " : "", *values);
    return arena_z(a, buf_str(&out));
}

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return true;
    return false;
}

static bool check_pattern(struct planner *p, const struct adapter_option *o, struct str s)
{
    struct regex *re = regex_new(str_of(o->pattern), p->e);
    bool found;

    if (!re)
        return false;
    found = regex_finds(re, s);
    regex_free(re);
    return found || error_set(p->e, ERR_INVALID, "option '%s' must match %s, not '%.*s'",
                              o->key, o->pattern, STR_F(s));
}

static bool check_value(struct planner *p, const struct adapter_option *o, struct str s)
{
    if (!s.n || s.n > ADAPTER_VALUE_MAX || has_control(s))
        return error_set(p->e, ERR_INVALID,
                         "option '%s' must have 1 to %d bytes without control characters",
                         o->key, ADAPTER_VALUE_MAX);
    if (o->values && !is_listed(o->values, s))
        return error_set(p->e, ERR_INVALID, "option '%s' must be one of %s, not '%.*s'", o->key,
                         joined(p->a, o->values), STR_F(s));
    if (o->pattern)
        return check_pattern(p, o, s);
    /* What begins with '-' would be a flag of its own behind a flag without '='. */
    if ((o->via == VIA_JOINED || o->via == VIA_SPLIT) && !adapter_is_token(s))
        return error_set(p->e, ERR_INVALID,
                         "option '%s' must begin with a letter or digit and hold only letters, "
                         "digits and ._:/@+[]-, not '%.*s'",
                         o->key, STR_F(s));
    return true;
}

/* ---- putting it in place ---- */

static void set_config(struct planner *p, const char *what, const char *id, const char *value)
{
    ARENA_PUSH(p->a, &p->settings) =
        (struct acp_setting){ .what = what, .how = ACP_CONFIG, .id = id, .value = value };
}

static void put_value(struct planner *p, const struct adapter_option *o, const char *value)
{
    switch (o->via) {
    case VIA_NONE:
    case VIA_SWITCH:
        break;
    case VIA_CONFIG:
        set_config(p, o->key, o->name, value);
        break;
    case VIA_JOINED:
        ARENA_PUSH(p->a, &p->argv) = arena_printf(p->a, "%s=%s", o->name, value);
        break;
    case VIA_SPLIT:
        ARENA_PUSH(p->a, &p->argv) = o->name;
        ARENA_PUSH(p->a, &p->argv) = value;
        break;
    case VIA_AUTH:
        p->plan->turn.auth_method = value;
        break;
    }
}

static bool put_option(struct planner *p, const struct adapter_option *o)
{
    yyjson_val *v = json_get(p->req->options, o->key);
    bool on = false;

    if (o->via == VIA_SWITCH) {
        if (!read_bool(p, o->key, &on))
            return false;
        if (on)
            ARENA_PUSH(p->a, &p->argv) = o->name;
        return true;
    }
    if (!v) {
        if (o->fallback)
            put_value(p, o, o->fallback);
        return true;
    }
    if (!json_is_str(v))
        return error_set(p->e, ERR_INVALID, "option '%s' must be a string, not %s", o->key,
                         json_type_name(v));
    if (!check_value(p, o, json_str(v)))
        return false;
    put_value(p, o, arena_z(p->a, json_str(v)));
    return true;
}

static bool put_allow(struct planner *p)
{
    yyjson_val *list = json_get(p->req->options, "allow");

    if (list && !json_is_arr(list))
        return error_set(p->e, ERR_INVALID, "option 'allow' must be an array, not %s",
                         json_type_name(list));
    if (p->ad->kind == TASK_CLI && json_len(list))
        return error_set(p->e, ERR_INVALID,
                         "agent '%s' does not ask: 'allow' must be empty, or left out",
                         p->ad->name);
    for (struct json_iter it = json_iter(list); json_next(&it);) {
        enum acp_kind kind;

        if (!json_is_str(it.val) || !acp_kind_parse(json_str(it.val), &kind) ||
            kind == ACP_SWITCH_MODE)
            return error_set(p->e, ERR_INVALID,
                             "option 'allow' may hold read, edit, delete, move, search, "
                             "execute, think, fetch and other, not '%.*s'",
                             STR_F(str_upto(json_str(it.val), ADAPTER_VALUE_MAX)));
        p->plan->turn.allow |= 1u << kind;
    }
    return true;
}

/* ---- the environment ---- */

static bool is_name_of(const char *entry, const char *name)
{
    size_t n = strlen(name);

    return !strncmp(entry, name, n) && entry[n] == '=';
}

static bool is_dropped(const struct adapter *ad, const char *entry)
{
    if (is_name_of(entry, CHAIN_VARIABLE))
        return true;
    for (const char *const *at = ad->without; at && *at; at++)
        if (is_name_of(entry, *at))
            return true;
    for (const char *const *at = ad->env; at && *at; at++)
        if (!strncmp(entry, *at, strcspn(*at, "=") + 1))
            return true;
    return false;
}

const char *planner_env(const struct planner *p, const char *name)
{
    for (const char *const *at = p->req->env; at && *at; at++)
        if (is_name_of(*at, name))
            return *at + strlen(name) + 1;
    return NULL;
}

void planner_set_env(struct planner *p, const char *name, struct str value)
{
    char *entry = arena_printf(p->a, "%s=%s", name, arena_z(p->a, value));

    for (size_t i = 0; i < p->env.n; i++) {
        if (is_name_of(p->env.v[i], name)) {
            p->env.v[i] = entry;
            return;
        }
    }
    ARENA_PUSH(p->a, &p->env) = entry;
}

static void put_env(struct planner *p)
{
    for (const char *const *at = p->req->env; at && *at; at++)
        if (!is_dropped(p->ad, *at))
            ARENA_PUSH(p->a, &p->env) = *at;
    for (const char *const *at = p->ad->env; at && *at; at++)
        ARENA_PUSH(p->a, &p->env) = *at;
    if (p->req->chain)
        planner_set_env(p, CHAIN_VARIABLE, str_of(p->req->chain));
}

/* ---- our own MCP servers for the session ---- */

static bool put_servers(struct planner *p)
{
    struct acp_mcp_server *servers;
    struct words env = { 0 };
    bool wanted = false;

    if (!read_bool(p, "symposium", &wanted) || !wanted)
        return p->e->kind == ERR_NONE;
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        if (planner_env(p, passed_on[i]))
            ARENA_PUSH(p->a, &env) =
                arena_printf(p->a, "%s=%s", passed_on[i], planner_env(p, passed_on[i]));
    if (p->req->chain)
        ARENA_PUSH(p->a, &env) = arena_printf(p->a, "%s=%s", CHAIN_VARIABLE, p->req->chain);
    ARENA_PUSH(p->a, &env) = NULL;
    servers = ARENA_ARRAY(p->a, struct acp_mcp_server, 2);
    servers[0] = (struct acp_mcp_server){ "symposium", p->req->self, NULL, env.v };
    servers[1] = (struct acp_mcp_server){ "symposium-tasks", p->req->self, NULL, env.v };
    for (size_t i = 0; i < 2; i++) {
        const char **args = ARENA_ARRAY(p->a, const char *, 2);

        args[0] = i ? "symm" : "mcp-serve";
        servers[i].args = args;
    }
    p->plan->turn.servers = servers;
    p->plan->turn.nservers = 2;
    return true;
}

/* ---- the whole ---- */

static bool put_prompt(struct planner *p)
{
    struct str prompt = p->req->prompt;

    if (p->ad->kind == TASK_ACP) {
        p->plan->turn.prompt = arena_str(p->a, prompt);
        return true;
    }
    p->plan->prompt_stdin = p->ad->prompt_stdin;
    if (p->ad->prompt_stdin) {
        p->plan->prompt_text = arena_str(p->a, prompt);
        return true;
    }
    if (prompt.n > ADAPTER_ARG_PROMPT)
        return error_set(p->e, ERR_INVALID,
                         "the prompt for agent '%s' may have at most %zu bytes, not %zu",
                         p->ad->name, ADAPTER_ARG_PROMPT, prompt.n);
    if (memchr(prompt.p, '\0', prompt.n))
        return error_set(p->e, ERR_INVALID,
                         "the prompt for agent '%s' must not hold a NUL byte", p->ad->name);
    ARENA_PUSH(p->a, &p->argv) =
        arena_printf(p->a, "%s=%s", p->ad->prompt_flag, arena_z(p->a, prompt));
    return true;
}

static bool put_session(struct planner *p)
{
    struct str id = p->req->session_id;

    if (!id.n)
        return true;
    if (!p->ad->resume)
        return error_set(p->e, ERR_INVALID, "agent '%s' cannot resume a session", p->ad->name);
    if (id.n > ACP_ID_MAX || has_control(id))
        return error_set(p->e, ERR_INVALID,
                         "'session_id' must have 1 to %zu bytes without control characters",
                         ACP_ID_MAX);
    p->plan->turn.resume = arena_z(p->a, id);
    return true;
}

static void begin(struct planner *p)
{
    p->plan->turn.version = p->ad->version;
    p->plan->turn.cwd = arena_z(p->a, p->req->workspace);
    ARENA_PUSH(p->a, &p->argv) = p->ad->program;
    for (const char *const *at = p->ad->args; at && *at; at++)
        ARENA_PUSH(p->a, &p->argv) = *at;
    for (size_t i = 0; i < p->ad->npins; i++)
        ARENA_PUSH(p->a, &p->settings) = (struct acp_setting){
            .what = "pin",
            .how = p->ad->pins[i].how,
            .id = p->ad->pins[i].id,
            .value = p->ad->pins[i].value,
        };
    put_env(p);
}

static bool put_options(struct planner *p)
{
    bool follow = false;

    if (p->ad->model.via && !put_option(p, &p->ad->model))
        return false;
    if (p->ad->effort.via && !put_option(p, &p->ad->effort))
        return false;
    for (size_t i = 0; i < p->ad->noptions; i++)
        if (!put_option(p, &p->ad->options[i]))
            return false;
    return read_bool(p, "follow", &follow) && put_allow(p) && put_servers(p);
}

bool adapter_plan(struct task_plan *ret, struct arena *a, const struct adapter *ad,
                  const struct plan_request *req, struct error *e)
{
    struct error unheard = { 0 };
    struct planner p = { .a = a, .ad = ad, .req = req, .e = e ? e : &unheard, .plan = ret };

    *ret = (struct task_plan){ .adapter = ad, .kind = ad->kind };
    p.e->kind = ERR_NONE;
    begin(&p);
    if (!check_keys(&p) || !put_options(&p) || !put_session(&p) || !put_prompt(&p) ||
        (ad->finish && !ad->finish(&p)))
        return false;
    ARENA_PUSH(a, &p.argv) = NULL;
    ARENA_PUSH(a, &p.env) = NULL;
    ret->argv = p.argv.v;
    ret->env = p.env.v;
    ret->turn.settings = p.settings.v;
    ret->turn.nsettings = p.settings.n;
    return true;
}

/* ---- what no table says ---- */

/* It edits without asking in one mode and runs nothing in the other (TK-32). */
bool adapter_finish_cursor(struct planner *p)
{
    bool edits = p->plan->turn.allow & 1u << ACP_EDIT;
    struct acp_setting pin = { .what = "pin",
                               .how = ACP_MODE,
                               .value = edits ? "agent" : "plan" };

    if (!edits && p->plan->turn.allow & 1u << ACP_EXECUTE)
        return error_set(p->e, ERR_INVALID,
                         "agent 'cursor' runs commands only in the mode in which it edits "
                         "without asking: 'execute' in 'allow' needs 'edit'");
    ARENA_PUSH(p->a, &p->settings) = pin;
    memmove(p->settings.v + 1, p->settings.v, (p->settings.n - 1) * sizeof pin);
    p->settings.v[0] = pin; /* pins first: they may change what models there are */
    return true;
}

#define OPENCODE_VARIABLE "OPENCODE_CONFIG_CONTENT"
#define OPENCODE_MAX      ((size_t)1 << 20)

/* With the last three alone it runs the tools of MCP servers without asking (TK-28). */
bool adapter_finish_opencode(struct planner *p)
{
    static const struct str ask =
        STR("{\"*\":\"ask\",\"edit\":\"ask\",\"bash\":\"ask\",\"webfetch\":\"ask\"}");
    const char *theirs = planner_env(p, OPENCODE_VARIABLE);
    auto_buf text = BUF(OPENCODE_MAX + 256);
    auto_json j = { 0 };
    struct jw w = jw_to(&text);

    if (theirs && (!json_parse(&j, str_of(theirs), p->e) || !json_is_obj(j.root)))
        return error_set(p->e, ERR_INVALID, "the environment's %s is not a JSON object",
                         OPENCODE_VARIABLE);
    jw_obj(&w);
    for (struct json_iter it = json_iter(j.root); json_next(&it);) {
        if (str_is(it.key, "permission"))
            continue;
        jw_key_s(&w, it.key);
        jw_val(&w, it.val);
    }
    jw_key(&w, "permission");
    jw_raw(&w, ask);
    jw_end(&w);
    if (!buf_ok(&text, p->e))
        return error_set(p->e, ERR_INVALID, "the environment's %s has more than %zu bytes",
                         OPENCODE_VARIABLE, OPENCODE_MAX);
    planner_set_env(p, OPENCODE_VARIABLE, buf_str(&text));
    return true;
}

/* ---- a copy that lives longer ---- */

static const char *const *copy_words(struct arena *a, const char *const *v)
{
    struct words out = { 0 };

    if (!v)
        return NULL;
    for (; *v; v++)
        ARENA_PUSH(a, &out) = arena_z(a, str_of(*v));
    ARENA_PUSH(a, &out) = NULL;
    return out.v;
}

static const char *copy_z(struct arena *a, const char *z)
{
    return z ? arena_z(a, str_of(z)) : NULL;
}

static void copy_turn(struct acp_turn *ret, struct arena *a, const struct acp_turn *t)
{
    struct acp_setting *settings = ARENA_ARRAY(a, struct acp_setting, t->nsettings);
    struct acp_mcp_server *servers = ARENA_ARRAY(a, struct acp_mcp_server, t->nservers);

    for (size_t i = 0; i < t->nsettings; i++)
        settings[i] = (struct acp_setting){ .what = copy_z(a, t->settings[i].what),
                                            .how = t->settings[i].how,
                                            .id = copy_z(a, t->settings[i].id),
                                            .value = copy_z(a, t->settings[i].value) };
    for (size_t i = 0; i < t->nservers; i++)
        servers[i] = (struct acp_mcp_server){ .name = copy_z(a, t->servers[i].name),
                                              .command = copy_z(a, t->servers[i].command),
                                              .args = copy_words(a, t->servers[i].args),
                                              .env = copy_words(a, t->servers[i].env) };
    *ret = *t;
    ret->cwd = copy_z(a, t->cwd);
    ret->prompt = arena_str(a, t->prompt);
    ret->resume = copy_z(a, t->resume);
    ret->auth_method = copy_z(a, t->auth_method);
    ret->settings = settings;
    ret->servers = servers;
}

void task_plan_copy(struct task_plan *ret, struct arena *a, const struct task_plan *plan)
{
    *ret = *plan;
    ret->argv = copy_words(a, plan->argv);
    ret->env = copy_words(a, plan->env);
    ret->prompt_text = arena_str(a, plan->prompt_text);
    copy_turn(&ret->turn, a, &plan->turn);
}
