/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/skills_active.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "plugins/checkout.h"
#include "plugins/predicate_eval.h"
#include "plugins/trust.h"

struct skills_finding {
    struct active_skills *out;
    struct skills_query q;
    struct evaluator *eval;
    struct trust trust;
    struct {
        struct gate_job *v;
        size_t n, cap;
    } jobs; /* one for each of out->v */
    void (*done)(void *ctx, struct active_skills *s);
    void *ctx;
};

void active_skills_free(struct active_skills *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->locks.n; i++)
        checkout_unlock(s->locks.v[i]);
    arena_free(&s->arena);
    free(s);
}

void active_skills_cancel(struct skills_finding *f)
{
    if (!f)
        return;
    evaluator_free(f->eval);
    active_skills_free(f->out);
    free(f->jobs.v);
    free(f);
}

/* ---- what is there ---- */

static void warn(struct active_skills *s, const char *text)
{
    ARENA_PUSH(&s->arena, &s->warnings) = str_of(text);
}

/* The directory of a git group's checkout; NULL after a warning. */
static const char *checkout_of(struct skills_finding *f, const struct active_group *g)
{
    struct active_skills *out = f->out;
    const char *cache = f->q.dirs->cache, *dir = NULL;
    struct git_source source;
    struct error e;
    int lock;

    if (git_source_parse(&source, &out->arena, g->git, &e)) {
        lock = checkout_read_lock(cache, &source);
        if (lock >= 0)
            ARENA_PUSH(&out->arena, &out->locks) = lock;
        dir = checkout_find(&out->arena, cache, &source, &e);
        out->incomplete |= !dir;
    }
    if (!dir)
        warn(out, arena_printf(&out->arena, "plugin '%.*s': its skills: %s",
                               STR_F(g->plugin->name), e.msg));
    return dir;
}

/* A clone is the user's by no more than having been opened. */
static bool may_run(const struct skills_finding *f, const struct active_group *g,
                    const struct found_skill *k)
{
    const struct resolution *res = f->q.res;

    if (g->plugin->origin != ORIGIN_WORKSPACE)
        return g->trusted;
    return res->config.trust_workspace_always ||
           trust_holds(&f->trust, res->workspace.root, str_of(k->sha256));
}

static void take_group(struct skills_finding *f, const struct active_group *g)
{
    struct active_skills *out = f->out;
    bool git = g->git.n > 0;
    struct found_skills found = { 0 };
    struct skill_place place = { .dir = git ? checkout_of(f, g) : arena_z(&out->arena, g->dir),
                                 .lenient = g->plugin->origin == ORIGIN_WORKSPACE };

    if (!place.dir)
        return;
    /* A checkout lies in our own cache; it is the only thing it may lead into. */
    if (!git)
        place.home = path_real(&out->arena, g->plugin->dir.p, NULL);
    skill_search(&out->arena, &place, &found);
    for (size_t i = 0; i < found.n; i++) {
        ARENA_PUSH(&out->arena, out) = (struct active_skill){ found.v[i], g->plugin };
        VEC_PUSH(&f->jobs) =
            (struct gate_job){ .owner = g->plugin, .may_run = may_run(f, g, &found.v[i]) };
    }
    for (size_t i = 0; i < found.warnings.n; i++)
        ARENA_PUSH(&out->arena, &out->warnings) = found.warnings.v[i];
}

/* ---- gates ---- */

/* SY-13. The first group that leads to it has it. */
static bool is_new(struct active_skills *s, struct map *seen, const struct found_skill *k)
{
    const char *key = arena_printf(&s->arena, "%s %.*s", k->origin, STR_F(k->name));

    if (map_has(seen, str_of(key)))
        return false;
    map_put(seen, str_of(key), s);
    return true;
}

static void hand_over(struct skills_finding *f)
{
    void (*done)(void *, struct active_skills *) = f->done;
    void *ctx = f->ctx;
    struct active_skills *out = take_ptr(&f->out);

    active_skills_cancel(f);
    done(ctx, out);
}

static void on_gates(void *ctx)
{
    struct skills_finding *f = ctx;
    struct active_skills *out = f->out;
    const struct strs *warnings = evaluator_warnings(f->eval);
    struct map seen = MAP;
    size_t kept = 0;

    for (size_t i = 0; i < out->n; i++) {
        struct active_skill k = out->v[i];

        if (f->jobs.v[i].refused)
            warn(out, arena_printf(&out->arena,
                                   "%s: the skill is left out: its condition runs a program, "
                                   "and this workspace is not trusted yet; run 'symposium "
                                   "trust'",
                                   k.skill.file));
        if (f->jobs.v[i].holds && is_new(out, &seen, &k.skill))
            out->v[kept++] = k;
    }
    out->n = kept;
    map_free(&seen);
    for (size_t i = 0; i < warnings->n; i++)
        ARENA_PUSH(&out->arena, &out->warnings) = arena_str(&out->arena, warnings->v[i]);
    hand_over(f);
}

struct skills_finding *active_skills_find(struct loop *l, const struct skills_query *q,
                                          void (*done)(void *ctx, struct active_skills *s),
                                          void *ctx)
{
    struct skills_finding *f = NEW(struct skills_finding);
    const struct resolution *res = q->res;
    struct eval_world world = { .root = res->workspace.root,
                                .deps = &res->deps,
                                .cache_dir = q->dirs->cache,
                                .write_cache = !q->read_only_cache,
                                .timeout_ms = q->shell_timeout_ms };

    *f = (struct skills_finding){ .q = *q, .done = done, .ctx = ctx };
    f->out = NEW(struct active_skills);
    trust_load(&f->trust, q->dirs, &f->out->arena);
    for (size_t i = 0; i < res->groups.n; i++)
        take_group(f, &res->groups.v[i]);
    for (size_t i = 0; i < f->jobs.n; i++)
        f->jobs.v[i].gate = &f->out->v[i].skill.gate; /* the array has stopped growing */
    f->eval = evaluator_new(l, &world);
    resolution_define(res, f->eval);
    evaluator_run(f->eval, f->jobs.v, f->jobs.n, on_gates, f);
    return f;
}
