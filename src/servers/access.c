/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/access.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "lockdown/confine.h"
#include "lockdown/landlock.h"
#include "servers/access_walk.h"

static bool no_openat2;

void access_without_openat2(bool without)
{
    no_openat2 = without;
}

/* ---- the roots ---- */

static const char *absolute(struct arena *a, const char *path)
{
    char cwd[PATH_MAX];

    path = path_expand_home(a, path);
    if (!path_is_abs(path) && getcwd(cwd, sizeof cwd))
        path = path_join(a, cwd, path);
    return path_clean(a, path);
}

static bool known(const struct access *x, const char *given, const char *real)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->v[i].given, given) == 0 && strcmp(x->v[i].real, real) == 0)
            return true;
    return false;
}

/* False with what goes into "Warning: ..., skipping". */
static bool add_root(struct access *x, const char *dir, bool allow_root, struct error *e)
{
    const char *given = absolute(&x->arena, dir), *real = path_real(&x->arena, given, NULL);
    struct access_root *root = &x->v[x->n];

    if (!real)
        return error_set(e, ERR_DENIED, "Cannot access directory %s", dir);
    if (!file_is_dir(real))
        return error_set(e, ERR_INVALID, "%s is not a directory", dir);
    if (strcmp(real, "/") == 0 && !allow_root)
        return error_set(e, ERR_DENIED, "%s is the whole system and needs --allow-root", dir);
    if (known(x, given, real))
        return true;
    if (x->n == ACCESS_ROOTS_MAX)
        return error_set(e, ERR_LIMIT, "%s is one directory more than %d", dir,
                         ACCESS_ROOTS_MAX);
    root->fd = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root->fd < 0)
        return error_set(e, ERR_DENIED, "Cannot access directory %s", dir);
    root->real = real;
    root->given = strcmp(given, real) == 0 ? real : given;
    x->n++;
    return true;
}

struct access *access_new(const char *const *dirs, size_t n, bool allow_root,
                          void (*warn)(const char *line), struct error *e)
{
    struct access *x = NEW(struct access);

    *x = (struct access){ .refs = 1, .arena = ARENA };
    x->v = ARENA_ARRAY(&x->arena, struct access_root, ACCESS_ROOTS_MAX + 1);
    for (size_t i = 0; i < n; i++) {
        struct error why;

        if (!add_root(x, dirs[i], allow_root, &why) && warn)
            warn(arena_printf(&x->arena, "Warning: %s, skipping", why.msg));
    }
    if (x->n)
        return x;
    error_set(e, ERR_NOT_FOUND, "none of the %zu specified directorie(s) are accessible", n);
    access_unref(x);
    return NULL;
}

struct access *access_ref(struct access *x)
{
    x->refs++;
    return x;
}

void access_unref(struct access *x)
{
    if (!x || --x->refs)
        return;
    for (size_t i = 0; i < x->n; i++)
        close(x->v[i].fd);
    arena_free(&x->arena);
    free(x);
}

const char *access_names(const struct access *x, struct arena *a)
{
    auto_buf all = BUF((size_t)2 * PATH_MAX * ACCESS_ROOTS_MAX);

    for (size_t i = 0; i < x->n; i++) {
        const struct access_root *root = &x->v[i];

        buf_addf(&all, "%s%s", i ? ", " : "", root->given);
        if (root->given != root->real)
            buf_addf(&all, ", %s", root->real);
    }
    return arena_z(a, buf_str(&all));
}

bool access_confine(const struct access *x, struct error *e)
{
    struct landlock_rule rules[ACCESS_ROOTS_MAX + 1];
    size_t n = 0;

    for (; n < x->n; n++)
        rules[n] = (struct landlock_rule){ x->v[n].fd, LANDLOCK_WRITE };
#ifdef SYM_SANITIZED /* the search for leaks at the end reads /proc */
    auto_close int proc = open("/proc", O_PATH | O_CLOEXEC);

    if (proc >= 0)
        rules[n++] = (struct landlock_rule){ proc, LANDLOCK_READ };
#endif
    return confine_no_new_privs(e) && landlock_confine(rules, n, e);
}

/* ---- a path as text ---- */

/* What of `path` follows `root`, or NULL when it is not beneath it. */
static const char *beneath_root(const char *root, const char *path)
{
    const char *rest;

    if (!path_beneath(root, path))
        return NULL;
    rest = path + strlen(root);
    while (*rest == '/')
        rest++;
    return *rest ? rest : ".";
}

/* The longest root wins: what lies in a root within a root belongs to the inner one. */
static bool find_root(const struct access *x, struct access_at *at)
{
    size_t longest = 0;

    for (size_t i = 0; i < x->n; i++) {
        const char *names[] = { x->v[i].real, x->v[i].given };

        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            const char *rel = beneath_root(names[k], at->path);

            if (!rel || strlen(names[k]) <= longest)
                continue;
            longest = strlen(names[k]);
            at->root = &x->v[i];
            at->rel = rel;
        }
    }
    return longest > 0;
}

