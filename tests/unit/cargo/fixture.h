/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Workspaces of tests/fixtures/cargo, unpacked into a temporary directory. */
#ifndef SYM_TEST_CARGO_FIXTURE_H
#define SYM_TEST_CARGO_FIXTURE_H

#include "base/arena.h"

struct fixture {
    struct arena arena;
    const char *top;     /* the temporary directory; ".." of the workspace */
    const char *root;    /* the workspace */
    struct str expected; /* the "expected" section */
};

/* An empty workspace when name is NULL. Ends the test on failure. */
void fixture_make(struct fixture *f, const char *name);

/* The same from tests/fixtures/<folder>. A section "-- path -> target --" makes a link. */
void fixture_make_of(struct fixture *f, const char *folder, const char *name);
void fixture_write(struct fixture *f, const char *path,
                   struct str text);  /* path below the root */
void fixture_free(struct fixture *f); /* removes everything */

#endif
