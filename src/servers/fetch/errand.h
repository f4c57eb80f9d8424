/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One fetch, of the tool or of the prompt, from its URL to its answer:
 *
 *     CHECKING ──> LOADING ──> RENDERING ──> answered
 *         ^            │ redirect, at most ERRAND_REDIRECTS_MAX
 *         └────────────┘
 *
 * At most ERRAND_MAX are under way, since each may hold a body of ERRAND_BODY_MAX; WAITING
 * comes before CHECKING then. The prompt goes straight to LOADING, and so does the tool with
 * --ignore-robots-txt. All of it up to RENDERING has ERRAND_MS; a cancelled request ends it
 * wherever it is.
 */
#ifndef SYM_SERVERS_FETCH_ERRAND_H
#define SYM_SERVERS_FETCH_ERRAND_H

#include "servers/fetch/gate.h"
#include "servers/server.h"

#define ERRAND_MS            30000
#define ERRAND_MAX           32                /* at once; further ones wait, in order */
#define ERRAND_BODY_MAX      ((size_t)8 << 20) /* decoded bytes */
#define ERRAND_REDIRECTS_MAX 10
#define ERRAND_LENGTH_MAX    999999 /* code points of one answer */

struct errand;

struct fetcher {
    struct server *server;
    struct net net;
    struct gate *gate; /* NULL: robots.txt is not asked */
    struct str tool_agent, prompt_agent;
    unsigned running;
    struct errand *waiting; /* oldest first */
};

struct errand_request {
    struct str url; /* as given */
    int64_t max_length, start_index;
    bool raw;
    bool prompt; /* answers a prompts/get instead of a tools/call */
};

/* Takes the request and answers it, also when the arguments are wrong (FE-2). */
void errand_start(struct fetcher *f, struct mcp_req *r, const struct errand_request *in);

#endif
