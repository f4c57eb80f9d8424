/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The child's side: lock-down (WK-2), the socket, one script, the end. */
#include "sandbox/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "lockdown/confine.h"
#include "lockdown/landlock.h"
#include "lockdown/seccomp.h"
#include "sandbox/engine.h"
#include "sandbox/frame.h"
#include "sandbox/host.h"

#define READ_CHUNK  ((size_t)16 << 10)
#define BUFFER_KEEP ((size_t)256 << 10)

struct worker {
    struct quota quota;
    size_t stack_bytes;
    int64_t timeout_ms;
    bool unsandboxed;
    /* bytes read and not yet used: at..n; one byte more is always there, for the engine's
     * parser wants a NUL */
    char *in;
    size_t n, at, cap;
    char saved; /* the byte that the NUL behind the last payload stands on */
    char *saved_at;
};

/* ---- the socket ---- */

static void on_send(void *ctx, struct str frame)
{
    (void)ctx;
    while (frame.n) {
        ssize_t n = write(WORKER_SOCKET_FD, frame.p, frame.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(WORKER_EXIT_ORPHAN);
        frame = str_from(frame, (size_t)n);
    }
}

static bool readable_within(int timeout_ms)
{
    int64_t end = timeout_ms < 0 ? 0 : clock_ms() + timeout_ms;
    struct pollfd p = { .fd = WORKER_SOCKET_FD, .events = POLLIN };

    for (;;) {
        int rc = poll(&p, 1, timeout_ms);

        if (rc >= 0 || errno != EINTR)
            return rc != 0;
        if (timeout_ms >= 0)
            timeout_ms = end > clock_ms() ? (int)(end - clock_ms()) : 0;
    }
}

static void make_room(struct worker *w, size_t want)
{
    if (w->in && w->at) {
        memmove(w->in, w->in + w->at, w->n - w->at);
        w->n -= w->at;
        w->at = 0;
    }
    if (!w->n && w->cap > BUFFER_KEEP && want < BUFFER_KEEP) {
        quota_free(&w->quota, w->in);
        w->in = NULL;
        w->cap = 0;
    }
    if (w->n + want + 1 > w->cap) {
        w->cap = w->n + want + 1;
        w->in = quota_resize(&w->quota, w->in, w->cap);
    }
}

/* Bytes still missing of the frame that begins at w->at; 0: it is whole. */
static size_t missing(const struct worker *w, size_t *ret_payload)
{
    size_t have = w->in ? w->n - w->at : 0;
    uint32_t n;

    if (have < FRAME_HEAD)
        return FRAME_HEAD - have;
    memcpy(&n, w->in + w->at, sizeof n);
    *ret_payload = le32toh(n);
    if (*ret_payload > FRAME_MAX)
        _exit(WORKER_EXIT_ORPHAN); /* not our parent's bytes */
    return have - FRAME_HEAD < *ret_payload ? *ret_payload - (have - FRAME_HEAD) : 0;
}

static bool on_receive(void *ctx, int timeout_ms, struct str *ret)
{
    struct worker *w = ctx;
    int64_t end = timeout_ms < 0 ? 0 : clock_ms() + timeout_ms;
    size_t payload = 0, want;

    if (w->saved_at)
        *w->saved_at = w->saved;
    w->saved_at = NULL;
    while ((want = missing(w, &payload)) != 0) {
        ssize_t n;

        if (!readable_within(timeout_ms))
            return false;
        make_room(w, want < READ_CHUNK ? READ_CHUNK : want);
        n = read(WORKER_SOCKET_FD, w->in + w->n, w->cap - 1 - w->n);
        if (n == 0 || (n < 0 && errno != EINTR))
            _exit(WORKER_EXIT_ORPHAN);
        w->n += n > 0 ? (size_t)n : 0;
        if (timeout_ms >= 0)
            timeout_ms = end > clock_ms() ? (int)(end - clock_ms()) : 0;
    }
    *ret = (struct str){ w->in + w->at + FRAME_HEAD, payload };
    w->at += FRAME_HEAD + payload;
    w->saved = w->in[w->at];
    w->in[w->at] = '\0';
    w->saved_at = w->in + w->at;
    return true;
}

/* ---- lock-down, in the order of WK-2: each step takes away something that no later one needs
 * ---- */

/* The parent may have ended before the death signal was set: then the socket has an end
 * already. */
static bool parent_is_there(struct error *e)
{
    struct pollfd p = { .fd = WORKER_SOCKET_FD, .events = 0 };

    if (poll(&p, 1, 0) < 0 || p.revents)
        return error_set(e, ERR_CLOSED, "no parent on descriptor %d", WORKER_SOCKET_FD);
    return true;
}

static bool limit_resources(const struct worker *w, struct error *e)
{
    struct confine_limits l = {
        .stack = w->stack_bytes + WORKER_STACK_SLACK,
        .cpu_secs = (unsigned)((w->timeout_ms + 999) / 1000 + 1),
        .open_files = WORKER_SOCKET_FD + 2, /* one more for a moment: Landlock's ruleset */
#ifndef SYM_SANITIZED /* a sanitizer's shadow is address space by the terabyte */
        .address_space = w->quota.limit + WORKER_AS_SLACK,
#endif
    };

    return confine_limits(&l, e);
}

static bool lock_before_engine(const struct worker *w, struct error *e)
{
    if (!confine_close_from(WORKER_SOCKET_FD + 1, e) || !confine_die_with_parent(e) ||
        !parent_is_there(e) || !confine_not_dumpable(e) || !limit_resources(w, e))
        return false;
    tzset(); /* else the first local time opens a file */
    return true;
}

/*
 * The filter is last: it forbids the calls that put on the others. Landlock and MDWE are second
 * walls where the kernel has them; without a filter there is no worker, unless the user has
 * said so.
 */
static bool lock_after_engine(const struct worker *w, struct error *e)
{
    /* Not before: a start is short, and a script may be waiting for it. */
    if (setpriority(PRIO_PROCESS, 0, WORKER_NICE) != 0)
        return error_set(e, ERR_SYS, "set nice %d", WORKER_NICE);
    if (!confine_no_new_privs(e))
        return w->unsandboxed;
    if (landlock_abi() && !landlock_deny_all(e))
        return false;
    confine_no_exec_memory();
    if (w->unsandboxed && !seccomp_available())
        return true;
    return seccomp_lock_worker(WORKER_SOCKET_FD, e);
}

/* ---- main ---- */

static bool read_arguments(struct worker *w, int argc, char **argv)
{
    int64_t memory, stack;

    if (argc < 5 || argc > 6 || (argc == 6 && strcmp(argv[5], WORKER_UNSANDBOXED) != 0) ||
        !str_to_int(str_of(argv[2]), 1, INT64_MAX / 2, &memory) ||
        !str_to_int(str_of(argv[3]), 1, INT64_MAX / 2, &stack) ||
        !str_to_int(str_of(argv[4]), 1, INT32_MAX, &w->timeout_ms))
        return false;
    w->quota = (struct quota){ .limit = (size_t)memory, .fd = WORKER_SOCKET_FD };
    w->stack_bytes = (size_t)stack;
    w->unsandboxed = argc == 6;
    return true;
}

/* Without its own text the parent only sees the status; stderr is /dev/null but in sanitized
 * builds. */
static _Noreturn void give_up(const struct error *e)
{
    struct str text = str_of(e->msg);
    ssize_t n = write(STDERR_FILENO, text.p, text.n);

    (void)n;
    _exit(WORKER_EXIT_LOCKDOWN);
}

/*
 * The parent ends us when it has passed the result on. An exit of our own would come before
 * that: its signal interrupts the parent, and giving back our memory takes a processor from
 * whoever waits for the answer.
 */
static void await_end(void)
{
    char late[256]; /* answers to calls that the script did not wait for */
    ssize_t n;

    do {
        n = read(WORKER_SOCKET_FD, late, sizeof late);
    } while (n > 0 || (n < 0 && errno == EINTR));
}

#ifdef SYM_SANITIZED
/* Crashes are to be seen as the signals they are; a report cannot open the files it wants for
 * symbols. */
static void quiet_sanitizer(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        signal(signals[i], SIG_DFL);
}
#else
static void quiet_sanitizer(void)
{
}
#endif

int worker_main(int argc, char **argv)
{
    static const char ready[] = "\x10\0\0\0{\"type\":\"ready\"}";
    static struct worker w;
    struct engine_io io = { &w, on_send, on_receive };
    struct engine *en;
    struct str script;
    struct error e = { 0 };

    _Static_assert(sizeof ready - 1 == FRAME_HEAD + 0x10,
                   "the length in front is that of the JSON");
    if (!read_arguments(&w, argc, argv))
        return WORKER_EXIT_USAGE;
    quiet_sanitizer();
    if (!lock_before_engine(&w, &e))
        give_up(&e);
    en = engine_new(&w.quota, w.stack_bytes, &io);
    make_room(&w, READ_CHUNK);
    if (!lock_after_engine(&w, &e))
        give_up(&e);
    on_send(NULL, (struct str){ ready, sizeof ready - 1 });
    if (on_receive(&w, -1, &script))
        engine_run(en, script);
    await_end();
    /* No tidying: the process is the unit that is thrown away (WK-7). */
    _exit(0);
}
