/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sandbox/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "sandbox/engine_impl.h"

#define OUT_KEEP          ((size_t)64 << 10) /* a larger frame buffer is given back after use */
#define TOO_SMALL_A_STACK "script-stack-limit-kb is too small for any script"
#define LAST_WORD_MS      100 /* beyond T, for the JSON of a value that had settled before */

const char *engine_version(void)
{
    return SYM_ENGINE_NAME " " SYM_ENGINE_VERSION;
}

struct engine *engine_of(JSContext *ctx)
{
    return JS_GetContextOpaque(ctx);
}

int engine_ms_left(struct engine *en)
{
    int64_t left = en->deadline_ms - clock_ms();

    return left > 0 ? (int)left : 0;
}

void *engine_grow(struct engine *en, void *p, size_t elem, size_t need, size_t *cap)
{
    if (need <= *cap)
        return p;
    *cap = need < 8 ? 8 : need + need / 2;
    return quota_resize(en->quota, p, *cap * elem);
}

bool engine_same_object(JSValueConst a, JSValueConst b)
{
    return JS_IsObject(a) && JS_IsObject(b) && JS_VALUE_GET_PTR(a) == JS_VALUE_GET_PTR(b);
}

void engine_define(struct engine *en, JSValueConst obj, const char *name, JSValue v)
{
    JS_DefinePropertyValueStr(en->ctx, obj, name, v, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
}

JSValue engine_own(struct engine *en, JSValueConst obj, const char *key)
{
    JSAtom atom = JS_NewAtom(en->ctx, key);
    JSPropertyDescriptor d;
    int rc = JS_IsObject(obj) ? JS_GetOwnProperty(en->ctx, &d, obj, atom) : 0;

    JS_FreeAtom(en->ctx, atom);
    if (rc <= 0)
        return JS_UNDEFINED;
    JS_FreeValue(en->ctx, d.getter);
    JS_FreeValue(en->ctx, d.setter);
    return d.value;
}

/* ---- text ---- */

const char *engine_text(struct engine *en, JSValueConst v, size_t *ret_n)
{
    const char *p = JS_ToCStringLen(en->ctx, ret_n, v);
    size_t n = p ? *ret_n : 0;

    /*
     * The engine writes a lone surrogate as three bytes ED A0..BF xx, which is no UTF-8; U+FFFD
     * has three bytes as well. Only a string of 16-bit units can hold one, and such a string's
     * UTF-8 is a copy of ours, so it may be changed in place.
     */
    for (size_t i = 0; i + 2 < n; i++) {
        const unsigned char *at = (const unsigned char *)p + i;

        if (at[0] == 0xed && at[1] >= 0xa0)
            memcpy((char *)p + i, "\xef\xbf\xbd", 3);
    }
    return p;
}

/* ---- errors ---- */

JSValue engine_error(struct engine *en, const char *message, size_t n)
{
    JSContext *ctx = en->ctx;
    JSValue text = JS_NewStringLen(ctx, message, n);
    JSValue error = JS_CallConstructor(ctx, en->error_ctor, 1, &text);

    if (JS_IsException(error)) {
        /* A script's hook for stacks threw, or time is over. */
        JS_FreeValue(ctx, JS_GetException(ctx));
        error = JS_NewError(ctx);
        engine_define(en, error, "message", JS_DupValue(ctx, text));
    }
    JS_FreeValue(ctx, text);
    return error;
}

JSValue engine_throw(struct engine *en, const char *message)
{
    return JS_Throw(en->ctx, engine_error(en, message, strlen(message)));
}

JSValue engine_throw_timeout(struct engine *en)
{
    JSValue error = engine_error(en, "interrupted", strlen("interrupted"));

    en->timed_out = true;
    compat_set_uncatchable(en->ctx, error);
    return JS_Throw(en->ctx, error);
}

/* ---- frames ---- */

struct jw engine_frame(struct engine *en, const char *type, size_t payload)
{
    size_t need =
        2 * payload +
        512; /* escaping at most doubles JSON text and plain text but for control bytes */
    struct jw w;

    if (need > en->out_charged) {
        quota_charge(en->quota, need - en->out_charged);
        en->out_charged = need;
    }
    frame_begin(&en->out);
    w = jw_to(&en->out);
    jw_obj(&w);
    jw_kstrz(&w, "type", type);
    return w;
}

bool engine_frame_send(struct engine *en, struct jw *w)
{
    bool fits;

    jw_end(w);
    fits = frame_end(&en->out, NULL);
    if (fits)
        en->io.send(en->io.ctx, buf_str(&en->out));
    if (en->out.cap > OUT_KEEP) {
        buf_free(&en->out);
        quota_release(en->quota, en->out_charged);
        en->out_charged = 0;
    }
    return fits;
}

/* The id in a reply's text, which our parent writes with the id in a fixed place. */
static uint32_t reply_id(struct str payload)
{
    static const struct str before = { "{\"type\":\"reply\",\"id\":", 21 };
    struct str digits = str_from(payload, before.n);
    uint32_t id = 0;

    if (!str_starts(payload, before))
        return 0;
    for (; digits.n && digits.p[0] >= '0' && digits.p[0] <= '9'; digits = str_from(digits, 1))
        id = id * 10 + (uint32_t)(digits.p[0] - '0');
    return id;
}

/* The frame, or JS_UNINITIALIZED when the engine cannot read it here. */
static JSValue parse_reply(struct engine *en, const char *text, size_t n)
{
    JSValue reply = JS_ParseJSON(en->ctx, text, n, "<reply>");

    if (!JS_IsException(reply))
        return reply;
    JS_FreeValue(en->ctx, JS_GetException(en->ctx));
    return JS_UNINITIALIZED;
}

bool engine_pump_io(struct engine *en, int timeout_ms)
{
    struct str payload;
    struct reply r = { 0 };

    if (!en->io.receive(en->io.ctx, timeout_ms, &payload))
        return false;
    en->traffic += payload.n;
    r.id = reply_id(payload);
    r.value = parse_reply(en, payload.p, payload.n);
    if (en->get_id && r.id == en->get_id) {
        en->get_id = 0;
        en->get_reply = JS_IsUninitialized(r.value) ? JS_EXCEPTION : r.value;
        return true;
    }
    if (JS_IsUninitialized(r.value)) {
        r.n = payload.n;
        r.text = quota_alloc(en->quota, r.n + 1);
        memcpy(r.text, payload.p, r.n);
        r.text[r.n] = '\0';
    }
    en->replies =
        engine_grow(en, en->replies, sizeof *en->replies, en->nreplies + 1, &en->replies_cap);
    en->replies[en->nreplies++] = r;
    return true;
}

/* ---- the end of the script ---- */

static void put_end(struct engine *en, struct jw *w, bool open_too, JSValueConst reason)
{
    jw_kint(w, "refused", en->refused);
    jw_key(w, "loose");
    jw_arr(w);
    calls_put_loose(en, w, open_too, reason);
    jw_end(w);
}

/* `reason`: the exception that ended the script, or undefined. */
static void end_with_error(struct engine *en, enum error_kind_frame kind,
                           const struct thrown *t, JSValueConst reason)
{
    struct jw w = engine_frame(en, "error", t->message.n + t->stack.n);

    jw_kstrz(&w, "kind", frame_error_kind_name(kind));
    jw_kstr(&w, "message", buf_str(&t->message));
    jw_kstr(&w, "stack", buf_str(&t->stack));
    put_end(en, &w, false, reason);
    engine_frame_send(en, &w);
    en->ended = true;
}

static void end_with_message(struct engine *en, const char *message)
{
    struct thrown t = { BUF(FRAME_ERROR_MAX), BUF(1) };

    buf_addz(&t.message, message);
    end_with_error(en, ERROR_SCRIPT, &t, JS_UNDEFINED);
    thrown_free(&t);
}

/* Ends the script by an exception (owned) that nothing caught; when time is over, that is the
 * reason whatever was thrown. */
static void end_with_exception(struct engine *en, JSValue exception)
{
    struct thrown t;
    enum error_kind_frame kind = ERROR_SCRIPT;

    if (en->timed_out) {
        kind = ERROR_TIMEOUT;
        en->deadline_ms += LAST_WORD_MS;
    } else if (engine_same_object(exception, en->limit_error)) {
        kind = ERROR_CALL_LIMIT;
    }
    thrown_describe(en, exception, &t);
    if (kind == ERROR_TIMEOUT) {
        buf_clear(&t.message);
        buf_addf(&t.message, "script timed out after %g s", en->timeout_ms / 1000.0);
        t.stack.n = str_upto(buf_str(&t.stack), FRAME_ERROR_MAX - t.message.n).n;
    }
    end_with_error(en, kind, &t, exception);
    thrown_free(&t);
    JS_FreeValue(en->ctx, exception);
}

static void end_with_pending_exception(struct engine *en)
{
    end_with_exception(en, JS_GetException(en->ctx));
}

static bool send_result(struct engine *en, struct str json, size_t total, bool open_too)
{
    struct jw w = engine_frame(en, "result", json.n);

    jw_kstr(&w, "json", json);
    jw_kint(&w, "total", (int64_t)total);
    put_end(en, &w, open_too, JS_UNDEFINED);
    return engine_frame_send(en, &w);
}

/* A value that JSON cannot say at all ("undefined", functions, symbols) is null; one that it
 * refuses is an error (MS-32). */
static void end_with_value(struct engine *en, bool open_too)
{
    JSContext *ctx = en->ctx;
    JSValue json = JS_JSONStringify(ctx, en->value, JS_UNDEFINED, JS_UNDEFINED);
    struct str text = STR("null"), cut;
    const char *p = NULL;

    if (JS_IsException(json)) {
        end_with_pending_exception(en);
        return;
    }
    if (!JS_IsUndefined(json)) {
        p = engine_text(en, json, &text.n);
        text.p = p;
    }
    cut = utf8_cut(text, en->result_bytes < FRAME_RESULT_MAX / 2 ? en->result_bytes
                                                                 : FRAME_RESULT_MAX / 2);
    if (text.n > FRAME_RESULT_MAX || !send_result(en, text, text.n, open_too))
        send_result(en, cut, text.n, open_too);
    en->ended = true;
    JS_FreeCString(ctx, p);
    JS_FreeValue(ctx, json);
}

/* ---- following the script's value ---- */

/* Awaits v (owned) if it is a promise or another thenable: then it is taken. */
static bool watch(struct engine *en, JSValue v)
{
    JSContext *ctx = en->ctx;
    JSValue then, funcs[2], promise, r;
    bool thenable;

    if (!JS_IsObject(v))
        return false;
    if ((int)JS_PromiseState(ctx, v) >= 0) {
        en->watched = v;
        return true;
    }
    then = JS_GetPropertyStr(ctx, v, "then");
    if (JS_IsException(then)) {
        end_with_pending_exception(en);
        return true;
    }
    thenable = JS_IsFunction(ctx, then);
    JS_FreeValue(ctx, then);
    if (!thenable)
        return false;
    promise = JS_NewPromiseCapability(ctx, funcs);
    r = JS_Call(ctx, funcs[0], JS_UNDEFINED, 1, &v);
    JS_FreeValue(ctx, r);
    JS_FreeValue(ctx, funcs[0]);
    JS_FreeValue(ctx, funcs[1]);
    JS_FreeValue(ctx, v);
    en->watched = promise;
    return true;
}

/* The next step of a value (owned) that is no longer behind a promise: awaited, called, or
 * final. */
static void take_value(struct engine *en, JSValue v)
{
    while (!en->ended && !watch(en, v)) {
        JSValue fn = v;

        if (en->called || !JS_IsFunction(en->ctx, v)) {
            en->value = v;
            en->settled = true;
            return;
        }
        en->called = true;
        v = JS_Call(en->ctx, fn, JS_UNDEFINED, 0, NULL);
        JS_FreeValue(en->ctx, fn);
        if (JS_IsException(v))
            end_with_pending_exception(en);
    }
}

static void advance(struct engine *en)
{
    while (!en->ended && !en->settled) {
        JSPromiseStateEnum state = JS_PromiseState(en->ctx, en->watched);
        JSValue promise = en->watched, v;

        if (state == JS_PROMISE_PENDING)
            return;
        v = JS_PromiseResult(en->ctx, promise);
        JS_FreeValue(en->ctx, promise);
        en->watched = JS_UNDEFINED;
        if (state == JS_PROMISE_REJECTED) {
            end_with_exception(en, v);
            return;
        }
        if (en->unwrap) {
            JSValue box = v;

            v = engine_own(en, box, "value");
            JS_FreeValue(en->ctx, box);
            en->unwrap = false;
        }
        take_value(en, v);
    }
}

/* ---- the loop ---- */

static int on_interrupt(JSRuntime *rt, void *opaque)
{
    struct engine *en = opaque;

    (void)rt;
    if (!en->deadline_ms || clock_ms() < en->deadline_ms)
        return 0;
    en->timed_out = true;
    return 1;
}

/* When the interrupt came inside a promise's job, the rejection holds where. */
static void end_by_deadline(struct engine *en)
{
    JSValue where = JS_GetException(en->ctx);

    if (!JS_IsObject(where))
        where = JS_PromiseState(en->ctx, en->watched) == JS_PROMISE_REJECTED
                    ? JS_PromiseResult(en->ctx, en->watched)
                    : JS_UNDEFINED;
    en->timed_out = true;
    end_with_exception(en, where);
}

/* Runs every job that is ready, the clock in view: a storm of microtasks polls nothing else. */
static void run_jobs(struct engine *en)
{
    for (;;) {
        JSContext *ctx;
        int rc;

        if (clock_ms() >= en->deadline_ms)
            en->timed_out = true;
        rc = en->timed_out ? 0 : JS_ExecutePendingJob(en->rt, &ctx);
        if (en->timed_out) {
            if (JS_IsJobPending(en->rt) || rc != 0 || !en->settled)
                end_by_deadline(en);
            return;
        }
        if (rc == 0)
            return;
        if (rc < 0) {
            end_with_pending_exception(en);
            return;
        }
    }
}

/* From text, now that the stack is empty. What even so cannot be read fails its call. */
static void parse_late(struct engine *en, struct reply *r)
{
    static const char why[] = "the result is nested too deep for the script's stack";

    r->value = parse_reply(en, r->text, r->n);
    quota_free(en->quota, r->text);
    if (!JS_IsUninitialized(r->value))
        return;
    r->value = JS_NewObject(en->ctx);
    engine_define(en, r->value, "id", JS_NewUint32(en->ctx, r->id));
    engine_define(en, r->value, "error", JS_NewString(en->ctx, why));
}

static void act_on_replies(struct engine *en)
{
    for (size_t i = 0; i < en->nreplies; i++) {
        struct reply r = en->replies[i]; /* acting on it may add some */

        if (JS_IsUninitialized(r.value))
            parse_late(en, &r);
        calls_reply(en, r.value);
        JS_FreeValue(en->ctx, r.value);
    }
    en->nreplies = 0;
}

/* Nothing can run: sleeps until a reply, a timer or the deadline. */
static void wait_for_something(struct engine *en)
{
    int timer = timers_next_ms(en), left = engine_ms_left(en);
    JSValue r;

    if (timer < 0 && !calls_open(en)) {
        end_with_message(en,
                         "script never finished: awaiting a promise that nothing can settle");
        return;
    }
    if (!en->nreplies) /* results.get may have let some wait */
        engine_pump_io(en, timer >= 0 && timer < left ? timer : left);
    act_on_replies(en);
    if (!engine_ms_left(en)) {
        if (!en->settled) {
            end_by_deadline(en);
            return;
        }
        en->deadline_ms += LAST_WORD_MS;
        end_with_value(en, true);
        return;
    }
    r = timers_fire(en);
    if (JS_IsException(r))
        end_with_pending_exception(en);
    JS_FreeValue(en->ctx, r);
}

static void start(struct engine *en)
{
    JSContext *ctx = en->ctx;
    JSValue v = JS_EvalFunction(ctx, en->program.code);

    if (en->program.shape != SHAPE_SCRIPT && !JS_IsException(v)) {
        JSValue fn = v;

        v = JS_Call(ctx, fn, JS_UNDEFINED, 0, NULL);
        JS_FreeValue(ctx, fn);
    }
    if (JS_IsException(v)) {
        end_with_pending_exception(en);
        return;
    }
    en->watched = v;
    en->unwrap = en->program.shape == SHAPE_SCRIPT;
}

static int64_t number_of(struct engine *en, JSValueConst frame, const char *key)
{
    int64_t n = 0;

    JS_ToInt64(en->ctx, &n, engine_own(en, frame, key));
    return n;
}

/* The limits and the servers; the text is returned. */
static JSValue read_script(struct engine *en, struct str payload)
{
    JSValue frame = JS_ParseJSON(en->ctx, payload.p, payload.n, "<script>"), globals, source;

    source = engine_own(en, frame, "source");
    globals = engine_own(en, frame, "globals");
    en->timeout_ms = (int)number_of(en, frame, "timeout_ms");
    en->console_left = (size_t)number_of(en, frame, "console_bytes");
    en->result_bytes = (size_t)number_of(en, frame, "result_bytes");
    en->max_calls = (unsigned)number_of(en, frame, "max_calls");
    calls_install(en, globals);
    JS_FreeValue(en->ctx, globals);
    JS_FreeValue(en->ctx, frame);
    return source;
}

static void compile_and_start(struct engine *en, struct str source)
{
    JSValue why = JS_UNDEFINED;
    struct thrown t = { BUF(FRAME_ERROR_MAX), BUF(1) };
    struct str text;

    if (intake_compile(en, source, &why)) {
        start(en);
    } else if (en->timed_out) {
        end_by_deadline(en);
    } else if (!intake_has_room(en)) {
        end_with_message(en, TOO_SMALL_A_STACK);
    } else {
        text.p = engine_text(en, why, &text.n);
        buf_add(&t.message, utf8_cut(text, FRAME_ERROR_MAX));
        JS_FreeCString(en->ctx, text.p);
        end_with_error(en, ERROR_SCRIPT, &t, JS_UNDEFINED);
    }
    JS_FreeValue(en->ctx, why);
    thrown_free(&t);
}

void engine_run(struct engine *en, struct str script_frame)
{
    JSValue source = read_script(en, script_frame);
    struct str text;

    if (!JS_IsString(source)) {
        JS_FreeValue(en->ctx, JS_GetException(en->ctx));
        end_with_message(en, TOO_SMALL_A_STACK);
        return;
    }
    en->deadline_ms = clock_ms() + en->timeout_ms;
    text.p = engine_text(en, source, &text.n);
    compile_and_start(en, text);
    JS_FreeCString(en->ctx, text.p);
    JS_FreeValue(en->ctx, source);
    while (!en->ended) {
        run_jobs(en);
        advance(en);
        if (en->ended || JS_IsJobPending(en->rt))
            continue;
        if (en->settled && !calls_open(en))
            end_with_value(en, false);
        else
            wait_for_something(en);
    }
}

/* ---- making one ---- */

/* Everything of the language but WeakRef and FinalizationRegistry; no module loader, no
 * bytecode reader (WK-4). */
static void add_intrinsics(JSContext *ctx)
{
    JS_AddIntrinsicBaseObjects(ctx);
    JS_AddIntrinsicDate(ctx);
    JS_AddIntrinsicEval(ctx);
    compat_add_bigint_and_normalize(ctx);
    JS_AddIntrinsicRegExpCompiler(ctx);
    JS_AddIntrinsicRegExp(ctx);
    JS_AddIntrinsicJSON(ctx);
    JS_AddIntrinsicProxy(ctx);
    JS_AddIntrinsicMapSet(ctx);
    JS_AddIntrinsicTypedArrays(ctx);
    JS_AddIntrinsicPromise(ctx);
}

static void remove_globals(JSContext *ctx)
{
    static const char *const names[] = { "SharedArrayBuffer", "Atomics", "queueMicrotask" };
    JSValue global = JS_GetGlobalObject(ctx);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        JSAtom atom = JS_NewAtom(ctx, names[i]);

        JS_DeleteProperty(ctx, global, atom, 0);
        JS_FreeAtom(ctx, atom);
    }
    JS_FreeValue(ctx, global);
}

