/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The keeper at its wire (base/keeper_wire.h), without a loop; loop/test_child has it at work.
 * WK-8. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/keeper_wire.h"
#include "base/proctree.h"
#include "lockdown/keeper.h"

#define GRACE_MS       5000
#define RUNNERS        20
#define RUNNER_LIFE_MS 20000 /* a failed test does not leave them for ever */
#define CROWD          200
#define CROWD_END_MS   1000

struct kept {
    pid_t keeper;
    int control;
    int out; /* what the tree writes; ends when the last of it is gone */
};

static struct kept keep(const char *const *program)
{
    int control[2], out[2];
    char *argv[12] = { (char[]){ "keeper" }, (char[]){ "--" } };
    int argc = program[0][0] == '-' ? 1 : 2; /* else options, and their own "--" */

    for (; *program; program++)
        argv[argc++] = (char *)(uintptr_t)*program;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        dup2(out[1], 1);
        dup2(control[0], KEEPER_CONTROL_FD);
        for (int fd = KEEPER_CONTROL_FD + 1; fd < 64; fd++)
            close(fd);
        environ =
            (char *[]){ (char[]){ "~PATH=/usr/bin:/bin" }, (char[]){ "KEEPERS_OWN=1" }, NULL };
        _exit(keeper_main(argc, argv));
    }
    close(control[0]);
    close(out[1]);
    return (struct kept){ pid, control[1], out[0] };
}

static struct kept keep_sh(const char *script)
{
    const char *program[] = { "/bin/sh", "-c", script, NULL };

    return keep(program);
}

/* The keeper's next word; kind 0 at the end of the socket. */
static struct keeper_msg hear(const struct kept *k)
{
    struct pollfd p = { .fd = k->control, .events = POLLIN };
    struct keeper_msg m = { 0 };

    if (poll(&p, 1, GRACE_MS * slack()) != 1)
        fail_msg("the keeper says nothing");
    assert_true(recv(k->control, &m, sizeof m, 0) >= 0);
    return m;
}

static void order(const struct kept *k, enum keeper_order kind)
{
    struct keeper_msg m = { (int32_t)kind, 0 };

    assert_int_equal(send(k->control, &m, sizeof m, MSG_NOSIGNAL), sizeof m);
}

static int32_t hear_kind(const struct kept *k, enum keeper_event kind)
{
    struct keeper_msg m = hear(k);

    assert_int_equal(m.kind, kind);
    return m.value;
}

static char read_byte(const struct kept *k)
{
    char c = 0;

    assert_int_equal(read(k->out, &c, 1), 1);
    return c;
}

/* Every process of the tree holds the pipe: its end is the proof that none is left. */
static void assert_tree_gone(const struct kept *k)
{
    struct pollfd p = { .fd = k->out, .events = POLLIN };
    char rest[256];
    ssize_t n;

    do {
        if (poll(&p, 1, GRACE_MS * slack()) != 1)
            fail_msg("something of the tree is still alive");
        n = read(k->out, rest, sizeof rest);
    } while (n > 0);
    assert_int_equal(n, 0);
}

static void end(struct kept *k, int code)
{
    int status;

    assert_int_equal(waitpid(k->keeper, &status, 0), k->keeper);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
    if (k->control >= 0)
        close(k->control);
    close(k->out);
}

