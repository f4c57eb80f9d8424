/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fetched.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "base/path.h"
#include "common/scratch.h"
#include "name.h"
#include "places.h"
#include "text/semver.h"

#define HOME "plugins/npm"

const char *fetched_dir(struct arena *a, const char *cache_dir, struct str name,
                        struct str version)
{
    return arena_printf(a, "%s/" HOME "/%.*s/%.*s", cache_dir, STR_F(name), STR_F(version));
}

static struct str highest(struct str a, struct str b)
{
    struct semver x, y;

    if (a.n == 0 || !semver_parse(&x, a, NULL) || !semver_parse(&y, b, NULL))
        return b;
    return semver_cmp(&x, &y) >= 0 ? a : b;
}

static struct str best_version(struct arena *a, const char *home, struct str wanted)
{
    struct str best = { 0 };
    struct dirent *d;
    DIR *stream = opendir(home);

    if (!stream)
        return best;
    for (int i = 0; i < FETCHED_MAX_VERSIONS && (d = readdir(stream)); i++)
        if (npm_version_ok(str_of(d->d_name)) && id_fits(wanted, str_of(d->d_name), true))
            best = highest(best, arena_str(a, str_of(d->d_name)));
    closedir(stream);
    return best;
}

bool fetched_find(struct inputs *in, const char *cache_dir, const struct id *id,
                  struct installed *ret)
{
    struct arena *a = in->arena;
    struct str version = id->version;

    if (!cache_dir || !npm_name_ok(id->name))
        return false;
    if (npm_version_ok(version) &&
        installed_read(in, fetched_dir(a, cache_dir, id->name, version), ret))
        return true;
    version = best_version(a, fetched_dir(a, cache_dir, id->name, STR("")), version);
    return version.n && installed_read(in, fetched_dir(a, cache_dir, id->name, version), ret);
}

const char *fetched_temp(struct arena *a, const char *cache_dir, struct error *e)
{
    return scratch_new(a, path_join(a, cache_dir, HOME), ".fetch-", e);
}

bool fetched_keep(struct arena *a, const char *cache_dir, const char *dir,
                  const struct installed *package, struct error *e)
{
    const char *to = fetched_dir(a, cache_dir, package->name, package->version);

    if (!file_mkdirs(path_dir(a, to), e))
        return false;
    if (rename(dir, to) == 0 || errno == EEXIST || errno == ENOTEMPTY)
        return true;
    return error_set(e, ERR_SYS, "directory '%s'", to);
}
