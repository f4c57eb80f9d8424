/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/hook_trace.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#define TRACE_MAX ((size_t)256 << 20) /* bytes of one line */

static void put_hooks(struct jw *w, const struct hook_decided *d)
{
    jw_key(w, "hooks");
    jw_arr(w);
    for (size_t i = 0; d && i < d->outcomes.n; i++) {
        const struct hook_outcome *o = &d->outcomes.v[i];

        jw_obj(w);
        jw_kstr(w, "plugin", o->plugin);
        jw_kstr(w, "hook", o->hook);
        jw_kstrz(w, "what", o->what);
        if (o->why)
            jw_kstrz(w, "why", o->why);
        jw_kint(w, "ms", o->ms);
        jw_end(w);
    }
    jw_end(w);
}

static void put_call(struct buf *out, const struct hook_call *c)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_kint(&w, "time_ms", clock_wall_ms());
    jw_kstrz(&w, "agent", c->agent);
    jw_kstrz(&w, "event", c->event);
    jw_kstrz(&w, "cwd", c->cwd);
    jw_key(&w, "input");
    if (c->parsed)
        jw_val(&w, c->parsed);
    else
        jw_str(&w, c->input);
    put_hooks(&w, c->decided);
    jw_kstr(&w, "output", buf_str(&c->answer->out));
    jw_kstr(&w, "error", buf_str(&c->answer->err));
    jw_kint(&w, "status", c->answer->status);
    jw_kint(&w, "ms", c->ms);
    if (c->note)
        jw_kstrz(&w, "note", c->note);
    jw_end(&w);
    buf_addc(out, '\n');
}

void hook_trace(const struct hook_call *call)
{
    const char *path = getenv("SYMPOSIUM_HOOK_TRACE");
    auto_buf line = BUF(TRACE_MAX);
    auto_close int fd = -1;
    struct error e = { 0 };

    if (!path || !*path)
        return;
    put_call(&line, call);
    /* In one write, behind what others wrote; a FIFO that nobody reads must not hold us up. */
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        error_set(&e, ERR_SYS, "SYMPOSIUM_HOOK_TRACE: open '%s'", path);
    else if (buf_ok(&line, &e))
        file_write_all(fd, buf_str(&line), &e);
    if (e.kind)
        log_debug("%s", e.msg);
}
