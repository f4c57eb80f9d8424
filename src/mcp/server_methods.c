/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The methods we answer, as one table: which era has which, what its result carries, who
 * answers. */
#include "base/mem.h"
#include "mcp/server_internal.h"

static void keep_client(struct mcp_server *s, struct mcp_req *r)
{
    struct rpc_doc *old = s->hello;

    s->hello = rpc_doc_ref(r->doc);
    s->client_caps = json_get(r->params, "capabilities");
    rpc_doc_unref(old);
}

static void run_initialize(struct mcp_req *r)
{
    struct mcp_server *s = r->s;
    struct str asked = json_str(json_get(r->params, "protocolVersion"));
    struct str answered = asked;
    auto_buf out = BUF(MCP_MESSAGE_MAX);
    struct jw w = jw_to(&out);
    enum mcp_rev rev;

    if (!json_is_str(json_get(r->params, "protocolVersion"))) {
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "'protocolVersion' must be a string");
        return;
    }
    /* An unknown version is no error: we offer our latest, the client decides. Never a modern
     * one (MCP-L1, L2). */
    if (!mcp_rev_parse(asked, &rev) || mcp_rev_info(rev)->modern) {
        rev = MCP_LATEST_LEGACY;
        answered = str_of(mcp_rev_info(rev)->name);
    }
    s->legacy_rev = r->rev = rev;
    s->negotiated = true;
    keep_client(s, r);
    jw_obj(&w);
    jw_kstr(&w, "protocolVersion", answered);
    jw_key(&w, "capabilities");
    mcp_put_capabilities(&w, s->def, rev);
    jw_key(&w, "serverInfo");
    mcp_put_implementation(&w, s->def, rev);
    if (s->def->instructions)
        jw_kstrz(&w, "instructions", s->def->instructions);
    jw_end(&w);
    mcp_reply(r, buf_str(&out));
}

static void run_ping(struct mcp_req *r)
{
    mcp_reply(r, STR("{}"));
}

static void run_discover(struct mcp_req *r)
{
    auto_buf out = BUF(MCP_MESSAGE_MAX);
    struct jw w = jw_to(&out);

    jw_obj(&w);
    jw_key(&w, "supportedVersions");
    mcp_put_modern_revisions(&w);
    jw_key(&w, "capabilities");
    mcp_put_capabilities(&w, r->s->def, r->rev);
    if (r->s->def->instructions)
        jw_kstrz(&w, "instructions", r->s->def->instructions);
    jw_end(&w);
    mcp_reply(r, buf_str(&out));
}

static void run_listen(struct mcp_req *r)
{
    yyjson_val *filter = json_get(r->params, "notifications");

    if (!json_is_obj(filter))
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "'notifications' must be an object");
    else if (!mcp_listen_open(r, filter))
        mcp_reply_error(r, RPC_INTERNAL_ERROR, STR(""), "more than %d subscriptions open",
                        MCP_SERVER_MAX_LISTENS);
    else
        mcp_req_drop(r);
}

/* We never hand out a cursor, so any is invalid, the empty string too (MCP-S11). */
static bool refused_cursor(struct mcp_req *r)
{
    yyjson_val *cursor = json_get(r->params, "cursor");

    if (!cursor || json_is_null(cursor))
        return false;
    mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "invalid cursor");
    return true;
}

typedef void (*list_fn)(void *ctx, struct mcp_req *r);

/* A list that the definition may leave out, and then is empty. */
static void run_list(struct mcp_req *r, list_fn list, struct str empty)
{
    if (refused_cursor(r))
        return;
    if (list)
        list(r->s->def_ctx, r);
    else
        mcp_reply(r, empty);
}

static void run_tools_list(struct mcp_req *r)
{
    run_list(r, r->s->def->tools_list, STR("{\"tools\":[]}"));
}

static void run_prompts_list(struct mcp_req *r)
{
    run_list(r, r->s->def->prompts_list, STR("{\"prompts\":[]}"));
}

static void run_resources_list(struct mcp_req *r)
{
    run_list(r, r->s->def->resources_list, STR("{\"resources\":[]}"));
}

static void run_templates_list(struct mcp_req *r)
{
    run_list(r, r->s->def->resources_templates_list, STR("{\"resourceTemplates\":[]}"));
}

