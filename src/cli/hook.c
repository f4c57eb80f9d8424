/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * `symposium hook <agent> <event>`: what agents run (docs/spec/plugins.md section 11).
 *
 *   stdin ─> [SessionStart: sync] ─> resolution ─> hooks of plugins ─> answer ─> [due: sync] ─>
 * 0 └─ no JSON, too long ──────────────────────────────────────────────┘
 *
 * It must not fail: an agent may take any failure for a denial, and none of what can go wrong
 * here (a package manager, a plugin, the network, a disk) is a reason to hold up its work. So
 * the status is 0 unless a hook denied something and the agent wants to hear it that way, and
 * an answer is given in time whatever else is under way: by the loop's own deadline, or, if the
 * loop itself is stuck, by a signal (the watchdog).
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/hook_context.h"
#include "cli/hook_dispatch.h"
#include "cli/hook_trace.h"
#include "cli/output.h"
#include "cli/sync.h"
#include "loop/pipe.h"
#include "loop/timer.h"
#include "pm/autosync.h"
#include "pm/resolving.h"

#define MARGIN_MS       1000  /* of the agent's limit, kept free (HK-5) */
#define WATCHDOG_MS     400   /* behind our deadline */
#define ANSWER_MS       200   /* before it, for merging and saying what hooks decided */
#define STDIN_MS        3000  /* an agent that never closes stdin is answered all the same */
#define SESSION_SYNC_MS 10000 /* at most, and no more than half of the time there is */

struct hooking {
    struct arena *a;
    const struct args *args;
    const char *agent, *event_name; /* as given */
    const struct hook_dialect *dialect;
    enum hook_event event;
    const struct dirs *dirs;
    struct loop *loop;
    int64_t began_ms, until_ms;
    struct timer *deadline; /* of stdin, then of everything */
    struct timer *sync_end; /* of the sync at the start of a session */

    struct pipe *in;
    struct buf text; /* stdin */
    struct json native;
    struct hook_input input;
    const char *start_dir; /* canonical */

    struct config config;
    struct pm_set *pms;
    struct resolving *resolving;
    struct resolution *res;
    struct hook_dispatch *dispatch;
    struct syncing *syncing;
    bool wrote; /* the sync at the start of a session had something to write */

    const char *note; /* for the trace: why nothing was decided */
    bool answered;
    int status;
};

/* ---- the watchdog ---- */

/* What it says: the agent's "no opinion". Used by a signal handler. */
static struct hook_answer fallback;
static volatile sig_atomic_t said;

static void on_alarm(int signo)
{
    if (!said && fallback.out.n)
        (void)!write(STDOUT_FILENO, fallback.out.p, fallback.out.n);
    _exit(EXIT_OK);
}

static void watch(struct hooking *h)
{
    static const struct hook_verdict nothing = { 0 };
    int ms = (int)(h->until_ms - clock_ms()) + WATCHDOG_MS;
    struct itimerval at = { .it_value = { ms / 1000, ms % 1000 * 1000 } };
    struct sigaction act = { .sa_handler = on_alarm };

    hook_answer_put(&fallback, h->dialect, h->event, &nothing);
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &at, NULL);
}

static int left_ms(const struct hooking *h)
{
    int64_t left = h->until_ms - clock_ms();

    return left > 1 ? (int)left : 1;
}

/* ---- answering ---- */

static void warn_of(const struct hook_decided *d)
{
    for (size_t i = 0; d && i < d->outcomes.n; i++) {
        const struct hook_outcome *o = &d->outcomes.v[i];

        if (o->warn)
            log_warn("hook '%.*s' of plugin '%.*s' was ignored: %s", STR_F(o->hook),
                     STR_F(o->plugin), o->why);
        else
            log_debug("hook '%.*s' of plugin '%.*s' %s in %d ms", STR_F(o->hook),
                      STR_F(o->plugin), o->what, o->ms);
    }
}

static void say(const struct hook_answer *answer)
{
    auto_buf err = BUF(4 * answer->err.n + 1); /* what a hook wrote, on a person's terminal */
    struct error e;

    said = 1;
    out_add_clean(&err, buf_str(&answer->err));
    if (!file_write_all(STDOUT_FILENO, buf_str(&answer->out), &e) ||
        !file_write_all(STDERR_FILENO, buf_str(&err), &e))
        log_debug("%s", e.msg);
}

/* Once. */
static void answer(struct hooking *h, const struct hook_decided *d,
                   const struct hook_verdict *v)
{
    struct hook_answer text = { 0 };
    struct hook_call call = { .agent = h->agent,
                              .event = h->event_name,
                              .cwd = h->start_dir,
                              .input = buf_str(&h->text),
                              .parsed = h->native.root,
                              .decided = d,
                              .answer = &text,
                              .note = h->note };

    if (h->answered)
        return;
    h->answered = true;
    warn_of(d);
    hook_answer_put(&text, h->dialect, h->event, v);
    say(&text);
    h->status = text.status;
    call.ms = (int)(clock_ms() - h->began_ms);
    hook_trace(&call);
    hook_answer_free(&text);
}

