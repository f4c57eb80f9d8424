/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run_check.h"

#include "base/file.h"
#include "base/path.h"
#include "base/procstat.h"
#include "loop/child.h"
#include "loop/signal.h"
#include "plugins/config.h"

/* ---- stage ---- */

void stage_open(struct stage *s, const struct run_env *env)
{
    struct run_env e = env ? *env : (struct run_env){ 0 };

    *s = (struct stage){ 0 };
    world_open(&s->w);
    reaper_adopt_orphans();
    e.loop = s->w.loop;
    e.ledger = s->w.ledger;
    e.state_dir = s->w.state;
    e.path = e.path ? e.path : "/usr/bin:/bin";
    e.max_concurrent = e.max_concurrent ? e.max_concurrent : 16;
    s->runs = runs_new(&e);
}

void stage_close(struct stage *s)
{
    int64_t until = clock_ms() + RUN_MS * slack();

    assert_int_equal(s->runs->n, 0);
    runs_free(s->runs);
    while (child_lingering(s->w.loop) && clock_ms() < until)
        run_for(s->w.loop, 5);
    assert_int_equal(child_lingering(s->w.loop), 0);
    world_close(&s->w);
    arena_free(&s->arena);
}

/* ---- jobs ---- */

static void on_running(void *ctx)
{
    struct job *j = ctx;

    j->running++;
    assert_int_equal(j->done, 0);
    loop_stop(j->s->w.loop);
}

static void on_queued(void *ctx)
{
    struct job *j = ctx;

    j->queued++;
    loop_stop(j->s->w.loop);
}

static void on_done(void *ctx)
{
    struct job *j = ctx;

    j->done++;
    j->ended = clock_ms();
    assert_null(run_find(j->s->runs, str_of(j->id)));
    run_free(j->run);
    j->run = NULL;
    loop_stop(j->s->w.loop);
}

/* The config of one agent, as a user would declare it. */
static const struct adapter *declare(struct stage *s, const struct job_opts *o)
{
    struct config c = { .tasks_acp_version = 1 };
    auto_buf json = BUF(1 << 20);
    struct jw w = jw_to(&json);
    struct str rest = str_of(o->words), word;
    struct task_agent_config declared;
    bool more = true;

    jw_obj(&w);
    jw_kstrz(&w, "name", "fake");
    jw_kstrz(&w, "command", o->script ? "sh" : FAKE_AGENT);
    if (o->script)
        jw_kstrz(&w, "protocol", "cli");
    if (o->script)
        jw_kstrz(&w, "prompt", "stdin");
    else
        jw_kbool(&w, "resume", true);
    jw_key(&w, "args");
    jw_arr(&w);
    if (o->script) {
        jw_strz(&w, "-c");
        jw_strz(&w, o->script);
    }
    while (more && !o->script) {
        more = str_cut(rest, ' ', &word, &rest);
        if ((more ? word : rest).n)
            jw_str(&w, more ? word : rest);
    }
    jw_end(&w);
    jw_end(&w);
    declared = (struct task_agent_config){ STR("fake"), arena_str(&s->arena, buf_str(&json)) };
    c.task_agents.v = &declared;
    c.task_agents.n = 1;
    adapters_load(&s->adapters, &s->arena, &c);
    if (s->adapters.problems.n)
        fail_msg("%.*s", STR_F(s->adapters.problems.v[0]));
    return adapter_find(&s->adapters, str_of(o->agent ? o->agent : "fake"));
}

