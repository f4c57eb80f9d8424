/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/service.h"

#include <stdlib.h>

#include "base/log_dir.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "loop/signal.h"
#include "mcp/stdio.h"
#include "meta/first_root.h"
#include "meta/gateway.h"

#define FLUSH_MS         5000 /* for answers that the client has not read yet, after its EOF */
#define FLUSH_AT_ONCE_MS 200  /* the same after a signal or hang-up */
#define SWEEP_MS         1000 /* for processes that nobody waited for */
#define DESCRIPTION_MAX  2000 /* characters (MS-9) */
#define TOOLS_MAX        ((size_t)16 << 10)
#define RESULT_TEXT_MAX  ((size_t)64 << 20)

struct service {
    struct loop *loop;
    struct gateway *gateway;
    struct first_root *first_root;
    struct mcp_stdio *stdio; /* NULL: the client is gone */
    struct buf tools;        /* our tools/list as last made */
    enum stdio_end why;
    struct signals *signals; /* while servers are being closed */
    const char *start_dir;
    const char *log_dir; /* NULL: the log stays on stderr */
};

/* One request of the client while it is open. */
struct request {
    struct service *s;
    struct mcp_req *r;
    uint64_t wait; /* for the inventory */
    struct listing *listing;
    struct execution *execution;
    struct list_query query;
    struct str script; /* p NULL: list_tools */
};

/* ---- our own tools/list ---- */

static void put_scope(struct buf *text, const struct catalog *c)
{
    static const char rest[] = " ... (list_tools names all)";

    if (!c->n) {
        buf_addz(text, " No servers apply to this workspace.");
        return;
    }
    buf_addz(text, " Servers in scope: ");
    for (size_t i = 0; i < c->n; i++) {
        if (text->n + c->globals[i].n + sizeof rest > DESCRIPTION_MAX) {
            buf_addz(text, rest);
            return;
        }
        if (i)
            buf_addz(text, ", ");
        buf_add(text, c->globals[i]);
    }
    buf_addc(text, '.');
}

static void put_list_tools(struct jw *w, const struct catalog *c)
{
    char text[512];

    snprintf(
        text, sizeof text,
        "Shows the tools of the MCP servers in scope (%zu) for use in execute. Call it first: "
        "no arguments gives an index, query searches, servers or tools give TypeScript "
        "declarations.",
        c->n);
    jw_obj(w);
    jw_kstrz(w, "name", "list_tools");
    jw_kstrz(w, "description", text);
    jw_key(w, "inputSchema");
    jw_raw(w,
           STR("{\"type\":\"object\",\"properties\":{\"servers\":{\"type\":\"array\",\"items\":"
               "{\"type\":\"string\"}},"
               "\"tools\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
               "\"pattern\":{\"type\":\"string\",\"description\":\"tool name, * matches any\"},"
               "\"query\":{\"type\":\"string\"},"
               "\"detail\":{\"enum\":[\"names\",\"signatures\",\"full\"]},"
               "\"limit\":{\"type\":\"integer\",\"description\":\"hits of query, 1-50\"}}}"));
    jw_key(w, "annotations");
    jw_raw(w, STR("{\"readOnlyHint\":true,\"openWorldHint\":false}"));
    jw_end(w);
}

static void put_execute(struct jw *w, const struct catalog *c)
{
    auto_buf text = BUF((size_t)DESCRIPTION_MAX + 256);

    buf_addz(&text, "Runs JavaScript (no type annotations) in a sandbox, with each server as a "
                    "global: await server.tool({...}). "
                    "The value of the last expression, or of a top-level return, is the "
                    "result. Calls run concurrently with "
                    "Promise.all. Filter and join data here instead of returning it all.");
    put_scope(&text, c);
    jw_obj(w);
    jw_kstrz(w, "name", "execute");
    jw_kstr(w, "description", buf_str(&text));
    jw_key(w, "inputSchema");
    jw_raw(w, STR("{\"type\":\"object\",\"properties\":{\"script\":{\"type\":\"string\"}},"
                  "\"required\":[\"script\"]}"));
    jw_key(w, "annotations");
    if (c->res->config.mcp.read_only)
        jw_raw(w,
               STR("{\"readOnlyHint\":true,\"destructiveHint\":false,\"openWorldHint\":true}"));
    else
        jw_raw(w,
               STR("{\"readOnlyHint\":false,\"destructiveHint\":true,\"openWorldHint\":true}"));
    jw_end(w);
}

static void put_tools(struct buf *out, const struct catalog *c)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_key(&w, "tools");
    jw_arr(&w);
    put_list_tools(&w, c);
    put_execute(&w, c);
    jw_end(&w);
    jw_end(&w);
}

