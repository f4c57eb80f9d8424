/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Text inside a block. Emphasis, code and links begin and end where the text that has them
 * does: what the page asks for is compared with what is open each time text comes. So white
 * space stands outside of the marks, as CommonMark wants it, and empty ones are not written.
 */
#include <string.h>

#include "text/html_impl.h"

#define NO_BREAK_SPACE STR("\xc2\xa0")

static const char *const mark_text[] = {
    [MARK_LINK] = "[", [MARK_STRONG] = "**", [MARK_EM] = "*",
    [MARK_DEL] = "~~", [MARK_CODE] = "",
};

/* ---- marks ----------------------------------------------------------------------------------
 */

size_t html_fence(struct str code, size_t least)
{
    size_t run = 0;

    for (size_t i = 0; i < code.n; i++) {
        run = code.p[i] == '`' ? run + 1 : 0;
        if (run >= least)
            least = run + 1;
    }
    return least;
}

static void end_code(struct html_md *m)
{
    struct str code = buf_str(&m->code);
    size_t fence = html_fence(code, 1);
    const char *pad = code.p[0] == '`' || code.p[code.n - 1] == '`' ? " " : "";

    buf_fill(m->out, '`', fence);
    buf_addz(m->out, pad);
    buf_add(m->out, code);
    buf_addz(m->out, pad);
    buf_fill(m->out, '`', fence);
    buf_clear(&m->code);
    m->prev = '`';
}

static void end_link(struct html_md *m)
{
    buf_addz(m->out, "](");
    buf_add(m->out, buf_str(&m->link_url));
    buf_addc(m->out, ')');
    m->prev = ')';
    m->link = false; /* further text of the same <a> stands without it */
}

static void end_mark(struct html_md *m)
{
    enum html_mark mark = m->marks[--m->nmarks];

    if (mark == MARK_LINK) {
        end_link(m);
    } else if (mark == MARK_CODE) {
        end_code(m);
    } else {
        buf_addz(m->out, mark_text[mark]);
        m->prev = mark_text[mark][0];
    }
}

void html_end_marks(struct html_md *m)
{
    while (m->nmarks > 0)
        end_mark(m);
}

/* Index of an open mark, or m->nmarks. */
static size_t find_mark(const struct html_md *m, enum html_mark mark)
{
    size_t i = 0;

    while (i < m->nmarks && m->marks[i] != mark)
        i++;
    return i;
}

static bool is_wanted(const struct html_md *m, enum html_mark mark)
{
    switch (mark) {
    case MARK_LINK:
        return m->link;
    case MARK_STRONG: /* a heading is strong by itself */
        return m->tree.format[FORMAT_STRONG] > 0 && !m->heading;
    case MARK_EM:
        return m->tree.format[FORMAT_EM] > 0;
    case MARK_DEL:
        return m->tree.format[FORMAT_DEL] > 0;
    case MARK_CODE:
        return m->tree.format[FORMAT_CODE] > 0 || m->inline_pre > 0;
    case MARK_COUNT:
        break;
    }
    return false;
}

static void begin_mark(struct html_md *m, enum html_mark mark)
{
    if (mark == MARK_LINK && m->prev == '!') { /* "!" and a link would be an image */
        buf_truncate(m->out, m->out->n - 1);
        buf_addz(m->out, "\\!");
    }
    buf_addz(m->out, mark_text[mark]);
    m->marks[m->nmarks++] = mark;
    m->line = LINE_TEXT;
    m->prev = mark == MARK_CODE ? '`' : mark_text[mark][0];
}

static void put_space(struct html_md *m)
{
    if (m->space) {
        buf_addc(m->nmarks > 0 && m->marks[m->nmarks - 1] == MARK_CODE ? &m->code : m->out,
                 ' ');
        m->prev = ' ';
    }
    m->space = false;
}

/* Makes the open marks those that the text to come has. Inside code only a link matters:
 * nothing else can be shown there. */
static void settle_marks(struct html_md *m)
{
    size_t code = find_mark(m, MARK_CODE), keep = 0;
    bool link_changes = (find_mark(m, MARK_LINK) < m->nmarks) != is_wanted(m, MARK_LINK);

    bool code_changes = link_changes || (m->code_ended && m->space);

    m->code_ended = false;
    if (code == m->nmarks || code_changes || !is_wanted(m, MARK_CODE)) {
        while (keep < m->nmarks && is_wanted(m, m->marks[keep]) &&
               !(code_changes && keep == code))
            keep++;
        while (m->nmarks > keep)
            end_mark(m);
    }
    put_space(m);
    if (m->nmarks > 0 && m->marks[m->nmarks - 1] == MARK_CODE)
        return;
    for (enum html_mark mark = 0; mark < MARK_COUNT; mark++) {
        if (is_wanted(m, mark) && find_mark(m, mark) == m->nmarks)
            begin_mark(m, mark);
    }
}

