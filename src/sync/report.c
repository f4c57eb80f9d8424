/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/report.h"

#include <stdarg.h>

static const char *const names[] = {
    [SYNC_UNCHANGED] = "unchanged",
    [SYNC_WRITTEN] = "written",
    [SYNC_WOULD_WRITE] = "would-write",
    [SYNC_DIFF] = "diff",
    [SYNC_NOTE] = "note",
    [SYNC_ERROR] = "error",
};

const char *sync_kind_name(enum sync_kind k)
{
    return names[k];
}

void sync_report_add(struct sync_report *r, struct sync_line line)
{
    line.agent = arena_str(r->a, line.agent);
    line.path = arena_str(r->a, line.path);
    line.text = arena_str(r->a, line.text);
    r->failed |= line.kind == SYNC_ERROR;
    ARENA_PUSH(r->a, r) = line;
}

void sync_report_addf(struct sync_report *r, enum sync_kind kind, struct str agent,
                      const char *fmt, ...)
{
    auto_buf text = BUF(ERROR_MSG_MAX);
    va_list ap;
    char *to = buf_room(&text, ERROR_MSG_MAX - 1);
    int n;

    va_start(ap, fmt);
    n = vsnprintf(to, ERROR_MSG_MAX - 1, fmt, ap);
    va_end(ap);
    text.n = n < 0 ? 0 : n < ERROR_MSG_MAX - 1 ? (size_t)n : ERROR_MSG_MAX - 2;
    sync_report_add(r, (struct sync_line){ kind, agent, { 0 }, buf_str(&text) });
}

void sync_line_put_text(struct buf *out, const struct sync_line *l)
{
    static const char *const verbs[] = {
        [SYNC_UNCHANGED] = "unchanged ",
        [SYNC_WRITTEN] = "written ",
        [SYNC_WOULD_WRITE] = "would write ",
        [SYNC_DIFF] = "",
        [SYNC_NOTE] = "",
        [SYNC_ERROR] = "error: ",
    };

    if (l->kind == SYNC_DIFF) {
        buf_add(out, l->text);
        return;
    }
    if (l->agent.n)
        buf_addf(out, "%.*s: ", STR_F(l->agent));
    buf_addz(out, verbs[l->kind]);
    buf_add(out, l->path);
    buf_addz(out, l->path.n && l->text.n ? ": " : "");
    buf_add(out, l->text);
}

void sync_line_put_json(struct jw *w, const struct sync_line *l)
{
    if (l->agent.n)
        jw_kstr(w, "agent", l->agent);
    if (l->path.n)
        jw_kstr(w, "path", l->path);
    if (l->text.n)
        jw_kstr(w, "text", l->text);
}
