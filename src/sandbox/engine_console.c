/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What people read: console lines (MS-40) and what is said about an exception (MS-38). */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "sandbox/engine_impl.h"

/* ---- values as text ---- */

static void put_text(struct engine *en, JSValueConst v, struct buf *out)
{
    struct str text;
    const char *p = engine_text(en, v, &text.n);

    if (!p) {
        JS_FreeValue(en->ctx, JS_GetException(en->ctx));
        buf_addz(out, "[unprintable]");
        return;
    }
    text.p = p;
    buf_add(out, utf8_cut(text, out->max - out->n));
    JS_FreeCString(en->ctx, p);
}

/* A string property; anything else, a getter that throws included, counts as absent. */
static bool put_string_property(struct engine *en, JSValueConst obj, const char *name,
                                struct buf *out)
{
    JSValue v = JS_GetPropertyStr(en->ctx, obj, name);
    bool is = JS_IsString(v);

    if (JS_IsException(v))
        JS_FreeValue(en->ctx, JS_GetException(en->ctx));
    if (is)
        put_text(en, v, out);
    JS_FreeValue(en->ctx, v);
    return is;
}

/* "TypeError: no such thing"; a plain Error only says its message. */
static void put_error(struct engine *en, JSValueConst error, struct buf *out)
{
    auto_buf name = BUF(100), message = BUF(out->max - out->n);

    if (!put_string_property(en, error, "name", &name))
        buf_addz(&name, "Error");
    put_string_property(en, error, "message", &message);
    if (!str_is(buf_str(&name), "Error") || !message.n) {
        buf_add(out, str_upto(buf_str(&name), out->max - out->n));
        if (message.n && out->max - out->n > 2)
            buf_addz(out, ": ");
    }
    buf_add(out, utf8_cut(buf_str(&message), out->max - out->n));
}

/*
 * Strings bare, other values as JSON; what JSON has no word for in the language's own words. An
 * error as JSON would be
 * "{}", which helps nobody: its name and message. Never throws.
 */
static void put_value(struct engine *en, JSValueConst v, struct buf *out)
{
    JSValue json = JS_UNDEFINED;

    if (compat_is_error(en->ctx, v)) {
        put_error(en, v, out);
        return;
    }
    if (!JS_IsString(v))
        json = JS_JSONStringify(en->ctx, v, JS_UNDEFINED, JS_UNDEFINED);
    if (JS_IsException(json)) {
        JS_FreeValue(en->ctx, JS_GetException(en->ctx));
        json = JS_UNDEFINED;
    }
    if (JS_IsString(json))
        put_text(en, json, out);
    else if (JS_IsSymbol(v))
        buf_addz(out, "[symbol]");
    else if (JS_IsFunction(en->ctx, v))
        buf_addz(out, "[function]");
    else if (JS_IsObject(v))
        buf_addz(out, "[unprintable]"); /* refers to itself, or holds a BigInt */
    else
        put_text(en, v, out); /* strings, undefined, BigInt */
    JS_FreeValue(en->ctx, json);
}

/* ---- console ---- */

static void send_console(struct engine *en, enum console_level level, struct str text,
                         bool over)
{
    static const char *const names[] = {
        [CONSOLE_PLAIN] = "log",
        [CONSOLE_WARN] = "warn",
        [CONSOLE_ERROR] = "error",
    };
    struct jw w = engine_frame(en, "console", text.n);

    jw_kstrz(&w, "level", names[level]);
    jw_kstr(&w, "text", text);
    jw_kbool(&w, "over", over);
    engine_frame_send(en, &w);
}

static JSValue console_write(JSContext *ctx, JSValueConst this_val, int argc,
                             JSValueConst *argv, int level)
{
    struct engine *en = engine_of(ctx);
    size_t prefix = console_prefix((enum console_level)level).n, cost;
    size_t room = en->console_left > prefix ? en->console_left - prefix : 0;
    auto_buf line = BUF(room + 8);

    (void)this_val;
    if (en->console_over)
        return JS_UNDEFINED;
    for (int i = 0; i < argc && !line.over && line.n <= room; i++) {
        if (i)
            buf_addc(&line, ' ');
        put_value(en, argv[i], &line);
    }
    if (en->console_over)
        return JS_UNDEFINED; /* a toJSON that logs has used it up meanwhile */
    cost = prefix + line.n + 1;
    if (!line.over && cost <= en->console_left) {
        en->console_left -= cost;
        send_console(en, (enum console_level)level, buf_str(&line), false);
        return JS_UNDEFINED;
    }
    en->console_over = true;
    room = en->console_left > prefix + 1 ? en->console_left - prefix - 1 : 0;
    send_console(en, (enum console_level)level, utf8_cut(buf_str(&line), room), true);
    return JS_UNDEFINED;
}

