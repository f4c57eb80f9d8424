/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the engine_*.c files share. Nobody else includes this. */
#ifndef SYM_SANDBOX_ENGINE_IMPL_H
#define SYM_SANDBOX_ENGINE_IMPL_H

#include "sandbox/engine.h"
#include "sandbox/engine_compat.h"
#include "sandbox/frame.h"

#define SCRIPT_FILE "script" /* the file name in stacks; frames of any other are dropped */

/* A call as the worker keeps it. Rows stay: a rejection may be found unhandled long after. */
enum call_state { CALL_WAITING, CALL_IN_FLIGHT, CALL_DONE, CALL_FAILED };

struct call {
    uint32_t id; /* 0 until sent */
    enum call_state state;
    JSValue resolve, reject; /* until settled */
    JSValue error;           /* made at the call, for its stack; kept when the call failed */
    unsigned unhandled;      /* CALL_FAILED: promises rejected with it that nobody handles */
    uint32_t server;
    JSValue key; /* CALL_WAITING, with args: JSON text, from the quota */
    char *args;
    size_t args_n;
};

struct timer_row {
    int64_t due_ms;
    uint32_t id; /* also the order among equals */
    JSValue fn;
    JSValue *args;
    int nargs;
};

struct loose_promise {
    JSValue promise;
    size_t call; /* index */
};

struct server_global {
    struct str name;
    struct str *exact;
    size_t nexact;
};

/* How the text was understood (MS-30). */
enum intake_shape { SHAPE_EXPRESSION, SHAPE_SCRIPT, SHAPE_BODY };

struct program {
    JSValue code; /* compiled, not run */
    enum intake_shape shape;
    int line_shift; /* lines that the wrapper stands before the text */
};

/* A reply that waits. One that came while the script was too deep in its stack for the engine's
 * parser is text until it is acted on. */
struct reply {
    uint32_t id;
    JSValue value; /* the frame; JS_UNINITIALIZED: still text */
    char *text;    /* from the quota, ends with NUL */
    size_t n;
};

struct engine {
    struct quota *quota;
    struct engine_io io;
    JSRuntime *rt;
    JSContext *ctx;
    JSClassID server_class;
    JSAtom atom_to_json;
    JSValue error_ctor; /* captured before any script */
    JSValue object_proto, array_proto;
    JSValue main_realm, host; /* what the prelude is given */
    JSValue prelude; /* object with the lazily made globals; undefined until one is touched */

    /* limits of the script */
    int timeout_ms;
    unsigned max_calls;
    int64_t deadline_ms; /* 0: no script yet */
    size_t console_left, result_bytes;
    bool console_over, timed_out;

    /* calls */
    struct server_global *servers;
    size_t nservers;
    struct call *calls;
    size_t ncalls, calls_cap;
    size_t first_waiting; /* rows before it have been sent or never will be */
    unsigned in_flight, waiting;
    uint32_t next_id;
    uint32_t refused;
    JSValue limit_error; /* the one reason of all refusals; undefined until the first */
    size_t traffic;
    struct loose_promise *loose;
    size_t nloose, loose_cap;
    uint32_t get_id;       /* results.get waits for it; 0: not waiting */
    JSValue get_reply;     /* JS_EXCEPTION: could not be read where it was asked for */
    struct reply *replies; /* arrived and not yet acted on */
    size_t nreplies, replies_cap;

    /* timers: a heap, earliest first */
    struct timer_row *timers;
    size_t ntimers, timers_cap;
    uint32_t next_timer;

    /* the script's value on its way */
    struct program program;
    JSValue watched; /* promise that is awaited */
    JSValue value;
    bool unwrap; /* the promise of an async global script holds {value: completion} */
    bool called; /* the function that was the value has been called */
    bool settled;
    bool ended; /* the final frame is out */

    struct buf out; /* frame being written; charged to the quota */
    size_t out_charged;
};

