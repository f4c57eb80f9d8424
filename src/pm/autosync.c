/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "pm/autosync.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "plugins/manifest.h"
#include "pm/deps_cache.h"
#include "text/json.h"

#define STAMP_MAX ((size_t)2 << 20)
#define FILES     "last-sync-lock-mtime-ns"

/* What package managers and sync read at the root, and in a member. */
static const char *const root_files[] = { "Cargo.lock",
                                          "Cargo.toml",
                                          "package-lock.json",
                                          "npm-shrinkwrap.json",
                                          "package.json",
                                          "yarn.lock",
                                          "pnpm-lock.yaml",
                                          "pnpm-workspace.yaml",
                                          "bun.lock",
                                          "bun.lockb",
                                          "pyproject.toml",
                                          "uv.lock",
                                          "poetry.lock",
                                          "go.mod",
                                          "go.sum",
                                          MANIFEST_NAMES };
static const char *const member_files[] = { "Cargo.toml", "package.json", MANIFEST_NAMES };

static const char *state_path(struct arena *a, const char *cache_dir, const struct workspace *w)
{
    return path_join(a, workspace_cache_dir(a, cache_dir, w->root), "state.json");
}

/* The name of a file below the root. */
static struct str shown(const struct workspace *w, const char *path)
{
    struct str s = str_of(path), root = w->root;

    return str_starts(s, root) && s.n > root.n && s.p[root.n] == '/' ? str_from(s, root.n + 1)
                                                                     : s;
}

static void put_file(struct jw *w, struct str name, const char *path)
{
    struct file_stamp st = file_stamp(path);

    if (!st.exists)
        return;
    jw_key_s(w, name);
    jw_obj(w);
    jw_kint(w, "mtime_ns", st.mtime_ns);
    jw_kint(w, "size", st.size);
    jw_end(w);
}

struct str autosync_stamp(struct arena *a, const struct workspace *w)
{
    auto_buf out = BUF(STAMP_MAX);
    struct jw j = jw_to(&out);

    jw_obj(&j);
    for (size_t i = 0; i < ARRAY_LEN(root_files); i++)
        put_file(&j, str_of(root_files[i]), path_join(a, arena_z(a, w->root), root_files[i]));
    for (size_t m = 0; m < w->members.n; m++)
        for (size_t i = 0; i < ARRAY_LEN(member_files); i++) {
            const char *path = path_join(a, arena_z(a, w->members.v[m]), member_files[i]);

            put_file(&j, shown(w, path), path);
        }
    jw_end(&j);
    return arena_str(a, buf_str(&out));
}

bool autosync_due(const char *cache_dir, const struct workspace *w)
{
    auto_arena a = ARENA;
    auto_buf text = BUF(AUTOSYNC_MAX_BYTES), was = BUF(AUTOSYNC_MAX_BYTES);
    auto_json j = { 0 };

    if (!file_read(state_path(&a, cache_dir, w), &text, NULL) ||
        !json_parse(&j, buf_str(&text), NULL) ||
        !str_eq(json_str(json_get(j.root, "workspace-root")), w->root))
        return true;
    json_put_val(&was, json_get(j.root, FILES));
    return !str_eq(buf_str(&was), autosync_stamp(&a, w));
}

void autosync_note(const char *cache_dir, const struct workspace *w, struct str stamp)
{
    auto_arena a = ARENA;
    auto_buf out = BUF(AUTOSYNC_MAX_BYTES);
    const char *path = state_path(&a, cache_dir, w);
    struct jw j = jw_to(&out);
    struct error e = { 0 };

    jw_obj(&j);
    jw_kint(&j, "version", 1);
    jw_kstr(&j, "workspace-root", w->root);
    jw_key(&j, FILES);
    jw_raw(&j, stamp.n ? stamp : autosync_stamp(&a, w));
    jw_end(&j);
    if (!buf_ok(&out, &e) || !file_mkdirs(path_dir(&a, path), &e) ||
        !file_write_cache(path, buf_str(&out), &e))
        log_debug("%s", e.msg);
}
