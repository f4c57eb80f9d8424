/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What unit tests share. Include first: cmocka wants its own order of headers. */
#ifndef SYM_TEST_CHECK_H
#define SYM_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

/* One string literal as a slice, NUL bytes inside included. */
#define BYTES(lit) ((struct str){ (lit), sizeof(lit) - 1 })

#define assert_str(got, want)   check_str((got), str_of(want), __FILE__, __LINE__)
#define assert_bytes(got, want) check_str((got), (want), __FILE__, __LINE__)

static inline void check_str(struct str got, struct str want, const char *file, int line)
{
    if (str_eq(got, want))
        return;
    print_error("got  '%.*s'\nwant '%.*s'\n", STR_F(got), STR_F(want));
    _fail(file, line);
}

/* The part is in the text, or is not. */
#define assert_has(text, part)   check_has((text), (part), true, __FILE__, __LINE__)
#define assert_lacks(text, part) check_has((text), (part), false, __FILE__, __LINE__)

static inline void check_has(const char *text, const char *part, bool want, const char *file,
                             int line)
{
    if ((text && strstr(text, part)) == want)
        return;
    print_error("%s '%s' in:\n%s\n", want ? "no" : "unwanted", part, text ? text : "(null)");
    _fail(file, line);
}

/* Bounds on time are multiplied by this: sanitizers and busy machines are slow. */
static inline int slack(void)
{
    const char *s = getenv("TEST_SLACK");
    int n = s ? atoi(s) : 0;

    return n > 0 ? n : 4;
}

/* A fresh directory, into dir[PATH_MAX]. */
static inline void make_temp_dir(char *dir)
{
    const char *base = getenv("TMPDIR");

    snprintf(dir, PATH_MAX, "%s/symposium-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
}

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    return remove(path);
}

static inline void remove_tree(const char *dir)
{
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
