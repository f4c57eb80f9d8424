/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The client over HTTP, against a server in a thread that answers by rules: the first whose
 * `when` occurs in the request (head and body) is written out, `$ID` replaced by the request's
 * id, and the connection closed. "hold" in `then` keeps it open until the client closes it.
 */
#include "support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "client_support.h"
#include "loop/resolve.h"

/* ---- the server ---- */

#define RULES_MAX 12
#define SEEN_MAX  ((size_t)1 << 20)

struct rule {
    const char *when, *then;
    int times; /* 0: always */
};

struct server {
    const struct rule *rules;
    int used[RULES_MAX];
    int fd, port;
    volatile bool stop;
    pthread_t thread, workers[64];
    size_t nworkers;
    pthread_mutex_t lock;
    struct buf seen; /* every request, one after another */
};

struct connection {
    struct server *s;
    int fd;
};

static bool readable(const struct server *s, int fd)
{
    struct pollfd p = { fd, POLLIN, 0 };

    while (!s->stop)
        if (poll(&p, 1, 10) > 0)
            return true;
    return false;
}

static size_t length_of(const char *head)
{
    const char *at = strcasestr(head, "content-length:");

    return at ? strtoul(at + 15, NULL, 10) : 0;
}

static bool read_request(struct server *s, int fd, struct buf *in)
{
    for (;;) {
        char part[4096], *end = in->p ? strstr(in->p, "\r\n\r\n") : NULL;
        ssize_t n;

        if (end && in->n >= (size_t)(end - in->p) + 4 + length_of(in->p))
            return true;
        if (!readable(s, fd) || (n = recv(fd, part, sizeof part, 0)) <= 0)
            return false;
        buf_add(in, (struct str){ part, (size_t)n });
    }
}

static const char *rule_for(struct server *s, const char *request)
{
    for (size_t i = 0; s->rules[i].when; i++) {
        if (!strstr(request, s->rules[i].when) ||
            (s->rules[i].times && s->used[i] >= s->rules[i].times))
            continue;
        s->used[i]++;
        return s->rules[i].then;
    }
    return "404 none";
}

static void put_id(struct buf *out, const char *request)
{
    const char *id = strstr(request, "\"id\":");

    if (id)
        buf_add(out, (struct str){ id + 5, strcspn(id + 5, ",}") });
}

/* "200 json {..}", "200 events data: ..", "307 /path", "202", "close". */
static void put_answer(struct buf *out, const char *then, const char *request)
{
    auto_buf body = BUF(1 << 20);
    int status = atoi(then);
    const char *rest = strchr(then, ' ') ? strchr(then, ' ') + 1 : "";
    bool events = strncmp(rest, "events ", 7) == 0, json = strncmp(rest, "json ", 5) == 0;

    if (json || events)
        rest = strchr(rest, ' ') + 1;
    for (const char *p = status / 100 == 3 ? "" : rest; *p; p++) {
        if (strncmp(p, "$ID", 3) == 0) {
            put_id(&body, request);
            p += 2;
        } else {
            buf_addc(&body, *p);
        }
    }
    buf_addf(out, "HTTP/1.1 %d X\r\nConnection: close\r\n", status);
    if (strstr(request, "\"initialize\"") && status == 200)
        buf_addz(out, "Mcp-Session-Id: s-1\r\n");
    if (json || events)
        buf_addf(out, "Content-Type: %s\r\n", json ? "application/json" : "text/event-stream");
    if (status / 100 == 3)
        buf_addf(out, "Location: %s\r\n", rest);
    if (!events)
        buf_addf(out, "Content-Length: %zu\r\n", body.n);
    buf_addz(out, "\r\n");
    buf_add(out, buf_str(&body));
}

static void *work(void *ctx)
{
    struct connection *c = ctx;
    struct server *s = c->s;
    auto_buf in = BUF(SEEN_MAX), out = BUF(1 << 20);
    const char *then;
    char end[64];

    if (read_request(s, c->fd, &in)) {
        pthread_mutex_lock(&s->lock);
        buf_add(&s->seen, buf_str(&in));
        buf_addz(&s->seen, "\n");
        then = rule_for(s, buf_z(&in));
        pthread_mutex_unlock(&s->lock);
        if (strcmp(then, "close") != 0) {
            put_answer(&out, then, buf_z(&in));
            send(c->fd, out.p, out.n, MSG_NOSIGNAL);
        }
        if (strstr(then, "hold") && readable(s, c->fd) &&
            recv(c->fd, end, sizeof end, 0) == 0) {
            pthread_mutex_lock(&s->lock);
            buf_addz(&s->seen, "[closed by the client]\n");
            pthread_mutex_unlock(&s->lock);
        }
        shutdown(c->fd, SHUT_WR);
    }
    close(c->fd);
    free(c);
    return NULL;
}

