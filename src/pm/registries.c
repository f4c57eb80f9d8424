/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/registries.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"

struct item {
    struct refresh *r;
    struct str label;
    struct git_source source;
    enum update_level level;
    struct git_fetch *fetch; /* while it goes on */
};

struct refresh {
    struct loop *loop;
    struct arena arena;
    const char *cache_dir;
    struct {
        struct item *v;
        size_t n, cap;
    } items;
    size_t next, going;
    struct refresh_result result;
    struct refresh_ops ops;
    struct timer *timer; /* the start, the next ones, and the end */
    void *ctx;
};

static void warn(struct refresh *r, struct str label, const char *text)
{
    ARENA_PUSH(&r->arena, &r->result.warnings) =
        str_of(arena_printf(&r->arena, "%.*s: %s", STR_F(label), text));
    r->result.failed++;
}

static void say(struct item *it, const char *verb)
{
    struct refresh *r = it->r;

    if (r->ops.progress)
        r->ops.progress(r->ctx,
                        str_of(arena_printf(&r->arena, "%.*s: %s '%.*s'", STR_F(it->label),
                                            verb, STR_F(it->source.shown))));
}

static void on_fetched(void *ctx, const struct git_result *got, const struct error *why)
{
    struct item *it = ctx;
    struct refresh *r = it->r;

    it->fetch = NULL;
    r->going--;
    timer_set(r->timer, 0);
    if (why && got->dir)
        warn(r, it->label,
             arena_printf(&r->arena, "%s (the copy from earlier is used)", why->msg));
    else if (why)
        warn(r, it->label, why->msg);
    else if (got->changed)
        r->result.changed++;
    else
        r->result.current++;
    if (!why && got->changed)
        say(it, "has the newest of");
}

static void start(struct refresh *r, struct item *it)
{
    r->going++;
    it->fetch = git_fetch_start(r->loop,
                                &(struct git_opts){ .cache_dir = r->cache_dir,
                                                    .source = &it->source,
                                                    .level = it->level },
                                on_fetched, it);
    if (it->level != UPDATE_NONE)
        say(it, it->level == UPDATE_CHECK ? "checking" : "fetching");
}

static void free_refresh(struct refresh *r)
{
    timer_free(r->timer);
    arena_free(&r->arena);
    free(r);
}

static void on_timer(void *ctx)
{
    struct refresh *r = ctx;

    while (r->next < r->items.n && r->going < REFRESH_PARALLEL)
        start(r, &r->items.v[r->next++]);
    if (r->going)
        return;
    r->ops.done(r->ctx, &r->result);
    free_refresh(r);
}

static void add(struct refresh *r, struct str label, struct str git, enum update_level level)
{
    struct item it = { .r = r, .label = arena_str(&r->arena, label), .level = level };
    struct error why = { 0 };

    if (r->items.n >= REFRESH_MAX)
        error_set(&why, ERR_LIMIT, "not fetched: more than %d repositories", REFRESH_MAX);
    else if (git_source_parse(&it.source, &r->arena, git, &why))
        ARENA_PUSH(&r->arena, &r->items) = it;
    if (why.kind)
        warn(r, it.label, why.msg);
}

static struct refresh *new_refresh(struct loop *l, const char *cache_dir,
                                   const struct refresh_ops *ops, void *ctx)
{
    struct refresh *r = NEW(struct refresh);

    r->loop = l;
    r->cache_dir = arena_z(&r->arena, str_of(cache_dir));
    r->ops = *ops;
    r->ctx = ctx;
    r->timer = timer_new(l, on_timer, r);
    timer_set(r->timer, 0);
    return r;
}

struct refresh *checkouts_refresh(struct loop *l, const char *cache_dir,
                                  const struct refresh_item *v, size_t n,
                                  const struct refresh_ops *ops, void *ctx)
{
    struct refresh *r = new_refresh(l, cache_dir, ops, ctx);

    for (size_t i = 0; i < n; i++)
        add(r, v[i].label, v[i].git, v[i].level);
    return r;
}

static void add_registry(struct refresh *r, const struct registries_opts *o, struct str name,
                         struct str git, bool auto_update)
{
    struct git_source source;
    bool wanted = !o->only.n || str_eq(o->only, name);

    if (!wanted || !git.n)
        return;
    /* One that is not to be updated is still fetched when it is not there. */
    if (!auto_update && !o->force && git_source_parse(&source, &r->arena, git, NULL) &&
        checkout_find(&r->arena, r->cache_dir, &source, NULL)) {
        r->result.current++;
        return;
    }
    add(r, str_of(arena_printf(&r->arena, "registry '%.*s'", STR_F(name))), git, o->level);
}

struct refresh *registries_refresh(struct loop *l, const struct registries_opts *o,
                                   const struct refresh_ops *ops, void *ctx)
{
    struct refresh *r = new_refresh(l, o->dirs->cache, ops, ctx);
    const struct config *c = o->config;

    if (c->recommendations)
        add_registry(r, o, STR(RECOMMENDATIONS), c->recommendations_git, true);
    for (size_t i = 0; i < c->registries.n; i++)
        add_registry(r, o, c->registries.v[i].name, c->registries.v[i].git,
                     c->registries.v[i].auto_update);
    return r;
}

void refresh_cancel(struct refresh *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->items.n; i++)
        git_fetch_cancel(r->items.v[i].fetch);
    free_refresh(r);
}
