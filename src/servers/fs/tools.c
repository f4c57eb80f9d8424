/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fs/tools.h"

#include <stddef.h>

#include "servers/fs/fs_impl.h"

/* ---- arguments ---- */

#define AT(field) offsetof(struct fs_args, field)
#define PATH                            \
    {                                   \
        "path", ARG_STRING, AT(path), 0 \
    }
#define EXCLUDE                                                \
    {                                                          \
        "excludePatterns", ARG_STRINGS, AT(exclude), AT(given) \
    }

/* clang-format off */
static const struct arg no_args[] = { { 0 } };
static const struct arg path_args[] = { PATH, { 0 } };
static const struct arg read_args[] = {
    PATH,
    { "head", ARG_UINT, AT(head), AT(has_head) },
    { "tail", ARG_UINT, AT(tail), AT(has_tail) },
    { 0 },
};
static const struct arg paths_args[] = { { "paths", ARG_STRINGS, AT(paths), 0 }, { 0 } };
static const struct arg write_args[] = {
    PATH, { "content", ARG_STRING, AT(content), 0 }, { 0 },
};
static const struct arg edit_args[] = {
    PATH,
    { "edits", ARG_ARRAY, AT(edits_json), 0 },
    { "dryRun", ARG_BOOL, AT(dry_run), AT(given) },
    { 0 },
};
static const struct arg sizes_args[] = {
    PATH, { "sortBy", ARG_STRING, AT(sort_by), AT(given) }, { 0 },
};
static const struct arg tree_args[] = { PATH, EXCLUDE, { 0 } };
static const struct arg move_args[] = {
    { "source", ARG_STRING, AT(source), 0 },
    { "destination", ARG_STRING, AT(destination), 0 },
    { 0 },
};
static const struct arg search_args[] = {
    PATH, { "pattern", ARG_STRING, AT(pattern), 0 }, EXCLUDE, { 0 },
};
/* clang-format on */

static bool read_edits(struct arena *a, struct fs_args *in, struct error *e)
{
    static const struct arg one[] = {
        { "oldText", ARG_STRING, offsetof(struct fs_edit, old_text), 0 },
        { "newText", ARG_STRING, offsetof(struct fs_edit, new_text), 0 },
        { 0 },
    };

    in->edits = ARENA_ARRAY(a, struct fs_edit, json_len(in->edits_json));
    for (struct json_iter it = json_iter(in->edits_json); json_next(&it);) {
        if (!json_is_obj(it.val))
            return error_set(e, ERR_INVALID, "field `edits`: expected objects, found %s at %zu",
                             json_type_name(it.val), it.i - 1);
        if (!args_read(a, it.val, one, false, &in->edits[in->nedits++], e))
            return error_wrap(e, "field `edits` at %zu", it.i - 1);
    }
    in->edits_json = NULL;
    return true;
}

/* ---- calls ---- */

/* How a tool is called. */
struct fs_kind {
    const struct arg *args;
    enum work_kind work; /* long: what walks, or copies */
    void (*run)(struct fs_call *c);
};

struct fs_task {
    struct fs_call call;
    struct access *x;
    const struct fs_kind *kind;
};

static void on_run(struct job *j)
{
    struct fs_task *t = j->ctx;

    j->answer.structured_text = true;
    t->kind->run(&t->call);
}

static void on_end(struct job *j)
{
    access_unref(((struct fs_task *)j->ctx)->x);
}

static void begin(struct fs *fs, struct mcp_req *r, yyjson_val *args,
                  const struct fs_kind *kind)
{
    struct job *j = job_new(fs->server, r);
    struct fs_task *t = ARENA_NEW(&j->arena, struct fs_task);
    struct fs_args *in = &t->call.in;
    struct error e;

    t->x = access_ref(roots_now(fs->roots));
    t->kind = kind;
    t->call.x = t->x;
    t->call.arena = &j->arena;
    t->call.out = &j->answer;
    t->call.job = j;
    in->sort_by = STR("name");
    j->ctx = t;
    j->cleanup = on_end;
    if (args_read(&j->arena, args, kind->args, false, in, &e) &&
        (!in->edits_json || read_edits(&j->arena, in, &e))) {
        job_start(j, kind->work, on_run);
        return;
    }
    answer_error(&j->answer, "failed to deserialize parameters: %s", e.msg);
    job_reply(j);
}

/* The handler of one tool: the roots first, if a client is to be asked for them. */
#define HANDLER(name, table, work, run)                                 \
    static void name(void *ctx, struct mcp_req *r, yyjson_val *args)    \
    {                                                                   \
        static const struct fs_kind kind = { table, work, run };        \
                                                                        \
        if (!roots_wait(((struct fs *)ctx)->roots, r, args, name, ctx)) \
            begin(ctx, r, args, &kind);                                 \
    }

