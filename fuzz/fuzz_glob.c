/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A pattern, a line break, a text. Names are matched as a plain table of all prefixes would
 * match them; a pattern without wildcards matches itself and nothing else; every component
 * under "**" is found.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "text/glob.h"

#define SIDE_MAX 512 /* the oracle is quadratic */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Row by row: can[k] says whether the pattern so far matches the first k bytes. */
static bool oracle(struct str pattern, struct str text)
{
    bool can[SIDE_MAX + 1] = { true };

    for (size_t i = 0; i < pattern.n; i++) {
        bool star = pattern.p[i] == '*';

        for (size_t k = star ? 1 : text.n; star ? k <= text.n : k > 0;
             k += star ? 1 : (size_t)-1)
            can[k] = star ? can[k] || can[k - 1] : can[k - 1] && text.p[k - 1] == pattern.p[i];
        can[0] = can[0] && star;
    }
    return can[text.n];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = { (const char *)data, size }, pattern, text;
    auto_arena a = ARENA;
    struct error e;

    if (!str_cut(input, '\n', &pattern, &text) || pattern.n > SIDE_MAX || text.n > SIDE_MAX)
        return 0;
    must(glob_name(pattern, text) == oracle(pattern, text));
    must(glob_name(pattern, pattern));
    must(glob_component(STR("*"), text));
    must(glob_path(STR("**"), text) != str_starts(text, STR("/")));
    glob_component(pattern, text);
    glob_path(pattern, text);
    glob_check(pattern, &e);
    if (glob_has_wildcard(pattern))
        return 0;
    must(glob_component(pattern, text) == str_eq(pattern, text));
    must(glob_path(pattern, pattern) && glob_check(pattern, &e));
    if (!str_starts(pattern, STR("/")))
        must(glob_path(str_of(arena_printf(&a, "**/%.*s", STR_F(pattern))), pattern) ||
             str_find_char(pattern, '\0') != SIZE_MAX);
    return 0;
}
