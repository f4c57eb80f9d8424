/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * `symposium task ACTION`: the hand-off of docs/spec/tasks.md in a terminal, on the same ledger
 * (TK-34). Every action but spawn's detached owner only reads and asks the ledger; the task
 * runs on whatever happens to the command.
 *
 *   cmd_task ─> action.begin ─ ... ─> task_end ─> returns the status
 *                    └── SIGINT, SIGTERM, SIGHUP ──> action.interrupted, and dies of it
 */
#ifndef SYM_CLI_TASK_H
#define SYM_CLI_TASK_H

#include "cli/command.h"
#include "cli/output.h"
#include "tasks/service.h"

#define EXIT_CANCELLED 3 /* of a task (TK-34) */

struct task_cli {
    struct arena *a; /* of the command */
    const struct args *args;
    const char **words; /* behind the action */
    size_t nwords;
    const struct dirs *dirs;
    const char *cwd; /* canonical */
    struct config config;
    struct loop *loop;
    struct service *service;
    void *own; /* of the action; in the arena */
    /* The rest is task.c's. */
    const struct task_action *action;
    int status, signo;
    bool ending;
};

struct task_action {
    const char *name, *alias; /* alias: NULL, none */
    const char *usage;
    size_t min_words, max_words;
    const char *const *options; /* those of its own, ends with NULL */
    /* Optional: before anything is set up. False: it has ended, with *status. */
    bool (*prepare)(struct task_cli *t, int *status);
    void (*begin)(struct task_cli *t);
    void (*interrupted)(struct task_cli *t); /* optional: the last words */
};

extern const struct task_action task_spawn, task_show, task_follow, task_wait, task_list,
    task_resolve, task_cancel;

/* From a callback of the loop. */
void task_end(struct task_cli *t, int status);
/* The answer was no: says it, and ends. */
void task_end_refused(struct task_cli *t, enum task_code code, struct str text);
/* Of a task that ended so (TK-34). */
int task_exit_status(enum task_status s);

/* Arguments for the service from their text, which is of our own making; the caller's. */
struct json task_json(const struct buf *text);

/* ---- task_follow.c ---- */

/* Shows the events of a task until it has ended, then ends the command with its status. */
void task_follow_begin(struct task_cli *t, struct str id, int64_t after, bool events);
void task_follow_interrupted(struct task_cli *t);

/* ---- task_text.c: pure ---- */

/* One task a row, newest first, at most `width` columns where that is not 0. */
void task_put_table(struct buf *out, yyjson_val *tasks, int64_t now_ms, size_t width);
/* All of one task, for people. */
void task_put_record(struct buf *out, yyjson_val *task, int64_t now_ms);
/* "3m", "2h": since an RFC 3339 time; empty when it is none. */
void task_put_age(struct buf *out, struct str time, int64_t now_ms);

/* A view of events as they come. */
struct task_view {
    bool mid_line; /* a message stopped there, and may go on */
    bool verbose;
};
void task_put_event_text(struct buf *out, struct task_view *v, yyjson_val *event);
/* Ends the line that a message may have left open. */
void task_put_view_end(struct buf *out, struct task_view *v);

#endif
