/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A workspace of skills in a temporary directory. Include first. */
#ifndef SYM_TEST_SKILLS_PLACE_H
#define SYM_TEST_SKILLS_PLACE_H

#include "../../check.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"

#define SKILL(name, description) \
    "---\nname: " name "\ndescription: " description "\n---\nbody of " name "\n"

static char ws[PATH_MAX]; /* canonical */

static inline int make_ws(void **state)
{
    char dir[PATH_MAX];

    make_temp_dir(dir);
    assert_non_null(realpath(dir, ws));
    return 0;
}

static inline int remove_ws(void **state)
{
    remove_tree(ws);
    return 0;
}

/* Owned by nobody: the tests are short. One buffer a call, four calls deep. */
__attribute__((format(printf, 1, 2))) static inline const char *in_ws(const char *fmt, ...)
{
    static char paths[4][2 * PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    int n = snprintf(path, sizeof paths[0], "%s/", ws);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(path + n, sizeof paths[0] - (size_t)n, fmt, ap);
    va_end(ap);
    return path;
}

/* A file beneath the workspace, its directories made. */
static inline void put_file(const char *rel, struct str content)
{
    auto_arena a = ARENA;
    const char *path = in_ws("%s", rel);
    FILE *f;

    assert_true(file_mkdirs(path_dir(&a, path), NULL));
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(content.p, 1, content.n, f), content.n);
    assert_int_equal(fclose(f), 0);
}

static inline void put_link(const char *rel, const char *to)
{
    auto_arena a = ARENA;
    const char *path = in_ws("%s", rel);

    assert_true(file_mkdirs(path_dir(&a, path), NULL));
    assert_int_equal(symlink(to, path), 0);
}

static inline void put_skill(const char *dir, const char *content)
{
    auto_arena a = ARENA;

    put_file(arena_printf(&a, "%s/SKILL.md", dir), str_of(content));
}

#endif
