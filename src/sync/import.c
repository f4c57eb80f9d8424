/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What stands in agents' files, what of it moves, under which names. The record, and the way
 * back: import_record.c. */
#include "sync/import.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "plugins/manifest.h"
#include "sync/document.h"
#include "sync/import_impl.h"
#include "sync/import_server.h"
#include "sync/rewrite.h"
#include "text/toml_edit.h"

#define VALUE_MAX ((size_t)4 << 20) /* of one entry as JSON */

/* ---- reading ---- */

static bool is_ours(struct str name, const struct server_def *def)
{
    auto_arena a = ARENA;
    bool serves = false;

    for (size_t i = 0; i < def->args.n; i++)
        serves |= str_is(def->args.v[i], "mcp-serve");
    return str_is(name, SYNC_ENTRY) || (serves && sync_is_ours(arena_z(&a, def->command)));
}

static void set_state(struct import *im, struct import_entry *k, enum import_state state,
                      const char *reason)
{
    k->state = state;
    k->reason = arena_str(im->a, str_of(reason));
}

void import_stay(struct import *im, struct import_entry *k, const char *reason)
{
    set_state(im, k, IMPORT_STAYS, reason);
}

static void judge(struct import *im, struct import_entry *k, yyjson_val *v)
{
    const char *where;
    struct error e = { 0 };

    if (!import_server_read(&k->def, im->a, k->agent, v, &e)) {
        import_stay(im, k, is_ours(k->name, &k->def) ? "symposium's own" : e.msg);
        return;
    }
    if (is_ours(k->name, &k->def)) {
        import_stay(im, k, "symposium's own");
        return;
    }
    if (!import_name_fits(k->name, &e)) {
        import_stay(im, k, e.msg);
        return;
    }
    k->def.name = k->name;
    k->to_user = !k->in_project;
    where = import_server_secret(im->a, &k->def);
    k->secret = where != NULL;
    if (where && k->in_project)
        set_state(im, k, IMPORT_ASKS,
                  arena_printf(im->a,
                               "%s looks like a secret, which has no place in a "
                               "project's file",
                               where));
}

void import_decide(struct import_entry *k, bool yes)
{
    k->to_user = yes;
    k->state = yes ? IMPORT_MOVES : IMPORT_STAYS;
}

static void take_entries(struct import *im, const struct import_entry *of,
                         yyjson_val *container)
{
    for (struct json_iter it = json_iter(container); json_next(&it);) {
        struct import_entry k = *of;
        auto_buf json = BUF(VALUE_MAX);

        if (json_get_s(container, it.key) != it.val) /* the last one counts */
            continue;
        json_put_val(&json, it.val);
        if (json.over || im->entries.n == IMPORT_MAX_ENTRIES)
            continue;
        k.name = arena_str(im->a, it.key);
        k.json = arena_str(im->a, buf_str(&json));
        judge(im, &k, it.val);
        ARENA_PUSH(im->a, &im->entries) = k;
    }
}

static void add_problem(struct import *im, const struct agent *g, const char *text)
{
    ARENA_PUSH(im->a, &im->problems) = arena_str(im->a, str_of(text));
    ARENA_PUSH(im->a, &im->broken) = str_of(g->name);
}

static void scan_file(struct import *im, const struct agent *g, const char *path, bool project)
{
    struct import_entry of = { .agent = g, .path = path, .in_project = project };
    auto_buf text = BUF(REWRITE_MAX_BYTES);
    auto_json doc = { 0 };
    yyjson_val *container;
    struct error e;

    if (!file_read(path, &text, &e)) {
        if (e.kind != ERR_NOT_FOUND)
            add_problem(im, g, e.msg);
        return;
    }
    if (!document_read(g->format, buf_str(&text), &doc, &e)) {
        add_problem(im, g, arena_printf(im->a, "%s: %s", path, e.msg));
        return;
    }
    container = json_get(doc.root, g->container);
    if (container && !json_is_obj(container) && !json_is_null(container))
        add_problem(im, g,
                    arena_printf(im->a, "%s: '%s' is not an object", path, g->container));
    take_entries(im, &of, container);
}

