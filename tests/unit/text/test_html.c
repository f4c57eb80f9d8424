/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <time.h>

#include "base/utf8.h"
#include "text/html.h"

#define PAGE_URL "http://h.example/d/p?q"

/* What becomes of a page, or the error's text; owned. */
static char *markdown_of(struct str html)
{
    struct buf out = BUF(HTML_MARKDOWN_MAX);
    struct error e;

    if (!html_to_markdown(html, STR(PAGE_URL), &out, &e)) {
        buf_free(&out);
        return mem_printf("error: %s", e.msg);
    }
    return buf_take(&out);
}

struct row {
    const char *html, *markdown;
};

static void check_rows(const struct row *rows, size_t n)
{
    bool ok = true;

    for (size_t i = 0; i < n; i++) {
        auto_free char *got = markdown_of(str_of(rows[i].html));

        if (strcmp(got, rows[i].markdown) == 0)
            continue;
        print_error("%s\n  gives '%s'\n  not   '%s'\n", rows[i].html, got, rows[i].markdown);
        ok = false;
    }
    assert_true(ok);
}

#define CHECK_ROWS(rows) check_rows((rows), ARRAY_LEN(rows))

/* ---- blocks: FE-7 ---------------------------------------------------------------------------
 */

static void headings_are_atx_and_paragraphs_stand_apart(void **state)
{
    static const struct row rows[] = {
        { "<h1>A</h1><p>b</p><p>c", "# A\n\nb\n\nc" },
        { "<h1>1</h1><h2>2</h2><h3>3</h3><h4>4</h4><h5>5</h5><h6>6</h6>",
          "# 1\n\n## 2\n\n### 3\n\n#### 4\n\n##### 5\n\n###### 6" },
        { "<h2>A <b>b</b> <i>c</i><br>d</h2>", "## A b *c* d" },
        { "<h2><div>a</div><p>b</p></h2>c", "## a b\n\nc" },
        { "<h2></h2><h3> </h3>x", "x" },
        { "<h2>C #</h2>", "## C \\#" },
        { "<h1>a<h2>b</h2></h1>c", "# a\n\n## b\n\nc" },
        { "<h1>a</h3>b", "# a\n\nb" },
        { "<div>a<div>b</div>c</div>", "a\n\nb\n\nc" },
        { "a<section>b</section><p></p><p> </p><p>&nbsp;</p>c", "a\n\nb\n\nc" },
        { "a<hr>b<hr><hr>c", "a\n\n---\n\nb\n\n---\n\n---\n\nc" },
        { "<details><summary>s</summary>t</details>", "s\n\nt" },
        { "<figure><img src=a.png alt=A><figcaption>c</figcaption></figure>",
          "![A](http://h.example/d/a.png)\n\nc" },
    };

    CHECK_ROWS(rows);
}

static void lists_nest_and_keep_their_numbers(void **state)
{
    static const struct row rows[] = {
        { "<ul><li>a</li><li>b</li></ul>c", "- a\n- b\n\nc" },
        { "x<ul><li>a<ul><li>b<ul><li>c</ul></ul><li>d</ul>y",
          "x\n\n- a\n  - b\n    - c\n- d\n\ny" },
        { "<ol><li>a<li>b</ol>", "1. a\n2. b" },
        { "<ol start=9><li>a<li>b<ul><li>c</ul></ol>", "9. a\n10. b\n    - c" },
        { "<ol><li value=4>a<li>b<li value=x>c</ol>", "4. a\n5. b\n6. c" },
        { "<ol start=-3><li>a</ol>", "1. a" },
        { "<ol start=99999999999><li>a<li>b</ol>", "999999999. a\n999999999. b" },
        { "<ul><li>a<ol start=3><li>b</ol></ul>", "- a\n\n  3. b" },
        { "<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n- b" },
        { "<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n\n- c" },
        { "<ul><li><div>a</div></li><li></li><li>c</li></ul>", "- a\n- c" },
        { "<ol><li>a<li><li>c</ol>", "1. a\n3. c" },
        { "<ul><li>a<ul><li>b</ul>c</ul>", "- a\n  - b\n\n  c" },
        { "<ul><li><ul><li>a</ul></ul>", "- - a" },
        { "<ul><li><pre>a\nb</pre><li>c</ul>", "- ```\n  a\n  b\n  ```\n- c" },
        { "<ul><li>a<br>b</ul>", "- a  \n  b" },
        { "<li>a<dir>b</li>c", "- a\n\n  b\n\nc" },
        { "<li>a<li>b", "- a\n- b" },
        { "<ul>a<li>b</ul>", "a\n- b" },
        { "<menu><li>a</menu><dir><li>b</dir>", "- a\n\n- b" },
        { "<dl><dt>a<dd>b<dt>c<dt>d<dd>e<p>f</dl>g", "a\n: b\n\nc\nd\n: e\n\n  f\n\ng" },
    };

    CHECK_ROWS(rows);
}

