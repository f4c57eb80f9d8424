/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/children.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "loop/timer.h"
#include "mcp/client.h"
#include "plugins/server.h"

struct one {
    struct children *all;
    size_t at; /* in def->servers */
    struct mcp_client *client;
    bool closed;
};

struct children {
    struct children_opts o;
    struct children_ops ops;
    void *ctx;
    struct arena arena;
    struct toolset tools;
    struct one *v;
    size_t n, listed, closed;
    bool ready, stopping;
    void *resolving;
    struct resolution *active;
    struct timer *soon;
    struct fault fault; /* what `soon` tells */
    void (*stopped)(void *ctx);
    void *stop_ctx;
    struct children_call *calls;
};

struct children_call {
    struct children *all;
    struct mcp_client *client;
    uint64_t id;
    struct timer *soon; /* the server is gone */
    children_fn done;
    void *ctx;
    struct children_call *next;
};

/* ---- the end ---- */

static void unlink_call(struct children_call *call)
{
    struct children_call **at = &call->all->calls;

    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
}

void children_cancel(struct children_call *call)
{
    if (!call)
        return;
    call->done = NULL;
    if (call->client)
        mcp_client_cancel(call->client, call->id); /* on_result frees it */
    else {
        unlink_call(call);
        timer_free(call->soon);
        free(call);
    }
}

void children_free(struct children *c)
{
    struct children_call *next;

    if (!c)
        return;
    for (struct children_call *call = c->calls; call; call = next) {
        next = call->next;
        children_cancel(call);
    }
    if (c->resolving)
        c->o.active->cancel(c->resolving);
    for (size_t i = 0; i < c->n; i++)
        mcp_client_free(c->v[i].client);
    if (c->active)
        resolution_free(c->active);
    timer_free(c->soon);
    arena_free(&c->arena);
    free(c);
}

static void fail(struct children *c)
{
    struct fault f = c->fault;

    c->ops.on_failed(c->ctx, &f);
}

static void on_stopped(struct children *c)
{
    void (*stopped)(void *ctx) = c->stopped;
    void *ctx = c->stop_ctx;

    children_free(c);
    stopped(ctx);
}

static void on_soon(void *ctx)
{
    struct children *c = ctx;

    if (c->stopping)
        on_stopped(c);
    else if (c->fault.kind)
        fail(c);
    else {
        c->ready = true;
        c->ops.on_ready(c->ctx);
    }
}

void children_stop(struct children *c, void (*done)(void *ctx), void *ctx)
{
    static const struct child_ladder ladder = { 1000, CHILDREN_SHUTDOWN_MS - 1000 };

    c->stopping = true;
    c->stopped = done;
    c->stop_ctx = ctx;
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].client && !c->v[i].closed)
            mcp_client_stop(c->v[i].client, ladder);
    if (c->closed == c->n)
        timer_set(c->soon, 0);
}

/* ---- with what they are started ---- */

/* What a program needs to run at all; nothing of ours. */
static size_t base_environment(struct arena *a, const char **env)
{
    static const char *const names[] = { "PATH",    "HOME", "USERPROFILE", "SYSTEMROOT",
                                         "PATHEXT", "TEMP", "TMP" };
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *v = getenv(names[i]);

        if (v)
            env[n++] = arena_printf(a, "%s=%s", names[i], v);
    }
    return n;
}

#define BASE_VARIABLES 7

/* Only ${NAME}, and never a credential's: that is for its provider alone. */
static bool expand(struct children *c, struct str text, struct str *ret, struct error *e)
{
    struct str rest = text, before, name;

    while (str_cut(rest, '$', &before, &rest)) {
        if (!rest.n || rest.p[0] != '{')
            continue;
        if (!str_cut(str_from(rest, 1), '}', &name, &rest))
            return error_set(e, ERR_INVALID, "a '${' without '}'");
        if (!name.n || str_find_char(name, ':') != SIZE_MAX)
            return error_set(e, ERR_INVALID, "'${%.*s}' is no ${NAME}",
                             STR_F(str_upto(name, 80)));
        if (strs_has(c->o.credentials, name))
            return error_set(e, ERR_DENIED,
                             "'${%.*s}' holds a provider's credential, which no server gets",
                             STR_F(name));
    }
    return server_expand(&c->arena, text, ret, e);
}

static bool is_overridden(const struct key_values *own, const char *entry)
{
    for (size_t i = 0; i < own->n; i++)
        if (str_starts(str_of(entry), own->v[i].key) && entry[own->v[i].key.n] == '=')
            return true;
    return false;
}

