/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sandbox/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const type_names[] = {
    [FRAME_READY] = "ready",
    [FRAME_CALL] = "call",
    [FRAME_GET] = "get",
    [FRAME_CONSOLE] = "console",
    [FRAME_RESULT] = "result",
    [FRAME_ERROR] = "error",
    [FRAME_MEMORY_EXHAUSTED] = "memory_exhausted",
};
static const char *const level_names[] = {
    [CONSOLE_PLAIN] = "log",
    [CONSOLE_WARN] = "warn",
    [CONSOLE_ERROR] = "error",
};
static const char *const kind_names[] = {
    [ERROR_SCRIPT] = "script",
    [ERROR_TIMEOUT] = "timeout",
    [ERROR_CALL_LIMIT] = "call_limit",
};

const char *frame_error_kind_name(enum error_kind_frame k)
{
    return kind_names[k];
}

struct str console_prefix(enum console_level l)
{
    switch (l) {
    case CONSOLE_WARN:
        return STR("[warn] ");
    case CONSOLE_ERROR:
        return STR("[error] ");
    case CONSOLE_PLAIN:
        break;
    }
    return STR("");
}

/* ---- one frame by itself ---- */

static bool name_index(const char *const *names, size_t n, struct str name, size_t *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(name, names[i])) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static bool bad(struct error *e, enum frame_type t, const char *key)
{
    return error_set(e, ERR_PROTOCOL,
                     "'%s' frame: '%s' is missing, of a wrong type or out of range",
                     type_names[t], key);
}

static bool need_str(struct frame *f, const char *key, size_t max, struct str *ret,
                     struct error *e)
{
    yyjson_val *v = json_get(f->doc.root, key);

    *ret = json_str(v);
    return (json_is_str(v) && ret->n <= max) || bad(e, f->type, key);
}

static bool need_u32(struct frame *f, const char *key, uint32_t *ret, struct error *e)
{
    int64_t n = 0;

    if (!json_int(json_get(f->doc.root, key), &n) || n < 0 || n > UINT32_MAX)
        return bad(e, f->type, key);
    *ret = (uint32_t)n;
    return true;
}

static bool need_name(struct frame *f, const char *key, const char *const *names, size_t nnames,
                      size_t *ret, struct error *e)
{
    return name_index(names, nnames, json_str(json_get(f->doc.root, key)), ret) ||
           bad(e, f->type, key);
}

/*
 * Arguments go on to a server as they are, in the middle of a line of JSON. With a line break
 * or half a value in them a worker could say things there that no filter and no limit has seen.
 */
static bool is_object_on_one_line(struct str text)
{
    auto_json doc = { 0 };

    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ')
            return false;
    return json_parse(&doc, text, NULL) && json_is_obj(doc.root);
}

static bool decode_call(struct frame *f, struct error *e)
{
    return need_u32(f, "id", &f->id, e) && need_u32(f, "server", &f->server, e) &&
           need_str(f, "key", FRAME_KEY_MAX, &f->key, e) &&
           need_str(f, "args", FRAME_ARGS_MAX, &f->args, e) &&
           (is_object_on_one_line(f->args) || bad(e, f->type, "args"));
}

static bool decode_console(struct frame *f, struct error *e)
{
    size_t level = 0;

    if (!need_name(f, "level", level_names, ARRAY_LEN(level_names), &level, e))
        return false;
    f->level = (enum console_level)level;
    f->over = json_bool(json_get(f->doc.root, "over"), false);
    return need_str(f, "text", FRAME_MAX, &f->text, e);
}

/* What both kinds of a script's end carry. */
static bool decode_end(struct frame *f, struct error *e)
{
    f->loose = json_get(f->doc.root, "loose");
    if (!json_is_arr(f->loose))
        return bad(e, f->type, "loose");
    return need_u32(f, "refused", &f->refused, e);
}

static bool decode_result(struct frame *f, struct error *e)
{
    int64_t total = 0;

    if (!need_str(f, "json", FRAME_RESULT_MAX, &f->json, e))
        return false;
    if (!json_int(json_get(f->doc.root, "total"), &total) || total < (int64_t)f->json.n)
        return bad(e, f->type, "total");
    f->total = (size_t)total;
    return decode_end(f, e);
}

