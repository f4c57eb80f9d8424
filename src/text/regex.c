/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A pattern becomes a program for a machine that is in many places at once:
 *
 *     x*   SPLIT 1, n+2 | x | JUMP back      x|y   SPLIT 1, n+2 | x | JUMP n | y
 *     x+   x | SPLIT back, 1                 x?    SPLIT 1, n+1 | x
 *
 * Jumps are relative, so a piece can be moved to make room in front of it. A step adds at most
 * two instructions for a byte of the pattern, hence the size.
 */
#include "text/regex.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CODE_MAX (3 * REGEX_MAX_BYTES + 1)

enum op { OP_SET, OP_SPLIT, OP_JUMP, OP_START, OP_END, OP_MATCH };

struct inst {
    enum op op;
    int to, or_to; /* OP_JUMP, OP_SPLIT: relative */
    size_t set;    /* OP_SET */
};

struct set {
    unsigned char bits[32];
};

struct regex {
    struct {
        struct inst *v;
        size_t n, cap;
    } code;
    struct {
        struct set *v;
        size_t n, cap;
    } sets;
};

/* ---- sets ---- */

static void set_add(struct set *s, unsigned char c)
{
    s->bits[c / 8] |= (unsigned char)(1u << c % 8);
}

static bool set_has(const struct set *s, unsigned char c)
{
    return s->bits[c / 8] >> c % 8 & 1;
}

static void set_invert(struct set *s)
{
    for (size_t i = 0; i < sizeof s->bits; i++)
        s->bits[i] = (unsigned char)~s->bits[i];
}

static void set_add_range(struct set *s, unsigned char from, unsigned char to)
{
    for (unsigned c = from; c <= to; c++)
        set_add(s, (unsigned char)c);
}

/* \d and its like. */
static bool set_of_class(struct set *s, char name)
{
    *s = (struct set){ 0 };
    switch (name) {
    case 'd':
    case 'D':
        set_add_range(s, '0', '9');
        break;
    case 'w':
    case 'W':
        set_add_range(s, '0', '9');
        set_add_range(s, 'a', 'z');
        set_add_range(s, 'A', 'Z');
        set_add(s, '_');
        break;
    case 's':
    case 'S':
        set_add(s, ' ');
        set_add_range(s, '\t', '\r');
        break;
    default:
        return false;
    }
    if (name == 'D' || name == 'W' || name == 'S')
        set_invert(s);
    return true;
}

/* ---- parsing ---- */

struct parser {
    struct regex *re;
    struct str text;
    size_t at;
    unsigned depth;
    struct error *e;
};

static bool parse_any(struct parser *p);

static bool fail(struct parser *p, const char *what)
{
    return error_set(p->e, ERR_INVALID, "%s at byte %zu", what, p->at);
}

static bool more(const struct parser *p)
{
    return p->at < p->text.n;
}

static bool next_is(const struct parser *p, char c)
{
    return more(p) && p->text.p[p->at] == c;
}

static size_t here(const struct parser *p)
{
    return p->re->code.n;
}

static void emit(struct parser *p, struct inst in)
{
    VEC_PUSH(&p->re->code) = in;
}

/* In front of what began at `start`. */
static void insert(struct parser *p, size_t start, struct inst in)
{
    emit(p, (struct inst){ 0 });
    memmove(&p->re->code.v[start + 1], &p->re->code.v[start],
            (here(p) - 1 - start) * sizeof *p->re->code.v);
    p->re->code.v[start] = in;
}

static void emit_set(struct parser *p, const struct set *s)
{
    VEC_PUSH(&p->re->sets) = *s;
    emit(p, (struct inst){ .op = OP_SET, .set = p->re->sets.n - 1 });
}

