/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/hooks.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "plugins/hook_wire.h"
#include "sync/document.h"
#include "sync/rewrite.h"

#define VALUE_MAX ((size_t)64 << 10) /* of one new value */

#define ADDED   "hooks added"
#define UPDATED "hooks updated"
#define REMOVED "hooks removed"

/* ---- commands ---- */

/* The first word as a shell reads it, without expansions; *ret_rest is what follows. */
static const char *first_word(struct arena *a, struct str command, struct str *ret_rest)
{
    auto_buf word = BUF(VALUE_MAX);
    char quote = 0;
    size_t i = 0;

    for (; i < command.n && (quote || (command.p[i] != ' ' && command.p[i] != '\t')); i++) {
        char c = command.p[i];

        if (quote ? c == quote : c == '\'' || c == '"') {
            quote = quote ? 0 : c;
            continue;
        }
        if (c == '\\' && quote != '\'' && i + 1 < command.n)
            c = command.p[++i];
        buf_addc(&word, c);
    }
    *ret_rest = str_trim(str_from(command, i));
    return arena_z(a, buf_str(&word));
}

/* What follows the program of one of ours, "hook claude Stop"; empty: not ours. */
static struct str dispatch_of(struct arena *a, struct str command, const char **ret_program)
{
    struct str rest;

    *ret_program = first_word(a, str_trim(command), &rest);
    if (!sync_is_ours(*ret_program))
        return STR("");
    return str_is(rest, "hook") || str_starts(rest, STR("hook ")) ? rest : STR("");
}

/* The older name runs, too, as long as it is installed: it is replaced all the same (HK-2). */
static bool is_former(const char *program)
{
    return strcmp(path_base(program), "symposium") != 0;
}

static bool is_former_command(struct str command)
{
    auto_arena a = ARENA;
    const char *program;

    return dispatch_of(&a, command, &program).n && is_former(program);
}

