/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The matcher of a hook against the name of a tool (docs/spec/plugins.md HK-5). Empty and "*"
 * match all; names joined by "|" match exactly; anything else is an expression (text/regex.h),
 * found anywhere in the name:
 *
 *     Bash      Edit|Write      mcp__.*__write.*      ^Notebook
 *
 * Patterns come from manifests and names from a model: no pair of them takes long.
 */
#ifndef SYM_PLUGINS_HOOK_MATCH_H
#define SYM_PLUGINS_HOOK_MATCH_H

#include "base/error.h"
#include "base/str.h"

#define HOOK_MATCHER_MAX   512  /* bytes */
#define HOOK_TOOL_NAME_MAX 1024 /* bytes; a longer one is matched by no expression */

/* False when it does not match, or cannot: then *e (ERR_INVALID) says why. */
bool hook_matches(struct str matcher, struct str tool, struct error *e);

#endif
