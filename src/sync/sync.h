/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One MCP entry named "symposium" in each agent's own configuration (docs/spec/plugins.md SY-1
 * to SY-11). What else a file holds stays as it is, to the byte; other members of our entry
 * too.
 */
#ifndef SYM_SYNC_SYNC_H
#define SYM_SYNC_SYNC_H

#include "plugins/dirs.h"
#include "sync/agent.h"
#include "sync/plan.h"

struct sync_job {
    const struct dirs *dirs;
    const struct sync_env *env;
    struct strs agents;    /* configured ones, by name; every other one loses its entry */
    struct strs only;      /* no agent but these is touched; empty: all */
    bool project;          /* into the project's files; false: the user's */
    bool dry_run;          /* write nothing; the report holds diffs */
    int tool_timeout_secs; /* `script-timeout-secs` + 10, for agents with a shorter default */
};

bool sync_job_has(const struct sync_job *job, const char *agent);      /* it is configured */
bool sync_job_concerns(const struct sync_job *job, const char *agent); /* it may be touched */

/* Names of the agents that this user has, in the table's order. */
struct strs sync_agents_detect(struct arena *a, const struct sync_env *env);

/* Adds the edits of all agents' files: the entry put in or brought up to date for configured
 * ones, taken out for others and from former places (SY-9). Notes go to the report. */
void sync_entries_plan(struct sync_plan *p, const struct sync_job *job, struct sync_report *r);

/* Plans and runs only that. False when a file failed; the others are done. */
bool sync_entries_apply(const struct sync_job *job, struct sync_report *r);

/*
 * The command that an agent is to start (SY-3): "symposium" when that is what PATH gives and it
 * is this very program, else our absolute path, with *ret_why (for people) telling so. Also
 * for `doctor`.
 */
const char *sync_command(struct arena *a, const struct sync_env *env, const char **ret_why);

#endif
