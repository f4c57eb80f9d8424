/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lockdown/confine.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

/* Newer than Debian 12's headers. */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_GET_MDWE              66
#define PR_MDWE_REFUSE_EXEC_GAIN (1ul << 0)
#endif

bool confine_limits(const struct confine_limits *l, struct error *e)
{
    const struct {
        int what;
        const char *name;
        rlim_t soft, hard;
    } rows[] = {
        { RLIMIT_CORE, "CORE", 0, 0 },
#ifndef SYM_SANITIZED /* stderr, for its report, may be a file */
        { RLIMIT_FSIZE, "FSIZE", 0, 0 },
#endif
        { RLIMIT_NPROC, "NPROC", 0, 0 },
        { RLIMIT_NOFILE, "NOFILE", l->open_files, l->open_files },
        { RLIMIT_CPU, "CPU", l->cpu_secs, l->cpu_secs + 1 },
        { RLIMIT_STACK, "STACK", l->stack, l->stack },
        { RLIMIT_AS, "AS", l->address_space, l->address_space },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rlimit r = { rows[i].soft, rows[i].hard }, now;

        if (rows[i].what == RLIMIT_AS && !l->address_space)
            continue;
        /* Never above the hard limit we were given: lowering always works, and root need not be
         * asked. */
        if (getrlimit(rows[i].what, &now) == 0) {
            r.rlim_max = now.rlim_max < r.rlim_max ? now.rlim_max : r.rlim_max;
            r.rlim_cur = r.rlim_max < r.rlim_cur ? r.rlim_max : r.rlim_cur;
        }
        if (setrlimit(rows[i].what, &r) != 0)
            return error_set(e, ERR_SYS, "set the limit '%s'", rows[i].name);
    }
    return true;
}

bool confine_close_from(unsigned first, struct error *e)
{
    long open_max;

    if (close_range(first, ~0u, 0) == 0)
        return true;
    if (errno != ENOSYS)
        return error_set(e, ERR_SYS, "close descriptors from %u on", first);
    open_max = sysconf(_SC_OPEN_MAX);
    for (long fd = (long)first; fd < open_max; fd++)
        close((int)fd);
    return true;
}

bool confine_die_with_parent(struct error *e)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 ||
           error_set(e, ERR_SYS, "set the parent-death signal");
}

bool confine_not_dumpable(struct error *e)
{
    return prctl(PR_SET_DUMPABLE, 0) == 0 || error_set(e, ERR_SYS, "forbid dumps");
}

bool confine_no_new_privs(struct error *e)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ||
           error_set(e, ERR_SYS, "set no_new_privs");
}

bool confine_no_exec_memory(void)
{
    return prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0;
}

bool confine_has_no_new_privs(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) >= 0;
}

bool confine_has_no_exec_memory(void)
{
    return prctl(PR_GET_MDWE, 0, 0, 0, 0) >= 0;
}
