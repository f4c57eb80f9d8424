/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/deps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "loop/timer.h"
#include "pm/deps_cache.h"
#include "pm/locate.h"
#include "pm/wire.h"

/* One package manager within one query. */
struct ask {
    struct deps_query *q;
    const struct pm_program *program;
    struct pm_process *process; /* NULL: not asked */
};

struct deps_query {
    struct loop *loop;
    struct deps_opts o;
    struct arena arena;
    const char *root, *cache_path;
    int64_t began_ns; /* wall clock: what changed later was perhaps not seen */
    struct pm_programs programs;
    struct ask *asks; /* one a program */
    size_t waiting;
    struct pm_set *own; /* without o.pms */
    struct timer *timer;
    struct deps_snapshot found;
    struct strs watch, problems;
    bool degraded;
    void (*done)(void *ctx, const struct found_deps *found);
    void *ctx;
};

/* ---- problems ---- */

static void add_problem(struct deps_query *q, struct str text)
{
    ARENA_PUSH(&q->arena, &q->problems) = arena_str(&q->arena, text);
    q->degraded = true;
}

__attribute__((format(printf, 2, 3))) static void problem(struct ask *a, const char *fmt, ...)
{
    char text[ERROR_MSG_MAX];
    auto_buf line = BUF(2 * ERROR_MSG_MAX);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_addf(&line, "package manager '%s': %s", a->program->name, text);
    add_problem(a->q, buf_str(&line));
}

/* ---- what the answer depends on ---- */

static void add_input(struct deps_query *q, const char *path)
{
    inputs_add(&q->found.inputs, &q->arena, path);
}

/* Stamped before anybody is asked. */
static void add_inputs(struct deps_query *q)
{
    if (q->o.config->path.n)
        add_input(q, arena_z(&q->arena, q->o.config->path));
    for (size_t i = 0; i < q->programs.n; i++) {
        if (q->programs.v[i].file)
            add_input(q, q->programs.v[i].file);
        inputs_add_manifests(&q->found.inputs, &q->arena, q->programs.v[i].name,
                             q->o.workspace);
    }
}

/* ---- the end ---- */

static int by_package(const void *a, const void *b)
{
    const struct dep *x = a, *y = b;
    int order = str_cmp(x->pm, y->pm);

    if (order == 0)
        order = str_cmp(x->name, y->name);
    return order ? order : str_cmp(x->version, y->version);
}

static void sort_packages(struct deps *l)
{
    size_t kept = 0;

    if (l->n == 0)
        return;
    qsort(l->v, l->n, sizeof *l->v, by_package);
    for (size_t i = 1; i < l->n; i++)
        if (by_package(&l->v[kept], &l->v[i]) != 0)
            l->v[++kept] = l->v[i];
    l->n = kept + 1;
}

static void free_query(struct deps_query *q)
{
    pm_set_free(q->own);
    timer_free(q->timer);
    arena_free(&q->arena);
    free(q);
}

/* Reports and ends; the caller's function comes last but one, it may not touch the query. */
static void conclude(void *ctx)
{
    struct deps_query *q = ctx;
    struct strs watch = { 0 };

    for (size_t i = 0; i < q->found.inputs.n; i++)
        ARENA_PUSH(&q->arena, &watch) = q->found.inputs.v[i].path;
    q->done(q->ctx, &(struct found_deps){ .v = q->found.packages.v,
                                          .n = q->found.packages.n,
                                          .watch = watch.v,
                                          .nwatch = watch.n,
                                          .problems = q->problems.v,
                                          .nproblems = q->problems.n,
                                          .degraded = q->degraded });
    free_query(q);
}

static void write_cache(struct deps_query *q, bool racy)
{
    struct error why = { 0 };

    if (!q->o.write_cache || q->degraded || racy)
        return;
    if (!deps_cache_write(q->cache_path, &q->found, &why))
        log_debug("dependencies not cached: %s", why.msg);
}

static void all_answered(struct deps_query *q)
{
    struct inputs named = { 0 };
    bool racy;

    /* A path named in `watch` is stamped after the package manager read it: what changed
     * meanwhile must not count as seen. */
    for (size_t i = 0; i < q->watch.n; i++)
        inputs_add(&named, &q->arena, q->watch.v[i].p);
    racy = inputs_racy(&named, q->began_ns);
    for (size_t i = 0; i < named.n; i++)
        ARENA_PUSH(&q->arena, &q->found.inputs) = named.v[i];
    inputs_sort(&q->found.inputs);
    sort_packages(&q->found.packages);
    write_cache(q, racy);
    if (q->own)
        pm_set_close(q->own, conclude, q);
    else
        timer_set(q->timer, 0);
}

/* ---- answers ---- */

static bool add_package(struct ask *a, yyjson_val *id)
{
    struct arena *mem = &a->q->arena;
    struct package_id got;

    if (!wire_id(id, a->program->name, &got))
        return false;
    ARENA_PUSH(mem, &a->q->found.packages) =
        (struct dep){ .pm = str_of(a->program->name),
                      .name = arena_str(mem, got.name),
                      .version = arena_str(mem, got.version) };
    return true;
}

