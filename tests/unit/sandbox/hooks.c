/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Test builds only (SYM_TEST_HOOKS): a script global
 * `hook` with which tests make a worker crash, lie to its parent and try forbidden system calls
 * (SEC-18, SEC-19, WK-3).
 */
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/engine_impl.h"

#ifndef SYM_TEST_HOOKS
#error "hooks belong into test builds only"
#endif

/* A real SIGSEGV, not the sanitizer's report of one. */
__attribute__((no_sanitize("undefined", "address"))) static JSValue hook_crash(
    JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    volatile int *volatile nowhere = NULL;

    (void)ctx;
    (void)this_val;
    (void)argc;
    (void)argv;
    return JS_NewInt32(ctx, *nowhere);
}

static JSValue hook_trap(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    (void)ctx;
    (void)this_val;
    (void)argc;
    (void)argv;
    __builtin_trap();
}

/* hook.raw(latin1 string): these bytes, whatever they are, go to the parent */
static JSValue hook_raw(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    struct engine *en = engine_of(ctx);
    auto_buf bytes = BUF(FRAME_MAX);
    struct str text;
    const char *p;

    (void)this_val;
    p = JS_ToCStringLen(ctx, &text.n, argc ? argv[0] : JS_UNDEFINED);
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)p[i];

        if (c >= 0xc0) /* two bytes of UTF-8 for U+0080..U+00FF */
            c = (unsigned char)(c << 6 | ((unsigned char)p[++i] & 63));
        buf_addc(&bytes, (char)c);
    }
    JS_FreeCString(ctx, p);
    en->io.send(en->io.ctx, buf_str(&bytes));
    return JS_UNDEFINED;
}

/* hook.syscall(nr, a, b, c, d): its result, if the process is still there to say it */
static JSValue hook_syscall(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    int64_t a[5] = { 0 };

    (void)this_val;
    for (int i = 0; i < argc && i < 5; i++)
        JS_ToInt64(ctx, &a[i], argv[i]);
    return JS_NewInt64(ctx, syscall(a[0], a[1], a[2], a[3], a[4], -1L, 0L));
}

void hooks_install(struct engine *en)
{
    JSValue global = JS_GetGlobalObject(en->ctx), hook = JS_NewObject(en->ctx);

    engine_define(en, hook, "crash", JS_NewCFunction(en->ctx, hook_crash, "crash", 0));
    engine_define(en, hook, "trap", JS_NewCFunction(en->ctx, hook_trap, "trap", 0));
    engine_define(en, hook, "raw", JS_NewCFunction(en->ctx, hook_raw, "raw", 1));
    engine_define(en, hook, "syscall", JS_NewCFunction(en->ctx, hook_syscall, "syscall", 1));
    engine_define(en, global, "hook", hook);
    JS_FreeValue(en->ctx, global);
}
