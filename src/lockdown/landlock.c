/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lockdown/landlock.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

/* Own numbers and layout: Debian 12's headers stop at ABI 2. Source:
 * Documentation/userspace-api/landlock.rst. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self  446
#endif
#define CREATE_RULESET_VERSION 1u

struct ruleset_attr {
    uint64_t fs, net, scoped;
};

/* What each ABI level added. */
static const struct {
    int abi;
    size_t attr_size; /* the kernel refuses a longer one */
    struct ruleset_attr adds;
} levels[] = {
    { 1, offsetof(struct ruleset_attr, net), { .fs = 0x1fff } },      /* execute .. make_sym */
    { 2, offsetof(struct ruleset_attr, net), { .fs = 1u << 13 } },    /* refer */
    { 3, offsetof(struct ruleset_attr, net), { .fs = 1u << 14 } },    /* truncate */
    { 4, offsetof(struct ruleset_attr, scoped), { .net = 3 } },       /* TCP bind, connect */
    { 5, offsetof(struct ruleset_attr, scoped), { .fs = 1u << 15 } }, /* ioctl on devices */
    { 6, sizeof(struct ruleset_attr), { .scoped = 3 } }, /* abstract sockets, signals */
};

int landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, CREATE_RULESET_VERSION);

    return abi > 0 ? (int)abi : 0;
}

bool landlock_deny_all(struct error *e)
{
    struct ruleset_attr all = { 0 };
    size_t size = 0;
    int abi = landlock_abi();
    auto_close int ruleset = -1;

    if (!abi)
        return error_set(e, ERR_DENIED, "this kernel has no Landlock");
    for (size_t i = 0; i < ARRAY_LEN(levels) && levels[i].abi <= abi; i++) {
        size = levels[i].attr_size;
        all.fs |= levels[i].adds.fs;
        all.net |= levels[i].adds.net;
        all.scoped |= levels[i].adds.scoped;
    }
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0u);
    if (ruleset < 0)
        return error_set(e, ERR_SYS, "create a Landlock ruleset");
    if (syscall(SYS_landlock_restrict_self, ruleset, 0u) != 0)
        return error_set(e, ERR_SYS, "enter the Landlock ruleset");
    return true;
}
