/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A package manager's offer to a plugin (docs/spec/plugins.md PM-4, PM-7): nothing of it is
 * believed. The id must be what was asked for, the root a real directory, the manifest is
 * validated as any other, and a claim of trust or enablement in it has no effect (SEC-51).
 */
#ifndef SYM_PLUGINS_OFFER_H
#define SYM_PLUGINS_OFFER_H

#include "plugins/package_source.h"

#define OFFER_MAX_MANIFEST ((size_t)256 << 10) /* bytes of one as JSON */

/*
 * The canonical root, in the arena. ERR_INVALID when it is relative, "/", holds "..", is a link
 * or no directory; ERR_NOT_FOUND when it is not there (SEC-49).
 */
const char *offer_root(struct arena *a, struct str root, struct error *e);

/* The offer answers `asked`: the same package manager (any, when asked has none), the same name
 * (PL-20), and a version that fits the requirement; a version that is none fits only where none
 * is required. ERR_PROTOCOL says what it claims to be. */
bool offer_answers(const struct package_offer *o, const struct package_id *asked,
                   struct error *e);

/* NULL: *e says why it does not count, with the root where the manifest is wrong. Everything in
 * the plugin is the arena's; manifest_sha256 is of the manifest as the offer has it. */
struct plugin *offer_plugin(struct arena *a, const struct package_offer *o, struct error *e);

/* "cargo:widget" or "cargo:widget 1.2.0", for people. */
struct str package_text(struct arena *a, const struct package_id *id);

#endif
