/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/acquiring.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"

struct need {
    const struct plugin *plugin;
    struct install_use use;
};

struct acquiring {
    struct loop *loop;
    const struct dirs *dirs;
    enum update_level level;
    struct acquiring_ops ops;
    void *ctx;
    struct arena arena;
    struct {
        struct need *v;
        size_t n, cap;
    } needs;
    size_t at;
    struct acquire *acquire;
    struct strs problems;
    struct timer *next;
};

static void add(struct acquiring *q, const struct plugin *p, struct install_use use)
{
    if (use.name.n || use.requirements.n)
        ARENA_PUSH(&q->arena, &q->needs) = (struct need){ p, use };
}

static void add_plugin(struct acquiring *q, const struct plugin *p)
{
    for (size_t i = 0; i < p->predicates.n; i++)
        add(q, p, (struct install_use){ .name = p->predicates.v[i].command });
    for (size_t i = 0; i < p->hooks.n; i++)
        add(q, p, install_use_of_hook(&p->hooks.v[i]));
}

/* Of servers only those whose conditions hold here. */
static void add_servers(struct acquiring *q, const struct resolution *res)
{
    for (size_t i = 0; i < res->servers.n; i++) {
        const struct active_server *s = &res->servers.v[i];

        add(q, s->plugin,
            (struct install_use){ .name = s->def->installation,
                                  .requirements = s->def->requirements });
    }
}

static void conclude(struct acquiring *q)
{
    q->ops.done(q->ctx, &q->problems);
    acquiring_cancel(q);
}

static void on_acquired(void *ctx, const struct acquired *got, const struct error *why)
{
    struct acquiring *q = ctx;
    const struct plugin *p = q->needs.v[q->at].plugin;

    q->acquire = NULL;
    if (why)
        ARENA_PUSH(&q->arena, &q->problems) =
            str_of(arena_printf(&q->arena, "plugin '%.*s': %s", STR_F(p->name), why->msg));
    for (size_t i = 0; i < got->problems.n; i++)
        ARENA_PUSH(&q->arena, &q->problems) = arena_str(&q->arena, got->problems.v[i]);
    q->at++;
    timer_set(q->next, 0);
}

static void on_progress(void *ctx, struct str line)
{
    struct acquiring *q = ctx;

    if (q->ops.progress)
        q->ops.progress(q->ctx, line);
}

static void on_next(void *ctx)
{
    static const struct acquire_ops ops = { on_progress, on_acquired };
    struct acquiring *q = ctx;

    for (; q->at < q->needs.n; q->at++) {
        const struct need *need = &q->needs.v[q->at];
        struct install_plan plan;
        struct acquire_opts o = { .cache_dir = q->dirs->cache,
                                  .plan = &plan,
                                  .level = q->level };
        struct error e;

        /* What is wrong in a manifest is a problem line of its own already. */
        if (!install_plan_make(&plan, &q->arena, need->plugin, &need->use, &e))
            continue;
        if (q->level != UPDATE_FETCH && install_plan_ready(&plan, q->dirs->cache))
            continue;
        q->acquire = acquire_start(q->loop, &o, &ops, q);
        return;
    }
    conclude(q);
}

struct acquiring *acquiring_begin(struct loop *l, const struct dirs *dirs,
                                  const struct resolution *res, enum update_level level,
                                  const struct acquiring_ops *ops, void *ctx)
{
    struct acquiring *q = NEW(struct acquiring);

    *q = (struct acquiring){ .loop = l, .dirs = dirs, .level = level, .ops = *ops, .ctx = ctx };
    for (size_t i = 0; level != UPDATE_NONE && i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (st->state == PLUGIN_ACTIVE && st->trusted)
            add_plugin(q, st->plugin);
    }
    if (level != UPDATE_NONE)
        add_servers(q, res);
    q->next = timer_new(l, on_next, q);
    timer_set(q->next, 0);
    return q;
}

void acquiring_cancel(struct acquiring *q)
{
    if (!q)
        return;
    timer_free(q->next);
    acquire_cancel(q->acquire);
    arena_free(&q->arena);
    free(q);
}
