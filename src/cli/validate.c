/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "cli/errand.h"
#include "cli/plugin.h"
#include "cli/report.h"
#include "mcp/client.h"
#include "plugins/manifest.h"
#include "plugins/offer.h"
#include "plugins/predicate.h"
#include "plugins/registry.h"
#include "plugins/skill_search.h"
#include "pm/query.h"

struct child {
    struct str id;    /* of a skill: its name, or the path of one that did not load */
    struct str error; /* empty: ok */
};

struct record {
    struct str id;
    const char *kind; /* "plugin", "skill"; "registry" for warnings about the whole */
    struct str error; /* empty: ok */
    struct strs warnings;
    struct {
        struct child *v;
        size_t n, cap;
    } children;
};

/* What a package manager is to be asked. */
struct question {
    struct record *record;
    struct package_id id;
    bool edge; /* a package must satisfy it; else a package of that name must exist */
};

struct validate {
    struct errand *errand;
    struct arena *a;
    const char *path;
    bool check_names;
    struct {
        struct record **v;
        size_t n, cap;
    } records;
    struct {
        struct question *v;
        size_t n, cap;
    } questions;
    size_t at;
    struct config config;
    struct workspace workspace;
    struct pm_query *query;
};

/* ---- output ---- */

static bool is_ok(const struct record *r)
{
    bool ok = !r->error.n;

    for (size_t i = 0; i < r->children.n; i++)
        ok &= !r->children.v[i].error.n;
    return ok;
}

static void put_event(struct report *to, const struct record *r)
{
    struct jw *w = report_event(to, "entry");

    jw_kstr(w, "id", r->id);
    jw_kstrz(w, "kind", r->kind);
    jw_kbool(w, "ok", is_ok(r));
    if (r->error.n)
        jw_kstr(w, "error", r->error);
    strs_put(w, "warnings", &r->warnings);
    jw_key(w, "skills");
    jw_arr(w);
    for (size_t i = 0; i < r->children.n; i++) {
        jw_obj(w);
        jw_kstr(w, "id", r->children.v[i].id);
        jw_kbool(w, "ok", !r->children.v[i].error.n);
        if (r->children.v[i].error.n)
            jw_kstr(w, "error", r->children.v[i].error);
        jw_end(w);
    }
    jw_end(w);
    jw_end(w);
}

static void put_mark(bool ok)
{
    printf("%s%s%s ", out_paint(stdout, ok ? PAINT_GREEN : PAINT_RED), ok ? "ok   " : "error",
           out_paint(stdout, PAINT_OFF));
}

static void put_line(const char *indent, struct str text)
{
    fputs(indent, stdout);
    out_put_text(stdout, text);
}

static void put_text(struct arena *a, const struct record *r)
{
    put_mark(is_ok(r));
    out_put_text(stdout, str_of(arena_printf(a, "%s %.*s", r->kind, STR_F(r->id))));
    if (r->error.n)
        put_line("      ", r->error);
    for (size_t i = 0; i < r->warnings.n; i++)
        put_line("      warning: ", r->warnings.v[i]);
    for (size_t i = 0; i < r->children.n; i++) {
        const struct child *c = &r->children.v[i];

        put_line("      ", str_of(arena_printf(a, "skill %.*s%s%.*s", STR_F(c->id),
                                               c->error.n ? ": " : "", STR_F(c->error))));
    }
}

static void finish(struct validate *v)
{
    struct report to;
    bool ok = v->records.n > 0;

    errand_clear(v->errand);
    if (cli.json)
        report_begin(&to);
    for (size_t i = 0; i < v->records.n; i++) {
        ok &= is_ok(v->records.v[i]);
        if (cli.json)
            put_event(&to, v->records.v[i]);
        else if (!cli.quiet || !is_ok(v->records.v[i]))
            put_text(v->a, v->records.v[i]);
    }
    if (!v->records.n)
        cli_fail(EXIT_FAILED, "there is no plugin and no skill in '%s'", v->path);
    if (cli.json && !report_end(&to))
        ok = false;
    errand_end(v->errand, ok ? EXIT_OK : EXIT_FAILED);
}

/* ---- records ---- */

