/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by the manifest*.c files only: one table a function. */
#ifndef SYM_PLUGINS_MANIFEST_IMPL_H
#define SYM_PLUGINS_MANIFEST_IMPL_H

#include "plugins/manifest.h"
#include "plugins/predicate.h"

/* What every table reader needs. */
struct manifest_reader {
    struct arena *a;
    struct plugin *p;
    struct error *e;
};

/* Read in three steps: the keys that a table knows, then its gate, then its own keys. */

/* Unknown keys and the retired `crates` are errors. */
bool table_known(struct manifest_reader *r, const struct toml_val *t, const char *const *known);

/* `depends-on` and `predicates` into one ANDed set (PL-8). */
bool table_gate(struct manifest_reader *r, const struct toml_val *t, struct gate *ret);

bool table_strings(struct manifest_reader *r, const struct toml_val *t, const char *key,
                   struct strs *ret);

/* Absent or empty is an error that names the key. */
bool table_required(struct manifest_reader *r, const struct toml_val *t, const char *key,
                    struct str *ret);

/* NULL when absent; an array of tables of at most MANIFEST_MAX_ITEMS. */
bool table_list(struct manifest_reader *r, const struct toml_val *t, const char *key,
                struct toml_val **ret);

/* A name, or an inline installation that becomes an entry called `inline_name` (PL-12). */
bool table_installation_ref(struct manifest_reader *r, const struct toml_val *v,
                            struct str inline_name, struct str *ret);
bool table_requirements(struct manifest_reader *r, const struct toml_val *t, struct str owner,
                        struct strs *ret);
const struct installation *find_installation(const struct plugin *p, struct str name);

/* One reader for each list; `t` is one element. */
bool read_installation(struct manifest_reader *r, const struct toml_val *t);
bool read_skill_group(struct manifest_reader *r, const struct toml_val *t);
bool read_edge(struct manifest_reader *r, const struct toml_val *t);
bool read_server(struct manifest_reader *r, const struct toml_val *t);
bool read_hook(struct manifest_reader *r, const struct toml_val *t);
bool read_subcommand(struct manifest_reader *r, const struct toml_val *t);
bool read_predicate(struct manifest_reader *r, const struct toml_val *t);

/* After all tables: names that point at installations, clashes (PL-12, PL-13). */
bool check_references(struct manifest_reader *r, const struct toml_val *root);

#endif
