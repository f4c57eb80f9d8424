/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which tools an agent may call (AG-4). What vendors call their own tools stands for tools of
 * ours: a row of the table says of which server, and which ones exactly, so that an agent which
 * may read gets nothing that writes. Whatever cannot be kept as narrow as it is written is
 * denied: a pattern within a name ("Bash(git:*)"), a question that nobody could answer.
 */
#include <string.h>

#include "base/mem.h"
#include "servers/agents/definition_impl.h"

#define READ_TOOLS "read_file read_text_file read_media_file read_multiple_files get_file_info "
#define LIST_TOOLS                                                          \
    "list_directory list_directory_with_sizes directory_tree search_files " \
    "list_allowed_directories "

static const struct stand_in {
    const char *vendor, *server, *tools; /* tools: with a blank behind each */
} stand_ins[] = {
    { "Read", "filesystem", READ_TOOLS LIST_TOOLS },
    { "Glob", "filesystem", LIST_TOOLS },
    { "Grep", "filesystem", READ_TOOLS LIST_TOOLS }, /* who searches texts must read them */
    { "LS", "filesystem", LIST_TOOLS },
    { "List", "filesystem", LIST_TOOLS },
    { "Write", "filesystem", "write_file create_directory move_file " },
    { "Edit", "filesystem", "edit_file " },
    { "MultiEdit", "filesystem", "edit_file " },
    { "Patch", "filesystem", "edit_file " },
    { "Bash", "shell", "execute_command " },
    { "WebFetch", "fetch", "fetch " },
    { "Skill", "skills", "activate_skill " },
};

static const char *const builtins[] = { "filesystem", "fetch", "memory", "shell", "skills" };

bool agent_is_builtin(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(builtins); i++)
        if (str_is(name, builtins[i]))
            return true;
    return false;
}

void reader_add_builtin(struct reader *r, struct str name)
{
    struct agent_servers *all = &r->def->servers;

    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->v[i].name, name))
            return;
    if (r->settings->no_builtins || all->n == AGENT_SERVERS_MAX)
        return;
    ARENA_PUSH(r->a, all) = (struct agent_server){ .name = arena_str(r->a, name),
                                                   .builtin = arena_str(r->a, name) };
}

static const struct stand_in *stand_in_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(stand_ins); i++)
        if (str_icase_eq(name, str_of(stand_ins[i].vendor)))
            return &stand_ins[i];
    return NULL;
}

static void push_tools(struct reader *r, const struct stand_in *s, struct strs *to)
{
    struct str rest = str_of(s->tools), tool;

    while (str_next(&rest, ' ', &tool))
        ARENA_PUSH(r->a, to) = str_of(arena_printf(r->a, "%s__%.*s", s->server, STR_F(tool)));
}

/* "mcp__server__tool" and "mcp__server" of Claude, in our spelling. */
static struct str spelled(struct reader *r, struct str name)
{
    static const char mark[] = "mcp__";

    if (!str_starts(name, STR("mcp__")))
        return name;
    name = str_from(name, sizeof mark - 1);
    if (str_find(name, STR("__")) != SIZE_MAX)
        return name;
    return str_of(arena_printf(r->a, "%.*s__*", STR_F(name)));
}

/* The server in "server__tool" or "server". */
static struct str server_of(struct str name)
{
    size_t at = str_find(name, STR("__"));

    return at == SIZE_MAX ? name : str_upto(name, at);
}

/* Is there a server whose tools this name might mean? */
static bool may_mean_something(const struct reader *r, struct str name)
{
    const struct agent_servers *all = &r->def->servers;

    for (size_t i = 0; i < all->n; i++)
        if (!all->v[i].builtin.n || str_eq(all->v[i].name, server_of(name)))
            return true;
    return false;
}

struct ignored {
    struct buf names;
    size_t n;
};

static void ignore(struct ignored *to, struct str name)
{
    buf_addf(&to->names, "%s%.*s", to->n++ ? ", " : "", STR_F(str_upto(name, 60)));
}

static void allow(struct reader *r, struct str name, struct ignored *left)
{
    const struct stand_in *s = stand_in_of(name);
    struct agent_def *d = r->def;

    if (s) {
        reader_add_builtin(r, str_of(s->server));
        push_tools(r, s, &d->allow);
        return;
    }
    if (str_find_char(name, '(') != SIZE_MAX) {
        ignore(left, name);
        return;
    }
    name = spelled(r, name);
    if (agent_is_builtin(server_of(name))) {
        reader_add_builtin(r, server_of(name));
        if (str_find(name, STR("__")) == SIZE_MAX)
            name = str_of(arena_printf(r->a, "%.*s__*", STR_F(name)));
    } else if (!may_mean_something(r, name) && !str_is(name, "*")) {
        ignore(left, name);
        return;
    }
    ARENA_PUSH(r->a, &d->allow) = arena_str(r->a, name);
}

