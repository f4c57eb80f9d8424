/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The second reading of a page: what each element becomes. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "text/html_impl.h"

#define ORDINAL_MAX 999999999 /* CommonMark: at most nine digits */
#define FENCE_MIN   3

/* In the part of the page that was chosen. */
static bool is_shown(const struct html_md *m)
{
    if (m->survey->article == 0)
        return true;
    return m->tree.article && m->tree.articles == m->survey->article && !m->dropped;
}

/* ---- headings, lists, quotes ----------------------------------------------------------------
 */

static void open_heading(struct html_md *m, enum html_tag tag)
{
    html_gap(m, GAP_PARAGRAPH);
    if (html_one_line(m))
        return;
    m->heading = m->tree.depth;
    m->level = (unsigned char)(tag - TAG_H1 + 1);
}

static void close_heading(struct html_md *m)
{
    html_gap(m, GAP_PARAGRAPH);
    if (m->heading != m->tree.depth)
        return;
    m->heading = 0;
    m->level = 0; /* if it had no text, its #s are not written */
}

/* Frames begin where lines may; those too deep share the margin of the last one. */
static void open_frame(struct html_md *m, const char *marker, bool quote)
{
    if (html_one_line(m))
        return;
    if (m->nframes == HTML_NEST_MAX) {
        if (quote)
            return;
        html_pop_frame(m);
    } else {
        m->framed[m->tree.depth - 1] = true;
    }
    html_push_frame(m, marker, quote);
}

static void close_frame(struct html_md *m)
{
    if (m->framed[m->tree.depth - 1])
        html_pop_frame(m);
    m->framed[m->tree.depth - 1] = false;
}

static void open_list(struct html_md *m, enum html_tag tag, const struct html_token *t)
{
    struct html_list *l = &m->lists[m->tree.depth - 1];
    bool in_item = m->nframes > 0 && !m->frames[m->nframes - 1].quote;

    *l = (struct html_list){ .outer = m->list, .ordered = tag == TAG_OL };
    l->next = html_attr_number(t, "start", ORDINAL_MAX, 1);
    m->list = m->tree.depth;
    /* One that does not count from 1 would be taken for text of the item (CommonMark, 5.3). */
    l->tight = in_item && (!l->ordered || l->next == 1);
    html_gap(m, GAP_PARAGRAPH);
}

static void open_item(struct html_md *m, const struct html_token *t)
{
    struct html_list none = { 0 }, *l = m->list ? &m->lists[m->list - 1] : &none;
    char marker[sizeof m->frames[0].marker] = "- ";
    bool settled = m->hold;

    html_gap(m, GAP_LINE);
    if (html_one_line(m))
        return;
    if (!settled && (l->begun || l->tight))
        m->gap = l->loose ? GAP_PARAGRAPH : GAP_LINE;
    if (l->ordered) {
        unsigned n = html_attr_number(t, "value", ORDINAL_MAX, l->next);

        snprintf(marker, sizeof marker, "%u. ", n);
        l->next = n < ORDINAL_MAX ? n + 1 : n;
    }
    l->begun = true;
    open_frame(m, marker, false);
}

static void close_item(struct html_md *m)
{
    if (m->list && m->framed[m->tree.depth - 1])
        m->lists[m->list - 1].loose = m->frames[m->nframes - 1].loose;
    html_gap(m, GAP_LINE);
    close_frame(m);
}

static void close_list(struct html_md *m)
{
    html_gap(m, GAP_PARAGRAPH);
    if (m->list == m->tree.depth)
        m->list = m->lists[m->list - 1].outer;
}

/* ---- preformatted text ----------------------------------------------------------------------
 */

/* class="language-c", "lang-c" or "highlight-source-c" on <pre>, its <code> or around it. */
static void note_language(struct html_md *m, const struct html_token *t)
{
    static const char *const prefixes[] = { "language-", "lang-", "highlight-source-" };
    struct str rest = html_chars(html_attr(t, "class"), CHARS_ATTR, &m->chars);

    while (rest.n > 0 && m->language.n == 0) {
        size_t n = 0;

        while (n < rest.n && !html_is_space(rest.p[n]))
            n++;
        for (size_t i = 0; i < ARRAY_LEN(prefixes) && m->language.n == 0; i++) {
            struct str prefix = str_of(prefixes[i]);

            if (n > prefix.n && str_starts(rest, prefix) && !memchr(rest.p, '`', n))
                buf_add(&m->language, str_from(str_upto(rest, n), prefix.n));
        }
        rest = str_from(rest, n + 1);
    }
}

