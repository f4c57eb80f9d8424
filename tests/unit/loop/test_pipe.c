/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "loop/internal.h"
#include "loop/pipe.h"

struct seen {
    struct loop *loop;
    struct pipe *pipe;
    struct buf data;
    int ends, dones;
    struct error why;
    bool failed;
    bool free_at_data, free_at_end, pause_at_data, stop_at_data;
};

static void on_data(void *ctx, struct str s)
{
    struct seen *x = ctx;

    buf_add(&x->data, s);
    if (x->free_at_data) {
        pipe_free(x->pipe);
        x->pipe = NULL;
        loop_stop(x->loop);
        return;
    }
    if (x->pause_at_data)
        pipe_pause(x->pipe);
    if (x->stop_at_data || x->pause_at_data)
        loop_stop(x->loop);
}

static void on_end(void *ctx, const struct error *why)
{
    struct seen *x = ctx;

    x->ends++;
    x->failed = why != NULL;
    if (why)
        x->why = *why;
    if (x->free_at_end) {
        pipe_free(x->pipe);
        x->pipe = NULL;
    }
    loop_stop(x->loop);
}

static void on_done(void *ctx)
{
    struct seen *x = ctx;

    x->dones++;
    loop_stop(x->loop);
}

static const struct pipe_ops duplex = { .on_data = on_data, .on_end = on_end };
static const struct pipe_ops writer = { .on_end = on_end };

static struct seen seen_new(void)
{
    return (struct seen){ .loop = loop_new(), .data = BUF((size_t)64 << 20) };
}

static void seen_end(struct seen *x)
{
    pipe_free(x->pipe);
    buf_free(&x->data);
    loop_free(x->loop);
}

static void reads_come_at_once_and_the_end_once(void **state)
{
    struct seen x = seen_new();
    int fd[2];

    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    x.pipe = pipe_new(x.loop, fd[0], NULL, &duplex, &x);
    assert_int_equal(write(fd[1], "hello", 5), 5);
    x.stop_at_data = true;
    run_until_stopped(x.loop, 1000);
    assert_str(buf_str(&x.data), "hello");
    assert_int_equal(x.ends, 0);
    close(fd[1]);
    run_until_stopped(x.loop, 1000);
    assert_int_equal(x.ends, 1);
    assert_false(x.failed);
    loop_run(x.loop); /* nothing more can come: the loop ends */
    assert_int_equal(x.ends, 1);
    seen_end(&x);
    (void)state;
}

/* ---- floods ---- */

#define SLOW_US 3000 /* longer than a pipe's share of a turn */

struct flood {
    struct loop *loop;
    int reads, reads_before_other;
    size_t bytes;
    bool other_heard;
};

static void on_flood(void *ctx, struct str s)
{
    struct flood *f = ctx;

    f->reads++;
    f->bytes += s.n;
    for (int64_t end = clock_us() + SLOW_US; clock_us() < end;)
        continue;
}

static void on_other(void *ctx, struct str s)
{
    struct flood *f = ctx;

    f->other_heard = true;
    f->reads_before_other = f->reads;
    loop_stop(f->loop);
}

static const struct pipe_ops flooded = { .on_data = on_flood };
static const struct pipe_ops other = { .on_data = on_other };

/* A pipe that holds as much as one can, full. Returns the reading end; the writing end stays
 * open. */
static int full_pipe(int *ret_write, size_t *ret_n)
{
    static char junk[1 << 20];
    int fd[2], size;

    assert_int_equal(pipe2(fd, O_CLOEXEC | O_NONBLOCK), 0);
    size = fcntl(fd[1], F_SETPIPE_SZ, (int)sizeof junk);
    memset(junk, '\n', sizeof junk);
    *ret_n = size < 0 ? 65536 : (size_t)size;
    assert_int_equal(write(fd[1], junk, *ret_n), *ret_n);
    *ret_write = fd[1];
    return fd[0];
}

