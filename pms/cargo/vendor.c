/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "vendor.h"

#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/path.h"
#include "text/toml.h"

struct source {
    struct str replace_with; /* empty: is not replaced */
    const char *directory;   /* absolute; NULL: is none */
};

struct sources {
    struct inputs *in;
    struct map by_name;
};

static struct source *source_of(struct sources *s, struct str name)
{
    struct source *found = map_get(&s->by_name, name);

    if (!found) {
        found = ARENA_NEW(s->in->arena, struct source);
        map_put(&s->by_name, name, found);
    }
    return found;
}

/* `base` is what a relative directory starts from. What a nearer file said stays. */
static void add_source(struct sources *s, const struct toml_val *v, const char *base)
{
    struct str with = toml_str(toml_get(v, "replace-with")),
               directory = toml_str(toml_get(v, "directory"));
    struct source *source;

    if (map_count(&s->by_name) >= VENDOR_MAX_SOURCES)
        return;
    source = source_of(s, v->key);
    if (source->replace_with.n == 0)
        source->replace_with = with;
    if (!source->directory && directory.n && !memchr(directory.p, '\0', directory.n))
        source->directory = path_clean(
            s->in->arena, path_join(s->in->arena, base, arena_z(s->in->arena, directory)));
}

/* False when there is no such file. */
static bool add_file(struct sources *s, const char *path, const char *base)
{
    struct error why = { 0 };
    const struct toml_val *doc = NULL, *table;
    struct str text;

    if (!input_read(s->in, path, &text, &why)) {
        if (why.kind == ERR_NOT_FOUND)
            return false;
    } else {
        doc = toml_parse(s->in->arena, text, &why);
    }
    if (!doc)
        log_warn("'%s' left out: %s", path, why.msg);
    table = toml_get(doc, "source");
    for (size_t i = 0; toml_is(table, TOML_TABLE) && i < toml_len(table); i++)
        add_source(s, toml_at(table, i), base);
    return true;
}

/* Cargo takes the older name where both are. */
static void add_config(struct sources *s, const char *dir, const char *base)
{
    if (!add_file(s, path_join(s->in->arena, dir, "config"), base))
        add_file(s, path_join(s->in->arena, dir, "config.toml"), base);
}

static void read_configs(struct sources *s, const char *workspace, const char *home)
{
    struct arena *a = s->in->arena;
    bool home_read = false;

    for (const char *dir = workspace; dir; dir = path_dir(a, dir)) {
        const char *config = path_join(a, dir, ".cargo");

        home_read = home_read || (home && strcmp(config, home) == 0);
        add_config(s, config, dir);
        if (strcmp(dir, "/") == 0)
            break;
    }
    if (home && !home_read)
        add_config(s, home, path_dir(a, home));
}

static const char *replaced_by(struct sources *s, const struct source *source)
{
    for (int hops = 0; source && source->replace_with.n && hops < VENDOR_MAX_HOPS; hops++) {
        source = map_get(&s->by_name, source->replace_with);
        if (source && source->directory)
            return source->directory;
    }
    return NULL;
}

static void add_once(struct inputs *in, struct dir_list *list, const char *dir)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->v[i], dir) == 0)
            return;
    ARENA_PUSH(in->arena, list) = dir;
}

void vendor_dirs(struct inputs *in, const char *workspace, const char *home,
                 struct dir_list *ret)
{
    struct sources s = { .in = in };
    struct str name;
    void *source;

    read_configs(&s, workspace, home);
    for (size_t i = 0; map_next(&s.by_name, &i, &name, &source);) {
        const char *dir = replaced_by(&s, source);

        if (dir)
            add_once(in, ret, dir);
    }
    map_free(&s.by_name);
}
