/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the everyday MCP servers share (servers.md 2): the table of tools, tools/list made from
 * it, the way a call is answered, the life of the process on stdin and stdout. Each server is a
 * definition and its handlers; a handler answers with tool_reply() or job_start() (job.h).
 */
#ifndef SYM_SERVERS_SERVER_H
#define SYM_SERVERS_SERVER_H

#include "mcp/server.h"

/*
 * An answer line is at most this long (SV-30), 9.5 MiB: clients of the TypeScript SDK close the
 * connection when a line and what was read together with it passes 10 MiB.
 */
#define ANSWER_MAX ((size_t)19 << 19)
/* The result in it: beside it stand the id, the name and version of the server. */
#define RESULT_MAX (ANSWER_MAX - ((size_t)4 << 10))

enum hint { HINT_ABSENT, HINT_FALSE, HINT_TRUE };

struct tool {
    const char *name, *title, *description;
    const char *input;  /* inputSchema, JSON text */
    const char *output; /* outputSchema, JSON text; NULL: none */
    enum hint read_only, destructive, idempotent, open_world;
    /* `args` is an object or NULL; valid as long as the request. ctx is server_run()'s. */
    void (*call)(void *ctx, struct mcp_req *r, yyjson_val *args);
};

struct server;

struct server_spec {
    /* Name, instructions, cache scope, and the hooks of prompts and resources; all hooks get
     * server_run()'s ctx. The tools_* members stay NULL: they are made from `tools`. version:
     * NULL is ours. */
    struct mcp_server_def mcp;
    const struct tool *tools; /* in the order of tools/list; none: no tools capability */
    size_t ntools;
    const char
        *split_advice; /* how to get a result over ANSWER_MAX in parts: "use head or tail" */

    /* Optional. The loop and the MCP server exist, nothing was read yet. */
    void (*start)(void *ctx, struct server *s);
    /*
     * Optional. Requests were answered or cancelled, and there is no MCP server any more: end
     * what still runs, free what you have on the loop, then call server_stopped(), now or
     * later; until then something of yours keeps the loop going. at_once: after a signal or
     * hang-up. Called again, with at_once, for each signal that comes meanwhile.
     */
    void (*stop)(void *ctx, struct server *s, bool at_once);
};

/* Serves until stdin closes, stdout closes or a signal comes (SV-11); the exit status. A job
 * that is stuck in the kernel then is left behind: the process ends here. */
int server_run(const struct server_spec *def, void *ctx);

struct outlet *server_outlet(struct server *s);
const struct server_spec *server_spec_of(const struct server *s);
struct loop *server_loop(struct server *s);
struct mcp_server *server_mcp(struct server *s);
void server_stopped(struct server *s);

/* ---- answers ---- */

/*
 * A CallToolResult under construction; may be filled on a pool thread. With `content` empty the
 * one content block is `text`. With `structured` empty there is no structuredContent.
 */
struct answer {
    struct buf text;       /* any bytes; invalid UTF-8 becomes U+FFFD */
    struct buf content;    /* JSON: the blocks, without the brackets, separated by commas */
    struct buf structured; /* JSON: structuredContent */
    bool structured_text;  /* structuredContent is {"content": text} (FS-1) */
    bool is_error;
};

#define ANSWER        \
    ((struct answer){ \
        .text = BUF(ANSWER_MAX), .content = BUF(ANSWER_MAX), .structured = BUF(ANSWER_MAX) })

/* Makes it an error with this text, whatever it held; returns false. A text over 64 KiB is cut
 * off there. */
__attribute__((format(printf, 2, 3))) bool answer_error(struct answer *a, const char *fmt, ...);
void answer_free(struct answer *a);
/* The CallToolResult, to be freed; too long a one has become the error of SV-30. Any thread. */
struct buf answer_json(const struct answer *a, const struct server_spec *def);

/* Answers and frees `a`'s buffers. Too long: a tool error that names the size and the server's
 * split_advice (SV-30). `def` is the server's definition, for that. */
void tool_reply(struct mcp_req *r, const struct server_spec *def, struct answer *a);
/* The error result with this text (SV-18). */
__attribute__((format(printf, 2, 3))) void tool_fail(struct mcp_req *r, const char *fmt, ...);

#endif
