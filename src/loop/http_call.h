/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One exchange: the request as libcurl's options, the answer as it comes in. Only for http*.c.
 */
#ifndef SYM_LOOP_HTTP_CALL_H
#define SYM_LOOP_HTTP_CALL_H

#include "loop/http.h"
#include "loop/http_lib.h"

struct http_call {
    const struct http_lib *curl;
    struct http *http;
    struct http_call *prev, *next; /* of the client's */
    CURL *easy;
    CURLSH *share; /* its own names, when pinned: libcurl would keep them for other calls */
    struct curl_slist *headers, *names;
    struct http_ops ops;
    void *ctx;

    struct netaddr *pins;
    size_t npins;
    bool unpinned; /* libcurl wanted to connect somewhere else */
    bool sent;     /* handed to a connection once: of a request that is not to be repeated */
    size_t max_header, max_body;
    bool head_only, decodes;

    bool added;    /* known to the multi handle */
    bool dead;     /* cancelled: nothing is called back */
    bool held;     /* libcurl keeps bytes back: its slice of a turn was over */
    unsigned turn; /* of the kick that let it go on */

    struct arena arena; /* of the head that is being read */
    struct {
        struct http_field *v;
        size_t n, cap;
    } fields;
    int status;
    bool head_done; /* what follows are trailers */
    size_t header_bytes, body_bytes;
    enum { END_TOLD, END_OF_GZIP, END_UNKNOWN } end; /* of the body: how it is known */
    size_t raw_bytes;                                /* unless END_TOLD: before decoding */
    uint8_t raw_tail[4];                             /* the last of them */
    struct error why;                                /* ours, why the transfer was broken off */
    char curl_why[CURL_ERROR_SIZE];
};

struct http_call *http_call_new(const struct http_lib *curl, const struct http_request *r,
                                struct error *e);
/* Where it connects: NULLs as in struct http_opts. */
bool http_call_route(struct http_call *c, const char *proxy, const char *ca_file,
                     struct error *e);
void http_call_free(struct http_call *c); /* not known to a multi handle any more */

/* The outcome: false with the reason. */
bool http_call_result(const struct http_call *c, CURLcode code, struct error *why);

/* The body has come to its end, as far as the answer tells. */
bool http_body_whole(const struct http_call *c, struct error *why);

/* libcurl's callbacks for the answer. */
size_t http_on_header(char *p, size_t one, size_t n, void *ctx);
size_t http_on_body(char *p, size_t one, size_t n, void *ctx);

/* http.c: the present stay in libcurl has taken its slice; then the call is held until the next
 * turn of the loop. */
bool http_slice_is_over(const struct http *h);
void http_hold(struct http_call *c);

#endif
