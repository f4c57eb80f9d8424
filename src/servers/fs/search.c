/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* search_files (FS-17). */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "servers/fs/patterns.h"
#include "servers/fs/walk.h"

#define FOUND_BYTES_MAX                                                  \
    ((size_t)64 << 20) /* of all paths found, before the first are taken \
                        */
#define PATH_BYTES_MAX ((size_t)FS_DEPTH_MAX * (NAME_MAX + 1) + PATH_MAX)

struct search {
    struct walk walk;
    struct patterns want, exclude;
    struct buf path;                 /* of the current directory, with a slash at its end */
    size_t length[FS_DEPTH_MAX + 1]; /* of that path, at each depth */
    struct buf found;                /* paths made safe to show, NUL-terminated */
    struct {
        uint32_t *v; /* where they begin */
        size_t n, cap;
    } starts;
};

static void add_result(struct search *s)
{
    size_t start = s->found.n;

    fs_put_name(&s->found, buf_str(&s->path));
    fs_put_name(&s->found, s->walk.name);
    buf_addc(&s->found, '\0');
    if (!s->found.over)
        VEC_PUSH(&s->starts) = (uint32_t)start;
}

static void enter(struct search *s)
{
    buf_add(&s->path, s->walk.name);
    buf_addc(&s->path, '/');
    walk_enter(&s->walk);
    s->length[s->walk.depth] = s->path.n;
}

static void look_at_current(struct search *s)
{
    struct walk *w = &s->walk;
    struct glob_step r;

    if (patterns_step(&s->exclude, w->depth, w->name).matches)
        return;
    r = patterns_step(&s->want, w->depth, w->name);
    if (r.matches)
        add_result(s);
    /* Most trees are mostly files: only what could hold a match is asked what it is. */
    if (r.goes_on && walk_is_dir(w))
        enter(s);
}

static void walk_all(struct search *s)
{
    s->length[0] = s->path.n;
    for (;;) {
        if (!s->found.over && walk_next(&s->walk)) {
            look_at_current(s);
            continue;
        }
        if (!walk_leave(&s->walk))
            return;
        buf_truncate(&s->path, s->length[s->walk.depth]);
    }
}

static int compare(const void *a, const void *b, void *found)
{
    return strcmp((const char *)found + *(const uint32_t *)a,
                  (const char *)found + *(const uint32_t *)b);
}

static void put_results(struct search *s, struct buf *out)
{
    size_t n = s->starts.n < FS_RESULTS_MAX ? s->starts.n : FS_RESULTS_MAX;

    if (s->starts.n)
        qsort_r(s->starts.v, s->starts.n, sizeof *s->starts.v, compare, s->found.p);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_addc(out, '\n');
        buf_addz(out, s->found.p + s->starts.v[i]);
    }
    if (n == 0)
        buf_add(out, STR("No matches found"));
    if (n < s->starts.n)
        buf_addf(out, "\n(only the first %d of %zu matches: narrow the search)", FS_RESULTS_MAX,
                 s->starts.n);
    if (s->walk.ever_cut || s->found.over)
        buf_addf(out,
                 "\n(not everything was searched: at most %d entries are looked at, to a "
                 "depth of %d; search in a subdirectory)",
                 FS_ENTRIES_MAX, FS_DEPTH_MAX);
}

static bool compile(struct fs_call *c, struct search *s)
{
    struct arg_strings one = { &c->in.pattern, 1 };
    struct error e;

    if (patterns_compile(&s->want, c->arena, &one, PATTERNS_FOR_PATHS, &e) &&
        patterns_compile(&s->exclude, c->arena, &c->in.exclude, PATTERNS_FOR_PATHS, &e))
        return true;
    return answer_error(c->out, "%s", e.msg);
}

void fs_search(struct fs_call *c)
{
    struct search s = { .path = BUF(PATH_BYTES_MAX), .found = BUF(FOUND_BYTES_MAX) };
    struct access_at at;
    int fd;

    if (!compile(c, &s))
        return;
    fd = fs_open(c, c->in.path, O_RDONLY | O_DIRECTORY, &at);
    if (fd < 0)
        return;
    buf_addz(&s.path, fs_real_path(c->arena, fd, at.path));
    if (!str_ends(buf_str(&s.path), STR("/")))
        buf_addc(&s.path, '/');
    walk_begin(&s.walk, c, fd, WALK_AS_READ);
    walk_all(&s);
    put_results(&s, &c->out->text);
    walk_end(&s.walk);
    buf_free(&s.path);
    buf_free(&s.found);
    free(s.starts.v);
}
