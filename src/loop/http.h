/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An HTTP/1.1 client on the loop. libcurl does the work and is opened on first use (linking it
 * would cost every start 6 ms); without it http_new() and http_url_parse() fail with
 * ERR_NOT_FOUND and say what to install.
 *
 * Nothing is taken from the environment: no proxy, no .netrc, no cookies. No redirect is
 * followed and no credential sent that the request does not hold. TLS certificates are always
 * verified. Answers are streamed: who wants them whole collects them. A sender that is quicker
 * than what reads it gets HTTP_SLICE_US of each turn of the loop, not the whole of it; where a
 * body is decoded, `max_body` is what bounds that.
 *
 * As everywhere in this folder, http_cancel() and http_free() may be called at any time, also
 * from inside a callback; nothing is called back afterwards, or from inside http_start().
 */
#ifndef SYM_LOOP_HTTP_H
#define SYM_LOOP_HTTP_H

#include "base/arena.h"
#include "base/error.h"
#include "base/netaddr.h"
#include "loop/loop.h"

#define HTTP_URL_MAX    ((size_t)8 << 10)
#define HTTP_HEADER_MAX ((size_t)64 << 10) /* bytes of all header lines of one answer */
#define HTTP_CONNECT_MS 30000
#define HTTP_SLICE_US   3000
#define HTTP_IDLE_SECS  4 /* less than the shortest that servers in the field wait: 5 */

/* ---- URLs ---- */

/* Normalised; owned by the arena. */
struct http_url {
    const char *text;   /* what is requested: ASCII, without fragment or default port */
    const char *scheme; /* "http" or "https" */
    const char *host;   /* lower case, punycode, IPv6 without brackets */
    /* The host as the text has it, but in lower case, and an international name in punycode:
     * "127.1" where `host` is "127.0.0.1". For who means one spelling, not one address. */
    const char *written;
    uint16_t port;
    const char *target; /* path and query */
    const char *origin; /* scheme://host[:port] */
};

/*
 * Reads an absolute URL. ERR_INVALID: malformed, longer than HTTP_URL_MAX, with user
 * information, a control byte or an IPv6 zone. ERR_DENIED: a scheme other than http and https.
 * No I/O but the opening of libcurl.
 */
bool http_url_parse(struct arena *a, struct str text, struct http_url *ret, struct error *e);

/* A proxy's URL: http, https, socks4a, socks5, socks5h; user information is allowed. With SOCKS
 * the proxy looks names up. */
bool http_proxy_check(const char *url, struct error *e);

/* ---- the client ---- */

struct http_opts {
    const char *proxy;   /* NULL: none */
    const char *ca_file; /* PEM; NULL: the system's */
};

struct http;
struct http *http_new(struct loop *l, const struct http_opts *opts, struct error *e);
void http_free(struct http *h); /* open calls are cancelled */

/* ---- one exchange ---- */

struct http_field {
    struct str name, value;
};

/* All of it is copied. Zero is the default of everything but url. */
struct http_request {
    const char *method; /* default: GET, with a body POST */
    const struct http_url *url;
    const struct http_field *headers; /* ERR_INVALID for a line break or NUL in one */
    size_t nheaders;
    struct str body;

    /* Connect to one of these addresses and to no other, whatever the name means by now. None:
     * libcurl looks the name up. Not with a proxy, where the name is the proxy's business. */
    const struct netaddr *pins;
    size_t npins;

    const char
        *encodings; /* "gzip, deflate"; "": all that libcurl knows. Decoded for on_body */
    int total_ms;   /* ERR_TIMEOUT after it; 0: may take for ever */
    int connect_ms; /* the same for the connection, TLS included; 0: HTTP_CONNECT_MS */
    int slow_bytes, slow_secs; /* fewer bytes a second for so long: ERR_TIMEOUT */
    size_t max_header;         /* 0: HTTP_HEADER_MAX */
    size_t max_body; /* decoded bytes; also refused by Content-Length before any. 0: no limit */
    bool fresh;      /* a connection of its own, closed afterwards */
    /* Sent at most once, whatever happens: libcurl repeats, by itself, a request on a kept
     * connection that turns out to be dead, although it may have been carried out. With this
     * that is ERR_CLOSED, and a connection idle for HTTP_IDLE_SECS is not used again. */
    bool once;
};

/* The final answer's head (1xx are skipped). Valid during the callback. */
struct http_head {
    int status;
    const struct http_field *v;
    size_t n;
    int64_t length; /* of the body as it will be handed on; -1: unknown */
};
/* The first field of this name; empty when there is none. */
struct str http_head_get(const struct http_head *h, const char *name);

/* Not called after http_cancel(). */
struct http_ops {
    void (*on_headers)(void *ctx, const struct http_head *h); /* optional; at most once */
    void (*on_body)(void *ctx, struct str bytes);             /* optional; after on_headers */
    /*
     * Exactly once, last; the call is gone. why == NULL: the answer is complete, whatever its
     * status. ERR_LIMIT (max_body, nothing else), ERR_TIMEOUT, ERR_CLOSED (no connection, or
     * lost), ERR_DENIED (no pinned address could be used), ERR_NOT_FOUND (unknown name),
     * ERR_PROTOCOL (TLS, framing, max_header; more than one content coding; Content-Length
     * beside Transfer-Encoding; a body that is decoded, not with gzip, and whose end is told by
     * the close of the connection only: libcurl does not notice when it is cut off).
     */
    void (*on_done)(void *ctx, const struct error *why);
    /* Optional; only with `once`: the request is about to be written. Milliseconds from the
     * start until the connection stood, and until TLS stood on it; -1: it was there before, or
     * there is no TLS. */
    void (*on_connected)(void *ctx, int connect_ms, int tls_ms);
};

struct http_call;
struct http_call *http_start(struct http *h, const struct http_request *r,
                             const struct http_ops *ops, void *ctx, struct error *e);
void http_cancel(struct http_call *c); /* NULL is accepted */

#endif
