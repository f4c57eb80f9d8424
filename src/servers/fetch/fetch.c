/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fetch/fetch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "rpc/message.h"
#include "servers/args.h"
#include "servers/fetch/errand.h"
#include "servers/server.h"

#define DEFAULT_LENGTH 5000

struct service {
    struct fetcher fetcher;
    struct arena arena; /* of the options */
    bool ignore_robots;
};

/* ---- the tool ---- */

struct arguments {
    struct str url;
    int64_t max_length, start_index;
    bool raw;
    bool has_max, has_start, has_raw;
};

static const struct arg arguments[] = {
    { "url", ARG_STRING, offsetof(struct arguments, url), 0 },
    { "max_length", ARG_INT, offsetof(struct arguments, max_length),
      offsetof(struct arguments, has_max) },
    { "start_index", ARG_INT, offsetof(struct arguments, start_index),
      offsetof(struct arguments, has_start) },
    { "raw", ARG_BOOL, offsetof(struct arguments, raw), offsetof(struct arguments, has_raw) },
    { 0 },
};

static void call_fetch(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    struct service *s = ctx;
    struct arguments in = { .max_length = DEFAULT_LENGTH };
    struct error e;

    if (!args_read(mcp_req_arena(r), args, arguments, false, &in, &e)) {
        tool_fail(r, "failed to deserialize parameters: %s", e.msg);
        return;
    }
    errand_start(&s->fetcher, r,
                 &(struct errand_request){ .url = in.url,
                                           .max_length = in.max_length,
                                           .start_index = in.start_index,
                                           .raw = in.raw });
}

static const struct tool tools[] = {
    {
        .name = "fetch",
        .title = "Fetch",
        .description =
            "Downloads a URL from the internet and returns its content, a web page as Markdown "
            "unless `raw` is set. This gives you internet access: use it for pages, "
            "documentation, JSON and text files whose current content you need, and tell the "
            "user that you can. A long page comes in parts: when the answer says that it was "
            "truncated, call again with the start_index it names. Sites that forbid automatic "
            "access in their robots.txt are not fetched.\n\n"
            "To search the web, fetch "
            "https://lite.duckduckgo.com/lite/?q=..&kl=us-en&kp=-2 with the URL-encoded search "
            "words as q; kl is the region, kp the safe search (1 strict, -1 moderate, -2 off). "
            "Then fetch the results that look useful.",
        .input =
            "{\"type\":\"object\",\"properties\":{"
            "\"url\":{\"type\":\"string\",\"description\":\"URL to fetch, http or https\"},"
            "\"max_length\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":999999,"
            "\"default\":5000,\"description\":\"Most characters to return\"},"
            "\"start_index\":{\"type\":\"integer\",\"minimum\":0,\"default\":0,"
            "\"description\":\"Where to start in the content, in characters: for the next "
            "part of a truncated answer\"},"
            "\"raw\":{\"type\":\"boolean\",\"default\":false,\"description\":\"The content "
            "as it is, without conversion to Markdown\"}},"
            "\"required\":[\"url\"]}",
        .read_only = HINT_TRUE,
        .open_world = HINT_TRUE,
        .call = call_fetch,
    },
};

/* ---- the prompt ---- */

static void prompts_list(void *ctx, struct mcp_req *r)
{
    (void)ctx;
    mcp_reply(r,
              STR("{\"prompts\":[{\"name\":\"fetch\",\"title\":\"Fetch\",\"description\":"
                  "\"Fetch a URL and extract its contents as markdown\",\"arguments\":["
                  "{\"name\":\"url\",\"description\":\"URL to fetch\",\"required\":true}]}]}"));
}

static void prompts_get(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args)
{
    struct service *s = ctx;
    struct str url = json_str(json_get(args, "url"));

    if (!str_is(name, "fetch"))
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "unknown prompt '%.*s'",
                        STR_F(str_upto(name, 128)));
    else if (!str_trim(url).n)
        mcp_reply_error(r, RPC_INVALID_PARAMS, STR(""), "URL is required");
    else
        errand_start(&s->fetcher, r,
                     &(struct errand_request){
                         .url = url, .max_length = DEFAULT_LENGTH, .prompt = true });
}

/* ---- the server ---- */

static void start(void *ctx, struct server *server)
{
    struct service *s = ctx;
    struct fetcher *f = &s->fetcher;

    f->server = server;
    f->net.loop = server_loop(server);
    if (!s->ignore_robots)
        f->gate = gate_new(&f->net, f->tool_agent);
}

static void stop(void *ctx, struct server *server, bool at_once)
{
    struct service *s = ctx;

    (void)at_once;
    gate_free(take_ptr(&s->fetcher.gate));
    net_close(&s->fetcher.net);
    server_stopped(server);
}

static const struct server_spec definition = {
    .mcp = {
        .name = "mcp-fetch",
        .title = "Fetch",
        .instructions =
            "Fetches web content and turns HTML into Markdown. The tool `fetch` obeys a site's "
            "robots.txt; the prompt `fetch`, which a person starts, never checks it. Addresses "
            "of private networks are refused unless the server was started to allow them.",
        .list_scope = MCP_SCOPE_PUBLIC,
        .prompts_list = prompts_list,
        .prompts_get = prompts_get,
    },
    .tools = tools,
    .ntools = ARRAY_LEN(tools),
    .split_advice = "use a smaller max_length, and start_index for the next part",
    .start = start,
    .stop = stop,
};

/* ---- options ---- */

static const char *own_agent(struct arena *a, const char *who)
{
    return arena_printf(a, "Symposium/%s (%s%s%s)", SYM_VERSION, who,
                        SYM_PROJECT_URL[0] ? "; +" : "", SYM_PROJECT_URL);
}

static bool set_agents(struct service *s, const char *given, struct error *e)
{
    struct fetcher *f = &s->fetcher;

    if (!given) {
        f->tool_agent = str_of(own_agent(&s->arena, "Autonomous"));
        f->prompt_agent = str_of(own_agent(&s->arena, "User-Specified"));
        return true;
    }
    if (!given[0])
        return error_set(e, ERR_INVALID, "--user-agent: it must not be empty");
    if (str_has_control(str_of(given)))
        return error_set(e, ERR_INVALID, "--user-agent: a control character");
    f->tool_agent = f->prompt_agent = str_of(given);
    return true;
}

static bool set_options(struct service *s, const struct fetch_opts *o, struct error *e)
{
    struct net *n = &s->fetcher.net;

    s->ignore_robots = o->ignore_robots;
    n->proxy = o->proxy_url;
    n->policy.allow_private = o->allow_private_network;
    if (!set_agents(s, o->user_agent, e))
        return false;
    if (n->proxy && !http_proxy_check(n->proxy, e))
        return error_wrap(e, "--proxy-url");
    for (size_t i = 0; i < o->nallow_hosts; i++) {
        if (!policy_allow_host(&n->policy, &s->arena, o->allow_hosts[i], e))
            return error_wrap(e, "--allow-host");
    }
    return true;
}

int fetch_run(const struct fetch_opts *o)
{
    struct service s = { 0 };
    struct error e;
    int status = 1;

    if (set_options(&s, o, &e))
        status = server_run(&definition, &s);
    else
        fprintf(stderr, "Error: %s\n", e.msg);
    arena_free(&s.arena);
    return status;
}
