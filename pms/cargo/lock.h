/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Cargo.lock, formats 1 to 4 (and the [root] table of before). The formats differ, for us, only
 * in how a package's `dependencies` name another package: "name", "name version" or "name
 * version (source)", as short as is unambiguous from format 2 on, in full in format 1. A
 * package without source is a path package.
 */
#ifndef PM_CARGO_LOCK_H
#define PM_CARGO_LOCK_H

#include "base/map.h"
#include "text/toml.h"

struct lock_package {
    struct str name, version;
    struct str source;                   /* without "#commit"; empty for a path package */
    struct str commit;                   /* of a git source; else empty */
    const struct toml_val *dependencies; /* array of references; NULL when absent */
    struct lock_package *same_name;      /* the next package of this name */
    bool member;                         /* set by the reader's owner: a workspace member */
};

struct lock {
    struct map by_name; /* first package of each name */
};

/* What one entry of `dependencies` says; absent parts are empty. */
struct lock_ref {
    struct str name, version, source;
};

/* ERR_INVALID for text that is not TOML. Entries without name or version are skipped.
 * lock_free() ends it. */
bool lock_parse(struct lock *ret, struct arena *a, struct str text, struct error *e);
void lock_free(struct lock *l);

struct lock_ref lock_ref_parse(struct str s);

/* The source is cargo's default registry, in the spelling that lockfiles have for it, told by
 * the name of its index: "registry+https://host/owner/crates<..>-index". Mirrors do not change
 * the lockfile. */
bool lock_is_default(struct str source);

/* The next package that fits the reference, after `after` (NULL: the first). Several fit only
 * where the reference leaves something out; a path package then has precedence, as in cargo,
 * and is the only one. */
struct lock_package *lock_next(const struct lock *l, const struct lock_ref *ref,
                               const struct lock_package *after);

#endif