/* ---- engine.c ---- */
struct engine *engine_of(JSContext *ctx);
/* A second global scope in the same engine. */
JSContext *engine_new_realm(struct engine *en);
/* Milliseconds until the deadline, at least 0. */
int engine_ms_left(struct engine *en);
void *engine_grow(struct engine *en, void *p, size_t elem, size_t need, size_t *cap);
/* A frame whose variable part has about `payload` bytes: jw is ready inside the outer object.
 */
struct jw engine_frame(struct engine *en, const char *type, size_t payload);
/* Closes the object and sends; false when it is longer than a frame may be (nothing is sent).
 */
bool engine_frame_send(struct engine *en, struct jw *w);
/* Waits for one frame from the parent; a reply is kept for later, unless results.get waits for
 * it. False: none came. */
bool engine_pump_io(struct engine *en, int timeout_ms);
/* Own data property of an object made by the engine's JSON parser; undefined when absent. */
JSValue engine_own(struct engine *en, JSValueConst obj, const char *key);
/* The string's UTF-8 with lone surrogates as U+FFFD; NULL with an exception pending. Ends with
 * JS_FreeCString(). */
const char *engine_text(struct engine *en, JSValueConst v, size_t *ret_n);
/* An Error whose stack is that of the caller; `message` may hold anything. */
JSValue engine_error(struct engine *en, const char *message, size_t n);
/* Throws it; returns JS_EXCEPTION. */
JSValue engine_throw(struct engine *en, const char *message);
/* The end of the script's time inside a host function: not catchable. */
JSValue engine_throw_timeout(struct engine *en);
bool engine_same_object(JSValueConst a, JSValueConst b);
void engine_define(struct engine *en, JSValueConst obj, const char *name, JSValue v);

/* ---- engine_intake.c ---- */
/* Fills en->program. False: *ret_message (a JS string, owned) says why the text is no
 * JavaScript (MS-31). */
bool intake_compile(struct engine *en, struct str source, JSValue *ret_message);
/* The stack has room for the smallest script there is: a text that did not compile is to blame
 * itself. */
bool intake_has_room(struct engine *en);

/* ---- engine_calls.c ---- */
void calls_init(struct engine *en); /* class, results, rejection tracker */
void calls_install(struct engine *en, JSValueConst globals);
void calls_reply(struct engine *en, JSValueConst reply);
unsigned calls_open(const struct engine *en);
/* Writes the array `loose`; `open_too`: calls in flight belong to it; `reason`: a failure that
 * is reported anyway. */
void calls_put_loose(struct engine *en, struct jw *w, bool open_too, JSValueConst reason);

/* ---- engine_json.c ---- */
/* Appends arguments as JSON object text (MS-46); false with an exception pending. */
bool args_put_json(struct engine *en, JSValueConst v, struct buf *out);

/* ---- engine_timers.c ---- */
void timers_install(struct engine *en);
/* Milliseconds to the next timer, or -1. */
int timers_next_ms(const struct engine *en);
/* Runs one due timer; its return value, or undefined when none is due. */
JSValue timers_fire(struct engine *en);

/* ---- engine_console.c ---- */
void console_install(struct engine *en);
/* What is said about an exception: message and stack, together at most FRAME_ERROR_MAX bytes.
 */
struct thrown {
    struct buf message, stack;
};
void thrown_describe(struct engine *en, JSValueConst exception, struct thrown *ret);
void thrown_free(struct thrown *t);

/* ---- engine_text.c ---- */
void text_install(struct engine *en); /* atob, btoa */
JSValue text_host(struct engine *en); /* what prelude.js knows as `host` */

/* ---- engine_prelude.c ---- */
void prelude_install(struct engine *en);

#ifdef SYM_TEST_HOOKS
/* ---- tests/unit/sandbox/hooks.c ---- */
void hooks_install(struct engine *en);
#endif

#endif
