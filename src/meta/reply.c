/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/reply.h"

#include "base/utf8.h"
#include "meta/execute.h"

static void put_bracketed(void *ctx, struct str line)
{
    struct buf *out = ctx;

    buf_addz(out, "\n[");
    utf8_put_clean(out, line);
    buf_addc(out, ']');
}

void reply_put_problems(struct buf *out, const struct catalog *c)
{
    catalog_put_problems(c, put_bracketed, out);
}

struct own_problems {
    struct buf *out;
    const struct catalog *catalog;
};

static void put_own(void *ctx, struct str line)
{
    struct own_problems *p = ctx;

    if (!catalog_is_remark(p->catalog, line))
        put_bracketed(p->out, line);
}

/* Cut on a UTF-8 border, with a note that says where the whole value is. */
static void put_result(struct buf *out, const struct reply *r)
{
    const struct script_end *end = r->end;
    struct str shown = utf8_cut(end->result, r->limits->result_bytes);
    char id[RESULT_ID_SIZE];

    buf_add(out, shown);
    if (shown.n == end->result_total)
        return;
    buf_addf(out, "\n[result truncated: %zu of %zu bytes; ", shown.n, end->result_total);
    if (end->result.n == end->result_total && results_keep(r->results, end->result, id))
        buf_addf(out, "full value: %s%s]", RESULT_URI_PREFIX, id);
    else
        buf_addf(out, "the full value is over %zu MiB and was not kept]",
                 RESULT_MAX_BYTES >> 20);
}

static void put_error_json(struct buf *out, const char *kind, const char *key, int64_t value)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_kstrz(&w, "error", kind);
    jw_kint(&w, key, value);
    jw_end(&w);
}

static void put_error_message(struct buf *out, const char *kind, struct str message,
                              struct str stack)
{
    struct jw w = jw_to(out);
    auto_buf text = BUF(2 * EXECUTE_MESSAGE_MAX + 16);

    buf_add(&text, utf8_cut(message, EXECUTE_MESSAGE_MAX));
    if (stack.n && text.n < EXECUTE_MESSAGE_MAX) {
        buf_addc(&text, '\n');
        buf_add(&text, utf8_cut(stack, EXECUTE_MESSAGE_MAX - text.n));
    }
    jw_obj(&w);
    jw_kstrz(&w, "error", kind);
    jw_kstr(&w, "message", str_trim(buf_str(&text)));
    jw_end(&w);
}

static void put_outcome(struct buf *out, const struct reply *r)
{
    const struct script_end *end = r->end;
    const struct sandbox_limits *l = r->limits;

    switch (end->outcome) {
    case SCRIPT_OK:
        put_result(out, r);
        break;
    case SCRIPT_TIMEOUT:
        put_error_json(out, "script_timeout", "limit_secs", l->timeout_ms / 1000);
        break;
    case SCRIPT_MEMORY:
        put_error_json(out, "memory_exhausted", "limit_mb", (int64_t)(l->memory_bytes >> 20));
        break;
    case SCRIPT_CALL_LIMIT:
        put_error_json(out, "tool_call_limit", "limit", l->max_calls);
        break;
    case SCRIPT_ERROR:
        put_error_message(out, "script_error", end->message, end->stack);
        break;
    case SCRIPT_CRASHED:
    case SCRIPT_CANCELLED:
        put_error_message(out, "internal", end->message, (struct str){ 0 });
        break;
    }
}

static void put_finished(struct buf *out, const struct reply *r)
{
    auto_buf line = BUF(EXECUTE_FINISHED_MAX);
    const char *before = "";
    size_t whole = 0;

    buf_addz(&line, "calls finished: ");
    for (size_t i = 0; i < r->nfinished; i++) {
        auto_buf one = BUF(1024);

        buf_addz(&one, before);
        utf8_put_clean(&one, utf8_cut(r->finished[i].what, 256));
        buf_addf(&one, " \xc3\x97%u", r->finished[i].times);
        if (line.n + one.n + sizeof ", ..." > EXECUTE_FINISHED_MAX)
            break;
        buf_add(&line, buf_str(&one));
        before = ", ";
        whole++;
    }
    if (whole < r->nfinished)
        buf_addz(&line, ", ...");
    buf_addc(out, '\n');
    buf_add(out, buf_str(&line));
}

/* Only where the configuration allows more text than any client takes. */
static void put_too_large(struct buf *out)
{
    struct error e;
    auto_buf text = BUF(ERROR_MSG_MAX);

    buf_ok(out, &e);
    buf_addf(&text, "the reply would hold %s; lower max-result-bytes or max-console-bytes",
             e.msg);
    buf_clear(out);
    put_error_message(out, "internal", buf_str(&text), (struct str){ 0 });
}

bool reply_put(struct buf *out, const struct reply *r)
{
    bool is_error = r->end->outcome != SCRIPT_OK;
    struct own_problems problems = { out, r->catalog };

    put_outcome(out, r);
    if (r->end->console.n) {
        buf_addz(out, "\nconsole:\n");
        buf_add(out, r->end->console);
    }
    if (is_error && r->nfinished)
        put_finished(out, r);
    catalog_put_problems(r->catalog, put_own, &problems);
    for (size_t i = 0; i < r->ntags; i++)
        put_bracketed(out, r->tags[i]);
    if (buf_ok(out, NULL))
        return is_error;
    put_too_large(out);
    return true;
}
