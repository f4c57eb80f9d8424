/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "base/mem.h"
#include "cli/output.h"
#include "cli/session.h"
#include "meta/reply.h"

#define SOURCE_MAX \
    (2 * SANDBOX_MAX_SOURCE) /* read at most; the engine refuses what is too long */

struct exec {
    struct session *session;
    struct str source;
    struct execution *execution; /* running */
    struct report report;        /* --json */
    bool replied;                /* on_reply said everything */
    bool cut;                    /* there is a value, and it is too long to be had */
};

/* ---- the answer ---- */

static void put_note(void *ctx, struct str line)
{
    struct exec *x = ctx;

    if (cli.json) {
        report_text(&x->report, "note", line);
        return;
    }
    fprintf(stderr, "%s[", out_paint(stderr, PAINT_YELLOW));
    out_put_words(stderr, line);
    fprintf(stderr, "]%s\n", out_paint(stderr, PAINT_OFF));
}

static void put_usage(struct exec *x, const struct reply *r)
{
    unsigned calls = 0;
    struct jw *w;

    for (size_t i = 0; i < r->nfinished; i++)
        calls += r->finished[i].times;
    if (!cli.json) {
        if (cli.verbose)
            fprintf(stderr,
                    "%u call%s; %zu bytes of results stayed in the sandbox, %zu came back\n",
                    calls, calls == 1 ? "" : "s", r->bytes_in, r->end->result_total);
        return;
    }
    w = report_event(&x->report, "usage");
    jw_kint(w, "calls", calls);
    jw_kint(w, "bytes_in", (int64_t)r->bytes_in);
    jw_kint(w, "bytes_out", (int64_t)r->end->result_total);
    jw_end(w);
}

/* The whole value or none: nobody has to fit it into a context here, and half of a JSON text
 * helps no program. */
static void put_value(const struct script_end *end)
{
    auto_json doc = { 0 };

    if (out_is_terminal(stdout) && json_parse(&doc, end->result, NULL))
        out_put_value(stdout, doc.root);
    else
        out_put_text(stdout, end->result);
}

/* What a worker calls JSON is JSON as long as the worker is honest. */
static void put_json(struct jw *w, struct str json)
{
    auto_json doc = { 0 };

    if (json_parse(&doc, json, NULL))
        jw_val(w, doc.root);
    else
        jw_str(w, json);
}

static void report_value(struct exec *x, const struct script_end *end)
{
    struct jw *w = report_event(&x->report, "result");

    jw_kbool(w, "is_error", x->cut);
    jw_key(w, x->cut ? "error" : "value");
    if (x->cut) {
        jw_obj(w);
        jw_kstrz(w, "error", "result_too_long");
        jw_kint(w, "bytes", (int64_t)end->result_total);
        jw_end(w);
    } else {
        put_json(w, end->result);
    }
    jw_end(w);
}

static void on_reply(void *ctx, const struct reply *r)
{
    struct exec *x = ctx;
    const struct script_end *end = r->end;

    x->replied = true;
    x->cut = end->outcome == SCRIPT_OK && end->result.n < end->result_total;
    session_clear(x->session);
    if (cli.json && end->outcome == SCRIPT_OK)
        report_value(x, end);
    else if (x->cut)
        cli_fail(EXIT_FAILED, "result_too_long: the value is %zu bytes of JSON, over 8 MiB",
                 end->result_total);
    else if (end->outcome == SCRIPT_OK)
        put_value(end);
    if (end->console.n && cli.json)
        report_text(&x->report, "console", end->console);
    else
        out_put_text(stderr, end->console);
    catalog_put_problems(r->catalog, put_note, x);
    for (size_t i = 0; i < r->ntags; i++)
        put_note(x, r->tags[i]);
    put_usage(x, r);
}

