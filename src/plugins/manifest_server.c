/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* [[mcp_servers]]: meta-server.md 1.1, with its older forms. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plugins/manifest_impl.h"

#define MAX_NAME         200 /* bytes of a server's name */
#define MAX_TIMEOUT_SECS 1000000

static const char *const known_keys[] = {
    "name",
    "depends-on",
    "predicates",
    "command",
    "installation",
    "builtin",
    "args",
    "env",
    "cwd",
    "url",
    "transport",
    "type",
    "headers",
    "requirements",
    "startup-timeout-secs",
    "tool-call-timeout-secs",
    "enabled-tools",
    "disabled-tools",
    NULL,
};

/* Every error of an entry names the server. */
__attribute__((format(printf, 3, 4))) static bool fail_server(struct manifest_reader *r,
                                                              const struct toml_val *t,
                                                              const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return toml_fail(r->e, t, "(server '%.*s') %s", STR_F(toml_str(toml_get(t, "name"))), text);
}

/* The error of a key deeper down, with the server's name put behind its line. */
static bool name_server(struct manifest_reader *r, const struct toml_val *t)
{
    if (r->e && str_find(str_of(r->e->msg), STR("(server '")) == SIZE_MAX)
        error_wrap(r->e, "server '%.*s'", STR_F(toml_str(toml_get(t, "name"))));
    return false;
}

static bool add_pair(struct manifest_reader *r, const struct toml_val *at, struct key_value kv,
                     struct key_values *ret)
{
    if (kv.key.n == 0 || memchr(kv.key.p, '=', kv.key.n))
        return toml_fail(r->e, at, "must have a name without '='");
    for (size_t i = 0; i < ret->n; i++)
        if (str_eq(ret->v[i].key, kv.key))
            return toml_fail(r->e, at, "gives '%.*s' twice", STR_F(kv.key));
    if (ret->n >= MANIFEST_MAX_ITEMS)
        return toml_fail(r->e, at, "is one entry too many: at most %d", MANIFEST_MAX_ITEMS);
    ARENA_PUSH(r->a, ret) = kv;
    return true;
}

/* The older form: [{ name = "A", value = "b" }]. */
static bool read_pair_list(struct manifest_reader *r, const struct toml_val *list,
                           struct key_values *ret)
{
    static const char *const known[] = { "name", "value", NULL };

    for (size_t i = 0; i < toml_len(list); i++) {
        const struct toml_val *t = toml_at(list, i);
        struct key_value kv = { 0 };

        if (!toml_is(t, TOML_TABLE) || !toml_is(toml_get(t, "value"), TOML_STRING))
            return toml_fail(r->e, t, "must be { name = \"..\", value = \"..\" }");
        if (!toml_known_only(t, known, r->e) || !toml_opt_str(t, "name", &kv.key, r->e) ||
            !toml_opt_str(t, "value", &kv.value, r->e) || !add_pair(r, t, kv, ret))
            return false;
    }
    return true;
}

static bool read_pairs(struct manifest_reader *r, const struct toml_val *t, const char *key,
                       struct key_values *ret)
{
    const struct toml_val *v = toml_get(t, key);

    if (toml_is(v, TOML_ARRAY))
        return read_pair_list(r, v, ret);
    if (v && !toml_is(v, TOML_TABLE))
        return toml_fail(r->e, v, "must be a table of strings, not %s", toml_kind_name(v));
    for (size_t i = 0; i < toml_len(v); i++) {
        const struct toml_val *m = toml_at(v, i);

        if (!toml_is(m, TOML_STRING))
            return toml_fail(r->e, m, "must be a string, not %s", toml_kind_name(m));
        if (!add_pair(r, m, (struct key_value){ m->key, toml_str(m) }, ret))
            return false;
    }
    return true;
}

static bool read_transport(struct manifest_reader *r, const struct toml_val *t,
                           struct server_def *def)
{
    const struct toml_val *v =
        toml_get(t, "transport") ? toml_get(t, "transport") : toml_get(t, "type");
    struct str text = toml_str(v);

    if (toml_get(t, "transport") && toml_get(t, "type"))
        return fail_server(r, t, "has both 'transport' and its older name 'type'");
    def->transport = def->url.n ? TRANSPORT_HTTP : TRANSPORT_STDIO;
    if (!v)
        return true;
    if (!str_is(text, "http") && !str_is(text, "sse"))
        return fail_server(r, t, "has an unknown '%.*s'; it must be \"http\" or \"sse\"",
                           STR_F(v->key));
    if (!def->url.n)
        return fail_server(r, t, "has a '%.*s' but no 'url'", STR_F(v->key));
    def->transport = str_is(text, "sse") ? TRANSPORT_SSE : TRANSPORT_HTTP;
    return true;
}

