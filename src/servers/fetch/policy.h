/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which hosts may be reached (FE-15, security.md 3.5). Pure. */
#ifndef SYM_SERVERS_FETCH_POLICY_H
#define SYM_SERVERS_FETCH_POLICY_H

#include "loop/http.h"

struct policy_host {
    const char *host, *written; /* of struct http_url */
    uint16_t port;              /* 0: any */
};

struct policy {
    bool allow_private; /* private, loopback and link-local addresses, metadata excepted */
    struct policy_host *v;
    size_t n, cap;
};

/* HOST, HOST:PORT, [IPV6]:PORT, IPV6; ERR_INVALID otherwise. The arena owns it. */
bool policy_allow_host(struct policy *p, struct arena *a, const char *spec, struct error *e);

/* The URL's host was named on the command line, in this very spelling: whatever it resolves to
 * is admitted. Of one address, "127.0.0.1" and "127.1" are two hosts here. */
bool policy_names(const struct policy *p, const struct http_url *u);

bool policy_admits(const struct policy *p, const struct netaddr *a);

#endif
