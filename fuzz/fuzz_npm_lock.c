/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A lockfile of npm (or a text of a package.json behind a key), and dependencies of members
 * looked up in it: what is found is bounded by what went in. */
#include <stdlib.h>

#include "lock.h"
#include "name.h"
#include "package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void look(const struct npm_lock *l, struct str from, struct str key)
{
    struct lock_entry entry;

    if (!lock_find(l, from, key, &entry))
        return;
    must(entry.name.n > 0 || key.n == 0);
    must(entry.version.n == 0 || npm_version_ok(entry.version));
    must(entry.is_link || entry.target.n == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = package_text((struct str){ (const char *)data, size }), place;
    struct npm_spec spec = npm_spec_read(text);
    struct npm_lock l;
    struct error e = { 0 };
    void *entry;

    must(spec.real.n == 0 || npm_name_ok(spec.real));
    if (!lock_parse(&l, text, &e)) {
        must(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
        return 0;
    }
    look(&l, STR(""), STR("a"));
    look(&l, STR("packages/x"), STR("@s/b"));
    for (size_t i = 0; map_next(&l.entries, &i, &place, &entry);) {
        look(&l, place, STR("a"));
        look(&l, STR("p"), place);
    }
    lock_free(&l);
    return 0;
}
