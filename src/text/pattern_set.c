/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/pattern_set.h"

#include "base/buf.h"
#include "text/glob.h"

static bool is_full(const struct pattern_set *set)
{
    return set->spelt >= PATTERN_SET_MAX;
}

static bool fits(struct pattern_set *set, struct str pattern, struct str path)
{
    set->work += (pattern.n + 1) * (uint64_t)(path.n + 1);
    return set->work <= PATTERN_SET_WORK && glob_path(pattern, path);
}

/* What takes "packages/b" away no longer does when a later pattern names it. */
static void forgive(struct pattern_set *set, struct str positive)
{
    size_t kept = 0;

    for (size_t i = 0; i < set->no.n; i++)
        if (!fits(set, set->no.v[i], positive))
            set->no.v[kept++] = set->no.v[i];
    set->no.n = kept;
}

static void add_one(struct pattern_set *set, struct arena *a, struct str text)
{
    bool negated = false;

    set->spelt++;
    for (; text.n && text.p[0] == '!'; text = str_from(text, 1))
        negated = !negated;
    if (str_starts(text, STR("./")))
        text = str_from(text, 1);
    while (text.n && text.p[0] == '/')
        text = str_from(text, 1);
    if (text.n == 0)
        return;
    if (!negated)
        forgive(set, text);
    ARENA_PUSH(a, negated ? &set->no : &set->yes) = arena_str(a, text);
}

/* A group that braces make: text.p[open] .. text.p[close]. */
struct group {
    size_t open, close;
    bool commas; /* outside of inner groups; without any the braces are letters */
};

static bool find_group(struct str text, size_t from, struct group *ret)
{
    for (size_t open = from; open < text.n; open++) {
        int depth = 0;

        if (text.p[open] != '{')
            continue;
        *ret = (struct group){ .open = open };
        for (size_t i = open; i < text.n; i++) {
            depth += (text.p[i] == '{') - (text.p[i] == '}');
            ret->commas |= depth == 1 && text.p[i] == ',';
            ret->close = i;
            if (depth == 0)
                break;
        }
        if (depth == 0 && ret->commas)
            return true;
    }
    return false;
}

static void add_expanded(struct pattern_set *set, struct arena *a, struct str text);

static void add_alternative(struct pattern_set *set, struct arena *a, struct str text,
                            const struct group *g, struct str inner)
{
    auto_buf whole = BUF(PATTERN_SET_TEXT);

    buf_add(&whole, str_upto(text, g->open));
    buf_add(&whole, inner);
    buf_add(&whole, str_from(text, g->close + 1));
    if (buf_ok(&whole, NULL))
        add_expanded(set, a, buf_str(&whole));
}

/* Each step takes one group away, and every end is counted: so it ends. */
static void add_expanded(struct pattern_set *set, struct arena *a, struct str text)
{
    struct group g;
    size_t from;
    int depth = 0;

    if (is_full(set))
        return;
    if (!find_group(text, 0, &g)) {
        add_one(set, a, text);
        return;
    }
    from = g.open + 1;
    for (size_t i = from; i <= g.close; i++) {
        depth += (text.p[i] == '{') - (text.p[i] == '}');
        if (i < g.close && (depth != 0 || text.p[i] != ','))
            continue;
        if (!is_full(set))
            add_alternative(set, a, text, &g, str_upto(str_from(text, from), i - from));
        from = i + 1;
    }
}

bool pattern_set_add(struct pattern_set *set, struct arena *a, struct str text)
{
    if (is_full(set))
        return false;
    if (text.n <= PATTERN_SET_TEXT)
        add_expanded(set, a, text);
    return true;
}

bool pattern_set_deny(struct pattern_set *set, struct str rel)
{
    for (size_t i = 0; i < set->no.n; i++)
        if (fits(set, set->no.v[i], rel))
            return true;
    return false;
}
