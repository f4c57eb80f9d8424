/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "servers/server.h"

#define ERROR_TEXT_MAX ((size_t)64 << 10)

__attribute__((format(printf, 2, 0))) static bool set_error(struct answer *a, const char *fmt,
                                                            va_list ap)
{
    auto_buf text = BUF(ERROR_TEXT_MAX + 8);
    va_list again;
    int n;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n > 0) {
        /* With the rest of a character that the cut would split. */
        size_t size = (size_t)n < text.max ? (size_t)n + 1 : text.max;

        vsnprintf(buf_room(&text, size), size, fmt, ap);
        text.n = utf8_cut((struct str){ text.p, size - 1 }, ERROR_TEXT_MAX).n;
    }
    /* The arguments may point into what is thrown away now. */
    answer_free(a);
    *a = ANSWER;
    a->is_error = true;
    buf_add(&a->text, buf_str(&text));
    return false;
}

bool answer_error(struct answer *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_error(a, fmt, ap);
    va_end(ap);
    return false;
}

void answer_free(struct answer *a)
{
    buf_free(&a->text);
    buf_free(&a->content);
    buf_free(&a->structured);
}

/* The JSON string that stands at `from` in out, once more. */
static void put_again(struct buf *out, size_t from, size_t n)
{
    char *room = buf_room(out, n);

    if (!room)
        return;
    memcpy(room, out->p + from, n);
    out->n += n;
}

static void put_result(struct buf *out, const struct answer *a)
{
    size_t text, text_n;

    buf_addz(out, "{\"content\":[");
    if (a->content.n) {
        buf_add(out, buf_str(&a->content));
        text = text_n = 0;
    } else {
        buf_addz(out, "{\"type\":\"text\",\"text\":");
        text = out->n;
        json_put_str(out, buf_str(&a->text));
        text_n = out->n - text;
        buf_addc(out, '}');
    }
    buf_addc(out, ']');
    if (a->structured.n) {
        buf_addz(out, ",\"structuredContent\":");
        buf_add(out, buf_str(&a->structured));
    } else if (a->structured_text && text_n) {
        buf_addz(out, ",\"structuredContent\":{\"content\":");
        put_again(out, text, text_n);
        buf_addc(out, '}');
    }
    buf_addz(out, a->is_error ? ",\"isError\":true}" : ",\"isError\":false}");
}

static bool is_over(const struct answer *a, const struct buf *out)
{
    return a->text.over || a->content.over || a->structured.over || out->over;
}

struct buf answer_json(const struct answer *a, const struct server_spec *def)
{
    struct buf out = BUF(RESULT_MAX);
    struct answer instead = ANSWER;
    size_t size = a->text.n + a->content.n + a->structured.n;

    put_result(&out, a);
    if (!is_over(a, &out))
        return out;
    buf_free(&out);
    out.max = RESULT_MAX;
    answer_error(&instead, "The result has more than %zu bytes, an answer at most %zu.%s%s",
                 size > out.max ? size : out.max, ANSWER_MAX,
                 def->split_advice ? " To get it in parts: " : "",
                 def->split_advice ? def->split_advice : "");
    put_result(&out, &instead);
    answer_free(&instead);
    return out;
}

void tool_reply(struct mcp_req *r, const struct server_spec *def, struct answer *a)
{
    auto_buf json = answer_json(a, def);

    answer_free(a);
    mcp_reply(r, buf_str(&json));
}

void tool_fail(struct mcp_req *r, const char *fmt, ...)
{
    struct answer a = ANSWER;
    auto_buf json = BUF(ANSWER_MAX);
    va_list ap;

    va_start(ap, fmt);
    set_error(&a, fmt, ap);
    va_end(ap);
    put_result(&json, &a);
    answer_free(&a);
    mcp_reply(r, buf_str(&json));
}
