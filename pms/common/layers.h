/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The manifest that a package embeds, made of layers (docs/spec/plugins.md PL-29, PL-30): what
 * the ecosystem's own file says ([package.metadata.symposium] of Cargo.toml, `symposium` of
 * package.json), then the manifest file at the package's root, then `skills/` as a last group
 * of skills. The result is the raw manifest as JSON with the key names of TOML (PM-4): unknown
 * keys are kept, and whether a value makes sense is for the core to say.
 *
 *     depends-on, predicates     concatenated; a single string counts as a list of one
 *     arrays                     appended, first layer first
 *     tables                     united; of a member in both the later one counts
 *     anything else              the later one counts
 *
 * A layer is malformed when it does not parse, is no table, is nested too deep, or when one of
 * the keys that are merged holds another kind than it must (`skills` no array of tables). It is
 * logged and dropped whole; the others count.
 */
#ifndef PMS_COMMON_LAYERS_H
#define PMS_COMMON_LAYERS_H

#include "text/toml.h"

#define LAYERS_MAX_FILE    ((size_t)256 << 10) /* of the manifest file */
#define LAYERS_MAX_JSON    ((size_t)1 << 20)   /* of the result */
#define LAYERS_MAX_DEPTH   64 /* levels; a message may have 128 (security.md 3.1) */
#define SKILLS_MAX_DEPTH   16
#define SKILLS_MAX_ENTRIES 10000

/* ---- what a package's directory embeds; reads the disk ---- */

/*
 * The manifest file of a directory (PL-1), owned by the arena; NULL when there is none. With
 * several the first of SYMPOSIUM.toml, Symposium.toml, symposium.toml is taken and a warning
 * logged. One that is no regular file, or a link that leads out of the directory, does not
 * count.
 */
const char *manifest_file(struct arena *a, const char *dir);

/*
 * A SKILL.md lies somewhere under <dir>/skills. Links are not followed, directories with a
 * `.symposium` marker are skipped (PL-28); SKILLS_MAX_DEPTH levels and SKILLS_MAX_ENTRIES
 * entries are looked at.
 */
bool skills_exist(const char *dir);

/* ---- merging; no I/O ---- */

/* The layer can be merged. ERR_INVALID names the key. */
bool layer_check(const struct toml_val *layer, struct error *e);

/* One manifest of two good layers (each may be NULL), with `skills/` appended unless
 * `defaults.skills` is false or an ungated group is already that. Appends JSON. */
void layers_merge(struct buf *out, const struct toml_val *first, const struct toml_val *second);

/* ---- both ---- */

struct embedded {
    bool any; /* it embeds a manifest, metadata or a skill, malformed ones included */
    struct str manifest; /* the merged manifest as JSON, also without `any` */
};

/*
 * Reads what the package in `dir` (absolute) embeds; `metadata` is the ecosystem's own layer,
 * NULL when absent (of JSON: toml_from_json()). Malformed layers are logged under the name of
 * `dir` and dropped. ERR_LIMIT when the manifest would be longer than LAYERS_MAX_JSON.
 */
bool embedded_read(struct arena *a, const char *dir, const struct toml_val *metadata,
                   struct embedded *ret, struct error *e);

#endif
