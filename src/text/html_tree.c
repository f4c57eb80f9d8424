/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which elements are open: end tags that the page leaves out, end tags that fit nothing, table
 * parts out of place. What the standard's tree construction does by moving nodes about (foster
 * parents, the adoption agency) is not done; formatting is counted instead.
 */
#include <string.h>

#include "text/html_impl.h"

static unsigned flags_of(enum html_tag tag)
{
    return html_element(tag)->flags;
}

static enum html_tag top(const struct html_tree *t)
{
    return t->depth > 0 ? t->stack[t->depth - 1].tag : TAG_OTHER;
}

static bool is_hidden(const struct html_tree *t)
{
    return t->depth > 0 && t->stack[t->depth - 1].hidden;
}

/* Parts of an <svg> in which HTML may stand again. */
static bool is_integration_point(enum html_tag tag)
{
    return tag == TAG_FOREIGNOBJECT || tag == TAG_DESC || tag == TAG_TITLE;
}

static void settle_foreign(struct html_tree *t)
{
    size_t i = t->depth;

    while (i > 0 && t->stack[i - 1].tag != TAG_SVG &&
           !is_integration_point(t->stack[i - 1].tag))
        i--;
    t->tokens.foreign = i > 0 && t->stack[i - 1].tag == TAG_SVG;
}

static bool is_article(enum html_tag tag, const struct html_token *token)
{
    return tag == TAG_MAIN || tag == TAG_ARTICLE ||
           str_icase_eq(html_attr(token, "role"), STR("main"));
}

static void push(struct html_tree *t, enum html_tag tag)
{
    bool hidden = is_hidden(t) || flags_of(tag) & EL_HIDE;
    struct html_open *o;

    if (t->depth == HTML_OPEN_MAX) {
        t->skipped[tag]++;
        t->nskipped++;
        if (!hidden)
            t->sink->skipped(t->ctx);
        return;
    }
    o = &t->stack[t->depth++];
    *o = (struct html_open){ .tag = tag, .hidden = hidden };
    t->open[tag]++;
    if (flags_of(tag) & EL_SCOPE) {
        memcpy(o->format, t->format, sizeof o->format);
        memset(t->format, 0, sizeof t->format);
    }
    if (tag == TAG_TABLE)
        o->number = ++t->tables;
    if (tag == TAG_SVG || is_integration_point(tag))
        settle_foreign(t);
    if (hidden)
        return;
    if (!t->article && is_article(tag, &t->token)) {
        t->articles++;
        t->article = t->depth;
    }
    t->sink->open(t->ctx, tag, &t->token);
}

static void pop(struct html_tree *t)
{
    const struct html_open *o = &t->stack[t->depth - 1];
    enum html_tag tag = o->tag;

    if (!o->hidden)
        t->sink->close(t->ctx, tag);
    if (flags_of(tag) & EL_SCOPE)
        memcpy(t->format, o->format, sizeof t->format);
    if (t->article == t->depth)
        t->article = 0;
    t->open[tag]--;
    t->depth--;
    if (tag == TAG_SVG || is_integration_point(tag))
        settle_foreign(t);
    if (t->nskipped > 0) { /* they were all inside the one that ended */
        memset(t->skipped, 0, sizeof t->skipped);
        t->nskipped = 0;
    }
}

static void pop_to(struct html_tree *t, size_t depth)
{
    while (t->depth > depth)
        pop(t);
}

/* Place of the innermost open `tag` that an end tag here reaches; 0: none. */
static size_t in_scope(const struct html_tree *t, enum html_tag tag)
{
    size_t i = t->open[tag] > 0 ? t->depth : 0;

    while (i > 0 && t->stack[i - 1].tag != tag)
        i = flags_of(t->stack[i - 1].tag) & EL_SCOPE ? 0 : i - 1;
    return i;
}

/* The same for parts of tables, whose cells are no border to them. */
static size_t in_table(const struct html_tree *t, enum html_tag tag)
{
    size_t i = t->open[tag] > 0 ? t->depth : 0;

    while (i > 0 && t->stack[i - 1].tag != tag)
        i = t->stack[i - 1].tag == TAG_TABLE || t->stack[i - 1].tag == TAG_TEMPLATE ? 0 : i - 1;
    return i;
}

