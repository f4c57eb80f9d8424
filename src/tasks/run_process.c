/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The agent's process under its keeper, from the look-up of the program to the proof that
 * nothing of its tree is left (TK-21).
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tasks/run_impl.h"

/* ---- the end ---- */

/* All that there was to hear was heard. */
static void settle(struct run *r)
{
    struct error gone;

    error_set(&gone, ERR_CLOSED, "the agent is gone");
    run_close_turn(r, &gone); /* of one that was given up */
    run_record_end(r);
}

void run_give_up(struct run *r)
{
    if (!r->last_look) {
        r->last_look = true;
        timer_set(r->timer, RUN_LAST_LOOK_MS);
        return;
    }
    if (!child_tree_empty(r->child)) {
        run_error(r, NULL,
                  "supervision failed: it could not be shown that the agent's processes have "
                  "ended");
        r->called_off = true;
        r->verdict = TASK_FAILED;
    }
    settle(r);
}

/* A second reason to end it may only make it sooner. */
static void give_up_in(struct run *r, int ms)
{
    if (clock_ms() + ms >= r->give_up_at)
        return;
    r->give_up_at = clock_ms() + ms;
    timer_set(r->timer, ms);
}

void run_stop_process(struct run *r, struct child_ladder ladder)
{
    if (r->state > RUN_ENDING || !r->child || r->exited)
        return;
    if (r->state != RUN_ENDING) {
        run_enter(r, RUN_ENDING);
        r->give_up_at = INT64_MAX;
    }
    r->paused = false;
    child_stop(r->child, ladder);
    give_up_in(r, ladder.kill_ms + RUN_KILL_MS);
}

static void describe_exit(struct error *e, const struct child_exit *how)
{
    if (how->signal)
        error_set(e, ERR_CLOSED, "the agent was ended by signal %d", how->signal);
    else
        error_set(e, ERR_CLOSED, "the agent exited with status %d", how->code);
}

/* TK-17: no process was ever there. */
static void fail_start(struct run *r, const char *why)
{
    if (!r->called_off)
        run_error(r, "start", "cannot start '%s': %s", r->program, why);
    run_record_end(r);
}

static void on_exit_(void *ctx, const struct child_exit *how)
{
    struct run *r = ctx;
    struct error why;

    r->exited = true;
    r->how = *how;
    if (!r->started) {
        fail_start(r, how->exec_errno ? strerror(how->exec_errno) : "its keeper is gone");
        return;
    }
    if (r->plan.kind == TASK_CLI && !r->called_off)
        r->verdict = how->code == 0 ? TASK_SUCCEEDED : TASK_FAILED;
    describe_exit(&why, how);
    run_close_turn(r, &why);
    if (child_tree_empty(r->child)) {
        settle(r);
        return;
    }
    if (r->state != RUN_ENDING)
        run_enter(r, RUN_ENDING);
    r->last_look = false;
    timer_set(r->timer, RUN_KILL_MS); /* what is left was sent SIGKILL now, not before */
}

static void on_empty(void *ctx)
{
    settle(ctx);
}

/* ---- while it runs ---- */

static void on_line(void *ctx, struct str line, bool too_long)
{
    run_feed(ctx, line, too_long);
}

static void on_stderr(void *ctx, struct str bytes)
{
    run_text(ctx, CHILD_STDERR, bytes);
}

static void on_bytes(void *ctx, enum child_stream stream, struct str bytes)
{
    run_text(ctx, stream, bytes);
}

/* An agent that neither hears nor says anything any more. */
static void on_stdin_broken(void *ctx, const struct error *why)
{
    (void)why;
    run_close_turn(ctx, &(struct error){ ERR_CLOSED, 0, "the agent closed its stdin" });
}

static void on_stdout_closed(void *ctx)
{
    run_close_turn(ctx, &(struct error){ ERR_CLOSED, 0, "the agent closed its stdout" });
}

/* What works for it must be found to do so (TK-24): it hears of the prompt when the ledger
 * knows its process. One that does not want to hear it all may yet do its work. */
void run_recorded(struct run *r)
{
    if (r->state != RUN_RUNNING || !r->plan.prompt_stdin)
        return;
    child_write(r->child, r->plan.prompt_text, NULL);
    child_close_stdin(r->child);
}

static void on_started(void *ctx)
{
    struct run *r = ctx;

    r->started = true;
    run_record_running(r);
    if (r->state != RUN_STARTING)
        return; /* called off meanwhile */
    run_enter(r, RUN_RUNNING);
    if (r->deadline)
        timer_set(r->deadline, r->deadline_s * 1000);
    if (r->plan.kind == TASK_ACP)
        run_begin_turn(r);
}

/* ---- the start ---- */

void run_start(struct run *r)
{
    static const struct child_ops acp = { .on_line = on_line,
                                          .on_stderr = on_stderr,
                                          .on_started = on_started,
                                          .on_exit = on_exit_,
                                          .on_empty = on_empty,
                                          .on_stdin_broken = on_stdin_broken,
                                          .on_stdout_closed = on_stdout_closed };
    static const struct child_ops cli = { .on_bytes = on_bytes,
                                          .on_started = on_started,
                                          .on_exit = on_exit_,
                                          .on_empty = on_empty };
    bool speaks_acp = r->plan.kind == TASK_ACP;
    struct child_opts o = { .argv = r->plan.argv,
                            .env = r->plan.env,
                            .cwd = r->cwd,
                            .keeper = true,
                            .no_stdin = !speaks_acp && !r->plan.prompt_stdin,
                            .max_line = ACP_LINE_MAX };
    const char **argv = (const char **)(uintptr_t)r->plan.argv; /* our copy */
    struct error e;

    run_enter(r, RUN_STARTING);
    r->program = adapter_program(r->plan.adapter, r->all->env.path, &r->arena, &e);
    if (!r->program) {
        run_error(r, "start", "%s", e.msg);
        run_record_end(r);
        return;
    }
    argv[0] = r->program;
    r->child = child_start(r->all->env.loop, &o, speaks_acp ? &acp : &cli, r, &e);
    if (!r->child)
        fail_start(r, e.msg);
}
