/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* setTimeout, clearTimeout, queueMicrotask (MS-66). Timers lie in a binary heap, earliest
 * first, equals in order of making. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "sandbox/engine_impl.h"

static bool earlier(const struct timer_row *a, const struct timer_row *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->id < b->id;
}

static void swap(struct engine *en, size_t i, size_t k)
{
    struct timer_row t = en->timers[i];

    en->timers[i] = en->timers[k];
    en->timers[k] = t;
}

static void sift_up(struct engine *en, size_t i)
{
    while (i && earlier(&en->timers[i], &en->timers[(i - 1) / 2])) {
        swap(en, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void sift_down(struct engine *en, size_t i)
{
    for (;;) {
        size_t least = i;

        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < en->ntimers; child++) {
            if (earlier(&en->timers[child], &en->timers[least]))
                least = child;
        }
        if (least == i)
            return;
        swap(en, i, least);
        i = least;
    }
}

static struct timer_row take(struct engine *en, size_t i)
{
    struct timer_row t = en->timers[i];

    en->timers[i] = en->timers[--en->ntimers];
    if (i < en->ntimers) {
        sift_up(en, i);
        sift_down(en, i);
    }
    return t;
}

static void release(struct engine *en, struct timer_row *t)
{
    JS_FreeValue(en->ctx, t->fn);
    for (int i = 0; i < t->nargs; i++)
        JS_FreeValue(en->ctx, t->args[i]);
    quota_free(en->quota, t->args);
}

static JSValue set_timeout(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    struct engine *en = engine_of(ctx);
    struct timer_row t = { .fn = JS_UNDEFINED };
    double delay = 0;

    (void)this_val;
    if (argc < 1 || !JS_IsFunction(ctx, argv[0]))
        return engine_throw(en, "setTimeout: the first argument must be a function");
    if (argc > 1 && JS_ToFloat64(ctx, &delay, argv[1]) < 0)
        return JS_EXCEPTION;
    if (!(delay > 0))
        delay = 0; /* also NaN */
    if (delay > en->timeout_ms)
        delay = en->timeout_ms; /* it never comes */
    t.due_ms = clock_ms() + (int64_t)ceil(delay);
    t.id = ++en->next_timer;
    t.fn = JS_DupValue(ctx, argv[0]);
    t.nargs = argc > 2 ? argc - 2 : 0;
    t.args = quota_alloc(en->quota, (size_t)t.nargs * sizeof *t.args);
    for (int i = 0; i < t.nargs; i++)
        t.args[i] = JS_DupValue(ctx, argv[i + 2]);
    en->timers =
        engine_grow(en, en->timers, sizeof *en->timers, en->ntimers + 1, &en->timers_cap);
    en->timers[en->ntimers++] = t;
    sift_up(en, en->ntimers - 1);
    return JS_NewUint32(ctx, t.id);
}

static JSValue clear_timeout(JSContext *ctx, JSValueConst this_val, int argc,
                             JSValueConst *argv)
{
    struct engine *en = engine_of(ctx);
    uint32_t id = 0;

    (void)this_val;
    if (argc < 1 || !JS_IsNumber(argv[0]) || JS_ToUint32(ctx, &id, argv[0]) < 0)
        return JS_UNDEFINED;
    for (size_t i = 0; i < en->ntimers; i++) {
        if (en->timers[i].id == id) {
            struct timer_row t = take(en, i);

            release(en, &t);
            break;
        }
    }
    return JS_UNDEFINED;
}

int timers_next_ms(const struct engine *en)
{
    int64_t left;

    if (!en->ntimers)
        return -1;
    left = en->timers[0].due_ms - clock_ms();
    return left > 0 ? (int)left : 0;
}

JSValue timers_fire(struct engine *en)
{
    struct timer_row t;
    JSValue r;

    if (timers_next_ms(en) != 0)
        return JS_UNDEFINED;
    t = take(en, 0);
    r = JS_Call(en->ctx, t.fn, JS_UNDEFINED, t.nargs, t.args);
    release(en, &t);
    return r;
}

static JSValue run_microtask(JSContext *ctx, int argc, JSValueConst *argv)
{
    (void)argc;
    return JS_Call(ctx, argv[0], JS_UNDEFINED, 0, NULL);
}

static JSValue queue_microtask(JSContext *ctx, JSValueConst this_val, int argc,
                               JSValueConst *argv)
{
    (void)this_val;
    if (argc < 1 || !JS_IsFunction(ctx, argv[0]))
        return engine_throw(engine_of(ctx), "queueMicrotask: the argument must be a function");
    return JS_EnqueueJob(ctx, run_microtask, 1, argv) < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

void timers_install(struct engine *en)
{
    static const struct {
        const char *name;
        JSCFunction *fn;
        int length;
    } functions[] = {
        { "setTimeout", set_timeout, 1 },
        { "clearTimeout", clear_timeout, 1 },
        { "queueMicrotask", queue_microtask, 1 },
    };
    JSValue global = JS_GetGlobalObject(en->ctx);

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        engine_define(
            en, global, functions[i].name,
            JS_NewCFunction(en->ctx, functions[i].fn, functions[i].name, functions[i].length));
    JS_FreeValue(en->ctx, global);
}
