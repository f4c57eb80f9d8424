/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PM-22: where the manifests are when the workspace root has none, as in a repository of
 * several languages. */
#ifndef PMS_COMMON_NESTED_H
#define PMS_COMMON_NESTED_H

#include "common/expand.h"

#define NESTED_MAX_DEPTH 2
#define NESTED_MAX_DIRS  200

/*
 * The directories below `root`, at most NESTED_MAX_DEPTH levels down, that hold a file of the
 * name `manifest`: upper levels first, sorted within a level. Hidden directories, node_modules,
 * target, vendor and links are skipped; NESTED_MAX_DIRS are looked at.
 */
void nested_find(struct inputs *in, const char *root, const char *manifest,
                 struct dir_list *ret);

#endif
