/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * From texts to changes:
 *
 *     text --trim()--> the part from the first to the last difference
 *          --number_lines()--> one number a line, equal lines have equal numbers
 *          --keep_common()--> without the lines that the other side lacks: those are changed
 *          --compare()--> Myers: the rest of the changed lines
 *          --collect()--> runs
 */
#include "text/diff.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- lines ---- */

/* Takes the next line, its line break included. */
static bool take_line(struct str *s, struct str *ret)
{
    size_t at = str_find_char(*s, '\n');

    *ret = at == SIZE_MAX ? *s : str_upto(*s, at + 1);
    *s = str_from(*s, ret->n);
    return ret->n > 0;
}

static size_t count_breaks(struct str s)
{
    const char *p = s.p, *end = s.p + s.n;
    size_t n = 0;

    while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        n++;
        p++;
    }
    return n;
}

static size_t count_lines(struct str s)
{
    return count_breaks(s) + (s.n && s.p[s.n - 1] != '\n');
}

/* Cuts equal whole lines from both ends; the number of those at the front. */
static size_t trim(struct str *a, struct str *b)
{
    size_t most = a->n < b->n ? a->n : b->n, head = 0, tail = 0, lines;
    const char *start = a->p;

    while (head < most && a->p[head] == b->p[head])
        head++;
    while (head > 0 && a->p[head - 1] != '\n' && !(head == a->n && head == b->n))
        head--;
    lines = count_lines((struct str){ start, head });
    *a = str_from(*a, head);
    *b = str_from(*b, head);

    most -= head;
    while (tail < most && a->p[a->n - tail - 1] == b->p[b->n - tail - 1])
        tail++;
    /* The tail begins behind a line break that belongs to it. */
    while (tail > 0 && !(tail == a->n && tail == b->n)) {
        if (a->p[a->n - tail] == '\n') {
            tail--;
            break;
        }
        tail--;
    }
    *a = str_upto(*a, a->n - tail);
    *b = str_upto(*b, b->n - tail);
    return lines;
}

/* ---- numbers for lines ---- */

struct side {
    size_t lines;
    uint32_t *number; /* of each line; after keep_common() of the kept ones only */
    uint32_t *line;   /* of each kept one */
    size_t kept;
    bool *changed; /* each line */
};

/* A line's text, wherever it stands. */
struct distinct {
    struct str text;
    uint32_t count[2]; /* on each side */
};

struct numbers {
    struct distinct *v;
    uint32_t n;
    uint32_t *table; /* number + 1 */
    size_t mask;
};

static struct numbers numbers_for(size_t lines)
{
    size_t size = 16;

    while (size < 2 * lines)
        size *= 2;
    return (struct numbers){
        .v = mem_alloc(lines * sizeof(struct distinct)),
        .table = mem_alloc(size * sizeof(uint32_t)),
        .mask = size - 1,
    };
}

static uint32_t number_of(struct numbers *all, struct str line)
{
    size_t slot = str_hash(line) & all->mask;

    for (; all->table[slot]; slot = (slot + 1) & all->mask) {
        if (str_eq(all->v[all->table[slot] - 1].text, line))
            return all->table[slot] - 1;
    }
    all->v[all->n].text = line;
    all->table[slot] = ++all->n;
    return all->n - 1;
}

static struct side number_lines(struct numbers *all, struct str text, size_t lines, int which)
{
    struct side s = {
        .lines = lines,
        .number = mem_alloc(lines * sizeof *s.number),
        .line = mem_alloc(lines * sizeof *s.line),
        .changed = mem_alloc(lines * sizeof *s.changed),
    };
    struct str line;

    for (size_t i = 0; take_line(&text, &line); i++) {
        s.number[i] = number_of(all, line);
        all->v[s.number[i]].count[which]++;
    }
    return s;
}

static void keep_common(struct side *s, const struct numbers *all, int other)
{
    for (size_t i = 0; i < s->lines; i++) {
        if (all->v[s->number[i]].count[other] == 0) {
            s->changed[i] = true;
            continue;
        }
        s->number[s->kept] = s->number[i];
        s->line[s->kept++] = (uint32_t)i;
    }
}

static void side_free(struct side *s)
{
    free(s->number);
    free(s->line);
    free(s->changed);
}

/* ---- Myers ---- */

/* Part of the grid: old lines a0 to a1, new lines b0 to b1. A path from its first to its last
 * corner steps right (a line goes), down (a line comes) or along a diagonal (a line stays). */
struct box {
    int64_t a0, a1, b0, b1;
};

struct search {
    const uint32_t *a, *b;
    struct side *old, *new;
    int64_t effort; /* most steps right or down from either corner */
    /* The furthest x on each diagonal x - y, from the first corner forwards and from the last
     * one backwards; counted from the diagonal of that corner. */
    int64_t *ahead, *back;
    struct {
        struct box *v;
        size_t n, cap;
    } todo;
};

#define NOWHERE INT64_MIN

