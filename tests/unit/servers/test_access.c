/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every table here runs twice: with openat2 and, as on a kernel without it, with the walk. */
#include "../confined.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
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

/* How many of the table fail; each is printed. Not an assertion: children run it too. */
static int wrong_opens(void)
{
    int wrong = 0;

    for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
        const struct open_case *c = &opens[i];
        auto_arena a = ARENA;
        struct error e;
        const char *got = open_and_look(&a, roots, str_of(at(&a, c->path)), c->flags, &e);

        if (strcmp(got, at(&a, c->want)) == 0 && e.kind == c->kind)
            continue;
        print_error("'%s': kind %d\ngot  '%s'\nwant '%s'\n", c->path, e.kind, got,
                    at(&a, c->want));
        wrong++;
    }
    return wrong;
}

static void all_paths_open_or_are_refused_with_the_right_words(void **state)
{
    assert_int_equal(wrong_opens(), 0);
}

static void lengths_and_bytes_of_a_path_are_bounded(void **state) /* SV-21, SEC-63 */
{
    static const struct {
        size_t name, repeat;
        const char *want;
    } cases[] = {
        { 255, 1, "Failed to access" }, /* only missing */
        { 256, 1, "Invalid path: a name in it is longer than 255 bytes" },
        { 300, 1, "Invalid path: a name in it is longer than 255 bytes" },
        { 99, 50, "Invalid path: it is longer than 4095 bytes" }, /* 5,000 bytes */
        { 250, 16, "Parent directory does not exist" },
    };
    auto_arena a = ARENA;
    struct error e;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf path = BUF(10000);

        for (size_t k = 0; k < cases[i].repeat; k++) {
            buf_addz(&path, k ? "/" : "");
            buf_fill(&path, 'n', cases[i].name);
        }
        assert_has(open_and_look(&a, roots, buf_str(&path), O_RDONLY, &e), cases[i].want);
    }
    assert_string_equal(open_and_look(&a, roots, BYTES("f\0x"), O_RDONLY, &e),
                        "Invalid path: it holds a NUL byte");
}

/* ---- roots ---- */

static char warnings[4096];

static void keep_warning(const char *line)
{
    strncat(warnings, line, sizeof warnings - strlen(warnings) - 1);
    strncat(warnings, "\n", sizeof warnings - strlen(warnings) - 1);
}

static void a_directory_is_kept_under_both_its_names(void **state) /* SV-20 */
{
    auto_arena a = ARENA;
    struct error e;
    const char *in = at(&a, "@/in");
    char cwd[PATH_MAX];
    const struct {
        const char *given, *want, *probe;
    } cases[] = {
        { in, "@/in", "@/in/f" },
        { at(&a, "@/in/../in/./d/.."), "@/in", "f" },
        { at(&a, "@/in/l-dir"), "@/in/l-dir, @/in/d", "@/in/d/e/h" },
        { at(&a, "@/in/l-dir/"), "@/in/l-dir, @/in/d", "@/in/l-dir/e/h" },
        { "~", "@/in", "~/f" },
        { "~/d", "@/in/d", "e/h" },
        { "d/e", "@/in/d/e", "h" },
    };

    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_int_equal(chdir(in), 0);
    setenv("HOME", in, 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct access *x = access_new(&cases[i].given, 1, false, warned, &e);
        struct access_at where;
        int fd;

        assert_non_null(x);
        assert_string_equal(access_names(x, &a), at(&a, cases[i].want));
        assert_true(access_locate(x, &a, str_of(at(&a, cases[i].probe)), &where, &e));
        fd = access_open(x, &where, O_RDONLY, &e);
        assert_true(fd >= 0);
        close(fd);
        access_unref(x);
    }
    setenv("HOME", "/nobody", 1);
    assert_int_equal(chdir(cwd), 0);
}