static bool names_fit(const char *path)
{
    struct str rest = str_of(path), name;

    while (str_cut(rest, '/', &name, &rest))
        if (name.n > NAME_MAX)
            return false;
    return rest.n <= NAME_MAX;
}

static bool ends_as_directory(struct str asked)
{
    return str_ends(asked, STR("/")) || str_ends(asked, STR("/.")) || str_is(asked, ".");
}

bool access_locate(const struct access *x, struct arena *a, struct str asked,
                   struct access_at *ret, struct error *e)
{
    struct access_at at = { .directory = ends_as_directory(asked) };

    if (asked.n == 0)
        return error_set(e, ERR_INVALID, "Invalid path: it is empty");
    if (str_find_char(asked, '\0') != SIZE_MAX)
        return error_set(e, ERR_INVALID, "Invalid path: it holds a NUL byte");
    at.asked = arena_z(a, asked);
    at.path = path_clean(a, path_join(a, x->v[0].given, path_expand_home(a, at.asked)));
    if (asked.n >= PATH_MAX || strlen(at.path) >= PATH_MAX)
        return error_set(e, ERR_INVALID, "Invalid path: it is longer than %d bytes",
                         PATH_MAX - 1);
    if (!names_fit(at.path))
        return error_set(e, ERR_INVALID, "Invalid path: a name in it is longer than %d bytes",
                         NAME_MAX);
    if (!find_root(x, &at))
        return error_set(e, ERR_DENIED,
                         "Access denied - path outside allowed directories: %s not in %s",
                         at.path, access_names(x, a));
    *ret = at;
    return true;
}

/* ---- a path on the disk ---- */

/* openat2 beneath the root; links that lead out of it are EXDEV. */
static int open_beneath(const struct access_root *root, const char *rel, int flags)
{
    /* The system call is strict about what O_PATH may stand with. */
    uint64_t add = flags & O_PATH ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct open_how how = { .flags = (uint64_t)flags | add,
                            .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };

    if (no_openat2) {
        errno = ENOSYS;
        return -1;
    }
    for (int i = 0; i < ACCESS_TRIES_MAX; i++) {
        int fd = (int)syscall(SYS_openat2, root->fd, rel, &how, sizeof how);

        if (fd >= 0 || errno != EAGAIN)
            return fd;
    }
    return -1;
}

/* The kernel did not say that the path cannot be opened, or said it without telling whether the
 * path, its directory or a link is at fault. */
static bool walk_may_know(int sys)
{
    switch (sys) {
    case ENOSYS: /* no openat2 */
    case EPERM:  /* a filter that forbids it */
    case EXDEV:
    case EAGAIN:
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
        return true;
    default:
        return false;
    }
}

