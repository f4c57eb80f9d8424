/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/log_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#define SEEN_MAX 10000 /* files looked at; what is left over waits for the next run */

struct log_file {
    const char *name;
    int64_t mtime_ns;
};

struct log_files {
    struct arena a;
    struct log_file *v;
    size_t n, cap;
};

/* '0' stands for any digit; a rotated file's number may follow (".1"). */
static bool is_ours(const char *name)
{
    static const char form[] = "symposium-00000000-000000.log";
    size_t i;

    for (i = 0; form[i]; i++) {
        bool digit = name[i] >= '0' && name[i] <= '9';

        if (form[i] == '0' ? !digit : name[i] != form[i])
            return false;
    }
    if (name[i] == '.' && name[i + 1])
        i += 1 + strspn(name + i + 1, "0123456789");
    return !name[i];
}

static int newest_first(const void *a, const void *b)
{
    const struct log_file *x = a, *y = b;

    if (x->mtime_ns != y->mtime_ns)
        return x->mtime_ns < y->mtime_ns ? 1 : -1;
    return strcmp(y->name, x->name);
}

static void see(struct log_files *files, int dir, const char *name)
{
    struct stat st;

    if (!is_ours(name) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(st.st_mode))
        return;
    ARENA_PUSH(&files->a, files) = (struct log_file){
        .name = arena_z(&files->a, str_of(name)),
        .mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
    };
}

/* Failures leave a file too many, which the next run looks at again. */
static void remove_oldest(const char *path)
{
    struct log_files files = { 0 };
    DIR *dir = opendir(path);
    struct dirent *d;

    if (!dir)
        return;
    while (files.n < SEEN_MAX && (d = readdir(dir)))
        see(&files, dirfd(dir), d->d_name);
    if (files.n)
        qsort(files.v, files.n, sizeof *files.v, newest_first);
    for (size_t i = LOG_DIR_KEPT; i < files.n; i++)
        unlinkat(dirfd(dir), files.v[i].name, 0);
    arena_free(&files.a);
    closedir(dir);
}

bool log_to_dir(const char *dir, struct error *e)
{
    time_t now = (time_t)(clock_wall_ms() / 1000);
    char name[64];
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(name, sizeof name, "symposium-%Y%m%d-%H%M%S.log", &tm);
    auto_free char *path = mem_printf("%s/%s", dir, name);
    if (!file_mkdirs(dir, e) || !log_to_file(path, e))
        return false;
    remove_oldest(dir);
    return true;
}
