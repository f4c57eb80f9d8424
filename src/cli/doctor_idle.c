/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What somebody wrote that does nothing here, without being wrong: the questions that begin
 * with "why is there no ...". */
#include "base/file.h"
#include "base/mem.h"
#include "cli/doctor.h"
#include "plugins/predicate.h"
#include "pm/locate.h"

#define CONDITION_MAX ((size_t)1000) /* bytes of one server's conditions that are shown */

/* ---- servers ---- */

static const struct active_server *active(const struct resolution *res, struct str name)
{
    for (size_t i = 0; i < res->servers.n; i++)
        if (str_eq(res->servers.v[i].name, name))
            return &res->servers.v[i];
    return NULL;
}

/* A server that was refused, or lost its name to another, has a line of its own. */
static bool has_line(struct arena *a, const struct strs *problems, struct str name)
{
    struct str begin = str_of(arena_printf(a, "%.*s: ", STR_F(name)));

    for (size_t i = 0; i < problems->n; i++)
        if (str_starts(problems->v[i], begin))
            return true;
    return false;
}

/* As written; several atoms of one depends-on are alternatives (PL-21). */
static void put_condition(struct buf *out, const struct predicate *p)
{
    if (!str_is(p->text, "any")) {
        buf_add(out, p->text);
        return;
    }
    for (size_t i = 0; i < p->n; i++) {
        buf_addz(out, i ? " or " : "");
        buf_add(out, p->v[i]->text);
    }
}

static void put_gated(struct findings *f, const struct server_def *s)
{
    auto_buf why = BUF(CONDITION_MAX);
    struct row row = { .type = "server", .name = s->name, .state = "gated" };

    buf_addz(&why, "does not hold here: ");
    for (size_t i = 0; i < s->gate.n; i++) {
        buf_addz(&why, i ? ", and " : "");
        put_condition(&why, s->gate.v[i]);
    }
    row.detail = arena_str(f->a, buf_str(&why));
    findings_row(f, &row);
}

void doctor_gated_servers(struct findings *f, const struct resolution *res)
{
    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin *p = res->plugins.v[i].plugin;

        for (size_t k = 0; p && k < p->servers.n; k++) {
            const struct server_def *s = &p->servers.v[k];

            if (res->plugins.v[i].state == PLUGIN_ACTIVE && s->gate.n &&
                !active(res, s->name) && !has_line(f->a, &res->problems, s->name))
                put_gated(f, s);
        }
    }
}

/* ---- tools ---- */

static bool lists(const struct toolset *tools, struct str name)
{
    for (size_t i = 0; i < tools->n; i++)
        if (str_eq(tools->v[i].name, name))
            return true;
    return false;
}

static void check_tools(struct findings *f, const struct active_server *s, const char *key,
                        const struct strs *names, const struct toolset *tools)
{
    for (size_t i = 0; i < names->n; i++)
        if (!lists(tools, names->v[i]))
            findings_note(f, str_of(arena_printf(
                                 f->a, "%.*s: %s names '%.*s', which is no tool of this server",
                                 STR_F(s->name), key, STR_F(names->v[i]))));
}

void doctor_filters(struct findings *f, const struct active_server *s,
                    const struct toolset *tools)
{
    check_tools(f, s, "enabled-tools", &s->def->enabled_tools, tools);
    check_tools(f, s, "disabled-tools", &s->def->disabled_tools, tools);
}

/* ---- configuration ---- */

static void check_registries(struct findings *f, const struct config *config)
{
    for (size_t i = 0; i < config->registries.n; i++) {
        const struct registry_config *reg = &config->registries.v[i];

        if (reg->path.n && !file_is_dir(arena_z(f->a, reg->path)))
            findings_problem(f,
                             str_of(arena_printf(f->a, "registry '%.*s': no directory '%.*s'",
                                                 STR_F(reg->name), STR_F(reg->path))),
                             "make the directory, or correct 'path' in [[registry]]");
    }
}

static bool plugin_named(const struct resolution *res, struct str name)
{
    for (size_t i = 0; i < res->plugins.n; i++)
        if (str_eq(res->plugins.v[i].name, name))
            return true;
    return false;
}

/* What `use` names and nobody has is a problem of the resolution already. */
static void check_disabled(struct findings *f, const struct resolution *res)
{
    const struct plugin_refs *refs = &res->config.disable;

    for (size_t i = 0; i < refs->n; i++)
        if (!plugin_named(res, refs->v[i].name))
            findings_note(
                f, str_of(arena_printf(
                       f->a, "[plugins] disable names '%.*s', and there is no such plugin",
                       STR_F(refs->v[i].name))));
}

/* ---- package managers that nobody configured ---- */

static bool pm_known(const struct config *config, struct str pm)
{
    bool known = !pm.n || pm_is_builtin(pm);

    for (size_t i = 0; !known && i < config->pms.n; i++)
        known = str_eq(config->pms.v[i].name, pm);
    return known;
}

static void check_conditions(struct findings *f, const struct config *config,
                             const struct predicate *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct str pm = v[i]->atom.pm;

        if (v[i]->kind == PRED_DEPENDS_ON && !pm_known(config, pm))
            findings_note(f,
                          str_of(arena_printf(
                              f->a, "'%.*s' holds nowhere: no [[package-manager]] named '%.*s'",
                              STR_F(v[i]->atom.text), STR_F(pm))));
        check_conditions(f, config, v[i]->v, v[i]->n);
    }
}

void doctor_idle(struct findings *f, const struct resolution *res)
{
    const struct config *config = &res->config;

    check_registries(f, config);
    check_disabled(f, res);
    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (st->state == PLUGIN_GATED)
            check_conditions(f, config, st->plugin->gate.v, st->plugin->gate.n);
        for (size_t k = 0; st->state == PLUGIN_ACTIVE && k < st->plugin->servers.n; k++)
            check_conditions(f, config, st->plugin->servers.v[k].gate.v,
                             st->plugin->servers.v[k].gate.n);
    }
}
