/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/file.h"
#include "loop/http.h"

/* ---- a server in a thread: each connection gets the same bytes, in portions ---- */

#define PORTIONS_MAX 4

struct server {
    struct str portions[PORTIONS_MAX]; /* the first after the request's head; 30 ms between */
    bool keep;                         /* then waits for the next request */
    int fd, port;
    pthread_t thread;
    volatile bool stop;
    /* what it saw; read after server_stop(), or while the call is answered */
    int connections, requests;
    char last[8192];
    ssize_t last_n;
    bool broken; /* the client went away before all was sent */
};

static bool send_all(struct server *s, int fd)
{
    for (size_t i = 0; i < PORTIONS_MAX && s->portions[i].n; i++) {
        struct str p = s->portions[i];

        if (i)
            usleep(30000);
        while (p.n) {
            ssize_t n = send(fd, p.p, p.n, MSG_NOSIGNAL);

            if (n <= 0)
                return false;
            p = str_from(p, (size_t)n);
        }
    }
    return true;
}

/* The head, and as much of the body as came with it. */
static bool read_request(struct server *s, int fd)
{
    s->last_n = 0;
    while (!s->stop && s->last_n < (ssize_t)sizeof s->last - 1) {
        struct pollfd p = { fd, POLLIN, 0 };
        ssize_t n;

        if (poll(&p, 1, 20) <= 0)
            continue;
        n = recv(fd, s->last + s->last_n, sizeof s->last - 1 - (size_t)s->last_n, 0);
        if (n <= 0)
            return false;
        s->last_n += n;
        s->last[s->last_n] = '\0';
        if (strstr(s->last, "\r\n\r\n"))
            return true;
    }
    return false;
}

/* A close with bytes unread would reset the connection, and the answer with it. */
static void linger(struct server *s, int fd)
{
    for (int i = 0; i < 10 && !s->stop; i++) {
        struct pollfd p = { fd, POLLIN, 0 };

        if (poll(&p, 1, 20) > 0 && recv(fd, (char[256]){ 0 }, 256, 0) <= 0)
            return;
    }
}

static void *serve(void *ctx)
{
    struct server *s = ctx;

    while (!s->stop) {
        struct pollfd p = { s->fd, POLLIN, 0 };
        int fd;

        if (poll(&p, 1, 20) <= 0 || (fd = accept(s->fd, NULL, NULL)) < 0)
            continue;
        s->connections++;
        while (read_request(s, fd)) {
            s->requests++;
            s->broken = !send_all(s, fd);
            if (!s->keep)
                break;
        }
        shutdown(fd, SHUT_WR);
        linger(s, fd);
        close(fd);
    }
    return NULL;
}

static void server_start(struct server *s, const char *address, int port)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    socklen_t n = sizeof in;
    int one = 1;

    inet_pton(AF_INET, address, &in.sin_addr);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(listen(s->fd, 16), 0);
    getsockname(s->fd, (struct sockaddr *)&in, &n);
    s->port = ntohs(in.sin_port);
    pthread_create(&s->thread, NULL, serve, s);
}

static void server_stop(struct server *s)
{
    s->stop = true;
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
}

/* ---- one call and what became of it ---- */

struct seen {
    struct loop *loop;
    struct http *http;
    struct http_call *call;
    struct arena arena;
    int heads, dones, status;
    int64_t length;
    char type[64];
    struct buf body;
    struct error why;
    enum { GO_ON, CANCEL_IN_HEAD, CANCEL_IN_BODY, FREE_IN_HEAD, FREE_IN_DONE, SLOW } then;
    struct timer *later;
    int ticks; /* SLOW: turns of the loop meanwhile */
};

static void on_headers(void *ctx, const struct http_head *h)
{
    struct seen *s = ctx;

    s->heads++;
    s->status = h->status;
    s->length = h->length;
    snprintf(s->type, sizeof s->type, "%.*s", STR_F(http_head_get(h, "CONTENT-TYPE")));
    if (s->then == CANCEL_IN_HEAD) {
        http_cancel(s->call);
        loop_stop(s->loop);
    }
    if (s->then == FREE_IN_HEAD) {
        http_free(take_ptr(&s->http));
        loop_stop(s->loop);
    }
    if (s->then == SLOW)
        timer_set(s->later, 1);
}

