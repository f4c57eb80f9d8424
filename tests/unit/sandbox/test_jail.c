/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The jail itself, with a worker that has hooks for misbehaving: WK-1 to WK-5 and WK-7, SEC-18,
 * SEC-19, MS-35, MS-37.
 */
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"
#include "lockdown/landlock.h"
#include "lockdown/seccomp.h"
#include "sandbox/worker.h"

/* ---- looking at the worker from outside ---- */

/* The one child of ours whose command line has "worker" in it; 0: none. */
static pid_t find_worker(void)
{
    struct dirent *d;
    pid_t found = 0;
    DIR *proc = opendir("/proc");

    while (!found && (d = readdir(proc))) {
        auto_free char *path = mem_printf("/proc/%s/stat", d->d_name);
        FILE *f = d->d_name[0] >= '0' && d->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        int pid, parent;
        char name[64], state;

        if (!f)
            continue;
        if (fscanf(f, "%d (%63[^)]) %c %d", &pid, name, &state, &parent) == 4 &&
            parent == getpid() && state != 'Z')
            found = pid;
        fclose(f);
    }
    closedir(proc);
    return found;
}

static void stop(void *ctx)
{
    loop_stop(ctx);
}

static void pass_ms(struct run *r, int ms)
{
    struct timer *t = timer_new(r->loop, stop, r->loop);

    timer_set(t, ms);
    loop_run(r->loop);
    timer_free(t);
}

static pid_t warm_worker(struct run *r)
{
    struct sandbox_limits l = DEFAULT_LIMITS;
    pid_t pid = 0;

    l.timeout_ms = 2500;
    run_open(r, &l);
    sandbox_prewarm(r->sandbox);
    for (int i = 0; i < 200 * slack() && !pid; i++) {
        pass_ms(r, 5);
        pid = find_worker();
    }
    pass_ms(r, 100 * slack()); /* through exec and lock-down */
    assert_true(pid > 0);
    return find_worker();
}

