/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Our dispatcher, `symposium hook <agent> <event>`, in each agent's own configuration
 * (docs/spec/plugins.md HK-1, HK-2): one entry an event, by text span. Only the command of an
 * entry of ours is looked at; what else stands in it (a narrower matcher, another timeout) is
 * the user's, and so is every other hook.
 */
#ifndef SYM_SYNC_HOOKS_H
#define SYM_SYNC_HOOKS_H

#include "sync/sync.h"

/* Adds the edits of all agents' files: registered for configured ones, taken out for others, in
 * the project's files or the user's by job->project. */
void sync_hooks_plan(struct sync_plan *p, const struct sync_job *job);

/* One file. */
struct hooks_edit {
    const struct agent *agent;
    const struct sync_env *env;
    const char *command; /* of sync_command() */
    bool in_project;
};
bool hooks_put(const struct hooks_edit *t, struct str text, struct buf *out,
               const char **ret_what, struct error *e);
bool hooks_take(const struct hooks_edit *t, struct str text, struct buf *out,
                const char **ret_what, struct error *e);

#endif