/* Behind a backslash: a class, or a character that means itself. *ret_c is -1 for a class. */
static bool parse_escape(struct parser *p, struct set *ret, int *ret_c)
{
    char c;

    if (!more(p))
        return fail(p, "nothing behind '\\'");
    c = p->text.p[p->at];
    *ret_c = -1;
    if (set_of_class(ret, c)) {
        p->at++;
        return true;
    }
    if (ascii_alnum(c))
        return fail(p, "an escape that is not known");
    p->at++;
    *ret_c = (unsigned char)c;
    set_add(ret, (unsigned char)c);
    return true;
}

/* One member of a class in brackets; a range when "-x" follows. */
static bool parse_member(struct parser *p, struct set *s)
{
    struct set one = { 0 };
    int from = (unsigned char)p->text.p[p->at++], to;

    if (from == '\\' && !parse_escape(p, &one, &from))
        return false;
    if (from < 0) {
        for (size_t i = 0; i < sizeof s->bits; i++)
            s->bits[i] |= one.bits[i];
        return true;
    }
    if (!next_is(p, '-') || p->at + 1 >= p->text.n || p->text.p[p->at + 1] == ']') {
        set_add(s, (unsigned char)from);
        return true;
    }
    p->at++;
    to = (unsigned char)p->text.p[p->at++];
    if (to == '\\' && !parse_escape(p, &one, &to))
        return false;
    if (to < from)
        return fail(p, "a range without members");
    set_add_range(s, (unsigned char)from, (unsigned char)to);
    return true;
}

/* "]" is a member where it stands first. */
static bool parse_class(struct parser *p)
{
    struct set s = { 0 };
    bool invert = next_is(p, '^');
    size_t first;

    p->at += invert;
    first = p->at;
    while (more(p) && (p->at == first || p->text.p[p->at] != ']'))
        if (!parse_member(p, &s))
            return false;
    if (!more(p))
        return fail(p, "a class without end");
    p->at++;
    if (invert)
        set_invert(&s);
    emit_set(p, &s);
    return true;
}

static bool parse_group(struct parser *p)
{
    if (++p->depth > REGEX_MAX_DEPTH)
        return error_set(p->e, ERR_LIMIT, "groups more than %d deep", REGEX_MAX_DEPTH);
    if (next_is(p, '?')) {
        if (p->at + 1 >= p->text.n || p->text.p[p->at + 1] != ':')
            return fail(p, "'(?' is known only as '(?:'");
        p->at += 2;
    }
    if (!parse_any(p))
        return false;
    if (!next_is(p, ')'))
        return fail(p, "a group without end");
    p->at++;
    p->depth--;
    return true;
}

static bool parse_atom(struct parser *p)
{
    char c = p->text.p[p->at++];
    struct set s = { 0 };
    int one;

    switch (c) {
    case '(':
        return parse_group(p);
    case '[':
        return parse_class(p);
    case '^':
    case '$':
        emit(p, (struct inst){ .op = c == '^' ? OP_START : OP_END });
        return true;
    case '.':
        set_invert(&s);
        break;
    case '\\':
        if (!parse_escape(p, &s, &one))
            return false;
        break;
    case '*':
    case '+':
    case '?':
        p->at--;
        return fail(p, "nothing to repeat");
    case '{':
        p->at--;
        return fail(p, "counted repetition, which is not known,");
    default:
        set_add(&s, (unsigned char)c);
    }
    emit_set(p, &s);
    return true;
}

/* Behind a piece that began at `start`. */
static void repeat(struct parser *p, size_t start, char how)
{
    int n = (int)(here(p) - start);

    if (how == '+') {
        emit(p, (struct inst){ .op = OP_SPLIT, .to = -n, .or_to = 1 });
        return;
    }
    insert(p, start,
           (struct inst){ .op = OP_SPLIT, .to = 1, .or_to = how == '*' ? n + 2 : n + 1 });
    if (how == '*')
        emit(p, (struct inst){ .op = OP_JUMP, .to = -(n + 1) });
}

