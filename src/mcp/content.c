/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mcp/content.h"

#include <stddef.h>

#include "base/mem.h"
#include "loop/lines.h"

/* A result came in one line, and no part of it is longer than that. */
#define VALUE_MAX LINES_MAX_DEFAULT

/* A member that older revisions lack, and the column of the era table that says so. */
struct gated {
    const char *key;
    size_t column;
};
#define COLUMN(name) offsetof(struct mcp_rev_info, name)

/* clang-format off */
static const struct gated tool_members[] = {
    { "annotations",  COLUMN(annotations) },
    { "title",        COLUMN(structured) },
    { "outputSchema", COLUMN(structured) },
    { "_meta",        COLUMN(structured) },
    { "icons",        COLUMN(icons) },
    { "execution",    COLUMN(execution) },
    { NULL, 0 },
};
/* resources, templates, contents, prompts and their arguments, content blocks */
static const struct gated item_members[] = {
    { "title",        COLUMN(structured) },
    { "_meta",        COLUMN(structured) },
    { "icons",        COLUMN(icons) },
    { NULL, 0 },
};
static const struct gated result_members[] = {
    { "structuredContent", COLUMN(structured) },
    { "resultType",   COLUMN(modern) },
    { "ttlMs",        COLUMN(modern) },
    { "cacheScope",   COLUMN(modern) },
    { NULL, 0 },
};
/* clang-format on */

static bool has(enum mcp_rev rev, const struct gated *rows, struct str key)
{
    for (; rows->key; rows++)
        if (str_is(key, rows->key))
            return *(const bool *)((const char *)mcp_rev_info(rev) + rows->column);
    return true;
}

/* ---- tool definitions ---- */

/* Members of a schema whose values are data, not schemas: a "$ref" inside is not a reference.
 */
static bool is_schema_data(struct str key)
{
    return str_is(key, "const") || str_is(key, "enum") || str_is(key, "default") ||
           str_is(key, "examples");
}

static void put_moved_ref(struct jw *w, struct str ref)
{
    auto_buf moved = BUF(ref.n + 32);

    buf_addz(&moved, "#/properties/result");
    buf_add(&moved, str_from(ref, 1));
    jw_str(w, buf_str(&moved));
}

/* Copies a schema that moves from the root to /properties/result: local pointers move along,
 * anchors need not. */
static void put_moved_schema(struct jw *w, yyjson_val *v)
{
    if (json_is_obj(v))
        jw_obj(w);
    else if (json_is_arr(v))
        jw_arr(w);
    else {
        jw_val(w, v);
        return;
    }
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        struct str ref = json_str(it.val);

        if (json_is_obj(v))
            jw_key_s(w, it.key);
        if (json_is_obj(v) && is_schema_data(it.key))
            jw_val(w, it.val);
        else if (json_is_obj(v) && str_is(it.key, "$ref") &&
                 (str_is(ref, "#") || str_starts(ref, STR("#/"))))
            put_moved_ref(w, ref);
        else
            put_moved_schema(w, it.val);
    }
    jw_end(w);
}

/* How many containers deep a value is; JW_MAX_DEPTH bounds what the writer can hold. */
static unsigned depth_of(yyjson_val *v)
{
    unsigned deepest = 0;

    for (struct json_iter it = json_iter(v); json_next(&it);) {
        unsigned d = depth_of(it.val);

        deepest = d > deepest ? d : deepest;
    }
    return json_is_obj(v) || json_is_arr(v) ? deepest + 1 : 0;
}

/* Legacy revisions know only object results:
 * {"type":"object","properties":{"result":S},"required":["result"]}. */
static void put_wrapped_schema(struct jw *w, yyjson_val *schema)
{
    jw_obj(w);
    jw_kstrz(w, "type", "object");
    jw_key(w, "properties");
    jw_obj(w);
    jw_key(w, "result");
    /* With an $id of its own the schema keeps its base, and its local references stay right. */
    if (json_get(schema, "$id") || depth_of(schema) + 8 > JW_MAX_DEPTH)
        jw_val(w, schema);
    else
        put_moved_schema(w, schema);
    jw_end(w);
    jw_key(w, "required");
    jw_arr(w);
    jw_strz(w, "result");
    jw_end(w);
    jw_end(w);
}

