/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What an import changed, and the way back (SY-22), in a directory of its own:
 *
 *     <state>/imports/<n>/record.json      the files, and what was taken and added where
 *     <state>/imports/<n>/<k>.before       the bytes of file k
 *
 * The record is complete before the first file is touched; what the files are afterwards is
 * added at the end. Without that (a killed import) undo goes by the entries alone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/tree.h"
#include "plugins/manifest.h"
#include "sync/config_file.h"
#include "sync/document.h"
#include "sync/import_impl.h"
#include "sync/rewrite.h"

#define RECORD_MAX  ((size_t)64 << 20)
#define RECORDS_MAX 1000000

static const char *const kinds[] = {
    [KEPT_AGENT] = "agent", [KEPT_PLUGIN] = "plugin", [KEPT_CONFIG] = "config"
};

/* ---- keeping ---- */

static bool read_now(const char *path, struct buf *text, char sha256[SHA256_HEX_SIZE],
                     struct error *e)
{
    struct error why = { 0 };

    sha256[0] = '\0';
    if (file_read(path, text, &why)) {
        sha256_hex(buf_str(text), sha256);
        return true;
    }
    if (why.kind == ERR_NOT_FOUND)
        return true;
    if (e)
        *e = why;
    return false;
}

static const char *before_path(struct arena *a, const char *record, size_t i)
{
    return arena_printf(a, "%s/%zu.before", record, i);
}

struct keeping {
    struct import *im;
    struct error e;
    bool failed;
};

static void keep(struct keeping *s, const struct import_kept *what)
{
    struct import *im = s->im;
    auto_buf text = BUF(REWRITE_MAX_BYTES);
    struct import_kept k = *what;

    for (size_t i = 0; i < im->kept.n; i++)
        if (!strcmp(im->kept.v[i].path, k.path))
            return;
    if (s->failed || !read_now(k.path, &text, k.before, &s->e)) {
        /* What cannot be read is none of what import changes: it was no file to begin with. */
        return;
    }
    if (*k.before && !file_write_atomic(before_path(im->a, im->record, im->kept.n),
                                        buf_str(&text), REWRITE_SECRET_MODE, &s->e)) {
        s->failed = true;
        return;
    }
    ARENA_PUSH(im->a, &im->kept) = k;
}

static void add_agent_file(struct import *im, const struct agent *g, const char *path,
                           bool project)
{
    ARENA_PUSH(im->a, &im->kept) =
        (struct import_kept){ .path = path, .agent = g, .project = project };
}

static void add_file(struct import *im, const char *path, enum kept_kind kind, bool project)
{
    if (path)
        ARENA_PUSH(im->a, &im->kept) =
            (struct import_kept){ .kind = kind, .path = path, .project = project };
}

/* Everything that import or the sync after it may write. */
static void list_files(struct import *im)
{
    import_each_file(im, add_agent_file);
    for (size_t i = 0; i < sync_agents_n; i++) {
        add_file(im, sync_path_of(im->a, im->env, sync_agents[i].hooks.project), KEPT_AGENT,
                 true);
        add_file(im, sync_path_of(im->a, im->env, sync_agents[i].hooks.user), KEPT_AGENT,
                 false);
    }
    for (size_t i = 0; i < sync_former_places_n; i++)
        add_file(im, sync_path_of(im->a, im->env, sync_former_places[i].path), KEPT_AGENT,
                 true);
    add_file(im, path_join(im->a, im->dirs->config, "config.toml"), KEPT_CONFIG, false);
    add_file(im, import_manifest(im, true), KEPT_PLUGIN, false);
    add_file(im, import_manifest(im, false), KEPT_PLUGIN, true);
}

static bool keep_all(struct import *im, struct error *e)
{
    struct keeping s = { .im = im };
    struct import_kept *all;
    size_t n;

    list_files(im);
    all = im->kept.v;
    n = im->kept.n;
    im->kept.v = NULL;
    im->kept.n = im->kept.cap = 0;
    for (size_t i = 0; i < n; i++)
        keep(&s, &all[i]);
    if (s.failed && e)
        *e = s.e;
    return !s.failed;
}

/* ---- the record ---- */

