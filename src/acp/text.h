/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Message and thought chunks on their way to events (docs/spec/tasks.md ACP-12): put together
 * as long as kind and message id stay the same. Pure; the session flushes each second and
 * before any other event.
 */
#ifndef SYM_ACP_TEXT_H
#define SYM_ACP_TEXT_H

#include "acp/session.h"
#include "base/buf.h"

enum acp_text_kind { ACP_TEXT_MESSAGE, ACP_TEXT_THOUGHT };

/* One event: `data` of ACP_EV_MESSAGE or ACP_EV_THOUGHT. */
typedef void (*acp_text_fn)(void *ctx, enum acp_event type, struct str data);

struct acp_text {
    acp_text_fn fn;
    void *ctx;
    struct buf pending;      /* not told yet */
    enum acp_text_kind kind; /* of pending */
    bool replaces;           /* pending is the beginning of a whole message */
    struct acp_voice {       /* the message that was last spoken of, by kind */
        struct str id;       /* owned; empty: none, or it had none */
        bool open;           /* a chunk without an id would belong to it */
        bool told;           /* some of it went out: what follows continues it */
        struct buf said;     /* all of it, for whole messages to be compared with */
    } voices[2];
};

void acp_text_init(struct acp_text *t, acp_text_fn fn, void *ctx);
void acp_text_free(struct acp_text *t);

/* `id` is empty when the chunk has none. May call fn for what was pending. */
void acp_text_chunk(struct acp_text *t, enum acp_text_kind kind, struct str id,
                    struct str text);
/* A whole message: only what is new of it is told, or all of it as a replacement. */
void acp_text_whole(struct acp_text *t, enum acp_text_kind kind, struct str id,
                    struct str text);
void acp_text_flush(struct acp_text *t);
/* Something else happened: flushes, and a message without an id ends here. */
void acp_text_break(struct acp_text *t);

#endif