static void it_tells_start_exit_and_empty_in_this_order(void **state)
{
    static const struct {
        const char *script;
        int status;
    } cases[] = {
        { "exit 0", 0 },
        { "exit 7", 7 << 8 },
        { "kill -9 $$", SIGKILL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kept k = keep_sh(cases[i].script);

        assert_true(hear_kind(&k, KEEPER_STARTED) > 1);
        assert_int_equal(hear_kind(&k, KEEPER_EXITED), cases[i].status);
        hear_kind(&k, KEEPER_EMPTY);
        assert_int_equal(hear(&k).kind, 0);
        end(&k, 0);
    }
    (void)state;
}

static void a_program_that_cannot_run_is_told_with_its_errno(void **state)
{
    static const struct {
        const char *path;
        int err;
    } cases[] = { { "/no/such", ENOENT }, { "/etc", EACCES } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *program[] = { cases[i].path, NULL };
        struct kept k = keep(program);

        assert_int_equal(hear_kind(&k, KEEPER_FAILED), cases[i].err);
        hear_kind(&k, KEEPER_EMPTY);
        end(&k, 0);
    }
    (void)state;
}

static void only_marked_variables_reach_the_program(void **state)
{
    struct kept k = keep_sh("tr '\\0' ' ' </proc/$$/environ");
    char text[256] = "";
    size_t n = 0;
    ssize_t got;

    while ((got = read(k.out, text + n, sizeof text - 1 - n)) > 0)
        n += (size_t)got;
    assert_string_equal(text, "PATH=/usr/bin:/bin ");
    end(&k, 0);
    (void)state;
}

static void it_stays_until_the_last_descendant_is_gone(void **state)
{
    struct kept k = keep_sh("setsid sh -c 'sleep 0.3' & exit 1");

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(hear_kind(&k, KEEPER_EXITED), 1 << 8);
    struct pollfd p = { .fd = k.control, .events = POLLIN };
    assert_int_equal(poll(&p, 1, 50), 0); /* not empty yet, and it does not claim so */
    hear_kind(&k, KEEPER_EMPTY);
    assert_tree_gone(&k);
    end(&k, 0);
    (void)state;
}

static void terminate_goes_to_the_programs_group_only(void **state)
{
    struct kept k = keep_sh(
        "trap 'echo t; exit 3' TERM; setsid sh -c 'trap \"\" TERM; sleep 0.4' & echo r; wait");

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    usleep(20000);
    order(&k, KEEPER_TERM);
    assert_int_equal(hear_kind(&k, KEEPER_EXITED), 3 << 8);
    order(&k, KEEPER_TERM); /* the program is gone: must hit nobody else */
    hear_kind(&k, KEEPER_EMPTY);
    end(&k, 0);
    (void)state;
}

static struct kept keep_command(const char *script)
{
    const char *program[] = { KEEPER_OPT_COMMAND, KEEPER_OPT_AS, "me",   "--",
                              "/bin/sh",          "-c",          script, NULL };

    return keep(program);
}

/* SH-6 */
static void a_command_leads_its_session_under_the_name_it_was_given(void **state)
{
    struct kept k = keep_command("test $(ps -o sid= -p $$) = $$ && test $0 = me");

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(hear_kind(&k, KEEPER_EXITED), 0);
    order(&k, KEEPER_LEAVE);
    assert_int_equal(hear(&k).kind, 0);
    end(&k, 0);
    waitpid(-1, NULL, 0); /* the program, which the keeper left unreaped */
    (void)state;
}

/* SH-7: the group is still that of the program, although others might have got its pid by now,
 * and is killed; what left it lives on. Told once, in spite of all the exits. */
static void leaving_a_command_kills_its_group_only(void **state)
{
    struct kept k = keep_command("setsid sh -c 'sleep 0.6; echo left' & sleep 1000 & (exit 1) &"
                                 "echo r; sleep 0.1; exit 3");

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    assert_int_equal(read_byte(&k), '\n');
    assert_int_equal(hear_kind(&k, KEEPER_EXITED), 3 << 8);
    struct pollfd p = { .fd = k.control, .events = POLLIN };
    assert_int_equal(poll(&p, 1, 50), 0);
    order(&k, KEEPER_LEAVE);
    close(k.control); /* in one go with the order: no reason to kill */
    k.control = -1;
    assert_int_equal(read_byte(&k), 'l');
    assert_tree_gone(&k);
    end(&k, 0);
    while (waitpid(-1, NULL, 0) > 0) /* what the keeper left came to us, a subreaper */
        continue;
    (void)state;
}

static void a_command_that_is_terminated_is_kept_until_all_is_gone(void **state)
{
    struct kept k = keep_command("trap 'exit 3' TERM; setsid sh -c 'sleep 0.4' & echo r; wait");

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    usleep(20000);
    order(&k, KEEPER_TERM);
    assert_int_equal(hear_kind(&k, KEEPER_EXITED), 3 << 8);
    hear_kind(&k, KEEPER_EMPTY);
    assert_tree_gone(&k);
    end(&k, 0);
    (void)state;
}

static void a_command_that_has_exited_is_killed_like_others(void **state)
{
    struct kept k = keep_command("setsid sh -c 'trap \"\" TERM; echo r; sleep 1000; :' &"
                                 "sleep 1000 & sleep 0.1; kill -9 $$");

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    assert_int_equal(hear_kind(&k, KEEPER_EXITED), SIGKILL);
    order(&k, KEEPER_KILL);
    hear_kind(&k, KEEPER_EMPTY);
    assert_tree_gone(&k);
    end(&k, 0);
    (void)state;
}

static const char deaf_tree[] =
    "trap '' TERM HUP INT; setsid sh -c '(trap \"\" TERM HUP; sleep 1000; :) & exit 0';"
    "(setsid sh -c 'trap \"\" TERM; sleep 1000; :' &); echo r; while :; do sleep 1000; done";

static void kill_ends_the_whole_tree(void **state)
{
    struct kept k = keep_sh(deaf_tree);

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    order(&k, KEEPER_KILL);
    assert_int_equal(hear_kind(&k, KEEPER_EXITED), SIGKILL);
    hear_kind(&k, KEEPER_EMPTY);
    assert_tree_gone(&k);
    end(&k, 0);
    (void)state;
}

static void the_end_of_the_control_socket_ends_the_whole_tree(void **state)
{
    struct kept k = keep_sh(deaf_tree);

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    close(k.control);
    k.control = -1;
    assert_tree_gone(&k);
    end(&k, 0);
    (void)state;
}

static void nonsense_on_the_control_socket_ends_the_tree_too(void **state)
{
    struct kept k = keep_sh(deaf_tree);

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    assert_int_equal(send(k.control, "x", 1, MSG_NOSIGNAL), 1);
    assert_tree_gone(&k);
    end(&k, 0);
    (void)state;
}

static void signals_do_not_end_it(void **state)
{
    static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGQUIT };
    struct kept k = keep_sh("echo r; cat /dev/zero | sleep 1000");

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        kill(k.keeper, signals[i]);
    order(&k, KEEPER_KILL);
    assert_int_equal(hear_kind(&k, KEEPER_EXITED), SIGKILL);
    hear_kind(&k, KEEPER_EMPTY);
    end(&k, 0);
    (void)state;
}