static struct record *add_record(struct validate *v, const char *kind, struct str id)
{
    struct record *r = ARENA_NEW(v->a, struct record);

    *r = (struct record){ .id = id, .kind = kind };
    ARENA_PUSH(v->a, &v->records) = r;
    return r;
}

static void warn(struct validate *v, struct record *r, const char *text)
{
    ARENA_PUSH(v->a, &r->warnings) = str_of(text);
}

/* The groups that a plugin has without naming them may be missing. */
static bool is_default(const struct plugin *p, const struct skill_group *g)
{
    return p->default_skills &&
           (str_is(g->path, "skills") || str_is(g->path, ".agents/skills"));
}

static void add_group(struct validate *v, struct record *r, const struct plugin *p,
                      const struct skill_group *g)
{
    const char *dir = arena_z(v->a, p->dir);
    struct skill_place place = { .dir = path_join(v->a, dir, g->path.p),
                                 .home = dir,
                                 .lenient = p->origin == ORIGIN_WORKSPACE };
    struct found_skills found = { 0 };

    skill_search(v->a, &place, &found);
    for (size_t i = 0; i < found.n; i++)
        ARENA_PUSH(v->a, &r->children) = (struct child){ .id = found.v[i].name };
    for (size_t i = 0; i < found.warnings.n; i++)
        ARENA_PUSH(v->a, &r->children) =
            (struct child){ .id = STR("(left out)"), .error = found.warnings.v[i] };
    if (!found.n && !found.warnings.n && !is_default(p, g))
        warn(v, r,
             arena_printf(v->a, "the skill group '%.*s' holds no SKILL.md", STR_F(g->path)));
}

/* ---- names ---- */

static void ask(struct validate *v, struct record *r, const struct package_id *id, bool edge)
{
    for (size_t i = 0; i < v->questions.n; i++) {
        const struct question *q = &v->questions.v[i];

        if (q->record == r && q->edge == edge && str_eq(q->id.pm, id->pm) &&
            str_eq(q->id.name, id->name) && str_eq(q->id.version, id->version))
            return;
    }
    if (v->questions.n < VALIDATE_MAX_NAMES)
        ARENA_PUSH(v->a, &v->questions) = (struct question){ r, *id, edge };
}

static void ask_gate(struct validate *v, struct record *r,
                     const struct predicate *const *predicates, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct predicate *p = predicates[i];
        struct package_id id = { p->atom.pm, p->atom.name, { 0 } };

        if (p->kind == PRED_DEPENDS_ON && !str_is(id.name, "*"))
            ask(v, r, &id, false);
        ask_gate(v, r, p->v, p->n);
    }
}

static void ask_names(struct validate *v, struct record *r, const struct plugin *p)
{
    ask_gate(v, r, p->gate.v, p->gate.n);
    for (size_t i = 0; i < p->skills.n; i++)
        ask_gate(v, r, p->skills.v[i].gate.v, p->skills.v[i].gate.n);
    for (size_t i = 0; i < p->servers.n; i++)
        ask_gate(v, r, p->servers.v[i].gate.v, p->servers.v[i].gate.n);
    for (size_t i = 0; i < p->hooks.n; i++)
        ask_gate(v, r, p->hooks.v[i].gate.v, p->hooks.v[i].gate.n);
    for (size_t i = 0; i < p->subcommands.n; i++)
        ask_gate(v, r, p->subcommands.v[i].gate.v, p->subcommands.v[i].gate.n);
    for (size_t i = 0; i < p->edges.n; i++)
        ask_gate(v, r, p->edges.v[i].gate.v, p->edges.v[i].gate.n);
}

/* A URL with a variable in it is known only where that is set. */
static void check_remote(struct validate *v, struct record *r, const struct server_def *s)
{
    struct http_field *headers = ARENA_ARRAY(v->a, struct http_field, s->headers.n + 1);
    struct mcp_remote remote = { .url = arena_z(v->a, s->url),
                                 .headers = headers,
                                 .nheaders = s->headers.n };
    struct error e;

    for (size_t i = 0; i < s->headers.n; i++)
        headers[i] = (struct http_field){ s->headers.v[i].key, s->headers.v[i].value };
    if (s->url.n && str_find(s->url, STR("${")) == SIZE_MAX && !mcp_remote_check(&remote, &e))
        r->error = str_of(arena_printf(v->a, "server '%.*s': %s", STR_F(s->name), e.msg));
}

