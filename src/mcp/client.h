/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An MCP client of one server, both eras, over stdio (mcp.md 1.3) or HTTP (1.4, 5). It spawns
 * the server under a keeper, or connects; finds the era (a cached verdict skips the probe),
 * handshakes, and then lists and calls. It does not restart: policy is the caller's
 * (meta/backend). Over HTTP the connection counts as lost, and on_closed comes, when a request
 * gets no answer at all; a legacy session that the server forgot is begun anew unseen.
 *
 *   START -> HANDSHAKE (probe, fall-back, initialize) -> READY -> CLOSED
 *
 * Everything the server sends is data: bounds of security.md 3.2, ids checked by rpc/peer, its
 * own requests answered by us (MS-73). Callbacks are never called from inside
 * mcp_client_start() or mcp_client_call().
 */
#ifndef SYM_MCP_CLIENT_H
#define SYM_MCP_CLIENT_H

#include "loop/child.h"
#include "loop/http.h"
#include "mcp/era.h"
#include "rpc/peer.h"

#define MCP_PROBE_TIMEOUT_MS 3000
#define MCP_MAX_PAGES        100
/* Bytes of one server's whole list: 5,000 tools of 20 KB must pass (SEC-42). */
#define MCP_LIST_MAX       ((size_t)128 << 20)
#define MCP_MAX_TOOLS      10000
#define MCP_MRTR_ROUNDS    10
#define MCP_ERROR_TEXT_MAX 4096 /* bytes kept of a server's error message (MS-50) */
#define MCP_STDERR_SHOWN   400  /* characters of stderr in a failure text (MS-53) */
/* More lines, or bytes in them, that are no messages before the handshake is done: start
 * failed. */
#define MCP_JUNK_LINES 1000
#define MCP_JUNK_BYTES ((size_t)1 << 20)
/* The server reads nothing of what waits for it that long: stopped. */
#define MCP_STDIN_STALL_MS        30000
#define MCP_SERVER_REQUESTS_PER_S 100 /* of the server's own; the rest is dropped */

/* A modern server is asked server/discover in any case (its capabilities decide whether we
 * listen); a legacy hint skips that. */
enum mcp_era_hint { MCP_ERA_UNKNOWN, MCP_ERA_LEGACY, MCP_ERA_MODERN };

/* A server reached by its URL. */
struct mcp_remote {
    const char *url;
    bool sse; /* HTTP+SSE of 2024-11-05 at once, not as the last resort */
    const struct http_field *headers; /* sent with every request, never after a redirect */
    size_t nheaders;
    bool allow_private;  /* addresses of private networks (MS-63) */
    const char *proxy;   /* NULL: none; loopback is always reached without it */
    const char *ca_file; /* PEM; NULL: the system's */
};

/* What can be said of its URL and headers without connecting: ERR_INVALID, ERR_DENIED (MS-63).
 */
bool mcp_remote_check(const struct mcp_remote *r, struct error *e);

/* How a remote server is reached, as far as it got, for who looks for what is wrong. */
struct mcp_route {
    size_t addresses;       /* judged; 0: not known, as behind a proxy */
    int resolve_ms;         /* -1: nothing was looked up */
    int connect_ms, tls_ms; /* of the latest connection, from its start; -1: none, no TLS */
};

#define MCP_HTTP_REDIRECTS    3
#define MCP_HTTP_RESUMES      5    /* attempts in a row to go on with a stream that was cut */
#define MCP_HTTP_RETRY_MS     1000 /* before each, unless the server says otherwise */
#define MCP_HTTP_RETRY_MAX_MS 60000
#define MCP_HTTP_VETTED_MS    30000 /* how long the addresses of a name, once judged, are used */

struct mcp_client_opts {
    const char *label;               /* for messages and logs: the server's name */
    const struct mcp_remote *remote; /* instead of path, argv, env and cwd; NULL: a child */
    const char *path; /* the file to execute; NULL: as argv[0] says (loop/child.h) */
    const char *const *argv;
    const char *const *env; /* complete */
    const char *cwd;
    int startup_timeout_ms; /* spawn to ready */
    enum mcp_era_hint era;  /* from the tool cache; a failure under it falls back to probing */
    const char *client_name, *client_version;
};

struct mcp_client_ops {
    /* The handshake is done. */
    void (*on_ready)(void *ctx);
    /* Once; the connection is over: start failed (text names command, elapsed time, step, last
     * 400 characters of stderr: MS-53), crashed (exit status and last stderr line: MS-50), or
     * stopped. Open calls have ended before. */
    void (*on_closed)(void *ctx, const struct error *why);
    /* notifications/tools/list_changed, in whatever era's form; one per loop turn at most. */
    void (*on_tools_changed)(void *ctx);
};

struct mcp_client;

struct mcp_client *mcp_client_start(struct loop *l, const struct mcp_client_opts *o,
                                    const struct mcp_client_ops *ops, void *ctx);

bool mcp_client_ready(const struct mcp_client *c);
enum mcp_rev mcp_client_rev(const struct mcp_client *c);
bool mcp_client_modern(const struct mcp_client *c);
/* JSON object text, "{}" when unknown. */
struct str mcp_client_server_info(const struct mcp_client *c);
pid_t mcp_client_pid(const struct mcp_client *c);
/* Also in on_closed. All zero for a child. */
const struct mcp_route *mcp_client_route(const struct mcp_client *c);

/*
 * tools/list over all pages. `tools` is a JSON array text of the raw tool objects as the server
 * wrote them, valid during the call. `note` is not empty when the list was ended by a cap or a
 * repeated cursor (a problem line, MS-19). Tools that need task support are listed, and a call
 * of one fails at once (mcp.md 7.1).
 */
typedef void (*mcp_tools_fn)(void *ctx, struct str tools, struct str note,
                             const struct error *e);
/* `done` is not called only when the client is being freed. */
void mcp_client_list_tools(struct mcp_client *c, int timeout_ms, mcp_tools_fn done, void *ctx);

/*
 * tools/call. `result` is the CallToolResult of the last round, valid during the call; NULL
 * with *e set on failure: the server's error message, "timed out after N s", or the crash text.
 * input_required with requestState only is retried up to MCP_MRTR_ROUNDS; with inputRequests
 * the call fails with "needs user input" (MS-73). A timeout or cancel sends
 * notifications/cancelled and leaves the server alive (MS-57). Each call carries a progress
 * token: progress starts its timeout again, up to PEER_HARD_TIMEOUT_MS. Returns 0, and never
 * calls `done`, only while the client is being freed.
 */
typedef void (*mcp_result_fn)(void *ctx, yyjson_val *result, const struct error *e);
uint64_t mcp_client_call(struct mcp_client *c, struct str tool, struct str args_json,
                         int timeout_ms, mcp_result_fn done, void *ctx);
/* `done` gets ERR_CLOSED "cancelled" before this returns. */
void mcp_client_cancel(struct mcp_client *c, uint64_t call);
size_t mcp_client_inflight(const struct mcp_client *c);

/* The text of a failed start (MS-53) for a step the caller runs itself, e.g. "tools/list":
 * command, elapsed time, step, `why`, last 400 characters of stderr. Sets *ret and returns
 * false. */
bool mcp_client_start_error(const struct mcp_client *c, const char *step,
                            const struct error *why, struct error *ret);

/* stdin close, TERM, KILL; on_closed follows. */
void mcp_client_stop(struct mcp_client *c, struct child_ladder ladder);
/* Kills at once; no callbacks any more except those of open calls, which end with ERR_CLOSED.
 */
void mcp_client_free(struct mcp_client *c);

#endif
