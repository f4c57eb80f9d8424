/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support.h"

#include "base/file.h"
#include "lockdown/keeper.h"
#include "loop/child.h"
#include "loop/timer.h"
#include "meta/toolcache.h"
#include "sandbox/host.h"

#define STEP_MS 1

/* ---- the world ---- */

static void on_change(void *ctx)
{
    struct world *w = ctx;

    w->changes++;
}

void world_open(struct world *w)
{
    *w = (struct world){ 0 };
    make_temp_dir(w->dir);
    w->loop = loop_new();
    w->dirs = (struct dirs){ .config = arena_printf(&w->a, "%s/config", w->dir),
                             .cache = arena_printf(&w->a, "%s/cache", w->dir),
                             .logs = arena_printf(&w->a, "%s/logs", w->dir),
                             .state = arena_printf(&w->a, "%s/state", w->dir) };
    w->env = (struct backend_env){ .loop = w->loop,
                                   .cache_dir = w->dirs.cache,
                                   .max_restarts = 5,
                                   .stable_reset_ms = 300000,
                                   .ladder = { 500, 1000 },
                                   .on_change = on_change,
                                   .ctx = w };
}

void world_close(struct world *w)
{
    backends_free(&w->env);
    while (child_lingering(w->loop))
        world_run(w, 2);
    loop_free(w->loop);
    remove_tree(w->dir);
    arena_free(&w->a);
}

struct stop {
    struct loop *loop;
    bool due;
};

static void on_stop(void *ctx)
{
    struct stop *s = ctx;

    s->due = true;
    loop_stop(s->loop);
}

void world_run(struct world *w, int ms)
{
    struct stop s = { .loop = w->loop };
    struct timer *t = timer_new(w->loop, on_stop, &s);

    timer_set(t, ms);
    while (!s.due)
        loop_run(w->loop);
    timer_free(t);
}

void world_until(struct world *w, const bool *flag, int ms)
{
    int64_t end = clock_ms() + (int64_t)ms * slack();

    while (!*flag && clock_ms() < end)
        world_run(w, STEP_MS);
    if (!*flag)
        fail_msg("not within %d ms", ms * slack());
}

const char *world_write(struct world *w, const char *name, const char *text)
{
    const char *path = arena_printf(&w->a, "%s/%s", w->dir, name);
    char *dir = arena_z(&w->a, str_of(path));
    struct error e;

    *strrchr(dir, '/') = '\0';
    if (!file_mkdirs(dir, &e) || !file_write_atomic(path, str_of(text), 0644, &e))
        fail_msg("%s", e.msg);
    return path;
}

/* ---- servers ---- */

struct active_server *world_server(struct world *w, const char *name, const char *script)
{
    struct active_server *s = ARENA_NEW(&w->a, struct active_server);
    struct server_def *def = ARENA_NEW(&w->a, struct server_def);
    const char *text =
        arena_printf(&w->a, "{\"log\":\"%s/%s.log\",\"record\":\"%s/%s.got\"%s%s", w->dir, name,
                     w->dir, name, strcmp(script, "{}") == 0 ? "" : ",", script + 1);

    def->name = str_of(arena_printf(&w->a, "%s", name));
    *s = (struct active_server){ .name = def->name,
                                 .def = def,
                                 .cwd = str_of(w->dir),
                                 .startup_timeout_ms = 10000 * slack(),
                                 .tool_call_timeout_ms = 10000 * slack() };
    ARENA_PUSH(&w->a, &s->argv) = STR(PEER);
    ARENA_PUSH(&w->a, &s->argv) =
        str_of(world_write(w, arena_printf(&w->a, "%s.json", name), text));
    return s;
}

static unsigned lines_with(const char *path, const char *part, bool at_start)
{
    auto_buf text = BUF(LOG_MAX);
    struct str rest, line;
    unsigned n = 0;

    if (!file_read(path, &text, NULL))
        return 0;
    for (rest = buf_str(&text); str_cut(rest, '\n', &line, &rest);) {
        size_t at = str_find(line, str_of(part));

        n += at_start ? at == 0 : at != SIZE_MAX;
    }
    return n;
}

unsigned world_logged(struct world *w, const char *name, const char *begin)
{
    return lines_with(arena_printf(&w->a, "%s/%s.log", w->dir, name), begin, true);
}

unsigned world_received(struct world *w, const char *name, const char *part)
{
    return lines_with(arena_printf(&w->a, "%s/%s.got", w->dir, name), part, false);
}

static int by_name(const void *a, const void *b)
{
    const struct active_server *x = a, *y = b;

    return str_cmp(x->name, y->name);
}

struct catalog *world_catalog(struct world *w, struct active_server *const *servers, size_t n,
                              const struct catalog *before)
{
    struct resolution *res = NEW(struct resolution);

    config_load(&res->config, &w->dirs, &res->arena);
    for (size_t i = 0; i < n; i++)
        ARENA_PUSH(&res->arena, &res->servers) = *servers[i];
    if (n)
        qsort(res->servers.v, n, sizeof *res->servers.v, by_name);
    return catalog_new(&w->env, res, before);
}

void world_cache(struct world *w, const struct active_server *s, const char *tools)
{
    struct toolset set;
    struct error e;

    if (!toolset_load(&set, str_of(tools), &e) ||
        !toolcache_store(w->dirs.cache, toolcache_key(&w->a, s), &set, false, STR("{}"), &e))
        fail_msg("%s", e.msg);
    toolset_free(&set);
}

/* ---- calls ---- */

static void on_answer(void *ctx, const struct backend_answer *answer)
{
    struct told *t = ctx;

    t->times++;
    t->done = true;
    if (answer->tool)
        t->tool = arena_str(&t->w->a, answer->tool->name);
    if (answer->result)
        json_put_val(&t->result, answer->result);
    else
        t->why = *answer->e;
}

static void on_known(void *ctx, const struct error *why)
{
    struct told *t = ctx;

    t->times++;
    t->done = true;
    if (why)
        t->why = *why;
}

static void told_init(struct told *t, struct world *w)
{
    *t = (struct told){ .w = w, .result = BUF((size_t)32 << 20) };
}

void call_begin(struct told *t, struct world *w, struct backend *b, const char *key,
                const char *args)
{
    told_init(t, w);
    t->handle = backend_call(b, str_of(key), str_of(args), on_answer, t);
    assert_false(t->done); /* never from inside */
}

void describe_begin(struct told *t, struct world *w, struct backend *b)
{
    told_init(t, w);
    t->handle = backend_describe(b, on_known, t);
    assert_false(t->done);
}

void call_tool(struct told *t, struct world *w, struct backend *b, const char *key,
               const char *args)
{
    call_begin(t, w, b, key, args);
    world_until(w, &t->done, 20000);
}

void describe(struct told *t, struct world *w, struct backend *b)
{
    describe_begin(t, w, b);
    world_until(w, &t->done, 20000);
}

void told_free(struct told *t)
{
    assert_true(t->times <= 1);
    buf_free(&t->result);
}

/* ---- texts ---- */

static void add_line(void *ctx, struct str line)
{
    buf_addf(ctx, "%.*s\n", STR_F(line));
}

const char *problems_of(struct world *w, const struct backend *b)
{
    auto_buf text = BUF(LOG_MAX);

    backend_put_problems(b, add_line, &text);
    return arena_z(&w->a, buf_str(&text));
}

int support_main(int argc, char **argv, int (*run)(void))
{
    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return worker_main(argc, argv);
    return run();
}
