/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How it works: a gate is evaluated as far as what is known allows. Where a program's answer is
 * missing, the program is started and the gate stays pending; when a program has ended, all
 * pending gates are simply evaluated again from the start, with one answer more. No state of a
 * half-evaluated tree is kept, and a tree is cheap beside a process.
 *
 *     evaluator ── slots: shell by node, custom by "name(arg)" ──> struct slot { run, result }
 *         └─ tick (timer of 0 ms) ──> step(): all pending jobs; none left: save cache, done
 */
#include "plugins/predicate_eval.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "loop/timer.h"
#include "plugins/installation.h"
#include "plugins/predicate_run.h"

#define SHOWN 80 /* bytes of a predicate that a warning quotes */

/*
 * What is not known because its program may not run (PL-32) must make no gate true, not even
 * through not(): hence REFUSED, which not() leaves as it is and which counts as false in the
 * end.
 */
enum truth { NO, YES, REFUSED, PENDING };

/* A program of this evaluator, going or ended. */
struct slot {
    struct evaluator *ev;
    struct predicate_run *run; /* NULL once ended */
    struct str key;            /* of a custom predicate in the cache; empty for shell() */
    struct str text;           /* for warnings */
    bool result;
};

/* One defined name. */
struct custom {
    const struct custom_predicate *def; /* NULL: defined twice */
    bool trusted;
};

struct evaluator {
    struct loop *loop;
    struct eval_world world;
    struct arena arena;
    struct predicate_cache *cache; /* NULL: none */
    struct map customs;            /* name to struct custom */
    struct map slots;              /* key to struct slot */
    struct map warned;             /* texts of warnings: each is given once */
    struct strs warnings;
    struct timer *tick;
    int going;           /* programs running */
    unsigned lookups[2]; /* without and with trust: the one does not use up the other's */

    struct gate_job **jobs; /* the batch's pending jobs */
    size_t njobs;
    void (*done)(void *ctx);
    void *ctx;
};

static enum truth eval(struct evaluator *ev, const struct gate_job *job,
                       const struct predicate *p);

/* ---- warnings ---- */

