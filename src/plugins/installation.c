/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/installation.h"

#include <unistd.h>

#include "base/file.h"
#include "base/path.h"

static const struct installation *find(const struct plugin *owner, struct str name)
{
    for (size_t i = 0; i < owner->installations.n; i++)
        if (str_eq(owner->installations.v[i].name, name))
            return &owner->installations.v[i];
    return NULL;
}

static bool acquires(const struct installation *in, const char **ret_key)
{
    if (in->source != INSTALL_NONE)
        *ret_key = "source";
    else if (in->requirements.n)
        *ret_key = "requirements";
    else if (in->install_commands.n)
        *ret_key = "install_commands";
    else
        return false;
    return true;
}

static void add_program(struct arena *a, const struct plugin *owner,
                        const struct installation *in, struct strs *ret)
{
    struct str as_written = in->script.n ? in->script : in->executable;
    const char *path = path_join(a, arena_z(a, owner->dir), arena_z(a, as_written));

    if (in->script.n && access(path, X_OK) != 0)
        ARENA_PUSH(a, ret) = STR("/bin/sh");
    if (!in->script.n && str_find_char(as_written, '/') == SIZE_MAX && !file_exists(path))
        ARENA_PUSH(a, ret) = as_written;
    else
        ARENA_PUSH(a, ret) = str_of(path);
}

bool installation_argv(struct arena *a, const struct plugin *owner, struct str name,
                       struct strs *ret, struct error *e)
{
    const struct installation *in = find(owner, name);
    const char *key;

    if (!in)
        return error_set(e, ERR_NOT_FOUND, "references unknown installation '%.*s'",
                         STR_F(name));
    if (acquires(in, &key))
        return error_set(e, ERR_DENIED, "installation '%.*s': '%s' is not supported yet",
                         STR_F(name), key);
    if (!in->executable.n && !in->script.n)
        return error_set(e, ERR_INVALID,
                         "installation '%.*s' has no 'executable' or 'script' to run",
                         STR_F(name));
    add_program(a, owner, in, ret);
    for (size_t i = 0; i < in->args.n; i++)
        ARENA_PUSH(a, ret) = in->args.v[i];
    return true;
}
