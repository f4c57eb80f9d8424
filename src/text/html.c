/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/html.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/html_impl.h"
#include "text/url.h"

/* The page's own <base>, as seen from where the page came from; that place without one. */
static void set_base(struct html_md *m, struct str base_url)
{
    if (m->survey->base.n > 0 && m->survey->base.n <= HTML_BASE_MAX) {
        struct str own = str_trim(html_chars(m->survey->base, CHARS_ATTR, &m->chars));

        if (own.n > 0 && url_resolve(base_url, own, &m->base))
            return;
    }
    buf_add(&m->base, base_url);
}

static void write_page(struct html_md *m, struct str page)
{
    html_read(&m->tree, page, &html_markdown_sink, m);
    html_end_marks(m);
}

bool html_to_markdown(struct str html, struct str base_url, struct buf *out, struct error *e)
{
    struct html_survey survey;
    struct html_md m = { .survey = &survey, .out = out, .start = out->n, .gap = GAP_PARAGRAPH };
    struct buf *const owned[] = { &m.base,     &m.chars, &m.language,
                                  &m.link_url, &m.code,  &survey.tables };
    bool over = out->over, ok;

    html_survey(&survey, html);
    for (size_t i = 0; i < ARRAY_LEN(owned); i++)
        owned[i]->max = SIZE_MAX; /* what they hold is bounded by the page */
    set_base(&m, base_url);
    if (!survey.h1)
        html_put_title(&m, utf8_cut(survey.title, HTML_TITLE_MAX));
    write_page(&m, html);
    ok = buf_ok(out, e);
    if (ok && !m.content)
        ok = error_set(e, ERR_NOT_FOUND, "the page holds no text");
    if (!ok) {
        buf_truncate(out, m.start);
        out->over = over;
    }
    for (size_t i = 0; i < ARRAY_LEN(owned); i++)
        buf_free(owned[i]);
    return ok;
}
