/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What another program makes of the same pages: gumbo, which builds the standard's tree. On
 * ordinary pages the words are the same and in the same order; all named references decode
 * alike.
 */
#include "../check.h"

#include <gumbo.h>

#include "base/file.h"
#include "text/html.h"

#define PAGE_MAX (1 << 20)

/* ---- named references -----------------------------------------------------------------------
 */

/* The text of `html` as gumbo has it. */
static char *gumbo_text_of(const char *html)
{
    GumboOutput *g = gumbo_parse(html);
    const GumboNode *body = g->root->v.element.children.data[1];
    const GumboVector *in = &body->v.element.children;
    struct buf text = BUF(PAGE_MAX);

    for (unsigned i = 0; i < in->length; i++) {
        const GumboNode *n = in->data[i];

        if (n->type == GUMBO_NODE_TEXT)
            buf_addz(&text, n->v.text.text);
    }
    gumbo_destroy_output(&kGumboDefaultOptions, g);
    return buf_take(&text);
}

/* Ours, out of a fenced block, where nothing is escaped or collapsed. */
static char *our_text_of(const char *reference)
{
    auto_free char *page = mem_printf("<pre>|%s|</pre>", reference);
    struct buf out = BUF(PAGE_MAX);
    struct error e;

    assert_true(html_to_markdown(str_of(page), STR(""), &out, &e));
    buf_drop_front(&out, strlen("```\n"));
    buf_truncate(&out, out.n - strlen("\n```"));
    return buf_take(&out);
}

/* With and without ';', at the end, before a space and before a letter. */
static void compare_name(struct str name)
{
    static const char *const behind[] = { ";", "", " ", "x", ";x" };

    for (size_t i = 0; i < ARRAY_LEN(behind); i++) {
        auto_free char *reference = mem_printf("&%.*s%s", STR_F(name), behind[i]);
        auto_free char *page = mem_printf("<body>|%s|", reference);
        auto_free char *ours = our_text_of(reference), *theirs = gumbo_text_of(page);

        if (strcmp(ours, theirs) != 0)
            print_error("%s\n", reference);
        assert_string_equal(ours, theirs);
    }
}

static void every_named_reference_decodes_as_gumbo_does(void **state)
{
    auto_buf list = BUF(PAGE_MAX);
    struct str line, rest, name, last = { 0 };
    size_t names = 0, bare = 0;
    struct error e;

    assert_true(file_read("src/text/entities.txt", &list, &e));
    for (rest = buf_str(&list); str_cut(rest, '\n', &line, &rest);) {
        if (str_starts(line, STR("#")))
            continue;
        assert_true(str_cut(line, ' ', &name, &line));
        bare += str_ends(name, STR("!"));
        name.n -= str_ends(name, STR("!"));
        assert_true(str_cmp(last, name) < 0); /* the lookup halves */
        last = name;
        names++;
        compare_name(name);
    }
    assert_int_equal(names, 2125); /* FE-7: 2,231 in all */
    assert_int_equal(bare, 106);
}

/* ---- pages ----------------------------------------------------------------------------------
 */

/* Marks that the Markdown of a page adds are taken away again; what is left is its text. */
struct reader {
    struct str in;
    struct buf text;
    bool line_start, fenced;
};

static size_t run_of(struct str s, char c)
{
    size_t n = 0;

    while (n < s.n && s.p[n] == c)
        n++;
    return n;
}

/* At the start of a line: quote signs, item markers, rulers, fences. How much to skip. */
static size_t line_mark(struct reader *r)
{
    struct str s = r->in;
    size_t digits = 0;

    if (run_of(s, '`') >= 3) {
        r->fenced = !r->fenced;
        return str_find_char(s, '\n') < s.n ? str_find_char(s, '\n') : s.n;
    }
    if (r->fenced)
        return 0;
    while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
        digits++;
    return digits > 0 && str_starts(str_from(s, digits), STR(". ")) ? digits + 2 : 0;
}

