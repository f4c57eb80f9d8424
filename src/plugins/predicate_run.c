/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/predicate_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "loop/child.h"
#include "loop/timer.h"
#include "text/json.h"

#define SHOWN 80 /* bytes of a line that a warning quotes */

struct predicate_run {
    struct arena *arena;
    const char *cwd;
    run_fn done;
    void *ctx;
    struct child *child;    /* NULL: could not be started */
    struct timer *deadline; /* also reports a failed start, at 0 ms */
    int timeout_ms;
    bool events;
    bool never_keep; /* watchTime 0, or more watches than are kept */
    struct run_outcome out;
};

/* The last act: `done` may free the run. */
static void finish(struct predicate_run *r)
{
    timer_clear(r->deadline);
    child_free(r->child);
    r->child = NULL;
    r->done(r->ctx, &r->out);
}

/* ---- watch events ---- */

static bool has_nul(struct str s)
{
    return s.n && memchr(s.p, '\0', s.n);
}

static bool watch_file(struct predicate_run *r, yyjson_val *v)
{
    struct str path = json_str(v);

    if (!json_is_str(v) || !path.n || has_nul(path))
        return false;
    if (!answer_watch_file(
            &r->out.answer, r->arena,
            path_clean(r->arena, path_join(r->arena, r->cwd, arena_z(r->arena, path)))))
        r->never_keep = true;
    return true;
}

static bool watch_env(struct predicate_run *r, yyjson_val *v)
{
    struct str name = json_str(v);

    if (!json_is_str(v) || !name.n || has_nul(name) || str_find_char(name, '=') != SIZE_MAX)
        return false;
    if (!answer_watch_env(&r->out.answer, r->arena, name))
        r->never_keep = true;
    return true;
}

static bool watch_time(struct predicate_run *r, yyjson_val *v)
{
    int64_t ms, now = clock_wall_ms();

    if (!json_int(v, &ms) || ms < 0)
        return false;
    if (ms == 0)
        r->never_keep = true;
    else if (ms < INT64_MAX - now &&
             (!r->out.answer.stale_at_ms || now + ms < r->out.answer.stale_at_ms))
        r->out.answer.stale_at_ms = now + ms;
    return true;
}

static bool ignored(struct predicate_run *r, yyjson_val *v)
{
    return true;
}

static const struct event {
    const char *key;
    bool (*take)(struct predicate_run *r, yyjson_val *v);
} events[] = {
    { "watchFile", watch_file },
    { "watchEnv", watch_env },
    { "watchTime", watch_time },
    { "selectedCrate", ignored },
};

static bool take_event(struct predicate_run *r, struct str line)
{
    auto_json j = { 0 };
    bool known = false;

    if (!json_parse(&j, line, NULL))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        yyjson_val *v = json_get(j.root, events[i].key);

        if (v && !events[i].take(r, v))
            return false;
        known |= v != NULL;
    }
    return known;
}

static void on_line(void *ctx, struct str line, bool too_long)
{
    struct predicate_run *r = ctx;
    auto_buf shown = BUF(4 * SHOWN);

    if (!r->events || (!too_long && take_event(r, line)) || r->out.warning)
        return;
    utf8_put_clean(&shown, utf8_cut(line, SHOWN));
    r->out.warning =
        arena_printf(r->arena, "printed a line that is not understood: '%s'", buf_z(&shown));
}

/* ---- the end ---- */

static void on_exit_seen(void *ctx, const struct child_exit *how)
{
    struct predicate_run *r = ctx;

    r->out.answer.result = how->code == 0;
    r->out.keep = !how->signal && !r->never_keep;
    if (how->signal)
        r->out.warning =
            arena_printf(r->arena, "was killed by signal %d; taken as false", how->signal);
    finish(r);
}

static void on_deadline(void *ctx)
{
    struct predicate_run *r = ctx;

    if (r->child)
        r->out.warning =
            arena_printf(r->arena, "did not end within %d ms; taken as false", r->timeout_ms);
    finish(r);
}

struct predicate_run *predicate_run_start(struct loop *l, const struct run_opts *o,
                                          struct arena *a, run_fn done, void *ctx)
{
    static const struct child_ops ops = { .on_line = on_line, .on_exit = on_exit_seen };
    struct predicate_run *r = NEW(struct predicate_run);
    struct child_opts how = {
        .argv = o->argv, .cwd = o->cwd, .no_stdin = true, .max_line = PREDICATE_MAX_LINE
    };
    struct error e = { 0 };

    *r = (struct predicate_run){ .arena = a,
                                 .cwd = arena_z(a, str_of(o->cwd)),
                                 .done = done,
                                 .ctx = ctx,
                                 .timeout_ms = o->timeout_ms,
                                 .events = o->events };
    r->deadline = timer_new(l, on_deadline, r);
    r->child = child_start(l, &how, &ops, r, &e);
    if (!r->child)
        r->out.warning = arena_printf(a, "cannot be started (%s); taken as false", e.msg);
    timer_set(r->deadline, r->child ? o->timeout_ms : 0);
    return r;
}

void predicate_run_free(struct predicate_run *r)
{
    if (!r)
        return;
    timer_free(r->deadline);
    child_free(r->child);
    free(r);
}
