/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "text/json.h"

const char *trust_path(const struct dirs *dirs, struct arena *a)
{
    return path_join(a, dirs->state, "trusted.json");
}

static struct str copy(struct arena *a, yyjson_val *v)
{
    return arena_str(a, json_str(v));
}

void trust_load(struct trust *ret, const struct dirs *dirs, struct arena *a)
{
    auto_buf text = BUF(TRUST_MAX_BYTES);
    auto_json doc = { 0 };
    int64_t version = 0;

    *ret = (struct trust){ 0 };
    if (!file_read(trust_path(dirs, a), &text, NULL) ||
        !json_parse(&doc, buf_str(&text), NULL) ||
        !json_int(json_get(doc.root, "version"), &version) || version != 1)
        return;
    for (struct json_iter it = json_iter(json_get(doc.root, "trusted"));
         json_next(&it) && ret->n < TRUST_MAX_ENTRIES;) {
        struct trust_entry entry = { .root = copy(a, json_get(it.val, "root")),
                                     .manifest = copy(a, json_get(it.val, "manifest")),
                                     .sha256 = copy(a, json_get(it.val, "sha256")) };

        if (entry.root.n && entry.sha256.n)
            ARENA_PUSH(a, ret) = entry;
    }
}

bool trust_holds(const struct trust *t, struct str root, struct str manifest_sha256)
{
    for (size_t i = 0; i < t->n && manifest_sha256.n; i++)
        if (str_eq(t->v[i].sha256, manifest_sha256) && str_eq(t->v[i].root, root))
            return true;
    return false;
}

bool trust_has(const struct dirs *dirs, struct str root, struct str manifest_sha256)
{
    auto_arena a = ARENA;
    struct trust t;

    trust_load(&t, dirs, &a);
    return trust_holds(&t, root, manifest_sha256);
}

/* Two processes must not forget each other's consent: read, change and write happen under one
 * lock. */
static int lock_file(const struct dirs *dirs, struct arena *a, struct error *e)
{
    const char *path = path_join(a, dirs->state, "trusted.lock");
    auto_close int fd = -1;

    if (!file_mkdirs(dirs->state, e))
        return -1;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) < 0) {
        error_set(e, ERR_SYS, "lock '%s'", path);
        return -1;
    }
    return take_fd(&fd);
}

static bool write_all(const struct trust *t, const char *path, struct error *e)
{
    auto_buf out = BUF(TRUST_MAX_BYTES);
    struct jw w = jw_to(&out);

    jw_obj(&w);
    jw_kint(&w, "version", 1);
    jw_key(&w, "trusted");
    jw_arr(&w);
    for (size_t i = 0; i < t->n; i++) {
        jw_obj(&w);
        jw_kstr(&w, "root", t->v[i].root);
        jw_kstr(&w, "manifest", t->v[i].manifest);
        jw_kstr(&w, "sha256", t->v[i].sha256);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
    return buf_ok(&out, e) && file_write_atomic(path, buf_str(&out), 0600, e);
}

/* Removes every consent for this manifest of this workspace, whatever its text was. */
static void forget(struct trust *t, const struct trust_entry *entry)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->n; i++) {
        bool same_place =
            str_eq(t->v[i].manifest, entry->manifest) || str_eq(t->v[i].sha256, entry->sha256);

        if (!same_place || !str_eq(t->v[i].root, entry->root))
            t->v[kept++] = t->v[i];
    }
    t->n = kept;
}

bool trust_set(const struct dirs *dirs, const struct trust_entry *entries, size_t n,
               bool trusted, struct error *e)
{
    auto_arena a = ARENA;
    auto_close int lock = lock_file(dirs, &a, e);
    struct trust t;

    if (lock < 0)
        return false;
    trust_load(&t, dirs, &a);
    for (size_t i = 0; i < n; i++) {
        forget(&t, &entries[i]);
        if (!trusted)
            continue;
        if (t.n >= TRUST_MAX_ENTRIES)
            return error_set(e, ERR_LIMIT, "more than %d trusted manifests", TRUST_MAX_ENTRIES);
        ARENA_PUSH(&a, &t) = entries[i];
    }
    return write_all(&t, trust_path(dirs, &a), e);
}
