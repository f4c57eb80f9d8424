/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bytes to keys and strings. The text is known to be valid UTF-8, so only ASCII decides
 * anything here. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "text/toml_impl.h"

/* ---- position and failure ---- */

bool toml_lex_fail(struct toml_lex *x, size_t at, const char *fmt, ...)
{
    struct utf8_pos pos = utf8_pos(x->text, at);
    char text[ERROR_MSG_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return error_set(x->e, ERR_INVALID, "line %u, column %u: %s", pos.line, pos.column, text);
}

uint32_t toml_lex_line(struct toml_lex *x, size_t at)
{
    while (x->line_at < at) {
        const char *from = x->text.p + x->line_at;
        const char *nl = memchr(from, '\n', at - x->line_at);

        if (!nl) {
            x->line_at = at;
            break;
        }
        x->line++;
        x->line_at += (size_t)(nl - from) + 1;
    }
    return x->line;
}

/* ---- blanks, comments, line ends ---- */

int toml_lex_peek(const struct toml_lex *x)
{
    return x->at < x->text.n ? (unsigned char)x->text.p[x->at] : -1;
}

bool toml_lex_take(struct toml_lex *x, const char *z)
{
    if (!str_starts(str_from(x->text, x->at), str_of(z)))
        return false;
    x->at += strlen(z);
    return true;
}

void toml_lex_blank(struct toml_lex *x)
{
    while (x->at < x->text.n && (x->text.p[x->at] == ' ' || x->text.p[x->at] == '\t'))
        x->at++;
}

static bool is_control(int c)
{
    return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7F;
}

static bool bad_control(struct toml_lex *x, const char *where)
{
    return toml_lex_fail(x, x->at, "control character U+%04X is not allowed in %s",
                         (unsigned)toml_lex_peek(x), where);
}

static bool take_newline(struct toml_lex *x)
{
    return toml_lex_take(x, "\n") || toml_lex_take(x, "\r\n");
}

static bool at_newline(const struct toml_lex *x)
{
    return toml_lex_peek(x) == '\n' || str_starts(str_from(x->text, x->at), STR("\r\n"));
}

/* Up to the line end, which is left. */
static bool skip_comment(struct toml_lex *x)
{
    if (toml_lex_peek(x) != '#')
        return true;
    while (x->at < x->text.n && !at_newline(x)) {
        if (is_control(toml_lex_peek(x)))
            return bad_control(x, "a comment");
        x->at++;
    }
    return true;
}

bool toml_lex_eol(struct toml_lex *x)
{
    toml_lex_blank(x);
    if (!skip_comment(x))
        return false;
    if (x->at == x->text.n || take_newline(x))
        return true;
    return toml_lex_fail(x, x->at, "expected the end of the line");
}

bool toml_lex_space(struct toml_lex *x)
{
    do {
        toml_lex_blank(x);
        if (!skip_comment(x))
            return false;
    } while (take_newline(x));
    return true;
}

/* ---- strings ---- */

/* How far one string may go on, and what it may hold. */
struct form {
    char quote;
    bool many; /* three quotes: may span lines */
    const char *name;
};

static bool put_code_point(struct toml_lex *x, unsigned digits, struct buf *out)
{
    size_t start = x->at - 2;
    uint32_t cp = 0;

    for (unsigned i = 0; i < digits; i++, x->at++) {
        int d = str_hex((char)toml_lex_peek(x));

        if (d < 0)
            return toml_lex_fail(x, start, "'\\%c' needs %u hexadecimal digits",
                                 x->text.p[start + 1], digits);
        cp = cp << 4 | (uint32_t)d;
    }
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
        return toml_lex_fail(x, start, "U+%X is not a Unicode scalar value", cp);
    utf8_put(out, cp);
    return true;
}

/* A backslash at a line's end swallows all blanks and line ends up to the next text. */
static bool skip_line_ending(struct toml_lex *x)
{
    size_t start = x->at - 1;

    toml_lex_blank(x);
    if (!at_newline(x))
        return toml_lex_fail(x, start, "unknown escape; '\\' and blanks must end the line");
    do {
        toml_lex_blank(x);
    } while (take_newline(x));
    return true;
}

/* Behind the backslash. */
static bool put_escape(struct toml_lex *x, const struct form *f, struct buf *out)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    int c = toml_lex_peek(x);
    const char *at = c > 0 ? strchr(from, c) : NULL;

    if (f->many && (c == ' ' || c == '\t' || c == '\n' || c == '\r'))
        return skip_line_ending(x);
    if (!at && c != 'u' && c != 'U')
        return toml_lex_fail(x, x->at - 1,
                             "unknown escape in a string; write '\\\\' for a backslash");
    x->at++;
    if (!at)
        return put_code_point(x, c == 'u' ? 4 : 8, out);
    buf_addc(out, to[at - from]);
    return true;
}