/* security.md 3.1, MS-72: bytes that are slow to deal with take one read of a turn, then others
 * have theirs. */
static void a_flood_keeps_no_other_pipe_waiting(void **state)
{
    struct flood f = { .loop = loop_new() };
    struct pipe *a, *b;
    size_t n;
    int fd[2], end;

    a = pipe_new(f.loop, full_pipe(&end, &n), NULL, &flooded, &f);
    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    b = pipe_new(f.loop, fd[0], NULL, &other, &f);
    assert_int_equal(write(fd[1], "x", 1), 1);
    run_until_stopped(f.loop, 2000);
    assert_true(f.other_heard);
    assert_true(f.reads_before_other <= 1);
    while (f.bytes < n) /* and nothing of it is lost */
        run_for(f.loop, 10);
    assert_int_equal(f.bytes, n);
    pipe_free(a);
    pipe_free(b);
    close(end);
    close(fd[1]);
    loop_free(f.loop);
    (void)state;
}

static void the_last_bytes_of_a_flood_are_read_as_far_as_that_is_quick(void **state)
{
    struct flood f = { .loop = loop_new() };
    struct pipe *p;
    size_t n;
    int end;

    p = pipe_new(f.loop, full_pipe(&end, &n), NULL, &flooded, &f);
    pipe_drain(p, n);
    assert_true(f.bytes >= 65536);
    if (n >= 4 * (size_t)65536)
        assert_true(f.bytes < n);
    pipe_free(p);
    close(end);
    loop_free(f.loop);
    (void)state;
}

/* A redirected stdin, and /dev/null: epoll refuses both. */
static void a_regular_file_and_dev_null_are_read_to_the_end(void **state)
{
    static const char *const paths[] = { NULL, "/dev/null" };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct seen x = seen_new();
        size_t n = 300000;
        int fd = paths[i] ? open(paths[i], O_RDONLY | O_CLOEXEC)
                          : memfd_create("input", MFD_CLOEXEC);

        if (!paths[i]) {
            auto_free char *text = mem_alloc(n);

            memset(text, 't', n);
            assert_int_equal(write(fd, text, n), n);
            assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        }
        x.pipe = pipe_new(x.loop, fd, NULL, &duplex, &x);
        run_until_stopped(x.loop, 2000);
        assert_int_equal(x.data.n, paths[i] ? 0 : n);
        assert_int_equal(x.ends, 1);
        assert_false(x.failed);
        seen_end(&x);
    }
    (void)state;
}

static void a_regular_file_obeys_pause_and_may_be_freed_while_it_is_read(void **state)
{
    struct seen x = seen_new();
    int fd = memfd_create("input", MFD_CLOEXEC);

    assert_int_equal(ftruncate(fd, 200000), 0);
    x.pipe = pipe_new(x.loop, fd, NULL, &duplex, &x);
    pipe_pause(x.pipe); /* the first read is already under way */
    run_for(x.loop, 20);
    assert_int_equal(x.data.n, 0);
    x.pause_at_data = true;
    pipe_resume(x.pipe);
    run_until_stopped(x.loop, 2000);
    assert_true(x.data.n > 0 && x.data.n < 200000);
    pipe_resume(x.pipe);
    pipe_free(x.pipe); /* a read of the thread pool is in flight */
    x.pipe = NULL;
    loop_run(x.loop);
    seen_end(&x);
    (void)state;
}

static void writes_to_a_file_go_through(void **state)
{
    struct seen x = seen_new();
    int fd = memfd_create("output", MFD_CLOEXEC), back = dup(fd);
    char text[16];

    x.pipe = pipe_new(x.loop, fd, NULL, &writer, &x);
    assert_true(pipe_write2(x.pipe, STR("one "), STR("two"), NULL));
    assert_int_equal(pipe_queued(x.pipe), 0);
    pipe_finish(x.pipe, on_done, &x);
    run_until_stopped(x.loop, 1000);
    assert_int_equal(x.dones, 1);
    assert_int_equal(pread(back, text, sizeof text, 0), 7);
    close(back);
    seen_end(&x);
    (void)state;
}

