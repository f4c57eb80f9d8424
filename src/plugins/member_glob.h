/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Directory patterns of workspace manifests (text/glob.h, glob_path), found on the disk. */
#ifndef SYM_PLUGINS_MEMBER_GLOB_H
#define SYM_PLUGINS_MEMBER_GLOB_H

#include "plugins/members.h"

/* Appends each existing directory below root (path_join(root, match), not canonical) that the
 * pattern names. Wildcards match neither hidden directories nor node_modules, and do not follow
 * links. */
void member_glob_expand(struct member_search *s, const char *root, struct str pattern,
                        struct strs *out);

#endif
