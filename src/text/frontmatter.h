/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A Markdown file that begins with YAML between two lines of `---`, taken apart. */
#ifndef SYM_TEXT_FRONTMATTER_H
#define SYM_TEXT_FRONTMATTER_H

#include "base/error.h"
#include "base/str.h"

struct frontmatter {
    struct str yaml; /* begins with the end of the first line, so that its lines are numbered as
                        the file's */
    struct str body; /* everything behind the closing line, byte for byte */
};

/*
 * A byte order mark may stand before the first line; blanks and a CR may end both fences. Both
 * parts point into `text`. ERR_INVALID says which fence is missing.
 */
bool frontmatter_split(struct str text, struct frontmatter *ret, struct error *e);

#endif
