/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/enablement.h"

#include "base/path.h"
#include "plugins/predicate.h"

static bool in_workspace(struct arena *a, struct str scope, struct str root)
{
    const char *real;

    if (!scope.n || str_eq(scope, root))
        return true;
    real = path_real(a, arena_z(a, scope), NULL);
    return real && str_eq(str_of(real), root);
}

/* The user's name for it. */
static struct str own_name(const struct plugin *p)
{
    return p->origin == ORIGIN_PACKAGE ? p->package : p->name;
}

bool ref_names(const struct plugin_ref *ref, const struct plugin *p)
{
    return (!ref->pm.n || str_eq(ref->pm, p->registry)) &&
           dep_name_eq(p->registry, ref->name, own_name(p));
}

bool use_in_scope(struct arena *a, const struct enable_world *w, const struct plugin_ref *ref)
{
    return in_workspace(a, ref->workspace, w->root);
}

static bool is_used(struct arena *a, const struct enable_world *w, const struct plugin *p)
{
    const struct plugin_refs *l = &w->config->use;

    for (size_t i = 0; i < l->n; i++)
        if (ref_names(&l->v[i], p) && use_in_scope(a, w, &l->v[i]))
            return true;
    return false;
}

static bool is_dependency(const struct enable_world *w, const struct plugin *p)
{
    for (size_t i = 0; i < w->deps->n; i++) {
        const struct dep *d = &w->deps->v[i];

        if (str_eq(d->pm, p->registry) && dep_name_eq(d->pm, d->name, p->package) &&
            (str_is(d->version, "*") || str_eq(d->version, p->version)))
            return true;
    }
    return false;
}

/* Existing dependencies only (PL-33); "*" means all of them (CF-3). */
static bool is_auto_enabled(const struct enable_world *w, const struct plugin *p)
{
    const struct plugin_refs *l = &w->config->auto_enable;

    if (p->origin != ORIGIN_PACKAGE || !l->n || !is_dependency(w, p))
        return false;
    for (size_t i = 0; i < l->n; i++) {
        const struct plugin_ref *ref = &l->v[i];
        bool any = str_is(ref->name, "*") && (!ref->pm.n || str_eq(ref->pm, p->registry));

        if (any || ref_names(ref, p))
            return true;
    }
    return false;
}

/* What a package's manifest calls itself counts, too: a user who disables a name means it. */
static bool is_disabled(const struct enable_world *w, const struct plugin *p)
{
    const struct plugin_refs *l = &w->config->disable;

    for (size_t i = 0; i < l->n; i++)
        if (ref_names(&l->v[i], p) || ((!l->v[i].pm.n || str_eq(l->v[i].pm, p->registry)) &&
                                       str_eq(l->v[i].name, p->name)))
            return true;
    return false;
}

bool package_declined(const struct enable_world *w, const struct package_id *id)
{
    const struct plugin p = { .origin = ORIGIN_PACKAGE,
                              .registry = id->pm,
                              .package = id->name };

    return is_disabled(w, &p);
}

static bool runs_shell(const struct predicate *pred)
{
    if (pred->kind == PRED_SHELL || pred->kind == PRED_CUSTOM)
        return true;
    for (size_t i = 0; i < pred->n; i++)
        if (runs_shell(pred->v[i]))
            return true;
    return false;
}

static bool gate_runs_programs(const struct gate *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (runs_shell(g->v[i]))
            return true;
    return false;
}

bool plugin_runs_programs(const struct plugin *p)
{
    bool runs = p->servers.n || p->hooks.n || p->installations.n || p->subcommands.n ||
                p->predicates.n || p->edges.n || gate_runs_programs(&p->gate);

    for (size_t i = 0; !runs && i < p->skills.n; i++)
        runs = gate_runs_programs(&p->skills.v[i].gate);
    return runs;
}

static bool has_consent(const struct enable_world *w, const struct plugin *p)
{
    return w->config->trust_workspace_always ||
           trust_holds(w->trust, w->root, p->manifest_sha256);
}

