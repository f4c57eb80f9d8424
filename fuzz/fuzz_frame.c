/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a lying worker may send, as its parent reads it. First byte: the size of the pieces in
 * which the stream arrives; 0: the rest is payloads, one a line, so that whole conversations
 * are found without a length in front of each. Cuts change nothing; the guard's books stay
 * within the limits; every frame that is taken keeps its promises.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "sandbox/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_CALLS   100
#define CONSOLE_MAX 64
#define NGLOBALS    2

static void must(bool ok)
{
    if (!ok)
        abort();
}

struct conversation {
    struct frame_guard guard;
    unsigned taken, payloads;
    uint64_t sum; /* of the payloads' bytes and borders */
};

static void check_frame(const struct frame *f)
{
    must(f->key.n <= FRAME_KEY_MAX && f->args.n <= FRAME_ARGS_MAX &&
         f->json.n <= FRAME_RESULT_MAX);
    must(f->message.n + f->stack.n <= FRAME_ERROR_MAX && f->total >= f->json.n);
    must(utf8_valid(f->key) && utf8_valid(f->args) && utf8_valid(f->text) &&
         utf8_valid(f->json));
    must(utf8_valid(f->message) && utf8_valid(f->stack));
}

static void check_guard(const struct frame_guard *g)
{
    unsigned open = 0;

    for (size_t i = 0; i < g->ncalls; i++) {
        must(i == 0 || g->calls[i].id > g->calls[i - 1].id);
        open += g->calls[i].state == GUARD_OPEN;
    }
    must(open == g->open && open <= SANDBOX_MAX_INFLIGHT && g->ncalls <= MAX_CALLS &&
         g->console <= CONSOLE_MAX);
}

/* What the parent does after a frame: hands the script over, answers now and then. */
static void answer(struct conversation *c, const struct frame *f)
{
    if (c->guard.state == GUARD_READY)
        c->guard.state = GUARD_RUNNING;
    if (f->type == FRAME_GET)
        must(frame_guard_reply(&c->guard, f->id, 10, false));
    if (f->type == FRAME_CALL && f->key.n % 3)
        must(frame_guard_reply(&c->guard, f->id, 10, f->key.n % 3 == 1));
}

static bool on_payload(void *ctx, struct str payload)
{
    struct conversation *c = ctx;
    struct error e = { 0 };
    struct frame f;
    bool ok;

    c->payloads++;
    c->sum = c->sum * 31 + payload.n;
    for (size_t i = 0; i < payload.n; i++)
        c->sum = c->sum * 31 + (unsigned char)payload.p[i];
    if (!frame_decode(&f, payload, &e)) {
        must(e.kind == ERR_PROTOCOL && e.msg[0]);
        return true;
    }
    check_frame(&f);
    ok = frame_guard_check(&c->guard, &f, payload.n, &e);
    must(ok || (e.kind == ERR_PROTOCOL && e.msg[0]));
    if (ok) {
        c->taken++;
        answer(c, &f);
        check_guard(&c->guard);
    }
    frame_free(&f);
    return ok;
}

static struct conversation talk(struct str bytes, size_t step)
{
    struct conversation c = {
        .guard = { .nglobals = NGLOBALS, .max_calls = MAX_CALLS, .console_max = CONSOLE_MAX }
    };
    struct frame_reader r;
    struct error e = { 0 };

    frame_reader_init(&r);
    for (size_t at = 0; at < bytes.n; at += step) {
        if (!frame_feed(&r, str_upto(str_from(bytes, at), step), on_payload, &c, &e))
            break;
    }
    frame_reader_free(&r);
    return c;
}

static void talk_in_lines(struct str text)
{
    struct conversation c = {
        .guard = { .nglobals = NGLOBALS, .max_calls = MAX_CALLS, .console_max = CONSOLE_MAX }
    };
    struct str line;

    while (str_cut(text, '\n', &line, &text)) {
        if (!on_payload(&c, line))
            break;
    }
    frame_guard_free(&c.guard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = { (const char *)data + 1, size - 1 };
    struct conversation whole, cut;

    if (!size)
        return 0;
    if (!data[0]) {
        talk_in_lines(bytes);
        return 0;
    }
    whole = talk(bytes, bytes.n ? bytes.n : 1);
    cut = talk(bytes, data[0]);
    must(whole.payloads == cut.payloads && whole.taken == cut.taken && whole.sum == cut.sum);
    frame_guard_free(&whole.guard);
    frame_guard_free(&cut.guard);
    return 0;
}