static char *read_proc(pid_t pid, const char *file)
{
    auto_free char *path = mem_printf("/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "r");
    auto_buf all = BUF((size_t)1 << 20);
    char chunk[4096];
    size_t n;

    if (!f)
        fail_msg("cannot open %s", path);
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_add(&all, (struct str){ chunk, n });
    fclose(f);
    return all.p ? buf_take(&all) : mem_strdup("");
}

static long status_number(const char *status, const char *key)
{
    const char *at = strstr(status, key);

    if (!at)
        fail_msg("no '%s' in status", key);
    return strtol(at + strlen(key), NULL, 10);
}

/* WK-1, WK-2, WK-3, MS-35: what the kernel says about a warm worker, before any script */
static void a_warm_worker_is_locked_down(void **state)
{
    struct run r;
    pid_t pid = warm_worker(&r);
    auto_free char *status = read_proc(pid, "status"),
                   *environ_text = read_proc(pid, "environ");
    auto_free char *cmdline = read_proc(pid, "cmdline"), *limits = read_proc(pid, "limits");
    auto_free char *stat = read_proc(pid, "stat");
    char *after = strrchr(stat, ')') + 2;
    long nice_value = 0;

    assert_z(environ_text, ""); /* empty environment */
    assert_string_equal(cmdline, "symposium");
    assert_string_equal(cmdline + strlen("symposium") + 1, "worker");
    assert_int_equal(status_number(status, "Seccomp:\t"), 2); /* filter */
    assert_int_equal(status_number(status, "NoNewPrivs:\t"), 1);
    assert_has(limits, "Max core file size        0                    0");
    assert_has(limits, "Max processes             0                    0");
    assert_has(limits, "Max open files            5                    5");
    assert_has(limits, "Max cpu time              4                    5"); /* ceil(2.5) + 1 */
    assert_has(limits, "Max stack size            2097152");                /* limit + 1 MiB */
#ifndef SYM_SANITIZED
    assert_has(limits, "Max file size             0                    0");
    assert_has(limits,
               "Max address space         268435456            268435456"); /* 64 + 192 MiB */
#endif
    for (int field = 3; field < 19; field++)
        after = strchr(after, ' ') + 1;
    nice_value = strtol(after, NULL, 10);
    assert_int_equal(nice_value, WORKER_NICE);
    run_close(&r);
}

/* WK-1, WK-2: /dev/null three times (the parent's stderr in sanitized builds) and one socket,
 * nothing else */
static void a_worker_has_no_descriptors_but_its_socket(void **state)
{
    struct run r;
    pid_t pid = warm_worker(&r);
    char dir[64];
    struct dirent *d;
    DIR *fds;
    unsigned seen = 0;

    snprintf(dir, sizeof dir, "/proc/%d/fd", (int)pid);
    fds = opendir(dir);

    if (!fds) { /* not dumpable: only root may look */
        run_close(&r);
        skip();
    }
    while ((d = readdir(fds))) {
        char target[256];
        ssize_t n = readlinkat(dirfd(fds), d->d_name, target, sizeof target - 1);
        int fd = atoi(d->d_name);

        if (n < 0)
            continue;
        target[n] = '\0';
        assert_true(fd <= WORKER_SOCKET_FD);
        seen |= 1u << fd;
        if (fd == WORKER_SOCKET_FD)
            assert_has(target, "socket:");
#ifdef SYM_SANITIZED
        else if (fd == 2)
            continue;
#endif
        else
            assert_z(target, "/dev/null");
    }
    closedir(fds);
    assert_int_equal(seen, 15);
    run_close(&r);
}

/* WK-2: a worker whose parent is killed does not survive it */
static void a_worker_ends_with_its_parent(void **state)
{
    int to_child[2];
    pid_t parent, worker = 0;
    char text[16] = { 0 };

    assert_int_equal(pipe(to_child), 0);
    parent = fork();
    if (parent == 0) {
        struct run r;

        dprintf(to_child[1], "%d\n", (int)warm_worker(&r));
        pause();
        _exit(0);
    }
    assert_true(read(to_child[0], text, sizeof text - 1) > 0);
    worker = atoi(text);
    assert_true(worker > 0 && kill(worker, 0) == 0);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    for (int i = 0; i < 100 * slack(); i++) {
        auto_free char *path = mem_printf("/proc/%d/stat", (int)worker);
        FILE *f = fopen(path, "r");
        char state_letter = 'X';

        if (f) {
            if (fscanf(f, "%*d (%*[^)]) %c", &state_letter) != 1)
                state_letter = 'X';
            fclose(f);
        }
        if (!f || state_letter == 'Z' || state_letter == 'X') {
            close(to_child[0]);
            close(to_child[1]);
            return;
        }
        usleep(10000);
    }
    fail_msg("the worker %d outlived its parent", (int)worker);
}

/* ---- the filter ---- */

/* WK-3: each of these ends the process with SIGSYS, whatever the engine could be talked into */
static void calls_outside_the_allow_list_kill(void **state)
{
    static const struct {
        const char *what;
        long nr, a, b, c, d;
    } calls[] = {
        { "openat", SYS_openat, -100, 0, 0, 0 },
        { "socket", SYS_socket, 1, 1, 0, 0 },
        { "connect", SYS_connect, 3, 0, 0, 0 },
        { "clone", SYS_clone, 0, 0, 0, 0 },
        { "execve", SYS_execve, 0, 0, 0, 0 },
        { "kill", SYS_kill, 1, 0, 0, 0 },
        { "tgkill", SYS_tgkill, 1, 1, 0, 0 },
        { "ptrace", SYS_ptrace, 0, 0, 0, 0 },
        { "prctl", SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0 },
        { "getpid", SYS_getpid, 0, 0, 0, 0 },
        { "mprotect", SYS_mprotect, 0, 4096, PROT_READ, 0 },
        { "io_uring_setup", 425, 1, 0, 0, 0 },
        { "bpf", SYS_bpf, 0, 0, 0, 0 },
        { "setrlimit", SYS_prlimit64, 0, RLIMIT_AS, 0, 0 },
        { "close", SYS_close, 3, 0, 0, 0 },
        { "dup", SYS_dup, 3, 0, 0, 0 },
        { "sendmsg", SYS_sendmsg, 3, 0, 0, 0 },
        { "ioctl", SYS_ioctl, 3, 0, 0, 0 },
        { "unlink", SYS_unlinkat, -100, 0, 0, 0 },
        { "seccomp", SYS_seccomp, 0, 0, 0, 0 },
        { "clone3", SYS_clone3, 0, 0, 0, 0 },
        { "memfd_create", SYS_memfd_create, 0, 0, 0, 0 },
        { "read of another descriptor", SYS_read, 0, 0, 0, 0 },
        { "write to stdout", SYS_write, 1, 0, 0, 0 },
#ifndef SYM_SANITIZED
        { "write to stderr", SYS_write, 2, 0, 0, 0 },
#endif
        { "mmap executable", SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC,
          MAP_PRIVATE | MAP_ANONYMOUS },
        { "mmap of a file", SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE },
#ifdef __x86_64__
        { "x32 read", SYS_read | 0x40000000, 3, 0, 0, 0 },
        { "x32 getrandom", SYS_getrandom | 0x40000000, 0, 0, 0, 0 },
#endif
        { "a number that does not exist", 100000, 0, 0, 0, 0 },
        { "a negative number", -1, 0, 0, 0, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        auto_buf source = BUF(256);
        struct run r;

        buf_addf(&source, "hook.syscall(%ld, %ld, %ld, %ld, %ld)", calls[i].nr, calls[i].a,
                 calls[i].b, calls[i].c, calls[i].d);
        run_script(&r, buf_z(&source));
        if (r.outcome != SCRIPT_CRASHED ||
            strcmp(r.message, "script engine crashed (signal 31)") != 0)
            fail_msg("%s: outcome %d, %s %s", calls[i].what, (int)r.outcome, r.message,
                     r.result);
        run_close(&r);
    }
}

/* WK-3: and these do not */
static void what_the_engine_needs_is_allowed(void **state)
{
    static const struct row rows[] = {
        { "hook.syscall("
          "318"
          ", 0, 0, 0)",
          SCRIPT_OK }, /* getrandom on x86-64 */
        { "Date.now() > 0 && new Date().getHours() >= 0 && new Date(2020, 6, "
          "1).toString().length > 0",
          SCRIPT_OK, "true" },
        { "new Date().toLocaleString().length > 0", SCRIPT_OK, "true" },
        { "Math.random() >= 0", SCRIPT_OK, "true" },
        { "const a = []; for (let i = 0; i < 200; i++) a.push(new ArrayBuffer(2e5)); a.length "
          "= 0; 'freed'",
          SCRIPT_OK },
        { "'\\u0130'.toLocaleLowerCase() + 'e\\u0301'.normalize('NFC')", SCRIPT_OK },
        { "await new Promise(r => setTimeout(r, 20)); 1", SCRIPT_OK, "1" },
    };

#ifdef __x86_64__
    RUN_ROWS(rows);
#else
    run_rows(rows + 1, ARRAY_LEN(rows) - 1);
#endif
}

/* ---- crashes and lies ---- */

/* SEC-18, WK-7: in the middle of a call; the call is dropped, the sandbox serves the next
 * script */
static void a_crash_is_told_and_its_calls_are_dropped(void **state)
{
    static const struct {
        const char *source, *message;
    } cases[] = {
        { "console.log('before'); srv.never({}); await srv.echo({}); hook.crash()",
          "script engine crashed (signal 11)" },
        { "console.log('before'); srv.never({}); await srv.echo({}); hook.trap()",
          "script engine crashed (signal 4)" },
        { "console.log('before'); srv.never({}); await srv.echo({}); hook.syscall(39)",
          "script engine crashed (signal 31)" },
        { "console.log('before'); srv.never({}); await srv.echo({}); hook.syscall(231, 9)",
          "script engine crashed (exit status 9)" },
        { "console.log('before'); srv.never({}); await srv.echo({}); hook.syscall(231, 0)",
          "script engine crashed (exit status 0)" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct run r;

        run_script(&r, cases[i].source);
        assert_int_equal(r.outcome, SCRIPT_CRASHED);
        assert_z(r.message, cases[i].message);
        assert_int_equal(r.dropped, 1);
        assert_z(r.console, "before");
        free(r.result);
        free(r.message);
        free(r.stack);
        free(r.console);
        r.ended = false;
        r.end_count = 0;
        run_begin(&r, STR("'next'"));
        run_wait(&r);
        assert_z(r.result, "\"next\"");
        run_close(&r);
    }
}

/* WK-7: exit status 3 says memory, even if the frame was lost */
static void exit_status_three_means_memory(void **state)
{
    struct run r;

    run_script(&r, "hook.syscall(231, 3)");
    assert_int_equal(r.outcome, SCRIPT_MEMORY);
    run_close(&r);
}

#define FRAME_JS(json)                                                                       \
    "const s = " json "; hook.raw(String.fromCharCode(s.length & 255, s.length >> 8 & 255, " \
    "s.length >> 16, 0) + s);"

/* SEC-19, WK-5: a worker that lies is killed; the script's end says which rule it broke */
static void a_lying_worker_is_killed(void **state)
{
    static const struct {
        const char *source, *message;
    } cases[] = {
        { "hook.raw('\\xff\\xff\\xff\\xff{}')", "frame of 4294967295 bytes" },
        { "hook.raw('\\x01\\x00\\x00\\x01')", "frame of 16777217 bytes" },
        { "hook.raw('\\x00\\x00\\x00\\x00')", "frame of 0 bytes" },
        { "hook.raw('\\x00\\x00\\x00\\x80')", "frame of 2147483648 bytes" },
        { "hook.raw('\\x03\\x00\\x00\\x00abc')", "frame is not JSON" },
        { "hook.raw('\\x04\\x00\\x00\\x00\\\"\\xff\\xfe\\\"')", "frame is not JSON" },
        { "hook.raw('\\x02\\x00\\x00\\x00{}')", "frame of unknown type ''" },
        { "hook.raw('\\x02\\x00\\x00\\x00[]')", "frame of unknown type ''" },
        { FRAME_JS("'['.repeat(200) + ']'.repeat(200)"), "frame is not JSON" },
        { FRAME_JS("'{\"type\":\"script\"}'"), "frame of unknown type 'script'" },
        { FRAME_JS("'{\"type\":\"ready\"}'"), "'ready' frame out of turn" },
        { FRAME_JS("'{\"type\":\"call\",\"id\":1,\"server\":2,\"key\":\"a\",\"args\":\"{}\"}'"),
          "not in scope" },
        { FRAME_JS(
              "'{\"type\":\"call\",\"id\":-1,\"server\":0,\"key\":\"a\",\"args\":\"{}\"}'"),
          "'id' is missing" },
        { FRAME_JS("'{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":5,\"args\":\"{}\"}'"),
          "'key' is missing" },
        { FRAME_JS("'{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"a\",\"args\":{}}'"),
          "'args' is missing" },
        { FRAME_JS(
              "'{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"a\",\"args\":\"{\\\\n}\"}'"),
          "'args' is missing" },
        { "srv.never({}); " FRAME_JS(
              "'{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"a\",\"args\":\"{}\"}'"),
          "id used before" },
        { "await srv.echo({}); " FRAME_JS(
              "'{\"type\":\"call\",\"id\":1,\"server\":0,\"key\":\"a\",\"args\":\"{}\"}'"),
          "id used before" },
        { FRAME_JS("'{\"type\":\"console\",\"level\":\"fatal\",\"text\":\"\"}'"),
          "'level' is missing" },
        { FRAME_JS("'{\"type\":\"console\",\"level\":\"log\",\"text\":\"' + 'x'.repeat(8192) + "
                   "'\"}'"),
          "bytes of console text" },
        { "console.log('x'.repeat(1e4)); " FRAME_JS(
              "'{\"type\":\"console\",\"level\":\"log\",\"text\":\"\"}'"),
          "console text after the limit" },
        { FRAME_JS(
              "'{\"type\":\"result\",\"json\":\"12\",\"total\":1,\"refused\":0,\"loose\":[]}'"),
          "'total' is missing" },
        { FRAME_JS("'{\"type\":\"result\",\"json\":\"12\",\"total\":2,\"refused\":0,\"loose\":["
                   "{\"id\":1}]}'"),
          "'loose' does not fit" },
        { FRAME_JS("'{\"type\":\"result\",\"json\":\"12\",\"total\":2,\"refused\":0,\"loose\":["
                   "7]}'"),
          "bad entry in 'loose'" },
        { FRAME_JS("'{\"type\":\"error\",\"kind\":\"odd\",\"message\":\"\",\"stack\":\"\","
                   "\"refused\":0,\"loose\":[]}'"),
          "'kind' is missing" },
        { FRAME_JS("'{\"type\":\"error\",\"kind\":\"script\",\"message\":\"' + "
                   "'x'.repeat(4097) + '\",\"stack\":\"\",\"refused\":0,\"loose\":[]}'"),
          "'message' is missing" },
        { "for (let i = 1; i < 70; i++) { " FRAME_JS(
              "`{\"type\":\"call\",\"id\":${i},\"server\":0,\"key\":\"never\",\"args\":\"{}\"}"
              "`") " }",
          "more than 64 calls in flight" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf source = BUF(4096);
        struct run r;

        buf_addf(&source, "%s; for (;;) {}", cases[i].source); /* nothing but SIGKILL ends it */
        run_script(&r, buf_z(&source));
        if (r.outcome != SCRIPT_CRASHED)
            fail_msg("'%s': outcome %d %s", cases[i].source, (int)r.outcome, r.message);
        assert_has(r.message, cases[i].message);
        assert_true(r.ms < 2000 * slack());
        run_close(&r);
    }
}

/* SEC-19: the first final frame counts; a second one, or more calls, reach nobody */
static void what_comes_after_the_final_frame_reaches_nobody(void **state)
{
    struct run r;

    run_script(&r,
               "const s = "
               "'{\"type\":\"result\",\"json\":\"1\",\"total\":1,\"refused\":0,\"loose\":[]}';"
               "const f = String.fromCharCode(s.length, 0, 0, 0) + s; hook.raw(f + f); "
               "srv.echo({}); for (;;) {}");
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_z(r.result, "1");
    assert_int_equal(r.end_count, 1);
    assert_int_equal(r.ncalls, 0);
    run_close(&r);
}

/* SEC-19: more calls than the limit, though the worker should have refused them */
static void more_calls_than_allowed_are_a_lie(void **state)
{
    struct sandbox_limits l = DEFAULT_LIMITS;
    struct run r;

    l.max_calls = 2;
    run_with(&r,
             "for (let i = 1; i < 4; i++) { " FRAME_JS(
                 "`{\"type\":\"call\",\"id\":${i},\"server\":0,\"key\":\"echo\",\"args\":\"{}"
                 "\"}`") " } for (;;) {}",
             &l);
    assert_int_equal(r.outcome, SCRIPT_CRASHED);
    assert_has(r.message, "more than 2 calls");
    run_close(&r);
}

/* WK-5: frames cut anywhere are the same frames */
static void frames_may_come_a_byte_at_a_time(void **state)
{
    struct run r;

    run_script(&r, "const s = '{\"type\":\"console\",\"level\":\"log\",\"text\":\"slow\"}';"
                   "const f = String.fromCharCode(s.length, 0, 0, 0) + s; for (const c of f + "
                   "f) { hook.raw(c); "
                   "const end = Date.now() + 1; while (Date.now() < end); } 1");
    assert_int_equal(r.outcome, SCRIPT_OK);
    assert_z(r.console, "slow\nslow");
    run_close(&r);
}

/* ---- layers one by one, in processes of their own ---- */

static int in_child(int (*fn)(void))
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        _exit(fn());
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* WK-2: with every right handled and no rule, nothing can be opened */
static int open_under_landlock(void)
{
    struct error e;

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!landlock_deny_all(&e))
        return 2;
    return open("/etc/passwd", O_RDONLY) >= 0 || open("/tmp", O_RDONLY | O_DIRECTORY) >= 0;
}

static void landlock_denies_every_file(void **state)
{
    if (!landlock_abi())
        skip();
    assert_int_equal(in_child(open_under_landlock), 0);
}

/* security.md section 2: probing changes nothing */
static void the_layers_are_probed_without_side_effects(void **state)
{
    struct sandbox_layers l = sandbox_probe_layers();

    assert_int_equal(l.usable, l.seccomp && l.no_new_privs);
    assert_int_equal(l.landlock_abi, landlock_abi());
    assert_int_equal(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_GET_SECCOMP), 0);
}

/* MS-67 */
static void the_engine_is_named_with_its_version(void **state)
{
    assert_true(strncmp(sandbox_engine(), "quickjs-ng 0.", 13) == 0 ||
                strcmp(sandbox_engine(), "quickjs 2025.04.26") == 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_warm_worker_is_locked_down),
    cmocka_unit_test(a_worker_has_no_descriptors_but_its_socket),
    cmocka_unit_test(a_worker_ends_with_its_parent),
    cmocka_unit_test(calls_outside_the_allow_list_kill),
    cmocka_unit_test(what_the_engine_needs_is_allowed),
    cmocka_unit_test(a_crash_is_told_and_its_calls_are_dropped),
    cmocka_unit_test(exit_status_three_means_memory),
    cmocka_unit_test(a_lying_worker_is_killed),
    cmocka_unit_test(what_comes_after_the_final_frame_reaches_nobody),
    cmocka_unit_test(more_calls_than_allowed_are_a_lie),
    cmocka_unit_test(frames_may_come_a_byte_at_a_time),
    cmocka_unit_test(landlock_denies_every_file),
    cmocka_unit_test(the_layers_are_probed_without_side_effects),
    cmocka_unit_test(the_engine_is_named_with_its_version),
};

TEST_MAIN(tests)
