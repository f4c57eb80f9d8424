/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/offer.h"

#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "plugins/atom.h"
#include "plugins/manifest.h"
#include "text/semver.h"

#define SHOWN 120 /* bytes of what an offer says that a message quotes */

struct str package_text(struct arena *a, const struct package_id *id)
{
    return str_of(arena_printf(a, "%.*s%s%.*s%s%.*s", STR_F(id->pm), id->pm.n ? ":" : "",
                               STR_F(id->name), id->version.n ? " " : "", STR_F(id->version)));
}

/* ---- the root ---- */

static bool has_dot_dot(struct str path)
{
    struct str part, rest = path;

    while (str_next(&rest, '/', &part))
        if (str_is(part, ".."))
            return true;
    return false;
}

static const char *bad_root(struct error *e, enum err_kind kind, struct str root,
                            const char *why)
{
    error_set(e, kind, "its root '%.*s' %s", STR_F(utf8_cut(root, SHOWN)), why);
    return NULL;
}

/* The root as a path that may be looked at; NULL: *e says why not. */
static const char *clean_root(struct arena *a, struct str root, struct error *e)
{
    const char *path;

    if (!root.n || root.p[0] != '/' || memchr(root.p, '\0', root.n))
        return bad_root(e, ERR_INVALID, root, "is no absolute path");
    if (has_dot_dot(root))
        return bad_root(e, ERR_INVALID, root, "holds '..'");
    path = path_clean(a, arena_z(a, root));
    return strcmp(path, "/") == 0 ? bad_root(e, ERR_INVALID, root, "is the whole system")
                                  : path;
}

const char *offer_root(struct arena *a, struct str root, struct error *e)
{
    const char *path = clean_root(a, root, e), *real = NULL;
    struct stat st;

    if (!path)
        return NULL;
    if (lstat(path, &st) != 0)
        bad_root(e, ERR_NOT_FOUND, root, "is not there");
    else if (S_ISLNK(st.st_mode))
        bad_root(e, ERR_INVALID, root, "is a symbolic link; a root is a real directory");
    else if (!S_ISDIR(st.st_mode))
        bad_root(e, ERR_INVALID, root, "is no directory");
    else if (!(real = path_real(a, path, NULL)))
        bad_root(e, ERR_NOT_FOUND, root, "is not there");
    return real;
}

/* ---- the id ---- */

static bool fits(struct str version, struct str requirement)
{
    struct semver_req req;
    struct semver v;

    if (!requirement.n || str_is(requirement, "*") || str_eq(requirement, version))
        return true;
    return semver_req_parse(&req, requirement, NULL) && semver_parse(&v, version, NULL) &&
           semver_req_fits(&req, &v);
}

bool offer_answers(const struct package_offer *o, const struct package_id *asked,
                   struct error *e)
{
    auto_arena a = ARENA;

    if ((!asked->pm.n || str_eq(asked->pm, o->id.pm)) &&
        dep_name_eq(o->id.pm, asked->name, o->id.name) && fits(o->id.version, asked->version))
        return true;
    return error_set(e, ERR_PROTOCOL, "it answers with '%.*s', which is not '%.*s'",
                     STR_F(utf8_cut(package_text(&a, &o->id), SHOWN)),
                     STR_F(utf8_cut(package_text(&a, asked), SHOWN)));
}

/* ---- the plugin ---- */

/* Of the manifest as it was said: what consent is for. Empty when that is too long to be one.
 */
static struct str text_sum(struct arena *a, yyjson_val *manifest)
{
    auto_buf text = BUF(OFFER_MAX_MANIFEST);
    char hex[SHA256_HEX_SIZE];

    if (manifest)
        json_put_val(&text, manifest);
    if (!buf_ok(&text, NULL))
        return (struct str){ 0 };
    sha256_hex(buf_str(&text), hex);
    return arena_str(a, str_of(hex));
}

struct plugin *offer_plugin(struct arena *a, const struct package_offer *o, struct error *e)
{
    const char *root = offer_root(a, o->root, e);
    struct manifest_source src = { .origin = ORIGIN_PACKAGE,
                                   .registry = arena_str(a, o->id.pm),
                                   .dir = str_of(root),
                                   .fallback_name = arena_str(a, o->id.name) };
    struct plugin *p;

    if (!root)
        return NULL;
    if (!o->manifest || json_is_null(o->manifest))
        p = manifest_defaults(a, &src);
    else
        p = manifest_from_json(a, o->manifest, &src, e);
    if (!p) {
        error_wrap(e, "its manifest, in '%s'", root);
        return NULL;
    }
    p->manifest_sha256 = text_sum(a, o->manifest);
    p->package = src.fallback_name;
    p->version = arena_str(a, o->id.version);
    return p;
}