static void what_cannot_be_a_root_is_skipped_with_a_warning(void **state) /* SV-7, SV-20 */
{
    auto_arena a = ARENA;
    const char *dirs[] = { at(&a, "@/none"), at(&a, "@/in/f"), "~root", "/",
                           at(&a, "@/in"),   at(&a, "@/in") };
    struct access *x;
    struct error e;

    warnings[0] = '\0';
    x = access_new(dirs, ARRAY_LEN(dirs), false, keep_warning, &e);
    assert_non_null(x);
    assert_int_equal(x->n, 1);
    assert_string_equal(warnings,
                        at(&a, "Warning: Cannot access directory @/none, skipping\n"
                               "Warning: @/in/f is not a directory, skipping\n"
                               "Warning: Cannot access directory ~root, skipping\n"
                               "Warning: / is the whole system and needs --allow-root, "
                               "skipping\n"));
    access_unref(x);

    assert_null(access_new(dirs, 4, false, keep_warning, &e));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    assert_string_equal(e.msg, "none of the 4 specified directorie(s) are accessible");
    x = access_new(&dirs[3], 1, true, warned, &e); /* --allow-root */
    assert_non_null(x);
    access_unref(access_ref(x));
    access_unref(x);
    access_unref(NULL);
}

static void the_descriptor_stays_the_boundary_when_the_path_changes(void **state) /* SV-20 */
{
    auto_arena a = ARENA;
    struct access *x = open_roots("@/two", NULL);
    struct error e;

    assert_int_equal(rename(at(&a, "@/two"), at(&a, "@/renamed")), 0);
    put_link("out", "@/two");
    assert_string_equal(open_and_look(&a, x, str_of(at(&a, "@/two/x")), O_RDONLY, &e), "=x");
    assert_has(open_and_look(&a, x, str_of(at(&a, "@/two/f")), O_RDONLY, &e), "No such file");
    assert_int_equal(unlink(at(&a, "@/two")), 0);
    assert_int_equal(rename(at(&a, "@/renamed"), at(&a, "@/two")), 0);
    access_unref(x);
}

static void a_root_within_a_root_has_its_own_paths(void **state) /* SV-22, SV-23 */
{
    auto_arena a = ARENA;
    struct access *x = open_roots("@/in", "@/in/d/e");
    struct access_at where;
    struct error e;

    assert_true(access_locate(x, &a, str_of(at(&a, "@/in/d/e/h")), &where, &e));
    assert_ptr_equal(where.root, &x->v[1]);
    assert_string_equal(where.rel, "h");
    put_link("../../f", "@/in/d/e/l-outer");
    assert_string_equal(open_and_look(&a, x, STR("d/e/l-outer"), O_RDONLY, &e), "=f");
    assert_int_equal(unlink(at(&a, "@/in/d/e/l-outer")), 0);
    access_unref(x);
}

static void magic_links_and_devices_are_refused_under_the_root(
    void **state) /* SEC-60, SEC-61 */
{
    static const struct {
        const char *path, *want;
    } cases[] = {
        { "/proc/self/root/etc/passwd", "Too many levels of symbolic links" },
        { "/proc/self/root", "Too many levels of symbolic links" },
        { "/proc/self/fd/3", "Too many levels of symbolic links" },
        { "/proc/self/cwd/x", "Too many levels of symbolic links" },
        { "/proc/self/exe", "Too many levels of symbolic links" },
        { "/dev/stdin", "Too many levels of symbolic links" },
        { "/dev/fd/0", "Too many levels of symbolic links" },
        { "/dev/zero", "not a regular file or directory" },
        { "/dev/null", "not a regular file or directory" },
        { "/dev/tty", "not a regular file or directory" },
        { "/proc/self/none", "No such file or directory" },
        { "/proc/self/stat", "=" }, /* an ordinary link, an ordinary file */
        { "/proc/mounts", "=" },
        { "/etc/passwd", "=" },
        { "/../etc/passwd", "=" },
    };
    auto_arena a = ARENA;
    const char *top = "/";
    struct error e;
    struct access *x = access_new(&top, 1, true, warned, &e);
    int64_t begin = clock_ms();

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_has(open_and_look(&a, x, str_of(cases[i].path), O_RDONLY, &e), cases[i].want);
    assert_true(clock_ms() - begin < 1000 * slack()); /* SV-25 */
    access_unref(x);
}

