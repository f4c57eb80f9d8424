/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The servers' globals and what is called on them. A global is an object of our own class
 * without prototype, properties or extensibility; every property read makes a function that
 * knows server and key (MS-43). The function returns a promise that C resolves when the
 * parent's reply comes.
 */
#include <string.h>

#include "base/utf8.h"
#include "sandbox/engine_impl.h"
#include "sandbox/hidden.h"

static bool is_callable(const struct server_global *s, struct str key)
{
    if (!script_hides(key))
        return true;
    if (script_always_hides(key))
        return false;
    for (size_t i = 0; i < s->nexact; i++) {
        if (str_eq(s->exact[i], key))
            return true;
    }
    return false;
}

/* ---- sending ---- */

static void free_resolvers(struct engine *en, struct call *c)
{
    JS_FreeValue(en->ctx, c->resolve);
    JS_FreeValue(en->ctx, c->reject);
    c->resolve = c->reject = JS_UNDEFINED;
}

static void fail_call(struct engine *en, struct call *c, const char *message, size_t n)
{
    JSValue reject = c->reject, error = JS_DupValue(en->ctx, c->error), r;

    c->reject = JS_UNDEFINED;
    c->state = CALL_FAILED;
    engine_define(en, error, "message", JS_NewStringLen(en->ctx, message, n));
    r = JS_Call(en->ctx, reject, JS_UNDEFINED, 1, &error);
    JS_FreeValue(en->ctx, r);
    JS_FreeValue(en->ctx, error);
    JS_FreeValue(en->ctx, reject);
    free_resolvers(en, c);
}

static void send_call(struct engine *en, struct call *c)
{
    struct str key;
    struct jw w = engine_frame(en, "call", c->args_n + FRAME_KEY_MAX);

    key.p = engine_text(en, c->key, &key.n);
    c->id = ++en->next_id;
    jw_kint(&w, "id", c->id);
    jw_kint(&w, "server", c->server);
    jw_kstr(&w, "key", key);
    jw_kstr(&w, "args", (struct str){ c->args, c->args_n });
    JS_FreeCString(en->ctx, key.p);
    en->traffic += en->out.n;
    engine_frame_send(en, &w);
    quota_free(en->quota, c->args);
    c->args = NULL;
    JS_FreeValue(en->ctx, c->key);
    c->key = JS_UNDEFINED;
    c->state = CALL_IN_FLIGHT;
    en->in_flight++;
    en->waiting--;
}

/* Rows are sent in their order, so those before first_waiting have ids that grow. */
static void send_waiting(struct engine *en)
{
    while (en->waiting && en->in_flight < SANDBOX_MAX_INFLIGHT)
        send_call(en, &en->calls[en->first_waiting++]);
}

/* ---- calling ---- */

static JSValue limit_error(struct engine *en)
{
    if (JS_IsUndefined(en->limit_error)) {
        auto_buf text = BUF(80);

        buf_addf(&text, "tool call limit of %u reached", en->max_calls);
        en->limit_error = engine_error(en, text.p, text.n);
    }
    en->refused++;
    return JS_DupValue(en->ctx, en->limit_error);
}

static JSValue data_limit_error(struct engine *en)
{
    return engine_error(en, FRAME_TEXT_DATA_LIMIT, strlen(FRAME_TEXT_DATA_LIMIT));
}

static bool key_fits(struct engine *en, JSValueConst key)
{
    size_t n;
    const char *p = JS_ToCStringLen(en->ctx, &n, key);

    JS_FreeCString(en->ctx, p);
    return p && n <= FRAME_KEY_MAX;
}

