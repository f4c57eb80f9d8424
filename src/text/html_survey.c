/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The first reading of a page: what the second one must know beforehand. */
#include "text/html_impl.h"

struct part { /* of the body: all of it, or one article */
    size_t number;
    size_t text; /* bytes that are not white space */
    size_t kept; /* the same without <nav>, <footer>, <aside> */
    bool h1;
};

struct table {
    size_t outer; /* place of the enclosing one */
    size_t cell;  /* place of the open cell or caption */
    unsigned column, columns;
    bool header; /* has <th>, <thead> or <caption>: surely data */
    bool layout; /* holds what does not fit into one line, or text outside of cells */
    bool presentation;
};

struct survey {
    struct html_tree tree;
    struct html_survey *out;
    struct part body, article, best;
    size_t dropped; /* place of a <nav> etc. in the article */
    size_t table;   /* place of the innermost one */
    struct table tables[HTML_OPEN_MAX];
};

static void open_table(struct survey *s, const struct html_token *t)
{
    struct str role = html_attr(t, "role");

    s->tables[s->tree.depth - 1] = (struct table){
        .outer = s->table,
        .presentation =
            str_icase_eq(role, STR("presentation")) || str_icase_eq(role, STR("none")),
    };
    s->table = s->tree.depth;
}

/* A tag inside a table. */
static void note_in_table(struct survey *s, struct table *in, enum html_tag tag)
{
    switch (tag) {
    case TAG_TR:
        in->column = 0;
        break;
    case TAG_TH:
    case TAG_TD:
        in->header |= tag == TAG_TH;
        in->cell = s->tree.depth;
        if (++in->column > in->columns)
            in->columns = in->column;
        break;
    case TAG_CAPTION:
        in->cell = s->tree.depth;
        in->header = true;
        break;
    case TAG_THEAD:
        in->header = true;
        break;
    case TAG_TABLE:
    case TAG_BLOCKQUOTE:
    case TAG_FORM:
    case TAG_HR:
        in->layout = true;
        break;
    default:
        in->layout |= html_is_heading(tag) || html_is_pre(tag);
    }
}

static void on_open(void *ctx, enum html_tag tag, const struct html_token *t)
{
    struct survey *s = ctx;

    if (s->tree.article == s->tree.depth && s->article.number != s->tree.articles)
        s->article = (struct part){ .number = s->tree.articles };
    if (s->tree.article && !s->dropped && html_is_aside(tag))
        s->dropped = s->tree.depth;
    if (s->table)
        note_in_table(s, &s->tables[s->table - 1], tag);
    if (tag == TAG_TABLE)
        open_table(s, t);
}

static void close_table(struct survey *s)
{
    const struct html_open *o = &s->tree.stack[s->tree.depth - 1];
    const struct table *t = &s->tables[s->tree.depth - 1];
    bool data = !t->presentation && (t->header ? t->columns > 0 : t->columns > 1 && !t->layout);

    s->table = t->outer;
    if (s->out->tables.n < o->number) /* those between are hidden or had no room */
        buf_fill(&s->out->tables, '\0', o->number - s->out->tables.n);
    s->out->tables.p[o->number - 1] = (char)data;
}

static void on_close(void *ctx, enum html_tag tag)
{
    struct survey *s = ctx;

    if (!(html_element(tag)->flags & EL_OPEN))
        return;
    if (tag == TAG_TABLE)
        close_table(s);
    else if (s->table && s->tables[s->table - 1].cell == s->tree.depth)
        s->tables[s->table - 1].cell = 0;
    if (s->dropped == s->tree.depth)
        s->dropped = 0;
    if (s->tree.article == s->tree.depth && s->article.text > s->best.text)
        s->best = s->article;
}

static void on_skipped(void *ctx)
{
}

static size_t count_text(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += !html_is_space(s.p[i]);
    return n;
}

static void count_into(struct part *p, size_t n, bool dropped, bool h1)
{
    p->text += n;
    p->kept += dropped ? 0 : n;
    p->h1 |= h1 && !dropped;
}

static void on_text(void *ctx, const struct html_token *t)
{
    struct survey *s = ctx;
    size_t n = count_text(t->text);
    bool h1 = s->tree.open[TAG_H1] > 0;

    if (n == 0)
        return;
    count_into(&s->body, n, false, h1);
    if (s->tree.article)
        count_into(&s->article, n, s->dropped > 0, h1);
    if (s->table && !s->tables[s->table - 1].cell)
        s->tables[s->table - 1].layout = true;
}

void html_survey(struct html_survey *out, struct str page)
{
    static const struct html_sink sink = { on_open, on_close, on_skipped, on_text };
    struct survey s = { .out = out };
    bool article;

    *out = (struct html_survey){ .tables = BUF(page.n) };
    html_read(&s.tree, page, &sink, &s);
    article = s.best.kept > 0 && s.best.text >= s.body.text - s.best.text;
    out->title = s.tree.title;
    out->base = s.tree.base;
    out->article = article ? s.best.number : 0;
    out->h1 = article ? s.best.h1 : s.body.h1;
}
