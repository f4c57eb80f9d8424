/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each server that import moves, started once (SY-22): what does not list its tools stays where
 * it is. */
#ifndef SYM_CLI_IMPORT_CHECK_H
#define SYM_CLI_IMPORT_CHECK_H

#include "plugins/workspace.h"
#include "sync/import.h"

struct loop; /* loop/loop.h */

struct import_check;

struct import_check_opts {
    struct import *im;
    const struct config *config;
    const struct workspace *workspace;
    /* For a person who waits; a line without newline. */
    void (*progress)(void *ctx, struct str line);
    /* Once, never from inside; entries of servers that failed stay (import_stay), and their
     * processes are gone. `failed`: how many servers. */
    void (*done)(void *ctx, size_t failed);
    void *ctx;
};

/* What opts points to must live until `done`. */
struct import_check *import_check_start(struct loop *l, const struct import_check_opts *opts);
void import_check_free(struct import_check *c); /* kills what runs; NULL is accepted */

#endif
