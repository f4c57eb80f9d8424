/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * SYMPOSIUM.toml, or the same as JSON from a package manager (PM-4), to a validated struct
 * plugin (docs/spec/plugins.md sections 1 and 2, meta-server.md 1.1). Every table is read here
 * once, those that act in a later version included; unknown keys are errors, so that a typing
 * error never changes what runs.
 */
#ifndef SYM_PLUGINS_MANIFEST_H
#define SYM_PLUGINS_MANIFEST_H

#include "plugins/workspace.h"
#include "text/toml.h"

#define MANIFEST_MAX_BYTES       ((size_t)256 << 10)
#define MANIFEST_MAX_ITEMS       1000 /* of each list of tables in one manifest */
#define MANIFEST_MAX_DESCRIPTION 1024 /* bytes */

/* Where a manifest was found; copied into the plugin. Strings must outlive the arena. */
struct manifest_source {
    enum plugin_origin origin;
    struct str registry, subpath;
    struct str dir;           /* absolute; skill paths are relative to it */
    struct str fallback_name; /* workspace, package: when `name` is absent (PL-4) */
    bool agents_syncing;      /* workspace: .agents/skills is a default group */
};

/* The accepted names, the better first (PL-1): to initialise an array with. */
#define MANIFEST_NAMES "SYMPOSIUM.toml", "Symposium.toml", "symposium.toml"

/* The manifest among a directory's entries (PL-1). `found` counts the accepted names in it. */
struct manifest_name {
    const char *name; /* static; NULL: none */
    unsigned rank;
    unsigned found;
};
void manifest_name_see(struct manifest_name *m, const char *entry);

/* Validates a manifest's text. Errors begin "line N: 'key' ". */
struct plugin *manifest_parse(struct arena *a, struct str text,
                              const struct manifest_source *src, struct error *e);

/* The same of a file, read once: its text gives both the plugin and manifest_sha256. */
struct plugin *manifest_load(struct arena *a, const char *path,
                             const struct manifest_source *src, struct error *e);

/* The same from JSON with the TOML key names; there is no file, so manifest_path is empty. */
struct plugin *manifest_from_json(struct arena *a, yyjson_val *v,
                                  const struct manifest_source *src, struct error *e);

/* A plugin without a manifest: nothing but the default groups of its origin (PL-5, PL-29). */
struct plugin *manifest_defaults(struct arena *a, const struct manifest_source *src);

/* The PL-11 keys of a table, also used by [[package-manager]]; `name` and `owner_keys`
 * (NULL-terminated, may be NULL) are keys the caller reads itself. Requirements stay names:
 * inline tables are refused. */
bool manifest_installation(struct arena *a, const struct toml_val *t,
                           const char *const *owner_keys, struct installation *ret,
                           struct error *e);

#endif
