/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * quickjs-ng's programming interface, also over Bellard's QuickJS 2025.04.26 (MS-67). The only
 * file that knows that there are two. SYM_ENGINE_NG is set by the build.
 */
#ifndef SYM_SANDBOX_ENGINE_COMPAT_H
#define SYM_SANDBOX_ENGINE_COMPAT_H

#include <quickjs.h>
#include <stdbool.h>

#include "sandbox/quota.h"

#ifdef SYM_ENGINE_NG

typedef bool engine_bool;

static inline JSClassID compat_new_class_id(JSRuntime *rt)
{
    JSClassID id = 0;

    return JS_NewClassID(rt, &id);
}

/* 1, 0, or -1 with an exception pending. As the language has it, a proxy of an array is one. */
static inline int compat_is_array(JSContext *ctx, JSValueConst v)
{
    JSValue at = JS_DupValue(ctx, v);
    int is;

    while (JS_IsProxy(at)) {
        JSValue target = JS_GetProxyTarget(ctx, at);

        JS_FreeValue(ctx, at);
        at = target;
    }
    is = JS_IsException(at) ? -1 : JS_IsArray(at);
    JS_FreeValue(ctx, at);
    return is;
}

static inline bool compat_is_error(JSContext *ctx, JSValueConst v)
{
    (void)ctx;
    return JS_IsError(v);
}

static inline void compat_add_bigint_and_normalize(JSContext *ctx)
{
    JS_AddIntrinsicBigInt(ctx);
}

static inline void compat_set_uncatchable(JSContext *ctx, JSValueConst error)
{
    JS_SetUncatchableError(ctx, error);
}

static inline void *compat_calloc(void *q, size_t count, size_t size)
{
    /* The engine never asks for a product that overflows; if it did, this would be over any
     * limit. */
    return quota_zalloc(q, size && count > SIZE_MAX / size ? SIZE_MAX : count * size);
}

static inline void *compat_malloc(void *q, size_t n)
{
    return quota_alloc(q, n);
}

static inline void compat_free(void *q, void *p)
{
    quota_free(q, p);
}

static inline void *compat_realloc(void *q, void *p, size_t n)
{
    if (n)
        return quota_resize(q, p, n);
    quota_free(q, p);
    return NULL;
}

#define COMPAT_CALLOC .js_calloc = compat_calloc,

#else

typedef int engine_bool;

static inline JSClassID compat_new_class_id(JSRuntime *rt)
{
    JSClassID id = 0;

    (void)rt;
    return JS_NewClassID(&id);
}

static inline int compat_is_array(JSContext *ctx, JSValueConst v)
{
    return JS_IsArray(ctx, v);
}

static inline bool compat_is_error(JSContext *ctx, JSValueConst v)
{
    return JS_IsError(ctx, v);
}

static inline void compat_add_bigint_and_normalize(JSContext *ctx)
{
    JS_AddIntrinsicStringNormalize(ctx); /* BigInt is part of its base objects */
}

static inline void compat_set_uncatchable(JSContext *ctx, JSValueConst error)
{
    JS_SetUncatchableError(ctx, error, 1);
}

/* This engine starts its collector by what the allocator itself books in JSMallocState. */
static inline void compat_book(JSMallocState *s, const struct quota *q, size_t before,
                               int blocks)
{
    s->malloc_size += q->used - before;
    s->malloc_count += (size_t)blocks;
}

static inline void *compat_malloc(JSMallocState *s, size_t n)
{
    struct quota *q = s->opaque;
    size_t before = q->used;
    void *p = quota_alloc(q, n);

    compat_book(s, q, before, 1);
    return p;
}

static inline void compat_free(JSMallocState *s, void *p)
{
    struct quota *q = s->opaque;
    size_t before = q->used;

    if (!p)
        return;
    quota_free(q, p);
    compat_book(s, q, before, -1);
}

static inline void *compat_realloc(JSMallocState *s, void *p, size_t n)
{
    struct quota *q = s->opaque;
    size_t before = q->used;

    if (!n) {
        compat_free(s, p);
        return NULL;
    }
    if (!p)
        return compat_malloc(s, n);
    p = quota_resize(q, p, n);
    compat_book(s, q, before, 0);
    return p;
}

#define COMPAT_CALLOC

#endif

/* 1 and *ret_len set when v is an array, 0 when it is not, -1 with an exception pending. */
static inline int compat_array_length(JSContext *ctx, JSValueConst v, uint32_t *ret_len)
{
    int is = compat_is_array(ctx, v);
    JSValue n;

    if (is <= 0)
        return is;
    n = JS_GetPropertyStr(ctx, v, "length");
    if (JS_IsException(n) || JS_ToUint32(ctx, ret_len, n) < 0)
        is = -1;
    JS_FreeValue(ctx, n);
    return is;
}

static inline void compat_free_names(JSContext *ctx, JSPropertyEnum *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        JS_FreeAtom(ctx, names[i].atom);
    js_free(ctx, names);
}

#endif