static void *serve(void *ctx)
{
    struct server *s = ctx;

    while (readable(s, s->fd)) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
        struct connection *c;

        if (fd < 0 || s->nworkers == ARRAY_LEN(s->workers))
            break;
        c = NEW(struct connection);
        *c = (struct connection){ s, fd };
        pthread_create(&s->workers[s->nworkers++], NULL, work, c);
    }
    return NULL;
}

static void server_start(struct server *s, const struct rule *rules)
{
    struct sockaddr_in in = { .sin_family = AF_INET };
    socklen_t n = sizeof in;

    *s = (struct server){ .rules = rules, .seen = BUF(SEEN_MAX) };
    pthread_mutex_init(&s->lock, NULL);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(listen(s->fd, 16), 0);
    getsockname(s->fd, (struct sockaddr *)&in, &n);
    s->port = ntohs(in.sin_port);
    pthread_create(&s->thread, NULL, serve, s);
}

static void server_stop(struct server *s)
{
    s->stop = true;
    pthread_join(s->thread, NULL);
    for (size_t i = 0; i < s->nworkers; i++)
        pthread_join(s->workers[i], NULL);
    close(s->fd);
    buf_free(&s->seen);
}

/* ---- one client of it ---- */

static void open_url(struct session *s, const char *url, const struct mcp_remote *like)
{
    struct mcp_remote remote = like ? *like : (struct mcp_remote){ 0 };
    struct mcp_client_opts o = {
        .label = "far",
        .remote = &remote,
        .startup_timeout_ms = 3000 * slack(),
        .client_name = "unit",
        .client_version = "0",
    };

    remote.url = url;
    *s = (struct session){ .log = BUF(1 << 20) };
    s->loop = loop_new();
    s->c = mcp_client_start(s->loop, &o, session_ops(), s);
    while (!s->ready && !s->closed)
        run_until_stopped(s->loop, 5000);
}

static void close_session(struct session *s)
{
    mcp_client_free(s->c);
    run_for(s->loop, 1);
    loop_free(s->loop);
    buf_free(&s->log);
}

static void connect_to(struct session *s, const struct server *server,
                       const struct mcp_remote *like)
{
    char url[64];

    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", server->port);
    open_url(s, url, like);
}

#define RESULT(r) "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":" r "}"
#define FAILURE(c) \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":" c ",\"message\":\"no\"}}"
#define MODERN                                                                       \
    {                                                                                \
        "server/discover",                                                           \
            "200 json " RESULT("{\"resultType\":\"complete\",\"supportedVersions\":" \
                               "[\"2026-07-28\"],\"capabilities\":{}}"),             \
            0                                                                        \
    }
#define NO_PROBE                                            \
    {                                                       \
        "server/discover", "400 json " FAILURE("-32000"), 0 \
    }
#define LEGACY                                                                                \
    {                                                                                         \
        "\"initialize\"",                                                                     \
            "200 json " RESULT("{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}"), 0 \
    }
#define ACCEPTED                   \
    {                              \
        "notifications/", "202", 0 \
    }
#define TEXT(t) "{\"content\":[{\"type\":\"text\",\"text\":\"" t "\"}]}"

struct row {
    const char *what;
    struct rule rules[RULES_MAX];
    const char *parts[8]; /* of the call's answer or failure, or of the start's failure */
    const char *sent[8];  /* of all requests */
};