static bool decode_error(struct frame *f, struct error *e)
{
    size_t kind = 0;

    if (!need_name(f, "kind", kind_names, ARRAY_LEN(kind_names), &kind, e))
        return false;
    f->kind = (enum error_kind_frame)kind;
    if (!need_str(f, "message", FRAME_ERROR_MAX, &f->message, e) ||
        !need_str(f, "stack", FRAME_ERROR_MAX - f->message.n, &f->stack, e))
        return false;
    return decode_end(f, e);
}

static bool decode_members(struct frame *f, struct error *e)
{
    switch (f->type) {
    case FRAME_CALL:
        return decode_call(f, e);
    case FRAME_GET:
        return need_u32(f, "id", &f->id, e) && need_str(f, "key", FRAME_KEY_MAX, &f->key, e);
    case FRAME_CONSOLE:
        return decode_console(f, e);
    case FRAME_RESULT:
        return decode_result(f, e);
    case FRAME_ERROR:
        return decode_error(f, e);
    case FRAME_READY:
    case FRAME_MEMORY_EXHAUSTED:
    case FRAME_TYPE_COUNT:
        break;
    }
    return true;
}

bool frame_decode(struct frame *ret, struct str payload, struct error *e)
{
    struct str name;
    size_t type;

    *ret = (struct frame){ .type = FRAME_TYPE_COUNT };
    if (!json_parse(&ret->doc, payload, e)) {
        error_wrap(e, "frame is not JSON");
        if (e)
            e->kind = ERR_PROTOCOL;
        return false;
    }
    name = json_str(json_get(ret->doc.root, "type"));
    if (!name_index(type_names, ARRAY_LEN(type_names), name, &type)) {
        error_set(e, ERR_PROTOCOL, "frame of unknown type '%.*s'", STR_F(str_upto(name, 40)));
    } else {
        ret->type = (enum frame_type)type;
        if (decode_members(ret, e))
            return true;
    }
    frame_free(ret);
    return false;
}

void frame_free(struct frame *f)
{
    json_free(&f->doc);
    *f = (struct frame){ .type = FRAME_TYPE_COUNT };
}

bool frame_loose(yyjson_val *v, struct script_loose_call *ret, struct error *e)
{
    yyjson_val *message = json_get(v, "message");
    int64_t id = 0;

    if (!json_int(json_get(v, "id"), &id) || id < 1 || id > UINT32_MAX ||
        (message && !json_is_str(message)) || json_str(message).n > FRAME_LOOSE_MESSAGE_MAX)
        return error_set(e, ERR_PROTOCOL, "final frame: bad entry in 'loose'");
    *ret = (struct script_loose_call){ .id = (uint32_t)id,
                                       .finished = message != NULL,
                                       .message = json_str(message) };
    return true;
}

/* ---- the byte stream ---- */

void frame_reader_init(struct frame_reader *r)
{
    r->acc = BUF(FRAME_HEAD + FRAME_MAX);
}

void frame_reader_free(struct frame_reader *r)
{
    buf_free(&r->acc);
}

/* Length of the payload that begins at p, or 0 with *e set. */
static size_t payload_length(const char *p, struct error *e)
{
    const unsigned char *u = (const unsigned char *)p;
    size_t n = (size_t)u[0] | (size_t)u[1] << 8 | (size_t)u[2] << 16 | (size_t)u[3] << 24;

    if (n == 0 || n > FRAME_MAX) {
        error_set(e, ERR_PROTOCOL, "frame of %zu bytes, allowed are 1 to %zu", n, FRAME_MAX);
        return 0;
    }
    return n;
}

/* Takes what is missing of the frame begun in acc. *ret_done: it is complete. */
static bool fill(struct frame_reader *r, struct str *bytes, bool *ret_done, struct error *e)
{
    size_t want = FRAME_HEAD, take;

    *ret_done = false;
    if (r->acc.n >= FRAME_HEAD) {
        size_t n = payload_length(r->acc.p, e);

        if (!n)
            return false;
        want += n;
    }
    take = want - r->acc.n < bytes->n ? want - r->acc.n : bytes->n;
    buf_add(&r->acc, str_upto(*bytes, take));
    *bytes = str_from(*bytes, take);
    *ret_done = want > FRAME_HEAD && r->acc.n == want;
    return true;
}

