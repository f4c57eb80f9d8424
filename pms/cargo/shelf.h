/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The packages whose sources lie on this disk under their name and version: unpacked ones in
 * <home>/registry/src, one directory a registry, and vendored ones (vendor.h). Looked at anew
 * when one of these directories has changed.
 */
#ifndef PM_CARGO_SHELF_H
#define PM_CARGO_SHELF_H

#include "common/expand.h"

struct shelved {
    struct str name, version;
    const char *dir;     /* absolute */
    struct str registry; /* the directory's name below registry/src: "host-hash"; empty for a
                            vendored one */
    const struct shelved *same_name;
};

struct shelf;

/* `home`: cargo's, absolute; NULL: there is none. */
struct shelf *shelf_new(const char *home);
void shelf_free(struct shelf *s);

/* Once a request. What was found before is gone when something has changed; `anew` says that
 * the workspaces' roots may have. */
void shelf_refresh(struct shelf *s, const struct dir_list *roots, bool anew);

/* The first of the packages of that name, '-' and '_' being the same; NULL: none. Those of
 * registries come first. */
const struct shelved *shelf_find(const struct shelf *s, struct str name);

#endif
