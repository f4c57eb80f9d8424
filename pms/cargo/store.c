/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "checkout.h"
#include "lock.h"
#include "name.h"
#include "shelf.h"
#include "text/url.h"

struct store {
    char *home;
    struct catalog *catalog;
    struct shelf *shelf;
    struct checkouts *checkouts;
};

struct store *store_new(const char *workspace, const char *home)
{
    struct store *s = NEW(struct store);

    s->home = mem_strdup(home);
    s->catalog = catalog_new(workspace);
    s->shelf = shelf_new(home);
    s->checkouts = checkouts_new(home);
    return s;
}

void store_free(struct store *s)
{
    if (!s)
        return;
    catalog_free(s->catalog);
    shelf_free(s->shelf);
    checkouts_free(s->checkouts);
    free(s->home);
    free(s);
}

void store_refresh(struct store *s)
{
    bool anew = catalog_refresh(s->catalog);

    shelf_refresh(s->shelf, catalog_roots(s->catalog), anew);
}

void store_renew(struct store *s)
{
    checkouts_free(s->checkouts);
    s->checkouts = checkouts_new(s->home);
    store_refresh(s);
}

/* ---- what is wanted ---- */

struct wanted {
    struct str text;       /* of the version */
    bool any, exact;       /* "*"; a whole version */
    struct semver_req req; /* an exact one as a caret */
    enum strictness how;
};

static bool read_wanted(struct wanted *ret, const struct id *id, enum strictness how,
                        struct error *e)
{
    struct semver v;

    *ret = (struct wanted){ .text = str_trim(id->version), .how = how };
    ret->exact = semver_parse(&v, ret->text, NULL);
    if (!semver_req_parse(&ret->req, ret->text, e))
        return error_wrap(e, "'%.*s': version '%.*s'", STR_F(id->name),
                          STR_F(str_upto(id->version, SEMVER_TEXT_MAX)));
    ret->any = ret->req.n == 0;
    return true;
}

static bool fits(const struct wanted *w, struct str version)
{
    struct semver v;

    return semver_parse(&v, version, NULL) && semver_req_fits(&w->req, &v);
}

static bool is_higher(struct str version, struct str than)
{
    struct semver a, b;

    if (!semver_parse(&a, version, NULL))
        return false;
    return !semver_parse(&b, than, NULL) || semver_cmp(&a, &b) > 0;
}

/* ---- of the workspace ---- */

/* At a path before elsewhere, a direct dependency before others if any version will do, then
 * the highest. */
static bool is_better(const struct known *k, const struct known *than, const struct wanted *w)
{
    if (!than)
        return true;
    if (w->any && k->direct != than->direct)
        return k->direct;
    if (str_eq(k->version, than->version))
        return k->path && !than->path;
    return is_higher(k->version, than->version);
}

static const struct known *choose_known(const struct known *first, const struct wanted *w,
                                        bool exactly)
{
    const struct known *best = NULL;

    for (const struct known *k = first; k; k = k->same_name) {
        bool good = exactly ? str_eq(k->version, w->text) : w->any || fits(w, k->version);

        if (good && is_better(k, best, w))
            best = k;
    }
    return best;
}

static const struct known *find_known(struct store *s, const struct id *id,
                                      const struct wanted *w)
{
    const struct known *first = catalog_find(s->catalog, id->name), *found = NULL;

    if (w->exact)
        found = choose_known(first, w, true);
    if (!found && !(w->exact && w->how == STRICT))
        found = choose_known(first, w, false);
    return found;
}

/* ---- on the disk ---- */

/* "registry+https://host/path" is kept below registry/src/host-hash; what comes from the
 * default registry may have come by another host, or by a mirror. */
static bool is_of_registry(const struct shelved *e, struct str source)
{
    struct str kind, url, host;

    if (!str_cut(source, '+', &kind, &url))
        return false;
    host = url_split(url).authority;
    return host.n && e->registry.n > host.n && str_starts(e->registry, host) &&
           e->registry.p[host.n] == '-';
}

