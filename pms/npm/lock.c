/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lock.h"

#include "name.h"

#define MAX_LOCATION 8192 /* bytes; a longer one is none */

static bool add_entries(struct npm_lock *l, yyjson_val *table, const char *prefix,
                        struct error *e)
{
    auto_buf location = BUF(MAX_LOCATION);

    for (struct json_iter it = json_iter(table); json_next(&it);) {
        if (it.i > LOCK_MAX_ENTRIES)
            return error_set(e, ERR_LIMIT, "more than %d packages", LOCK_MAX_ENTRIES);
        buf_clear(&location);
        buf_addz(&location, prefix);
        buf_add(&location, it.key);
        if (json_is_obj(it.val) && buf_ok(&location, NULL))
            map_put(&l->entries, buf_str(&location), it.val);
    }
    return true;
}

bool lock_parse(struct npm_lock *ret, struct str text, struct error *e)
{
    yyjson_val *packages, *dependencies;
    bool ok;

    *ret = (struct npm_lock){ 0 };
    if (!json_parse(&ret->doc, text, e))
        return false;
    packages = json_get(ret->doc.root, "packages");
    dependencies = json_get(ret->doc.root, "dependencies");
    ret->v1 = !json_is_obj(packages);
    if (!ret->v1)
        ok = add_entries(ret, packages, "", e);
    else if (json_is_obj(dependencies))
        ok = add_entries(ret, dependencies, "node_modules/", e);
    else if (json_is_num(json_get(ret->doc.root, "lockfileVersion")))
        ok = true; /* nothing is installed */
    else
        ok = error_set(e, ERR_INVALID, "neither 'packages' nor 'dependencies' is an object");
    if (!ok)
        lock_free(ret);
    return ok;
}

void lock_free(struct npm_lock *l)
{
    map_free(&l->entries);
    json_free(&l->doc);
}

static struct str version_or_none(struct str text)
{
    return npm_version_ok(text) ? text : (struct str){ 0 };
}

static struct str first_of(struct str a, struct str b)
{
    return a.n ? a : b;
}

/* "1.2.3", "npm:real@1.2.3", "file:../dir", or an address. */
static void read_v1(yyjson_val *v, struct str key, struct lock_entry *ret)
{
    struct str text = json_str(json_get(v, "version"));
    struct npm_spec spec = npm_spec_read(text);

    ret->name = first_of(spec.real, key);
    ret->is_link = spec.path.n > 0;
    ret->target = spec.path;
    if (spec.real.n) /* "npm:", the name, '@' */
        text = str_from(text, 4 + spec.real.n + 1);
    ret->version = version_or_none(text);
}

static struct str strip_file(struct str s)
{
    return str_starts(s, STR("file:")) ? str_from(s, 5) : s;
}

static void read_v2(const struct npm_lock *l, yyjson_val *v, struct str key,
                    struct lock_entry *ret)
{
    ret->name = json_str(json_get(v, "name"));
    ret->is_link = json_is_true(json_get(v, "link"));
    if (ret->is_link) {
        ret->target = strip_file(json_str(json_get(v, "resolved")));
        v = map_get(&l->entries, ret->target);
    }
    ret->name = first_of(first_of(ret->name, json_str(json_get(v, "name"))), key);
    ret->version = version_or_none(json_str(json_get(v, "version")));
}

/* Removes the last component; false at the root. */
static bool go_up(struct str *location)
{
    if (location->n == 0)
        return false;
    while (location->n && location->p[location->n - 1] != '/')
        location->n--;
    if (location->n)
        location->n--;
    return true;
}

static yyjson_val *find_at(const struct npm_lock *l, struct str location, struct str key)
{
    auto_buf path = BUF(MAX_LOCATION);

    buf_add(&path, location);
    buf_addz(&path, location.n ? "/node_modules/" : "node_modules/");
    buf_add(&path, key);
    return buf_ok(&path, NULL) ? map_get(&l->entries, buf_str(&path)) : NULL;
}

bool lock_find(const struct npm_lock *l, struct str from, struct str key,
               struct lock_entry *ret)
{
    yyjson_val *v;

    do {
        v = find_at(l, from, key);
    } while (!v && go_up(&from));
    if (!v)
        return false;
    *ret = (struct lock_entry){ 0 };
    if (l->v1)
        read_v1(v, key, ret);
    else
        read_v2(l, v, key, ret);
    return true;
}
