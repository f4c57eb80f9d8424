/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/http_call.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"

#define FIELD_MAX ((size_t)64 << 10) /* bytes of one header of a request */
#define NAMES_MAX ((size_t)16 << 10) /* bytes of the line that pins a name */

#define SET(c, option, value) ((c)->curl->easy_setopt((c)->easy, (option), (value)))

/* ---- the connection ---- */

static bool is_pinned(const struct http_call *c, const struct netaddr *a)
{
    for (size_t i = 0; i < c->npins; i++) {
        if (netaddr_eq(&c->pins[i], a))
            return true;
    }
    return false;
}

/* The last word about where we connect: it sees the very bytes that connect() gets. */
static curl_socket_t on_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct http_call *c = ctx;
    struct netaddr a;

    (void)purpose;
    if (c->npins && (!netaddr_of(&to->addr, to->addrlen, &a) || !is_pinned(c, &a))) {
        c->unpinned = true;
        return CURL_SOCKET_BAD;
    }
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* A moment of a connection that was made for this call, from its start; libcurl says 0 where it
 * never came. */
static int moment_ms(const struct http_call *c, CURLINFO which)
{
    long made = 0;
    curl_off_t us = 0;

    c->curl->easy_getinfo(c->easy, CURLINFO_NUM_CONNECTS, &made);
    c->curl->easy_getinfo(c->easy, which, &us);
    return made && us ? (int)(us / 1000) : -1;
}

/* Before each time that the request is written to a connection. */
static int on_request(void *ctx, char *to, char *from, int to_port, int from_port)
{
    struct http_call *c = ctx;
    bool again = c->sent;

    (void)to, (void)from, (void)to_port, (void)from_port;
    c->sent = true;
    if (!again && !c->dead && c->ops.on_connected)
        c->ops.on_connected(c->ctx, moment_ms(c, CURLINFO_CONNECT_TIME_T),
                            moment_ms(c, CURLINFO_APPCONNECT_TIME_T));
    if (again)
        error_set(&c->why, ERR_CLOSED, "the connection was lost before an answer came");
    return again ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* "host:port:a,b,c" for libcurl's name cache. It takes an address in the URL as it is: then
 * on_open() alone decides. */
static void pin_name(struct http_call *c, const struct http_url *url)
{
    auto_buf line = BUF(NAMES_MAX);

    c->curl->share_setopt(c->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    SET(c, CURLOPT_SHARE, c->share);
    if (strchr(url->host, ':'))
        return;
    buf_addf(&line, "%s:%u:", url->host, url->port);
    for (size_t i = 0; i < c->npins; i++) {
        char text[NETADDR_TEXT];

        netaddr_text(&c->pins[i], text);
        buf_addf(&line, c->pins[i].len == 4 ? "%s%s" : "%s[%s]", i ? "," : "", text);
    }
    c->names = c->curl->slist_append(NULL, buf_z(&line));
    SET(c, CURLOPT_RESOLVE, c->names);
}

static void set_pins(struct http_call *c, const struct http_request *r)
{
    if (!r->npins)
        return;
    c->npins = r->npins;
    c->pins = mem_alloc(r->npins * sizeof *r->pins);
    memcpy(c->pins, r->pins, r->npins * sizeof *r->pins);
    c->share = c->curl->share_init();
    if (!c->share)
        mem_exhausted();
    pin_name(c, r->url);
}

bool http_call_route(struct http_call *c, const char *proxy, const char *ca_file,
                     struct error *e)
{
    /* "" rather than nothing: nothing would ask the environment. */
    SET(c, CURLOPT_PROXY, proxy ? proxy : "");
    SET(c, CURLOPT_NOPROXY, "");
    if (proxy && strncasecmp(proxy, "socks5:", 7) == 0)
        SET(c, CURLOPT_PROXYTYPE, (long)CURLPROXY_SOCKS5_HOSTNAME);
    if (proxy && c->npins)
        return error_set(e, ERR_INVALID, "addresses cannot be pinned through a proxy");
    if (ca_file)
        SET(c, CURLOPT_CAINFO, ca_file);
    return true;
}

/* ---- the request ---- */

static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == ':' || s.p[i] == 0x7f)
            return false;
    }
    return s.n > 0;
}

static bool is_field_value(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\r' || s.p[i] == '\n' || s.p[i] == '\0')
            return false;
    }
    return true;
}

static bool add_header(struct http_call *c, struct http_field f, struct error *e)
{
    auto_buf line = BUF(FIELD_MAX);

    if (!is_token(f.name) || !is_field_value(f.value))
        return error_set(e, ERR_INVALID,
                         "header '%.*s' has a character that no header may have",
                         STR_F(str_upto(f.name, 64)));
    buf_add(&line, f.name);
    if (str_trim(f.value).n) {
        buf_addz(&line, ": ");
        buf_add(&line, f.value);
    } else {
        buf_addc(&line, ';'); /* libcurl's way to say: present, and empty */
    }
    if (!buf_ok(&line, e))
        return error_wrap(e, "header '%.*s'", STR_F(str_upto(f.name, 64)));
    c->headers = c->curl->slist_append(c->headers, buf_z(&line));
    return true;
}

static bool set_headers(struct http_call *c, const struct http_request *r, struct error *e)
{
    for (size_t i = 0; i < r->nheaders; i++) {
        if (!add_header(c, r->headers[i], e))
            return false;
    }
    c->headers = c->curl->slist_append(c->headers, "Expect:"); /* never wait for a 100 */
    SET(c, CURLOPT_HTTPHEADER, c->headers);
    return true;
}

