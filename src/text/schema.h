/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Does a value fit a tool's declared outputSchema (MS-49)? JSON Schema 2020-12 and, where the
 * schema says so or is shaped so, draft-07: type enum const, numbers, lengths, items (tuples
 * too), properties, required, dependent*, contains, propertyNames, allOf anyOf oneOf not if,
 * local $ref (pointers and anchors), nullable.
 *
 * Nothing is fetched and no regular expression is run: `pattern` and `patternProperties` make
 * the outcome unknown where they apply, unknown is carried through `not`, `oneOf` and the like,
 * and what is unknown in the end counts as fitting. `format` and other annotations are not
 * checked.
 *
 * The schema is hostile text: recursion is limited to SCHEMA_DEPTH_MAX, all work together to
 * SCHEMA_WORK_MAX steps (about 20 ns each); past either the answer is SCHEMA_UNCHECKED.
 */
#ifndef SYM_TEXT_SCHEMA_H
#define SYM_TEXT_SCHEMA_H

#include "text/json.h"

#define SCHEMA_DEPTH_MAX 512    /* nested evaluations */
#define SCHEMA_WORK_MAX  500000 /* members looked at, subschemas applied, values compared */

enum schema_result {
    SCHEMA_OK,
    SCHEMA_MISMATCH,
    SCHEMA_UNCHECKED, /* no schema, a malformed one, a remote or dangling $ref, an unsupported
                         keyword, too much work */
};

/*
 * Checks value against schema. `root` is the document that the schema's references resolve in,
 * and must be sound as a whole: the schema itself, or what contains it when a wrapper was taken
 * off (MS-48).
 */
enum schema_result schema_check(yyjson_val *root, yyjson_val *schema, yyjson_val *value);

#endif
