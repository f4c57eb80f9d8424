/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fetch/robots.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

#define SELF "/robots.txt"

struct rule {
    struct str pattern; /* normalised, without the '$' at its end */
    size_t weight;      /* its length as a rule */
    bool allow, anchored;
};

struct rules {
    struct rule *v;
    size_t n, cap;
};

struct robots {
    struct arena arena;
    struct rules own, any; /* of groups that name us; of groups for '*' */
    bool named;            /* some group names us: those for '*' do not count then */
};

/* ---- one spelling for all that mean the same (RFC 9309, 2.2.2) ---- */

static bool is_unreserved(unsigned char c)
{
    return c < 0x80 && (isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~');
}

static void put_byte(struct buf *out, unsigned char c, bool raw)
{
    if (raw)
        buf_addc(out, (char)c);
    else
        buf_addf(out, "%%%02X", c);
}

/*
 * Percent signs are decoded for unreserved characters and upper-case for others; what a URL
 * must not hold is encoded. In a target '*' and '$' are plain characters, and encoded, so that
 * a pattern can name them.
 */
static struct str normalise(struct arena *a, struct str s, bool is_target)
{
    auto_buf out = BUF(SIZE_MAX);

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        int escaped = str_percent(str_from(s, i));

        if (escaped >= 0) {
            put_byte(&out, (unsigned char)escaped, is_unreserved((unsigned char)escaped));
            i += 2;
        } else {
            bool special = c == '$' || (is_target && c == '*');

            put_byte(&out, c, c > ' ' && c < 0x7f && !special);
        }
    }
    return arena_str(a, buf_str(&out));
}

/* ---- reading ---- */

static void add_rule(struct robots *r, struct rules *to, struct str value, bool allow)
{
    struct rule rule = { .allow = allow };

    if (!value.n) /* "Disallow:" forbids nothing */
        return;
    rule.anchored = value.p[value.n - 1] == '$';
    rule.pattern = normalise(&r->arena, str_upto(value, value.n - rule.anchored), false);
    rule.weight = rule.pattern.n + rule.anchored;
    ARENA_PUSH(&r->arena, to) = rule;
}

struct reader {
    struct robots *r;
    struct str token;
    bool in_agents; /* the last record was a user-agent: the next one joins it */
    bool own, any;  /* whom the current group is for */
};

static void read_agent(struct reader *in, struct str value)
{
    struct str name = value, rest;

    if (!in->in_agents)
        in->own = in->any = false;
    in->in_agents = true;
    if (str_is(value, "*")) {
        in->any = true;
        return;
    }
    if (str_cut(value, '/', &name, &rest))
        name = str_trim(name);
    if (in->token.n && str_icase_eq(name, in->token))
        in->own = in->r->named = true;
}

static void read_line(struct reader *in, struct str line)
{
    struct str key, value, rest;
    bool allow;

    if (str_cut(line, '#', &key, &rest))
        line = key;
    if (!str_cut(line, ':', &key, &value))
        return;
    key = str_trim(key);
    value = str_trim(value);
    if (str_icase_eq(key, STR("user-agent"))) {
        read_agent(in, value);
        return;
    }
    allow = str_icase_eq(key, STR("allow"));
    if (!allow && !str_icase_eq(key, STR("disallow")))
        return; /* sitemap, crawl-delay: no part of a group */
    in->in_agents = false;
    if (in->own)
        add_rule(in->r, &in->r->own, value, allow);
    if (in->any)
        add_rule(in->r, &in->r->any, value, allow);
}

static size_t line_length(struct str s)
{
    size_t n = 0;

    while (n < s.n && s.p[n] != '\n' && s.p[n] != '\r')
        n++;
    return n;
}

struct robots *robots_parse(struct str text, struct str token)
{
    struct robots *r = NEW(struct robots);
    struct reader in = { .r = r, .token = token };
    bool cut = text.n > ROBOTS_MAX;

    text = str_upto(text, ROBOTS_MAX);
    text = utf8_skip_bom(text);
    while (text.n) {
        size_t n = line_length(text);

        if (n < text.n || !cut)
            read_line(&in, str_upto(text, n));
        text = str_from(text, n + 1);
    }
    return r;
}

/* ---- asking ---- */

/* Each piece between stars where it first fits: linear, and as good as any later place. */
static bool matches(const struct rule *rule, struct str target)
{
    struct str piece, rest = rule->pattern;
    bool more = str_cut(rest, '*', &piece, &rest);

    if (!more)
        piece = rest;
    if (!str_starts(target, piece))
        return false;
    target = str_from(target, piece.n);
    while (more) {
        size_t at;

        more = str_cut(rest, '*', &piece, &rest);
        if (!more)
            piece = rest;
        if (!more && rule->anchored)
            return str_ends(target, piece);
        at = str_find(target, piece);
        if (at == SIZE_MAX)
            return false;
        target = str_from(target, at + piece.n);
    }
    return !rule->anchored || target.n == 0;
}

bool robots_allows(const struct robots *r, struct str target)
{
    const struct rules *rules = r->named ? &r->own : &r->any;
    auto_arena a = ARENA;
    const struct rule *best = NULL;
    struct str path, query;

    if (!str_cut(target, '?', &path, &query))
        path = target;
    if (str_is(path, SELF))
        return true;
    target = normalise(&a, target, true);
    for (size_t i = 0; i < rules->n; i++) {
        const struct rule *rule = &rules->v[i];

        if (best && (rule->weight < best->weight ||
                     (rule->weight == best->weight && (best->allow || !rule->allow))))
            continue;
        if (matches(rule, target))
            best = rule;
    }
    return !best || best->allow;
}

size_t robots_size(const struct robots *r)
{
    return sizeof *r + r->arena.used;
}

void robots_free(struct robots *r)
{
    if (!r)
        return;
    arena_free(&r->arena);
    free(r);
}
