/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Plugins that packages embed: what dependencies bring, what `use` names, and what edges chain
 * to (docs/spec/plugins.md PL-10, PL-32 to PL-38). */
#include <stdlib.h>

#include "plugins/atom.h"
#include "plugins/offer.h"
#include "plugins/resolve_impl.h"
#include "text/semver.h"

#define MAX_WANT_LINES 3 /* about one package that was found all the same */

static struct package_id id_of(const struct plugin *p)
{
    return (struct package_id){ .pm = p->registry, .name = p->package, .version = p->version };
}

/* Two packages are one when their keys are equal. */
static struct str package_key(struct resolver *r, const struct package_id *id)
{
    struct arena *a = &r->res->arena;
    struct str name = dep_name_key(a, id->pm, id->name);

    return str_of(arena_printf(a, "%.*s:%.*s", STR_F(id->pm), STR_F(name)));
}

static bool is_own_dir(const struct workspace *ws, struct str dir)
{
    if (str_eq(dir, ws->root))
        return true;
    for (size_t i = 0; i < ws->members.n; i++)
        if (str_eq(dir, ws->members.v[i]))
            return true;
    return false;
}

/* What any answer brings besides offers. The text of problems is not kept. */
static void take_rest(struct resolver *r, const struct package_offers *found)
{
    for (size_t i = 0; i < found->nwatch; i++)
        watch_add(&r->watch, &r->res->arena, arena_z(&r->res->arena, found->watch[i]));
    r->res->pm_degraded |= found->degraded;
}

/* ---- what dependencies embed ---- */

static int by_package(const void *a, const void *b)
{
    const struct plugin *x = *(const struct plugin *const *)a,
                        *y = *(const struct plugin *const *)b;
    struct semver vx, vy;
    int order = str_cmp(x->registry, y->registry);

    if (order == 0)
        order = str_cmp(x->package, y->package);
    if (order == 0 && semver_parse(&vx, x->version, NULL) &&
        semver_parse(&vy, y->version, NULL))
        order = semver_cmp(&vy, &vx); /* the newest first */
    return order ? order : str_cmp(y->version, x->version);
}

static bool wanted_by_lists(struct resolver *r, const struct package_offer *o)
{
    const struct plugin p = { .origin = ORIGIN_PACKAGE,
                              .registry = o->id.pm,
                              .package = o->id.name,
                              .version = o->id.version,
                              .name = o->id.name };

    return enablement_of(&r->res->arena, &r->enable, &p).state == PLUGIN_ACTIVE;
}

static void drop_offer(struct resolver *r, const struct package_offer *o,
                       const struct error *why)
{
    struct arena *a = &r->res->arena;
    struct str text = package_text(a, &o->id);

    if (!package_declined(&r->enable, &o->id))
        add_failed(r, text, arena_str(a, o->id.pm),
                   str_of(arena_printf(a, "skipping %.*s: %s", STR_F(text), why->msg)),
                   wanted_by_lists(r, o));
}

static void take_offer(struct resolver *r, const struct package_offer *o)
{
    struct error why = { 0 };
    struct plugin *p = offer_plugin(&r->res->arena, o, &why);

    if (!p)
        drop_offer(r, o, &why);
    else if (!is_own_dir(&r->res->workspace, p->dir)) /* it is there as the workspace's own */
        ARENA_PUSH(&r->res->arena, &r->offered) = p;
}

static void sort_offered(struct resolver *r)
{
    struct plugins *l = &r->offered;
    size_t kept = 0;

    if (l->n == 0)
        return;
    qsort(l->v, l->n, sizeof *l->v, by_package);
    for (size_t i = 1; i < l->n; i++)
        if (!str_eq(l->v[i]->registry, l->v[kept]->registry) ||
            !dep_name_eq(l->v[i]->registry, l->v[i]->package, l->v[kept]->package))
            l->v[++kept] = l->v[i];
    l->n = kept + 1;
}

/* ---- packages asked for by name ---- */