static void end_innermost(struct html_tree *t, size_t place)
{
    if (place > 0)
        pop_to(t, place - 1);
}

/* An item ends the one before it, through whatever of <p>, <div>, <address> is open in that. */
static void end_item(struct html_tree *t, enum html_tag one, enum html_tag other)
{
    for (size_t i = t->depth; i > 0; i--) {
        enum html_tag tag = t->stack[i - 1].tag;

        if (tag == one || tag == other) {
            pop_to(t, i - 1);
            return;
        }
        if (tag != TAG_P && tag != TAG_DIV && tag != TAG_ADDRESS)
            return;
    }
}

/* ---- tables ---------------------------------------------------------------------------------
 */

static bool is_row_group(enum html_tag tag)
{
    return tag == TAG_TBODY || tag == TAG_THEAD || tag == TAG_TFOOT;
}

static bool is_cell(enum html_tag tag)
{
    return tag == TAG_TD || tag == TAG_TH;
}

/* A table that begins between the rows of another one ends that. */
static void begin_table(struct html_tree *t)
{
    for (size_t i = t->depth; i > 0; i--) {
        enum html_tag tag = t->stack[i - 1].tag;

        if (tag == TAG_TABLE) {
            pop_to(t, i - 1);
            return;
        }
        if (flags_of(tag) & EL_SCOPE)
            return;
    }
}

/* Ends what is open in the table down to what `tag` may stand in; false outside of tables. */
static bool begin_table_part(struct html_tree *t, enum html_tag tag)
{
    size_t i = in_table(t, TAG_TABLE);

    if (i == 0)
        return false;
    for (size_t k = t->depth; k > i; k--) {
        enum html_tag open = t->stack[k - 1].tag;

        if ((is_row_group(open) && (is_cell(tag) || tag == TAG_TR)) ||
            (open == TAG_TR && is_cell(tag)))
            i = k;
    }
    pop_to(t, i);
    if (is_cell(tag) && top(t) != TAG_TR)
        push(t, TAG_TR);
    return true;
}

/* ---- tags -----------------------------------------------------------------------------------
 */

/* End tags that this start tag makes up for; false when it may not stand here at all. */
static bool imply_ends(struct html_tree *t, enum html_tag tag)
{
    if (flags_of(tag) & EL_CLOSES_P)
        end_innermost(t, in_scope(t, TAG_P));
    if (html_is_heading(tag) && html_is_heading(top(t)))
        pop(t);
    switch (tag) {
    case TAG_LI:
        end_item(t, TAG_LI, TAG_LI);
        return true;
    case TAG_DD:
    case TAG_DT:
        end_item(t, TAG_DD, TAG_DT);
        return true;
    case TAG_OPTGROUP:
    case TAG_OPTION:
        if (top(t) == TAG_OPTION)
            pop(t);
        if (tag == TAG_OPTGROUP && top(t) == TAG_OPTGROUP)
            pop(t);
        return true;
    case TAG_BUTTON:
        end_innermost(t, in_scope(t, TAG_BUTTON));
        return true;
    case TAG_TABLE:
        begin_table(t);
        return true;
    case TAG_CAPTION:
    case TAG_TBODY:
    case TAG_THEAD:
    case TAG_TFOOT:
    case TAG_TR:
    case TAG_TD:
    case TAG_TH:
        return begin_table_part(t, tag);
    default:
        return true;
    }
}

/* Inside an <svg>; false when the tag is HTML's and ends it. */
static bool start_foreign(struct html_tree *t, enum html_tag tag)
{
    if (!(flags_of(tag) & EL_FOREIGN)) {
        end_innermost(t, in_scope(t, TAG_SVG));
        return false;
    }
    if ((tag == TAG_SVG || is_integration_point(tag)) && !t->token.self_closing)
        push(t, tag);
    return true;
}

