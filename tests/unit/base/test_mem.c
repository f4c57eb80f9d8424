/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "base/arena.h"

/* A sanitizer would stop at a hopeless size; the program under test has to see NULL. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static volatile size_t hopeless = SIZE_MAX / 4, past_the_end = SIZE_MAX;

static void ask_alloc(void)
{
    mem_alloc(hopeless);
}

static void ask_resize(void)
{
    mem_resize(NULL, hopeless);
}

static void ask_strndup(void)
{
    mem_strndup("x", past_the_end);
}

static void ask_grow(void)
{
    size_t cap = 0;

    mem_grow(NULL, 16, hopeless, &cap);
}

static void ask_arena(void)
{
    struct arena a = ARENA;

    arena_alloc(&a, past_the_end);
}

static void ask_arena_block(void)
{
    struct arena a = ARENA;

    arena_alloc(&a, past_the_end - 2 * sizeof(max_align_t));
}

static void ask_arena_array(void)
{
    struct arena a = ARENA;

    arena_array(&a, 16, hopeless);
}

static void ask_arena_copy(void)
{
    struct arena a = ARENA;

    arena_z(&a, (struct str){ "x", past_the_end });
}

static void ask_buf(void)
{
    struct buf b = BUF(SIZE_MAX);

    buf_room(&b, past_the_end);
}

/* Runs one in a child whose stderr is read. */
static void assert_ends_in_order(void (*ask)(void))
{
    char line[4096] = "";
    int fds[2], status;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        ask();
        _exit(0);
    }
    close(fds[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_true(read(fds[0], line, sizeof line - 1) > 0);
    assert_non_null(strstr(line, "symposium: out of memory\n"));
    close(fds[0]);
}

static void out_of_memory_ends_the_process_with_status_3_and_one_line(void **state)
{
    static void (*const asks[])(void) = {
        ask_alloc,       ask_resize,      ask_strndup,    ask_grow, ask_arena,
        ask_arena_block, ask_arena_array, ask_arena_copy, ask_buf,
    };

    for (size_t i = 0; i < ARRAY_LEN(asks); i++)
        assert_ends_in_order(asks[i]);
}

static void allocations_are_zeroed_and_never_null(void **state)
{
    auto_free unsigned char *p = mem_alloc(100);
    auto_free void *none = mem_alloc(0), *other = mem_alloc(0);

    for (int i = 0; i < 100; i++)
        assert_int_equal(p[i], 0);
    assert_non_null(none);
    assert_ptr_not_equal(none, other);
}

static void strings_are_copied(void **state)
{
    auto_free char *a = mem_strdup("abc"), *b = mem_strndup("abc", 2), *c = mem_printf("%d", 5);

    assert_null(mem_strdup(NULL));
    assert_string_equal(a, "abc");
    assert_string_equal(b, "ab");
    assert_string_equal(c, "5");
}

static void lists_grow_by_pushing(void **state)
{
    struct {
        int *v;
        size_t n, cap;
    } list = { 0 };

    for (int i = 0; i < 1000; i++)
        VEC_PUSH(&list) = i;
    assert_int_equal(list.n, 1000);
    assert_true(list.cap >= 1000 && list.cap <= 2048);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(list.v[i], i);
    list.v = mem_grow(list.v, sizeof *list.v, 5000, &list.cap);
    assert_true(list.cap >= 5000);
    free(list.v);
}

static int leave_scope(bool keep)
{
    auto_close int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int number = fd;

    return keep ? take_fd(&fd) : number;
}

static void taking_disarms_the_cleanup(void **state)
{
    auto_free char *p = mem_strdup("x");
    char *q = take_ptr(&p);
    int fd;

    assert_null(p);
    assert_string_equal(q, "x");
    free(q);
    fd = leave_scope(true);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    close(fd);
    assert_true(fcntl(leave_scope(false), F_GETFD) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_memory_ends_the_process_with_status_3_and_one_line),
        cmocka_unit_test(allocations_are_zeroed_and_never_null),
        cmocka_unit_test(strings_are_copied),
        cmocka_unit_test(lists_grow_by_pushing),
        cmocka_unit_test(taking_disarms_the_cleanup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
