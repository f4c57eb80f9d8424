/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Skill groups, edges, hooks, subcommands, custom predicates: PL-9, PL-10, PL-13 to PL-15. */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "plugins/atom.h"
#include "plugins/manifest_impl.h"
#include "text/semver.h"

/* ---- [[skills]] ---- */

static bool read_group_path(struct manifest_reader *r, const struct toml_val *at,
                            struct str *path)
{
    const char *clean = path_clean(r->a, arena_z(r->a, *path));

    if (path_is_abs(clean) || strcmp(clean, "..") == 0 || str_starts(str_of(clean), STR("../")))
        return toml_fail(r->e, at, "must stay beneath the manifest's directory");
    *path = str_of(clean);
    return true;
}

static bool read_group_source(struct manifest_reader *r, const struct toml_val *t,
                              struct skill_group *group)
{
    static const char *const known[] = { "path", "git", NULL };
    const struct toml_val *source = toml_get(t, "source");

    if (!source)
        return toml_fail(r->e, t, "needs a 'source': { path = \"..\" } or { git = \"..\" }");
    if (toml_is(source, TOML_STRING) || toml_get(source, "crate") ||
        toml_get(source, "crate_path"))
        return toml_fail(r->e, source,
                         "no longer names a package: use [[plugins]] with "
                         "source = { cargo = \"name\" }, whose skills come along");
    if (!toml_is(source, TOML_TABLE))
        return toml_fail(r->e, source, "must be a table with 'path' or 'git'");
    if (!toml_known_only(source, known, r->e) ||
        !toml_opt_str(source, "path", &group->path, r->e) ||
        !toml_opt_str(source, "git", &group->git, r->e))
        return false;
    if ((group->path.n != 0) == (group->git.n != 0))
        return toml_fail(r->e, source, "needs exactly one of 'path' and 'git'");
    return !group->path.n || read_group_path(r, toml_get(source, "path"), &group->path);
}

bool read_skill_group(struct manifest_reader *r, const struct toml_val *t)
{
    static const char *const known[] = { "depends-on", "predicates", "source", NULL };
    struct skill_group group = { 0 };

    if (!table_known(r, t, known) || !table_gate(r, t, &group.gate) ||
        !read_group_source(r, t, &group))
        return false;
    ARENA_PUSH(r->a, &r->p->skills) = group;
    return true;
}

/* ---- [[plugins]] ---- */

/* The requirement of an atom (PL-18) as all others read it: "=1.0" is "^1.0", "==1.0" is
 * "=1.0".
 */
static struct str plain_requirement(struct arena *a, struct str text)
{
    auto_buf b = BUF(2 * ATOM_MAX_BYTES);

    for (size_t i = 0; i < text.n; i++) {
        bool first = i == 0 || text.p[i - 1] == ',';

        if (!first || text.p[i] != '=')
            buf_addc(&b, text.p[i]);
        else if (i + 1 == text.n || text.p[i + 1] != '=')
            buf_addc(&b, '^');
    }
    return arena_str(a, buf_str(&b));
}

static bool edge_from_atom(struct manifest_reader *r, const struct toml_val *v,
                           struct plugin_edge *edge)
{
    struct atom atom;
    struct error why;

    if (!atom_parse(r->a, toml_str(v), &atom, &why))
        return toml_fail(r->e, v, "is wrong: %s", why.msg);
    if (atom.pm.n)
        return toml_fail(r->e, v, "must not name a package manager again");
    edge->name = atom.name;
    edge->version = plain_requirement(r->a, str_trim(str_from(atom.text, atom.name.n)));
    return true;
}

static bool edge_from_table(struct manifest_reader *r, const struct toml_val *v,
                            struct plugin_edge *edge)
{
    static const char *const known[] = { "name", "version", NULL };
    struct semver_req req;
    struct error why;