static void put_entries(struct jw *w, const struct import *im, const struct import_kept *f)
{
    jw_key(w, "entries");
    jw_arr(w);
    for (size_t i = 0; i < im->entries.n; i++) {
        const struct import_entry *k = &im->entries.v[i];

        if (k->state != IMPORT_MOVES || strcmp(k->path, f->path) != 0)
            continue;
        jw_obj(w);
        jw_kstr(w, "name", k->name);
        jw_kstr(w, "json", k->json);
        jw_end(w);
    }
    jw_end(w);
}

static void put_servers(struct jw *w, const struct import *im, bool of_user)
{
    jw_key(w, "servers");
    jw_arr(w);
    for (size_t i = 0; i < im->entries.n; i++) {
        const struct import_entry *k = &im->entries.v[i];

        if (k->state != IMPORT_MOVES || k->again || k->to_user != of_user)
            continue;
        jw_obj(w);
        jw_kstr(w, "name", k->def.name);
        jw_kstr(w, "identity", import_identity(im->a, &k->def));
        jw_end(w);
    }
    jw_end(w);
}

static void put_file(struct jw *w, const struct import *im, size_t i, bool done)
{
    const struct import_kept *f = &im->kept.v[i];

    jw_obj(w);
    jw_kstrz(w, "kind", kinds[f->kind]);
    jw_kstrz(w, "path", f->path);
    jw_kint(w, "number", (int64_t)i);
    jw_kstrz(w, "before", f->before);
    if (done)
        jw_kstrz(w, "after", f->after);
    jw_kbool(w, "project", f->project);
    if (f->agent) {
        jw_kstrz(w, "agent", f->agent->name);
        put_entries(w, im, f);
    }
    if (f->kind == KEPT_PLUGIN)
        put_servers(w, im, !f->project);
    jw_end(w);
}

static bool write_record(const struct import *im, bool done, struct error *e)
{
    auto_buf text = BUF(RECORD_MAX);
    struct jw w = jw_to(&text);

    jw_obj(&w);
    jw_kint(&w, "version", 1);
    strs_put(&w, "agents", &im->new_agents);
    jw_key(&w, "files");
    jw_arr(&w);
    for (size_t i = 0; i < im->kept.n; i++)
        if (!done || strcmp(im->kept.v[i].before, im->kept.v[i].after) != 0)
            put_file(&w, im, i, done);
    jw_end(&w);
    jw_end(&w);
    return buf_ok(&text, e) && file_write_atomic(path_join(im->a, im->record, "record.json"),
                                                 buf_str(&text), REWRITE_SECRET_MODE, e);
}

/* The highest number in use; 0: none. */
static int64_t last_record(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    int64_t last = 0, n;

    while (d && (entry = readdir(d)) != NULL)
        if (str_to_int(str_of(entry->d_name), 1, RECORDS_MAX, &n) && n > last)
            last = n;
    if (d)
        closedir(d);
    return last;
}

bool import_begin(struct import *im, struct error *e)
{
    const char *dir = path_join(im->a, im->dirs->state, "imports");

    im->record = arena_printf(im->a, "%s/%lld", dir, (long long)last_record(dir) + 1);
    return file_mkdirs(im->record, e) && keep_all(im, e) && write_record(im, false, e);
}

bool import_end(struct import *im, struct error *e)
{
    for (size_t i = 0; i < im->kept.n; i++) {
        struct import_kept *f = &im->kept.v[i];
        auto_buf text = BUF(REWRITE_MAX_BYTES);

        if (!read_now(f->path, &text, f->after, e))
            return false;
        if (!strcmp(f->before, f->after))
            unlink(before_path(im->a, im->record, i));
    }
    return write_record(im, true, e);
}

/* ---- undo ---- */

struct undo {
    struct arena *a;
    const struct dirs *dirs;
    const char *record;
    yyjson_val *root; /* of record.json */
    struct sync_report *report;
    bool failed;
};

struct undo_file {
    struct undo *u;
    yyjson_val *v;
    const char *path;
    const struct agent *agent;
    struct str before, after; /* hashes; empty: not there */
    struct buf bytes;         /* before */
    bool knows_after;
    size_t put_back; /* entries, servers */
    bool whole;      /* the former bytes are back */
};

static void say(struct undo_file *f, enum sync_kind kind, const char *text)
{
    struct str agent = f->agent ? str_of(f->agent->name) : (struct str){ 0 };

    sync_report_add(f->u->report,
                    (struct sync_line){ kind, agent, str_of(f->path), str_of(text) });
    f->u->failed |= kind == SYNC_ERROR;
}

