/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The memory file and the graph read from it (ME-1 to ME-5). Called from pool threads, any
 * number at a time. The file is parsed once and then only when its version (device, inode,
 * size, times) or, where the clock is too coarse to tell, its content is another; a reader
 * takes no lock of the file and waits for a mutation only while that puts its result in place.
 *
 * A mutation holds flock(LOCK_EX) on `<file>.lock` from the check of the version to the rename.
 * While it does, what is in memory is what is in the file.
 */
#ifndef SYM_SERVERS_MEMORY_STORE_H
#define SYM_SERVERS_MEMORY_STORE_H

#include "servers/memory/change.h"

#define STORE_LOCK_MS    30000 /* a mutation waits so long for another process */
#define STORE_SETTLE_MS  50    /* between two reads of a file with bad lines */
#define STORE_SETTLE_MAX 10    /* reads, while it changes between them */
#define STORE_TICK_MS    20    /* two writes closer than this may have the same times */
#define STORE_WARN_MAX   10    /* bad lines named on stderr, for each version of the file */

struct store;

/* An absolute path. Touches no disk. */
struct store *store_new(const char *path);
void store_free(struct store *s);

/* `read` gets the graph of the file as it is now; it must not keep anything of it. */
bool store_read(struct store *s, void (*read)(void *ctx, const struct graph *g), void *ctx,
                struct error *e);

struct plan {
    /* May be run more than once, each time on a fresh change. False: nothing is written. */
    bool (*run)(void *ctx, struct change *c);
    bool (*cancelled)(void *ctx); /* asked while waiting, and last before the file is touched */
    void *ctx;
    int64_t until; /* of clock_ms(): no longer for another process, but one try; 0: from now */
};

/* One mutation; not called again before it returned. True with *ret_changed false: the plan
 * refused or had nothing to do. ERR_CLOSED: cancelled. On failure the file is as it was. */
bool store_change(struct store *s, const struct plan *p, bool *ret_changed, struct error *e);

/* Counts the versions of the graph that other programs made, as far as they were noticed. Any
 * thread, without waiting. */
uint64_t store_foreign(const struct store *s);

/* Where the file really is, links resolved: what to watch. Owned by the arena. */
void store_place(const struct store *s, struct arena *a, const char **ret_dir,
                 const char **ret_name);

/* Lines for stderr about bad lines, each once. Loop's thread. */
void store_warnings(struct store *s, void (*warn)(const char *line));

#endif