    if (toml_len(v) == 1 && !toml_get(v, "name") && !toml_get(v, "version"))
        return toml_fail(
            r->e, v, "is not a dependency table; write { name = \"%.*s\", version = \"..\" }",
            STR_F(toml_at(v, 0)->key));
    if (!toml_known_only(v, known, r->e) || !table_required(r, v, "name", &edge->name) ||
        !toml_opt_str(v, "version", &edge->version, r->e))
        return false;
    if (str_is(edge->version, "*"))
        edge->version = (struct str){ 0 };
    if (edge->version.n && !semver_req_parse(&req, edge->version, &why))
        return toml_fail(r->e, toml_get(v, "version"), "is wrong: %s", why.msg);
    return true;
}

static bool check_edge(struct manifest_reader *r, const struct toml_val *v,
                       const struct plugin_edge *edge)
{
    return !str_is(edge->name, "*") || toml_fail(r->e, v, "must name one package, not '*'");
}

static bool read_edge_source(struct manifest_reader *r, const struct toml_val *t,
                             struct plugin_edge *edge)
{
    const struct toml_val *source = toml_get(t, "source"), *v = toml_at(source, 0);

    if (!toml_is(source, TOML_TABLE) || toml_len(source) != 1)
        return toml_fail(r->e, source ? source : t,
                         "needs a 'source' with one package manager: { cargo = \"name\" }");
    if (str_is(v->key, "git") || str_is(v->key, "path"))
        return toml_fail(r->e, v, "is no source of a plugin: a package manager is required");
    if (!pm_name_valid(v->key))
        return toml_fail(r->e, v, "is no name of a package manager");
    edge->pm = v->key;
    if (toml_is(v, TOML_STRING))
        return edge_from_atom(r, v, edge) && check_edge(r, v, edge);
    if (toml_is(v, TOML_TABLE))
        return edge_from_table(r, v, edge) && check_edge(r, v, edge);
    return toml_fail(r->e, v, "must be a string or { name, version }");
}

bool read_edge(struct manifest_reader *r, const struct toml_val *t)
{
    static const char *const known[] = { "depends-on", "predicates", "source", NULL };
    struct plugin_edge edge = { 0 };

    if (!table_known(r, t, known) || !table_gate(r, t, &edge.gate) ||
        !read_edge_source(r, t, &edge))
        return false;
    ARENA_PUSH(r->a, &r->p->edges) = edge;
    return true;
}

/* ---- [[hooks]] ---- */

