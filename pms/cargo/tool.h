/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Cargo as a program: only where a request allows the network (PM-16, PM-17). */
#ifndef PM_CARGO_TOOL_H
#define PM_CARGO_TOOL_H

#include "common/run.h"
#include "store.h"

#define FETCH_TIMEOUT_MS  50000 /* the client gives a request 120 s, its second try included */
#define SEARCH_TIMEOUT_MS 20000
#define SEARCH_MAX        10  /* hits */
#define SEARCH_MAX_QUERY  256 /* bytes */

struct tool;

/* `home` is cargo's, absolute; NULL: cargo finds it. The program is SYMPOSIUM_CARGO, else
 * `cargo` in PATH. The session must outlive it. */
struct tool *tool_new(const struct session *s, const char *home);
void tool_free(struct tool *t);

/*
 * Makes cargo fetch a package, by a throw-away package that lies outside of the workspace:
 * what the workspace configures for cargo does not count. *what is what cargo chose, valid
 * during the call; NULL with `why`:
 *
 *   ERR_NOT_FOUND  no such package or version
 *   ERR_DENIED     a registry or repository wants credentials
 *   ERR_CLOSED     the network failed, or the program ends
 *   ERR_PROTOCOL   cargo failed for another reason
 *   ERR_SYS        with ENOPKG there is no cargo (run.h)
 *   ERR_TIMEOUT, ERR_LIMIT
 *
 * May be called from inside. The need's texts must live until then.
 */
typedef void (*fetched_fn)(void *ctx, const struct known *what, const struct error *why);
void tool_fetch(struct tool *t, struct request *r, const struct need *need, fetched_fn done,
                void *ctx);

/* Answers the request with the hits of `cargo search` (PM-17). */
void tool_search(struct tool *t, struct request *r, struct str query);

#endif