/* "`code`" as it stands; otherwise what is to be skipped. */
static size_t inline_mark(struct reader *r)
{
    struct str s = r->in;
    size_t n = run_of(s, '`'), depth = 0;

    if (n > 0) {
        for (size_t i = n; i < s.n; i++) {
            size_t close = run_of(str_from(s, i), '`');

            if (close == n) {
                buf_add(&r->text, str_upto(str_from(s, n), i - n));
                return i + n;
            }
            i += close > 0 ? close - 1 : 0;
        }
    }
    if (str_starts(s, STR("<br>"))) {
        buf_addc(&r->text, ' ');
        return 4;
    }
    if (str_starts(s, STR("]("))) {
        for (size_t i = 1; i < s.n; i++) {
            depth += s.p[i] == '(';
            depth -= s.p[i] == ')';
            if (depth == 0)
                return i + 1;
        }
    }
    return strchr("*[~^", s.p[0]) != NULL || str_starts(s, STR("![")) ? 1 : 0;
}

static char *plain_of(struct str markdown)
{
    struct reader r = { markdown, BUF(PAGE_MAX), true, false };

    while (r.in.n > 0) {
        char c = r.in.p[0];
        size_t skip = r.line_start ? line_mark(&r) : 0;

        if (skip == 0 && !r.fenced)
            skip = inline_mark(&r);
        if (skip == 0 && c == '\\' && !r.fenced) {
            buf_addc(&r.text, r.in.p[1]);
            skip = 2;
        } else if (skip == 0) {
            buf_addc(&r.text, c);
            skip = 1;
        }
        r.line_start = c == '\n' || (r.line_start && strchr(" >-:", c));
        r.in = str_from(r.in, skip);
    }
    return buf_take(&r.text);
}

/* `names` has a space before and behind each. */
static bool is_one_of(const GumboNode *n, const char *names)
{
    char key[32];

    snprintf(key, sizeof key, " %s ", gumbo_normalized_tagname(n->v.element.tag));
    return strlen(key) > 2 && strstr(names, key);
}

/* The words that a reader of the page sees. The fixtures are shallow. */
static void put_node(struct buf *out, const GumboNode *n, bool article)
{
    bool block =
        n->type == GUMBO_NODE_ELEMENT &&
        !is_one_of(n, " a abbr b bdi code cite dfn em i img kbd mark q s samp small span "
                      "strong sub sup tt u var wbr ");

    if (n->type == GUMBO_NODE_TEXT || n->type == GUMBO_NODE_WHITESPACE)
        buf_addz(out, n->v.text.text);
    if (n->type != GUMBO_NODE_ELEMENT ||
        is_one_of(n, " script style noscript template svg iframe head ") ||
        (article && is_one_of(n, " nav footer aside ")))
        return;
    if (n->v.element.tag == GUMBO_TAG_IMG &&
        gumbo_get_attribute(&n->v.element.attributes, "alt"))
        buf_addz(out, gumbo_get_attribute(&n->v.element.attributes, "alt")->value);
    buf_addz(out, block ? "\n" : "");
    for (unsigned i = 0; i < n->v.element.children.length; i++)
        put_node(out, n->v.element.children.data[i], article);
    buf_addz(out, block ? "\n" : "");
}

static bool is_main(const GumboNode *n)
{
    const GumboAttribute *role = gumbo_get_attribute(&n->v.element.attributes, "role");

    return n->v.element.tag == GUMBO_TAG_MAIN || (role && strcmp(role->value, "main") == 0);
}

static bool is_title(const GumboNode *n)
{
    return n->v.element.tag == GUMBO_TAG_TITLE;
}

static bool is_h1(const GumboNode *n)
{
    return n->v.element.tag == GUMBO_TAG_H1;
}

static const GumboNode *find(const GumboNode *n, bool (*is_it)(const GumboNode *))
{
    const GumboNode *found = NULL;

    if (n->type != GUMBO_NODE_ELEMENT)
        return NULL;
    if (is_it(n))
        return n;
    for (unsigned i = 0; i < n->v.element.children.length && !found; i++)
        found = find(n->v.element.children.data[i], is_it);
    return found;
}