static const struct shelved *find_shelved(const struct store *s, const struct known *k)
{
    bool anywhere = k->source.n == 0 || lock_is_default(k->source);
    const struct shelved *best = NULL;

    for (const struct shelved *e = shelf_find(s->shelf, k->name); e; e = e->same_name) {
        if (!str_eq(e->version, k->version) || !str_eq(e->name, k->name))
            continue;
        if (is_of_registry(e, k->source))
            return e;
        if (e->registry.n && !anywhere)
            continue; /* a namesake */
        if (!best)
            best = e;
    }
    return best;
}

bool store_locate(struct store *s, const struct known *k, struct crate *ret)
{
    const struct shelved *shelved = NULL;
    const char *dir = k->path;

    if (!dir && str_starts(k->source, STR("git+")))
        dir = checkouts_find(s->checkouts, k);
    if (!dir)
        shelved = find_shelved(s, k);
    if (shelved)
        dir = shelved->dir;
    if (!dir || strcmp(dir, "/") == 0)
        return false;
    *ret = (struct crate){ { STR("cargo"), k->name, k->version }, dir };
    return true;
}

static const struct shelved *choose_shelved(const struct store *s, struct str name,
                                            const struct wanted *w, bool exactly)
{
    const struct shelved *best = NULL;

    for (const struct shelved *e = shelf_find(s->shelf, name); e; e = e->same_name)
        if ((exactly ? str_eq(e->version, w->text) : fits(w, e->version)) &&
            (!best || is_higher(e->version, best->version)))
            best = e;
    return best;
}

static bool take_shelved(const struct shelved *e, struct crate *ret)
{
    if (e)
        *ret = (struct crate){ { STR("cargo"), e->name, e->version }, e->dir };
    return e != NULL;
}

bool store_fallback(struct store *s, const struct id *id, struct crate *ret, struct error *e)
{
    struct wanted w;

    if (!read_wanted(&w, id, LENIENT, e))
        return false;
    return take_shelved(choose_shelved(s, id->name, &w, false), ret) ||
           error_set(e, ERR_NOT_FOUND, "'%.*s %.*s' is not in cargo's caches", STR_F(id->name),
                     STR_F(id->version));
}

/* ---- both ---- */

static struct str exactly(struct arena *a, struct str version)
{
    return str_of(arena_printf(a, "=%.*s", STR_F(version)));
}

/* As Cargo.toml takes it, which knows no "==". */
static struct str as_requirement(struct arena *a, struct str text)
{
    char *out = arena_z(a, text);
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        if (i == 0 || text.p[i] != '=' || text.p[i - 1] != '=')
            out[n++] = text.p[i];
    return (struct str){ out, n };
}

/* A name may come from anywhere; a name that is no crate's is asked for nowhere. */
static void set_need(struct need *need, struct arena *a, const struct id *id,
                     const struct wanted *w, const struct known *k)
{
    *need = (struct need){ 0 };
    if (!name_is_sound(k ? k->name : id->name))
        return;
    if (k)
        *need = (struct need){ arena_str(a, k->name), exactly(a, k->version),
                               arena_str(a, k->source), arena_str(a, k->commit) };
    else
        *need = (struct need){ .name = id->name,
                               .requirement = w->exact ? exactly(a, w->text)
                                                       : as_requirement(a, w->text) };
}

bool store_find(struct store *s, struct arena *a, const struct id *id, enum strictness how,
                struct crate *ret, struct need *need, struct error *e)
{
    struct wanted w;
    const struct known *k;

    if (!read_wanted(&w, id, how, e))
        return false;
    k = find_known(s, id, &w);
    if (k ? store_locate(s, k, ret)
          : take_shelved(choose_shelved(s, id->name, &w, w.exact), ret))
        return true;
    set_need(need, a, id, &w, k);
    return error_set(e, ERR_NOT_FOUND, "'%.*s %.*s' is not in cargo's caches", STR_F(id->name),
                     STR_F(k ? k->version : id->version));
}
