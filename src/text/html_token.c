/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tags and text, by the standard's tokenizer states folded into straight scans. Whatever is
 * looked for is looked for once: a comment, a quoted value or a raw text without its end takes
 * the rest of the page, as in a browser, and is never read again.
 */
#include <string.h>

#include "text/html_impl.h"

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* The place of `c` from `at` on, or the end. */
static size_t find(struct str in, size_t at, char c)
{
    const char *p = at < in.n ? memchr(in.p + at, c, in.n - at) : NULL;

    return p ? (size_t)(p - in.p) : in.n;
}

static bool has_at(struct str in, size_t at, struct str what)
{
    return at <= in.n && in.n - at >= what.n && memcmp(in.p + at, what.p, what.n) == 0;
}

/* "<name" or "</name" (without its '<') stands at `at` and the name ends there. */
static bool has_tag(struct str in, size_t at, struct str name)
{
    char c;

    if (in.n - at <= name.n || !str_icase_eq((struct str){ in.p + at, name.n }, name))
        return false;
    c = in.p[at + name.n];
    return html_is_space(c) || c == '/' || c == '>';
}

/* Behind the comment whose "<!--" ends at `at`. "-->" and "--!>" end it, and so do "<!-->" and
 * "<!--->" themselves. */
static size_t skip_comment(struct str in, size_t at)
{
    if (has_at(in, at, STR(">")))
        return at + 1;
    if (has_at(in, at, STR("->")))
        return at + 2;
    for (; (at = find(in, at, '-')) < in.n; at++) {
        if (has_at(in, at, STR("-->")))
            return at + 3;
        if (has_at(in, at, STR("--!>")))
            return at + 4;
    }
    return in.n;
}

static size_t skip_past(struct str in, size_t at, char c)
{
    at = find(in, at, c);
    return at < in.n ? at + 1 : at;
}

/* Behind the markup declaration whose "<!" ends at `at`. */
static size_t skip_declaration(const struct html_tokenizer *z, size_t at)
{
    if (has_at(z->in, at, STR("--")))
        return skip_comment(z->in, at + 2);
    if (z->foreign && has_at(z->in, at, STR("[CDATA["))) {
        for (at += 7; (at = find(z->in, at, ']')) < z->in.n; at++) {
            if (has_at(z->in, at, STR("]]>")))
                return at + 3;
        }
        return at;
    }
    return skip_past(z->in, at, '>');
}

/* The name of an attribute: anything but white space, '/', '>' and '='; a first '=' is part. */
static struct str attr_name(struct html_tokenizer *z)
{
    size_t from = z->at++;

    while (z->at < z->in.n && !html_is_space(z->in.p[z->at]) && z->in.p[z->at] != '/' &&
           z->in.p[z->at] != '>' && z->in.p[z->at] != '=')
        z->at++;
    return (struct str){ z->in.p + from, z->at - from };
}

static void skip_space(struct html_tokenizer *z)
{
    while (z->at < z->in.n && html_is_space(z->in.p[z->at]))
        z->at++;
}

/* The value behind '=' and white space. */
static struct str attr_value(struct html_tokenizer *z)
{
    size_t from = z->at;
    char quote = z->at < z->in.n ? z->in.p[z->at] : '\0';

    if (quote == '"' || quote == '\'') {
        z->at = find(z->in, from + 1, quote);
        if (z->at < z->in.n)
            return (struct str){ z->in.p + from + 1, z->at++ - from - 1 };
        return (struct str){ 0 }; /* the page ends inside: so does the tag, and it is dropped */
    }
    while (z->at < z->in.n && !html_is_space(z->in.p[z->at]) && z->in.p[z->at] != '>')
        z->at++;
    return (struct str){ z->in.p + from, z->at - from };
}

static void read_attr(struct html_tokenizer *z, struct html_token *t)
{
    struct html_attr a = { .value = STR("") };

    a.name = attr_name(z);
    skip_space(z);
    if (z->at < z->in.n && z->in.p[z->at] == '=') {
        z->at++;
        skip_space(z);
        a.value = attr_value(z);
    }
    if (t->nattrs < HTML_ATTRS_MAX)
        t->attrs[t->nattrs++] = a;
}

/* A tag whose name begins at z->at; false when the page ends before its '>'. */
static bool read_tag(struct html_tokenizer *z, struct html_token *t)
{
    size_t from = z->at;

    t->self_closing = false;
    t->nattrs = 0;
    while (z->at < z->in.n && !html_is_space(z->in.p[z->at]) && z->in.p[z->at] != '/' &&
           z->in.p[z->at] != '>')
        z->at++;
    t->tag = html_tag_of((struct str){ z->in.p + from, z->at - from });
    for (;;) {
        skip_space(z);
        if (z->at >= z->in.n)
            return false;
        if (z->in.p[z->at] == '>')
            break;
        if (z->in.p[z->at] == '/')
            z->at++;
        else
            read_attr(z, t);
    }
    t->self_closing = z->in.p[z->at - 1] == '/' && t->kind == TOKEN_START;
    z->at++;
    if (t->kind == TOKEN_START && !z->foreign &&
        html_element(t->tag)->flags & (EL_RAW | EL_RCDATA))
        z->raw = t->tag;
    return true;
}

