/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Changes inside a TOML text that leave every other byte as it was: comments, order,
 * indentation, line ends, byte order mark. Text in, text out; the disk is the caller's affair.
 *
 * Each way of writing a table is kept: a key is added behind the last statement of its
 * [header], inside its { inline table }, or as one more dotted key; a table that is missing
 * gets a header at the end of the text, behind an empty line.
 *
 * All fail with ERR_INVALID "line L, column C: ..." when the text is no TOML 1.0.0, or when
 * something on the way is not of the kind that is needed; nothing is written then.
 */
#ifndef SYM_TEXT_TOML_EDIT_H
#define SYM_TEXT_TOML_EDIT_H

#include "text/edit.h"

/* Gives the key a value (TOML text of one value). The text stays as it is, to the byte, when an
 * equal value stands there already. A table with a header cannot be replaced by a value. */
bool toml_edit_set(struct buf *out, struct str text, struct edit_at at, struct str value,
                   struct error *e);

/* Adds a value behind the last one of the array there, in its layout; a missing array is made.
 */
bool toml_edit_append(struct buf *out, struct str text, struct edit_at at, struct str value,
                      struct error *e);

/* Adds one [[element]] with these lines ("name = \"x\"\n") at the end of the text. */
bool toml_edit_append_table(struct buf *out, struct str text, struct edit_at at,
                            struct str lines, struct error *e);

/*
 * Takes away a key with its line, an element with its comma, a table with its header, its body
 * and all tables below it, together with an empty line before it. Absent: the text as it is.
 */
bool toml_edit_remove(struct buf *out, struct str text, struct edit_at at, struct error *e);

/* Appends a string as a TOML value, or as a key: bare where it can be. */
void toml_put_str(struct buf *out, struct str s);
void toml_put_key(struct buf *out, struct str key);

#endif