void job_start(struct stage *s, struct job *j, const struct job_opts *o)
{
    static const struct run_ops ops = { on_running, on_queued, on_done };
    const struct adapter *ad = declare(s, o);
    const char *workspace = o->workspace ? o->workspace : s->w.dir;
    struct plan_request req = {
        .prompt = str_of(o->prompt ? o->prompt : "do it"),
        .workspace = str_of(workspace),
        .session_id = str_of(o->session_id),
        .env = (const char *const *)environ,
        .chain = o->chain,
        .self = "/opt/symposium",
    };
    struct task_plan plan;
    struct run_opts ro = { .plan = &plan,
                           .priority = o->priority,
                           .deadline_s = o->deadline_s,
                           .max_output = o->max_output,
                           .worktree = o->worktree,
                           .workspace = workspace };
    struct got g = { .loop = s->w.loop };
    struct task_new row;
    auto_json options = { 0 };
    struct error e;

    *j = (struct job){ .s = s, .began = clock_ms() };
    assert_true(!o->options || json_parse(&options, str_of(o->options), NULL));
    req.options = options.root;
    if (!adapter_plan(&plan, &s->arena, ad, &req, &e))
        fail_msg("%s", e.msg);
    row = task_like(j->id);
    row.record.kind = plan.kind;
    row.record.priority = o->priority;
    row.record.prompt = req.prompt;
    row.record.workspace = req.workspace;
    row.max_output = o->max_output;
    ask_submit(&s->w, &row, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    got_free(&g);
    ro.id = str_of(j->id);
    j->run = run_new(s->runs, &ro, &ops, j);
}

void job_wait(struct job *j)
{
    while (!j->done)
        run_until_stopped(j->s->w.loop, RUN_MS);
    assert_int_equal(j->done, 1);
}

void job_wait_running(struct job *j)
{
    while (!j->running && !j->done)
        run_until_stopped(j->s->w.loop, RUN_MS);
    assert_int_equal(j->running, 1);
}

void job_do(struct stage *s, struct job *j, const struct job_opts *o)
{
    job_start(s, j, o);
    job_wait(j);
}

/* ---- what the ledger says ---- */

static const char *put_event(struct job *j, const struct task_event_row *ev)
{
    auto_json data = { 0 };

    assert_true(json_parse(&data, ev->data, NULL));
    if (ev->type != TASK_EV_ERROR)
        return arena_printf(&j->s->arena, "%s ", task_event_name(ev->type));
    return arena_printf(&j->s->arena, "!%.*s ",
                        STR_F(json_str(json_get(data.root, "message"))));
}

const char *job_events(struct job *j)
{
    auto_buf out = BUF(1 << 20);
    struct got g = { .loop = j->s->w.loop };

    ask_events(&j->s->w, j->id, 0, LEDGER_EVENTS_MAX, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    for (size_t i = 0; i < g.a.nevents; i++)
        if (g.a.events[i].type != TASK_EV_STATUS && g.a.events[i].type != TASK_EV_CREATED)
            buf_addz(&out, put_event(j, &g.a.events[i]));
    got_free(&g);
    return arena_z(&j->s->arena, str_trim(buf_str(&out)));
}

const char *job_text(struct job *j, enum task_event type)
{
    auto_buf out = BUF((size_t)256 << 20);
    struct got g = { .loop = j->s->w.loop };

    ask_events(&j->s->w, j->id, 0, LEDGER_EVENTS_MAX, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    for (size_t i = 0; i < g.a.nevents; i++) {
        auto_json data = { 0 };

        if (g.a.events[i].type != type)
            continue;
        assert_true(json_parse(&data, g.a.events[i].data, NULL));
        buf_add(&out, json_get(data.root, "text") ? json_str(json_get(data.root, "text"))
                                                  : g.a.events[i].data);
    }
    got_free(&g);
    return arena_z(&j->s->arena, buf_str(&out));
}

void job_wait_event(struct job *j, enum task_event type, const char *part)
{
    int64_t until = clock_ms() + RUN_MS * slack();

    while (!strstr(job_text(j, type), part) && clock_ms() < until)
        run_for(j->s->w.loop, 20);
    assert_has(job_text(j, type), part);
}

static const char *number(struct arena *a, int n)
{
    return n < 0 ? "-" : arena_printf(a, "%d", n);
}

const char *job_end(struct job *j)
{
    struct arena *a = &j->s->arena;
    struct got g = { .loop = j->s->w.loop };
    const struct task_record *t;
    const char *text;

    ask_get(&j->s->w, j->id, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    t = &g.a.tasks[0];
    text = arena_printf(a, "%s %.*s %s %s", task_status_name(t->status),
                        STR_F(t->stop_reason.n ? t->stop_reason : STR("-")),
                        number(a, t->exit_code), number(a, t->signal));
    got_free(&g);
    return text;
}

const char *job_result(struct job *j)
{
    struct got g = { .loop = j->s->w.loop };
    const char *text;

    ask_get(&j->s->w, j->id, &g);
    text = arena_z(&j->s->arena, g.a.tasks[0].result_text);
    got_free(&g);
    return text;
}

bool pid_is_gone(pid_t pid)
{
    struct procstat st;

    return pid > 1 && !procstat_read("/proc", pid, &st);
}
