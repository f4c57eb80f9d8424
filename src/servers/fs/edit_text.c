/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fs/edit_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define BOM STR("\xef\xbb\xbf")

/* ---- line ends ---- */

static size_t count_char(struct str s, char c)
{
    size_t n = 0;

    for (const char *p = s.p, *end = s.p + s.n;
         p < end && (p = memchr(p, c, (size_t)(end - p))); p++)
        n++;
    return n;
}

static size_t count_crlf(struct str s)
{
    size_t n = 0;

    for (size_t at; (at = str_find(s, STR("\r\n"))) != SIZE_MAX; n++)
        s = str_from(s, at + 2);
    return n;
}

/* Appends s with "\r\n" as '\n'. */
static void put_lf(struct buf *out, struct str s)
{
    for (size_t at; (at = str_find(s, STR("\r\n"))) != SIZE_MAX;) {
        buf_add(out, str_upto(s, at));
        buf_addc(out, '\n');
        s = str_from(s, at + 2);
    }
    buf_add(out, s);
}

static void record_ends(struct edit_text *t, struct str s)
{
    for (size_t at; (at = str_find_char(s, '\n')) != SIZE_MAX;) {
        buf_addc(&t->ends, at > 0 && s.p[at - 1] == '\r' ? END_CRLF : END_LF);
        s = str_from(s, at + 1);
    }
}

bool edit_text_load(struct edit_text *t, struct str raw, struct error *e)
{
    size_t crlf, all;

    *t = (struct edit_text){ .text = BUF(FS_EDIT_MAX), .ends = BUF(FS_EDIT_MAX) };
    if (!utf8_valid(raw))
        return error_set(e, ERR_INVALID, "it is not UTF-8 text");
    t->bom = str_starts(raw, BOM);
    if (t->bom)
        raw = str_from(raw, BOM.n);
    crlf = count_crlf(raw);
    all = count_char(raw, '\n');
    t->crlf = crlf > all - crlf;
    t->mixed = crlf > 0 && crlf < all;
    if (t->mixed)
        record_ends(t, raw);
    put_lf(&t->text, raw);
    return true;
}

void edit_text_free(struct edit_text *t)
{
    buf_free(&t->text);
    buf_free(&t->ends);
}

void edit_text_store(const struct edit_text *t, struct buf *out)
{
    struct str s = buf_str(&t->text);

    if (t->bom)
        buf_add(out, BOM);
    if (!t->mixed && !t->crlf) {
        buf_add(out, s);
        return;
    }
    for (size_t at, line = 0; (at = str_find_char(s, '\n')) != SIZE_MAX; line++) {
        bool crlf = t->mixed ? t->ends.p[line] == END_CRLF : t->crlf;

        buf_add(out, str_upto(s, at));
        buf_add(out, crlf ? STR("\r\n") : STR("\n"));
        s = str_from(s, at + 1);
    }
    buf_add(out, s);
}

/* ---- replacing ---- */

/* Puts `with` in the place of n bytes from `at`. */
static bool splice(struct buf *b, size_t at, size_t n, struct str with, struct error *e)
{
    size_t behind = b->n - at - n;

    if (with.n + n == 0)
        return true;
    if (with.n > n && !buf_room(b, with.n - n))
        return error_set(e, ERR_LIMIT, "the file would have more than %zu bytes", b->max);
    memmove(b->p + at + with.n, b->p + at + n, behind);
    if (with.n)
        memcpy(b->p + at, with.p, with.n);
    b->n = at + with.n + behind;
    return true;
}

static size_t common_prefix(struct str a, struct str b)
{
    size_t i = 0;

    while (i < a.n && i < b.n && a.p[i] == b.p[i])
        i++;
    return i;
}

static size_t common_suffix(struct str a, struct str b)
{
    size_t i = 0;

    while (i < a.n && i < b.n && a.p[a.n - i - 1] == b.p[b.n - i - 1])
        i++;
    return i;
}

/* Replaces the n bytes from `at`. What the new text has in common with the old one at both ends
 * is not touched, and keeps its line ends. */
static bool replace(struct edit_text *t, size_t at, size_t n, struct str with, struct error *e)
{
    struct str old = str_upto(str_from(buf_str(&t->text), at), n), new = with;
    size_t head = common_prefix(old, new), tail;

    old = str_from(old, head);
    new = str_from(new, head);
    tail = common_suffix(old, new);
    old = str_upto(old, old.n - tail);
    new = str_upto(new, new.n - tail);
    if (t->mixed) {
        auto_buf ends = BUF(FS_EDIT_MAX);
        size_t line = count_char(str_upto(buf_str(&t->text), at + head), '\n');

        buf_fill(&ends, t->crlf ? END_CRLF : END_LF, count_char(new, '\n'));
        if (!splice(&t->ends, line, count_char(old, '\n'), buf_str(&ends), e))
            return false;
    }
    return splice(&t->text, at + head, old.n, new, e);
}

/* ---- by lines, white space aside ---- */

struct lines {
    struct str *v;
    size_t n, cap;
};

