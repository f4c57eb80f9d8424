/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "servers/memory/service.h"

#define DEFAULT_FILE "memory.jsonl"

static void warn(const char *line)
{
    log_warn("%s", line);
}

void memory_warn(struct memory *m)
{
    store_warnings(m->store, warn);
}

void memory_changed(struct memory *m)
{
    if (!m->stopped)
        mcp_server_resource_updated(server_mcp(m->server), STR(MEMORY_URI));
}

static void on_watched(void *ctx, bool any)
{
    struct memory *m = ctx;

    follow_stop(m);
    if (any)
        follow_start(m);
}

static void on_start(void *ctx, struct server *s)
{
    struct memory *m = ctx;

    m->server = s;
}

/* All requests are answered or cancelled: nothing waits for its turn any more. A job that still
 * runs is waited for by the server. */
static void on_stop(void *ctx, struct server *s, bool at_once)
{
    struct memory *m = ctx;

    (void)at_once;
    m->stopped = true;
    follow_stop(m);
    server_stopped(s);
}

static const struct server_spec definition = {
    .mcp = {
        .name = "mcp-memory",
        .title = "Memory",
        .instructions =
            "Persistent memory as a knowledge graph: entities with observations, and relations "
            "between them. Record with create_entities, create_relations and add_observations; "
            "look things up with search_nodes and open_nodes; read_graph returns everything. "
            "The delete_* tools remove what is no longer true.",
        .list_scope = MCP_SCOPE_PUBLIC,
        .resource_scope = MCP_SCOPE_PRIVATE,
        .resources_list = resource_list,
        .resources_read = resource_read,
        .no_resource = "Unknown resource URI",
        .resources_watchable = resource_is,
        .resources_watched = on_watched,
    },
    .split_advice = "use search_nodes or open_nodes.",
    .start = on_start,
    .stop = on_stop,
};

/* A relative path is taken from where we were started (ME-1). */
static const char *absolute(struct arena *a, const char *path, struct error *e)
{
    char cwd[PATH_MAX];

    path = path_expand_home(a, path);
    if (!path_is_abs(path)) {
        if (!getcwd(cwd, sizeof cwd)) {
            error_set(e, ERR_SYS, "find the current directory");
            return NULL;
        }
        path = path_join(a, cwd, path);
    }
    if (!*path_base(path)) {
        error_set(e, ERR_INVALID, "memory file '%s' names a directory", path);
        return NULL;
    }
    return path;
}

static const char *chosen(const struct memory_opts *o)
{
    const char *env = getenv("MEMORY_FILE_PATH");

    if (o->file && *o->file)
        return o->file;
    return env && *env ? env : DEFAULT_FILE;
}

int memory_run(const struct memory_opts *o)
{
    auto_arena a = ARENA;
    struct memory m = { .last = &m.first };
    struct server_spec def = definition;
    struct error e;
    const char *path = absolute(&a, chosen(o), &e);
    int status;

    if (!path) {
        fprintf(stderr, "Error: %s\n", e.msg);
        return 1;
    }
    def.tools = memory_tools;
    def.ntools = memory_ntools;
    m.store = store_new(path);
    status = server_run(&def, &m);
    store_free(m.store);
    return status;
}
