/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whole values of cut results, kept for the session under unguessable ids (MS-68). The oldest
 * go first. */
#ifndef SYM_META_RESULTS_H
#define SYM_META_RESULTS_H

#include "base/str.h"

#define RESULTS_MAX_BYTES ((size_t)16 << 20)
#define RESULT_MAX_BYTES  ((size_t)8 << 20) /* one value over this is not kept */
#define RESULT_ID_SIZE    33                /* 128 random bits as hex, and a NUL */
#define RESULT_URI_PREFIX "symposium://results/"

struct results {
    struct result *oldest, *newest;
    size_t bytes;
};

/* Copies the value. False when it is too large to keep. */
bool results_keep(struct results *r, struct str json, char ret_id[RESULT_ID_SIZE]);
/* p == NULL: unknown or dropped. `id` may be the bare id or the whole URI. */
struct str results_get(const struct results *r, struct str id);
void results_free(struct results *r);

#endif