/* ---- entries ---- */

static const struct entry_case {
    const char *path;
    bool follow;
    const char *want; /* "<directory>|<name>|<path>", or the error */
} entries[] = {
    { "f", false, "@/in|f|@/in/f" },
    { "f", true, "@/in|f|@/in/f" },
    { "new", true, "@/in|new|@/in/new" },
    { "d/e/new", false, "@/in/d/e|new|@/in/d/e/new" },
    { "new/", false, "@/in|new|@/in/new" },
    { "d/", false, "@/in|d|@/in/d" },
    { "l-dir/new", true, "@/in/d|new|@/in/l-dir/new" },
    { "l-abs-dir/new", true, "@/in/d|new|@/in/l-abs-dir/new" },
    { "l-abs-dir/new", false, "@/in/d|new|@/in/l-abs-dir/new" },
    /* The link itself, or its target in whichever root. SV-27. */
    { "l-file", false, "@/in|l-file|@/in/l-file" },
    { "l-file", true, "@/in|f|@/in/f" },
    { "d/l-up", true, "@/in|f|@/in/f" },
    { "l-abs", true, "@/in|f|@/in/f" },
    { "l-abs-two", true, "@/two|x|@/two/x" },
    { "forty-1", true, "@/in|f|@/in/f" },
    { "dangling", true, "@/in|none|@/in/none" },
    { "esc-file", false, "@/in|esc-file|@/in/esc-file" }, /* SEC-58: it may be moved */
    { "esc-file", true,
      "Access denied - symlink target outside allowed directories: @/out/f not in @/in, "
      "@/two" },
    { "esc-dangling", true,
      "Access denied - symlink target outside allowed directories: @/out/none not in @/in, "
      "@/two" },
    { "esc-dir/new", false,
      "Access denied - parent directory outside allowed directories: @/out/dir/new not in "
      "@/in, @/two" },
    { "esc-dir/g", true,
      "Access denied - symlink target outside allowed directories: @/out/dir/g not in @/in, "
      "@/two" },
    { "dangling-dir", true, "Parent directory does not exist: @/in/dangling-dir" },
    { "none/new", true, "Parent directory does not exist: @/in/none/new" },
    { "none/deeper/new", false, "Parent directory does not exist: @/in/none/deeper/new" },
    { "f/new", true, "Failed to access @/in/f/new: Not a directory" },
    { "f/", false, "Failed to access @/in/f: Not a directory" },
    { "new/", true, "Failed to access @/in/new: Is a directory" },
    { "l-dir/", false, "Failed to access @/in/l-dir: Not a directory" },
    { "d/l-root", true, "Failed to access @/in/d/l-root: Is a directory" },
    { "more-1", true, "Failed to access @/in/more-1: Too many levels of symbolic links" },
    { "loop", true, "Failed to access @/in/loop: Too many levels of symbolic links" },
    { ".", false, "Access denied - @/in is an allowed directory itself" },
    { "@/two/", true, "Access denied - @/two is an allowed directory itself" },
};

/* "/proc/self/fd/N" tells where the descriptor really is. */
static const char *place_of(struct arena *a, int fd)
{
    char place[PATH_MAX];
    ssize_t n = readlink(arena_printf(a, "/proc/self/fd/%d", fd), place, sizeof place - 1);

    assert_true(n > 0);
    return arena_z(a, (struct str){ place, (size_t)n });
}

