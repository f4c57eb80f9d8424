/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the span editors of this folder (JSON, TOML, YAML) have in common: the way from a
 * document's root to one place in it, and the lines around a place.
 */
#ifndef SYM_TEXT_EDIT_H
#define SYM_TEXT_EDIT_H

#include "text/json.h"

/* A member, or with key == NULL an element. */
struct edit_step {
    const char *key;
    size_t index;
};

struct edit_at {
    const struct edit_step *v;
    size_t n; /* >= 1 */
};

/* EDIT_AT({ "mcpServers" }, { "symposium" }); lives as long as the block. */
#define EDIT_AT(...)                                                       \
    ((struct edit_at){ (const struct edit_step[]){ __VA_ARGS__ },          \
                       sizeof((const struct edit_step[]){ __VA_ARGS__ }) / \
                           sizeof(struct edit_step) })

/* ---- for the editors ---- */

#define EDIT_VALUE_MAX ((size_t)64 << 20) /* bytes of a value with the objects around it */

/* The value (JSON) inside objects, one in the other, that the last `left - 1` steps name. */
bool edit_nest(struct json *ret, struct edit_at at, size_t left, struct str value,
               struct error *e);

struct str edit_newline(struct str text); /* "\n" or "\r\n", as its first line ends */

/* Where the line begins that `at` is in; a byte order mark belongs to no line. */
size_t edit_line_start(struct str text, size_t at);
size_t edit_line_end(struct str text, size_t at); /* behind its line break */

#endif