static void on_body(void *ctx, struct str bytes)
{
    struct seen *s = ctx;

    assert_true(s->heads == 1);
    buf_add(&s->body, bytes);
    if (s->then == SLOW)
        usleep(2000);
    if (s->then == CANCEL_IN_BODY) {
        http_cancel(s->call);
        loop_stop(s->loop);
    }
}

static void on_done(void *ctx, const struct error *why)
{
    struct seen *s = ctx;

    s->dones++;
    s->why = why ? *why : (struct error){ 0 };
    if (s->then == FREE_IN_DONE)
        http_free(take_ptr(&s->http));
    loop_stop(s->loop);
}

static void on_tick(void *ctx)
{
    struct seen *s = ctx;

    s->ticks++;
    timer_set(s->later, 1);
}

static const struct http_ops ops = { on_headers, on_body, on_done };

static void seen_open(struct seen *s)
{
    struct error e;

    s->loop = loop_new();
    s->body = BUF((size_t)64 << 20);
    s->later = timer_new(s->loop, on_tick, s);
    s->http = http_new(s->loop, NULL, &e);
    if (!s->http)
        fail_msg("%s", e.msg);
}

static void seen_close(struct seen *s)
{
    http_free(s->http);
    timer_free(s->later);
    loop_free(s->loop);
    buf_free(&s->body);
    arena_free(&s->arena);
}

static void get(struct seen *s, const char *url, struct http_request r)
{
    struct http_url u;
    struct error e;

    if (!http_url_parse(&s->arena, str_of(url), &u, &e))
        fail_msg("%s", e.msg);
    r.url = &u;
    buf_clear(&s->body);
    s->heads = s->dones = 0;
    s->call = http_start(s->http, &r, &ops, s, &e);
    if (!s->call)
        fail_msg("%s", e.msg);
    assert_int_equal(s->dones, 0); /* nothing from inside */
    run_until_stopped(s->loop, 5000);
}

static const char *url_of(struct seen *s, const struct server *server, const char *host)
{
    return arena_printf(&s->arena, "http://%s:%d/p?q", host, server->port);
}

/* Starts both, does one GET, ends the server. */
static void exchange(struct seen *s, struct server *server, struct http_request r)
{
    seen_open(s);
    server_start(server, "127.0.0.1", 0);
    get(s, url_of(s, server, "127.0.0.1"), r);
    server_stop(server);
}

static void an_answer_comes_as_head_then_body_then_the_end(void **state)
{
    struct server server = { .portions = {
                                 BYTES("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
                                 BYTES("HTTP/1.1 404 No\r\nContent-Type: text/x\r\n"
                                       "Content-Length: 6\r\n\r\nabc"),
                                 BYTES("def"),
                             } };
    struct seen s = { 0 };

    exchange(&s, &server, (struct http_request){ 0 });
    assert_int_equal(s.heads, 1);
    assert_int_equal(s.dones, 1);
    assert_int_equal(s.why.kind, ERR_NONE);
    assert_int_equal(s.status, 404);
    assert_int_equal(s.length, 6);
    assert_string_equal(s.type, "text/x");
    assert_str(buf_str(&s.body), "abcdef");
    assert_has(server.last, "GET /p?q HTTP/1.1\r\n");
    seen_close(&s);
    (void)state;
}

static void method_headers_and_body_go_out_as_given(void **state)
{
    static const struct http_field fields[] = {
        { BYTES("Accept"), BYTES("text/event-stream") },
        { BYTES("X-Empty"), BYTES("") },
        { BYTES("Content-Type"), BYTES("application/json") },
    };
    struct server server = { .portions = { BYTES("HTTP/1.1 202 OK\r\n\r\n") } };
    struct seen s = { 0 };

    exchange(&s, &server,
             (struct http_request){ .body = BYTES("{\"a\":1}\0!"),
                                    .headers = fields,
                                    .nheaders = ARRAY_LEN(fields) });
    assert_int_equal(s.status, 202);
    assert_has(server.last, "POST /p?q HTTP/1.1\r\n");
    assert_has(server.last, "Accept: text/event-stream\r\n");
    assert_has(server.last, "X-Empty:\r\n");
    assert_has(server.last, "Content-Type: application/json\r\n");
    assert_has(server.last, "Content-Length: 9\r\n");
    assert_lacks(server.last, "Expect");
    seen_close(&s);

    server = (struct server){ .portions = { BYTES("HTTP/1.1 200 OK\r\n\r\n") } };
    s = (struct seen){ 0 };
    exchange(&s, &server, (struct http_request){ .method = "DELETE" });
    assert_has(server.last, "DELETE /p?q HTTP/1.1\r\n");
    seen_close(&s);
    (void)state;
}

static void a_header_with_a_line_break_is_refused(void **state)
{
    static const struct http_field bad[] = {
        { BYTES("X"), BYTES("a\r\nY: b") }, { BYTES("X"), BYTES("a\0b") },
        { BYTES("X\nY"), BYTES("a") },      { BYTES("X:"), BYTES("a") },
        { BYTES(""), BYTES("a") },
    };
    struct seen s = { 0 };
    struct http_url u;
    struct error e;

    seen_open(&s);
    assert_true(http_url_parse(&s.arena, STR("http://h/"), &u, &e));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct http_request r = { .url = &u, .headers = &bad[i], .nheaders = 1 };

        assert_null(http_start(s.http, &r, &ops, &s, &e));
        assert_int_equal(e.kind, ERR_INVALID);
    }
    assert_null(
        http_start(s.http, &(struct http_request){ .url = &u, .method = "A B" }, &ops, &s, &e));
    seen_close(&s);
    (void)state;
}

