/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* `symposium agents`: the agents server, and for it the active plugin set. */
#include "servers/agents/agents.h"

#include "base/log.h"
#include "base/path.h"
#include "cli/command.h"
#include "plugins/workspace.h"
#include "pm/resolving.h"

struct world {
    const struct dirs *dirs;
    const char *workspace;
};

static void *begin(const struct active_source *s, struct loop *l,
                   void (*done)(void *ctx, struct resolution *res), void *ctx, struct error *e)
{
    const struct world *w = s->ctx;
    const struct resolving_opts o = { .dirs = w->dirs, .start_dir = w->workspace };

    return resolving_begin(l, &o, done, ctx, e);
}

static void cancel(void *resolving)
{
    resolving_cancel(resolving);
}

int cmd_agents(struct arena *a, const struct args *args)
{
    struct config *config = ARENA_NEW(a, struct config);
    struct world world = { .workspace =
                               args->nwords ? path_expand_home(a, args->words[0]) : "." };
    const struct active_source active = { begin, cancel, &world };
    struct agents_opts o = { .workspace = world.workspace,
                             .config = config,
                             .active = &active };
    struct watch_list watch = { 0 };
    struct workspace place;
    struct dirs dirs;
    struct error e;

    if (!dirs_find(&dirs, a, &e))
        return cli_fail(EXIT_FAILED, "%s", e.msg);
    world.dirs = o.dirs = &dirs;
    o.self = path_real(a, "/proc/self/exe", NULL);
    config_load(config, &dirs, a);
    if (workspace_find(&place, world.workspace, a, &watch, &e))
        o.root = place.root;
    for (size_t i = 0; i < config->warnings.n; i++)
        log_warn("%.*s", STR_F(config->warnings.v[i]));
    return agents_run(&o);
}
