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

static bool names(const struct plugin_ref *ref, const struct plugin *p)
{
    return (!ref->pm.n || str_eq(ref->pm, p->registry)) &&
           dep_name_eq(p->registry, ref->name, p->name);
}

static const struct plugin_ref *find_ref(struct arena *a, const struct plugin_refs *refs,
                                         const struct enable_world *w, const struct plugin *p)
{
    for (size_t i = 0; i < refs->n; i++)
        if (names(&refs->v[i], p) && in_workspace(a, refs->v[i].workspace, w->root))
            return &refs->v[i];
    return NULL;
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
                p->predicates.n || gate_runs_programs(&p->gate);

    for (size_t i = 0; !runs && i < p->skills.n; i++)
        runs = gate_runs_programs(&p->skills.v[i].gate);
    for (size_t i = 0; !runs && i < p->edges.n; i++)
        runs = gate_runs_programs(&p->edges.v[i].gate);
    return runs;
}

static bool is_trusted(const struct enable_world *w, const struct plugin *p)
{
    if (p->origin != ORIGIN_WORKSPACE || !p->manifest_path.n)
        return true;
    return w->config->trust_workspace_always ||
           trust_holds(w->trust, w->root, p->manifest_sha256);
}

static const char *active_reason(struct arena *a, const struct plugin *p, bool used)
{
    if (used)
        return "[plugins] use";
    if (p->origin == ORIGIN_WORKSPACE)
        return p->subpath.n ? "workspace member" : "workspace root";
    return arena_printf(a, "registry %.*s", STR_F(p->registry));
}

struct plugin_status enablement_of(struct arena *a, const struct enable_world *w,
                                   const struct plugin *p)
{
    bool used = find_ref(a, &w->config->use, w, p) != NULL;
    struct plugin_status st = {
        .plugin = p, .name = p->name, .registry = p->registry, .trusted = is_trusted(w, p)
    };

    if (find_ref(a, &w->config->disable, w, p)) {
        st.state = PLUGIN_DECLINED;
        st.reason = STR("listed in [plugins] disable");
    } else if (p->origin == ORIGIN_REGISTRY && !p->mentions_dependency && !used) {
        st.state = PLUGIN_DORMANT;
        st.reason = STR("it names no dependency; add depends-on = [\"*\"] or list it in "
                        "[plugins] use");
    } else {
        st.state = PLUGIN_ACTIVE;
        st.reason = str_of(active_reason(a, p, used && !p->mentions_dependency));
    }
    return st;
}

struct str dormant_problem(struct arena *a, const struct plugin *p)
{
    return str_of(arena_printf(a,
                               "plugin '%.*s': dormant, it names no dependency; add depends-on "
                               "= [\"*\"] or list it in [plugins] use",
                               STR_F(p->name)));
}
