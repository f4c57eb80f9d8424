/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A call's arguments as JSON (MS-46). Not the engine's own JSON.stringify, for three reasons: a
 * `toJSON` that a script puts on Object.prototype or Array.prototype must change nothing
 * (SEC-13), nesting is bounded before it costs anything, and a megabyte is the most that is
 * ever written. Otherwise the rules are the same: toJSON of a class or an object counts,
 * undefined, functions and symbols are left out of objects and null in arrays, NaN is null.
 */
#include <math.h>
#include <string.h>

#include "sandbox/engine_impl.h"

enum put { PUT_FAILED, PUT_NOTHING, PUT_DONE };

static enum put put_value(struct engine *en, JSValueConst v, struct buf *out, unsigned depth);

/* A property's toJSON, found as property access would, but not on the two roots of all data.
 * Undefined when there is none. */
static JSValue find_to_json(struct engine *en, JSValueConst v)
{
    JSContext *ctx = en->ctx;
    JSValue at = JS_DupValue(ctx, v), next, fn = JS_UNDEFINED;

    /* A proxy as prototype can make the chain endless: the walk has an end. */
    for (int steps = 0; steps < JSON_MAX_DEPTH && JS_IsObject(at); steps++) {
        int own = 0;

        if (engine_same_object(at, en->object_proto) || engine_same_object(at, en->array_proto))
            break;
        own = JS_GetOwnProperty(ctx, NULL, at, en->atom_to_json);
        if (own < 0)
            fn = JS_EXCEPTION;
        if (own > 0)
            fn = JS_GetProperty(ctx, v, en->atom_to_json);
        if (own != 0)
            break;
        next = JS_GetPrototype(ctx, at);
        JS_FreeValue(ctx, at);
        at = next;
        if (JS_IsException(at))
            fn = JS_EXCEPTION;
    }
    JS_FreeValue(ctx, at);
    return fn;
}

static bool put_string(struct engine *en, JSValueConst v, struct buf *out)
{
    size_t n;
    const char *p = engine_text(en, v, &n);

    if (!p)
        return false;
    json_put_str(out, (struct str){ p, n });
    JS_FreeCString(en->ctx, p);
    return true;
}

static enum put put_number(struct engine *en, JSValueConst v, struct buf *out)
{
    double d;

    if (JS_ToFloat64(en->ctx, &d, v) < 0)
        return PUT_FAILED;
    if (d == 0)
        d = 0; /* -0 is 0, as in JSON.stringify */
    json_put_num(out, d);
    return PUT_DONE;
}

static enum put put_array(struct engine *en, JSValueConst v, uint32_t n, struct buf *out,
                          unsigned depth)
{
    /* Around an array at the top comes the object {"value": ...}, which counts too. */
    unsigned below = depth ? depth + 1 : 2;

    buf_addc(out, '[');
    for (uint32_t i = 0; i < n && !out->over; i++) {
        JSValue item = JS_GetPropertyUint32(en->ctx, v, i);
        enum put how = JS_IsException(item) ? PUT_FAILED : PUT_DONE;

        if (i)
            buf_addc(out, ',');
        if (how != PUT_FAILED)
            how = put_value(en, item, out, below);
        JS_FreeValue(en->ctx, item);
        if (how == PUT_FAILED)
            return PUT_FAILED;
        if (how == PUT_NOTHING)
            buf_addz(out, "null");
    }
    buf_addc(out, ']');
    return PUT_DONE;
}

/* One member, taken back when its value turns out to be nothing. */
static bool put_member(struct engine *en, JSValueConst obj, JSAtom name, struct buf *out,
                       unsigned depth)
{
    JSValue item = JS_GetProperty(en->ctx, obj, name), key;
    size_t before = out->n;
    enum put how = PUT_FAILED;

    if (JS_IsException(item))
        return false;
    key = JS_AtomToString(en->ctx, name);
    if (out->p[before - 1] != '{')
        buf_addc(out, ',');
    if (put_string(en, key, out)) {
        buf_addc(out, ':');
        how = put_value(en, item, out, depth + 1);
    }
    if (how == PUT_NOTHING)
        out->n = before;
    JS_FreeValue(en->ctx, key);
    JS_FreeValue(en->ctx, item);
    return how != PUT_FAILED;
}

