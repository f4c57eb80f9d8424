/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An agent's file as one of three formats: read as JSON, changed in place with JSON values by
 * the editors of text/. An empty text, or a byte order mark alone, is an empty object; any
 * other text that is no object is ERR_INVALID "line L, column C: ...", and so is what the
 * editors refuse.
 */
#ifndef SYM_SYNC_DOCUMENT_H
#define SYM_SYNC_DOCUMENT_H

#include "sync/agent.h"
#include "text/edit.h"
#include "text/json.h"

bool document_read(enum sync_format f, struct str text, struct json *ret, struct error *e);

/* As the editor's set, append and remove. In TOML an object that is not there yet becomes a
 * table with a header, objects in it inline tables. Appending is for JSON and TOML. */
bool document_set(enum sync_format f, struct buf *out, struct str text, struct edit_at at,
                  struct str json, struct error *e);
bool document_append(enum sync_format f, struct buf *out, struct str text, struct edit_at at,
                     struct str json, struct error *e);
bool document_remove(enum sync_format f, struct buf *out, struct str text, struct edit_at at,
                     struct error *e);

/* The last check before anything is written (security.md 3.6): both texts hold the same but for
 * the place, and the containers on the way to it, which may be new. Else ERR_INVALID. */
bool document_same_but(enum sync_format f, struct str old, struct str new, struct edit_at at,
                       struct error *e);

#endif
