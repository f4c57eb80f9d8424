/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/import_server.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "sync/import.h"
#include "text/toml_edit.h"

#define TEXT_MAX   ((size_t)64 << 10) /* of one value */
#define ITEMS_MAX  1000
#define MS_FROM    1000 /* a timeout of that size is in milliseconds, below in seconds */
#define SECRET_MIN 6

/* ---- variables ---- */

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_')
            return false;
    return s.n > 0 && !isdigit((unsigned char)s.p[0]);
}

static bool is_name_with_default(struct str s)
{
    size_t at = str_find(s, STR(":-"));

    return is_name(str_upto(s, at));
}

/* Editors' own. */
static bool is_editors(struct str name)
{
    static const char *const names[] = {
        "workspaceFolder", "workspaceFolderBasename", "workspaceRoot",     "cwd", "file",
        "pathSeparator",   "extensionPath",           "CLAUDE_PLUGIN_ROOT"
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* The text between "${" and "}". */
static bool put_reference(struct buf *out, const struct agent *agent, struct str inner,
                          struct error *e)
{
    struct str name = str_starts(inner, STR("env:")) ? str_from(inner, 4) : inner;

    if (str_starts(inner, STR("input:")))
        return error_set(e, ERR_INVALID, "it asks for input ('${%.*s}')", STR_F(inner));
    if (str_is(inner, "userHome"))
        name = STR("HOME");
    if (is_editors(name) ||
        (!is_name_with_default(name) && str_find_char(name, ':') != SIZE_MAX))
        return error_set(e, ERR_INVALID, "'${%.*s}' means something only to %s", STR_F(inner),
                         agent->title);
    buf_addf(out, "${%.*s}", STR_F(name));
    return true;
}

static bool expands_bare(const struct agent *agent)
{
    return !strcmp(agent->name, "gemini") || !strcmp(agent->name, "qwen");
}

static size_t name_length(struct str s)
{
    size_t n = 0;

    while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_'))
        n++;
    return is_name(str_upto(s, n)) ? n : 0;
}

bool import_expand(struct str *ret, struct arena *a, const struct agent *agent, struct str text,
                   struct error *e)
{
    auto_buf out = BUF(2 * TEXT_MAX);

    for (struct str rest = text; rest.n;) {
        bool dollar = str_starts(rest, STR("${")), brace = str_starts(rest, STR("{env:"));
        size_t close = dollar || brace ? str_find_char(rest, '}') : SIZE_MAX, n;

        if (str_starts(rest, STR("{file:")))
            return error_set(e, ERR_INVALID, "'{file:..}' means something only to %s",
                             agent->title);
        if (close != SIZE_MAX) {
            struct str inner =
                str_upto(str_from(rest, dollar ? 2 : 1), close - (dollar ? 2 : 1));

            if (!put_reference(&out, agent, inner, e))
                return false;
            rest = str_from(rest, close + 1);
            continue;
        }
        n = rest.p[0] == '$' && expands_bare(agent) ? name_length(str_from(rest, 1)) : 0;
        if (n)
            buf_addf(&out, "${%.*s}", STR_F(str_upto(str_from(rest, 1), n)));
        else
            buf_addc(&out, rest.p[0]);
        rest = str_from(rest, n + 1);
    }
    if (!buf_ok(&out, e))
        return false;
    *ret = arena_str(a, buf_str(&out));
    return true;
}

/* ---- members ---- */

struct reading {
    struct server_def *def;
    struct arena *a;
    const struct agent *agent;
    struct error *e;
};

static bool wrong(struct reading *r, const char *key, const char *want)
{
    return error_set(r->e, ERR_INVALID, "its '%s' is not %s", key, want);
}

static bool read_list(struct reading *r, const char *key, yyjson_val *v, bool expand,
                      struct strs *ret)
{
    if (!json_is_arr(v) || json_len(v) > ITEMS_MAX)
        return wrong(r, key, "a list of strings");
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        struct str text = json_str(it.val);

        if (!json_is_str(it.val))
            return wrong(r, key, "a list of strings");
        if (expand ? !import_expand(&text, r->a, r->agent, text, r->e) : false)
            return false;
        ARENA_PUSH(r->a, ret) = arena_str(r->a, text);
    }
    return true;
}

/* A string, or in OpenCode the whole command line. The program itself is not expanded. */
static bool read_command(struct reading *r, const char *key, yyjson_val *v)
{
    struct strs line = { 0 };

    if (json_is_str(v))
        ARENA_PUSH(r->a, &line) = json_str(v);
    else if (!read_list(r, key, v, true, &line))
        return false;
    if (!line.n || !line.v[0].n)
        return wrong(r, key, "a command");
    if (str_find(line.v[0], STR("${")) != SIZE_MAX ||
        str_find(line.v[0], STR("{env:")) != SIZE_MAX)
        return error_set(r->e, ERR_INVALID, "its program has a variable in its name");
    r->def->command = arena_str(r->a, line.v[0]);
    for (size_t i = 1; i < line.n; i++)
        ARENA_PUSH(r->a, &r->def->args) = line.v[i];
    return true;
}

static bool read_args(struct reading *r, const char *key, yyjson_val *v)
{
    return read_list(r, key, v, true, &r->def->args);
}

static bool read_pairs(struct reading *r, const char *key, yyjson_val *v,
                       struct key_values *ret)
{
    if (!json_is_obj(v) || json_len(v) > ITEMS_MAX)
        return wrong(r, key, "an object of strings");
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        struct str value = json_is_num(it.val) ? json_num_text(it.val) : json_str(it.val);

        if (!json_is_str(it.val) && !json_is_num(it.val))
            return wrong(r, key, "an object of strings");
        if (!it.key.n || memchr(it.key.p, '=', it.key.n))
            return wrong(r, key, "an object with names of variables or headers");
        if (!import_expand(&value, r->a, r->agent, value, r->e))
            return false;
        ARENA_PUSH(r->a, ret) = (struct key_value){ arena_str(r->a, it.key), value };
    }
    return true;
}

