/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/import_check.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"
#include "meta/backend.h"
#include "plugins/server.h"

#define TERM_MS 500 /* beginning of the end of a server that has shown its tools */
#define KILL_MS 2000

struct probe {
    struct import_check *c;
    struct import_entry *entry;
    struct active_server server;
    struct backend *backend; /* NULL: could not even be prepared */
    uint64_t handle;         /* being described */
    const char *failure;     /* NULL: it listed its tools */
};

struct import_check {
    struct import_check_opts o;
    struct backend_env env;
    struct timer *again;
    struct probe *v;
    size_t n, open;
};

void import_check_free(struct import_check *c)
{
    if (!c)
        return;
    timer_free(c->again);
    backends_free(&c->env);
    free(c->v);
    free(c);
}

/* ---- the end ---- */

/* Every entry that the server would have served. */
static void stay(struct import_check *c, const struct probe *p)
{
    struct import *im = c->o.im;
    struct str name = p->entry->def.name;
    bool to_user = p->entry->to_user;

    for (size_t i = 0; i < im->entries.n; i++) {
        struct import_entry *k = &im->entries.v[i];

        if (k->state == IMPORT_MOVES && k->to_user == to_user && str_eq(k->def.name, name))
            import_stay(im, k, arena_printf(im->a, "it does not start: %s", p->failure));
    }
}

static void tell_progress(struct import_check *c)
{
    auto_buf line = BUF(4096);

    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].handle)
            buf_addf(&line, "%s%.*s", line.n ? ", " : "starting ",
                     STR_F(c->v[i].entry->def.name));
    c->o.progress(c->o.ctx, buf_str(&line));
}

static void step(void *ctx)
{
    struct import_check *c = ctx;
    size_t failed = 0;

    if (c->open || backends_running(&c->env))
        return;
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].failure) {
            stay(c, &c->v[i]);
            failed++;
        }
    c->o.done(c->o.ctx, failed);
}

/* The end of each server, too. */
static void on_change(void *ctx)
{
    struct import_check *c = ctx;

    if (!c->open)
        timer_set(c->again, 0);
}

static void one_less(struct import_check *c)
{
    tell_progress(c);
    if (--c->open)
        return;
    backends_shutdown(&c->env, c->env.ladder);
    timer_set(c->again, 0);
}

/* ---- the start ---- */

static void on_known(void *ctx, const struct error *why)
{
    struct probe *p = ctx;

    p->handle = 0;
    if (why)
        p->failure = arena_printf(p->c->o.im->a, "%s", why->msg);
    one_less(p->c);
}

static const struct server_def *def_of(const struct plugin *p, struct str name)
{
    for (size_t i = 0; p && i < p->servers.n; i++)
        if (str_eq(p->servers.v[i].name, name))
            return &p->servers.v[i];
    return NULL;
}

static void prepare(struct probe *p, const struct plugin *plugin)
{
    const struct import_check_opts *o = &p->c->o;
    struct server_world w = { .a = o->im->a,
                              .root = o->workspace->root,
                              .cache_dir = o->im->dirs->cache,
                              .mcp = &o->config->mcp };
    const struct server_def *def = def_of(plugin, p->entry->def.name);
    struct error e = { 0 };

    if (!def)
        p->failure = "it is not in the plugin";
    else if (server_prepare(&w, plugin, def, true, &p->server, &e))
        p->backend = backend_new(&p->c->env, &p->server);
    else
        p->failure = arena_printf(o->im->a, "%s", e.msg);
}

struct import_check *import_check_start(struct loop *l, const struct import_check_opts *opts)
{
    struct import_check *c = NEW(struct import_check);
    struct import *im = opts->im;
    const struct plugin *user = import_plugin(im, true, NULL);
    const struct plugin *project = import_plugin(im, false, NULL);

    c->o = *opts;
    c->again = timer_new(l, step, c);
    c->env = (struct backend_env){ .loop = l,
                                   .on_change = on_change,
                                   .ctx = c,
                                   .max_restarts = 1,
                                   .ladder = { TERM_MS, KILL_MS } };
    c->v = mem_alloc((im->entries.n + 1) * sizeof *c->v);
    for (size_t i = 0; i < im->entries.n; i++)
        if (im->entries.v[i].state == IMPORT_MOVES && !im->entries.v[i].again)
            c->v[c->n++] = (struct probe){ .c = c, .entry = &im->entries.v[i] };
    for (size_t i = 0; i < c->n; i++)
        prepare(&c->v[i], c->v[i].entry->to_user ? user : project);
    c->open = 1; /* until all are asked */
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].backend) {
            c->open++;
            c->v[i].handle = backend_describe(c->v[i].backend, on_known, &c->v[i]);
        }
    one_less(c);
    return c;
}
