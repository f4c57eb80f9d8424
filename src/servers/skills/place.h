/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A skill's directory, opened for one job: whatever is read beneath it is opened by the kernel
 * beneath it (servers.md 3). All of it works on a pool thread.
 */
#ifndef SYM_SERVERS_SKILLS_PLACE_H
#define SYM_SERVERS_SKILLS_PLACE_H

#include <sys/stat.h>

#include "base/buf.h"
#include "servers/access.h"
#include "servers/skills/document.h"
#include "servers/skills/skillset.h"

struct place {
    const struct skill *skill;
    struct access *access;
    int fd; /* the directory; place_close() closes it */
};

/* ERR_DENIED "registered SKILL.md changed location" when the directory is no longer itself
 * (SK-7). */
bool place_open(struct place *ret, const struct skill *skill, struct error *e);
void place_close(struct place *p);
void place_cleanup(struct place *p);
#define auto_place __attribute__((cleanup(place_cleanup))) struct place

/* Opens a regular file beneath it, for reading; -1 when it is none, is missing or leads out. */
int place_file(const struct place *p, struct arena *a, struct str rel, struct stat *ret,
               struct error *e);
/* The same for a directory that is no link. */
int place_dir(const struct place *p, struct arena *a, struct str rel, struct error *e);

/* Appends what is left of the file. ERR_LIMIT past out->max. */
bool place_read(int fd, struct buf *out, struct error *e);

/* Reads and parses SKILL.md again; the text is kept in the arena. The errors of SK-7. */
bool place_document(const struct place *p, struct arena *a, struct document *ret,
                    struct error *e);

#endif
