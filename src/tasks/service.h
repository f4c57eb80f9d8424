/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Task hand-off as functions, whatever speaks to the caller: the MCP server (servers/symm) and
 * `symposium task`. One per process. Arguments are the tools' (docs/spec/tasks.md 2), results
 * their structuredContent.
 */
#ifndef SYM_TASKS_SERVICE_H
#define SYM_TASKS_SERVICE_H

#include "tasks/supervisor.h"

/* It and what it points to must outlive the service. */
struct service_config {
    const struct config *config;
    const struct dirs *dirs;
    const char *cwd;  /* default workspace, absolute */
    const char *self; /* our executable */
    const char *const *env;
};

struct service;

/* TK-15: the text is "<code>: <message>". */
enum task_code {
    TASK_OK,
    TASK_UNKNOWN_AGENT,
    TASK_INVALID_REQUEST,
    TASK_NOT_FOUND,
    TASK_INVALID_TRANSITION,
};
const char *task_code_name(enum task_code c);

/* `result`: one JSON object when code is TASK_OK, else the message without its code. Once,
 * never from inside the call; not after service_drop(). Valid during the call. */
typedef void (*service_fn)(void *ctx, enum task_code code, struct str result);

/* Opens the ledger (in its thread), takes over what dead owners left (TK-5). */
struct service *service_new(struct loop *l, const struct service_config *c);
struct ledger *service_ledger(struct service *s);

void service_spawn(struct service *s, yyjson_val *args, service_fn done, void *ctx);
void service_get(struct service *s, yyjson_val *args, service_fn done, void *ctx);
void service_events(struct service *s, yyjson_val *args, service_fn done, void *ctx);
void service_list(struct service *s, yyjson_val *args, service_fn done, void *ctx);
void service_resolve(struct service *s, yyjson_val *args, service_fn done, void *ctx);
/* Answers when the task has ended, or after the time that this may take. `done` may be NULL. */
void service_cancel(struct service *s, yyjson_val *args, service_fn done, void *ctx);

/* wait_tasks (TK-11). `progress` (may be NULL): each 10 s and at each change of a status, with
 * a line for people. service_drop() ends the wait. */
typedef void (*service_progress_fn)(void *ctx, double elapsed_s, double timeout_s,
                                    struct str message);
void service_wait(struct service *s, yyjson_val *args, service_fn done,
                  service_progress_fn progress, void *ctx);

/* The caller is gone: `done` is not called any more. What it asked for still happens. */
void service_drop(struct service *s, const void *ctx);
/* No more calls come: waits are answered now, with what is there. */
void service_hurry(struct service *s);

/* Changes of tasks for subscriptions (TK-23): `fn` gets the ids of those whose last_seq grew
 * among the ids that are watched, each at most once a second. It may end the watch. */
void service_watch(struct service *s, struct str id, bool on);
void service_watch_none(struct service *s);
/* Those that `keep` does not want are followed no longer. */
void service_watch_sweep(struct service *s, bool (*keep)(void *ctx, struct str id), void *ctx);
void service_on_change(struct service *s, void (*fn)(void *ctx, struct str id), void *ctx);

/* TK-22: every run of this process ends, within RUN_SHUTDOWN_MS, and is recorded; `done` may
 * free the service. spawn answers a failed task from now on. */
void service_shutdown(struct service *s, void (*done)(void *ctx), void *ctx);
size_t service_running(const struct service *s); /* runs of this process that are not over */
/* `fn` is called when the last run of this process is over. It must not free the service. */
void service_on_idle(struct service *s, void (*fn)(void *ctx), void *ctx);
/* After service_shutdown()'s `done`, or when no run was begun. */
void service_free(struct service *s);

#endif