struct point {
    int64_t x, y;
};

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* One more step from the first corner onto diagonal k, then along it. */
static int64_t step_ahead(const struct search *s, const struct box *o, const int64_t *f,
                          int64_t k, int64_t cost)
{
    int64_t right = f[-1], down = f[1], x = NOWHERE;

    if (right != NOWHERE && right < o->a1)
        x = right + 1;
    if (down != NOWHERE && down - (k + 1) < o->b1)
        x = max_of(x, down);
    if (cost == 0)
        x = o->a0;
    if (x == NOWHERE)
        return x;
    while (x < o->a1 && x - k < o->b1 && s->a[x] == s->b[x - k])
        x++;
    return x;
}

/* The same from the last corner. */
static int64_t step_back(const struct search *s, const struct box *o, const int64_t *f,
                         int64_t k, int64_t cost)
{
    int64_t left = f[1], up = f[-1], x = INT64_MAX;

    if (left != NOWHERE && left > o->a0)
        x = left - 1;
    if (up != NOWHERE && up - (k - 1) > o->b0)
        x = min_of(x, up);
    if (cost == 0)
        x = o->a1;
    if (x == INT64_MAX)
        return NOWHERE;
    while (x > o->a0 && x - k > o->b0 && s->a[x - 1] == s->b[x - k - 1])
        x--;
    return x;
}

/* The reached point that is furthest from the first corner. */
static struct point best_ahead(const struct search *s, const struct box *o, int64_t cost)
{
    struct point best = { o->a0, o->b0 };

    for (int64_t d = -cost; d <= cost; d += 2) {
        int64_t x = s->ahead[d], y = x - (d + o->a0 - o->b0);

        if (x != NOWHERE && x + y > best.x + best.y)
            best = (struct point){ x, y };
    }
    return best;
}

/*
 * A point that a shortest path through the box crosses, where the searches from both corners
 * meet; past the effort, the furthest one reached. The box begins and ends with no common line.
 */
static struct point split(const struct search *s, const struct box *o)
{
    int64_t first = o->a0 - o->b0, last = o->a1 - o->b1, delta = last - first;

    for (int64_t cost = 0; cost <= s->effort; cost++) {
        s->ahead[-cost - 1] = s->ahead[cost + 1] = NOWHERE;
        s->back[-cost - 1] = s->back[cost + 1] = NOWHERE;
        for (int64_t d = -cost; d <= cost; d += 2) {
            int64_t x = step_ahead(s, o, s->ahead + d, first + d, cost), facing = d - delta;

            s->ahead[d] = x;
            /* `back` is one step behind, on the diagonals of the other parity. */
            if (x != NOWHERE && (delta & 1) && facing > -cost && facing < cost &&
                s->back[facing] != NOWHERE && s->back[facing] <= x)
                return (struct point){ x, x - (first + d) };
        }
        for (int64_t d = -cost; d <= cost; d += 2) {
            int64_t x = step_back(s, o, s->back + d, last + d, cost), facing = d + delta;

            s->back[d] = x;
            if (x != NOWHERE && !(delta & 1) && facing >= -cost && facing <= cost &&
                s->ahead[facing] != NOWHERE && s->ahead[facing] >= x)
                return (struct point){ x, x - (last + d) };
        }
    }
    return best_ahead(s, o, s->effort);
}

static void mark(struct side *s, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        s->changed[s->line[i]] = true;
}

/* Cuts common lines from both ends of the box. */
static void shrink(const struct search *s, struct box *o)
{
    while (o->a0 < o->a1 && o->b0 < o->b1 && s->a[o->a0] == s->b[o->b0])
        o->a0++, o->b0++;
    while (o->a0 < o->a1 && o->b0 < o->b1 && s->a[o->a1 - 1] == s->b[o->b1 - 1])
        o->a1--, o->b1--;
}

static void compare_box(struct search *s, struct box o)
{
    struct point at;

    shrink(s, &o);
    if (o.a0 == o.a1 || o.b0 == o.b1) {
        mark(s->old, o.a0, o.a1);
        mark(s->new, o.b0, o.b1);
        return;
    }
    at = split(s, &o);
    assert(at.x + at.y > o.a0 + o.b0 && at.x + at.y < o.a1 + o.b1);
    VEC_PUSH(&s->todo) = (struct box){ at.x, o.a1, at.y, o.b1 };
    VEC_PUSH(&s->todo) = (struct box){ o.a0, at.x, o.b0, at.y };
}

#define EFFORT_MIN 256

/* About the square root of the lines: the bound on time in the header. */
static int64_t effort_for(size_t lines)
{
    int64_t effort = EFFORT_MIN;

    while ((size_t)effort * (size_t)effort < lines)
        effort += effort / 8;
    return effort;
}

