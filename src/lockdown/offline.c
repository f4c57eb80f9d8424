/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lockdown/offline.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static bool put(const char *path, const char *text)
{
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && file_write_all(fd, str_of(text), NULL);
}

bool offline_enter(struct error *e)
{
    char users[64], groups[64];
    unsigned uid = geteuid(), gid = getegid();

    snprintf(users, sizeof users, "%u %u 1\n", uid, uid);
    snprintf(groups, sizeof groups, "%u %u 1\n", gid, gid);
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return error_set(e, ERR_SYS, "no network namespace");
    /* Where the maps cannot be written the ids look like nobody's, but files are still ours. */
    put("/proc/self/setgroups", "deny");
    put("/proc/self/uid_map", users);
    put("/proc/self/gid_map", groups);
    return true;
}