/* FE-13, SEC-76 */
static void what_breaks_a_rule_of_framing_or_a_ceiling_is_broken_off(void **state)
{
    /* clang-format off */
    static const struct { struct str in[2]; struct http_request r; enum err_kind kind; const char *part; int heads; } rows[] = {
        { { BYTES("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") },
          { 0 }, ERR_PROTOCOL, "both Content-Length and Transfer-Encoding", 0 },
        { { BYTES("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde") },
          { 0 }, ERR_PROTOCOL, "", 0 },
        { { BYTES("HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\nx") },
          { .encodings = "" }, ERR_PROTOCOL, "more than one content coding", 0 },
        { { BYTES("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: br\r\n\r\nx") },
          { .encodings = "" }, ERR_PROTOCOL, "more than one content coding", 0 },
        { { BYTES("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Encoding: gzip\r\n\r\n") },
          { .encodings = "" }, ERR_PROTOCOL, "more than one content coding", 0 },
        { { BYTES("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\nx") }, { 0 }, ERR_PROTOCOL, "folded", 0 },
        { { BYTES("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nabcdefghijk") },
          { .max_body = 10 }, ERR_LIMIT, "more than 10 bytes", 0 },
        { { BYTES("HTTP/1.1 200 OK\r\n\r\nabcde"), BYTES("fghijk") },
          { .max_body = 10 }, ERR_LIMIT, "more than 10 bytes", 1 },
        { { BYTES("HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\nx") },
          { .max_header = 26 }, ERR_PROTOCOL, "more than 26 bytes", 0 },
        { { BYTES("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc") }, { 0 }, ERR_CLOSED, "", 1 },
        { { BYTES("garbage\r\n\r\n") }, { 0 }, ERR_PROTOCOL, "", 0 },
        { { BYTES("HTTP/1.1 200 OK\r\nContent-Encoding: pack200\r\n\r\nabc") },
          { .encodings = "" }, ERR_PROTOCOL, "", 1 },
        { { BYTES("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nabc") },
          { .encodings = "" }, ERR_PROTOCOL, "", 1 },
        { { BYTES("HTTP/1.1 200 OK\r\nA: b\r\n") }, { .total_ms = 100 }, ERR_TIMEOUT, "", 0 },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct server server = { .portions = { rows[i].in[0], rows[i].in[1] },
                                 .keep = rows[i].kind == ERR_TIMEOUT };
        struct seen s = { 0 };

        exchange(&s, &server, rows[i].r);
        if (s.why.kind != rows[i].kind || s.dones != 1 || s.heads != rows[i].heads)
            fail_msg("row %zu: kind %d, %d heads, %s", i, s.why.kind, s.heads, s.why.msg);
        assert_has(s.why.msg, rows[i].part);
        seen_close(&s);
    }
    (void)state;
}

#define GZIP_HEAD        "\037\213\010\000\000\000\000\000\002\003\113\114\112\116\114\112\006"
#define GZIP_TAIL        "\000\114\231\156\162\006\000\000\000" /* of "abcabc" */
#define ZLIB             "\170\234\113\114\112\116\114\112\006\000\010\014\002\115" /* the same */
#define OK_WITH(headers) "HTTP/1.1 200 OK\r\n" headers "\r\n\r\n"

