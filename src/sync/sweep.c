/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/sweep.h"

#include <dirent.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "sync/rewrite.h"

static void sweep_children(struct arena *a, const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    for (struct dirent *entry; d && n < SWEEP_MAX_DIRS && (entry = readdir(d));) {
        if (entry->d_name[0] == '.' || !file_entry_is_dir(d, entry))
            continue;
        file_sweep_temps(path_join(a, dir, entry->d_name));
        n++;
    }
    if (d)
        closedir(d);
}

void sync_sweep(const struct dirs *dirs)
{
    auto_arena a = ARENA;
    const struct {
        const char *dir;
        bool children; /* its files lie one level below */
    } places[] = {
        { path_join(&a, dirs->cache, "workspaces"), true },
        { path_join(&a, dirs->cache, "predicates"), false },
        { path_join(&a, dirs->cache, "tools"), false },
        { path_join(&a, dirs->cache, "binaries/.done"), false },
        { path_join(&a, dirs->state, "backups"), true },
        { path_join(&a, dirs->state, "imports"), true },
        { dirs->state, false },
    };

    rewrite_recover(dirs);
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (places[i].children)
            sweep_children(&a, places[i].dir);
        else
            file_sweep_temps(places[i].dir);
}