/* A new inventory: whoever may have seen another list is told (MS-75). */
static void on_inventory(void *ctx)
{
    struct service *s = ctx;
    auto_buf now = BUF(TOOLS_MAX);
    bool changed;

    put_tools(&now, gateway_catalog(s->gateway));
    changed = s->tools.n && !str_eq(buf_str(&now), buf_str(&s->tools));
    buf_clear(&s->tools);
    buf_add(&s->tools, buf_str(&now));
    if (changed && s->stdio)
        mcp_server_tools_changed(mcp_stdio_server(s->stdio));
}

/* ---- one request ---- */

static void on_cancel(void *ctx)
{
    struct request *q = ctx;

    if (q->wait)
        gateway_forget(q->s->gateway, q->wait);
    first_root_forget(q->s->first_root, q);
    list_tools_cancel(q->listing);
    execute_cancel(q->execution);
    free(q);
}

static struct request *request_new(struct service *s, struct mcp_req *r)
{
    struct request *q = NEW(struct request);

    *q = (struct request){ .s = s, .r = r };
    mcp_req_on_cancel(r, on_cancel, q);
    return q;
}

static void reply_text(struct request *q, struct str text, bool is_error)
{
    struct mcp_req *r = q->r;

    free(q);
    mcp_reply_text(r, text, is_error);
}

static void with_tools(void *ctx, struct catalog *c)
{
    struct request *q = ctx;
    struct service *s = q->s;
    struct mcp_req *r = q->r;

    (void)c;
    free(q);
    mcp_reply(r, buf_str(&s->tools));
}

/* Does not wait for roots: many clients list first and are not ready for a request of ours yet.
 * They are told when the list is another for them (MS-75). */
static void on_tools_list(void *ctx, struct mcp_req *r)
{
    struct request *q = request_new(ctx, r);
    struct service *s = ctx;
    uint64_t wait;

    first_root_ask(s->first_root, mcp_stdio_server(s->stdio), r);
    wait = gateway_current(s->gateway, with_tools, q);
    if (wait)
        q->wait = wait;
}

static void on_listing(void *ctx, struct str text)
{
    struct request *q = ctx;

    q->listing = NULL;
    reply_text(q, text, false);
}

static void with_list(void *ctx, struct catalog *c)
{
    struct request *q = ctx;
    struct listing *l;

    q->wait = 0;
    if (!c->res->config.mcp.enabled) {
        reply_text(q, STR("The meta-server is disabled in config.toml."), false);
        return;
    }
    l = list_tools_run(c, &q->query, on_listing, q);
    if (l)
        q->listing = l;
}

/* ---- execute ---- */

static void on_progress(void *ctx, unsigned finished, struct str what)
{
    struct request *q = ctx;
    auto_buf clean = BUF(1024);

    if (!mcp_req_wants_progress(q->r))
        return;
    utf8_put_clean(&clean, utf8_cut(what, 256));
    mcp_progress(q->r, finished, 0, buf_str(&clean));
}

static void on_executed(void *ctx, struct str text, bool is_error)
{
    struct request *q = ctx;

    q->execution = NULL;
    reply_text(q, text, is_error);
}

static void with_execute(void *ctx, struct catalog *c)
{
    static const struct execution_ops ops = { on_progress, on_executed };
    struct request *q = ctx;
    struct execution *x;

    q->wait = 0;
    if (!c->res->config.mcp.enabled) {
        reply_text(q, STR("The meta-server is disabled in config.toml."), true);
        return;
    }
    x = gateway_execute(q->s->gateway, c, q->script, &ops, q);
    if (x)
        q->execution = x;
}

/* The inventory, then the tool. */
static void begin(void *ctx)
{
    struct request *q = ctx;
    uint64_t wait = gateway_current(q->s->gateway, q->script.p ? with_execute : with_list, q);

    if (wait)
        q->wait = wait;
}

static void begin_call(struct request *q)
{
    struct service *s = q->s;

    if (!first_root_wait(s->first_root, mcp_stdio_server(s->stdio), q->r, begin, q))
        begin(q);
}

static void on_tools_call(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args)
{
    struct service *s = ctx;
    struct list_query query;
    struct request *q;
    struct error e;

    if (str_is(name, "execute")) {
        if (!json_is_str(json_get(args, "script"))) {
            mcp_reply_error(r, RPC_INVALID_PARAMS, (struct str){ 0 },
                            "'script' must be a string, not %s",
                            json_type_name(json_get(args, "script")));
            return;
        }
        q = request_new(s, r);
        q->script = json_str(json_get(args, "script"));
        begin_call(q);
    } else if (str_is(name, "list_tools")) {
        if (!list_query_read(&query, args, mcp_req_arena(r), &e)) {
            mcp_reply_error(r, RPC_INVALID_PARAMS, (struct str){ 0 }, "%s", e.msg);
            return;
        }
        q = request_new(s, r);
        q->query = query;
        begin_call(q);
    } else {
        mcp_reply_error(r, RPC_INVALID_PARAMS, (struct str){ 0 },
                        "unknown tool '%.*s'; there are list_tools and execute",
                        STR_F(utf8_cut(name, 100)));
    }
}

