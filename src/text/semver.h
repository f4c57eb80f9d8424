/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Versions by Semantic Versioning 2.0.0 and requirements as Cargo reads them.
 *
 *     requirement = "*" | comparator ("," comparator)*    all must hold
 *     comparator  = [op] major[.minor[.patch[-pre][+build]]]
 *
 *     "=" "=="           exactly
 *     ">" ">=" "<" "<="  by precedence
 *     "^"                compatible
 *     "~"                same minor
 *     no operator        as "^"; with a wildcard that prefix
 *
 * Blanks may stand around operators and commas; '*', 'x' and 'X' end a version as wildcards.
 *
 * Missing parts widen: "=1" any 1.x.y, ">1" from 2.0.0, "<=1.2" up to before 1.3.0, "^0.0"
 * 0.0.x. A pre-release version fits only when some comparator names a pre-release of the same
 * major.minor.patch. That "=1.0" means "^1.0" in a plugin's atom (PL-18) is the atom parser's
 * affair.
 */
#ifndef SYM_TEXT_SEMVER_H
#define SYM_TEXT_SEMVER_H

#include "base/error.h"
#include "base/str.h"

#define SEMVER_TEXT_MAX 256 /* bytes of a version or of one comparator */
#define SEMVER_REQ_MAX  32  /* comparators of a requirement */

struct semver {
    uint64_t major, minor, patch;
    struct str pre, build; /* without '-' and '+'; borrowed from the text */
};

/* The whole text is a full version. ERR_INVALID says what is wrong with it. */
bool semver_parse(struct semver *ret, struct str text, struct error *e);

/* Precedence: negative, 0 or positive. Build metadata does not count. */
int semver_cmp(const struct semver *a, const struct semver *b);

enum semver_op {
    SEMVER_EXACT,
    SEMVER_GREATER,
    SEMVER_GREATER_EQ,
    SEMVER_LESS,
    SEMVER_LESS_EQ,
    SEMVER_TILDE,
    SEMVER_CARET,
};

struct semver_req {
    struct semver_comparator {
        enum semver_op op;
        int parts; /* given numbers: 1 major, 2 minor, 3 patch */
        struct semver v;
    } v[SEMVER_REQ_MAX];
    size_t n; /* 0: "*" */
};

/* ret borrows from the text. An empty text is an error. */
bool semver_req_parse(struct semver_req *ret, struct str text, struct error *e);
bool semver_req_fits(const struct semver_req *req, const struct semver *version);

#endif
