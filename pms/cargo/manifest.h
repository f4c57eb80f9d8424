/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One Cargo.toml, as far as direct dependencies need it. Inheritance (`workspace = true`) is
 * resolved while reading, so the workspace's root manifest is read first and handed in for the
 * others. Everything lives in the inputs' arena.
 */
#ifndef PM_CARGO_MANIFEST_H
#define PM_CARGO_MANIFEST_H

#include "common/inputs.h"
#include "text/toml.h"

/* A dependency of any kind: normal, dev, build, for any target, optional or not. */
struct manifest_dep {
    struct str name;  /* the package's real name (`package = ".."`), not the local one */
    const char *path; /* directory of a path dependency, absolute and clean; NULL for others */
};

struct manifest_deps {
    struct manifest_dep *v;
    size_t n, cap;
};

struct manifest {
    const char *dir;               /* absolute, clean */
    bool is_package, is_workspace; /* has [package]; has [workspace] */
    struct str name, version;      /* of the package; version "0.0.0" when it has none */
    bool version_known;            /* it has one, itself or by inheritance */
    const char *workspace_dir; /* `package.workspace`, absolute and clean; NULL when absent */
    struct manifest_deps deps; /* of the package, in the order of the file */
    struct manifest_deps patches;     /* [patch] and [replace] entries that are paths */
    const struct toml_val *workspace; /* the [workspace] table; NULL when absent */
    const struct toml_val *metadata;  /* [package.metadata.symposium]; NULL when absent */
};

/* NULL: ERR_NOT_FOUND when there is no Cargo.toml, ERR_INVALID "'<path>': line .." when it is
 * malformed. `root` NULL: inheritance comes from the manifest itself. */
struct manifest *manifest_read(struct inputs *in, const char *dir, const struct manifest *root,
                               struct error *e);

#endif
