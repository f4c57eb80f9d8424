/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The servers that a definition names: a map, or a list of names and maps (AG-2, AG-4). */
#include "base/mem.h"
#include "servers/agents/definition_impl.h"

#define SERVER_NAME_MAX 64

static bool fail(struct reader *r, struct str name, const char *why)
{
    return error_set(r->e, ERR_INVALID, "mcpServers '%.*s': %s", STR_F(str_upto(name, 80)),
                     why);
}

static bool is_server_name(struct str s)
{
    return s.n && s.n <= SERVER_NAME_MAX && !str_has_control(s);
}

static bool read_pairs(struct reader *r, yyjson_val *v, struct str server,
                       struct key_values *ret)
{
    if (!v || json_is_null(v))
        return true;
    if (!json_is_obj(v) || json_len(v) > AGENT_LIST_MAX)
        return fail(r, server, "env and headers must be maps of texts");
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        struct str value = json_is_num(it.val) ? json_num_text(it.val) : json_str(it.val);

        if (!it.key.n || str_find_char(it.key, '=') != SIZE_MAX || str_has_control(it.key) ||
            (!json_is_str(it.val) && !json_is_num(it.val)))
            return fail(r, server, "env and headers must be maps of texts");
        if (str_find_char(value, '\0') != SIZE_MAX)
            return fail(r, server, "a NUL in env or headers");
        ARENA_PUSH(r->a, ret) =
            (struct key_value){ arena_str(r->a, it.key), arena_str(r->a, value) };
    }
    return true;
}

/* A text and its arguments, or all of it in one list as OpenCode has it. */
static bool read_command(struct reader *r, yyjson_val *v, struct agent_server *s)
{
    yyjson_val *command = json_get(v, "command"), *args = json_get(v, "args");

    if ((args && !json_is_arr(args) && !json_is_null(args)) ||
        json_len(args) + json_len(command) > AGENT_LIST_MAX)
        return fail(r, s->name, "args must be a list of texts");
    s->command = arena_str(r->a, json_is_arr(command) ? json_str(json_at(command, 0))
                                                      : str_trim(json_str(command)));
    if (!s->command.n || str_find_char(s->command, '\0') != SIZE_MAX)
        return fail(r, s->name, "it needs a 'command' or a 'url'");
    for (size_t i = 1; i < json_len(json_is_arr(command) ? command : NULL); i++)
        ARENA_PUSH(r->a, &s->args) = arena_str(r->a, json_str(json_at(command, i)));
    for (struct json_iter it = json_iter(args); json_next(&it);) {
        struct str arg = json_is_num(it.val) ? json_num_text(it.val) : json_str(it.val);

        if ((!json_is_str(it.val) && !json_is_num(it.val)) ||
            str_find_char(arg, '\0') != SIZE_MAX)
            return fail(r, s->name, "args must be a list of texts");
        ARENA_PUSH(r->a, &s->args) = arena_str(r->a, arg);
    }
    return true;
}

/* Codex names the variable of a token, where others write the header. */
static void add_bearer(struct reader *r, yyjson_val *v, struct agent_server *s)
{
    struct str variable = json_str(json_get(v, "bearer_token_env_var"));

    if (variable.n)
        ARENA_PUSH(r->a, &s->headers) =
            (struct key_value){ STR("Authorization"),
                                str_of(arena_printf(r->a, "Bearer ${%.*s}", STR_F(variable))) };
}

static bool read_remote(struct reader *r, yyjson_val *v, struct agent_server *s)
{
    static const char *const headers[] = { "headers", "http_headers", NULL };
    const char *key;

    s->url = arena_str(r->a, str_trim(json_str(json_get(v, "url"))));
    s->sse = str_is(json_str(json_get(v, "type")), "sse");
    if (!s->url.n)
        return fail(r, s->name, "it needs a 'url'");
    add_bearer(r, v, s);
    return read_pairs(r, reader_get(v, headers, &key), s->name, &s->headers);
}

