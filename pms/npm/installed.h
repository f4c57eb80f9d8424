/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Packages as node_modules holds them. */
#ifndef PM_NPM_INSTALLED_H
#define PM_NPM_INSTALLED_H

#include "package.h"

struct installed {
    const char *dir; /* canonical */
    struct str name,
        version; /* of its package.json; empty when there is none that can be one */
};

/* Where a dependency is looked for. */
struct lookup {
    struct str key;   /* npm_name_ok */
    const char *from; /* upward from this directory .. */
    const char *root; /* .. to this one, both included; `from` is beneath it */
};

/*
 * The package that `key` means to whoever is in `from`: the nearest <dir>/node_modules/<key>.
 * Notes what it looked at as unknown to whoever asks. False when it is not installed.
 */
bool installed_find(struct inputs *in, const struct lookup *look, struct installed *ret);

/* The same of a directory that is already known. False when it holds no package.json. */
bool installed_read(struct inputs *in, const char *dir, struct installed *ret);

#endif
