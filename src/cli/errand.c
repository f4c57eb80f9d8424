/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/errand.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "loop/signal.h"
#include "loop/timer.h"

#define LINE_CHARS 100 /* of one progress line */
#define LINE_REST  12  /* " (1234 s)" and a column that stays free */

bool cli_interactive(void)
{
    return !cli.json && !cli.quiet && out_is_terminal(stdin) && out_is_terminal(stderr);
}

/* ---- progress ---- */

void errand_clear(struct errand *e)
{
    if (e->drawn)
        fputs("\r\033[K", stderr);
    e->drawn = false;
}

static void redraw(void *ctx)
{
    struct errand *e = ctx;
    struct str shown = utf8_cut_chars(str_of(e->line), out_row_room(LINE_CHARS, LINE_REST));

    errand_clear(e);
    if (e->ending || !shown.n)
        return;
    fprintf(stderr, "%.*s (%lld s)", STR_F(shown),
            (long long)(clock_ms() - e->since_ms) / 1000);
    e->drawn = true;
    timer_set(e->redraw, ERRAND_REDRAW_MS);
}

void errand_say(struct errand *e, struct str line)
{
    auto_buf clean = BUF(4 * sizeof e->line);

    utf8_put_clean(&clean, utf8_cut(line, sizeof e->line / 2));
    snprintf(e->line, sizeof e->line, "%s", buf_z(&clean));
    if (cli.verbose && line.n) {
        fprintf(stderr, "%s\n", e->line);
        return;
    }
    if (!out_is_terminal(stderr) || cli.quiet)
        return;
    if (e->drawn) {
        redraw(e);
    } else if (!timer_is_set(e->redraw)) {
        e->since_ms = clock_ms();
        timer_set(e->redraw, ERRAND_PATIENCE_MS);
    }
}

struct resolving *errand_resolve(struct errand *e,
                                 void (*done)(void *ctx, struct resolution *res), void *ctx,
                                 struct error *why)
{
    struct resolving_opts o = {
        .dirs = e->dirs, .start_dir = e->start_dir, .level = e->level, .pms = e->pms
    };

    errand_say(e, STR("looking at the workspace"));
    return resolving_begin(e->loop, &o, done, ctx, why);
}

/* ---- life ---- */

static void on_gone(void *ctx)
{
    struct errand *e = ctx;

    loop_stop(e->loop);
}

void errand_end(struct errand *e, int status)
{
    if (e->ending)
        return;
    e->ending = true;
    e->status = status;
    errand_clear(e);
    pm_set_close(e->pms, on_gone, e);
}

static void on_signal(void *ctx, int signo)
{
    struct errand *e = ctx;

    e->signo = signo;
    e->ending = true;
    errand_clear(e);
    loop_stop(e->loop);
}

static void on_begin(void *ctx)
{
    struct errand *e = ctx;

    if (!e->ending)
        e->job->begin(e, e->ctx);
}

int errand_run(struct arena *a, const struct args *args, const struct errand_job *job,
               void *ctx)
{
    struct errand e = { .a = a, .args = args, .job = job, .ctx = ctx, .status = EXIT_FAILED };
    struct signals *signals;

    if (!cli_update_level(args, &e.level, &e.level_given))
        return EXIT_USAGE;
    e.dirs = cli_dirs(a);
    e.start_dir = e.dirs ? cli_start_dir(a, args) : NULL;
    if (!e.start_dir)
        return EXIT_FAILED;
    reaper_adopt_orphans();
    e.loop = loop_new();
    e.pms = pm_set_new(e.loop);
    if (e.level_given && e.level == UPDATE_NONE)
        pm_set_offline(e.pms);
    e.redraw = timer_new(e.loop, redraw, &e);
    timer_background(e.redraw);
    signals = signals_new(e.loop, on_signal, &e);
    loop_defer(e.loop, on_begin, &e);
    loop_run(e.loop);
    job->cancel(ctx);
    timer_free(e.redraw);
    signals_free(signals);
    pm_set_free(e.pms);
    loop_free(e.loop);
    reaper_sweep(ERRAND_SWEEP_MS);
    if (e.signo)
        out_die_of(e.signo);
    return e.status;
}
