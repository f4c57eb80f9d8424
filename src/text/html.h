/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Web pages as Markdown (FE-3, FE-4, FE-7, FE-8). Pure functions without state: any of them may
 * run on a pool thread. Time is linear in the page, whatever it holds, and memory is bounded by
 * its size: nothing recurses, at most HTML_OPEN_MAX open elements and HTML_ATTRS_MAX attributes
 * a tag are kept. What is beyond them is skipped, but its text stays.
 *
 *     struct buf out = BUF(HTML_MARKDOWN_MAX);
 *     struct error e;
 *     if (!html_to_markdown(page, str_of(final_url), &out, &e)) ... e.kind == ERR_NOT_FOUND ...
 *
 * Source: the HTML standard of WHATWG, sections 13.2.5 (tokenization) and 13.5 (named character
 * references), read as a browser without scripting would show the page; CommonMark 0.31 with
 * GitHub's tables and strikethrough.
 */
#ifndef SYM_TEXT_HTML_H
#define SYM_TEXT_HTML_H

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#define HTML_OPEN_MAX     256  /* open elements */
#define HTML_ATTRS_MAX    64   /* attributes of one tag */
#define HTML_URL_MAX      8192 /* bytes; a longer link keeps its text, not its address */
#define HTML_BASE_MAX     2048 /* bytes of a <base> that counts: each link may repeat it */
#define HTML_TITLE_MAX    1024 /* bytes of a title that becomes a heading */
#define HTML_NEST_MAX     16   /* lists and quotes that indent; deeper ones share the margin */
#define HTML_COLUMNS_MAX  64   /* of a table; further cells are joined to the last one */
#define HTML_SNIFF_MAX    1024 /* bytes in which a <meta charset> is looked for (FE-8) */
#define HTML_MARKDOWN_MAX ((size_t)16 << 20) /* bytes: a ceiling for `out` that fits SV-30 */

/*
 * Appends the page's text as Markdown: valid UTF-8 without control characters other than LF
 * and, inside fenced code, TAB; no white space at either end and no line feed behind. `html` is
 * UTF-8 (FE-8 is the caller's); an invalid sequence becomes U+FFFD. `base_url` is the page's
 * final address; links and images are made absolute against <base href>, itself resolved
 * against it.
 *
 * False, with nothing appended: ERR_NOT_FOUND when there is neither text nor an image to show
 * (FE-4; a title alone does not count), ERR_LIMIT when the output would pass out->max.
 */
bool html_to_markdown(struct str html, struct str base_url, struct buf *out, struct error *e);

/* FE-3: the answer is a page: "<html" in the first 100 characters, or a content type that
 * contains text/html, or no content type and a beginning that looks like HTML (the MIME
 * Sniffing standard's signatures of text/html). Letter case does not matter. */
bool html_looks_like(struct str text, struct str content_type);

/* FE-8: the encoding that a <meta charset> or <meta http-equiv=content-type> within the first
 * HTML_SNIFF_MAX bytes names, as a slice of `bytes` or of a constant; empty when there is none.
 * Read as the standard's prescan does: comments and other tags' attributes are passed over, and
 * UTF-16, which a page readable byte by byte cannot be in, means "utf-8". */
struct str html_meta_charset(struct str bytes);

#endif
