/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/acquire_all.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"
#include "pm/locate.h"

#define MAX_ITEMS 2000

struct item {
    struct str label;
    struct install_plan plan;
    bool refresh;
};

struct acquire_all {
    struct loop *loop;
    struct arena arena;
    const char *cache_dir;
    enum update_level level;
    bool session_start;
    struct {
        struct item *v;
        size_t n, cap;
    } items;
    size_t at;
    struct acquire *acquire;
    struct strs problems;
    struct timer *timer; /* the next one, or the end */
    struct acquire_all_ops ops;
    void *ctx;
};

static void add_problem(struct acquire_all *q, struct str label, struct str text)
{
    ARENA_PUSH(&q->arena, &q->problems) =
        str_of(arena_printf(&q->arena, "%.*s: %.*s", STR_F(label), STR_F(text)));
}

/* ---- the run ---- */

static void on_progress(void *ctx, struct str line)
{
    struct acquire_all *q = ctx;

    if (q->ops.progress)
        q->ops.progress(q->ctx, line);
}

static void on_acquired(void *ctx, const struct acquired *got, const struct error *why)
{
    struct acquire_all *q = ctx;
    struct str label = q->items.v[q->at].label;

    q->acquire = NULL;
    q->at++;
    if (why)
        add_problem(q, label, str_of(why->msg));
    for (size_t i = 0; i < got->problems.n && !why; i++)
        add_problem(q, label, got->problems.v[i]);
    timer_set(q->timer, 0);
}

static void free_all(struct acquire_all *q)
{
    acquire_cancel(q->acquire);
    timer_free(q->timer);
    arena_free(&q->arena);
    free(q);
}

static void on_timer(void *ctx)
{
    static const struct acquire_ops ops = { on_progress, on_acquired };
    struct acquire_all *q = ctx;
    struct item *it = &q->items.v[q->at];

    if (q->at == q->items.n) {
        q->ops.done(q->ctx, &q->problems);
        free_all(q);
        return;
    }
    q->acquire = acquire_start(q->loop,
                               &(struct acquire_opts){ .cache_dir = q->cache_dir,
                                                       .plan = &it->plan,
                                                       .level = q->level,
                                                       .refresh = it->refresh },
                               &ops, q);
}

static struct acquire_all *new_all(struct loop *l, const struct acquire_all_opts *o,
                                   const struct acquire_all_ops *ops, void *ctx)
{
    struct acquire_all *q = NEW(struct acquire_all);

    q->loop = l;
    q->cache_dir = arena_z(&q->arena, str_of(o->cache_dir));
    q->level = o->level;
    q->session_start = o->session_start;
    q->ops = *ops;
    q->ctx = ctx;
    q->timer = timer_new(l, on_timer, q);
    timer_set(q->timer, 0);
    return q;
}

/* ---- plugins ---- */

static void add_plan(struct acquire_all *q, struct str label, const struct install_plan *plan,
                     bool refresh)
{
    if (q->items.n >= MAX_ITEMS)
        add_problem(q, label, STR("too many installations; it waits for its first use"));
    else if (plan->n)
        ARENA_PUSH(&q->arena, &q->items) = (struct item){
            .label = label, .plan = install_plan_copy(&q->arena, plan), .refresh = refresh
        };
}

enum use_kind { ON_FIRST_USE, NEVER_WAITS };

/* A plan that cannot be made is said where the thing itself is refused, or here. */
static void add_use(struct acquire_all *q, const struct plugin *p, const char *kind,
                    struct str name, const struct install_use *use, enum use_kind when)
{
    struct str label = str_of(
        arena_printf(&q->arena, "plugin '%.*s', %s '%.*s'", STR_F(p->name), kind, STR_F(name)));
    struct install_use only = { .requirements = use->requirements };
    struct install_plan plan;
    struct error why = { 0 };

    if (!use->name.n && !use->requirements.n)
        return;
    if (!install_plan_make(&plan, &q->arena, p, use, &why)) {
        add_problem(q, label, str_of(why.msg));
        return;
    }
    if (!q->session_start || when == NEVER_WAITS) {
        add_plan(q, label, &plan, q->session_start);
    } else if (install_plan_ready(&plan, q->cache_dir)) {
        add_plan(q, label, &plan, true);
    } else if (install_plan_make(&plan, &q->arena, p, &only, NULL)) {
        add_plan(q, label, &plan, false);
    }
}

static void add_plugin(struct acquire_all *q, const struct plugin *p)
{
    for (size_t i = 0; i < p->servers.n; i++) {
        const struct server_def *s = &p->servers.v[i];

        add_use(
            q, p, "server", s->name,
            &(struct install_use){ .name = s->installation, .requirements = s->requirements },
            ON_FIRST_USE);
    }
    for (size_t i = 0; i < p->hooks.n; i++) {
        struct install_use use = install_use_of_hook(&p->hooks.v[i]);

        add_use(q, p, "hook", p->hooks.v[i].name, &use, NEVER_WAITS);
    }
    for (size_t i = 0; i < p->predicates.n; i++)
        add_use(q, p, "predicate", p->predicates.v[i].name,
                &(struct install_use){ .name = p->predicates.v[i].command }, NEVER_WAITS);
    for (size_t i = 0; i < p->subcommands.n; i++)
        add_use(q, p, "subcommand", p->subcommands.v[i].name,
                &(struct install_use){ .name = p->subcommands.v[i].command }, ON_FIRST_USE);
}

struct acquire_all *acquire_plugins(struct loop *l, const struct acquire_all_opts *o,
                                    const struct plugin *const *v, size_t n,
                                    const struct acquire_all_ops *ops, void *ctx)
{
    struct acquire_all *q = new_all(l, o, ops, ctx);

    for (size_t i = 0; i < n; i++)
        add_plugin(q, v[i]);
    return q;
}

/* ---- package managers ---- */

struct acquire_all *acquire_package_managers(struct loop *l, const struct acquire_all_opts *o,
                                             const struct dirs *dirs,
                                             const struct config *config,
                                             const struct workspace *workspace,
                                             const struct acquire_all_ops *ops, void *ctx)
{
    struct acquire_all *q = new_all(l, o, ops, ctx);

    for (size_t i = 0; i < config->pms.n; i++) {
        const struct pm_config *c = &config->pms.v[i];
        struct install_plan plan;
        struct str label =
            str_of(arena_printf(&q->arena, "package manager '%.*s'", STR_F(c->name)));

        if (pm_concerns(c->name, workspace) && pm_install_plan(&plan, &q->arena, dirs, c, NULL))
            add_plan(q, label, &plan, o->session_start);
    }
    return q;
}

void acquire_all_cancel(struct acquire_all *q)
{
    if (q)
        free_all(q);
}