HANDLER(create_directory, path_args, WORK_SHORT, fs_create_directory)
HANDLER(directory_tree, tree_args, WORK_LONG, fs_tree)
HANDLER(edit_file, edit_args, WORK_SHORT, fs_edit_file)
HANDLER(get_file_info, path_args, WORK_SHORT, fs_info)
HANDLER(list_allowed_directories, no_args, WORK_SHORT, fs_allowed)
HANDLER(list_directory, path_args, WORK_SHORT, fs_list)
HANDLER(list_directory_with_sizes, sizes_args, WORK_LONG, fs_list_sizes)
HANDLER(move_file, move_args, WORK_LONG, fs_move)
HANDLER(read_text_file, read_args, WORK_SHORT, fs_read_text)
HANDLER(read_media_file, path_args, WORK_SHORT, fs_read_media)
HANDLER(read_multiple_files, paths_args, WORK_LONG, fs_read_multiple)
HANDLER(search_files, search_args, WORK_LONG, fs_search)
HANDLER(write_file, write_args, WORK_SHORT, fs_write_file)

/* ---- schemas ---- */

#define OBJECT(properties, required) \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define STRING(name, description) \
    "\"" name "\":{\"type\":\"string\",\"description\":\"" description "\"}"
#define UINT(name, description)                                                           \
    "\"" name "\":{\"type\":[\"integer\",\"null\"],\"minimum\":0,\"maximum\":4294967295," \
    "\"default\":null,\"description\":\"" description "\"}"
#define STRINGS(name, rest) \
    "\"" name "\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}," rest "}"

#define ANY_PATH STRING("path", "Absolute, or relative to the first allowed directory")
#define EXCLUDES                                                                    \
    STRINGS("excludePatterns", "\"default\":[],\"description\":\"What matches one " \
                               "of these glob patterns is left out, with all below it\"")

#define ONLY_PATH OBJECT(ANY_PATH, "\"path\"")
#define READ_INPUT                                                       \
    OBJECT(ANY_PATH "," UINT("head", "Only the first N lines") "," UINT( \
               "tail", "Only the last N lines"),                         \
           "\"path\"")
#define EDIT_INPUT                                                                         \
    OBJECT(ANY_PATH ",\"edits\":{\"type\":\"array\",\"items\":" OBJECT(                    \
               STRING("oldText", "Text to be replaced: its first occurrence") "," STRING(  \
                   "newText", "What stands there then"),                                   \
               "\"oldText\",\"newText\"") ",\"description\":\"Done in order, each on the " \
                                          "result of the one before\"},"                   \
                                          "\"dryRun\":{\"type\":\"boolean\",\"default\":"  \
                                          "false,\"description\":"                         \
                                          "\"Only show the diff\"}",                       \
           "\"path\",\"edits\"")
#define SIZES_INPUT                                                                   \
    OBJECT(ANY_PATH ",\"sortBy\":{\"type\":\"string\",\"enum\":[\"name\",\"size\"],"  \
                    "\"default\":\"name\",\"description\":\"Order of the entries\"}", \
           "\"path\"")

#define TEXT_OUTPUT OBJECT("\"content\":{\"type\":\"string\"}", "\"content\"")
#define MEDIA_OUTPUT \
    OBJECT("\"content\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}", "\"content\"")

#define WITHIN " Works only within allowed directories."
#define READS  .read_only = HINT_TRUE, .open_world = HINT_FALSE
#define CHANGES(again, loses) \
    .read_only = HINT_FALSE, .idempotent = again, .destructive = loses, .open_world = HINT_FALSE

