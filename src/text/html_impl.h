/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How a page becomes Markdown; private to text/html*.c.
 *
 *     bytes ─tokenizer> tags, text ─tree> open, close, text ─> survey (first)
 *                                                        └─> Markdown (second)
 *
 * There is no document in memory. The page is read twice by the same code: the survey finds
 * what must be known beforehand (which article, which tables are tables, whether there is an
 * h1, the title, the base), the second reading writes. Both number articles and tables in the
 * same way.
 */
#ifndef SYM_TEXT_HTML_IMPL_H
#define SYM_TEXT_HTML_IMPL_H

#include "text/html.h"

/* ---- tags: html_tags.c ----------------------------------------------------------------- */

/* clang-format off */
/* Elements that something here treats specially. The others count for nothing: their text is
 * shown as if they were not there. */
enum html_tag {
    TAG_OTHER,
    TAG_A, TAG_ADDRESS, TAG_ARTICLE, TAG_ASIDE, TAG_B, TAG_BASE, TAG_BLOCKQUOTE, TAG_BODY,
    TAG_BR, TAG_BUTTON, TAG_CAPTION, TAG_CENTER, TAG_CODE, TAG_COL, TAG_COLGROUP, TAG_DD,
    TAG_DEL, TAG_DESC, TAG_DETAILS, TAG_DIALOG, TAG_DIR, TAG_DIV, TAG_DL, TAG_DT, TAG_EM,
    TAG_FIELDSET, TAG_FIGCAPTION, TAG_FIGURE, TAG_FOOTER, TAG_FOREIGNOBJECT, TAG_FORM, TAG_H1,
    TAG_H2, TAG_H3, TAG_H4, TAG_H5, TAG_H6, TAG_HEAD, TAG_HEADER, TAG_HGROUP, TAG_HR,
    TAG_HTML, TAG_I, TAG_IFRAME, TAG_IMG, TAG_INPUT, TAG_KBD, TAG_LEGEND, TAG_LI, TAG_LINK,
    TAG_LISTING, TAG_MAIN, TAG_MENU, TAG_META, TAG_NAV, TAG_NOEMBED, TAG_NOFRAMES,
    TAG_NOSCRIPT, TAG_OBJECT, TAG_OL, TAG_OPTGROUP, TAG_OPTION, TAG_P, TAG_PLAINTEXT, TAG_PRE,
    TAG_S, TAG_SAMP, TAG_SCRIPT, TAG_SEARCH, TAG_SECTION, TAG_SELECT, TAG_SPAN, TAG_STRIKE,
    TAG_STRONG, TAG_STYLE, TAG_SUMMARY, TAG_SUP, TAG_SVG, TAG_TABLE, TAG_TBODY, TAG_TD,
    TAG_TEMPLATE, TAG_TEXTAREA, TAG_TFOOT, TAG_TH, TAG_THEAD, TAG_TITLE, TAG_TR, TAG_TT,
    TAG_UL, TAG_WBR, TAG_XMP,
    TAG_COUNT
};
/* clang-format on */

/* Character formatting. Counted, not nested, since ends may come in any order. */
enum html_format {
    FORMAT_NONE,
    FORMAT_STRONG,
    FORMAT_EM,
    FORMAT_DEL,
    FORMAT_CODE,
    FORMAT_COUNT
};

enum {
    EL_OPEN = 1 << 0,     /* kept among the open elements until it ends */
    EL_BLOCK = 1 << 1,    /* stands on lines of its own */
    EL_CLOSES_P = 1 << 2, /* its start ends an open paragraph */
    EL_SCOPE = 1 << 3,    /* an end tag inside does not reach what is open outside */
    EL_RAW = 1 << 4,      /* text up to its end tag, no markup and no references in it */
    EL_RCDATA = 1 << 5,   /* text with references, no markup in it */
    EL_HIDE = 1 << 6,     /* not shown, nor anything in it */
    EL_FOREIGN = 1 << 7,  /* does not end an <svg> that it stands in */
};

struct html_element {
    char name[15]; /* lower case */
    unsigned char tag, format;
    unsigned flags;
};

enum html_tag html_tag_of(struct str name); /* any letter case */
const struct html_element *html_element(enum html_tag tag);

/* ---- tokens: html_token.c -------------------------------------------------------------- */

struct html_attr {
    struct str name, value; /* as written: references are not decoded */
};

enum html_token_kind { TOKEN_TEXT, TOKEN_START, TOKEN_END };

/* All slices are of the page. */
struct html_token {
    enum html_token_kind kind;
    enum html_tag tag;
    bool self_closing;
    bool raw;        /* text in which '&' is a plain character */
    struct str text; /* TOKEN_TEXT: never empty */
    size_t nattrs;
    struct html_attr attrs[HTML_ATTRS_MAX];
};

struct html_tokenizer {
    struct str in;
    size_t at;
    enum html_tag raw; /* the raw-text element just begun, TAG_OTHER outside of one */
    bool foreign; /* inside <svg>: CDATA counts, raw-text elements do not; set by the tree */
};

