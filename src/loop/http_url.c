/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <ctype.h>
#include <locale.h>
#include <string.h>

#include "base/mem.h"
#include "loop/http.h"
#include "loop/http_lib.h"
#include "loop/resolve.h"

#define SCHEME_SHOWN 64  /* of an unsupported scheme, in the message */
#define HOST_MAX     253 /* characters of a name (RFC 1035) */

/* One parsed URL of libcurl. */
struct parsed {
    const struct http_lib *curl;
    CURLU *u;
};

static void parsed_cleanup(struct parsed *p)
{
    if (p->u)
        p->curl->url_cleanup(p->u);
}
#define auto_parsed __attribute__((cleanup(parsed_cleanup))) struct parsed

/* A copy in the arena; NULL when the URL has no such part. */
static char *part(struct arena *a, const struct parsed *p, CURLUPart what, unsigned flags)
{
    char *value = NULL, *copy = NULL;

    if (p->curl->url_get(p->u, what, &value, flags) == CURLUE_OK && value)
        copy = arena_z(a, str_of(value));
    p->curl->free(value);
    return copy;
}

/* libcurl takes a host for text in the locale's charset, and ours is "C": it is UTF-8 for as
 * long as this takes. */
static char *ascii_host(struct arena *a, const struct parsed *p)
{
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), was;
    char *host;

    was = utf8 ? uselocale(utf8) : (locale_t)0;
    host = part(a, p, CURLUPART_HOST, CURLU_PUNYCODE);
    if (utf8) {
        uselocale(was);
        freelocale(utf8);
    }
    return host;
}

/* RFC 3986, 3.1; empty when there is none. */
static struct str scheme_of(struct str url)
{
    size_t n = 0;

    if (!url.n || !isalpha((unsigned char)url.p[0]))
        return (struct str){ 0 };
    while (n < url.n && (isalnum((unsigned char)url.p[n]) || strchr("+-.", url.p[n])))
        n++;
    return n < url.n && url.p[n] == ':' ? str_upto(url, n) : (struct str){ 0 };
}

static bool is_http(struct str scheme)
{
    return str_icase_eq(scheme, STR("http")) || str_icase_eq(scheme, STR("https"));
}

/* What libcurl would be lenient about, or tell in words that do not help. */
static bool check_text(struct str text, struct error *e)
{
    struct str scheme = scheme_of(text);

    if (text.n > HTTP_URL_MAX)
        return error_set(e, ERR_INVALID, "longer than %zu bytes", HTTP_URL_MAX);
    for (size_t i = 0; i < text.n; i++) {
        if ((unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f)
            return error_set(e, ERR_INVALID, "control byte at offset %zu", i);
    }
    if (scheme.n && !is_http(scheme))
        return error_set(e, ERR_DENIED,
                         "Unsupported URL scheme \"%.*s\" - only http and https are supported",
                         STR_F(str_upto(scheme, SCHEME_SHOWN)));
    if (!scheme.n)
        return error_set(e, ERR_INVALID, "no scheme, expected http:// or https://");
    if (!str_starts(str_from(text, scheme.n), STR("://")))
        return error_set(e, ERR_INVALID, "no '//' behind the scheme");
    return true;
}

static bool set_text(const struct parsed *p, struct str text, struct error *e)
{
    auto_free char *z = str_dup(text);
    CURLUcode code = p->curl->url_set(
        p->u, CURLUPART_URL, z, CURLU_DISALLOW_USER | CURLU_URLENCODE | CURLU_ALLOW_SPACE);

    if (code == CURLUE_USER_NOT_ALLOWED)
        return error_set(e, ERR_INVALID, "user information in a URL is not accepted");
    if (code != CURLUE_OK)
        return error_set(e, ERR_INVALID, "%s", p->curl->url_strerror(code));
    return true;
}

/* libcurl decodes percent signs in a host, and IDN mapping yields what it likes: only what a
 * name or a literal may consist of passes. */
static bool check_host(const char *host, struct error *e)
{
    bool bracketed = host[0] == '[';
    size_t n = strlen(host);

    if (n == 0 || n > HOST_MAX)
        return error_set(e, ERR_INVALID, "the host must have 1 to %d characters", HOST_MAX);
    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char)host[i]) && !strchr(bracketed ? "[]:." : "-._", host[i]))
            return error_set(e, ERR_INVALID, "bad character in the host");
    }
    return true;
}

/* The host becomes ASCII, and the URL is read again with it: what was "①.1" is an address now.
 * Nobody can read it differently later. */
