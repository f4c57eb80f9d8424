/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/task.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "loop/signal.h"
#include "tasks/clean.h"

static const struct task_action *const actions[] = {
    &task_spawn, &task_show, &task_follow, &task_wait, &task_list, &task_resolve, &task_cancel,
};

static const struct task_action *find_action(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        if (!strcmp(name, actions[i]->name) ||
            (actions[i]->alias && !strcmp(name, actions[i]->alias)))
            return actions[i];
    return NULL;
}

/* ---- the end ---- */

void task_end(struct task_cli *t, int status)
{
    if (t->ending)
        return;
    t->ending = true;
    t->status = status;
    loop_stop(t->loop);
}

void task_end_refused(struct task_cli *t, enum task_code code, struct str text)
{
    auto_buf clean = BUF(OUTPUT_MAX);

    task_put_clean(&clean, text);
    task_end(t, cli_fail(EXIT_FAILED, "%s: %s", task_code_name(code), buf_z(&clean)));
}

int task_exit_status(enum task_status s)
{
    return s == TASK_SUCCEEDED ? EXIT_OK : s == TASK_CANCELLED ? EXIT_CANCELLED : EXIT_FAILED;
}

static void on_signal(void *ctx, int signo)
{
    struct task_cli *t = ctx;

    t->signo = signo;
    t->ending = true;
    loop_stop(t->loop);
}

/* ---- life ---- */

struct json task_json(const struct buf *text)
{
    struct json doc = { 0 };

    json_parse(&doc, buf_str(text), NULL);
    return doc;
}

static void on_begin(void *ctx)
{
    struct task_cli *t = ctx;

    if (!t->ending)
        t->action->begin(t);
}

static int serve(struct task_cli *t)
{
    const struct service_config config = {
        .config = &t->config,
        .dirs = t->dirs,
        .cwd = t->cwd,
        .env = (const char *const *)environ,
    };
    struct signals *signals;

    t->loop = loop_new();
    t->service = service_new(t->loop, &config);
    signals = signals_new(t->loop, on_signal, t);
    loop_defer(t->loop, on_begin, t);
    loop_run(t->loop);
    service_drop(t->service, t);
    service_free(t->service);
    signals_free(signals);
    loop_free(t->loop);
    if (t->signo) {
        if (t->action->interrupted)
            t->action->interrupted(t);
        out_die_of(t->signo);
    }
    return t->status;
}

static bool takes_option(const struct task_action *action, const struct option *o)
{
    for (const struct option *global = cli_globals; global->name; global++)
        if (o == global)
            return true;
    for (const char *const *name = action->options; *name; name++)
        if (!strcmp(*name, o->name))
            return true;
    return false;
}

static int usage(const struct args *args, const struct task_action *action, const char *text)
{
    cli_fail(EXIT_USAGE, "%s", text);
    fprintf(stderr, "usage: symposium %s %s\n", args->command->name, action->usage);
    return EXIT_USAGE;
}

static int check(struct arena *a, const struct args *args, const struct task_action *action)
{
    size_t n = args->nwords - 1;

    for (size_t i = 0; i < args->ngiven; i++)
        if (!takes_option(action, args->given[i].option))
            return usage(args, action,
                         arena_printf(a, "'%s' is not an option of 'task %s'",
                                      args->given[i].option->name, action->name));
    if (args_value(args, "--update"))
        return usage(args, action, "'--update' means nothing here");
    if (n < action->min_words)
        return usage(args, action, arena_printf(a, "'task %s' needs more", action->name));
    if (n > action->max_words)
        return usage(
            args, action,
            arena_printf(a, "unexpected argument '%s'", args->words[action->max_words + 1]));
    return EXIT_OK;
}

int cmd_task(struct arena *a, const struct args *args)
{
    struct task_cli t = { .a = a, .args = args, .status = EXIT_FAILED };
    int status;

    if (!args->nwords)
        return cli_usage(args->command, "say what: spawn, show, follow, wait, ls, resolve or "
                                        "cancel");
    t.action = find_action(args->words[0]);
    if (!t.action)
        return cli_usage(args->command, "no action '%s'", args->words[0]);
    status = check(a, args, t.action);
    if (status != EXIT_OK)
        return status;
    t.words = args->words + 1;
    t.nwords = args->nwords - 1;
    t.dirs = cli_dirs(a);
    t.cwd = t.dirs ? cli_start_dir(a, args) : NULL;
    if (!t.cwd)
        return EXIT_FAILED;
    config_load(&t.config, t.dirs, a);
    for (size_t i = 0; i < t.config.warnings.n; i++)
        log_warn("%.*s", STR_F(t.config.warnings.v[i]));
    if (t.action->prepare && !t.action->prepare(&t, &status))
        return status;
    return serve(&t);
}