/* The next token; false at the end. Comments, doctypes and the content of hidden raw-text
 * elements (scripts, styles) never appear. */
bool html_next(struct html_tokenizer *z, struct html_token *t);

/* The first attribute of that name (lower case), p == NULL when there is none. */
struct str html_attr(const struct html_token *t, const char *name);

/* A non-negative number in front of an attribute's value, at most `max`; `absent` otherwise. */
unsigned html_attr_number(const struct html_token *t, const char *name, unsigned max,
                          unsigned absent);

/* ---- characters: html_entity.c --------------------------------------------------------- */

#define HTML_ENTITY_NAME_MAX                                         \
    31 /* bytes without '&' and ';': CounterClockwiseContourIntegral \
        */

enum html_chars { CHARS_TEXT, CHARS_ATTR, CHARS_RAW };

/*
 * The characters that `raw` stands for: references decoded (unless CHARS_RAW), invalid UTF-8
 * replaced, control characters other than HTML's white space left out. The result is `raw`
 * itself when nothing had to change, else it lives in *scratch until the next call with it.
 */
struct str html_chars(struct str raw, enum html_chars kind, struct buf *scratch);

static inline bool html_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

/* ---- elements: html_tree.c ------------------------------------------------------------- */

/* What the reader of a page is told. Nothing hidden is among it. */
struct html_sink {
    /* A start tag, or one that the page left out (t then belongs to another tag). If the
     * element is kept open, it is the last of tree->stack already. */
    void (*open)(void *ctx, enum html_tag tag, const struct html_token *t);
    /* The end of an element that was kept open, still the last of tree->stack; or the end tag
     * of a link, which was never there. */
    void (*close)(void *ctx, enum html_tag tag);
    /* An element begins or ends that is not kept: the stack has no room, or it is empty. */
    void (*skipped)(void *ctx);
    void (*text)(void *ctx, const struct html_token *t);
};

struct html_open {
    enum html_tag tag;
    bool hidden;
    size_t number;                 /* of a table: 1 is the page's first */
    unsigned format[FORMAT_COUNT]; /* EL_SCOPE: what was in force outside */
};

/* "Place" of an element: its index on the stack plus 1, so that 0 is none. */
struct html_tree {
    struct html_tokenizer tokens;
    struct html_token token;
    const struct html_sink *sink;
    void *ctx;
    struct html_open stack[HTML_OPEN_MAX];
    size_t depth;             /* the innermost element's place */
    unsigned open[TAG_COUNT]; /* how many of each are on the stack */
    /* Start tags that found the stack full, by tag: their end tags must not end others. */
    size_t skipped[TAG_COUNT], nskipped;
    unsigned format[FORMAT_COUNT]; /* in force now */
    bool in_title, drop_newline;   /* drop_newline: the first one in <pre> is not shown */
    struct str title, base;        /* the first of each, as written */
    size_t tables;                 /* begun so far */
    size_t articles;               /* outermost <main> and <article> begun so far */
    size_t article;                /* place of the open one */
    bool stop;                     /* set by the sink: read no further */
};

void html_read(struct html_tree *tree, struct str page, const struct html_sink *sink,
               void *ctx);

static inline bool html_is_heading(enum html_tag tag)
{
    return tag >= TAG_H1 && tag <= TAG_H6;
}

static inline bool html_is_list(enum html_tag tag)
{
    return tag == TAG_UL || tag == TAG_OL || tag == TAG_MENU || tag == TAG_DIR;
}

static inline bool html_is_pre(enum html_tag tag)
{
    return tag == TAG_PRE || tag == TAG_LISTING || tag == TAG_XMP || tag == TAG_PLAINTEXT;
}

/* What is left out of an article. */
static inline bool html_is_aside(enum html_tag tag)
{
    return tag == TAG_NAV || tag == TAG_FOOTER || tag == TAG_ASIDE;
}

/* ---- survey: html_survey.c ------------------------------------------------------------- */

struct html_survey {
    struct str title, base; /* as written */
    size_t article;         /* number of the one to be shown, 0: the whole body */
    bool h1;                /* the part to be shown has one with text */
    struct buf tables;      /* a byte a table, not 0: of data, shown with pipes; the caller's */
};

void html_survey(struct html_survey *out, struct str page);

/* ---- Markdown: html_blocks.c, html_table.c, html_inline.c, html_line.c
 * ----------------------- */

/* What separates the next text from the one before. */
enum html_gap { GAP_NONE, GAP_BREAK, GAP_LINE, GAP_PARAGRAPH };

/* A list item, a definition or a quote: what its first line and its other lines begin with. */
struct html_frame {
    char marker[16]; /* "- ", "999999999. ", ": ", "> " */
    bool quote;      /* other lines repeat the marker; else spaces of its width */
    bool pending;    /* nothing in it was written yet */
    bool loose;      /* a blank line stands in it */
};

/* Whether the line may still turn into something else than text. */
enum html_line { LINE_START, LINE_DIGITS, LINE_TEXT };