/* Before any text or image: the break that is due, then the marks. */
static void begin_text(struct html_md *m)
{
    m->content = true;
    html_table_text(m);
    if (m->gap != GAP_NONE) {
        if (m->pipes.in_cell) {
            buf_addz(m->out, "<br>");
            m->prev = '>';
            m->gap = GAP_NONE;
            m->space = false;
        } else if (m->heading > 0 && m->level == 0) {
            m->gap = GAP_NONE;
            m->space = true;
        } else if (m->gap == GAP_BREAK) {
            html_next_line(m, "  ");
        } else {
            html_begin_line(m);
        }
        m->hold = false;
    }
    settle_marks(m);
}

/* ---- text -----------------------------------------------------------------------------------
 */

static bool is_word(char c)
{
    return ascii_alnum(c) || (c & 0x80);
}

static bool is_blank_or_end(char c)
{
    return c == '\0' || html_is_space(c);
}

/* Bytes at which a run of plain text ends: white space, and what may need a backslash. */
static const bool ends_run[256] = {
    [' '] = true, ['\n'] = true, ['\t'] = true, ['\r'] = true, ['\f'] = true, ['\\'] = true,
    ['`'] = true, ['*'] = true,  ['_'] = true,  ['['] = true,  [']'] = true,  ['('] = true,
    [':'] = true, ['<'] = true,  ['&'] = true,  ['~'] = true,  ['|'] = true,  ['#'] = true,
    ['>'] = true, ['+'] = true,  ['-'] = true,  ['='] = true,  ['.'] = true,  [')'] = true,
};

/* s begins with '&': a reader of Markdown would decode it. */
static bool is_reference(struct str s)
{
    bool number = s.n > 1 && s.p[1] == '#';
    size_t i = number ? 2 : 1, first;

    if (number && i < s.n && (s.p[i] | 0x20) == 'x')
        i++;
    first = i;
    while (i < s.n && i <= HTML_ENTITY_NAME_MAX + 1 && is_word(s.p[i]))
        i++;
    return i > first && i < s.n && s.p[i] == ';';
}

static bool starts_heading(struct str s)
{
    size_t i = 0;

    while (i < s.n && i < 7 && s.p[i] == '#')
        i++;
    return i < 7 && (i == s.n || html_is_space(s.p[i]));
}

/* The character s begins with would be read as markup at the beginning of a line. */
static bool needs_escape_at_start(struct str s)
{
    char next = s.n > 1 ? s.p[1] : '\0';

    switch (s.p[0]) {
    case '#':
        return starts_heading(s);
    case '+':
    case '*':
        return is_blank_or_end(next);
    case '-':
    case '=':
        return is_blank_or_end(next) || next == s.p[0];
    case '>':
        return true;
    default:
        return false;
    }
}

/* The character s begins with would be read as markup. A next character that is not known yet,
 * since a tag comes first, is taken for the worst. */
static bool needs_escape(const struct html_md *m, struct str s)
{
    char next = s.n > 1 ? s.p[1] : '\0', prev = m->prev;
    bool in_brackets = m->alt || find_mark(m, MARK_LINK) < m->nmarks;

    if (m->line == LINE_START && needs_escape_at_start(s))
        return true;
    switch (s.p[0]) {
    case '\\':
        return !is_word(next) && !html_is_space(next);
    case '`':
        return true;
    case '*':
        return !(html_is_space(prev) && html_is_space(next));
    case '_':
        return !(is_word(prev) && is_word(next)) &&
               !(html_is_space(prev) && html_is_space(next));
    case '[':
        return in_brackets || prev == ']';
    case ']':
        return in_brackets;
    case '(':
    case ':':
        return prev == ']';
    case '<':
        return is_word(next) || next == '/' || next == '!' || next == '?' || next == '\0';
    case '&':
        return is_reference(s);
    case '~':
        return prev == '~' || next == '~' || next == '\0';
    case '|':
        return m->pipes.in_cell;
    case '#': /* at the end of a heading */
        return m->heading > 0 && html_is_space(prev);
    case '.':
    case ')':
        return m->line == LINE_DIGITS && is_blank_or_end(next);
    default:
        return false;
    }
}

static void put_special(struct html_md *m, struct str s)
{
    char c = s.p[0];

    if (needs_escape(m, s))
        buf_addc(m->out, '\\');
    buf_addc(m->out, c);
    if (m->line == LINE_START)
        m->digits = 0;
    m->line =
        m->line != LINE_TEXT && ascii_digit(c) && m->digits++ < 9 ? LINE_DIGITS : LINE_TEXT;
    m->prev = c;
}

