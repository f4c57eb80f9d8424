/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/registry.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/beneath.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "plugins/checkout.h"
#include "plugins/manifest.h"
#include "plugins/skill.h"

struct entry {
    const char *dir;
    const char *subpath;
    const char *file; /* manifest or SKILL.md, absolute */
    bool skill;
};

struct walk {
    struct load_ctx *l;
    struct str registry;
    unsigned dirs_left;
    bool cut;         /* a ceiling was reached */
    const char *root; /* a stranger's: what lies beneath it is read; NULL: the user's own */
    struct {
        struct entry *v;
        size_t n, cap;
    } found;
};

static void fail(struct load_ctx *l, struct str registry, const char *name, const char *reason)
{
    ARENA_PUSH(l->a, &l->out->failures) = (struct load_failure){ .name = str_of(name),
                                                                 .registry = registry,
                                                                 .reason = str_of(reason) };
}

static void warn_several(struct load_ctx *l, const char *dir, const struct manifest_name *m)
{
    if (m->found > 1)
        ARENA_PUSH(l->a, &l->out->warnings) = str_of(
            arena_printf(l->a, "%s holds %u manifests; %s is used", dir, m->found, m->name));
}

/* Records the file; false, and a failure, when it would pass the budget. */
static bool take_file(struct load_ctx *l, struct str registry, const char *name,
                      const char *file)
{
    struct file_stamp stamp = watch_add(l->watch, l->a, file);

    if (stamp.exists && (size_t)stamp.size > l->bytes_left) {
        fail(l, registry, name,
             arena_printf(l->a, "skipping %s: with it, the manifests read here are too large",
                          file));
        return false;
    }
    l->bytes_left -= stamp.exists ? (size_t)stamp.size : 0;
    return true;
}

/* ---- the walk ---- */

struct listing {
    struct manifest_name manifest;
    bool skill;
    struct strs dirs;
};

static bool list_dir(struct walk *w, const char *dir, struct listing *ret)
{
    DIR *d;

    if (w->dirs_left == 0) {
        w->cut = true;
        return false;
    }
    w->dirs_left--;
    watch_add(w->l->watch, w->l->a, dir);
    d = opendir(dir);
    if (!d)
        return false;
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        manifest_name_see(&ret->manifest, e->d_name);
        ret->skill |= strcmp(e->d_name, SKILL_FILE_NAME) == 0;
        if (strcmp(e->d_name, ".git") != 0 && file_entry_is_dir(d, e))
            ARENA_PUSH(w->l->a, &ret->dirs) = arena_str(w->l->a, str_of(e->d_name));
    }
    closedir(d);
    return true;
}

static void add_entry(struct walk *w, const char *dir, const char *subpath,
                      const struct listing *ls)
{
    const char *name = ls->manifest.name ? ls->manifest.name : SKILL_FILE_NAME;

    if (w->found.n >= REGISTRY_MAX_ENTRIES) {
        w->cut = true;
        return;
    }
    warn_several(w->l, dir, &ls->manifest);
    ARENA_PUSH(w->l->a, &w->found) = (struct entry){ .dir = dir,
                                                     .subpath = subpath,
                                                     .file = path_join(w->l->a, dir, name),
                                                     .skill = !ls->manifest.name };
}

static void walk_dir(struct walk *w, const char *dir, const char *subpath, unsigned depth)
{
    struct listing ls = { 0 };

    if (!list_dir(w, dir, &ls))
        return;
    if (ls.manifest.name || ls.skill) {
        if (depth)
            add_entry(w, dir, subpath, &ls);
        else
            fail(w->l, w->registry, dir,
                 arena_printf(w->l->a,
                              "skipping %s: it should contain subdirectories with "
                              "plugins, not be a plugin itself",
                              dir));
        return;
    }
    if (depth >= REGISTRY_MAX_DEPTH) {
        w->cut |= ls.dirs.n != 0;
        return;
    }
    for (size_t i = 0; i < ls.dirs.n; i++)
        walk_dir(w, path_join(w->l->a, dir, ls.dirs.v[i].p),
                 depth ? path_join(w->l->a, subpath, ls.dirs.v[i].p) : ls.dirs.v[i].p,
                 depth + 1);
}

static int by_subpath(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return strcmp(x->subpath, y->subpath);
}