static void open_pre(struct html_md *m, const struct html_token *t)
{
    html_gap(m, GAP_PARAGRAPH);
    if (html_one_line(m)) {
        m->inline_pre = m->tree.depth;
        return;
    }
    m->pre = m->tree.depth;
    buf_clear(&m->code);
    buf_clear(&m->language);
    note_language(m, t);
}

/* Line ends become LF; control characters are gone already. */
static void put_pre_text(struct html_md *m, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\r')
            buf_addz(&m->code, i + 1 < s.n && s.p[i + 1] == '\n' ? "" : "\n");
        else if (s.p[i] != '\f')
            buf_addc(&m->code, s.p[i]);
    }
}

/* What forms are made of stands apart to a reader's eye. */
static bool has_borders(enum html_tag tag)
{
    return tag == TAG_BUTTON || tag == TAG_INPUT || tag == TAG_OPTGROUP || tag == TAG_OPTION ||
           tag == TAG_SELECT || tag == TAG_TEXTAREA;
}

/* Puts c, a line feed or a space, between what stands in the <pre> and what comes. */
static void separate_pre(struct html_md *m, char c)
{
    char last = m->code.n > 0 ? m->code.p[m->code.n - 1] : '\n';

    if (last != '\n' && (c == '\n' || !html_is_space(last)))
        buf_addc(&m->code, c);
}

/* An element begins or ends in <pre>. */
static void border_in_pre(struct html_md *m, enum html_tag tag)
{
    bool line = html_element(tag)->flags & EL_BLOCK || tag == TAG_TABLE || tag == TAG_TR ||
                tag == TAG_HR;

    if (line)
        separate_pre(m, '\n');
    else if (has_borders(tag))
        separate_pre(m, ' ');
}

/* A tag inside of <pre>: only what it does to lines counts. */
static void open_in_pre(struct html_md *m, enum html_tag tag, const struct html_token *t)
{
    if (tag == TAG_BR)
        buf_addc(&m->code, '\n');
    else if (tag == TAG_TD || tag == TAG_TH)
        separate_pre(m, ' ');
    else if (tag == TAG_IMG)
        put_pre_text(m, html_chars(html_attr(t, "alt"), CHARS_ATTR, &m->chars));
    else if (tag == TAG_CODE && m->language.n == 0 && m->code.n == 0)
        note_language(m, t);
    else
        border_in_pre(m, tag);
}

static void put_fenced(struct html_md *m, struct str code)
{
    size_t fence = html_fence(code, FENCE_MIN);
    struct str line;
    bool more = true;

    html_begin_line(m);
    buf_fill(m->out, '`', fence);
    buf_add(m->out, buf_str(&m->language));
    while (more) {
        more = str_cut(code, '\n', &line, &code);
        html_next_line(m, "");
        buf_add(m->out, more ? line : code);
    }
    html_next_line(m, "");
    buf_fill(m->out, '`', fence);
    m->content = true;
}

static void close_pre(struct html_md *m)
{
    struct str code = buf_str(&m->code);

    while (code.n > 0 && html_is_space(code.p[code.n - 1]))
        code.n--;
    m->pre = 0;
    if (code.n > 0)
        put_fenced(m, code);
    buf_clear(&m->code);
    html_gap(m, GAP_PARAGRAPH);
}

/* ---- the sink -------------------------------------------------------------------------------
 */

static void put_rule(struct html_md *m)
{
    html_gap(m, GAP_PARAGRAPH);
    if (html_one_line(m))
        return;
    html_begin_line(m);
    buf_addz(m->out, "---");
    html_gap(m, GAP_PARAGRAPH);
}

static void put_break(struct html_md *m)
{
    if (m->link || (m->heading && !m->level)) /* a link's text and a heading are one line */
        m->space = true;
    else
        html_gap(m, m->gap == GAP_BREAK ? GAP_PARAGRAPH : GAP_BREAK);
}

