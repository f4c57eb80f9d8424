/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/session.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "cli/consent.h"
#include "cli/output.h"
#include "loop/signal.h"
#include "loop/timer.h"

#define NAMES_CHARS 60 /* of names in the progress line */
#define LINE_REST   30 /* characters of the rest of it, at most */

/* ---- progress ---- */

void session_put_starting(struct buf *names, const struct backend *b)
{
    if (backend_state(b) != BACKEND_STARTING)
        return;
    buf_addz(names, ", ");
    utf8_put_clean(names, backend_name(b));
    if (backend_installing(b).n) {
        buf_addz(names, ": ");
        utf8_put_clean(names, backend_installing(b));
    }
}

void session_clear(struct session *s)
{
    if (s->drawn)
        fputs("\r\033[K", stderr);
    s->drawn = false;
}

static void redraw(void *ctx)
{
    struct session *s = ctx;
    auto_buf names = BUF(4096);

    session_clear(s);
    if (s->ending)
        return;
    if (s->job->waiting_for && s->catalog)
        s->job->waiting_for(s->ctx, &names);
    else
        for (size_t i = 0; s->catalog && i < s->catalog->n; i++)
            session_put_starting(&names, s->catalog->v[i].backend);
    if (!s->catalog)
        buf_addz(&names, "  the workspace");
    if (names.n) {
        struct str shown =
            utf8_cut_chars(str_from(buf_str(&names), 2), out_row_room(NAMES_CHARS, LINE_REST));

        fprintf(stderr, "%s %.*s%s (%lld s)", s->catalog ? "starting" : "looking at",
                STR_F(shown), shown.n + 2 < names.n ? "..." : "",
                (long long)(clock_ms() - s->began_ms) / 1000);
        s->drawn = true;
    }
    timer_set(s->redraw, SESSION_REDRAW_MS);
}

static void watch_progress(struct session *s)
{
    s->began_ms = clock_ms();
    timer_background(s->redraw);
    if (out_is_terminal(stderr) && !cli.quiet && !cli.verbose)
        timer_set(s->redraw, SESSION_PATIENCE_MS);
}

/* ---- life ---- */

static void on_shut(void *ctx)
{
    struct session *s = ctx;

    loop_stop(s->loop);
}

static void shut(struct session *s, bool at_once)
{
    s->ending = true;
    session_clear(s);
    gateway_shutdown(s->gateway, gateway_ladder(s->gateway, at_once), on_shut, s);
}

void session_end(struct session *s, int status)
{
    if (s->ending)
        return;
    s->status = status;
    shut(s, false);
}

/* The second signal shortens the ladder of an orderly end. */
static void on_signal(void *ctx, int signo)
{
    struct session *s = ctx;

    if (s->signo)
        return;
    s->signo = signo;
    if (!s->ending && s->catalog && s->job->cancel)
        s->job->cancel(s->ctx);
    shut(s, true);
}

static void on_inventory(void *ctx, struct catalog *c)
{
    struct session *s = ctx;

    if (s->ending)
        return;
    s->catalog = catalog_ref(c);
    if (c->res->config.mcp.enabled || s->job->even_disabled) {
        s->job->begin(s, s->ctx);
        return;
    }
    session_end(s, cli_fail(EXIT_FAILED, "the meta-server is disabled in %.*s ([mcp] enabled)",
                            STR_F(c->res->config.path)));
}

int session_run(struct arena *a, const struct args *args, const struct session_job *job,
                void *ctx)
{
    struct session s = { .job = job, .ctx = ctx, .dirs = cli_dirs(a), .status = EXIT_FAILED };
    struct gateway_opts o = { .dirs = s.dirs,
                              .start_dir = s.dirs ? cli_start_dir(a, args) : NULL };
    struct signals *signals;

    if (!cli_update_level(args, &o.level, NULL))
        return EXIT_USAGE;
    if (!o.start_dir)
        return EXIT_FAILED;
    if (job->asks_trust)
        consent_offer(a, s.dirs, o.start_dir);
    reaper_adopt_orphans();
    s.loop = o.loop = loop_new();
    s.gateway = gateway_new(&o);
    s.redraw = timer_new(s.loop, redraw, &s);
    signals = signals_new(s.loop, on_signal, &s);
    watch_progress(&s);
    gateway_current(s.gateway, on_inventory, &s);
    loop_run(s.loop);
    if (job->finish)
        job->finish(ctx);
    catalog_unref(s.catalog);
    timer_free(s.redraw);
    signals_free(signals);
    gateway_free(s.gateway);
    loop_free(s.loop);
    reaper_sweep(SESSION_SWEEP_MS);
    if (s.signo)
        out_die_of(s.signo);
    return s.status;
}