static void on_load(void *arg, const struct package_offers *found)
{
    struct want *w = arg;
    struct resolver *r = w->r;
    struct arena *a = &r->res->arena;

    take_rest(r, found);
    for (size_t i = 0; i < found->nproblems; i++)
        ARENA_PUSH(a, &w->problems) = arena_str(a, found->problems[i]);
    for (size_t i = 0; i < found->n; i++) {
        struct error why = { 0 };
        struct plugin *p = NULL;

        if (offer_answers(&found->v[i], &w->id, &why))
            p = offer_plugin(a, &found->v[i], &why);
        if (p)
            ARENA_PUSH(a, &w->found) = p;
        else
            ARENA_PUSH(a, &w->problems) = arena_str(a, str_of(why.msg));
    }
    if (--r->waiting)
        return;
    if (r->decided)
        edges_run(r);
    else
        decide(r);
}

static struct plugin_status *status_of(struct resolver *r, const struct plugin *p)
{
    for (size_t i = 0; i < r->res->plugins.n; i++)
        if (r->res->plugins.v[i].plugin == p)
            return &r->res->plugins.v[i];
    return NULL;
}

static void add_want(struct resolver *r, const struct package_id *id, const struct plugin *from)
{
    struct want *w = ARENA_NEW(&r->res->arena, struct want);

    *w = (struct want){ .r = r, .id = *id, .from = from };
    w->local = from && !status_of(r, from)->trusted;
    ARENA_PUSH(&r->res->arena, &r->wants) = w;
}

/* All answers may come in any order; they are looked at in the order of the wants. False: none
 * has to be waited for. */
static bool ask_wants(struct resolver *r)
{
    size_t open = 0;

    for (size_t i = 0; i < r->wants.n; i++)
        open += !r->wants.v[i]->found.n;
    r->waiting = open;
    for (size_t i = 0; i < r->wants.n; i++)
        if (!r->wants.v[i]->found.n)
            r->packages.load(r->packages.ctx, &r->wants.v[i]->id, r->wants.v[i]->local, on_load,
                             r->wants.v[i]);
    return open != 0;
}

static struct str want_line(struct resolver *r, const struct want *w, struct str reason)
{
    struct arena *a = &r->res->arena;
    struct str text = package_text(a, &w->id), who = STR("[plugins] use");

    if (w->from)
        who = str_of(arena_printf(a, "plugin '%.*s'", STR_F(w->from->name)));
    return str_of(
        arena_printf(a, "%.*s: package %.*s: %.*s", STR_F(who), STR_F(text), STR_F(reason)));
}

static void want_failed(struct resolver *r, const struct want *w)
{
    struct str reason = w->problems.n ? w->problems.v[0] : STR("nothing found");

    add_failed(r, package_text(&r->res->arena, &w->id), w->id.pm, want_line(r, w, reason),
               true);
}

/* What else was said about it does not go under, such as that an older answer is used. */
static void want_reported(struct resolver *r, const struct want *w)
{
    for (size_t i = 0; i < w->problems.n && i < MAX_WANT_LINES; i++)
        add_problem(r, want_line(r, w, w->problems.v[i]));
}

/* ---- `use` of what is not there ---- */

static bool any_named(const struct plugin_ref *ref, const struct plugins *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (ref_names(ref, l->v[i]))
            return true;
    return false;
}

static bool is_registry(const struct config *c, struct str name)
{
    for (size_t i = 0; i < c->registries.n; i++)
        if (str_eq(c->registries.v[i].name, name))
            return true;
    return str_is(name, "user-plugins") || str_is(name, "symposium-recommendations") ||
           str_is(name, "workspace");
}

static void want_used(struct resolver *r, const struct plugin_ref *ref)
{
    struct package_id id = { .pm = ref->pm, .name = ref->name };

    if (!use_in_scope(&r->res->arena, &r->enable, ref) ||
        is_registry(&r->res->config, ref->pm) || any_named(ref, &r->loaded.plugins) ||
        any_named(ref, &r->offered) || package_declined(&r->enable, &id))
        return;
    add_want(r, &id, NULL);
}

static void find_used(struct resolver *r)
{
    const struct plugin_refs *use = &r->res->config.use;

    for (size_t i = 0; i < use->n; i++)
        want_used(r, &use->v[i]);
    if (!ask_wants(r))
        decide(r);
}

