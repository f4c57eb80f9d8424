/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/toolset.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "mcp/content.h"

#define HASH_INPUT_MAX ((size_t)32 << 20)

static void hash_tool(struct tool *t)
{
    static const char *const parts[] = { "description", "inputSchema", "name", "outputSchema" };
    auto_buf text = BUF(HASH_INPUT_MAX);

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        yyjson_val *v = json_get(t->raw, parts[i]);

        buf_addc(&text, i ? ',' : '{');
        json_put_str(&text, str_of(parts[i]));
        buf_addc(&text, ':');
        if (v)
            json_put_canonical(&text, v);
        else
            buf_addz(&text, "null");
    }
    buf_addc(&text, '}');
    sha256_hex(buf_str(&text), t->hash);
}

const char *tool_hash(struct tool *t)
{
    if (!t->hash[0])
        hash_tool(t);
    return t->hash;
}

/* {type: object, properties: {result: X}} without another property, or FastMCP's mark
 * (MS-48). */
static bool wraps_result(yyjson_val *schema)
{
    yyjson_val *props = json_get(schema, "properties");

    if (!json_get(props, "result"))
        return false;
    if (json_is_true(json_get(schema, "x-fastmcp-wrap-result")))
        return true;
    return str_is(json_str(json_get(schema, "type")), "object") && json_len(props) == 1;
}

static void take_hash(struct tool *t, yyjson_val *hashes)
{
    struct str known = json_str(json_get_s(hashes, t->name));

    if (known.n == SHA256_HEX_SIZE - 1)
        memcpy(t->hash, known.p, known.n);
}

static bool read_tool(struct tool *t, yyjson_val *raw)
{
    yyjson_val *notes = json_get(raw, "annotations");
    yyjson_val *output = json_get(raw, "outputSchema");

    *t = (struct tool){
        .name = json_str(json_get(raw, "name")),
        .description = json_str(json_get(raw, "description")),
        .raw = raw,
        .input = json_get(raw, "inputSchema"),
        .output = output,
        .unwrap = wraps_result(output),
        .read_only = json_is_true(json_get(notes, "readOnlyHint")) &&
                     !json_is_true(json_get(notes, "destructiveHint")),
        .needs_task = mcp_tool_needs_task(raw),
    };
    if (!json_is_obj(raw) || !json_is_str(json_get(raw, "name")))
        return false;
    if (t->unwrap)
        t->output = json_get(json_get(output, "properties"), "result");
    return true;
}

void toolset_take(struct toolset *ret, struct json *doc, yyjson_val *tools, yyjson_val *hashes)
{
    struct map seen = MAP;

    *ret = (struct toolset){ .doc = *doc };
    *doc = (struct json){ 0 };
    ret->v = mem_alloc(json_len(tools) * sizeof *ret->v);
    for (struct json_iter it = json_iter(tools); json_next(&it);) {
        struct tool *t = &ret->v[ret->n];

        if (!read_tool(t, it.val)) {
            ret->bad++;
        } else if (!map_put(&seen, t->name, ret)) {
            take_hash(t, hashes);
            ret->n++;
        }
    }
    map_free(&seen);
}

bool toolset_load(struct toolset *ret, struct str tools, struct error *e)
{
    struct json doc;

    *ret = (struct toolset){ 0 };
    if (!json_parse(&doc, tools, e))
        return false;
    if (!json_is_arr(doc.root)) {
        json_free(&doc);
        return error_set(e, ERR_PROTOCOL, "the tool list is not an array");
    }
    toolset_take(ret, &doc, doc.root, NULL);
    return true;
}

void toolset_free(struct toolset *t)
{
    json_free(&t->doc);
    free(t->v);
    *t = (struct toolset){ 0 };
}

yyjson_val *tool_structured(const struct tool *t, yyjson_val *call_result)
{
    yyjson_val *structured = json_get(call_result, "structuredContent");
    yyjson_val *wrapped = json_get(structured, "result");

    if (json_is_true(json_get(call_result, "isError")))
        return NULL;
    return t->unwrap && wrapped && json_len(structured) == 1 ? wrapped : structured;
}

size_t toolset_mark_changes(struct toolset *now, const struct toolset *before)
{
    struct map old = MAP;
    size_t changed = 0;

    for (size_t i = 0; i < before->n; i++)
        map_put(&old, before->v[i].name, &before->v[i]);
    for (size_t i = 0; i < now->n; i++) {
        struct tool *was = map_get(&old, now->v[i].name), *is = &now->v[i];

        if (was && (was->changed || strcmp(tool_hash(was), tool_hash(is)) != 0)) {
            is->changed = true;
            changed++;
        }
    }
    map_free(&old);
    return changed;
}

static bool listed(const struct str *v, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(v[i], name))
            return true;
    return false;
}

bool tool_visible(const struct tool *t, const struct tool_filter *f)
{
    if (f->has_enabled && !listed(f->enabled, f->nenabled, t->name))
        return false;
    if (listed(f->disabled, f->ndisabled, t->name))
        return false;
    return !f->read_only || (t->read_only && !t->changed);
}
