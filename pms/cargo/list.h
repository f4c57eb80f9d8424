/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * list_deps (PM-15, PM-22): the answer as JSON, kept until the lockfile, a manifest or a
 * directory it came from has another modification time in nanoseconds, size or inode.
 */
#ifndef PM_CARGO_LIST_H
#define PM_CARGO_LIST_H

#include "base/arena.h"
#include "base/error.h"

#define LIST_MAX_JSON ((size_t)12 << 20) /* below the protocol's 16 MiB a line (PM-1) */

struct lister;

/* `workspace` is copied; NULL: there is none, and every list is empty. */
struct lister *lister_new(const char *workspace);

/*
 * An array of ids sorted by (name, version), or {"deps":[id],"watch":[path]} when it depends on
 * files that whoever asks does not find by itself. Valid until the next call. ERR_INVALID when
 * the root manifest is malformed, ERR_LIMIT.
 */
bool lister_list(struct lister *l, struct str *ret_json, struct error *e);
void lister_free(struct lister *l);

#endif