static enum put put_object(struct engine *en, JSValueConst v, struct buf *out, unsigned depth)
{
    JSPropertyEnum *names;
    uint32_t n;
    bool ok = true;

    if (JS_GetOwnPropertyNames(en->ctx, &names, &n, v, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) <
        0)
        return PUT_FAILED;
    buf_addc(out, '{');
    for (uint32_t i = 0; i < n && ok && !out->over; i++)
        ok = put_member(en, v, names[i].atom, out, depth);
    buf_addc(out, '}');
    compat_free_names(en->ctx, names, n);
    return ok ? PUT_DONE : PUT_FAILED;
}

static enum put put_plain_object(struct engine *en, JSValueConst v, struct buf *out,
                                 unsigned depth)
{
    uint32_t n = 0;
    int is_array;

    if (JS_IsFunction(en->ctx, v))
        return PUT_NOTHING;
    if (depth >= JSON_MAX_DEPTH) {
        engine_throw(en, "arguments are nested deeper than 128 levels, or refer to themselves");
        return PUT_FAILED;
    }
    is_array = compat_array_length(en->ctx, v, &n);
    if (is_array < 0)
        return PUT_FAILED;
    return is_array ? put_array(en, v, n, out, depth) : put_object(en, v, out, depth);
}

static enum put put_primitive(struct engine *en, JSValueConst v, struct buf *out)
{
    if (JS_IsString(v))
        return put_string(en, v, out) ? PUT_DONE : PUT_FAILED;
    if (JS_IsNumber(v))
        return put_number(en, v, out);
    if (JS_IsBool(v) || JS_IsNull(v)) {
        buf_addz(out, JS_IsNull(v) ? "null" : JS_ToBool(en->ctx, v) ? "true" : "false");
        return PUT_DONE;
    }
    if (JS_IsUndefined(v) || JS_IsSymbol(v))
        return PUT_NOTHING;
    engine_throw(en, "arguments hold a BigInt, which JSON cannot say");
    return PUT_FAILED;
}

static enum put put_value(struct engine *en, JSValueConst v, struct buf *out, unsigned depth)
{
    JSValue to_json, other;
    enum put how;

    if (!JS_IsObject(v))
        return put_primitive(en, v, out);
    to_json = find_to_json(en, v);
    if (JS_IsException(to_json))
        return PUT_FAILED;
    if (!JS_IsFunction(en->ctx, to_json)) {
        JS_FreeValue(en->ctx, to_json);
        return put_plain_object(en, v, out, depth);
    }
    other = JS_Call(en->ctx, to_json, v, 0, NULL);
    JS_FreeValue(en->ctx, to_json);
    if (JS_IsException(other))
        return PUT_FAILED;
    how = JS_IsObject(other) ? put_plain_object(en, other, out, depth)
                             : put_primitive(en, other, out);
    JS_FreeValue(en->ctx, other);
    return how;
}

bool args_put_json(struct engine *en, JSValueConst v, struct buf *out)
{
    enum put how = JS_IsNull(v) ? PUT_NOTHING : put_value(en, v, out, 0);

    if (how == PUT_FAILED)
        return false;
    if (how == PUT_NOTHING) {
        buf_addz(out, "{}");
    } else if (out->n && out->p[0] != '{') {
        auto_buf inner = *out;

        *out = BUF(inner.max);
        buf_addz(out, "{\"value\":");
        buf_add(out, buf_str(&inner));
        buf_addc(out, '}');
        out->over |= inner.over;
    }
    if (out->over) {
        engine_throw(en, "arguments are larger than 1 MiB of JSON");
        return false;
    }
    return true;
}
