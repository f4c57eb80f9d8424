/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Questions on a terminal: some of a list (`init`), one of a few (PL-35). Keys are read from
 * stdin and everything is drawn on stderr, in place; the terminal is as it was afterwards, also
 * after Ctrl-C, of which the program then dies.
 *
 * The state and what a key does to it are pure, and drawn into a buffer.
 */
#ifndef SYM_CLI_PROMPT_H
#define SYM_CLI_PROMPT_H

#include "base/buf.h"

#define PROMPT_ESCAPE_MS 50 /* bytes of one key's sequence come within */

enum key {
    KEY_NONE,
    KEY_UP,
    KEY_DOWN,
    KEY_SPACE,
    KEY_ENTER,
    KEY_ESCAPE,
    KEY_INTERRUPT,
    KEY_ALL
};

/* The key that these bytes begin with, and how many they are; *ret_n 0: more bytes are needed.
 * `complete`: no more will come, so that a lone escape is the escape key. */
enum key key_read(struct str bytes, bool complete, size_t *ret_n);

struct choice {
    const char *name, *note; /* the note may be NULL */
    bool chosen;
};

struct choosing {
    const char *question;
    struct choice *v;
    size_t n, at; /* at: the row of the cursor */
    bool several; /* false: the row of the cursor is the choice */
};

enum choosing_end { CHOOSING_ON, CHOOSING_DONE, CHOOSING_ESCAPED };
enum choosing_end choosing_key(struct choosing *c, enum key k);
/* All rows; lines end with "\r\n", the terminal is raw. `columns`: longer rows are cut. */
void choosing_draw(const struct choosing *c, size_t columns, struct buf *out);

/* Asks. CHOOSING_DONE, or CHOOSING_ESCAPED (also when the terminal goes away). */
enum choosing_end prompt_choose(struct choosing *c);

#endif