/* Books the call. Otherwise the reason of its rejection (owned); nothing is sent then. */
static JSValue accept_call(struct engine *en, uint32_t server, JSValueConst key,
                           JSValueConst arg)
{
    auto_buf args = BUF(FRAME_ARGS_MAX);
    JSValue error;
    struct call *c;

    if (en->ncalls >= en->max_calls)
        return limit_error(en);
    if (en->traffic >= FRAME_TRAFFIC_SOFT)
        return data_limit_error(en);
    if (!key_fits(en, key))
        return engine_error(en, "tool name too long", strlen("tool name too long"));
    if (!args_put_json(en, arg, &args))
        return JS_GetException(en->ctx);
    error = engine_error(en, "", 0);
    /* Getters among the arguments, or a script's hook for stacks, may have made calls
     * themselves. */
    if (en->ncalls >= en->max_calls) {
        JS_FreeValue(en->ctx, error);
        return limit_error(en);
    }
    en->calls = engine_grow(en, en->calls, sizeof *en->calls, en->ncalls + 1, &en->calls_cap);
    c = &en->calls[en->ncalls++];
    *c = (struct call){
        .state = CALL_WAITING, .server = server, .error = error, .args_n = args.n
    };
    c->resolve = c->reject = JS_UNDEFINED;
    c->key = JS_DupValue(en->ctx, key);
    c->args = quota_alloc(en->quota, args.n);
    memcpy(c->args, args.p, args.n);
    en->waiting++;
    return JS_UNINITIALIZED;
}

static JSValue server_call(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv,
                           int server, JSValueConst *data)
{
    struct engine *en = engine_of(ctx);
    JSValue funcs[2], promise = JS_NewPromiseCapability(ctx, funcs), why, r;

    (void)this_val;
    if (JS_IsException(promise))
        return promise;
    why = accept_call(en, (uint32_t)server, data[0], argc ? argv[0] : JS_UNDEFINED);
    if (JS_IsUninitialized(why)) {
        struct call *c = &en->calls[en->ncalls - 1];

        c->resolve = funcs[0];
        c->reject = funcs[1];
        send_waiting(en);
        return promise;
    }
    r = JS_Call(ctx, funcs[1], JS_UNDEFINED, 1, &why);
    JS_FreeValue(ctx, r);
    JS_FreeValue(ctx, why);
    JS_FreeValue(ctx, funcs[0]);
    JS_FreeValue(ctx, funcs[1]);
    return promise;
}

/* ---- the globals ---- */

/* The server behind a global; opaque holds its number + 1. */
static uint32_t server_of(struct engine *en, JSValueConst obj)
{
    return (uint32_t)(uintptr_t)JS_GetOpaque(obj, en->server_class) - 1;
}

/* Whether reading this property gives a function; *ret_key is then its name as a string
 * (owned). */
static bool property_is_tool(struct engine *en, JSValueConst obj, JSAtom prop, JSValue *ret_key)
{
    JSValue key = JS_AtomToValue(en->ctx, prop);
    struct str text;
    bool is = false;

    if (!JS_IsSymbol(key)) {
        JSValue as_string = JS_AtomToString(en->ctx, prop);

        JS_FreeValue(en->ctx, key);
        key = as_string;
        text.p = JS_ToCStringLen(en->ctx, &text.n, key);
        is = text.p && is_callable(&en->servers[server_of(en, obj)], text);
        JS_FreeCString(en->ctx, text.p);
    }
    if (is)
        *ret_key = key;
    else
        JS_FreeValue(en->ctx, key);
    return is;
}

static JSValue server_get(JSContext *ctx, JSValueConst obj, JSAtom prop, JSValueConst receiver)
{
    struct engine *en = engine_of(ctx);
    JSValue key, fn;

    (void)receiver;
    if (!property_is_tool(en, obj, prop, &key))
        return JS_UNDEFINED;
    fn = JS_NewCFunctionData(ctx, server_call, 1, (int)server_of(en, obj), 1, &key);
    JS_FreeValue(ctx, key);
    return fn;
}

static int server_has(JSContext *ctx, JSValueConst obj, JSAtom prop)
{
    struct engine *en = engine_of(ctx);
    JSValue key;

    if (!property_is_tool(en, obj, prop, &key))
        return 0;
    JS_FreeValue(ctx, key);
    return 1;
}

static struct str keep_text(struct engine *en, JSValue v)
{
    size_t n;
    const char *p = engine_text(en, v, &n);
    char *copy = quota_alloc(en->quota, n + 1);

    memcpy(copy, p, n + 1);
    JS_FreeCString(en->ctx, p);
    JS_FreeValue(en->ctx, v);
    return (struct str){ copy, n };
}

