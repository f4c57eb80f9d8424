/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A scripted agent for tests of a session: each row says what the session must have sent or
 * told by then, or what the agent says or the owner wants. What is sent or told and stands in
 * no row fails the test, and so does a message of ours that the protocol's schema does not
 * allow.
 */
#ifndef SYM_TEST_ACP_SCRIPT_H
#define SYM_TEST_ACP_SCRIPT_H

#include "../loop_check.h"

#include "acp/session.h"

enum does {
    END,
    /* The session sent this request, notification or answer. b: a pattern of its params or
     * result ("<absent>", "<any>"), or NULL. */
    GOT,         /* a: method of a request; its id is what '@' stands for from now on */
    GOT_NOTICE,  /* a: method of a notification */
    GOT_ANSWER,  /* a: the id, as JSON */
    GOT_REFUSAL, /* a: the id, as JSON; b: pattern of the error */
    /* The agent says. '@' in a is the id of the last request. */
    SAY,    /* a: a line */
    ANSWER, /* a: the result of the last request */
    REFUSE, /* a: the error of the last request */
    UPDATE, /* a: an update of the session "s1" */
    ASK,    /* a: id; b: params but the session's id */
    LONG,   /* a line that was too long */
    /* The session told its owner. */
    EVENT,   /* a: "message" ...; b: pattern of the data */
    PERMIT,  /* a: "edit allow_once opt" or "edit cancelled"; recorded */
    UNSAVED, /* the same; it could not be recorded */
    KEPT,    /* the same; nothing is said about it yet */
    PROMPTS, /* the prompt went out */
    FAILS,   /* a: step; b: a part of the text */
    STOPS,   /* a: reason; b: a part of the error, of the usage */
    /* The owner wants. */
    CANCEL,
    MUTE,
    FLUSH,
    WAIT,    /* n ms */
    GONE,    /* the agent ended; a: why */
    DROPPED, /* n events were not told since it was muted */
    DEAF,    /* the agent's stdin is closed: nothing can be sent any more */
    NOTHING, /* nothing was sent or told */
    SPEAKS,  /* the version is n from here on */
};

struct row {
    enum does does;
    const char *a, *b;
    int n;
};

/* Runs a session of `turn` (cwd and prompt have defaults) against the rows. */
void play(const struct acp_turn *turn, const struct row *rows, const char *file, int line);
#define PLAY(turn, ...) \
    play((turn), (const struct row[]){ __VA_ARGS__, { END } }, __FILE__, __LINE__)

/* Rows up to the open session "s1", and to the prompt. */
/* clang-format off */
#define TO_NEW \
    { GOT, "initialize" }, \
    { ANSWER, "{\"protocolVersion\":1}" }, \
    { GOT, "session/new" }
#define TO_PROMPT \
    TO_NEW, \
    { ANSWER, "{\"sessionId\":\"s1\"}" }, \
    { EVENT, "session", "{\"session_id\":\"s1\"}" }, \
    { GOT, "session/prompt" }, \
    { PROMPTS }
#define TO_END \
    { ANSWER, "{\"stopReason\":\"end_turn\"}" }, \
    { STOPS, "end_turn" }
#define TO_PROMPT_V2 \
    { GOT, "initialize" }, \
    { ANSWER, "{\"protocolVersion\":2,\"capabilities\":{\"session\":{\"mcp\":{\"stdio\":{}}}}}" }, \
    { GOT, "session/new" }, \
    { ANSWER, "{\"sessionId\":\"s1\"}" }, \
    { EVENT, "session", "{\"session_id\":\"s1\"}" }, \
    { GOT, "session/prompt" }, \
    { PROMPTS }
/* clang-format on */

/* The schemas of ../shared are there, and messages are checked. */
bool schemas_found(void);
/* The value fits that definition and has no member that it does not know. */
bool schema_allows(int version, const char *name, const char *text);

#endif