static void quotes_and_code_keep_their_lines(void **state)
{
    static const struct row rows[] = {
        { "<blockquote>a<p>b</blockquote>c", "> a\n>\n> b\n\nc" },
        { "<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n>\n> > b" },
        { "<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n> b" },
        { "<blockquote><ul><li>a<li>b</ul>c</blockquote>", "> - a\n> - b\n>\n> c" },
        { "<ul><li><blockquote>a<p>b</blockquote></ul>", "- > a\n  >\n  > b" },
        { "<pre>\na\n  b\n\n</pre>", "```\na\n  b\n```" },
        { "<pre>\n\na</pre>", "```\n\na\n```" },
        { "<pre>a\r\nb\rc\td</pre>", "```\na\nb\nc\td\n```" },
        { "<pre><code class=\"hl language-c++ x\">a</code></pre>", "```c++\na\n```" },
        { "<pre class=\"lang-sh\">a</pre>", "```sh\na\n```" },
        { "<pre><code class=\"language-a`b\">a</code></pre>", "```\na\n```" },
        { "<pre>```\n````</pre>", "`````\n```\n````\n`````" },
        { "<pre>*a* [b](c) &lt;d> <b>e</b> <a href=x>f</a></pre>",
          "```\n*a* [b](c) <d> e f\n```" },
        { "<pre><div>a</div><div>b</div>c<br>d</pre>", "```\na\nb\nc\nd\n```" },
        { "<blockquote><pre>a\n\nb</pre></blockquote>", "> ```\n> a\n> \n> b\n> ```" },
        { "<pre>a<hr>b</p>c<table><tr><td>d<td>e<tr><td>f</table></pre>",
          "```\na\nb\nc\nd e\nf\n```" },
        { "<pre> \n </pre>x", "x" },
        { "<xmp><b>a</b></xmp>", "```\n<b>a</b>\n```" },
        { "a<plaintext><b>c</plaintext>", "a\n\n```\n<b>c</plaintext>\n```" },
        { "<h2>a <pre>b</pre> c</h2>", "## a `b` c" },
    };

    CHECK_ROWS(rows);
}

static void tables_of_data_have_pipes(void **state)
{
    static const struct row rows[] = {
        { "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>c",
          "| A | B |\n| --- | --- |\n| 1 | 2 |\n\nc" },
        { "<table><tr><td>a<td>b<tr><td>c<td>d</table>",
          "| a | b |\n| --- | --- |\n| c | d |" },
        { "<table><th>A<tr><td>a|b<tr><td>c<br>d<p>e</p>f\ng</table>",
          "| A |\n| --- |\n| a\\|b |\n| c<br>d<br>e<br>f g |" },
        { "<table><th>a<tr><td><code>b|c</code></table>", "| a |\n| --- |\n| `b\\|c` |" },
        { "<table><th>A<tr><td>1<td>2<td>3<tr></tr><tr><td><td>x</table>",
          "| A |  |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | x |" },
        { "<table><caption>C</caption><th>A<tr><td>b</table>", "C\n\n| A |\n| --- |\n| b |" },
        { "<table><th colspan=2>A<th>B<tr><td>1<td>2<td>3</table>",
          "| A |  | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |" },
        { "<table><th>A<th>B<tr><td rowspan=2>1<td>2<tr><td>3<tr><td>4</table>",
          "| A | B |\n| --- | --- |\n| 1 | 2 |\n|  | 3 |\n| 4 |" },
        { "<table><th>A<th>B<tr><td><ul><li>x<li>y</ul><td><pre>z</pre></table>",
          "| A | B |\n| --- | --- |\n| x<br>y | `z` |" },
        { "<table><th>A<tr><td>b <table><tr><td>c<td>d<tr><td>e</table> f</table>",
          "| A |\n| --- |\n| b<br>c d<br>e<br>f |" },
        { "<ul><li>a<table><th>A<tr><td>b</table></ul>", "- a\n\n  | A |\n  | --- |\n  | b |" },
        { "<table><thead><tr><td>A</thead><tbody><tr><td>b</tbody></table>",
          "| A |\n| --- |\n| b |" },
        { "<table><td>a<td>b<table><td>c<td>d</table>", "a b\n\n| c | d |\n| --- | --- |" },
        { "<table><th>A<tr>loose<td>b</table>", "| A |  |\n| --- | --- |\n| loose | b |" },
        { "<table><th>A<tr><td><a href=x>b</a> <b>c</b><td>d</table>",
          "| A |  |\n| --- | --- |\n| [b](http://h.example/d/x) **c** | d |" },
        { "<table></table><table><tr></table><table><th></table>x", "x" },
    };

    CHECK_ROWS(rows);
}

static void tables_for_layout_become_paragraphs(void **state)
{
    static const struct row rows[] = {
        { "<table><tr><td>a<tr><td>b</table>", "a\n\nb" },
        { "<table role=presentation><tr><td>a<td>b</table>", "a b" },
        { "<table><tr><td><h2>a</h2>b<td>c</table>", "## a\n\nb c" },
        { "<table><tr><td>x<td><table><tr><td>a<td>b<tr><td>c<td>d</table></table>",
          "x\n\n| a | b |\n| --- | --- |\n| c | d |" },
    };

    CHECK_ROWS(rows);
}