static const struct row rows[] = {
    { "MCP-C16: modern, JSON; every header says what the body says",
      { MODERN, { "tools/call", "200 json " RESULT(TEXT("fine")), 0 } },
      { "fine" },
      { "Mcp-Method: server/discover", "Mcp-Method: tools/call", "Mcp-Name: t",
        "MCP-Protocol-Version: 2026-07-28", "Content-Type: application/json",
        "Accept: application/json, text/event-stream", "!Mcp-Session-Id" } },
    { "MCP-C16: modern, events, with a comment and a notification before the answer",
      { MODERN,
        { "tools/call",
          "200 events : hello\n\ndata: "
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}"
          "\n\nevent: message\ndata: " RESULT(TEXT("fine")) "\n\n",
          0 } },
      { "fine" },
      { NULL } },
    { "MCP-C17, C1: legacy after a refused probe; session and revision on what follows",
      { NO_PROBE, LEGACY, ACCEPTED, { "tools/call", "200 json " RESULT(TEXT("fine")), 0 } },
      { "fine" },
      { "Mcp-Session-Id: s-1", "MCP-Protocol-Version: 2025-11-25",
        "notifications/initialized" } },
    { "MCP-C17: a session that is gone is begun anew, and the call sent once more",
      { NO_PROBE,
        LEGACY,
        ACCEPTED,
        { "tools/call", "404 json " FAILURE("-32001"), 1 },
        { "tools/call", "200 json " RESULT(TEXT("fine")), 0 } },
      { "fine" },
      { NULL } },
    { "MCP-C17: and where the server says so with 400",
      { NO_PROBE,
        LEGACY,
        ACCEPTED,
        { "tools/call", "400 json " FAILURE("-32000"), 1 },
        { "tools/call", "200 json " RESULT(TEXT("fine")), 0 } },
      { "fine" },
      { NULL } },
    { "MCP-C17: a stream with ids that was cut goes on where it ended",
      { NO_PROBE,
        LEGACY,
        ACCEPTED,
        { "tools/call", "200 events retry: 20\nid: e-7\ndata:\n\n", 0 },
        { "Last-Event-ID: e-7",
          "200 events data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":" TEXT("fine") "}\n\n",
          0 } },
      { "fine" },
      { "GET /mcp", "Last-Event-ID: e-7" } },
    { "a stream without ids that was cut has lost the answer",
      { MODERN, { "tools/call", "200 events : nothing\n\n", 0 } },
      { "ended before it was complete" },
      { NULL } },
    { "an answer that is cut within its text is none",
      { MODERN, { "tools/call", "200 json {\"jsonrpc\":\"2.0\",\"id\":2,\"res", 0 } },
      { "HTTP 200 without an answer" },
      { NULL } },
    { "an answer to another request is none",
      { MODERN, { "tools/call", "200 json {\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}", 0 } },
      { "HTTP 200 without an answer" },
      { NULL } },
    { "202 is no answer to a request",
      { MODERN, { "tools/call", "202", 0 } },
      { "HTTP 202 without an answer" },
      { NULL } },
    { "an error without an id is this request's",
      { MODERN, { "tools/call", "400 json " FAILURE("-32602"), 0 } },
      { "no" },
      { NULL } },
    { "MCP-C16: -32020: the list is read again, and the call sent once more",
      { MODERN,
        { "tools/call", "400 json " FAILURE("-32020"), 1 },
        { "tools/list", "200 json " RESULT("{\"resultType\":\"complete\",\"tools\":[]}"), 0 },
        { "tools/call", "200 json " RESULT(TEXT("fine")), 0 } },
      { "fine" },
      { "Mcp-Method: tools/list" } },
    { "MCP-C16: and once only",
      { MODERN,
        { "tools/call", "400 json " FAILURE("-32020"), 0 },
        { "tools/list", "200 json " RESULT("{\"resultType\":\"complete\",\"tools\":[]}"), 0 } },
      { "no" },
      { NULL } },
    { "401 says what to give",
      { MODERN, { "tools/call", "401", 0 } },
      { "HTTP 401", "'headers'", "Bearer ${TOKEN}" },
      { NULL } },
    { "a server's trouble is its call's",
      { MODERN, { "tools/call", "503 sorry", 0 } },
      { "HTTP 503" },
      { NULL } },
    { "MCP-C1: 401 is no era",
      { { "", "401", 0 } },
      { "start failed", "HTTP 401" },
      { "!\"initialize\"" } },
    { "MCP-C1: an outage is no era",
      { { "", "500", 0 } },
      { "start failed", "HTTP 500" },
      { "!\"initialize\"" } },
    { "MCP-C1: nothing that speaks MCP",
      { { "", "404 <html>", 0 } },
      { "start failed", "neither Streamable HTTP nor HTTP+SSE" },
      { "\"initialize\"", "GET /mcp" } },
    { "MS-63: a redirect within the origin goes without the configured headers",
      { { "/mcp ", "307 /other", 0 },
        MODERN,
        { "tools/call", "200 json " RESULT(TEXT("fine")), 0 } },
      { "fine" },
      { "POST /other", "X-Key: 7" } },
    { "MS-63, SEC-73: no redirect to another origin",
      { { "", "307 http://127.0.0.1:1/", 0 } },
      { "redirects to another place" },
      { NULL } },
    { "a redirect loop ends",
      { { "", "307 /mcp", 0 } },
      { "more than 3 redirects" },
      { NULL } },
    { "MS-63: the endpoint of HTTP+SSE must be of the same origin",
      { { "POST", "404 no", 0 },
        { "GET", "200 events event: endpoint\ndata: http://127.0.0.1:1/\n\n", 0 } },
      { "of another origin" },
      { NULL } },
};