static bool one_of(struct manifest_reader *r, const struct toml_val *t, const char *key,
                   const char *const *names, int *ret)
{
    struct str text = { 0 };
    auto_buf all = BUF(256);

    if (!toml_opt_str(t, key, &text, r->e))
        return false;
    if (!toml_get(t, key))
        return true;
    for (int i = 0; names[i]; i++) {
        if (str_is(text, names[i])) {
            *ret = i;
            return true;
        }
        buf_addf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    return toml_fail(r->e, toml_get(t, key), "must be one of: %s", buf_z(&all));
}

static const char *const hook_events[] = {
    [HOOK_PRE_TOOL_USE] = "PreToolUse",
    [HOOK_POST_TOOL_USE] = "PostToolUse",
    [HOOK_USER_PROMPT_SUBMIT] = "UserPromptSubmit",
    [HOOK_SESSION_START] = "SessionStart",
    [HOOK_STOP] = "Stop",
    NULL,
};
static const char *const hook_formats[] = { "symposium", "claude", "codex", "copilot",
                                            "gemini",    "kiro",   NULL };

static bool read_hook_run(struct manifest_reader *r, const struct toml_val *t,
                          struct hook *hook)
{
    const struct toml_val *command = toml_get(t, "command");

    if (!command)
        return toml_fail(r->e, t, "needs a 'command'");
    if (!table_installation_ref(r, command, hook->name, &hook->command) ||
        !table_requirements(r, t, hook->name, &hook->requirements) ||
        !table_strings(r, t, "args", &hook->args) ||
        !toml_opt_str(t, "executable", &hook->executable, r->e) ||
        !toml_opt_str(t, "script", &hook->script, r->e))
        return false;
    if (hook->executable.n && hook->script.n)
        return toml_fail(r->e, t, "has both 'executable' and 'script'");
    return true;
}

bool read_hook(struct manifest_reader *r, const struct toml_val *t)
{
    static const char *const known[] = { "name",    "event",        "command",    "agent",
                                         "matcher", "requirements", "executable", "script",
                                         "args",    "format",       "predicates", NULL };
    struct hook hook = { 0 };
    int event = -1, format = 0;

    if (toml_get(t, "depends-on"))
        return toml_fail(r->e, toml_get(t, "depends-on"),
                         "is no key of a hook; use predicates = [\"depends-on(..)\"]");
    if (!table_known(r, t, known) || !table_required(r, t, "name", &hook.name) ||
        !one_of(r, t, "event", hook_events, &event) ||
        !one_of(r, t, "format", hook_formats, &format) ||
        !toml_opt_str(t, "agent", &hook.agent, r->e) ||
        !toml_opt_str(t, "matcher", &hook.matcher, r->e) || !table_gate(r, t, &hook.gate) ||
        !read_hook_run(r, t, &hook))
        return false;
    if (event < 0)
        return toml_fail(r->e, t, "needs an 'event'");
    hook.event = (enum hook_event)event;
    hook.format = str_of(hook_formats[format]);
    ARENA_PUSH(r->a, &r->p->hooks) = hook;
    return true;
}

/* ---- [subcommand.NAME] ---- */

static bool is_builtin_command(struct str name)
{
    static const char *const names[] = {
        "init",   "sync",   "trust",      "search",       "use",        "status",
        "plugin", "hook",   "mcp-serve",  "package-info", "crate-info", "filesystem",
        "fetch",  "memory", "shell",      "skills",       "agents",     "symm",
        "task",   "tools",  "call",       "exec",         "import",     "doctor",
        "worker", "help",   "completion", "keeper",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static bool check_subcommand_name(struct manifest_reader *r, const struct toml_val *t)
{
    if (t->key.n == 0)
        return toml_fail(r->e, t, "needs a name");
    for (size_t i = 0; i < t->key.n; i++)
        if (!ascii_alnum(t->key.p[i]) && t->key.p[i] != '-' && t->key.p[i] != '_')
            return toml_fail(r->e, t, "must consist of letters, digits, '-' and '_'");
    if (is_builtin_command(t->key))
        return toml_fail(r->e, t, "is a command of symposium itself");
    return true;
}

bool read_subcommand(struct manifest_reader *r, const struct toml_val *t)
{
    static const char *const known[] = { "description", "audience",   "command",
                                         "depends-on",  "predicates", NULL };
    static const char *const audiences[] = { "agents", "humans", NULL };
    struct subcommand sub = { .name = t->key };
    int audience = 0;

    if (!toml_is(t, TOML_TABLE))
        return toml_fail(r->e, t, "must be a table");
    if (!check_subcommand_name(r, t) || !table_known(r, t, known) ||
        !table_required(r, t, "description", &sub.description) ||
        !table_required(r, t, "command", &sub.command) ||
        !one_of(r, t, "audience", audiences, &audience) || !table_gate(r, t, &sub.gate))
        return false;
    if (sub.description.n > MANIFEST_MAX_DESCRIPTION)
        return toml_fail(r->e, toml_get(t, "description"), "is longer than %d bytes",
                         MANIFEST_MAX_DESCRIPTION);
    sub.for_humans = audience == 1;
    ARENA_PUSH(r->a, &r->p->subcommands) = sub;
    return true;
}

/* ---- [[predicate]] ---- */

bool read_predicate(struct manifest_reader *r, const struct toml_val *t)
{
    static const char *const known[] = { "name", "command", "args", NULL };
    struct custom_predicate pred = { .owner = r->p };
    struct error why;
    const char *inline_name;

    if (!table_known(r, t, known) || !table_required(r, t, "name", &pred.name))
        return false;
    if (!predicate_custom_name(pred.name, &why))
        return toml_fail(r->e, toml_get(t, "name"), "is wrong: %s", why.msg);
    if (!toml_get(t, "command"))
        return toml_fail(r->e, t, "needs a 'command'");
    inline_name = arena_printf(r->a, "__pred_%.*s", STR_F(pred.name));
    if (!table_installation_ref(r, toml_get(t, "command"), str_of(inline_name),
                                &pred.command) ||
        !table_strings(r, t, "args", &pred.args))
        return false;
    ARENA_PUSH(r->a, &r->p->predicates) = pred;
    return true;
}
