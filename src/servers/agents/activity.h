/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What an agent is doing, for who waits for it (AG-7, AG-18). Made from an allow-list: no
 * prompt, argument or result gets into it but a relative path of the workspace.
 */
#ifndef SYM_SERVERS_AGENTS_ACTIVITY_H
#define SYM_SERVERS_AGENTS_ACTIVITY_H

#include "text/json.h"

#define ACTIVITY_SUMMARY_MAX 120 /* bytes */
#define ACTIVITY_TARGET_MAX  160

enum activity_phase {
    ACTIVITY_STARTING,
    ACTIVITY_MODEL,
    ACTIVITY_TOOL,
    ACTIVITY_WAITING,
    ACTIVITY_COMPLETED,
    ACTIVITY_FAILED,
};

struct activity {
    enum activity_phase phase;
    char summary[ACTIVITY_SUMMARY_MAX + 1];
    char tool[65];                        /* empty: none */
    char target[ACTIVITY_TARGET_MAX + 1]; /* empty: none */
    int64_t since_ms;                     /* clock_ms() */
    int64_t deadline_ms;                  /* of the operation; 0: none */
};

const char *activity_phase_name(enum activity_phase p);

/* A phase without a tool. */
void activity_set(struct activity *a, enum activity_phase p, const char *summary);
/* A call that begins: `name` is the tool's own, `args` what it gets. */
void activity_tool(struct activity *a, const char *workspace, struct str name,
                   yyjson_val *args);

void activity_put(struct jw *w, const struct activity *a); /* AG-7's object */

#endif