static void pause_stops_reading_until_resume(void **state)
{
    struct seen x = seen_new();
    int fd[2];

    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    x.pipe = pipe_new(x.loop, fd[0], NULL, &duplex, &x);
    pipe_pause(x.pipe);
    assert_int_equal(write(fd[1], "waits", 5), 5);
    close(fd[1]);
    run_for(x.loop, 20);
    assert_int_equal(x.data.n, 0);
    assert_int_equal(x.ends, 0);
    pipe_resume(x.pipe);
    run_until_stopped(x.loop, 1000);
    assert_str(buf_str(&x.data), "waits");
    assert_int_equal(x.ends, 1);
    seen_end(&x);
    (void)state;
}

static bool all_are(struct str s, char c)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != c)
            return false;
    }
    return true;
}

/* A large message to a slow reader: queued, written in its order, then our end is closed. */
static void what_the_kernel_does_not_take_waits_and_arrives_whole(void **state)
{
    struct seen x = seen_new(), reader = { .loop = x.loop, .data = BUF((size_t)64 << 20) };
    size_t n = (size_t)5 << 20;
    auto_free char *big = mem_alloc(n);
    int fd[2];

    memset(big, 'b', n);
    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    x.pipe = pipe_new(x.loop, fd[1], NULL, &writer, &x);
    assert_true(pipe_write2(x.pipe, (struct str){ big, n }, STR("\n"), NULL));
    assert_true(pipe_queued(x.pipe) > 0);
    assert_true(pipe_write(x.pipe, STR("tail"), NULL));
    pipe_finish(x.pipe, on_done, &x);
    assert_false(pipe_write(x.pipe, STR("more"), NULL));
    reader.pipe = pipe_new(x.loop, fd[0], NULL, &duplex, &reader);
    while (!reader.ends || !x.dones)
        run_until_stopped(x.loop, 5000);
    assert_int_equal(x.dones, 1);
    assert_int_equal(x.ends, 0);
    assert_int_equal(reader.data.n, n + 5);
    assert_true(all_are(str_upto(buf_str(&reader.data), n), 'b'));
    assert_str(str_from(buf_str(&reader.data), n), "\ntail");
    pipe_free(reader.pipe);
    buf_free(&reader.data);
    seen_end(&x);
    (void)state;
}

