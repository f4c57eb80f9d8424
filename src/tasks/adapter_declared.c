/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/adapter_impl.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "text/regex.h"

struct reader {
    struct arena *a;
    struct error *e;
    yyjson_val *table;
    struct adapter *ad;
};

/* ---- small readers ---- */

static bool check_text(struct reader *r, const char *key, struct str s)
{
    if (s.n && s.n <= ADAPTER_VALUE_MAX && !memchr(s.p, '\0', s.n))
        return true;
    return error_set(r->e, ERR_INVALID, "'%s' must have 1 to %d bytes without NUL", key,
                     ADAPTER_VALUE_MAX);
}

/* *ret stays NULL when it is absent. */
static bool read_text(struct reader *r, yyjson_val *table, const char *key, const char **ret)
{
    struct str s = { 0 };

    if (!json_get(table, key))
        return true;
    if (!json_opt_str(table, key, &s, r->e) || !check_text(r, key, s))
        return false;
    *ret = arena_z(r->a, s);
    return true;
}

static bool known_only(struct reader *r, yyjson_val *table, const char *const *known)
{
    for (struct json_iter it = json_iter(table); json_next(&it);) {
        size_t i = 0;

        while (known[i] && !str_is(it.key, known[i]))
            i++;
        if (!known[i])
            return error_set(r->e, ERR_INVALID, "unknown key '%.*s'",
                             STR_F(str_upto(it.key, ADAPTER_VALUE_MAX)));
    }
    return true;
}

/* NULL when it is absent. */
static bool read_list(struct reader *r, yyjson_val *table, const char *key,
                      const char *const **ret)
{
    yyjson_val *list = json_get(table, key);
    struct words words = { 0 };

    if (!list)
        return true;
    if (!json_is_arr(list) || json_len(list) > ADAPTER_ITEMS_MAX)
        return error_set(r->e, ERR_INVALID, "'%s' must be an array of at most %d strings", key,
                         ADAPTER_ITEMS_MAX);
    for (struct json_iter it = json_iter(list); json_next(&it);) {
        if (!json_is_str(it.val))
            return error_set(r->e, ERR_INVALID, "'%s' must hold strings, not %s", key,
                             json_type_name(it.val));
        if (!check_text(r, key, json_str(it.val)))
            return false;
        ARENA_PUSH(r->a, &words) = arena_z(r->a, json_str(it.val));
    }
    ARENA_PUSH(r->a, &words) = NULL;
    *ret = words.v;
    return true;
}

static bool open_table(struct reader *r, const char *key, yyjson_val **ret)
{
    *ret = json_get(r->table, key);
    if (!*ret || (json_is_obj(*ret) && json_len(*ret) <= ADAPTER_ITEMS_MAX))
        return true;
    return error_set(r->e, ERR_INVALID, "'%s' must be a table of at most %d keys", key,
                     ADAPTER_ITEMS_MAX);
}

static bool is_flag(const char *s)
{
    return s[0] == '-' && s[1] && !strpbrk(s, "= \t\r\n");
}

/* "config:<id>", "arg:<flag>" or "arg2:<flag>". */
static bool read_via(struct reader *r, const char *key, const char *text,
                     struct adapter_option *ret)
{
    static const struct {
        const char *prefix;
        enum adapter_via via;
    } forms[] = {
        { "config:", VIA_CONFIG },
        { "arg:", VIA_JOINED },
        { "arg2:", VIA_SPLIT },
    };

    ret->key = key;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        size_t n = strlen(forms[i].prefix);

        if (strncmp(text, forms[i].prefix, n) != 0)
            continue;
        ret->via = forms[i].via;
        ret->name = text + n;
        if (ret->via == VIA_CONFIG ? !*ret->name : !is_flag(ret->name))
            break;
        if (ret->via == VIA_CONFIG && r->ad->kind == TASK_CLI)
            return error_set(r->e, ERR_INVALID,
                             "'%s': a cli agent has no config options, use 'arg:<flag>'", key);
        return true;
    }
    return error_set(r->e, ERR_INVALID,
                     "'%s' must be \"config:<id>\", \"arg:<flag>\" or \"arg2:<flag>\", not "
                     "\"%s\"",
                     key, text);
}

/* ---- the keys ---- */

