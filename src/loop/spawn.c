/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "loop/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* Descriptors that the child needs until exec are kept above those it will have. */
#define SAFE_FD 10

enum step { STEP_NONE, STEP_PARENT_GONE, STEP_FDS, STEP_CWD, STEP_EXEC };

/* What parent and child share while the parent is suspended. */
struct launch {
    const struct spawn_opts *o;
    pid_t parent;
    int exec_fd, cwd_fd;
    volatile int failed_step;
    volatile int failed_errno;
};

static int open_self(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, SAFE_FD);

    if (fd >= 0)
        close(fd);
    return high;
}

int self_exe_fd(void)
{
    static int fd = -1;

    if (fd < 0)
        fd = open_self();
    return fd;
}

/* ---- in the child: system calls only, no allocation, no locks; memory is the parent's ---- */

static void reset_signals(void)
{
    struct sigaction dfl = { .sa_handler = SIG_DFL };
    sigset_t none;

    for (int s = 1; s < NSIG; s++)
        sigaction(s, &dfl, NULL); /* fails for KILL, STOP and those libc keeps: fine */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

#define TARGETS (SPAWN_MAX_FDS + 1)

/* The first descriptor that the program is not to have; -1: failed. */
static int place_fds(const struct spawn_opts *o)
{
    int from[TARGETS], end = STDERR_FILENO + 1;

    /* First move every source out of the way of the targets, then put each in its place. */
    for (int i = 0; i < TARGETS; i++) {
        int want = i < SPAWN_MAX_FDS ? o->fds[i] : o->fd4 ? o->fd4 : -1;

        from[i] = want;
        if (i < 3 && want < 0)
            from[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (from[i] >= 0 && from[i] < TARGETS)
            from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, SAFE_FD);
        if (from[i] < 0 && (want >= 0 || i < 3))
            return -1;
    }
    for (int i = 0; i < TARGETS; i++) {
        if (from[i] < 0)
            continue;
        if (dup2(from[i], i) < 0)
            return -1;
        end = i >= end ? i + 1 : end;
    }
    return end;
}

static void cloexec_from(int first)
{
    if (syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    for (int fd = first; fd < (int)sysconf(_SC_OPEN_MAX); fd++) /* kernels before 5.11 */
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

__attribute__((noreturn)) static void fail(struct launch *w, enum step step)
{
    w->failed_errno = errno;
    w->failed_step = (int)step;
    _exit(127);
}

__attribute__((noreturn)) static void run_child(struct launch *w)
{
    static char *const no_env[] = { NULL };
    const struct spawn_opts *o = w->o;
    char *const *argv = (char *const *)(uintptr_t)o->argv;
    char *const *env = o->env ? (char *const *)(uintptr_t)o->env : no_env;
    int end;

    if (o->new_session)
        setsid();
    else
        setpgid(0, 0);
    if (o->die_with_parent) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != w->parent) /* gone before the line above */
            fail(w, STEP_PARENT_GONE);
    }
    if (w->cwd_fd >= 0 && fchdir(w->cwd_fd) != 0)
        fail(w, STEP_CWD);
    if ((end = place_fds(o)) < 0)
        fail(w, STEP_FDS);
    cloexec_from(end);
    reset_signals();
    if (o->path)
        execve(o->path, argv, env);
    else
        syscall(SYS_execveat, w->exec_fd, "", argv, env, AT_EMPTY_PATH);
    fail(w, STEP_EXEC);
}

/* ---- in the parent ---- */

static bool explain(const struct launch *w, struct error *e)
{
    const char *name = w->o->path ? w->o->path : w->o->argv[0];
    int err = w->failed_errno;

    errno = err;
    switch ((enum step)w->failed_step) {
    case STEP_CWD:
        return error_set(e, ERR_SYS, "cannot start '%s' in %s%s%s", name, w->o->cwd ? "'" : "",
                         w->o->cwd ? w->o->cwd : "its directory", w->o->cwd ? "'" : "");
    case STEP_EXEC:
        if (err == ENOENT || err == ENOTDIR)
            return error_set(
                e, ERR_NOT_FOUND,
                "cannot execute '%s': no such program, or the interpreter it names is missing",
                name);
        if (err == EACCES || err == EPERM)
            return error_set(e, ERR_DENIED, "cannot execute '%s': permission denied", name);
        return error_set(e, ERR_SYS, "cannot execute '%s'", name);
    case STEP_NONE:
    case STEP_PARENT_GONE:
    case STEP_FDS:
        break;
    }
    return error_set(e, ERR_SYS, "cannot set up the process of '%s'", name);
}

/* Not inlined: a function that calls vfork() must not share its frame with others. */
__attribute__((noinline)) static pid_t launch(struct launch *w)
{
    sigset_t all, old;
    pid_t pid;

    /* A handler of ours must not run in the child, whose memory is ours. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pid = vfork(); /* NOLINT: the header says why, and the child makes system calls only */
    if (pid == 0)
        run_child(w); /* NOLINT */
    int err = errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = err;
    return pid;
}

static int open_cwd(const char *cwd, struct error *e)
{
    int fd = open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        return fd;
    enum err_kind kind = errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND
                         : errno == EACCES                   ? ERR_DENIED
                                                             : ERR_SYS;
    error_set(e, kind, "working directory '%s' cannot be entered%s", cwd,
              kind == ERR_NOT_FOUND ? ": no such directory"
              : kind == ERR_DENIED  ? ": permission denied"
                                    : "");
    return -1;
}

bool spawn(const struct spawn_opts *o, struct spawned *ret, struct error *e)
{
    struct launch w = { .o = o, .parent = getpid(), .exec_fd = -1, .cwd_fd = -1 };
    auto_close int cwd_fd = -1;
    pid_t pid;

    if (o->cwd && (cwd_fd = open_cwd(o->cwd, e)) < 0)
        return false;
    w.cwd_fd = o->cwd_fd ? o->cwd_fd : cwd_fd;
    if (!o->path && (w.exec_fd = self_exe_fd()) < 0)
        return error_set(e, ERR_SYS, "cannot open /proc/self/exe, our own executable");
    pid = launch(&w);
    if (pid < 0)
        return error_set(e, ERR_SYS, "cannot make a process for '%s'", o->argv[0]);
    if (w.failed_step != STEP_NONE) {
        /* Ours to reap: it never was a program. Nobody else waits while we have not returned to
         * the loop. */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        return explain(&w, e);
    }
    *ret = (struct spawned){ .pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
    return true;
}

void spawned_signal(const struct spawned *s, int signo, bool group)
{
    if (group)
        kill(-s->pid, signo);
    else if (s->pidfd >= 0)
        syscall(SYS_pidfd_send_signal, s->pidfd, signo, NULL, 0);
    else
        kill(s->pid, signo);
}
