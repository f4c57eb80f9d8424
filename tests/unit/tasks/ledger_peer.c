/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Another process on the same ledger.
 *
 *   ledger_peer STATE own N [PID START]
 *       submits N tasks, runs the first of them (with that process as its agent), says
 *       "task ID" for each, then "ready", and stays until its stdin ends
 *   ledger_peer STATE append ID N WHO
 *       appends N events {"text":"WHO-i"} to the task and exits
 *   ledger_peer STATE cancel ID
 *       asks for the end of the task and exits
 *   ledger_peer STATE write
 *       works on tasks of its own without end; says "T ID" for each that is acknowledged,
 *       "A ID i" for event {"text":"i"}, "D ID STATUS" for each change of status
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/loop.h"
#include "loop/pipe.h"
#include "tasks/ledger.h"
#include "tasks/ledger_sqlite.h"

#define EVENTS_PER_TASK 200
#define OPEN_APPENDS    20

static struct loop *loop;
static struct ledger *ledger;

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
    char line[256];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (write(STDOUT_FILENO, line, (size_t)n) != n)
        _exit(3);
}

static void check(const struct error *e)
{
    if (!e)
        return;
    fprintf(stderr, "ledger_peer: %s\n", e->msg);
    _exit(4);
}

static void stop(void *ctx)
{
    loop_stop(loop);
}

static void submit(char id[TASK_ID_LEN + 1], ledger_fn done, void *ctx)
{
    task_id_new(id);
    ledger_submit(ledger,
                  &(struct task_new){ .record = { .id = str_of(id),
                                                  .agent = STR("peer"),
                                                  .workspace = STR("/w"),
                                                  .prompt = STR("p") } },
                  done, ctx);
}

/* ---- own ---- */

static void on_own(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    check(e);
    say("task %.*s\n", STR_F(a->tasks[0].id));
}

static void on_end_of_stdin(void *ctx, const struct error *why)
{
    loop_stop(loop);
}

static void on_stdin(void *ctx, struct str bytes)
{
}

static void on_ran(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    check(e);
    if (!a->yes)
        _exit(5);
}

static void run_task(const char *id, char **process)
{
    struct task_change c = { .id = str_of(id),
                             .from = 1u << TASK_STARTING,
                             .to = TASK_RUNNING,
                             .set = { .started = true } };

    if (process[0] && process[1]) {
        c.set.process.pid = atoll(process[0]);
        c.set.process.pid_start = strtoull(process[1], NULL, 10);
    }
    ledger_claim(ledger, str_of(id), 1000000, on_ran, NULL);
    ledger_change(ledger, &c, on_ran, NULL);
}

static void own(char **args)
{
    static const struct pipe_ops ops = { .on_data = on_stdin, .on_end = on_end_of_stdin };
    struct pipe *in = pipe_new(loop, STDIN_FILENO, NULL, &ops, NULL);
    char id[TASK_ID_LEN + 1];

    for (int i = 0; i < atoi(args[0]); i++) {
        submit(id, on_own, NULL);
        if (i == 0)
            run_task(id, args + 1);
    }
    ledger_flush(ledger, stop, NULL);
    loop_run(loop);
    say("ready\n");
    loop_run(loop);
    pipe_free(in);
}

/* ---- append ---- */

static void on_appended(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    check(e);
}

static void append(char **args)
{
    char data[128];

    for (int i = 0; i < atoi(args[1]); i++) {
        snprintf(data, sizeof data, "{\"text\":\"%s-%d\"}", args[2], i);
        ledger_append(ledger, str_of(args[0]), i % 50 ? TASK_EV_STDOUT : TASK_EV_PERMISSION,
                      str_of(data), on_appended, NULL);
    }
    ledger_flush(ledger, stop, NULL);
    loop_run(loop);
}

static void cancel(char **args)
{
    ledger_change(ledger,
                  &(struct task_change){ .id = str_of(args[0]),
                                         .from = ~0u,
                                         .keep_status = true,
                                         .set = { .cancel_requested = true } },
                  on_ran, NULL);
    ledger_flush(ledger, stop, NULL);
    loop_run(loop);
}

/* ---- write ---- */

static struct {
    char id[TASK_ID_LEN + 1];
    int sent, got;
} work;

static void next_task(void);

static void on_status(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    check(e);
    say("D %s %s\n", work.id, task_status_name(a->tasks[0].status));
    if (task_is_terminal(a->tasks[0].status))
        next_task();
}

static void change(enum task_status from, enum task_status to)
{
    ledger_change(ledger,
                  &(struct task_change){ .id = str_of(work.id), .from = 1u << from, .to = to },
                  on_status, NULL);
}

static void send_more(void);

static void on_event(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    check(e);
    say("A %s %d\n", work.id, work.got++);
    if (work.got == EVENTS_PER_TASK)
        change(TASK_RUNNING, TASK_SUCCEEDED);
    else
        send_more();
}

static void send_more(void)
{
    static const enum task_event types[] = { TASK_EV_STDOUT, TASK_EV_MESSAGE, TASK_EV_STDERR,
                                             TASK_EV_PERMISSION };
    char data[64];

    while (work.sent < EVENTS_PER_TASK && work.sent - work.got < OPEN_APPENDS) {
        snprintf(data, sizeof data, "{\"text\":\"%d\"}", work.sent);
        ledger_append(ledger, str_of(work.id), types[work.sent % ARRAY_LEN(types)],
                      str_of(data), on_event, NULL);
        work.sent++;
    }
}

static void on_submitted(void *ctx, const struct ledger_answer *a, const struct error *e)
{
    check(e);
    say("T %s\n", work.id);
    change(TASK_CREATED, TASK_STARTING);
    change(TASK_STARTING, TASK_RUNNING);
    send_more();
}

static void next_task(void)
{
    work.sent = work.got = 0;
    submit(work.id, on_submitted, NULL);
}

static void write_on(char **args)
{
    next_task();
    loop_run(loop);
}

static const struct {
    const char *name;
    int args; /* at least */
    void (*run)(char **args);
} modes[] = {
    { "own", 1, own },
    { "append", 3, append },
    { "cancel", 1, cancel },
    { "write", 0, write_on },
};

int main(int argc, char **argv)
{
    struct ledger_config c = { 0 };

    for (size_t i = 0; argc >= 3 && i < ARRAY_LEN(modes); i++) {
        if (strcmp(argv[2], modes[i].name) != 0 || argc < 3 + modes[i].args)
            continue;
        c.state_dir = argv[1];
        loop = loop_new();
        ledger = ledger_new(loop, &ledger_sqlite, &c);
        modes[i].run(argv + 3);
        ledger_free(ledger);
        loop_free(loop);
        return 0;
    }
    return 2;
}
