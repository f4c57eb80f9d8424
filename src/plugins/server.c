/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "plugins/enablement.h"
#include "plugins/manifest.h"

/* ---- what cannot be started ---- */

static bool declared(const struct plugin *p, struct str name)
{
    for (size_t i = 0; i < p->installations.n; i++)
        if (str_eq(p->installations.v[i].name, name))
            return true;
    return false;
}

static bool check_declared(const struct plugin *p, struct str name, struct error *e)
{
    return declared(p, name) ||
           error_set(e, ERR_INVALID, "plugin '%.*s' declares no installation '%.*s'",
                     STR_F(p->name), STR_F(name));
}

static bool check_supported(const struct plugin *p, const struct server_def *def,
                            struct error *e)
{
    if (str_is(def->name, "list_tools") || str_is(def->name, "execute"))
        return error_set(e, ERR_INVALID,
                         "this name is reserved for a tool of symposium; give the "
                         "server another one");
    if (def->installation.n && !check_declared(p, def->installation, e))
        return false;
    for (size_t i = 0; i < def->requirements.n; i++)
        if (!check_declared(p, def->requirements.v[i], e))
            return false;
    return true;
}

/* ---- command line ---- */

static const char *own_path(const struct server_world *w, const struct active_server *s)
{
    for (size_t i = 0; i < s->env.n; i++)
        if (str_is(s->env.v[i].key, "PATH"))
            return arena_z(w->a, s->env.v[i].value);
    return NULL;
}

/* A result of a relative PATH element would mean another file in the server's directory. */
static const char *search(const struct server_world *w, const char *name, const char *path)
{
    const char *found = path_search(w->a, name, path);

    return found && !path_is_abs(found) ? path_real(w->a, found, NULL) : found;
}

/* A PATH of the entry's own is searched, as the server itself would; only the common one is
 * remembered. */
static const char *find_program(const struct server_world *w, const struct active_server *s,
                                struct str command)
{
    const char *path = own_path(w, s), *found;

    if (memchr(command.p, '/', command.n))
        return path_search(
            w->a, path_clean(w->a, path_join(w->a, s->cwd.p, arena_z(w->a, command))), "");
    if (path || !w->programs)
        return search(w, arena_z(w->a, command), path ? path : getenv("PATH"));
    if (map_has(w->programs, command))
        return map_get(w->programs, command);
    found = search(w, arena_z(w->a, command), getenv("PATH"));
    map_put(w->programs, command, (void *)found);
    return found;
}

static void put_program(const struct server_world *w, const struct server_def *def,
                        struct active_server *s)
{
    const char *found = find_program(w, s, def->command);

    if (found && w->watch)
        watch_add(w->watch, w->a, found);
    /* Not found now: the start reports it, and it may be there by then. */
    ARENA_PUSH(w->a, &s->argv) = found ? str_of(found) : arena_str(w->a, def->command);
}

/* The image that runs, whatever stands at its path by now: our own versions never mix. */
static void put_builtin(const struct server_world *w, const struct server_def *def,
                        struct active_server *s)
{
    s->path = STR("/proc/self/exe");
    ARENA_PUSH(w->a, &s->argv) = STR("symposium");
    ARENA_PUSH(w->a, &s->argv) = arena_str(w->a, def->builtin);
}

/* Its program where it is there, else its name: it comes with the first start (MS-59). */
static bool put_installation(const struct server_world *w, struct active_server *s,
                             struct error *e)
{
    struct str name = s->def->installation;

    if (!install_plan_ready(&s->plan, w->cache_dir))
        ARENA_PUSH(w->a, &s->argv) = name;
    else if (!install_plan_argv(w->a, &s->plan, w->cache_dir, &s->argv, e))
        return false;
    else if (w->watch && path_is_abs(s->argv.v[0].p))
        watch_add(w->watch, w->a, s->argv.v[0].p);
    s->nprogram = s->argv.n;
    return true;
}

static bool fill_plan(const struct server_world *w, const struct server_def *def,
                      struct active_server *s, struct error *e)
{
    struct install_use use = { .name = def->installation, .requirements = def->requirements };

    return (!use.name.n && !use.requirements.n) ||
           install_plan_make(&s->plan, w->a, s->plugin, &use, e);
}

/* Where it is, and with what it is asked; whether that may be reached is judged when it is
 * connected to. */