/* Somebody has put something else where we were looking: look again. */
static bool was_moved(int sys)
{
    return sys == EAGAIN || sys == EXDEV || sys == ENOENT || sys == ENOTDIR || sys == ELOOP;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_openable(const struct access_at *at, int fd, int flags, struct stat *ret,
                        struct error *e)
{
    if (fstat(fd, ret) != 0)
        return access_failed(at, e);
    if ((flags & O_DIRECTORY) && !S_ISDIR(ret->st_mode)) {
        errno = ENOTDIR;
        return access_failed(at, e);
    }
    if (flags & O_PATH || S_ISREG(ret->st_mode) || S_ISDIR(ret->st_mode))
        return true;
    return error_set(e, ERR_INVALID, "Failed to access %s: not a regular file or directory",
                     at->path);
}

/*
 * `found` is what the path led to, O_PATH. A FIFO would wait and a device may act on being
 * opened, so its type is looked at first; the second open must then give the same file. It is
 * by openat2 again, or with `dir` by the name in the directory where the walk found it. -1 with
 * errno.
 */
static int open_again(const struct access_at *at, int found, const struct walked *w, int flags)
{
    auto_close int fd = -1;
    struct stat was, is;

    if (fstat(found, &was) != 0)
        return -1;
    if (S_ISDIR(was.st_mode))
        fd = openat(found, ".", flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    else if (w)
        fd = openat(w->dir, w->name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    else
        fd = open_beneath(at->root, at->rel, flags);
    if (fd < 0 || fstat(fd, &is) != 0)
        return -1;
    if (!same_file(&is, &was)) {
        errno = EAGAIN;
        return -1;
    }
    return take_fd(&fd);
}

/* One try. -1 with *ret_again when it is worth another. */
static int open_once(const struct access *x, const struct access_at *at, int flags,
                     bool *ret_again, struct error *e)
{
    auto_walked w = { .fd = -1, .dir = -1 };
    int pass = flags & (O_PATH | O_DIRECTORY | O_NOFOLLOW);
    auto_close int found = open_beneath(at->root, at->rel, pass | O_PATH);
    bool walked = found < 0;
    struct stat st;
    int fd;

    *ret_again = false;
    if (walked && !walk_may_know(errno)) {
        access_failed(at, e);
        return -1;
    }
    if (walked) {
        if (!access_walk(x, at, flags & O_NOFOLLOW ? WALK_ITSELF : WALK_FILE, &w, e)) {
            *ret_again = e->kind == ERR_SYS && e->sys == EAGAIN;
            return -1;
        }
        found = take_fd(&w.fd);
    }
    if (!is_openable(at, found, flags, &st, e))
        return -1;
    if (flags & O_PATH)
        return take_fd(&found);
    fd = open_again(at, found, walked ? &w : NULL, flags);
    if (fd < 0) {
        *ret_again = was_moved(errno);
        access_failed(at, e);
    }
    return fd;
}

int access_open(const struct access *x, const struct access_at *at, int flags, struct error *e)
{
    struct error own;
    bool again = true;
    int fd = -1;

    flags &= ~(O_CREAT | O_EXCL | (O_TMPFILE & ~O_DIRECTORY));
    if (at->directory)
        flags |= O_DIRECTORY;
    for (int i = 0; i < ACCESS_TRIES_MAX && fd < 0 && again; i++)
        fd = open_once(x, at, flags, &again, e ? e : &own);
    return fd;
}

/* ---- an entry of a directory ---- */

/* The directory that holds the last component; -1 with errno. */
static int open_parent(struct arena *a, const struct access_at *at, const char **ret_name)
{
    const char *slash = strrchr(at->rel, '/');
    const char *dir = slash ? path_dir(a, at->rel) : ".";

    *ret_name = slash ? slash + 1 : at->rel;
    return open_beneath(at->root, dir, O_PATH | O_DIRECTORY);
}

static bool is_link(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

static bool fits_as_written(const struct access_at *at, const struct access_entry *entry,
                            bool follow, struct error *e)
{
    struct stat st;
    bool exists;

    if (!at->directory)
        return true;
    exists = fstatat(entry->dir, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists ? S_ISDIR(st.st_mode) : !follow)
        return true;
    errno = exists ? ENOTDIR : EISDIR;
    return access_failed(at, e);
}

static bool find_entry(const struct access *x, struct arena *a, const struct access_at *at,
                       bool follow, struct access_entry *ret, struct error *e)
{
    auto_walked w = { .fd = -1, .dir = -1 };
    const char *name;
    auto_close int dir = open_parent(a, at, &name);

    *ret = (struct access_entry){ .dir = -1, .name = name, .path = at->path };
    if (dir >= 0 && !(follow && is_link(dir, name))) {
        ret->dir = take_fd(&dir);
        return true;
    }
    if (dir < 0 && !walk_may_know(errno))
        return access_failed(at, e);
    if (!access_walk(x, at, follow ? WALK_TARGET : WALK_ENTRY, &w, e))
        return false;
    ret->dir = take_fd(&w.dir);
    ret->name = arena_z(a, str_of(w.name));
    if (w.by_link)
        ret->path = path_join(a, w.root->real, buf_z(&w.rel));
    return true;
}

bool access_entry(const struct access *x, struct arena *a, const struct access_at *at,
                  bool follow, struct access_entry *ret, struct error *e)
{
    struct error own = { .kind = ERR_NONE };

    e = e ? e : &own;
    *ret = (struct access_entry){ .dir = -1 };
    if (strcmp(at->rel, ".") == 0)
        return error_set(e, ERR_DENIED, "Access denied - %s is an allowed directory itself",
                         at->path);
    for (int i = 0; !find_entry(x, a, at, follow, ret, e); i++)
        if (e->kind != ERR_SYS || e->sys != EAGAIN || i == ACCESS_TRIES_MAX)
            return false;
    if (fits_as_written(at, ret, follow, e))
        return true;
    close(ret->dir);
    ret->dir = -1;
    return false;
}

bool access_holds_root(const struct access *x, int dir)
{
    struct stat want, is, above;

    if (fstat(dir, &want) != 0)
        return false;
    for (size_t i = 0; i < x->n; i++) {
        auto_close int fd = openat(x->v[i].fd, ".", O_PATH | O_CLOEXEC);

        while (fd >= 0 && fstat(fd, &is) == 0) {
            int up = openat(fd, "..", O_PATH | O_CLOEXEC);

            if (same_file(&is, &want)) {
                mem_cleanup_close(&up);
                return true;
            }
            close(fd);
            fd = up;
            if (up >= 0 && fstat(up, &above) == 0 && same_file(&above, &is))
                break; /* "/" is above itself */
        }
    }
    return false;
}