/* Of a limit the error JSON has the number only; a person is told which key it is. */
static bool say_limit(yyjson_val *error)
{
    static const struct {
        const char *error, *limit, *before, *after;
    } kinds[] = {
        { "script_timeout", "limit_secs", "not done after", "s ('script-timeout-secs'" },
        { "memory_exhausted", "limit_mb", "more than", "MiB ('script-memory-limit-mb'" },
        { "tool_call_limit", "limit", "more than", "calls ('max-tool-calls'" },
    };
    struct str kind = json_str(json_get(error, "error"));
    int64_t limit;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(kind, kinds[i].error) && json_int(json_get(error, kinds[i].limit), &limit)) {
            cli_fail(EXIT_FAILED, "%s: %s %lld %s in config.toml)", kinds[i].error,
                     kinds[i].before, (long long)limit, kinds[i].after);
            return true;
        }
    return false;
}

/* The error JSON that begins the reply, or the refusal of a script that never ran. */
static void put_error(struct exec *x, struct str text)
{
    auto_json doc = { 0 };
    struct str line, rest;
    yyjson_val *message;
    struct jw *w;

    if (!str_cut(text, '\n', &line, &rest))
        line = text;
    if (!json_parse(&doc, line, NULL))
        line = (struct str){ 0 };
    message = json_get(doc.root, "message");
    if (cli.json) {
        w = report_event(&x->report, "result");
        jw_kbool(w, "is_error", true);
        jw_key(w, "error");
        if (line.n)
            jw_raw(w, line);
        else
            jw_str(w, text);
        jw_end(w);
    } else if (message) {
        cli_fail(EXIT_FAILED, "%.*s: %.*s", STR_F(json_str(json_get(doc.root, "error"))),
                 STR_F(json_str(message)));
    } else if (!say_limit(doc.root)) {
        cli_fail(EXIT_FAILED, "%.*s", STR_F(x->replied ? line : text));
    }
}

static void on_done(void *ctx, struct str text, bool is_error)
{
    struct exec *x = ctx;

    x->execution = NULL;
    session_clear(x->session);
    if (is_error)
        put_error(x, text);
    if (cli.json && !report_end(&x->report))
        is_error = true;
    session_end(x->session, is_error || x->cut ? EXIT_FAILED : EXIT_OK);
}

/* ---- the script ---- */

static void begin(struct session *s, void *ctx)
{
    static const struct execution_ops ops = { .on_reply = on_reply, .on_done = on_done };
    struct exec *x = ctx;
    struct execution *running;

    x->session = s;
    if (cli.json)
        report_begin(&x->report);
    running = gateway_execute(s->gateway, s->catalog, x->source, &ops, x);
    if (running)
        x->execution = running;
}

static void cancel(void *ctx)
{
    struct exec *x = ctx;

    execute_cancel(x->execution);
    buf_free(&x->report.text);
}

static bool read_all(FILE *f, const char *name, struct buf *out, struct error *e)
{
    char chunk[8192];
    size_t n;

    while (!out->over && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_add(out, (struct str){ chunk, n });
    if (ferror(f))
        return error_set(e, ERR_SYS, "read '%s'", name);
    return buf_ok(out, e) || error_wrap(e, "'%s'", name);
}

/* Also a FIFO: `symposium exec <(...)`. */
static bool read_script(const char *name, struct buf *out, struct error *e)
{
    bool is_stdin = !strcmp(name, "-"), ok;
    FILE *f = is_stdin ? stdin : fopen(name, "re");

    if (!f)
        return error_set(e, ERR_SYS, "open '%s'", name);
    ok = read_all(f, name, out, e);
    if (!is_stdin)
        fclose(f);
    return ok;
}

int cmd_exec(struct arena *a, const struct args *args)
{
    static const struct session_job job = { .begin = begin,
                                            .cancel = cancel,
                                            .asks_trust = true };
    auto_buf source = BUF(SOURCE_MAX);
    struct exec x = { 0 };
    struct error e;

    if (args->nwords != 1)
        return cli_usage(args->command, args->nwords ? "one script at a time"
                                                     : "which script? '-' reads it from stdin");
    if (!read_script(args->words[0], &source, &e))
        return cli_fail(EXIT_FAILED, "%s", e.msg);
    x.source = buf_str(&source);
    return session_run(a, args, &job, &x);
}
