/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A server on stdin and stdout: framing, end of input, hang-up, signals (MS-3, mcp.md 4). stdin
 * EOF: what was accepted is answered, then `done` (why == STDIO_EOF). stdout closed or broken,
 * or a signal: `done` at once. `done` is called exactly once.
 */
#ifndef SYM_MCP_STDIO_H
#define SYM_MCP_STDIO_H

#include "mcp/server.h"

enum stdio_end { STDIO_EOF, STDIO_HANGUP, STDIO_SIGNAL };

struct mcp_stdio;
struct mcp_stdio *mcp_stdio_new(struct loop *l, const struct mcp_server_def *def, void *ctx,
                                void (*done)(void *ctx, enum stdio_end why));
struct mcp_server *mcp_stdio_server(struct mcp_stdio *s);
size_t mcp_stdio_queued(const struct mcp_stdio *s); /* bytes that stdout has not taken yet */
/* Frees; what is still queued for stdout goes out first while the loop runs on (loop_run
 * returns once it is out): as long as none of it is taken, at most flush_ms, and five times
 * that in all. Nothing is called back any more. */
void mcp_stdio_free(struct mcp_stdio *s, int flush_ms);

#endif
