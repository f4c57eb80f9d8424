/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the client role share. client.c: life, messages, the end. client_peer.c:
 * the server's own messages. client_start.c: era and handshake. client_call.c: calls and lists.
 * client_child.c, http*.c: the transports. */
#ifndef SYM_MCP_CLIENT_INTERNAL_H
#define SYM_MCP_CLIENT_INTERNAL_H

#include "base/map.h"
#include "loop/timer.h"
#include "mcp/client.h"
#include "mcp/http_fields.h"
#include "mcp/transport.h"

enum client_state { CLIENT_STARTING, CLIENT_READY, CLIENT_STOPPING, CLIENT_CLOSED };

struct mcp_call;

struct mcp_client {
    struct loop *loop;
    const struct mcp_client_ops *ops;
    void *ctx;

    /* Copies of the options; argv and env live in the arena. */
    struct arena arena;
    const char *label, *cwd, *name, *version;
    const char *path; /* NULL: argv[0] */
    const char *const *argv, *const *env;
    int startup_ms;
    enum mcp_era_hint hint;

    enum client_state state;
    unsigned busy; /* calls out that we come back from: memory stays, see client_hold() */
    const struct transport_ops *transport;
    struct child *child; /* of transport_child */
    struct link *link;   /* of transport_http */
    const struct mcp_remote *remote;
    struct mcp_route route;
    struct peer *peer;
    int64_t started_ms;
    struct timer *startup, *probe_wait, *soon, *relisten;

    /* HTTP: the status that the request had which just failed; 0: none came. Valid in its
     * reply_fn. */
    int http_status;
    struct map params; /* tool name to struct tool_params: arguments that headers repeat */

    /* Handshake. Both calls may be open at once (a slow probe, mcp.md 1.3). */
    uint64_t probe, initialize;
    unsigned discover_tries;
    enum mcp_rev rev;
    char *server_info; /* JSON object text or NULL */

    /* Lines that are no messages. */
    size_t line_n;       /* length of the line being fed */
    uint64_t junk_lines; /* all */
    uint64_t junk_bytes; /* before ready: all; after: in a row */

    uint64_t listen;  /* 0: none; a modern server tells changes only on this stream */
    char *listen_id;  /* JSON text */
    int listen_tries; /* HTTP: times that the stream was lost, in a row */

    int64_t window_ms; /* the server's own requests within a second */
    uint64_t window_n;

    struct mcp_call *calls; /* oldest first */
    size_t ncalls;
    uint64_t last_call;
    struct map task_tools; /* names that need task support */

    bool freed;
    bool probed;        /* this process was sent the probe */
    bool probe_over;    /* the next process gets none */
    bool respawned;     /* after an exit on the probe */
    bool hint_failed;   /* a server known as legacy did not answer initialize */
    bool junk_warned;   /* once a connection */
    bool faulted;       /* the line being fed is no message */
    bool listens;       /* the server offers changes of its list */
    bool tools_changed; /* to be told in the next loop turn */

    struct error start_error; /* the spawn itself failed; told in the next loop turn */
    struct error init_error;  /* initialize failed while the probe is still open */
    struct error broken;      /* why we stopped it ourselves */
};

/*
 * While held, mcp_client_free() does all its work but leaves the memory, so that code which
 * called out can ask whether the client is still there: client_release() is false when it is
 * not.
 */
void client_hold(struct mcp_client *c);
bool client_release(struct mcp_client *c);

/* The connection is over now: open calls end, then on_closed. Nothing may be touched after it
 * unless held. */
void client_close(struct mcp_client *c, const struct error *why);
/* One message arrived, or one that was too long. The client may be gone after it. */
void client_on_message(struct mcp_client *c, struct str text, bool too_long);
/* The transport and a peer on it. */
bool client_open(struct mcp_client *c, struct error *e);
/* The same, with the text of MS-53. */
void client_fail_start(struct mcp_client *c, const char *step, const struct error *why);
/* client_peer.c */
struct peer *client_peer_new(struct mcp_client *c);
/* An answer that cannot be read: nobody knows whose it is, so the oldest call fails. */
void client_fail_oldest(struct mcp_client *c, const struct error *why);
void client_notify_cancelled(struct mcp_client *c, struct str id, const char *reason);
/* The _meta object of a modern request (MCP-C4); token 0: no progress token. */
void client_put_modern_meta(struct jw *w, const struct mcp_client *c, enum mcp_rev rev,
                            uint64_t token);

/* client_start.c */
void client_handshake(struct mcp_client *c);
/* A legacy server forgot our session: initialize again. The transport holds other requests
 * back until link_session_is_back() (MCP-C17). */
void client_initialize_again(struct mcp_client *c);
void client_on_relisten(void *ctx);
void client_listen_acknowledged(struct mcp_client *c);
/* The process ended before the era was known. True: a new one was started. */
bool client_start_again(struct mcp_client *c);
void client_on_probe_wait(void *ctx);

/* client_call.c */
struct mcp_call *client_call_by_wire_id(struct mcp_client *c, struct str id);
void client_call_fail(struct mcp_client *c, struct mcp_call *call, const struct error *why);
struct mcp_call *client_oldest_call(struct mcp_client *c);
void client_call_progress(struct mcp_client *c, yyjson_val *token);

/* Ends the calls that are not on the wire: those that failed already, and with `why` all. The
 * caller holds. */
void client_end_early(struct mcp_client *c, const struct error *why);

/* ---- http.c ---- */

/* From now on HTTP+SSE of 2024-11-05; false: it was already. */
bool link_use_sse(struct mcp_client *c);
void link_session_is_back(struct mcp_client *c);
/* The stream on which a legacy server speaks unasked (mcp.md 5.3). */
void link_open_stream(struct mcp_client *c);

#endif
