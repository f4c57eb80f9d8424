/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Consent to run what a workspace's own manifests name (docs/spec/plugins.md PL-32), in
 * <state>/trusted.json:
 *
 *     {"version":1,"trusted":[{"root":"/w","manifest":"/w/SYMPOSIUM.toml","sha256":"<hex>"}]}
 *
 * Consent is for one text of a manifest in one workspace: a changed manifest asks again.
 * `manifest` is for people and to let go of the consent for a former text. An unreadable file
 * is an empty one: nothing is trusted.
 */
#ifndef SYM_PLUGINS_TRUST_H
#define SYM_PLUGINS_TRUST_H

#include "base/arena.h"
#include "base/error.h"
#include "plugins/dirs.h"

#define TRUST_MAX_BYTES   ((size_t)4 << 20)
#define TRUST_MAX_ENTRIES 10000

struct trust_entry {
    struct str root, manifest, sha256; /* of the workspace, canonical; of the text, in hex */
};

struct trust {
    struct trust_entry *v;
    size_t n, cap;
};

const char *trust_path(const struct dirs *dirs, struct arena *a);
void trust_load(struct trust *ret, const struct dirs *dirs, struct arena *a); /* the arena's */
bool trust_holds(const struct trust *t, struct str root, struct str manifest_sha256);

/* Both read the file anew. trust_set() gives or takes back consent for all the entries, one
 * process after the other; what else was known of their manifests is forgotten. ERR_LIMIT,
 * ERR_SYS: nothing is changed then. */
bool trust_has(const struct dirs *dirs, struct str root, struct str manifest_sha256);
bool trust_set(const struct dirs *dirs, const struct trust_entry *entries, size_t n,
               bool trusted, struct error *e);

#endif