const struct tool fs_tools[FS_NTOOLS] = {
    { .name = "create_directory",
      .title = "Create Directory",
      .description = "Make a directory, and those above it that are missing. One that exists "
                     "already is fine." WITHIN,
      .input = ONLY_PATH,
      .output = TEXT_OUTPUT,
      CHANGES(HINT_TRUE, HINT_FALSE),
      .call = create_directory },
    { .name = "directory_tree",
      .title = "Directory Tree",
      .description =
          "A directory with all below it as JSON, indented by two spaces: each entry "
          "has 'name' and 'type' (file or directory), a directory also 'children'. "
          "Links are shown as files and not followed. Large trees are cut at 200,000 "
          "entries, 64 levels, or the size of an answer; excludePatterns "
          "(\"node_modules\", \"**/*.log\") make them smaller." WITHIN,
      .input = OBJECT(ANY_PATH "," EXCLUDES, "\"path\""),
      .output = TEXT_OUTPUT,
      READS,
      .call = directory_tree },
    { .name = "edit_file",
      .title = "Edit File",
      .description = "Replace pieces of a text file and get the change as a unified diff. Each "
                     "edit replaces the first place where oldText stands exactly, or else the "
                     "first lines that are the same but for white space at both ends, keeping "
                     "their indentation. If one edit finds no place, nothing is written. Line "
                     "ends, byte order mark and mode stay. dryRun shows the diff only." WITHIN,
      .input = EDIT_INPUT,
      .output = TEXT_OUTPUT,
      CHANGES(HINT_FALSE, HINT_TRUE),
      .call = edit_file },
    { .name = "get_file_info",
      .title = "Get File Info",
      .description =
          "Size, times (created, modified, accessed, in UTC), kind and permissions of "
          "a file or directory." WITHIN,
      .input = ONLY_PATH,
      .output = TEXT_OUTPUT,
      READS,
      .call = get_file_info },
    { .name = "list_allowed_directories",
      .title = "List Allowed Directories",
      .description = "The directories that this server may touch, with all below them. A "
                     "relative path is taken from the first one.",
      .input = OBJECT("", ""),
      .output = TEXT_OUTPUT,
      READS,
      .call = list_allowed_directories },
    { .name = "list_directory",
      .title = "List Directory",
      .description = "The entries of a directory, one a line: [DIR] before directories, [FILE] "
                     "before all else." WITHIN,
      .input = ONLY_PATH,
      .output = TEXT_OUTPUT,
      READS,
      .call = list_directory },
    { .name = "list_directory_with_sizes",
      .title = "List Directory with Sizes",
      .description = "The entries of a directory, one a line, with [DIR] or [FILE] before them "
                     "and the size of each file, and the totals." WITHIN,
      .input = SIZES_INPUT,
      .output = TEXT_OUTPUT,
      READS,
      .call = list_directory_with_sizes },
    { .name = "move_file",
      .title = "Move File",
      .description =
          "Move or rename a file or directory. It fails if the destination exists. A "
          "link is moved itself." WITHIN,
      .input = OBJECT(STRING("source", "What is moved") "," STRING(
                          "destination", "Its new path, not just the directory"),
                      "\"source\",\"destination\""),
      .output = TEXT_OUTPUT,
      CHANGES(HINT_FALSE, HINT_TRUE),
      .call = move_file },
    { .name = "read_file",
      .title = "Read File (Deprecated)",
      .description = "The same as read_text_file. Deprecated: use that one." WITHIN,
      .input = READ_INPUT,
      .output = TEXT_OUTPUT,
      READS,
      .call = read_text_file },
    { .name = "read_media_file",
      .title = "Read Media File",
      .description =
          "A file of at most 3.5 MiB in base64 with its media type: images and audio as "
          "such, anything else as an embedded resource." WITHIN,
      .input = ONLY_PATH,
      .output = MEDIA_OUTPUT,
      READS,
      .call = read_media_file },
    { .name = "read_multiple_files",
      .title = "Read Multiple Files",
      .description =
          "Several files as text at once, each behind its path. One that cannot be "
          "read is named with the reason; the others are there all the same. At most "
          "1,000 files and 4.5 MiB in all." WITHIN,
      .input = OBJECT(STRINGS("paths", "\"minItems\":1,\"maxItems\":1000,\"description\":"
                                       "\"Paths of the files\""),
                      "\"paths\""),
      .output = TEXT_OUTPUT,
      READS,
      .call = read_multiple_files },
    { .name = "read_text_file",
      .title = "Read Text File",
      .description = "A file as text, whatever its name. 'head' gives only the first N lines, "
                     "'tail' only the last N, from files of any size; a whole file may have at "
                     "most 4.5 MiB. Bytes that are no UTF-8 are shown as U+FFFD." WITHIN,
      .input = READ_INPUT,
      .output = TEXT_OUTPUT,
      READS,
      .call = read_text_file },
    { .name = "search_files",
      .title = "Search Files",
      .description = "Files and directories whose path below 'path' matches a glob pattern; "
                     "names are searched, not contents. \"*.ext\" matches in this directory, "
                     "\"**/*.ext\" in all subdirectories too; {a,b}, [a-z], [!x] and ? work. "
                     "Absolute paths, sorted, at most 10,000." WITHIN,
      .input =
          OBJECT(ANY_PATH "," STRING("pattern", "Glob pattern, relative to path") "," EXCLUDES,
                 "\"path\",\"pattern\""),
      .output = TEXT_OUTPUT,
      READS,
      .call = search_files },
    { .name = "write_file",
      .title = "Write File",
      .description = "Create a file, or replace all that is in it, without a warning. The "
                     "directory must exist." WITHIN,
      .input = OBJECT(ANY_PATH "," STRING("content", "The whole new content"),
                      "\"path\",\"content\""),
      .output = TEXT_OUTPUT,
      CHANGES(HINT_TRUE, HINT_TRUE),
      .call = write_file },
};
