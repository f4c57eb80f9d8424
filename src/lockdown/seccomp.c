/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lockdown/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#define NATIVE_ARCH 0 /* no filter known: seccomp_available() says no */
#endif

/* x32 calls carry the same AUDIT_ARCH, with this bit in the number. */
#define X32_BIT 0x40000000u

/* Allowed whatever the arguments. Not `mprotect`: memory may not change its protection. */
static const int
    plain_calls[] = {
        SYS_clock_gettime, SYS_ppoll,
        SYS_brk,           SYS_munmap,
        SYS_mremap,        SYS_madvise,
        SYS_futex,         SYS_getrandom,
        SYS_gettimeofday, /* clock sources without vDSO */
        SYS_exit,          SYS_exit_group,
        SYS_rt_sigreturn,  SYS_restart_syscall, /* a poll that was stopped and continued */
#ifdef SYS_poll
        SYS_poll,
#endif
#ifdef SYM_SANITIZED
        SYS_sigaltstack,   SYS_rt_sigprocmask,
#endif
    };

#define PROGRAM_MAX 128

struct program {
    struct sock_filter at[PROGRAM_MAX];
    unsigned short n;
};

static void emit(struct program *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
    p->at[p->n++] = (struct sock_filter){ .code = code, .jt = jt, .jf = jf, .k = k };
}

static void emit_load(struct program *p, size_t offset)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The low half of an argument; the kernel ignores the high half of descriptors, and of prot and
 * flags no bit lies there. */
static void emit_load_arg(struct program *p, unsigned i)
{
    size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : sizeof(uint32_t);

    emit_load(p, offsetof(struct seccomp_data, args) + i * sizeof(uint64_t) + low);
}

static void emit_return(struct program *p, uint32_t action)
{
    emit(p, BPF_RET | BPF_K, action, 0, 0);
}

static void emit_allow(struct program *p, int nr)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1);
    emit_return(p, SECCOMP_RET_ALLOW);
}

/* The call is allowed when its first argument is one of fds[]. */
static void emit_allow_on_fds(struct program *p, int nr, const int *fds, uint8_t nfds)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, (uint8_t)(2 + 2 * nfds));
    emit_load_arg(p, 0);
    for (uint8_t i = 0; i < nfds; i++)
        emit_allow(p, fds[i]);
    emit_return(p, SECCOMP_RET_KILL_PROCESS);
}

/* mmap(addr, len, prot, flags, ...): anonymous and not executable. */
static void emit_allow_anonymous_mmap(struct program *p)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 6);
    emit_load_arg(p, 2);
    emit(p, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 3, 0);
    emit_load_arg(p, 3);
    emit(p, BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1);
    emit_return(p, SECCOMP_RET_ALLOW);
    emit_return(p, SECCOMP_RET_KILL_PROCESS);
}

/* Goes on with the number of the call loaded, if it is one of our architecture. */
static void emit_prologue(struct program *p)
{
    emit_load(p, offsetof(struct seccomp_data, arch));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
    emit_return(p, SECCOMP_RET_KILL_PROCESS);
    emit_load(p, offsetof(struct seccomp_data, nr));
    emit(p, BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 0, 1);
    emit_return(p, SECCOMP_RET_KILL_PROCESS);
}

static bool install(struct program *p, struct error *e)
{
    struct sock_fprog prog = { .filter = p->at, .len = p->n };

    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) != 0)
        return error_set(e, ERR_SYS, "install the system-call filter");
    return true;
}

static void build(struct program *p, int fd)
{
    const int readable[] = { fd };
#ifdef SYM_SANITIZED
    const int writable[] = { fd, STDERR_FILENO }; /* for the sanitizer's report */
#else
    const int writable[] = { fd };
#endif

    emit_prologue(p);
    emit_allow_on_fds(p, SYS_read, readable, ARRAY_LEN(readable));
    emit_allow_on_fds(p, SYS_write, writable, ARRAY_LEN(writable));
    emit_allow_anonymous_mmap(p);
    for (size_t i = 0; i < ARRAY_LEN(plain_calls); i++)
        emit_allow(p, plain_calls[i]);
    emit_return(p, SECCOMP_RET_KILL_PROCESS);
}

bool seccomp_available(void)
{
    uint32_t action = SECCOMP_RET_KILL_PROCESS;

    return NATIVE_ARCH && prctl(PR_GET_SECCOMP) >= 0 &&
           syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool seccomp_lock_worker(int fd, struct error *e)
{
    struct program p = { .n = 0 };

    if (!NATIVE_ARCH)
        return error_set(e, ERR_DENIED, "no system-call filter for this architecture");
    build(&p, fd);
    return install(&p, e);
}

/* ---- a sandboxed command ---- */

static void emit_deny(struct program *p, int nr, uint32_t err)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1);
    emit_return(p, SECCOMP_RET_ERRNO | err);
}

/* socket(family, ...) and socketpair(family, ...): the kernel takes the low half of it. */
static void emit_unix_only(struct program *p, int nr)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 4);
    emit_load_arg(p, 0);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1);
    emit_return(p, SECCOMP_RET_ALLOW);
    emit_return(p, SECCOMP_RET_ERRNO | EACCES);
}

/* Opening to read and O_TRUNC at once empties the file all the same. */
static void emit_no_read_and_truncate(struct program *p, int nr, unsigned flags_arg)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 6);
    emit_load_arg(p, flags_arg);
    emit(p, BPF_JMP | BPF_JSET | BPF_K, O_TRUNC, 0, 3);
    emit(p, BPF_ALU | BPF_AND | BPF_K, O_ACCMODE, 0, 0);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, O_RDONLY, 0, 1);
    emit_return(p, SECCOMP_RET_ERRNO | EACCES);
    emit_return(p, SECCOMP_RET_ALLOW);
}

bool seccomp_lock_command(bool no_truncate, struct error *e)
{
    struct program p = { .n = 0 };

    if (!NATIVE_ARCH)
        return error_set(e, ERR_DENIED, "no system-call filter for this architecture");
    emit_prologue(&p);
    emit_unix_only(&p, SYS_socket);
    emit_unix_only(&p, SYS_socketpair);
#ifdef SYS_socketcall
    emit_deny(&p, SYS_socketcall, EACCES);
#endif
    emit_deny(&p, SYS_io_uring_setup, EPERM);
    if (no_truncate) {
        emit_deny(&p, SYS_truncate, EACCES);
        emit_deny(&p, SYS_openat2, ENOSYS);
        emit_no_read_and_truncate(&p, SYS_openat, 2);
#ifdef SYS_open
        emit_no_read_and_truncate(&p, SYS_open, 1);
#endif
    }
    emit_return(&p, SECCOMP_RET_ALLOW);
    return install(&p, e);
}