void console_install(struct engine *en)
{
    static const struct {
        const char *name;
        enum console_level level;
    } methods[] = {
        { "log", CONSOLE_PLAIN },   { "info", CONSOLE_PLAIN }, { "debug", CONSOLE_PLAIN },
        { "trace", CONSOLE_PLAIN }, { "warn", CONSOLE_WARN },  { "error", CONSOLE_ERROR },
    };
    JSValue global = JS_GetGlobalObject(en->ctx), console = JS_NewObject(en->ctx);

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        engine_define(en, console, methods[i].name,
                      JS_NewCFunctionMagic(en->ctx, console_write, methods[i].name, 0,
                                           JS_CFUNC_generic_magic, (int)methods[i].level));
    engine_define(en, global, "console", console);
    JS_FreeValue(en->ctx, global);
}

/* ---- exceptions ---- */

/* "L:C" at p. */
static bool scan_position(struct str s, long *ret_line, long *ret_column)
{
    char *end;

    *ret_line = strtol(s.p, &end, 10);
    if (end == s.p || *end != ':')
        return false;
    s.p = end + 1;
    *ret_column = strtol(s.p, &end, 10);
    return end != s.p;
}

/*
 * One line of an engine's stack, "    at name (file:L:C)" or "    at file:L:C". Only frames of
 * the script are kept: those of natives, of eval'd text and of the prelude are dropped, and the
 * wrapper's line is taken off.
 */
static void put_stack_line(struct engine *en, struct str line, struct buf *out)
{
    static const char file[] = SCRIPT_FILE ":";
    struct str head, name = { "", 0 };
    long l, c;
    size_t at;

    line = str_trim(line);
    if (!str_starts(line, STR("at ")))
        return;
    line = str_from(line, 3);
    at = str_find(line, STR("(" SCRIPT_FILE ":"));
    if (at != SIZE_MAX) {
        name = str_trim(str_upto(line, at));
        line = str_from(line, at + 1);
    }
    if (!str_starts(line, str_of(file)) || !scan_position(str_from(line, strlen(file)), &l, &c))
        return;
    if (str_starts(name, STR("<")) || utf8_cut(name, 80).n < name.n)
        name.n = 0; /* <eval>, <anonymous>, or a name made to be long */
    l = l > en->program.line_shift ? l - en->program.line_shift : 1;
    head = buf_str(out);
    buf_addf(out, "%s    at %.*s%s" SCRIPT_FILE ":%ld:%ld%s", head.n ? "\n" : "", STR_F(name),
             name.n ? " (" : "", l, c, name.n ? ")" : "");
    if (out->over)
        out->n = head.n; /* no half lines */
}

static void put_stack(struct engine *en, JSValueConst exception, struct buf *out)
{
    JSValue stack = JS_GetPropertyStr(en->ctx, exception, "stack");
    struct str rest, line;
    const char *p = NULL;

    if (JS_IsString(stack))
        p = engine_text(en, stack, &rest.n);
    if (JS_IsException(stack) || (JS_IsString(stack) && !p))
        JS_FreeValue(en->ctx, JS_GetException(en->ctx));
    if (p) {
        rest.p = p;
        while (!out->over && str_cut(rest, '\n', &line, &rest))
            put_stack_line(en, line, out);
        if (!out->over)
            put_stack_line(en, rest, out);
    }
    JS_FreeCString(en->ctx, p);
    JS_FreeValue(en->ctx, stack);
}

void thrown_describe(struct engine *en, JSValueConst exception, struct thrown *ret)
{
    *ret = (struct thrown){ BUF(FRAME_ERROR_MAX), BUF(0) };
    put_value(en, exception, &ret->message);
    ret->message.n = utf8_cut(buf_str(&ret->message), FRAME_ERROR_MAX).n;
    ret->stack.max = FRAME_ERROR_MAX - ret->message.n;
    if (compat_is_error(en->ctx, exception) && ret->stack.max)
        put_stack(en, exception, &ret->stack);
}

void thrown_free(struct thrown *t)
{
    buf_free(&t->message);
    buf_free(&t->stack);
}