static void take_packages(struct ask *a, yyjson_val *list)
{
    size_t bad = 0, n = 0;

    for (struct json_iter it = json_iter(list); json_next(&it) && n < DEPS_MAX; n++)
        bad += !add_package(a, it.val);
    if (bad)
        problem(a, "list_deps: %zu malformed ids dropped", bad);
    if (json_len(list) > DEPS_MAX)
        problem(a, "list_deps: more than %d packages, the rest dropped", DEPS_MAX);
}

static void take_watch(struct ask *a, yyjson_val *list)
{
    struct arena *mem = &a->q->arena;
    size_t n = 0;

    for (struct json_iter it = json_iter(list); json_next(&it) && n < DEPS_MAX_WATCH; n++) {
        struct str path = json_str(it.val);

        if (path.n)
            ARENA_PUSH(mem, &a->q->watch) =
                str_of(path_join(mem, a->q->root, arena_z(mem, path)));
    }
    if (json_len(list) > DEPS_MAX_WATCH)
        problem(a, "list_deps: more than %d paths to watch", DEPS_MAX_WATCH);
}

/* Both forms of PM-2 are accepted (PM-3). */
static void take_result(struct ask *a, yyjson_val *result)
{
    yyjson_val *list = wire_list(result, "deps");

    if (!list) {
        problem(a, "list_deps: answered %s, not a list", json_type_name(result));
        return;
    }
    take_packages(a, list);
    if (json_is_obj(result))
        take_watch(a, json_get(result, "watch"));
}

static void on_answer(void *ctx, yyjson_val *result, const struct error *why)
{
    struct ask *a = ctx;

    a->process = NULL;
    if (result)
        take_result(a, result);
    else if (why->kind != ERR_NOT_FOUND)
        add_problem(a->q, str_of(why->msg));
    if (--a->q->waiting == 0)
        all_answered(a->q);
}

/* ---- the question ---- */

static bool same_members(const struct strs *a, const struct strs *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->v[i], b->v[i]))
            return false;
    return true;
}

/* Takes the cache when it is about this workspace, these programs, and nothing changed since.
 */
static bool take_cache(struct deps_query *q)
{
    struct deps_snapshot s;

    if (!deps_cache_read(&s, &q->arena, q->cache_path) ||
        !str_eq(s.root, q->o.workspace->root) ||
        !same_members(&s.members, &q->o.workspace->members))
        return false;
    for (size_t i = 0; i < q->programs.n; i++)
        if (!q->programs.v[i].file || !inputs_have(&s.inputs, str_of(q->programs.v[i].file)))
            return false;
    if (!inputs_fresh(&s.inputs))
        return false;
    q->found = s;
    return true;
}

static void ask_one(struct ask *a)
{
    struct deps_query *q = a->q;
    const struct pm_program *p = a->program;
    if (!p->argv) {
        add_problem(q, p->problem);
        return;
    }
    a->process = pm_set_open(q->own ? q->own : q->o.pms, p, q->root, q->o.dirs->cache);
    q->waiting++;
    pm_process_call(a->process, "list_deps", (struct str){ 0 }, PM_LIST_TIMEOUT_MS, on_answer,
                    a);
}

static void ask_all(struct deps_query *q)
{
    add_inputs(q);
    if (!q->o.pms)
        q->own = pm_set_new(q->loop);
    q->asks = ARENA_ARRAY(&q->arena, struct ask, q->programs.n);
    for (size_t i = 0; i < q->programs.n; i++) {
        q->asks[i] = (struct ask){ .q = q, .program = &q->programs.v[i] };
        ask_one(&q->asks[i]);
    }
    if (q->waiting == 0)
        timer_set(q->timer, 0);
}

struct deps_query *deps_find(struct loop *l, const struct deps_opts *o,
                             void (*done)(void *ctx, const struct found_deps *found), void *ctx)
{
    struct deps_query *q = NEW(struct deps_query);

    q->loop = l;
    q->o = *o;
    q->done = done;
    q->ctx = ctx;
    q->began_ns = inputs_now();
    q->timer = timer_new(l, conclude, q);
    q->root = arena_z(&q->arena, o->workspace->root);
    q->cache_path = deps_cache_path(&q->arena, o->dirs->cache, o->workspace->root);
    q->found.root = o->workspace->root;
    q->found.members = o->workspace->members;
    pm_locate(&q->programs, &q->arena, o->dirs, o->config, o->workspace);
    if (q->programs.n == 0 || take_cache(q))
        timer_set(q->timer, 0);
    else
        ask_all(q);
    return q;
}

void deps_cancel(struct deps_query *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->programs.n && q->asks; i++)
        if (q->asks[i].process)
            pm_process_drop(q->asks[i].process, &q->asks[i]);
    free_query(q);
}