static bool read_env(struct reading *r, const char *key, yyjson_val *v)
{
    return read_pairs(r, key, v, &r->def->env);
}

static bool read_headers(struct reading *r, const char *key, yyjson_val *v)
{
    return json_is_null(v) || read_pairs(r, key, v, &r->def->headers);
}

/* Codex: the variables that hold the values. */
static bool read_env_headers(struct reading *r, const char *key, yyjson_val *v)
{
    size_t first = r->def->headers.n;

    if (!read_pairs(r, key, v, &r->def->headers))
        return false;
    for (size_t i = first; i < r->def->headers.n; i++) {
        struct str *value = &r->def->headers.v[i].value;

        if (!is_name(*value))
            return wrong(r, key, "an object of names of variables");
        *value = str_of(arena_printf(r->a, "${%.*s}", STR_F(*value)));
    }
    return true;
}

static bool read_bearer(struct reading *r, const char *key, yyjson_val *v)
{
    struct str name = json_str(v);

    if (!is_name(name))
        return wrong(r, key, "the name of a variable");
    ARENA_PUSH(r->a, &r->def->headers) =
        (struct key_value){ STR("Authorization"),
                            str_of(arena_printf(r->a, "Bearer ${%.*s}", STR_F(name))) };
    return true;
}

static bool read_cwd(struct reading *r, const char *key, yyjson_val *v)
{
    struct str text = json_str(v);

    if (!json_is_str(v))
        return wrong(r, key, "a string");
    if (str_is(text, "${workspaceFolder}") || str_is(text, ".")) /* where ours run anyway */
        return true;
    if (str_find(text, STR("${")) != SIZE_MAX || str_starts(text, STR("~")))
        return error_set(r->e, ERR_INVALID, "its '%s' has a variable", key);
    r->def->cwd = arena_str(r->a, text);
    return true;
}

static bool read_type(struct reading *r, const char *key, yyjson_val *v)
{
    static const char *const remote[] = { "http", "streamable-http", "streamable_http",
                                          "streamableHttp", "remote" };
    struct str text = json_str(v);

    if (str_is(text, "stdio") || str_is(text, "local"))
        return true;
    if (str_is(text, "builtin") || str_is(text, "platform") || str_is(text, "frontend"))
        return error_set(r->e, ERR_DENIED, "it is a part of %s", r->agent->title);
    if (str_is(text, "sse")) {
        r->def->transport = TRANSPORT_SSE;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(remote); i++)
        if (str_is(text, remote[i]))
            return true;
    return error_set(r->e, ERR_INVALID, "its '%s' is neither stdio nor http nor sse", key);
}

static bool read_url(struct reading *r, const char *key, yyjson_val *v)
{
    if (json_is_null(v))
        return true;
    if (!json_str(v).n)
        return wrong(r, key, "a URL");
    return import_expand(&r->def->url, r->a, r->agent, json_str(v), r->e);
}