/* "Bash(rm:*)" denies Bash: less than that cannot be kept. */
static void deny(struct reader *r, struct str name)
{
    const struct stand_in *s;
    size_t at = str_find_char(name, '(');

    if (at != SIZE_MAX)
        name = str_trim(str_upto(name, at));
    s = stand_in_of(name);
    if (s)
        push_tools(r, s, &r->def->deny);
    name = spelled(r, name);
    ARENA_PUSH(r->a, &r->def->deny) = arena_str(r->a, name);
    if (str_find(name, STR("__")) == SIZE_MAX) /* a whole server by its name */
        ARENA_PUSH(r->a, &r->def->deny) = str_of(arena_printf(r->a, "%.*s__*", STR_F(name)));
}

/* ---- the forms they come in ---- */

/* {"write": false, "bash": true} */
static bool read_tool_map(struct reader *r, yyjson_val *map, struct ignored *left)
{
    for (struct json_iter it = json_iter(map); json_next(&it);) {
        if (!json_is_bool(it.val))
            return error_set(r->e, ERR_INVALID, "'tools' must map names to true or false");
        if (!json_is_true(it.val)) {
            deny(r, it.key);
            continue;
        }
        r->def->has_allow = true;
        allow(r, it.key, left);
    }
    return true;
}

static bool read_tools(struct reader *r, struct ignored *left)
{
    yyjson_val *v = json_get(r->root, "tools");
    struct strs names = { 0 };

    if (!v || json_is_null(v))
        return true;
    if (json_is_obj(v))
        return read_tool_map(r, v, left);
    if (!reader_list(r, v, "tools", &names))
        return false;
    r->def->has_allow = true;
    for (size_t i = 0; i < names.n; i++)
        allow(r, names.v[i], left);
    return true;
}

/* "allow", or a map of patterns all of which are: anything less is a no. */
static bool is_allowed(yyjson_val *v)
{
    if (json_is_str(v))
        return str_is(json_str(v), "allow");
    if (!json_is_obj(v) || !json_len(v))
        return false;
    for (struct json_iter it = json_iter(v); json_next(&it);)
        if (!str_is(json_str(it.val), "allow"))
            return false;
    return true;
}

static bool is_verdict(yyjson_val *v)
{
    static const char *const words[] = { "allow", "ask", "deny" };

    for (struct json_iter it = json_iter(json_is_obj(v) ? v : NULL); json_next(&it);)
        if (json_is_obj(it.val) || !is_verdict(it.val))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(json_str(v), words[i]))
            return true;
    return json_is_obj(v);
}

/* In such a map "edit" is every change of a file. */
static bool read_permissions(struct reader *r, struct ignored *left)
{
    static const char *const keys[] = { "permission", "permissionMode", "permission_mode",
                                        NULL };
    const char *key;
    yyjson_val *map = reader_get(r->root, keys, &key);

    for (struct json_iter it = json_iter(json_is_obj(map) ? map : NULL); json_next(&it);) {
        bool edit = str_is(it.key, "edit");

        if (!is_verdict(it.val))
            return error_set(r->e, ERR_INVALID, "'%s': '%.*s' must be allow, ask or deny", key,
                             STR_F(str_upto(it.key, 80)));
        if (!is_allowed(it.val)) {
            deny(r, it.key);
            if (edit)
                deny(r, STR("write"));
        } else if (stand_in_of(it.key)) {
            allow(r, it.key, left);
            if (edit)
                allow(r, STR("write"), left);
        }
    }
    return true;
}

static bool read_denials(struct reader *r)
{
    static const char *const keys[] = { "disallowedTools", "disallowed_tools", NULL };
    struct strs names = { 0 };
    const char *key = keys[0];
    yyjson_val *v = reader_get(r->root, keys, &key);

    if (!reader_list(r, v, key, &names))
        return false;
    for (size_t i = 0; i < names.n; i++)
        deny(r, names.v[i]);
    return true;
}

/* One that names no tool and no server may look around. */
static void add_default(struct reader *r, bool named_server)
{
    struct agent_def *d = r->def;

    if (d->has_allow || named_server || r->settings->no_builtins)
        return;
    d->has_allow = true;
    reader_add_builtin(r, STR("filesystem"));
    push_tools(r, stand_in_of(STR("Read")), &d->allow);
}

bool reader_tools(struct reader *r)
{
    struct ignored left = { .names = BUF(600) };
    bool named_server = r->def->servers.n > 0;
    bool ok = read_tools(r, &left) && read_permissions(r, &left) && read_denials(r);

    if (ok)
        add_default(r, named_server);
    if (left.n)
        reader_warn(r, "tools that do not exist here are ignored: %s%s", buf_z(&left.names),
                    left.names.over ? ", ..." : "");
    buf_free(&left.names);
    return ok;
}
