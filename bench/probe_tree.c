/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "probe.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* False: no such process, or one that has ended. */
static bool started(pid_t pid, unsigned long long *ret)
{
    char path[40], text[1024], state = 'Z';
    FILE *f;
    size_t n = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (f) {
        n = fread(text, 1, sizeof text - 1, f);
        fclose(f);
    }
    text[n] = '\0';
    const char *after = strrchr(text, ')'); /* a name may hold anything */

    if (!after || sscanf(after + 1,
                         " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
                         " %*d %*d %llu",
                         &state, ret) != 2)
        return false;
    return state != 'Z' && state != 'X';
}

static void add(struct tree *t, pid_t pid)
{
    if (t->n < TREE_MAX && started(pid, &t->started[t->n]))
        t->pids[t->n++] = pid;
}

static void add_children(struct tree *t, pid_t pid)
{
    char pattern[48];
    glob_t tasks;

    snprintf(pattern, sizeof pattern, "/proc/%d/task/*/children", (int)pid);
    if (glob(pattern, GLOB_NOSORT, NULL, &tasks))
        return;
    for (size_t i = 0; i < tasks.gl_pathc; i++) {
        FILE *f = fopen(tasks.gl_pathv[i], "re");
        int child;

        while (f && fscanf(f, "%d", &child) == 1)
            add(t, child);
        if (f)
            fclose(f);
    }
    globfree(&tasks);
}

void tree_read(pid_t root, struct tree *ret)
{
    ret->n = 0;
    add(ret, root);
    for (size_t i = 0; i < ret->n; i++)
        add_children(ret, ret->pids[i]);
}

void tree_left(const struct tree *before, struct tree *ret)
{
    ret->n = 0;
    for (size_t i = 0; i < before->n; i++) {
        unsigned long long ticks;

        if (started(before->pids[i], &ticks) && ticks == before->started[i])
            add(ret, before->pids[i]);
    }
}

static long kb_of(pid_t pid, const char *key)
{
    char path[48], line[128];
    long kb = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, key, strlen(key)))
            kb = strtol(line + strlen(key), NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

void memory_print(pid_t root, const char *label, const char *except)
{
    static struct tree t;
    long rss = 0, pss = 0;
    size_t counted = 0;
    char of[512] = "";

    tree_read(root, &t);
    for (size_t i = 0; i < t.n; i++) {
        char path[40], exe[512], one[64];
        ssize_t n;

        snprintf(path, sizeof path, "/proc/%d/exe", (int)t.pids[i]);
        n = readlink(path, exe, sizeof exe - 1);
        exe[n > 0 ? n : 0] = '\0';
        const char *slash = strrchr(exe, '/'), *name = slash ? slash + 1 : exe;

        if (!strcmp(name, except))
            continue;
        rss += kb_of(t.pids[i], "Rss:");
        pss += kb_of(t.pids[i], "Pss:");
        snprintf(one, sizeof one, "%s%.20s %.1f", counted++ ? ", " : "", name,
                 (double)kb_of(t.pids[i], "Rss:") / 1024);
        strncat(of, one, sizeof of - strlen(of) - 1);
    }
    printf(
        "{\"label\":\"%s\",\"rss_mb\":%.2f,\"pss_mb\":%.2f,\"processes\":%zu,\"of\":\"%s\"}\n",
        label, (double)rss / 1024, (double)pss / 1024, counted, of);
}