static void read_global(struct engine *en, JSValueConst from, struct server_global *ret)
{
    JSValue exact = engine_own(en, from, "exact");
    uint32_t n = 0;

    ret->name = keep_text(en, engine_own(en, from, "name"));
    compat_array_length(en->ctx, exact, &n);
    ret->nexact = n;
    ret->exact = quota_alloc(en->quota, n * sizeof *ret->exact);
    for (uint32_t i = 0; i < n; i++)
        ret->exact[i] = keep_text(en, JS_GetPropertyUint32(en->ctx, exact, i));
    JS_FreeValue(en->ctx, exact);
}

void calls_install(struct engine *en, JSValueConst globals)
{
    JSValue global = JS_GetGlobalObject(en->ctx);
    uint32_t n = 0;

    compat_array_length(en->ctx, globals, &n);
    en->nservers = n;
    en->servers = quota_alloc(en->quota, n * sizeof *en->servers);
    for (uint32_t i = 0; i < n; i++) {
        JSValue from = JS_GetPropertyUint32(en->ctx, globals, i);
        JSValue obj = JS_NewObjectProtoClass(en->ctx, JS_NULL, en->server_class);

        read_global(en, from, &en->servers[i]);
        JS_SetOpaque(obj, (void *)(uintptr_t)(i + 1));
        JS_PreventExtensions(en->ctx, obj);
        JS_DefinePropertyValueStr(en->ctx, global, en->servers[i].name.p, obj, JS_PROP_C_W_E);
        JS_FreeValue(en->ctx, from);
    }
    JS_FreeValue(en->ctx, global);
}

/* ---- replies ---- */

