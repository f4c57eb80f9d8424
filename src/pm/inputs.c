/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/inputs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/path.h"
#include "plugins/manifest.h"

#define MAX_STORES 64  /* directories below one of cargo's stores */
#define MAX_NPM    256 /* dependencies whose place in node_modules is watched */

void inputs_add(struct inputs *l, struct arena *a, const char *path)
{
    struct str kept = arena_str(a, str_of(path));

    ARENA_PUSH(a, l) = (struct input){ .path = kept, .stamp = file_stamp(kept.p) };
}

/* ---- manifests and lockfiles ---- */

/* pm NULL: of any package manager but the built-in kinds. */
static const struct known_file {
    const char *pm, *file;
    bool of_members;
} known_files[] = {
    { "cargo", "Cargo.toml", true },
    { "cargo", "Cargo.lock", false },
    { "npm", "package.json", true },
    { "npm", "package-lock.json", false },
    { "npm", "npm-shrinkwrap.json", false },
    { "npm", "pnpm-workspace.yaml", false },
    { "npm", "pnpm-lock.yaml", false },
    { "npm", "yarn.lock", false },
    { "npm", "bun.lock", false },
    { NULL, "pyproject.toml", false },
    { NULL, "requirements.txt", false },
    { NULL, "uv.lock", false },
    { NULL, "poetry.lock", false },
    { NULL, "go.mod", false },
    { NULL, "go.sum", false },
    { NULL, "Gemfile.lock", false },
    { NULL, "composer.lock", false },
};

static bool is_known_kind(const char *pm)
{
    return strcmp(pm, "cargo") == 0 || strcmp(pm, "npm") == 0;
}

static bool may_read(const char *pm, const struct known_file *f)
{
    return f->pm ? strcmp(f->pm, pm) == 0 : !is_known_kind(pm);
}

void inputs_add_manifests(struct inputs *l, struct arena *a, const char *pm,
                          const struct workspace *w)
{
    const char *root = arena_z(a, w->root);

    for (size_t i = 0; i < ARRAY_LEN(known_files); i++) {
        const struct known_file *f = &known_files[i];

        if (!may_read(pm, f))
            continue;
        inputs_add(l, a, path_join(a, root, f->file));
        for (size_t m = 0; f->of_members && m < w->members.n; m++)
            inputs_add(l, a, path_join(a, arena_z(a, w->members.v[m]), f->file));
    }
}

/* ---- stores ---- */

/* The directory and the directories in it: a package that appears changes one of them. */
static void add_store(struct inputs *l, struct arena *a, const char *dir)
{
    unsigned left = MAX_STORES;
    DIR *d;

    inputs_add(l, a, dir);
    d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; left && (e = readdir(d));) {
        if (e->d_name[0] == '.' || !file_entry_is_dir(d, e))
            continue;
        inputs_add(l, a, path_join(a, dir, e->d_name));
        left--;
    }
    closedir(d);
}

static void add_cargo(struct inputs *l, struct arena *a, const char *root)
{
    static const char *const of_workspace[] = { ".cargo/config.toml", ".cargo/config",
                                                "vendor" };
    const char *home = getenv("CARGO_HOME"), *user = getenv("HOME");

    for (size_t i = 0; i < ARRAY_LEN(of_workspace); i++)
        inputs_add(l, a, path_join(a, root, of_workspace[i]));
    if (!home || !*home)
        home = path_join(a, user ? user : "/", ".cargo");
    home = path_join(a, root, home);
    inputs_add(l, a, path_join(a, home, "config.toml"));
    add_store(l, a, path_join(a, home, "registry/src"));
    add_store(l, a, path_join(a, home, "git/checkouts"));
}

static void add_npm(struct inputs *l, struct arena *a, const struct workspace *w,
                    const struct deps *deps)
{
    const char *modules = path_join(a, arena_z(a, w->root), "node_modules");
    size_t left = MAX_NPM;

    inputs_add(l, a, modules);
    inputs_add(l, a, path_join(a, modules, ".package-lock.json"));
    for (size_t i = 0; i < w->members.n; i++)
        inputs_add(l, a, path_join(a, arena_z(a, w->members.v[i]), "node_modules"));
    for (size_t i = 0; deps && i < deps->n && left; i++) {
        if (!str_is(deps->v[i].pm, "npm"))
            continue;
        inputs_add(l, a, path_join(a, modules, arena_z(a, deps->v[i].name)));
        left--;
    }
}

