/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/dirs.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"

/* One row of CF-1: where XDG puts it, and its place below the config directory otherwise. */
struct row {
    const char *xdg_var, *xdg_sub, *config_sub;
};

static const struct row cache_row = { "XDG_CACHE_HOME", "symposium", "cache" };
static const struct row logs_row = { "XDG_STATE_HOME", "symposium/logs", "logs" };
static const struct row state_row = { "XDG_STATE_HOME", "symposium", "state" };

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* The base-directory rules tell programs to ignore relative values. */
static const char *xdg_variable(const char *name)
{
    const char *value = variable(name);

    return value && path_is_abs(value) ? value : NULL;
}

static const char *absolute(struct arena *a, const char *path)
{
    auto_free char *cwd = NULL;

    if (path_is_abs(path))
        return path_clean(a, path);
    cwd = getcwd(NULL, 0);
    return cwd ? path_clean(a, path_join(a, cwd, path)) : NULL;
}

const char *dirs_home(struct arena *a)
{
    const char *home = variable("HOME");
    const struct passwd *user = home ? NULL : getpwuid(getuid());

    if (user && user->pw_dir && user->pw_dir[0])
        home = user->pw_dir;
    return home ? arena_z(a, str_of(home)) : NULL;
}

static const char *find_config(struct arena *a, const char *home)
{
    const char *xdg = xdg_variable("XDG_CONFIG_HOME"), *user;

    if (home)
        return home;
    if (xdg)
        return path_clean(a, path_join(a, xdg, "symposium"));
    user = dirs_home(a);
    return user ? absolute(a, path_join(a, user, ".symposium")) : NULL;
}

static const char *find_row(struct arena *a, const struct row *row, const char *home,
                            const char *config)
{
    const char *xdg = xdg_variable(row->xdg_var);

    if (!home && xdg)
        return path_clean(a, path_join(a, xdg, row->xdg_sub));
    return path_join(a, config, row->config_sub);
}

bool dirs_find(struct dirs *ret, struct arena *a, struct error *e)
{
    const char *given = variable("SYMPOSIUM_HOME");
    const char *home = given ? absolute(a, given) : NULL;
    const char *config = find_config(a, home);

    if (!config)
        return error_set(e, ERR_NOT_FOUND,
                         "no directory for symposium's files: none of SYMPOSIUM_HOME, "
                         "XDG_CONFIG_HOME and HOME is set, and this user has no home");
    *ret = (struct dirs){
        .config = config,
        .cache = find_row(a, &cache_row, home, config),
        .logs = find_row(a, &logs_row, home, config),
        .state = find_row(a, &state_row, home, config),
    };
    return true;
}
