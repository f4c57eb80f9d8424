/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* check.h for tests of what a process may do once it is confined. */
#ifndef SYM_TEST_CONFINED_H
#define SYM_TEST_CONFINED_H

#include "check.h"

#include <sys/wait.h>

#include "lockdown/landlock.h"

/* Forked, `run` confines itself and looks around: 0 when all is as it should be, 77 when the
 * kernel's Landlock is too old; then the test is skipped. */
static inline void check_confined(int (*run)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(run());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("SKIP: Landlock has ABI %d here, %d is needed\n", landlock_abi(),
                      LANDLOCK_ABI_RENAMES);
        skip();
    }
    assert_int_equal(status, 0);
}

#endif
