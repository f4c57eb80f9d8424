/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cli/consent.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"
#include "plugins/predicate.h"
#include "plugins/registry.h"
#include "plugins/skill_search.h"
#include "servers/agents/roster.h"

#define LINE_MAX_BYTES ((size_t)2000) /* of one command shown; more is cut, visibly */

/* The condition of a workspace's own skill may run a program, too. It is shown and agreed to as
 * a manifest is: by its text. */
static void add_skills(struct consent *c, struct arena *a, const struct plugin *owner)
{
    for (size_t i = 0; i < owner->skills.n; i++) {
        const struct skill_group *g = &owner->skills.v[i];
        struct skill_place place = { .dir = path_join(a, owner->dir.p, arena_z(a, g->path)),
                                     .home = path_real(a, owner->dir.p, NULL),
                                     .lenient = true };
        struct found_skills found = { 0 };

        if (g->path.n)
            skill_search(a, &place, &found);
        for (size_t k = 0; k < found.n; k++) {
            struct plugin *p = ARENA_NEW(a, struct plugin);

            p->name = found.v[k].name;
            p->manifest_path = str_of(found.v[k].file);
            p->manifest_sha256 = arena_str(a, str_of(found.v[k].sha256));
            p->gate = found.v[k].gate;
            if (plugin_runs_programs(p))
                ARENA_PUSH(a, &c->plugins) = p;
        }
    }
}

bool consent_find(struct consent *ret, struct arena *a, const struct dirs *dirs,
                  const char *start_dir, struct error *e)
{
    struct watch_list watch = { 0 };
    struct loaded loaded = { 0 };
    struct load_ctx load = { .a = a, .watch = &watch, .out = &loaded };
    struct trust *trust = ARENA_NEW(a, struct trust);

    *ret = (struct consent){ .trust = trust };
    config_load(&ret->config, dirs, a);
    if (!workspace_find(&ret->workspace, start_dir, a, &watch, e))
        return false;
    trust_load(trust, dirs, a);
    workspace_plugins_load(&load, &ret->workspace, ret->config.agents_syncing);
    for (size_t i = 0; i < loaded.plugins.n; i++)
        if (loaded.plugins.v[i]->manifest_path.n && plugin_runs_programs(loaded.plugins.v[i]))
            ARENA_PUSH(a, &ret->plugins) = loaded.plugins.v[i];
    for (size_t i = 0; i < loaded.plugins.n; i++)
        add_skills(ret, a, loaded.plugins.v[i]);
    for (size_t i = 0; i < loaded.failures.n; i++)
        cli_fail(EXIT_FAILED, "%.*s", STR_F(loaded.failures.v[i].reason));
    return true;
}

void consent_add_packages(struct consent *c, struct arena *a, const struct resolution *res)
{
    for (size_t i = 0; i < res->plugins.n; i++) {
        const struct plugin_status *st = &res->plugins.v[i];

        if (st->state == PLUGIN_ACTIVE && enablement_asks(c->workspace.root, st) &&
            plugin_runs_programs(st->plugin))
            ARENA_PUSH(a, &c->plugins) = st->plugin;
    }
}

/* An agent's definition as a plugin: what it starts, and where its credential goes. */
static const struct plugin *of_agent(struct arena *a, const struct agent_def *d)
{
    struct plugin *p = ARENA_NEW(a, struct plugin);

    p->name = d->name;
    p->manifest_path = str_of(d->file);
    p->manifest_sha256 = d->sha256;
    for (size_t i = 0; i < d->servers.n; i++) {
        const struct agent_server *s = &d->servers.v[i];

        if (s->active)
            ARENA_PUSH(a, &p->servers) =
                (struct server_def){ .name = s->name, .command = STR("of-a-plugin") };
        else
            ARENA_PUSH(a, &p->servers) = (struct server_def){ .name = s->name,
                                                              .command = s->command,
                                                              .builtin = s->builtin,
                                                              .url = s->url,
                                                              .args = s->args,
                                                              .env = s->env,
                                                              .headers = s->headers };
    }
    if (d->own_credential) {
        struct server_def model = { .name = STR("of the model"), .url = d->base_url };

        ARENA_PUSH(a, &model.headers) =
            (struct key_value){ STR("credential"),
                                str_of(arena_printf(a, "${%.*s}", STR_F(d->env_key))) };
        ARENA_PUSH(a, &p->servers) = model;
    }
    return p;
}

static void add_agents(struct consent *c, struct arena *a, const char *dir)
{
    const struct agent_settings settings = { &c->config.agent_models,
                                             !c->config.agents_builtin_servers };
    struct roster agents;

    if (!roster_load(&agents, a, dir, &(struct roster_opts){ .settings = &settings }, NULL))
        return;
    for (size_t i = 0; i < agents.n; i++)
        if (agent_asks(&agents.v[i]))
            ARENA_PUSH(a, &c->plugins) = of_agent(a, &agents.v[i]);
}

