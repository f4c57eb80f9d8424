/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fs/fs.h"

#include "base/log.h"
#include "base/mem.h"
#include "servers/fs/tools.h"

#define USAGE "Usage: symposium filesystem [--allow-root] [DIR ...]"

static const char instructions[] =
    "Reads, writes, edits, moves, lists and searches files. Access is limited to the allowed "
    "directories given on the command line, and what lies below them; list_allowed_directories "
    "shows them. Relative paths are taken from the first one.";

static void on_start(void *ctx, struct server *s)
{
    struct fs *fs = ctx;

    fs->server = s;
    roots_start(fs->roots, s, NULL, NULL);
}

static void on_stop(void *ctx, struct server *s, bool at_once)
{
    struct fs *fs = ctx;

    (void)at_once;
    roots_free(take_ptr(&fs->roots));
    server_stopped(s);
}

static void on_roots_changed(void *ctx)
{
    roots_changed(((struct fs *)ctx)->roots);
}

static const struct server_spec definition = {
    .mcp = {
        .name = "mcp-filesystem",
        .title = "Filesystem",
        .instructions = instructions,
        .list_scope = MCP_SCOPE_PUBLIC,
        .roots_changed = on_roots_changed,
    },
    .tools = fs_tools,
    .ntools = FS_NTOOLS,
    .split_advice = "use head or tail of read_text_file, a subdirectory, or excludePatterns.",
    .start = on_start,
    .stop = on_stop,
};

int fs_run(const struct fs_opts *o)
{
    struct fs fs = { .roots = roots_new(o->dirs, o->ndirs, o->allow_root, USAGE) };
    struct error e;

    if (!fs.roots)
        return 1;
    /* Before the first thread of the pool, which inherits it. A client's roots can name any
     * directory: then there is no second layer (SV-28). */
    if (o->ndirs && !access_confine(roots_now(fs.roots), &e))
        log_info("no Landlock around the directories: %s", e.msg);
    return server_run(&definition, &fs);
}
