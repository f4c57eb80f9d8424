/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The globals written in JavaScript (prelude.js). They are made when a script first touches
 * one, which saves every other script 2 ms, and in a realm of their own, so that making them
 * late is the same as making them before the script: nothing it did to its own realm is seen
 * there.
 */
#include <string.h>

#include "prelude_js.h" /* made by the build: prelude_source */
#include "sandbox/engine_impl.h"

static const char *const lazy_names[] = {
    "structuredClone", "TextEncoder", "TextDecoder", "URL", "URLSearchParams",
};
#define LAZY_COUNT (sizeof lazy_names / sizeof lazy_names[0])

/* The script's constructors that the prelude makes things with, as they are before the script.
 */
static const char *const main_names[] = {
    "Object",       "Array",        "Map",           "Set",
    "Date",         "RegExp",       "ArrayBuffer",   "DataView",
    "Error",        "EvalError",    "RangeError",    "ReferenceError",
    "SyntaxError",  "TypeError",    "URIError",      "Uint8ClampedArray",
    "Int8Array",    "Uint8Array",   "Int16Array",    "Uint16Array",
    "Int32Array",   "Uint32Array",  "BigInt64Array", "BigUint64Array",
    "Float16Array", "Float32Array", "Float64Array",
};

static JSValue call_factory(struct engine *en, JSContext *realm, JSValueConst factory)
{
    JSValue args[] = { en->main_realm, en->host };

    return JS_Call(realm, factory, JS_UNDEFINED, 2, args);
}

/* Fills en->prelude; false with an exception pending. */
static bool load(struct engine *en)
{
    JSContext *realm;
    JSValue factory;

    if (!JS_IsUndefined(en->prelude))
        return true;
    realm = engine_new_realm(en);
    factory = JS_Eval(realm, prelude_source, sizeof prelude_source - 1, "<prelude>",
                      JS_EVAL_TYPE_GLOBAL);
    if (!JS_IsException(factory)) {
        JSValue made = call_factory(en, realm, factory);

        if (!JS_IsException(made))
            en->prelude = made;
        JS_FreeValue(realm, factory);
    }
    JS_FreeContext(realm); /* its functions keep it */
    return !JS_IsUndefined(en->prelude);
}

/* From now on an ordinary property. `v` is taken. */
static void settle_global(struct engine *en, const char *name, JSValue v)
{
    JSValue global = JS_GetGlobalObject(en->ctx);

    engine_define(en, global, name, v);
    JS_FreeValue(en->ctx, global);
}

static JSValue lazy_get(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv,
                        int which, JSValueConst *data)
{
    struct engine *en = engine_of(ctx);
    JSValue v;

    (void)this_val;
    (void)argc;
    (void)argv;
    (void)data;
    if (!load(en))
        return JS_EXCEPTION;
    v = engine_own(en, en->prelude, lazy_names[which]);
    settle_global(en, lazy_names[which], JS_DupValue(ctx, v));
    return v;
}

static JSValue lazy_set(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv,
                        int which, JSValueConst *data)
{
    (void)this_val;
    (void)data;
    settle_global(engine_of(ctx), lazy_names[which],
                  JS_DupValue(ctx, argc ? argv[0] : JS_UNDEFINED));
    return JS_UNDEFINED;
}

void prelude_install(struct engine *en)
{
    JSContext *ctx = en->ctx;
    JSValue global = JS_GetGlobalObject(ctx);

    text_install(en);
    en->host = text_host(en);
    en->main_realm = JS_NewObject(ctx);
    for (size_t i = 0; i < sizeof main_names / sizeof main_names[0]; i++) {
        JSValue ctor = JS_GetPropertyStr(ctx, global, main_names[i]);

        if (!JS_IsUndefined(ctor)) /* Float16Array is not in the older engine */
            JS_DefinePropertyValueStr(ctx, en->main_realm, main_names[i], ctor,
                                      JS_PROP_ENUMERABLE);
    }
    for (size_t i = 0; i < LAZY_COUNT; i++) {
        JSAtom name = JS_NewAtom(ctx, lazy_names[i]);

        JS_DefinePropertyGetSet(
            ctx, global, name, JS_NewCFunctionData(ctx, lazy_get, 0, (int)i, 0, NULL),
            JS_NewCFunctionData(ctx, lazy_set, 1, (int)i, 0, NULL), JS_PROP_CONFIGURABLE);
        JS_FreeAtom(ctx, name);
    }
    JS_FreeValue(ctx, global);
}
