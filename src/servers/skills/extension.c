/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The protocol's skills extension (mcp.md 8, SK-30): lists and files, all read anew. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "rpc/message.h"
#include "servers/skills/impl.h"
#include "servers/skills/manifest.h"
#include "servers/skills/place.h"

/* ---- what kind of file ---- */

/* clang-format off */
static const struct { const char *ext, *mime; } types[] = {
    { "md", "text/markdown" },  { "txt", "text/plain" },        { "json", "application/json" },
    { "yaml", "application/yaml" }, { "yml", "application/yaml" }, { "csv", "text/csv" },
    { "html", "text/html" },    { "css", "text/css" },          { "js", "text/javascript" },
    { "mjs", "text/javascript" }, { "py", "text/x-python" },    { "sh", "application/x-sh" },
    { "xml", "application/xml" }, { "pdf", "application/pdf" }, { "png", "image/png" },
    { "jpg", "image/jpeg" },    { "jpeg", "image/jpeg" },       { "gif", "image/gif" },
    { "webp", "image/webp" },   { "svg", "image/svg+xml" },
};
/* clang-format on */

/* NULL: nothing is said about it. */
static const char *mime_of(struct str rel)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        size_t n = strlen(types[i].ext);

        if (rel.n > n + 1 && rel.p[rel.n - n - 1] == '.' &&
            str_icase_eq(str_from(rel, rel.n - n), str_of(types[i].ext)))
            return types[i].mime;
    }
    return NULL;
}

static void put_uri(struct jw *w, struct str name, struct str rel)
{
    auto_buf uri = BUF(2 * SKILL_URI_MAX);

    skill_uri_put(&uri, name, rel);
    jw_kstr(w, "uri", buf_str(&uri));
}

/* ---- requests ---- */

/* We never hand out a cursor. */
static bool refused_cursor(struct mcp_req *r)
{
    yyjson_val *cursor = json_get(mcp_req_params(r), "cursor");

    if (!cursor || json_is_null(cursor))
        return false;
    mcp_reply_error(r, RPC_INVALID_PARAMS, (struct str){ 0 }, "invalid cursor");
    return true;
}

static void start_with_uri(void *ctx, struct mcp_req *r, void (*run)(struct task *t))
{
    yyjson_val *uri = json_get(mcp_req_params(r), "uri");

    if (json_is_str(uri))
        task_start(ctx, r, json_str(uri), run);
    else
        mcp_reply_error(r, RPC_INVALID_PARAMS, (struct str){ 0 }, "'uri' must be a string");
}

/* The skill that the task's URI is of; NULL and no_resource: none. */
static const struct skill *skill_of(struct task *t, struct skill_uri *ret)
{
    const struct skill *skill = skill_uri_parse(&t->arena, t->uri, ret)
                                    ? skillset_find(&t->skills->catalog, ret->name)
                                    : NULL;

    t->no_resource = !skill;
    return skill;
}

/* ---- skills/list, skills/get ---- */

/* A skill whose SKILL.md became unreadable is left out; activating it says why. */
static void run_list(struct task *t)
{
    const struct skillset *c = &t->skills->catalog;
    size_t room = ENTRY_MAX_RESOURCES;
    struct jw w = jw_to(&t->json);

    jw_obj(&w);
    jw_key(&w, "skills");
    jw_arr(&w);
    for (size_t i = 0; i < c->n && !task_cancelled(t); i++) {
        auto_buf entry = BUF(ANSWER_MAX);
        struct error e;

        if (!entry_put(&entry, &c->v[i], t, room, &e))
            continue;
        jw_raw(&w, buf_str(&entry));
        room -= entry.n < room ? entry.n : room;
    }
    jw_end(&w);
    jw_end(&w);
}

void skills_list(void *ctx, struct mcp_req *r)
{
    if (!refused_cursor(r))
        task_start(ctx, r, (struct str){ 0 }, run_list);
}

static void run_get(struct task *t)
{
    struct skill_uri uri;
    struct error e;
    const struct skill *skill = skill_of(t, &uri);

    if (!skill)
        return;
    if (uri.directory || !str_is(uri.path, SKILL_FILE)) {
        t->no_resource = true;
        return;
    }
    buf_addz(&t->json, "{\"skill\":");
    if (!entry_put(&t->json, skill, t, ENTRY_MAX_RESOURCES, &e))
        t->error = e; /* else e may hold what was wrong with a line that was mended */
    buf_addc(&t->json, '}');
}

void skills_get(void *ctx, struct mcp_req *r)
{
    start_with_uri(ctx, r, run_get);
}

/* ---- resources/list, resources/read ---- */

