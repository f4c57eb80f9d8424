/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What sync did, line by line, for people or as JSON events (CL-2). Memory is the arena's that
 * the report was begun with.
 */
#ifndef SYM_SYNC_REPORT_H
#define SYM_SYNC_REPORT_H

#include "base/arena.h"
#include "text/json.h"

enum sync_kind {
    SYNC_UNCHANGED,   /* the file says already what it should */
    SYNC_WRITTEN,     /* `text`: what was changed in it */
    SYNC_WOULD_WRITE, /* in a dry run; followed by a SYNC_DIFF */
    SYNC_DIFF,        /* `text`: a unified diff, several lines */
    SYNC_NOTE,        /* something to know or to do */
    SYNC_ERROR,       /* nothing was written; `text` names line and column where there is one */
};

struct sync_line {
    enum sync_kind kind;
    struct str agent; /* its name in config.toml; empty: of no agent in particular */
    struct str path;  /* empty: of no file */
    struct str text;  /* may be empty: SYNC_UNCHANGED */
};

struct sync_report {
    struct arena *a;
    struct sync_line *v;
    size_t n, cap;
    bool failed; /* there is a SYNC_ERROR: exit status 1 */
};

#define SYNC_REPORT(arena) ((struct sync_report){ .a = (arena) })

/* Strings are copied. */
void sync_report_add(struct sync_report *r, struct sync_line line);
__attribute__((format(printf, 4, 5))) void sync_report_addf(struct sync_report *r,
                                                            enum sync_kind kind,
                                                            struct str agent, const char *fmt,
                                                            ...);

const char *sync_kind_name(enum sync_kind k); /* "unchanged" .. "error" */

/* "claude: written /home/me/.claude.json: MCP entry added"; a diff as it is. No line break at
 * the end, except of a diff. */
void sync_line_put_text(struct buf *out, const struct sync_line *l);

/* The members of an event's object, behind its "type", which is the kind's name. Empty ones are
 * left out. */
void sync_line_put_json(struct jw *w, const struct sync_line *l);

#endif
