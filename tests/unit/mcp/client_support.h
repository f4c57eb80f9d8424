/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A client of fake_server under the keeper, on a loop of its own. */
#ifndef SYM_TEST_MCP_CLIENT_SUPPORT_H
#define SYM_TEST_MCP_CLIENT_SUPPORT_H

#include "mcp/client.h"

#define MAX_RULES 12

struct session {
    struct loop *loop;
    struct mcp_client *c;
    bool ready, closed;
    struct error why;
    unsigned changed;
    char log_path[64];
    struct buf log; /* what the server received, after session_log() */
};

/* An answer of a call or list, as told to its callback. */
struct answer {
    struct session *s;
    unsigned times;
    struct buf result; /* JSON text; empty on failure */
    struct buf note;
    struct error why;
};

/* rules end with NULL. startup_ms is multiplied by nothing: it is part of what is tested. */
void session_start(struct session *s, enum mcp_era_hint hint, int startup_ms,
                   const char *const *rules);
/* The callbacks that session_start() uses, for a session* as context. */
const struct mcp_client_ops *session_ops(void);
/* Runs the loop until *flag; fails the test after ms * slack. */
void session_until(struct session *s, const bool *flag, int ms);
void session_until_count(struct session *s, const unsigned *count, unsigned n, int ms);
/* What the server has received so far, one message a line. */
const char *session_log(struct session *s);
void session_end(struct session *s);

uint64_t session_call(struct session *s, struct answer *a, const char *tool, int timeout_ms);
uint64_t session_call_s(struct session *s, struct answer *a, struct str tool, int timeout_ms);
void session_list(struct session *s, struct answer *a, int timeout_ms);
void answer_free(struct answer *a);

unsigned count_of(const char *text, const char *part);
/* The parts are in the text or, after a '!', not in it. */
void assert_parts(const char *text, const char *const *parts, const char *where);

#endif
