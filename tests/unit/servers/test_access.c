/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every table here runs twice: with openat2 and, as on a kernel without it, with the walk. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "lockdown/landlock.h"
#include "servers/access.h"

static char tree[PATH_MAX];
static struct access *roots; /* <tree>/in and <tree>/two */

/* "@" stands for the tree. */
static char *at(struct arena *a, const char *text)
{
    auto_buf b = BUF(1 << 20);

    for (; *text; text++)
        if (*text == '@')
            buf_addz(&b, tree);
        else
            buf_addc(&b, *text);
    return arena_z(a, buf_str(&b));
}

static void put(const char *path, const char *content)
{
    auto_arena a = ARENA;

    assert_true(file_write_cache(at(&a, path), str_of(content), NULL));
}

static void put_dir(const char *path)
{
    auto_arena a = ARENA;

    assert_int_equal(mkdir(at(&a, path), 0755), 0);
}

static void put_link(const char *target, const char *path)
{
    auto_arena a = ARENA;

    assert_int_equal(symlink(at(&a, target), at(&a, path)), 0);
}

static void put_socket(const char *path)
{
    auto_arena a = ARENA;
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(name.sun_path, sizeof name.sun_path, "%s", at(&a, path));
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
}

/* A chain of `n` links, the last of which leads to f. */
static void put_chain(const char *prefix, int n)
{
    auto_arena a = ARENA;

    for (int i = 1; i <= n; i++)
        put_link(i < n ? arena_printf(&a, "%s%d", prefix, i + 1) : "f",
                 arena_printf(&a, "@/in/%s%d", prefix, i));
}

static void warned(const char *line)
{
    fail_msg("%s", line);
}

static struct access *open_roots(const char *one, const char *two)
{
    auto_arena a = ARENA;
    const char *dirs[2] = { at(&a, one) };
    struct error e;
    struct access *x;

    if (two)
        dirs[1] = at(&a, two);
    x = access_new(dirs, two ? 2 : 1, false, warned, &e);
    assert_non_null(x);
    return x;
}

static int set_up(void **state)
{
    auto_arena a = ARENA;

    make_temp_dir(tree);
    put_dir("@/in"), put_dir("@/in/d"), put_dir("@/in/d/e"), put_dir("@/two");
    put_dir("@/in-evil"), put_dir("@/out"), put_dir("@/out/dir");
    put("@/in/f", "f"), put("@/in/d/g", "g"), put("@/in/d/e/h", "h"), put("@/two/x", "x");
    put("@/in-evil/f", "evil"), put("@/out/f", "out"), put("@/out/dir/g", "out");
    put("@/in/%2e%2e", "percent"), put("@/in/a\nb", "newline"), put("@/in/~x", "tilde");
    put_link("f", "@/in/l-file"), put_link("d", "@/in/l-dir");
    put_link("@/in/f", "@/in/l-abs"), put_link("@/in/d", "@/in/l-abs-dir");
    put_link("../f", "@/in/d/l-up"), put_link("../../in/f", "@/in/d/l-out-and-back");
    put_link("../two/x", "@/in/l-two"), put_link("@/two/x", "@/in/l-abs-two");
    put_link("@/in/d/e/..", "@/in/l-dots"), put_link("..", "@/in/d/l-root");
    put_link("l-dir/../f", "@/in/l-through"), put_link("f/", "@/in/l-slash");
    put_link("@/out/f", "@/in/esc-file"), put_link("@/out/dir", "@/in/esc-dir");
    put_link("../out/f", "@/in/esc-rel"), put_link("esc-rel", "@/in/esc-chain");
    put_link("@/out/none", "@/in/esc-dangling"), put_link("/", "@/in/esc-top");
    put_link("../../../../../../../../../../etc", "@/in/esc-high");
    put_link("none", "@/in/dangling"), put_link("none/x", "@/in/dangling-dir");
    put_link("loop", "@/in/loop"), put_link("@/in-evil/f", "@/in/esc-evil");
    put_chain("forty-", 40), put_chain("more-", 41);
    assert_int_equal(mkfifo(at(&a, "@/in/fifo"), 0644), 0);
    put_socket("@/in/socket");
    put_link("fifo", "@/in/l-fifo");
    roots = open_roots("@/in", "@/two");
    return 0;
}

static int tear_down(void **state)
{
    access_unref(roots);
    remove_tree(tree);
    return 0;
}

/* ---- opening ---- */

