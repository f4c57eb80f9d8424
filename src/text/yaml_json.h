/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A YAML value as JSON. */
#ifndef SYM_TEXT_YAML_JSON_H
#define SYM_TEXT_YAML_JSON_H

#include "text/json.h"
#include "text/yaml.h"

/*
 * Plain scalars get the type that the core schema of YAML 1.2 gives them: null, true, false,
 * numbers (decimal, 0o17, 0x1f); what JSON has no number for (.inf, .nan, 1e400) stays a
 * string. A quoted scalar is a string.
 */
void yaml_put_json(struct jw *w, const struct yaml *v);

bool yaml_is_null(const struct yaml *v); /* ~, null, or a plain scalar that is empty */

#endif
