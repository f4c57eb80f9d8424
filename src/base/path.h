/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Path text; the disk is touched only where it is said. All results are owned by the arena. */
#ifndef SYM_BASE_PATH_H
#define SYM_BASE_PATH_H

#include "base/arena.h"
#include "base/error.h"

/* a/b; b alone when absolute; single slash between. */
char *path_join(struct arena *a, const char *dir, const char *rel);

/* Lexical: removes ".", "..", doubled and trailing slashes. "/.." is "/". A relative path may
 * begin with "..". */
char *path_clean(struct arena *a, const char *path);
char *path_dir(struct arena *a, const char *path); /* "/" for the root, "." without slash */
const char *path_base(const char *path);           /* points into path */
bool path_is_abs(const char *path);

/* `path` equals `dir` or lies below it, by component (both cleaned). */
bool path_beneath(const char *dir, const char *path);

/* Canonical path through realpath(3); reads the disk. */
char *path_real(struct arena *a, const char *path, struct error *e);

/* As a shell does it, which agents' configurations do not have: "~" and "~/x" with HOME;
 * "~user" is an ordinary name, as is all without an absolute HOME. */
const char *path_expand_home(struct arena *a, const char *path);

/* The path of a file URI of this machine, absolute and not cleaned; NULL when it is none, or
 * when the path would hold a NUL. */
const char *path_of_file_uri(struct arena *a, struct str uri);

/* First match of a bare name in PATH (regular file, executable), reads the disk; NULL when
 * none. A name with a slash is checked itself. */
char *path_search(struct arena *a, const char *name, const char *path_var);

#endif
