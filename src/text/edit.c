/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/edit.h"

#include "base/utf8.h"

bool edit_nest(struct json *ret, struct edit_at at, size_t left, struct str value,
               struct error *e)
{
    auto_buf b = BUF(EDIT_VALUE_MAX);

    for (size_t i = at.n - left + 1; i < at.n; i++) {
        buf_addc(&b, '{');
        json_put_str(&b, str_of(at.v[i].key));
        buf_addc(&b, ':');
    }
    buf_add(&b, value);
    buf_fill(&b, '}', left - 1);
    return buf_ok(&b, e) && json_parse(ret, buf_str(&b), e);
}

struct str edit_newline(struct str text)
{
    size_t nl = str_find_char(text, '\n');

    return nl != SIZE_MAX && nl && text.p[nl - 1] == '\r' ? STR("\r\n") : STR("\n");
}

size_t edit_line_start(struct str text, size_t at)
{
    size_t first = text.n - utf8_skip_bom(text).n;

    while (at > first && text.p[at - 1] != '\n')
        at--;
    return at;
}

size_t edit_line_end(struct str text, size_t at)
{
    size_t n = str_find_char(str_from(text, at), '\n');

    return n == SIZE_MAX ? text.n : at + n + 1;
}