static const struct open_case {
    const char *path, *want; /* "=content", or the error; "" is a directory */
    int flags;
    enum err_kind kind;
} opens[] = {
    /* SV-21, SV-22: plain, relative to the first root, cleaned as text. */
    { "@/in/f", "=f", O_RDONLY, ERR_NONE },
    { "f", "=f", O_RDONLY, ERR_NONE },
    { "d/../f", "=f", O_RDONLY, ERR_NONE },
    { "@/in//d/.//e/h", "=h", O_RDONLY, ERR_NONE }, /* SEC-57 */
    { "none/../f", "=f", O_RDONLY, ERR_NONE },
    { "@/out/../in/f", "=f", O_RDONLY, ERR_NONE },
    { "../two/x", "=x", O_RDONLY, ERR_NONE },
    { ".", "", O_RDONLY, ERR_NONE },
    { "d/", "", O_RDONLY, ERR_NONE },
    { "@/in", "", O_RDONLY | O_DIRECTORY, ERR_NONE },
    { "%2e%2e", "=percent", O_RDONLY, ERR_NONE }, /* SEC-57: literal */
    { "a\nb", "=newline", O_RDONLY, ERR_NONE },   /* SEC-63 */
    { "~x", "=tilde", O_RDONLY, ERR_NONE },       /* SV-20: ~user is a name */
    /* SV-23: links that stay within some root. */
    { "l-file", "=f", O_RDONLY, ERR_NONE },
    { "l-dir/g", "=g", O_RDONLY, ERR_NONE },
    { "l-dir/e/h", "=h", O_RDONLY, ERR_NONE },
    { "l-abs", "=f", O_RDONLY, ERR_NONE },
    { "l-abs-dir/e/h", "=h", O_RDONLY, ERR_NONE },
    { "d/l-up", "=f", O_RDONLY, ERR_NONE },
    { "d/l-out-and-back", "=f", O_RDONLY, ERR_NONE },
    { "l-abs-dir/l-out-and-back", "=f", O_RDONLY, ERR_NONE },
    { "l-two", "=x", O_RDONLY, ERR_NONE },
    { "l-abs-two", "=x", O_RDONLY, ERR_NONE },
    { "l-dots", "", O_RDONLY, ERR_NONE },
    { "l-dots/g", "=g", O_RDONLY, ERR_NONE },
    { "d/l-root", "", O_RDONLY | O_DIRECTORY, ERR_NONE },
    { "d/l-root/two", "Failed to access @/in/d/l-root/two: No such file or directory", O_RDONLY,
      ERR_SYS },
    { "l-through", "=f", O_RDONLY, ERR_NONE },
    { "forty-1", "=f", O_RDONLY, ERR_NONE },
    /* O_NOFOLLOW is the link itself. */
    { "esc-file", "link", O_PATH | O_NOFOLLOW, ERR_NONE },
    { "l-abs-dir/l-up", "link", O_PATH | O_NOFOLLOW, ERR_NONE },
    /* SV-22, SEC-56, SEC-57: outside as text. */
    { "@/in-evil/f",
      "Access denied - path outside allowed directories: @/in-evil/f not in @/in, @/two",
      O_RDONLY, ERR_DENIED },
    { "../../../../../../../../../../etc/passwd",
      "Access denied - path outside allowed directories: /etc/passwd not in @/in, @/two",
      O_RDONLY, ERR_DENIED },
    { "..", "Access denied - path outside allowed directories: @ not in @/in, @/two", O_RDONLY,
      ERR_DENIED },
    { "/", "Access denied - path outside allowed directories: / not in @/in, @/two", O_RDONLY,
      ERR_DENIED },
    { "~/x", "Access denied - path outside allowed directories: /nobody/x not in @/in, @/two",
      O_RDONLY, ERR_DENIED },
    /* SV-21, SEC-63. */
    { "", "Invalid path: it is empty", O_RDONLY, ERR_INVALID },
    /* SV-24, SEC-58: outside by a link. */
    { "esc-file",
      "Access denied - symlink target outside allowed directories: @/out/f not in @/in, @/two",
      O_RDONLY, ERR_DENIED },
    { "esc-dir",
      "Access denied - symlink target outside allowed directories: @/out/dir not in @/in, "
      "@/two",
      O_RDONLY | O_DIRECTORY, ERR_DENIED },
    { "esc-dir/g",
      "Access denied - symlink target outside allowed directories: @/out/dir/g not in @/in, "
      "@/two",
      O_RDONLY, ERR_DENIED },
    { "esc-dir/none",
      "Access denied - parent directory outside allowed directories: @/out/dir/none not in "
      "@/in, @/two",
      O_RDONLY, ERR_DENIED },
    { "esc-rel",
      "Access denied - symlink target outside allowed directories: @/out/f not in @/in, @/two",
      O_RDONLY, ERR_DENIED },
    { "esc-chain",
      "Access denied - symlink target outside allowed directories: @/out/f not in @/in, @/two",
      O_PATH, ERR_DENIED },
    { "esc-evil",
      "Access denied - symlink target outside allowed directories: @/in-evil/f not in @/in, "
      "@/two",
      O_RDONLY, ERR_DENIED },
    { "esc-dangling",
      "Access denied - symlink target outside allowed directories: @/out/none not in @/in, "
      "@/two",
      O_RDONLY, ERR_DENIED },
    { "esc-top/etc/passwd",
      "Access denied - symlink target outside allowed directories: /etc/passwd not in @/in, "
      "@/two",
      O_RDONLY, ERR_DENIED },
    { "esc-high/passwd",
      "Access denied - symlink target outside allowed directories: /etc/passwd not in @/in, "
      "@/two",
      O_RDONLY, ERR_DENIED },
    { "esc-top",
      "Access denied - symlink target outside allowed directories: / not in @/in, "
      "@/two",
      O_PATH, ERR_DENIED },
    /* Through an outside link and back by text: the last component decides nothing. */
    { "l-abs-dir/../esc-file",
      "Access denied - symlink target outside allowed directories: @/out/f not in @/in, @/two",
      O_RDONLY, ERR_DENIED },
    /* SV-24: missing, and other errors. */
    { "none", "Failed to access @/in/none: No such file or directory", O_RDONLY, ERR_SYS },
    { "none/deeper/x", "Parent directory does not exist: @/in/none/deeper/x", O_RDONLY,
      ERR_NOT_FOUND },
    { "dangling", "Failed to access @/in/dangling: No such file or directory", O_RDONLY,
      ERR_SYS },
    { "dangling-dir", "Parent directory does not exist: @/in/dangling-dir", O_RDONLY,
      ERR_NOT_FOUND },
    { "f/x", "Failed to access @/in/f/x: Not a directory", O_RDONLY, ERR_SYS },
    { "f/", "Failed to access @/in/f: Not a directory", O_RDONLY, ERR_SYS }, /* SEC-57 */
    { "l-file/.", "Failed to access @/in/l-file: Not a directory", O_RDONLY, ERR_SYS },
    { "l-slash", "Failed to access @/in/l-slash: Not a directory", O_RDONLY, ERR_SYS },
    { "f", "Failed to access @/in/f: Not a directory", O_RDONLY | O_DIRECTORY, ERR_SYS },
    { "loop", "Failed to access @/in/loop: Too many levels of symbolic links", O_RDONLY,
      ERR_SYS },
    { "more-1", "Failed to access @/in/more-1: Too many levels of symbolic links", O_RDONLY,
      ERR_SYS },
    /* SV-25, SEC-61. */
    { "fifo", "Failed to access @/in/fifo: not a regular file or directory", O_RDONLY,
      ERR_INVALID },
    { "l-fifo", "Failed to access @/in/l-fifo: not a regular file or directory", O_RDONLY,
      ERR_INVALID },
    { "socket", "Failed to access @/in/socket: not a regular file or directory", O_RDONLY,
      ERR_INVALID },
    { "fifo", "other", O_PATH, ERR_NONE }, /* to be looked at */
};