static void a_stopped_tree_is_killed_too(void **state)
{
    struct kept k = keep_sh("setsid sh -c 'kill -STOP $$' & echo r; kill -STOP $$");

    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    usleep(20000);
    order(&k, KEEPER_TERM);
    order(&k, KEEPER_KILL);
    assert_tree_gone(&k);
    end(&k, 0);
    (void)state;
}

/* Forks, exits, and is at each moment another process in another session. */
static void run_away(void)
{
    int64_t end_at = clock_ms() + RUNNER_LIFE_MS;

    while (clock_ms() < end_at) {
        pid_t pid = fork();

        if (pid > 0)
            _exit(0);
        setsid();
    }
    _exit(0);
}

static int bomb(void)
{
    for (int i = 0; i < RUNNERS; i++) {
        if (fork() == 0)
            run_away();
    }
    if (write(1, "r", 1) != 1)
        return 1;
    for (;;)
        pause();
}

/* A killer that is slower than they fork must still win: frozen, they stand still. */
static void a_tree_that_forks_ahead_of_the_killing_ends(void **state)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *program[] = { self, "bomb", NULL };
    int64_t at;

    assert_true(n > 0);
    self[n] = '\0';
    struct kept k = keep(program);
    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    at = clock_ms();
    order(&k, KEEPER_KILL);
    hear_kind(&k, KEEPER_EXITED);
    hear_kind(&k, KEEPER_EMPTY);
    assert_true(clock_ms() - at < RUNNER_LIFE_MS / 2);
    assert_tree_gone(&k);
    end(&k, 0);
    (void)state;
}

/* Like run_away(), in the group of the program, and deaf to SIGTERM as a shell is that forks.
 */
static void multiply(void)
{
    int64_t end_at = clock_ms() + RUNNER_LIFE_MS;

    while (clock_ms() < end_at) {
        if (fork() > 0)
            _exit(0);
    }
    _exit(0);
}

static int crowd(void)
{
    sigset_t term;

    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    for (int i = 0; i < CROWD; i++) {
        if (fork() == 0)
            multiply();
    }
    sigprocmask(SIG_UNBLOCK, &term, NULL);
    if (write(1, "r", 1) != 1)
        return 1;
    for (;;)
        pause();
}

/* SH-7, WK-8: the program itself has ended by SIGTERM and was reaped. Looked for one by one,
 * the others are always ahead. */
