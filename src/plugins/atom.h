/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Dependency atoms (docs/spec/plugins.md PL-17 to PL-20): "*", "serde", "cargo:serde>=1,<2",
 * "npm:@scope/name". Pure text and comparison.
 */
#ifndef SYM_PLUGINS_ATOM_H
#define SYM_PLUGINS_ATOM_H

#include "plugins/plugin.h"

#define ATOM_MAX_BYTES 1024

struct semver_req; /* text/semver.h */

struct atom {
    struct str text;              /* trimmed, as written */
    struct str pm;                /* empty: any package manager */
    struct str name;              /* "*": holds in every workspace */
    const struct semver_req *req; /* NULL: any version */
};

/* All of *ret lives in the arena. ERR_INVALID quotes the atom and says how to write it. */
bool atom_parse(struct arena *a, struct str text, struct atom *ret, struct error *e);

/* True when a direct dependency fits. "*" holds even without any (PL-20). */
bool atom_matches(const struct atom *atom, const struct deps *deps);

/* What a package manager may be called: letters, digits and '-'. */
bool pm_name_valid(struct str name);

/* Bytewise, except that for cargo '-' and '_' are the same. */
bool dep_name_eq(struct str pm, struct str a, struct str b);

/* The name as a key: two names of one package manager are equal when their keys are. */
struct str dep_name_key(struct arena *a, struct str pm, struct str name);

/*
 * Splits a YAML list in one string at its top-level commas: those within parentheses do not
 * count, nor those before an operator, which belong to the atom (PL-19). Pieces are trimmed;
 * empty ones stay, for the parser to refuse. An empty text gives no piece.
 */
void atom_list_split(struct arena *a, struct str text, struct strs *ret);

#endif
