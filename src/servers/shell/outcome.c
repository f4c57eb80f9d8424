/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/shell/outcome.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const char *outcome_signal_name(int signal)
{
    static _Thread_local char other[16];
    const char *abbrev = signal > 0 && signal < NSIG ? sigabbrev_np(signal) : NULL;

    if (!signal)
        return NULL;
    if (abbrev)
        snprintf(other, sizeof other, "SIG%.12s", abbrev);
    else if (signal >= SIGRTMIN && signal <= SIGRTMAX)
        snprintf(other, sizeof other, "SIGRTMIN+%d", (signal - SIGRTMIN) & 0x3f);
    else
        snprintf(other, sizeof other, "signal %d", signal);
    return other;
}

/* `s` is valid UTF-8: every byte that begins a character counts one. */
static size_t count_chars(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static struct str last_chars(struct str s, size_t n)
{
    size_t at = s.n;

    while (at > 0 && n > 0) {
        at--;
        n -= ((unsigned char)s.p[at] & 0xc0) != 0x80;
    }
    return str_from(s, at);
}

/* What is to be said of a stream. */
struct stream {
    const char *name;
    struct buf text;
    bool truncated;
};

static struct stream stream_of(const char *name, const struct capture *c)
{
    struct stream s = { name, BUF(CAPTURE_TEXT_MAX), capture_truncated(c) };

    capture_put(c, &s.text);
    return s;
}

static void put_shortened(struct buf *out, struct str text, size_t chars)
{
    buf_add(out, utf8_cut_chars(text, OUTCOME_SHOWN_FIRST));
    buf_addf(out, "… %zu characters left out …",
             chars - OUTCOME_SHOWN_FIRST - OUTCOME_SHOWN_LAST);
    buf_add(out, last_chars(text, OUTCOME_SHOWN_LAST));
}

static void put_stream(struct buf *out, const struct stream *s)
{
    struct str text = buf_str(&s->text);
    size_t chars = count_chars(text);
    bool shortened = chars > OUTCOME_SHOWN_MAX;

    buf_addf(out, "\n%s (%s): ", s->name, s->truncated || shortened ? "truncated" : "full");
    if (shortened)
        put_shortened(out, text, chars);
    else
        buf_add(out, text);
}

/* Replaces a text that takes too much in JSON. */
static void make_fit(struct stream *s)
{
    auto_buf json = BUF(OUTCOME_JSON_MAX);
    struct buf less = BUF(CAPTURE_TEXT_MAX);
    struct str text = buf_str(&s->text);

    json_put_str(&json, text);
    if (!json.over)
        return;
    put_shortened(&less, text, count_chars(text));
    buf_free(&s->text);
    s->text = less;
    s->truncated = true;
}

static void put_text(const struct outcome *o, const struct stream *out,
                     const struct stream *err, struct buf *to)
{
    if (o->timed_out)
        buf_addz(to, "command timed out - process terminated");
    else if (o->code >= 0)
        buf_addf(to, "exit code: %d", o->code);
    else
        buf_addz(to, "exit code: (none)");
    put_stream(to, out);
    put_stream(to, err);
}

static void put_structured(const struct outcome *o, const struct stream *out,
                           const struct stream *err, struct buf *to)
{
    struct jw w = jw_to(to);

    jw_obj(&w);
    jw_key(&w, "exit_code");
    if (o->code >= 0)
        jw_int(&w, o->code);
    else
        jw_null(&w);
    jw_kstr(&w, "stdout", buf_str(&out->text));
    jw_kstr(&w, "stderr", buf_str(&err->text));
    jw_kbool(&w, "timed_out", o->timed_out);
    jw_kbool(&w, "stdout_truncated", out->truncated);
    jw_kbool(&w, "stderr_truncated", err->truncated);
    jw_key(&w, "signal");
    jw_strz(&w, outcome_signal_name(o->signal));
    jw_kint(&w, "duration_ms", o->duration_ms);
    jw_end(&w);
}

void outcome_put(const struct outcome *o, struct answer *a)
{
    struct stream out = stream_of("stdout", &o->out), err = stream_of("stderr", &o->err);

    put_text(o, &out, &err, &a->text);
    make_fit(&out);
    make_fit(&err);
    put_structured(o, &out, &err, &a->structured);
    buf_free(&out.text);
    buf_free(&err.text);
}