static void check(const struct row *row)
{
    static const struct http_field key = { { "X-Key", sizeof "X-Key" - 1 },
                                           { "7", sizeof "7" - 1 } };
    struct mcp_remote like = { .headers = &key, .nheaders = 1 };
    struct server server;
    struct session s;
    struct answer a = { 0 };

    server_start(&server, row->rules);
    connect_to(&s, &server, &like);
    if (s.ready) {
        session_call(&s, &a, "t", 4000 * slack());
        session_until_count(&s, &a.times, 1, 5000);
        assert_parts(a.result.n ? buf_z(&a.result) : a.why.msg, row->parts, row->what);
        assert_int_equal(a.times, 1);
    } else {
        assert_parts(s.why.msg, row->parts, row->what);
    }
    assert_parts(buf_z(&server.seen), row->sent, row->what);
    close_session(&s);
    answer_free(&a);
    server_stop(&server);
}

static void each_exchange_ends_as_it_must(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(&rows[i]);
}

/* MCP-C12 */
static void closing_the_stream_cancels_in_the_modern_era(void **state)
{
    static const struct rule rules[] = { MODERN,
                                         { "tools/call", "200 events : hold\n\n", 0 },
                                         { 0 } };
    struct server server;
    struct session s;
    struct answer a;
    uint64_t call;

    (void)state;
    server_start(&server, rules);
    connect_to(&s, &server, NULL);
    assert_true(s.ready);
    call = session_call(&s, &a, "t", 4000 * slack());
    run_for(s.loop, 100);
    mcp_client_cancel(s.c, call);
    assert_int_equal(a.times, 1);
    run_for(s.loop, 100 * slack());
    assert_non_null(strstr(buf_z(&server.seen), "[closed by the client]"));
    assert_null(strstr(buf_z(&server.seen), "notifications/cancelled"));
    close_session(&s);
    answer_free(&a);
    server_stop(&server);
}

/* MS-63, SEC-70, SEC-71, SEC-74: refused before anything is connected to. */
static bool lookup(const char *host, struct netaddr *v, size_t *n, struct error *e)
{
    static const struct netaddr public = { { 93, 184, 216, 34 }, 4 },
                                metadata = { { 169, 254, 169, 254 }, 4 },
                                private = { { 10, 0, 0, 7 }, 4 };

    (void)e;
    if (resolve_literal(host, v)) {
        *n = 1;
        return true;
    }
    v[(*n)++] = public;
    if (strstr(host, "metadata"))
        v[(*n)++] = metadata;
    if (strstr(host, "intern"))
        v[(*n)++] = private;
    return true;
}

static void places_that_may_not_be_reached_are_refused(void **state)
{
    static const struct {
        const char *url, *why;
    } cases[] = {
        { "http://2130706433/", "plain http" },
        { "http://0x7f.1/", "plain http" },
        { "http://127.1/", "plain http" },
        { "http://[::ffff:7f00:1]/", "plain http" },
        { "http://0/", "plain http" },
        { "http://example.com/", "plain http" },
        { "https://2130706433/", "leads to 127.0.0.1" },
        { "https://0x7f.1/", "leads to 127.0.0.1" },
        { "https://[::ffff:7f00:1]/", "no remote server may have" },
        { "https://0/", "leads to 0.0.0.0" },
        { "https://169.254.169.254/", "leads to 169.254.169.254" },
        { "https://metadata.example/", "leads to 169.254.169.254" },
        { "https://intern.example/", "a dependency's plugin may not reach" },
        { "https://192.168.1.1/", "a dependency's plugin may not reach" },
        { "file:///etc/passwd", "'url'" },
        { "gopher://x/", "'url'" },
        { "https://user:pw@example.com/", "'url'" },
    };

    (void)state;
    resolve_use(lookup);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct session s;

        open_url(&s, cases[i].url, NULL);
        assert_false(s.ready);
        if (!strstr(s.why.msg, cases[i].why))
            fail_msg("%s: %s", cases[i].url, s.why.msg);
        close_session(&s);
    }
    resolve_use(NULL);
}

/* mcp.md 5: what the protocol sets may not be configured. */
static void headers_of_the_protocol_cannot_be_configured(void **state)
{
    static const struct http_field ours = { { "MCP-Session-ID", sizeof "MCP-Session-ID" - 1 },
                                            { "x", sizeof "x" - 1 } };
    struct mcp_remote like = { .headers = &ours, .nheaders = 1 };
    struct session s;

    (void)state;
    open_url(&s, "http://127.0.0.1:1/", &like);
    assert_non_null(strstr(s.why.msg, "set by the protocol"));
    close_session(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_exchange_ends_as_it_must),
        cmocka_unit_test(closing_the_stream_cancels_in_the_modern_era),
        cmocka_unit_test(places_that_may_not_be_reached_are_refused),
        cmocka_unit_test(headers_of_the_protocol_cannot_be_configured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
