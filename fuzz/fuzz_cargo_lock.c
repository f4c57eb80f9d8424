/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any bytes as a Cargo.lock: each reference in it finds only packages that fit it. */
#include <stdlib.h>

#include "lock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_reference(const struct lock *l, struct str text)
{
    struct lock_ref ref = lock_ref_parse(text);
    size_t found = 0;

    for (struct lock_package *p = NULL; (p = lock_next(l, &ref, p)); found++) {
        must(str_eq(p->name, ref.name));
        must(ref.version.n == 0 || str_eq(p->version, ref.version));
        must(ref.source.n == 0 || str_eq(p->source, ref.source));
        must(found < 1 << 20);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena a = ARENA;
    struct error e = { 0 };
    struct lock l;
    struct str name;
    void *first;

    if (!lock_parse(&l, &a, (struct str){ (const char *)data, size }, &e)) {
        must(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
        return 0;
    }
    for (size_t i = 0; map_next(&l.by_name, &i, &name, &first);) {
        for (const struct lock_package *p = first; p; p = p->same_name) {
            must(str_eq(p->name, name) && p->version.n);
            must(str_find_char(p->source, '#') == SIZE_MAX);
            lock_is_default(p->source);
            for (size_t k = 0; k < toml_len(p->dependencies) && k < 64; k++)
                check_reference(&l, toml_str(toml_at(p->dependencies, k)));
        }
    }
    lock_free(&l);
    return 0;
}