/*
 * A script ends at "</script", except that one inside a comment that also holds a "<script"
 * does not count ("script data double escaped" in the standard).
 */
static size_t script_end(struct str in, size_t at)
{
    enum { PLAIN, COMMENT, NESTED } state = PLAIN;

    for (size_t from = at; (at = find(in, at, '<')) < in.n; from = ++at) {
        struct str passed = { in.p + from, at - from };

        if (state != PLAIN && str_find(passed, STR("-->")) != SIZE_MAX)
            state = PLAIN;
        if (has_at(in, at, STR("</")) && has_tag(in, at + 2, STR("script"))) {
            if (state != NESTED)
                return at;
            state = COMMENT;
        } else if (state == PLAIN && has_at(in, at, STR("<!--"))) {
            state = COMMENT;
            at++; /* the dashes may be those of a "-->" already */
        } else if (state == COMMENT && has_tag(in, at + 1, STR("script"))) {
            state = NESTED;
        }
    }
    return in.n;
}

static size_t raw_end(struct str in, size_t at, enum html_tag tag)
{
    struct str name = str_of(html_element(tag)->name);

    if (tag == TAG_PLAINTEXT)
        return in.n;
    if (tag == TAG_SCRIPT)
        return script_end(in, at);
    for (; (at = find(in, at, '<')) < in.n; at++) {
        if (has_at(in, at, STR("</")) && has_tag(in, at + 2, name))
            return at;
    }
    return in.n;
}

/* The content of the raw-text element just begun; false when there is none to be shown. */
static bool read_raw(struct html_tokenizer *z, struct html_token *t)
{
    unsigned flags = html_element(z->raw)->flags;
    size_t from = z->at;

    z->at = raw_end(z->in, from, z->raw);
    z->raw = TAG_OTHER;
    t->kind = TOKEN_TEXT;
    t->raw = flags & EL_RAW;
    t->text = (struct str){ z->in.p + from, z->at - from };
    return t->text.n > 0 && !(flags & EL_HIDE);
}

/* What begins with the '<' at z->at, if that is markup. */
enum markup { MARKUP_NONE, MARKUP_SKIPPED, MARKUP_TAG, MARKUP_END_OF_PAGE };

static enum markup read_markup(struct html_tokenizer *z, struct html_token *t)
{
    size_t at = z->at + 1;
    bool end = at < z->in.n && z->in.p[at] == '/';

    at += end;
    if (at >= z->in.n)
        return MARKUP_NONE;
    if (is_letter(z->in.p[at])) {
        t->kind = end ? TOKEN_END : TOKEN_START;
        z->at = at;
        return read_tag(z, t) ? MARKUP_TAG : MARKUP_END_OF_PAGE;
    }
    if (!end && z->in.p[at] == '!') {
        z->at = skip_declaration(z, at + 1);
        return MARKUP_SKIPPED;
    }
    if (end || z->in.p[at] == '?') { /* "</>" and other things that are comments to a browser */
        z->at = skip_past(z->in, at, '>');
        return MARKUP_SKIPPED;
    }
    return MARKUP_NONE;
}

bool html_next(struct html_tokenizer *z, struct html_token *t)
{
    if (z->raw != TAG_OTHER && read_raw(z, t))
        return true;
    while (z->at < z->in.n) {
        size_t from = z->at;

        if (z->in.p[from] == '<') {
            switch (read_markup(z, t)) {
            case MARKUP_TAG:
                return true;
            case MARKUP_SKIPPED:
                continue;
            case MARKUP_END_OF_PAGE:
                return false;
            case MARKUP_NONE:
                break;
            }
        }
        z->at = find(z->in, from + 1, '<');
        t->kind = TOKEN_TEXT;
        t->raw = false;
        t->text = (struct str){ z->in.p + from, z->at - from };
        return true;
    }
    return false;
}

struct str html_attr(const struct html_token *t, const char *name)
{
    for (size_t i = 0; i < t->nattrs; i++) {
        if (str_icase_eq(t->attrs[i].name, str_of(name)))
            return t->attrs[i].value;
    }
    return (struct str){ 0 };
}

unsigned html_attr_number(const struct html_token *t, const char *name, unsigned max,
                          unsigned absent)
{
    struct str s = str_trim(html_attr(t, name));
    unsigned n = 0;
    size_t i = s.n > 0 && s.p[0] == '+';

    if (i >= s.n || s.p[i] < '0' || s.p[i] > '9')
        return absent;
    for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
        n = n > max / 10 ? max : n * 10 + (unsigned)(s.p[i] - '0');
        if (n > max)
            n = max;
    }
    return n;
}