static bool read_enabled(struct reading *r, const char *key, yyjson_val *v)
{
    (void)key;
    return json_bool(v, true) || error_set(r->e, ERR_DENIED, "it is disabled");
}

static bool read_disabled(struct reading *r, const char *key, yyjson_val *v)
{
    (void)key;
    return !json_bool(v, false) || error_set(r->e, ERR_DENIED, "it is disabled");
}

static bool read_secs(struct reading *r, const char *key, yyjson_val *v, int *ret)
{
    double secs;

    if (!json_num(v, &secs) || !(secs > 0) || secs > 1e9)
        return wrong(r, key, "a number of seconds");
    if (strcmp(key, "timeout") == 0 && secs >= MS_FROM)
        secs /= 1000;
    if (str_ends(str_of(key), STR("_ms")))
        secs /= 1000;
    *ret = secs < 1 ? 1 : secs > 1e6 ? 1000000 : (int)secs;
    return true;
}

static bool read_startup(struct reading *r, const char *key, yyjson_val *v)
{
    return read_secs(r, key, v, &r->def->startup_timeout_secs);
}

static bool read_timeout(struct reading *r, const char *key, yyjson_val *v)
{
    return json_is_null(v) || read_secs(r, key, v, &r->def->tool_call_timeout_secs);
}

/* ["*"] and, in Goose, [] are all of them. */
static bool read_tools(struct reading *r, const char *key, yyjson_val *v)
{
    if (json_is_null(v) || (json_len(v) == 1 && str_is(json_str(json_at(v, 0)), "*")) ||
        (!strcmp(key, "available_tools") && json_is_arr(v) && json_len(v) == 0))
        return true;
    r->def->has_enabled_tools = true;
    return read_list(r, key, v, false, &r->def->enabled_tools);
}

static bool read_no_tools(struct reading *r, const char *key, yyjson_val *v)
{
    return read_list(r, key, v, false, &r->def->disabled_tools);
}

/* What an agent asks of its user, or shows him: nothing the server needs. */
static bool skip(struct reading *r, const char *key, yyjson_val *v)
{
    (void)r, (void)key, (void)v;
    return true;
}

/* Only an empty one, or one that is off, loses nothing. */
static bool read_empty(struct reading *r, const char *key, yyjson_val *v)
{
    bool list = json_is_arr(v) || json_is_obj(v), off = json_is_bool(v) && !json_is_true(v);

    return json_is_null(v) || off || (list && json_len(v) == 0) ||
           error_set(r->e, ERR_INVALID, "a plugin has no place for its '%s'", key);
}

static const struct member {
    const char *key;
    bool (*read)(struct reading *r, const char *key, yyjson_val *v);
} members[] = {
    { "command", read_command },
    { "cmd", read_command },
    { "args", read_args },
    { "env", read_env },
    { "envs", read_env },
    { "environment", read_env },
    { "cwd", read_cwd },
    { "type", read_type },
    { "transport", read_type },
    { "url", read_url },
    { "httpUrl", read_url },
    { "serverUrl", read_url },
    { "uri", read_url },
    { "enabled", read_enabled },
    { "disabled", read_disabled },
    { "startup_timeout_sec", read_startup },
    { "startup_timeout_ms", read_startup },
    { "tool_timeout_sec", read_timeout },
    { "timeout", read_timeout },
    { "enabled_tools", read_tools },
    { "includeTools", read_tools },
    { "available_tools", read_tools },
    { "tools", read_tools },
    { "disabled_tools", read_no_tools },
    { "disabledTools", read_no_tools },
    { "excludeTools", read_no_tools },
    { "env_keys", read_empty },
    { "env_vars", read_empty },
    { "oauth", read_empty },
    { "headers", read_headers },
    { "http_headers", read_headers },
    { "env_http_headers", read_env_headers },
    { "bearer_token_env_var", read_bearer },
    { "autoApprove", skip },
    { "alwaysAllow", skip },
    { "trust", skip },
    { "name", skip },
    { "display_name", skip },
    { "description", skip },
    { "bundled", skip },
    { "gallery", skip },
    { "required", skip },
};

static bool read_member(struct reading *r, struct str key, yyjson_val *v)
{
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (str_is(key, members[i].key))
            return members[i].read(r, members[i].key, v);
    return error_set(r->e, ERR_INVALID, "a plugin has no place for its '%.*s'", STR_F(key));
}

