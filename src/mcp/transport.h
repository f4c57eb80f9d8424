/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How a client's messages come and go. The client is one code for all of them: it gives JSON
 * texts to ops->send(), and a transport gives what arrives to client_on_message(), and what
 * will never arrive to peer_call_fail(). It ends with client_close(). Only for client*.c and
 * http*.c.
 */
#ifndef SYM_MCP_TRANSPORT_H
#define SYM_MCP_TRANSPORT_H

#include "mcp/client.h"

struct transport_ops {
    /* Begins; answers are given later, never from inside. */
    bool (*start)(struct mcp_client *c, struct error *e);
    /* Takes one message, without newline; the bytes are copied. */
    bool (*send)(struct mcp_client *c, struct str message, struct error *e);
    /* The request with this id (JSON text) was given up: what belongs to it may go. Where
     * that alone is a cancellation, true; else the server must be told. */
    bool (*forget)(struct mcp_client *c, struct str id);
    /* Orderly; client_close() follows, not from inside. */
    void (*stop)(struct mcp_client *c, struct child_ladder ladder);
    /* At once and silently. Called when there is nothing, too. */
    void (*drop)(struct mcp_client *c);
    /* For messages: " (command: npx x; stderr: ...)", " (url: https://host/mcp)". */
    void (*put_who)(const struct mcp_client *c, struct buf *out);
    /* Silence after the probe may be a slow server, not an outage: initialize goes out beside
     * it. */
    bool silent_probe;
};

extern const struct transport_ops transport_child, transport_http;

#endif