static void on_offers(void *arg, const struct package_offers *found)
{
    struct resolver *r = arg;

    r->asking = false;
    take_rest(r, found);
    for (size_t i = 0; i < found->nproblems; i++)
        add_problem(r, found->problems[i]);
    for (size_t i = 0; i < found->n; i++)
        take_offer(r, &found->v[i]);
    sort_offered(r);
    find_used(r);
}

void packages_find(struct resolver *r)
{
    r->asking = r->packages.offers != NULL;
    if (r->asking)
        r->packages.offers(r->packages.ctx, &r->res->deps, on_offers, r);
    else
        decide(r);
}

/* ---- enablement ---- */

/* The plugin that a registry offers under a package's name and that takes its place (PL-36). */
static const struct plugin *suppressor(const struct resolver *r, const struct plugin *package)
{
    for (size_t i = 0; i < r->loaded.plugins.n; i++) {
        const struct plugin *p = r->loaded.plugins.v[i];

        if (p->origin == ORIGIN_REGISTRY &&
            dep_name_eq(package->registry, p->name, package->package))
            return p;
    }
    return NULL;
}

static bool is_suppressed(struct resolver *r, const struct plugin *package,
                          const struct plugin_status *st)
{
    const struct plugin *p = suppressor(r, package);

    if (p && is_active(st))
        add_warning(r, str_of(arena_printf(&r->res->arena,
                                           "package %.*s:%.*s is left out: registry '%.*s' has "
                                           "a plugin of this name",
                                           STR_F(package->registry), STR_F(package->package),
                                           STR_F(p->registry))));
    return p != NULL;
}

static void take_used(struct resolver *r)
{
    for (size_t i = 0; i < r->wants.n; i++) {
        const struct want *w = r->wants.v[i];

        for (size_t k = 0; k < w->found.n; k++)
            if (!is_own_dir(&r->res->workspace, w->found.v[k]->dir))
                ARENA_PUSH(&r->res->arena, &r->offered) = w->found.v[k];
        (w->found.n ? want_reported : want_failed)(r, w);
    }
    r->wants.n = 0;
    sort_offered(r);
}

void packages_decide(struct resolver *r)
{
    size_t kept = 0;

    take_used(r);
    for (size_t i = 0; i < r->offered.n; i++) {
        const struct plugin *p = r->offered.v[i];
        struct package_id id = id_of(p);
        struct plugin_status st = enablement_of(&r->res->arena, &r->enable, p);

        if (is_suppressed(r, p, &st))
            continue;
        r->offered.v[kept++] = p;
        add_status(r, &st);
        if (is_active(&st))
            map_put(&r->visited, package_key(r, &id), r);
    }
    r->offered.n = kept;
}

/* ---- edges ---- */

/* The dependency's own offer is at hand: no need to ask for it. */
static const struct plugin *offered_as(struct resolver *r, const struct package_id *id)
{
    for (size_t i = 0; i < r->offered.n; i++) {
        const struct plugin *p = r->offered.v[i];
        struct package_offer o = { .id = id_of(p) };

        if (offer_answers(&o, id, NULL))
            return p;
    }
    return NULL;
}

static void add_declined(struct resolver *r, const struct plugin *from,
                         const struct package_id *id)
{
    struct plugin_status st = { .name = id->name,
                                .registry = id->pm,
                                .state = PLUGIN_DECLINED,
                                .reason = STR(DECLINED_REASON),
                                .chained_from = from };

    if (!offered_as(r, &(struct package_id){ .pm = id->pm, .name = id->name }))
        add_status(r, &st);
}

