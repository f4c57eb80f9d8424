/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The package managers of one run: one process each, started at the first need, never started
 * again after a failure (PM-9). */
#ifndef SYM_PM_SET_H
#define SYM_PM_SET_H

#include "pm/locate.h"
#include "pm/process.h"

struct pm_set;

struct pm_set *pm_set_new(struct loop *l);

/* Those started from now on make no connection: pm_opts.offline. For a run of level `none`. */
void pm_set_offline(struct pm_set *s);

/* The process of that name; made when there is none. One that was made with other argv, names
 * of variables or paths (the configuration changed) is ended and replaced. Owned by the set. */
struct pm_process *pm_set_get(struct pm_set *s, const struct pm_opts *o);

/* The same of a program that was located (argv is not NULL), for this workspace. */
struct pm_process *pm_set_open(struct pm_set *s, const struct pm_program *p,
                               const char *workspace, const char *cache_dir);

/* Ends all in parallel, as pm_process_close() does; `gone` comes once, never from inside. */
void pm_set_close(struct pm_set *s, void (*gone)(void *ctx), void *ctx);

void pm_set_free(struct pm_set *s); /* kills what is left; NULL is accepted */

#endif
