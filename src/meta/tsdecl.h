/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * TypeScript declarations of servers (docs/spec/meta-server.md section 5): hoisted types, then
 * one `declare const` a server. The text passes `tsc --noEmit --strict` as a module, whatever
 * schemas and names the servers send (MS-28).
 */
#ifndef SYM_META_TSDECL_H
#define SYM_META_TSDECL_H

#include "meta/names.h"

enum list_detail { DETAIL_NAMES, DETAIL_SIGNATURES, DETAIL_FULL };

struct decl_server {
    struct str global;
    const struct names *names;
    const bool *chosen; /* parallel to names->v: which to declare; NULL: all */
};

/*
 * Writes blocks in the given order, with a blank line between. `globals` are all script globals
 * in scope: no type may equal one. What the servers point to must live until the end; globals
 * are copied.
 *
 * A step goes on until the clock (clock_us) passes `until_us`, one tool at least, so that large
 * outputs can be made in slices. True: finished, or `out` is full.
 */
struct tsdecl;
struct tsdecl *tsdecl_new(struct buf *out, const struct decl_server *servers, size_t n,
                          enum list_detail detail, const struct str *globals, size_t nglobals);
bool tsdecl_step(struct tsdecl *d, int64_t until_us);
void tsdecl_free(struct tsdecl *d);

/* All of it at once. */
void tsdecl_put(struct buf *out, const struct decl_server *servers, size_t n,
                enum list_detail detail, const struct str *globals, size_t nglobals);

#endif