/* Whoever works in the home directory has one file for both. */
static bool is_same(const char *a, const char *b)
{
    return b && strcmp(a, b) == 0;
}

void import_each_file(struct import *im, import_file_fn fn)
{
    for (size_t i = 0; i < sync_agents_n; i++) {
        const struct agent *g = &sync_agents[i];
        const char *user = sync_path_of(im->a, im->env, g->user);
        const char *project = sync_path_of(im->a, im->env, g->project);
        const char *files[] = { user, agent_other_file(im->a, g, user), project,
                                project ? agent_other_file(im->a, g, project) : NULL };

        for (size_t k = 0; k < ARRAY_LEN(files); k++)
            if (files[k] && !(k >= 2 && is_same(files[k], files[k - 2])))
                fn(im, g, files[k], k >= 2);
    }
}

void import_scan(struct import *im)
{
    import_each_file(im, scan_file);
    for (size_t i = 0; i < im->entries.n; i++) {
        struct import_entry *k = &im->entries.v[i];

        if (k->state != IMPORT_STAYS && strs_has(&im->broken, str_of(k->agent->name)))
            import_stay(im, k,
                        arena_printf(im->a, "another file of %s cannot be read; mend it first",
                                     k->agent->title));
    }
}

size_t import_moving(const struct import *im)
{
    size_t n = 0;

    for (size_t i = 0; i < im->entries.n; i++)
        n += im->entries.v[i].state == IMPORT_MOVES;
    return n;
}

/* ---- names ---- */

bool import_name_fits(struct str name, struct error *e)
{
    if (!name.n || name.n > 200 || str_has_control(name))
        return error_set(e, ERR_INVALID, "a plugin's server cannot have such a name");
    return !(str_is(name, "list_tools") || str_is(name, "execute")) ||
           error_set(e, ERR_INVALID, "its name is that of a tool of symposium");
}

const char *import_manifest(const struct import *im, bool of_user)
{
    static const char *const names[] = { MANIFEST_NAMES };
    const char *dir =
        of_user ? path_join(im->a, im->dirs->config, "plugins/" IMPORT_PLUGIN) : im->env->root;

    for (size_t i = 0; dir && i < ARRAY_LEN(names); i++)
        if (file_exists(path_join(im->a, dir, names[i])))
            return path_join(im->a, dir, names[i]);
    return dir ? path_join(im->a, dir, names[0]) : NULL;
}

struct plugin *import_parse(struct arena *a, const char *path, bool of_user, struct str text,
                            struct error *e)
{
    struct manifest_source src = { .origin = of_user ? ORIGIN_REGISTRY : ORIGIN_WORKSPACE,
                                   .registry = of_user ? STR("user-plugins") : STR("workspace"),
                                   .dir = str_of(path_dir(a, path)),
                                   .fallback_name = STR("workspace") };

    return manifest_parse(a, text, &src, e);
}

/* What a server is, so that equal ones are seen. */
struct str import_identity(struct arena *a, const struct server_def *def)
{
    auto_buf json = BUF(VALUE_MAX), canonical = BUF(VALUE_MAX);
    auto_json doc = { 0 };

    import_put_json(&json, def);
    if (json_parse(&doc, buf_str(&json), NULL))
        json_put_canonical(&canonical, doc.root);
    return arena_str(a, buf_str(&canonical));
}

struct naming {
    struct map by_name;     /* name -> the owning manifest, non-NULL */
    struct map by_identity; /* in one manifest: "u"/"p" + identity -> name */
};

static struct str key_of(struct import *im, bool of_user, struct str id)
{
    return str_of(arena_printf(im->a, "%c%.*s", of_user ? 'u' : 'p', STR_F(id)));
}