/* `expanded`: the values are final. */
static bool environment(struct children *c, const struct key_values *own, bool expanded,
                        const char *const **ret, struct error *e)
{
    struct arena *a = &c->arena;
    const char **base = ARENA_ARRAY(a, const char *, BASE_VARIABLES);
    const char **env = ARENA_ARRAY(a, const char *, own->n + BASE_VARIABLES + 1);
    size_t n = 0, nbase = base_environment(a, base);
    struct str value;

    for (size_t i = 0; i < nbase; i++)
        if (!is_overridden(own, base[i]))
            env[n++] = base[i];
    for (size_t i = 0; i < own->n; i++) {
        value = own->v[i].value;
        if (!expanded && !expand(c, value, &value, e))
            return error_wrap(e, "env '%.*s'", STR_F(own->v[i].key));
        log_secret(value);
        env[n++] = arena_printf(a, "%.*s=%.*s", STR_F(own->v[i].key), STR_F(value));
    }
    *ret = env;
    return true;
}

static const char *const *argv_of(struct arena *a, struct str first, const struct strs *rest)
{
    const char **argv = ARENA_ARRAY(a, const char *, rest->n + 2);
    size_t n = 0;

    if (first.n)
        argv[n++] = arena_z(a, first);
    for (size_t i = 0; i < rest->n; i++)
        argv[n++] = arena_z(a, rest->v[i]);
    return argv;
}

static void put_remote(struct children *c, struct str url, bool sse, bool allow_private,
                       const struct key_values *headers, struct mcp_client_opts *o)
{
    struct mcp_remote *r = ARENA_NEW(&c->arena, struct mcp_remote);
    struct http_field *fields = ARENA_ARRAY(&c->arena, struct http_field, headers->n + 1);
    const struct mcp_config *mcp = c->o.mcp;

    for (size_t i = 0; i < headers->n; i++) {
        log_secret(headers->v[i].value);
        fields[i] = (struct http_field){ headers->v[i].key, headers->v[i].value };
    }
    *r = (struct mcp_remote){
        .url = arena_z(&c->arena, url),
        .sse = sse,
        .headers = fields,
        .nheaders = headers->n,
        .allow_private = allow_private,
        .proxy = mcp->proxy_url.n ? arena_z(&c->arena, mcp->proxy_url) : NULL,
        .ca_file = mcp->ca_file.n ? arena_z(&c->arena, mcp->ca_file) : NULL,
    };
    o->remote = r;
}

/* A definition is the user's own word on where to go: private networks are fine. */
static bool prepare_remote(struct children *c, const struct agent_server *s,
                           struct mcp_client_opts *o, struct error *e)
{
    struct key_values headers = { 0 };

    for (size_t i = 0; i < s->headers.n; i++) {
        struct key_value kv = s->headers.v[i];

        if (!expand(c, kv.value, &kv.value, e))
            return error_wrap(e, "header '%.*s'", STR_F(str_upto(kv.key, 64)));
        ARENA_PUSH(&c->arena, &headers) = kv;
    }
    put_remote(c, s->url, s->sse, true, &headers, o);
    return true;
}

static bool prepare_active(struct children *c, const struct agent_server *s,
                           struct mcp_client_opts *o, struct error *e)
{
    const struct active_server *found = NULL;

    for (size_t i = 0; c->active && i < c->active->servers.n; i++)
        if (str_eq(c->active->servers.v[i].name, s->name))
            found = &c->active->servers.v[i];
    if (!found)
        return error_set(e, ERR_NOT_FOUND,
                         "no active plugin has this server: see `symposium status`");
    if (found->url.n) {
        put_remote(c, found->url, found->sse, found->private_addresses, &found->headers, o);
        return true;
    }
    o->path = found->path.n ? arena_z(&c->arena, found->path) : NULL;
    o->argv = argv_of(&c->arena, (struct str){ 0 }, &found->argv);
    o->cwd = arena_z(&c->arena, found->cwd);
    return environment(c, &found->env, true, &o->env, e);
}

static bool prepare_builtin(struct children *c, const struct agent_server *s,
                            struct mcp_client_opts *o, struct error *e)
{
    bool takes_dir = !str_is(s->builtin, "fetch") && !str_is(s->builtin, "memory");
    const char **argv = ARENA_ARRAY(&c->arena, const char *, 4);

    argv[0] = c->o.self;
    argv[1] = arena_z(&c->arena, s->builtin);
    argv[2] = takes_dir ? c->o.workspace : NULL;
    o->argv = argv;
    return environment(c, &s->env, false, &o->env, e);
}

static bool prepare(struct children *c, const struct agent_server *s, struct mcp_client_opts *o,
                    struct error *e)
{
    *o = (struct mcp_client_opts){
        .label = arena_z(&c->arena, s->name),
        .cwd = c->o.workspace,
        .startup_timeout_ms = CHILDREN_STARTUP_MS,
        .client_name = "symposium-agents",
        .client_version = SYM_VERSION,
    };
    if (s->active)
        return prepare_active(c, s, o, e);
    if (s->builtin.n)
        return prepare_builtin(c, s, o, e);
    if (s->url.n)
        return prepare_remote(c, s, o, e);
    o->argv = argv_of(&c->arena, s->command, &s->args);
    return environment(c, &s->env, false, &o->env, e);
}

/* ---- starting ---- */

