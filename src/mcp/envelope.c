/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What surrounds a handler's result: resultType, ttlMs, cacheScope and serverInfo of modern
 * revisions, down-conversion for older ones. A modern or 2025-11-25 call result is spliced as
 * text, not parsed again. */
#include "base/mem.h"
#include "mcp/content.h"
#include "mcp/server_internal.h"
#include "mcp/shallow.h"

void mcp_put_implementation(struct jw *w, const struct mcp_server_def *def, enum mcp_rev rev)
{
    jw_obj(w);
    jw_kstrz(w, "name", def->name);
    if (def->title && mcp_rev_info(rev)->structured)
        jw_kstrz(w, "title", def->title);
    jw_kstrz(w, "version", def->version);
    jw_end(w);
}

bool mcp_offers(const struct mcp_server_def *def, enum mcp_capability cap, enum mcp_rev rev)
{
    bool modern = mcp_rev_info(rev)->modern;

    switch (cap) {
    case CAP_NONE:
        return true;
    case CAP_TOOLS:
        return def->tools_call != NULL;
    case CAP_PROMPTS:
        return def->prompts_list != NULL;
    case CAP_RESOURCES:
        return def->resources_read && (modern || !def->resources_modern_only);
    case CAP_WATCH:
        return def->resources_watchable && mcp_offers(def, CAP_RESOURCES, rev);
    case CAP_EXTENSIONS:
        return modern && def->nextensions > 0;
    }
    return false;
}

static void put_tools_settings(struct jw *w, const struct mcp_server_def *def)
{
    if (def->tools_list_changed)
        jw_kbool(w, "listChanged", true);
}

static void put_resources_settings(struct jw *w, const struct mcp_server_def *def)
{
    if (def->resources_watchable)
        jw_kbool(w, "subscribe", true);
}

static void put_extensions(struct jw *w, const struct mcp_server_def *def)
{
    for (size_t i = 0; i < def->nextensions; i++) {
        jw_key(w, def->extensions[i].id);
        jw_raw(w, str_of(def->extensions[i].settings));
    }
}

static void put_nothing(struct jw *w, const struct mcp_server_def *def)
{
    (void)w;
    (void)def;
}

void mcp_put_capabilities(struct jw *w, const struct mcp_server_def *def, enum mcp_rev rev)
{
    static const struct {
        const char *name;
        enum mcp_capability cap;
        void (*put_settings)(struct jw *w, const struct mcp_server_def *def);
    } rows[] = {
        { "tools", CAP_TOOLS, put_tools_settings },
        { "prompts", CAP_PROMPTS, put_nothing },
        { "resources", CAP_RESOURCES, put_resources_settings },
        { "extensions", CAP_EXTENSIONS, put_extensions },
    };

    jw_obj(w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!mcp_offers(def, rows[i].cap, rev))
            continue;
        jw_key(w, rows[i].name);
        jw_obj(w);
        rows[i].put_settings(w, def);
        jw_end(w);
    }
    jw_end(w);
}

void mcp_put_modern_revisions(struct jw *w)
{
    jw_arr(w);
    for (int rev = 0; rev < MCP_REV_COUNT; rev++)
        if (mcp_rev_info(rev)->modern)
            jw_strz(w, mcp_rev_info(rev)->name);
    jw_end(w);
}

/* Adds a member to the object being written at the end of out. */
static void put_member(struct buf *out, struct str text)
{
    if (out->n && out->p[out->n - 1] != '{')
        buf_addc(out, ',');
    buf_add(out, text);
}

/* The handler's _meta with our serverInfo added, unless it has one. */
static void put_meta(struct buf *out, struct str meta, const struct mcp_server_def *def,
                     enum mcp_rev rev)
{
    struct jw w = jw_to(out);
    bool has_info = false;

    put_member(out, STR("\"_meta\":{"));
    for (struct shallow m = shallow_of(meta); shallow_next(&m);) {
        has_info |= str_is(m.key, MCP_META_SERVER_INFO);
        put_member(out, m.text);
    }
    if (!has_info) {
        put_member(out, STR("\"" MCP_META_SERVER_INFO "\":"));
        mcp_put_implementation(&w, def, rev);
    }
    buf_addc(out, '}');
}

static struct str scope_member(const struct mcp_server_def *def, enum mcp_cache cache)
{
    enum mcp_scope scope = cache == CACHE_LIST ? def->list_scope : def->resource_scope;