/* `name` and `arguments`, which tools/call and prompts/get share. False: refused. */
static bool read_named(struct mcp_req *r, struct str *ret_name, yyjson_val **ret_args)
{
    yyjson_val *name = json_get(r->params, "name");
    yyjson_val *args = json_get(r->params, "arguments");

    if (json_is_null(args))
        args = NULL;
    if (!json_is_str(name)) {
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "'name' must be a string");
        return false;
    }
    if (args && !json_is_obj(args)) {
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "'arguments' must be an object");
        return false;
    }
    *ret_name = json_str(name);
    *ret_args = args;
    return true;
}

static void run_tools_call(struct mcp_req *r)
{
    struct str name;
    yyjson_val *args;

    if (read_named(r, &name, &args))
        r->s->def->tools_call(r->s->def_ctx, r, name, args);
}

static void run_prompts_get(struct mcp_req *r)
{
    struct str name;
    yyjson_val *args;

    if (!read_named(r, &name, &args))
        return;
    for (struct json_iter it = json_iter(args); json_next(&it);)
        if (!json_is_str(it.val)) {
            mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "argument '%.*s' must be a string",
                            STR_F(str_upto(it.key, 128)));
            return;
        }
    r->s->def->prompts_get(r->s->def_ctx, r, name, args);
}

static void run_resources_read(struct mcp_req *r)
{
    yyjson_val *uri = json_get(r->params, "uri");

    if (!json_is_str(uri))
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "'uri' must be a string");
    else
        r->s->def->resources_read(r->s->def_ctx, r, json_str(uri));
}

static void run_extra(struct mcp_req *r)
{
    if (r->extra->requires && !mcp_req_offers(r, r->extra->requires))
        mcp_reply_needs(r, r->extra->requires);
    else
        r->extra->run(r->s->def_ctx, r);
}

#define BOTH     .legacy = true, .modern = true
#define RESOURCE .needs = CAP_RESOURCES, .by_handler = true, .cache = CACHE_RESOURCE

/* clang-format off */
static const struct method methods[] = {
    { "initialize",           .legacy = true,                       .run = run_initialize },
    { "ping",                 .legacy = true,                       .run = run_ping },
    { "server/discover",      .modern = true, .cache = CACHE_LIST,  .run = run_discover },
    { "subscriptions/listen", .modern = true,                       .run = run_listen },
    { "tools/list", BOTH, .by_handler = true, .cache = CACHE_LIST,
      .shape = SHAPE_TOOLS,     .run = run_tools_list },
    { "tools/call", BOTH, .needs = CAP_TOOLS, .by_handler = true,
      .shape = SHAPE_CALL,      .run = run_tools_call },
    { "prompts/list", BOTH, .needs = CAP_PROMPTS, .by_handler = true, .cache = CACHE_LIST,
      .shape = SHAPE_PROMPTS,   .run = run_prompts_list },
    { "prompts/get", BOTH, .needs = CAP_PROMPTS, .by_handler = true,
      .shape = SHAPE_MESSAGES,  .run = run_prompts_get },
    { "resources/list", BOTH, RESOURCE,
      .shape = SHAPE_RESOURCES, .run = run_resources_list },
    { "resources/templates/list", BOTH, RESOURCE,
      .shape = SHAPE_TEMPLATES, .run = run_templates_list },
    { "resources/read", BOTH, RESOURCE,
      .shape = SHAPE_CONTENTS,  .run = run_resources_read },
    { "resources/subscribe",   .legacy = true, .needs = CAP_WATCH, .run = mcp_run_subscribe },
    { "resources/unsubscribe", .legacy = true, .needs = CAP_WATCH, .run = mcp_run_unsubscribe },
};

static const struct method cached_extra = {
    "an extension's method", .modern = true, .by_handler = true, .cache = CACHE_RESOURCE,
    .run = run_extra,
}, uncached_extra = {
    "an extension's method", .modern = true, .by_handler = true, .run = run_extra,
};
/* clang-format on */

const struct method *mcp_extra_method(const struct mcp_method_def *extra)
{
    return extra->uncached ? &uncached_extra : &cached_extra;
}

const struct method *mcp_method(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (str_is(name, methods[i].name))
            return &methods[i];
    return NULL;
}
