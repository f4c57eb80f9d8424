/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What an answer of a package manager rests on: paths, absent ones included, as they were when
 * it was given. While each is on disk as it was, the answer holds (docs/spec/plugins.md CF-5).
 */
#ifndef SYM_PM_INPUTS_H
#define SYM_PM_INPUTS_H

#include "base/file.h"
#include "plugins/plugin.h"
#include "plugins/workspace.h"
#include "text/json.h"

struct input {
    struct str path;
    struct file_stamp stamp;
};

struct inputs {
    struct input *v;
    size_t n, cap;
};

/* Stamped now; copied. */
void inputs_add(struct inputs *l, struct arena *a, const char *path);

/*
 * What a package manager may read without saying so (PM-2): the manifests and lockfiles of its
 * ecosystem at the workspace's root, and the manifests of the members.
 */
void inputs_add_manifests(struct inputs *l, struct arena *a, const char *pm,
                          const struct workspace *w);

/*
 * Where its packages appear on this machine: what changes when one is fetched or installed.
 * Nothing for a package manager that we do not know.
 */
void inputs_add_stores(struct inputs *l, struct arena *a, const char *pm,
                       const struct workspace *w, const struct deps *deps);

/* What a package's directory can embed a plugin with. */
void inputs_add_package(struct inputs *l, struct arena *a, const char *root);

/* Sorts by path and drops duplicates; the first stamp of a path is kept, it is the oldest. */
void inputs_sort(struct inputs *l);

bool inputs_fresh(const struct inputs *l); /* every input is on disk as it is here */
bool inputs_have(const struct inputs *l, struct str path); /* sorted */

/* Some input changed at or after that time (wall clock): what was answered may have missed it.
 */
bool inputs_racy(const struct inputs *l, int64_t began_ns);
int64_t inputs_now(void); /* the clock that file stamps are taken from */

/* {PATH:{"mtime_ns","size","ino"}|null}; reading sorts. */
void inputs_put(struct jw *w, const struct inputs *l);
bool inputs_read(struct inputs *ret, struct arena *a, yyjson_val *v);

#endif
