/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lockdown/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/keeper_wire.h"
#include "base/proctree.h"

/* After the group was killed: how long its end is awaited before the whole of /proc is looked
 * through. */
#define GROUP_END_MS 20

struct keeper {
    pid_t program;
    bool program_reaped;
    int sigchld;
};

static void tell(enum keeper_event kind, int value)
{
    struct keeper_msg m = { (int32_t)kind, value };

    /* A failure needs no answer here: if the owner is gone, the end of the socket says so. */
    send(KEEPER_CONTROL_FD, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void on_reaped(void *ctx, pid_t pid, int status)
{
    struct keeper *k = ctx;

    if (pid != k->program || k->program_reaped)
        return;
    k->program_reaped = true;
    tell(KEEPER_EXITED, status);
}

/* ---- starting the program ---- */

__attribute__((noreturn)) static void run_program(char **argv, pid_t keeper,
                                                  volatile int *failed)
{
    struct sigaction dfl = { .sa_handler = SIG_DFL };
    sigset_t none;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int s = 1; s < NSIG; s++)
        sigaction(s, &dfl, NULL); /* an ignored signal would stay ignored */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (getppid() == keeper) {
        execve(argv[0], argv, environ);
        *failed = errno;
    } else {
        *failed = ESRCH; /* the keeper died before the second line */
    }
    _exit(127);
}

__attribute__((noinline)) static pid_t start(char **argv, int *ret_errno)
{
    volatile int failed = 0;
    /* vfork: the child makes system calls only, and copying our page tables would cost more
     * than all of it. */
    pid_t self = getpid(), pid = vfork(); /* NOLINT */

    if (pid == 0)
        run_program(argv, self, &failed); /* NOLINT */
    *ret_errno = pid < 0 ? errno : failed;
    return pid;
}

/* The program's pipes must end when the program's tree lets go of them, not when we do. */
static void let_go_of_stdio(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
    }
    if (null > STDERR_FILENO)
        close(null);
}

/* ---- ending it ---- */

static void kill_all(struct keeper *k)
{
    struct pollfd p = { .fd = k->sigchld, .events = POLLIN };
    int64_t end = clock_ms();
    struct signalfd_siginfo si;

    /* Mostly the group is everything: the kernel kills it as one, and no look through /proc is
     * needed. */
    if (!k->program_reaped) {
        kill(-k->program, SIGKILL);
        end += GROUP_END_MS;
    }
    while (!proctree_reap(on_reaped, k)) {
        int64_t left = end - clock_ms();

        if (left <= 0) {
            proctree_kill(-1, on_reaped, k);
            return;
        }
        if (poll(&p, 1, (int)left) > 0 && read(k->sigchld, &si, sizeof si) < 0)
            continue;
    }
}

/* One order of the owner, or its end. True: everything is to be killed. */
static bool take_order(struct keeper *k)
{
    struct keeper_msg m;
    ssize_t n = recv(KEEPER_CONTROL_FD, &m, sizeof m, MSG_DONTWAIT);

    if (n < 0)
        return errno != EINTR && errno != EAGAIN;
    if (n != (ssize_t)sizeof m || m.kind == KEEPER_KILL)
        return true;
    if (m.kind == KEEPER_TERM && !k->program_reaped)
        kill(-k->program, SIGTERM);
    return false;
}

static void keep(struct keeper *k)
{
    struct pollfd p[] = {
        { .fd = KEEPER_CONTROL_FD, .events = POLLIN },
        { .fd = k->sigchld, .events = POLLIN },
    };
    struct signalfd_siginfo si;

    while (!proctree_reap(on_reaped, k)) {
        if (poll(p, 2, -1) < 0)
            continue;
        if (p[1].revents && read(k->sigchld, &si, sizeof si) < 0 && errno != EAGAIN)
            break;
        if (p[0].revents && take_order(k))
            break;
    }
    kill_all(k);
}

static bool has_owner(void)
{
    int type = 0;
    socklen_t n = sizeof type;

    return getsockopt(KEEPER_CONTROL_FD, SOL_SOCKET, SO_TYPE, &type, &n) == 0 &&
           type == SOCK_SEQPACKET;
}

/* In place: the strings live as long as we do. Unmarked ones were not meant for the program. */
static void unmark_env(void)
{
    char **to = environ;

    for (char **from = environ; from && *from; from++) {
        if (**from == KEEPER_ENV_MARK)
            *to++ = *from + 1;
    }
    if (to)
        *to = NULL;
}

int keeper_main(int argc, char **argv)
{
    struct keeper k = { 0 };
    sigset_t all, chld;
    int failed;

    if (argc < 3 || strcmp(argv[1], "--") != 0 || !has_owner()) {
        fputs("keeper: this command is for symposium's own use\n", stderr);
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_NAME, "symposium-keep", 0, 0,
          0); /* executed by descriptor we would be called "10" */
    fcntl(KEEPER_CONTROL_FD, F_SETFD, FD_CLOEXEC);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_DFL); /* if inherited as ignored, exits would be lost */
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    k.sigchld = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
    unmark_env();
    k.program = start(argv + 2, &failed);
    let_go_of_stdio();
    if (failed)
        tell(KEEPER_FAILED, failed);
    else
        tell(KEEPER_STARTED, k.program);
    k.program_reaped =
        failed != 0; /* a failed start is reaped like a stranger, without a report */
    keep(&k);
    tell(KEEPER_EMPTY, 0);
    return 0;
}