void inputs_add_stores(struct inputs *l, struct arena *a, const char *pm,
                       const struct workspace *w, const struct deps *deps)
{
    if (strcmp(pm, "cargo") == 0)
        add_cargo(l, a, arena_z(a, w->root));
    else if (strcmp(pm, "npm") == 0)
        add_npm(l, a, w, deps);
}

void inputs_add_package(struct inputs *l, struct arena *a, const char *root)
{
    static const char *const files[] = { MANIFEST_NAMES, "Cargo.toml", "package.json",
                                         "skills" };

    inputs_add(l, a, root);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        inputs_add(l, a, path_join(a, root, files[i]));
}

/* ---- comparison ---- */

static int by_path(const void *a, const void *b)
{
    const struct input *x = a, *y = b;

    return str_cmp(x->path, y->path);
}

/* qsort is not stable: the place decides between equals. */
static int by_path_then_place(const void *a, const void *b)
{
    const struct input *const *x = a, *const *y = b;
    int order = by_path(*x, *y);

    return order ? order : (*x > *y) - (*x < *y);
}

void inputs_sort(struct inputs *l)
{
    struct arena scratch = ARENA;
    const struct input **order = ARENA_ARRAY(&scratch, const struct input *, l->n + 1);
    struct input *sorted = ARENA_ARRAY(&scratch, struct input, l->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        order[i] = &l->v[i];
    qsort(order, l->n, sizeof *order, by_path_then_place);
    for (size_t i = 0; i < l->n; i++)
        if (n == 0 || !str_eq(sorted[n - 1].path, order[i]->path))
            sorted[n++] = *order[i];
    if (n)
        memcpy(l->v, sorted, n * sizeof *sorted);
    l->n = n;
    arena_free(&scratch);
}

bool inputs_fresh(const struct inputs *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct file_stamp now = file_stamp(l->v[i].path.p);

        if (!file_stamp_eq(&now, &l->v[i].stamp))
            return false;
    }
    return true;
}

bool inputs_have(const struct inputs *l, struct str path)
{
    struct input key = { .path = path };

    return l->n && bsearch(&key, l->v, l->n, sizeof *l->v, by_path) != NULL;
}

bool inputs_racy(const struct inputs *l, int64_t began_ns)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].stamp.exists && l->v[i].stamp.mtime_ns >= began_ns)
            return true;
    return false;
}

int64_t inputs_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- on disk ---- */

static void put_stamp(struct jw *w, const struct file_stamp *s)
{
    if (!s->exists) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_kint(w, "mtime_ns", s->mtime_ns);
    jw_kint(w, "size", s->size);
    jw_kint(w, "ino", (int64_t)s->ino);
    jw_end(w);
}

void inputs_put(struct jw *w, const struct inputs *l)
{
    jw_obj(w);
    for (size_t i = 0; i < l->n; i++) {
        jw_key_s(w, l->v[i].path);
        put_stamp(w, &l->v[i].stamp);
    }
    jw_end(w);
}

static bool read_stamp(yyjson_val *v, struct file_stamp *ret)
{
    int64_t ino;

    *ret = (struct file_stamp){ 0 };
    if (json_is_null(v))
        return true;
    if (!json_int(json_get(v, "mtime_ns"), &ret->mtime_ns) ||
        !json_int(json_get(v, "size"), &ret->size) || !json_int(json_get(v, "ino"), &ino))
        return false;
    ret->ino = (uint64_t)ino; /* two's complement: the high bit comes back */
    ret->exists = true;
    return true;
}

bool inputs_read(struct inputs *ret, struct arena *a, yyjson_val *v)
{
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        struct input in = { .path = arena_str(a, it.key) };

        if (!read_stamp(it.val, &in.stamp))
            return false;
        ARENA_PUSH(a, ret) = in;
    }
    inputs_sort(ret);
    return json_is_obj(v);
}
