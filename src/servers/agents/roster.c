/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/roster.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"

/* In order of precedence. */
static const struct root {
    const char *dir;
    enum agent_vendor vendor;
    bool markdown, toml;
} roots[] = {
    { ".agents/agents", VENDOR_OURS, true, true },
    { ".claude/agents", VENDOR_CLAUDE, true, false },
    { ".codex/agents", VENDOR_CODEX, false, true },
    { ".opencode/agents", VENDOR_OPENCODE, true, false },
};

struct paths {
    const char **v;
    size_t n, cap;
};

struct search {
    struct arena *a;
    struct roster *c;
    struct {
        struct agent_def *v;
        size_t n, cap;
    } found;
    struct map files, dirs; /* canonical paths seen */
    struct map names;       /* name -> the file that has it */
    struct map clashes;     /* names that were warned about */
    size_t text, entries;
    const struct roster_opts *o;

    /* of the root that is being searched */
    const struct root *root;
    const char *real;
    struct paths paths;
};

__attribute__((format(printf, 2, 3))) static void say(const struct search *s, const char *fmt,
                                                      ...)
{
    char line[ERROR_MSG_MAX + PATH_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (s->o->warn)
        s->o->warn(s->o->ctx, line);
}

/* ---- one file ---- */

static bool has_room(struct search *s, const struct agent_def *d)
{
    const char *first = map_get(&s->names, d->name);

    if (first) {
        if (!map_put(&s->clashes, d->name, (void *)first))
            say(s, "%s: left out, the agent '%.*s' in %s comes first", d->file, STR_F(d->name),
                first);
        return false;
    }
    if (s->found.n == ROSTER_MAX_AGENTS ||
        s->text + d->name.n + d->description.n > ROSTER_MAX_TEXT) {
        say(s,
            "%s: left out, there are too many agents: at most %d, with %zu bytes of "
            "descriptions",
            d->file, ROSTER_MAX_AGENTS, ROSTER_MAX_TEXT);
        return false;
    }
    return true;
}

static void add(struct search *s, const char *file)
{
    auto_buf text = BUF(AGENT_FILE_MAX);
    struct agent_source src = {
        s->root->vendor, str_ends(str_of(file), STR(".toml")), file, { 0 }
    };
    struct strs warnings = { 0 };
    char hex[SHA256_HEX_SIZE];
    struct agent_def d;
    struct error e;
    bool ignored = false;

    if (!file_read(file, &text, &e)) {
        say(s, "%s: left out: %s", file, e.msg);
        return;
    }
    src.text = buf_str(&text);
    if (!agent_parse(s->a, &src, s->o->settings, &d, &warnings, &ignored, &e)) {
        if (!ignored)
            say(s, "%s: left out: %s", file, e.msg);
        return;
    }
    if (!has_room(s, &d))
        return;
    sha256_hex(src.text, hex);
    d.sha256 = arena_str(s->a, str_of(hex));
    for (size_t i = 0; i < warnings.n; i++)
        say(s, "%s: %.*s", file, STR_F(warnings.v[i]));
    ARENA_PUSH(s->a, &s->found) = d;
    s->text += d.name.n + d.description.n;
    map_put(&s->names, d.name, (void *)file);
}

/* ---- directories ---- */

static void walk(struct search *s, const char *dir, int depth);

static bool is_definition(const struct search *s, const char *name)
{
    struct str n = str_of(name);

    return (s->root->markdown && str_ends(n, STR(".md"))) ||
           (s->root->toml && str_ends(n, STR(".toml")));
}

/* An entry is what it leads to: that must lie in the root and in the workspace. */
static void consider(struct search *s, const char *dir, const char *name, int depth)
{
    char path[2 * PATH_MAX], real[PATH_MAX];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (!realpath(path, real) || stat(real, &st) != 0) {
        if (is_definition(s, name))
            say(s, "%s: left out: %s", path, strerror(errno));
        return;
    }
    if (!S_ISDIR(st.st_mode) && !is_definition(s, name))
        return;
    if (!path_beneath(s->real, real) || !path_beneath(s->c->workspace, real)) {
        say(s, "%s: left out, it leads out of %s", path, s->real);
        return;
    }
    if (S_ISDIR(st.st_mode)) {
        walk(s, real, depth + 1);
    } else if (!S_ISREG(st.st_mode)) {
        say(s, "%s: left out, it is no regular file", path);
    } else if (!map_put(&s->files, str_of(real), s)) {
        ARENA_PUSH(s->a, &s->paths) = arena_z(s->a, str_of(real));
    }
}

static void walk(struct search *s, const char *dir, int depth)
{
    struct dirent *entry;
    DIR *d;

    if (map_put(&s->dirs, str_of(dir), s)) /* a loop of links, or a second way */
        return;
    if (depth > ROSTER_MAX_DEPTH) {
        say(s, "%s: left out, it lies more than %d directories deep", dir, ROSTER_MAX_DEPTH);
        return;
    }
    d = opendir(dir);
    if (!d) {
        say(s, "%s: cannot be read: %s", dir, strerror(errno));
        return;
    }
    while ((entry = readdir(d)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (s->entries++ == ROSTER_MAX_ENTRIES)
            say(s, "%s: only the first %d directory entries are looked at", dir,
                ROSTER_MAX_ENTRIES);
        if (s->entries > ROSTER_MAX_ENTRIES)
            break;
        consider(s, dir, entry->d_name, depth);
    }
    closedir(d);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void search_root(struct search *s, const struct root *root)
{
    struct arena *a = s->a;

    s->root = root;
    s->real = path_real(a, path_join(a, s->c->workspace, root->dir), NULL);
    s->paths = (struct paths){ 0 };
    if (!s->real || !file_is_dir(s->real))
        return;
    if (!path_beneath(s->c->workspace, s->real)) {
        say(s, "%s: left out, it leads out of %s", root->dir, s->c->workspace);
        return;
    }
    walk(s, s->real, 0);
    if (s->paths.n)
        qsort(s->paths.v, s->paths.n, sizeof *s->paths.v, by_text);
    for (size_t i = 0; i < s->paths.n; i++)
        add(s, s->paths.v[i]);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct agent_def *)a)->name, ((const struct agent_def *)b)->name);
}

bool roster_load(struct roster *ret, struct arena *a, const char *workspace,
                 const struct roster_opts *o, struct error *e)
{
    struct search s = { .a = a, .c = ret, .o = o };

    *ret = (struct roster){ 0 };
    ret->workspace = path_real(a, workspace, e);
    if (!ret->workspace)
        return false;
    if (!file_is_dir(ret->workspace))
        return error_set(e, ERR_INVALID, "'%s' is not a directory", workspace);
    for (size_t i = 0; i < ARRAY_LEN(roots); i++)
        search_root(&s, &roots[i]);
    map_free(&s.files);
    map_free(&s.dirs);
    map_free(&s.names);
    map_free(&s.clashes);
    ret->v = s.found.v;
    ret->n = s.found.n;
    if (ret->n)
        qsort(ret->v, ret->n, sizeof *ret->v, by_name);
    return true;
}

const struct agent_def *roster_find(const struct roster *c, struct str name)
{
    const struct agent_def key = { .name = name };

    return c->n ? bsearch(&key, c->v, c->n, sizeof *c->v, by_name) : NULL;
}