void mcp_put_tool(struct buf *out, yyjson_val *tool, enum mcp_rev rev)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    for (struct json_iter it = json_iter(tool); json_next(&it);) {
        if (!has(rev, tool_members, it.key))
            continue;
        jw_key_s(&w, it.key);
        if (str_is(it.key, "outputSchema") && !mcp_rev_info(rev)->any_structured &&
            !str_is(json_str(json_get(it.val, "type")), "object"))
            put_wrapped_schema(&w, it.val);
        else
            jw_val(&w, it.val);
    }
    jw_end(&w);
}

bool mcp_tool_needs_task(yyjson_val *tool)
{
    return str_is(json_str(json_path(tool, "execution.taskSupport")), "required");
}

/* ---- resources ---- */

static void put_flat_item(struct jw *w, yyjson_val *item, enum mcp_rev rev)
{
    jw_obj(w);
    for (struct json_iter it = json_iter(item); json_next(&it);)
        if (has(rev, item_members, it.key)) {
            jw_key_s(w, it.key);
            jw_val(w, it.val);
        }
    jw_end(w);
}

/* A content block holds its embedded resource one level down. */
static void put_item(struct jw *w, yyjson_val *item, enum mcp_rev rev)
{
    jw_obj(w);
    for (struct json_iter it = json_iter(item); json_next(&it);) {
        if (!has(rev, item_members, it.key))
            continue;
        jw_key_s(w, it.key);
        if (str_is(it.key, "resource") && json_is_obj(it.val))
            put_flat_item(w, it.val, rev);
        else
            jw_val(w, it.val);
    }
    jw_end(w);
}

void mcp_put_resource(struct buf *out, yyjson_val *item, enum mcp_rev rev)
{
    struct jw w = jw_to(out);

    put_flat_item(&w, item, rev);
}

/* ---- content blocks ---- */

void mcp_put_text_block(struct jw *w, struct str text)
{
    jw_obj(w);
    jw_kstrz(w, "type", "text");
    jw_kstr(w, "text", text);
    jw_end(w);
}

static void put_audio_placeholder(struct jw *w, yyjson_val *block)
{
    struct str mime = json_str(json_get(block, "mimeType"));
    auto_buf text = BUF(512);

    buf_addf(&text,
             "[audio %.*s, %zu base64 bytes, not shown: this protocol revision has no audio]",
             STR_F(str_upto(mime, 128)), json_str(json_get(block, "data")).n);
    mcp_put_text_block(w, buf_str(&text));
}

static void put_block(struct jw *w, yyjson_val *block, enum mcp_rev rev)
{
    struct str type = json_str(json_get(block, "type"));

    if (str_is(type, "audio") && !mcp_rev_info(rev)->annotations)
        put_audio_placeholder(w, block);
    else if (str_is(type, "resource_link") && !mcp_rev_info(rev)->structured)
        mcp_put_text_block(w, json_str(json_get(block, "uri")));
    else if (json_is_obj(block) && !mcp_rev_info(rev)->icons)
        put_item(w, block, rev);
    else
        jw_val(w, block);
}

/* ---- prompts ---- */

/* Arguments have the members of items, one level down. */
void mcp_put_prompt(struct buf *out, yyjson_val *prompt, enum mcp_rev rev)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    for (struct json_iter it = json_iter(prompt); json_next(&it);) {
        if (!has(rev, item_members, it.key))
            continue;
        jw_key_s(&w, it.key);
        if (!str_is(it.key, "arguments") || !json_is_arr(it.val)) {
            jw_val(&w, it.val);
            continue;
        }
        jw_arr(&w);
        for (struct json_iter arg = json_iter(it.val); json_next(&arg);)
            put_flat_item(&w, arg.val, rev);
        jw_end(&w);
    }
    jw_end(&w);
}

void mcp_put_message(struct buf *out, yyjson_val *message, enum mcp_rev rev)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    for (struct json_iter it = json_iter(message); json_next(&it);) {
        jw_key_s(&w, it.key);
        if (str_is(it.key, "content"))
            put_block(&w, it.val, rev);
        else
            jw_val(&w, it.val);
    }
    jw_end(&w);
}

/* ---- call results ---- */

static bool has_text_block(yyjson_val *content)
{
    for (struct json_iter it = json_iter(content); json_next(&it);)
        if (str_is(json_str(json_get(it.val, "type")), "text"))
            return true;
    return false;
}