static void compare(struct side *old, struct side *new)
{
    int64_t effort = effort_for(old->kept + new->kept);
    size_t width = 2 * (size_t)effort + 3;
    auto_free int64_t *reached = mem_alloc(2 * width * sizeof *reached);
    struct search s = {
        .a = old->number,
        .b = new->number,
        .old = old,
        .new = new,
        .effort = effort,
        .ahead = reached + effort + 1,
        .back = reached + width + effort + 1,
    };

    VEC_PUSH(&s.todo) = (struct box){ 0, (int64_t)old->kept, 0, (int64_t) new->kept };
    while (s.todo.n) {
        struct box next = s.todo.v[--s.todo.n];

        compare_box(&s, next);
    }
    free(s.todo.v);
}

/* ---- changes ---- */

static void collect(const struct side *old, const struct side *new, size_t skipped,
                    struct diff_changes *ret)
{
    size_t i = 0, j = 0;

    while (i < old->lines || j < new->lines) {
        size_t from_i = i, from_j = j;

        while (i < old->lines && old->changed[i])
            i++;
        while (j < new->lines &&new->changed[j])
            j++;
        if (i == from_i && j == from_j) {
            i++, j++;
            continue;
        }
        VEC_PUSH(ret) =
            (struct diff_change){ skipped + from_i, i - from_i, skipped + from_j, j - from_j };
    }
}

void diff_lines(struct str old, struct str new, struct diff_changes *ret)
{
    size_t skipped = trim(&old, &new), old_n = count_lines(old), new_n = count_lines(new);
    struct numbers all;
    struct side a, b;

    *ret = (struct diff_changes){ 0 };
    if (old_n + new_n == 0)
        return;
    if (old_n == 0 || new_n == 0 || old_n + new_n > DIFF_LINES_MAX) {
        VEC_PUSH(ret) = (struct diff_change){ skipped, old_n, skipped, new_n };
        return;
    }
    all = numbers_for(old_n + new_n);
    a = number_lines(&all, old, old_n, 0);
    b = number_lines(&all, new, new_n, 1);
    keep_common(&a, &all, 1);
    keep_common(&b, &all, 0);
    compare(&a, &b);
    collect(&a, &b, skipped, ret);
    side_free(&a);
    side_free(&b);
    free(all.v);
    free(all.table);
}

/* ---- the unified form ---- */

/* Reads a text line by line, forwards only. */
struct cursor {
    struct str rest;
    size_t line; /* number of the next one */
};

static void skip_to(struct cursor *c, size_t line)
{
    struct str skipped;

    while (c->line < line && take_line(&c->rest, &skipped))
        c->line++;
}

static void put_lines(struct buf *out, char sign, struct cursor *c, size_t to)
{
    struct str line;

    while (c->line < to && take_line(&c->rest, &line)) {
        c->line++;
        buf_addc(out, sign);
        buf_add(out, line);
        if (line.p[line.n - 1] != '\n')
            buf_add(out, STR("\n\\ No newline at end of file\n"));
    }
}

/* A range whose count is 0 is named by the line before it. */
static void put_range(struct buf *out, char sign, size_t from, size_t count)
{
    buf_addf(out, "%c%zu,%zu", sign, count ? from + 1 : from, count);
}

/* Changes v[0] to v[n - 1] as one hunk. */
static void put_hunk(struct buf *out, const struct diff_change *v, size_t n, struct cursor *old,
                     struct cursor *new, size_t old_lines)
{
    const struct diff_change *last = &v[n - 1];
    size_t before = v->old_at < DIFF_CONTEXT ? v->old_at : DIFF_CONTEXT;
    size_t old_end = last->old_at + last->old_n, left = old_lines - old_end;
    size_t after = left < DIFF_CONTEXT ? left : DIFF_CONTEXT, from = v->old_at - before;

    buf_add(out, STR("@@ "));
    put_range(out, '-', from, old_end + after - from);
    buf_addc(out, ' ');
    put_range(out, '+', v->new_at - before,
              last->new_at + last->new_n + after - (v->new_at - before));
    buf_add(out, STR(" @@\n"));
    skip_to(old, from);
    for (size_t i = 0; i < n; i++) {
        put_lines(out, ' ', old, v[i].old_at);
        put_lines(out, '-', old, v[i].old_at + v[i].old_n);
        skip_to(new, v[i].new_at);
        put_lines(out, '+', new, v[i].new_at + v[i].new_n);
    }
    put_lines(out, ' ', old, old_end + after);
}

void diff_unified(struct buf *out, struct str old, struct str new, struct str old_name,
                  struct str new_name)
{
    struct cursor old_at = { old, 0 }, new_at = { new, 0 };
    size_t old_lines = count_lines(old);
    struct diff_changes c;

    diff_lines(old, new, &c);
    buf_addf(out, "--- %.*s\n+++ %.*s\n", STR_F(old_name), STR_F(new_name));
    for (size_t i = 0, n; i < c.n; i += n) {
        const struct diff_change *v = &c.v[i];

        /* Changes share a hunk when what lies between is context of both. */
        for (n = 1; i + n < c.n; n++) {
            if (v[n].old_at - (v[n - 1].old_at + v[n - 1].old_n) > 2 * DIFF_CONTEXT)
                break;
        }
        put_hunk(out, v, n, &old_at, &new_at, old_lines);
    }
    free(c.v);
}
