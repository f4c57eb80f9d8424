/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From the text as submitted to something that runs: MS-29 to MS-31 and MS-33. */
#include <string.h>

#include "base/utf8.h"
#include "sandbox/engine_impl.h"

#define INTAKE_ADVICE \
    "; submit plain JavaScript, leave out type annotations and import or export statements"

/*
 * The text with what surrounds it overwritten by blanks rather than removed, so that every line
 * and column stays that of the submitted text.
 */
struct trimmed {
    char *base; /* from the quota */
    char *p;    /* behind a byte order mark */
    size_t n;
    size_t expr_n; /* the same without white space and semicolons at the end */
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void blank(char *from, const char *to)
{
    for (; from < to; from++) {
        if (*from != '\n' && *from != '\r')
            *from = ' ';
    }
}

static char *skip_blank(char *p, const char *end)
{
    while (p < end && is_blank(*p))
        p++;
    return p;
}

static char *line_end(char *p, const char *end)
{
    char *nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;

    return nl ? nl : (char *)(uintptr_t)end;
}

/* One fence around everything: an opening line of three or more backticks and a tag, a last
 * line of as many. */
static void blank_fence(char *p, char *end)
{
    char *open = skip_blank(p, end), *info = open, *close, *last = end;
    size_t ticks;

    while (info < end && *info == '`')
        info++;
    ticks = (size_t)(info - open);
    while (last > p && is_blank(last[-1]))
        last--;
    close = last;
    while (close > p && close[-1] == '`')
        close--;
    if (ticks < 3 || (size_t)(last - close) < ticks || close < line_end(info, end) ||
        memchr(info, '`', (size_t)(line_end(info, end) - info)))
        return;
    for (char *q = close; q > p && q[-1] != '\n'; q--) {
        if (!is_blank(q[-1]))
            return; /* not at the start of a line */
    }
    blank(open, line_end(open, end));
    blank(close, last);
}

static char *skip_comments(char *p, const char *end)
{
    for (;;) {
        p = skip_blank(p, end);
        if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
            p = line_end(p, end);
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
            char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);

            if (!close)
                return p;
            p = close + 2;
        } else {
            return p;
        }
    }
}

