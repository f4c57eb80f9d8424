/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 *   question (offers or load) ─┬─ ask (package manager) ─ kept answer, fresh ──┬─> deliver
 *                              └─ ask (package manager) ─ process ─> answer ───┘
 *
 * An answer is the same thing whether it was kept or has just come: a normalised list of offers
 * with what it rests on.
 */
#include "pm/offers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "loop/timer.h"
#include "plugins/offer.h"
#include "pm/locate.h"
#include "pm/offers_cache.h"
#include "pm/wire.h"

#define MAX_PARAMS ((size_t)15 << 20) /* fits into a line */

struct question;

/* One package manager within one question. */
struct ask {
    struct question *q;
    const struct pm_program *program;
    struct pm_process *process; /* while it is being asked */
    struct answer *answer;      /* NULL: it contributed nothing */
    struct str key;             /* the question, as the cache knows it */
    struct str missing;         /* the tool that it would run is not installed */
    struct inputs before;       /* stamped before it was asked */
    int64_t began_ns;
};

struct question {
    struct question *next;
    struct offers *o;
    bool load;
    struct package_id id; /* load */
    bool local;           /* load: at level none, whatever the run's is */
    const struct deps *deps;
    package_offers_fn done;
    void *arg;
    struct ask *v; /* one a package manager that is asked */
    size_t n, waiting;
    struct timer *timer; /* delivers, from the loop */
    struct strs problems, watch;
    bool degraded;
};

struct offers {
    struct loop *loop;
    struct offers_opts o;
    struct arena arena;
    const char *root, *path;
    struct pm_programs here; /* those that concern the workspace */
    struct pm_programs all;
    struct answers answers;
    struct {
        struct json *v; /* of the answers that came in this run */
        size_t n, cap;
    } docs;
    struct question *questions;
    size_t room; /* for manifests, of all answers of this run */
    bool degraded, dirty;
    struct package_source source;
};

/* ---- problems ---- */

static void add_problem(struct question *q, struct str text)
{
    ARENA_PUSH(&q->o->arena, &q->problems) = arena_str(&q->o->arena, text);
}

static void fail(struct question *q, struct str text)
{
    add_problem(q, text);
    q->degraded = true;
}

__attribute__((format(printf, 2, 3))) static void malformed(struct ask *a, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fail(a->q,
         str_of(arena_printf(&a->q->o->arena, "package manager '%s': %s: %s", a->program->name,
                             a->q->load ? "load_plugin" : "active_plugins", text)));
}

/* ---- answers ---- */

/* The offer as we keep it; false when it is none. */
static bool put_offer(struct jw *w, const char *pm, yyjson_val *v, size_t *room)
{
    yyjson_val *manifest = json_get(v, "manifest");
    struct str root = json_str(json_get(v, "root"));
    auto_buf text = BUF(OFFER_MAX_MANIFEST);
    struct package_id id;

    if (!wire_id(json_get(v, "id"), pm, &id) || !wire_is_exact(id.version) || !root.n ||
        root.n > OFFERS_MAX_ROOT)
        return false;
    if (manifest && !json_is_null(manifest))
        json_put_val(&text, manifest);
    if (text.over || text.n > *room)
        return false;
    *room -= text.n;
    jw_obj(w);
    jw_key(w, "id");
    wire_put_id(w, &id);
    jw_kstr(w, "root", root);
    if (text.n) {
        jw_key(w, "manifest");
        jw_raw(w, buf_str(&text));
    }
    jw_end(w);
    return true;
}

static void put_offers(struct ask *a, struct buf *out, yyjson_val *list)
{
    size_t n = 0, bad = 0;
    struct jw w = jw_to(out);

    jw_arr(&w);
    for (struct json_iter it = json_iter(list); json_next(&it) && n < OFFERS_MAX; n++)
        bad += !put_offer(&w, a->program->name, it.val, &a->q->o->room);
    jw_end(&w);
    if (bad)
        malformed(a, "%zu malformed offers dropped", bad);
    if (json_len(list) > OFFERS_MAX)
        malformed(a, "more than %d offers, the rest dropped", OFFERS_MAX);
}

static void add_named_inputs(struct ask *a, struct inputs *l, yyjson_val *watch)
{
    struct arena *mem = &a->q->o->arena;
    size_t n = 0;

    for (struct json_iter it = json_iter(watch); json_next(&it) && n < OFFERS_MAX_WATCH; n++) {
        struct str path = json_str(it.val);

        if (path.n)
            inputs_add(l, mem, path_join(mem, a->q->o->root, arena_z(mem, path)));
    }
    if (json_len(watch) > OFFERS_MAX_WATCH)
        malformed(a, "more than %d paths to watch", OFFERS_MAX_WATCH);
}

/* What the answer rests on. A package that was found by name rests on itself and the lockfile;
 * what else lies in the stores changes nothing about it. */
