/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Skills installed into the project directories that agents read (docs/spec/plugins.md SY-12 to
 * SY-18): a copy of each skill's directory, made whole beside its place and put there in one
 * step. What sync made holds a marker, and nothing without one is ever changed.
 *
 *     <root>/.claude/skills/<name>/            what is in the skill's directory, and
 *                                 .symposium   empty; its mtime: when it was last compared
 *                                 .gitignore   "*": copies are no part of the project
 *     <root>/.claude/skills/.symposium-<hex>.tmp/   being made, or on its way out
 *
 * Killed at any moment, every place holds the old copy or the new one; what else is left is
 * marked or empty and has a name of that form, and the next sync removes it. Two syncs of one
 * project take turns.
 */
#ifndef SYM_SYNC_SKILLS_H
#define SYM_SYNC_SKILLS_H

#include "plugins/skills_active.h"
#include "sync/sync.h"

#define SKILLS_LOCK_MS 10000 /* waiting for another sync of this project */

struct sync_skills {
    const struct active_skills *active;
    /* A copy compared less than that ago is not looked into again, as long as its SKILL.md has
     * size and mtime of the source's (SY-17); 0: always. */
    int debounce_secs;
    /* Not everything could be asked (resolution.pm_degraded): copies that agents still use stay
     * although nothing brings them now. */
    bool incomplete;
};

/*
 * Installs for the configured agents, brings up to date, and removes copies that nothing brings
 * any more, in the directories of every known agent. Without a workspace nothing is done. Each
 * copy gives a line in the report; a skill that cannot be copied (a link that leads out, a
 * device, too many files) is a SYNC_NOTE. False when something could not be written; the rest
 * is done.
 */
bool sync_skills_apply(const struct sync_job *job, const struct sync_skills *what,
                       struct sync_report *r);

#endif
