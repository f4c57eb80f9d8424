/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Lines of Markdown. A break is only asked for (html_gap); it is written when there is text
 * behind it, so that there are no blank lines too many and none at the ends. The same holds for
 * what a frame begins with: an item without text leaves no "- " behind.
 */
#include <string.h>

#include "text/html_impl.h"

void html_gap(struct html_md *m, enum html_gap gap)
{
    html_end_marks(m);
    m->space = false;
    if (!m->hold && gap > m->gap)
        m->gap = gap;
}

/* What a further line inside frame f begins with. */
static void put_inside(const struct html_frame *f, struct buf *to)
{
    if (f->quote)
        buf_addz(to, f->marker);
    else
        buf_fill(to, ' ', strlen(f->marker));
}

void html_put_margin(const struct html_md *m, struct buf *to)
{
    for (size_t i = 0; i < m->nframes; i++)
        put_inside(&m->frames[i], to);
}

/* A line that holds nothing but the signs of the quotes that go on behind it. */
static void put_blank_line(struct html_md *m)
{
    struct buf *out = m->out;
    size_t start, i;

    buf_addc(out, '\n');
    start = out->n;
    for (i = 0; i < m->nframes && !m->frames[i].pending; i++)
        put_inside(&m->frames[i], out);
    if (i > 0)
        m->frames[i - 1].loose = true;
    while (out->n > start && out->p[out->n - 1] == ' ')
        buf_truncate(out, out->n - 1);
}

static void line_begun(struct html_md *m)
{
    m->gap = GAP_NONE;
    m->space = m->hold = false;
    m->line = LINE_START;
    m->prev = '\n';
}

void html_begin_line(struct html_md *m)
{
    if (m->out->n > m->start) {
        if (m->gap == GAP_PARAGRAPH)
            put_blank_line(m);
        buf_addc(m->out, '\n');
    }
    for (size_t i = 0; i < m->nframes; i++) {
        struct html_frame *f = &m->frames[i];

        if (f->pending)
            buf_addz(m->out, f->marker);
        else
            put_inside(f, m->out);
        f->pending = false;
    }
    line_begun(m);
    if (m->level > 0) {
        buf_fill(m->out, '#', m->level);
        buf_addc(m->out, ' ');
        m->level = 0;
        m->line = LINE_TEXT;
        m->prev = ' ';
    }
}

void html_next_line(struct html_md *m, const char *end)
{
    buf_addz(m->out, end);
    buf_addc(m->out, '\n');
    html_put_margin(m, m->out);
    line_begun(m);
}

void html_push_frame(struct html_md *m, const char *marker, bool quote)
{
    struct html_frame *f = &m->frames[m->nframes++];

    *f = (struct html_frame){ .quote = quote, .pending = true };
    memcpy(f->marker, marker, strlen(marker) + 1);
    m->hold = true;
}

void html_pop_frame(struct html_md *m)
{
    m->nframes--;
    m->hold = false;
}
