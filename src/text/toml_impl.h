/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared by the toml*.c files only: the tree's one writer and the lexer under the parser. */
#ifndef SYM_TEXT_TOML_IMPL_H
#define SYM_TEXT_TOML_IMPL_H

#include "text/toml.h"

/* ---- tree (toml.c) ---- */

struct toml_tree {
    struct arena *a;
    uint32_t values; /* so far, against TOML_MAX_VALUES */
};

struct toml_val *toml_tree_root(struct toml_tree *t);

/* Makes a new value a table or array. False: ERR_LIMIT, without a position. */
bool toml_tree_nest(struct toml_val *v, enum toml_kind kind, struct error *e);

/* A new last child. An element is added with an empty key; a member's key must be new and live
 * as long as the arena. Only kind, key, parent, pos and depth are set. NULL: ERR_LIMIT, without
 * a position. */
struct toml_val *toml_tree_add(struct toml_tree *t, struct toml_val *parent,
                               enum toml_kind kind, struct str key, struct error *e);

/* ---- lexer (toml_lex.c) ---- */

struct toml_lex {
    struct toml_tree tree;
    struct str text; /* copy in the arena, valid UTF-8 */
    size_t at;       /* next byte */
    size_t line_at;  /* how far `line` has counted */
    uint32_t line;
    struct error *e;
};

/* One part of a key: decoded, and as written. */
struct toml_part {
    struct str name;
    struct toml_span span;
};

/* ERR_INVALID "line L, column C: " + text for that offset; false. */
__attribute__((format(printf, 3, 4))) bool toml_lex_fail(struct toml_lex *x, size_t at,
                                                         const char *fmt, ...);

/* The line of an offset; offsets must not decrease from call to call, so that all calls
 * together cost one pass. */
uint32_t toml_lex_line(struct toml_lex *x, size_t at);

int toml_lex_peek(const struct toml_lex *x);           /* next byte, or -1 at the end */
bool toml_lex_take(struct toml_lex *x, const char *z); /* consumes z if it comes next */
void toml_lex_blank(struct toml_lex *x);               /* spaces and tabs */
bool toml_lex_space(struct toml_lex *x);               /* also comments and line ends */
bool toml_lex_eol(struct toml_lex *x);                 /* the rest of a statement's line */
bool toml_lex_key(struct toml_lex *x, struct toml_part *ret);

/* Any of the four forms; the next byte is its quote. */
bool toml_lex_string(struct toml_lex *x, struct str *ret);

/* ---- numbers, booleans, dates (toml_scalar.c) ---- */

/* Sets kind and value of v from the text at the lexer, and consumes it. */
bool toml_lex_scalar(struct toml_lex *x, struct toml_val *v);

#endif
