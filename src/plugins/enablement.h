/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What may run of what exists (docs/spec/plugins.md section 7): [plugins] disable beats
 * everything, `use` wakes a dormant plugin, a workspace's own manifests need consent before
 * they run a program. Enabled is not active: gates come afterwards.
 */
#ifndef SYM_PLUGINS_ENABLEMENT_H
#define SYM_PLUGINS_ENABLEMENT_H

#include "plugins/registry.h"
#include "plugins/trust.h"

struct enable_world {
    const struct config *config;
    struct str root; /* canonical workspace root */
    const struct trust *trust;
};

/*
 * The state of one loaded plugin before gates: ACTIVE, DORMANT or DECLINED, with the reason,
 * and whether it may run programs. The reason is in the arena.
 */
struct plugin_status enablement_of(struct arena *a, const struct enable_world *w,
                                   const struct plugin *p);

/* Something in the manifest would run a program: only then is consent asked for (PL-32). */
bool plugin_runs_programs(const struct plugin *p);

/* The problem line of MS-8 for a dormant plugin. */
struct str dormant_problem(struct arena *a, const struct plugin *p);

#define UNTRUSTED_REASON "this workspace is not trusted yet; run 'symposium trust'"

#endif
