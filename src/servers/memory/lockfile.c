/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/rand.h"

/* Between two tries, at random so that nobody is always the last. Waiting in flock() itself
 * could not be cancelled. */
#define PAUSE_MIN_US 300
#define PAUSE_MAX_US 3000

static void pause_a_little(void)
{
    uint64_t us = PAUSE_MIN_US + rand_u64() % (PAUSE_MAX_US - PAUSE_MIN_US);
    struct timespec t = { .tv_nsec = (long)us * 1000 };

    nanosleep(&t, NULL);
}

/* Somebody may have removed the file while we waited, and a third made another. */
static bool still_there(int fd, int dir, const char *name)
{
    struct stat ours, there;

    return fstat(fd, &ours) == 0 && fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

int lockfile_take(int dir, const char *name, const struct plan *plan, struct error *e)
{
    auto_free char *lock = mem_printf("%s.lock", name);
    int64_t until = plan->until ? plan->until : clock_ms() + STORE_LOCK_MS;

    do {
        auto_close int fd = openat(
            dir, lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);

        if (fd < 0) {
            error_set(e, ERR_SYS, "open '%s'", lock);
            return -1;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            if (still_there(fd, dir, lock))
                return take_fd(&fd);
            continue;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            error_set(e, ERR_SYS, "lock '%s'", lock);
            return -1;
        }
        if (plan->cancelled(plan->ctx)) {
            error_set(e, ERR_CLOSED, "cancelled");
            return -1;
        }
        pause_a_little();
    } while (clock_ms() < until);
    error_set(e, ERR_TIMEOUT, "'%s' is held by another process for more than %d s", lock,
              STORE_LOCK_MS / 1000);
    return -1;
}
