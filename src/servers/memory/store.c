/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "servers/memory/lockfile.h"
#include "servers/replace.h"

#define LINKS_MAX    40
#define COMPACT_MIN  ((size_t)1 << 20) /* less garbage than this is left alone */
#define CORRUPT_MAX  100               /* copies of bad lines made in one second */
#define WARNINGS_MAX ((size_t)16 << 10)

/* What tells one content of the file from another. */
struct version {
    bool exists;
    dev_t dev;
    ino_t ino;
    off_t size;
    int64_t mtime_ns, ctime_ns;
};

/*
 * load_lock orders whoever looks at the file; graph_lock is held for writing only while the
 * graph in memory is exchanged or changed, for reading while one uses it. load_lock is taken
 * first.
 */
struct store {
    char *path;
    pthread_mutex_t load_lock;
    pthread_rwlock_t graph_lock;
    struct graph *graph; /* NULL: nothing read yet */
    struct version version;
    bool settled; /* `version` cannot be that of another content */
    bool owned; /* a mutation holds the file's lock and has seen that `graph` is its content */
    atomic_uint_fast64_t foreign;

    pthread_mutex_t warn_lock;
    struct buf warnings;
};

struct store *store_new(const char *path)
{
    struct store *s = NEW(struct store);
    pthread_rwlockattr_t attr;

    s->path = mem_strdup(path);
    s->warnings = BUF(WARNINGS_MAX);
    pthread_mutex_init(&s->load_lock, NULL);
    pthread_mutex_init(&s->warn_lock, NULL);
    pthread_rwlockattr_init(&attr);
    /* Else readers that follow closely on one another would keep a mutation out for ever. */
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&s->graph_lock, &attr);
    pthread_rwlockattr_destroy(&attr);
    return s;
}

void store_free(struct store *s)
{
    if (!s)
        return;
    graph_free(s->graph);
    buf_free(&s->warnings);
    pthread_mutex_destroy(&s->load_lock);
    pthread_mutex_destroy(&s->warn_lock);
    pthread_rwlock_destroy(&s->graph_lock);
    free(s->path);
    free(s);
}

/* ---- the place of the file ---- */

void store_place(const struct store *s, struct arena *a, const char **ret_dir,
                 const char **ret_name)
{
    const char *path = s->path;
    char target[PATH_MAX];

    for (int i = 0; i < LINKS_MAX; i++) {
        ssize_t n = readlink(path, target, sizeof target - 1);

        if (n < 0)
            break;
        target[n] = '\0';
        path = path_join(a, path_dir(a, path), target);
    }
    *ret_dir = path_dir(a, path);
    *ret_name = path_base(path);
}

/* The directory, opened; -1 in *ret_dir when there is none yet. */
struct place {
    struct arena arena;
    const char *dir_path, *name;
    int dir;
    bool lock; /* a mutation takes the lock */
};

