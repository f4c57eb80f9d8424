/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Git repositories that hold plugins, skills or programs: how one is written (PM-13), and where
 * its checkout lies (CF-5). Nothing here starts git or connects: pm/git.h fetches, everybody
 * else reads what is there.
 *
 *     <cache>/plugin-sources/<key>/                             the files of one commit, no
 * .git <cache>/plugin-sources/<key>/.symposium-cache-meta.json   commit_sha, fetched_at,
 * source_url <cache>/plugin-sources/.locks/<key>                       flock: fetch, exchange,
 * reading <cache>/plugin-sources/.new/<key>/                        a fetch under way, or what
 * a killed one left
 */
#ifndef SYM_PLUGINS_CHECKOUT_H
#define SYM_PLUGINS_CHECKOUT_H

#include "base/arena.h"
#include "base/error.h"

#define GIT_SOURCE_MAX    2048 /* bytes as written */
#define GIT_REF_MAX       255
#define CHECKOUT_META     ".symposium-cache-meta.json"
#define CHECKOUT_META_MAX ((size_t)16 << 10)
#define CHECKOUT_LOCK_MS  200 /* a reader waits so long for an exchange, which takes none */

/* All text in the arena, NUL-terminated. */
struct git_source {
    struct str url;   /* for git; never begins with '-' */
    struct str shown; /* the same for people and files: without user and password */
    struct str ref;   /* branch, tag or commit; empty: what the repository's HEAD names */
    struct str path;  /* below the checkout, clean and relative; empty: all of it */
    struct str key;   /* name of the checkout's directory */
};

/*
 * Any URL or path that git takes (https, http, ssh, git, file, `user@host:path`, an absolute
 * path), and `owner/repo` for a repository on GitHub. `/tree/<ref>[/path]` may follow an
 * `owner/repo`, a segment that ends in `.git`, and a directory that is a repository on this
 * disk; the first segment behind `tree/` is the ref. A `#`, `?` or scheme of another kind is
 * left to git, but never `ext::` or any other helper.
 *
 * ERR_INVALID: what git could take for an option, control bytes, `..` in the path, a bad ref.
 */
bool git_source_parse(struct git_source *ret, struct arena *a, struct str text,
                      struct error *e);

/* Of the whole repository; it need not exist. */
const char *checkout_dir(struct arena *a, const char *cache_dir, const struct git_source *s);
const char *checkout_lock_path(struct arena *a, const char *cache_dir,
                               const struct git_source *s);

struct checkout_meta {
    struct str commit_sha, fetched_at, source_url;
};

/* False: there is none, or it is another source's. */
bool checkout_meta_read(struct checkout_meta *ret, struct arena *a, const char *cache_dir,
                        const struct git_source *s);

/*
 * The directory that `s` means, sub-path included; no link in the sub-path is followed out of
 * the checkout. ERR_NOT_FOUND: never fetched ("... is not fetched yet; 'symposium sync' does
 * it"), or no such directory in the repository.
 */
const char *checkout_root(struct arena *a, const char *cache_dir, const struct git_source *s,
                          struct error *e);

/*
 * While a reader holds it the checkout is not exchanged, so that all it reads is of one commit.
 * Waits CHECKOUT_LOCK_MS at most. -1: no lock could be had, which is no reason not to read.
 */
int checkout_read_lock(const char *cache_dir, const struct git_source *s);
void checkout_unlock(int fd); /* -1 is accepted */

#endif