    return scope == MCP_SCOPE_PUBLIC ? STR("\"cacheScope\":\"public\"")
                                     : STR("\"cacheScope\":\"private\"");
}

static void put_modern(struct buf *out, struct str result, const struct mcp_server_def *def,
                       const struct method *method, enum mcp_rev rev)
{
    bool has_type = false, has_ttl = false, has_scope = false;
    struct str meta = STR("{}");

    buf_addc(out, '{');
    for (struct shallow m = shallow_of(result); shallow_next(&m);) {
        if (str_is(m.key, "_meta")) {
            meta = m.val;
            continue;
        }
        has_type |= str_is(m.key, "resultType");
        has_ttl |= str_is(m.key, "ttlMs");
        has_scope |= str_is(m.key, "cacheScope");
        put_member(out, m.text);
    }
    if (!has_type)
        put_member(out, STR("\"resultType\":\"complete\""));
    if (method->cache != CACHE_NONE && !has_ttl)
        put_member(out, STR("\"ttlMs\":0"));
    if (method->cache != CACHE_NONE && !has_scope)
        put_member(out, scope_member(def, method->cache));
    put_meta(out, meta, def, rev);
    buf_addc(out, '}');
}

static bool is_modern_member(struct str key)
{
    return str_is(key, "resultType") || str_is(key, "ttlMs") || str_is(key, "cacheScope");
}

/*
 * The newest legacy revision has all that a content block can hold: only the envelope and a
 * structuredContent that is no object differ, and both show at the top level. False: it must be
 * converted.
 */
static bool put_call_unparsed(struct buf *out, struct str result)
{
    buf_addc(out, '{');
    for (struct shallow m = shallow_of(result); shallow_next(&m);) {
        if (str_is(m.key, "structuredContent") && m.val.p[0] != '{')
            return false;
        if (!is_modern_member(m.key))
            put_member(out, m.text);
    }
    buf_addc(out, '}');
    return true;
}

/* clang-format off */
static const struct list_shape {
    const char *member;
    void (*put)(struct buf *out, yyjson_val *item, enum mcp_rev rev);
} list_shapes[] = {
    [SHAPE_TOOLS]     = { "tools",             mcp_put_tool },
    [SHAPE_PROMPTS]   = { "prompts",           mcp_put_prompt },
    [SHAPE_MESSAGES]  = { "messages",          mcp_put_message },
    [SHAPE_RESOURCES] = { "resources",         mcp_put_resource },
    [SHAPE_TEMPLATES] = { "resourceTemplates", mcp_put_resource },
    [SHAPE_CONTENTS]  = { "contents",          mcp_put_resource },
};
/* clang-format on */

static void put_list(struct buf *out, yyjson_val *result, const struct list_shape *shape,
                     enum mcp_rev rev)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    for (struct json_iter it = json_iter(result); json_next(&it);) {
        if (is_modern_member(it.key))
            continue;
        jw_key_s(&w, it.key);
        if (!str_is(it.key, shape->member) || !json_is_arr(it.val)) {
            jw_val(&w, it.val);
            continue;
        }
        jw_arr(&w);
        for (struct json_iter item = json_iter(it.val); json_next(&item);) {
            auto_buf one = BUF(out->max);

            shape->put(&one, item.val, rev);
            jw_raw(&w, buf_str(&one));
        }
        jw_end(&w);
    }
    jw_end(&w);
}

static bool put_legacy(struct buf *out, struct str result, const struct method *method,
                       enum mcp_rev rev, struct error *e)
{
    auto_json j = { 0 };

    if (method->shape == SHAPE_PLAIN) {
        buf_add(out, result);
        return true;
    }
    if (method->shape == SHAPE_CALL && mcp_rev_info(rev)->icons) {
        if (put_call_unparsed(out, result))
            return true;
        buf_clear(out);
    }
    if (!json_parse(&j, result, e))
        return error_wrap(e, "result of %s", method->name);
    if (method->shape == SHAPE_CALL)
        mcp_put_result(out, j.root, rev);
    else
        put_list(out, j.root, &list_shapes[method->shape], rev);
    return true;
}

bool mcp_put_envelope(struct buf *out, struct str result, const struct mcp_server_def *def,
                      const struct method *method, enum mcp_rev rev, struct error *e)
{
    if (mcp_rev_info(rev)->modern)
        put_modern(out, result, def, method, rev);
    else if (!put_legacy(out, result, method, rev, e))
        return false;
    return buf_ok(out, e);
}
