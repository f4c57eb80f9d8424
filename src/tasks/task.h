/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a task is (docs/spec/tasks.md 1 and 3), as plain data: the record, the two axes, the
 * closed set of events, the JSON that callers see. No I/O, no loop; any thread.
 *
 * Execution status is what the owner of the task found out; resolution is what a caller thinks
 * of it. Neither ever changes the other (TK-1).
 */
#ifndef SYM_TASKS_TASK_H
#define SYM_TASKS_TASK_H

#include "base/arena.h"
#include "base/error.h"
#include "text/json.h"

#define TASK_PROMPT_MAX    ((size_t)1 << 20) /* bytes (TK-8) */
#define TASK_LABEL_MAX     256               /* bytes of initiator_id and executor_id */
#define TASK_KEY_MAX       128               /* bytes of idempotency_key */
#define TASK_LABELS        16
#define TASK_LABEL_LEN_MAX 64
#define TASK_NOTE_MAX      ((size_t)16 << 10)
#define TASK_OUTPUT_MAX    ((int64_t)64 << 20) /* bytes of events of one task (TK-6) */
#define TASK_PROMPT_SHOWN  200 /* bytes of the prompt that a record shows (TK-9) */
#define TASK_RESULT_MAX    ((size_t)64 << 10) /* of result_text in a record (TK-9) */
#define TASK_PIECE_MAX     ((size_t)1 << 20)  /* of one text event (TK-18) */
#define TASK_ID_LEN        36

enum task_status {
    TASK_CREATED,
    TASK_STARTING,
    TASK_RUNNING,
    TASK_SUCCEEDED,
    TASK_FAILED,
    TASK_CANCELLED,
};

enum task_resolution {
    TASK_UNRESOLVED,
    TASK_ACCEPTED,
    TASK_REJECTED,
    TASK_NEEDS_FOLLOWUP,
    TASK_SUPERSEDED,
};

enum task_kind { TASK_ACP, TASK_CLI, TASK_AGENT }; /* TK-61 */

/* The 17 types of TK-16, in its order. */
enum task_event {
    TASK_EV_CREATED,
    TASK_EV_STATUS,
    TASK_EV_PROCESS_STARTED,
    TASK_EV_PROCESS_EXITED,
    TASK_EV_STDOUT,
    TASK_EV_STDERR,
    TASK_EV_SESSION,
    TASK_EV_MESSAGE,
    TASK_EV_THOUGHT,
    TASK_EV_TOOL_CALL,
    TASK_EV_TOOL_UPDATE,
    TASK_EV_PLAN,
    TASK_EV_PERMISSION,
    TASK_EV_AGENT_UPDATE,
    TASK_EV_CANCELLED,
    TASK_EV_RESOLVED,
    TASK_EV_ERROR,
};
#define TASK_EVENTS 17

/* The words of the wire; parsing answers false for any other word. Arguments are read by
 * tasks/service_args. */
const char *task_status_name(enum task_status s);
const char *task_resolution_name(enum task_resolution r); /* NULL for TASK_UNRESOLVED */
const char *task_kind_name(enum task_kind k);
const char *task_event_name(enum task_event t);
bool task_status_parse(struct str name, enum task_status *ret);

bool task_is_terminal(enum task_status s);
/* The arrows of TK-2. */
bool task_may_become(enum task_status from, enum task_status to);
/* The oldest of these go first when a task reaches its cap (TK-6). */
bool task_event_is_output(enum task_event t);

struct task_record {
    struct str id; /* UUIDv7, lower case */
    enum task_kind kind;
    enum task_status status;
    enum task_resolution resolution;
    struct str agent, workspace;
    int64_t created_ms, started_ms, finished_ms, resolved_ms; /* wall clock; 0: not yet */
    int exit_code, signal;                                    /* -1: none */
    struct str stop_reason, session_id, note;                 /* empty: none */
    struct str initiator_id, executor_id, parent_id;
    struct str labels;           /* JSON array of strings */
    struct str options;          /* JSON object, as spawned */
    struct str worktree, branch; /* empty: none (TK-19) */
    struct str usage;            /* JSON object; empty: none (ACP-9) */
    struct str result_text;      /* last agent message, <= TASK_RESULT_MAX; empty in lists */
    struct str prompt;           /* in lists its first TASK_PROMPT_SHOWN characters */
    int priority;
    int64_t last_seq;
    int64_t first_seq; /* from here on no event is missing (TK-6); 1: none ever went */
    bool cancel_requested;
};

struct task_event_row {
    int64_t seq, ts_ms;
    enum task_event type;
    struct str data; /* JSON object */
};

/* The record as callers see it (TK-9); without result_text for lists (TK-12). */
void task_put(struct jw *w, const struct task_record *t, bool with_result);
void task_put_event(struct jw *w, const struct task_event_row *ev); /* TK-16 */
/* "2026-03-01T12:00:00.123Z" */
void task_put_time(struct jw *w, const char *key, int64_t wall_ms); /* 0 writes null */

/* A new UUIDv7 (RFC 9562 5.7): sorts by time; within a process strictly. */
void task_id_new(char ret[TASK_ID_LEN + 1]);
bool task_id_valid(struct str s);

#endif
