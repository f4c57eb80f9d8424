/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of this folder share. Include first: cmocka wants its own order of headers. */
#ifndef SYM_TEST_PM_SUPPORT_H
#define SYM_TEST_PM_SUPPORT_H

#include "../loop_check.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"

/* A temporary directory, removed by scratch_free(). */
struct scratch {
    struct arena arena;
    const char *dir;
};

static inline void scratch_make(struct scratch *s)
{
    char dir[PATH_MAX];

    *s = (struct scratch){ 0 };
    make_temp_dir(dir);
    s->dir = arena_z(&s->arena, str_of(dir));
}

static inline void scratch_free(struct scratch *s)
{
    remove_tree(s->dir);
    arena_free(&s->arena);
}

static inline const char *scratch_path(struct scratch *s, const char *name)
{
    return path_join(&s->arena, s->dir, name);
}

static inline void scratch_write(struct scratch *s, const char *name, const char *text)
{
    struct error e = { 0 };
    const char *path = scratch_path(s, name);

    if (!file_mkdirs(path_dir(&s->arena, path), &e) ||
        !file_write_atomic(path, str_of(text), 0600, &e))
        fail_msg("%s", e.msg);
}

/* How often a fake package manager was started, by the log it writes. */
static inline int64_t starts_in(const char *log)
{
    return file_stamp(log).size;
}

#endif