static void add_plugin(struct validate *v, const struct plugin *p, struct str id)
{
    struct record *r = add_record(v, p->standalone_skill ? "skill" : "plugin", id);

    for (size_t i = 0; i < p->servers.n; i++)
        check_remote(v, r, &p->servers.v[i]);

    if (p->origin == ORIGIN_REGISTRY && !p->mentions_dependency)
        warn(v, r,
             "dormant: it names no dependency; add depends-on = [\"*\"], or let people name it "
             "in [plugins] use");
    for (size_t i = 0; i < p->skills.n; i++)
        if (p->skills.v[i].path.n && !p->standalone_skill)
            add_group(v, r, p, &p->skills.v[i]);
    for (size_t i = 0; i < p->edges.n; i++) {
        struct package_id to = { p->edges.v[i].pm, p->edges.v[i].name, p->edges.v[i].version };

        if (to.version.n || v->check_names)
            ask(v, r, &to, true);
    }
    if (v->check_names)
        ask_names(v, r, p);
}

/* ---- what is there ---- */

static bool is_skill_file(const char *path)
{
    return !strcmp(path_base(path), SKILL_FILE_NAME);
}

/* "skipping <file>: <error chain>" */
static void add_failure(struct validate *v, const struct load_failure *f)
{
    struct str skill = STR(SKILL_FILE_NAME ": "), reason = f->reason;
    struct record *r =
        add_record(v, str_find(reason, skill) != SIZE_MAX ? "skill" : "plugin", f->name);

    r->error = reason;
}

static void add_tree(struct validate *v)
{
    struct watch_list watch = { 0 };
    struct loaded loaded = { 0 };
    struct load_ctx load = { .a = v->a, .watch = &watch, .out = &loaded };

    registry_load(&load, STR("validate"), v->path);
    for (size_t i = 0; i < loaded.plugins.n; i++)
        add_plugin(v, loaded.plugins.v[i], loaded.plugins.v[i]->subpath);
    for (size_t i = 0; i < loaded.failures.n; i++)
        add_failure(v, &loaded.failures.v[i]);
    if (v->records.n && loaded.warnings.n)
        add_record(v, "registry", str_of(v->path))->warnings = loaded.warnings;
}

/* By the rules of a registry; a workspace's or a package's own may also leave out its name and
 * have [defaults]. */
static void add_manifest(struct validate *v, const char *file)
{
    const char *dir = path_dir(v->a, file);
    struct manifest_source src = { .origin = ORIGIN_REGISTRY,
                                   .registry = STR("validate"),
                                   .subpath = str_of(path_base(dir)),
                                   .dir = str_of(dir),
                                   .fallback_name = str_of(path_base(dir)) };
    struct error strict, e;
    struct plugin *p = manifest_load(v->a, file, &src, &strict);
    struct record *r;

    if (p) {
        add_plugin(v, p, p->name);
        return;
    }
    src.origin = ORIGIN_WORKSPACE;
    src.subpath = (struct str){ 0 };
    p = manifest_load(v->a, file, &src, &e);
    if (!p) {
        r = add_record(v, "plugin", src.fallback_name);
        r->error = str_of(arena_printf(v->a, "%s: %s", file, e.msg));
        return;
    }
    add_plugin(v, p, p->name);
    warn(v, v->records.v[v->records.n - 1],
         arena_printf(v->a, "good for a workspace or a package, not for a registry: %s",
                      strict.msg));
}

static void add_skill(struct validate *v, const char *file)
{
    const char *dir = path_dir(v->a, file);
    struct manifest_source src = { .origin = ORIGIN_REGISTRY,
                                   .registry = STR("validate"),
                                   .subpath = str_of(path_base(dir)),
                                   .dir = str_of(dir) };
    struct error e;
    struct plugin *p = skill_plugin_load(v->a, file, &src, &e);

    if (p)
        add_plugin(v, p, p->name);
    else
        add_record(v, "skill", src.subpath)->error =
            str_of(arena_printf(v->a, "%s: %s", file, e.msg));
}

