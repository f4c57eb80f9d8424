/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Git repositories that hold plugins, skills or programs: how one is written (PM-13), and where
 * its checkout lies (CF-5). Nothing here starts git or connects: pm/git.h fetches, everybody
 * else reads what is there.
 *
 *     <cache>/plugin-sources/<key>/            the files of one commit below the sub-path; no
 *                                              .git
 *     <cache>/plugin-sources/<key>/.symposium-cache-meta.json
 *     <cache>/plugin-sources/.locks/<key>      flock: shared while reading, else exchanging
 *     <cache>/plugin-sources/.locks/<key>.fetch    flock: fetching; its mtime: the last time
 *     <cache>/plugin-sources/.new/<key>/       a fetch under way, or what a killed one left
 */
#ifndef SYM_PLUGINS_CHECKOUT_H
#define SYM_PLUGINS_CHECKOUT_H

#include "base/arena.h"
#include "base/error.h"

#define GIT_SOURCE_MAX    2048 /* bytes as written */
#define GIT_REF_MAX       200
#define CHECKOUT_META     ".symposium-cache-meta.json"
#define CHECKOUT_META_MAX ((size_t)16 << 10)
#define CHECKOUT_LOCK_MS  10 /* a reader waits so long for an exchange, which takes none */

/* All text in the arena, NUL-terminated. */
struct git_source {
    struct str url;   /* for git; never begins with '-' */
    struct str shown; /* all of it for people and files: without user and password, with ref and
                         sub-path */
    struct str ref;   /* branch, tag or commit; empty: what the repository's HEAD names */
    struct str path;  /* sub-path, clean and relative; empty: the whole repository */
    struct str key;   /* name of the checkout's directory */
};

/*
 * What git takes (https, http, ssh, git, file URLs, `user@host:path`, an absolute path), and
 * `owner/repo` for a repository on GitHub. `/tree/<ref>[/path]` may follow an `owner/repo`, a
 * segment that ends in `.git`, and a directory that is a repository on this disk (looked at
 * only for a path that holds `tree`); the first segment behind `tree/` is the ref.
 *
 * ERR_INVALID: what git could take for an option, `ext::` and every other helper, control
 * bytes, `..` in the sub-path, what is no name of a ref.
 */
bool git_source_parse(struct git_source *ret, struct arena *a, struct str text,
                      struct error *e);

/* The directory of a checkout; it need not exist. */
const char *checkout_dir(struct arena *a, const char *cache_dir, const struct git_source *s);
const char *checkout_lock_path(struct arena *a, const char *cache_dir,
                               const struct git_source *s);

struct checkout_meta {
    struct str commit_sha, fetched_at, source_url;
};

/* False: there is none, or it is another source's. */
bool checkout_meta_read(struct checkout_meta *ret, struct arena *a, const char *cache_dir,
                        const struct git_source *s);

/* The directory, when there is a whole checkout of `s`. ERR_NOT_FOUND "'..' is not fetched yet;
 * run 'symposium plugin sync'". */
const char *checkout_find(struct arena *a, const char *cache_dir, const struct git_source *s,
                          struct error *e);

/*
 * While a reader holds it the checkout is not exchanged, so that all it reads is of one commit.
 * Waits CHECKOUT_LOCK_MS at most. -1: no lock could be had, which is no reason not to read.
 */
int checkout_read_lock(const char *cache_dir, const struct git_source *s);
void checkout_unlock(int fd); /* -1 is accepted */

#endif