/* A run of quotes inside a three-quote string: up to two belong to the text, also right before
 * the closing three. */
static bool take_quotes(struct toml_lex *x, const struct form *f, struct buf *out)
{
    size_t run = 0;

    while (toml_lex_peek(x) == f->quote && run < 5) {
        run++;
        x->at++;
    }
    buf_fill(out, f->quote, run < 3 ? run : run - 3);
    return run >= 3;
}

/* The bytes that stand for themselves. */
static void take_plain(struct toml_lex *x, const struct form *f, struct buf *out)
{
    size_t start = x->at;

    while (x->at < x->text.n) {
        int c = toml_lex_peek(x);

        if (c == f->quote || (c == '\\' && f->quote == '"') || is_control(c))
            break;
        x->at++;
    }
    buf_add(out, str_upto(str_from(x->text, start), x->at - start));
}

/* Text behind the opening quotes up to and with the closing ones, decoded into out. */
static bool string_body(struct toml_lex *x, const struct form *f, size_t start, struct buf *out)
{
    for (;;) {
        take_plain(x, f, out);
        if (x->at == x->text.n)
            return toml_lex_fail(x, start, "%s is not closed", f->name);
        if (toml_lex_peek(x) == f->quote) {
            if (f->many ? take_quotes(x, f, out) : toml_lex_take(x, (char[]){ f->quote, 0 }))
                return true;
        } else if (toml_lex_peek(x) == '\\') {
            x->at++;
            if (!put_escape(x, f, out))
                return false;
        } else if (f->many && take_newline(x)) {
            buf_addc(out, '\n');
        } else if (!f->many && at_newline(x)) {
            return toml_lex_fail(x, start, "%s is not closed on its line", f->name);
        } else {
            return bad_control(x, f->name);
        }
    }
}

/* A one-line string without escapes, by far the commonest, is a slice of the text. */
static bool plain_string(struct toml_lex *x, char quote, struct str *ret)
{
    size_t from = x->at + 1, to = from;

    while (to < x->text.n && x->text.p[to] != quote && x->text.p[to] != '\\' &&
           !is_control((unsigned char)x->text.p[to]))
        to++;
    if (to == x->text.n || x->text.p[to] != quote)
        return false;
    *ret = str_upto(str_from(x->text, from), to - from);
    x->at = to + 1;
    return true;
}

bool toml_lex_string(struct toml_lex *x, struct str *ret)
{
    auto_buf out = BUF(TOML_MAX_BYTES);
    char quote = x->text.p[x->at];
    size_t start = x->at;
    struct form f = { .quote = quote, .name = quote == '"' ? "a string" : "a literal string" };

    f.many = toml_lex_take(x, quote == '"' ? "\"\"\"" : "'''");
    if (!f.many && plain_string(x, quote, ret))
        return true;
    if (f.many)
        take_newline(x);
    else
        x->at++;
    if (!string_body(x, &f, start, &out))
        return false;
    *ret = arena_str(x->tree.a, buf_str(&out));
    return true;
}

/* ---- keys ---- */

static bool is_key_byte(int c)
{
    return ascii_alnum(c) || c == '_' || c == '-';
}

bool toml_lex_key(struct toml_lex *x, struct toml_part *ret)
{
    size_t start = x->at;
    int c = toml_lex_peek(x);

    if (c == '"' || c == '\'') {
        if (str_starts(str_from(x->text, x->at), c == '"' ? STR("\"\"\"") : STR("'''")))
            return toml_lex_fail(x, start, "a key cannot be a multi-line string");
        if (!toml_lex_string(x, &ret->name))
            return false;
    } else {
        while (is_key_byte(toml_lex_peek(x)))
            x->at++;
        if (x->at == start)
            return toml_lex_fail(x, start, "expected a key");
        ret->name = str_upto(str_from(x->text, start), x->at - start);
    }
    ret->span = (struct toml_span){ (uint32_t)start, (uint32_t)x->at };
    return true;
}
