/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Questions of people to all package managers at once: search, fetch, refresh
 * (docs/spec/plugins.md PM-2). Best effort: one that fails is a problem line beside what the
 * others found. Every answer is checked; roots as in plugins/offer.h.
 */
#ifndef SYM_PM_QUERY_H
#define SYM_PM_QUERY_H

#include "plugins/config.h"
#include "plugins/dirs.h"
#include "plugins/package_source.h"
#include "plugins/workspace.h"
#include "pm/git.h"
#include "pm/set.h"

#define QUERY_SEARCH_MS       (30 * 1000) /* all are asked at once, so the whole of it */
#define QUERY_FETCH_MS        (90 * 1000)
#define QUERY_MAX_HITS        100  /* of one package manager; further ones are dropped */
#define QUERY_MAX_DESCRIPTION 1024 /* bytes; longer ones are cut */
#define QUERY_MAX_WORDS       1024 /* bytes of what is searched for */

struct query_opts {
    const struct dirs *dirs;
    const struct config *config;
    const struct workspace *workspace;
    /* Also those that no manifest of the workspace speaks of: `symposium search` in an empty
     * directory asks cargo and npm, too. */
    bool everywhere;
    struct str only;    /* pm_search(): ask this package manager alone; empty: all */
    int timeout_ms;     /* 0: QUERY_SEARCH_MS, QUERY_FETCH_MS; of refresh PM_TIMEOUT_MS */
    struct pm_set *pms; /* NULL: started for this query and ended before `done` */
};

struct query_hit {
    struct package_id id;
    struct str description; /* clean text; empty when absent */
};

struct query_found {
    const struct query_hit *v; /* by package manager, then in its order */
    size_t n;
    const struct str *problems;
    size_t nproblems;
};

struct fetched_package {
    struct package_id id; /* version exact */
    const char *root;     /* canonical */
};

struct fetched {
    const struct fetched_package *v; /* by package manager */
    size_t n;
    const struct str *problems; /* also "nothing found", with -32001 or -32005 */
    size_t nproblems;
};

struct pm_query;

/* Each calls `done` once, never from inside; what it is given is valid during the call. */
struct pm_query *pm_search(struct loop *l, const struct query_opts *o, struct str words,
                           void (*done)(void *ctx, const struct query_found *found), void *ctx);

/* id->pm empty: every package manager; id->version: a requirement or empty. */
struct pm_query *pm_fetch(struct loop *l, const struct query_opts *o,
                          const struct package_id *id, enum update_level level,
                          void (*done)(void *ctx, const struct fetched *found), void *ctx);

/* `refresh` of each that offers it; the problems say what failed. */
struct pm_query *pm_refresh(struct loop *l, const struct query_opts *o, enum update_level level,
                            bool force, void (*done)(void *ctx, const struct strs *problems),
                            void *ctx);

void pm_query_cancel(struct pm_query *q); /* `done` is not called; NULL is accepted */

#endif