/* "=content", "" for a directory, "link", "other". */
static const char *what_is(struct arena *a, int fd, int flags)
{
    char content[64];
    struct stat st;
    ssize_t n;

    assert_int_equal(fstat(fd, &st), 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    if (S_ISDIR(st.st_mode))
        return "";
    if (!S_ISREG(st.st_mode))
        return S_ISLNK(st.st_mode) ? "link" : "other";
    if (flags & O_PATH)
        return "regular";
    n = read(fd, content, sizeof content);
    assert_true(n >= 0);
    return arena_printf(a, "=%.*s", (int)n, content);
}

static const char *open_and_look(struct arena *a, const struct access *x, struct str path,
                                 int flags, struct error *e)
{
    struct access_at where;
    int fd;

    *e = (struct error){ .kind = ERR_NONE };
    if (!access_locate(x, a, path, &where, e))
        return e->msg;
    fd = access_open(x, &where, flags, e);
    if (fd < 0)
        return e->msg;
    e->kind = ERR_NONE;
    auto_close int owned = fd;

    return what_is(a, owned, flags);
}

static void all_paths_open_or_are_refused_with_the_right_words(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
        const struct open_case *c = &opens[i];
        auto_arena a = ARENA;
        struct error e;
        const char *got = open_and_look(&a, roots, str_of(at(&a, c->path)), c->flags, &e);

        if (strcmp(got, at(&a, c->want)) != 0 || e.kind != c->kind)
            fail_msg("'%s': kind %d\ngot  '%s'\nwant '%s'", c->path, e.kind, got,
                     at(&a, c->want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_paths_open_or_are_refused_with_the_right_words),
    };
    int failed;

    setenv("HOME", "/nobody", 1);
    failed = cmocka_run_group_tests_name("with openat2", tests, set_up, tear_down);
    access_without_openat2(true);
    return failed + cmocka_run_group_tests_name("without openat2", tests, set_up, tear_down);
}
