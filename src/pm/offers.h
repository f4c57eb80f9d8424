/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The plugins that packages embed, asked of every package manager that concerns a workspace:
 * the package_source of a resolution (active_plugins and load_plugin, docs/spec/plugins.md
 * PM-2), with what was answered kept beside the dependencies on disk (CF-5):
 *
 *     <cache>/workspaces/<tail>-<8 hex of sha256(root)>/offers.json
 *
 * While nothing that the answers rest on has changed, they come from there and no process is
 * started (MS-2). A package manager that fails contributes nothing, a problem line and
 * `degraded`; what the others said counts. Only -32002 (the network failed, after the retries)
 * falls back on an older answer (PM-5).
 */
#ifndef SYM_PM_OFFERS_H
#define SYM_PM_OFFERS_H

#include "plugins/config.h"
#include "plugins/dirs.h"
#include "plugins/package_source.h"
#include "plugins/workspace.h"
#include "pm/git.h"
#include "pm/set.h"

#define OFFERS_MAX           4096 /* of one answer; further ones are dropped with a problem line */
#define OFFERS_MAX_ROOT      4096               /* bytes */
#define OFFERS_MAX_MANIFESTS ((size_t)16 << 20) /* of all answers of a run together */
#define OFFERS_MAX_WATCH     16384              /* paths one answer may name in `watch` */

struct offers_opts {
    const struct dirs *dirs;
    const struct config *config;
    const struct workspace *workspace;
    bool write_cache; /* false: read it only */
    /* none: what was answered before counts while it is fresh; check: what was not found is
     * asked again; fetch: all is asked again. */
    enum update_level level;
    bool missing;   /* with none: a package asked for by name that is not there is fetched, as
                       with   check (SY-19) */
    int timeout_ms; /* of one request; 0: PM_TIMEOUT_MS. The hook path: PM_LIST_TIMEOUT_MS */
    struct pm_set *pms; /* the run's processes; must live as long as this */
};

struct offers;

/* Starts nothing. What the options point to must live as long. */
struct offers *offers_new(struct loop *l, const struct offers_opts *o);

/* Owned by the offers. */
const struct package_source *offers_source(struct offers *o);

/* Writes the cache if there is something new, nothing was degraded and it is allowed. Call it
 * when the resolution is complete. */
void offers_save(struct offers *o);

void offers_free(struct offers *o); /* open questions are dropped; NULL is accepted */

#endif
