/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A user's home and a workspace on disk, and their resolution. */
#ifndef SYM_TESTS_PLUGINS_WORLD_H
#define SYM_TESTS_PLUGINS_WORLD_H

#include "tree.h"

#include "loop/loop.h"
#include "plugins/resolve.h"

/* A user's home "cfg" and a workspace "ws" (with .git) in one tree; `res` is the last
 * resolution. */
struct world {
    struct tree t;
    struct dirs dirs;
    struct loop *loop;
    struct resolution *res;
    const char *start;
    struct {
        struct dep *v;
        size_t n, cap;
    } deps;
    const struct package_source *packages;
};

static inline void on_done(void *ctx, struct resolution *res)
{
    struct world *w = ctx;

    w->res = res;
    loop_stop(w->loop);
}

static inline struct world *world_new(void)
{
    struct world *w = NEW(struct world);

    w->t = tree_new();
    w->dirs = (struct dirs){ .config = tree_path(&w->t, "cfg"),
                             .cache = tree_path(&w->t, "cfg/cache"),
                             .logs = tree_path(&w->t, "cfg/logs"),
                             .state = tree_path(&w->t, "cfg/state") };
    w->loop = loop_new();
    w->start = "ws";
    tree_put(&w->t, "ws/.git/", "");
    setenv("HOME", "/dev/null/none", 1);
    return w;
}

static inline void world_free(struct world *w)
{
    resolution_free(w->res);
    loop_free(w->loop);
    tree_free(&w->t);
    free(w);
}

static inline void add_dep(struct world *w, const char *pm, const char *name,
                           const char *version)
{
    ARENA_PUSH(&w->t.a, &w->deps) = (struct dep){ str_of(pm), str_of(name), str_of(version) };
}

static inline struct resolution *resolve(struct world *w)
{
    struct resolve_opts o = { .dirs = &w->dirs,
                              .start_dir = tree_path(&w->t, w->start),
                              .packages = w->packages };
    struct found_deps deps = { .v = w->deps.v, .n = w->deps.n };
    struct error e = { 0 };
    struct resolver *r = resolve_begin(w->loop, &o, &e);

    if (!r)
        fail_msg("%s", e.msg);
    resolution_free(w->res);
    w->res = NULL;
    resolve_finish(r, &deps, on_done, w);
    assert_null(w->res); /* never from inside */
    loop_run(w->loop);
    assert_non_null(w->res);
    return w->res;
}

static inline void user_plugin(struct world *w, const char *name, const char *text)
{
    tree_put(&w->t, arena_printf(&w->t.a, "cfg/plugins/%s/SYMPOSIUM.toml", name),
             arena_printf(&w->t.a, "name = \"%s\"\n%s", name, text));
}

static inline void assert_servers(struct world *w, const char *want)
{
    auto_buf b = BUF(1 << 20);

    for (size_t i = 0; i < w->res->servers.n; i++)
        buf_addf(&b, "%s%.*s", i ? " " : "", STR_F(w->res->servers.v[i].name));
    assert_string_equal(buf_z(&b), want);
}

static inline void assert_problems(struct world *w, const char *want)
{
    auto_buf b = BUF(1 << 20);

    for (size_t i = 0; i < w->res->problems.n; i++)
        buf_addf(&b, "%.*s\n", STR_F(w->res->problems.v[i]));
    assert_string_equal(buf_z(&b), want);
}

/* "name state: reason", one a line */
static inline void assert_states(struct world *w, const char *want)
{
    auto_buf b = BUF(1 << 20);

    for (size_t i = 0; i < w->res->plugins.n; i++) {
        const struct plugin_status *s = &w->res->plugins.v[i];

        buf_addf(&b, "%.*s %s: %.*s\n", STR_F(s->name), plugin_state_name(s->state),
                 STR_F(s->reason));
    }
    assert_string_equal(buf_z(&b), want);
}

#define ANY          "depends-on = [\"*\"]\n"
#define SERVER(name) "[[mcp_servers]]\nname = \"" name "\"\n"
#define RUN(name)    SERVER(name) "command = \"/bin/sh\"\n"
#define UNTRUSTED    "this workspace is not trusted yet; run 'symposium trust'"
#define DORMANT      "it names no dependency; add depends-on = [\"*\"] or list it in [plugins] use"

#endif
