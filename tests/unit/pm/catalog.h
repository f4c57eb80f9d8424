/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A workspace, its caches, and package managers whose packages stand in files
 * (fake_catalog.c). */
#ifndef SYM_TEST_PM_CATALOG_H
#define SYM_TEST_PM_CATALOG_H

#include "support.h"

#include "plugins/config.h"
#include "plugins/workspace.h"
#include "pm/set.h"

struct catalogs {
    struct loop *loop;
    struct scratch scratch;
    struct dirs dirs;
    struct config config;
    struct workspace workspace;
    struct pm_set *pms;
};

static inline void catalogs_set_up(struct catalogs *c)
{
    *c = (struct catalogs){ .loop = loop_new() };
    scratch_make(&c->scratch);
    c->scratch.dir = path_real(&c->scratch.arena, c->scratch.dir, NULL);
    scratch_write(&c->scratch, "config/config.toml", "");
    scratch_write(&c->scratch, "root/readme", "");
    c->dirs = (struct dirs){ .config = scratch_path(&c->scratch, "config"),
                             .cache = scratch_path(&c->scratch, "cache"),
                             .logs = scratch_path(&c->scratch, "logs"),
                             .state = scratch_path(&c->scratch, "state") };
    c->config.path = str_of(scratch_path(&c->scratch, "config/config.toml"));
    c->workspace =
        (struct workspace){ .root = str_of(scratch_path(&c->scratch, "root")), .found = true };
    c->pms = pm_set_new(c->loop);
}

static inline void catalogs_tear_down(struct catalogs *c)
{
    pm_set_free(c->pms);
    loop_free(c->loop);
    scratch_free(&c->scratch);
}

/* A new run: no process of the last one is left. */
static inline void catalogs_new_run(struct catalogs *c)
{
    pm_set_free(c->pms);
    c->pms = pm_set_new(c->loop);
}

/* "@" in the text is the scratch directory. */
static inline void catalog_write(struct catalogs *c, const char *name, const char *json)
{
    auto_buf text = BUF((size_t)64 << 20);

    for (const char *at = json; *at; at++) {
        if (*at == '@')
            buf_addz(&text, c->scratch.dir);
        else
            buf_addc(&text, *at);
    }
    scratch_write(&c->scratch, arena_printf(&c->scratch.arena, "catalogs/%s", name),
                  buf_z(&text));
}

/* A [[package-manager]] of that name, with what it knows. */
static inline void catalog_add(struct catalogs *c, const char *name, const char *json)
{
    struct arena *a = &c->scratch.arena;
    struct pm_config pm = { .name = str_of(name) };

    catalog_write(c, name, json);
    pm.how.executable = str_of(FAKE_CATALOG);
    ARENA_PUSH(a, &pm.how.args) = str_of(name);
    ARENA_PUSH(a, &pm.how.args) =
        str_of(scratch_path(&c->scratch, arena_printf(a, "catalogs/%s", name)));
    ARENA_PUSH(a, &c->config.pms) = pm;
}

/* Its log; empty when it was never started. The log begins anew. */
static inline const char *catalog_log(struct catalogs *c, const char *name)
{
    struct arena *a = &c->scratch.arena;
    const char *path = scratch_path(&c->scratch, arena_printf(a, "catalogs/%s.log", name));
    auto_buf text = BUF((size_t)64 << 20);

    if (!file_read(path, &text, NULL))
        return "";
    if (truncate(path, 0) != 0)
        fail_msg("%s cannot be emptied", path);
    return arena_z(a, buf_str(&text));
}

#endif