static void start_tag(struct html_tree *t)
{
    const struct html_element *el = html_element(t->token.tag);
    enum html_tag tag = t->token.tag;

    if (t->tokens.foreign && start_foreign(t, tag))
        return;
    t->in_title = tag == TAG_TITLE;
    if (tag == TAG_BASE && !t->base.p)
        t->base = html_attr(&t->token, "href");
    if (!imply_ends(t, tag))
        return;
    t->drop_newline = html_is_pre(tag) || tag == TAG_TEXTAREA;
    if (el->format != FORMAT_NONE && t->format[el->format] < UINT32_MAX)
        t->format[el->format]++;
    if (tag == TAG_SVG && t->token.self_closing)
        return;
    if (el->flags & EL_OPEN)
        push(t, tag);
    else if (!is_hidden(t))
        t->sink->open(t->ctx, tag, &t->token);
}

/* Not out of `place` when an element that the tag may not end is open inside: a list for an
 * item, any block for what is of no block's kind. */
static size_t unless_enclosed(const struct html_tree *t, size_t place, enum html_tag tag)
{
    for (size_t i = t->depth; i > place; i--) {
        enum html_tag inside = t->stack[i - 1].tag;

        if (tag == TAG_LI ? inside == TAG_UL || inside == TAG_OL : flags_of(inside) & EL_BLOCK)
            return 0;
    }
    return place;
}

/* Place of the element that an end tag of this name ends. */
static size_t ended_by(const struct html_tree *t, enum html_tag tag)
{
    size_t place = 0;

    if (html_is_heading(tag)) { /* any of them ends any other */
        for (enum html_tag h = TAG_H1; h <= TAG_H6; h++)
            place = in_scope(t, h) > place ? in_scope(t, h) : place;
        return place;
    }
    if (is_row_group(tag) || is_cell(tag) || tag == TAG_TR || tag == TAG_CAPTION ||
        tag == TAG_TABLE)
        return in_table(t, tag);
    if (tag == TAG_LI || tag == TAG_OPTION || tag == TAG_OPTGROUP || tag == TAG_LEGEND)
        return unless_enclosed(t, in_scope(t, tag), tag);
    return in_scope(t, tag);
}

static void end_tag(struct html_tree *t)
{
    enum html_tag tag = t->token.tag;
    unsigned char format = html_element(tag)->format;

    t->in_title = false;
    if (format != FORMAT_NONE && t->format[format] > 0)
        t->format[format]--;
    if (format != FORMAT_NONE || tag == TAG_A) {
        if (!is_hidden(t))
            t->sink->close(t->ctx, tag);
    } else if (tag == TAG_BR) { /* "</br>" is a line break to every browser */
        start_tag(t);
    } else if (tag == TAG_P && !t->skipped[tag] && !in_scope(t, tag)) {
        if (!is_hidden(t)) /* and "</p>" alone an empty paragraph */
            t->sink->skipped(t->ctx);
    } else if (t->skipped[tag] > 0) {
        t->skipped[tag]--;
        t->nskipped--;
        if (!is_hidden(t))
            t->sink->skipped(t->ctx);
    } else {
        end_innermost(t, ended_by(t, tag));
    }
}

static void text(struct html_tree *t)
{
    struct str *s = &t->token.text;

    if (t->in_title) {
        if (!t->title.p)
            t->title = *s;
        return;
    }
    if (is_hidden(t))
        return;
    if (t->drop_newline) {
        if (str_starts(*s, STR("\r\n")))
            *s = str_from(*s, 2);
        else if (str_starts(*s, STR("\n")))
            *s = str_from(*s, 1);
    }
    if (s->n > 0)
        t->sink->text(t->ctx, &t->token);
}

void html_read(struct html_tree *t, struct str page, const struct html_sink *sink, void *ctx)
{
    *t = (struct html_tree){ .tokens.in = page, .sink = sink, .ctx = ctx };
    while (!t->stop && html_next(&t->tokens, &t->token)) {
        switch (t->token.kind) {
        case TOKEN_TEXT:
            text(t);
            t->drop_newline = false;
            break;
        case TOKEN_START:
            start_tag(t);
            break;
        case TOKEN_END:
            t->drop_newline = false;
            end_tag(t);
            break;
        }
    }
    pop_to(t, 0);
}
