/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tables. Those of data become pipe tables, whose first row is the header; what is in a cell
 * becomes one line. The others are layout: their rows are paragraphs. The header row is filled
 * up and underlined at the end, when the number of columns is known.
 */
#include <string.h>

#include "text/html_impl.h"

static bool is_data(const struct html_md *m)
{
    size_t i = m->tree.stack[m->tree.depth - 1].number - 1;

    return i < m->survey->tables.n && m->survey->tables.p[i];
}

/* ---- writing --------------------------------------------------------------------------------
 */

static void end_cell(struct html_md *m)
{
    struct html_pipes *p = &m->pipes;

    html_end_marks(m);
    m->space = false;
    m->gap = GAP_NONE;
    if (!p->in_cell)
        return;
    buf_addz(m->out, " |");
    p->in_cell = false;
    p->written++;
}

static void begin_row(struct html_md *m)
{
    struct html_pipes *p = &m->pipes;

    m->gap = p->header_end ? GAP_LINE : p->gap;
    html_begin_line(m);
    buf_addc(m->out, '|');
    p->in_row = true;
    p->written = 0;
}

void html_table_text(struct html_md *m)
{
    struct html_pipes *p = &m->pipes;

    if (!p->place || p->caption || p->in_cell)
        return;
    if (!p->in_row)
        begin_row(m);
    p->in_cell = true;
    m->gap = GAP_NONE;
    m->space = false;
    m->line = LINE_TEXT;
    m->prev = ' ';
    if (p->column < p->written) { /* more cells than columns: on with the last one */
        buf_truncate(m->out, m->out->n - 1);
        p->written--;
        return;
    }
    for (; p->written < p->column; p->written++)
        buf_addz(m->out, "  |");
    buf_addc(m->out, ' ');
}

static void end_row(struct html_md *m)
{
    struct html_pipes *p = &m->pipes;

    end_cell(m);
    for (unsigned c = p->next; p->spans && c < HTML_COLUMNS_MAX; c++) {
        if (p->below[c] > 0)
            p->below[c]--;
    }
    p->next = p->column = 0;
    if (!p->in_row)
        return;
    p->in_row = false;
    if (p->written > p->columns)
        p->columns = p->written;
    if (!p->header_end) {
        p->header_end = m->out->n;
        p->header_columns = p->written;
    }
}

static void insert(struct buf *b, size_t at, struct str s)
{
    if (!buf_room(b, s.n))
        return;
    memmove(b->p + at + s.n, b->p + at, b->n - at);
    memcpy(b->p + at, s.p, s.n);
    b->n += s.n;
}

static void end_table(struct html_md *m)
{
    struct html_pipes *p = &m->pipes;
    auto_buf line = BUF(SIZE_MAX);

    end_row(m);
    if (p->header_end) {
        for (unsigned c = p->header_columns; c < p->columns; c++)
            buf_addz(&line, "  |");
        buf_addc(&line, '\n');
        html_put_margin(m, &line);
        buf_addc(&line, '|');
        for (unsigned c = 0; c < p->columns; c++)
            buf_addz(&line, " --- |");
        insert(m->out, p->header_end, buf_str(&line));
    } else {
        m->gap = p->gap; /* nothing was written */
    }
    p->place = 0;
}

/* ---- what the page says ---------------------------------------------------------------------
 */

/* The next cell that no cell further up reaches into. */
static void begin_cell(struct html_md *m, unsigned wide, unsigned high)
{
    struct html_pipes *p = &m->pipes;

    end_cell(m);
    if (p->in_row && p->next < p->written) /* text before any cell made one */
        p->next = p->written;
    for (; p->next < HTML_COLUMNS_MAX && p->below[p->next] > 0; p->next++)
        p->below[p->next]--;
    p->column = p->next < HTML_COLUMNS_MAX ? p->next : HTML_COLUMNS_MAX - 1;
    for (; wide > 0 && p->next < HTML_COLUMNS_MAX; wide--) {
        if (high > 1)
            p->below[p->next] = (unsigned char)(high - 1);
        p->next++;
    }
    p->spans |= high > 1;
}

static void begin_table(struct html_md *m)
{
    bool in_cell = m->pipes.place > 0 && !m->pipes.caption;

    html_gap(m, in_cell ? GAP_LINE : GAP_PARAGRAPH);
    if (in_cell)
        m->pipes.inner++;
    else if (!m->heading && !m->pipes.place && is_data(m))
        m->pipes = (struct html_pipes){ .place = m->tree.depth, .gap = m->gap };
}

static void begin_caption(struct html_md *m)
{
    struct html_pipes *p = &m->pipes;

    p->caption = !p->header_end && !p->in_row;
    if (!p->caption)
        begin_cell(m, 1, 1);
}

/* Tables that are no pipe table, or stand in a cell of one. */
static void separate_loosely(struct html_md *m, enum html_tag tag)
{
    if (tag == TAG_TD || tag == TAG_TH)
        m->space = true;
    else
        html_gap(m, m->pipes.place ? GAP_LINE : GAP_PARAGRAPH);
}

bool html_table_open(struct html_md *m, enum html_tag tag, const struct html_token *t)
{
    bool pipes = m->pipes.place > 0 && m->pipes.inner == 0 && !m->pipes.caption;

    switch (tag) {
    case TAG_TABLE:
        begin_table(m);
        return true;
    case TAG_THEAD:
    case TAG_TBODY:
    case TAG_TFOOT:
        return true;
    case TAG_TR:
        if (pipes && m->pipes.in_row) /* text before any row made one */
            end_row(m);
        break;
    case TAG_TD:
    case TAG_TH:
        if (pipes)
            begin_cell(m, html_attr_number(t, "colspan", HTML_COLUMNS_MAX, 1),
                       html_attr_number(t, "rowspan", UINT8_MAX, 1));
        break;
    case TAG_CAPTION:
        if (pipes)
            begin_caption(m);
        break;
    default:
        return false;
    }
    if (!pipes)
        separate_loosely(m, tag);
    return true;
}

bool html_table_close(struct html_md *m, enum html_tag tag)
{
    struct html_pipes *p = &m->pipes;
    bool pipes = p->place > 0 && p->inner == 0 && !p->caption;

    switch (tag) {
    case TAG_TABLE:
        if (p->place == m->tree.depth)
            end_table(m);
        else if (p->inner > 0)
            p->inner--;
        html_gap(m, p->place ? GAP_LINE : GAP_PARAGRAPH);
        return true;
    case TAG_THEAD:
    case TAG_TBODY:
    case TAG_TFOOT:
        return true;
    case TAG_TR:
        if (pipes)
            end_row(m);
        break;
    case TAG_TD:
    case TAG_TH:
        if (pipes)
            end_cell(m);
        break;
    case TAG_CAPTION:
        if (p->place && p->caption) {
            html_gap(m, GAP_PARAGRAPH);
            p->caption = false;
            p->gap = m->gap;
            return true;
        }
        break;
    default:
        return false;
    }
    if (!pipes)
        separate_loosely(m, tag);
    return true;
}
