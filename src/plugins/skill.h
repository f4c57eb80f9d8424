/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The front matter of SKILL.md (docs/spec/plugins.md PL-6, PL-27). */
#ifndef SYM_PLUGINS_SKILL_H
#define SYM_PLUGINS_SKILL_H

#include "plugins/manifest.h"

#define SKILL_FILE_NAME "SKILL.md"
#define SKILL_MAX_BYTES ((size_t)1 << 20)

struct skill_front {
    struct str name, description; /* empty when absent */
    struct gate gate;
};

/*
 * Reads the YAML between the `---` fences at the start of the text. Keys it does not know are
 * left alone, whatever their type. No front matter at all is an error, as are `crates` and a
 * name or description that is no string, is empty or is longer than MANIFEST_MAX_DESCRIPTION.
 * What is required is the caller's affair.
 */
bool skill_front_parse(struct arena *a, struct str text, struct skill_front *ret,
                       struct error *e);

/* A directory of a registry that holds a SKILL.md and no manifest, as a plugin with the one
 * skill group ".". Its name is the front matter's or the directory's; the description is
 * required. */
struct plugin *skill_plugin_load(struct arena *a, const char *path,
                                 const struct manifest_source *src, struct error *e);

#endif
