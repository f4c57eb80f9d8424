/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/netaddr.h"

static struct netaddr address(const char *text)
{
    struct netaddr a = { .len = strchr(text, ':') ? 16 : 4 };

    assert_int_equal(inet_pton(a.len == 4 ? AF_INET : AF_INET6, text, a.b), 1);
    return a;
}

struct row {
    const char *text;
    enum netaddr_class is;
};

static void check_rows(const struct row *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct netaddr a = address(v[i].text);

        if (netaddr_classify(&a) != v[i].is)
            fail_msg("%s is %d, not %d", v[i].text, netaddr_classify(&a), v[i].is);
    }
}

/* FE-15: each range of the list in security.md 3.5, its first and last address, and its
 * neighbours. */
static void every_listed_range_is_denied_to_its_last_address_and_not_beyond(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { "0.0.0.0", NETADDR_RESERVED },        { "0.255.255.255", NETADDR_RESERVED },
        { "1.0.0.0", NETADDR_PUBLIC },          { "9.255.255.255", NETADDR_PUBLIC },
        { "10.0.0.0", NETADDR_PRIVATE },        { "10.255.255.255", NETADDR_PRIVATE },
        { "11.0.0.0", NETADDR_PUBLIC },         { "100.63.255.255", NETADDR_PUBLIC },
        { "100.64.0.0", NETADDR_RESERVED },     { "100.127.255.255", NETADDR_RESERVED },
        { "100.128.0.0", NETADDR_PUBLIC },      { "126.255.255.255", NETADDR_PUBLIC },
        { "127.0.0.1", NETADDR_LOOPBACK },      { "127.255.255.255", NETADDR_LOOPBACK },
        { "128.0.0.0", NETADDR_PUBLIC },        { "169.253.255.255", NETADDR_PUBLIC },
        { "169.254.0.0", NETADDR_LINK_LOCAL },  { "169.254.255.255", NETADDR_LINK_LOCAL },
        { "169.254.169.254", NETADDR_METADATA }, { "169.254.169.253", NETADDR_LINK_LOCAL },
        { "169.255.0.0", NETADDR_PUBLIC },      { "172.15.255.255", NETADDR_PUBLIC },
        { "172.16.0.0", NETADDR_PRIVATE },      { "172.31.255.255", NETADDR_PRIVATE },
        { "172.32.0.0", NETADDR_PUBLIC },       { "191.255.255.255", NETADDR_PUBLIC },
        { "192.0.0.0", NETADDR_RESERVED },      { "192.0.0.255", NETADDR_RESERVED },
        { "192.0.1.0", NETADDR_PUBLIC },        { "192.0.2.0", NETADDR_RESERVED },
        { "192.0.2.255", NETADDR_RESERVED },    { "192.0.3.0", NETADDR_PUBLIC },
        { "192.88.99.1", NETADDR_RESERVED },    { "192.167.255.255", NETADDR_PUBLIC },
        { "192.168.0.0", NETADDR_PRIVATE },     { "192.168.255.255", NETADDR_PRIVATE },
        { "192.169.0.0", NETADDR_PUBLIC },      { "198.17.255.255", NETADDR_PUBLIC },
        { "198.18.0.0", NETADDR_RESERVED },     { "198.19.255.255", NETADDR_RESERVED },
        { "198.20.0.0", NETADDR_PUBLIC },       { "198.51.100.7", NETADDR_RESERVED },
        { "198.51.101.0", NETADDR_PUBLIC },     { "203.0.113.255", NETADDR_RESERVED },
        { "203.0.114.0", NETADDR_PUBLIC },      { "223.255.255.255", NETADDR_PUBLIC },
        { "224.0.0.0", NETADDR_RESERVED },      { "239.255.255.255", NETADDR_RESERVED },
        { "240.0.0.0", NETADDR_RESERVED },      { "255.255.255.255", NETADDR_RESERVED },
        { "8.8.8.8", NETADDR_PUBLIC },

        { "::", NETADDR_RESERVED },             { "::1", NETADDR_LOOPBACK },
        { "::2", NETADDR_RESERVED },            { "::127.0.0.1", NETADDR_RESERVED },
        { "::8.8.8.8", NETADDR_RESERVED },      { "100::1", NETADDR_RESERVED },
        { "64:ff9b:1::8.8.8.8", NETADDR_RESERVED }, { "64:ff9b:1:ffff::", NETADDR_RESERVED },
        { "2001::1", NETADDR_RESERVED },        { "2001:0:ffff::", NETADDR_RESERVED },
        { "2001:2::1", NETADDR_RESERVED },      { "2001:10::1", NETADDR_RESERVED },
        { "2001:db8::", NETADDR_RESERVED },     { "2001:db8:ffff::1", NETADDR_RESERVED },
        { "2001:db9::", NETADDR_PUBLIC },       { "2001:4860:4860::8888", NETADDR_PUBLIC },
        { "2606:4700::1111", NETADDR_PUBLIC },  { "3fff::1", NETADDR_RESERVED },
        { "3ffe::1", NETADDR_PUBLIC },          { "4000::1", NETADDR_RESERVED },
        { "5f00::1", NETADDR_RESERVED },        { "fbff::1", NETADDR_RESERVED },
        { "fc00::", NETADDR_PRIVATE },          { "fdff:ffff::1", NETADDR_PRIVATE },
        { "fd00:ec2::254", NETADDR_METADATA },  { "fd00:ec2::255", NETADDR_PRIVATE },
        { "fe00::1", NETADDR_RESERVED },        { "fe80::1", NETADDR_LINK_LOCAL },
        { "febf:ffff::1", NETADDR_LINK_LOCAL }, { "fec0::1", NETADDR_RESERVED },
        { "feff::1", NETADDR_RESERVED },        { "ff02::1", NETADDR_RESERVED },
    };
    /* clang-format on */

    check_rows(rows, ARRAY_LEN(rows));
    (void)state;
}

