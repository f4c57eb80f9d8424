/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/clean.h"

#include "base/utf8.h"

/* Of a line, one cell between tabs. */
static void put_cell(struct buf *out, struct str cell)
{
    auto_buf clean = BUF(4 * cell.n + 16); /* an invalid byte becomes three */

    utf8_put_clean(&clean, cell);
    buf_add(out, buf_str(&clean));
}

void task_put_clean(struct buf *out, struct str text)
{
    size_t from = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '\n' && text.p[i] != '\t')
            continue;
        /* "\r\n" is one line break: its first half must not stay as a blank. */
        put_cell(out, str_part(text, from, i > from && text.p[i - 1] == '\r' ? i - 1 : i));
        buf_addc(out, text.p[i]);
        from = i + 1;
    }
    put_cell(out, str_from(text, from));
}

/* ---- JSON ---- */

static void put_string(struct buf *out, struct str s)
{
    auto_buf clean = BUF(4 * s.n + 16);

    task_put_clean(&clean, s);
    json_put_str(out, buf_str(&clean));
}

/* As deep as a document may be (JSON_MAX_DEPTH). */
static void put_value(struct buf *out, yyjson_val *v)
{
    bool is_obj = json_is_obj(v), first = true;

    if (json_is_str(v)) {
        put_string(out, json_str(v));
        return;
    }
    if (!is_obj && !json_is_arr(v)) {
        json_put_val(out, v);
        return;
    }
    buf_addc(out, is_obj ? '{' : '[');
    for (struct json_iter it = json_iter(v); json_next(&it); first = false) {
        if (!first)
            buf_addc(out, ',');
        if (is_obj) {
            put_string(out, it.key);
            buf_addc(out, ':');
        }
        put_value(out, it.val);
    }
    buf_addc(out, is_obj ? '}' : ']');
}

/* Nothing that could be a control character, escaped or not; of anything else more is looked
 * at. */
static bool is_plain(struct str json)
{
    for (size_t i = 0; i < json.n; i++) {
        unsigned char c = (unsigned char)json.p[i];

        if (c >= 0x7f)
            return false;
        if (c != '\\')
            continue;
        i++;
        if (i == json.n || (json.p[i] != 'n' && json.p[i] != 't' && json.p[i] != '"' &&
                            json.p[i] != '\\' && json.p[i] != '/'))
            return false;
    }
    return true;
}

void task_put_clean_json(struct buf *out, struct str json)
{
    auto_json doc = { 0 };

    if (is_plain(json))
        buf_add(out, json);
    else if (json_parse(&doc, json, NULL))
        put_value(out, doc.root);
    else
        buf_addz(out, "null");
}
