/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * URL references (RFC 3986): split and resolve. Purely by syntax: nothing is percent-decoded,
 * no host is looked at, no scheme is special. Time is linear.
 */
#ifndef SYM_TEXT_URL_H
#define SYM_TEXT_URL_H

#include "base/buf.h"
#include "base/str.h"

/* Slices of the text that was split. An absent part has p == NULL, an empty one has n == 0 and
 * p != NULL ("http://h/?" has an empty query); path is never absent. */
struct url_parts {
    struct str scheme;    /* without ':' */
    struct str authority; /* without "//" */
    struct str path;
    struct str query;    /* without '?' */
    struct str fragment; /* without '#' */
};

/* RFC 3986, appendix B, except that a scheme must be well-formed (section 3.1): "1:2" is a
 * path. Takes any bytes. */
struct url_parts url_split(struct str s);

/* Appends the target of `reference` as seen from `base`: RFC 3986, 5.2.2 (strict) and 5.3.
 * False, with nothing appended, when neither has a scheme. The fragment of `base` never counts.
 */
bool url_resolve(struct str base, struct str reference, struct buf *out);

#endif