static bool is_word(char c)
{
    return ascii_alnum(c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The word at p; *ret_after behind it. */
static bool word_at(char *p, const char *end, const char *word, char **ret_after)
{
    size_t n = strlen(word);

    if ((size_t)(end - p) < n || memcmp(p, word, n) != 0 || (p + n < end && is_word(p[n])))
        return false;
    *ret_after = p + n;
    return true;
}

static void blank_export_default(char *p, const char *end)
{
    char *start = skip_comments(p, end), *after;

    if (!word_at(start, end, "export", &after))
        return;
    after = skip_blank(after, end);
    if (word_at(after, end, "default", &after))
        blank(start, after);
}

static struct trimmed trim(struct engine *en, struct str source)
{
    struct trimmed t = { .base = quota_alloc(en->quota, source.n + 1) };
    char *end = t.base + source.n, *first;

    memcpy(t.base, source.p, source.n);
    *end = '\0';
    t.p = t.base + (source.n - utf8_skip_bom(source).n);
    t.n = (size_t)(end - t.p);
    blank_fence(t.p, end);
    first = skip_blank(t.p, end);
    if (end - first >= 2 && first[0] == '#' && first[1] == '!')
        blank(first, line_end(first, end));
    blank_export_default(t.p, end);
    t.expr_n = t.n;
    while (t.expr_n && (is_blank(t.p[t.expr_n - 1]) || t.p[t.expr_n - 1] == ';'))
        t.expr_n--;
    return t;
}

enum await_rule { NO_AWAIT, TOP_LEVEL_AWAIT };

/* Compiles before + text + after; an exception is left pending on failure. ret_code NULL: only
 * whether it parses. */
static bool compiles(struct engine *en, enum await_rule rule, const char *before,
                     struct str text, const char *after, JSValue *ret_code)
{
    size_t nb = strlen(before), na = strlen(after), n = nb + text.n + na;
    int flags = JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY;
    char *all = quota_alloc(en->quota, n + 1);
    JSValue code;

    memcpy(all, before, nb);
    memcpy(all + nb, text.p, text.n);
    memcpy(all + nb + text.n, after, na + 1);
    code = JS_Eval(en->ctx, all, n, SCRIPT_FILE,
                   rule == TOP_LEVEL_AWAIT ? flags | JS_EVAL_FLAG_ASYNC : flags);
    quota_free(en->quota, all);
    if (JS_IsException(code))
        return false;
    if (ret_code)
        *ret_code = code;
    else
        JS_FreeValue(en->ctx, code);
    return true;
}

static void forget_exception(struct engine *en)
{
    JS_FreeValue(en->ctx, JS_GetException(en->ctx));
}

/* Attempt 1. The guards see to it that the text cannot close the parenthesis and open another
 * (MS-33). */
static bool as_expression(struct engine *en, struct str text, JSValue *ret)
{
    return compiles(en, TOP_LEVEL_AWAIT, "(\n", text, "\n)", NULL) &&
           compiles(en, TOP_LEVEL_AWAIT, "[\n", text, "\n]", NULL) &&
           compiles(en, NO_AWAIT, "async () => (\n", text, "\n)", ret);
}

/* Attempt 3, with its guards. It runs as an arrow, which has no name and no `arguments` of its
 * own. */
static bool as_body(struct engine *en, struct str text, JSValue *ret)
{
    return compiles(en, NO_AWAIT, "async function f(){\n", text, "\n}", NULL) &&
           compiles(en, NO_AWAIT, "({async f(){\n", text, "\n}})", NULL) &&
           compiles(en, NO_AWAIT, "(async () => {\n", text, "\n})", ret);
}

/* Attempt 2 refused the text for a `return` at its top level. */
static bool is_return_complaint(struct engine *en, JSValueConst exception)
{
    struct thrown t;
    bool is;

    thrown_describe(en, exception, &t);
    is = str_find(buf_str(&t.message), STR("return not in a function")) != SIZE_MAX;
    thrown_free(&t);
    return is;
}

/* "... (line 3, column 7)" from the first frame of a syntax error's stack. */
static JSValue complaint(struct engine *en, JSValueConst exception)
{
    struct thrown t;
    auto_buf text = BUF(FRAME_ERROR_MAX);
    struct str head, rest, where;

    thrown_describe(en, exception, &t);
    buf_addz(&text, "script did not parse as JavaScript: ");
    buf_add(&text, str_upto(buf_str(&t.message), FRAME_ERROR_MAX / 2));
    where = str_upto(buf_str(&t.stack), str_find_char(buf_str(&t.stack), '\n'));
    if (str_cut(where, ':', &head, &rest) && str_cut(rest, ':', &head, &rest))
        buf_addf(&text, " (line %.*s, column %.*s)", STR_F(head), STR_F(rest));
    buf_addz(&text, INTAKE_ADVICE);
    thrown_free(&t);
    return JS_NewStringLen(en->ctx, text.p, text.n);
}

/* The three attempts in order; the first that parses is taken. False with the telling exception
 * pending. */
static bool attempt(struct engine *en, const struct trimmed *t, struct program *ret)
{
    struct str whole = { t->p, t->n };
    JSValue second;

    *ret = (struct program){ .shape = SHAPE_EXPRESSION, .line_shift = 1 };
    if (as_expression(en, (struct str){ t->p, t->expr_n }, &ret->code))
        return true;
    forget_exception(en);
    ret->shape = SHAPE_SCRIPT;
    ret->line_shift = 0;
    if (compiles(en, TOP_LEVEL_AWAIT, "", whole, "", &ret->code))
        return true;
    second = JS_GetException(en->ctx);
    ret->shape = SHAPE_BODY;
    ret->line_shift = 1;
    if (as_body(en, whole, &ret->code)) {
        JS_FreeValue(en->ctx, second);
        return true;
    }
    if (is_return_complaint(en, second)) {
        JS_FreeValue(en->ctx, second);
        return false;
    }
    forget_exception(en);
    ret->line_shift = 0;
    JS_Throw(en->ctx, second);
    return false;
}

bool intake_has_room(struct engine *en)
{
    bool room = compiles(en, TOP_LEVEL_AWAIT, "", STR("0"), "", NULL);

    if (!room)
        forget_exception(en);
    return room;
}

bool intake_compile(struct engine *en, struct str source, JSValue *ret_message)
{
    struct trimmed t = trim(en, source);
    bool ok = attempt(en, &t, &en->program);

    quota_free(en->quota, t.base);
    if (!ok) {
        JSValue exception = JS_GetException(en->ctx);

        *ret_message = complaint(en, exception);
        JS_FreeValue(en->ctx, exception);
    }
    return ok;
}