static void add_inputs(struct ask *a, struct answer *ans, yyjson_val *watch)
{
    struct offers *o = a->q->o;
    struct inputs after = { 0 };

    ans->inputs = a->before;
    if (!a->q->load || !json_len(ans->offers))
        inputs_add_stores(&ans->inputs, &o->arena, a->program->name, o->o.workspace,
                          a->q->deps);
    add_named_inputs(a, &after, watch);
    for (struct json_iter it = json_iter(ans->offers); json_next(&it);)
        inputs_add_package(&after, &o->arena,
                           path_join(&o->arena, o->root,
                                     arena_z(&o->arena, json_str(json_get(it.val, "root")))));
    ans->racy = inputs_racy(&after, a->began_ns);
    for (size_t i = 0; i < after.n; i++)
        ARENA_PUSH(&o->arena, &ans->inputs) = after.v[i];
    inputs_sort(&ans->inputs);
}

/* Takes the place of what was kept for this question. */
static struct answer *new_answer(struct ask *a, struct str offers_json)
{
    struct offers *o = a->q->o;
    struct answer *ans = answers_find(&o->answers, str_of(a->program->name), a->key);
    struct json doc = { 0 };

    if (!ans) {
        ans = ARENA_NEW(&o->arena, struct answer);
        ARENA_PUSH(&o->arena, &o->answers.list) = ans;
    }
    *ans = (struct answer){ .pm = str_of(a->program->name), .question = a->key };
    if (json_parse(&doc, offers_json, NULL)) {
        ARENA_PUSH(&o->arena, &o->docs) = doc;
        ans->offers = doc.root;
    }
    o->dirty = true;
    return ans;
}

static void take_result(struct ask *a, yyjson_val *result)
{
    yyjson_val *list = wire_list(result, "offers");
    auto_buf text = BUF(2 * OFFERS_MAX_MANIFESTS + OFFERS_MAX * (OFFERS_MAX_ROOT + 4096));

    if (!list) {
        malformed(a, "answered %s, not a list", json_type_name(result));
        return;
    }
    put_offers(a, &text, list);
    a->answer = new_answer(a, buf_str(&text));
    add_inputs(a, a->answer, json_is_obj(result) ? json_get(result, "watch") : NULL);
    if (a->q->load && !json_len(a->answer->offers))
        a->answer->problem = str_of(arena_printf(
            &a->q->o->arena, "package manager '%s': it has no plugin there", a->program->name));
}

/* It answered, and the answer is that there is nothing. */
static void take_nothing(struct ask *a, const struct error *why)
{
    a->answer = new_answer(a, STR("[]"));
    add_inputs(a, a->answer, NULL);
    if (a->q->load || why->kind == ERR_INVALID)
        a->answer->problem = arena_str(&a->q->o->arena, str_of(why->msg));
}

static void take_failure(struct ask *a, const struct error *why)
{
    struct question *q = a->q;

    if (pm_is_network(why))
        a->answer = answers_find(&q->o->answers, str_of(a->program->name), a->key);
    fail(q, a->answer ? str_of(arena_printf(&q->o->arena, "%s; what was known before is used",
                                            why->msg))
                      : str_of(why->msg));
}

static void deliver_later(struct question *q)
{
    timer_set(q->timer, 0);
}

static void on_reply(void *ctx, yyjson_val *result, const struct error *why)
{
    struct ask *a = ctx;

    a->process = NULL;
    if (result)
        take_result(a, result);
    else if (why->kind == ERR_NOT_FOUND || why->kind == ERR_INVALID)
        take_nothing(a, why);
    else if (pm_is_missing(why))
        a->missing = arena_str(&a->q->o->arena, str_of(why->msg));
    else
        take_failure(a, why);
    if (--a->q->waiting == 0)
        deliver_later(a->q);
}

/* ---- delivery ---- */

static void free_question(struct question *q)
{
    struct question **at = &q->o->questions;

    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    timer_free(q->timer);
    free(q);
}

struct collected {
    struct package_offer *v;
    size_t n, cap;
};

static void collect(struct question *q, const struct ask *a, struct collected *l)
{
    struct offers *o = q->o;

    a->answer->used = true;
    for (struct json_iter it = json_iter(a->answer->offers); json_next(&it);) {
        struct package_offer offer = { .root = json_str(json_get(it.val, "root")),
                                       .manifest = json_get(it.val, "manifest") };

        if (wire_id(json_get(it.val, "id"), a->program->name, &offer.id))
            ARENA_PUSH(&o->arena, l) = offer;
    }
    for (size_t i = 0; i < a->answer->inputs.n; i++)
        ARENA_PUSH(&o->arena, &q->watch) = a->answer->inputs.v[i].path;
}

