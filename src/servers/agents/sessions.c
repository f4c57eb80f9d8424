/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "servers/skills/place.h"

struct sessions {
    struct sessions_opts o;
    struct sessions_ops ops;
    void *ctx;
    struct session *first;
    size_t running;
    uint64_t tick;
    bool closing;
};

const char *session_state_name(enum session_state s)
{
    static const char *const names[] = { "running", "completed", "failed" };

    return names[s];
}

/* ---- keeping them ---- */

static void session_free(struct session *s)
{
    agent_run_free(s->run);
    while (s->nqueue)
        free(s->queue[--s->nqueue]);
    buf_free(&s->history);
    free(s->system);
    free(s->result);
    free(s->text);
    free(s);
}

static bool is_older(const struct session *a, const struct session *b)
{
    return a->used != b->used ? a->used < b->used : strcmp(a->id, b->id) < 0;
}

/* The least recently used of those that ended and that nobody waits for. */
static void evict(struct sessions *all)
{
    struct session **oldest = NULL;
    size_t kept = 0;

    for (struct session **at = &all->first; *at; at = &(*at)->next) {
        if ((*at)->state == SESSION_RUNNING)
            continue;
        kept++;
        if (!(*at)->waits && (!oldest || is_older(*at, *oldest)))
            oldest = at;
    }
    if (kept > SESSIONS_KEPT && oldest) {
        struct session *gone = *oldest;

        *oldest = gone->next;
        session_free(gone);
    }
}

void sessions_touch(struct sessions *all, struct session *const *v, size_t n)
{
    all->tick++;
    for (size_t i = 0; i < n; i++)
        v[i]->used = all->tick;
}

struct session *sessions_find(struct sessions *all, struct str id)
{
    for (struct session *s = all->first; s; s = s->next)
        if (str_is(id, s->id))
            return s;
    return NULL;
}

/* ---- a run ---- */

static char *on_next(void *ctx)
{
    struct session *s = ctx;
    char *message;

    if (!s->nqueue)
        return NULL;
    message = s->queue[0];
    memmove(&s->queue[0], &s->queue[1], --s->nqueue * sizeof s->queue[0]);
    return message;
}

static void on_activity(void *ctx)
{
    struct session *s = ctx;

    s->all->ops.on_change(s->all->ctx, s);
}

static void on_call(void *ctx, const struct run_call *call)
{
    struct session *s = ctx;

    record_call(s->record, call);
}

static char *kept_result(struct str text)
{
    struct str kept = utf8_cut(text, SESSION_RESULT_MAX);
    auto_buf out = BUF(SESSION_RESULT_MAX + 100);

    buf_add(&out, kept);
    if (kept.n < text.n)
        buf_addf(&out, "\n[cut: the first %zu of %zu bytes]", kept.n, text.n);
    return buf_take(&out);
}

static void on_turn(void *ctx, struct str text, const struct fault *f)
{
    struct session *s = ctx;

    free(take_ptr(&s->text));
    s->fault = f ? *f : (struct fault){ 0 };
    if (f)
        return;
    s->text = kept_result(text);
    record_message(s->record, text);
    activity_set(&s->activity, ACTIVITY_WAITING, "Finishing");
}

static void on_end(void *ctx)
{
    struct session *s = ctx;
    struct sessions *all = s->all;

    s->run = NULL;
    all->running--;
    s->state = s->text ? SESSION_COMPLETED : SESSION_FAILED;
    if (!s->text && !s->fault.kind)
        fault_set(&s->fault, FAULT_INTERRUPTED, "the run was interrupted");
    record_end(take_ptr(&s->record), str_of(s->text), s->text ? NULL : &s->fault);
    s->result = take_ptr(&s->text);
    s->ended_ms = clock_ms();
    activity_set(&s->activity, s->result ? ACTIVITY_COMPLETED : ACTIVITY_FAILED,
                 s->result ? "Completed" : "Failed");
    sessions_touch(all, &s, 1);
    s->waits++; /* until whoever waits for it has been told */
    all->ops.on_change(all->ctx, s);
    s->waits--;
    evict(all);
    if (!all->running && all->ops.on_idle)
        all->ops.on_idle(all->ctx);
}

static bool take_credential(const struct agent_def *d, struct str *ret, struct fault *f)
{
    const char *v = d->env_key.n ? getenv(d->env_key.p) : NULL;

    *ret = str_of(v);
    if (d->env_key.n && !ret->n)
        return fault_set(f, FAULT_MISSING_VARIABLE,
                         "Required environment variable %.*s is not available.",
                         STR_F(d->env_key));
    if (str_has_control(*ret))
        return fault_set(f, FAULT_CONFIGURATION,
                         "Environment variable %.*s holds a control character.",
                         STR_F(d->env_key));
    log_secret(*ret);
    return true;
}

static bool has_permit(const struct sessions *all, struct fault *f)
{
    if (all->closing)
        return fault_set(f, FAULT_RUNTIME, "the server is stopping");
    return all->running < SESSIONS_RUNNING ||
           fault_set(f, FAULT_CAPACITY, "%d agents run already: wait for one of them",
                     SESSIONS_RUNNING);
}

/* `message` is owned by the queue from here on. */
static void begin(struct session *s, struct str credential, char *message)
{
    static const struct run_ops ops = { on_next, on_activity, on_call, on_turn, on_end };
    const struct run_opts o = { .env = s->all->o.env,
                                .def = s->def,
                                .system = str_of(s->system),
                                .credential = credential,
                                .history = &s->history,
                                .activity = &s->activity };
    const struct record_new n = { s->def->name, str_of(s->all->o.env->workspace), str_of(s->id),
                                  str_of(message) };

    s->queue[s->nqueue++] = message;
    s->state = SESSION_RUNNING;
    s->fault = (struct fault){ 0 };
    free(take_ptr(&s->result));
    s->began_ms = clock_ms();
    s->all->running++;
    s->record = record_begin(s->all->o.recorder, &n, s);
    s->run = agent_run_start(&o, &ops, s);
}

