/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Checkouts of git repositories (docs/spec/plugins.md PM-13, CF-5), made by the `git` program.
 * The repository is hostile: no hook, filter, submodule, template or helper of it runs, nothing
 * asks a person for a password, and what it may take on disk is limited. A checkout is built
 * beside the old one and put in its place in one step; whatever goes wrong on the way, killed
 * included, the old one stays. One process at a time fetches one repository; others wait, and
 * then take what it got.
 *
 * A first fetch that the network fails is tried again as PM-5 says. One of what is there
 * already is not: the old checkout is good to use, and the next check asks again.
 *
 *   lock ─> ask (check) ─> prepare ─> init ─> fetch ─> name ─> measure ─> check out ─> exchange
 */
#ifndef SYM_PM_GIT_H
#define SYM_PM_GIT_H

#include "loop/loop.h"
#include "plugins/checkout.h"

#define GIT_TIMEOUT_MS     (120 * 1000) /* of a whole fetch, waiting for the lock included */
#define GIT_ASK_TIMEOUT_MS (15 * 1000)  /* of asking the remote what it has */
#define GIT_CHECK_SECS     60           /* `check` asks no more often (PM-13) */
#define GIT_MAX_FILES      50000        /* in one checkout */
#define GIT_MAX_LISTING    ((size_t)16 << 20)    /* bytes of their names and what git adds */
#define GIT_MAX_BYTES      ((uint64_t)256 << 20) /* of the files together */
#define GIT_MAX_PACK       ((uint64_t)256 << 20) /* received */

/* --update of CL-2. */
enum update_level {
    UPDATE_NONE,  /* no program is started, nothing connects */
    UPDATE_CHECK, /* absent: fetched. Else the remote is asked, at most once in GIT_CHECK_SECS
                   */
    UPDATE_FETCH, /* fetched anew */
};
bool update_level_parse(struct str name, enum update_level *ret); /* "none" "check" "fetch" */
const char *update_level_name(enum update_level level);

struct git_opts {
    const char *cache_dir;
    const struct git_source *source;
    enum update_level level;
    int timeout_ms; /* 0: GIT_TIMEOUT_MS */
};

struct git_result {
    const char *dir;       /* the checkout (checkout_dir()); NULL: there is none */
    struct str commit_sha; /* of what is there now; empty without one */
    bool changed;          /* it is another commit than before, or new */
};

/*
 * `why` is NULL on success. On failure r->dir may still be there: the old checkout, which is
 * good to use. Kinds, after PM-5:
 *
 *   ERR_NOT_FOUND  no such repository, ref or sub-path; no git; UPDATE_NONE and nothing is
 *                  there
 *   ERR_DENIED     the remote wants a login that git does not have
 *   ERR_CLOSED     it could not be reached
 *   ERR_LIMIT      more files or bytes than a checkout may have
 *   ERR_INVALID    its objects are malformed, or git says what we do not know
 *   ERR_TIMEOUT, ERR_SYS
 *
 * Both are valid during the call only.
 */
typedef void (*git_done_fn)(void *ctx, const struct git_result *r, const struct error *why);

struct git_fetch;

/* Everything is copied. `done` is called once, never from inside. */
struct git_fetch *git_fetch_start(struct loop *l, const struct git_opts *o, git_done_fn done,
                                  void *ctx);
/* Kills what runs; `done` is not called. NULL is accepted. */
void git_fetch_cancel(struct git_fetch *f);

#endif
