/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a worker and its parent say to each other: a length (u32, little-endian) and that many
 * bytes of JSON (WK-5). JSON made by a script ("args", "json") travels as a JSON *string* that
 * holds the text, so that the parent never parses it as part of a frame; values made by the
 * parent travel as they are.
 *
 *   parent -> worker
 *     script            source, globals [{name, exact}], timeout_ms, console_bytes,
 *                       result_bytes, max_calls
 *     reply             id, and value or error
 *   worker -> parent
 *     ready
 *     call              id, server (index into globals), key, args
 *     get               id, key: of results.get
 *     console           level, text, over (true: the last one, cut at the limit)
 *     result            json, total, refused, loose          the last three kinds
 *     error             kind, message, stack, refused, loose     are final
 *     memory_exhausted
 *
 * The reading side here is the parent's, and takes the worker for a liar: frame_decode() checks
 * one frame by itself, frame_guard_check() whether it may come now.
 */
#ifndef SYM_SANDBOX_FRAME_H
#define SYM_SANDBOX_FRAME_H

#include "sandbox/host.h"
#include "text/json.h"

#define FRAME_MAX  ((size_t)16 << 20)
#define FRAME_HEAD 4
/* Calls and replies of one script: from SOFT on the worker refuses them by itself, past HARD it
 * lies. */
#define FRAME_TRAFFIC_SOFT      ((size_t)48 << 20)
#define FRAME_TRAFFIC_HARD      ((size_t)64 << 20)
#define FRAME_KEY_MAX           ((size_t)16 << 10) /* a tool's name as the script spells it */
#define FRAME_ARGS_MAX          ((size_t)1 << 20) /* JSON text of one call's arguments (MS-46) */
#define FRAME_RESULT_MAX        ((size_t)8 << 20) /* a longer one: its beginning (MS-68) */
#define FRAME_ERROR_MAX         4096              /* message and stack together (MS-38) */
#define FRAME_LOOSE_MESSAGE_MAX 512

/* Fixed texts that both sides may have to produce. */
#define FRAME_TEXT_DATA_LIMIT "data limit of one script reached"

enum frame_type {
    FRAME_READY,
    FRAME_CALL,
    FRAME_GET,
    FRAME_CONSOLE,
    FRAME_RESULT,
    FRAME_ERROR,
    FRAME_MEMORY_EXHAUSTED,
    FRAME_TYPE_COUNT,
};

enum console_level { CONSOLE_PLAIN, CONSOLE_WARN, CONSOLE_ERROR };

/* What stands before a line of that level (MS-40): "", "[warn] ", "[error] ". */
struct str console_prefix(enum console_level l);

enum error_kind_frame { ERROR_SCRIPT, ERROR_TIMEOUT, ERROR_CALL_LIMIT };
const char *frame_error_kind_name(enum error_kind_frame k);

/* ---- reading ---- */

/* One decoded frame; slices point into its document. Only the members of its type are set. */
struct frame {
    enum frame_type type;
    uint32_t id;
    uint32_t server;
    struct str key, args;
    enum console_level level;
    bool over;
    struct str text;
    struct str json;
    size_t total;
    enum error_kind_frame kind;
    struct str message, stack;
    uint32_t refused;
    yyjson_val *loose; /* array of {id} or {id, message} */
    struct json doc;
};

/* ERR_PROTOCOL names what is wrong. On success the caller ends with frame_free(). */
bool frame_decode(struct frame *ret, struct str payload, struct error *e);
void frame_free(struct frame *f);

/* One element of `loose`. ERR_PROTOCOL. */
bool frame_loose(yyjson_val *v, struct script_loose_call *ret, struct error *e);

/* Cuts a byte stream into payloads. */
struct frame_reader {
    struct buf acc;
};
/* False stops the feeding; the owner, and the reader in it, may be gone by then. */
typedef bool (*frame_fn)(void *ctx, struct str payload);

void frame_reader_init(struct frame_reader *r);
/* A frame that lies within `bytes` is not copied. False: `fn` said so, or (*e set,
 * ERR_PROTOCOL) a length of 0 or over FRAME_MAX. */
bool frame_feed(struct frame_reader *r, struct str bytes, frame_fn fn, void *ctx,
                struct error *e);
void frame_reader_free(struct frame_reader *r);

/* ---- what may come when ---- */

enum guard_state { GUARD_STARTING, GUARD_READY, GUARD_RUNNING, GUARD_FINISHED };
enum guard_call { GUARD_OPEN, GUARD_ANSWERED, GUARD_FAILED };

/* The parent's view of one worker's protocol. Its owner moves the state to RUNNING when it has
 * sent the script. */
struct frame_guard {
    enum guard_state state;
    uint32_t last_id; /* ids grow, so a repeated one is seen */
    uint32_t get_id;  /* the one open `get`; 0: none */
    size_t nglobals, console_max;
    unsigned max_calls, open;
    size_t traffic, console;
    bool console_over;
    struct guard_call_row {
        uint32_t id;
        enum guard_call state;
    } * calls; /* in order of id */
    size_t ncalls, calls_cap;
};

/* ERR_PROTOCOL: the worker broke the protocol and must be killed. On success the frame is
 * booked. */
bool frame_guard_check(struct frame_guard *g, const struct frame *f, size_t payload_bytes,
                       struct error *e);
/* Books a reply; false when no such call or get is open (nothing is to be sent then). */
bool frame_guard_reply(struct frame_guard *g, uint32_t id, size_t payload_bytes, bool failed);
void frame_guard_free(struct frame_guard *g);

/* ---- writing ---- */

/* Room for the length in front; frame_end() fills it in. ERR_LIMIT when the frame is too long
 * (out is then useless). */
void frame_begin(struct buf *out);
bool frame_end(struct buf *out, struct error *e);

/* Whole frames of the parent. */
bool frame_put_script(struct buf *out, const struct script_job *job,
                      const struct sandbox_limits *l, struct error *e);
bool frame_put_reply(struct buf *out, uint32_t id, struct str value_json, struct error *e);
bool frame_put_reply_error(struct buf *out, uint32_t id, struct str message, struct error *e);

#endif