static bool set_method(struct http_call *c, const struct http_request *r, struct error *e)
{
    const char *method = r->method ? r->method : r->body.n ? "POST" : "GET";

    if (!is_token(str_of(method)))
        return error_set(e, ERR_INVALID, "'%.64s' is no method", method);
    c->head_only = strcmp(method, "HEAD") == 0;
    if (c->head_only) {
        SET(c, CURLOPT_NOBODY, 1L);
        return true;
    }
    if (r->body.n || strcmp(method, "POST") == 0) {
        SET(c, CURLOPT_POST, 1L);
        SET(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.n);
        SET(c, CURLOPT_COPYPOSTFIELDS, r->body.n ? r->body.p : "");
    }
    SET(c, CURLOPT_CUSTOMREQUEST, method);
    return true;
}

static void set_limits(struct http_call *c, const struct http_request *r)
{
    c->max_header = r->max_header ? r->max_header : HTTP_HEADER_MAX;
    c->max_body = r->max_body;
    SET(c, CURLOPT_TIMEOUT_MS, (long)r->total_ms);
    SET(c, CURLOPT_CONNECTTIMEOUT_MS, (long)(r->connect_ms ? r->connect_ms : HTTP_CONNECT_MS));
    SET(c, CURLOPT_LOW_SPEED_LIMIT, (long)r->slow_bytes);
    SET(c, CURLOPT_LOW_SPEED_TIME, (long)r->slow_secs);
    SET(c, CURLOPT_FRESH_CONNECT, r->fresh ? 1L : 0L);
    SET(c, CURLOPT_FORBID_REUSE, r->fresh ? 1L : 0L);
    if (r->once) {
        SET(c, CURLOPT_PREREQFUNCTION, on_request);
        SET(c, CURLOPT_PREREQDATA, c);
        SET(c, CURLOPT_MAXAGE_CONN, (long)HTTP_IDLE_SECS);
    }
    c->decodes = r->encodings != NULL;
    if (r->encodings)
        SET(c, CURLOPT_ACCEPT_ENCODING, r->encodings);
}

/* What holds for every request. */
static void set_manners(struct http_call *c)
{
    SET(c, CURLOPT_PRIVATE, c);
    SET(c, CURLOPT_NOSIGNAL, 1L);
    SET(c, CURLOPT_QUICK_EXIT, 1L); /* a name that nobody answers for holds up no cancel */
    SET(c, CURLOPT_ERRORBUFFER, c->curl_why);
    SET(c, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(c, CURLOPT_FOLLOWLOCATION, 0L);
    SET(c, CURLOPT_TCP_KEEPALIVE, 1L);
    SET(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(c, CURLOPT_OPENSOCKETFUNCTION, on_open);
    SET(c, CURLOPT_OPENSOCKETDATA, c);
    SET(c, CURLOPT_HEADERFUNCTION, http_on_header);
    SET(c, CURLOPT_HEADERDATA, c);
    SET(c, CURLOPT_WRITEFUNCTION, http_on_body);
    SET(c, CURLOPT_WRITEDATA, c);
}

struct http_call *http_call_new(const struct http_lib *curl, const struct http_request *r,
                                struct error *e)
{
    struct http_call *c = NEW(struct http_call);

    c->curl = curl;
    c->easy = curl->easy_init();
    if (!c->easy)
        mem_exhausted();
    set_manners(c);
    set_limits(c, r);
    SET(c, CURLOPT_URL, r->url->text);
    set_pins(c, r);
    if (set_method(c, r, e) && set_headers(c, r, e))
        return c;
    http_call_free(c);
    return NULL;
}

void http_call_free(struct http_call *c)
{
    if (!c)
        return;
    c->curl->easy_cleanup(c->easy);
    if (c->share)
        c->curl->share_cleanup(c->share);
    c->curl->slist_free_all(c->headers);
    c->curl->slist_free_all(c->names);
    arena_free(&c->arena);
    free(c->pins);
    free(c);
}

/* ---- the outcome ---- */

#define CURL_LINE_MAX  ((size_t)100 << 10) /* bytes of one header line that libcurl takes */
#define CURL_TOO_LARGE 100                 /* its CURLE_TOO_LARGE, from 8.6 on */

/* A line that libcurl has no room for never comes to http_on_header(), and is called "Out of
 * memory". So much it takes for a line of a body's trailers too, or less. */
static bool is_line_too_long(const struct http_call *c, CURLcode code)
{
    return (code == CURLE_OUT_OF_MEMORY || code == CURL_TOO_LARGE) && !c->head_done;
}

static enum err_kind kind_of(CURLcode code)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return ERR_TIMEOUT;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return ERR_NOT_FOUND;
    case CURLE_COULDNT_CONNECT:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
        return ERR_CLOSED;
    default:
        return ERR_PROTOCOL;
    }
}

static bool is_of_tls(CURLcode code)
{
    static const CURLcode codes[] = { CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION,
                                      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
                                      CURLE_SSL_CIPHER };

    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (code == codes[i])
            return true;
    return false;
}

bool http_call_result(const struct http_call *c, CURLcode code, struct error *why)
{
    if (code == CURLE_OK)
        return http_body_whole(c, why);
    if (c->why.kind != ERR_NONE) {
        *why = c->why;
        return false;
    }
    if (is_line_too_long(c, code))
        return error_set(why, ERR_PROTOCOL, "the headers have more than %zu bytes",
                         c->max_header < CURL_LINE_MAX ? c->max_header : CURL_LINE_MAX);
    if (c->unpinned && kind_of(code) != ERR_TIMEOUT)
        return error_set(why, ERR_DENIED, "none of the vetted addresses could be connected to");
    return error_set(why, kind_of(code), "%s%s", is_of_tls(code) ? "TLS: " : "",
                     c->curl_why[0] ? c->curl_why : c->curl->easy_strerror(code));
}
