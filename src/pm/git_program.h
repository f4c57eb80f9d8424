/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The `git` program as a child, with all of it off that would run or ask something: hooks,
 * filters, submodules, templates, remote helpers, credential prompts, background jobs. The
 * user's own configuration still counts (proxies, credential helpers, url.*.insteadOf).
 */
#ifndef SYM_PM_GIT_PROGRAM_H
#define SYM_PM_GIT_PROGRAM_H

#include "pm/command.h"

struct git_command {
    const char *git_dir;     /* NULL: none is needed */
    const char *work_tree;   /* NULL: none is needed */
    const char *const *args; /* the command and its arguments, NULL-terminated */
    int timeout_ms;
    size_t max_out;
};

struct command *git_start(struct loop *l, const struct git_command *g,
                          void (*done)(void *ctx, const struct command_end *how), void *ctx);

/* What the end of a git command that failed means, in the kinds of git_done_fn (git.h), with
 * git's last words and what to do about it. `what`: "cannot fetch 'url'". `url` is not shown,
 * `shown` stands in its place. Returns false. */
struct git_source;
bool git_explain(const struct command_end *how, const char *what, const struct git_source *s,
                 struct error *e);

/* Every attribute that makes git change what it checks out, off: goes into info/attributes,
 * which beats whatever the repository says. */
extern const char git_plain_attributes[];

#endif
