/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/shell/program.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

#define PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"

const char *program_find(struct arena *a, int dir, const char *name, const char *path_var,
                         int *ret_errno)
{
    struct str rest = str_of(path_var ? path_var : PATH_DEFAULT), element;
    bool more = true;

    *ret_errno = ENOENT;
    if (strchr(name, '/'))
        return name;
    while (more) {
        const char *candidate;
        struct stat st;

        more = str_cut(rest, ':', &element, &rest);
        if (!more)
            element = rest;
        /* An empty element means the current directory (POSIX). */
        candidate = path_join(a, element.n ? arena_z(a, element) : ".", name);
        if (fstatat(dir, candidate, &st, 0) != 0)
            continue;
        if (S_ISREG(st.st_mode) && faccessat(dir, candidate, X_OK, 0) == 0)
            return candidate;
        *ret_errno = EACCES;
    }
    return NULL;
}
