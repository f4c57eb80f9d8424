/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What processes of ours that were killed have left: temp files in our own directories
 * (base/file.h), and versions of agents' files on their way in or out (sync/rewrite.h). A sync
 * begins with it.
 */
#ifndef SYM_SYNC_SWEEP_H
#define SYM_SYNC_SWEEP_H

#include "plugins/dirs.h"

#define SWEEP_MAX_DIRS 10000 /* looked into, of a directory that has one for each workspace */

void sync_sweep(const struct dirs *dirs);

#endif
