/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * URLs and addresses. What is accepted as a URL is http or https, plain ASCII without user
 * information, its own normal form, and the same again when it is read once more; its host, if
 * it is an address to the system's resolver, is one to us. Addresses are classified as a list
 * of ranges in text says, and in each IPv6 form as in IPv4.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "loop/http.h"
#include "loop/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* security.md 3.5, as it is written there. */
static const char *const denied[] = {
    "0.0.0.0/8",       "10.0.0.0/8",     "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
    "172.16.0.0/12",   "192.0.0.0/24",   "192.0.2.0/24",   "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4",    "::/128",
    "::1/128",         "::/96",          "64:ff9b:1::/48", "2001::/32",      "2001:db8::/32",
    "fc00::/7",        "fe80::/10",      "fec0::/10",      "ff00::/8",
};

static struct range {
    struct netaddr net;
    int bits;
} ranges[ARRAY_LEN(denied)];

/* Once: inet_pton() is slow beside all the rest. */
static void read_ranges(void)
{
    for (size_t i = 0; i < ARRAY_LEN(denied); i++) {
        const char *slash = strchr(denied[i], '/');
        struct range *r = &ranges[i];
        char text[64];

        snprintf(text, sizeof text, "%.*s", (int)(slash - denied[i]), denied[i]);
        r->net.len = strchr(text, ':') ? 16 : 4;
        r->bits = atoi(slash + 1);
        must(inet_pton(r->net.len == 4 ? AF_INET : AF_INET6, text, r->net.b) == 1);
    }
}

static bool in_range(const struct netaddr *a, const struct range *r)
{
    for (int i = 0; i < r->bits; i++) {
        if ((a->b[i / 8] ^ r->net.b[i / 8]) & (0x80 >> i % 8))
            return false;
    }
    return a->len == r->net.len;
}

static void check_address(const struct netaddr *a)
{
    static const struct {
        uint8_t head[12];
        uint8_t at;
    } forms[] = {
        { { [10] = 0xff, 0xff }, 12 },
        { { 0x00, 0x64, 0xff, 0x9b }, 12 },
        { { 0x20, 0x02 }, 2 },
    };
    enum netaddr_class is = netaddr_classify(a);

    must(is <= NETADDR_RESERVED);
    for (size_t i = 0; i < ARRAY_LEN(denied); i++)
        must(is != NETADDR_PUBLIC || !in_range(a, &ranges[i]));
    if (a->len != 4)
        return;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct netaddr in6 = { .len = 16 };

        memcpy(in6.b, forms[i].head, 12);
        memcpy(in6.b + forms[i].at, a->b, 4);
        must(netaddr_classify(&in6) == is);
    }
}

static void check_host(const struct http_url *u)
{
    char text[NETADDR_TEXT];
    struct netaddr a, again;

    must(u->host[0] != '\0' && strlen(u->host) <= 253);
    must(strspn(u->host, "abcdefghijklmnopqrstuvwxyz0123456789-._:") == strlen(u->host));
    if (!resolve_literal(u->host, &a))
        return;
    check_address(&a);
    netaddr_text(&a, text);
    must(resolve_literal(text, &again) && netaddr_eq(&a, &again));
}

static void check_url(struct str text)
{
    auto_arena a = ARENA;
    struct http_url u, again;
    struct error e;

    if (!http_url_parse(&a, text, &u, &e)) {
        must(e.msg[0] != '\0' && (e.kind == ERR_INVALID || e.kind == ERR_DENIED));
        return;
    }
    must(strcmp(u.scheme, "http") == 0 || strcmp(u.scheme, "https") == 0);
    must(str_starts(str_of(u.text), str_of(u.scheme)));
    must(str_starts(str_of(u.text), str_of(u.origin)));
    must(u.port != 0 && u.target[0] == '/');
    for (const char *c = u.text; *c; c++)
        must(*c > ' ' && *c < 0x7f);
    must(!memchr(u.text, '@', strlen(u.origin)));
    check_host(&u);
    if (strlen(u.text) > HTTP_URL_MAX)
        return;
    must(http_url_parse(&a, str_of(u.text), &again, &e));
    must(strcmp(u.text, again.text) == 0 && strcmp(u.host, again.host) == 0);
    must(u.port == again.port && strcmp(u.target, again.target) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct netaddr a = { .len = 16 };

    if (!ranges[0].bits)
        read_ranges();
    if (size >= 16)
        memcpy(a.b, data + size - 16, 16);
    check_address(&a);
    a.len = 4;
    memset(a.b + 4, 0, 12);
    check_address(&a);
    check_url((struct str){ (const char *)data, size });
    return 0;
}