/* FE-13: libcurl takes what its decoders have by then for the whole. */
static void a_packed_body_that_is_cut_off_is_no_success(void **state)
{
    /* clang-format off */
    static const struct { struct str in[3]; enum err_kind kind; const char *part, *body; } rows[] = {
        { { BYTES(OK_WITH("Content-Encoding: gzip") GZIP_HEAD GZIP_TAIL) }, ERR_NONE, "", "abcabc" },
        { { BYTES(OK_WITH("Content-Encoding: x-gzip")), BYTES(GZIP_HEAD), BYTES(GZIP_TAIL) }, ERR_NONE, "", "abcabc" },
        { { BYTES(OK_WITH("Content-Encoding: gzip") GZIP_HEAD), BYTES("\034") }, ERR_CLOSED, "within the gzip data", NULL },
        { { BYTES(OK_WITH("Content-Encoding: gzip")), BYTES(GZIP_HEAD) }, ERR_CLOSED, "within the gzip data", NULL },
        { { BYTES(OK_WITH("Content-Encoding: gzip") "\037\213\010") }, ERR_CLOSED, "within the gzip data", "" },
        { { BYTES(OK_WITH("Content-Encoding: gzip") "\037") }, ERR_CLOSED, "within the gzip data", "" },
        { { BYTES(OK_WITH("Transfer-Encoding: gzip") GZIP_HEAD) }, ERR_CLOSED, "within the gzip data", NULL },
        { { BYTES(OK_WITH("Content-Encoding: gzip")) }, ERR_NONE, "", "" },
        { { BYTES(OK_WITH("Content-Encoding: deflate") ZLIB) }, ERR_PROTOCOL, "whether it is complete", NULL },
        { { BYTES(OK_WITH("Content-Encoding: br") "\213\002\200abcabc\003") }, ERR_PROTOCOL, "whether it is complete", NULL },
        { { BYTES(OK_WITH("Content-Encoding: deflate\r\nContent-Length: 14") ZLIB) }, ERR_NONE, "", "abcabc" },
        { { BYTES(OK_WITH("Content-Encoding: deflate\r\nTransfer-Encoding: chunked") "e\r\n" ZLIB "\r\n0\r\n\r\n") }, ERR_NONE, "", "abcabc" },
        { { BYTES(OK_WITH("Content-Encoding: deflate\r\nTransfer-Encoding: chunked") "e\r\n" ZLIB "\r\n") }, ERR_CLOSED, "", NULL },
        { { BYTES(OK_WITH("Content-Encoding: gzip\r\nContent-Length: 99") GZIP_HEAD GZIP_TAIL) }, ERR_CLOSED, "", NULL },
        { { BYTES(OK_WITH("Content-Encoding: identity") "abc") }, ERR_NONE, "", "abc" },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct server server = {
            .portions = { rows[i].in[0], rows[i].in[1], rows[i].in[2] },
        };
        struct seen s = { 0 };

        exchange(&s, &server, (struct http_request){ .encodings = "" });
        if (s.why.kind != rows[i].kind || s.dones != 1 || s.heads != 1)
            fail_msg("row %zu: kind %d, %d heads, %s", i, s.why.kind, s.heads, s.why.msg);
        assert_has(s.why.msg, rows[i].part);
        if (rows[i].body)
            assert_str(buf_str(&s.body), rows[i].body);
        seen_close(&s);
    }
    (void)state;
}

/* FE-13: nobody is out of memory because a server is verbose. */
static void a_header_line_that_is_too_long_is_said_to_be_so(void **state)
{
    static char answer[300000] = "HTTP/1.1 200 OK\r\nX: ";
    size_t head = strlen(answer);
    static const size_t lengths[] = { 66000, 102300, 102400, 102401, 200000 };

    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct server server = { .portions = { { answer, head + lengths[i] + 4 } } };
        struct seen s = { 0 };

        memset(answer + head, 'y', lengths[i]);
        memcpy(answer + head + lengths[i], "\r\n\r\n", 4);
        exchange(&s, &server, (struct http_request){ 0 });
        assert_int_equal(s.why.kind, ERR_PROTOCOL);
        assert_string_equal(s.why.msg, "the headers have more than 65536 bytes");
        seen_close(&s);
    }
    (void)state;
}

