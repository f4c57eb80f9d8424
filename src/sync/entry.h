/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Our entry in one agent's file (docs/spec/plugins.md SY-3, SY-4, SY-6): only the members of
 * the agent's table are looked at, each is one value span, and everything else, in the entry
 * and around it, stays.
 */
#ifndef SYM_SYNC_ENTRY_H
#define SYM_SYNC_ENTRY_H

#include "base/buf.h"
#include "sync/agent.h"

struct entry {
    const struct agent *agent;
    const struct sync_env *env;
    const char *command; /* of sync_command() */
    int tool_timeout_secs;
};

/*
 * Puts it in or brings it up to date. A command of another path that still runs a symposium is
 * right already; what it says in `enabled` is the user's, as are variables that are not
 * carried. *ret_what: what was done, a constant; NULL when nothing had to be.
 */
bool sync_entry_put(const struct entry *t, struct str text, struct buf *out,
                    const char **ret_what, struct error *e);

/* Takes it out of the container (NULL: the root) when it is one that runs a symposium. A
 * container that is left with nothing, not even a comment, goes too, unless it is to stay. */
struct entry_place {
    enum sync_format format;
    const char *container;
    bool keeps_container;
};
bool sync_entry_take(const struct entry_place *p, struct str text, struct buf *out,
                     const char **ret_what, struct error *e);

#endif