/* Whether it must stay at all comes before what is odd about it. */
static bool read_first(struct reading *r, yyjson_val *entry)
{
    static const char *const keys[] = { "enabled", "disabled", "type" };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        yyjson_val *v = json_get(entry, keys[i]);

        if (v && !read_member(r, str_of(keys[i]), v))
            return false;
    }
    return true;
}

/* What a manifest would refuse (MS-10). */
static bool check_way(struct server_def *def, struct error *e)
{
    if (!def->command.n && !def->url.n)
        return error_set(e, ERR_INVALID, "it has neither a command nor a URL");
    if (def->url.n && (def->command.n || def->args.n || def->env.n || def->cwd.n))
        return error_set(e, ERR_INVALID, "it has a URL, and what only a program has");
    if (def->headers.n && !def->url.n)
        return error_set(e, ERR_INVALID, "it has headers, and no URL");
    if (def->url.n && def->transport != TRANSPORT_SSE)
        def->transport = TRANSPORT_HTTP;
    return true;
}

bool import_server_read(struct server_def *ret, struct arena *a, const struct agent *agent,
                        yyjson_val *entry, struct error *e)
{
    struct reading r = { ret, a, agent, e };

    *ret = (struct server_def){ 0 };
    if (!json_is_obj(entry))
        return error_set(e, ERR_INVALID, "it is no object");
    if (!read_first(&r, entry))
        return false;
    for (struct json_iter it = json_iter(entry); json_next(&it);) {
        if (json_get_s(entry, it.key) != it.val)
            return error_set(e, ERR_INVALID, "it says '%.*s' twice", STR_F(it.key));
        if (!read_member(&r, it.key, it.val))
            return false;
    }
    if (!check_way(ret, e))
        return false;
    if (ret->has_enabled_tools && ret->disabled_tools.n)
        return error_set(e, ERR_INVALID, "it both allows and forbids tools");
    return true;
}

/* ---- secrets ---- */

static bool has_word(struct str text)
{
    static const char *const words[] = { "token",  "key",  "secret", "password",
                                         "passwd", "auth", "cookie", "credential" };
    char lower[256];
    size_t n = text.n < sizeof lower - 1 ? text.n : sizeof lower - 1;

    for (size_t i = 0; i < n; i++)
        lower[i] = (char)tolower((unsigned char)text.p[i]);
    lower[n] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strstr(lower, words[i]))
            return true;
    return false;
}

/* As known issuers write them, whatever their name. */
static bool looks_secret(struct str value)
{
    static const char *const starts[] = { "sk-",   "ghp_",   "gho_", "github_pat_", "xoxb-",
                                          "xoxp-", "glpat-", "AKIA", "Bearer ",     "eyJ" };

    for (size_t i = 0; i < ARRAY_LEN(starts); i++)
        if (str_starts(value, str_of(starts[i])))
            return true;
    return false;
}

static bool is_literal(struct str value)
{
    return value.n >= SECRET_MIN && !str_starts(value, STR("${"));
}

/* The value of a header: "Bearer ${TOKEN}" holds none. */
static bool is_secret_header(const struct key_value *h)
{
    return str_find(h->value, STR("${")) == SIZE_MAX && h->value.n >= SECRET_MIN &&
           (has_word(h->key) || looks_secret(h->value));
}

/* "?api_key=..." */
static bool has_secret_query(struct str url)
{
    size_t at = str_find_char(url, '?');
    struct str rest = at == SIZE_MAX ? STR("") : str_from(url, at + 1), pair, name, value;

    while (str_next(&rest, '&', &pair))
        if (str_cut(pair, '=', &name, &value) && is_literal(value) &&
            (has_word(name) || looks_secret(value)))
            return true;
    return false;
}

/* postgres://user:password@host */
static bool has_password(struct str value)
{
    size_t at = str_find(value, STR("://")), end;
    struct str rest;

    if (at == SIZE_MAX)
        return false;
    rest = str_from(value, at + 3);
    end = str_find_char(rest, '@');
    rest = str_upto(rest, end == SIZE_MAX ? 0 : end);
    at = str_find_char(rest, ':');
    return at != SIZE_MAX && at + 1 < rest.n && !str_starts(str_from(rest, at + 1), STR("${"));
}

static bool is_secret(struct str name, struct str value)
{
    return (is_literal(value) && (has_word(name) || looks_secret(value))) ||
           has_password(value);
}

