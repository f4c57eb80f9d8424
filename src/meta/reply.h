/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The reply text of one script (MS-38, MS-39, MS-41). Pure: everything it says is given. */
#ifndef SYM_META_REPLY_H
#define SYM_META_REPLY_H

#include "meta/catalog.h"
#include "meta/results.h"
#include "sandbox/host.h"

#define REPLY_MAX ((size_t)32 << 20)

/* A backing tool's finished calls, in order of first finish. */
struct finished_call {
    struct str what; /* "server.tool" */
    unsigned times;
};

struct reply {
    const struct script_end *end;
    const struct sandbox_limits *limits;
    const struct finished_call *finished;
    size_t nfinished;
    size_t bytes_in;        /* JSON of all results that the script was given */
    const struct str *tags; /* without brackets: "server.tool: result off-shape, ..." */
    size_t ntags;
    const struct catalog *catalog; /* its problem lines, without remarks */
    struct results *results;       /* keeps a cut value */
};

/* Returns whether it is an error result. */
bool reply_put(struct buf *out, const struct reply *r);

/* "[line]" for each problem of the catalog. */
void reply_put_problems(struct buf *out, const struct catalog *c);

#endif
