/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The directories a server may touch, enforced by the kernel (servers.md 3). Each root is
 * opened once at start and that descriptor is the boundary, whatever happens to its path later.
 * Paths are resolved beneath a root by openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS), or
 * component by component where that is missing; all work then is on descriptors.
 *
 * A `struct access` is immutable and counted: jobs on the thread pool hold a reference, new
 * roots (SV-26) are a new one.
 */
#ifndef SYM_SERVERS_ACCESS_H
#define SYM_SERVERS_ACCESS_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

#define ACCESS_LINKS_MAX 40 /* symbolic links followed in one path */
#define ACCESS_ROOTS_MAX 256
#define ACCESS_TRIES_MAX 100 /* while others move things under our feet */

struct access_root {
    const char *real;  /* canonical */
    const char *given; /* as normalised from the command line; equal to real when the same */
    int fd;            /* O_PATH | O_DIRECTORY */
};

struct access {
    struct access_root *v; /* v[0] is the base of relative paths */
    size_t n;
    /* the rest is access.c's */
    unsigned refs;
    struct arena arena;
};

/*
 * Opens the usable ones of `dirs` (SV-20); for each other one `warn` gets a line (SV-7). NULL
 * when none is left: ERR_NOT_FOUND. allow_root: "/" is accepted.
 */
struct access *access_new(const char *const *dirs, size_t n, bool allow_root,
                          void (*warn)(const char *line), struct error *e);
struct access *access_ref(struct access *x);
void access_unref(struct access *x); /* NULL is accepted; from the loop's thread */

/* "<root>, <root>", both spellings when they differ (SV-22). */
const char *access_names(const struct access *x, struct arena *a);

/* A requested path, checked as text (SV-21, SV-22). */
struct access_at {
    const char *asked; /* as the client wrote it */
    const char *path;  /* absolute, normalised */
    const struct access_root *root;
    const char *rel; /* beneath root; "." is the root itself */
    bool directory;  /* it was written "x/" or "x/.": only a directory will do */
};

/* ERR_INVALID (empty, NUL, too long), ERR_DENIED with SV-22's text. */
bool access_locate(const struct access *x, struct arena *a, struct str asked,
                   struct access_at *ret, struct error *e);

/*
 * Opens it: `flags` are O_RDONLY, O_PATH, O_DIRECTORY, O_NOFOLLOW ...; O_CLOEXEC | O_NONBLOCK |
 * O_NOCTTY are added, O_CREAT is not possible here. Links are followed as long as they stay in
 * some root (SV-23). Without O_PATH only regular files and directories are opened, anything
 * else is refused before it is touched (SV-25). Works on any thread.
 *
 * -1 with the texts of SV-24: ERR_DENIED (outside), ERR_INVALID (FIFO, socket, device),
 * ERR_NOT_FOUND (the directory it would be in does not exist), else ERR_SYS with errno: ENOENT
 * when only the last component is missing.
 */
int access_open(const struct access *x, const struct access_at *at, int flags, struct error *e);

/*
 * The directory that holds the entry, opened O_PATH, and the entry's own name, whether it
 * exists or not: for what acts on the entry itself (create, rename, unlink). follow: for
 * content to be written; a link as last component is resolved first, so the name is its
 * target's (SV-27). ERR_DENIED for a root itself, else as access_open().
 */
struct access_entry {
    int dir; /* owned by the caller */
    const char *name;
    const char *path; /* of the entry, for messages */
};
bool access_entry(const struct access *x, struct arena *a, const struct access_at *at,
                  bool follow, struct access_entry *ret, struct error *e);

/* The open directory is a root or holds one, at any depth: not to be moved (FS-16). */
bool access_holds_root(const struct access *x, int dir);

/*
 * The second layer (SV-28): from now on the kernel lets this thread, and those it starts, open
 * nothing but what lies beneath the roots. ERR_DENIED where it cannot; then nothing changed but
 * no_new_privs.
 */
bool access_confine(const struct access *x, struct error *e);

/* For tests: true leaves openat2 out, as on a kernel without it. */
void access_without_openat2(bool without);

#endif
