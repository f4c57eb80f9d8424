/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A git worktree for one task (docs/spec/tasks.md TK-19): `<state>/worktrees/<task_id>` on the
 * branch `symposium/<task_id>`. The `git` program makes and removes it, without hooks, prompts
 * and background jobs; it never gets `--force`, so what is not committed is never lost.
 */
#ifndef SYM_TASKS_WORKTREE_H
#define SYM_TASKS_WORKTREE_H

#include "base/arena.h"
#include "base/error.h"
#include "loop/loop.h"

#define WORKTREE_MS (10 * 60 * 1000) /* a large tree on a slow disk */

/* Is `dir` in a work tree of git? ERR_INVALID names it (TK-19). Reads the disk. */
bool worktree_possible(const char *dir, struct error *e);

const char *worktree_path(struct arena *a, const char *state_dir, struct str id);
const char *worktree_branch(struct arena *a, struct str id);

struct worktree_opts {
    struct loop *loop;
    const char *workspace; /* in a work tree */
    const char *path, *branch;
};

struct worktree_job;
/* e NULL: done. ERR_NOT_FOUND: no git in PATH; else git's own words. */
typedef void (*worktree_fn)(void *ctx, const struct error *e);

/* `done` comes once, never from inside; the job is gone with it. */
struct worktree_job *worktree_add(const struct worktree_opts *o, worktree_fn done, void *ctx);
/* Removes it if git calls it clean (else an error that says why it is kept), then its branch if
 * that holds nothing of its own. */
struct worktree_job *worktree_remove(const struct worktree_opts *o, worktree_fn done,
                                     void *ctx);
void worktree_job_free(struct worktree_job *j); /* before `done`: kills git, no `done`; NULL
                                                   is accepted */

#endif