/* All letters and digits, one space for what stands between. */
static char *words_of(const char *text)
{
    struct buf out = BUF(PAGE_MAX);
    bool gap = false;

    for (const char *p = text; *p; p++) {
        bool nbsp = (unsigned char)p[0] == 0xc2 && (unsigned char)p[1] == 0xa0;

        if (!nbsp && ((*p >= '0' && *p <= '9') || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') ||
                      *p & 0x80)) {
            if (gap && out.n > 0)
                buf_addc(&out, ' ');
            buf_addc(&out, *p);
            gap = false;
        } else {
            gap = true;
            p += nbsp;
        }
    }
    return buf_take(&out);
}

static void compare(const char *page, size_t n)
{
    auto_buf out = BUF(PAGE_MAX), text = BUF(PAGE_MAX);
    auto_free char *plain = NULL, *ours = NULL, *theirs = NULL;
    const GumboNode *main_part, *title;
    GumboOutput *g;
    struct error e;

    assert_true(
        html_to_markdown((struct str){ page, n }, STR("http://h.example/d/p"), &out, &e));
    g = gumbo_parse_with_options(&kGumboDefaultOptions, page, n);
    main_part = find(g->root, is_main);
    title = find(g->root, is_title);
    if (title && !find(main_part ? main_part : g->root, is_h1))
        put_node(&text, title, false);
    put_node(&text, main_part ? main_part : g->root, main_part != NULL);
    gumbo_destroy_output(&kGumboDefaultOptions, g);
    plain = plain_of(buf_str(&out));
    ours = words_of(plain);
    theirs = words_of(buf_z(&text));
    if (strcmp(ours, theirs) != 0)
        print_error("%s\nbecomes\n%s\n", page, buf_z(&out));
    assert_string_equal(ours, theirs);
}

static void ordinary_pages_give_the_words_that_gumbo_sees(void **state)
{
    static const char *const pages[] = {
        "article", "broken", "forum", "glossary", "manual", "results", "russian", "wiki",
    };

    for (size_t i = 0; i < ARRAY_LEN(pages); i++) { /* FE-7 */
        auto_buf page = BUF(PAGE_MAX);
        struct error e;
        char path[128];

        snprintf(path, sizeof path, "tests/fixtures/html/%s.html", pages[i]);
        assert_true(file_read(path, &page, &e));
        compare(buf_z(&page), page.n);
    }
}

/* ---- random pages ---------------------------------------------------------------------------
 */

#define RANDOM_PAGES 1500
#define RANDOM_DEPTH 4

struct writer {
    struct buf page;
    uint64_t seed;
    unsigned words;
};

static unsigned pick(struct writer *w, unsigned n)
{
    w->seed ^= w->seed << 13; /* xorshift: the same pages each time */
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return (unsigned)(w->seed >> 20) % n;
}

/* A new word; two in a row may grow together. */
static void put_word(struct writer *w)
{
    buf_addf(&w->page, "%sw%u%s", pick(w, 3) ? " " : "", w->words++, pick(w, 3) ? " " : "");
}

static void put_flow(struct writer *w, unsigned depth);

/* An element with content, whose end tag may be left out. */
static void put_element(struct writer *w, const char *tag, unsigned depth, unsigned one_in)
{
    buf_addf(&w->page, "<%s>", tag);
    put_flow(w, depth);
    if (pick(w, one_in) || one_in == 1)
        buf_addf(&w->page, "</%.*s>", (int)strcspn(tag, " "), tag);
}

static void put_table(struct writer *w, unsigned depth)
{
    static const char *const groups[] = { "", "", "<tbody>", "<thead>", "<tfoot>" };

    buf_addz(&w->page, "<table>");
    for (unsigned row = pick(w, 4); row > 0; row--) {
        buf_addf(&w->page, "%s<tr>", groups[pick(w, ARRAY_LEN(groups))]);
        for (unsigned cell = pick(w, 4); cell > 0; cell--)
            put_element(w, pick(w, 2) ? "td" : "th", depth, 2);
        buf_addz(&w->page, pick(w, 2) ? "</tr>" : "");
    }
    buf_addz(&w->page, "</table>");
}

