/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The arguments of a tool as a table: which fields, of what type, where they go. Unknown fields
 * are left alone unless `strict` (SV-17); 3.0 is an integer, null is an absent optional.
 */
#ifndef SYM_SERVERS_ARGS_H
#define SYM_SERVERS_ARGS_H

#include "text/json.h"

enum arg_kind {
    ARG_STRING,  /* struct str */
    ARG_INT,     /* int64_t */
    ARG_UINT,    /* int64_t, 0 to UINT32_MAX */
    ARG_BOOL,    /* bool */
    ARG_STRINGS, /* struct arg_strings */
    ARG_ARRAY,   /* yyjson_val *, valid as long as the document */
};

struct arg_strings {
    struct str *v;
    size_t n;
};

struct arg {
    const char *name; /* NULL ends a table */
    enum arg_kind kind;
    size_t at;    /* offsetof in the caller's struct */
    size_t given; /* offsetof of a bool that tells whether it was there, not the first member;
                     0: required */
};

/* What stands before args_read()'s text in the tool error of most servers (SV-15). */
#define ARGS_FAILED "failed to deserialize parameters: "

/* Strings are copied into the arena. An absent optional leaves its field as it is. ERR_INVALID:
 * "missing field `path`", "field `head`: expected an unsigned integer, found string". */
bool args_read(struct arena *a, yyjson_val *args, const struct arg *table, bool strict,
               void *ret, struct error *e);

#endif
