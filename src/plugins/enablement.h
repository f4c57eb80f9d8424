/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What may run of what exists (docs/spec/plugins.md section 7): [plugins] disable beats
 * everything, `use` wakes a dormant plugin, a workspace's own manifests need consent before
 * they run a program, what a package embeds needs the user's word (`use`, `auto-enable`) or
 * that of a plugin that has it (an edge). Enabled is not active: gates come afterwards.
 *
 * The lists name a package by its name in the package manager; what its manifest calls itself
 * can only take enablement away, never give it.
 */
#ifndef SYM_PLUGINS_ENABLEMENT_H
#define SYM_PLUGINS_ENABLEMENT_H

#include "plugins/registry.h"
#include "plugins/resolve.h"
#include "plugins/trust.h"

struct enable_world {
    const struct config *config;
    struct str root; /* canonical workspace root */
    const struct deps *deps;
    const struct trust *trust;
};

/*
 * The state of one loaded plugin before gates: ACTIVE, DORMANT, DECLINED or CANDIDATE, with the
 * reason, and whether it may run programs. The reason is in the arena.
 */
struct plugin_status enablement_of(struct arena *a, const struct enable_world *w,
                                   const struct plugin *p);

/*
 * The same of a package that an edge of an active plugin brought: ACTIVE or DECLINED. It may
 * run programs if that plugin may (PL-32); one that enablement_asks() about, only with consent.
 */
struct plugin_status enablement_chained(struct arena *a, const struct enable_world *w,
                                        const struct plugin *p,
                                        const struct plugin_status *from);

/*
 * A package that lies in the workspace while who vouches for it does not: a clone can bring
 * anything under a trusted name (node_modules, vendored crates). What it may run is asked for
 * like what a manifest of the workspace may; the consent is for its manifest_sha256.
 */
bool enablement_asks(struct str root, const struct plugin_status *st);

/* [plugins] disable names this package, which need not be loaded to know it. */
bool package_declined(const struct enable_world *w, const struct package_id *id);

/* The entry of [plugins] use is in force in this workspace. */
bool use_in_scope(struct arena *a, const struct enable_world *w, const struct plugin_ref *ref);

/* The entry of a list means this plugin; its scope is not looked at. */
bool ref_names(const struct plugin_ref *ref, const struct plugin *p);

#define DECLINED_REASON "listed in [plugins] disable"

/* Something in the manifest would run a program: only then is consent asked for (PL-32). */
bool plugin_runs_programs(const struct plugin *p);

/* The problem line of MS-8 for a dormant plugin. */
struct str dormant_problem(struct arena *a, const struct plugin *p);

#define UNTRUSTED_REASON "this workspace is not trusted yet; run 'symposium trust'"

#endif