static const char *find_and_look(struct arena *a, const struct entry_case *c)
{
    struct access_at where;
    struct access_entry entry;
    struct error e;

    if (!access_locate(roots, a, str_of(at(a, c->path)), &where, &e))
        return arena_z(a, str_of(e.msg));
    if (!access_entry(roots, a, &where, c->follow, &entry, &e))
        return arena_printf(a, "%s%s", entry.dir < 0 ? "" : "a descriptor and ", e.msg);
    auto_close int dir = entry.dir;

    return arena_printf(a, "%s|%s|%s", place_of(a, dir), entry.name, entry.path);
}

static int wrong_entries(void)
{
    int wrong = 0;

    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        auto_arena a = ARENA;
        const char *got = find_and_look(&a, &entries[i]), *want = at(&a, entries[i].want);

        if (strcmp(got, want) == 0)
            continue;
        print_error("'%s'\ngot  '%s'\nwant '%s'\n", entries[i].path, got, want);
        wrong++;
    }
    return wrong;
}

static void all_entries_are_found_in_their_directories(void **state) /* SV-27, SEC-58 */
{
    assert_int_equal(wrong_entries(), 0);
}

static void a_root_and_what_is_above_it_are_known_by_their_inodes(void **state) /* FS-16 */
{
    static const struct {
        const char *dir;
        bool want;
    } cases[] = { { "@/in", true },          { "@", true },       { "/", true },
                  { "@/in/d/l-root", true }, { "@/in/d", false }, { "@/out", false } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_close int fd = open(at(&a, cases[i].dir), O_PATH | O_CLOEXEC);

        assert_int_equal(access_holds_root(roots, fd), cases[i].want);
    }
}

static void no_descriptor_is_lost(void **state)
{
    int before = dup(0), after;

    close(before);
    wrong_opens();
    wrong_entries();
    after = dup(0);
    close(after);
    assert_int_equal(after, before);
}

/* ---- hostile trees ---- */

/* "d/../d/../ ... /f", as long as a link may be. */
static void put_winding_link(const char *next, const char *path)
{
    auto_arena a = ARENA;
    auto_buf target = BUF(PATH_MAX);

    while (target.n + strlen("deep/../") + strlen(next) < PATH_MAX)
        buf_addz(&target, "deep/../");
    buf_addz(&target, next);
    assert_int_equal(symlink(buf_z(&target), at(&a, path)), 0);
}

static void links_that_wind_end_soon(void **state)
{
    auto_arena a = ARENA;
    int64_t begin = clock_ms();
    struct error e;

    put_dir("@/in/deep");
    for (int i = 0; i < 40; i++)
        put_winding_link(i < 39 ? arena_printf(&a, "wind-%d", i + 1) : "f",
                         arena_printf(&a, "@/in/wind-%d", i));
    open_and_look(&a, roots, STR("wind-0"), O_RDONLY, &e);
    open_and_look(&a, roots, STR("deep/../wind-39"), O_RDONLY, &e);
    assert_true(clock_ms() - begin < 1000 * slack());
    for (int i = 0; i < 40; i++)
        unlink(at(&a, arena_printf(&a, "@/in/wind-%d", i)));
    rmdir(at(&a, "@/in/deep"));
}