static void follow(struct resolver *r, const struct plugin *from,
                   const struct plugin_edge *edge)
{
    struct package_id id = { .pm = edge->pm, .name = edge->name, .version = edge->version };
    const struct plugin *offered;

    if (map_put(&r->visited, package_key(r, &id), r))
        return;
    if (package_declined(&r->enable, &id)) {
        add_declined(r, from, &id);
        return;
    }
    if (r->edges++ == RESOLVE_MAX_EDGES)
        add_problem(r, str_of(arena_printf(&r->res->arena,
                                           "plugins chain to more than %d packages; the rest "
                                           "is left out",
                                           RESOLVE_MAX_EDGES)));
    if (r->edges > RESOLVE_MAX_EDGES)
        return;
    add_want(r, &id, from);
    offered = offered_as(r, &id);
    if (offered)
        ARENA_PUSH(&r->res->arena, &r->wants.v[r->wants.n - 1]->found) = offered;
}

static void hide_candidate(struct resolver *r, const struct package_id *id)
{
    for (size_t i = 0; i < r->res->plugins.n; i++) {
        const struct plugin_status *st = &r->res->plugins.v[i];

        if (st->state == PLUGIN_CANDIDATE && str_eq(st->registry, id->pm) &&
            dep_name_eq(id->pm, st->name, id->name))
            r->nodes.v[i].gone = true;
    }
}

/* What this round's edges brought, as new rows. */
static void take_chained(struct resolver *r)
{
    for (size_t i = 0; i < r->wants.n; i++) {
        const struct want *w = r->wants.v[i];
        struct plugin_status st;

        (w->found.n ? want_reported : want_failed)(r, w);
        if (w->found.n && !is_own_dir(&r->res->workspace, w->found.v[0]->dir)) {
            st = enablement_chained(&r->res->arena, &r->enable, w->found.v[0],
                                    status_of(r, w->from));
            hide_candidate(r, &w->id);
            add_status(r, &st);
        }
    }
    r->wants.n = 0;
}

static void refuse_edge(struct resolver *r, const struct plugin *from,
                        const struct plugin_edge *edge)
{
    add_problem(r, str_of(arena_printf(&r->res->arena,
                                       "package %.*s:%.*s of plugin '%.*s': " UNTRUSTED_REASON,
                                       STR_F(edge->pm), STR_F(edge->name), STR_F(from->name))));
}

static void on_edge_gates(void *ctx)
{
    struct resolver *r = ctx;

    for (size_t i = 0; i < r->jobs.n; i++) {
        const struct plugin *from = r->res->plugins.v[r->edge_refs.v[i].plugin].plugin;

        if (r->jobs.v[i].holds)
            follow(r, from, r->edge_refs.v[i].edge);
        else if (r->jobs.v[i].refused)
            refuse_edge(r, from, r->edge_refs.v[i].edge);
    }
    if (!ask_wants(r))
        edges_run(r);
}

/* Edges of active plugins that were not looked at. Trusted ones go first, all the way: so a
 * package that both sorts reach is trusted, whatever the order. */
static void add_edges(struct resolver *r, bool trusted)
{
    for (size_t i = 0; i < r->res->plugins.n; i++) {
        const struct plugin_status *st = &r->res->plugins.v[i];

        if (!is_active(st) || r->nodes.v[i].followed || st->trusted != trusted)
            continue;
        r->nodes.v[i].followed = true;
        for (size_t k = 0; k < st->plugin->edges.n; k++) {
            add_job(r, &st->plugin->edges.v[k].gate, st);
            ARENA_PUSH(&r->res->arena, &r->edge_refs) =
                (struct edge_ref){ .plugin = i, .edge = &st->plugin->edges.v[k] };
        }
    }
}

void edges_run(struct resolver *r)
{
    take_chained(r);
    if (r->gated < r->res->plugins.n) {
        gates_run(r);
        return;
    }
    r->jobs.n = r->edge_refs.n = 0;
    if (r->packages.load) {
        add_edges(r, true);
        if (!r->jobs.n)
            add_edges(r, false);
    }
    if (r->jobs.n)
        evaluator_run(r->eval, r->jobs.v, r->jobs.n, on_edge_gates, r);
    else
        parts_run(r);
}

void packages_drop(struct resolver *r)
{
    if (r->asking)
        r->packages.drop(r->packages.ctx, r);
    for (size_t i = 0; r->waiting && i < r->wants.n; i++)
        r->packages.drop(r->packages.ctx, r->wants.v[i]);
}
