/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Bytes and text: what the prelude needs from C, and atob and btoa whole. */
#include <string.h>

#include "base/utf8.h"
#include "sandbox/engine_impl.h"

/* utf8Encode(string) -> ArrayBuffer */
static JSValue encode_text(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    size_t n;
    const char *p = engine_text(engine_of(ctx), argc ? argv[0] : JS_UNDEFINED, &n);
    JSValue buffer;

    (void)this_val;
    if (!p)
        return JS_EXCEPTION;
    buffer = JS_NewArrayBufferCopy(ctx, (const uint8_t *)p, n);
    JS_FreeCString(ctx, p);
    return buffer;
}

/* utf8Decode(buffer, offset, length, fatal) -> string, or undefined when fatal and invalid */
static JSValue decode_text(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    struct engine *en = engine_of(ctx);
    uint32_t offset, length;
    size_t size;
    const uint8_t *p;
    struct str bytes;
    JSValue text;

    (void)this_val;
    if (argc < 4 || JS_ToUint32(ctx, &offset, argv[1]) < 0 ||
        JS_ToUint32(ctx, &length, argv[2]) < 0)
        return JS_EXCEPTION;
    p = JS_GetArrayBuffer(ctx, &size, argv[0]);
    if (!p && length)
        return JS_EXCEPTION;
    if (offset > size || length > size - offset)
        return engine_throw(en, "decode: view outside its buffer");
    bytes = (struct str){ (const char *)p + offset, length };
    if (utf8_valid(bytes))
        return JS_NewStringLen(ctx, bytes.p, bytes.n);
    if (JS_ToBool(ctx, argv[3]))
        return JS_UNDEFINED;
    quota_charge(en->quota, 3 * (size_t)length);
    {
        auto_buf clean = BUF(3 * (size_t)length);

        utf8_put_lossy(&clean, bytes);
        text = JS_NewStringLen(ctx, clean.p, clean.n);
    }
    quota_release(en->quota, 3 * (size_t)length);
    return text;
}

/* classId(value): the engine's internal class, which no script can fake */
static JSValue class_id(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    (void)this_val;
    return JS_NewInt32(ctx, argc && JS_IsObject(argv[0]) ? (int32_t)JS_GetClassID(argv[0]) : 0);
}

/* ---- base64 ---- */

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static JSValue throw_invalid_character(struct engine *en, const char *message)
{
    JSValue error = engine_error(en, message, strlen(message));

    engine_define(en, error, "name", JS_NewString(en->ctx, "InvalidCharacterError"));
    return JS_Throw(en->ctx, error);
}

/* NULL with an exception pending. */
static const char *argument_text(struct engine *en, int argc, JSValueConst *argv, size_t *ret_n)
{
    if (argc < 1) {
        engine_throw(en, "one argument is needed");
        return NULL;
    }
    return engine_text(en, argv[0], ret_n);
}

/* Characters up to U+00FF as bytes; out has room for text.n. False at a larger one. */
static bool to_latin1(struct str text, unsigned char *out, size_t *ret_n)
{
    size_t n = 0;

    while (text.n) {
        uint32_t cp = 0;
        size_t used = utf8_decode(text, &cp);

        if (!used || cp > 0xff)
            return false;
        out[n++] = (unsigned char)cp;
        text = str_from(text, used);
    }
    *ret_n = n;
    return true;
}

static size_t encode_base64(const unsigned char *in, size_t n, char *out)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16 | (uint32_t)(i + 1 < n ? in[i + 1] : 0) << 8 |
                     (i + 2 < n ? in[i + 2] : 0);

        out[at++] = alphabet[v >> 18];
        out[at++] = alphabet[v >> 12 & 63];
        out[at++] = i + 1 < n ? alphabet[v >> 6 & 63] : '=';
        out[at++] = i + 2 < n ? alphabet[v & 63] : '=';
    }
    return at;
}

static JSValue btoa_(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    struct engine *en = engine_of(ctx);
    struct str text;
    unsigned char *bytes;
    char *out;
    size_t n;
    JSValue result;

    (void)this_val;
    text.p = argument_text(en, argc, argv, &text.n);
    if (!text.p)
        return JS_EXCEPTION;
    bytes = quota_alloc(en->quota, text.n);
    if (to_latin1(text, bytes, &n)) {
        out = quota_alloc(en->quota, n / 3 * 4 + 4);
        result = JS_NewStringLen(ctx, out, encode_base64(bytes, n, out));
        quota_free(en->quota, out);
    } else {
        result = throw_invalid_character(en, "btoa: a character is above U+00FF");
    }
    quota_free(en->quota, bytes);
    JS_FreeCString(ctx, text.p);
    return result;
}

/* The "forgiving" decoding of the web: ASCII white space is skipped, padding optional. False:
 * not base64. */
static bool decode_base64(struct str in, struct buf *out)
{
    uint32_t bits = 0;
    size_t n = 0, pad = 0;

    for (size_t i = 0; i < in.n; i++) {
        const char *at;

        if (memchr(" \t\n\f\r", in.p[i], 5))
            continue;
        if (in.p[i] == '=') {
            pad++;
            continue;
        }
        at = memchr(alphabet, in.p[i], sizeof alphabet - 1);
        if (!at || pad)
            return false;
        bits = bits << 6 | (uint32_t)(at - alphabet);
        if (n++ % 4)
            utf8_put(out, bits >> (6 - 2 * ((n - 1) % 4)) & 0xff);
    }
    return n % 4 != 1 && (!pad || (pad <= 2 && (n + pad) % 4 == 0));
}

static JSValue atob_(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    struct engine *en = engine_of(ctx);
    struct str text;
    JSValue result;

    (void)this_val;
    text.p = argument_text(en, argc, argv, &text.n);
    if (!text.p)
        return JS_EXCEPTION;
    quota_charge(en->quota, 2 * text.n);
    {
        auto_buf out = BUF(2 * text.n);

        if (decode_base64(text, &out))
            result = JS_NewStringLen(ctx, buf_z(&out), out.n);
        else
            result = throw_invalid_character(en, "atob: the text is not base64");
    }
    quota_release(en->quota, 2 * text.n);
    JS_FreeCString(ctx, text.p);
    return result;
}

void text_install(struct engine *en)
{
    JSValue global = JS_GetGlobalObject(en->ctx);

    engine_define(en, global, "atob", JS_NewCFunction(en->ctx, atob_, "atob", 1));
    engine_define(en, global, "btoa", JS_NewCFunction(en->ctx, btoa_, "btoa", 1));
    JS_FreeValue(en->ctx, global);
}

JSValue text_host(struct engine *en)
{
    JSValue host = JS_NewObject(en->ctx);

    engine_define(en, host, "utf8Encode",
                  JS_NewCFunction(en->ctx, encode_text, "utf8Encode", 1));
    engine_define(en, host, "utf8Decode",
                  JS_NewCFunction(en->ctx, decode_text, "utf8Decode", 4));
    engine_define(en, host, "classId", JS_NewCFunction(en->ctx, class_id, "classId", 1));
    return host;
}
