/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/inputs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"

void input_note(struct inputs *in, const char *path)
{
    const char *kept = arena_z(in->arena, str_of(path));

    ARENA_PUSH(in->arena, in) = (struct input){
        .path = kept,
        .stamp = file_stamp(kept),
        .known = in->known_root && path_beneath(in->known_root, kept),
    };
}

bool input_read_max(struct inputs *in, const char *path, size_t max, struct str *ret,
                    struct error *e)
{
    auto_buf text = BUF(max);

    input_note(in, path);
    if (!file_read(path, &text, e))
        return false;
    *ret = arena_str(in->arena, buf_str(&text));
    return true;
}

bool input_read(struct inputs *in, const char *path, struct str *ret, struct error *e)
{
    return input_read_max(in, path, INPUT_MAX_FILE, ret, e);
}

bool inputs_changed(const struct inputs *in)
{
    for (size_t i = 0; i < in->n; i++) {
        struct file_stamp now = file_stamp(in->v[i].path);

        if (!file_stamp_eq(&now, &in->v[i].stamp))
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Only what the entry's type leaves open costs a stat. */
static bool is_subdir(DIR *stream, const struct dirent *d, bool links)
{
    struct stat st;

    if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
        return false;
    if (file_entry_is_dir(stream, d))
        return true;
    return links && d->d_type != DT_REG && fstatat(dirfd(stream), d->d_name, &st, 0) == 0 &&
           S_ISDIR(st.st_mode);
}

void input_list(struct inputs *in, const char *dir, bool links, struct dir_names *ret)
{
    struct dirent *d;
    DIR *stream;

    *ret = (struct dir_names){ 0 };
    input_note(in, dir);
    stream = opendir(dir);
    if (!stream)
        return;
    for (int i = 0; i < INPUT_MAX_ENTRIES && (d = readdir(stream)); i++)
        if (is_subdir(stream, d, links))
            ARENA_PUSH(in->arena, ret) = arena_z(in->arena, str_of(d->d_name));
    closedir(stream);
    if (ret->n)
        qsort(ret->v, ret->n, sizeof *ret->v, by_name);
}