static void a_group_that_forks_ahead_of_the_killing_ends_without_its_leader(void **state)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *program[] = { KEEPER_OPT_COMMAND, "--", self, "crowd", NULL };
    int64_t at;

    assert_true(n > 0);
    self[n] = '\0';
    struct kept k = keep(program);
    hear_kind(&k, KEEPER_STARTED);
    assert_int_equal(read_byte(&k), 'r');
    order(&k, KEEPER_TERM);
    hear_kind(&k, KEEPER_EXITED);
    at = clock_ms();
    order(&k, KEEPER_KILL);
    hear_kind(&k, KEEPER_EMPTY);
    print_message("a crowd of %d ended after %d ms\n", CROWD, (int)(clock_ms() - at));
    assert_true(clock_ms() - at < CROWD_END_MS * slack());
    assert_tree_gone(&k);
    end(&k, 0);
    (void)state;
}

static void without_an_owner_it_refuses(void **state)
{
    static const char *const argvs[][5] = {
        { "keeper", NULL },
        { "keeper", "--", NULL },
        { "keeper", "x", "/bin/true", NULL },
        { "keeper", "--as", "--", "/bin/true", NULL },
        { "keeper", "--", "/bin/true", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(argvs); i++) {
        int argc = 0, status;
        pid_t pid = fork();

        while (argvs[i][argc])
            argc++;
        if (pid == 0) {
            close(KEEPER_CONTROL_FD);
            close(2);
            _exit(keeper_main(argc, (char **)(uintptr_t)argvs[i]));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(WEXITSTATUS(status), 2);
    }
    (void)state;
}

/* ---- base/proctree ---- */

static pid_t sleeper_below(int depth)
{
    pid_t pid = fork();

    if (pid == 0) {
        if (depth > 1)
            sleeper_below(depth - 1);
        for (;;)
            pause();
    }
    return pid;
}

static bool has(const struct pid_list *l, pid_t pid)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->v[i] == pid)
            return true;
    }
    return false;
}

static void the_stat_files_give_the_whole_tree(void **state)
{
    struct pid_list l = { 0 };
    pid_t a = sleeper_below(3), b = sleeper_below(1);

    usleep(50000);
    assert_true(proctree_look(PROCTREE_STAT, "/proc", getpid(), &l, NULL));
    assert_int_equal(l.n, 4);
    assert_true(has(&l, a) && has(&l, b));
    assert_true(proctree_look(PROCTREE_STAT, "/proc", getpid(), &l, NULL));
    assert_int_equal(l.n, 4); /* each once */
    pid_list_free(&l);
    assert_int_equal(proctree_kill(GRACE_MS * slack(), NULL, NULL), 0);
    (void)state;
}