static bool read_again(struct arena *a, const struct parsed *p, struct error *e)
{
    char *host = ascii_host(a, p), *text;

    if (!host)
        return error_set(e, ERR_INVALID, "the host is no valid name");
    for (char *c = host; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (!check_host(host, e))
        return false;
    if (p->curl->url_set(p->u, CURLUPART_HOST, host, 0) != CURLUE_OK)
        return error_set(e, ERR_INVALID, "bad host");
    text = part(a, p, CURLUPART_URL, 0);
    return text ? set_text(p, str_of(text), e) : error_set(e, ERR_INVALID, "malformed");
}

static bool set_host(struct arena *a, const struct parsed *p, struct http_url *ret,
                     struct error *e)
{
    char *host;

    if (part(a, p, CURLUPART_ZONEID, 0))
        return error_set(e, ERR_INVALID, "an IPv6 zone is not accepted");
    if (!read_again(a, p, e))
        return false;
    host = part(a, p, CURLUPART_HOST, 0);
    if (!host || !check_host(host, e))
        return error_set(e, ERR_INVALID, "bad host");
    if (host[0] == '[') {
        host++;
        host[strlen(host) - 1] = '\0';
    }
    ret->host = host;
    return true;
}

static bool is_ascii(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    }
    return true;
}

/* What maps to plain letters, or to an address, nobody calls an international name: it stays as
 * it was written. */
static const char *written_host(struct arena *a, struct str text, const char *host)
{
    struct str at = str_from(text, scheme_of(text).n + 3), rest;
    struct netaddr address;
    char *written;

    at = str_upto(at, strcspn(arena_z(a, at), "/?#"));
    if (str_starts(at, STR("[")) && str_find_char(at, ']') != SIZE_MAX)
        at = str_from(str_upto(at, str_find_char(at, ']')), 1);
    else
        str_cut(at, ':', &at, &rest);
    if (!is_ascii(at) && strstr(host, "xn--") && !resolve_literal(host, &address))
        return host;
    written = arena_z(a, at);
    for (char *c = written; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return written;
}

static bool set_port(struct arena *a, const struct parsed *p, struct http_url *ret,
                     struct error *e)
{
    char *port = part(a, p, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    int64_t n = 0;

    if (!port || !str_to_int(str_of(port), 1, UINT16_MAX, &n))
        return error_set(e, ERR_INVALID, "the port must be a number from 1 to 65535");
    ret->port = (uint16_t)n;
    return true;
}

static const char *origin_of(struct arena *a, const struct http_url *u)
{
    const char *open = strchr(u->host, ':') ? "[" : "", *close = *open ? "]" : "";
    bool usual = u->port == (strcmp(u->scheme, "https") == 0 ? 443 : 80);

    if (usual)
        return arena_printf(a, "%s://%s%s%s", u->scheme, open, u->host, close);
    return arena_printf(a, "%s://%s%s%s:%u", u->scheme, open, u->host, close, u->port);
}

bool http_url_parse(struct arena *a, struct str text, struct http_url *ret, struct error *e)
{
    auto_parsed p = { .curl = http_lib(e) };
    struct http_url u = { .host = "" };
    char *path, *query;

    if (!p.curl || !check_text(text, e))
        return false;
    p.u = p.curl->url();
    if (!p.u)
        mem_exhausted();
    if (!set_text(&p, text, e))
        return false;
    u.scheme = str_icase_eq(scheme_of(text), STR("https")) ? "https" : "http";
    if (!set_host(a, &p, &u, e) || !set_port(a, &p, &u, e))
        return false;
    u.written = written_host(a, text, u.host);
    p.curl->url_set(p.u, CURLUPART_FRAGMENT, NULL, 0);
    u.text = part(a, &p, CURLUPART_URL, CURLU_NO_DEFAULT_PORT);
    path = part(a, &p, CURLUPART_PATH, 0);
    query = part(a, &p, CURLUPART_QUERY, 0);
    if (!u.text || !path)
        return error_set(e, ERR_INVALID, "malformed");
    u.target = query ? arena_printf(a, "%s?%s", path, query) : path;
    u.origin = origin_of(a, &u);
    *ret = u;
    return true;
}

bool http_proxy_check(const char *url, struct error *e)
{
    static const char *const schemes[] = { "http", "https", "socks4a", "socks5", "socks5h" };
    auto_parsed p = { .curl = http_lib(e) };
    auto_arena a = ARENA;
    struct str scheme = scheme_of(str_of(url));
    CURLUcode code;

    if (!p.curl)
        return false;
    if (!scheme.n || !str_starts(str_from(str_of(url), scheme.n), STR("://")))
        return error_set(e, ERR_INVALID, "expected a URL such as http://proxy:3128");
    p.u = p.curl->url();
    if (!p.u)
        mem_exhausted();
    code = p.curl->url_set(p.u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME);
    if (code != CURLUE_OK)
        return error_set(e, ERR_INVALID, "%s", p.curl->url_strerror(code));
    if (!part(&a, &p, CURLUPART_HOST, 0))
        return error_set(e, ERR_INVALID, "no host");
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (str_icase_eq(scheme, str_of(schemes[i])))
            return true;
    }
    return error_set(e, ERR_INVALID,
                     "the scheme must be http, https, socks4a, socks5 or socks5h");
}