/* Of a question to any package manager it matters only that somebody knew. */
static void add_silent_problems(struct question *q, size_t found)
{
    for (size_t i = 0; i < q->n; i++)
        if (q->v[i].missing.n && (!q->load || !found))
            fail(q, q->v[i].missing);
    for (size_t i = 0; i < q->n; i++)
        if (q->v[i].answer && q->v[i].answer->problem.n && (q->id.pm.n || !q->load))
            add_problem(q, q->v[i].answer->problem);
    if (q->load && !found && !q->problems.n)
        add_problem(q, STR("no package manager here knows it"));
    /* Another process may find it meanwhile, and then writes the cache. */
    if (q->load && !found)
        ARENA_PUSH(&q->o->arena, &q->watch) = str_of(q->o->path);
}

static void deliver(void *ctx)
{
    struct question *q = ctx;
    struct collected l = { 0 };
    package_offers_fn done = q->done;
    void *arg = q->arg;
    struct package_offers found;

    for (size_t i = 0; i < q->n; i++)
        if (q->v[i].answer)
            collect(q, &q->v[i], &l);
    add_silent_problems(q, l.n);
    q->o->degraded |= q->degraded;
    found = (struct package_offers){ .v = l.v,
                                     .n = l.n,
                                     .watch = q->watch.v,
                                     .nwatch = q->watch.n,
                                     .problems = q->problems.v,
                                     .nproblems = q->problems.n,
                                     .degraded = q->degraded };
    free_question(q);
    done(arg, &found);
}

/* ---- asking ---- */

static enum update_level level_of(const struct question *q)
{
    enum update_level level = q->o->o.level;

    if (q->local)
        return UPDATE_NONE;
    return level == UPDATE_NONE && q->load && q->o->o.missing ? UPDATE_CHECK : level;
}

/* Dependencies go to all of them as they are (PM-2); a package, to each as its own. */
static void put_params(struct buf *out, const struct ask *a)
{
    const struct question *q = a->q;
    struct package_id id = q->id;
    struct jw w = jw_to(out);

    jw_obj(&w);
    if (q->load) {
        id.pm = str_of(a->program->name);
        jw_key(&w, "id");
        wire_put_id(&w, &id);
        jw_kstrz(&w, "update", update_level_name(level_of(q)));
    } else {
        jw_key(&w, "deps");
        jw_arr(&w);
        for (size_t i = 0; i < q->deps->n; i++) {
            const struct dep *d = &q->deps->v[i];

            wire_put_id(&w, &(struct package_id){ d->pm, d->name, d->version });
        }
        jw_end(&w);
    }
    jw_end(&w);
}

static const char *method_of(const struct question *q)
{
    return q->load ? "load_plugin" : "active_plugins";
}

/* A package by its name, as whatever level it was asked for; dependencies by their sum. */
static struct str key_of(struct arena *a, const struct question *q, struct str params)
{
    char hex[SHA256_HEX_SIZE];

    if (q->load)
        return str_of(arena_printf(a, "%s %.*s %.*s", method_of(q), STR_F(q->id.name),
                                   STR_F(q->id.version)));
    sha256_hex(params, hex);
    return str_of(arena_printf(a, "%s %s", method_of(q), hex));
}

/* Also when it was said under another program, or before something changed: never. */
static bool is_usable(const struct ask *a, const struct answer *ans)
{
    switch (level_of(a->q)) {
    case UPDATE_NONE:
        break;
    case UPDATE_CHECK:
        if (!a->q->load || !json_len(ans->offers))
            return false;
        break;
    case UPDATE_FETCH:
        return false;
    }
    return a->program->file && inputs_have(&ans->inputs, str_of(a->program->file)) &&
           inputs_fresh(&ans->inputs);
}

/* Stamped before anybody is asked. */
static void stamp(struct ask *a)
{
    struct offers *o = a->q->o;

    a->began_ns = inputs_now();
    if (o->o.config->path.n)
        inputs_add(&a->before, &o->arena, arena_z(&o->arena, o->o.config->path));
    if (a->program->file)
        inputs_add(&a->before, &o->arena, a->program->file);
    inputs_add_manifests(&a->before, &o->arena, a->program->name, o->o.workspace);
    inputs_add_stores(&a->before, &o->arena, a->program->name, o->o.workspace, a->q->deps);
}

/* True when the answer has to be waited for. */
static bool begin_ask(struct ask *a)
{
    struct offers *o = a->q->o;
    auto_buf params = BUF(MAX_PARAMS);

    put_params(&params, a);
    a->key = key_of(&o->arena, a->q, buf_str(&params));
    a->answer = answers_find(&o->answers, str_of(a->program->name), a->key);
    if (a->answer && is_usable(a, a->answer))
        return false;
    a->answer = NULL;
    if (params.over)
        malformed(a, "too many dependencies to ask for");
    else if (!a->program->argv)
        fail(a->q, a->program->problem);
    if (params.over || !a->program->argv)
        return false;
    stamp(a);
    a->process = pm_set_open(o->o.pms, a->program, o->root, o->o.dirs->cache);
    pm_process_call(a->process, method_of(a->q), buf_str(&params),
                    o->o.timeout_ms ? o->o.timeout_ms : PM_TIMEOUT_MS, on_reply, a);
    return true;
}

