/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "installed.h"

#include <string.h>

#include "base/log.h"
#include "base/path.h"
#include "name.h"

static bool read_package(struct inputs *in, const char *dir, struct installed *ret)
{
    auto_json doc = { 0 };
    struct error why = { 0 };
    struct str name, version;
    const char *real;

    if (!package_json_read(in, path_join(in->arena, dir, "package.json"), &doc, &why)) {
        if (why.kind == ERR_NOT_FOUND)
            return false;
        log_warn("%s", why.msg);
    }
    real = path_real(in->arena, dir, NULL);
    if (!real)
        return false;
    *ret = (struct installed){ .dir = real };
    name = json_str(json_get(doc.root, "name"));
    version = json_str(json_get(doc.root, "version"));
    if (npm_name_ok(name))
        ret->name = arena_str(in->arena, name);
    if (npm_version_ok(version))
        ret->version = arena_str(in->arena, version);
    return true;
}

bool installed_read(struct inputs *in, const char *dir, struct installed *ret)
{
    const char *known = inputs_foreign(in);
    bool found = read_package(in, dir, ret);

    in->known_root = known;
    return found;
}

bool installed_find(struct inputs *in, const struct lookup *look, struct installed *ret)
{
    struct arena *a = in->arena;
    const char *rel = path_join(a, "node_modules", arena_z(a, look->key));

    for (const char *dir = look->from;; dir = path_dir(a, dir)) {
        if (installed_read(in, path_join(a, dir, rel), ret))
            return true;
        if (strcmp(dir, look->root) == 0 || strcmp(dir, "/") == 0)
            return false;
    }
}
