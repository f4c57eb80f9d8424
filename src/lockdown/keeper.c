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
#include "lockdown/confine.h"
#include "lockdown/landlock.h"
#include "lockdown/offline.h"
#include "lockdown/seccomp.h"

/* After the group was killed: how long its end is awaited before the whole of /proc is looked
 * through. */
#define GROUP_END_MS 20

struct keeper {
    const char *as; /* the program's argv[0] */
    bool command, sandbox, offline;
    pid_t program;
    bool exit_told, program_reaped;
    bool holds; /* the program is not reaped: its pid names its group */
    int sigchld;
};

static void tell(enum keeper_event kind, int value)
{
    struct keeper_msg m = { (int32_t)kind, value };

    /* A failure needs no answer here: if the owner is gone, the end of the socket says so. */
    send(KEEPER_CONTROL_FD, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void tell_exit(struct keeper *k, int status)
{
    if (!k->exit_told)
        tell(KEEPER_EXITED, status);
    k->exit_told = true;
}

static void on_reaped(void *ctx, pid_t pid, int status)
{
    struct keeper *k = ctx;

    if (pid != k->program || k->program_reaped)
        return;
    k->program_reaped = true;
    tell_exit(k, status);
}

/* The status as waitpid(2) gives it. */
static int wait_status(const siginfo_t *si)
{
    if (si->si_code == CLD_EXITED)
        return (si->si_status & 0xff) << 8;
    return si->si_status | (si->si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

/* Reaps what has exited, but not the program. */
static void reap_strangers(struct keeper *k)
{
    siginfo_t si = { 0 };

    while (!k->exit_told && waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           si.si_pid != 0) {
        if (si.si_pid == k->program)
            tell_exit(k, wait_status(&si));
        else
            waitpid(si.si_pid, NULL, 0);
        si.si_pid = 0;
    }
}

/* ---- starting the program ---- */

/* No way back for the program and all that comes from it (SH-10). */
static bool enter_sandbox(void)
{
    return confine_no_new_privs(NULL) && landlock_enter(KEEPER_RULESET_FD, NULL) &&
           seccomp_lock_command(landlock_abi() < LANDLOCK_ABI_TRUNCATE, NULL);
}

__attribute__((noreturn)) static void run_program(const struct keeper *k, const char *path,
                                                  char **argv, pid_t keeper,
                                                  volatile int *failed)
{
    struct sigaction dfl = { .sa_handler = SIG_DFL };
    sigset_t none;

    if (k->command)
        setsid();
    else
        setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int s = 1; s < NSIG; s++)
        sigaction(s, &dfl, NULL); /* an ignored signal would stay ignored */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (getppid() != keeper) {
        *failed = ESRCH; /* the keeper died before the parent-death signal was set */
    } else if (k->sandbox && !enter_sandbox()) {
        *failed = errno ? errno : EPERM;
    } else {
        execve(path, argv, environ);
        *failed = errno;
    }
    _exit(127);
}

__attribute__((noinline)) static pid_t start(const struct keeper *k, char **argv,
                                             int *ret_errno)
{
    const char *path = argv[0];
    volatile int failed = 0;

    if (k->as)
        argv[0] = (char *)(uintptr_t)k->as;
    /* vfork: the child makes system calls only, and copying our page tables would cost more
     * than all of it. Of its own: clang-tidy 14 breaks down over a longer declaration. */
    pid_t self = getpid();
    pid_t pid = vfork(); /* NOLINT */

    if (pid == 0)
        run_program(k, path, argv, self, &failed); /* NOLINT */
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

/* True with the options read and *ret_program at "program argument...". */
static bool read_options(struct keeper *k, char **argv, char ***ret_program)
{
    char **at = argv + 1;

    for (; *at && strcmp(*at, "--") != 0; at++) {
        if (!strcmp(*at, KEEPER_OPT_COMMAND))
            k->command = true;
        else if (!strcmp(*at, KEEPER_OPT_SANDBOX))
            k->sandbox = true;
        else if (!strcmp(*at, KEEPER_OPT_OFFLINE))
            k->offline = true;
        else if (!strcmp(*at, KEEPER_OPT_AS) && at[1])
            k->as = *++at;
        else
            return false;
    }
    *ret_program = at + 1;
    return at[0] && at[1];
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

/* As recv(2). A packet socket tells once, before the packets that are still in it, that the
 * other side closed it without having read all that we said. */
static ssize_t hear(struct keeper_msg *m)
{
    ssize_t n = recv(KEEPER_CONTROL_FD, m, sizeof *m, MSG_DONTWAIT);

    if (n < 0 && errno == ECONNRESET)
        n = recv(KEEPER_CONTROL_FD, m, sizeof *m, MSG_DONTWAIT);
    return n;
}

enum next { KEEP_ON, KILL_ALL, LEAVE };

/* One order of the owner; its end is the order to kill everything. */
static enum next take_order(struct keeper *k)
{
    struct keeper_msg m;
    ssize_t n = hear(&m);

    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? KEEP_ON : KILL_ALL;
    if (n != (ssize_t)sizeof m)
        return KILL_ALL;
    switch ((enum keeper_order)m.kind) {
    case KEEPER_TERM:
        if (!k->program_reaped)
            kill(-k->program, SIGTERM);
        k->holds = false; /* all of the tree is to end now, and "empty" be told */
        return KEEP_ON;
    case KEEPER_LEAVE:
        return k->command ? LEAVE : KILL_ALL;
    case KEEPER_KILL:
        break;
    }
    return KILL_ALL;
}

/* Reaps; true when nothing is left. */
static bool look(struct keeper *k)
{
    if (k->holds)
        reap_strangers(k);
    return !k->holds && proctree_reap(on_reaped, k);
}

/* True when the tree is empty, false when it was left alone. */
static bool keep(struct keeper *k)
{
    struct pollfd p[] = {
        { .fd = KEEPER_CONTROL_FD, .events = POLLIN },
        { .fd = k->sigchld, .events = POLLIN },
    };
    enum next next = KEEP_ON;
    struct signalfd_siginfo si;

    while (next == KEEP_ON && !look(k)) {
        if (poll(p, 2, -1) < 0)
            continue;
        if (p[1].revents && read(k->sigchld, &si, sizeof si) < 0 && errno != EAGAIN)
            next = KILL_ALL;
        else if (p[0].revents)
            next = take_order(k);
    }
    if (next == LEAVE) {
        if (!k->program_reaped)
            kill(-k->program, SIGKILL);
        return false;
    }
    kill_all(k);
    return true;
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
    char **program;
    int failed;

    if (argc < 3 || !read_options(&k, argv, &program) || !has_owner()) {
        fputs("keeper: this command is for symposium's own use\n", stderr);
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_NAME, "symposium-keep", 0, 0,
          0); /* executed by descriptor we would be called "10" */
    fcntl(KEEPER_CONTROL_FD, F_SETFD, FD_CLOEXEC);
    if (k.sandbox)
        fcntl(KEEPER_RULESET_FD, F_SETFD, FD_CLOEXEC);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_DFL); /* if inherited as ignored, exits would be lost */
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    k.sigchld = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
    unmark_env();
    if (k.offline)
        offline_enter(NULL); /* where it cannot be had, the program is asked to behave */
    k.program = start(&k, program, &failed);
    let_go_of_stdio();
    if (k.sandbox)
        close(KEEPER_RULESET_FD);
    if (failed)
        tell(KEEPER_FAILED, failed);
    else
        tell(KEEPER_STARTED, k.program);
    k.program_reaped =
        failed != 0; /* a failed start is reaped like a stranger, without a report */
    k.holds = k.command && !failed;
    if (keep(&k))
        tell(KEEPER_EMPTY, 0);
    return 0;
}
