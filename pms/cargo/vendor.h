/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Vendored sources: the directories that cargo's configuration puts in the place of a registry
 * or of a repository. Configuration files are .cargo/config.toml (or .cargo/config) of a
 * workspace and of every directory above it, then config.toml of cargo's home; a nearer one
 * wins, key by key.
 */
#ifndef PM_CARGO_VENDOR_H
#define PM_CARGO_VENDOR_H

#include "common/expand.h"

#define VENDOR_MAX_HOPS    16 /* replace-with, one after the other */
#define VENDOR_MAX_SOURCES 1024

/* Appends each directory once, in the order of the files; notes the files as inputs. A
 * malformed file is logged and left out. Both may be NULL. For several workspaces it is called
 * again, with the same list. */
void vendor_dirs(struct inputs *in, const char *workspace, const char *home,
                 struct dir_list *ret);

#endif