static void on_roots_changed(void *ctx)
{
    struct service *s = ctx;

    first_root_changed(s->first_root);
}

static void on_input_ended(void *ctx)
{
    struct service *s = ctx;

    first_root_input_ended(s->first_root);
}

/* ---- resources ---- */

static void on_resources_list(void *ctx, struct mcp_req *r)
{
    (void)ctx;
    mcp_reply(r, STR("{\"resources\":[]}"));
}

static void on_templates_list(void *ctx, struct mcp_req *r)
{
    (void)ctx;
    mcp_reply(r, STR("{\"resourceTemplates\":[{\"uriTemplate\":\"" RESULT_URI_PREFIX
                     "{id}\",\"name\":\"result\","
                     "\"description\":\"A whole execute result whose text was "
                     "cut\",\"mimeType\":\"application/json\"}]}"));
}

static void on_resources_read(void *ctx, struct mcp_req *r, struct str uri)
{
    struct service *s = ctx;
    struct str json = { 0 };
    auto_buf out = BUF(RESULT_TEXT_MAX);
    struct jw w = jw_to(&out);

    if (str_starts(uri, STR(RESULT_URI_PREFIX)))
        json = gateway_result(s->gateway, uri);
    if (!json.p) {
        mcp_reply_no_resource(r, uri);
        return;
    }
    jw_obj(&w);
    jw_key(&w, "contents");
    jw_arr(&w);
    jw_obj(&w);
    jw_kstr(&w, "uri", uri);
    jw_kstrz(&w, "mimeType", "application/json");
    jw_kstr(&w, "text", json);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    mcp_reply(r, buf_str(&out));
}

/* ---- life ---- */

static void start_log(const struct service *s)
{
    struct error e;

    if (!s->log_dir)
        return;
    log_set_level(gateway_config(s->gateway)->log_level);
    if (!log_to_dir(s->log_dir, &e))
        log_warn("no log file: %s", e.msg);
    log_info("symposium " SYM_VERSION " serves '%s'", s->start_dir);
}

/* A client that only looks leaves neither a process nor a file behind (MS-2). */
static void on_session(void *ctx)
{
    struct service *s = ctx;

    gateway_prewarm(s->gateway);
    start_log(s);
}

static void on_shut(void *ctx)
{
    struct service *s = ctx;

    loop_stop(s->loop);
}

/* A second signal, or the first one after the client closed our input: the ladder gets shorter.
 */
static void on_signal(void *ctx, int signo)
{
    struct service *s = ctx;

    (void)signo;
    gateway_shutdown(s->gateway, gateway_ladder(s->gateway, true), on_shut, s);
}

static void end(void *ctx)
{
    struct service *s = ctx;
    bool at_once = s->why != STDIO_EOF;

    /* What is still open is cancelled, whole scripts included; answers are on their way out. */
    mcp_stdio_free(take_ptr(&s->stdio), at_once ? FLUSH_AT_ONCE_MS : FLUSH_MS);
    s->signals = signals_new(s->loop, on_signal, s);
    gateway_shutdown(s->gateway, gateway_ladder(s->gateway, at_once), on_shut, s);
}

/* From inside the server: what frees it waits for the next turn. */
static void on_done(void *ctx, enum stdio_end why)
{
    struct service *s = ctx;

    s->why = why;
    loop_defer(s->loop, end, s);
}

static const struct mcp_server_def definition = {
    .name = "symposium",
    .title = "Symposium",
    .version = SYM_VERSION,
    .instructions = "Call list_tools first to see which servers and tools exist, then execute "
                    "plain JavaScript that uses them.",
    .tools_list_changed = true,
    .on_session = on_session,
    .tools_list = on_tools_list,
    .tools_call = on_tools_call,
    .resources_list = on_resources_list,
    .resources_templates_list = on_templates_list,
    .resources_read = on_resources_read,
    .roots_changed = on_roots_changed,
    .input_ended = on_input_ended,
};

int service_run(const struct dirs *dirs, const char *start_dir, const char *log_dir)
{
    struct service s = { .tools = BUF(TOOLS_MAX), .start_dir = start_dir, .log_dir = log_dir };
    struct gateway_opts o = {
        .dirs = dirs, .start_dir = start_dir, .on_inventory = on_inventory, .ctx = &s
    };

    reaper_adopt_orphans();
    s.loop = o.loop = loop_new();
    s.gateway = gateway_new(&o);
    s.first_root = first_root_new(s.gateway, start_dir);
    s.stdio = mcp_stdio_new(s.loop, &definition, &s, on_done);
    loop_run(s.loop);
    signals_free(s.signals);
    mcp_stdio_free(s.stdio, 0);
    first_root_free(s.first_root);
    gateway_free(s.gateway);
    loop_free(s.loop);
    buf_free(&s.tools);
    reaper_sweep(SWEEP_MS);
    return 0;
}