static void answer_nothing(struct hooking *h, const char *why)
{
    static const struct hook_verdict nothing = { 0 };

    h->note = why;
    answer(h, NULL, &nothing);
}

/* ---- syncing ---- */

static void on_later_sync(void *ctx, const struct syncing_end *end)
{
    struct hooking *h = ctx;

    h->syncing = NULL;
    for (size_t i = 0; i < end->report->n; i++)
        if (end->report->v[i].kind == SYNC_ERROR)
            log_warn("auto-sync: %.*s%s%.*s", STR_F(end->report->v[i].path),
                     end->report->v[i].path.n ? ": " : "", STR_F(end->report->v[i].text));
    loop_stop(h->loop);
}

/* With `check` package managers may connect: they are others than those of the dispatch. */
static struct syncing *sync_begin(struct hooking *h, enum update_level level,
                                  const struct syncing_ops *ops)
{
    struct syncing_opts o = { .dirs = h->dirs,
                              .start_dir = h->start_dir,
                              .level = level,
                              .pms = level == UPDATE_NONE ? h->pms : NULL,
                              .timeout_ms = PM_LIST_TIMEOUT_MS };

    return syncing_begin(h->loop, &o, ops, h);
}

/* SY-20: after the answer, and only when the workspace is not what it was. A status that says
 * something is not put at risk for it; the next event comes soon. */
static void sync_if_due(struct hooking *h)
{
    static const struct syncing_ops ops = { .done = on_later_sync };

    if (h->status || !h->res->config.auto_sync || !h->res->config.agents.n ||
        !autosync_due(h->dirs->cache, &h->res->workspace)) {
        loop_stop(h->loop);
        return;
    }
    h->syncing = sync_begin(h, UPDATE_NONE, &ops);
}

/* ---- hooks ---- */

/* Claude Code can be told to look for skills that came with the sync. */
static void add_own_words(struct hooking *h, struct hook_verdict *v)
{
    v->context = hook_context(h->a, h->res);
    if (h->wrote && str_is(str_of(hook_dialect_name(h->dialect)), "claude"))
        ARENA_PUSH(h->a, &v->own_specific) =
            (struct key_value){ STR("reloadSkills"), STR("true") };
}

static void on_decided(void *ctx, const struct hook_decided *d)
{
    struct hooking *h = ctx;
    struct hook_verdict v = { 0 };

    if (h->event == HOOK_SESSION_START)
        add_own_words(h, &v);
    hook_verdict_merge(&v, h->a, &d->verdict);
    answer(h, d, &v);
    hook_dispatch_free(h->dispatch);
    h->dispatch = NULL;
    sync_if_due(h);
}

static void on_resolved(void *ctx, struct resolution *res)
{
    struct hooking *h = ctx;
    struct hook_dispatch_opts o = { .res = res,
                                    .cache_dir = h->dirs->cache,
                                    .input = &h->input,
                                    .native = buf_str(&h->text),
                                    .timeout_ms = left_ms(h) - ANSWER_MS };

    h->resolving = NULL;
    h->res = res;
    for (size_t i = 0; i < res->problems.n; i++)
        log_debug("%.*s", STR_F(res->problems.v[i]));
    if (o.timeout_ms < 1)
        o.timeout_ms = 1;
    h->dispatch = hook_dispatch_start(h->loop, &o, on_decided, h);
}

static void resolve(struct hooking *h)
{
    struct resolving_opts o = { .dirs = h->dirs,
                                .start_dir = h->start_dir,
                                .level = UPDATE_NONE,
                                .timeout_ms = PM_LIST_TIMEOUT_MS,
                                .shell_timeout_ms = left_ms(h) / 2,
                                .plugins_only = h->event != HOOK_SESSION_START,
                                .pms = h->pms };
    struct error e;

    h->resolving = resolving_begin(h->loop, &o, on_resolved, h, &e);
    if (h->resolving)
        return;
    answer_nothing(h, arena_printf(h->a, "%s", e.msg));
    loop_stop(h->loop);
}

/* ---- the start of a session ---- */

static void on_session_sync(void *ctx, const struct syncing_end *end)
{
    struct hooking *h = ctx;

    h->syncing = NULL;
    timer_clear(h->sync_end);
    for (size_t i = 0; i < end->report->n; i++) {
        h->wrote |= end->report->v[i].kind == SYNC_WRITTEN;
        log_debug("auto-sync: %s: %.*s %.*s", sync_kind_name(end->report->v[i].kind),
                  STR_F(end->report->v[i].path), STR_F(end->report->v[i].text));
    }
    resolve(h);
}