/* A structured value that the client will not see in its place is copied into a text block,
 * once. */
static void put_content(struct jw *w, yyjson_val *content, yyjson_val *hidden, enum mcp_rev rev)
{
    jw_arr(w);
    for (struct json_iter it = json_iter(content); json_next(&it);)
        put_block(w, it.val, rev);
    if (hidden && !has_text_block(content)) {
        auto_buf text = BUF(VALUE_MAX);

        json_put_val(&text, hidden);
        mcp_put_text_block(w, buf_str(&text));
    }
    jw_end(w);
}

static void put_structured(struct jw *w, yyjson_val *value, bool wrap)
{
    if (!wrap) {
        jw_val(w, value);
        return;
    }
    jw_obj(w);
    jw_key(w, "result");
    jw_val(w, value);
    jw_end(w);
}

void mcp_put_result(struct buf *out, yyjson_val *result, enum mcp_rev rev)
{
    const struct mcp_rev_info *info = mcp_rev_info(rev);
    yyjson_val *structured = json_get(result, "structuredContent");
    bool wrap = structured && !info->any_structured && !json_is_obj(structured);
    yyjson_val *hidden = wrap || !info->structured ? structured : NULL;
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_key(&w, "content");
    put_content(&w, json_get(result, "content"), hidden, rev);
    for (struct json_iter it = json_iter(result); json_next(&it);) {
        if (str_is(it.key, "content") || !has(rev, result_members, it.key))
            continue;
        jw_key_s(&w, it.key);
        if (str_is(it.key, "structuredContent"))
            put_structured(&w, it.val, wrap);
        else
            jw_val(&w, it.val);
    }
    jw_end(&w);
}

void mcp_put_text_result(struct buf *out, struct str text, bool is_error)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_key(&w, "content");
    jw_arr(&w);
    mcp_put_text_block(&w, text);
    jw_end(&w);
    if (is_error)
        jw_kbool(&w, "isError", true);
    jw_end(&w);
}

/* ---- reading ---- */

/* Text of the text blocks, joined with newlines; *ret_all says that there was nothing else. */
static struct str joined_text(struct arena *a, yyjson_val *content, bool *ret_all)
{
    auto_buf text = BUF(VALUE_MAX);
    bool first = true;

    *ret_all = json_is_arr(content) || !content;
    for (struct json_iter it = json_iter(content); json_next(&it);) {
        yyjson_val *t = json_get(it.val, "text");

        if (!str_is(json_str(json_get(it.val, "type")), "text") || !json_is_str(t)) {
            *ret_all = false;
            continue;
        }
        if (!first)
            buf_addc(&text, '\n');
        first = false;
        buf_add(&text, json_str(t));
    }
    return arena_str(a, buf_str(&text));
}

static struct str json_in_arena(struct arena *a, yyjson_val *v)
{
    auto_buf b = BUF(VALUE_MAX);

    json_put_val(&b, v);
    return arena_str(a, buf_str(&b));
}

/* Only an object or array is taken for JSON: a bare `true` or a 30-digit order number stays
 * text (MS-47). */
static bool text_as_json(struct arena *a, struct str text, struct str *ret)
{
    struct str t = str_trim(text);
    auto_json j = { 0 };

    if (t.n == 0 || (t.p[0] != '{' && t.p[0] != '[') || !json_parse(&j, t, NULL))
        return false;
    *ret = json_in_arena(a, j.root);
    return true;
}

struct mcp_value mcp_value_of(struct arena *a, yyjson_val *call_result)
{
    yyjson_val *structured = json_get(call_result, "structuredContent");
    yyjson_val *content = json_get(call_result, "content");
    struct mcp_value v = { .kind = MCP_VALUE_JSON };
    bool all_text;

    if (json_is_true(json_get(call_result, "isError"))) {
        v.kind = MCP_VALUE_ERROR;
        v.text = joined_text(a, content, &all_text);
        if (v.text.n == 0)
            v.text = STR("tool failed");
        return v;
    }
    if (structured) {
        v.json = json_in_arena(a, structured);
        v.structured = true;
        return v;
    }
    v.text = joined_text(a, content, &all_text);
    if (!all_text) {
        v.text = STR("");
        v.json = json_in_arena(a, content);
    } else if (!text_as_json(a, v.text, &v.json)) {
        v.kind = MCP_VALUE_TEXT;
    }
    return v;
}
