/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the skills server share. */
#ifndef SYM_SERVERS_SKILLS_IMPL_H
#define SYM_SERVERS_SKILLS_IMPL_H

#include "servers/sending.h"
#include "servers/skills/digest.h"
#include "servers/skills/skillset.h"
#include "servers/skills/uri.h"

struct skills {
    struct skillset catalog;
    struct digests *digests;
    struct server *server;
};

/* ---- activate.c ---- */

void skills_activate(void *ctx, struct mcp_req *r, yyjson_val *args);

/* ---- extension.c: for modern clients; ctx is struct skills ---- */

#define SKILLS_EXTENSION "io.modelcontextprotocol/skills"

#define SKILLS_READ_MAX ((size_t)7 << 20) /* bytes of one file; encoded it fits an answer */

void skills_list(void *ctx, struct mcp_req *r);
void skills_get(void *ctx, struct mcp_req *r);
void skills_directory_read(void *ctx, struct mcp_req *r);
void skills_resources_list(void *ctx, struct mcp_req *r);
void skills_resources_read(void *ctx, struct mcp_req *r, struct str uri);

/* ---- task.c ---- */

/* One request beside tools/call done on the thread pool, as a job is (servers/job.h). */
struct task {
    struct arena arena; /* the task's alone */
    const struct skills *skills;
    struct str uri; /* of the request, when it has one */

    /* What `run` leaves: the result, or why there is none. */
    struct buf json;
    bool no_resource;
    struct error error;

    /* the rest is task.c's */
    struct mcp_req *r; /* NULL once cancelled */
    struct sending sending;
    struct work *work; /* for the loop's thread */
    const struct work *running;
    void (*run)(struct task *t);
};

void task_start(struct skills *s, struct mcp_req *r, struct str uri,
                void (*run)(struct task *t));
bool task_cancelled(const void *task); /* from `run` */

/* ---- entry.c ---- */

#define ENTRY_MAX_FILES     512
#define ENTRY_MAX_BYTES     ((size_t)16 << 20)
#define ENTRY_MAX_RESOURCES ((size_t)6 << 20) /* text of all resources in one answer */

/*
 * Appends a skill's entry: uri, frontmatter, resources. Those are "dynamic" when they are too
 * many or too large, when they cannot all be listed and read, or when their text takes more
 * than `room` bytes.
 */
bool entry_put(struct buf *out, const struct skill *skill, const struct task *t, size_t room,
               struct error *e);

#endif