/* FE-15, SEC-72: the name means 127.0.0.1 to the system; the pinned address counts. */
static void a_pinned_name_is_connected_to_its_pin_and_nowhere_else(void **state)
{
    struct netaddr pin = { { 127, 0, 0, 2 }, 4 };
    struct server vetted = { .portions = { BYTES("HTTP/1.1 200 OK\r\n\r\nvetted") } };
    struct server other = { .portions = { BYTES("HTTP/1.1 200 OK\r\n\r\nother") } };
    struct seen s = { 0 };

    seen_open(&s);
    server_start(&other, "127.0.0.1", 0);
    server_start(&vetted, "127.0.0.2", other.port);
    get(&s, url_of(&s, &other, "localhost"),
        (struct http_request){ .pins = &pin, .npins = 1, .fresh = true });
    assert_str(buf_str(&s.body), "vetted");
    get(&s, url_of(&s, &other, "127.0.0.1"),
        (struct http_request){ .pins = &pin, .npins = 1, .fresh = true });
    assert_str(buf_str(&s.body), "vetted");
    /* libcurl takes an IPv6 address in the URL as it stands: the check of the socket refuses
     * it. */
    get(&s, url_of(&s, &other, "[::1]"),
        (struct http_request){ .pins = &pin, .npins = 1, .fresh = true });
    assert_int_equal(s.why.kind, ERR_DENIED);
    /* Without a pin the name means again what it means: nothing was kept. */
    get(&s, url_of(&s, &other, "localhost"), (struct http_request){ .fresh = true });
    assert_str(buf_str(&s.body), "other");
    server_stop(&vetted);
    server_stop(&other);
    assert_int_equal(vetted.connections, 2);
    assert_int_equal(other.connections, 1);
    seen_close(&s);
    (void)state;
}

static void a_connection_is_used_again_unless_the_call_wants_its_own(void **state)
{
    for (int fresh = 0; fresh < 2; fresh++) {
        struct server server = {
            .keep = true, .portions = { BYTES("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx") }
        };
        struct seen s = { 0 };

        seen_open(&s);
        server_start(&server, "127.0.0.1", 0);
        for (int i = 0; i < 3; i++)
            get(&s, url_of(&s, &server, "127.0.0.1"), (struct http_request){ .fresh = fresh });
        assert_int_equal(server.requests, 3);
        assert_int_equal(server.connections, fresh ? 3 : 1);
        http_free(take_ptr(&s.http));
        server_stop(&server);
        seen_close(&s);
    }
    (void)state;
}

static void cancelled_or_freed_anywhere_nothing_is_called_back(void **state)
{
    for (int then = CANCEL_IN_HEAD; then <= FREE_IN_DONE; then++) {
        struct server server = { .portions = { BYTES("HTTP/1.1 200 OK\r\n\r\nabc"),
                                               BYTES("def") } };
        struct seen s = { .then = then };

        exchange(&s, &server, (struct http_request){ 0 });
        s.then = GO_ON;
        run_for(s.loop, 60);
        assert_int_equal(s.heads, 1);
        assert_int_equal(s.dones, then == FREE_IN_DONE);
        assert_int_equal(s.body.n, then == CANCEL_IN_BODY ? 3 : then == FREE_IN_DONE ? 6 : 0);
        seen_close(&s);
    }
    (void)state;
}

static void a_call_cancelled_before_it_began_never_connects(void **state)
{
    struct server server = { .portions = { BYTES("HTTP/1.1 200 OK\r\n\r\nabc") } };
    struct seen s = { 0 };
    struct http_url u;
    struct error e;

    seen_open(&s);
    server_start(&server, "127.0.0.1", 0);
    assert_true(http_url_parse(&s.arena, str_of(url_of(&s, &server, "127.0.0.1")), &u, &e));
    s.call = http_start(s.http, &(struct http_request){ .url = &u }, &ops, &s, &e);
    http_cancel(s.call);
    run_for(s.loop, 60);
    http_start(s.http, &(struct http_request){ .url = &u }, &ops, &s, &e);
    http_free(take_ptr(&s.http));
    run_for(s.loop, 60);
    server_stop(&server);
    assert_int_equal(server.connections, 0);
    assert_int_equal(s.dones, 0);
    seen_close(&s);
    (void)state;
}

/* security.md 3.1: a sender that is quicker than its reader does not get the loop for itself.
 */
