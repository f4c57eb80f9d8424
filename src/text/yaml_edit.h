/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Changes inside a YAML text that leave every other byte as it was: comments, order,
 * indentation, line ends, byte order mark. Text in, text out; the disk is the caller's affair.
 *
 * Only what programs and people write by hand: one document of block mappings (one key a line,
 * no braces) on the way to the place, read by text/yaml.h, so no anchors, aliases and tags, and
 * no key twice. Anything else is ERR_INVALID "line L, column C: ...", as is a text that is no
 * YAML; nothing is written then. An empty or null mapping is filled, `{}` too. The way consists
 * of keys only.
 */
#ifndef SYM_TEXT_YAML_EDIT_H
#define SYM_TEXT_YAML_EDIT_H

#include "text/edit.h"

/*
 * Gives the key a value, which is JSON: objects become block mappings, arrays of plain values
 * stand in brackets. A key that is not there is put behind the last one of its mapping. Nothing
 * is written when the value there is equal already, down to the byte; one that differs is
 * replaced where it stands, a list with dashes by a list with dashes.
 */
bool yaml_edit_set(struct buf *out, struct str text, struct edit_at at, struct str value,
                   struct error *e);

/* Takes the key away with all its lines; a mapping that is empty then becomes {}. Absent: the
 * text as it is. */
bool yaml_edit_remove(struct buf *out, struct str text, struct edit_at at, struct error *e);

#endif
