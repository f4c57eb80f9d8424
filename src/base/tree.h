/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Directory trees as a whole. */
#ifndef SYM_BASE_TREE_H
#define SYM_BASE_TREE_H

#include "base/error.h"

#define TREE_REMOVE_MS 5000 /* for one tree: what still runs in there may go on filling it */

/*
 * rm -r of the directory `name` in `parent` (a descriptor or AT_FDCWD), of any depth, read-only
 * directories included; links are not followed. False when it was none, or when something is
 * left after TREE_REMOVE_MS; then errno says why.
 */
bool tree_remove(int parent, const char *name);

/*
 * Puts the directory `fresh` at `place`, in one step where the file system has one (else there
 * is a moment with nothing at `place`). What stood there, whatever it was, is at `fresh`
 * afterwards; nothing is when nothing did. Both on one file system.
 */
bool tree_exchange(const char *fresh, const char *place, struct error *e);

#endif