static bool take_manifest(struct import *im, struct naming *n, bool of_user, struct error *e)
{
    const char *path = import_manifest(im, of_user);
    auto_buf text = BUF(MANIFEST_MAX_BYTES);
    const struct plugin *p;

    if (!path || !file_exists(path))
        return true;
    if (!file_read(path, &text, e))
        return false;
    p = import_parse(im->a, path, of_user, buf_str(&text), e);
    if (!p)
        return error_wrap(e, "%s", path);
    for (size_t i = 0; i < p->servers.n; i++) {
        const struct server_def *def = &p->servers.v[i];

        map_put(&n->by_name, def->name, (void *)path);
        map_put(&n->by_identity, key_of(im, of_user, import_identity(im->a, def)), (void *)def);
    }
    return true;
}

static void name_entry(struct import *im, struct naming *n, struct import_entry *k)
{
    struct str id = import_identity(im->a, &k->def), name = k->name;
    const struct server_def *there = map_get(&n->by_identity, key_of(im, k->to_user, id));

    if (!there && !k->to_user && map_has(&n->by_identity, key_of(im, true, id))) {
        import_stay(im, k, "the same server is in your own plugin");
        return;
    }
    k->again = there != NULL;
    if (there) {
        k->def.name = there->name;
        return;
    }
    for (unsigned i = 2; map_has(&n->by_name, name); i++)
        name = str_of(arena_printf(im->a, "%.*s-%u", STR_F(k->name), i));
    k->def.name = name;
    map_put(&n->by_name, name, k);
    map_put(&n->by_identity, key_of(im, k->to_user, id), &k->def);
}

bool import_name(struct import *im, struct error *e)
{
    struct naming n = { MAP, MAP };
    bool ok;

    for (size_t i = 0; i < im->taken.n; i++)
        map_put(&n.by_name, im->taken.v[i], im);
    ok = take_manifest(im, &n, true, e) && take_manifest(im, &n, false, e);
    for (size_t i = 0; ok && i < im->entries.n; i++)
        if (im->entries.v[i].state == IMPORT_MOVES && im->entries.v[i].to_user)
            name_entry(im, &n, &im->entries.v[i]);
    for (size_t i = 0; ok && i < im->entries.n; i++)
        if (im->entries.v[i].state == IMPORT_MOVES && !im->entries.v[i].to_user)
            name_entry(im, &n, &im->entries.v[i]);
    map_free(&n.by_name);
    map_free(&n.by_identity);
    return ok;
}

/* ---- the plugins ---- */

struct writing {
    struct import *im;
    const char *path;
    bool of_user;
};

/* Some entry that moves brings it. */
static bool is_wanted(const struct import *im, bool of_user, struct str name)
{
    for (size_t i = 0; i < im->entries.n; i++) {
        const struct import_entry *k = &im->entries.v[i];

        if (k->state == IMPORT_MOVES && k->to_user == of_user && str_eq(k->def.name, name))
            return true;
    }
    return false;
}

/* Adds or takes away one server; `now` gets the new text. */
static bool put_server(struct buf *now, const struct server_def *def, struct error *e)
{
    auto_buf next = BUF(MANIFEST_MAX_BYTES), lines = BUF(MANIFEST_MAX_BYTES);

    import_put_toml(&lines, def);
    if (!buf_ok(&lines, e) ||
        !toml_edit_append_table(&next, buf_str(now), EDIT_AT({ "mcp_servers" }),
                                buf_str(&lines), e) ||
        !buf_ok(&next, e))
        return false;
    buf_swap(now, &next);
    return true;
}

bool import_drop_server(struct buf *now, size_t index, struct error *e)
{
    auto_buf next = BUF(MANIFEST_MAX_BYTES);

    if (!toml_edit_remove(&next, buf_str(now), EDIT_AT({ "mcp_servers" }, { NULL, index }),
                          e) ||
        !buf_ok(&next, e))
        return false;
    buf_swap(now, &next);
    return true;
}

