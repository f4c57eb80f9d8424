/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any JSON as a provider's answer, in each dialect: refused, or a turn after which the next
 * request is JSON again, with the results of all its calls. The first byte is the dialect. */
#include <stdlib.h>

#include "servers/agents/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_json(const struct buf *b)
{
    auto_json doc = { 0 };

    if (!b->over && !json_parse(&doc, buf_str(b), NULL))
        abort();
}

static void go_on(struct arena *a, const struct agent_def *d, const struct wire_turn *t)
{
    struct wire_result *results = ARENA_ARRAY(a, struct wire_result, t->ncalls + 1);
    auto_buf history = BUF(WIRE_BODY_MAX), request = BUF(2 * WIRE_BODY_MAX);
    struct wire_request r = { .def = d, .system = STR("s"), .max_tokens = 1 };

    for (size_t i = 0; i < t->ncalls; i++)
        results[i] = (struct wire_result){ t->calls[i].id, STR("{}"), i % 2 };
    wire_put_user(&history, d->wire, STR("hello"));
    wire_put_items(&history, t->items);
    if (t->ncalls)
        wire_put_results(&history, d->wire, results, t->ncalls);
    else
        wire_put_user(&history, d->wire, t->text);
    r.history = buf_str(&history);
    wire_put_request(&request, &r);
    if (!history.over)
        must_be_json(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena a = ARENA;
    auto_json doc = { 0 };
    struct agent_def d = { .model = STR("m") };
    struct wire_turn t;
    struct error e = { 0 };
    bool ok;

    if (!size)
        return 0;
    d.wire = (enum wire_api)(data[0] % 3);
    if (!json_parse(&doc, (struct str){ (const char *)data + 1, size - 1 }, NULL))
        return 0;
    ok = wire_read(&a, d.wire, doc.root, &t, &e);
    if (ok == (e.kind != ERR_NONE) || t.ncalls > WIRE_CALLS_MAX)
        abort();
    if (ok)
        go_on(&a, &d, &t);
    return 0;
}
