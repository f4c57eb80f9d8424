/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bringing checkouts up to date, several at a time: the git registries of the configuration, or
 * any list. Best effort: one that fails is a warning, its old checkout stays in use. */
#ifndef SYM_PM_REGISTRIES_H
#define SYM_PM_REGISTRIES_H

#include "plugins/config.h"
#include "pm/git.h"

#define REFRESH_PARALLEL 4
#define REFRESH_MAX      1000 /* checkouts of one call; further ones are a warning */

/* One repository. */
struct refresh_item {
    struct str label; /* "registry 'x'", in front of its lines */
    struct str git;   /* as written in config.toml or in a manifest */
    enum update_level level;
};

struct refresh_result {
    size_t current, changed, failed; /* changed: another commit than before, or new */
    struct strs warnings;            /* one line each, "label: reason" */
};

struct refresh_ops {
    /* Optional: for a person who waits, "label: fetching ..." (a line without newline). */
    void (*progress)(void *ctx, struct str line);
    /* Once, never from inside; *r is valid during the call. */
    void (*done)(void *ctx, const struct refresh_result *r);
};

struct refresh;

/* The items are copied. */
struct refresh *checkouts_refresh(struct loop *l, const char *cache_dir,
                                  const struct refresh_item *v, size_t n,
                                  const struct refresh_ops *ops, void *ctx);

struct registries_opts {
    const struct dirs *dirs;
    const struct config *config;
    enum update_level level;
    bool force;      /* also those with auto-update = false, which are else only fetched when
                        absent (PM-13) */
    struct str only; /* name of one registry; empty: all */
};

/* The recommendations and each [[registry]] with `git`; path registries are always current. */
struct refresh *registries_refresh(struct loop *l, const struct registries_opts *o,
                                   const struct refresh_ops *ops, void *ctx);

void refresh_cancel(struct refresh *r); /* `done` is not called. NULL is accepted */

#endif
