/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The elements, as facts. */
#include <string.h>

#include "base/mem.h"
#include "text/html_impl.h"

#define NAME_MAX_BYTES sizeof((struct html_element){ 0 }.name)

#define GROUP (EL_OPEN | EL_BLOCK | EL_CLOSES_P)
#define CELL  (EL_OPEN | EL_SCOPE)
#define DROP  (EL_RAW | EL_HIDE)

/* clang-format off */
/* In the order of the enum, which is the order of the names. */
static const struct html_element elements[] = {
    { "", TAG_OTHER, FORMAT_NONE, EL_FOREIGN },
    { "a", TAG_A, FORMAT_NONE, EL_FOREIGN },
    { "address", TAG_ADDRESS, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "article", TAG_ARTICLE, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "aside", TAG_ASIDE, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "b", TAG_B, FORMAT_STRONG, 0 },
    { "base", TAG_BASE, FORMAT_NONE, EL_FOREIGN },
    { "blockquote", TAG_BLOCKQUOTE, FORMAT_NONE, GROUP },
    { "body", TAG_BODY, FORMAT_NONE, 0 },
    { "br", TAG_BR, FORMAT_NONE, 0 },
    { "button", TAG_BUTTON, FORMAT_NONE, EL_OPEN | EL_SCOPE | EL_FOREIGN },
    { "caption", TAG_CAPTION, FORMAT_NONE, CELL | EL_FOREIGN },
    { "center", TAG_CENTER, FORMAT_NONE, GROUP },
    { "code", TAG_CODE, FORMAT_CODE, 0 },
    { "col", TAG_COL, FORMAT_NONE, EL_FOREIGN },
    { "colgroup", TAG_COLGROUP, FORMAT_NONE, EL_FOREIGN },
    { "dd", TAG_DD, FORMAT_NONE, GROUP },
    { "del", TAG_DEL, FORMAT_DEL, EL_FOREIGN },
    { "desc", TAG_DESC, FORMAT_NONE, EL_SCOPE | EL_FOREIGN },
    { "details", TAG_DETAILS, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "dialog", TAG_DIALOG, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "dir", TAG_DIR, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "div", TAG_DIV, FORMAT_NONE, GROUP },
    { "dl", TAG_DL, FORMAT_NONE, GROUP },
    { "dt", TAG_DT, FORMAT_NONE, GROUP },
    { "em", TAG_EM, FORMAT_EM, 0 },
    { "fieldset", TAG_FIELDSET, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "figcaption", TAG_FIGCAPTION, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "figure", TAG_FIGURE, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "footer", TAG_FOOTER, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "foreignobject", TAG_FOREIGNOBJECT, FORMAT_NONE, EL_SCOPE | EL_FOREIGN },
    { "form", TAG_FORM, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "h1", TAG_H1, FORMAT_NONE, GROUP },
    { "h2", TAG_H2, FORMAT_NONE, GROUP },
    { "h3", TAG_H3, FORMAT_NONE, GROUP },
    { "h4", TAG_H4, FORMAT_NONE, GROUP },
    { "h5", TAG_H5, FORMAT_NONE, GROUP },
    { "h6", TAG_H6, FORMAT_NONE, GROUP },
    { "head", TAG_HEAD, FORMAT_NONE, 0 },
    { "header", TAG_HEADER, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "hgroup", TAG_HGROUP, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "hr", TAG_HR, FORMAT_NONE, EL_CLOSES_P },
    { "html", TAG_HTML, FORMAT_NONE, EL_FOREIGN },
    { "i", TAG_I, FORMAT_EM, 0 },
    { "iframe", TAG_IFRAME, FORMAT_NONE, DROP | EL_FOREIGN },
    { "img", TAG_IMG, FORMAT_NONE, 0 },
    { "input", TAG_INPUT, FORMAT_NONE, EL_FOREIGN },
    { "kbd", TAG_KBD, FORMAT_CODE, EL_FOREIGN },
    { "legend", TAG_LEGEND, FORMAT_NONE, EL_OPEN | EL_BLOCK | EL_FOREIGN },
    { "li", TAG_LI, FORMAT_NONE, EL_OPEN | EL_BLOCK | EL_CLOSES_P },
    { "link", TAG_LINK, FORMAT_NONE, EL_FOREIGN },
    { "listing", TAG_LISTING, FORMAT_NONE, GROUP },
    { "main", TAG_MAIN, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "menu", TAG_MENU, FORMAT_NONE, GROUP },
    { "meta", TAG_META, FORMAT_NONE, 0 },
    { "nav", TAG_NAV, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "noembed", TAG_NOEMBED, FORMAT_NONE, DROP | EL_FOREIGN },
    { "noframes", TAG_NOFRAMES, FORMAT_NONE, DROP | EL_FOREIGN },
    { "noscript", TAG_NOSCRIPT, FORMAT_NONE, DROP | EL_FOREIGN },
    { "object", TAG_OBJECT, FORMAT_NONE, EL_OPEN | EL_SCOPE | EL_FOREIGN },
    { "ol", TAG_OL, FORMAT_NONE, GROUP },
    { "optgroup", TAG_OPTGROUP, FORMAT_NONE, EL_OPEN | EL_FOREIGN },
    { "option", TAG_OPTION, FORMAT_NONE, EL_OPEN | EL_FOREIGN },
    { "p", TAG_P, FORMAT_NONE, GROUP },
    { "plaintext", TAG_PLAINTEXT, FORMAT_NONE, GROUP | EL_RAW | EL_FOREIGN },
    { "pre", TAG_PRE, FORMAT_NONE, GROUP },
    { "s", TAG_S, FORMAT_DEL, 0 },
    { "samp", TAG_SAMP, FORMAT_CODE, EL_FOREIGN },
    { "script", TAG_SCRIPT, FORMAT_NONE, DROP | EL_FOREIGN },
    { "search", TAG_SEARCH, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "section", TAG_SECTION, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "select", TAG_SELECT, FORMAT_NONE, EL_OPEN | EL_FOREIGN },
    { "span", TAG_SPAN, FORMAT_NONE, 0 },
    { "strike", TAG_STRIKE, FORMAT_DEL, 0 },
    { "strong", TAG_STRONG, FORMAT_STRONG, 0 },
    { "style", TAG_STYLE, FORMAT_NONE, DROP | EL_FOREIGN },
    { "summary", TAG_SUMMARY, FORMAT_NONE, GROUP | EL_FOREIGN },
    { "sup", TAG_SUP, FORMAT_NONE, 0 },
    { "svg", TAG_SVG, FORMAT_NONE, EL_OPEN | EL_HIDE | EL_FOREIGN },
    { "table", TAG_TABLE, FORMAT_NONE, EL_OPEN | EL_SCOPE | EL_CLOSES_P },
    { "tbody", TAG_TBODY, FORMAT_NONE, EL_OPEN | EL_FOREIGN },
    { "td", TAG_TD, FORMAT_NONE, CELL | EL_FOREIGN },
    { "template", TAG_TEMPLATE, FORMAT_NONE, CELL | EL_HIDE | EL_FOREIGN },
    { "textarea", TAG_TEXTAREA, FORMAT_NONE, EL_OPEN | EL_RCDATA | EL_FOREIGN },
    { "tfoot", TAG_TFOOT, FORMAT_NONE, EL_OPEN | EL_FOREIGN },
    { "th", TAG_TH, FORMAT_NONE, CELL | EL_FOREIGN },
    { "thead", TAG_THEAD, FORMAT_NONE, EL_OPEN | EL_FOREIGN },
    { "title", TAG_TITLE, FORMAT_NONE, EL_RCDATA | EL_FOREIGN },
    { "tr", TAG_TR, FORMAT_NONE, EL_OPEN | EL_FOREIGN },
    { "tt", TAG_TT, FORMAT_CODE, 0 },
    { "ul", TAG_UL, FORMAT_NONE, GROUP },
    { "wbr", TAG_WBR, FORMAT_NONE, EL_FOREIGN },
    { "xmp", TAG_XMP, FORMAT_NONE, GROUP | EL_RAW | EL_FOREIGN },
};
/* clang-format on */

_Static_assert(ARRAY_LEN(elements) == TAG_COUNT, "a row for each tag");

const struct html_element *html_element(enum html_tag tag)
{
    return &elements[tag];
}

enum html_tag html_tag_of(struct str name)
{
    char key[NAME_MAX_BYTES] = { 0 };
    size_t lo = 1, hi = TAG_COUNT;

    if (name.n >= sizeof key)
        return TAG_OTHER;
    for (size_t i = 0; i < name.n; i++)
        key[i] = (char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] | 0x20 : name.p[i]);
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int order = memcmp(key, elements[mid].name, sizeof key);

        if (order == 0)
            return (enum html_tag)mid;
        if (order < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return TAG_OTHER;
}