/* security.md 3.2: the queue has a ceiling, and a message is queued whole or not at all. */
static void the_queue_has_a_ceiling(void **state)
{
    struct seen x = seen_new();
    size_t n = (size_t)1 << 20;
    auto_free char *big = mem_alloc(n);
    struct error e;
    int fd[2];

    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    x.pipe = pipe_new(x.loop, fd[1], &(struct pipe_opts){ .max_queue = n }, &writer, &x);
    assert_true(pipe_write(x.pipe, (struct str){ big, n }, NULL));
    size_t queued = pipe_queued(x.pipe);
    assert_true(queued > 0);
    assert_false(pipe_write(x.pipe, (struct str){ big, n }, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_non_null(strstr(e.msg, "1048576"));
    assert_int_equal(pipe_queued(x.pipe), queued);
    close(fd[0]);
    seen_end(&x);
    (void)state;
}

static void a_reader_that_goes_away_is_reported_once_and_never_from_inside_a_write(void **state)
{
    struct seen x = seen_new();
    struct error e;
    int fd[2];

    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    x.pipe = pipe_new(x.loop, fd[1], NULL, &writer, &x);
    close(fd[0]);
    assert_false(pipe_write(x.pipe, STR("x"), &e));
    assert_int_equal(e.kind, ERR_CLOSED);
    assert_int_equal(x.ends, 0);
    assert_false(pipe_write(x.pipe, STR("x"), &e));
    pipe_finish(x.pipe, on_done, &x);
    while (!x.ends || !x.dones)
        run_until_stopped(x.loop, 1000);
    loop_run(x.loop);
    assert_int_equal(x.ends, 1);
    assert_int_equal(x.dones, 1);
    assert_int_equal(x.why.kind, ERR_CLOSED);
    seen_end(&x);
    (void)state;
}

/* MS-58: stdout that is closed while we have nothing to say. */
static void an_idle_writer_notices_that_its_reader_is_gone(void **state)
{
    struct seen x = seen_new();
    int fd[2];

    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    x.pipe = pipe_new(x.loop, fd[1], NULL, &writer, &x);
    loop_run(x.loop); /* an idle writer does not hold the loop */
    close(fd[0]);
    run_until_stopped(x.loop, 1000);
    assert_int_equal(x.ends, 1);
    assert_int_equal(x.why.kind, ERR_CLOSED);
    seen_end(&x);
    (void)state;
}

static void what_was_sent_before_the_other_side_went_is_still_read(void **state)
{
    struct seen x = seen_new();
    int fd[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
    x.pipe = pipe_new(x.loop, fd[0], NULL, &duplex, &x);
    assert_int_equal(write(fd[1], "last words", 10), 10);
    close(fd[1]);
    assert_false(pipe_write(x.pipe, STR("x"), NULL));
    run_until_stopped(x.loop, 1000);
    assert_str(buf_str(&x.data), "last words");
    assert_int_equal(x.ends, 1);
    seen_end(&x);
    (void)state;
}

static void finishing_a_socket_leaves_its_reading_end_open(void **state)
{
    struct seen x = seen_new();
    char c;
    int fd[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
    x.pipe = pipe_new(x.loop, fd[0], NULL, &duplex, &x);
    pipe_finish(x.pipe, NULL, NULL);
    assert_int_equal(read(fd[1], &c, 1), 0);
    assert_int_equal(write(fd[1], "answer", 6), 6);
    close(fd[1]);
    run_until_stopped(x.loop, 1000);
    assert_str(buf_str(&x.data), "answer");
    seen_end(&x);
    (void)state;
}

/* SEC-47: the other side stops reading. */
static void a_stalled_queue_is_a_timeout(void **state)
{
    struct seen x = seen_new();
    size_t n = (size_t)10 << 20;
    auto_free char *big = mem_alloc(n);
    int64_t at = clock_ms();
    int fd[2];

    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    x.pipe = pipe_new(x.loop, fd[1], &(struct pipe_opts){ .stall_ms = 60 }, &writer, &x);
    assert_true(pipe_write(x.pipe, (struct str){ big, n }, NULL));
    run_until_stopped(x.loop, 1000);
    assert_true(clock_ms() - at >= 60);
    assert_int_equal(x.ends, 1);
    assert_int_equal(x.why.kind, ERR_TIMEOUT);
    assert_non_null(strstr(x.why.msg, "60 ms"));
    close(fd[0]);
    seen_end(&x);
    (void)state;
}

static void a_slow_reader_is_no_stall(void **state)
{
    struct seen x = seen_new();
    size_t n = (size_t)1 << 20, got = 0;
    auto_free char *big = mem_alloc(n);
    int fd[2];

    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    x.pipe =
        pipe_new(x.loop, fd[1], &(struct pipe_opts){ .stall_ms = 100 * slack() }, &writer, &x);
    assert_true(pipe_write(x.pipe, (struct str){ big, n }, NULL));
    while (pipe_queued(x.pipe)) {
        got += (size_t)read(fd[0], big, 65536);
        run_for(x.loop, 10);
    }
    assert_true(got > 0);
    assert_int_equal(x.ends, 0);
    close(fd[0]);
    seen_end(&x);
    (void)state;
}

static void a_pipe_may_be_freed_by_its_own_callbacks(void **state)
{
    for (int i = 0; i < 2; i++) {
        struct seen x = seen_new();
        int fd[2];

        x.free_at_data = i == 0;
        x.free_at_end = i == 1;
        assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
        x.pipe = pipe_new(x.loop, fd[0], NULL, &duplex, &x);
        assert_int_equal(write(fd[1], "data", 4), 4);
        close(fd[1]);
        run_until_stopped(x.loop, 1000);
        assert_null(x.pipe);
        loop_run(x.loop);
        assert_int_equal(x.ends, i);
        seen_end(&x);
    }
    (void)state;
}

static void freeing_closes_the_descriptor_at_once(void **state)
{
    struct seen x = seen_new();
    int fd[2];
    char c;

    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    x.pipe = pipe_new(x.loop, fd[1], NULL, &writer, &x);
    pipe_free(x.pipe);
    x.pipe = NULL;
    assert_int_equal(read(fd[0], &c, 1), 0);
    close(fd[0]);
    seen_end(&x);
    (void)state;
}

/* 0, 1 and 2 are shared with others: afterwards they are as before, and still open. */
static void standard_descriptors_keep_their_flags(void **state)
{
    for (int socket = 0; socket < 2; socket++) {
        struct seen x = seen_new();
        int fd[2], saved = dup(0), before;

        if (socket)
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
        else
            assert_int_equal(pipe(fd), 0);
        assert_int_equal(dup2(fd[0], 0), 0);
        before = fcntl(0, F_GETFL);
        x.pipe = pipe_new(x.loop, 0, NULL, &duplex, &x);
        assert_int_equal(write(fd[1], "in", 2), 2);
        x.stop_at_data = true;
        run_until_stopped(x.loop, 1000);
        assert_str(buf_str(&x.data), "in");
        if (!socket)
            assert_int_equal(fcntl(0, F_GETFL), before); /* not even changed while in use */
        pipe_free(x.pipe);
        x.pipe = NULL;
        loop_run(x.loop);
        assert_int_equal(fcntl(0, F_GETFL), before);
        assert_int_equal(dup2(saved, 0), 0);
        close(saved);
        close(fd[0]);
        close(fd[1]);
        seen_end(&x);
    }
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_come_at_once_and_the_end_once),
        cmocka_unit_test(a_flood_keeps_no_other_pipe_waiting),
        cmocka_unit_test(the_last_bytes_of_a_flood_are_read_as_far_as_that_is_quick),
        cmocka_unit_test(a_regular_file_and_dev_null_are_read_to_the_end),
        cmocka_unit_test(a_regular_file_obeys_pause_and_may_be_freed_while_it_is_read),
        cmocka_unit_test(writes_to_a_file_go_through),
        cmocka_unit_test(pause_stops_reading_until_resume),
        cmocka_unit_test(what_the_kernel_does_not_take_waits_and_arrives_whole),
        cmocka_unit_test(the_queue_has_a_ceiling),
        cmocka_unit_test(
            a_reader_that_goes_away_is_reported_once_and_never_from_inside_a_write),
        cmocka_unit_test(an_idle_writer_notices_that_its_reader_is_gone),
        cmocka_unit_test(what_was_sent_before_the_other_side_went_is_still_read),
        cmocka_unit_test(finishing_a_socket_leaves_its_reading_end_open),
        cmocka_unit_test(a_stalled_queue_is_a_timeout),
        cmocka_unit_test(a_slow_reader_is_no_stall),
        cmocka_unit_test(a_pipe_may_be_freed_by_its_own_callbacks),
        cmocka_unit_test(freeing_closes_the_descriptor_at_once),
        cmocka_unit_test(standard_descriptors_keep_their_flags),
    };

    return cmocka_run_group_tests_name("loop/pipe", tests, NULL, NULL);
}
