/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The three dialects of model providers (AG-22 to AG-24), over one model: a history of items in
 * the provider's own form, a request made of it, a turn read from the answer. Pure: no I/O.
 *
 * A history is JSON values with commas between them, so that a request is made by putting it
 * between brackets and nothing is parsed twice.
 */
#ifndef SYM_SERVERS_AGENTS_WIRE_H
#define SYM_SERVERS_AGENTS_WIRE_H

#include "servers/agents/definition.h"

#define WIRE_BODY_MAX  ((size_t)8 << 20) /* of a request, and of an answer (AG-20) */
#define WIRE_CALLS_MAX 128               /* calls of one answer */

/* A tool as the provider sees it. */
struct wire_tool {
    struct str name, description, schema; /* schema: JSON object */
};

struct wire_request {
    const struct agent_def *def;
    struct str system;
    struct str history;
    const struct wire_tool *tools;
    size_t ntools;
    int max_tokens; /* messages */
};

struct wire_call {
    struct str id, name, args; /* args: JSON text, as the model wrote it */
};

struct wire_turn {
    struct str items; /* of the history, for what the model said */
    struct str text;
    struct wire_call *calls;
    size_t ncalls, cap;
    bool again; /* the provider wants the same history once more (pause_turn) */
};

struct wire_result {
    struct str id, output;
    bool is_error;
};

const char *wire_path(enum wire_api w); /* what stands behind the base URL */

void wire_put_request(struct buf *out, const struct wire_request *r);
void wire_put_user(struct buf *history, enum wire_api w, struct str text);
/* The results of all calls of a turn, in its order. */
void wire_put_results(struct buf *history, enum wire_api w, const struct wire_result *v,
                      size_t n);
void wire_put_items(struct buf *history, struct str items);

/* Reads an answer; what it gives lives in the arena and the document. ERR_PROTOCOL: it is none,
 * or one that says that the model stopped for a reason that leaves nothing to go on with. The
 * text is ours, never the provider's. */
bool wire_read(struct arena *a, enum wire_api w, yyjson_val *answer, struct wire_turn *ret,
               struct error *e);

/* An error answer that complains about the length of the context; one that names max_tokens. */
bool wire_is_context_limit(int status, struct str body);
bool wire_names_max_tokens(int status, struct str body);

#endif