bool frame_feed(struct frame_reader *r, struct str bytes, frame_fn fn, void *ctx,
                struct error *e)
{
    for (;;) {
        bool done;
        size_t n;

        while (r->acc.n && bytes.n) {
            if (!fill(r, &bytes, &done, e))
                return false;
            if (done) {
                /* Out of the reader before the call: the callback may free it. */
                auto_buf whole = r->acc;

                r->acc = BUF(FRAME_HEAD + FRAME_MAX);
                if (!fn(ctx, str_from(buf_str(&whole), FRAME_HEAD)))
                    return false;
            }
        }
        if (bytes.n < FRAME_HEAD)
            break;
        n = payload_length(bytes.p, e);
        if (!n)
            return false;
        if (bytes.n - FRAME_HEAD < n)
            break;
        if (!fn(ctx, str_upto(str_from(bytes, FRAME_HEAD), n)))
            return false;
        bytes = str_from(bytes, FRAME_HEAD + n);
    }
    buf_add(&r->acc, bytes);
    return true;
}

/* ---- what may come when ---- */

static bool refuse(struct error *e, const char *what)
{
    return error_set(e, ERR_PROTOCOL, "%s", what);
}

static struct guard_call_row *find_call(struct frame_guard *g, uint32_t id)
{
    size_t lo = 0, hi = g->ncalls;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (g->calls[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < g->ncalls && g->calls[lo].id == id ? &g->calls[lo] : NULL;
}

static bool book_traffic(struct frame_guard *g, const struct frame *f, size_t n,
                         struct error *e)
{
    if (f->id <= g->last_id)
        return refuse(e, "id used before");
    g->last_id = f->id;
    g->traffic += n;
    if (g->traffic > FRAME_TRAFFIC_HARD)
        return error_set(e, ERR_PROTOCOL, "more than %zu bytes of calls and replies",
                         FRAME_TRAFFIC_HARD);
    return true;
}

static bool book_call(struct frame_guard *g, const struct frame *f, size_t n, struct error *e)
{
    if (!book_traffic(g, f, n, e))
        return false;
    if (f->server >= g->nglobals)
        return refuse(e, "call of a server that is not in scope");
    if (g->ncalls >= g->max_calls)
        return error_set(e, ERR_PROTOCOL, "more than %u calls", g->max_calls);
    if (g->open >= SANDBOX_MAX_INFLIGHT)
        return error_set(e, ERR_PROTOCOL, "more than %d calls in flight", SANDBOX_MAX_INFLIGHT);
    g->calls = mem_grow(g->calls, sizeof *g->calls, g->ncalls + 1, &g->calls_cap);
    g->calls[g->ncalls++] = (struct guard_call_row){ f->id, GUARD_OPEN };
    g->open++;
    return true;
}

static bool book_get(struct frame_guard *g, const struct frame *f, size_t n, struct error *e)
{
    if (g->get_id)
        return refuse(e, "a second 'get' before the first was answered");
    g->get_id = f->id;
    return book_traffic(g, f, n, e);
}

/* Whole lines count with their prefix and newline; of the cut last one only its text can be
 * told. */
static bool book_console(struct frame_guard *g, const struct frame *f, struct error *e)
{
    if (g->console_over)
        return refuse(e, "console text after the limit");
    g->console_over = f->over;
    g->console += f->text.n + (f->over ? 0 : console_prefix(f->level).n + 1);
    if (g->console > g->console_max)
        return error_set(e, ERR_PROTOCOL, "more than %zu bytes of console text",
                         g->console_max);
    return true;
}

/* A call is loose either because it is still open or because it failed. */
static bool check_loose(struct frame_guard *g, const struct frame *f, struct error *e)
{
    uint32_t last = 0;

    for (struct json_iter it = json_iter(f->loose); json_next(&it);) {
        struct script_loose_call c = { 0 };
        const struct guard_call_row *row;

        if (!frame_loose(it.val, &c, e))
            return false;
        row = find_call(g, c.id);
        if (c.id <= last || !row || row->state != (c.finished ? GUARD_FAILED : GUARD_OPEN))
            return refuse(e, "final frame: 'loose' does not fit the calls made");
        last = c.id;
    }
    return true;
}

bool frame_guard_check(struct frame_guard *g, const struct frame *f, size_t n, struct error *e)
{
    bool starting = g->state == GUARD_STARTING;

    /* Memory may also run out before the script is there: that ends the worker like any early
     * death. */
    if (f->type == FRAME_READY ? !starting
                               : g->state != GUARD_RUNNING && f->type != FRAME_MEMORY_EXHAUSTED)
        return error_set(e, ERR_PROTOCOL, "'%s' frame out of turn", type_names[f->type]);
    if (g->state == GUARD_FINISHED)
        return refuse(e, "frame after the final one");
    switch (f->type) {
    case FRAME_READY:
        g->state = GUARD_READY;
        return true;
    case FRAME_CALL:
        return book_call(g, f, n, e);
    case FRAME_GET:
        return book_get(g, f, n, e);
    case FRAME_CONSOLE:
        return book_console(g, f, e);
    case FRAME_RESULT:
    case FRAME_ERROR:
        g->state = GUARD_FINISHED;
        return check_loose(g, f, e);
    case FRAME_MEMORY_EXHAUSTED:
        g->state = GUARD_FINISHED;
        return true;
    case FRAME_TYPE_COUNT:
        break;
    }
    return refuse(e, "frame without a type");
}

bool frame_guard_reply(struct frame_guard *g, uint32_t id, size_t n, bool failed)
{
    struct guard_call_row *row = find_call(g, id);

    if (row ? row->state != GUARD_OPEN : !id || id != g->get_id)
        return false;
    if (row) {
        row->state = failed ? GUARD_FAILED : GUARD_ANSWERED;
        g->open--;
    } else {
        g->get_id = 0;
    }
    g->traffic += n;
    return true;
}

void frame_guard_free(struct frame_guard *g)
{
    free(g->calls);
    *g = (struct frame_guard){ 0 };
}

/* ---- writing ---- */

void frame_begin(struct buf *out)
{
    buf_clear(out);
    buf_fill(out, '\0', FRAME_HEAD);
}

bool frame_end(struct buf *out, struct error *e)
{
    size_t n = out->n - FRAME_HEAD;

    if (!buf_ok(out, e))
        return false;
    if (n > FRAME_MAX)
        return error_set(e, ERR_LIMIT, "more than %zu bytes", FRAME_MAX);
    for (int i = 0; i < FRAME_HEAD; i++)
        out->p[i] = (char)(n >> 8 * i & 0xff);
    return true;
}

bool frame_put_script(struct buf *out, const struct script_job *job,
                      const struct sandbox_limits *l, struct error *e)
{
    struct jw w;

    frame_begin(out);
    w = jw_to(out);
    jw_obj(&w);
    jw_kstrz(&w, "type", "script");
    jw_kstr(&w, "source", job->source);
    jw_kint(&w, "timeout_ms", l->timeout_ms);
    jw_kint(&w, "console_bytes", (int64_t)l->console_bytes);
    jw_kint(&w, "result_bytes", (int64_t)l->result_bytes);
    jw_kint(&w, "max_calls", l->max_calls);
    jw_key(&w, "globals");
    jw_arr(&w);
    for (size_t i = 0; i < job->nglobals; i++) {
        jw_obj(&w);
        jw_kstr(&w, "name", job->globals[i].name);
        jw_key(&w, "exact");
        jw_arr(&w);
        for (size_t k = 0; k < job->globals[i].nexact; k++)
            jw_str(&w, job->globals[i].exact[k]);
        jw_end(&w);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
    return frame_end(out, e);
}

static struct jw begin_reply(struct buf *out, uint32_t id)
{
    struct jw w;

    frame_begin(out);
    w = jw_to(out);
    jw_obj(&w);
    jw_kstrz(&w, "type", "reply");
    jw_kint(&w, "id", id);
    return w;
}

bool frame_put_reply(struct buf *out, uint32_t id, struct str value_json, struct error *e)
{
    struct jw w = begin_reply(out, id);

    jw_key(&w, "value");
    jw_raw(&w, value_json);
    jw_end(&w);
    return frame_end(out, e);
}

bool frame_put_reply_error(struct buf *out, uint32_t id, struct str message, struct error *e)
{
    struct jw w = begin_reply(out, id);

    jw_kstr(&w, "error", message);
    jw_end(&w);
    return frame_end(out, e);
}
