/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>

#include "base/mem.h"
#include "base/path.h"
#include "cli/errand.h"
#include "cli/names.h"
#include "cli/output.h"
#include "plugins/atom.h"
#include "plugins/enablement.h"
#include "plugins/offer.h"
#include "pm/offers.h"
#include "sync/config_file.h"

struct use {
    struct errand *errand;
    struct package_id id; /* as it was asked for */
    bool global;
    struct resolving *resolving;
    struct resolution *res;
    struct offers *offers;
    struct strs pms; /* package managers that have it */
};

/* ---- what is said ---- */

/* `state`: "in-use", "unchanged", "removed" or "refused". */
static int say(struct use *u, const char *state, const char *text)
{
    struct report r;
    struct jw *w;

    errand_clear(u->errand);
    if (!cli.json) {
        if (!cli.quiet)
            out_put_text(stdout, str_of(text));
        return EXIT_OK;
    }
    report_begin(&r);
    w = report_event(&r, "use");
    jw_kstr(w, "name", u->id.name);
    if (u->id.pm.n)
        jw_kstr(w, "pm", u->id.pm);
    jw_kstrz(w, "state", state);
    jw_kbool(w, "global", u->global);
    jw_kstrz(w, "text", text);
    jw_end(w);
    return report_end(&r) ? EXIT_OK : EXIT_FAILED;
}

static int refuse(struct use *u, const char *text)
{
    if (cli.json)
        say(u, "refused", text);
    errand_clear(u->errand);
    return cli_fail(EXIT_FAILED, "%s", text);
}

static struct arena *arena_of(const struct use *u)
{
    return u->errand->a;
}

/* "in every workspace", "in /w". */
static const char *place(const struct use *u, struct str root)
{
    return u->global ? "in every workspace" : arena_printf(arena_of(u), "in %.*s", STR_F(root));
}

/* ---- adding ---- */

static int add(struct use *u, struct str pm)
{
    struct str root = u->res->workspace.root;
    struct plugin_ref ref = { .pm = pm, .name = u->id.name };
    bool changed;
    struct error e;

    if (!u->global)
        ref.workspace = root;
    if (!config_add_ref(u->errand->dirs, CONFIG_USE, &ref, &changed, &e))
        return refuse(u, e.msg);
    if (!changed)
        return say(u, "unchanged",
                   arena_printf(arena_of(u), "'%.*s' is in use already %s", STR_F(u->id.name),
                                place(u, root)));
    return say(u, "in-use",
               arena_printf(arena_of(u),
                            "'%.*s' is in use %s; running agents see its servers, 'symposium "
                            "sync' brings its skills",
                            STR_F(u->id.name), place(u, root)));
}

/* Several package managers may have a package of one name; which is meant is for the user to
 * say, since anybody may register a name. */
static int add_package(struct use *u)
{
    if (u->pms.n == 1)
        return add(u, u->pms.v[0]);
    return refuse(u,
                  arena_printf(arena_of(u), "%.*s and %.*s both have '%.*s'; write %.*s:%.*s",
                               STR_F(u->pms.v[0]), STR_F(u->pms.v[1]), STR_F(u->id.name),
                               STR_F(u->pms.v[0]), STR_F(u->id.name)));
}

static const struct dep *find_dependency(const struct use *u)
{
    for (size_t i = 0; i < u->res->deps.n; i++) {
        const struct dep *d = &u->res->deps.v[i];

        if ((!u->id.pm.n || str_eq(u->id.pm, d->pm)) && dep_name_eq(d->pm, d->name, u->id.name))
            return d;
    }
    return NULL;
}

static void put_not_found(struct use *u, struct buf *to)
{
    const struct dep *d = find_dependency(u);

    if (d)
        buf_addf(to,
                 "'%.*s' is a dependency of this workspace (%.*s), but no plugin was found in "
                 "it: there is nothing to use",
                 STR_F(u->id.name), STR_F(d->pm));
    else
        buf_addf(to,
                 "nothing is called '%.*s', no plugin and no package that brings one; "
                 "'symposium search' finds names",
                 STR_F(u->id.name));
}

static void on_loaded(void *ctx, const struct package_offers *found)
{
    struct use *u = ctx;
    auto_buf why = BUF(4096);

    for (size_t i = 0; i < found->n; i++) {
        struct error e;

        if (offer_answers(&found->v[i], &u->id, &e))
            ARENA_PUSH(arena_of(u), &u->pms) = arena_str(arena_of(u), found->v[i].id.pm);
    }
    if (u->pms.n) {
        errand_end(u->errand, add_package(u));
        return;
    }
    put_not_found(u, &why);
    for (size_t i = 0; i < found->nproblems; i++)
        buf_addf(&why, "\n  %.*s", STR_F(found->problems[i]));
    errand_end(u->errand, refuse(u, buf_z(&why)));
}

static void find_package(struct use *u)
{
    struct offers_opts o = { .dirs = u->errand->dirs,
                             .config = &u->res->config,
                             .workspace = &u->res->workspace,
                             .level = u->errand->level_given ? u->errand->level : UPDATE_CHECK,
                             .pms = u->errand->pms };

    errand_say(u->errand, STR("asking the package managers"));
    u->offers = offers_new(u->errand->loop, &o);
    offers_source(u->offers)->load(offers_source(u->offers)->ctx, &u->id, false, on_loaded, u);
}

/* ---- a plugin that is there ---- */