/* Words, elements, stray tags. Left out is where a browser moves elements about: text between
 * the rows of a table, forms in forms, headings in headings. */
static void put_flow(struct writer *w, unsigned depth)
{
    static const char *const spans[] = { "b",    "i", "em",  "strong", "code", "a href=x",
                                         "span", "s", "sup", "kbd",    "u",    "small" };
    static const char *const blocks[] = {
        "div",   "p",   "section", "ul",      "ol",     "li",         "blockquote", "pre",
        "dl",    "dt",  "dd",      "figure",  "header", "fieldset",   "center",     "address",
        "aside", "nav", "details", "summary", "h3",     "figcaption",
    };
    static const char *const others[] = {
        "<br>",
        "<hr>",
        "<!-- c -->",
        "<img src=x alt=i>",
        "</p>",
        "</div>",
        "</li>",
        "&amp;",
        "</b>",
        "<script>z</script>",
        "<wbr>",
        "</span>",
        "<textarea>t</textarea>",
        "<svg><g>v</svg>",
        "<button>b</button>",
        "<template>m</template>",
        "<select><option>o<option>q</select>",
    };

    for (unsigned n = 1 + pick(w, 4); n > 0; n--) {
        unsigned kind = depth == 0 ? 0 : pick(w, 11);

        if (kind < 4)
            put_word(w);
        else if (kind < 6)
            put_element(w, spans[pick(w, ARRAY_LEN(spans))], depth - 1, 8);
        else if (kind == 6)
            buf_addz(&w->page, others[pick(w, ARRAY_LEN(others))]);
        else if (kind == 7)
            put_table(w, depth - 1);
        else
            put_element(w, blocks[pick(w, ARRAY_LEN(blocks))], depth - 1, 3);
    }
}

static void random_pages_give_the_words_that_gumbo_sees(void **state)
{
    struct writer w = { BUF(PAGE_MAX), 88172645463325252, 0 };

    for (int i = 0; i < RANDOM_PAGES; i++) { /* FE-7 */
        buf_clear(&w.page);
        w.words = 0;
        buf_addz(&w.page, "<!doctype html><body>x ");
        put_flow(&w, RANDOM_DEPTH);
        compare(buf_z(&w.page), w.page.n);
    }
    buf_free(&w.page);
}

/* ---- golden pages ---------------------------------------------------------------------------
 */

/* The whole of two pages, as written down and read over by a person. */
static void whole_pages_become_the_markdown_written_beside_them(void **state)
{
    static const char *const pages[] = { "article", "manual" };

    for (size_t i = 0; i < ARRAY_LEN(pages); i++) { /* FE-7 */
        auto_buf page = BUF(PAGE_MAX), want = BUF(PAGE_MAX), out = BUF(PAGE_MAX);
        char path[128];
        struct error e;

        snprintf(path, sizeof path, "tests/fixtures/html/%s.html", pages[i]);
        assert_true(file_read(path, &page, &e));
        snprintf(path, sizeof path, "tests/fixtures/html/%s.md", pages[i]);
        assert_true(file_read(path, &want, &e));
        assert_true(html_to_markdown(buf_str(&page), STR("http://h.example/d/p"), &out, &e));
        buf_addc(&out, '\n');
        assert_str(buf_str(&out), buf_z(&want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_named_reference_decodes_as_gumbo_does),
        cmocka_unit_test(ordinary_pages_give_the_words_that_gumbo_sees),
        cmocka_unit_test(random_pages_give_the_words_that_gumbo_sees),
        cmocka_unit_test(whole_pages_become_the_markdown_written_beside_them),
    };

    return cmocka_run_group_tests_name("text/html_oracle", tests, NULL, NULL);
}
