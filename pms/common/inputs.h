/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every file and directory an answer depends on, absent ones included, each with its stamp
 * taken before it was read: what changes meanwhile is seen at the next request. All disk access
 * of this program goes through here.
 */
#ifndef PMS_COMMON_INPUTS_H
#define PMS_COMMON_INPUTS_H

#include "base/arena.h"
#include "base/file.h"

#define INPUT_MAX_FILE ((size_t)4 << 20) /* one manifest; a lockfile of TOML */

struct input {
    const char *path;
    struct file_stamp stamp;
    bool known; /* whoever asks finds it by itself */
};

struct inputs {
    struct arena *arena;    /* paths and texts live here */
    const char *known_root; /* whoever asks finds what lies beneath it by itself (PM-2); NULL:
                               nothing */
    struct input *v;
    size_t n, cap;
};

/* Notes the path without reading it. */
void input_note(struct inputs *in, const char *path);

/* Notes and reads a whole file. ERR_NOT_FOUND when absent, ERR_LIMIT past INPUT_MAX_FILE. */
bool input_read(struct inputs *in, const char *path, struct str *ret, struct error *e);
/* The same with another ceiling. */
bool input_read_max(struct inputs *in, const char *path, size_t max, struct str *ret,
                    struct error *e);

/* True when anything noted has another stamp now. */
bool inputs_changed(const struct inputs *in);

/* The subdirectories of a directory, sorted bytewise; at most INPUT_MAX_ENTRIES entries are
 * looked at. */
#define INPUT_MAX_ENTRIES 50000
struct dir_names {
    const char **v;
    size_t n, cap;
};

/* Notes the directory. An unreadable one is empty. Links to directories count only with
 * `links`. */
void input_list(struct inputs *in, const char *dir, bool links, struct dir_names *ret);

#endif
