/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the hand-off server share. */
#ifndef SYM_SERVERS_SYMM_IMPL_H
#define SYM_SERVERS_SYMM_IMPL_H

#include "servers/server.h"
#include "tasks/service.h"

#define SYMM_TASKS_EXTENSION "io.modelcontextprotocol/tasks"
#define SYMM_POLL_MS         1000 /* pollIntervalMs of a handle */

struct symm {
    const struct service_config *config;
    struct service *service;
    struct server *server; /* NULL: it stops */
    struct timer *tidy;    /* of what is followed and not watched */
    struct timer *last;    /* of the time to stop in */
};

/* ---- tools.c ---- */

#define SYMM_TOOLS 7

struct symm_tools {
    struct tool v[SYMM_TOOLS];
};
/* In the arena. Looks for the agents' programs on disk. */
void symm_tools_make(struct symm_tools *ret, struct arena *a, const struct adapters *all,
                     const char *path);

/* ---- request.c: one request that waits for the service ---- */

struct symm_req {
    struct symm *s;
    struct mcp_req *r;
    /* What becomes of a result; `result` is valid during the call. Ends the request by one of
     * the functions below, or goes on with another question to the service. */
    void (*then)(struct symm_req *q, struct str result);
    /* Instead of the tool error. */
    void (*refused)(struct symm_req *q, enum task_code code, struct str text);
};

/* NULL `refused`: a tool error (TK-15). */
struct symm_req *symm_req_new(struct symm *s, struct mcp_req *r,
                              void (*then)(struct symm_req *q, struct str result),
                              void (*refused)(struct symm_req *q, enum task_code code,
                                              struct str text));
/* A service_fn with the request as ctx. */
void symm_req_done(void *ctx, enum task_code code, struct str result);
/* The request is answered now by whoever called this, which took it. */
struct mcp_req *symm_req_end(struct symm_req *q);
void symm_req_reply(struct symm_req *q, struct str result); /* one JSON object, as it is */

/* {"task_id": id}, for the functions of the service; to be freed by json_free(). */
struct json symm_req_id_args(struct str id);

/* A tool's result: structuredContent and the same as text (TK-7), clean (TK-18). */
void symm_req_reply_tool(struct symm_req *q, struct str result);

/* ---- calls.c: ctx is struct symm ---- */

void symm_spawn(void *ctx, struct mcp_req *r, yyjson_val *args);
void symm_get(void *ctx, struct mcp_req *r, yyjson_val *args);
void symm_events(void *ctx, struct mcp_req *r, yyjson_val *args);
void symm_wait(void *ctx, struct mcp_req *r, yyjson_val *args);
void symm_list(void *ctx, struct mcp_req *r, yyjson_val *args);
void symm_resolve(void *ctx, struct mcp_req *r, yyjson_val *args);
void symm_cancel(void *ctx, struct mcp_req *r, yyjson_val *args);

/* ---- handle.c: the tasks extension (TK-60) ---- */

/* The CreateTaskResult of that task instead of a tool's result. `record`: as get_task gives
 * it. */
void symm_handle_reply(struct symm_req *q, struct str record);

void symm_handle_get(void *ctx, struct mcp_req *r);
void symm_handle_update(void *ctx, struct mcp_req *r);
void symm_handle_cancel(void *ctx, struct mcp_req *r);

/* ---- resource.c (TK-23) ---- */

void symm_resource_list(void *ctx, struct mcp_req *r);
void symm_resource_templates(void *ctx, struct mcp_req *r);
void symm_resource_read(void *ctx, struct mcp_req *r, struct str uri);
bool symm_resource_watchable(void *ctx, struct str uri);
void symm_resource_watched(void *ctx, bool any);
void symm_resource_tidy(void *ctx);                   /* of the timer */
void symm_resource_changed(void *ctx, struct str id); /* of service_on_change() */

#endif