static bool read_name(struct reader *r, const struct adapters *taken)
{
    const char *name = NULL;

    if (!read_text(r, r->table, "name", &name))
        return false;
    if (!name || strlen(name) > 32 ||
        name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")])
        return error_set(r->e, ERR_INVALID,
                         "'name' must have 1 to 32 of a-z, 0-9, '_' and '-'");
    if (adapter_find(taken, str_of(name)))
        return error_set(r->e, ERR_INVALID, "'name' is that of another agent");
    r->ad->name = name;
    return true;
}

static bool read_protocol(struct reader *r)
{
    const char *protocol = "acp";

    if (!read_text(r, r->table, "protocol", &protocol))
        return false;
    r->ad->kind = strcmp(protocol, "cli") ? TASK_ACP : TASK_CLI;
    r->ad->version = strcmp(protocol, "acp2") ? 1 : 2;
    return r->ad->kind == TASK_CLI || !strcmp(protocol, "acp") || r->ad->version == 2 ||
           error_set(r->e, ERR_INVALID, "'protocol' must be \"acp\", \"acp2\" or \"cli\"");
}

static bool read_command(struct reader *r)
{
    if (!read_text(r, r->table, "command", &r->ad->program))
        return false;
    if (!r->ad->program)
        return error_set(r->e, ERR_INVALID, "needs a 'command'");
    if (strchr(r->ad->program, '/') && !path_is_abs(r->ad->program))
        return error_set(r->e, ERR_INVALID,
                         "'command' must be a name that is searched in PATH, or an absolute "
                         "path");
    r->ad->install = "install it, or correct 'command' of its [[task-agent]] in config.toml";
    return read_list(r, r->table, "args", &r->ad->args);
}

static bool read_env(struct reader *r)
{
    yyjson_val *table;
    struct words env = { 0 };

    if (!open_table(r, "env", &table))
        return false;
    for (struct json_iter it = json_iter(table); json_next(&it);) {
        struct str name = it.key, value = json_str(it.val);

        if (!name.n || name.n > ADAPTER_VALUE_MAX || memchr(name.p, '=', name.n) ||
            memchr(name.p, '\0', name.n))
            return error_set(r->e, ERR_INVALID, "'env' has a name that is none");
        if (!json_is_str(it.val) || memchr(value.p, '\0', value.n))
            return error_set(r->e, ERR_INVALID, "'env.%.*s' must be a string without NUL",
                             STR_F(name));
        ARENA_PUSH(r->a, &env) =
            arena_printf(r->a, "%s=%s", arena_z(r->a, name), arena_z(r->a, value));
    }
    ARENA_PUSH(r->a, &env) = NULL;
    r->ad->env = env.v;
    return true;
}

static bool read_pins(struct reader *r)
{
    struct {
        struct adapter_pin *v;
        size_t n, cap;
    } pins = { 0 };
    const char *mode = NULL;
    yyjson_val *table;

    if (!open_table(r, "pins", &table) || !read_text(r, r->table, "mode-pin", &mode))
        return false;
    if (mode)
        ARENA_PUSH(r->a, &pins) = (struct adapter_pin){ .how = ACP_MODE, .value = mode };
    for (struct json_iter it = json_iter(table); json_next(&it);) {
        struct adapter_pin pin = { .how = ACP_CONFIG };

        if (json_is_bool(it.val))
            pin.value = json_bool(it.val, false) ? "true" : "false";
        else if (!json_is_str(it.val))
            return error_set(r->e, ERR_INVALID, "'pins.%.*s' must be a string or a boolean",
                             STR_F(str_upto(it.key, ADAPTER_VALUE_MAX)));
        else
            pin.value = arena_z(r->a, json_str(it.val));
        if (!check_text(r, "pins", it.key) || !check_text(r, "pins", str_of(pin.value)))
            return false;
        pin.id = arena_z(r->a, it.key);
        ARENA_PUSH(r->a, &pins) = pin;
    }
    r->ad->pins = pins.v;
    r->ad->npins = pins.n;
    return !pins.n || r->ad->kind == TASK_ACP ||
           error_set(r->e, ERR_INVALID, "a cli agent has no 'pins' and no 'mode-pin'");
}

static bool read_model_and_effort(struct reader *r)
{
    static const char *const known[] = { "set", "values", NULL };
    yyjson_val *effort = json_get(r->table, "effort");
    const char *model = NULL, *set = NULL;

    if (!read_text(r, r->table, "model", &model) ||
        (model && !read_via(r, "model", model, &r->ad->model)))
        return false;
    if (!effort)
        return true;
    if (json_is_obj(effort)) {
        if (!known_only(r, effort, known) || !read_text(r, effort, "set", &set) ||
            !read_list(r, effort, "values", &r->ad->effort.values))
            return false;
    } else if (!read_text(r, r->table, "effort", &set)) {
        return false;
    }
    return set ? read_via(r, "effort", set, &r->ad->effort)
               : error_set(r->e, ERR_INVALID, "'effort' needs a 'set'");
}

/* A cli agent's prompt; one over ACP has none. */
static bool read_prompt(struct reader *r)
{
    const char *prompt = NULL;

    if (!read_text(r, r->table, "prompt", &prompt))
        return false;
    if (r->ad->kind == TASK_ACP)
        return !prompt || error_set(r->e, ERR_INVALID, "'prompt' is for \"cli\" agents");
    if (prompt && !strcmp(prompt, "stdin")) {
        r->ad->prompt_stdin = true;
        return true;
    }
    if (!prompt || strncmp(prompt, "arg:", 4) != 0 || !is_flag(prompt + 4))
        return error_set(r->e, ERR_INVALID,
                         "'prompt' of a cli agent must be \"arg:<flag>\" or \"stdin\"");
    r->ad->prompt_flag = prompt + 4;
    return true;
}

static bool read_resume(struct reader *r)
{
    if (!json_opt_bool(r->table, "resume", &r->ad->resume, r->e))
        return false;
    return !r->ad->resume || r->ad->kind == TASK_ACP ||
           error_set(r->e, ERR_INVALID, "a cli agent cannot 'resume'");
}

/* ---- options ---- */

static bool check_pattern(struct reader *r, const char *pattern)
{
    struct regex *re = regex_new(str_of(pattern), r->e);

    if (!re)
        return error_wrap(r->e, "'pattern'");
    regex_free(re);
    return true;
}

static bool read_option(struct reader *r, struct str key, yyjson_val *v,
                        struct adapter_option *ret)
{
    static const char *const known[] = { "type", "flag", "pattern", NULL };
    const char *type = NULL;

    if (!json_is_obj(v))
        return error_set(r->e, ERR_INVALID, "must be a table");
    if (adapter_is_common_key(key))
        return error_set(r->e, ERR_INVALID, "has the name of an option that all agents have");
    ret->key = arena_z(r->a, key);
    if (!known_only(r, v, known) || !read_text(r, v, "type", &type) ||
        !read_text(r, v, "flag", &ret->name) || !read_text(r, v, "pattern", &ret->pattern))
        return false;
    if (!type || (strcmp(type, "bool") != 0 && strcmp(type, "string") != 0))
        return error_set(r->e, ERR_INVALID, "'type' must be \"bool\" or \"string\"");
    ret->via = !strcmp(type, "bool") ? VIA_SWITCH : VIA_JOINED;
    if (!ret->name || !is_flag(ret->name))
        return error_set(r->e, ERR_INVALID, "needs a 'flag' that begins with '-'");
    if (ret->pattern && ret->via == VIA_SWITCH)
        return error_set(r->e, ERR_INVALID, "a bool has no 'pattern'");
    return !ret->pattern || check_pattern(r, ret->pattern);
}

static bool read_options(struct reader *r)
{
    struct {
        struct adapter_option *v;
        size_t n, cap;
    } options = { 0 };
    yyjson_val *table;

    if (!open_table(r, "options", &table))
        return false;
    for (struct json_iter it = json_iter(table); json_next(&it);) {
        struct adapter_option option = { 0 };

        if (!check_text(r, "options", it.key))
            return false;
        if (!read_option(r, it.key, it.val, &option))
            return error_wrap(r->e, "'options.%.*s'", STR_F(it.key));
        ARENA_PUSH(r->a, &options) = option;
    }
    r->ad->options = options.v;
    r->ad->noptions = options.n;
    return true;
}

const struct adapter *adapter_declared(struct arena *a, const struct task_agent_config *c,
                                       const struct adapters *taken, struct error *e)
{
    static const char *const known[] = { "name",     "command", "args",     "env",    "pins",
                                         "protocol", "model",   "mode-pin", "effort", "resume",
                                         "prompt",   "options", NULL };
    auto_json j = { 0 };
    struct reader r = { .a = a, .e = e, .ad = ARENA_NEW(a, struct adapter) };

    if (!json_parse(&j, c->json, e))
        return NULL;
    r.table = j.root;
    if (!known_only(&r, r.table, known) || !read_name(&r, taken) || !read_protocol(&r) ||
        !read_command(&r) || !read_env(&r) || !read_pins(&r) || !read_model_and_effort(&r) ||
        !read_prompt(&r) || !read_resume(&r) || !read_options(&r))
        return NULL;
    return r.ad;
}