static struct call *find_sent(struct engine *en, uint32_t id)
{
    size_t lo = 0, hi = en->first_waiting;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (en->calls[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < en->first_waiting && en->calls[lo].id == id ? &en->calls[lo] : NULL;
}

void calls_reply(struct engine *en, JSValueConst reply)
{
    JSContext *ctx = en->ctx;
    JSValue id = engine_own(en, reply, "id"), error = engine_own(en, reply, "error"), value, r;
    uint32_t n = 0;
    struct call *c;

    JS_ToUint32(ctx, &n, id);
    c = find_sent(en, n);
    if (c && c->state == CALL_IN_FLIGHT) {
        en->in_flight--;
        if (JS_IsString(error)) {
            struct str text;

            text.p = engine_text(en, error, &text.n);
            fail_call(en, c, text.p, text.n);
            JS_FreeCString(ctx, text.p);
        } else {
            JSValue resolve = c->resolve;

            value = engine_own(en, reply, "value");
            c->state = CALL_DONE;
            c->resolve = JS_UNDEFINED;
            JS_FreeValue(ctx, c->error);
            c->error = JS_UNDEFINED;
            free_resolvers(en, c);
            r = JS_Call(ctx, resolve, JS_UNDEFINED, 1, &value);
            JS_FreeValue(ctx, r);
            JS_FreeValue(ctx, value);
            JS_FreeValue(ctx, resolve);
        }
        send_waiting(en);
    }
    JS_FreeValue(ctx, error);
}

unsigned calls_open(const struct engine *en)
{
    return en->in_flight + en->waiting;
}

/* ---- rejections that nobody handles (MS-70) ---- */

static void forget_loose(struct engine *en, JSValueConst promise)
{
    for (size_t i = 0; i < en->nloose; i++) {
        if (!engine_same_object(en->loose[i].promise, promise))
            continue;
        en->calls[en->loose[i].call].unhandled--;
        JS_FreeValue(en->ctx, en->loose[i].promise);
        en->loose[i] = en->loose[--en->nloose];
        return;
    }
}

/*
 * Told of every promise that is rejected without a handler, and again when it gets one. The
 * call's own promise is one of them, and so is that of an async function which awaited the
 * call: they share the error object, which tells the call.
 */
static void on_rejection(JSContext *ctx, JSValueConst promise, JSValueConst reason,
                         engine_bool handled, void *opaque)
{
    struct engine *en = opaque;

    if (handled) {
        forget_loose(en, promise);
        return;
    }
    if (engine_same_object(reason, en->limit_error))
        return;
    for (size_t i = 0; i < en->ncalls; i++) {
        struct call *c = &en->calls[i];

        if (c->state != CALL_FAILED || !engine_same_object(c->error, reason))
            continue;
        en->loose =
            engine_grow(en, en->loose, sizeof *en->loose, en->nloose + 1, &en->loose_cap);
        en->loose[en->nloose++] = (struct loose_promise){ JS_DupValue(ctx, promise), i };
        c->unhandled++;
        return;
    }
}

static void put_loose_message(struct engine *en, struct jw *w, const struct call *c)
{
    JSValue message = engine_own(en, c->error, "message");
    struct str text = { "", 0 };
    const char *p = NULL;

    if (JS_IsString(message)) {
        p = engine_text(en, message, &text.n);
        text.p = p;
    }
    jw_kstr(w, "message", utf8_cut(text, FRAME_LOOSE_MESSAGE_MAX));
    JS_FreeCString(en->ctx, p);
    JS_FreeValue(en->ctx, message);
}

void calls_put_loose(struct engine *en, struct jw *w, bool open_too, JSValueConst reason)
{
    for (size_t i = 0; i < en->first_waiting; i++) {
        const struct call *c = &en->calls[i];
        bool open = open_too && c->state == CALL_IN_FLIGHT;

        if (!open &&
            (c->state != CALL_FAILED || !c->unhandled || engine_same_object(c->error, reason)))
            continue;
        jw_obj(w);
        jw_kint(w, "id", c->id);
        if (!open)
            put_loose_message(en, w, c);
        jw_end(w);
    }
}

/* ---- results.get (MS-68) ---- */

static JSValue results_get(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    struct engine *en = engine_of(ctx);
    JSValue reply, error, value;
    struct str key;
    struct jw w;

    (void)this_val;
    if (argc < 1 || !JS_IsString(argv[0]) || !key_fits(en, argv[0]))
        return engine_throw(en,
                            "results.get(id): id must be a string, as given in 'full value: "
                            "symposium://results/<id>'");
    if (en->traffic >= FRAME_TRAFFIC_SOFT)
        return engine_throw(en, FRAME_TEXT_DATA_LIMIT);
    key.p = engine_text(en, argv[0], &key.n);
    w = engine_frame(en, "get", key.n);
    en->get_id = ++en->next_id;
    jw_kint(&w, "id", en->get_id);
    jw_kstr(&w, "key", key);
    JS_FreeCString(ctx, key.p);
    en->traffic += en->out.n;
    engine_frame_send(en, &w);
    while (en->get_id) {
        if (!engine_pump_io(en, engine_ms_left(en)))
            return engine_throw_timeout(en);
    }
    reply = en->get_reply;
    if (JS_IsException(reply))
        return engine_throw(en, "results.get: no room on the stack to read the value");
    error = engine_own(en, reply, "error");
    value = engine_own(en, reply, "value");
    JS_FreeValue(ctx, reply);
    if (JS_IsUndefined(error))
        return value;
    key.p = engine_text(en, error, &key.n);
    value = JS_Throw(ctx, engine_error(en, key.p, key.n));
    JS_FreeCString(ctx, key.p);
    JS_FreeValue(ctx, error);
    return value;
}

void calls_init(struct engine *en)
{
    static JSClassExoticMethods exotic = { .get_property = server_get,
                                           .has_property = server_has };
    static const JSClassDef class_def = { .class_name = "Server", .exotic = &exotic };
    JSValue global = JS_GetGlobalObject(en->ctx), results = JS_NewObject(en->ctx);

    en->server_class = compat_new_class_id(en->rt);
    JS_NewClass(en->rt, en->server_class, &class_def);
    JS_SetHostPromiseRejectionTracker(en->rt, on_rejection, en);
    engine_define(en, results, "get", JS_NewCFunction(en->ctx, results_get, "get", 1));
    engine_define(en, global, "results", results);
    JS_FreeValue(en->ctx, global);
}
