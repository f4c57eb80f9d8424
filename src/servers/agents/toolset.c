/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/toolset.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/content.h"

/* ---- which ones ---- */

/* Backtracks to the last star only: linear but for the product with what follows it. */
static bool matches(struct str p, struct str s)
{
    size_t i = 0, k = 0, star = SIZE_MAX, from = 0;

    while (k < s.n) {
        if (i < p.n && p.p[i] == '*') {
            star = i++;
            from = k;
        } else if (i < p.n && p.p[i] == s.p[k]) {
            i++;
            k++;
        } else if (star != SIZE_MAX) {
            i = star + 1;
            k = ++from;
        } else {
            return false;
        }
    }
    while (i < p.n && p.p[i] == '*')
        i++;
    return i == p.n;
}

bool toolset_matches(struct str pattern, struct str server, struct str tool)
{
    auto_arena a = ARENA;

    return matches(pattern, tool) ||
           matches(pattern,
                   str_of(arena_printf(&a, "%.*s__%.*s", STR_F(server), STR_F(tool)))) ||
           matches(pattern, str_of(arena_printf(&a, "%.*s_%.*s", STR_F(server), STR_F(tool))));
}

static bool listed(const struct strs *l, struct str server, struct str tool)
{
    for (size_t i = 0; i < l->n; i++)
        if (toolset_matches(l->v[i], server, tool))
            return true;
    return false;
}

static bool reads_only(yyjson_val *tool)
{
    yyjson_val *hints = json_get(tool, "annotations");

    return json_is_true(json_get(hints, "readOnlyHint")) &&
           !json_is_true(json_get(hints, "destructiveHint"));
}

static bool is_allowed(const struct agent_def *d, const struct agent_server *s,
                       yyjson_val *tool)
{
    struct str name = json_str(json_get(tool, "name"));
    bool by_list = d->has_allow || (s->builtin.n && !s->whole);

    if (by_list && !listed(&d->allow, s->name, name))
        return false;
    if (listed(&d->deny, s->name, name) || mcp_tool_needs_task(tool))
        return false;
    return !d->read_only || reads_only(tool);
}

/* ---- taking them in ---- */

static struct str description_of(struct arena *a, yyjson_val *tool)
{
    struct str s = utf8_cut(json_str(json_get(tool, "description")), TOOLSET_DESCRIPTION_MAX);
    char *out = arena_z(a, s);

    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)out[i] < ' ' && out[i] != '\n' && out[i] != '\t')
            out[i] = ' ';
        else if (out[i] == 0x7f)
            out[i] = ' ';
    return (struct str){ out, s.n };
}

static bool add_one(struct toolset *t, size_t server, yyjson_val *tool, struct error *e)
{
    auto_buf schema = BUF(TOOLSET_SCHEMA_MAX);
    struct str name = json_str(json_get(tool, "name"));
    struct toolset_entry *entry;

    if (json_is_obj(json_get(tool, "inputSchema")))
        json_put_val(&schema, json_get(tool, "inputSchema"));
    else
        buf_addz(&schema, "{\"type\":\"object\",\"properties\":{}}");
    if (schema.over)
        return error_set(e, ERR_LIMIT, "the schema of tool '%.*s' has more than %zu bytes",
                         STR_F(str_upto(name, 80)), TOOLSET_SCHEMA_MAX);
    t->bytes += schema.n;
    if (t->bytes > TOOLSET_SCHEMAS_MAX)
        return error_set(e, ERR_LIMIT, "the schemas of all tools have more than %zu bytes",
                         TOOLSET_SCHEMAS_MAX);
    if (t->n == TOOLSET_MAX)
        return error_set(e, ERR_LIMIT, "more than %d tools", TOOLSET_MAX);
    entry = &ARENA_PUSH(t->a, t);
    *entry = (struct toolset_entry){
        .tool = { .description = description_of(t->a, tool),
                  .schema = arena_str(t->a, buf_str(&schema)) },
        .server = server,
        .original = arena_str(t->a, name),
    };
    return true;
}

bool toolset_add(struct toolset *t, size_t server, yyjson_val *tools, struct error *e)
{
    const struct agent_server *s = &t->def->servers.v[server];

    for (struct json_iter it = json_iter(tools); json_next(&it);)
        if (json_str(json_get(it.val, "name")).n && is_allowed(t->def, s, it.val) &&
            !add_one(t, server, it.val, e))
            return false;
    return true;
}

/* ---- their names ---- */

static void put_part(struct buf *out, struct str s, size_t max)
{
    s = str_upto(s, max);
    for (size_t i = 0; i < s.n; i++)
        buf_addc(out, ascii_alnum(s.p[i]) || s.p[i] == '_' || s.p[i] == '-' ? s.p[i] : '_');
}

static int by_origin(const void *x, const void *y)
{
    const struct toolset_entry *a = x, *b = y;

    if (a->server != b->server)
        return a->server < b->server ? -1 : 1;
    return str_cmp(a->original, b->original);
}

static int by_name(const void *x, const void *y)
{
    return str_cmp(((const struct toolset_entry *)x)->tool.name,
                   ((const struct toolset_entry *)y)->tool.name);
}

/* A second one of a name gets _2, within the same length. */
static struct str unique(const struct toolset *t, const struct map *taken, struct str name)
{
    struct str s = name;

    for (int i = 2; map_has(taken, s); i++) {
        char *mark = arena_printf(t->a, "_%d", i);
        size_t room = TOOLSET_NAME_MAX - str_of(mark).n;

        s = str_of(arena_printf(t->a, "%.*s%s", STR_F(str_upto(name, room)), mark));
    }
    return s;
}

void toolset_close(struct toolset *t)
{
    struct map taken = MAP;

    if (t->n)
        qsort(t->v, t->n, sizeof *t->v, by_origin);
    for (size_t i = 0; i < t->n; i++) {
        struct str server = t->def->servers.v[t->v[i].server].name;
        bool fits = server.n + 2 + t->v[i].original.n <= TOOLSET_NAME_MAX;
        auto_buf name = BUF(2 * TOOLSET_NAME_MAX);

        put_part(&name, server, fits ? server.n : TOOLSET_PART_MAX);
        buf_addz(&name, "__");
        put_part(&name, t->v[i].original, fits ? t->v[i].original.n : TOOLSET_PART_MAX);
        t->v[i].tool.name = unique(t, &taken, arena_str(t->a, buf_str(&name)));
        map_put(&taken, t->v[i].tool.name, t);
    }
    map_free(&taken);
    if (t->n)
        qsort(t->v, t->n, sizeof *t->v, by_name);
    t->offered = ARENA_ARRAY(t->a, struct wire_tool, t->n + 1);
    for (size_t i = 0; i < t->n; i++)
        t->offered[i] = t->v[i].tool;
}

const struct toolset_entry *toolset_find(const struct toolset *t, struct str name)
{
    const struct toolset_entry key = { .tool.name = name };

    return t->n ? bsearch(&key, t->v, t->n, sizeof *t->v, by_name) : NULL;
}
