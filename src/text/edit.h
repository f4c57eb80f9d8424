/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The way from a document's root to one place in it, for the editors of this folder. */
#ifndef SYM_TEXT_EDIT_H
#define SYM_TEXT_EDIT_H

#include <stddef.h>

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

#endif