static void a_table_has_at_most_64_columns(void **state)
{
    auto_buf page = BUF(4096);
    auto_free char *got = NULL;
    size_t pipes = 0;

    buf_addz(&page, "<table><tr>");
    for (int i = 0; i < HTML_COLUMNS_MAX + 2; i++)
        buf_addf(&page, "<th>%d", i);
    got = markdown_of(buf_str(&page));
    for (const char *p = got; *p && *p != '\n'; p++)
        pipes += *p == '|';
    assert_int_equal(pipes, HTML_COLUMNS_MAX + 1);
    assert_has(got, "| 63 64 65 |\n");
}

/* ---- inside a paragraph: FE-7 ---------------------------------------------------------------
 */

static void emphasis_stands_around_the_words(void **state)
{
    static const struct row rows[] = {
        { "<p>a<b>b</b>c <strong> d </strong>e", "a**b**c **d** e" },
        { "<i>a</i> <em>b</em> <cite>c</cite>", "*a b* c" },
        { "<s>a</s> <del>b</del> <strike>c</strike> <ins>d</ins>", "~~a b c~~ d" },
        { "<b></b><i> </i>a<b><br></b>", "a" },
        { "<b>a</b><b>b</b>", "**ab**" },
        { "<b><i>a</i> b</b>", "***a* b**" },
        { "<b>a<i>b</b>c</i>", "**a*b****c*" },
        { "<b>a<p>b</p>c</b>", "**a**\n\n**b**\n\n**c**" },
        { "<p><b>a</p><p>b</b>c", "**a**\n\n**b**c" },
        { "<table><th>A<tr><td><b>a<td>b</table>c",
          "| A |  |\n| --- | --- |\n| **a** | b |\n\nc" },
        { "a</b></i>b", "ab" },
        { "10<sup>6</sup> x<sup>n</sup> 1<sup>st</sup> H<sub>2</sub>O", "10^6 x^n 1st H2O" },
    };

    CHECK_ROWS(rows);
}

static void code_is_fenced_by_enough_backticks(void **state)
{
    static const struct row rows[] = {
        { "<code>a b</code> <tt>c</tt> <kbd>d</kbd> <samp>e</samp>", "`a b` `c` `d` `e`" },
        { "<code>a`b</code>", "``a`b``" },
        { "<code>`a``</code>", "``` `a`` ```" },
        { "<code>*a* &lt;b&gt; \\</code>", "`*a* <b> \\`" },
        { "<code> a\n b </code>c", "`a b` c" },
        { "<code>a<b>b</b>c</code> <b><code>d</code></b>", "`abc` **`d`**" },
        { "<code>V&lt;<a href=t>T</a>&gt;</code>", "`V<`[`T`](http://h.example/d/t)`>`" },
        { "<code>a</code><code>b</code> <code><kbd>c</kbd> d</code>", "`ab` `c d`" },
        { "<code></code>a", "a" },
    };

    CHECK_ROWS(rows);
}

static void links_and_images_are_absolute(void **state)
{
    static const struct row rows[] = {
        { "<a href=x>t</a>", "[t](http://h.example/d/x)" },
        { "<a href=\" /x\n y \">t</a>", "[t](http://h.example/x%20y)" },
        { "<a href='?a=1&amp;b=2&copy=3'>t</a>", "[t](http://h.example/d/p?a=1&b=2&copy=3)" },
        { "<a href=#f>t</a>", "[t](http://h.example/d/p?q#f)" },
        { "<a href=//o/x>t</a>", "[t](http://o/x)" },
        { "<a href=mailto:a@b>t</a>", "[t](mailto:a@b)" },
        { "<a href=JavaScript:x>t</a><a href=data:,x>u</a><a href=''>v</a><a>w</a>", "tuvw" },
        { "<a href=x></a><a href=x> </a>t", "t" },
        { "<a href=x> t </a>u", "[t](http://h.example/d/x) u" },
        { "<a href=a>b<a href=c>d</a>", "[b](http://h.example/d/a)[d](http://h.example/d/c)" },
        { "<a href=x>t<br>u</a>", "[t u](http://h.example/d/x)" },
        { "<a href=x><h3>t</h3><p>u</p></a>v", "### [t](http://h.example/d/x)\n\nu\n\nv" },
        { "<a href=a(b)c>t</a><a href=a(b>u</a>",
          "[t](http://h.example/d/a(b)c)[u](http://h.example/d/a%28b)" },
        { "<a href='<>\"|\\`'>t</a>", "[t](http://h.example/d/%3C%3E%22%7C%5C%60)" },
        { "<a href=x>[t]</a>", "[\\[t\\]](http://h.example/d/x)" },
        { "<b>a <a href=x>t</a> b</b>", "**a [t](http://h.example/d/x) b**" },
        { "<a href=x><b>t</b></a>", "[**t**](http://h.example/d/x)" },
        { "!<a href=x>t</a>", "\\![t](http://h.example/d/x)" },
        { "<img src=a.png alt='A  &amp; [B'>", "![A & \\[B](http://h.example/d/a.png)" },
        { "<img src=a.png>", "![](http://h.example/d/a.png)" },
        { "<img src=a.png alt=''>t", "t" },
        { "<img src=data:image/png;base64,xx alt=A>", "A" },
        { "<a href=x><img src=y alt=A></a>",
          "[![A](http://h.example/d/y)](http://h.example/d/x)" },
        { "<code>a<img src=x><img src=x alt=b></code>", "`ab`" },
        { "<base href=/b/><base href=/c/><a href=x>t</a>", "[t](http://h.example/b/x)" },
        { "<a href=x>t</a><base href=http://o/>", "[t](http://o/x)" },
        { "<base href=' '><a href=x>t</a>", "[t](http://h.example/d/x)" },
    };

    CHECK_ROWS(rows);
}

