/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Installations of many things one after the other: what plugins and package managers will need
 * is brought in by `symposium sync` and at the start of a session, not when it is in the way.
 */
#ifndef SYM_PM_ACQUIRE_ALL_H
#define SYM_PM_ACQUIRE_ALL_H

#include "plugins/config.h"
#include "plugins/workspace.h"
#include "pm/acquire.h"

struct acquire_all_ops {
    void (*progress)(void *ctx, struct str line); /* optional, as acquire_ops.progress */
    /* Once, never from inside. One line for each thing that cannot run, or runs without
     * something it requires: "plugin 'p', server 's': ...". Valid during the call. */
    void (*done)(void *ctx, const struct strs *problems);
};

struct acquire_all;

struct acquire_all_opts {
    const char *cache_dir;
    enum update_level level; /* as acquire_opts.level */
    /* MS-59, the start of a session: requirements that are missing are acquired; of a program
     * that is there its remote is asked, and one that is not there waits for its first use. But
     * custom predicates have no first use that could wait, so they are acquired. */
    bool session_start;
};

/* What the servers, hooks, custom predicates and subcommands of these plugins name. They must
 * be active and trusted; the list is copied, the plugins need not live on. */
struct acquire_all *acquire_plugins(struct loop *l, const struct acquire_all_opts *o,
                                    const struct plugin *const *v, size_t n,
                                    const struct acquire_all_ops *ops, void *ctx);

/* The [[package-manager]] entries that concern the workspace. */
struct acquire_all *acquire_package_managers(struct loop *l, const struct acquire_all_opts *o,
                                             const struct dirs *dirs,
                                             const struct config *config,
                                             const struct workspace *workspace,
                                             const struct acquire_all_ops *ops, void *ctx);

void acquire_all_cancel(struct acquire_all *q); /* `done` is not called. NULL is accepted */

#endif
