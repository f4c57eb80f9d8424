/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The sequence of `symposium sync` (docs/spec/plugins.md SY-19), for the command and for the
 * auto-sync of hooks. It asks nobody anything; what a person decides comes back through `ops`.
 *
 *   registries ─> resolution ─> candidates? ─> git sources of skills ─> installations ─>
 *     skills that apply ─> agents' files (MCP entries, hooks) ─> copies of skills, reap ─> done
 *
 * Whatever cannot be had (a package manager, the network) is a note in the report and the rest
 * is done. Only files that could not be written are errors.
 */
#ifndef SYM_CLI_SYNC_H
#define SYM_CLI_SYNC_H

#include "plugins/config.h"
#include "pm/git.h"
#include "pm/set.h"
#include "sync/report.h"
#include "sync/sync.h"

struct resolution; /* plugins/resolve.h */

struct syncing_opts {
    const struct dirs *dirs;
    const char *start_dir; /* cwd or --workspace, canonical */
    /* CL-2: none connects nowhere; check looks for newer; fetch gets all anew. */
    enum update_level level;
    bool missing;       /* with none: what was never fetched or installed is, all the same */
    bool dry_run;       /* no agent's file and no skill is written */
    struct strs only;   /* agents by name: no other one is touched; empty: all configured */
    struct pm_set *pms; /* the run's processes; NULL: started for this, ended before `done` */
    int timeout_ms;     /* of one request to a package manager; 0: PM_TIMEOUT_MS */
};

struct syncing_end {
    /* Lines in the order of what was done; `failed` tells that a file could not be written. */
    const struct sync_report *report;
    const struct resolution *res; /* NULL: the workspace could not be read */
    size_t skills;                /* that apply here */
};

struct syncing_ops {
    /* Optional: for a person who waits; a line without newline. */
    void (*progress)(void *ctx, struct str line);
    /* Optional: the resolution is there, nothing is written yet. True: it was answered what
     * must be resolved anew (PL-35). Not called again. */
    bool (*decide)(void *ctx, const struct resolution *res);
    /* Once, never from inside; *end is valid during the call. */
    void (*done)(void *ctx, const struct syncing_end *end);
};

struct syncing;

/* Options are copied, what they point to must live until `done`. */
struct syncing *syncing_begin(struct loop *l, const struct syncing_opts *o,
                              const struct syncing_ops *ops, void *ctx);
/* Ends what runs, `done` is not called; files are old or new. NULL is accepted. */
void syncing_cancel(struct syncing *s);

/*
 * Only the part about agents' configuration, at once: MCP entries and hooks of the agents in
 * `config`, each by its scope. env->root NULL: user files only, and what has project scope is
 * left for `sync`. Used by `init`, too.
 */
struct agents_job {
    const struct dirs *dirs;
    const struct config *config;
    const struct sync_env *env;
    struct strs only;
    bool dry_run;
};
void agents_apply(const struct agents_job *job, struct sync_report *r);

#endif
