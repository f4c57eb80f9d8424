/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/skills/skillset.h"

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
#include "base/utf8.h"
#include "servers/skills/document.h"

/* In order of precedence. */
static const char *const workspace_roots[] = { ".agents/skills", ".claude/skills",
                                               ".opencode/skills" };
static const char *const user_roots[] = { ".agents/skills", ".claude/skills" };

struct found {
    struct skill *v;
    size_t n, cap;
};

struct search {
    struct skillset *c;
    struct found found; /* in order of precedence */
    struct map dirs;    /* canonical directories seen */
    struct map names;   /* name -> the directory that has it */
    size_t text;        /* bytes of names and descriptions */
    skillset_warn_fn warn;
};

__attribute__((format(printf, 2, 3))) static void say(const struct search *s, const char *fmt,
                                                      ...)
{
    char line[ERROR_MSG_MAX + PATH_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    s->warn(line);
}

static void warn_odd(const struct search *s, const struct skill *k, const struct document *d)
{
    if (!str_is(d->name, path_base(k->dir)))
        say(s, "%s: the name '%.*s' is not that of its directory", k->file, STR_F(d->name));
    if (utf8_cut_chars(d->description, SKILL_DESCRIPTION_ADVISABLE).n < d->description.n)
        say(s, "%s: line %u: the description has more than %d characters", k->file,
            d->description_line, SKILL_DESCRIPTION_ADVISABLE);
}

static bool has_room(const struct search *s, const struct document *d, const char *file)
{
    if (s->found.n == SKILLSET_MAX_SKILLS) {
        say(s, "%s: left out, there are %d skills already", file, SKILLSET_MAX_SKILLS);
        return false;
    }
    if (s->text + d->name.n + d->description.n > SKILLSET_MAX_TEXT) {
        say(s, "%s: left out, all descriptions together have more than %zu bytes", file,
            SKILLSET_MAX_TEXT);
        return false;
    }
    return true;
}

static void add(struct search *s, const char *dir, const char *file)
{
    auto_arena a = ARENA;
    auto_buf text = BUF(SKILL_FILE_MAX);
    struct document d = { 0 };
    struct error e;
    const char *first;
    struct skill *k;

    if (!file_read(file, &text, &e) || !document_parse(&a, buf_str(&text), &d, &e)) {
        /* What concerns the whole file has no line of its own. */
        say(s, str_starts(str_of(e.msg), STR("line ")) ? "%s: %s" : "%s: line 1: %s", file,
            e.msg);
        return;
    }
    first = map_get(&s->names, d.name);
    if (first) {
        say(s, "%s: left out, the skill '%.*s' in %s comes first", file, STR_F(d.name), first);
        return;
    }
    if (!has_room(s, &d, file))
        return;
    k = &ARENA_PUSH(&s->c->arena, &s->found);
    *k = (struct skill){ .name = arena_str(&s->c->arena, d.name),
                         .description = arena_str(&s->c->arena, d.description),
                         .dir = dir,
                         .file = arena_z(&s->c->arena, str_of(file)) };
    s->text += d.name.n + d.description.n;
    map_put(&s->names, k->name, (void *)dir);
    warn_odd(s, k, &d);
}

/* One child of a root, by its canonical path: with a SKILL.md that lies inside it. */
static void consider(struct search *s, const char *dir)
{
    char file[PATH_MAX];
    const char *named = arena_printf(&s->c->arena, "%s/" SKILL_FILE, dir);
    struct stat st;

    if (map_has(&s->dirs, str_of(dir)))
        return;
    map_put(&s->dirs, str_of(dir), (void *)dir);
    if (!realpath(named, file)) {
        if (errno != ENOENT || lstat(named, &st) == 0)
            say(s, "%s: line 1: cannot be read: %s", named, strerror(errno));
    } else if (!path_beneath(dir, file)) {
        say(s, "%s: line 1: left out, it leads out of the skill's directory", named);
    } else if (lstat(file, &st) != 0 || !S_ISREG(st.st_mode)) {
        say(s, "%s: line 1: left out, it is no regular file", named);
    } else {
        add(s, dir, file);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct paths {
    const char **v;
    size_t n, cap;
};

/* The canonical directory that an entry of a root is or leads to, added to *to. */
static void add_child(struct search *s, const char *root, const char *name, const char *limit,
                      struct paths *to)
{
    char path[2 * PATH_MAX], real[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", root, name);
    if (!realpath(path, real)) {
        say(s, "%s: left out: %s", path, strerror(errno));
        return;
    }
    if (!file_is_dir(real))
        return;
    if (!path_beneath(limit, real)) {
        say(s, "%s: left out, it leads out of %s", path, limit);
        return;
    }
    ARENA_PUSH(&s->c->arena, to) = arena_z(&s->c->arena, str_of(real));
}

/* The skills of one root; `limit` is the canonical directory that they must lie beneath. */
static void search_root(struct search *s, const char *root, const char *limit)
{
    struct paths dirs = { 0 };
    struct dirent *entry;
    size_t seen = 0;
    DIR *d = opendir(root);

    if (!d) {
        if (errno != ENOENT && errno != ENOTDIR)
            say(s, "%s: cannot be read: %s", root, strerror(errno));
        return;
    }
    while ((entry = readdir(d)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (seen++ == SKILLSET_MAX_ENTRIES) {
            say(s, "%s: only the first %d entries are looked at", root, SKILLSET_MAX_ENTRIES);
            break;
        }
        add_child(s, root, entry->d_name, limit, &dirs);
    }
    closedir(d);
    if (dirs.n)
        qsort(dirs.v, dirs.n, sizeof *dirs.v, by_text);
    for (size_t i = 0; i < dirs.n; i++)
        consider(s, dirs.v[i]);
}

static void search_user(struct search *s, const char *home)
{
    for (size_t i = 0; i < ARRAY_LEN(user_roots); i++) {
        const char *real =
            path_real(&s->c->arena, path_join(&s->c->arena, home, user_roots[i]), NULL);

        if (real)
            search_root(s, real, real);
    }
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct skill *)a)->name, ((const struct skill *)b)->name);
}

bool skillset_load(struct skillset *ret, const char *workspace, const char *home,
                   skillset_warn_fn warn, struct error *e)
{
    struct search s = { .c = ret, .dirs = MAP, .names = MAP, .warn = warn };
    const char *real;

    *ret = (struct skillset){ .arena = ARENA };
    real = path_real(&ret->arena, workspace, e);
    if (!real || !file_is_dir(real)) {
        arena_free(&ret->arena);
        return real ? error_set(e, ERR_INVALID, "'%s' is not a directory", workspace) : false;
    }
    for (size_t i = 0; i < ARRAY_LEN(workspace_roots); i++)
        search_root(&s, path_join(&ret->arena, real, workspace_roots[i]), real);
    if (home)
        search_user(&s, home);
    map_free(&s.dirs);
    map_free(&s.names);
    ret->v = s.found.v;
    ret->n = s.found.n;
    if (ret->n)
        qsort(ret->v, ret->n, sizeof *ret->v, by_name);
    return true;
}

const struct skill *skillset_find(const struct skillset *c, struct str name)
{
    const struct skill key = { .name = name };

    return c->n ? bsearch(&key, c->v, c->n, sizeof *c->v, by_name) : NULL;
}

void skillset_free(struct skillset *c)
{
    arena_free(&c->arena);
    *c = (struct skillset){ 0 };
}
