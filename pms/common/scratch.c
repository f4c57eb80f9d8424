/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/tree.h"

#define RANDOM "XXXXXX"

/* The place may be /tmp: only what is ours, by owner and name, and old. */
static bool is_stale(int place, const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    struct stat st;

    return strncmp(name, prefix, n) == 0 && strlen(name) == n + strlen(RANDOM) &&
           fstatat(place, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid() && time(NULL) - st.st_mtim.tv_sec > SCRATCH_STALE_SECS;
}

static void sweep(const char *place, const char *prefix)
{
    DIR *stream = opendir(place);
    struct dirent *entry;
    int seen = 0, swept = 0;

    if (!stream)
        return;
    while (swept < SCRATCH_MAX_SWEPT && seen++ < SCRATCH_MAX_ENTRIES &&
           (entry = readdir(stream)))
        if (is_stale(dirfd(stream), entry->d_name, prefix)) {
            log_debug("'%s/%s' is left from a killed run: removed", place, entry->d_name);
            tree_remove(dirfd(stream), entry->d_name);
            swept++;
        }
    closedir(stream);
}

const char *scratch_new(struct arena *a, const char *place, const char *prefix, struct error *e)
{
    char *dir = arena_printf(a, "%s/%s" RANDOM, place, prefix);

    if (!file_mkdirs(place, e))
        return NULL;
    sweep(place, prefix);
    if (mkdtemp(dir))
        return dir;
    error_set(e, ERR_SYS, "directory '%s'", dir);
    return NULL;
}

void scratch_remove(const char *dir)
{
    if (dir && !tree_remove(AT_FDCWD, dir))
        log_warn("'%s' could not be removed", dir);
}
