/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/log_redact.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define MARK     STR("[redacted]")
#define CUT_MARK STR("...")

/* ---- values ---- */

static struct {
    struct str *v;
    size_t n, cap;
    bool begins[256]; /* first bytes of the values: one look rules most places out */
} secrets;

static void add_one(struct str value)
{
    if (value.n < LOG_SECRET_MIN)
        return;
    for (size_t i = 0; i < secrets.n; i++) {
        if (str_eq(secrets.v[i], value))
            return;
    }
    VEC_PUSH(&secrets) = (struct str){ str_dup(value), value.n };
    secrets.begins[(unsigned char)value.p[0]] = true;
}

/* The value inside a JSON string, where quotes and backslashes are escaped. */
static void add_json_form(struct str value)
{
    auto_buf b = BUF(2 * value.n);

    if (str_find_char(value, '"') == SIZE_MAX && str_find_char(value, '\\') == SIZE_MAX)
        return;
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '"' || value.p[i] == '\\')
            buf_addc(&b, '\\');
        buf_addc(&b, value.p[i]);
    }
    add_one(buf_str(&b));
}

void log_redact_add(struct str value)
{
    struct str line, rest = value;

    while (str_next(&rest, '\n', &line)) {
        line = str_trim(line);
        add_one(line);
        add_json_form(line);
    }
}

/* Length of the longest registered value at the start of s, or of its beginning when s ends
 * within it. */
static size_t secret_at(struct str s)
{
    size_t best = 0;

    if (!secrets.begins[(unsigned char)s.p[0]])
        return 0;
    for (size_t i = 0; i < secrets.n; i++) {
        size_t n = secrets.v[i].n < s.n ? secrets.v[i].n : s.n;

        if (n >= LOG_SECRET_MIN && n > best && memcmp(secrets.v[i].p, s.p, n) == 0)
            best = n;
    }
    return best;
}

static void hide_values(struct buf *out, struct str s)
{
    struct str plain = { s.p, 0 };

    while (s.n) {
        size_t n = secret_at(s);

        if (n == 0) {
            plain.n++;
            s = str_from(s, 1);
            continue;
        }
        buf_add(out, plain);
        buf_add(out, MARK);
        s = str_from(s, n);
        plain = (struct str){ s.p, 0 };
    }
    buf_add(out, plain);
}

/* ---- key names and URLs ---- */

/* A header's value holds blanks, so it runs to the end of the line. */
static const struct telling {
    struct str name;
    bool to_line_end;
} telling[] = {
    { STR("token"), false },    { STR("key"), false },          { STR("secret"), false },
    { STR("password"), false }, { STR("authorization"), true }, { STR("cookie"), true },
};