__attribute__((format(printf, 2, 3))) static void warn(struct evaluator *ev, const char *fmt,
                                                       ...)
{
    auto_buf line = BUF(4 * ERROR_MSG_MAX);
    char text[ERROR_MSG_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    utf8_put_clean(&line, str_of(text));
    if (map_has(&ev->warned, buf_str(&line)))
        return;
    map_put(&ev->warned, buf_str(&line), ev);
    log_debug("%s", buf_z(&line));
    if (ev->warnings.n < EVAL_MAX_WARNINGS)
        ARENA_PUSH(&ev->arena, &ev->warnings) = arena_str(&ev->arena, buf_str(&line));
}

/* ---- programs ---- */

static void watch_files(struct evaluator *ev, const struct predicate_answer *ans)
{
    for (size_t i = 0; ev->world.watch && i < ans->files.n; i++)
        watch_add(ev->world.watch, ev->world.watch_arena, ans->files.v[i].path.p);
}

static void keep_answer(struct slot *s, const struct run_outcome *how)
{
    struct evaluator *ev = s->ev;

    watch_files(ev, &how->answer);
    if (!ev->cache)
        return;
    if (how->keep)
        predicate_cache_put(ev->cache, s->key, &how->answer);
    else
        predicate_cache_drop(ev->cache, s->key);
}

static void on_run_end(void *ctx, const struct run_outcome *how)
{
    struct slot *s = ctx;

    s->result = how->answer.result;
    if (how->warning)
        warn(s->ev, "predicate '%.*s' %s", STR_F(utf8_cut(s->text, SHOWN)), how->warning);
    if (s->key.n)
        keep_answer(s, how);
    predicate_run_free(s->run);
    s->run = NULL;
    s->ev->going--;
    timer_set(s->ev->tick, 0);
}

static struct slot *add_slot(struct evaluator *ev, struct str key, struct str text)
{
    struct slot *s = ARENA_NEW(&ev->arena, struct slot);

    s->ev = ev;
    s->text = text;
    map_put(&ev->slots, key, s);
    return s;
}

static void start(struct slot *s, const char *const *argv, bool events)
{
    struct evaluator *ev = s->ev;
    struct run_opts o = { .argv = argv,
                          .cwd = arena_z(&ev->arena, ev->world.root),
                          .events = events };

    o.timeout_ms = ev->world.timeout_ms ? ev->world.timeout_ms : EVAL_TIMEOUT_MS;
    s->run = predicate_run_start(ev->loop, &o, &ev->arena, on_run_end, s);
    ev->going++;
}

static enum truth slot_truth(const struct slot *s)
{
    return s->run ? PENDING : s->result ? YES : NO;
}

/* Each shell() of each gate runs by itself, hence the node as key: built-ins are never cached
 * (PL-26). */
static enum truth eval_shell(struct evaluator *ev, const struct gate_job *job,
                             const struct predicate *p)
{
    struct str key = { (const char *)&p, sizeof p };
    struct slot *s = map_get(&ev->slots, key);

    if (!job->may_run)
        return REFUSED;
    if (s)
        return slot_truth(s);
    if (ev->going < EVAL_MAX_CHILDREN)
        start(add_slot(ev, key, p->text),
              (const char *[]){ "/bin/sh", "-c", arena_z(&ev->arena, p->arg), NULL }, false);
    return PENDING;
}

/* ---- custom predicates ---- */

static void start_custom(struct slot *s, const struct custom_predicate *def, struct str arg)
{
    struct arena *a = &s->ev->arena;
    struct strs words = { 0 };
    struct error e = { 0 };
    const char **argv;

    if (!installation_argv(a, s->ev->world.cache_dir, def->owner, def->command, &words, &e)) {
        warn(s->ev, "predicate '%.*s' cannot run: %s; taken as false", STR_F(def->name), e.msg);
        return;
    }
    for (size_t i = 0; i < def->args.n; i++)
        ARENA_PUSH(a, &words) = def->args.v[i];
    if (arg.n)
        ARENA_PUSH(a, &words) = arg;
    argv = ARENA_ARRAY(a, const char *, words.n + 1);
    for (size_t i = 0; i < words.n; i++)
        argv[i] = arena_z(a, words.v[i]);
    start(s, argv, true);
}

/* The answer of an earlier run, with what it rests on put under watch. */
static bool from_cache(struct slot *s)
{
    struct evaluator *ev = s->ev;
    const struct predicate_answer *ans;

    ans = ev->cache ? predicate_cache_get(ev->cache, s->key, clock_wall_ms()) : NULL;
    if (!ans)
        return false;
    s->result = ans->result;
    watch_files(ev, ans);
    return true;
}

static enum truth eval_custom(struct evaluator *ev, const struct gate_job *job,
                              const struct predicate *p)
{
    const struct custom *c = map_get(&ev->customs, p->name);
    auto_buf key = BUF(2 * PREDICATE_MAX_BYTES);
    struct slot *s;

    if (!c) {
        warn(ev, "predicate '%.*s' is defined by no plugin; taken as false",
             STR_F(utf8_cut(p->name, SHOWN)));
        return NO;
    }
    if (!c->def)
        return NO;
    if (!job->may_run || !c->trusted)
        return REFUSED;
    buf_addf(&key, "%.*s(%.*s)", STR_F(p->name), STR_F(p->arg));
    s = map_get(&ev->slots, buf_str(&key));
    if (s)
        return slot_truth(s);
    if (ev->going >= EVAL_MAX_CHILDREN)
        return PENDING;
    s = add_slot(ev, buf_str(&key), p->text);
    s->key = arena_str(&ev->arena, buf_str(&key));
    if (!from_cache(s))
        start_custom(s, c->def, p->arg);
    return slot_truth(s);
}

/* ---- predicates answered at once ---- */

/* Every path goes under watch, and is looked at again before each request: their number must
 * have an end. */
static bool path_there(struct evaluator *ev, const struct gate_job *job, const char *path)
{
    unsigned *lookups = &ev->lookups[job->may_run];
    struct watch_list *watch = ev->world.watch;
    size_t known = watch ? watch->n : 0;
    bool there;

    if (*lookups >= EVAL_MAX_LOOKUPS) {
        warn(ev, "more than %d paths are asked for; the rest is taken as absent",
             EVAL_MAX_LOOKUPS);
        return false;
    }
    there =
        watch ? watch_existence(watch, ev->world.watch_arena, path).exists : file_exists(path);
    *lookups += !watch || watch->n > known;
    return there;
}

static enum truth eval_path(struct evaluator *ev, const struct gate_job *job,
                            const struct predicate *p)
{
    auto_arena a = ARENA;
    const char *arg = arena_z(&a, p->arg), *path_var = getenv("PATH");
    struct str dir, rest = str_of(path_var);

    if (!*arg)
        return NO;
    if (path_there(ev, job, path_join(&a, arena_z(&a, ev->world.root), arg)))
        return YES;
    if (strchr(arg, '/'))
        return NO;
    while (str_next(&rest, ':', &dir))
        if (dir.n && path_there(ev, job, path_join(&a, arena_z(&a, dir), arg)))
            return YES;
    return NO;
}

static enum truth eval_env(const struct predicate *p)
{
    auto_arena a = ARENA;
    const char *value = getenv(arena_z(&a, p->arg));

    return value && (!p->has_value || str_is(p->value, value)) ? YES : NO;
}

/* ---- composition ---- */

static enum truth eval_not(enum truth inner)
{
    static const enum truth of[] = {
        [NO] = YES, [YES] = NO, [REFUSED] = REFUSED, [PENDING] = PENDING
    };

    return of[inner];
}

/* From left to right, ended by the first `stop` (YES for any, NO for all) or by the first that
 * is not known yet. */
static enum truth eval_list(struct evaluator *ev, const struct gate_job *job,
                            const struct gate *list, enum truth stop)
{
    enum truth so_far = eval_not(stop);

    for (size_t i = 0; i < list->n; i++) {
        enum truth t = eval(ev, job, list->v[i]);

        if (t == stop || t == PENDING)
            return t;
        if (t == REFUSED)
            so_far = REFUSED;
    }
    return so_far;
}

static enum truth eval(struct evaluator *ev, const struct gate_job *job,
                       const struct predicate *p)
{
    const struct gate inner = { .v = p->v, .n = p->n };

    switch (p->kind) {
    case PRED_DEPENDS_ON:
        return atom_matches(&p->atom, ev->world.deps) ? YES : NO;
    case PRED_SHELL:
        return eval_shell(ev, job, p);
    case PRED_PATH_EXISTS:
        return eval_path(ev, job, p);
    case PRED_ENV:
        return eval_env(p);
    case PRED_WORKSPACE_MEMBER:
        return job->owner && job->owner->origin == ORIGIN_WORKSPACE ? YES : NO;
    case PRED_NOT:
        return eval_not(eval(ev, job, p->v[0]));
    case PRED_ANY:
        return eval_list(ev, job, &inner, YES);
    case PRED_ALL:
        return eval_list(ev, job, &inner, NO);
    case PRED_CUSTOM:
        return eval_custom(ev, job, p);
    }
    return NO;
}

/* ---- the batch ---- */

static void save_cache(struct evaluator *ev)
{
    struct error e = { 0 };

    if (ev->cache && ev->world.write_cache && !predicate_cache_save(ev->cache, &e))
        log_debug("%s", e.msg);
}

/* `done` last: it may free the evaluator. Cleared before, since a program that no gate waits
 * for any more (a path appeared meanwhile) may still end and tick. */
static void finish(struct evaluator *ev)
{
    void (*done)(void *ctx) = ev->done;

    ev->done = NULL;
    done(ev->ctx);
}

static void step(void *ctx)
{
    struct evaluator *ev = ctx;
    size_t left = 0;

    for (size_t i = 0; i < ev->njobs; i++) {
        struct gate_job *job = ev->jobs[i];
        enum truth t = eval_list(ev, job, job->gate, NO);

        job->holds = t == YES;
        job->refused = t == REFUSED;
        if (t == PENDING)
            ev->jobs[left++] = job;
    }
    ev->njobs = left;
    if (left || !ev->done)
        return;
    save_cache(ev);
    finish(ev);
}

void evaluator_run(struct evaluator *ev, struct gate_job *jobs, size_t n,
                   void (*done)(void *ctx), void *ctx)
{
    ev->jobs = ARENA_ARRAY(&ev->arena, struct gate_job *, n);
    ev->njobs = n;
    ev->done = done;
    ev->ctx = ctx;
    for (size_t i = 0; i < n; i++)
        ev->jobs[i] = &jobs[i];
    timer_set(ev->tick, 0);
}

/* ---- life ---- */

void evaluator_define(struct evaluator *ev, const struct custom_predicate *def, bool trusted)
{
    struct custom *known = map_get(&ev->customs, def->name), *c;

    if (ev->world.cache_dir && !ev->cache)
        ev->cache = predicate_cache_load(ev->world.cache_dir, ev->world.root);
    if (known) {
        known->def = NULL;
        warn(ev, "predicate '%.*s' is defined more than once; none of them counts",
             STR_F(def->name));
        return;
    }
    c = ARENA_NEW(&ev->arena, struct custom);
    *c = (struct custom){ def, trusted };
    map_put(&ev->customs, def->name, c);
}

struct evaluator *evaluator_new(struct loop *l, const struct eval_world *world)
{
    struct evaluator *ev = NEW(struct evaluator);

    ev->loop = l;
    ev->world = *world;
    ev->tick = timer_new(l, step, ev);
    return ev;
}

const struct strs *evaluator_warnings(const struct evaluator *ev)
{
    return &ev->warnings;
}

void evaluator_free(struct evaluator *ev)
{
    struct str key;
    void *slot;

    if (!ev)
        return;
    for (size_t i = 0; map_next(&ev->slots, &i, &key, &slot);)
        predicate_run_free(((struct slot *)slot)->run);
    timer_free(ev->tick);
    predicate_cache_free(ev->cache);
    map_free(&ev->customs);
    map_free(&ev->slots);
    map_free(&ev->warned);
    arena_free(&ev->arena);
    free(ev);
}
