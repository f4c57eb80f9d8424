/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From the bytes of an answer to the text that is shown (FE-3 to FE-5, FE-8, FE-16). Pure and
 * linear; what is large runs here, on a pool thread. */
#ifndef SYM_SERVERS_FETCH_PAGE_H
#define SYM_SERVERS_FETCH_PAGE_H

#include "base/buf.h"

struct page {
    struct str body;  /* as received, decoded from its content coding */
    struct str type;  /* Content-Type; empty when there was none */
    struct str given; /* the URL as the client wrote it, for the text */
    struct str url;   /* the final one, for links */
    bool raw;
    bool whole;         /* the prompt: prefix and content, nothing before it, nothing cut */
    int64_t start, max; /* in Unicode scalar values */
};

/* Appends the text. */
void page_render(const struct page *p, struct buf *out);

#endif