static void a_link_that_is_too_long_keeps_its_text(void **state)
{
    auto_buf page = BUF(3 * HTML_URL_MAX);
    auto_free char *got = NULL;

    buf_addz(&page, "<a href=\"");
    buf_fill(&page, 'x', HTML_URL_MAX + 1);
    buf_addz(&page, "\">t</a>");
    got = markdown_of(buf_str(&page));
    assert_string_equal(got, "t");
}

static void white_space_collapses_as_in_css(void **state)
{
    static const struct row rows[] = {
        { " a \n\t b\r\n\fc ", "a b c" },
        { "a <span> </span> b", "a b" },
        { "<p> a</p> <p>b </p>", "a\n\nb" },
        { "a<!-- -->b", "ab" },
        { "a&nbsp;b &nbsp;c&nbsp;", "a\u00a0b \u00a0c" },
        { "a<br>b<br><br>c<br>", "a  \nb\n\nc" },
        { "<br>a<p><br>b", "a\n\nb" },
        { "a<wbr>b", "ab" },
        { "<button>a</button><button>b</button><select></select>c", "a b c" },
        { "<select><option>a<option>b<optgroup><option>c</select>", "a b c" },
    };

    CHECK_ROWS(rows);
}

static void what_markdown_would_misread_is_escaped(void **state)
{
    static const struct row rows[] = {
        { "*a* 2 * 3 **", "\\*a\\* 2 * 3 \\*\\*" },
        { "_a_ snake_case __init__ a _ b", "\\_a\\_ snake_case \\_\\_init\\_\\_ a _ b" },
        { "`a`", "\\`a\\`" },
        { "[a](b) [a][b] [1] a[0]", "[a]\\(b) [a]\\[b] [1] a[0]" },
        { "[a]: b", "[a]\\: b" },
        { "&lt;b> a &lt; b &lt;/c> 1&lt;2", "\\<b> a < b \\</c> 1\\<2" },
        { "&amp;lt; &amp;#60; a &amp; b AT&amp;T", "\\&lt; \\&#60; a & b AT&T" },
        { "a\\b \\* c\\", "a\\b \\\\\\* c\\\\" },
        { "~~a~~ ~b", "\\~\\~a\\~\\~ ~b" },
        { "a|b", "a|b" },
        { "<p># a<p>#a<p>####### a<p>#", "\\# a\n\n#a\n\n####### a\n\n\\#" },
        { "<p>- a<p>-a<p>--- <p>+ a<p>+1<p>* a",
          "\\- a\n\n-a\n\n\\---\n\n\\+ a\n\n+1\n\n\\* a" },
        { "<p>1. a<p>1.5<p>12) a<p>1<span>. a</span>", "1\\. a\n\n1.5\n\n12\\) a\n\n1\\. a" },
        { "<p>1234567890. a", "1234567890. a" },
        { "<p>> a<p>===<p>=a", "\\> a\n\n\\===\n\n=a" },
        { "a<br># b<br>- c", "a  \n\\# b  \n\\- c" },
        { "<b>1</b>. a", "**1**. a" },
    };

    CHECK_ROWS(rows);
}

/* ---- characters: FE-7 -----------------------------------------------------------------------
 */

static void numeric_references_follow_the_standard(void **state)
{
    static const struct row rows[] = {
        { "&#65;&#x42;&#X43;&#68 &#x45;", "ABCD E" },
        { "&#128;&#x99;&#159;&#x81;|", "\u20ac\u2122\u0178|" },
        { "&#0;&#xD800;&#x110000;&#99999999999999999999;", "\ufffd\ufffd\ufffd\ufffd" },
        { "&#; &#x; &#xg; &#-1;", "&#; &#x; \\&#xg; &#-1;" },
        { "a&#10;b&#1;&#127;&#x85;&#x9b;c", "a b\u2026\u203ac" },
        { "&#x1F600;", "\U0001f600" },
    };

    CHECK_ROWS(rows);
}

static void named_references_take_the_longest_name(void **state)
{
    static const struct row rows[] = {
        { "&amp;&AMP;&amp &eacute;&nGt;", "&&& \u00e9\u226b\u20d2" },
        { "&notin; &notit; &not; &no;", "\u2209 \u00acit; \u00ac \\&no;" },
        { "&copy2 &copycat &hellip &ampx", "\u00a92 \u00a9cat &hellip &x" },
        { "&CounterClockwiseContourIntegral;", "\u2233" },
        { "&; & &&lt;", "&; & &\\<" },
        { "<img src=x alt='&copy; &copy=1 &copya &copy'>",
          "![\u00a9 &copy=1 &copya \u00a9](http://h.example/d/x)" },
    };

    CHECK_ROWS(rows);
}