JSContext *engine_new_realm(struct engine *en)
{
    JSContext *ctx = JS_NewContextRaw(en->rt);

    JS_SetContextOpaque(ctx, en);
    add_intrinsics(ctx);
    remove_globals(ctx);
    return ctx;
}

static JSValue prototype_of(struct engine *en, JSValueConst global, const char *name)
{
    JSValue ctor = JS_GetPropertyStr(en->ctx, global, name);
    JSValue proto = JS_GetPropertyStr(en->ctx, ctor, "prototype");

    JS_FreeValue(en->ctx, ctor);
    return proto;
}

/*
 * Walks the path that every script takes (parse, compile, promise, JSON both ways, frame) once
 * for nothing: the pages of code and heap that it faults in are then no part of the first
 * script's time. Nothing of it stays visible.
 */
static void warm_up(struct engine *en)
{
    static const char source[] = "(async () => ({ a: [1, 'x'], b: await null }))()";
    static const char json[] = "{\"id\":1,\"value\":{\"a\":[1,\"x\"]}}";
    JSContext *ctx = en->ctx, *job_ctx;
    JSValue parsed = JS_ParseJSON(ctx, json, sizeof json - 1, "<warm>");
    JSValue promise = JS_Eval(ctx, source, sizeof source - 1, "<warm>", JS_EVAL_TYPE_GLOBAL);
    JSValue text = JS_JSONStringify(ctx, parsed, JS_UNDEFINED, JS_UNDEFINED);
    struct jw w;

    while (JS_ExecutePendingJob(en->rt, &job_ctx) > 0)
        continue;
    w = engine_frame(en, "result", 64);
    jw_kstr(&w, "json", (struct str){ json, sizeof json - 1 });
    jw_end(&w);
    JS_FreeValue(ctx, text);
    JS_FreeValue(ctx, promise);
    JS_FreeValue(ctx, parsed);
}