/* Of a package manager that nobody named it is no matter that it cannot be run. */
static bool is_asked(const struct question *q, const struct pm_program *p)
{
    if (!q->load)
        return true;
    return q->id.pm.n ? str_is(q->id.pm, p->name) : p->argv != NULL;
}

static void ask_all(struct question *q, const struct pm_programs *l)
{
    q->v = ARENA_ARRAY(&q->o->arena, struct ask, l->n);
    for (size_t i = 0; i < l->n; i++) {
        if (!is_asked(q, &l->v[i]))
            continue;
        q->v[q->n] = (struct ask){ .q = q, .program = &l->v[i] };
        q->waiting += begin_ask(&q->v[q->n]);
        q->n++;
    }
    if (q->load && q->id.pm.n && !q->n)
        add_problem(q, str_of(arena_printf(&q->o->arena,
                                           "package manager '%.*s' is not set up; add a "
                                           "[[package-manager]] to config.toml",
                                           STR_F(q->id.pm))));
    if (!q->waiting)
        deliver_later(q);
}

static struct question *new_question(struct offers *o, package_offers_fn done, void *arg)
{
    struct question *q = NEW(struct question);

    *q = (struct question){ .next = o->questions, .o = o, .done = done, .arg = arg };
    q->timer = timer_new(o->loop, deliver, q);
    o->questions = q;
    return q;
}

static void ask_offers(void *ctx, const struct deps *deps, package_offers_fn done, void *arg)
{
    struct offers *o = ctx;
    struct question *q = new_question(o, done, arg);

    q->deps = deps;
    ask_all(q, &o->here);
}

static void ask_load(void *ctx, const struct package_id *id, bool local, package_offers_fn done,
                     void *arg)
{
    struct offers *o = ctx;
    struct question *q = new_question(o, done, arg);

    q->load = true;
    q->local = local;
    q->id = (struct package_id){ arena_str(&o->arena, id->pm), arena_str(&o->arena, id->name),
                                 arena_str(&o->arena, id->version) };
    ask_all(q, &o->all);
}

static void drop_question(struct question *q)
{
    for (size_t i = 0; i < q->n; i++)
        if (q->v[i].process)
            pm_process_drop(q->v[i].process, &q->v[i]);
    free_question(q);
}

static void drop(void *ctx, const void *arg)
{
    struct offers *o = ctx;

    for (struct question *q = o->questions, *next; q; q = next) {
        next = q->next;
        if (q->arg == arg)
            drop_question(q);
    }
}

/* ---- life ---- */

struct offers *offers_new(struct loop *l, const struct offers_opts *opts)
{
    struct offers *o = NEW(struct offers);
    struct workspace any = *opts->workspace;

    o->loop = l;
    o->o = *opts;
    o->room = OFFERS_MAX_MANIFESTS;
    o->root = arena_z(&o->arena, opts->workspace->root);
    o->path = offers_cache_path(&o->arena, opts->dirs->cache, opts->workspace->root);
    pm_locate(&o->here, &o->arena, opts->dirs, opts->config, opts->workspace);
    /* An edge or `use` may name a package manager that no manifest here speaks of. */
    any.cargo = any.npm = true;
    pm_locate(&o->all, &o->arena, opts->dirs, opts->config, &any);
    answers_read(&o->answers, &o->arena, o->path, opts->workspace->root);
    o->source = (struct package_source){
        .ctx = o, .offers = ask_offers, .load = ask_load, .drop = drop
    };
    return o;
}

const struct package_source *offers_source(struct offers *o)
{
    return &o->source;
}

void offers_save(struct offers *o)
{
    struct error why = { 0 };

    for (size_t i = 0; i < o->answers.list.n; i++)
        o->dirty |= !o->answers.list.v[i]->used;
    if (!o->o.write_cache || o->degraded || !o->dirty)
        return;
    if (!answers_write(&o->answers, o->path, o->o.workspace->root, &why))
        log_debug("offers not cached: %s", why.msg);
}

void offers_free(struct offers *o)
{
    if (!o)
        return;
    for (struct question *q = o->questions, *next; q; q = next) {
        next = q->next;
        drop_question(q);
    }
    for (size_t i = 0; i < o->docs.n; i++)
        json_free(&o->docs.v[i]);
    answers_free(&o->answers);
    arena_free(&o->arena);
    free(o);
}
