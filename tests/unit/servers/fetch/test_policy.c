/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../../check.h"

#include <arpa/inet.h>

#include "loop/resolve.h"
#include "servers/fetch/policy.h"
#include "servers/fetch/redirect.h"

static struct netaddr address(const char *text)
{
    struct netaddr a = { .len = strchr(text, ':') ? 16 : 4 };

    assert_int_equal(inet_pton(a.len == 4 ? AF_INET : AF_INET6, text, a.b), 1);
    return a;
}

/* FE-15 */
static void the_private_network_option_lifts_what_it_says_and_no_metadata(void **state)
{
    static const struct {
        const char *text;
        bool plain, lifted;
    } rows[] = {
        { "8.8.8.8", true, true },
        { "10.0.0.1", false, true },
        { "192.168.0.1", false, true },
        { "172.31.1.1", false, true },
        { "127.0.0.1", false, true },
        { "::1", false, true },
        { "fd12::1", false, true },
        { "fe80::1", false, true },
        { "169.254.1.1", false, true },
        { "169.254.169.254", false, false },
        { "fd00:ec2::254", false, false },
        { "::ffff:169.254.169.254", false, false },
        { "64:ff9b::a9fe:a9fe", false, false },
        { "2002:a9fe:a9fe::1", false, false },
        { "100.100.100.200", false, false },
        { "0.0.0.0", false, false },
        { "224.0.0.1", false, false },
        { "::ffff:10.0.0.1", false, true },
        { "::7f00:1", false, false },
    };
    struct policy plain = { 0 }, lifted = { .allow_private = true };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct netaddr a = address(rows[i].text);

        if (policy_admits(&plain, &a) != rows[i].plain ||
            policy_admits(&lifted, &a) != rows[i].lifted)
            fail_msg("%s was judged wrongly", rows[i].text);
    }
    (void)state;
}

static void an_allowed_host_is_that_host_as_the_url_writes_it(void **state)
{
    static const struct {
        const char *spec, *url;
        bool named;
    } rows[] = {
        { "localhost", "http://localhost/", true },
        { "localhost", "https://LOCALHOST:8443/", true },
        { "localhost", "http://localhost./", false },
        { "localhost", "http://127.0.0.1/", false },
        { "localhost", "http://x.localhost/", false },
        { "localhost:80", "http://localhost/", true },
        { "localhost:80", "https://localhost/", false },
        { "localhost:8080", "http://localhost/", false },
        { "127.0.0.1:8080", "http://127.0.0.1:8080/", true },
        { "[::1]", "http://[::1]:99/", true },
        { "::1", "http://[::1]/", true },
        { "::1", "http://[0:0::1]/", false },
        { "[0:0::1]", "http://[0:0::1]/", true },
        { "[FD00::a]:81", "http://[fd00::A]:81/", true },
        { "127.0.0.1", "http://127.0.0.1:8080/", true },
        { "127.0.0.1", "http://127.1/", false },
        { "127.0.0.1", "http://0x7f000001/", false },
        { "127.0.0.1", "http://2130706433/", false },
        { "127.0.0.1", "http://0177.0.0.1:80/", false },
        { "127.0.0.1", "http://127.0.0.%31/", false },
        { "127.0.0.1", "http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/", false },
        { "127.0.0.1", "http://\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1/", false },
        { "127.1", "http://127.1/x?y", true },
        { "127.1", "http://127.0.0.1/", false },
        { "0X7f000001", "http://0x7F000001?y", true },
        { "2130706433:81", "http://2130706433:81#f", true },
        { "[::1]:99", "http://[::1]/", false },
        { "b\xc3\xbc"
          "cher.example",
          "http://xn--bcher-kva.example/", true },
        { "xn--bcher-kva.example",
          "http://B\xc3\x9c"
          "CHER.example:81/",
          true },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        struct policy p = { 0 };
        struct http_url u;
        struct error e;

        if (!policy_allow_host(&p, &a, rows[i].spec, &e))
            fail_msg("%s", e.msg);
        assert_true(http_url_parse(&a, str_of(rows[i].url), &u, &e));
        if (policy_names(&p, &u) != rows[i].named)
            fail_msg("'%s' and %s", rows[i].spec, rows[i].url);
    }
    (void)state;
}

static void what_is_no_host_cannot_be_allowed(void **state)
{
    static const char *const bad[] = { "",        "http://h", "h/x", "h:",  "h:0",
                                       "h:99999", "h:x",      "u@h", "a b", "h?x",
                                       "h#x",     "[::1",     "*" };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        auto_arena a = ARENA;
        struct policy p = { 0 };
        struct error e;

        if (policy_allow_host(&p, &a, bad[i], &e))
            fail_msg("'%s' was taken for %s", bad[i], p.v[0].host);
    }
    assert_true(resolve_is_localhost("localhost"));
    assert_true(resolve_is_localhost("a.localhost."));
    assert_false(resolve_is_localhost("notlocalhost"));
    (void)state;
}

/* FE-15: a Location without a host of its own does not change how the host is written. */
static void a_redirect_within_the_site_keeps_the_spelling(void **state)
{
    static const struct {
        const char *in;
        bool named;
    } rows[] = {
        { "/x", true },
        { "x", true },
        { "?x", true },
        { "//127.1/x", true },
        { "http://127.1/x", true },
        { "//127.0.0.1/x", false },
        { "http://127.0.0.1/x", false },
    };
    auto_arena a = ARENA;
    struct policy p = { 0 };
    struct http_url base, u;
    struct error e;

    assert_true(policy_allow_host(&p, &a, "127.1", &e));
    assert_true(http_url_parse(&a, STR("http://127.1/a"), &base, &e));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_true(redirect(&a, &base, rows[i].in, &u, &e));
        if (policy_names(&p, &u) != rows[i].named)
            fail_msg("%s", rows[i].in);
    }
    (void)state;
}

/* FE-14 */
static void a_location_is_read_as_seen_from_its_page(void **state)
{
    static const struct {
        const char *in, *text; /* NULL: refused */
    } rows[] = {
        { "/x?y", "https://h:8443/x?y" },    { "d", "https://h:8443/a/d" },
        { "../d", "https://h:8443/d" },      { "?z", "https://h:8443/a/b?z" },
        { "//other/x", "https://other/x" },  { "https://other", "https://other/" },
        { "#f", "https://h:8443/a/b?c" },    { "/\xc3\xa4 b", "https://h:8443/%c3%a4%20b" },
        { "http://plain/", NULL }, /* https to http */
        { "file:///etc/passwd", NULL },      { "javascript:1", NULL },
        { "//user@other/", NULL },           { "http:x", NULL },
        { "https://[fe80::1%25lo]/", NULL },
    };
    auto_arena a = ARENA;
    struct http_url base, u;
    struct error e;

    assert_true(http_url_parse(&a, STR("https://h:8443/a/b?c"), &base, &e));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool ok = redirect(&a, &base, rows[i].in, &u, &e);

        if (ok != (rows[i].text != NULL))
            fail_msg("'%s': %s", rows[i].in, ok ? u.text : e.msg);
        if (ok)
            assert_string_equal(u.text, rows[i].text);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_private_network_option_lifts_what_it_says_and_no_metadata),
        cmocka_unit_test(an_allowed_host_is_that_host_as_the_url_writes_it),
        cmocka_unit_test(what_is_no_host_cannot_be_allowed),
        cmocka_unit_test(a_redirect_within_the_site_keeps_the_spelling),
        cmocka_unit_test(a_location_is_read_as_seen_from_its_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
