/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A target, a line break, a robots.txt. Any text is read and asked; one pattern matches as a
 * plain table of all prefixes says; the same pattern as Allow and as Disallow allows.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "servers/fetch/robots.h"

#define SIDE_MAX 256 /* the oracle is quadratic */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Row by row: can[k] says whether the pattern so far matches the first k bytes of the target. A
 * pattern that does not end in '$' matches what it is a beginning of. */
static bool oracle(struct str pattern, struct str target)
{
    bool can[SIDE_MAX + 1] = { true }, anchored = str_ends(pattern, STR("$"));

    pattern = str_upto(pattern, pattern.n - anchored);
    for (size_t i = 0; i < pattern.n; i++) {
        bool star = pattern.p[i] == '*';

        for (size_t k = star ? 1 : target.n; star ? k <= target.n : k > 0;
             k += star ? 1 : (size_t)-1)
            can[k] =
                star ? can[k] || can[k - 1] : can[k - 1] && target.p[k - 1] == pattern.p[i];
        can[0] = can[0] && star;
    }
    if (anchored)
        return can[target.n];
    for (size_t k = 0; k <= target.n; k++) {
        if (can[k])
            return true;
    }
    return false;
}

/* Letters only, so that no rule of spelling plays a part; '*' and a last '$' in patterns. */
static struct str plain(struct arena *a, struct str in, bool is_pattern)
{
    struct str out = { arena_alloc(a, in.n + 1), in.n };

    for (size_t i = 0; i < in.n; i++) {
        unsigned char c = (unsigned char)in.p[i];

        ((char *)(uintptr_t)out.p)[i] = is_pattern && c % 4 == 0 ? '*' : (char)('a' + c % 3);
    }
    if (is_pattern && in.n && in.p[in.n - 1] & 1)
        ((char *)(uintptr_t)out.p)[in.n - 1] = '$';
    return out;
}

static bool allows(struct str text, struct str target)
{
    struct robots *r = robots_parse(text, STR("S"));
    bool yes = robots_allows(r, target);

    must(robots_size(r) >= 1);
    robots_free(r);
    return yes;
}

static void check_pattern(struct str pattern, struct str target)
{
    auto_arena a = ARENA;
    struct str p = plain(&a, str_upto(pattern, SIDE_MAX), true);
    struct str t = plain(&a, str_upto(target, SIDE_MAX), false);

    if (!p.n)
        return;
    must(allows(str_of(arena_printf(&a, "User-agent: *\nDisallow: %.*s", STR_F(p))), t) !=
         oracle(p, t));
    must(allows(str_of(arena_printf(&a, "User-agent: s\nAllow: %.*s\nDisallow: %.*s", STR_F(p),
                                    STR_F(p))),
                t));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = { (const char *)data, size }, target, text;

    if (!str_cut(input, '\n', &target, &text))
        return 0;
    allows(text, target);
    check_pattern(text, target);
    return 0;
}
