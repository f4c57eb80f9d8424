/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One agent, one session, one turn (docs/spec/tasks.md 6): starts nothing itself, but speaks
 * ACP over the pipes of a child that the owner feeds it, from `initialize` to the stop reason.
 * v1 and the v2 draft differ by a codec (acp/codec.h); what comes out is one event model.
 *
 *   initialize ─ authenticate? ─ new | resume | load ─ settings in order ─ prompt ─ idle
 *        └──────────────── on_failed ────────────────┘           └─ on_stopped
 *
 * Exactly one of on_failed and on_stopped is called. Updates may come after on_stopped
 * (ACP-13), until the session is freed. Callbacks come last: they may free the session.
 */
#ifndef SYM_ACP_SESSION_H
#define SYM_ACP_SESSION_H

#include "acp/permission.h"
#include "base/error.h"
#include "loop/loop.h"

#define ACP_LINE_MAX    ((size_t)16 << 20) /* bytes (ACP-1) */
#define ACP_REQUEST_MS  (120 * 1000)       /* each request before the prompt (TK-20) */
#define ACP_PREVIEW_MAX 4000               /* characters of a raw output (TK-16) */
#define ACP_FLUSH_MS    1000               /* chunks are coalesced at most this long */
#define ACP_PIECE_MAX   ((size_t)1 << 20)  /* bytes of one text event */
#define ACP_ID_MAX                                                                 \
    ((size_t)1024)       /* bytes of a session id; longer ids of messages and tool \
                            calls are not remembered */
#define ACP_ASKS_MAX 256 /* open permission requests; more are answered "cancelled" */

/* How a setting is made. What the agent has decides where there is a choice: config options
 * beat modes (ACP-8); an old agent without config options is asked by the other two for "mode"
 * and "model". */
enum acp_setting_how {
    ACP_CONFIG,    /* session/set_config_option */
    ACP_MODE,      /* session/set_mode */
    ACP_SET_MODEL, /* the old session/set_model */
};

/* Set and verified in this order, pins first, then the model, then the effort (ACP-8). */
struct acp_setting {
    const char *what; /* for messages: "pin", "model", "effort" */
    enum acp_setting_how how;
    const char *id;    /* of the config option; NULL for a mode or a model */
    const char *value; /* for a boolean option "true", "on", "false" or "off" */
};

struct acp_mcp_server { /* stdio, for session/new */
    const char *name, *command;
    const char *const *args; /* NULL-terminated */
    const char *const *env;  /* "NAME=value", NULL-terminated */
};

struct acp_turn {
    int version;     /* 1 or 2: the newest to offer; an agent may answer 2 with 1 (ACP-16) */
    const char *cwd; /* absolute */
    struct str prompt;
    const char *resume;      /* a session id; NULL: a new session (ACP-19) */
    const char *auth_method; /* `authenticate` with it first; NULL: not */
    const struct acp_setting *settings;
    size_t nsettings;
    acp_allow allow;
    const struct acp_mcp_server *servers;
    size_t nservers;
    int request_ms; /* instead of ACP_REQUEST_MS; 0: that */
};

/* The one event model. `data` is the JSON object that the ledger keeps (TK-16). */
enum acp_event {
    ACP_EV_SESSION, /* {"session_id"} */
    /* {"text","message_id"?,"continues"?:true,"replaces"?:true}, coalesced, text <=
     * ACP_PIECE_MAX. continues: the text goes on where the last event of this type ended, it is
     * no message of its own. replaces: the text stands for all that was said before under this
     * message_id (v2). */
    ACP_EV_MESSAGE,
    ACP_EV_THOUGHT, /* the same */
    /* As sent, without `content`; a raw output of more than ACP_PREVIEW_MAX characters is
     * {"truncated":true,"characters":N,"preview":"..."}. */
    ACP_EV_TOOL_CALL,
    ACP_EV_TOOL_UPDATE, /* the same; status "cancelled": marked so by us (ACP-11) */
    ACP_EV_PLAN,        /* {"entries"} */
    /* {"update"}: every other session/update, or one that lacks what its kind requires. Our own
     * {"sessionUpdate":"_dropped","reason"} stands for a line that was too long. */
    ACP_EV_UPDATE,
};

struct acp_failure {
    /* What did not work, for `error`: "initialize", "authenticate", "new_session",
     * "list_sessions", "load_session", "resume_session", the `what` of a setting, "prompt", or
     * "cancelled". */
    const char *step;
    struct str text;             /* one line that names the thing; without the step */
    const char *setting, *value; /* of a setting that is not in force; else NULL */
};

struct acp_permission {
    enum acp_kind kind;
    struct str tool_call_id, title;
    struct acp_decision decision;
};

struct acp_stop {
    struct str reason; /* "end_turn" ... as sent; empty: the agent's answer had none */
    struct str usage;  /* JSON object; empty: none */
    struct str error;  /* the prompt was answered with an error: its text; else empty */
    bool after_reject; /* the last thing before a `cancelled` was a reject of ours (TK-32) */
};

struct acp_session_ops {
    bool (*send)(void *ctx, struct str line, struct error *e); /* to the agent's stdin */
    void (*on_event)(void *ctx, enum acp_event type, struct str data);
    /* Record the decision, then call acp_session_permit(s, id, true); false: it could not be
     * recorded, the agent is told "cancelled" (TK-31). `id` is valid until then. */
    void (*on_permission)(void *ctx, uint64_t id, const struct acp_permission *p);
    void (*on_prompting)(void *ctx); /* settings are in force, the prompt went out */
    void (*on_failed)(void *ctx, const struct acp_failure *why);
    void (*on_stopped)(void *ctx, const struct acp_stop *how);
};

struct acp_session;

/* Begins with `initialize`. `turn` and all it points to is copied. */
struct acp_session *acp_session_new(struct loop *l, const struct acp_turn *turn,
                                    const struct acp_session_ops *ops, void *ctx);
/* One line of the agent's stdout; what is no message is skipped. False: freed inside. */
bool acp_session_feed(struct acp_session *s, struct str line);
/* A line of more than ACP_LINE_MAX was discarded. Before the prompt that fails the request that
 * is open, for nothing better will come; later it is told as an ACP_EV_UPDATE. */
bool acp_session_feed_too_long(struct acp_session *s);
/* Also from inside on_permission. An id that is no longer open is nothing. */
void acp_session_permit(struct acp_session *s, uint64_t id, bool recorded);

/* session/cancel: pending permissions are answered cancelled, the stop is awaited (ACP-11).
 * Before the prompt: on_failed at once, with step "cancelled". */
void acp_session_cancel(struct acp_session *s);

/* The output cap is reached: updates are counted and dropped from now on; permissions and the
 * end are still handled (ACP-17). */
void acp_session_mute(struct acp_session *s);
uint64_t acp_session_dropped(const struct acp_session *s); /* events not told since then */
/* The agent is gone: coalesced text goes out; on_failed or on_stopped if neither came. */
void acp_session_closed(struct acp_session *s, const struct error *why);
void acp_session_flush(struct acp_session *s); /* coalesced text goes out now */
void acp_session_free(struct acp_session *s);

#endif