/* SEC-70: the IPv6 forms of an IPv4 address are that address. */
static void a_form_that_holds_an_ipv4_address_has_its_class(void **state)
{
    static const char *const forms[] = { "::ffff:%s", "64:ff9b::%s", "2002:%02x%02x:%02x%02x::",
                                         "2002:%02x%02x:%02x%02x:1234::99" };
    static const char *const v4[] = { "127.0.0.1",   "169.254.169.254", "10.1.2.3",
                                      "0.0.0.0",     "8.8.8.8",         "172.16.0.1",
                                      "100.100.1.1", "192.0.2.1",       "224.0.0.1",
                                      "169.254.1.1", "93.184.216.34" };

    for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
        for (size_t i = 0; i < ARRAY_LEN(v4); i++) {
            struct netaddr plain = address(v4[i]), in6;
            char text[64];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            if (f < 2)
                snprintf(text, sizeof text, forms[f], v4[i]);
            else
                snprintf(text, sizeof text, forms[f], plain.b[0], plain.b[1], plain.b[2],
                         plain.b[3]);
#pragma GCC diagnostic pop
            in6 = address(text);
            if (netaddr_classify(&in6) != netaddr_classify(&plain))
                fail_msg("%s is not what %s is", text, v4[i]);
        }
    }
    (void)state;
}

static void socket_addresses_become_bytes_and_text(void **state)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(80) };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = { { { [15] = 1 } } } };
    struct sockaddr other = { .sa_family = AF_UNIX };
    char text[NETADDR_TEXT];
    struct netaddr a, b;

    inet_pton(AF_INET, "192.168.1.20", &in.sin_addr);
    assert_true(netaddr_of((struct sockaddr *)&in, sizeof in, &a));
    netaddr_text(&a, text);
    assert_string_equal(text, "192.168.1.20");
    assert_true(netaddr_of((struct sockaddr *)&in6, sizeof in6, &b));
    netaddr_text(&b, text);
    assert_string_equal(text, "::1");
    assert_false(netaddr_eq(&a, &b));
    assert_true(netaddr_eq(&a, &a));
    assert_false(netaddr_of(&other, sizeof in6, &a));
    assert_false(netaddr_of((struct sockaddr *)&in6, sizeof in, &a)); /* cut short */
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_listed_range_is_denied_to_its_last_address_and_not_beyond),
        cmocka_unit_test(a_form_that_holds_an_ipv4_address_has_its_class),
        cmocka_unit_test(socket_addresses_become_bytes_and_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