/* A path, for a shell. */
static void put_program(struct buf *out, const char *program)
{
    size_t plain = strspn(program, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789_-./+@:,=%");

    if (!program[plain]) {
        buf_addz(out, program);
        return;
    }
    buf_addc(out, '\'');
    for (; *program; program++)
        if (*program == '\'')
            buf_addz(out, "'\\''");
        else
            buf_addc(out, *program);
    buf_addc(out, '\'');
}

static const struct hook_dialect *dialect_of(const struct hooks_edit *t)
{
    return hook_dialect_find(str_of(t->agent->name));
}

static void put_dispatch(struct buf *out, const struct hooks_edit *t, enum hook_event e)
{
    buf_addf(out, "hook %s %s", t->agent->name, hook_dialect_event(dialect_of(t), e));
}

static void put_command(struct buf *out, const struct hooks_edit *t, enum hook_event e)
{
    put_program(out, t->command);
    buf_addc(out, ' ');
    put_dispatch(out, t, e);
}

/* Another path that runs a symposium is as good (SY-3). */
static bool is_right(const struct hooks_edit *t, enum hook_event e, struct str command)
{
    auto_arena a = ARENA;
    auto_buf whole = BUF(VALUE_MAX), rest = BUF(VALUE_MAX);
    const char *program;
    struct str words = dispatch_of(&a, command, &program);

    put_command(&whole, t, e);
    put_dispatch(&rest, t, e);
    return str_eq(command, buf_str(&whole)) ||
           (str_eq(words, buf_str(&rest)) && !is_former(program) &&
            path_search(&a, program, t->env->path ? t->env->path : "") != NULL);
}

/* ---- finding ours ---- */

/* One handler of ours in an event's array; `handler` is SIZE_MAX where the element itself is
 * the handler, and `alone` when nothing else is in its group. */
struct ours {
    size_t element, handler;
    struct str command;
    bool alone;
};

struct ours_list {
    struct ours *v;
    size_t n, cap;
};

static struct str command_of(const struct hooks_edit *t, yyjson_val *handler)
{
    return json_str(json_get(handler, t->agent->hooks.command));
}

/* One file may serve several agents, through a link: what is another one's is not this one's
 * affair. */
static bool is_of_this_agent(const struct hooks_edit *t, struct str command)
{
    auto_arena a = ARENA;
    const char *program;
    struct str agent = dispatch_of(&a, command, &program), rest;

    if (!agent.n)
        return false;
    agent = str_trim(str_from(agent, strlen("hook")));
    str_cut(agent, ' ', &agent, &rest);
    return str_is(agent, t->agent->name) || !hook_dialect_find(agent);
}

/* In either form, whatever the event's is: somebody may have had it the other way round. */
static struct ours_list find_ours(const struct hooks_edit *t, struct arena *a,
                                  yyjson_val *event)
{
    struct ours_list all = { 0 };

    if (!json_is_arr(event))
        return all;
    for (struct json_iter it = json_iter(event); json_next(&it);) {
        yyjson_val *group = json_get(it.val, "hooks");
        struct str command = command_of(t, it.val);

        if (is_of_this_agent(t, command))
            ARENA_PUSH(a, &all) =
                (struct ours){ it.i - 1, SIZE_MAX, arena_str(a, command), true };
        if (!json_is_arr(group))
            continue;
        for (struct json_iter in = json_iter(group); json_next(&in);) {
            command = command_of(t, in.val);
            if (is_of_this_agent(t, command))
                ARENA_PUSH(a, &all) = (struct ours){ it.i - 1, in.i - 1, arena_str(a, command),
                                                     json_len(group) == 1 };
        }
    }
    return all;
}

/* ---- edits ---- */

/* Several edits, each on the text that the last one made; one that touches more than its place
 * is an error. */
struct steps {
    const struct hooks_edit *edit;
    struct arena a;
    struct buf now, next;
};

enum step_kind { STEP_SET, STEP_APPEND, STEP_REMOVE };

static bool step(struct steps *s, enum step_kind kind, struct edit_at at, struct str json,
                 struct error *e)
{
    struct str text = buf_str(&s->now);
    struct edit_at keys = { at.v, 0 };
    bool ok;

    while (keys.n < at.n && at.v[keys.n].key)
        keys.n++;
    buf_clear(&s->next);
    ok = kind == STEP_SET      ? document_set(SYNC_JSON, &s->next, text, at, json, e)
         : kind == STEP_APPEND ? document_append(SYNC_JSON, &s->next, text, at, json, e)
                               : document_remove(SYNC_JSON, &s->next, text, at, e);
    if (!ok || !buf_ok(&s->next, e) ||
        !document_same_but(SYNC_JSON, text, buf_str(&s->next), keys, e))
        return false;
    buf_swap(&s->now, &s->next);
    return true;
}

static bool read_now(struct steps *s, struct json *ret, struct error *e)
{
    return document_read(SYNC_JSON, buf_str(&s->now), ret, e);
}

static bool is_about_tools(enum hook_event e)
{
    return e == HOOK_PRE_TOOL_USE || e == HOOK_POST_TOOL_USE;
}

static void put_handler(struct jw *w, const struct hooks_edit *t, enum hook_event e)
{
    const struct agent_hooks *h = &t->agent->hooks;
    auto_buf command = BUF(VALUE_MAX);

    put_command(&command, t, e);
    if (h->type)
        jw_kstrz(w, "type", h->type);
    jw_kstr(w, h->command, buf_str(&command));
    if (h->name)
        jw_kstrz(w, "name", h->name);
    if (h->timeout_key)
        jw_kint(w, h->timeout_key, h->timeout);
}

static void put_element(struct buf *out, const struct hooks_edit *t, enum hook_event e)
{
    const struct agent_hooks *h = &t->agent->hooks;
    bool group = h->form == HOOKS_GROUPED || (h->form == HOOKS_MIXED && is_about_tools(e));
    const char *matcher =
        is_about_tools(e) || !h->other_matcher ? h->matcher : h->other_matcher;
    struct jw w = jw_to(out);

    jw_obj(&w);
    if (matcher && (group || h->form == HOOKS_FLAT))
        jw_kstrz(&w, "matcher", matcher);
    if (group) {
        jw_key(&w, "hooks");
        jw_arr(&w);
        jw_obj(&w);
        put_handler(&w, t, e);
        jw_end(&w);
        jw_end(&w);
    } else {
        put_handler(&w, t, e);
    }
    jw_end(&w);
}

static bool set_command(struct steps *s, const char *event, const struct ours *at,
                        enum hook_event e, struct error *err)
{
    const struct agent_hooks *h = &s->edit->agent->hooks;
    auto_buf command = BUF(VALUE_MAX), json = BUF(VALUE_MAX);

    put_command(&command, s->edit, e);
    json_put_str(&json, buf_str(&command));
    if (at->handler == SIZE_MAX)
        return step(s, STEP_SET,
                    EDIT_AT({ h->container }, { event }, { NULL, at->element }, { h->command }),
                    buf_str(&json), err);
    return step(s, STEP_SET,
                EDIT_AT({ h->container }, { event }, { NULL, at->element }, { "hooks" },
                        { NULL, at->handler }, { h->command }),
                buf_str(&json), err);
}

static bool remove_one(struct steps *s, const char *event, const struct ours *at,
                       struct error *e)
{
    const char *container = s->edit->agent->hooks.container;

    if (at->alone)
        return step(s, STEP_REMOVE, EDIT_AT({ container }, { event }, { NULL, at->element }),
                    STR(""), e);
    return step(s, STEP_REMOVE,
                EDIT_AT({ container }, { event }, { NULL, at->element }, { "hooks" },
                        { NULL, at->handler }),
                STR(""), e);
}

/* All of ours in one event's array but `kept` (NULL: none is), from the end, so that places
 * before stay what they are. */
static bool remove_ours(struct steps *s, const char *event, const struct ours_list *all,
                        const struct ours *kept, struct error *e)
{
    for (size_t i = all->n; i-- > 0;)
        if (&all->v[i] != kept && !remove_one(s, event, &all->v[i], e))
            return false;
    return true;
}

static bool remove_if_empty(struct steps *s, struct edit_at at, struct error *e)
{
    auto_json j = { 0 };
    yyjson_val *v;

    if (!read_now(s, &j, e))
        return false;
    v = j.root;
    for (size_t i = 0; i < at.n; i++)
        v = json_get(v, at.v[i].key);
    if (json_len(v) || !(json_is_arr(v) || json_is_obj(v)))
        return true;
    return step(s, STEP_REMOVE, at, STR(""), e);
}

/* What our removal left empty goes, too. */
static bool remove_empty(struct steps *s, const char *event, struct error *e)
{
    const char *container = s->edit->agent->hooks.container;

    return remove_if_empty(s, EDIT_AT({ container }, { event }), e) &&
           remove_if_empty(s, EDIT_AT({ container }), e);
}

static bool put_event(struct steps *s, enum hook_event e, struct error *err)
{
    const char *event = hook_dialect_event(dialect_of(s->edit), e);
    const char *container = s->edit->agent->hooks.container;
    auto_json j = { 0 };
    auto_buf element = BUF(VALUE_MAX);
    struct ours_list all;
    const struct ours *kept = NULL;

    if (!read_now(s, &j, err))
        return false;
    all = find_ours(s->edit, &s->a, json_get(json_get(j.root, container), event));
    for (size_t i = 0; i < all.n && !kept; i++)
        if (!is_former_command(all.v[i].command))
            kept = &all.v[i];
    if (kept && !is_right(s->edit, e, kept->command) && !set_command(s, event, kept, e, err))
        return false;
    if (!kept) {
        put_element(&element, s->edit, e);
        if (!step(s, STEP_APPEND, EDIT_AT({ container }, { event }), buf_str(&element), err))
            return false;
    }
    return remove_ours(s, event, &all, kept, err);
}

/* The names in the container that are arrays with something of ours. */
static bool events_with_ours(struct steps *s, struct strs *ret, struct error *e)
{
    auto_json j = { 0 };
    yyjson_val *of;

    if (!read_now(s, &j, e))
        return false;
    of = json_get(j.root, s->edit->agent->hooks.container);
    for (struct json_iter it = json_iter(json_is_obj(of) ? of : NULL); json_next(&it);)
        if (find_ours(s->edit, &s->a, it.val).n)
            ARENA_PUSH(&s->a, ret) = arena_str(&s->a, it.key);
    return true;
}

static bool is_registered(const struct hooks_edit *t, struct str event)
{
    for (int e = 0; e < HOOK_EVENTS; e++) {
        const char *name = hook_dialect_event(dialect_of(t), (enum hook_event)e);

        if (name && str_is(event, name))
            return true;
    }
    return false;
}

static bool take_event(struct steps *s, const char *event, struct error *e)
{
    auto_json j = { 0 };
    struct ours_list all;

    if (!read_now(s, &j, e))
        return false;
    all = find_ours(s->edit, &s->a,
                    json_get(json_get(j.root, s->edit->agent->hooks.container), event));
    return remove_ours(s, event, &all, NULL, e) && remove_empty(s, event, e);
}

/* Ours in events that are none of this agent's any more, or in all of them. */
static bool take_events(struct steps *s, bool all, struct error *e)
{
    struct strs events = { 0 };

    if (!events_with_ours(s, &events, e))
        return false;
    for (size_t i = 0; i < events.n; i++)
        if ((all || !is_registered(s->edit, events.v[i])) && !take_event(s, events.v[i].p, e))
            return false;
    return true;
}

static bool put_also(struct steps *s, struct error *e)
{
    const struct hooks_also *also = s->edit->agent->hooks.also;

    for (size_t i = 0; i < HOOKS_ALSO_MAX && also[i].key; i++) {
        auto_json j = { 0 };

        if (also[i].in_project && !s->edit->in_project)
            continue;
        if (!read_now(s, &j, e))
            return false;
        if (!json_get(j.root, also[i].key) &&
            !step(s, STEP_SET, EDIT_AT({ also[i].key }), str_of(also[i].json), e))
            return false;
    }
    return true;
}

static bool put_all(struct steps *s, bool *ret_new, struct error *e)
{
    struct strs before = { 0 };

    if (!put_also(s, e) || !events_with_ours(s, &before, e))
        return false;
    *ret_new = before.n == 0;
    for (int ev = 0; ev < HOOK_EVENTS; ev++)
        if (hook_dialect_event(dialect_of(s->edit), (enum hook_event)ev) &&
            !put_event(s, (enum hook_event)ev, e))
            return false;
    return take_events(s, false, e);
}

static bool edit(const struct hooks_edit *t, struct str text, struct buf *out, bool put,
                 const char **ret_what, struct error *e)
{
    struct steps s = { .edit = t, .now = BUF(out->max), .next = BUF(out->max) };
    bool is_new = false, ok;

    *ret_what = NULL;
    buf_add(&s.now, text);
    ok = buf_ok(&s.now, e) && (put ? put_all(&s, &is_new, e) : take_events(&s, true, e));
    if (ok && !str_eq(buf_str(&s.now), text))
        *ret_what = !put ? REMOVED : is_new ? ADDED : UPDATED;
    if (ok)
        buf_add(out, buf_str(&s.now));
    buf_free(&s.now);
    buf_free(&s.next);
    arena_free(&s.a);
    return ok && buf_ok(out, e);
}

bool hooks_put(const struct hooks_edit *t, struct str text, struct buf *out,
               const char **ret_what, struct error *e)
{
    return edit(t, text, out, true, ret_what, e);
}

bool hooks_take(const struct hooks_edit *t, struct str text, struct buf *out,
                const char **ret_what, struct error *e)
{
    return edit(t, text, out, false, ret_what, e);
}

/* ---- the plan ---- */

static bool run_put(void *ctx, struct str text, struct buf *out, const char **ret_what,
                    struct error *e)
{
    return hooks_put(ctx, text, out, ret_what, e);
}

static bool run_take(void *ctx, struct str text, struct buf *out, const char **ret_what,
                     struct error *e)
{
    return hooks_take(ctx, text, out, ret_what, e);
}

static void plan_one(struct sync_plan *p, const struct sync_job *job, const struct agent *g,
                     const char *command)
{
    struct hooks_edit *ctx = ARENA_NEW(p->a, struct hooks_edit);
    const char *path =
        sync_path_of(p->a, job->env, job->project ? g->hooks.project : g->hooks.user);
    bool put = sync_job_has(job, g->name);

    if (!path)
        return;
    *ctx = (struct hooks_edit){ g, job->env, command, job->project };
    sync_plan_add(
        p, &(struct sync_edit){ .path = path,
                                .agent = g->name,
                                .run = put ? run_put : run_take,
                                .ctx = ctx,
                                .mode = job->project ? REWRITE_NEW_MODE : REWRITE_SECRET_MODE,
                                .clean_up = !put,
                                .notes = { put ? g->hooks.note : NULL } });
}

void sync_hooks_plan(struct sync_plan *p, const struct sync_job *job)
{
    const char *why, *command = sync_command(p->a, job->env, &why);

    for (size_t i = 0; i < sync_agents_n; i++) {
        const struct agent *g = &sync_agents[i];

        if (g->hooks.form != HOOKS_NONE && sync_job_concerns(job, g->name))
            plan_one(p, job, g, command);
    }
}
