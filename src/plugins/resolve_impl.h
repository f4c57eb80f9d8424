/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Shared by the resolve*.c files only. The steps of one resolution, each of them a function
 * that goes on to the next when its answers are there:
 *
 *   resolve_finish   registries and the workspace's own are loaded
 *   packages_find    what dependencies embed, and what `use` names    (source: offers, load)
 *   decide           enablement: states, custom predicates
 *   gates_run        gates of plugins not yet looked at <────────────────┐
 *   edges_run        gates of the active ones' edges ─> packages ────────┘ (source: load)
 *                    no edge left
 *   parts_run        gates of servers, groups, subcommands
 *   hand_over
 *
 * No program runs for a part of a plugin that does not apply.
 */
#ifndef SYM_PLUGINS_RESOLVE_IMPL_H
#define SYM_PLUGINS_RESOLVE_IMPL_H

#include "base/map.h"
#include "plugins/enablement.h"
#include "plugins/predicate_eval.h"
#include "plugins/resolve.h"

/* One package that was asked for by name. */
struct want {
    struct resolver *r;
    struct package_id id;
    const struct plugin *from; /* whose edge it is; NULL: [plugins] use */
    bool local;                /* nobody vouches for it: nothing is fetched */
    struct plugins found;
    struct strs problems;
};

/* An edge whose gate is evaluated. */
struct edge_ref {
    size_t plugin; /* in res->plugins */
    const struct plugin_edge *edge;
};

/* Beside each of res->plugins. */
struct node {
    bool followed; /* its edges were looked at */
    bool gone;     /* a candidate that an edge has brought in under its own row */
};

struct resolver {
    struct loop *loop;
    struct resolution *res; /* what grows; NULL once handed over */
    struct dirs dirs;
    struct watch_list watch;
    struct loaded loaded;
    struct trust trust;
    struct enable_world enable;
    struct package_source packages; /* ctx and functions NULL: none */
    struct plugins offered;         /* by (pm, name), one a package */
    struct {
        struct want **v;
        size_t n, cap;
    } wants;        /* of this round */
    size_t waiting; /* for answers to them */
    bool asking;    /* for the offers */
    bool decided;   /* enablement is over: wants are those of edges */
    bool plugins_only;
    struct map visited; /* packages that are in, by package_key() */
    size_t edges;       /* followed so far */
    struct {
        struct edge_ref *v;
        size_t n, cap;
    } edge_refs; /* one a job while edges are evaluated */
    struct {
        struct node *v;
        size_t n, cap;
    } nodes;
    struct {
        struct load_failure *v;
        size_t n, cap;
    } quiet;      /* failures that nobody asked for: warnings, no problems */
    size_t gated; /* plugins whose own gate was evaluated */
    struct {
        struct gate_job *v;
        size_t n, cap;
    } jobs;
    struct eval_world world;
    struct evaluator *eval;
    void (*done)(void *ctx, struct resolution *res);
    void *ctx;
};

/* ---- resolve.c ---- */

void add_problem(struct resolver *r, struct str text); /* copied */
void add_warning(struct resolver *r, struct str text); /* not copied */
/* Takes the custom predicates of an active one along. */
void add_status(struct resolver *r, const struct plugin_status *st);
/* One that could not be loaded, as a row and as a line: a problem when it was asked for. */
void add_failed(struct resolver *r, struct str name, struct str registry, struct str reason,
                bool problem);
bool is_active(const struct plugin_status *st);
void add_job(struct resolver *r, const struct gate *gate, const struct plugin_status *st);
void decide(struct resolver *r);
void gates_run(struct resolver *r);
void hand_over(struct resolver *r);

/* ---- resolve_packages.c ---- */

void packages_find(struct resolver *r);
void packages_decide(struct resolver *r);
void edges_run(struct resolver *r);
void packages_drop(struct resolver *r); /* open questions */

/* ---- resolve_parts.c ---- */

void parts_run(struct resolver *r);
/* Consent is what its gate waits for, so it must be asked for: nothing vanishes without a line
 * (PL-32). */
void add_refused(struct resolver *r, const struct server_def *def);

#endif
