/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Internet addresses as bytes, and what kind of place one leads to (security.md 3.5). Only the
 * binary form is judged: "2130706433", "0x7f.1" and "::ffff:7f00:1" are all the same address,
 * and text does not show it. Pure; no name is looked up here.
 */
#ifndef SYM_BASE_NETADDR_H
#define SYM_BASE_NETADDR_H

#include "base/str.h"

struct sockaddr;

#define NETADDR_TEXT 46 /* bytes that netaddr_text() needs at most, NUL included */

struct netaddr {
    uint8_t b[16]; /* network order; IPv4 is the first 4, the rest zero */
    uint8_t len;   /* 4 or 16 */
};

enum netaddr_class {
    NETADDR_PUBLIC,
    NETADDR_PRIVATE,    /* 10/8, 172.16/12, 192.168/16, fc00::/7 */
    NETADDR_LOOPBACK,   /* 127/8, ::1 */
    NETADDR_LINK_LOCAL, /* 169.254/16, fe80::/10 */
    NETADDR_METADATA,   /* 169.254.169.254, fd00:ec2::254: a cloud machine's credentials */
    NETADDR_RESERVED,   /* everything else that is not public */
};

/*
 * IPv6 is public only inside 2000::/3, the one range that global addresses come from. A form
 * that stands for an IPv4 address (::ffff:0:0/96, 64:ff9b::/96, 2002::/16) has that address's
 * class; 64:ff9b:1::/48, where only the network's operator knows at which bit the IPv4 address
 * begins, is reserved.
 */
enum netaddr_class netaddr_classify(const struct netaddr *a);

/* False for other families and for lengths that do not fit. */
bool netaddr_of(const struct sockaddr *sa, size_t len, struct netaddr *ret);

bool netaddr_eq(const struct netaddr *a, const struct netaddr *b);
void netaddr_text(const struct netaddr *a, char out[NETADDR_TEXT]); /* canonical (RFC 5952) */

#endif