static void no_control_character_and_no_invalid_byte_comes_out(void **state)
{
    static const struct {
        struct str html;
        const char *markdown;
    } cases[] = {
        { BYTES("a\0b\001c\x1b[31md\x7f"), "abc[31md" },
        { BYTES("a\xc2\x80\xc2\x9f"
                "b\xc2\xa1"),
          "ab\u00a1" },
        { BYTES("a\xff\xc3(\xe2\x82\xed\xa0\x80z"), "a\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffdz" },
        { BYTES("<pre>a\x08\x1b\0b\fc\td</pre>"), "```\nabc\td\n```" },
        { BYTES("<a href='x\0\x01y\xff'>t</a>"), "[t](http://h.example/d/xy\ufffd)" },
        { BYTES("<img src=x alt='a\0\x1b'>"), "![a](http://h.example/d/x)" },
        { BYTES("<pre><code class='language-a\x1b\0b'>x</code></pre>"), "```ab\nx\n```" },
        { BYTES("<title>a\x1b\xff</title>b"), "# a\ufffd\n\nb" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_free char *got = markdown_of(cases[i].html);

        assert_string_equal(got, cases[i].markdown);
    }
}

/* ---- what is shown: FE-7, FE-4 --------------------------------------------------------------
 */

static void scripts_styles_and_the_like_are_dropped(void **state)
{
    static const struct row rows[] = {
        { "a<script>b</script>c<style>d</style>e<noscript>f</noscript>g", "aceg" },
        { "a<template>b<p>c</p></template>d<iframe>e</iframe>f", "adf" },
        { "a<svg><text>b</text><title>c</title><g><path/></g></svg>d", "ad" },
        { "a<svg><foreignObject><p>b</p></foreignObject></svg>c", "ac" },
        { "a<svg><style/><script/>b</svg>c", "ac" },
        { "a<svg><g>b<p>c</p>d", "a\n\nc\n\nd" },
        { "a<svg/>b", "ab" },
        { "<head><meta name=x><link rel=y></head>a", "a" },
        { "<script>if (a < b) '<p>c'</script>d", "d" },
        { "<script><!-- <script> </script> --></script>a", "a" },
        { "<script><!-- </script>a", "a" },
        { "<script></scriptx></SCRIPT >a", "a" },
        { "<style></style x>a</style>b", "ab" },
        { "<textarea><b>&amp;</textarea>", "\\<b>&" },
        { "<noframes>x</noframes><noembed>y</noembed>z", "z" },
    };

    CHECK_ROWS(rows);
}

static void the_title_is_the_heading_where_the_body_has_none(void **state)
{
    static const struct row rows[] = {
        { "<title>T &amp; *u*</title>a", "# T & \\*u\\*\n\na" },
        { "<title>T</title><h1>H</h1>a", "# H\n\na" },
        { "<title>T</title><h1></h1><h2>H</h2>", "# T\n\n## H" },
        { "<title>A</title><title>B</title>x", "# A\n\nx" },
        { "<title><b>T</b></title>a", "# \\<b>T\\</b>\n\na" },
        { "<svg><title>S</title></svg>a", "a" },
        { "<title> </title>a", "a" },
        { "<title>T</title><h1>H</h1><main><p>aaaaaa</p></main>", "# T\n\naaaaaa" },
    };

    CHECK_ROWS(rows);
}

static void the_article_is_preferred_when_it_holds_half_of_the_text(void **state)
{
    static const struct row rows[] = {
        { "<nav>menu</nav><main>long text</main><footer>foot</footer>", "long text" },
        { "<nav>menu</nav><article>long text</article>", "long text" },
        { "<nav>long menu</nav><main>text</main>", "long menu\n\ntext" },
        { "<main>abcdef<nav>n</nav><footer>f</footer><aside>a<p>b</aside>g</main>xyz",
          "abcdef\n\ng" },
        { "<main><article>abc</article><article>def</article></main>xy", "abc\n\ndef" },
        { "<article>abc</article><article>def</article>", "abc" },
        { "<article>ab</article><article>cd</article><article>ef</article>", "ab\n\ncd\n\nef" },
        { "<div role=main>abcdef</div>xy", "abcdef" },
        { "<main><nav>abcdef</nav></main>x", "abcdef\n\nx" },
        { "a<nav>b</nav><aside>c</aside><footer>d</footer>", "a\n\nb\n\nc\n\nd" },
        { "<main><script>x</script>abc</main><p>de", "abc" },
        { "<main>abcdef<aside><table><th>x</table><ul><li>y</ul></aside><ul><li>z</ul></main>",
          "abcdef\n\n- z" },
    };

    CHECK_ROWS(rows);
}

static void a_page_without_text_is_an_error(void **state)
{
    static const char *const pages[] = {
        "",
        " ",
        "<p></p>",
        "<title>T</title><noscript>enable it</noscript>",
        "<hr>",
        "&nbsp;",
        "<script>x</script>",
        "<!-- x",
        "<img alt=''>",
        "<table><tr><td></table>",
        "\0\x01",
        "<ul><li></ul>",
        "<pre>\n</pre>",
        "<h1></h1>",
    };

    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        auto_buf out = BUF(100);
        struct error e = { 0 };

        buf_addz(&out, "before"); /* FE-4 */
        assert_false(html_to_markdown(str_of(pages[i]), STR(PAGE_URL), &out, &e));
        assert_int_equal(e.kind, ERR_NOT_FOUND);
        assert_str(buf_str(&out), "before");
    }
}