static void put(const char *root, const char *path, const char *text)
{
    char full[512];

    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(full, 0700);
        *p = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static pid_t visited[16];
static size_t nvisited;

static void note_visit(pid_t pid)
{
    visited[nvisited++] = pid;
}

/* Kernels without the children files exist, and so do kernels with them: the shape is made
 * here. */
static void the_children_files_give_the_whole_tree(void **state)
{
    static const struct {
        const char *path, *text;
    } files[] = {
        { "100/task/100/children", "101 102 " },
        { "100/task/150/children", "103 " }, /* of another thread */
        { "101/task/101/children", "" },
        { "102/task/102/children", "104 " },
        { "103/task/103/children", "" },
        { "104/task/104/children", "101 105 " }, /* seen before: not twice */
        { "999/task/999/children", "998 " },     /* a stranger */
    };
    char root[] = "/tmp/test-keeper-XXXXXX", rm[64];
    struct pid_list l = { 0 };

    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        put(root, files[i].path, files[i].text);
    nvisited = 0;
    assert_true(proctree_look(PROCTREE_CHILDREN, root, 100, &l, note_visit));
    assert_int_equal(l.n, 5);
    assert_int_equal(nvisited, 5);
    for (pid_t pid = 101; pid <= 105; pid++)
        assert_true(has(&l, pid));
    assert_true(proctree_look(PROCTREE_CHILDREN, root, 100, &l, note_visit));
    assert_int_equal(nvisited, 5);
    assert_false(proctree_look(PROCTREE_CHILDREN, root, 7, &l, NULL));
    pid_list_free(&l);
    snprintf(rm, sizeof rm, "rm -r %s", root);
    assert_int_equal(system(rm), 0);
    (void)state;
}

static void a_name_with_parentheses_hides_nothing(void **state)
{
    char root[] = "/tmp/test-keeper-XXXXXX", rm[64];
    struct pid_list l = { 0 };

    assert_non_null(mkdtemp(root));
    put(root, "5/stat", "5 (x) R 1 (y) S 4 5 5 0");
    put(root, "6/stat", "6 (a b) ) Z 5 6 6 0");
    put(root, "7/stat", "7 truncated");
    put(root, "8/stat", "");
    assert_true(proctree_look(PROCTREE_STAT, root, 4, &l, NULL));
    assert_int_equal(l.n, 2);
    assert_true(has(&l, 5) && has(&l, 6));
    assert_false(proctree_look(PROCTREE_STAT, "/no/such", 4, &l, NULL));
    pid_list_free(&l);
    snprintf(rm, sizeof rm, "rm -r %s", root);
    assert_int_equal(system(rm), 0);
    (void)state;
}

/* A fork bomb: a look at 30,000 processes, chains and crowds, is no matter of minutes. */
static void a_look_costs_no_more_than_the_tree_is_large(void **state)
{
    enum { PIDS = 30000 };
    /* In memory where there is such a place: a busy disk takes minutes for so many files. */
    char in_memory[] = "/dev/shm/test-keeper-XXXXXX", on_disk[] = "/tmp/test-keeper-XXXXXX";
    const char *root = mkdtemp(in_memory);
    char rm[64], path[32], text[64];
    struct pid_list l = { 0 };
    int64_t from;

    if (!root)
        root = mkdtemp(on_disk);
    assert_non_null(root);
    for (int i = 2; i <= PIDS; i++) {
        snprintf(path, sizeof path, "%d/stat", i);
        snprintf(text, sizeof text, "%d (f) S %d 1 1 0", i, i % 2 ? i - 1 : (i + 2) / 3);
        put(root, path, text);
    }
    from = clock_ms();
    assert_true(proctree_look(PROCTREE_STAT, root, 1, &l, NULL));
    assert_true(proctree_look(PROCTREE_STAT, root, 1, &l, NULL));
    assert_in_range(clock_ms() - from, 0, 1000 * slack());
    assert_int_equal(l.n, PIDS - 1);
    pid_list_free(&l);
    snprintf(rm, sizeof rm, "rm -r %s", root);
    assert_int_equal(system(rm), 0);
    (void)state;
}

static void killing_gives_up_after_its_time(void **state)
{
    assert_int_equal(proctree_kill(0, NULL, NULL), 0); /* nothing there: done at once */
    pid_t pid = sleeper_below(1);
    assert_true(proctree_kill(0, NULL, NULL) > 0);
    assert_int_equal(proctree_kill(GRACE_MS * slack(), NULL, NULL), 0);
    assert_int_equal(kill(pid, 0), -1);
    (void)state;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_tells_start_exit_and_empty_in_this_order),
        cmocka_unit_test(a_program_that_cannot_run_is_told_with_its_errno),
        cmocka_unit_test(only_marked_variables_reach_the_program),
        cmocka_unit_test(it_stays_until_the_last_descendant_is_gone),
        cmocka_unit_test(terminate_goes_to_the_programs_group_only),
        cmocka_unit_test(a_command_leads_its_session_under_the_name_it_was_given),
        cmocka_unit_test(leaving_a_command_kills_its_group_only),
        cmocka_unit_test(a_command_that_is_terminated_is_kept_until_all_is_gone),
        cmocka_unit_test(a_command_that_has_exited_is_killed_like_others),
        cmocka_unit_test(kill_ends_the_whole_tree),
        cmocka_unit_test(the_end_of_the_control_socket_ends_the_whole_tree),
        cmocka_unit_test(nonsense_on_the_control_socket_ends_the_tree_too),
        cmocka_unit_test(signals_do_not_end_it),
        cmocka_unit_test(a_stopped_tree_is_killed_too),
        cmocka_unit_test(a_tree_that_forks_ahead_of_the_killing_ends),
        cmocka_unit_test(a_group_that_forks_ahead_of_the_killing_ends_without_its_leader),
        cmocka_unit_test(without_an_owner_it_refuses),
        cmocka_unit_test(the_stat_files_give_the_whole_tree),
        cmocka_unit_test(the_children_files_give_the_whole_tree),
        cmocka_unit_test(a_name_with_parentheses_hides_nothing),
        cmocka_unit_test(a_look_costs_no_more_than_the_tree_is_large),
        cmocka_unit_test(killing_gives_up_after_its_time),
    };

    if (argc > 1 && strcmp(argv[1], "bomb") == 0)
        return bomb();
    if (argc > 1 && strcmp(argv[1], "crowd") == 0)
        return crowd();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return cmocka_run_group_tests_name("lockdown/keeper", tests, NULL, NULL);
}
