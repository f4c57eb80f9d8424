/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * All changes of one sync, gathered by file: whoever has something to put into an agent's file
 * (its MCP entry, its hooks) adds an edit, and each file is then rewritten once
 * (sync/rewrite.h) with all of its edits, or not at all.
 *
 *     struct sync_plan plan = SYNC_PLAN(&arena);
 *     sync_entries_plan(&plan, &job, &report);
 *     sync_hooks_plan(&plan, &job);
 *     sync_plan_run(&plan, dirs, dry_run, &report);
 */
#ifndef SYM_SYNC_PLAN_H
#define SYM_SYNC_PLAN_H

#include <sys/types.h>

#include "base/buf.h"
#include "plugins/dirs.h"
#include "sync/report.h"

/*
 * Appends the new text, or the same bytes when there is nothing to do; with *ret_what it may
 * tell what it changed ("MCP entry added"; a constant). Called again, on another text, when the
 * file changed meanwhile, so it keeps nothing. An absent file is an empty text. False: *e
 * ("line L, column C: ...") says what is wrong with the text.
 */
typedef bool (*sync_edit_fn)(void *ctx, struct str text, struct buf *out, const char **ret_what,
                             struct error *e);

#define SYNC_EDIT_NOTES 3

struct sync_edit {
    const char *path; /* absolute */
    const char *agent;
    sync_edit_fn run;
    void *ctx;     /* lives until the plan has run */
    mode_t mode;   /* of a new file; 0: REWRITE_NEW_MODE */
    bool lock_dir; /* see struct rewrite */
    /* Something of ours is to go, if it is there at all: an unchanged file is not worth a line,
     * nor is a file that cannot be read and does not even name us. */
    bool clean_up;
    /* What a user has to know or do once it is in the file: told when it is put there, and not
     * at every run. Ends with NULL, or full. */
    const char *notes[SYNC_EDIT_NOTES];
};

struct sync_plan_file;

struct sync_plan {
    struct arena *a;
    struct sync_plan_file **v; /* in the order of their first edit */
    size_t n, cap;
};

#define SYNC_PLAN(arena) ((struct sync_plan){ .a = (arena) })

/* Strings are borrowed until the plan has run. Two names of one file (a link) are one file. */
void sync_plan_add(struct sync_plan *p, const struct sync_edit *edit);

/* The file that the path names, with links resolved as far as it exists. */
const char *sync_real_path(struct arena *a, const char *path);

/* Every file gives a line, a failure stops only its own file. False when one failed. */
bool sync_plan_run(struct sync_plan *p, const struct dirs *dirs, bool dry_run,
                   struct sync_report *r);

#endif
