/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A supervised program: stdin, stdout by lines, stderr in a bounded ring, an end that is always
 * reported once, a stop ladder that always ends. In raw mode (ops.on_bytes) both outputs are
 * handed on as they come, and nothing is kept here; with ops.on_stderr that one is, beside the
 * lines of stdout. With `keeper` it runs under its own keeper
 * process (security.md WK-8), which sees to it that nothing of its tree survives: not after
 * setsid and a double fork, and not when we are killed ourselves.
 *
 *   running --exit seen--> draining --end of stdout, or CHILD_DRAIN_MS--> ended (on_exit)
 *
 * on_exit comes when exit *and* end of stdout (and of a stderr that is handed on) were seen; a
 * daemon that holds one open delays it by CHILD_DRAIN_MS (opts.drain_ms) at most (SEC-45). What
 * is left of the tree then is killed.
 *
 * A command (opts.command) that ended by itself is treated more gently: of what is left only
 * its process group is killed, and what left that by setsid lives on. One that was stopped gets
 * the whole of its grace for all of its tree: on_exit comes when the tree is empty and both
 * outputs ended, or opts.drain_ms after the SIGKILL.
 */
#ifndef SYM_LOOP_CHILD_H
#define SYM_LOOP_CHILD_H

#include <sys/types.h>

#include "base/buf.h"
#include "loop/loop.h"

#define CHILD_STDERR_RING ((size_t)64 << 10)
#define CHILD_DRAIN_MS    200
#define CHILD_DISCARD_MAX \
    ((uint64_t)64 << 20) /* bytes of over-long lines in a row: the child is killed (3.2) */

struct child_exit {
    int code;          /* exit code, -1 when killed by a signal */
    int signal;        /* 0 unless killed by a signal */
    bool stdout_ended; /* false: something still held it open */
    int exec_errno;    /* under a keeper: why it could not be executed; then code is 127 */
};

enum child_stream { CHILD_STDOUT, CHILD_STDERR };

struct child_ops {
    /* One line of stdout without its newline. too_long: see lines.h. */
    void (*on_line)(void *ctx, struct str line, bool too_long);
    /* Raw mode: instead of on_line, and of the ring. Valid during the call only. */
    void (*on_bytes)(void *ctx, enum child_stream stream, struct str bytes);
    /* Optional, beside on_line: stderr as it comes, instead of the ring. Valid during the call
     * only. */
    void (*on_stderr)(void *ctx, struct str bytes);
    /* Optional. The program runs: child_pid() is known. Needs the keeper. */
    void (*on_started)(void *ctx);
    /* Once, after the last on_line: the program is gone. Also after child_stop(). */
    void (*on_exit)(void *ctx, const struct child_exit *how);
    /* Optional. The keeper says, after on_exit, that nothing of the tree is left. If it had
     * said so before, child_tree_empty() is true in on_exit, and this does not come. */
    void (*on_empty)(void *ctx);
    /* Optional. stdin stalled (ERR_TIMEOUT), or closed while the program ran on for
     * CHILD_DRAIN_MS (ERR_CLOSED). */
    void (*on_stdin_broken)(void *ctx, const struct error *why);
    /* Optional. stdout was closed while the program ran on for CHILD_DRAIN_MS: no more lines.
     */
    void (*on_stdout_closed)(void *ctx);
};

struct child_opts {
    const char *const
        *argv; /* argv[0]: absolute path, path with a slash, or a name searched in env's PATH */
    const char *path;       /* the file to execute, relative to the program's directory; the
                               program gets argv as it is. NULL: as argv[0] says */
    const char *const *env; /* complete environment; NULL: inherit ours */
    const char *cwd;        /* NULL: ours */
    int cwd_fd;             /* a directory, instead of cwd; 0: none. The caller's */
    bool keeper;    /* run under a keeper, in its own session; else process group + parent-death
                       signal */
    bool no_stdin;  /* stdin from /dev/null */
    bool command;   /* see above; needs the keeper and raw mode. It leads its own session */
    int sandbox_fd; /* a Landlock ruleset (lockdown/landlock.h): the program runs in it and
                       under seccomp_lock_command(); 0: no sandbox. Needs the keeper. The
                       caller's */
    bool offline;   /* in a network namespace without anything in it, where the host allows
                       that (PM-7). Needs the keeper */
    int drain_ms;   /* 0: CHILD_DRAIN_MS */
    size_t max_line;        /* 0: LINES_MAX_DEFAULT */
    size_t max_stdin_queue; /* 0: PIPE_QUEUE_DEFAULT */
    int stdin_stall_ms;     /* 0: never */
};

/* Milliseconds from child_stop() on. stdin is closed at once. */
struct child_ladder {
    int term_ms; /* SIGTERM to the process group */
    int kill_ms; /* SIGKILL to the whole tree */
};

struct child;

/* ERR_NOT_FOUND etc. when the program cannot be executed; with a keeper exec failure arrives as
 * on_exit with code 127 and the reason in child_stderr(). Never calls back from inside. */
struct child *child_start(struct loop *l, const struct child_opts *o,
                          const struct child_ops *ops, void *ctx, struct error *e);

pid_t child_pid(const struct child *c);    /* the program's; 0 until known */
pid_t child_keeper(const struct child *c); /* its keeper's; 0: it has none */
bool child_write(struct child *c, struct str bytes, struct error *e);
bool child_write_line(struct child *c, struct str line, struct error *e); /* adds the newline */
void child_close_stdin(struct child *c);
/* Stop reading stdout, and a stderr that is handed on: back-pressure. */
void child_pause(struct child *c);
void child_resume(struct child *c);

/* The last bytes of stderr, valid until the loop runs again. */
struct str child_stderr(struct child *c);
uint64_t child_discarded_run(const struct child *c); /* lines.discarded_run of stdout */

/* Starts the ladder; a second call may only make it shorter. on_exit follows. */
void child_stop(struct child *c, struct child_ladder ladder);

/* The program has exited, on_exit is on its way. */
bool child_exited(const struct child *c);

/* True once nothing of the tree is left. With a keeper this is its own word ("provably empty");
 * without one, the exit. */
bool child_tree_empty(const struct child *c);

/* Kills what is left and lets go; no callbacks any more. */
void child_free(struct child *c);

/* Children of this loop that were freed but whose trees are not yet known to be empty. A
 * process waits (bounded) for 0 before it exits. */
int child_lingering(const struct loop *l);

/* Calls `fn`, in a turn of its own, whenever that count has come down to 0; one for a loop,
 * NULL takes it back. */
void child_on_gone(struct loop *l, void (*fn)(void *ctx), void *ctx);

#endif