/* Between line breaks, as many as there are breaks and one. */
static void split(struct str s, struct lines *ret)
{
    struct str line;

    *ret = (struct lines){ 0 };
    while (str_cut(s, '\n', &line, &s))
        VEC_PUSH(ret) = line;
    VEC_PUSH(ret) = s;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str indent_of(struct str line)
{
    size_t n = 0;

    while (n < line.n && is_space(line.p[n]))
        n++;
    return str_upto(line, n);
}

/* Without the white space at their ends. It is taken off once, however often a line is compared
 * afterwards: there may be megabytes of it. */
static struct str *bare(const struct lines *l)
{
    struct str *v = mem_alloc(l->n * sizeof *v);

    for (size_t i = 0; i < l->n; i++)
        v[i] = str_trim(l->v[i]);
    return v;
}

/* For each beginning of the wanted lines: the longest other beginning that it ends with (Knuth,
 * Morris and Pratt), so that the text is read once. */
static size_t *fallbacks(const struct str *want, size_t n)
{
    size_t *back = mem_alloc((n + 1) * sizeof *back);

    for (size_t i = 1, k = 0; i < n; i++) {
        while (k && !str_eq(want[i], want[k]))
            k = back[k];
        k += str_eq(want[i], want[k]);
        back[i + 1] = k;
    }
    return back;
}

/* The number of the first line of the first run alike; SIZE_MAX when there is none. */
static size_t find_lines(struct str text, const struct lines *want)
{
    auto_free struct str *wanted = bare(want);
    auto_free size_t *back = fallbacks(wanted, want->n);
    bool more = true;
    struct str line;

    for (size_t i = 0, k = 0; more; i++) {
        more = str_cut(text, '\n', &line, &text);
        line = str_trim(more ? line : text);
        while (k && !str_eq(line, wanted[k]))
            k = back[k];
        k += str_eq(line, wanted[k]);
        if (k == want->n)
            return i + 1 - want->n;
    }
    return SIZE_MAX;
}

/* Where line number n begins. */
static size_t line_start(struct str text, size_t n)
{
    size_t at = 0;

    while (n--)
        at += str_find_char(str_from(text, at), '\n') + 1;
    return at;
}

/*
 * New line j, indented as FS-7 says: the first like the first line found; a further one whose
 * old line is indented too by as much more or less than that as it is more or less than its old
 * line; any other as it was given.
 */
static void put_indented(struct buf *out, struct str indent, const struct lines *old, size_t j,
                         struct str new)
{
    struct str own = indent_of(new),
               was = j < old->n ? indent_of(old->v[j]) : (struct str){ 0 };

    if (j > 0 && (own.n == 0 || was.n == 0)) {
        buf_add(out, new);
        return;
    }
    if (j == 0 || own.n == was.n) {
        buf_add(out, indent);
    } else if (own.n > was.n) {
        buf_add(out, indent);
        buf_add(out, str_from(own, was.n));
    } else {
        size_t less = was.n - own.n;

        buf_add(out, str_upto(indent, indent.n > less ? indent.n - less : 0));
    }
    buf_add(out, str_from(new, own.n));
}

static bool apply_by_lines(struct edit_text *t, struct str old, struct str new, struct error *e)
{
    struct str text = buf_str(&t->text), indent, line;
    auto_buf out = BUF(FS_EDIT_MAX);
    struct lines want;
    size_t first, from, to;
    bool more = true;

    split(old, &want);
    first = find_lines(text, &want);
    if (first == SIZE_MAX) {
        free(want.v);
        return error_set(e, ERR_NOT_FOUND, "no such lines");
    }
    from = line_start(text, first);
    to = from + line_start(str_from(text, from), want.n - 1);
    to += str_find_char(str_from(text, to), '\n') == SIZE_MAX
              ? text.n - to
              : str_find_char(str_from(text, to), '\n');
    indent = indent_of(str_upto(str_from(text, from), to - from));
    for (size_t j = 0; more; j++) {
        more = str_cut(new, '\n', &line, &new);
        put_indented(&out, indent, &want, j, more ? line : new);
        if (more)
            buf_addc(&out, '\n');
    }
    free(want.v);
    return buf_ok(&out, e) && replace(t, from, to - from, buf_str(&out), e);
}

bool edit_text_apply(struct edit_text *t, const struct fs_edit *edit, struct error *e)
{
    auto_buf old = BUF(edit->old_text.n + 1), new = BUF(edit->new_text.n + 1);
    size_t at;

    put_lf(&old, edit->old_text);
    put_lf(&new, edit->new_text);
    if (old.n == 0 && t->text.n > 0)
        return error_set(e, ERR_INVALID, "oldText is empty, and the file is not");
    at = old.n ? str_find(buf_str(&t->text), buf_str(&old)) : 0;
    if (at != SIZE_MAX)
        return replace(t, at, old.n, buf_str(&new), e);
    return apply_by_lines(t, buf_str(&old), buf_str(&new), e);
}

/* ---- advice ---- */

/* Bytes that two lines have in common at both ends. */
static size_t likeness(struct str a, struct str b)
{
    size_t head = common_prefix(a, b);

    return head + common_suffix(str_from(a, head), str_from(b, head));
}

static struct str first_line_with_text(struct str s)
{
    struct str line;

    while (str_cut(s, '\n', &line, &s)) {
        if (str_trim(line).n)
            return str_trim(line);
    }
    return str_trim(s);
}

size_t edit_text_closest(const struct edit_text *t, struct str old, struct str *ret_line)
{
    struct str want = first_line_with_text(old), text = buf_str(&t->text), line;
    size_t best = 0, best_likeness = 0;
    bool more = true;

    for (size_t i = 1; more; i++) {
        size_t n;

        more = str_cut(text, '\n', &line, &text);
        line = str_trim(more ? line : text);
        n = likeness(line, want);
        /* Of lines with as much in common the shorter one is more alike. */
        if (n > best_likeness || (n && n == best_likeness && line.n < ret_line->n)) {
            best = i;
            best_likeness = n;
            *ret_line = line;
        }
    }
    return best;
}