static bool fill_remote(const struct server_world *w, const struct server_def *def,
                        struct active_server *s, struct error *e)
{
    if (!server_expand(w->a, def->url, &s->url, e))
        return error_wrap(e, "'url'");
    for (size_t i = 0; i < def->headers.n; i++) {
        struct key_value kv = def->headers.v[i];

        if (!server_expand(w->a, kv.value, &kv.value, e))
            return error_wrap(e, "header '%.*s'", STR_F(str_upto(kv.key, 64)));
        ARENA_PUSH(w->a, &s->headers) = kv;
    }
    s->sse = def->transport == TRANSPORT_SSE;
    s->private_addresses = s->plugin->origin != ORIGIN_PACKAGE;
    s->proxy_url = w->mcp->proxy_url;
    s->ca_file = w->mcp->ca_file;
    return true;
}

static bool fill_argv(const struct server_world *w, const struct server_def *def,
                      struct active_server *s, struct error *e)
{
    if (!fill_plan(w, def, s, e))
        return false;
    if (def->url.n)
        return fill_remote(w, def, s, e);
    if (def->builtin.n)
        put_builtin(w, def, s);
    else if (!def->installation.n)
        put_program(w, def, s);
    else if (!put_installation(w, s, e))
        return false;
    for (size_t i = 0; i < def->args.n; i++) {
        struct str arg;

        if (!server_expand(w->a, def->args.v[i], &arg, e))
            return false;
        ARENA_PUSH(w->a, &s->argv) = arg;
    }
    return true;
}

static bool fill_env(const struct server_world *w, const struct server_def *def,
                     struct active_server *s, struct error *e)
{
    for (size_t i = 0; i < def->env.n; i++) {
        struct key_value kv = def->env.v[i];

        if (!server_expand(w->a, kv.value, &kv.value, e))
            return false;
        ARENA_PUSH(w->a, &s->env) = kv;
    }
    return true;
}

/* ---- self-inclusion (MS-15) ---- */

static bool is_our_program(const char *path)
{
    struct stat ours, theirs;

    return stat("/proc/self/exe", &ours) == 0 && stat(path, &theirs) == 0 &&
           ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* "--option VALUE": the value is no command. In the form "--option=VALUE" it is one word. */
static bool takes_next_word(struct str option)
{
    static const char *const global[] = { "--workspace", "--update" }; /* CL-1, CL-2 */

    for (size_t i = 0; i < ARRAY_LEN(global); i++)
        if (str_is(option, global[i]))
            return true;
    return false;
}

/* The command word among our own arguments: behind global options, and behind cargo's extra
 * "agents". */
static struct str command_word(const struct strs *argv)
{
    bool cargo = strcmp(path_base(argv->v[0].p), "cargo-agents") == 0;

    for (size_t i = 1; i < argv->n; i++) {
        if (takes_next_word(argv->v[i]))
            i++;
        else if (!str_starts(argv->v[i], STR("-")) && !(cargo && str_is(argv->v[i], "agents")))
            return argv->v[i];
    }
    return (struct str){ 0 };
}

static bool check_not_self(const struct active_server *s, struct error *e)
{
    if (!str_is(command_word(&s->argv), "mcp-serve") || !is_our_program(s->argv.v[0].p))
        return true;
    return error_set(e, ERR_DENIED,
                     "this is symposium's own mcp-serve, which would start itself "
                     "without end");
}

static int call_timeout_secs(const struct mcp_config *mcp, const struct server_def *def)
{
    int secs =
        def->tool_call_timeout_secs ? def->tool_call_timeout_secs : mcp->tool_call_timeout_secs;

    if (secs >= mcp->script_timeout_secs)
        secs = mcp->script_timeout_secs - 1;
    return secs > 1 ? secs : 1;
}

bool server_prepare(const struct server_world *w, const struct plugin *p,
                    const struct server_def *def, bool trusted, struct active_server *ret,
                    struct error *e)
{
    int startup = def->startup_timeout_secs ? def->startup_timeout_secs
                                            : w->mcp->server_startup_timeout_secs;
    const char *root = arena_z(w->a, w->root);

    if (!check_supported(p, def, e))
        return false;
    if (!trusted)
        return error_set(e, ERR_DENIED, "%s", UNTRUSTED_REASON);
    *ret = (struct active_server){
        .name = def->name,
        .plugin = p,
        .def = def,
        .cwd =
            str_of(def->cwd.n ? path_clean(w->a, path_join(w->a, root, arena_z(w->a, def->cwd)))
                              : root),
        .startup_timeout_ms = startup * 1000,
        .tool_call_timeout_ms = call_timeout_secs(w->mcp, def) * 1000,
    };
    return fill_env(w, def, ret, e) && fill_argv(w, def, ret, e) &&
           (ret->url.n || check_not_self(ret, e));
}
