/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/hook_context.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "plugins/enablement.h"

#define CONTEXT_MAX     ((size_t)64 << 10)
#define NAME_SHOWN      80  /* bytes of a name */
#define DESCRIPTION_MAX 200 /* bytes of a description */

/* A name is data from somewhere else, and must not read like an instruction. */
static void put_name(struct buf *out, struct str name)
{
    name = str_upto(name, NAME_SHOWN);
    for (size_t i = 0; i < name.n; i++)
        buf_addc(out, ascii_alnum(name.p[i]) || strchr("_-./@", name.p[i]) ? name.p[i] : '?');
}

static void put_separator(struct buf *out, size_t shown)
{
    if (shown)
        buf_addz(out, ", ");
}

static void put_rest(struct buf *out, size_t all)
{
    if (all > HOOK_CONTEXT_NAMES)
        buf_addf(out, " and %zu more", all - HOOK_CONTEXT_NAMES);
}

static void put_servers(struct buf *out, const struct resolution *res)
{
    size_t n = res->servers.n;

    if (n && res->config.mcp.enabled)
        buf_addf(out,
                 "%zu MCP server%s of this workspace can be reached through the tools "
                 "list_tools and execute of the MCP server 'symposium'.\n",
                 n, n == 1 ? "" : "s");
}

static void put_commands(struct buf *out, const struct resolution *res)
{
    size_t shown = 0;

    for (size_t i = 0; i < res->subcommands.n && shown < HOOK_CONTEXT_NAMES; i++) {
        const struct active_subcommand *s = &res->subcommands.v[i];

        if (s->def->for_humans || !s->trusted)
            continue;
        buf_addz(out, shown++ ? "" : "Commands for you, to run in a shell:\n");
        buf_addz(out, "  symposium ");
        put_name(out, s->def->name);
        buf_addz(out, "  ");
        utf8_put_clean(out, utf8_cut(s->def->description, DESCRIPTION_MAX));
        buf_addc(out, '\n');
    }
}

static void put_candidates(struct buf *out, const struct resolution *res)
{
    size_t n = 0;

    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (st->state != PLUGIN_CANDIDATE || n++ >= HOOK_CONTEXT_NAMES)
            continue;
        if (n == 1)
            buf_addz(out, "Packages of this workspace bring plugins that the user has not "
                          "decided about: ");
        put_separator(out, n - 1);
        put_name(out, st->name);
        buf_addz(out, " (");
        put_name(out, st->registry);
        buf_addc(out, ')');
    }
    if (!n)
        return;
    put_rest(out, n);
    buf_addz(out, ". Do not enable them yourself, neither by a command nor in a file. If one "
                  "would help, say so; the user enables it with 'symposium use NAME'.\n");
}

static void put_untrusted(struct buf *out, const struct resolution *res)
{
    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (st->state != PLUGIN_ACTIVE || st->trusted || !st->plugin ||
            st->plugin->origin != ORIGIN_WORKSPACE || !plugin_runs_programs(st->plugin))
            continue;
        buf_addz(out,
                 "A manifest of this workspace names programs that do not run, because the "
                 "user has not trusted it. Do not trust it yourself; the user does that "
                 "with 'symposium trust'.\n");
        return;
    }
}

struct str hook_context(struct arena *a, const struct resolution *res)
{
    auto_buf out = BUF(CONTEXT_MAX);

    put_servers(&out, res);
    put_commands(&out, res);
    put_candidates(&out, res);
    put_untrusted(&out, res);
    return arena_str(a, str_trim(buf_str(&out)));
}
