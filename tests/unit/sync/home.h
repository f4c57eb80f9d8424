/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A home directory with programs in it, for tests of what stands in an agent's file. */
#ifndef SYM_TEST_SYNC_HOME_H
#define SYM_TEST_SYNC_HOME_H

#include "../check.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"
#include "sync/agent.h"

static char home[PATH_MAX];
static struct arena arena;
static struct sync_env env; /* its PATH is <home>/bin, this program <home>/bin/symposium */

static inline const char *in_home(const char *name)
{
    return path_join(&arena, home, name);
}

static inline void put_program(const char *name)
{
    assert_true(file_mkdirs(path_dir(&arena, in_home(name)), NULL));
    assert_true(file_write_cache(in_home(name), STR("#!/bin/sh\n"), NULL));
    assert_int_equal(chmod(in_home(name), 0755), 0);
}

static inline void home_make(void)
{
    make_temp_dir(home);
    put_program("bin/symposium");
    env = (struct sync_env){ .home = home,
                             .path = in_home("bin"),
                             .self = in_home("bin/symposium") };
}

static inline int home_remove(void **state)
{
    remove_tree(home);
    arena_free(&arena);
    return 0;
}

#endif