static bool is_as_left(const struct undo_file *f, struct str text, bool exists)
{
    char sha256[SHA256_HEX_SIZE] = "";

    if (exists)
        sha256_hex(text, sha256);
    return f->knows_after && str_is(f->after, sha256);
}

static bool put_entries_back(struct undo_file *f, struct buf *now, struct error *e)
{
    const struct agent *g = f->agent;
    auto_buf next = BUF(REWRITE_MAX_BYTES);

    for (struct json_iter it = json_iter(json_get(f->v, "entries")); json_next(&it);) {
        const char *name = arena_z(f->u->a, json_str(json_get(it.val, "name")));
        struct edit_at at = EDIT_AT({ g->container }, { name });
        auto_json doc = { 0 };

        if (!document_read(g->format, buf_str(now), &doc, e))
            return false;
        if (json_get(json_get(doc.root, g->container), name))
            continue; /* it is there again */
        if (!document_set(g->format, &next, buf_str(now), at,
                          json_str(json_get(it.val, "json")), e) ||
            !buf_ok(&next, e) ||
            !document_same_but(g->format, buf_str(now), buf_str(&next), at, e))
            return false;
        buf_swap(now, &next);
        buf_clear(&next);
        f->put_back++;
    }
    return true;
}

static bool take_servers_out(struct undo_file *f, struct buf *now, struct error *e)
{
    bool of_user = !json_bool(json_get(f->v, "project"), false);

    for (struct json_iter it = json_iter(json_get(f->v, "servers")); json_next(&it);) {
        const struct plugin *p = import_parse(f->u->a, f->path, of_user, buf_str(now), e);
        const struct server_def *def;
        size_t index;

        if (!p)
            return false;
        def = import_find_server(p, json_str(json_get(it.val, "name")), &index);
        if (!def ||
            !str_eq(import_identity(f->u->a, def), json_str(json_get(it.val, "identity"))))
            continue; /* somebody's own by now */
        if (!import_drop_server(now, index, e))
            return false;
        f->put_back++;
    }
    return true;
}

static bool edit_back(void *ctx, struct str text, struct buf *out, struct error *e)
{
    struct undo_file *f = ctx;
    auto_buf now = BUF(REWRITE_MAX_BYTES);
    bool ok = true;

    f->put_back = 0;
    f->whole = is_as_left(f, text, true);
    if (f->whole) {
        buf_add(out, buf_str(&f->bytes));
        return true;
    }
    buf_add(&now, text);
    if (f->agent)
        ok = put_entries_back(f, &now, e);
    else if (str_is(json_str(json_get(f->v, "kind")), "plugin") && text.n)
        ok = take_servers_out(f, &now, e);
    buf_add(out, buf_str(&now));
    return ok;
}

/* The agents that import added. */
static void undo_config(struct undo_file *f)
{
    bool changed = false;
    struct error e;

    for (struct json_iter it = json_iter(json_get(f->u->root, "agents")); json_next(&it);) {
        bool one;

        if (!config_remove_agent(f->u->dirs, json_str(it.val), &one, &e)) {
            say(f, SYNC_ERROR, e.msg);
            return;
        }
        changed |= one;
    }
    say(f, SYNC_NOTE,
        changed ? "changed since the import; only the agents it added were taken out"
                : "changed since the import, and left as it is");
}

static void tell(struct undo_file *f, bool wrote)
{
    const char *what = f->agent ? "entries were put back" : "servers were taken out";

    if (f->whole)
        say(f, SYNC_WRITTEN, "as it was before the import");
    else if (wrote)
        say(f, SYNC_WRITTEN,
            arena_printf(f->u->a,
                         "changed since the import, so %zu %s one by "
                         "one",
                         f->put_back, what));
    else
        say(f, SYNC_NOTE, "changed since the import, and left as it is");
}

/* Import made it. */
static bool remove_file(struct undo_file *f)
{
    auto_buf text = BUF(REWRITE_MAX_BYTES);
    char sha256[SHA256_HEX_SIZE];

    if (f->before.n || !read_now(f->path, &text, sha256, NULL) || !*sha256 ||
        !is_as_left(f, buf_str(&text), true))
        return false;
    if (unlink(f->path) != 0)
        say(f, SYNC_ERROR, strerror(errno));
    else
        say(f, SYNC_WRITTEN, "removed: it was not there before the import");
    return true;
}

