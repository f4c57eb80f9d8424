/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The test's own program as a child on pipes: the server that it tests. */
#ifndef SYM_TEST_SELF_H
#define SYM_TEST_SELF_H

#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

struct self {
    pid_t pid;
    int in, out, err; /* its stdin, stdout, stderr; closed early ones are -1 */
};

static inline void self_start(struct self *s, const char *name, const char *arg)
{
    int in[2], out[2], err[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    s->pid = fork();
    if (s->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        execl("/proc/self/exe", name, arg, (char *)NULL);
        _exit(99);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    s->in = in[1];
    s->out = out[0];
    s->err = err[0];
}

static inline void self_say(struct self *s, const char *text)
{
    size_t n = strlen(text);

    assert_int_equal(write(s->in, text, n), (ssize_t)n);
}

/* Its exit status, negative for a signal; the test fails when it lasts longer than ms * slack.
 */
static inline int self_finish(struct self *s, int ms)
{
    int64_t until = clock_ms() + (int64_t)ms * slack();
    int status = -1;

    while (waitpid(s->pid, &status, WNOHANG) == 0) {
        if (clock_ms() > until) {
            kill(s->pid, SIGKILL);
            waitpid(s->pid, &status, 0);
            fail_msg("not ended within %d ms", ms * slack());
        }
        usleep(2000);
    }
    if (s->in >= 0)
        close(s->in);
    if (s->out >= 0)
        close(s->out);
    close(s->err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#endif