void skills_resources_list(void *ctx, struct mcp_req *r)
{
    const struct skills *s = ctx;
    auto_buf out = BUF(RESULT_MAX);
    struct jw w = jw_to(&out);

    jw_obj(&w);
    jw_key(&w, "resources");
    jw_arr(&w);
    for (size_t i = 0; i < s->catalog.n; i++) {
        jw_obj(&w);
        put_uri(&w, s->catalog.v[i].name, STR(SKILL_FILE));
        jw_kstr(&w, "name", s->catalog.v[i].name);
        jw_kstr(&w, "description", s->catalog.v[i].description);
        jw_kstrz(&w, "mimeType", "text/markdown");
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
    mcp_reply(r, buf_str(&out));
}

/* What is text stays byte for byte what it was: its digest is that of the file. */
static void put_contents(struct task *t, struct str rel, struct str bytes)
{
    bool text = utf8_valid(bytes) && str_find_char(bytes, '\0') == SIZE_MAX;
    const char *mime = mime_of(rel);
    struct jw w = jw_to(&t->json);

    jw_obj(&w);
    jw_key(&w, "contents");
    jw_arr(&w);
    jw_obj(&w);
    jw_kstr(&w, "uri", t->uri);
    if (mime)
        jw_kstrz(&w, "mimeType", mime);
    if (text) {
        jw_kstr(&w, "text", bytes);
    } else {
        auto_buf blob = BUF(base64_length(bytes.n) + 2);

        buf_addc(&blob, '"');
        base64_put(&blob, bytes);
        buf_addc(&blob, '"');
        jw_key(&w, "blob");
        jw_raw(&w, buf_str(&blob));
    }
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
}

static void run_read(struct task *t)
{
    auto_place p = { .fd = -1 };
    auto_buf bytes = BUF(SKILLS_READ_MAX);
    struct skill_uri uri;
    const struct skill *skill = skill_of(t, &uri);
    struct stat st;
    auto_close int fd = -1;

    if (!skill)
        return;
    if (uri.directory || !place_open(&p, skill, &t->error) ||
        (fd = place_file(&p, &t->arena, uri.path, &st, &t->error)) < 0) {
        t->no_resource = true;
        return;
    }
    if (place_read(fd, &bytes, &t->error))
        put_contents(t, uri.path, buf_str(&bytes));
}

void skills_resources_read(void *ctx, struct mcp_req *r, struct str uri)
{
    task_start(ctx, r, uri, run_read);
}

/* ---- resources/directory/read ---- */

struct child {
    struct str name;
    bool directory;
    int64_t size;
};

struct children {
    struct child *v;
    size_t n, cap;
};

/* A link counts when it leads to a file of the skill, as in a manifest. */
static void add_child(struct task *t, const struct place *p, struct str dir, int fd,
                      const char *name, struct children *to)
{
    struct str rel =
        str_of(arena_printf(&t->arena, "%.*s%s%s", STR_F(dir), dir.n ? "/" : "", name));
    struct stat st;
    struct error e;

    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (S_ISLNK(st.st_mode)) {
        auto_close int file = place_file(p, &t->arena, rel, &st, &e);

        if (file < 0)
            return;
    }
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        ARENA_PUSH(&t->arena, to) = (struct child){ .name = arena_str(&t->arena, str_of(name)),
                                                    .directory = S_ISDIR(st.st_mode),
                                                    .size = st.st_size };
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct child *)a)->name, ((const struct child *)b)->name);
}

/* Takes fd. */
static bool read_children(struct task *t, const struct place *p, struct str dir, int fd,
                          struct children *to)
{
    DIR *d = fdopendir(fd);
    struct dirent *entry;
    size_t seen = 0;

    if (!d) {
        close(fd);
        return error_set(&t->error, ERR_SYS, "cannot read the directory");
    }
    while ((entry = readdir(d)) != NULL && seen <= MANIFEST_MAX_ENTRIES && !task_cancelled(t)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        seen++;
        add_child(t, p, dir, dirfd(d), entry->d_name, to);
    }
    closedir(d);
    if (to->n)
        qsort(to->v, to->n, sizeof *to->v, by_name);
    return seen <= MANIFEST_MAX_ENTRIES ||
           error_set(&t->error, ERR_LIMIT, "more than %d directory entries",
                     MANIFEST_MAX_ENTRIES);
}

static void put_child(struct jw *w, const struct skill *skill, struct str dir,
                      const struct child *c, struct arena *a)
{
    struct str rel =
        str_of(arena_printf(a, "%.*s%s%.*s", STR_F(dir), dir.n ? "/" : "", STR_F(c->name)));
    const char *mime = c->directory ? "inode/directory" : mime_of(rel);

    jw_obj(w);
    put_uri(w, skill->name, rel);
    jw_kstr(w, "name", c->name);
    if (mime)
        jw_kstrz(w, "mimeType", mime);
    if (!c->directory)
        jw_kint(w, "size", c->size);
    jw_end(w);
}

static void run_directory(struct task *t)
{
    auto_place p = { .fd = -1 };
    struct children children = { 0 };
    struct skill_uri uri;
    const struct skill *skill = skill_of(t, &uri);
    struct jw w = jw_to(&t->json);
    int fd = -1;

    if (!skill)
        return;
    if (!place_open(&p, skill, &t->error) ||
        (fd = place_dir(&p, &t->arena, uri.path, &t->error)) < 0) {
        t->no_resource = true;
        return;
    }
    if (!read_children(t, &p, uri.path, fd, &children))
        return;
    jw_obj(&w);
    jw_key(&w, "resources");
    jw_arr(&w);
    for (size_t i = 0; i < children.n; i++)
        put_child(&w, skill, uri.path, &children.v[i], &t->arena);
    jw_end(&w);
    jw_end(&w);
}

void skills_directory_read(void *ctx, struct mcp_req *r)
{
    if (!refused_cursor(r))
        start_with_uri(ctx, r, run_directory);
}
