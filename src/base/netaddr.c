/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/netaddr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"

struct range {
    uint8_t prefix[16];
    uint8_t bits;
    enum netaddr_class is;
};

/* The first row that holds the address decides. Sources: security.md 3.5 and IANA's registries
 * of special-purpose addresses. */
/* clang-format off */
static const struct range v4_ranges[] = {
    { { 169, 254, 169, 254 }, 32, NETADDR_METADATA },
    { { 0 },                   8, NETADDR_RESERVED },   /* "this network": reaches ourselves */
    { { 10 },                  8, NETADDR_PRIVATE },
    { { 100, 64 },            10, NETADDR_RESERVED },   /* carrier NAT; some clouds' metadata */
    { { 127 },                 8, NETADDR_LOOPBACK },
    { { 169, 254 },           16, NETADDR_LINK_LOCAL },
    { { 172, 16 },            12, NETADDR_PRIVATE },
    { { 192, 0, 0 },          24, NETADDR_RESERVED },   /* protocol assignments */
    { { 192, 0, 2 },          24, NETADDR_RESERVED },   /* documentation, as the two below */
    { { 192, 88, 99 },        24, NETADDR_RESERVED },   /* relays of 6to4, withdrawn */
    { { 192, 168 },           16, NETADDR_PRIVATE },
    { { 198, 18 },            15, NETADDR_RESERVED },   /* benchmarks */
    { { 198, 51, 100 },       24, NETADDR_RESERVED },
    { { 203, 0, 113 },        24, NETADDR_RESERVED },
    { { 224 },                 4, NETADDR_RESERVED },   /* multicast */
    { { 240 },                 4, NETADDR_RESERVED },   /* broadcast among them */
};

static const struct range v6_ranges[] = {
    { { 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, 0x54 }, 128, NETADDR_METADATA },
    { { [15] = 1 },                    128, NETADDR_LOOPBACK },
    { { 0xfc },                          7, NETADDR_PRIVATE },
    { { 0xfe, 0x80 },                   10, NETADDR_LINK_LOCAL },
    { { 0x20, 0x01, 0x00, 0x00 },       32, NETADDR_RESERVED }, /* Teredo */
    { { 0x20, 0x01, 0x00, 0x02 },       48, NETADDR_RESERVED }, /* benchmarks */
    { { 0x20, 0x01, 0x00, 0x10 },       28, NETADDR_RESERVED }, /* ORCHID */
    { { 0x20, 0x01, 0x0d, 0xb8 },       32, NETADDR_RESERVED }, /* documentation */
    { { 0x3f, 0xff, 0x00 },             20, NETADDR_RESERVED }, /* documentation */
    { { 0x20 },                          3, NETADDR_PUBLIC },
};

/* IPv6 addresses that hold an IPv4 address, and at which byte. */
static const struct {
    struct range range;
    uint8_t at;
} embedded[] = {
    { { { [10] = 0xff, 0xff },         96, NETADDR_PUBLIC }, 12 }, /* mapped */
    { { { 0x00, 0x64, 0xff, 0x9b },    96, NETADDR_PUBLIC }, 12 }, /* NAT64 */
    { { { 0x20, 0x02 },                16, NETADDR_PUBLIC },  2 }, /* 6to4 */
};
/* clang-format on */

static bool holds(const struct range *r, const uint8_t *addr)
{
    unsigned whole = r->bits / 8, rest = r->bits % 8;

    if (memcmp(addr, r->prefix, whole) != 0)
        return false;
    return rest == 0 || (addr[whole] ^ r->prefix[whole]) >> (8 - rest) == 0;
}

static enum netaddr_class classify(const struct range *v, size_t n, const uint8_t *addr,
                                   enum netaddr_class otherwise)
{
    for (size_t i = 0; i < n; i++) {
        if (holds(&v[i], addr))
            return v[i].is;
    }
    return otherwise;
}

enum netaddr_class netaddr_classify(const struct netaddr *a)
{
    const uint8_t *v4 = a->len == 4 ? a->b : NULL;

    for (size_t i = 0; !v4 && i < ARRAY_LEN(embedded); i++) {
        if (holds(&embedded[i].range, a->b))
            v4 = a->b + embedded[i].at;
    }
    if (v4)
        return classify(v4_ranges, ARRAY_LEN(v4_ranges), v4, NETADDR_PUBLIC);
    return classify(v6_ranges, ARRAY_LEN(v6_ranges), a->b, NETADDR_RESERVED);
}

bool netaddr_of(const struct sockaddr *sa, size_t len, struct netaddr *ret)
{
    *ret = (struct netaddr){ 0 };
    if (len >= sizeof(struct sockaddr_in) && sa->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, sa, sizeof in);
        ret->len = 4;
        memcpy(ret->b, &in.sin_addr, 4);
        return true;
    }
    if (len >= sizeof(struct sockaddr_in6) && sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, sa, sizeof in6);
        ret->len = 16;
        memcpy(ret->b, &in6.sin6_addr, 16);
        return true;
    }
    return false;
}

bool netaddr_eq(const struct netaddr *a, const struct netaddr *b)
{
    return a->len == b->len && memcmp(a->b, b->b, a->len) == 0;
}

void netaddr_text(const struct netaddr *a, char out[NETADDR_TEXT])
{
    if (!inet_ntop(a->len == 4 ? AF_INET : AF_INET6, a->b, out, NETADDR_TEXT))
        out[0] = '\0';
}