static bool parse_piece(struct parser *p)
{
    size_t start = here(p);

    if (!parse_atom(p))
        return false;
    while (next_is(p, '*') || next_is(p, '+') || next_is(p, '?')) {
        repeat(p, start, p->text.p[p->at++]);
        if (next_is(p, '?'))
            p->at++; /* how little it takes does not matter for whether it is found */
    }
    return true;
}

static bool parse_row(struct parser *p)
{
    while (more(p) && !next_is(p, '|') && !next_is(p, ')'))
        if (!parse_piece(p))
            return false;
    return true;
}

/* From the right: x|(y|z). */
static bool parse_any(struct parser *p)
{
    size_t start = here(p), jump;

    if (!parse_row(p))
        return false;
    while (next_is(p, '|')) {
        p->at++;
        insert(p, start,
               (struct inst){ .op = OP_SPLIT, .to = 1, .or_to = (int)(here(p) - start) + 2 });
        jump = here(p);
        emit(p, (struct inst){ .op = OP_JUMP });
        if (!parse_row(p))
            return false;
        p->re->code.v[jump].to = (int)(here(p) - jump);
    }
    return true;
}

struct regex *regex_new(struct str pattern, struct error *e)
{
    struct regex *re = NEW(struct regex);
    struct parser p = { .re = re, .text = pattern, .e = e };
    bool ok = pattern.n <= REGEX_MAX_BYTES ||
              error_set(e, ERR_LIMIT, "more than %d bytes", REGEX_MAX_BYTES);

    ok = ok && parse_any(&p) && (!more(&p) || fail(&p, "')' without '('"));
    if (!ok) {
        regex_free(re);
        return NULL;
    }
    emit(&p, (struct inst){ .op = OP_MATCH });
    return re;
}

void regex_free(struct regex *re)
{
    if (!re)
        return;
    free(re->code.v);
    free(re->sets.v);
    free(re);
}

/* ---- running ---- */

/* The places of one moment, each once. */
struct places {
    size_t at[CODE_MAX], n;
    bool in[CODE_MAX];
};

struct machine {
    const struct regex *re;
    struct str text;
    size_t at;
    struct places *now, *next;
    size_t todo[2 * CODE_MAX];
    bool found;
};

static void enter(struct machine *m, struct places *to, size_t place, size_t at)
{
    size_t n = 0;

    m->todo[n++] = place;
    while (n) {
        size_t pc = m->todo[--n];
        const struct inst *in = &m->re->code.v[pc];

        if (to->in[pc])
            continue;
        to->in[pc] = true;
        if (in->op == OP_SET)
            to->at[to->n++] = pc;
        else if (in->op == OP_MATCH)
            m->found = true;
        else if (in->op == OP_JUMP)
            m->todo[n++] = (size_t)((long)pc + in->to);
        else if (in->op == OP_SPLIT) {
            m->todo[n++] = (size_t)((long)pc + in->to);
            m->todo[n++] = (size_t)((long)pc + in->or_to);
        } else if (in->op == OP_START ? at == 0 : at == m->text.n) {
            m->todo[n++] = pc + 1;
        }
    }
}

static void step(struct machine *m, unsigned char c)
{
    struct places *swap = m->now;

    m->next->n = 0;
    memset(m->next->in, 0, m->re->code.n);
    for (size_t i = 0; i < m->now->n; i++) {
        size_t pc = m->now->at[i];

        if (set_has(&m->re->sets.v[m->re->code.v[pc].set], c))
            enter(m, m->next, pc + 1, m->at + 1);
    }
    m->now = m->next;
    m->next = swap;
}

bool regex_finds(const struct regex *re, struct str text)
{
    auto_free struct machine *m = NEW(struct machine);
    auto_free struct places *both = mem_alloc(2 * sizeof *both);

    m->re = re;
    m->text = text;
    m->now = &both[0];
    m->next = &both[1];
    for (; !m->found; m->at++) {
        enter(m, m->now, 0, m->at); /* it may begin here */
        if (m->at == text.n || m->found)
            break;
        step(m, (unsigned char)text.p[m->at]);
    }
    return m->found;
}