void consent_add_agents(struct consent *c, struct arena *a, const char *start_dir)
{
    add_agents(c, a, arena_z(a, c->workspace.root));
    if (!str_is(c->workspace.root, path_real(a, start_dir, NULL)))
        add_agents(c, a, start_dir);
}

struct str consent_place(const struct plugin *p)
{
    return p->manifest_path.n ? p->manifest_path : p->dir;
}

bool consent_given(const struct consent *c, const struct plugin *p)
{
    return c->config.trust_workspace_always ||
           trust_holds(c->trust, c->workspace.root, p->manifest_sha256);
}

size_t consent_missing(const struct consent *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->plugins.n; i++)
        n += !consent_given(c, c->plugins.v[i]);
    return n;
}

/* Taking back reaches what was agreed to before a manifest changed or went away, too. */
bool consent_set(struct arena *a, const struct dirs *dirs, const struct consent *c,
                 bool trusted, struct error *e)
{
    struct trust list = { 0 };

    for (size_t i = 0; trusted && i < c->plugins.n; i++)
        ARENA_PUSH(a, &list) =
            (struct trust_entry){ .root = c->workspace.root,
                                  .manifest = consent_place(c->plugins.v[i]),
                                  .sha256 = c->plugins.v[i]->manifest_sha256 };
    for (size_t i = 0; !trusted && i < c->trust->n; i++)
        if (str_eq(c->trust->v[i].root, c->workspace.root))
            ARENA_PUSH(a, &list) = c->trust->v[i];
    return !list.n || trust_set(dirs, list.v, list.n, trusted, e);
}

/* ---- what would run ---- */

static void add_line(struct arena *a, struct strs *ret, const struct buf *line)
{
    struct str all = buf_str(line), shown = utf8_cut(all, LINE_MAX_BYTES);

    ARENA_PUSH(a, ret) = str_of(
        arena_printf(a, "%.*s%s", STR_F(shown), shown.n < all.n || line->over ? " ..." : ""));
}

/* As a shell would be given it, so that one argument never looks like two. */
static void put_word(struct buf *line, struct str word)
{
    static const char plain[] =
        "%+,-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    bool quote = !word.n;

    for (size_t i = 0; !quote && i < word.n; i++)
        quote = !strchr(plain, word.p[i]);
    buf_addz(line, quote ? " '" : " ");
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] == '\'')
            buf_addz(line, "'\\''");
        else
            buf_addc(line, word.p[i]);
    buf_addz(line, quote ? "'" : "");
}

static void add_named(struct arena *a, struct strs *ret, const char *what, struct str name,
                      struct str command)
{
    auto_buf line = BUF(2 * LINE_MAX_BYTES);

    buf_addf(&line, "%s ", what);
    buf_add(&line, name);
    if (command.n)
        buf_addz(&line, ": ");
    buf_add(&line, command);
    add_line(a, ret, &line);
}

/* A gate's programs: shell() and custom predicates, at any depth. */
static void add_gate(struct arena *a, struct strs *ret, const struct predicate *const *v,
                     size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (v[i]->kind == PRED_SHELL || v[i]->kind == PRED_CUSTOM)
            add_named(a, ret, "condition", v[i]->text, (struct str){ 0 });
        add_gate(a, ret, v[i]->v, v[i]->n);
    }
}

static void add_server(struct arena *a, struct strs *ret, const struct server_def *s)
{
    const struct str program[] = { s->url, s->builtin, s->installation, s->command };
    auto_buf line = BUF(2 * LINE_MAX_BYTES);

    buf_addf(&line, "server %.*s:", STR_F(s->name));
    if (s->builtin.n)
        buf_addz(&line, " symposium");
    if (s->installation.n)
        buf_addz(&line, " installation");
    for (size_t i = 0; i < ARRAY_LEN(program); i++)
        if (program[i].n)
            put_word(&line, program[i]);
    for (size_t i = 0; i < s->args.n; i++)
        put_word(&line, s->args.v[i]);
    if (s->cwd.n)
        buf_addf(&line, "  (in %.*s)", STR_F(s->cwd));
    add_line(a, ret, &line);
    for (size_t i = 0; i < s->env.n; i++)
        add_named(a, ret, "  with", s->env.v[i].key, s->env.v[i].value);
    for (size_t i = 0; i < s->headers.n; i++)
        add_named(a, ret, "  with", s->headers.v[i].key, s->headers.v[i].value);
    add_gate(a, ret, s->gate.v, s->gate.n);
}