struct engine *engine_new(struct quota *q, size_t stack_bytes, const struct engine_io *io)
{
    static const JSMallocFunctions mf = {
        COMPAT_CALLOC.js_malloc = compat_malloc,
        .js_free = compat_free,
        .js_realloc = compat_realloc,
        .js_malloc_usable_size = quota_usable_size,
    };
    struct engine *en = quota_zalloc(q, sizeof *en);
    JSValue global;

    en->quota = q;
    en->io = *io;
    en->out = BUF(FRAME_HEAD + FRAME_MAX);
    en->rt = JS_NewRuntime2(&mf, q);
    JS_SetMaxStackSize(en->rt, stack_bytes);
    en->ctx = engine_new_realm(en);
    global = JS_GetGlobalObject(en->ctx);
    en->error_ctor = JS_GetPropertyStr(en->ctx, global, "Error");
    en->object_proto = prototype_of(en, global, "Object");
    en->array_proto = prototype_of(en, global, "Array");
    en->atom_to_json = JS_NewAtom(en->ctx, "toJSON");
    en->watched = en->value = en->limit_error = en->prelude = JS_UNDEFINED;
    JS_FreeValue(en->ctx, global);
    calls_init(en);
    console_install(en);
    timers_install(en);
    prelude_install(en);
#ifdef SYM_TEST_HOOKS
    hooks_install(en);
#endif
    JS_SetInterruptHandler(en->rt, on_interrupt, en);
    warm_up(en);
    return en;
}
