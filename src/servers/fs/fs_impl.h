/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tools of the filesystem server share. A tool is a function on the thread pool from a
 * call (what may be touched, what was asked) to an answer; it knows neither the loop nor the
 * protocol, so a test calls it as it is.
 */
#ifndef SYM_SERVERS_FS_IMPL_H
#define SYM_SERVERS_FS_IMPL_H

#include "servers/access.h"
#include "servers/args.h"
#include "servers/job.h"

#define FS_READ_MAX    ((size_t)9 << 19)  /* bytes of text in one answer (FS-3, FS-5) */
#define FS_MEDIA_MAX   ((size_t)7 << 19)  /* (FS-4) */
#define FS_EDIT_MAX    ((size_t)16 << 20) /* of a file to be edited, before and after */
#define FS_PATHS_MAX   1000               /* of read_multiple_files (FS-5) */
#define FS_ENTRIES_MAX 200000             /* that a listing or a walk looks at (FS-15) */
#define FS_DEPTH_MAX   64                 /* of a walk (FS-15) */
#define FS_RESULTS_MAX 10000              /* of search_files (FS-17) */

struct fs_edit {
    struct str old_text, new_text;
};

/* The arguments of all tools; each has those of its table (tools.c). */
struct fs_args {
    struct str path;
    int64_t head, tail;
    bool has_head, has_tail;
    struct arg_strings paths;
    struct str content;
    yyjson_val *edits_json; /* gone when the tool runs: see edits */
    struct fs_edit *edits;
    size_t nedits;
    bool dry_run;
    struct str sort_by;
    struct str source, destination;
    struct str pattern;
    struct arg_strings exclude;
    bool given; /* of the fields whose absence needs no telling apart */
};

struct fs_call {
    const struct access *x;
    struct arena *arena;
    struct answer *out;
    const struct job *job; /* NULL: nobody cancels, nobody watches */
    struct fs_args in;
};

/* ---- tools: each fills c->out ---- */

void fs_read_text(struct fs_call *c);
void fs_read_media(struct fs_call *c);
void fs_read_multiple(struct fs_call *c);
void fs_write_file(struct fs_call *c);
void fs_edit_file(struct fs_call *c);
void fs_create_directory(struct fs_call *c);
void fs_list(struct fs_call *c);
void fs_list_sizes(struct fs_call *c);
void fs_tree(struct fs_call *c);
void fs_search(struct fs_call *c);
void fs_move(struct fs_call *c);
void fs_info(struct fs_call *c);
void fs_allowed(struct fs_call *c);

/* ---- for them ---- */

bool fs_cancelled(const struct fs_call *c);
void fs_advance(const struct fs_call *c, uint64_t by);

/* access_locate() and access_open(); -1 with the answer made an error. */
int fs_open(struct fs_call *c, struct str path, int flags, struct access_at *ret_at);

/* Where the descriptor's file lies, links resolved; `fallback` where /proc cannot tell. */
const char *fs_real_path(struct arena *a, int fd, const char *fallback);

/* A name made safe to show on one line (FS-12): bytes that are no UTF-8 as U+FFFD, control
 * characters as "\n", "\t", "\xHH". */
void fs_put_name(struct buf *b, struct str name);

/*
 * Bytes of an answer that a text takes: in a JSON string, and there twice (FS-1). At most
 * FS_COST_MAX fit (SV-30), with what stands around them and closes them.
 */
size_t fs_cost(struct str s);
#define FS_COST_MAX (ANSWER_MAX - ((size_t)64 << 10))

/* "0 B", "512 B", "1.50 KB" (FS-14). */
void fs_put_size(struct buf *b, uint64_t bytes);

#endif