/* It is active because a list says so for this workspace only. */
static bool only_used_here(const struct use *u, const struct plugin_status *st)
{
    const struct plugin_refs *l = &u->res->config.use;

    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].workspace.n && ref_names(&l->v[i], st->plugin))
            return true;
    return false;
}

static int use_known(struct use *u, const struct plugin_status *st)
{
    struct arena *a = arena_of(u);
    struct str name = u->id.name;

    switch (st->state) {
    case PLUGIN_ACTIVE:
    case PLUGIN_GATED:
        if (u->global && only_used_here(u, st))
            break;
        if (!st->trusted)
            return refuse(u, arena_printf(a, "'%.*s': " UNTRUSTED_REASON, STR_F(name)));
        return say(u, "unchanged",
                   st->state == PLUGIN_ACTIVE
                       ? arena_printf(a, "'%.*s' is active already (%.*s)", STR_F(name),
                                      STR_F(st->reason))
                       : arena_printf(a, "'%.*s' is enabled already; %.*s", STR_F(name),
                                      STR_F(st->reason)));
    case PLUGIN_DECLINED:
        return refuse(u,
                      arena_printf(a,
                                   "'%.*s' is listed in [plugins] disable, which beats 'use'; "
                                   "take it out of there first, in %.*s",
                                   STR_F(name), STR_F(u->res->config.path)));
    case PLUGIN_ERROR:
        return refuse(
            u, arena_printf(a, "'%.*s' cannot be used: %.*s", STR_F(name), STR_F(st->reason)));
    case PLUGIN_DORMANT:
    case PLUGIN_CANDIDATE:
        break;
    }
    /* Of a package it is recorded whose: anybody may register a name elsewhere. */
    return add(u, st->plugin->origin == ORIGIN_PACKAGE ? st->registry : u->id.pm);
}

static void on_resolved(void *ctx, struct resolution *res)
{
    struct use *u = ctx;
    const struct plugin_status *st = name_find(res, &u->id, NULL);

    u->resolving = NULL;
    u->res = res;
    if (st)
        errand_end(u->errand, use_known(u, st));
    else
        find_package(u);
}

/* ---- removing ---- */

static bool same_scope(struct arena *a, const struct plugin_ref *ref, bool global,
                       struct str root)
{
    const char *real;

    if (global || !ref->workspace.n)
        return global && !ref->workspace.n;
    real = path_real(a, arena_z(a, ref->workspace), NULL);
    return str_eq(ref->workspace, root) || (real && str_eq(str_of(real), root));
}

static bool same_name(const struct plugin_ref *ref, const struct package_id *id)
{
    struct str pm = ref->pm.n ? ref->pm : id->pm;

    return (!id->pm.n || !ref->pm.n || str_eq(id->pm, ref->pm)) &&
           dep_name_eq(pm, ref->name, id->name);
}

static int take_back(struct use *u, const struct config *c, struct str root)
{
    struct arena *a = arena_of(u);
    const struct plugin_ref *elsewhere = NULL;
    size_t removed = 0;
    struct error e;

    for (size_t i = 0; i < c->use.n; i++) {
        if (!same_name(&c->use.v[i], &u->id))
            continue;
        if (!same_scope(a, &c->use.v[i], u->global, root)) {
            elsewhere = &c->use.v[i];
            continue;
        }
        if (!config_remove_ref(u->errand->dirs, CONFIG_USE, &c->use.v[i], NULL, &e))
            return refuse(u, e.msg);
        removed++;
    }
    if (removed)
        return say(u, "removed",
                   arena_printf(a, "'%.*s' is no longer in use %s", STR_F(u->id.name),
                                place(u, root)));
    if (!elsewhere)
        return refuse(u, arena_printf(a, "'%.*s' is not in use", STR_F(u->id.name)));
    return refuse(
        u, elsewhere->workspace.n
               ? arena_printf(a,
                              "'%.*s' is not in use %s, but in %.*s: add "
                              "'--workspace' with that directory",
                              STR_F(u->id.name), place(u, root), STR_F(elsewhere->workspace))
               : arena_printf(a,
                              "'%.*s' is in use in every workspace: add '--global' to "
                              "remove that",
                              STR_F(u->id.name)));
}

static int remove_use(struct use *u)
{
    struct config c;
    struct workspace w;
    struct watch_list watch = { 0 };
    struct error e;

    config_load(&c, u->errand->dirs, arena_of(u));
    if (!workspace_find(&w, u->errand->start_dir, arena_of(u), &watch, &e))
        return refuse(u, e.msg);
    return take_back(u, &c, w.root);
}

/* ---- the command ---- */

static void begin(struct errand *e, void *ctx)
{
    struct use *u = ctx;
    struct error why;

    u->errand = e;
    if (args_has(e->args, "--remove")) {
        errand_end(e, remove_use(u));
        return;
    }
    u->resolving = errand_resolve(e, on_resolved, u, &why);
    if (!u->resolving)
        errand_end(e, refuse(u, why.msg));
}

static void cancel(void *ctx)
{
    struct use *u = ctx;

    resolving_cancel(take_ptr(&u->resolving));
    offers_free(take_ptr(&u->offers));
    resolution_free(take_ptr(&u->res));
}

int cmd_use(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin, cancel };
    struct use u = { .global = args_has(args, "--global") };
    struct error e;

    if (args->nwords != 1)
        return cli_usage(args->command, "name one plugin or package; 'symposium status' and "
                                        "'symposium search' list them");
    if (!name_read(&u.id, str_of(args->words[0]), &e))
        return cli_usage(args->command, "%s", e.msg);
    return errand_run(a, args, &job, &u);
}