static bool is_builtin(struct str name)
{
    static const char *const names[] = { "filesystem", "fetch",  "memory", "shell",
                                         "skills",     "agents", "symm" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* Exactly one way to reach the server, and nothing that belongs to another way. */
static bool check_kind(struct manifest_reader *r, const struct toml_val *t,
                       const struct server_def *def)
{
    bool command = def->command.n, installation = def->installation.n;

    if (def->url.n && (command || installation))
        return fail_server(r, t,
                           "has both a 'url' and a '%s': it is reached one way or the other",
                           command ? "command" : "installation");
    if (def->builtin.n && (command || installation || def->url.n))
        return fail_server(
            r, t, "has a 'builtin', which excludes 'command', 'installation' and 'url'");
    if (command && installation)
        return fail_server(r, t, "has both a 'command' and an 'installation'");
    if (!command && !installation && !def->url.n && !def->builtin.n)
        return fail_server(r, t,
                           "needs a 'command', a 'builtin', an 'installation', or a 'url'");
    if (def->builtin.n && !is_builtin(def->builtin))
        return fail_server(r, t,
                           "names no 'builtin' that exists: filesystem, fetch, memory, shell, "
                           "skills, agents, symm");
    if (def->url.n && (def->args.n || def->env.n || def->cwd.n))
        return fail_server(r, t,
                           "has a 'url'; 'args', 'env' and 'cwd' are for a child process");
    if (def->headers.n && !def->url.n)
        return fail_server(r, t, "has 'headers' but no 'url'");
    if (def->has_enabled_tools && toml_get(t, "disabled-tools"))
        return fail_server(r, t, "has both 'enabled-tools' and 'disabled-tools'");
    return true;
}

static bool read_timeouts(struct manifest_reader *r, const struct toml_val *t,
                          struct server_def *def)
{
    struct toml_range secs = { 1, MAX_TIMEOUT_SECS };
    int64_t startup = 0, call = 0;

    if (!toml_opt_int(t, "startup-timeout-secs", secs, &startup, r->e) ||
        !toml_opt_int(t, "tool-call-timeout-secs", secs, &call, r->e))
        return false;
    def->startup_timeout_secs = (int)startup;
    def->tool_call_timeout_secs = (int)call;
    return true;
}

static bool read_name(struct manifest_reader *r, const struct toml_val *t, struct str *ret)
{
    if (!table_required(r, t, "name", ret))
        return false;
    if (ret->n > MAX_NAME)
        return toml_fail(r->e, toml_get(t, "name"), "is longer than %d bytes", MAX_NAME);
    return !str_has_control(*ret) ||
           toml_fail(r->e, toml_get(t, "name"), "must not hold control characters");
}

static bool read_keys(struct manifest_reader *r, const struct toml_val *t,
                      struct server_def *def)
{
    static const struct {
        const char *key;
        size_t at;
    } strings[] = {
        { "command", offsetof(struct server_def, command) },
        { "installation", offsetof(struct server_def, installation) },
        { "builtin", offsetof(struct server_def, builtin) },
        { "url", offsetof(struct server_def, url) },
        { "cwd", offsetof(struct server_def, cwd) },
    };

    for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
        struct str *to = (struct str *)((char *)def + strings[i].at);

        if (!toml_opt_str(t, strings[i].key, to, r->e))
            return false;
        if (toml_get(t, strings[i].key) && !to->n)
            return toml_fail(r->e, toml_get(t, strings[i].key), "must not be empty");
    }
    def->has_enabled_tools = toml_get(t, "enabled-tools") != NULL;
    return table_strings(r, t, "args", &def->args) && read_pairs(r, t, "env", &def->env) &&
           read_pairs(r, t, "headers", &def->headers) &&
           table_requirements(r, t, def->name, &def->requirements) &&
           table_strings(r, t, "enabled-tools", &def->enabled_tools) &&
           table_strings(r, t, "disabled-tools", &def->disabled_tools) &&
           read_timeouts(r, t, def);
}

bool read_server(struct manifest_reader *r, const struct toml_val *t)
{
    struct server_def def = { .line = t->line };

    if (!read_name(r, t, &def.name))
        return false;
    if (!table_known(r, t, known_keys) || !table_gate(r, t, &def.gate) ||
        !read_keys(r, t, &def) || !read_transport(r, t, &def) || !check_kind(r, t, &def))
        return name_server(r, t);
    ARENA_PUSH(r->a, &r->p->servers) = def;
    return true;
}