/* In the order in which they open when several begin at once. */
enum html_mark { MARK_LINK, MARK_STRONG, MARK_EM, MARK_DEL, MARK_CODE, MARK_COUNT };

struct html_list {
    size_t outer; /* place of the enclosing list */
    unsigned next;
    bool ordered, begun, loose;
    bool tight; /* in an item: its first item needs no blank line before it */
};

/* The table that is being written with pipes. Rows and cells are written when their first text
 * comes, so that empty ones at the end cost nothing. */
struct html_pipes {
    size_t place;            /* 0: there is none */
    size_t inner;            /* tables open inside a cell: their text is the cell's */
    bool caption;            /* text now belongs to it, not to a cell */
    bool in_row, in_cell;    /* written, not yet ended */
    bool spans;              /* `below` is in use */
    enum html_gap gap;       /* before the first row */
    size_t header_end;       /* where the first row ends in the output, 0: not written */
    unsigned header_columns; /* in the first row */
    unsigned columns;        /* in the widest row */
    unsigned column, next;   /* of the cell that is open in the page; of the one behind it */
    unsigned written;        /* cells ended in this row */
    unsigned char below[HTML_COLUMNS_MAX]; /* rows that a cell further up still reaches into */
};

struct html_md {
    struct html_tree tree;
    const struct html_survey *survey;
    struct buf *out;
    size_t start;     /* of our text in out */
    bool content;     /* something of the body was written */
    struct buf base;  /* what links are resolved against */
    struct buf chars; /* scratch: decoded text */

    /* blocks */
    size_t dropped;                        /* place of an <aside> etc. in the article */
    size_t heading;                        /* place */
    unsigned char level;                   /* 1 to 6 when the heading's #s are still to come */
    size_t pre;                            /* place of the fenced block */
    struct buf language;                   /* of it */
    size_t inline_pre;                     /* place of a <pre> where no block may stand */
    size_t list;                           /* place of the innermost one */
    struct html_list lists[HTML_OPEN_MAX]; /* by index on the stack */
    bool framed[HTML_OPEN_MAX];            /* the element there pushed a frame */
    struct html_frame frames[HTML_NEST_MAX];
    size_t nframes;
    struct html_pipes pipes;

    /* the line */
    enum html_gap gap;
    bool space; /* white space stands before the next text */
    bool hold;  /* the gap before a frame's first text is settled */
    enum html_line line;
    unsigned digits; /* LINE_DIGITS: how many */
    char prev;       /* the character before */

    /* inline */
    enum html_mark marks[MARK_COUNT]; /* open ones, outermost first */
    size_t nmarks;
    bool code_ended;     /* since the last text: more code behind white space stands apart */
    bool sup;            /* the text to come stands higher */
    bool alt;            /* an image's text is being written */
    bool link;           /* text to come belongs to link_url */
    struct buf link_url; /* absolute, fit for Markdown */
    struct buf code;     /* text of the open MARK_CODE, or of pre */
};

/* Blocks may not begin here: a heading's or a table's text is one line. */
static inline bool html_one_line(const struct html_md *m)
{
    return m->heading > 0 || (m->pipes.place > 0 && !m->pipes.caption);
}

extern const struct html_sink html_markdown_sink; /* ctx: struct html_md */
void html_put_title(struct html_md *m, struct str title);

/* html_line.c. Asks for a break before the next text; open marks end. Of several requests the
 * strongest counts. */
void html_gap(struct html_md *m, enum html_gap gap);
/* Begins a line for a block's text: the gap, what the frames begin it with, a heading's #s. */
void html_begin_line(struct html_md *m);
/* Ends the line and begins the next of the same block, with `end` (spaces) behind the text. */
void html_next_line(struct html_md *m, const char *end);
/* Appends what a further line inside the open frames begins with. */
void html_put_margin(const struct html_md *m, struct buf *to);
void html_push_frame(struct html_md *m, const char *marker, bool quote);
void html_pop_frame(struct html_md *m);

/* html_inline.c. Text of the page: white space collapsed, Markdown's own characters escaped. */
void html_put_text(struct html_md *m, struct str chars);
void html_put_image(struct html_md *m, const struct html_token *t);
void html_begin_link(struct html_md *m, const struct html_token *t);
void html_end_link(struct html_md *m);
void html_end_marks(struct html_md *m);
/* The shortest run of backticks, at least `least`, that is longer than any in `code`. */
size_t html_fence(struct str code, size_t least);

/* html_table.c. False: the tag has nothing to do with tables. */
bool html_table_open(struct html_md *m, enum html_tag tag, const struct html_token *t);
bool html_table_close(struct html_md *m, enum html_tag tag);
/* Text is about to be written into the table: begins its row and cell. */
void html_table_text(struct html_md *m);

/* html_address.c. Appends the address that an attribute names, absolute and fit to stand in
 * Markdown's parentheses; false when there is none worth showing (scripts, embedded data). */
bool html_address(struct html_md *m, struct str attr, struct buf *out);

#endif
