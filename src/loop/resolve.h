/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Names to addresses, by the system's resolver (getaddrinfo: files, DNS, whatever nsswitch.conf
 * says) on a thread of its own (WORK_LOOKUP), with a deadline. What is an address already takes
 * no thread. All addresses of a name are given, for who must
 * judge each one before it connects.
 */
#ifndef SYM_LOOP_RESOLVE_H
#define SYM_LOOP_RESOLVE_H

#include "base/error.h"
#include "base/netaddr.h"
#include "loop/loop.h"

#define RESOLVE_MAX 64 /* addresses of one name; more is ERR_LIMIT: all must be judged */

struct resolve;

/* Once, unless the loop ends before; never from inside resolve_start(). The lookup is gone
 * then. v is in the order to try, without doubles, valid during the call; n > 0 unless `why` is
 * set: ERR_NOT_FOUND, ERR_LIMIT, ERR_TIMEOUT. */
typedef void (*resolve_fn)(void *ctx, const struct netaddr *v, size_t n,
                           const struct error *why);

/* A lookup that outlives its deadline goes on in its thread, and what it finds is dropped. */
struct resolve *resolve_start(struct loop *l, const char *host, int timeout_ms, resolve_fn done,
                              void *ctx);
void resolve_forget(struct resolve *r); /* `done` is not called; NULL is accepted */

/* The host is an address in any notation that the resolver takes for one ("0x7f.1"). No I/O. */
bool resolve_literal(const char *host, struct netaddr *ret);

/* Names that mean this machine everywhere, a proxy's too (RFC 6761, 6.3). No I/O. */
bool resolve_is_localhost(const char *host);

/*
 * For tests: who is asked instead of the system, on that thread. NULL: the system again. It
 * appends to v, which has room for RESOLVE_MAX + 1 of which *n are used.
 */
typedef bool (*resolve_source)(const char *host, struct netaddr *v, size_t *n, struct error *e);
void resolve_use(resolve_source other);

#endif