/* ---- spawning ---- */

static bool put_skill(struct buf *out, const struct sessions *all, struct str name,
                      struct fault *f)
{
    const struct skill *skill = skillset_find(all->o.skills, name);
    auto_arena a = ARENA;
    auto_place p = { .fd = -1 };
    struct document d;
    struct error e;

    if (!skill)
        return fault_set(f, FAULT_CONFIGURATION, "the skill '%.*s' does not exist here",
                         STR_F(str_upto(name, 80)));
    if (!place_open(&p, skill, &e) || !place_document(&p, &a, &d, &e))
        return fault_set(f, FAULT_CONFIGURATION, "the skill '%.*s' cannot be read: %s",
                         STR_F(name), e.msg);
    buf_addz(out, "\n\n");
    buf_add(out, d.body);
    return true;
}

/* AG-10 */
static char *make_system(const struct sessions *all, const struct agent_def *d, struct fault *f)
{
    auto_buf out = BUF(SESSION_SYSTEM_MAX);

    buf_add(&out, d->instructions);
    buf_addf(&out, "\n\nWorkspace: %s", all->o.env->workspace);
    for (size_t i = 0; i < d->skills.n; i++)
        if (!put_skill(&out, all, d->skills.v[i], f))
            return NULL;
    if (out.over) {
        fault_set(f, FAULT_CONFIGURATION, "instructions and skills have more than %zu bytes",
                  SESSION_SYSTEM_MAX);
        return NULL;
    }
    return buf_take(&out);
}

/* A UUIDv7 without its hyphens (AG-8). */
static void make_id(char ret[SESSION_ID_LEN + 1])
{
    char uuid[TASK_ID_LEN + 1];
    size_t n = 4;

    task_id_new(uuid);
    memcpy(ret, "agt_", 4);
    for (const char *p = uuid; *p; p++)
        if (*p != '-')
            ret[n++] = *p;
    ret[n] = '\0';
}

struct session *sessions_spawn(struct sessions *all, struct str name, struct str task,
                               struct fault *f)
{
    const struct agent_def *d = roster_find(all->o.roster, name);
    struct str credential;
    struct session *s;
    char *system;

    if (!d) {
        fault_set(f, FAULT_UNKNOWN_AGENT, "there is no agent '%.*s'",
                  STR_F(str_upto(name, 100)));
        return NULL;
    }
    if (!all->o.may_run(all->o.ctx, d)) {
        fault_set(
            f, FAULT_CONFIGURATION,
            "%s runs programs or sends a credential, and is not trusted yet: a person has "
            "to run 'symposium trust' in the workspace",
            path_base(d->file));
        return NULL;
    }
    if (!has_permit(all, f) || !take_credential(d, &credential, f))
        return NULL;
    system = make_system(all, d, f);
    if (!system)
        return NULL;
    s = NEW(struct session);
    make_id(s->id);
    s->all = all;
    s->def = d;
    s->system = system;
    s->history = BUF(WIRE_BODY_MAX);
    s->next = all->first;
    all->first = s;
    sessions_touch(all, &s, 1);
    begin(s, credential, mem_strndup(task.p, task.n));
    return s;
}

/* What cannot get better by another message. */
static bool is_resumable(const struct session *s)
{
    return s->state != SESSION_FAILED ||
           (s->fault.kind != FAULT_CONFIGURATION && s->fault.kind != FAULT_INTERNAL);
}

bool sessions_send(struct sessions *all, struct session *s, struct str message, bool interrupt,
                   struct fault *f)
{
    struct str credential;

    sessions_touch(all, &s, 1);
    if (s->state == SESSION_RUNNING) {
        if (s->nqueue == SESSIONS_QUEUE)
            return fault_set(f, FAULT_QUEUE_FULL, "%d messages wait for this agent already",
                             SESSIONS_QUEUE);
        s->queue[s->nqueue++] = mem_strndup(message.p, message.n);
        if (interrupt)
            agent_run_interrupt(s->run);
        return true;
    }
    if (!is_resumable(s))
        return fault_set(f, FAULT_NON_RESUMABLE,
                         "this agent failed for good (%s): spawn it again",
                         fault_name(s->fault.kind));
    if (!has_permit(all, f) || !take_credential(s->def, &credential, f))
        return false;
    begin(s, credential, mem_strndup(message.p, message.n));
    return true;
}

/* ---- the end ---- */

void session_cancel(void *session)
{
    struct session *s = session;

    if (s->state != SESSION_RUNNING)
        return;
    while (s->nqueue)
        free(s->queue[--s->nqueue]);
    agent_run_interrupt(s->run);
}

void sessions_cancel(struct sessions *all)
{
    all->closing = true;
    for (struct session *s = all->first; s; s = s->next)
        session_cancel(s);
    if (!all->running && all->ops.on_idle)
        all->ops.on_idle(all->ctx);
}

struct sessions *sessions_new(const struct sessions_opts *o, const struct sessions_ops *ops,
                              void *ctx)
{
    struct sessions *all = NEW(struct sessions);

    all->o = *o;
    all->ops = *ops;
    all->ctx = ctx;
    return all;
}

void sessions_free(struct sessions *all)
{
    if (!all)
        return;
    for (struct session *s = all->first, *next; s; s = next) {
        next = s->next;
        if (s->state == SESSION_RUNNING)
            record_end(take_ptr(&s->record), (struct str){ 0 },
                       &(struct fault){ FAULT_INTERRUPTED, "the server stopped" });
        session_free(s);
    }
    free(all);
}
