/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lockdown/landlock.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

/* Own numbers and layout: Debian 12's headers stop at ABI 2. Source:
 * Documentation/userspace-api/landlock.rst. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif
#define CREATE_RULESET_VERSION 1u
#define RULE_PATH_BENEATH      1u

/* Rights over files. */
#define FS_EXECUTE    (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE  (UINT64_C(1) << 2)
#define FS_READ_DIR   (UINT64_C(1) << 3)
#define FS_MAKE_CHAR  (UINT64_C(1) << 6)
#define FS_MAKE_BLOCK (UINT64_C(1) << 11)
#define FS_REFER      (UINT64_C(1) << 13) /* move or link to another directory */
#define FS_TRUNCATE   (UINT64_C(1) << 14)
#define FS_IOCTL_DEV  (UINT64_C(1) << 15)
#define FS_ABI_1      UINT64_C(0x1fff) /* the first 13: execute to make_sym */

#define FS_READING   (FS_READ_FILE | FS_READ_DIR)
#define FS_NO_CHANGE (FS_EXECUTE | FS_READING | FS_IOCTL_DEV) /* all others change files */
/* The only ones that a rule for a single file may hold. */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset_attr {
    uint64_t fs, net, scoped;
};

struct __attribute__((packed)) path_beneath_attr {
    uint64_t allowed;
    int32_t fd;
};

/* What each ABI level added. */
static const struct {
    int abi;
    size_t attr_size; /* the kernel refuses a longer one */
    struct ruleset_attr adds;
} levels[] = {
    { 1, offsetof(struct ruleset_attr, net), { .fs = FS_ABI_1 } },
    { 2, offsetof(struct ruleset_attr, net), { .fs = FS_REFER } },
    { 3, offsetof(struct ruleset_attr, net), { .fs = FS_TRUNCATE } },
    { 4, offsetof(struct ruleset_attr, scoped), { .net = 3 } }, /* TCP bind, connect */
    { 5, offsetof(struct ruleset_attr, scoped), { .fs = FS_IOCTL_DEV } },
    { 6, sizeof(struct ruleset_attr), { .scoped = 3 } }, /* abstract sockets, signals */
};

int landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, CREATE_RULESET_VERSION);

    return abi > 0 ? (int)abi : 0;
}

/* A ruleset that handles all the rights of this kernel, or of its files only those in fs_mask
 * and nothing else. -1 on failure. *ret_fs: the rights over files that it handles. */
static int make_ruleset(int min_abi, uint64_t fs_mask, uint64_t *ret_fs, struct error *e)
{
    struct ruleset_attr all = { 0 };
    size_t size = 0;
    int abi = landlock_abi(), fd;

    if (!abi)
        error_set(e, ERR_DENIED, "this kernel has no Landlock");
    else if (abi < min_abi)
        error_set(e, ERR_DENIED, "this kernel's Landlock has ABI %d, %d is needed", abi,
                  min_abi);
    if (!abi || abi < min_abi)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(levels) && levels[i].abi <= abi; i++) {
        size = levels[i].attr_size;
        all.fs |= levels[i].adds.fs;
        all.net |= levels[i].adds.net;
        all.scoped |= levels[i].adds.scoped;
    }
    if (fs_mask)
        all = (struct ruleset_attr){ .fs = all.fs & fs_mask };
    fd = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0u);
    if (fd < 0)
        error_set(e, ERR_SYS, "create a Landlock ruleset");
    *ret_fs = all.fs;
    return fd;
}

static bool add_rule(int ruleset, int fd, uint64_t allowed, struct error *e)
{
    struct path_beneath_attr rule = { .allowed = allowed, .fd = fd };
    struct stat st;

    if (fstat(fd, &st) != 0)
        return error_set(e, ERR_SYS, "look at what a Landlock rule is for");
    if (!S_ISDIR(st.st_mode))
        rule.allowed &= FS_OF_FILES;
    if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0u) != 0)
        return error_set(e, ERR_SYS, "add a Landlock rule");
    return true;
}

bool landlock_enter(int ruleset, struct error *e)
{
    if (syscall(SYS_landlock_restrict_self, ruleset, 0u) != 0)
        return error_set(e, ERR_SYS, "enter the Landlock ruleset");
    return true;
}

bool landlock_deny_all(struct error *e)
{
    uint64_t fs;
    auto_close int ruleset = make_ruleset(1, 0, &fs, e);

    return ruleset >= 0 && landlock_enter(ruleset, e);
}

bool landlock_confine(const struct landlock_rule *v, size_t n, struct error *e)
{
    uint64_t fs;
    auto_close int ruleset = make_ruleset(LANDLOCK_ABI_RENAMES, 0, &fs, e);

    if (ruleset < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t allowed = v[i].right == LANDLOCK_READ
                               ? FS_READING
                               : ~(FS_EXECUTE | FS_MAKE_CHAR | FS_MAKE_BLOCK | FS_IOCTL_DEV);

        if (!add_rule(ruleset, v[i].fd, fs & allowed, e))
            return false;
    }
    return landlock_enter(ruleset, e);
}

int landlock_writes_ruleset(const int *fds, size_t n, struct error *e)
{
    uint64_t fs;
    auto_close int ruleset = make_ruleset(1, ~FS_NO_CHANGE, &fs, e);

    if (ruleset < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        /* Writing to a new node of the disk's device would be writing anywhere. */
        if (!add_rule(ruleset, fds[i], fs & ~(FS_MAKE_CHAR | FS_MAKE_BLOCK), e))
            return -1;
    }
    return take_fd(&ruleset);
}
