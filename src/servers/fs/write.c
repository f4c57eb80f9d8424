/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* write_file and create_directory (FS-6, FS-11). */
#include "servers/fs/write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "servers/replace.h"

#define NEW_FILE_MODE      0666
#define NEW_DIRECTORY_MODE 0777

/* ---- one writer at a time ---- */

/* Files share a lock when their paths fall together; who holds one never waits for another. */
#define LOCKS 64

static pthread_mutex_t locks[LOCKS] = { [0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER };

static pthread_mutex_t *lock_of(const char *real)
{
    return &locks[str_hash(str_of(real)) % LOCKS];
}

void write_lock(const char *real)
{
    pthread_mutex_lock(lock_of(real));
}

void write_unlock(const char *real)
{
    pthread_mutex_unlock(lock_of(real));
}

/* ---- files ---- */

/* The entry to be written; false with the answer made an error. */
static bool find(struct fs_call *c, struct str path, struct access_entry *ret)
{
    struct access_at at;
    struct error e;

    if (access_locate(c->x, c->arena, path, &at, &e) &&
        access_entry(c->x, c->arena, &at, true, ret, &e))
        return true;
    answer_error(c->out, "%s", e.msg);
    return false;
}

/* By its directory: the path of an open file says "(deleted)" once another write replaced it.
 */
static const char *real_path(struct fs_call *c, const struct access_entry *entry)
{
    return path_join(c->arena, fs_real_path(c->arena, entry->dir, entry->path), entry->name);
}

const char *write_target(struct fs_call *c, struct str path)
{
    struct access_entry entry;
    const char *real;

    if (!find(c, path, &entry))
        return NULL;
    real = real_path(c, &entry);
    close(entry.dir);
    return real;
}

static bool replace(struct fs_call *c, const struct access_entry *entry, struct str content)
{
    struct error e;

    if (replace_file(entry->dir, entry->name, content, NEW_FILE_MODE, &e))
        return true;
    return answer_error(c->out, "Failed to write %s: %s", entry->path,
                        e.sys == EINVAL ? "Not a regular file" : strerror(e.sys));
}

bool write_content(struct fs_call *c, struct str path, struct str content)
{
    struct access_entry entry;
    bool done;

    if (!find(c, path, &entry))
        return false;
    done = replace(c, &entry, content);
    close(entry.dir);
    return done;
}

void fs_write_file(struct fs_call *c)
{
    struct access_entry entry;
    const char *real;
    bool done;

    if (!find(c, c->in.path, &entry))
        return;
    real = real_path(c, &entry);
    write_lock(real);
    done = replace(c, &entry, c->in.content);
    write_unlock(real);
    close(entry.dir);
    if (!done)
        return;
    buf_add(&c->out->text, STR("Successfully wrote to "));
    buf_add(&c->out->text, c->in.path);
}

/* ---- directories ---- */

/* Opens what the first n bytes of the path lead to; -1, and *ret_missing whether that is
 * because it does not exist. */
static int open_part(struct fs_call *c, const struct access_at *at, size_t n, bool *ret_missing,
                     struct error *e)
{
    struct str part = str_upto(str_of(at->path), n);
    struct access_at above;
    int fd = -1;

    *ret_missing = false;
    if (access_locate(c->x, c->arena, part, &above, e))
        fd = access_open(c->x, &above, O_PATH | O_DIRECTORY, e);
    if (fd < 0)
        *ret_missing = e->kind == ERR_NOT_FOUND || (e->kind == ERR_SYS && e->sys == ENOENT);
    return fd;
}

/* Where the components below the root end, the root itself first. */
static size_t *part_ends(struct fs_call *c, const struct access_at *at, size_t *ret_n)
{
    size_t whole = strlen(at->path), n = 0;
    size_t root = strcmp(at->rel, ".") == 0 ? whole : whole - strlen(at->rel);
    size_t *ends = ARENA_ARRAY(c->arena, size_t, whole + 2);

    /* Without the slash before what is below, unless that slash is the root. */
    ends[n++] = root > 1 && root < whole ? root - 1 : root;
    for (size_t i = root + 1; i <= whole && root < whole; i++) {
        if (i == whole || at->path[i] == '/')
            ends[n++] = i;
    }
    *ret_n = n;
    return ends;
}

/*
 * Opens the deepest directory that exists on the way; *ret_rest is what is missing of it. By
 * halves: where a directory is missing all below it are.
 */
static int open_deepest(struct fs_call *c, const struct access_at *at, const char **ret_rest,
                        struct error *e)
{
    size_t n, low = 0, high, *ends = part_ends(c, at, &n);
    auto_close int deepest = -1;
    bool missing;

    /* The whole path first: it exists, or all that is missing is its end. */
    for (high = n; low < high;) {
        size_t mid = high == n ? n - 1 : (low + high) / 2;
        int fd = open_part(c, at, ends[mid], &missing, e);

        if (fd < 0 && !missing)
            return -1;
        if (fd < 0) {
            high = mid;
            continue;
        }
        mem_cleanup_close(&deepest);
        deepest = fd;
        low = mid + 1;
    }
    if (deepest < 0)
        return -1;
    *ret_rest = at->path + ends[low - 1];
    *ret_rest += **ret_rest == '/';
    return take_fd(&deepest);
}

/* Makes one directory beneath `dir` and opens it; -1 with errno. */
static int make_one(int dir, const char *name)
{
    if (mkdirat(dir, name, NEW_DIRECTORY_MODE) != 0 && errno != EEXIST)
        return -1;
    return openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool make_rest(struct fs_call *c, int top, const char *rest)
{
    auto_close int dir = take_fd(&top);
    struct str left = str_of(rest), name;

    while (left.n) {
        int next;

        if (!str_cut(left, '/', &name, &left))
            name = left, left.n = 0;
        next = make_one(dir, arena_z(c->arena, name));
        if (next < 0)
            return false;
        mem_cleanup_close(&dir);
        dir = next;
    }
    return true;
}

void fs_create_directory(struct fs_call *c)
{
    struct access_at at;
    const char *rest;
    struct error e;
    int top = -1;

    if (access_locate(c->x, c->arena, c->in.path, &at, &e))
        top = open_deepest(c, &at, &rest, &e);
    if (top < 0) {
        answer_error(c->out, "%s", e.msg);
        return;
    }
    if (!make_rest(c, top, rest)) {
        answer_error(c->out, "Failed to create directory %s: %s", at.path, strerror(errno));
        return;
    }
    buf_add(&c->out->text, STR("Successfully created directory "));
    buf_add(&c->out->text, c->in.path);
}
