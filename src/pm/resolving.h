/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One whole resolution, from the start directory to struct resolution: configuration and
 * workspace, dependencies (pm/deps.h), packages (pm/offers.h), gates (plugins/resolve.h). Every
 * command and the meta-server come through here, so that all of them see the same world.
 */
#ifndef SYM_PM_RESOLVING_H
#define SYM_PM_RESOLVING_H

#include "plugins/resolve.h"
#include "pm/deps.h"
#include "pm/offers.h"

struct resolving_opts {
    const struct dirs *dirs;
    const char *start_dir;   /* cwd or --workspace */
    enum update_level level; /* none for the meta-server and hooks */
    bool missing;            /* see pm/offers.h */
    int timeout_ms; /* of one request to a package manager but list_deps; 0: PM_TIMEOUT_MS */
    int shell_timeout_ms; /* 0: 10 s (PL-22) */
    bool read_only_cache; /* write no cache at all */
    bool plugins_only;    /* see plugins/resolve.h */
    /* The run's processes; NULL: started for this, offline at level none (PM-7), and ended
     * before `done`. */
    struct pm_set *pms;
};

struct resolving;

/*
 * NULL: the workspace could not be read, *e says why. Options are copied, what they point to
 * must live until `done`, which is called once, never from inside; the receiver owns the
 * resolution.
 */
struct resolving *resolving_begin(struct loop *l, const struct resolving_opts *o,
                                  void (*done)(void *ctx, struct resolution *res), void *ctx,
                                  struct error *e);
/* Until `done`. */
const struct config *resolving_config(const struct resolving *r);
const struct workspace *resolving_workspace(const struct resolving *r);
void resolving_cancel(struct resolving *r); /* frees; `done` is not called. NULL is accepted */

#endif