/* A manifest that is a link may be a link to anything. */
static bool check_beneath(const struct walk *w, const struct entry *entry)
{
    auto_close int root = open(w->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    auto_close int file =
        root < 0 ? -1 : open_beneath(root, entry->file + strlen(w->root) + 1, O_PATH);

    if (file >= 0)
        return true;
    fail(w->l, w->registry, entry->subpath,
         arena_printf(w->l->a, "skipping %s: it is a link that leads out of the repository",
                      entry->file));
    return false;
}

static void load_entry(struct walk *w, const struct entry *entry)
{
    struct load_ctx *l = w->l;
    struct manifest_source src = { .origin = ORIGIN_REGISTRY,
                                   .registry = w->registry,
                                   .subpath = str_of(entry->subpath),
                                   .dir = str_of(entry->dir) };
    struct error why = { 0 };
    struct plugin *p;

    if ((w->root && !check_beneath(w, entry)) ||
        !take_file(l, w->registry, entry->subpath, entry->file))
        return;
    p = entry->skill ? skill_plugin_load(l->a, entry->file, &src, &why)
                     : manifest_load(l->a, entry->file, &src, &why);
    if (p)
        ARENA_PUSH(l->a, &l->out->plugins) = p;
    else
        fail(l, w->registry, entry->subpath,
             arena_printf(l->a, "skipping %s: %s", entry->file, why.msg));
}

static void load_tree(struct load_ctx *l, struct str name, const char *root, bool strange)
{
    struct walk w = {
        .l = l, .registry = name, .dirs_left = REGISTRY_MAX_DIRS, .root = strange ? root : NULL
    };

    l->bytes_left = REGISTRY_MAX_BYTES;
    walk_dir(&w, root, "", 0);
    if (w.found.n)
        qsort(w.found.v, w.found.n, sizeof *w.found.v, by_subpath);
    for (size_t i = 0; i < w.found.n; i++)
        load_entry(&w, &w.found.v[i]);
    if (w.cut)
        ARENA_PUSH(l->a, &l->out->warnings) = str_of(arena_printf(
            l->a,
            "registry '%.*s' is only read in part: at most %d plugins in %d directories, %d "
            "deep",
            STR_F(name), REGISTRY_MAX_ENTRIES, REGISTRY_MAX_DIRS, REGISTRY_MAX_DEPTH));
}

void registry_load(struct load_ctx *l, struct str name, const char *root)
{
    load_tree(l, name, root, false);
}

/* False with *e when there is no checkout. */
static bool load_git(struct load_ctx *l, struct str name, struct str git,
                     const struct dirs *dirs, struct error *e)
{
    struct git_source source;
    const char *root;
    int lock;

    if (!git_source_parse(&source, l->a, git, e))
        return false;
    lock = checkout_read_lock(dirs->cache, &source);
    watch_add(l->watch, l->a, checkout_dir(l->a, dirs->cache, &source));
    root = checkout_find(l->a, dirs->cache, &source, e);
    if (root)
        load_tree(l, name, root, true);
    checkout_unlock(lock);
    return root != NULL;
}

static void load_recommendations(struct load_ctx *l, const struct config *config,
                                 const struct dirs *dirs)
{
    struct error why = { 0 };

    if (!load_git(l, STR(RECOMMENDATIONS), config->recommendations_git, dirs, &why))
        ARENA_PUSH(l->a, &l->out->warnings) =
            str_of(arena_printf(l->a, "registry '" RECOMMENDATIONS "': %s", why.msg));
}

void registries_load(struct load_ctx *l, const struct config *config, const struct dirs *dirs)
{
    if (config->recommendations && config->recommendations_git.n)
        load_recommendations(l, config, dirs);
    if (config->user_plugins)
        registry_load(l, STR("user-plugins"), path_join(l->a, dirs->config, "plugins"));
    for (size_t i = 0; i < config->registries.n; i++) {
        const struct registry_config *reg = &config->registries.v[i];
        struct error why = { 0 };

        if (reg->path.n)
            registry_load(l, reg->name, arena_z(l->a, reg->path));
        else if (!load_git(l, reg->name, reg->git, dirs, &why)) {
            fail(l, reg->name, arena_z(l->a, reg->name),
                 arena_printf(l->a, "registry '%.*s': %s", STR_F(reg->name), why.msg));
            l->out->failures.v[l->out->failures.n - 1].unfetched = why.kind == ERR_NOT_FOUND;
        }
    }
}

/* ---- the workspace's own ---- */

static bool exists(struct load_ctx *l, const char *dir, const char *name)
{
    return watch_add(l->watch, l->a, path_join(l->a, dir, name)).exists;
}

static void load_workspace_dir(struct load_ctx *l, const struct workspace *ws, const char *dir,
                               bool agents_syncing)
{
    static const char *const names[] = { MANIFEST_NAMES };
    struct manifest_source src = { .origin = ORIGIN_WORKSPACE,
                                   .registry = STR("workspace"),
                                   .dir = str_of(dir),
                                   .fallback_name = str_of(path_base(dir)),
                                   .agents_syncing = agents_syncing };
    struct manifest_name m = { 0 };
    struct error why = { 0 };
    const char *file;
    struct plugin *p;

    if (strlen(dir) > ws->root.n)
        src.subpath = str_from(src.dir, ws->root.n + 1);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (exists(l, dir, names[i]))
            manifest_name_see(&m, names[i]);
    warn_several(l, dir, &m);
    if (!m.name) {
        bool skills = exists(l, dir, "skills");

        if (skills || (agents_syncing && exists(l, dir, ".agents/skills")))
            ARENA_PUSH(l->a, &l->out->plugins) = manifest_defaults(l->a, &src);
        return;
    }
    file = path_join(l->a, dir, m.name);
    if (!take_file(l, src.registry, dir, file))
        return;
    p = manifest_load(l->a, file, &src, &why);
    if (p)
        ARENA_PUSH(l->a, &l->out->plugins) = p;
    else
        fail(l, src.registry, dir, arena_printf(l->a, "skipping %s: %s", file, why.msg));
}

void workspace_plugins_load(struct load_ctx *l, const struct workspace *ws, bool agents_syncing)
{
    l->bytes_left = WORKSPACE_MAX_PLUGIN_BYTES;
    load_workspace_dir(l, ws, ws->root.p, agents_syncing);
    for (size_t i = 0; i < ws->members.n; i++)
        load_workspace_dir(l, ws, ws->members.v[i].p, agents_syncing);
}