static bool read_definition(struct reader *r, yyjson_val *v, struct agent_server *s)
{
    static const char *const remote[] = { "http", "sse", "streamable-http", "remote" };
    static const char *const env[] = { "env", "environment", NULL };
    struct str type = json_str(json_get(v, "type"));
    bool is_remote = !type.n && json_get(v, "url");
    const char *key;

    for (size_t i = 0; i < ARRAY_LEN(remote); i++)
        is_remote |= str_is(type, remote[i]);
    if (is_remote)
        return read_remote(r, v, s);
    if (type.n && !str_is(type, "stdio") && !str_is(type, "local"))
        return fail(r, s->name, "'type' is stdio, http or sse");
    return read_command(r, v, s) && read_pairs(r, reader_get(v, env, &key), s->name, &s->env);
}

static bool add_server(struct reader *r, struct str name, yyjson_val *v)
{
    struct agent_servers *all = &r->def->servers;
    struct agent_server s = { .name = arena_str(r->a, name) };

    if (!is_server_name(name))
        return fail(r, name, "a name has 1 to 64 characters");
    if (json_is_obj(v) &&
        (!json_bool(json_get(v, "enabled"), true) || json_bool(json_get(v, "disabled"), false)))
        return true;
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->v[i].name, name))
            return fail(r, name, "it is given twice");
    if (!json_is_obj(v))
        return fail(r, name, "it must be a map with 'command' or 'url'");
    if (!read_definition(r, v, &s))
        return false;
    if (all->n == AGENT_SERVERS_MAX)
        return error_set(r->e, ERR_LIMIT, "mcpServers: more than %d servers",
                         AGENT_SERVERS_MAX);
    ARENA_PUSH(r->a, all) = s;
    return true;
}

/* A text in a list: a server of the active plugins, or one of ours. */
static bool add_named(struct reader *r, struct str name)
{
    struct agent_servers *all = &r->def->servers;

    if (!is_server_name(name))
        return fail(r, name, "a name has 1 to 64 characters");
    if (agent_is_builtin(name)) {
        reader_add_builtin(r, name);
        for (size_t i = 0; i < all->n; i++)
            all->v[i].whole |= str_eq(all->v[i].name, name);
        return true;
    }
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->v[i].name, name))
            return true;
    if (all->n == AGENT_SERVERS_MAX)
        return error_set(r->e, ERR_LIMIT, "mcpServers: more than %d servers",
                         AGENT_SERVERS_MAX);
    ARENA_PUSH(r->a, all) =
        (struct agent_server){ .name = arena_str(r->a, name), .active = true };
    return true;
}

static bool read_list(struct reader *r, yyjson_val *list)
{
    for (struct json_iter it = json_iter(list); json_next(&it);) {
        if (json_is_str(it.val)) {
            if (!add_named(r, str_trim(json_str(it.val))))
                return false;
            continue;
        }
        if (!json_is_obj(it.val))
            return fail(r, (struct str){ 0 }, "a list holds names and maps");
        for (struct json_iter m = json_iter(it.val); json_next(&m);)
            if (!(json_is_str(m.val) ? add_named(r, str_trim(json_str(m.val)))
                                     : add_server(r, m.key, m.val)))
                return false;
    }
    return true;
}

bool reader_servers(struct reader *r)
{
    static const char *const keys[] = { "mcpServers", "mcp_servers", NULL };
    const char *key;
    yyjson_val *v = reader_get(r->root, keys, &key);

    if (!v)
        return true;
    if (json_is_arr(v))
        return read_list(r, v);
    if (json_is_str(v)) {
        struct strs names = { 0 };

        if (!reader_list(r, v, key, &names))
            return false;
        for (size_t i = 0; i < names.n; i++)
            if (!add_named(r, names.v[i]))
                return false;
        return true;
    }
    if (!json_is_obj(v))
        return error_set(r->e, ERR_INVALID, "'%s' must be a map or a list", key);
    for (struct json_iter it = json_iter(v); json_next(&it);)
        if (!add_server(r, it.key, it.val))
            return false;
    return true;
}
