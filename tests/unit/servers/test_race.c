/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * FS-20, SEC-59: while two processes swap directories and files for symbolic links that lead
 * out, we read, write, edit and move. TEST_RACES such acts (50,000; 1,000,000 in the slow
 * suite), half of them without openat2; none may touch what lies outside.
 */
#include "../check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/path.h"
#include "servers/access.h"
#include "servers/replace.h"

#define SWAPS   4
#define INSIDE  "inside"
#define OUTSIDE "outside, not to be seen"

static char tree[PATH_MAX];
static struct access *roots;

static int swap_dirs[SWAPS]; /* held: a racer's own paths must not be raced */

static const char *in_tree(struct arena *a, const char *name)
{
    return path_join(a, tree, name);
}

static void put(const char *path, const char *content)
{
    auto_arena a = ARENA;

    assert_true(file_write_cache(in_tree(&a, path), str_of(content), NULL));
}

/* What is swapped in which directory: the second name is a link that leads out. */
static const struct {
    const char *dir, *name, *link, *target;
} swaps[SWAPS] = {
    { "in", "d", "d-out", "@/out" },
    { "in/d", "e", "e-out", "../../out" },
    { "in/d/e", "f", "f-out", "@/out/e/f" },
    { "in/d", "f", "f-out", "../../out/f" },
};

static void make_tree(void)
{
    static const char *const dirs[] = { "in", "in/d", "in/d/e", "in/m", "out", "out/e" };
    static const char *const files[] = { "f", "e/f", "m" };
    auto_arena a = ARENA;

    /* In memory where there is such a place: the disk would only make it slower. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    make_temp_dir(tree);
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        assert_int_equal(mkdir(in_tree(&a, dirs[i]), 0755), 0);
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        put(arena_printf(&a, "in/d/%s", files[i]), INSIDE);
        put(arena_printf(&a, "out/%s", files[i]), OUTSIDE);
    }
    for (size_t i = 0; i < ARRAY_LEN(swaps); i++) {
        const char *target = swaps[i].target;

        if (target[0] == '@')
            target = arena_printf(&a, "%s%s", tree, target + 1);
        swap_dirs[i] = open(in_tree(&a, swaps[i].dir), O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_int_equal(symlinkat(target, swap_dirs[i], swaps[i].link), 0);
    }
}

/* Exchanges the pairs as fast as it can, until it is killed. */
static pid_t start_racer(unsigned first)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = first;; i += 1 + i % 3) {
        size_t k = i % ARRAY_LEN(swaps);

        renameat2(swap_dirs[k], swaps[k].name, swap_dirs[k], swaps[k].link, RENAME_EXCHANGE);
    }
}

/* ---- the acts; each tells whether it got through ---- */

static bool locate(struct arena *a, const char *path, struct access_at *ret)
{
    return access_locate(roots, a, str_of(path), ret, NULL);
}

static bool read_one(struct arena *a, const char *path)
{
    struct access_at where;
    char content[64];
    ssize_t n;

    assert_true(locate(a, path, &where));
    auto_close int fd = access_open(roots, &where, O_RDONLY, NULL);

    if (fd < 0)
        return false;
    n = read(fd, content, sizeof content);
    if (n < 0) /* a directory, swapped to here */
        return false;
    assert_bytes(((struct str){ content, (size_t)n }), STR(INSIDE));
    return true;
}

static bool write_one(struct arena *a, const char *path)
{
    struct access_at where;
    struct access_entry entry;
    bool ok;

    assert_true(locate(a, path, &where));
    if (!access_entry(roots, a, &where, true, &entry, NULL))
        return false;
    ok = replace_file(entry.dir, entry.name, STR(INSIDE), 0666, NULL);
    close(entry.dir);
    return ok;
}

static bool edit_one(struct arena *a, const char *path)
{
    return read_one(a, path) && write_one(a, path);
}

static bool move_one(struct arena *a, const char *from, const char *to)
{
    struct access_at source, target;
    struct access_entry old, new;
    bool ok;

    assert_true(locate(a, from, &source) && locate(a, to, &target));
    if (!access_entry(roots, a, &source, false, &old, NULL))
        return false;
    if (!access_entry(roots, a, &target, false, &new, NULL)) {
        close(old.dir);
        return false;
    }
    ok = renameat2(old.dir, old.name, new.dir, new.name, RENAME_NOREPLACE) == 0;
    close(old.dir);
    close(new.dir);
    return ok;
}

static bool move_there_and_back(struct arena *a)
{
    bool there = move_one(a, "d/m", "m/m"), back = move_one(a, "m/m", "d/m");

    return there || back;
}

static bool act(unsigned i)
{
    auto_arena a = ARENA;
    const char *path = i / 4 % 2 ? "d/f" : "d/e/f";

    switch (i % 4) {
    case 0:
        return read_one(&a, path);
    case 1:
        return write_one(&a, path);
    case 2:
        return edit_one(&a, path);
    default:
        return move_there_and_back(&a);
    }
}

static void assert_untouched(const char *path)
{
    auto_arena a = ARENA;
    auto_buf b = BUF(1000);

    assert_true(file_read(in_tree(&a, path), &b, NULL));
    assert_str(buf_str(&b), OUTSIDE);
}

static size_t entries(const char *dir)
{
    auto_arena a = ARENA;
    DIR *d = opendir(in_tree(&a, dir));
    size_t n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static void nothing_escapes_while_directories_become_links(void **state) /* FS-20, SEC-59 */
{
    const char *count = getenv("TEST_RACES");
    unsigned races = count ? (unsigned)atoi(count) : getenv("TEST_SLOW") ? 1000000 : 50000;
    unsigned through[2] = { 0 };
    auto_arena a = ARENA;
    const char *in;
    pid_t racers[2];

    make_tree();
    in = in_tree(&a, "in");
    roots = access_new(&in, 1, false, NULL, NULL);
    assert_non_null(roots);
    for (size_t i = 0; i < ARRAY_LEN(racers); i++)
        racers[i] = start_racer((unsigned)i);
    for (unsigned i = 0; i < races; i++) {
        bool walk = i >= races / 2;

        if (i == 0 || i == races / 2)
            access_without_openat2(walk);
        through[walk] += act(i);
    }
    for (size_t i = 0; i < ARRAY_LEN(racers); i++) {
        kill(racers[i], SIGKILL);
        waitpid(racers[i], NULL, 0);
    }
    assert_untouched("out/f");
    assert_untouched("out/e/f");
    assert_untouched("out/m");
    assert_int_equal(entries("out"), 3);
    assert_int_equal(entries("out/e"), 1);
    print_message("%u acts, got through: %u with openat2, %u without\n", races, through[0],
                  through[1]);
    /* Both outcomes must have been met, or nothing was raced. */
    assert_in_range(through[0], 1, races / 2 - 1);
    assert_in_range(through[1], 1, races / 2 - 1);
    access_unref(roots);
    remove_tree(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_escapes_while_directories_become_links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