static void open_block(struct html_md *m, enum html_tag tag, const struct html_token *t)
{
    switch (tag) {
    case TAG_H1:
    case TAG_H2:
    case TAG_H3:
    case TAG_H4:
    case TAG_H5:
    case TAG_H6:
        open_heading(m, tag);
        return;
    case TAG_UL:
    case TAG_OL:
    case TAG_MENU:
    case TAG_DIR:
        open_list(m, tag, t);
        return;
    case TAG_LI:
        open_item(m, t);
        return;
    case TAG_BLOCKQUOTE:
        html_gap(m, GAP_PARAGRAPH);
        open_frame(m, "> ", true);
        return;
    case TAG_DT:
        html_gap(m, GAP_LINE);
        return;
    case TAG_DD:
        html_gap(m, GAP_LINE);
        open_frame(m, ": ", false);
        return;
    case TAG_PRE:
    case TAG_LISTING:
    case TAG_XMP:
    case TAG_PLAINTEXT:
        open_pre(m, t);
        return;
    default:
        html_gap(m, GAP_PARAGRAPH);
    }
}

static void on_open(void *ctx, enum html_tag tag, const struct html_token *t)
{
    struct html_md *m = ctx;

    if (!is_shown(m))
        return;
    if (m->survey->article && html_is_aside(tag))
        m->dropped = m->tree.depth;
    if (m->pre) {
        open_in_pre(m, tag, t);
        return;
    }
    if (html_table_open(m, tag, t))
        return;
    switch (tag) {
    case TAG_A:
        html_begin_link(m, t);
        return;
    case TAG_BR:
        put_break(m);
        return;
    case TAG_HR:
        put_rule(m);
        return;
    case TAG_IMG:
        html_put_image(m, t);
        return;
    case TAG_SUP:
        m->sup = true;
        return;
    default:
        m->space |= has_borders(tag);
        if (html_element(tag)->flags & EL_BLOCK)
            open_block(m, tag, t);
    }
}

static void close_block(struct html_md *m, enum html_tag tag)
{
    if (html_is_heading(tag)) {
        close_heading(m);
    } else if (html_is_list(tag)) {
        close_list(m);
    } else if (tag == TAG_LI) {
        close_item(m);
    } else if (tag == TAG_DT) {
        html_gap(m, GAP_LINE);
    } else if (html_element(tag)->flags & EL_BLOCK) {
        html_gap(m, GAP_PARAGRAPH);
        close_frame(m);
    }
    m->space |= has_borders(tag);
}

static void on_close(void *ctx, enum html_tag tag)
{
    struct html_md *m = ctx;

    if (tag == TAG_A)
        html_end_link(m);
    if (html_element(tag)->format == FORMAT_CODE)
        m->code_ended = m->tree.format[FORMAT_CODE] == 0;
    if (!(html_element(tag)->flags & EL_OPEN))
        return;
    if (m->dropped == m->tree.depth)
        m->dropped = 0;
    if (!is_shown(m))
        return;
    if (m->pre == m->tree.depth)
        close_pre(m);
    else if (m->pre)
        border_in_pre(m, tag);
    else if (!html_table_close(m, tag))
        close_block(m, tag);
    if (m->inline_pre == m->tree.depth)
        m->inline_pre = 0;
    if (html_element(tag)->flags & EL_SCOPE)
        html_end_link(m);
}

static void on_skipped(void *ctx)
{
    struct html_md *m = ctx;

    if (!is_shown(m))
        return;
    if (m->pre)
        separate_pre(m, '\n');
    else
        html_gap(m, GAP_PARAGRAPH);
}

static void on_text(void *ctx, const struct html_token *t)
{
    struct html_md *m = ctx;
    struct str s;

    if (!is_shown(m))
        return;
    s = html_chars(t->text, t->raw ? CHARS_RAW : CHARS_TEXT, &m->chars);
    if (m->pre)
        put_pre_text(m, s);
    else
        html_put_text(m, s);
    m->tree.stop = m->out->over;
}

const struct html_sink html_markdown_sink = { on_open, on_close, on_skipped, on_text };

void html_put_title(struct html_md *m, struct str title)
{
    m->heading = 1;
    m->level = 1;
    html_put_text(m, html_chars(title, CHARS_TEXT, &m->chars));
    html_gap(m, GAP_PARAGRAPH);
    m->heading = m->level = 0;
    m->content = false;
}