/* ---- broken pages: FE-7 ---------------------------------------------------------------------
 */

static void tags_that_are_left_out_or_too_many_do_no_harm(void **state)
{
    static const struct row rows[] = {
        { "<p>a<p>b<div>c</p>d</div>e", "a\n\nb\n\nc\n\nd\n\ne" },
        { "<p>a<ul><li>b<p>c<li>d</ul>", "a\n\n- b\n\n  c\n\n- d" },
        { "a</div></li></table></ul></h1>b", "ab" },
        { "a</p>b", "a\n\nb" },
        { "<ul><li>a</ul></li>b", "- a\n\nb" },
        { "<div><ul><li>a</div>b", "- a\n\nb" },
        { "<table><td>a</table></td></tr>b", "a\n\nb" },
        { "<td>a</td><tr><th>b", "ab" },
        { "<table><th>A<tr><td>a</div></p><p>b<td>c</table>",
          "| A |  |\n| --- | --- |\n| a<br>b | c |" },
        { "<p>a</body></html>b<p>c", "ab\n\nc" },
        { "a</br>b", "a  \nb" },
        { "<html><body>a<html><body>b<head>c", "abc" },
        { "<button>a<button>b</button>c", "a b c" },
        { "<h1>a<h2>b", "# a\n\n## b" },
        { "<a href=x>a<p>b", "[a](http://h.example/d/x)\n\nb" },
        { "<dl><dd>a<dt>b", ": a\n\nb" },
    };

    CHECK_ROWS(rows);
}

static void comments_end_in_every_form_that_browsers_know(void **state)
{
    static const struct row rows[] = {
        { "a<!-- b -->c", "ac" },
        { "a<!-->b<!--->c", "abc" },
        { "a<!-- b --!>c", "ac" },
        { "a<!-- -- > - -> --->b", "ab" },
        { "a<!-- <!-- --> b -->", "a b -->" },
        { "a<!- b ->c<!doctype x>d<!>e", "acde" },
        { "a<?b?>c</ d>e</>f", "acef" },
        { "a<![CDATA[ b > c ]]>", "a c ]]>" },
        { "a<svg><![CDATA[ > ]]></svg>b", "ab" },
        { "a<!-- b", "a" },
        { "a<!b", "a" },
    };

    CHECK_ROWS(rows);
}

static void what_is_no_tag_is_text(void **state)
{
    static const struct row rows[] = {
        { "a < b <3 <", "a < b \\<3 \\<" },
        { "a<<b>c", "a\\<**c**" },
        { "a</", "a\\</" },
        { "a<b", "a" },
        { "a<b c='d", "a" },
        { "a<b c=\"d>e", "a" },
    };

    CHECK_ROWS(rows);
}

static void attributes_are_read_in_every_form(void **state)
{
    static const struct row rows[] = {
        { "<a HREF=x>t</a>", "[t](http://h.example/d/x)" },
        { "<a href = 'x' >t</a>", "[t](http://h.example/d/x)" },
        { "<a\nhref\n=\n\"x\"title>t</a>", "[t](http://h.example/d/x)" },
        { "<a href=x href=y>t</a>", "[t](http://h.example/d/x)" },
        { "<a/href=x/>t</a>", "[t](http://h.example/d/x/)" },
        { "<a =b href=x>t</a>", "[t](http://h.example/d/x)" },
        { "<a href=\"x>y\">t</a>", "[t](http://h.example/d/x%3Ey)" },
        { "<a href=>t</a>", "t" },
        { "<a href='x'b'c>t</a>", "[t](http://h.example/d/x)" },
        { "<p/>a<br/>b<hr/>c", "a  \nb\n\n---\n\nc" },
    };

    CHECK_ROWS(rows);
}

static void attributes_after_the_64th_are_skipped(void **state)
{
    auto_buf page = BUF(4096);
    auto_free char *last = NULL, *beyond = NULL;

    buf_addz(&page, "<a ");
    for (int i = 0; i < HTML_ATTRS_MAX - 1; i++)
        buf_addf(&page, "a%d=1 ", i);
    buf_addz(&page, "href=x>t</a>");
    last = markdown_of(buf_str(&page));
    assert_string_equal(last, "[t](http://h.example/d/x)");
    buf_clear(&page);
    buf_addz(&page, "<a ");
    for (int i = 0; i < HTML_ATTRS_MAX; i++)
        buf_addf(&page, "a%d=1 ", i);
    buf_addz(&page, "href=x>t</a>");
    beyond = markdown_of(buf_str(&page));
    assert_string_equal(beyond, "t");
}

/* ---- limits: FE-7, SEC-77 -------------------------------------------------------------------
 */

static void fill_with(struct buf *b, const char *what, size_t times)
{
    for (size_t i = 0; i < times; i++)
        buf_addz(b, what);
}

static void a_million_nested_divs_are_nothing_special(void **state)
{
    auto_buf page = BUF(1 << 24);
    auto_free char *got = NULL;
    int64_t began = clock_ms();

    fill_with(&page, "<div>", 1000000); /* SEC-77 */
    buf_addz(&page, "deep");
    fill_with(&page, "</div>", 1000000);
    buf_addz(&page, "<p>behind");
    got = markdown_of(buf_str(&page));
    assert_string_equal(got, "deep\n\nbehind");
    assert_in_range(clock_ms() - began, 0, 1000 * slack());
}