static bool place_open(const struct store *s, struct place *p, struct error *e)
{
    *p = (struct place){ .arena = ARENA };
    store_place(s, &p->arena, &p->dir_path, &p->name);
    p->dir = open(p->dir_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (p->dir < 0 && errno != ENOENT) {
        error_set(e, ERR_SYS, "open directory '%s'", p->dir_path);
        arena_free(&p->arena);
        return false;
    }
    return true;
}

static void place_close(struct place *p)
{
    if (p->dir >= 0)
        close(p->dir);
    arena_free(&p->arena);
}

/* ---- reading ---- */

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct version version_of(const struct stat *st)
{
    return (struct version){ .exists = true,
                             .dev = st->st_dev,
                             .ino = st->st_ino,
                             .size = st->st_size,
                             .mtime_ns = ns_of(st->st_mtim),
                             .ctime_ns = ns_of(st->st_ctim) };
}

static bool same(const struct version *a, const struct version *b)
{
    return a->exists == b->exists && a->dev == b->dev && a->ino == b->ino &&
           a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

static bool look(const struct store *s, const struct place *p, struct version *ret,
                 struct error *e)
{
    struct stat st;

    *ret = (struct version){ 0 };
    if (p->dir < 0)
        return true;
    if (fstatat(p->dir, p->name, &st, 0) == 0)
        *ret = version_of(&st);
    else if (errno != ENOENT)
        return error_set(e, ERR_SYS, "look at '%s'", s->path);
    return true;
}

/* The text that the file has now, and its version. */
struct content {
    struct buf text;
    struct version version;
    bool settled;
};

static bool read_fd(int fd, struct buf *text, struct error *e)
{
    for (;;) {
        ssize_t got;

        if (text->cap - text->n < 2 && !buf_room(text, text->cap + 1))
            return buf_ok(text, e);
        got = read(fd, text->p + text->n, text->cap - text->n - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(e, ERR_SYS, "read");
        if (got == 0)
            return true;
        text->n += (size_t)got;
    }
}

static bool read_content(const struct store *s, const struct place *p, struct content *ret,
                         struct error *e)
{
    auto_close int fd = -1;
    struct stat st;
    int64_t now = clock_wall_ms();

    buf_free(&ret->text);
    *ret = (struct content){ .text = BUF(MEMORY_FILE_MAX), .settled = true };
    if (p->dir < 0)
        return true;
    fd = openat(p->dir, p->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return true;
    if (fd < 0 || fstat(fd, &st) < 0)
        return error_set(e, ERR_SYS, "open '%s'", s->path);
    if (!S_ISREG(st.st_mode))
        return error_set(e, ERR_INVALID, "'%s' is not a regular file", s->path);
    if ((uint64_t)st.st_size > MEMORY_FILE_MAX)
        return error_set(e, ERR_LIMIT, "'%s' has %lld bytes, at most %zu are read", s->path,
                         (long long)st.st_size, MEMORY_FILE_MAX);
    ret->version = version_of(&st);
    ret->settled = ret->version.mtime_ns / 1000000 <= now - STORE_TICK_MS;
    buf_room(&ret->text, (size_t)st.st_size + (st.st_size < (off_t)MEMORY_FILE_MAX));
    return read_fd(fd, &ret->text, e) || error_wrap(e, "'%s'", s->path);
}

static void sleep_ms(int ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

static struct graph *graph_of(struct content *c)
{
    size_t n = c->text.n;

    return graph_load(c->text.p ? buf_take(&c->text) : mem_strdup(""), n);
}

/* Some programs truncate the file and write it anew: cut short, or empty a moment after its
 * last change, it may be one of theirs, half done. */
static bool looks_half_done(const struct graph *g, const struct version *v)
{
    return g->bad.n || (v->exists && v->size == 0 &&
                        v->mtime_ns / 1000000 > clock_wall_ms() - STORE_SETTLE_MS);
}

/* The graph of the file as it is, c's text included; NULL on failure. */
static struct graph *load(const struct store *s, const struct place *p, struct content *c,
                          struct error *e)
{
    struct graph *g = graph_of(c);

    for (int i = 1; i < STORE_SETTLE_MAX && looks_half_done(g, &c->version); i++) {
        struct version before = c->version;

        sleep_ms(STORE_SETTLE_MS);
        graph_free(g);
        if (!read_content(s, p, c, e))
            return NULL;
        g = graph_of(c);
        if (same(&before, &c->version))
            break;
    }
    return g;
}

static void warn_of_bad_lines(struct store *s, const struct graph *g)
{
    pthread_mutex_lock(&s->warn_lock);
    for (size_t i = 0; i < g->bad.n && i < STORE_WARN_MAX; i++)
        buf_addf(&s->warnings, "%s: line %zu %s; it is left out\n", s->path, g->bad.v[i].number,
                 g->bad.v[i].why);
    if (g->bad.n > STORE_WARN_MAX)
        buf_addf(&s->warnings, "%s: %zu more bad lines\n", s->path, g->bad.n - STORE_WARN_MAX);
    pthread_mutex_unlock(&s->warn_lock);
}

void store_warnings(struct store *s, void (*warn)(const char *line))
{
    struct buf all;
    char *line, *save = NULL;

    pthread_mutex_lock(&s->warn_lock);
    all = s->warnings;
    s->warnings = BUF(WARNINGS_MAX);
    pthread_mutex_unlock(&s->warn_lock);
    for (line = all.p ? strtok_r(all.p, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save))
        warn(line);
    buf_free(&all);
}

static void publish(struct store *s, struct graph *g)
{
    struct graph *old = s->graph;

    pthread_rwlock_wrlock(&s->graph_lock);
    s->graph = g;
    pthread_rwlock_unlock(&s->graph_lock);
    graph_free(old);
}

/* Makes `graph` that of the file. With load_lock, while no mutation owns the graph. */
static bool refresh(struct store *s, const struct place *p, struct error *e)
{
    struct content c = { 0 };
    struct version now;
    struct graph *g = NULL;

    if (!look(s, p, &now, e))
        return false;
    if (s->graph && s->settled && same(&now, &s->version))
        return true;
    if (!read_content(s, p, &c, e)) {
        buf_free(&c.text);
        return false;
    }
    if (!s->graph || !graph_is_text(s->graph, buf_str(&c.text))) {
        g = load(s, p, &c, e);
        if (!g) {
            buf_free(&c.text);
            return false;
        }
        if (s->graph)
            atomic_fetch_add(&s->foreign, 1);
        warn_of_bad_lines(s, g);
        publish(s, g);
    }
    buf_free(&c.text);
    s->version = c.version;
    s->settled = c.settled;
    return true;
}

bool store_read(struct store *s, void (*read)(void *ctx, const struct graph *g), void *ctx,
                struct error *e)
{
    struct place p;
    bool ok = true;

    pthread_mutex_lock(&s->load_lock);
    if (!s->owned) {
        ok = place_open(s, &p, e);
        if (ok) {
            ok = refresh(s, &p, e);
            place_close(&p);
        }
    }
    if (ok)
        pthread_rwlock_rdlock(&s->graph_lock);
    pthread_mutex_unlock(&s->load_lock);
    if (!ok)
        return false;
    read(ctx, s->graph);
    pthread_rwlock_unlock(&s->graph_lock);
    return true;
}

uint64_t store_foreign(const struct store *s)
{
    return atomic_load(&s->foreign);
}

/* ---- writing ---- */

/* Copies the bad lines aside before a rewrite leaves them out (ME-4). The name of the copy;
 * NULL on failure. */
static const char *save_bad_lines(const struct store *s, struct place *p, struct error *e)
{
    const struct graph *g = s->graph;
    auto_close int fd = -1;
    const char *name = "";
    time_t now = time(NULL);
    struct tm utc;
    char stamp[32], suffix[16] = "";
    bool ok = true;

    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    for (int i = 1; fd < 0 && i <= CORRUPT_MAX; i++) {
        name = arena_printf(&p->arena, "%s.corrupt-%s%s", p->name, stamp, suffix);
        fd = openat(p->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
        snprintf(suffix, sizeof suffix, "-%d", i);
    }
    if (fd < 0) {
        error_set(e, ERR_SYS, "create '%s' for the bad lines of '%s'", name, s->path);
        return NULL;
    }
    for (size_t i = 0; ok && i < g->bad.n; i++)
        ok = file_write_all(fd, g->bad.v[i].text, e) && file_write_all(fd, STR("\n"), e);
    if (ok && fsync(fd) < 0)
        ok = error_set(e, ERR_SYS, "sync");
    if (ok)
        return name;
    unlinkat(p->dir, name, 0);
    error_wrap(e, "write '%s'", name);
    return NULL;
}

static bool count(void *ctx, struct str piece)
{
    *(size_t *)ctx += piece.n;
    return true;
}

static bool append(void *ctx, struct str piece)
{
    buf_add(ctx, piece);
    return true;
}

static bool write_file(const struct store *s, struct place *p, const struct change *c,
                       struct buf *text, struct error *e)
{
    const char *copy = NULL;
    size_t n = 0;

    change_walk(c, count, &n);
    if (n > MEMORY_FILE_MAX)
        return error_set(e, ERR_LIMIT, "'%s' would have %zu bytes, at most %zu are allowed",
                         s->path, n, MEMORY_FILE_MAX);
    buf_room(text, n);
    change_walk(c, append, text);
    if (s->graph->bad.n && !(copy = save_bad_lines(s, p, e)))
        return false;
    if (replace_file(p->dir, p->name, buf_str(text), 0600, e))
        return true;
    if (copy)
        unlinkat(p->dir, copy, 0); /* the bad lines are still in the file */
    return error_wrap(e, "'%s'", s->path);
}

/* The file is written: makes the graph the same. */
static void put_in_place(struct store *s, const struct place *p, struct change *c,
                         struct buf *text)
{
    struct graph *fresh = NULL;
    struct stat st;

    if (s->graph->waste > s->graph->live + COMPACT_MIN) {
        struct content all = { .text = *text };

        change_drop(c);
        fresh = graph_of(&all);
        *text = BUF(0);
    }
    pthread_mutex_lock(&s->load_lock);
    if (fresh) {
        publish(s, fresh);
    } else {
        pthread_rwlock_wrlock(&s->graph_lock);
        change_apply(c);
        pthread_rwlock_unlock(&s->graph_lock);
    }
    s->version =
        fstatat(p->dir, p->name, &st, 0) == 0 ? version_of(&st) : (struct version){ 0 };
    s->settled = false;
    s->owned = false;
    pthread_mutex_unlock(&s->load_lock);
}

static bool take_over(struct store *s, const struct place *p, struct error *e)
{
    pthread_mutex_lock(&s->load_lock);
    s->owned = refresh(s, p, e);
    pthread_mutex_unlock(&s->load_lock);
    return s->owned;
}

static void give_back(struct store *s, struct change *c)
{
    change_drop(c);
    pthread_mutex_lock(&s->load_lock);
    s->owned = false;
    pthread_mutex_unlock(&s->load_lock);
}

/* Without a file nothing is made, no lock either, until there is something to write; then all
 * is looked at again, under the lock (*ret_again). */
static bool attempt(struct store *s, struct place *p, const struct plan *plan,
                    bool *ret_changed, bool *ret_again, struct error *e)
{
    auto_buf text = BUF(MEMORY_FILE_MAX);
    auto_close int lock = -1;
    struct change c;
    bool fits = false;

    *ret_changed = *ret_again = false;
    if (p->lock) {
        lock = lockfile_take(p->dir, p->name, plan, e);
        if (lock < 0)
            return false;
    }
    if (!take_over(s, p, e))
        return false;
    change_begin(&c, s->graph);
    if (!plan->run(plan->ctx, &c) || change_is_empty(&c)) {
        give_back(s, &c);
        return true;
    }
    if (plan->cancelled(plan->ctx))
        error_set(e, ERR_CLOSED, "cancelled");
    else if (change_fits(&c, e))
        fits = true;
    if (!fits) {
        give_back(s, &c);
        return false;
    }
    if (!p->lock) {
        give_back(s, &c);
        *ret_again = true;
        return file_mkdirs(p->dir_path, e);
    }
    if (!write_file(s, p, &c, &text, e)) {
        give_back(s, &c);
        return false;
    }
    put_in_place(s, p, &c, &text);
    *ret_changed = true;
    return true;
}

bool store_change(struct store *s, const struct plan *plan, bool *ret_changed, struct error *e)
{
    bool again = false, ok;

    do {
        struct place p;
        struct stat st;

        if (!place_open(s, &p, e))
            return false;
        p.lock = p.dir >= 0 && (again || fstatat(p.dir, p.name, &st, 0) == 0);
        ok = attempt(s, &p, plan, ret_changed, &again, e);
        place_close(&p);
    } while (ok && again);
    return ok;
}
