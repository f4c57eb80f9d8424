/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Evaluation of gates (docs/spec/plugins.md PL-22 to PL-26). shell() and custom predicates run
 * a program, so answers come through the loop; all gates of one batch are evaluated at the same
 * time, each of them from left to right and no further than needed.
 *
 * One evaluator serves one resolution: a custom predicate with one argument runs once in it,
 * whichever gates ask. Across resolutions and processes its answer is kept in the disk cache
 * (predicate_cache.h). Built-ins are never cached.
 *
 * Nothing here fails: what cannot be found out is false, and a warning says why.
 */
#ifndef SYM_PLUGINS_PREDICATE_EVAL_H
#define SYM_PLUGINS_PREDICATE_EVAL_H

#include "loop/loop.h"
#include "plugins/predicate.h"
#include "plugins/workspace.h"

#define EVAL_TIMEOUT_MS   10000 /* of one shell() or custom predicate (PL-22) */
#define EVAL_MAX_CHILDREN 8     /* programs running at the same time */
#define EVAL_MAX_WARNINGS 100   /* further ones are only logged */
/* Paths looked up by path_exists(), each element of PATH being one: of all gates that may run
 * programs, and of all others. Further ones are absent, with a warning. */
#define EVAL_MAX_LOOKUPS 10000

/* Copied, but what it points to must live as long as the evaluator. */
struct eval_world {
    struct str root; /* canonical workspace root: cwd of what is run */
    const struct deps *deps;
    const char *cache_dir; /* <cache>; NULL: no disk cache */
    bool write_cache;      /* false: read it only */
    int timeout_ms;        /* 0: EVAL_TIMEOUT_MS */
    struct arena *watch_arena;
    struct watch_list *watch; /* gets every path an answer rests on (MS-60); may be NULL */
};

struct gate_job {
    const struct gate *gate;
    const struct plugin *owner; /* for workspace-member() */
    bool may_run; /* false: a gate that needs a program's answer is false (PL-32) */
    bool holds;   /* the answer */
    bool refused; /* it does not hold, and only a program that may not run could tell */
};

struct evaluator;

struct evaluator *evaluator_new(struct loop *l, const struct eval_world *world);

/*
 * Evaluates the jobs and sets `holds` and `refused` in each; `done` is called once, never from
 * inside. The jobs must live until then, their gates as long as the evaluator. One batch at a
 * time. Changes of the disk cache are written before `done`.
 */
void evaluator_run(struct evaluator *ev, struct gate_job *jobs, size_t n,
                   void (*done)(void *ctx), void *ctx);

/*
 * Makes a [[predicate]] known, between batches; it must live as long as the evaluator. Its
 * owner's installations say what to run; where that is not trusted nothing runs (PL-32). A name
 * that is already defined counts from now on for nobody, with a warning (PL-15).
 */
void evaluator_define(struct evaluator *ev, const struct custom_predicate *def, bool trusted);

/* So far, for people; owned by the evaluator. */
const struct strs *evaluator_warnings(const struct evaluator *ev);

/* Ends what runs; `done` is not called any more. */
void evaluator_free(struct evaluator *ev);

#endif