static void startup_failed(struct one *s, const struct error *why)
{
    struct children *c = s->all;

    if (c->fault.kind || c->ready || c->stopping)
        return;
    fault_set(&c->fault, FAULT_CHILD_STARTUP, "server '%.*s': %s",
              STR_F(c->o.def->servers.v[s->at].name), why->msg);
    timer_set(c->soon, 0);
}

static void on_tools(void *ctx, struct str tools, struct str note, const struct error *why)
{
    struct one *s = ctx;
    struct children *c = s->all;
    auto_json doc = { 0 };
    struct error e;

    if (why) {
        startup_failed(s, why);
        return;
    }
    if (note.n)
        log_warn("agent '%.*s', server '%.*s': %.*s", STR_F(c->o.def->name),
                 STR_F(c->o.def->servers.v[s->at].name), STR_F(note));
    if (!json_parse(&doc, tools, &e) || !toolset_add(&c->tools, s->at, doc.root, &e)) {
        startup_failed(s, &e);
        return;
    }
    if (++c->listed == c->n && !c->fault.kind && !c->stopping) {
        toolset_close(&c->tools);
        timer_set(c->soon, 0);
    }
}

static void on_ready(void *ctx)
{
    struct one *s = ctx;

    if (!s->all->stopping)
        mcp_client_list_tools(s->client, CHILDREN_CALL_MS, on_tools, s);
}

static void on_closed(void *ctx, const struct error *why)
{
    struct one *s = ctx;
    struct children *c = s->all;

    s->closed = true;
    c->closed++;
    startup_failed(s, why);
    if (c->stopping && c->closed == c->n)
        timer_set(c->soon, 0);
}

static void start(struct children *c)
{
    static const struct mcp_client_ops ops = { .on_ready = on_ready, .on_closed = on_closed };
    struct error e;

    for (size_t i = 0; i < c->n; i++) {
        struct mcp_client_opts o;

        c->v[i] = (struct one){ .all = c, .at = i };
        if (c->fault.kind || !prepare(c, &c->o.def->servers.v[i], &o, &e)) {
            c->v[i].closed = true;
            c->closed++;
            startup_failed(&c->v[i], &e);
            continue;
        }
        c->v[i].client = mcp_client_start(c->o.loop, &o, &ops, &c->v[i]);
    }
    if (!c->n) {
        toolset_close(&c->tools);
        timer_set(c->soon, 0);
    }
}

static void on_resolved(void *ctx, struct resolution *res)
{
    struct children *c = ctx;

    c->resolving = NULL;
    c->active = res;
    start(c);
}

static bool needs_active(const struct agent_def *d)
{
    for (size_t i = 0; i < d->servers.n; i++)
        if (d->servers.v[i].active)
            return true;
    return false;
}

struct children *children_new(const struct children_opts *o, const struct children_ops *ops,
                              void *ctx)
{
    struct children *c = NEW(struct children);
    struct error e;

    c->o = *o;
    c->ops = *ops;
    c->ctx = ctx;
    c->tools = (struct toolset){ .a = &c->arena, .def = o->def };
    c->soon = timer_new(o->loop, on_soon, c);
    c->v = ARENA_ARRAY(&c->arena, struct one, o->def->servers.n + 1);
    if (needs_active(o->def) && o->active) {
        c->resolving = o->active->begin(o->active, o->loop, on_resolved, c, &e);
        if (!c->resolving) {
            fault_set(&c->fault, FAULT_CHILD_STARTUP, "the plugins cannot be read: %s", e.msg);
            timer_set(c->soon, 0);
            return c;
        }
        c->n = o->def->servers.n;
        return c;
    }
    c->n = o->def->servers.n;
    start(c);
    return c;
}

const struct toolset *children_tools(const struct children *c)
{
    return &c->tools;
}

/* ---- calls ---- */

static void end_call(struct children_call *call, yyjson_val *result, const struct error *e)
{
    children_fn done = call->done;
    void *ctx = call->ctx;

    unlink_call(call);
    timer_free(call->soon);
    free(call);
    if (done)
        done(ctx, result, e);
}

static void on_result(void *ctx, yyjson_val *result, const struct error *e)
{
    end_call(ctx, result, e);
}

static void on_gone(void *ctx)
{
    struct error e;

    error_set(&e, ERR_CLOSED, "the server has ended");
    end_call(ctx, NULL, &e);
}

struct children_call *children_call(struct children *c, const struct toolset_entry *tool,
                                    struct str args_json, children_fn done, void *ctx)
{
    struct children_call *call = NEW(struct children_call);
    struct one *s = &c->v[tool->server];

    call->all = c;
    call->done = done;
    call->ctx = ctx;
    call->next = c->calls;
    c->calls = call;
    if (s->client && !s->closed) {
        call->client = s->client;
        call->id = mcp_client_call(s->client, tool->original, args_json, CHILDREN_CALL_MS,
                                   on_result, call);
    } else {
        call->soon = timer_new(c->o.loop, on_gone, call);
        timer_set(call->soon, 0);
    }
    return call;
}
