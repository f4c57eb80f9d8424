/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A package's archive, unpacked. */
#ifndef PM_NPM_UNPACK_H
#define PM_NPM_UNPACK_H

#include <stdio.h>

#include "base/error.h"

/* Made in all: the paths of few entries can name millions. */
#define UNPACK_MAX_DIRS 10000

/*
 * Writes the files of the tar archive `in` (tar.h) into the directory `dir`, which is empty and
 * nobody else's. As npm does, the first component of each path falls away. Modes are 0644, 0755
 * and nothing else. Blocks. ERR_INVALID when the archive must not be unpacked: what it wrote so
 * far stays, and is the caller's to remove.
 */
bool unpack(FILE *in, const char *dir, struct error *e);

#endif
