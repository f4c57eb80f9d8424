/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/locate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"

static const char *const builtin[] = { "cargo", "npm" };

bool pm_is_builtin(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(builtin); i++)
        if (str_is(name, builtin[i]))
            return true;
    return false;
}

bool pm_concerns(struct str name, const struct workspace *w)
{
    if (str_is(name, "cargo"))
        return w->cargo;
    if (str_is(name, "npm"))
        return w->npm;
    return true;
}

static bool has_program(const struct pm_programs *l, struct str name)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_is(name, l->v[i].name))
            return true;
    return false;
}

static const char *own_dir(struct arena *a)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);

    if (n <= 0 || (size_t)n == sizeof path)
        return NULL;
    return path_dir(a, arena_z(a, (struct str){ path, (size_t)n }));
}

static const char *find_builtin(struct arena *a, const char *name)
{
    const char *file = arena_printf(a, "symposium-pm-%s", name), *dir = own_dir(a),
               *found = NULL;

    if (dir)
        found = path_search(a, path_join(a, dir, file), NULL);
    return found ? found : path_search(a, file, getenv("PATH"));
}

static void add_builtin(struct pm_programs *ret, struct arena *a, const char *name)
{
    struct pm_program p = { .name = name, .file = find_builtin(a, name) };
    const char **argv = ARENA_ARRAY(a, const char *, 2);

    argv[0] = p.file;
    if (p.file)
        p.argv = argv;
    else
        p.problem = str_of(arena_printf(
            a,
            "package manager '%s': 'symposium-pm-%s' is neither next to symposium nor in "
            "PATH; install it there",
            name, name));
    ARENA_PUSH(a, ret) = p;
}

/* An entry as the only installation of a plugin whose manifest is config.toml. */
bool pm_install_plan(struct install_plan *ret, struct arena *a, const struct dirs *dirs,
                     const struct pm_config *c, struct error *e)
{
    struct plugin *owner = ARENA_NEW(a, struct plugin);
    struct installation how = c->how;

    how.name = c->name;
    how.requirements = (struct strs){ 0 };
    owner->name = c->name;
    owner->dir = str_of(dirs->config);
    ARENA_PUSH(a, &owner->installations) = how;
    return install_plan_make(ret, a, owner, &(struct install_use){ .name = c->name }, e);
}

/* Relative to the directory of config.toml; a bare name that is not there is searched in PATH.
 */
static const char *find_file(struct arena *a, const struct dirs *dirs, struct str text)
{
    const char *name = arena_z(a, text),
               *path = path_clean(a, path_join(a, dirs->config, name));

    if (strchr(name, '/') || file_exists(path))
        return path;
    return path_search(a, name, getenv("PATH"));
}

static const char *const *make_argv(struct arena *a, const struct pm_program *p,
                                    const struct installation *how)
{
    const char **argv = ARENA_ARRAY(a, const char *, how->args.n + 3), **at = argv;

    if (how->script.n && access(p->file, X_OK) != 0)
        *at++ = "sh";
    *at++ = p->file;
    for (size_t i = 0; i < how->args.n; i++)
        *at++ = arena_z(a, how->args.v[i]);
    return argv;
}

static bool acquires(const struct installation *how)
{
    return how->source != INSTALL_NONE || how->install_commands.n;
}

/* What was acquired, as it is there now. */
static void find_acquired(struct pm_program *p, struct arena *a, const struct dirs *dirs,
                          const struct pm_config *c)
{
    struct install_plan plan;
    struct strs words = { 0 };
    struct error why = { 0 };
    const char **argv;

    if (!pm_install_plan(&plan, a, dirs, c, &why) ||
        !install_plan_argv(a, &plan, dirs->cache, &words, &why)) {
        p->problem = str_of(arena_printf(a, "package manager '%s': %s", p->name, why.msg));
        return;
    }
    p->argv = argv = ARENA_ARRAY(a, const char *, words.n + 1);
    for (size_t i = 0; i < words.n; i++)
        argv[i] = arena_z(a, words.v[i]);
    p->file = c->how.script.n && str_is(words.v[0], "/bin/sh") ? argv[1] : argv[0];
}

static void add_configured(struct pm_programs *ret, struct arena *a, const struct dirs *dirs,
                           const struct pm_config *c)
{
    struct pm_program p = { .name = arena_z(a, c->name), .pass_env = &c->pass_env };
    struct str file = c->how.script.n ? c->how.script : c->how.executable;

    if (acquires(&c->how))
        find_acquired(&p, a, dirs, c);
    else if (file.n)
        p.file = find_file(a, dirs, file);
    if (p.file && !p.argv)
        p.argv = make_argv(a, &p, &c->how);
    else if (p.file || p.problem.n)
        ; /* acquired, or why not */
    else if (file.n)
        p.problem = str_of(arena_printf(a, "package manager '%s': '%.*s' is not in PATH",
                                        p.name, STR_F(file)));
    else
        p.problem = str_of(arena_printf(
            a, "package manager '%s': neither 'executable' nor 'script' is set in config.toml",
            p.name));
    ARENA_PUSH(a, ret) = p;
}

static int by_name(const void *a, const void *b)
{
    const struct pm_program *x = a, *y = b;

    return strcmp(x->name, y->name);
}

void pm_locate(struct pm_programs *ret, struct arena *a, const struct dirs *dirs,
               const struct config *config, const struct workspace *workspace)
{
    *ret = (struct pm_programs){ 0 };
    for (size_t i = 0; i < config->pms.n; i++) {
        const struct pm_config *c = &config->pms.v[i];

        if (!has_program(ret, c->name) && pm_concerns(c->name, workspace))
            add_configured(ret, a, dirs, c);
    }
    for (size_t i = 0; i < ARRAY_LEN(builtin); i++)
        if (!has_program(ret, str_of(builtin[i])) && pm_concerns(str_of(builtin[i]), workspace))
            add_builtin(ret, a, builtin[i]);
    if (ret->n)
        qsort(ret->v, ret->n, sizeof *ret->v, by_name);
}