static void on_sync_end(void *ctx)
{
    struct hooking *h = ctx;

    log_debug("auto-sync: not done in the time a session has for it");
    syncing_cancel(h->syncing);
    h->syncing = NULL;
    resolve(h);
}

static void sync_session(struct hooking *h)
{
    static const struct syncing_ops ops = { .done = on_session_sync };
    int ms = left_ms(h) / 2;

    h->syncing = sync_begin(h, UPDATE_CHECK, &ops);
    timer_set(h->sync_end, ms < SESSION_SYNC_MS ? ms : SESSION_SYNC_MS);
}

/* ---- stdin ---- */

/* What the agent says, else where it started us. Antigravity starts hooks where its file lies.
 */
static const char *find_start_dir(struct hooking *h)
{
    const char *given = args_value(h->args, "--workspace"),
               *said_dir = arena_z(h->a, h->input.cwd);
    const char *dir = given ? given : *said_dir == '/' ? said_dir : ".";

    return path_real(h->a, file_is_dir(dir) ? dir : ".", NULL);
}

static void on_input(struct hooking *h)
{
    struct error e = { 0 };

    pipe_free(h->in);
    h->in = NULL;
    timer_set(h->deadline, left_ms(h));
    if (h->text.over || !json_parse(&h->native, buf_str(&h->text), &e) ||
        !hook_input_read(&h->input, h->dialect, h->event, h->native.root, &e)) {
        answer_nothing(h, h->text.over ? "the input is too long"
                                       : arena_printf(h->a, "%s", e.msg));
        loop_stop(h->loop);
        return;
    }
    h->start_dir = find_start_dir(h);
    if (h->input.ignore || !h->start_dir) {
        answer_nothing(h, h->input.ignore ? "not the first call of a turn" : "no directory");
        loop_stop(h->loop);
        return;
    }
    config_load(&h->config, h->dirs, h->a);
    if (h->event == HOOK_SESSION_START && h->config.auto_sync && h->config.agents.n)
        sync_session(h);
    else
        resolve(h);
}

static void on_data(void *ctx, struct str bytes)
{
    struct hooking *h = ctx;

    buf_add(&h->text, bytes);
    if (h->text.over)
        on_input(h);
}

static void on_data_end(void *ctx, const struct error *why)
{
    on_input(ctx);
}

static void on_deadline(void *ctx)
{
    struct hooking *h = ctx;

    if (h->in) {
        on_input(h);
        return;
    }
    answer_nothing(h, "the agent's time for hooks was over");
    loop_stop(h->loop);
}

/* ---- life ---- */

static void run(struct hooking *h)
{
    static const struct pipe_ops ops = { .on_data = on_data, .on_end = on_data_end };

    h->loop = loop_new();
    h->pms = pm_set_new(h->loop);
    pm_set_offline(h->pms);
    h->deadline = timer_new(h->loop, on_deadline, h);
    h->sync_end = timer_new(h->loop, on_sync_end, h);
    timer_set(h->deadline, STDIN_MS < left_ms(h) ? STDIN_MS : left_ms(h));
    h->in = pipe_new(h->loop, STDIN_FILENO, NULL, &ops, h);
    loop_run(h->loop);
    answer_nothing(h, "nothing came of it");
    syncing_cancel(h->syncing);
    resolving_cancel(h->resolving);
    hook_dispatch_free(h->dispatch);
    resolution_free(h->res);
    pipe_free(h->in);
    timer_free(h->deadline);
    timer_free(h->sync_end);
    pm_set_free(h->pms);
    loop_free(h->loop);
    hook_input_free(&h->input);
    json_free(&h->native);
    buf_free(&h->text);
}

/* A status other than 0 might stop the agent's work: a line on stderr must do. */
int cmd_hook(struct arena *a, const struct args *args)
{
    struct hooking h = {
        .a = a, .args = args, .began_ms = clock_ms(), .text = BUF(HOOK_MAX_INPUT)
    };

    if (args->nwords != 2)
        return cli_usage(args->command, "'hook' takes an agent and an event");
    h.agent = args->words[0];
    h.event_name = args->words[1];
    h.dialect = hook_dialect_find(str_of(h.agent));
    if (!h.dialect)
        return cli_fail(EXIT_OK, "'%s' is no agent with hooks", h.agent);
    if (!hook_event_parse(h.dialect, str_of(h.event_name), &h.event))
        return cli_fail(EXIT_OK, "%s has no event '%s' for hooks", h.agent, h.event_name);
    h.until_ms = h.began_ms + hook_dialect_limit_ms(h.dialect) - MARGIN_MS;
    watch(&h);
    h.dirs = cli_dirs(a);
    if (h.dirs)
        run(&h);
    else
        answer_nothing(&h, "no home directory");
    return h.status;
}
