/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* `symposium task-owner`, hidden: the process that a task of `task spawn` belongs to. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log_dir.h"
#include "base/mem.h"
#include "base/path.h"
#include "cli/task.h"
#include "loop/signal.h"

#define ARGS_MAX (8 * TASK_PROMPT_MAX)
#define SWEEP_MS 1000 /* for processes that nobody waited for */

struct owner {
    struct loop *loop;
    struct service *service;
    struct json args;
    bool told; /* the answer is out */
};

/* ---- the answer ---- */

/* One line on the pipe, which then is closed: whoever spawned us waits for no more. */
static void tell(struct owner *o, struct str line)
{
    auto_close int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    o->told = true;
    file_write_all(STDOUT_FILENO, line, NULL); /* who went away does not care */
    if (null >= 0)
        dup2(null, STDOUT_FILENO);
}

static void refuse(struct owner *o, const char *code, struct str text)
{
    auto_buf out = BUF((size_t)64 << 10), refusal = BUF((size_t)32 << 10);
    struct jw w = jw_to(&out);

    buf_addf(&refusal, "%s: %.*s", code, STR_F(str_upto(text, 4096)));
    jw_obj(&w);
    jw_kstr(&w, "refused", buf_str(&refusal));
    jw_end(&w);
    tell(o, buf_str(&out));
}

static void on_stopped(void *ctx)
{
    struct owner *o = ctx;

    loop_stop(o->loop);
}

/* The task is done, or never was. */
static void on_idle(void *ctx)
{
    struct owner *o = ctx;

    if (o->told)
        service_shutdown(o->service, on_stopped, o);
}

static void on_spawned(void *ctx, enum task_code code, struct str result)
{
    struct owner *o = ctx;

    if (code == TASK_OK)
        tell(o, result);
    else
        refuse(o, task_code_name(code), result);
    if (!service_running(o->service))
        service_shutdown(o->service, on_stopped, o);
}

/* ---- life ---- */

static void on_begin(void *ctx)
{
    struct owner *o = ctx;

    service_on_idle(o->service, on_idle, o);
    service_spawn(o->service, o->args.root, on_spawned, o);
}

static void on_signal(void *ctx, int signo)
{
    struct owner *o = ctx;

    (void)signo;
    service_shutdown(o->service, on_stopped, o);
}

static bool read_args(struct owner *o, struct error *e)
{
    auto_buf text = BUF(ARGS_MAX);
    char chunk[65536];
    ssize_t n;

    while ((n = read(STDIN_FILENO, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            buf_add(&text, (struct str){ chunk, (size_t)n });
    return buf_ok(&text, e) && json_parse(&o->args, buf_str(&text), e);
}

static void run(struct owner *o, const struct service_config *config)
{
    struct signals *signals;

    reaper_adopt_orphans();
    o->loop = loop_new();
    o->service = service_new(o->loop, config);
    signals = signals_new(o->loop, on_signal, o);
    loop_defer(o->loop, on_begin, o);
    loop_run(o->loop);
    service_free(o->service);
    signals_free(signals);
    loop_free(o->loop);
    reaper_sweep(SWEEP_MS);
}

int cmd_task_owner(struct arena *a, const struct args *args)
{
    struct owner o = { 0 };
    struct config *config = ARENA_NEW(a, struct config);
    struct service_config sc = { .config = config, .env = (const char *const *)environ };
    struct error e = { 0 };

    if (args->nwords)
        return cli_usage(args->command, "unexpected argument '%s'", args->words[0]);
    sc.dirs = cli_dirs(a);
    sc.cwd = sc.dirs ? cli_start_dir(a, args) : NULL;
    if (!sc.cwd)
        return EXIT_FAILED;
    sc.self = path_real(a, "/proc/self/exe", NULL);
    config_load(config, sc.dirs, a);
    log_set_level(config->log_level);
    log_to_dir(sc.dirs->logs, NULL);
    /* The directory that we were started in need not outlive us. */
    if (read_args(&o, &e) && chdir("/") == 0)
        run(&o, &sc);
    else
        refuse(&o, "invalid_request", str_of(e.msg));
    json_free(&o.args);
    return EXIT_OK;
}
