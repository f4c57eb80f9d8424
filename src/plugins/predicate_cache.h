/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Answers of custom predicates across runs (docs/spec/plugins.md PL-25, PL-26): one file per
 * workspace, <cache>/predicates/<sha256 hex of the root>.json
 *
 *     {"version":1,"entries":{"name(arg)":{"result":true,
 *      "fingerprints":{"files":{"/w/a":{"mtime_ns":1,"size":2}},"env":{"N":"<sha256 hex>"}},
 *      "stale_at_ms":null}}}
 *
 * An answer holds while every file and variable it rests on is as it was, and its deadline is
 * not reached. Values of the environment are never kept, only their hashes. The file may be
 * deleted at any time; an unreadable, oversize or foreign one is empty.
 */
#ifndef SYM_PLUGINS_PREDICATE_CACHE_H
#define SYM_PLUGINS_PREDICATE_CACHE_H

#include "base/arena.h"
#include "base/file.h"
#include "base/sha256.h"

#define PREDICATE_CACHE_MAX_BYTES ((size_t)4 << 20)
#define PREDICATE_MAX_WATCHES     1000 /* files and variables of one answer */

struct seen_file {
    struct str path;         /* absolute */
    struct file_stamp stamp; /* .ino does not count */
};

struct seen_env {
    struct str name;
    struct str sha256; /* hex of the value; empty: not set */
};

struct predicate_answer {
    bool result;
    struct {
        struct seen_file *v;
        size_t n, cap;
    } files;
    struct {
        struct seen_env *v;
        size_t n, cap;
    } env;
    int64_t stale_at_ms; /* wall clock; 0: never by time */
};

/* Add what an answer rests on, as it is now. A second mention is ignored; false:
 * PREDICATE_MAX_WATCHES. */
bool answer_watch_file(struct predicate_answer *ans, struct arena *a, const char *path);
bool answer_watch_env(struct predicate_answer *ans, struct arena *a, struct str name);

struct predicate_cache;

struct predicate_cache *predicate_cache_load(const char *cache_dir, struct str root);

/* The answer if it still holds at now_ms (wall clock), else NULL. Valid until the cache is
 * freed. */
const struct predicate_answer *predicate_cache_get(struct predicate_cache *c, struct str key,
                                                   int64_t now_ms);

/* Copies the answer in. */
void predicate_cache_put(struct predicate_cache *c, struct str key,
                         const struct predicate_answer *ans);
void predicate_cache_drop(struct predicate_cache *c, struct str key);

/* Writes the file if an entry changed (atomically, 0600). Past the ceiling only entries that
 * this run asked for stay. */
bool predicate_cache_save(struct predicate_cache *c, struct error *e);
void predicate_cache_free(struct predicate_cache *c);

#endif