static void a_flood_leaves_turns_to_others(void **state)
{
    auto_buf answer = BUF((size_t)4 << 20);
    struct server server = { 0 };
    struct seen s = { .then = SLOW };

    (void)state;
    buf_addz(&answer, "HTTP/1.1 200 OK\r\n\r\n");
    buf_fill(&answer, 'x', (size_t)2 << 20);
    server.portions[0] = buf_str(&answer);
    exchange(&s, &server, (struct http_request){ .total_ms = 20000 });
    assert_int_equal(s.dones, 1);
    assert_int_equal(s.why.kind, ERR_NONE);
    assert_int_equal(s.body.n, (size_t)2 << 20);
    assert_true(s.ticks > 20); /* of about a hundred and thirty pieces, two at most in a turn */
    seen_close(&s);
}

/* SV-9 */
static void the_environment_names_no_proxy_for_us(void **state)
{
    struct server server = { .portions = { BYTES("HTTP/1.1 200 OK\r\n\r\nabc") } };
    struct seen s = { 0 };

    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    exchange(&s, &server, (struct http_request){ 0 });
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    assert_str(buf_str(&s.body), "abc");
    seen_close(&s);
    (void)state;
}

/* ---- TLS, against openssl's own server ---- */

static pid_t start_tls(const char *dir, int port)
{
    auto_arena a = ARENA;
    pid_t pid;
    int status;

    status = system(arena_printf(
        &a,
        "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        " -keyout key.pem -out cert.pem -days 2 -subj /CN=tester"
        " -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null",
        dir));
    if (status != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        execlp("sh", "sh", "-c",
               arena_printf(&a,
                            "cd %s && exec openssl s_server -quiet -www -accept 127.0.0.1:%d"
                            " -key key.pem -cert cert.pem >/dev/null 2>&1",
                            dir, port),
               (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void wait_for_port(int port)
{
    struct sockaddr_in in = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };

    for (int i = 0; i < 500 * slack(); i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        bool up = connect(fd, (struct sockaddr *)&in, sizeof in) == 0;

        close(fd);
        if (up)
            return;
        usleep(10000);
    }
    fail_msg("openssl s_server does not listen");
}

static void a_certificate_is_accepted_only_from_a_trusted_issuer(void **state)
{
    struct http_opts opts = { 0 };
    struct server spare = { 0 }; /* a free port */
    struct seen s = { 0 };
    char dir[PATH_MAX];
    struct error e;
    pid_t pid;

    make_temp_dir(dir);
    server_start(&spare, "127.0.0.1", 0);
    server_stop(&spare);
    pid = start_tls(dir, spare.port);
    if (pid < 0) {
        remove_tree(dir);
        print_message("no openssl program here\n");
        skip();
    }
    wait_for_port(spare.port);
    seen_open(&s);
    get(&s, arena_printf(&s.arena, "https://127.0.0.1:%d/", spare.port),
        (struct http_request){ 0 });
    assert_int_equal(s.why.kind, ERR_PROTOCOL);
    assert_has(s.why.msg, "certificate");
    http_free(s.http);
    opts.ca_file = arena_printf(&s.arena, "%s/cert.pem", dir);
    s.http = http_new(s.loop, &opts, &e);
    get(&s, arena_printf(&s.arena, "https://127.0.0.1:%d/", spare.port),
        (struct http_request){ 0 });
    if (s.why.kind != ERR_NONE)
        fail_msg("%s", s.why.msg);
    assert_int_equal(s.status, 200);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    remove_tree(dir);
    seen_close(&s);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_as_head_then_body_then_the_end),
        cmocka_unit_test(method_headers_and_body_go_out_as_given),
        cmocka_unit_test(a_header_with_a_line_break_is_refused),
        cmocka_unit_test(what_breaks_a_rule_of_framing_or_a_ceiling_is_broken_off),
        cmocka_unit_test(a_packed_body_that_is_cut_off_is_no_success),
        cmocka_unit_test(a_header_line_that_is_too_long_is_said_to_be_so),
        cmocka_unit_test(a_pinned_name_is_connected_to_its_pin_and_nowhere_else),
        cmocka_unit_test(a_connection_is_used_again_unless_the_call_wants_its_own),
        cmocka_unit_test(cancelled_or_freed_anywhere_nothing_is_called_back),
        cmocka_unit_test(a_call_cancelled_before_it_began_never_connects),
        cmocka_unit_test(a_flood_leaves_turns_to_others),
        cmocka_unit_test(the_environment_names_no_proxy_for_us),
        cmocka_unit_test(a_certificate_is_accepted_only_from_a_trusted_issuer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
