/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/tree.h"
#include "pm/git_program.h"
#include "text/json.h"

#define MAX_PACK_FILES 1000

void place_of(struct place *ret, struct arena *a, const char *cache_dir,
              const struct git_source *s)
{
    const char *lock = checkout_lock_path(a, cache_dir, s),
               *build = path_join(a, cache_dir,
                                  arena_printf(a, "plugin-sources/.new/%.*s", STR_F(s->key)));

    *ret = (struct place){ .dir = checkout_dir(a, cache_dir, s),
                           .lock = lock,
                           .fetch_lock = arena_printf(a, "%s.fetch", lock),
                           .build = build,
                           .git_dir = path_join(a, build, "git"),
                           .tree = path_join(a, build, "tree") };
}

static int open_lock(const char *path, struct error *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        error_set(e, ERR_SYS, "cannot open '%s'", path);
    return fd;
}

int place_open_lock(const struct place *p, struct error *e)
{
    auto_arena a = ARENA;

    if (!file_mkdirs(path_dir(&a, p->lock), e) || !file_mkdirs(path_dir(&a, p->build), e))
        return -1;
    return open_lock(p->fetch_lock, e);
}

void place_clear(const struct place *p)
{
    if (!tree_remove(AT_FDCWD, p->build) && errno != ENOENT)
        log_debug("'%s' is not removed: %m", p->build);
}

bool place_prepare(const struct place *p, struct error *e)
{
    auto_arena a = ARENA;
    const char *info = path_join(&a, p->git_dir, "info");

    place_clear(p);
    if (file_exists(p->build))
        return error_set(e, ERR_SYS, "what an earlier fetch left in '%s' cannot be removed",
                         p->build);
    return file_mkdirs(info, e) && file_mkdirs(p->tree, e) &&
           file_write_cache(path_join(&a, info, "attributes"), str_of(git_plain_attributes), e);
}

uint64_t place_received(const struct place *p)
{
    auto_arena a = ARENA;
    DIR *d = opendir(path_join(&a, p->git_dir, "objects/pack"));
    uint64_t bytes = 0;
    struct dirent *ent;

    for (int n = 0; d && n < MAX_PACK_FILES && (ent = readdir(d)); n++) {
        struct stat st;

        if (fstatat(dirfd(d), ent->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode))
            bytes += (uint64_t)st.st_size;
    }
    if (d)
        closedir(d);
    return bytes;
}

static void put_time(struct jw *w, const char *key)
{
    char text[32];
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    jw_kstrz(w, key, text);
}

bool place_write_meta(const struct place *p, const struct git_source *s, struct str commit,
                      struct error *e)
{
    auto_arena a = ARENA;
    auto_buf text = BUF(CHECKOUT_META_MAX);
    const char *path = path_join(&a, p->tree, CHECKOUT_META);
    struct jw w = jw_to(&text);

    jw_obj(&w);
    jw_kstr(&w, "commit_sha", commit);
    put_time(&w, "fetched_at");
    jw_kstr(&w, "source_url", s->shown);
    jw_end(&w);
    buf_addc(&text, '\n');
    if (unlink(path) != 0 && errno != ENOENT)
        tree_remove(AT_FDCWD, path);
    return buf_ok(&text, e) && file_write_cache(path, buf_str(&text), e);
}

enum place_swap place_exchange(const struct place *p, struct error *e)
{
    auto_close int fd = open_lock(p->lock, e);

    if (fd < 0)
        return PLACE_FAILED;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return PLACE_BUSY;
    return tree_exchange(p->tree, p->dir, e) ? PLACE_SWAPPED : PLACE_FAILED;
}