/* A word's beginning that needs no look at single characters. */
static size_t plain_length(struct str s)
{
    size_t i = 0;

    while (i < s.n && !ends_run[(unsigned char)s.p[i]])
        i++;
    return i;
}

/* s has no white space at its ends. */
static void put_escaped(struct html_md *m, struct str s)
{
    while (s.n > 0) {
        size_t n = m->line == LINE_TEXT || !ascii_digit(s.p[0]) ? plain_length(s) : 0;

        if (n > 0) {
            buf_add(m->out, str_upto(s, n));
            m->prev = s.p[n - 1];
            m->line = LINE_TEXT;
        } else if (html_is_space(s.p[0])) {
            for (n = 1; n < s.n && html_is_space(s.p[n]);)
                n++;
            buf_addc(m->out, ' ');
            m->prev = ' ';
            m->line = LINE_TEXT;
        } else {
            n = 1;
            put_special(m, s);
        }
        s = str_from(s, n);
    }
}

static void put_code(struct html_md *m, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (html_is_space(s.p[i])) {
            if (i + 1 < s.n && !html_is_space(s.p[i + 1]))
                buf_addc(&m->code, ' ');
            continue;
        }
        if (s.p[i] == '|' && m->pipes.in_cell)
            buf_addc(&m->code, '\\');
        buf_addc(&m->code, s.p[i]);
    }
}

/* "10<sup>6</sup>" is not 106: an exponent (a number or one letter) gets a '^',
 * "1<sup>st</sup>" does not. */
static void put_exponent(struct html_md *m, struct str s)
{
    bool exponent = ascii_digit(s.p[0]) || s.p[0] == '-' || s.p[0] == '+' || s.n == 1;

    if (m->sup && !m->space && exponent && (is_word(m->prev) || m->prev == ')'))
        buf_addc(m->out, '^');
    m->sup = false;
}

/* White space at the beginning of s, in bytes. A no-break space counts there and at the end,
 * where pages use it to fill cells and paragraphs; between words it stays. */
static size_t space_before(struct str s)
{
    size_t i = 0, n = 1;

    for (; i < s.n && n > 0; i += n)
        n = html_is_space(s.p[i]) ? 1 : str_starts(str_from(s, i), NO_BREAK_SPACE) ? 2 : 0;
    return i;
}

static size_t space_behind(struct str s)
{
    struct str rest = s;

    for (;;) {
        if (rest.n > 0 && html_is_space(rest.p[rest.n - 1]))
            rest.n--;
        else if (str_ends(rest, NO_BREAK_SPACE))
            rest.n -= 2;
        else
            return s.n - rest.n;
    }
}

void html_put_text(struct html_md *m, struct str s)
{
    size_t before = space_before(s), behind;

    m->space |= before > 0;
    s = str_from(s, before);
    if (s.n == 0)
        return;
    behind = space_behind(s);
    s.n -= behind;
    begin_text(m);
    if (m->nmarks > 0 && m->marks[m->nmarks - 1] == MARK_CODE) {
        put_code(m, s);
    } else {
        put_exponent(m, s);
        put_escaped(m, s);
    }
    m->space = behind > 0;
}

/* ---- links and images -----------------------------------------------------------------------
 */

void html_end_link(struct html_md *m)
{
    size_t at = find_mark(m, MARK_LINK);

    if (at < m->nmarks) {
        while (m->nmarks > at)
            end_mark(m);
    }
    m->link = false;
}

void html_begin_link(struct html_md *m, const struct html_token *t)
{
    html_end_link(m);
    buf_clear(&m->link_url);
    m->link = html_address(m, html_attr(t, "href"), &m->link_url);
}

void html_put_image(struct html_md *m, const struct html_token *t)
{
    auto_buf url = BUF(SIZE_MAX);
    bool shown = html_address(m, html_attr(t, "src"), &url);
    struct str raw = html_attr(t, "alt"), alt;

    alt = str_trim(html_chars(raw, CHARS_ATTR, &m->chars));
    if (raw.p && alt.n == 0) /* alt="": for decoration only */
        return;
    if (!shown || is_wanted(m, MARK_CODE)) {
        html_put_text(m, alt);
        return;
    }
    begin_text(m);
    buf_addz(m->out, "![");
    m->prev = '[';
    m->line = LINE_TEXT;
    m->alt = true;
    put_escaped(m, alt);
    m->alt = false;
    buf_addz(m->out, "](");
    buf_add(m->out, buf_str(&url));
    buf_addc(m->out, ')');
    m->prev = ')';
}
