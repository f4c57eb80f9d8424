/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Changes inside a JSON or JSONC text that leave every other byte as it was: comments, order,
 * indentation, line ends, byte order mark, trailing commas, duplicate keys (the last one
 * counts). Text in, text out; the disk is the caller's affair.
 *
 * What is put in follows the text around it: its indentation and line ends, on lines of its own
 * where its neighbours are, in one line where they are. An empty text counts as `{}`.
 */
#ifndef SYM_TEXT_JSON_EDIT_H
#define SYM_TEXT_JSON_EDIT_H

#include "text/edit.h"

/*
 * Gives the place a value (JSON text, in any layout). A member that exists has its value
 * replaced where it stands; one that does not is added as the last of its object, objects on
 * the way to it too. Nothing is written when the value there is equal already
 * (json_put_canonical), down to the byte. ERR_INVALID "line L, column C: ..." when the text is
 * no JSON, or when something on the way is not the kind of container that is needed, or an
 * element is not there.
 */
bool json_edit_set(struct buf *out, struct str text, struct edit_at at, struct str value,
                   struct error *e);

/* Adds an element at the end of the array there; a missing array is made. */
bool json_edit_append(struct buf *out, struct str text, struct edit_at at, struct str value,
                      struct error *e);

#define JSON_EDIT_MAX_SAME 16 /* the text is read anew for each */

/* Takes the member or element away, with its comma, and with its line where nothing else stands
 * on it. Of a key that occurs more than once, all; ERR_LIMIT when that is very often. Absent:
 * the text as it is. */
bool json_edit_remove(struct buf *out, struct str text, struct edit_at at, struct error *e);

#endif
