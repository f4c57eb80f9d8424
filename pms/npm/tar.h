/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A tar archive (POSIX ustar with pax headers, and GNU's long names), read entry by entry. The
 * archive is a stranger's: what is no plain file or directory, leads out of the directory that
 * it is unpacked into, or is not what it says it is, is an error of the whole archive
 * (docs/spec/plugins.md PM-21).
 */
#ifndef PM_NPM_TAR_H
#define PM_NPM_TAR_H

#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

#define TAR_MAX_ENTRIES 50000
#define TAR_MAX_BYTES   ((uint64_t)256 << 20) /* of all files together */
#define TAR_MAX_PATH    ((size_t)4096)        /* bytes of an entry's path */
#define TAR_MAX_NAME    255                   /* bytes of one component */
#define TAR_MAX_DEPTH   64                    /* components */
#define TAR_MAX_PAX     ((uint64_t)64 << 10)  /* bytes of one pax header */

struct tar {
    FILE *in;
    struct buf path;   /* of the entry, clean */
    struct buf longer; /* the name that a header before it gave */
    uint64_t pax_size; /* the size that it gave */
    bool has_pax_size;
    uint64_t left, pad; /* bytes of the entry's data still to come; behind them */
    uint64_t total;
    size_t entries;
    bool ends_with_slash; /* the entry's path, as it stood */
};

struct tar_entry {
    struct str path; /* "package/lib/a.js": relative, no ".", ".." or doubled slash in it; empty
                        when it is "." */
    bool is_dir;     /* also in the old form: a file whose name ends with '/' */
    bool executable;
    uint64_t size;
};

void tar_open(struct tar *t, FILE *in); /* `in` is the caller's */
void tar_close(struct tar *t);

/* The next entry; what is left of the data of the one before is skipped. False with
 * e->kind == ERR_NONE: the end. The path is valid until the next call. */
bool tar_next(struct tar *t, struct tar_entry *ret, struct error *e);

/* Up to `max` bytes of the entry's data; *ret_n 0: that was all. */
bool tar_data(struct tar *t, char *to, size_t max, size_t *ret_n, struct error *e);

#endif
