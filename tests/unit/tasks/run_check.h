/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A ledger, the runs of this process, and tasks whose agent is fake_agent.c or a shell script.
 */
#ifndef SYM_TEST_RUN_CHECK_H
#define SYM_TEST_RUN_CHECK_H

#include "ledger_check.h"

#include "tasks/run_impl.h"

#define RUN_MS 5000 /* plenty for a turn of the fake agent, before slack */

struct stage {
    struct world w;
    struct runs *runs;
    struct arena arena;
    struct adapters adapters;
    unsigned done; /* runs that are */
};

/* One task and its run. */
struct job {
    struct stage *s;
    struct run *run; /* NULL: done, and freed */
    char id[TASK_ID_LEN + 1];
    int running, queued, done;
    int64_t began, ended; /* clock_ms() */
};

/* What differs from the usual. */
struct job_opts {
    const char *words;   /* of the fake agent */
    const char *script;  /* instead: a CLI agent, sh -c; it gets the prompt on stdin */
    const char *agent;   /* instead: of the stage's adapters */
    const char *options; /* JSON; NULL: none */
    const char *prompt, *workspace, *chain, *session_id;
    int priority, deadline_s;
    int64_t max_output;
    bool worktree;
};

/* `config` holds what is beside the fake agents; members of `env` that are not set have the
 * usual values. */
void stage_open(struct stage *s, const struct run_env *env);
void stage_close(struct stage *s);

void job_start(struct stage *s, struct job *j, const struct job_opts *o);
void job_wait(struct job *j);         /* until it is done */
void job_wait_running(struct job *j); /* until the agent runs */
void job_wait_event(struct job *j, enum task_event type, const char *part);

/* job_start() and job_wait(). */
void job_do(struct stage *s, struct job *j, const struct job_opts *o);

/* "status stop_reason exit_code signal", what is not there as '-'. In the stage's arena. */
const char *job_end(struct job *j);
/* The names of its events, without `status_changed` and `task_created`; an `error` as
 * "!message". */
const char *job_events(struct job *j);
/* All texts of events of that type, joined; the data where it has no text. */
const char *job_text(struct job *j, enum task_event type);
const char *job_result(struct job *j);
bool pid_is_gone(pid_t pid);

#endif
