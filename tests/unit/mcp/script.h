/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A server under a script of lines:
 *   >TEXT     the client sends this line
 *   <PATTERN  the server's next message matches this pattern (see matches()); messages come in
 * order, none may be left when the client sends the next line or the script ends !WORD N   what
 * happens at the server: finish (all slow calls are answered), changed, eof, toolong, wait N
 * ms, open N (so many requests are open), or what the definition's own actions are
 */
#ifndef SYM_TEST_MCP_SCRIPT_H
#define SYM_TEST_MCP_SCRIPT_H

#include "mcp/server.h"

struct script_server;

/* Another definition than the usual one. `act` gets a line's words without the "!"; false: it
 * is no action of its own. */
struct script_def {
    struct mcp_server_def mcp; /* its functions get the script_server as ctx */
    bool asks;                 /* may send requests to the client */
    bool (*act)(struct script_server *s, struct str word, struct str rest);
};

struct script_server *script_server_new(struct loop *l);
struct mcp_server *script_server_get(struct script_server *s);
void script_server_free(struct script_server *s);
void script_line(struct script_server *s, const char *line);
void script_done(struct script_server *s);               /* nothing is left unread */
unsigned script_sessions(const struct script_server *s); /* times on_session was called */
unsigned script_cancels(const struct script_server *s); /* times a cancel function was called */
unsigned script_messages(const struct script_server *s); /* messages sent so far */

/* A server of its own, on a loop of its own, for these lines up to NULL. */
void script_run(const char *const *lines);
void script_run_as(const struct script_def *def, const char *const *lines);

#endif
