/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by the schema*.c files only. See schema.h. */
#ifndef SYM_TEXT_SCHEMA_IMPL_H
#define SYM_TEXT_SCHEMA_IMPL_H

#include "base/map.h"
#include "text/json.h"

/* Ordered so that "all of" is the minimum and "any of" the maximum. */
enum verdict { NO, UNKNOWN, YES };

struct check {
    yyjson_val *root;
    bool ref_alone; /* up to draft-07, $ref hides the keywords beside it */
    bool unchecked; /* the answer is out: every function returns at once */
    size_t work, depth;
    struct {
        struct str name;
        yyjson_val *schema;
    } * anchors;
    size_t nanchors, anchors_cap;
    struct map refs; /* every $ref seen by schema_sound() */
};

/* Counts steps; false, with `unchecked` set, when there are none left. */
bool schema_spend(struct check *c, size_t steps);

/* Steps for reading so much text: a name or a result may have millions of bytes. */
size_t schema_text_steps(size_t bytes);

/* Steps for finding a name: each member is looked at, and one as long as the name is compared.
 */
size_t schema_find_steps(yyjson_val *obj, struct str key);

/* ---- schema_sound.c: is the schema well-formed, and where do its references lead ---- */

/* Walks the whole document: every keyword has its shape, no unsupported keyword, every $ref
 * resolves. */
bool schema_sound(struct check *c);

/* The schema a local reference names; NULL when it is remote or leads nowhere. */
yyjson_val *schema_resolve(struct check *c, struct str ref);

/* ---- schema_equal.c: equality as JSON Schema has it ---- */

/* Numbers by value, objects without order, duplicate keys by the last. False also when the work
 * ran out. */
bool schema_equal(struct check *c, yyjson_val *a, yyjson_val *b);

/* No two elements are equal. True also when the work ran out. */
bool schema_unique(struct check *c, yyjson_val *array);

/* Compares two numbers; exact when both are 64-bit integers. */
int schema_compare_numbers(yyjson_val *a, yyjson_val *b);

#endif
