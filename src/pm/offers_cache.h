/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What package managers last said about the packages of a workspace, on disk (CF-5):
 *
 *     <cache>/workspaces/<tail>-<8 hex of sha256(root)>/offers.json
 *     {"version":1,"root":R,"answers":[{"pm","question","inputs":{PATH:{..}|null},
 *       "offers":[{"id","root","manifest"?}],"problem"?}]}
 *
 * A question is a method and what was asked; an answer without offers says in "problem" why. An
 * answer holds while its inputs are what they were. The file may vanish or be damaged at any
 * time; what is in it is checked like what a package manager says.
 */
#ifndef SYM_PM_OFFERS_CACHE_H
#define SYM_PM_OFFERS_CACHE_H

#include "pm/inputs.h"

#define OFFERS_CACHE_MAX_BYTES ((size_t)32 << 20)

struct answer {
    struct str pm, question;
    struct inputs inputs; /* sorted */
    yyjson_val *offers;   /* a list */
    struct str problem;
    bool used; /* in this run */
    bool racy; /* perhaps older than its inputs: good for this run only */
};

struct answers {
    struct json doc; /* what was read: `offers` point into it */
    struct {
        struct answer **v; /* in the arena */
        size_t n, cap;
    } list;
};

const char *offers_cache_path(struct arena *a, const char *cache_dir, struct str root);

/* Empty when the file is absent, unreadable, of another version, shape or workspace. */
void answers_read(struct answers *ret, struct arena *a, const char *path, struct str root);

/* Those that were used and are not racy. Atomic; makes the directory. */
bool answers_write(const struct answers *l, const char *path, struct str root, struct error *e);

struct answer *answers_find(const struct answers *l, struct str pm, struct str question);
void answers_free(struct answers *l);

#endif
