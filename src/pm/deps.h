/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * list_deps over every package manager that concerns a workspace, united, with the on-disk
 * cache of CF-5: a fresh cache answers without starting a process. Today's built-in package
 * manager is cargo (`symposium-pm-cargo`, PM-11);
 * [[package-manager]] entries add to it or replace it.
 */
#ifndef SYM_PM_DEPS_H
#define SYM_PM_DEPS_H

#include "plugins/resolve.h"
#include "pm/set.h"

#define DEPS_MAX \
    65536 /* packages of one package manager; further ones are dropped with a problem line */
#define DEPS_MAX_WATCH 16384 /* paths one package manager may name in `watch` */

struct deps_query;

struct deps_opts {
    const struct dirs *dirs;
    const struct config *config;
    const struct workspace *workspace;
    bool
        write_cache; /* false: read it only (a probing client starts us without side effects) */
    struct pm_set
        *pms; /* the run's processes; NULL: started for this query and ended before `done` */
};

/*
 * `done` is called once, never from inside; everything in *found is valid during the call. What
 * the options point to must live until then, or until deps_cancel(). A package manager that
 * fails contributes nothing, a problem line and `degraded`; the cache is then not written. All
 * are asked at once, so the answer comes within PM_LIST_TIMEOUT_MS (and 2 s more when a process
 * without `pms` does not want to end).
 *
 * found->watch holds every path that the answer depends on, whoever named it.
 */
struct deps_query *deps_find(struct loop *l, const struct deps_opts *o,
                             void (*done)(void *ctx, const struct found_deps *found),
                             void *ctx);
void deps_cancel(struct deps_query *q); /* before `done`, which is then not called */

#endif
