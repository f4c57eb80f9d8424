/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Opening a path beneath a directory, for what another's tree may hold: the kernel sees to it
 * that no link and no ".." leads out of the directory, whatever is exchanged meanwhile.
 */
#ifndef SYM_BASE_BENEATH_H
#define SYM_BASE_BENEATH_H

#include <fcntl.h>
#include <stdbool.h>

/*
 * `rel` is relative to `dir`; `flags` are those of open(2), O_CLOEXEC is added. Links that stay
 * beneath are followed unless flags has O_NOFOLLOW, which here forbids a link anywhere on the
 * way. -1 with errno; EXDEV: it leads out. O_PATH (without O_NOFOLLOW) tells where a link leads
 * and opens nothing.
 *
 * Where the kernel has no openat2() every link is refused with ELOOP.
 */
int open_beneath(int dir, const char *rel, int flags);

/* Makes the directories of `rel` that are missing, 0777 less the umask, and opens the last one.
 * Links that stay beneath are followed. -1 with errno. */
int mkdirs_beneath(int dir, const char *rel);

/* For tests: true leaves openat2() out, as on a kernel without it. */
void beneath_without_openat2(bool without);

#endif
