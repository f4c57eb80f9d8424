/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/server.h"

#include <unistd.h>

#include "base/mem.h"
#include "loop/signal.h"
#include "loop/work.h"
#include "mcp/stdio.h"
#include "rpc/peer.h"
#include "servers/outlet.h"

#define FLUSH_MS         5000 /* for answers that the client has not read yet, after its EOF */
#define FLUSH_AT_ONCE_MS 200  /* the same after a signal or hang-up */
#define SWEEP_MS         1000 /* for processes that nobody waited for */
#define TOOLS_MAX        ((size_t)1 << 20)

struct server {
    const struct server_spec *def;
    struct mcp_server_def mcp; /* def->mcp, with what `tools` gives */
    void *ctx;
    struct loop *loop;
    struct mcp_stdio *stdio; /* NULL: the client is gone */
    struct outlet *outlet;
    struct buf tools; /* our tools/list */
    enum stdio_end why;
    struct signals *signals; /* while the definition stops */
};

/* stdin and stdout exist once a process, and so does what serves on them. The hooks of the MCP
 * server get the context of the definition, whose other hooks they stand beside. */
static struct server *self;

/* ---- tools ---- */

static void put_hint(struct jw *w, const char *key, enum hint hint)
{
    if (hint != HINT_ABSENT)
        jw_kbool(w, key, hint == HINT_TRUE);
}

static void put_tool(struct jw *w, const struct tool *t)
{
    jw_obj(w);
    jw_kstrz(w, "name", t->name);
    jw_kstrz(w, "title", t->title);
    jw_kstrz(w, "description", t->description);
    jw_key(w, "inputSchema");
    jw_raw(w, str_of(t->input));
    if (t->output) {
        jw_key(w, "outputSchema");
        jw_raw(w, str_of(t->output));
    }
    jw_key(w, "annotations");
    jw_obj(w);
    put_hint(w, "readOnlyHint", t->read_only);
    put_hint(w, "destructiveHint", t->destructive);
    put_hint(w, "idempotentHint", t->idempotent);
    put_hint(w, "openWorldHint", t->open_world);
    jw_end(w);
    jw_end(w);
}

static void put_tools(struct buf *out, const struct server_spec *def)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_key(&w, "tools");
    jw_arr(&w);
    for (size_t i = 0; i < def->ntools; i++)
        put_tool(&w, &def->tools[i]);
    jw_end(&w);
    jw_end(&w);
}

static void on_tools_list(void *ctx, struct mcp_req *r)
{
    (void)ctx;
    mcp_reply(r, buf_str(&self->tools));
}

static void on_tools_call(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args)
{
    const struct server_spec *def = self->def;

    for (size_t i = 0; i < def->ntools; i++) {
        if (str_is(name, def->tools[i].name)) {
            def->tools[i].call(ctx, r, args);
            return;
        }
    }
    mcp_reply_error(r, RPC_INVALID_PARAMS, (struct str){ 0 }, "tool not found");
}

/* ---- life ---- */

static void stop(struct server *s, bool at_once)
{
    if (s->def->stop)
        s->def->stop(s->ctx, s, at_once);
    else
        server_stopped(s);
}

/* While the definition stops: it shall hurry. */
static void on_signal(void *ctx, int signo)
{
    (void)signo;
    stop(ctx, true);
}

static void end(void *ctx)
{
    struct server *s = ctx;
    bool at_once = s->why != STDIO_EOF;

    /* What is still open is cancelled; answers are on their way out. */
    mcp_stdio_free(take_ptr(&s->stdio), at_once ? FLUSH_AT_ONCE_MS : FLUSH_MS);
    s->signals = signals_new(s->loop, on_signal, s);
    stop(s, at_once);
}

/* From inside the MCP server: what frees it waits for the next turn. */
static void on_done(void *ctx, enum stdio_end why)
{
    (void)ctx;
    self->why = why;
    loop_defer(self->loop, end, self);
}

static size_t queued(void *ctx)
{
    struct server *s = ctx;

    return s->stdio ? mcp_stdio_queued(s->stdio) : 0;
}

void server_stopped(struct server *s)
{
    loop_stop(s->loop);
}

int server_run(const struct server_spec *def, void *ctx)
{
    struct server s = { .def = def, .mcp = def->mcp, .ctx = ctx, .tools = BUF(TOOLS_MAX) };

    self = &s;
    if (!s.mcp.version)
        s.mcp.version = SYM_VERSION;
    if (def->ntools) {
        put_tools(&s.tools, def);
        s.mcp.tools_list = on_tools_list;
        s.mcp.tools_call = on_tools_call;
    }
    reaper_adopt_orphans();
    s.loop = loop_new();
    s.stdio = mcp_stdio_new(s.loop, &s.mcp, ctx, on_done);
    s.outlet = outlet_new(s.loop, queued, &s);
    if (def->start)
        def->start(ctx, &s);
    loop_run(s.loop);
    signals_free(s.signals);
    if (!work_settle(s.loop, WORK_END_MS)) {
        reaper_sweep(SWEEP_MS);
        _exit(0);
    }
    outlet_free(s.outlet);
    loop_free(s.loop);
    buf_free(&s.tools);
    reaper_sweep(SWEEP_MS);
    self = NULL;
    return 0;
}

struct outlet *server_outlet(struct server *s)
{
    return s->outlet;
}

const struct server_spec *server_spec_of(const struct server *s)
{
    return s->def;
}

struct loop *server_loop(struct server *s)
{
    return s->loop;
}

struct mcp_server *server_mcp(struct server *s)
{
    return mcp_stdio_server(s->stdio);
}