static bool is_word(char c)
{
    return ascii_alnum(c) || c == '_' || c == '-' || c == '.' || (c & 0x80);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static size_t word_length(struct str s)
{
    size_t n = 0;

    while (n < s.n && is_word(s.p[n]))
        n++;
    return n;
}

/* The telling name inside a word: token in "GITHUB_TOKEN". NULL when there is none. */
static const struct telling *telling_in(struct str word)
{
    for (size_t i = 0; i < ARRAY_LEN(telling); i++) {
        for (size_t at = 0; at + telling[i].name.n <= word.n; at++) {
            if (str_icase_eq(str_upto(str_from(word, at), telling[i].name.n), telling[i].name))
                return &telling[i];
        }
    }
    return NULL;
}

/* What stands between a telling word and its value: a quote, blanks, '=' or ':'; for an option
 * a blank will do. 0 when no value follows. */
static size_t separator_length(struct str s, bool option)
{
    size_t n = 0, blanks;

    if (n + 1 < s.n && s.p[n] == '\\' && s.p[n + 1] == '"') /* JSON inside a JSON string */
        n += 2;
    else if (n < s.n && (s.p[n] == '"' || s.p[n] == '\''))
        n++;
    blanks = n;
    while (n < s.n && is_space(s.p[n]))
        n++;
    if (n < s.n && (s.p[n] == '=' || s.p[n] == ':')) {
        n++;
        while (n < s.n && (is_space(s.p[n]) || s.p[n] == '='))
            n++;
        return n;
    }
    return option && blanks == 0 ? n : 0;
}

/* Up to the closing quote, escapes skipped; to the end when it is missing. */
static size_t quoted_length(struct str s, char quote)
{
    size_t n = 0;

    while (n < s.n && s.p[n] != quote)
        n += s.p[n] == '\\' ? 2 : 1;
    return n < s.n ? n : s.n;
}

static size_t value_length(struct str s, bool to_line_end)
{
    size_t n = 0;

    if (s.n == 0)
        return 0;
    if (to_line_end || s.p[0] == '{' || s.p[0] == '[') {
        n = str_find_char(s, '\n');
        return n == SIZE_MAX ? s.n : n;
    }
    while (n < s.n && !is_space(s.p[n]) && !strchr("\r\n,;&\"'`)]}", s.p[n]))
        n++;
    return n;
}

/* "/w/api-key.md: left out": the file is called so, what follows is prose. */
static bool is_file_name(struct str word, struct str rest)
{
    return str_find_char(word, '.') != SIZE_MAX && str_starts(rest, STR(": "));
}

/* Puts the word that begins s and, when it is telling, a mark for its value. `in_path`: a '/'
 * is before it. Returns the bytes consumed. */
static size_t put_word(struct buf *out, struct str s, bool in_path)
{
    size_t n = word_length(s), gap, quote = 0, value;
    const struct telling *t = telling_in(str_upto(s, n));
    struct str rest = str_from(s, n);

    buf_add(out, str_upto(s, n));
    if (!t || (in_path && is_file_name(str_upto(s, n), rest)) ||
        (gap = separator_length(rest, s.p[0] == '-')) == 0)
        return n;
    buf_add(out, str_upto(rest, gap));
    rest = str_from(rest, gap);
    if (rest.n > 1 && rest.p[0] == '\\' && rest.p[1] == '"')
        quote = 2;
    else if (rest.n && (rest.p[0] == '"' || rest.p[0] == '\''))
        quote = 1;
    buf_add(out, str_upto(rest, quote));
    rest = str_from(rest, quote);
    if (quote == 1)
        value = quoted_length(rest, rest.p[-1]);
    else if (quote == 2)
        value = quoted_length(rest, '\\');
    else
        value = value_length(rest, t->to_line_end);
    if (value)
        buf_add(out, MARK);
    return n + gap + quote + value;
}

static bool ends_url(char c)
{
    return (unsigned char)c <= ' ' || strchr("\"'<>`\\", c);
}

/* Puts a URL from its "://" on. Returns the bytes consumed. */
static size_t put_url(struct buf *out, struct str s)
{
    size_t end = 3, authority, at = SIZE_MAX, path;

    while (end < s.n && !ends_url(s.p[end]))
        end++;
    s = str_upto(s, end);
    for (authority = 3; authority < s.n && !strchr("/?#", s.p[authority]); authority++) {
        if (s.p[authority] == '@')
            at = authority;
    }
    for (path = authority; path < s.n && s.p[path] != '?' && s.p[path] != '#';)
        path++;
    buf_add(out, STR("://"));
    if (at != SIZE_MAX)
        buf_add(out, MARK);
    at = at == SIZE_MAX ? 3 : at;
    buf_add(out, (struct str){ s.p + at, path - at });
    if (path < s.n) {
        buf_addc(out, s.p[path]);
        buf_add(out, MARK);
    }
    return s.n;
}

static void hide_named(struct buf *out, struct str s)
{
    char before = ' ';

    while (s.n) {
        size_t n = 1;

        if (str_starts(s, STR("://")))
            n = put_url(out, s);
        else if (is_word(s.p[0]))
            n = put_word(out, s, before == '/');
        else
            buf_addc(out, s.p[0]);
        before = s.p[n - 1];
        s = str_from(s, n);
    }
}

void log_redact(struct buf *out, struct str message)
{
    auto_buf b = BUF(2 * message.n + MARK.n); /* a mark replaces LOG_SECRET_MIN bytes or more */

    hide_values(&b, message);
    hide_named(out, buf_str(&b));
}

/* ---- one line ---- */

static void put_escaped_char(struct buf *out, struct str c)
{
    unsigned char first = (unsigned char)c.p[0];
    bool c1 = c.n == 2 && first == 0xc2 && (unsigned char)c.p[1] < 0xa0;

    if (c.n == 1 && first == '\n')
        buf_add(out, STR("\\n"));
    else if ((c.n == 1 && (first < 0x20 || first == 0x7f)) || c1)
        for (size_t i = 0; i < c.n; i++)
            buf_addf(out, "\\x%02x", (unsigned char)c.p[i]);
    else
        buf_add(out, c);
}

void log_put_escaped(struct buf *line, struct str message)
{
    auto_buf valid = BUF(3 * message.n);    /* a replacement has 3 bytes */
    auto_buf escaped = BUF(12 * message.n); /* an escape 4 for one */
    size_t room = line->max - line->n - 1;
    struct str s;
    uint32_t cp;

    utf8_put_lossy(&valid, message);
    for (s = buf_str(&valid); s.n;) {
        size_t n = utf8_decode(s, &cp);

        put_escaped_char(&escaped, str_upto(s, n));
        s = str_from(s, n);
    }
    if (escaped.n <= room) {
        buf_add(line, buf_str(&escaped));
        return;
    }
    buf_add(line, utf8_cut(buf_str(&escaped), room - CUT_MARK.n));
    buf_add(line, CUT_MARK);
}
