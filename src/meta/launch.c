/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/launch.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"

extern char **environ;

/* What is ours alone stays with us. */
static bool passes_on(const char *entry)
{
    static const char *const kept[] = { "SYMPOSIUM_HOME=", "SYMPOSIUM_TASK_CHAIN=" };

    if (!str_starts(str_of(entry), STR("SYMPOSIUM_")))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (str_starts(str_of(entry), str_of(kept[i])))
            return true;
    return false;
}

static bool overridden(const struct key_values *own, const char *entry)
{
    for (size_t i = 0; i < own->n; i++)
        if (!strncmp(entry, own->v[i].key.p, own->v[i].key.n) && entry[own->v[i].key.n] == '=')
            return true;
    return false;
}

/* Ours without SYMPOSIUM_*, then the entry's own, which wins (MS-71). */
static const char *const *environment(struct arena *a, const struct key_values *own)
{
    size_t n = 0, most = own->n + 1;
    const char **env;

    for (char **p = environ; *p; p++)
        most++;
    env = ARENA_ARRAY(a, const char *, most);
    for (char **p = environ; *p; p++)
        if (passes_on(*p) && !overridden(own, *p))
            env[n++] = *p;
    for (size_t i = 0; i < own->n; i++) {
        log_secret(own->v[i].value);
        env[n++] = arena_printf(a, "%.*s=%.*s", STR_F(own->v[i].key), STR_F(own->v[i].value));
    }
    return env;
}

struct active_server launch_with(struct arena *a, const struct active_server *s,
                                 const struct strs *program)
{
    struct active_server with = *s;

    with.argv = (struct strs){ 0 };
    for (size_t i = 0; i < program->n; i++)
        ARENA_PUSH(a, &with.argv) = program->v[i];
    for (size_t i = s->nprogram; i < s->argv.n; i++)
        ARENA_PUSH(a, &with.argv) = s->argv.v[i];
    with.nprogram = program->n;
    return with;
}

static const struct mcp_remote *remote(struct arena *a, const struct active_server *s)
{
    struct mcp_remote *r = ARENA_NEW(a, struct mcp_remote);
    struct http_field *headers = ARENA_ARRAY(a, struct http_field, s->headers.n + 1);

    for (size_t i = 0; i < s->headers.n; i++) {
        log_secret(s->headers.v[i].value);
        headers[i] = (struct http_field){ s->headers.v[i].key, s->headers.v[i].value };
    }
    *r = (struct mcp_remote){
        .url = arena_z(a, s->url),
        .sse = s->sse,
        .headers = headers,
        .nheaders = s->headers.n,
        .allow_private = s->private_addresses,
        .proxy = s->proxy_url.n ? arena_z(a, s->proxy_url) : NULL,
        .ca_file = s->ca_file.n ? arena_z(a, s->ca_file) : NULL,
    };
    return r;
}

void launch_options(struct arena *a, const struct active_server *s, struct mcp_client_opts *ret)
{
    const char **argv = ARENA_ARRAY(a, const char *, s->argv.n + 1);

    for (size_t i = 0; i < s->argv.n; i++)
        argv[i] = arena_z(a, s->argv.v[i]);
    *ret = (struct mcp_client_opts){
        .label = arena_z(a, s->name),
        .remote = s->url.n ? remote(a, s) : NULL,
        .path = s->path.n ? arena_z(a, s->path) : NULL,
        .argv = argv,
        .env = environment(a, &s->env),
        .cwd = arena_z(a, s->cwd),
        .startup_timeout_ms = s->startup_timeout_ms,
        .client_name = "symposium",
        .client_version = SYM_VERSION,
    };
}