const char *import_server_secret(struct arena *a, const struct server_def *def)
{
    for (size_t i = 0; i < def->env.n; i++)
        if (is_secret(def->env.v[i].key, def->env.v[i].value))
            return arena_printf(a, "variable '%.*s'", STR_F(def->env.v[i].key));
    for (size_t i = 0; i < def->headers.n; i++)
        if (is_secret_header(&def->headers.v[i]))
            return arena_printf(a, "header '%.*s'", STR_F(def->headers.v[i].key));
    if (has_password(def->url) || has_secret_query(def->url))
        return "its URL";
    for (size_t i = 0; i < def->args.n; i++) {
        struct str arg = def->args.v[i], name = { 0 }, value = arg;

        if (str_starts(arg, STR("-")) && str_cut(arg, '=', &name, &value)) {
            if (is_secret(name, value))
                return arena_printf(a, "argument '%.*s'", STR_F(name));
        } else if (is_secret(i && str_starts(def->args.v[i - 1], STR("-")) ? def->args.v[i - 1]
                                                                           : name,
                             value) &&
                   !str_starts(value, STR("-"))) {
            return arena_printf(a, "argument %zu", i + 1);
        }
    }
    return NULL;
}

/* ---- as a manifest says it ---- */

static void put_toml_list(struct buf *out, const char *key, const struct strs *l)
{
    buf_addf(out, "%s = [", key);
    for (size_t i = 0; i < l->n; i++) {
        buf_addz(out, i ? ", " : "");
        toml_put_str(out, l->v[i]);
    }
    buf_addz(out, "]\n");
}

static void put_toml_str(struct buf *out, const char *key, struct str value)
{
    buf_addf(out, "%s = ", key);
    toml_put_str(out, value);
    buf_addc(out, '\n');
}

static void put_toml_pairs(struct buf *out, const char *key, const struct key_values *l)
{
    buf_addf(out, "%s = { ", key);
    for (size_t i = 0; i < l->n; i++) {
        buf_addz(out, i ? ", " : "");
        toml_put_key(out, l->v[i].key);
        buf_addz(out, " = ");
        toml_put_str(out, l->v[i].value);
    }
    buf_addz(out, " }\n");
}

void import_put_toml(struct buf *out, const struct server_def *def)
{
    put_toml_str(out, "name", def->name);
    if (def->url.n)
        put_toml_str(out, "url", def->url);
    else
        put_toml_str(out, "command", def->command);
    if (def->transport == TRANSPORT_SSE)
        put_toml_str(out, "transport", STR("sse"));
    if (def->headers.n)
        put_toml_pairs(out, "headers", &def->headers);
    if (def->args.n)
        put_toml_list(out, "args", &def->args);
    if (def->env.n)
        put_toml_pairs(out, "env", &def->env);
    if (def->cwd.n)
        put_toml_str(out, "cwd", def->cwd);
    if (def->startup_timeout_secs)
        buf_addf(out, "startup-timeout-secs = %d\n", def->startup_timeout_secs);
    if (def->tool_call_timeout_secs)
        buf_addf(out, "tool-call-timeout-secs = %d\n", def->tool_call_timeout_secs);
    if (def->has_enabled_tools)
        put_toml_list(out, "enabled-tools", &def->enabled_tools);
    if (def->disabled_tools.n)
        put_toml_list(out, "disabled-tools", &def->disabled_tools);
}

static void put_json_pairs(struct jw *w, const char *key, const struct key_values *l)
{
    jw_key(w, key);
    jw_obj(w);
    for (size_t i = 0; i < l->n; i++) {
        jw_key_s(w, l->v[i].key);
        jw_str(w, l->v[i].value);
    }
    jw_end(w);
}

/* What two entries have to have in common to be one server; of timeouts the first one's
 * stay. */
void import_put_json(struct buf *out, const struct server_def *def)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_kstr(&w, "command",
            def->command.n   ? def->command
            : def->builtin.n ? def->builtin
                             : def->installation);
    jw_kstr(&w, "url", def->url);
    jw_kbool(&w, "sse", def->transport == TRANSPORT_SSE);
    put_json_pairs(&w, "headers", &def->headers);
    strs_put(&w, "args", &def->args);
    put_json_pairs(&w, "env", &def->env);
    jw_kstr(&w, "cwd", def->cwd);
    jw_kbool(&w, "all", !def->has_enabled_tools);
    strs_put(&w, "enabled", &def->enabled_tools);
    strs_put(&w, "disabled", &def->disabled_tools);
    jw_end(&w);
}