static void elements_beyond_256_are_skipped_but_their_text_stays(void **state)
{
    auto_buf page = BUF(1 << 16);
    auto_free char *got = NULL;

    fill_with(&page, "<div>", HTML_OPEN_MAX);
    buf_addz(&page, "<ul><li>a<li>b</ul><div>c</div><table><tr><th>d<td>e</table><p>f<p>g");
    fill_with(&page, "</div>", HTML_OPEN_MAX);
    buf_addz(&page, "<ul><li>h</ul>");
    got = markdown_of(buf_str(&page));
    assert_has(got, "a\n\nb\n\nc\n\nd");
    assert_has(got, "f\n\ng\n\n- h");
}

static void lists_deeper_than_16_share_the_margin(void **state)
{
    auto_buf page = BUF(1 << 16);
    auto_free char *got = NULL;

    for (int i = 0; i < 40; i++)
        buf_addf(&page, "<ul><li>%d", i);
    got = markdown_of(buf_str(&page));
    assert_has(got,
               "\n                              - 15\n                              - 16\n");
    assert_has(got, "\n                              - 39");
}

static void output_that_would_be_too_long_is_an_error(void **state)
{
    auto_buf out = BUF(10);
    struct error e = { 0 };

    buf_addz(&out, "12345");
    assert_false(
        html_to_markdown(STR("<p>123<p>456<table><th>a<td>b</table>"), STR(""), &out, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_true(out.n == 5 && !out.over);
    assert_true(html_to_markdown(STR("<p>12345"), STR(""), &out, &e));
    assert_str(buf_str(&out), "1234512345");
}

/* Processor time for one page of `bytes` made of `head` and repetitions of `unit`, in ns. */
static int64_t time_of(const char *head, const char *unit, size_t bytes)
{
    auto_buf page = BUF(bytes * 2 + 8192), out = BUF((size_t)1 << 28);
    struct timespec before, after;
    struct error e;

    buf_addz(&page, head);
    fill_with(&page, unit, bytes / strlen(unit));
    buf_addz(&page, "x");
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    html_to_markdown(buf_str(&page), STR(PAGE_URL), &out, &e);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec;
}

static int64_t best_time_of(const char *head, const char *unit, size_t bytes)
{
    int64_t best = INT64_MAX;

    for (int i = 0; i < 3; i++) {
        int64_t t = time_of(head, unit, bytes);

        best = t < best ? t : best;
    }
    return best;
}

static void time_is_linear_whatever_the_page_holds(void **state)
{
    static const struct {
        const char *head, *unit;
    } cases[] = {
        { "", "<div>" },
        { "", "<div>a</p></li>" },
        { "", "<b>x" },
        { "", "<p><b><i><a href=x><code>x" },
        { "", "<table><tr><td>" },
        { "", "<table><td>x<table>" },
        { "<table><th rowspan=99>a<th rowspan=99>b", "<tr><td>x" },
        { "", "<table><th>a</table>" },
        { "", "<table><caption>a<td>b" },
        { "", "<ul><li>x" },
        { "", "<ol><li>" },
        { "", "<blockquote>x<p>" },
        { "", "<h1>x</h1>" },
        { "", "<li>x" },
        { "", "<dd>x<dt>" },
        { "", "<select><option>x" },
        { "", "<button>x" },
        { "", "<p><object>x</p>" },
        { "", "<article>x</article>" },
        { "", "<main><aside>x" },
        { "", "<svg><desc>x" },
        { "<svg>", "<![CDATA[" },
        { "", "<!--" },
        { "", "<!-->" },
        { "", "<!" },
        { "", "<?" },
        { "", "</" },
        { "", "<" },
        { "", "&" },
        { "", "&a" },
        { "", "&lt" },
        { "", "&#1" },
        { "", "]" },
        { "", "`" },
        { "<code>", "`a" },
        { "", "<code>`</code> " },
        { "<pre>", "`" },
        { "", "<pre>`</pre>" },
        { "", "a\n" },
        { "", "\xff" },
        { "", "x<br>" },
        { "<a ", "b " },
        { "<a ", "b='" },
        { "<a href='", "../" },
        { "<a href='", "(" },
        { "<script>", "<!--<script>" },
        { "<title>", "</titl" },
        { "<plaintext>", "<a>" },
        { "<pre class='", "language- " },
        { "", "<a href=x>y</a>" },
        { "", "<img src=x alt=y>" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t small = best_time_of(cases[i].head, cases[i].unit, 1 << 16);
        int64_t large = best_time_of(cases[i].head, cases[i].unit, 1 << 18);

        /* Four times as much: a factor of 4, or of 16 if it were quadratic. */
        if (large > 8 * small + 2000000LL * slack())
            print_error("'%s' and '%s': %lld, then %lld ns\n", cases[i].head, cases[i].unit,
                        (long long)small, (long long)large);
        assert_true(large <= 8 * small + 2000000LL * slack());
    }
}

/* ---- sniffing: FE-3, FE-8 -------------------------------------------------------------------
 */

static void html_is_told_by_tag_type_or_beginning(void **state)
{
    static const struct {
        const char *text, *type;
        bool want;
    } cases[] = {
        { "x <html>", "text/plain", true }, /* FE-3 */
        { "x <HTML lang=en>", "", true },
        { "plain", "text/html; charset=x", true },
        { "plain", "Text/HTML", true },
        { "<p>a", "", true },
        { "<p>a", " ", true },
        { "<p>a", "text/plain", false },
        { " \n<!DOCTYPE html>", "", true },
        { "\xef\xbb\xbf<!-- x", "", true },
        { "<br/>", "", false },
        { "<b>", "", true },
        { "<bx>", "", false },
        { "plain", "", false },
        { "{\"a\":1}", "", false },
        { "", "", false },
        { "", "application/xhtml+xml", false },
    };
    auto_buf late = BUF(400);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(html_looks_like(str_of(cases[i].text), str_of(cases[i].type)),
                         cases[i].want);
    fill_with(&late, "\u00e9", 95);
    buf_addz(&late, "<html");
    assert_true(html_looks_like(buf_str(&late), STR("x/y")));
    buf_clear(&late);
    fill_with(&late, "\u00e9", 96);
    buf_addz(&late, "<html");
    assert_false(html_looks_like(buf_str(&late), STR("x/y")));
}

static void the_meta_charset_is_found_as_the_standard_does(void **state)
{
    static const struct {
        const char *page, *want;
    } cases[] = {
        { "<meta charset=utf-8>", "utf-8" }, /* FE-8 */
        { "<html><head><META CHARSET=' iso-8859-2 '>", "iso-8859-2" },
        { "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>", "koi8-r" },
        { "<meta http-equiv=content-type content='charset = \"x y\"; z'>", "x y" },
        { "<meta http-equiv=content-type content='charsetx charset=a;b'>", "a" },
        { "<meta http-equiv=content-type content='charset=\"a'>", "" },
        { "<meta http-equiv=refresh content='charset=a'>", "" },
        { "<meta content='text/html; charset=a'>", "" },
        { "<!-- <meta charset=a> --><meta charset=b>", "b" },
        { "<a title='<meta charset=a>'><meta charset=b>", "b" },
        { "<script>'<meta charset=a>'</script><meta charset=b>", "b" },
        { "<meta name=x><meta charset=''><meta charset=c>", "c" },
        { "<meta charset=UTF-16LE>", "utf-8" },
        { "<meta charset=a", "" },
        { "", "" },
    };
    auto_buf page = BUF(2048);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(html_meta_charset(str_of(cases[i].page)), cases[i].want);
    buf_fill(&page, ' ', HTML_SNIFF_MAX - 16);
    buf_addz(&page, "<meta charset=a>");
    assert_str(html_meta_charset(buf_str(&page)), "a");
    buf_clear(&page);
    buf_fill(&page, ' ', HTML_SNIFF_MAX - 15);
    buf_addz(&page, "<meta charset=a>");
    assert_str(html_meta_charset(buf_str(&page)), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_are_atx_and_paragraphs_stand_apart),
        cmocka_unit_test(lists_nest_and_keep_their_numbers),
        cmocka_unit_test(quotes_and_code_keep_their_lines),
        cmocka_unit_test(tables_of_data_have_pipes),
        cmocka_unit_test(tables_for_layout_become_paragraphs),
        cmocka_unit_test(a_table_has_at_most_64_columns),
        cmocka_unit_test(emphasis_stands_around_the_words),
        cmocka_unit_test(code_is_fenced_by_enough_backticks),
        cmocka_unit_test(links_and_images_are_absolute),
        cmocka_unit_test(a_link_that_is_too_long_keeps_its_text),
        cmocka_unit_test(white_space_collapses_as_in_css),
        cmocka_unit_test(what_markdown_would_misread_is_escaped),
        cmocka_unit_test(numeric_references_follow_the_standard),
        cmocka_unit_test(named_references_take_the_longest_name),
        cmocka_unit_test(no_control_character_and_no_invalid_byte_comes_out),
        cmocka_unit_test(scripts_styles_and_the_like_are_dropped),
        cmocka_unit_test(the_title_is_the_heading_where_the_body_has_none),
        cmocka_unit_test(the_article_is_preferred_when_it_holds_half_of_the_text),
        cmocka_unit_test(a_page_without_text_is_an_error),
        cmocka_unit_test(tags_that_are_left_out_or_too_many_do_no_harm),
        cmocka_unit_test(comments_end_in_every_form_that_browsers_know),
        cmocka_unit_test(what_is_no_tag_is_text),
        cmocka_unit_test(attributes_are_read_in_every_form),
        cmocka_unit_test(attributes_after_the_64th_are_skipped),
        cmocka_unit_test(a_million_nested_divs_are_nothing_special),
        cmocka_unit_test(elements_beyond_256_are_skipped_but_their_text_stays),
        cmocka_unit_test(lists_deeper_than_16_share_the_margin),
        cmocka_unit_test(output_that_would_be_too_long_is_an_error),
        cmocka_unit_test(time_is_linear_whatever_the_page_holds),
        cmocka_unit_test(html_is_told_by_tag_type_or_beginning),
        cmocka_unit_test(the_meta_charset_is_found_as_the_standard_does),
    };

    return cmocka_run_group_tests_name("text/html", tests, NULL, NULL);
}