static const char *file_in(struct validate *v, const char *dir)
{
    static const char *const names[] = { MANIFEST_NAMES, SKILL_FILE_NAME };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *file = path_join(v->a, dir, names[i]);

        if (file_exists(file))
            return file;
    }
    return NULL;
}

static void find_entries(struct validate *v)
{
    const char *file = file_is_dir(v->path) ? file_in(v, v->path) : v->path;

    if (!file)
        add_tree(v);
    else if (is_skill_file(file))
        add_skill(v, file);
    else
        add_manifest(v, file);
}

/* ---- package managers ---- */

static void ask_next(struct validate *v);

static void answered(struct validate *v)
{
    v->query = NULL;
    v->at++;
    ask_next(v);
}

static void on_fetched(void *ctx, const struct fetched *got)
{
    struct validate *v = ctx;
    struct question *q = &v->questions.v[v->at];

    if (!got->n)
        warn(v, q->record,
             arena_printf(v->a, "no package %s satisfies %.*s%s",
                          v->check_names ? "that can be had" : "on this machine",
                          STR_F(package_text(v->a, &q->id)),
                          v->check_names ? "" : "; --check-names asks the package manager"));
    answered(v);
}

static void on_searched(void *ctx, const struct query_found *found)
{
    struct validate *v = ctx;
    struct question *q = &v->questions.v[v->at];
    bool exists = false;

    for (size_t i = 0; !exists && i < found->n; i++)
        exists = (!q->id.pm.n || str_eq(q->id.pm, found->v[i].id.pm)) &&
                 dep_name_eq(found->v[i].id.pm, found->v[i].id.name, q->id.name);
    if (!exists && found->nproblems)
        warn(v, q->record,
             arena_printf(v->a, "'%.*s' could not be looked up: %.*s", STR_F(q->id.name),
                          STR_F(found->problems[0])));
    else if (!exists)
        q->record->error = str_of(arena_printf(v->a, "no package is called '%.*s'",
                                               STR_F(package_text(v->a, &q->id))));
    answered(v);
}

static void ask_next(struct validate *v)
{
    struct query_opts o = { .dirs = v->errand->dirs,
                            .config = &v->config,
                            .workspace = &v->workspace,
                            .everywhere = true,
                            .pms = v->errand->pms };
    const struct question *q;

    if (v->at == v->questions.n) {
        finish(v);
        return;
    }
    q = &v->questions.v[v->at];
    errand_say(v->errand, package_text(v->a, &q->id));
    o.only = q->id.pm;
    if (q->edge)
        v->query = pm_fetch(v->errand->loop, &o, &q->id,
                            v->check_names ? UPDATE_CHECK : UPDATE_NONE, on_fetched, v);
    else
        v->query = pm_search(v->errand->loop, &o, q->id.name, on_searched, v);
}

static void begin(struct errand *e, void *ctx)
{
    struct validate *v = ctx;
    struct watch_list watch = { 0 };
    struct error why;

    v->errand = e;
    v->a = e->a;
    v->path = path_real(e->a, v->path, &why);
    if (!v->path) {
        errand_end(e, cli_fail(EXIT_FAILED, "%s", why.msg));
        return;
    }
    find_entries(v);
    config_load(&v->config, e->dirs, e->a);
    if (v->questions.n && !workspace_find(&v->workspace, e->start_dir, e->a, &watch, &why)) {
        errand_end(e, cli_fail(EXIT_FAILED, "%s", why.msg));
        return;
    }
    ask_next(v);
}

static void cancel(void *ctx)
{
    struct validate *v = ctx;

    pm_query_cancel(take_ptr(&v->query));
}

int plugin_validate(struct arena *a, const struct args *args)
{
    static const struct errand_job job = { begin, cancel };
    struct validate v = { .check_names = args_has(args, "--check-names") };

    if (args->nwords != 2)
        return cli_usage(args->command,
                         "name one directory or file: 'symposium plugin validate PATH'");
    v.path = args->words[1];
    return errand_run(a, args, &job, &v);
}