/* Deeper than any absolute path can say. */
static void a_deep_tree_is_walked_as_far_as_a_path_reaches(void **state)
{
    auto_arena a = ARENA;
    auto_buf path = BUF(10000);
    auto_close int dir = open(at(&a, "@/in"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct error e;

    for (int i = 0; i < 3000; i++) {
        int next;

        assert_int_equal(mkdirat(dir, "n", 0755), 0);
        next = openat(dir, "n", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(dir);
        dir = next;
        buf_addz(&path, "n/");
    }
    buf_truncate(&path, 2 * 1500);
    assert_string_equal(open_and_look(&a, roots, buf_str(&path), O_RDONLY, &e), "");
    /* An absolute link to there, and on. */
    put_link(arena_printf(&a, "@/in/%s", buf_z(&path)), "@/in/l-deep");
    assert_string_equal(open_and_look(&a, roots, STR("l-deep/n/n"), O_RDONLY, &e), "");
    assert_string_equal(open_and_look(&a, roots, STR("l-deep/../n"), O_RDONLY, &e), "");
    unlink(at(&a, "@/in/l-deep"));
    for (int i = 0; i < 3000; i++) {
        int up = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

        close(dir);
        dir = up;
        unlinkat(dir, "n", AT_REMOVEDIR);
    }
}

static void without_descriptors_to_spare_the_reason_is_told(void **state)
{
    auto_arena a = ARENA;
    struct rlimit before, none;
    struct error e;

    getrlimit(RLIMIT_NOFILE, &before);
    none = (struct rlimit){ 3, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    open_and_look(&a, roots, STR("l-abs"), O_RDONLY, &e);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_string_equal(e.msg, at(&a, "Failed to access @/in/l-abs: Too many open files"));
}

/* ---- the second layer ---- */

/* In a child: after access_confine() what lies in the roots works, and a bug that opens
 * something else does not. */
static int confined(void)
{
    auto_arena a = ARENA;
    struct access_at where;
    struct access_entry entry;
    struct error e;
    int fd;

    if (!access_confine(roots, &e))
        return e.kind == ERR_DENIED ? 77 : 1;
    if (wrong_opens() + wrong_entries() > 0)
        return 7;
    if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES)
        return 2;
    if (open(at(&a, "@/out/f"), O_RDONLY | O_CLOEXEC) >= 0 ||
        open(at(&a, "@/out/new"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0 ||
        rename(at(&a, "@/in/f"), at(&a, "@/out/f")) == 0 || unlink(at(&a, "@/out/f")) == 0)
        return 3;
    /* Writing, and renaming from root to root. */
    if (!access_locate(roots, &a, STR("d/new"), &where, &e) ||
        !access_entry(roots, &a, &where, true, &entry, &e))
        return 4;
    fd = openat(entry.dir, "new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1 || ftruncate(fd, 0) != 0 || fsync(fd) != 0)
        return 5;
    if (renameat(entry.dir, "new", roots->v[1].fd, "moved") != 0 ||
        unlinkat(roots->v[1].fd, "moved", 0) != 0 || mkdirat(entry.dir, "sub", 0755) != 0 ||
        unlinkat(entry.dir, "sub", AT_REMOVEDIR) != 0)
        return 6;
    return 0;
}

static void the_kernel_confines_the_process_to_the_roots(void **state) /* SV-28 */
{
    check_confined(confined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_paths_open_or_are_refused_with_the_right_words),
        cmocka_unit_test(lengths_and_bytes_of_a_path_are_bounded),
        cmocka_unit_test(a_directory_is_kept_under_both_its_names),
        cmocka_unit_test(what_cannot_be_a_root_is_skipped_with_a_warning),
        cmocka_unit_test(the_descriptor_stays_the_boundary_when_the_path_changes),
        cmocka_unit_test(a_root_within_a_root_has_its_own_paths),
        cmocka_unit_test(magic_links_and_devices_are_refused_under_the_root),
        cmocka_unit_test(all_entries_are_found_in_their_directories),
        cmocka_unit_test(a_root_and_what_is_above_it_are_known_by_their_inodes),
        cmocka_unit_test(links_that_wind_end_soon),
        cmocka_unit_test(a_deep_tree_is_walked_as_far_as_a_path_reaches),
        cmocka_unit_test(without_descriptors_to_spare_the_reason_is_told),
        cmocka_unit_test(no_descriptor_is_lost),
        cmocka_unit_test(the_kernel_confines_the_process_to_the_roots),
    };
    int failed;

    setenv("HOME", "/nobody", 1);
    failed = cmocka_run_group_tests_name("with openat2", tests, set_up, tear_down);
    access_without_openat2(true);
    return failed + cmocka_run_group_tests_name("without openat2", tests, set_up, tear_down);
}
