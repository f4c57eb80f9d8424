/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "loop/http.h"

static void a_url_is_normalised(void **state)
{
    /* clang-format off */
    static const struct { const char *in, *text, *host; int port; const char *target, *origin; } rows[] = {
        { "http://example.com", "http://example.com/", "example.com", 80, "/", "http://example.com" },
        { "HTTPS://EXAMPLE.com:443/a?b#c", "https://example.com/a?b", "example.com", 443, "/a?b",
          "https://example.com" },
        { "http://h:8080/a/../b/./c", "http://h:8080/b/c", "h", 8080, "/b/c", "http://h:8080" },
        { "http://h/a b?c d", "http://h/a%20b?c+d", "h", 80, "/a%20b?c+d", "http://h" },
        { "http://h/\xc3\xa4", "http://h/%c3%a4", "h", 80, "/%c3%a4", "http://h" },
        { "http://b\xc3\xbc" "cher.example/", "http://xn--bcher-kva.example/",
          "xn--bcher-kva.example", 80, "/", "http://xn--bcher-kva.example" },
        { "http://[2001:DB8:0::1]:81/", "http://[2001:db8::1]:81/", "2001:db8::1", 81, "/",
          "http://[2001:db8::1]:81" },
        { "http://h?q", "http://h/?q", "h", 80, "/?q", "http://h" },
        { "http://under_score.example/", "http://under_score.example/", "under_score.example", 80,
          "/", "http://under_score.example" },
        /* SEC-70: what the resolver takes for an address is written as one already here. */
        { "http://2130706433/", "http://127.0.0.1/", "127.0.0.1", 80, "/", "http://127.0.0.1" },
        { "http://0x7f.1/", "http://127.0.0.1/", "127.0.0.1", 80, "/", "http://127.0.0.1" },
        { "http://127.0.0.%31/", "http://127.0.0.1/", "127.0.0.1", 80, "/", "http://127.0.0.1" },
        { "http://\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1/", "http://127.0.0.1/", "127.0.0.1",
          80, "/", "http://127.0.0.1" },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        struct http_url u;
        struct error e;

        if (!http_url_parse(&a, str_of(rows[i].in), &u, &e))
            fail_msg("%s: %s", rows[i].in, e.msg);
        assert_string_equal(u.text, rows[i].text);
        assert_string_equal(u.host, rows[i].host);
        assert_int_equal(u.port, rows[i].port);
        assert_string_equal(u.target, rows[i].target);
        assert_string_equal(u.origin, rows[i].origin);
    }
    (void)state;
}

/* FE-2, SEC-74 */
static void what_is_no_plain_http_url_is_refused_with_its_reason(void **state)
{
    /* clang-format off */
    static const struct { struct str in; enum err_kind kind; const char *part; } rows[] = {
        { BYTES(""), ERR_INVALID, "no scheme" },
        { BYTES("example.com"), ERR_INVALID, "no scheme" },
        { BYTES("//example.com/"), ERR_INVALID, "no scheme" },
        { BYTES("http:example.com"), ERR_INVALID, "'//'" },
        { BYTES("http:/example.com"), ERR_INVALID, "'//'" },
        { BYTES("http://"), ERR_INVALID, "" },
        { BYTES("http://?q"), ERR_INVALID, "" },
        { BYTES("http://h:0/"), ERR_INVALID, "port" },
        { BYTES("http://h:65536/"), ERR_INVALID, "" },
        { BYTES("http://h:x/"), ERR_INVALID, "" },
        { BYTES("http://[::1/"), ERR_INVALID, "" },
        { BYTES("http://[fe80::1%25lo]/"), ERR_INVALID, "zone" },
        { BYTES("http://[fe80::1%lo]/"), ERR_INVALID, "zone" },
        { BYTES("http://user@h/"), ERR_INVALID, "user information" },
        { BYTES("http://user:pw@h/"), ERR_INVALID, "user information" },
        { BYTES("http://@h/"), ERR_INVALID, "user information" },
        { BYTES("http://a\\@h/"), ERR_INVALID, "" },
        { BYTES("http://h/\n"), ERR_INVALID, "control byte" },
        { BYTES("http://h/\0x"), ERR_INVALID, "control byte" },
        { BYTES("http://h/\x7f"), ERR_INVALID, "control byte" },
        { BYTES("http://a b/"), ERR_INVALID, "" },
        { BYTES("http://a%20b/"), ERR_INVALID, "" },
        { BYTES("http://a%00b/"), ERR_INVALID, "" },
        { BYTES("http://a%2fb/"), ERR_INVALID, "" },
        { BYTES("file:///etc/passwd"), ERR_DENIED, "\"file\"" },
        { BYTES("gopher://h/"), ERR_DENIED, "\"gopher\"" },
        { BYTES("ftp://h/"), ERR_DENIED, "Unsupported URL scheme \"ftp\" - only http and https are supported" },
        { BYTES("data:text/html,x"), ERR_DENIED, "\"data\"" },
        { BYTES("javascript:alert(1)"), ERR_DENIED, "\"javascript\"" },
        { BYTES("h:8080/"), ERR_DENIED, "\"h\"" },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena a = ARENA;
        struct http_url u;
        struct error e;

        if (http_url_parse(&a, rows[i].in, &u, &e))
            fail_msg("'%.*s' was read as '%s'", STR_F(rows[i].in), u.text);
        assert_int_equal(e.kind, rows[i].kind);
        assert_has(e.msg, rows[i].part);
    }
    (void)state;
}

static void a_url_longer_than_8_kib_is_refused(void **state)
{
    auto_buf text = BUF(HTTP_URL_MAX + 1);
    auto_arena a = ARENA;
    struct http_url u;
    struct error e;

    buf_addz(&text, "http://h/");
    buf_fill(&text, 'x', HTTP_URL_MAX - text.n);
    assert_true(http_url_parse(&a, buf_str(&text), &u, &e));
    buf_addc(&text, 'x');
    assert_false(http_url_parse(&a, buf_str(&text), &u, &e));
    assert_has(e.msg, "8192"); /* FE-2 */
    (void)state;
}

/* SV-8 */
static void a_proxy_is_a_url_with_a_scheme_that_proxies_have(void **state)
{
    static const struct {
        const char *url;
        bool ok;
    } rows[] = {
        { "http://proxy:3128", true },
        { "http://user:pw@proxy:3128", true },
        { "socks5://127.0.0.1:1080", true },
        { "socks5h://[::1]:1080", true },
        { "https://proxy", true },
        { "proxy:3128", false },
        { "ftp://proxy/", false },
        { "http://", false },
        { "", false },
        { "http://proxy:99999", false },
        { "socks4://proxy", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error e;

        if (http_proxy_check(rows[i].url, &e) != rows[i].ok)
            fail_msg("'%s' was judged wrongly", rows[i].url);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_is_normalised),
        cmocka_unit_test(what_is_no_plain_http_url_is_refused_with_its_reason),
        cmocka_unit_test(a_url_longer_than_8_kib_is_refused),
        cmocka_unit_test(a_proxy_is_a_url_with_a_scheme_that_proxies_have),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
