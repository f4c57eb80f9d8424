/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The arguments of the seven tools (docs/spec/tasks.md 2), checked and copied. Pure. A mistake
 * is ERR_INVALID: the text after "invalid_request: ", which names the key.
 */
#ifndef SYM_TASKS_SERVICE_ARGS_H
#define SYM_TASKS_SERVICE_ARGS_H

#include "tasks/ledger.h"

#define SERVICE_WAIT_IDS        64
#define SERVICE_WAIT_S_MAX      600
#define SERVICE_WAIT_S          45
#define SERVICE_DEADLINE_S_MAX  86400
#define SERVICE_PRIORITY_MAX    10
#define SERVICE_OUTPUT_MIN      4096   /* bytes; the least max_output_bytes */
#define SERVICE_EVENTS          500    /* a page of get_events */
#define SERVICE_EVENT_BYTES     262144 /* of it */
#define SERVICE_EVENT_BYTES_MAX ((int64_t)4 << 20)
#define SERVICE_LIST            50
#define SERVICE_SEQ_MAX         ((INT64_C(1) << 53) - 1) /* exact in every client */
#define SERVICE_REASON_MAX      4096                     /* bytes */
#define SERVICE_WORKSPACE_MAX   4096
#define SERVICE_SESSION_MAX     1024
#define SERVICE_CURSOR_MAX      1024
#define SERVICE_OPTIONS_MAX     ((size_t)64 << 10) /* bytes of all options as JSON */

struct spawn_args {
    struct str agent, prompt;
    struct str workspace; /* empty: the default; else absolute and cleaned */
    struct str session_id, initiator_id, executor_id, parent_id, key;
    struct str labels;  /* JSON array */
    struct str options; /* JSON object: those of `options` and of the top level, but `follow` */
    int64_t deadline_s, priority, max_output; /* 0: none */
    bool worktree;
    bool follow; /* options.follow (TK-60) */
};
bool spawn_args_read(struct spawn_args *ret, struct arena *a, yyjson_val *args,
                     struct error *e);

/* get_task. */
bool id_args_read(struct str *ret_id, struct arena *a, yyjson_val *args, struct error *e);

struct cancel_args {
    struct str id, reason;
};
bool cancel_args_read(struct cancel_args *ret, struct arena *a, yyjson_val *args,
                      struct error *e);

struct resolve_args {
    struct str id, note;
    enum task_resolution resolution;
};
bool resolve_args_read(struct resolve_args *ret, struct arena *a, yyjson_val *args,
                       struct error *e);

bool events_args_read(struct events_query *ret, struct arena *a, yyjson_val *args,
                      struct error *e);
bool list_args_read(struct list_query *ret, struct arena *a, yyjson_val *args, struct error *e);

struct wait_args {
    struct str *ids;
    int64_t *after; /* beside each id; -1: from now on */
    size_t n;
    bool all;         /* mode */
    bool until_event; /* until */
    int64_t timeout_s;
    bool timeout_given;
};
bool wait_args_read(struct wait_args *ret, struct arena *a, yyjson_val *args, struct error *e);

#endif