const struct server_def *import_find_server(const struct plugin *p, struct str name,
                                            size_t *ret_index)
{
    for (size_t i = 0; p && i < p->servers.n; i++)
        if (str_eq(p->servers.v[i].name, name)) {
            *ret_index = i;
            return &p->servers.v[i];
        }
    return NULL;
}

static bool edit_server(struct writing *w, struct buf *now, struct import_entry *k,
                        struct error *e)
{
    size_t index;
    const struct plugin *p = import_parse(w->im->a, w->path, w->of_user, buf_str(now), e);
    const struct server_def *there = import_find_server(p, k->def.name, &index);

    if (!p)
        return false;
    if (is_wanted(w->im, w->of_user, k->def.name))
        return there || put_server(now, &k->def, e);
    return !there || import_drop_server(now, index, e);
}

const char *import_head(bool of_user)
{
    return of_user ? "# Servers that 'symposium import' found in agents' files.\n"
                     "name = \"" IMPORT_PLUGIN "\"\ndepends-on = [\"*\"]\n"
                   : "# Servers that 'symposium import' found in this project's files.\n";
}

static bool edit_manifest(void *ctx, struct str text, struct buf *out, struct error *e)
{
    struct writing *w = ctx;
    struct import *im = w->im;
    auto_buf now = BUF(MANIFEST_MAX_BYTES);

    buf_add(&now, text);
    if (!text.n)
        buf_addz(&now, import_head(w->of_user));
    for (size_t i = 0; i < im->entries.n; i++) {
        struct import_entry *k = &im->entries.v[i];

        if (k->to_user == w->of_user && !k->again && k->def.name.n &&
            !edit_server(w, &now, k, e))
            return false;
    }
    if (!import_parse(im->a, w->path, w->of_user, buf_str(&now), e))
        return error_wrap(e, "what would be written is no manifest");
    buf_add(out, buf_str(&now));
    return true;
}

static bool holds_secret(const struct import *im)
{
    for (size_t i = 0; i < im->entries.n; i++)
        if (im->entries.v[i].state == IMPORT_MOVES && im->entries.v[i].secret)
            return true;
    return false;
}

/* Something was, or is to be, written into it. */
static bool concerns(const struct import *im, bool of_user)
{
    for (size_t i = 0; i < im->entries.n; i++) {
        const struct import_entry *k = &im->entries.v[i];

        if (k->to_user == of_user && k->def.name.n && !k->again &&
            (k->state == IMPORT_MOVES || file_exists(import_manifest(im, of_user))))
            return true;
    }
    return false;
}

static bool write_manifest(struct import *im, bool of_user, struct error *e)
{
    struct writing w = { im, import_manifest(im, of_user), of_user };
    struct rewrite r = { .dirs = im->dirs,
                         .path = w.path,
                         .mode = of_user ? REWRITE_SECRET_MODE : REWRITE_NEW_MODE,
                         .edit = edit_manifest,
                         .ctx = &w };
    enum rewrite_end end;

    if (!r.path || !concerns(im, of_user))
        return true;
    if (of_user && holds_secret(im) && file_exists(r.path) && chmod(r.path, 0600) != 0)
        return error_set(e, ERR_SYS, "%s: make it readable for you alone", r.path);
    return rewrite_file(&r, &end, NULL, NULL, e);
}

bool import_write(struct import *im, struct error *e)
{
    return write_manifest(im, true, e) && write_manifest(im, false, e);
}

struct plugin *import_plugin(const struct import *im, bool of_user, struct error *e)
{
    const char *path = import_manifest(im, of_user);
    auto_buf text = BUF(MANIFEST_MAX_BYTES);

    if (!path || !file_read(path, &text, e)) {
        if (!path)
            error_set(e, ERR_NOT_FOUND, "there is no workspace");
        return NULL;
    }
    return import_parse(im->a, path, of_user, buf_str(&text), e);
}

/* ---- out of the files ---- */

struct taking {
    struct import *im;
    const char *path;
    const struct agent *agent;
    size_t n; /* taken */
};

