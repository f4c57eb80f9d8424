/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of a session share. session.c: life, lines, the ends. start.c: up to an open
 * session. settings.c: pins, model, effort. turn.c: the prompt and its end. updates.c: updates
 * into events. asks.c: permission requests. */
#ifndef SYM_ACP_INTERNAL_H
#define SYM_ACP_INTERNAL_H

#include "acp/codec.h"
#include "acp/options.h"
#include "acp/text.h"
#include "acp/tools.h"
#include "loop/timer.h"
#include "rpc/peer.h"

#define ACP_TEXT_SHOWN    400 /* bytes of an agent's own words in a failure */
#define ACP_LIST_PAGES    64  /* of session/list */
#define ACP_SETTLE_MS     300 /* without history, after load was answered: all of it is there */
#define ACP_SETTLE_MAX_MS 5000
#define ACP_BATCH_MAX     10000 /* members of one batch (v2) that are read */
#define ACP_MEMBERS_MAX   64    /* of a tool call; one with more is kept as it is */
#define ACP_USAGE_MAX     4096  /* bytes of `usage`; a longer one is not kept */
#define ACP_REQUEST_BYTES ((size_t)16 << 20) /* of the params of one request of ours */

enum acp_state {
    ACP_INITIALIZING,
    ACP_AUTHENTICATING,
    ACP_LISTING, /* is the session to resume known? */
    ACP_OPENING, /* new, resume or load */
    ACP_SETTING,
    ACP_PROMPTING,
    ACP_STOPPED,
    ACP_FAILED,
};

/* A value of an answer or update that is kept. */
struct acp_kept {
    struct rpc_doc *doc;
    yyjson_val *v;
};

struct acp_open_ask;

struct acp_session {
    struct loop *loop;
    struct acp_session_ops ops;
    void *ctx;
    struct arena arena;   /* of the turn's copy */
    struct acp_turn turn; /* copied */
    const struct acp_codec *codec;
    struct peer *peer;
    struct timer *flush; /* set while text is pending */
    enum acp_state state;
    const char *step;  /* of the open request, for failures */
    uint64_t call;     /* of the open request */
    struct buf unsent; /* why not even `initialize` could be sent */
    unsigned busy;     /* callbacks under way */
    bool freed;

    struct acp_kept
        initialized; /* the answer to initialize; agent views it. Until the prompt */
    struct acp_agent agent;
    struct buf logins;      /* the agent's methods, for failures; empty: none */
    struct str id;          /* of the session, in the arena; empty: not open */
    int pages;              /* of session/list that were read */
    bool list_all;          /* the list is not limited to the workspace any more */
    bool known;             /* session/list has the session to resume */
    bool replays;           /* the history is told */
    uint64_t replayed;      /* updates that were history, dropped */
    struct acp_kept opened; /* the answer, while its history may still be coming */
    struct timer *settle;
    int64_t settle_until;

    struct acp_kept config;        /* configOptions as last returned, the array */
    struct acp_kept modes, models; /* as the session was opened with */
    struct buf mode, model;        /* in force, as far as known */
    size_t setting;                /* index of the one that is being made */

    struct acp_text text;
    struct acp_tools tools;
    struct acp_open_ask *asks; /* newest first */
    size_t nasks;
    uint64_t last_ask;
    bool cancelled; /* session/cancel went out */
    bool rejected;  /* the last permission that we answered was a reject_once */
    bool muted;
    uint64_t dropped; /* events, since muted */

    /* v2: the turn ends by an update. */
    bool accepted, running;
    struct acp_kept idle; /* the update that ended it before it was accepted */
};

/* ---- session.c ---- */

/* While held, acp_session_free() leaves the memory. False: it was freed meanwhile. */
void acp_hold(struct acp_session *s);
bool acp_release(struct acp_session *s);

void acp_enter(struct acp_session *s, enum acp_state to);
bool acp_is_over(const struct acp_session *s); /* one of the ends was told */
void acp_keep(struct acp_kept *k, struct rpc_doc *doc, yyjson_val *v); /* NULL: nothing */

/* The one open request of ours before the prompt; `step` names it in failures. False: it could
 * not be sent, and the session has failed. */
bool acp_call(struct acp_session *s, const char *method, const char *step,
              const struct buf *params, reply_fn done);
/* An answer that still matters: the session is neither freed nor over. Clears s->call. */
bool acp_answered(struct acp_session *s);
/* Tells ops.on_event, unless muted. Text that is pending must be out. */
void acp_emit(struct acp_session *s, enum acp_event type, struct str data);

/* Ends before the prompt. */
__attribute__((format(printf, 3, 4))) void acp_fail(struct acp_session *s, const char *step,
                                                    const char *fmt, ...);
void acp_fail_setting(struct acp_session *s, const struct acp_setting *set, struct str text);
/* The same for a request that brought no result: names the methods when the agent wants a
 * login (ACP-6). */
void acp_fail_reply(struct acp_session *s, const char *step, const struct rpc_msg *reply,
                    const struct error *e);
void acp_put_cut(struct buf *b, struct str text); /* <= ACP_TEXT_SHOWN, safe to show */
/* The words of an error answer (ACP-5), or of the error when none came; one line. */
void acp_put_error(struct buf *b, const struct acp_session *s, const struct rpc_msg *reply,
                   const struct error *e);

/* ---- start.c ---- */
void acp_begin(struct acp_session *s);
void acp_on_settled(void *ctx);
void acp_settle_again(struct acp_session *s); /* one more update of history */

/* ---- settings.c ---- */
void acp_settings_begin(struct acp_session *s);

/* ---- turn.c ---- */
void acp_prompt(struct acp_session *s);
void acp_stop(struct acp_session *s, const struct acp_stop *how);
void acp_on_state_update(struct acp_session *s, struct rpc_doc *doc, yyjson_val *update);

/* ---- updates.c ---- */
void acp_on_update(struct acp_session *s, const struct rpc_msg *m);
void acp_text_event(void *ctx, enum acp_event type, struct str data); /* of acp_text_fn */
void acp_on_flush(void *ctx);
void acp_emit_update(struct acp_session *s, yyjson_val *update);

/* ---- asks.c ---- */
void acp_on_ask(struct acp_session *s, const struct rpc_msg *m);
/* All that are open are answered "cancelled". */
void acp_asks_cancel(struct acp_session *s);
void acp_on_cancel_request(struct acp_session *s, yyjson_val *params);
void acp_asks_free(struct acp_session *s);

#endif
