/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support.h"

#include "base/file.h"
#include "client_support.h"

static void on_ready(void *ctx)
{
    struct session *s = ctx;

    assert_false(s->ready);
    s->ready = true;
    loop_stop(s->loop);
}

static void on_closed(void *ctx, const struct error *why)
{
    struct session *s = ctx;

    assert_false(s->closed);
    s->closed = true;
    s->why = *why;
    loop_stop(s->loop);
}

static void on_tools_changed(void *ctx)
{
    struct session *s = ctx;

    s->changed++;
    loop_stop(s->loop);
}

static const struct mcp_client_ops ops = {
    .on_ready = on_ready,
    .on_closed = on_closed,
    .on_tools_changed = on_tools_changed,
};

const struct mcp_client_ops *session_ops(void)
{
    return &ops;
}

void session_start(struct session *s, enum mcp_era_hint hint, int startup_ms,
                   const char *const *rules)
{
    const char *argv[MAX_RULES + 2] = { FAKE_SERVER };
    char log[96];
    const char *env[] = { log, "PATH=/usr/bin:/bin", "ASAN_OPTIONS=detect_leaks=0", NULL };
    struct mcp_client_opts o = {
        .label = "fake",
        .argv = argv,
        .env = env,
        .startup_timeout_ms = startup_ms,
        .era = hint,
        .client_name = "unit",
        .client_version = "0",
    };
    int fd;

    *s = (struct session){ .log = BUF(64 << 20) };
    strcpy(s->log_path, "/tmp/mcp-fake-XXXXXX");
    fd = mkstemp(s->log_path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(log, sizeof log, "FAKE_LOG=%s", s->log_path);
    for (size_t i = 0; rules[i]; i++) {
        assert_true(i < MAX_RULES);
        argv[i + 1] = rules[i];
    }
    s->loop = loop_new();
    s->c = mcp_client_start(s->loop, &o, &ops, s);
    assert_false(s->ready || s->closed);
}

static struct timer *patience_start(struct patience *p, struct session *s, int ms)
{
    struct timer *t = timer_new(s->loop, lose_patience, p);

    *p = (struct patience){ .loop = s->loop };
    timer_set(t, ms * slack());
    return t;
}

void session_until(struct session *s, const bool *flag, int ms)
{
    struct patience p;
    struct timer *t = patience_start(&p, s, ms);

    while (!*flag && !p.over)
        loop_run(s->loop);
    timer_free(t);
    if (!*flag)
        fail_msg("not within %d ms; closed: %d %s; server got: %s", ms * slack(), s->closed,
                 s->why.msg, session_log(s));
}

void session_until_count(struct session *s, const unsigned *count, unsigned n, int ms)
{
    struct patience p;
    struct timer *t = patience_start(&p, s, ms);

    while (*count < n && !p.over)
        loop_run(s->loop);
    timer_free(t);
    if (*count < n)
        fail_msg("%u of %u within %d ms; closed: %d %s; server got: %s", *count, n,
                 ms * slack(), s->closed, s->why.msg, session_log(s));
}

const char *session_log(struct session *s)
{
    struct error e;

    buf_clear(&s->log);
    if (!file_read(s->log_path, &s->log, &e))
        fail_msg("%s", e.msg);
    return buf_z(&s->log);
}

void session_end(struct session *s)
{
    mcp_client_free(s->c);
    while (child_lingering(s->loop) > 0)
        run_for(s->loop, 5);
    loop_free(s->loop);
    buf_free(&s->log);
    unlink(s->log_path);
}

static void on_result(void *ctx, yyjson_val *result, const struct error *e)
{
    struct answer *a = ctx;

    a->times++;
    if (result)
        json_put_val(&a->result, result);
    else
        a->why = *e;
    loop_stop(a->s->loop);
}

static void on_tools(void *ctx, struct str tools, struct str note, const struct error *e)
{
    struct answer *a = ctx;

    a->times++;
    if (e)
        a->why = *e;
    else
        buf_add(&a->result, tools);
    buf_add(&a->note, note);
    loop_stop(a->s->loop);
}

static void answer_init(struct answer *a, struct session *s)
{
    *a = (struct answer){ .s = s, .result = BUF(64 << 20), .note = BUF(1 << 16) };
}

uint64_t session_call_s(struct session *s, struct answer *a, struct str tool, int timeout_ms)
{
    answer_init(a, s);
    return mcp_client_call(s->c, tool, STR("{\"a\":1.50}"), timeout_ms, on_result, a);
}

uint64_t session_call(struct session *s, struct answer *a, const char *tool, int timeout_ms)
{
    return session_call_s(s, a, str_of(tool), timeout_ms);
}

void session_list(struct session *s, struct answer *a, int timeout_ms)
{
    answer_init(a, s);
    mcp_client_list_tools(s->c, timeout_ms, on_tools, a);
}

void answer_free(struct answer *a)
{
    buf_free(&a->result);
    buf_free(&a->note);
}

unsigned count_of(const char *text, const char *part)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

void assert_parts(const char *text, const char *const *parts, const char *where)
{
    for (; parts && *parts; parts++) {
        bool unwanted = **parts == '!';

        if ((strstr(text, *parts + unwanted) != NULL) == unwanted)
            fail_msg("%s: '%s' in: %.3000s", where, *parts, text);
    }
}