static bool take_one(struct taking *t, struct buf *now, const struct import_entry *k,
                     struct error *e)
{
    const struct agent *g = t->agent;
    struct edit_at at = EDIT_AT({ g->container }, { k->name.p });
    auto_buf next = BUF(REWRITE_MAX_BYTES), json = BUF(VALUE_MAX);
    auto_json doc = { 0 };
    yyjson_val *v;

    if (!document_read(g->format, buf_str(now), &doc, e))
        return false;
    v = json_get_s(json_get(doc.root, g->container), k->name);
    if (!v)
        return true;
    json_put_val(&json, v);
    if (!str_eq(buf_str(&json), k->json))
        return true;
    if (!document_remove(g->format, &next, buf_str(now), at, e) || !buf_ok(&next, e) ||
        !document_same_but(g->format, buf_str(now), buf_str(&next), at, e))
        return false;
    buf_swap(now, &next);
    t->n++;
    return true;
}

static bool edit_out(void *ctx, struct str text, struct buf *out, struct error *e)
{
    struct taking *t = ctx;
    auto_buf now = BUF(REWRITE_MAX_BYTES);

    t->n = 0;
    buf_add(&now, text);
    for (size_t i = 0; i < t->im->entries.n; i++) {
        const struct import_entry *k = &t->im->entries.v[i];

        if (k->state == IMPORT_MOVES && !strcmp(k->path, t->path) && !take_one(t, &now, k, e))
            return false;
    }
    buf_add(out, buf_str(&now));
    return true;
}

/* The files with entries that move, each once. */
static bool take_file(struct import *im, const struct import_entry *k, struct sync_report *r)
{
    struct taking t = { im, k->path, k->agent, 0 };
    struct rewrite w = { .dirs = im->dirs,
                         .path = k->path,
                         .mode = REWRITE_SECRET_MODE,
                         .lock_dir = k->agent->lock_dir && !k->in_project,
                         .edit = edit_out,
                         .ctx = &t };
    struct sync_line line = { SYNC_WRITTEN, str_of(k->agent->name), str_of(k->path), { 0 } };
    enum rewrite_end end;
    size_t want = 0;
    struct error e;

    for (size_t i = 0; i < im->entries.n; i++)
        want +=
            im->entries.v[i].state == IMPORT_MOVES && !strcmp(im->entries.v[i].path, k->path);
    if (!rewrite_file(&w, &end, NULL, NULL, &e)) {
        line.kind = SYNC_ERROR;
        line.text = str_of(e.msg);
        sync_report_add(r, line);
        return false;
    }
    line.text = str_of(
        arena_printf(im->a, "%zu MCP entr%s moved into a plugin", t.n, t.n == 1 ? "y" : "ies"));
    if (end == REWRITE_DONE)
        sync_report_add(r, line);
    if (t.n < want)
        sync_report_addf(r, SYNC_NOTE, line.agent,
                         "%s: %zu entr%s changed meanwhile and stay%s there", k->path,
                         want - t.n, want - t.n == 1 ? "y has" : "ies have",
                         want - t.n == 1 ? "s" : "");
    return true;
}

bool import_take_out(struct import *im, struct sync_report *r)
{
    const char *last = "";
    bool ok = true;

    for (size_t i = 0; i < im->entries.n; i++) {
        const struct import_entry *k = &im->entries.v[i];

        if (k->state != IMPORT_MOVES || !strcmp(k->path, last))
            continue;
        last = k->path;
        ok &= take_file(im, k, r);
    }
    return ok;
}

/* ---- agents ---- */

struct strs import_agents(const struct import *im, const struct config *config)
{
    struct strs ret = { 0 };

    for (size_t i = 0; i < im->entries.n; i++) {
        const struct import_entry *k = &im->entries.v[i];

        struct str name = str_of(k->agent->name);

        if (k->state == IMPORT_MOVES && !strs_has(&config->agents, name) &&
            !strs_has(&ret, name))
            ARENA_PUSH(im->a, &ret) = name;
    }
    return ret;
}
