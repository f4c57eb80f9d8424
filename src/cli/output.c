/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/output.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/command.h"
#include "meta/tstype.h"

#define INDENT 2

bool out_is_terminal(FILE *f)
{
    return isatty(fileno(f)) == 1;
}

size_t out_row_room(size_t most, size_t rest)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0 ||
        size.ws_col >= most + rest)
        return most;
    return size.ws_col > rest ? size.ws_col - rest : 0;
}

void out_die_of(int signo)
{
    fflush(stdout);
    signal(signo, SIG_DFL);
    kill(getpid(), signo);
}

const char *out_paint(FILE *f, enum paint p)
{
    static const char *const codes[] = {
        [PAINT_OFF] = "\033[0m",  [PAINT_BOLD] = "\033[1m",   [PAINT_DIM] = "\033[2m",
        [PAINT_RED] = "\033[31m", [PAINT_GREEN] = "\033[32m", [PAINT_YELLOW] = "\033[33m",
    };
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

    if ((no_color && *no_color) || !term || !strcmp(term, "dumb") || !out_is_terminal(f))
        return "";
    return codes[p];
}

/* ---- text ---- */

static void put_raw(FILE *f, struct str s)
{
    if (s.n)
        fwrite(s.p, 1, s.n, f);
}

/* Without what moves the cursor, changes colours or hides text. */
void out_add_clean(struct buf *b, struct str text)
{
    while (text.n) {
        size_t end = 0;

        while (end < text.n && text.p[end] != '\n' && text.p[end] != '\t')
            end++;
        utf8_put_clean(b, str_upto(text, end));
        if (end < text.n)
            buf_addc(b, text.p[end]);
        text = str_from(text, end + 1);
    }
}

static void put_clean(FILE *f, struct str line)
{
    auto_buf clean = BUF(4 * line.n + 16);

    out_add_clean(&clean, line);
    put_raw(f, buf_str(&clean));
}

static bool is_for_people(FILE *f)
{
    return f == stderr || out_is_terminal(f);
}

void out_put_words(FILE *f, struct str words)
{
    if (is_for_people(f))
        put_clean(f, words);
    else
        put_raw(f, words);
}

void out_put_text(FILE *f, struct str text)
{
    struct str line, rest = text;

    if (!text.n)
        return;
    if (!is_for_people(f)) {
        put_raw(f, text);
        if (text.p[text.n - 1] != '\n')
            putc('\n', f);
        return;
    }
    while (str_cut(rest, '\n', &line, &rest)) {
        put_clean(f, line);
        putc('\n', f);
    }
    if (rest.n) {
        put_clean(f, rest);
        putc('\n', f);
    }
}

/* ---- values ---- */

static void put_break(struct buf *b, unsigned indent)
{
    buf_addc(b, '\n');
    buf_fill(b, ' ', indent);
}

void out_put_indented(struct buf *b, yyjson_val *v, unsigned indent)
{
    bool is_obj = json_is_obj(v), first = true;

    if (json_is_str(v)) {
        ts_put_quoted(b, json_str(v));
        return;
    }
    if ((!is_obj && !json_is_arr(v)) || !json_len(v)) {
        json_put_val(b, v);
        return;
    }
    buf_addc(b, is_obj ? '{' : '[');
    for (struct json_iter it = json_iter(v); json_next(&it); first = false) {
        buf_addz(b, first ? "" : ",");
        put_break(b, indent + INDENT);
        if (is_obj) {
            ts_put_quoted(b, it.key);
            buf_addz(b, ": ");
        }
        out_put_indented(b, it.val, indent + INDENT);
    }
    put_break(b, indent);
    buf_addc(b, is_obj ? '}' : ']');
}

/* The text of a string, or of an object that holds nothing but one. */
static bool plain_text(yyjson_val *v, struct str *ret)
{
    struct json_iter it = json_iter(v);

    if (json_is_obj(v) && json_len(v) == 1 && json_next(&it))
        v = it.val;
    if (!json_is_str(v))
        return false;
    *ret = json_str(v);
    return true;
}

void out_put_value(FILE *f, yyjson_val *v)
{
    auto_buf out = BUF(OUTPUT_MAX);
    struct str text;

    if (!out_is_terminal(f)) {
        json_put_val(&out, v);
    } else if (plain_text(v, &text)) {
        out_put_text(f, text);
        return;
    } else {
        out_put_indented(&out, v, 0);
    }
    buf_addc(&out, '\n');
    put_raw(f, buf_str(&out));
}

/* ---- events ---- */

void report_begin(struct report *r)
{
    r->text = BUF(OUTPUT_MAX);
    r->w = jw_to(&r->text);
    jw_arr(&r->w);
}

struct jw *report_event(struct report *r, const char *type)
{
    jw_obj(&r->w);
    jw_kstrz(&r->w, "type", type);
    return &r->w;
}

void report_text(struct report *r, const char *type, struct str text)
{
    struct jw *w = report_event(r, type);

    jw_kstr(w, "text", text);
    jw_end(w);
}

bool report_end(struct report *r)
{
    struct error e;
    bool ok;

    jw_end(&r->w);
    buf_addc(&r->text, '\n');
    ok = buf_ok(&r->text, &e);
    if (ok)
        put_raw(stdout, buf_str(&r->text));
    else
        cli_fail(EXIT_FAILED, "output: %s", e.msg);
    buf_free(&r->text);
    return ok;
}
