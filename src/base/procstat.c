/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/procstat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define STAT_SIZE    1024 /* 52 numbers and a name of at most 64 bytes */
#define FIELD_STATE  3    /* the first one behind the name */
#define FIELD_PARENT 4
#define FIELD_START  22

/* "pid (name) state parent ...": the name may hold anything, blanks and parentheses too, so
 * fields are counted from the last ')'. NULL when there are not as many. */
static const char *field(const char *text, int number)
{
    const char *at = strrchr(text, ')');

    for (int i = FIELD_STATE; at && i <= number; i++)
        at = strchr(at + 1, ' ');
    return at ? at + 1 : NULL;
}

bool procstat_read(const char *proc, pid_t pid, struct procstat *ret)
{
    char path[128], text[STAT_SIZE];
    const char *parent, *start;
    ssize_t n;

    snprintf(path, sizeof path, "%s/%d/stat", proc, (int)pid);
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof text - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    parent = field(text, FIELD_PARENT);
    start = field(text, FIELD_START);
    if (!parent)
        return false;
    *ret = (struct procstat){ .parent = (pid_t)strtol(parent, NULL, 10),
                              .start = start ? strtoull(start, NULL, 10) : 0 };
    return true;
}