static bool is_trusted(const struct enable_world *w, const struct plugin *p)
{
    return p->origin != ORIGIN_WORKSPACE || !p->manifest_path.n || has_consent(w, p);
}

static bool lies_in(struct str root, const struct plugin *p)
{
    return str_starts(p->dir, root) &&
           (p->dir.n == root.n || p->dir.p[root.n] == '/' || str_is(root, "/"));
}

bool enablement_asks(struct str root, const struct plugin_status *st)
{
    return st->chained_from && st->plugin && lies_in(root, st->plugin) &&
           !lies_in(root, st->chained_from);
}

static const char *active_reason(struct arena *a, const struct plugin *p, bool used)
{
    if (used)
        return "[plugins] use";
    if (p->origin == ORIGIN_PACKAGE)
        return "[plugins] auto-enable";
    if (p->origin == ORIGIN_WORKSPACE)
        return p->subpath.n ? "workspace member" : "workspace root";
    return arena_printf(a, "registry %.*s", STR_F(p->registry));
}

/* `use` is the reason only where nothing else would be. */
static bool sleeps_without_use(const struct enable_world *w, const struct plugin *p)
{
    switch (p->origin) {
    case ORIGIN_REGISTRY:
        return !p->mentions_dependency;
    case ORIGIN_WORKSPACE:
        return false;
    case ORIGIN_PACKAGE:
        return !is_auto_enabled(w, p);
    }
    return true;
}

static struct str candidate_reason(struct arena *a, const struct plugin *p)
{
    return str_of(arena_printf(a,
                               "embedded in %.*s:%.*s %.*s; 'symposium use %.*s' enables it, "
                               "[plugins] disable hides it",
                               STR_F(p->registry), STR_F(p->package), STR_F(p->version),
                               STR_F(p->package)));
}

struct plugin_status enablement_of(struct arena *a, const struct enable_world *w,
                                   const struct plugin *p)
{
    bool sleeps = sleeps_without_use(w, p), used = is_used(a, w, p);
    struct plugin_status st = { .plugin = p, .name = own_name(p), .registry = p->registry };

    if (is_disabled(w, p)) {
        st.state = PLUGIN_DECLINED;
        st.reason = STR(DECLINED_REASON);
    } else if (!sleeps || used) {
        st.state = PLUGIN_ACTIVE;
        st.reason = str_of(active_reason(a, p, used && sleeps));
    } else if (p->origin == ORIGIN_PACKAGE) {
        st.state = PLUGIN_CANDIDATE;
        st.reason = candidate_reason(a, p);
    } else {
        st.state = PLUGIN_DORMANT;
        st.reason = STR("it names no dependency; add depends-on = [\"*\"] or list it in "
                        "[plugins] use");
    }
    st.trusted = (p->origin != ORIGIN_PACKAGE || st.state == PLUGIN_ACTIVE) && is_trusted(w, p);
    return st;
}

struct plugin_status enablement_chained(struct arena *a, const struct enable_world *w,
                                        const struct plugin *p,
                                        const struct plugin_status *from)
{
    struct plugin_status st = {
        .plugin = p, .name = own_name(p), .registry = p->registry, .chained_from = from->plugin
    };

    if (is_disabled(w, p)) {
        st.state = PLUGIN_DECLINED;
        st.reason = STR(DECLINED_REASON);
        return st;
    }
    st.state = PLUGIN_ACTIVE;
    st.reason = str_of(arena_printf(a, "chained from %.*s", STR_F(from->name)));
    st.trusted = from->trusted && (!enablement_asks(w->root, &st) || has_consent(w, p));
    return st;
}

struct str dormant_problem(struct arena *a, const struct plugin *p)
{
    return str_of(arena_printf(a,
                               "plugin '%.*s': dormant, it names no dependency; add depends-on "
                               "= [\"*\"] or list it in [plugins] use",
                               STR_F(p->name)));
}