static void add_installation(struct arena *a, struct strs *ret, const struct installation *in)
{
    auto_buf line = BUF(2 * LINE_MAX_BYTES);

    buf_addf(&line, "installation %.*s:", STR_F(in->name));
    if (in->source == INSTALL_CARGO)
        buf_addf(&line, " cargo package %.*s", STR_F(in->crate));
    if (in->source == INSTALL_GITHUB)
        buf_addf(&line, " %.*s", STR_F(in->url));
    if (in->executable.n || in->script.n)
        buf_addf(&line, " %.*s", STR_F(in->script.n ? in->script : in->executable));
    for (size_t i = 0; i < in->args.n; i++)
        put_word(&line, in->args.v[i]);
    add_line(a, ret, &line);
    for (size_t i = 0; i < in->install_commands.n; i++)
        add_named(a, ret, "  install", STR("sh -c"), in->install_commands.v[i]);
}

/* What the package's own plugin runs is its affair from then on (PL-32). */
static void add_edge(struct arena *a, struct strs *ret, const struct plugin_edge *edge)
{
    auto_buf line = BUF(2 * LINE_MAX_BYTES);

    buf_addf(&line, "whatever package %.*s:%.*s", STR_F(edge->pm), STR_F(edge->name));
    if (edge->version.n)
        buf_addf(&line, " %.*s", STR_F(edge->version));
    buf_addz(&line, " brings");
    add_line(a, ret, &line);
    add_gate(a, ret, edge->gate.v, edge->gate.n);
}

void consent_lines(struct arena *a, const struct plugin *p, struct strs *ret)
{
    add_gate(a, ret, p->gate.v, p->gate.n);
    for (size_t i = 0; i < p->servers.n; i++)
        add_server(a, ret, &p->servers.v[i]);
    for (size_t i = 0; i < p->installations.n; i++)
        add_installation(a, ret, &p->installations.v[i]);
    for (size_t i = 0; i < p->hooks.n; i++) {
        add_named(a, ret, "hook", p->hooks.v[i].name, p->hooks.v[i].command);
        add_gate(a, ret, p->hooks.v[i].gate.v, p->hooks.v[i].gate.n);
    }
    for (size_t i = 0; i < p->subcommands.n; i++) {
        add_named(a, ret, "subcommand", p->subcommands.v[i].name, p->subcommands.v[i].command);
        add_gate(a, ret, p->subcommands.v[i].gate.v, p->subcommands.v[i].gate.n);
    }
    for (size_t i = 0; i < p->predicates.n; i++)
        add_named(a, ret, "predicate", p->predicates.v[i].name, p->predicates.v[i].command);
    for (size_t i = 0; i < p->skills.n; i++)
        add_gate(a, ret, p->skills.v[i].gate.v, p->skills.v[i].gate.n);
    for (size_t i = 0; i < p->edges.n; i++)
        add_edge(a, ret, &p->edges.v[i]);
}

/* ---- the question ---- */

static void show_one(FILE *f, struct arena *a, const struct consent *c, const struct plugin *p)
{
    struct strs lines = { 0 };

    consent_lines(a, p, &lines);
    fputs(out_paint(f, PAINT_BOLD), f);
    out_put_words(f, consent_place(p));
    fprintf(f, "%s%s\n", out_paint(f, PAINT_OFF), consent_given(c, p) ? " (trusted)" : "");
    for (size_t i = 0; i < lines.n; i++) {
        auto_buf clean = BUF(4 * LINE_MAX_BYTES);

        utf8_put_clean(&clean, lines.v[i]);
        fprintf(f, "  %s\n", buf_z(&clean));
    }
}

void consent_show(FILE *f, struct arena *a, const struct consent *c, bool all)
{
    fputs("What this workspace may run:\n\n", f);
    for (size_t i = 0; i < c->plugins.n; i++)
        if (all || !consent_given(c, c->plugins.v[i]))
            show_one(f, a, c, c->plugins.v[i]);
    fputc('\n', f);
}

bool consent_ask(const char *question)
{
    char answer[16] = "";
    struct str said;

    fprintf(stderr, "%s [y/N] ", question);
    if (!fgets(answer, sizeof answer, stdin))
        fputc('\n', stderr);
    said = str_trim(str_of(answer));
    return str_icase_eq(said, STR("y")) || str_icase_eq(said, STR("yes"));
}

void consent_offer(struct arena *a, const struct dirs *dirs, const char *start_dir)
{
    struct consent c;
    struct error e;

    if (cli.json || cli.quiet || !out_is_terminal(stdin) || !out_is_terminal(stderr))
        return;
    if (!consent_find(&c, a, dirs, start_dir, &e) || !consent_missing(&c))
        return;
    consent_show(stderr, a, &c, false);
    if (!consent_ask("Trust it?"))
        fputs("Going on without; 'symposium trust' asks again.\n", stderr);
    else if (!consent_set(a, dirs, &c, true, &e))
        cli_fail(EXIT_FAILED, "%s", e.msg);
}