static void rewrite_back(struct undo_file *f)
{
    struct rewrite w = { .dirs = f->u->dirs,
                         .path = f->path,
                         .mode = REWRITE_SECRET_MODE,
                         .lock_dir = f->agent && f->agent->lock_dir &&
                                     !json_bool(json_get(f->v, "project"), false),
                         .edit = edit_back,
                         .ctx = f };
    enum rewrite_end end;
    struct error e;

    if (!rewrite_file(&w, &end, NULL, NULL, &e))
        say(f, SYNC_ERROR, e.msg);
    else
        tell(f, end == REWRITE_DONE);
}

/* A manifest that import made, and that holds nothing any more. */
static void remove_bare(struct undo_file *f)
{
    bool of_user = !json_bool(json_get(f->v, "project"), false);
    auto_buf text = BUF(MANIFEST_MAX_BYTES);

    if (f->before.n || !str_is(json_str(json_get(f->v, "kind")), "plugin") ||
        !file_read(f->path, &text, NULL) || !str_is(buf_str(&text), import_head(of_user)))
        return;
    if (unlink(f->path) != 0)
        say(f, SYNC_ERROR, strerror(errno));
}

static void undo_file(struct undo *u, yyjson_val *v)
{
    struct undo_file f = { .u = u,
                           .v = v,
                           .path = arena_z(u->a, json_str(json_get(v, "path"))),
                           .agent = agent_find(json_str(json_get(v, "agent"))),
                           .before = json_str(json_get(v, "before")),
                           .after = json_str(json_get(v, "after")),
                           .bytes = BUF(REWRITE_MAX_BYTES),
                           .knows_after = json_get(v, "after") != NULL };
    auto_buf now = BUF(REWRITE_MAX_BYTES);
    char sha256[SHA256_HEX_SIZE];
    struct error e;
    int64_t n = 0;

    json_int(json_get(v, "number"), &n);
    if (!path_is_abs(f.path) || !read_now(f.path, &now, sha256, &e)) {
        say(&f, SYNC_ERROR, path_is_abs(f.path) ? e.msg : "the record is damaged");
        return;
    }
    if (str_is(f.before, sha256) || remove_file(&f))
        return;
    if (f.before.n && !file_read(before_path(u->a, u->record, (size_t)n), &f.bytes, &e)) {
        say(&f, SYNC_ERROR, e.msg);
    } else if (str_is(json_str(json_get(v, "kind")), "config") &&
               !is_as_left(&f, buf_str(&now), *sha256 != '\0')) {
        undo_config(&f);
    } else if (*sha256 || f.before.n) {
        rewrite_back(&f);
        remove_bare(&f);
    }
    buf_free(&f.bytes);
}

/* Plugins last: an entry is back in its file before the plugin loses it. */
static void undo_files(struct undo *u, bool plugins)
{
    for (struct json_iter it = json_iter(json_get(u->root, "files")); json_next(&it);)
        if (str_is(json_str(json_get(it.val, "kind")), "plugin") == plugins)
            undo_file(u, it.val);
}

bool import_undo(struct arena *a, const struct dirs *dirs, struct sync_report *r,
                 struct error *e)
{
    const char *dir = path_join(a, dirs->state, "imports");
    int64_t n = last_record(dir);
    struct undo u = { .a = a, .dirs = dirs, .report = r };
    auto_buf text = BUF(RECORD_MAX);
    auto_json doc = { 0 };

    if (!n)
        return error_set(e, ERR_NOT_FOUND, "there is no import to undo");
    u.record = arena_printf(a, "%s/%lld", dir, (long long)n);
    if (!file_read(path_join(a, u.record, "record.json"), &text, e)) {
        /* Killed while it began: nothing was changed. */
        if (e && e->kind == ERR_NOT_FOUND && tree_remove(AT_FDCWD, u.record))
            return import_undo(a, dirs, r, e);
        return false;
    }
    if (!json_parse(&doc, buf_str(&text), e))
        return error_wrap(e, "%s/record.json", u.record);
    u.root = doc.root;
    undo_files(&u, false);
    undo_files(&u, true);
    if (u.failed)
        return error_set(e, ERR_SYS,
                         "not everything was undone; 'symposium import --undo' "
                         "goes on with the rest");
    return tree_remove(AT_FDCWD, u.record) || error_set(e, ERR_SYS, "remove '%s'", u.record);
}
