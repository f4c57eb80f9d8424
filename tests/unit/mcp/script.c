/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support.h"

#include "script.h"

/*
 * The server's tools: `echo` returns its arguments, `slow` stays open, `deaf` stays open
 * without a cancel function, `steps` reports progress 1, 1, 3 before it answers, `burst` forty
 * times, `rich` has all kinds of content, `list` a structured value that is no object, `bad`
 * fails, `gone` frees the server, `last` when it is cancelled.
 */
#define TOOLS                                                                               \
    "{\"tools\":[{\"name\":\"echo\",\"title\":\"Echo\",\"description\":\"d\","              \
    "\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"array\",\"items\":" \
    "{\"$ref\":\"#/$defs/x\"},\"$defs\":{\"x\":{\"type\":\"number\"}}},"                    \
    "\"annotations\":{\"readOnlyHint\":true},\"icons\":[],\"_meta\":{\"a\":1}},"            \
    "{\"name\":\"slow\",\"inputSchema\":{\"type\":\"object\"}}],\"_meta\":{\"k\":1}}"

#define RICH                                                                               \
    "{\"content\":[{\"type\":\"audio\",\"data\":\"AAAA\",\"mimeType\":\"audio/wav\"},"     \
    "{\"type\":\"resource_link\",\"uri\":\"x://y\",\"name\":\"y\",\"icons\":[]},"          \
    "{\"type\":\"resource\",\"resource\":{\"uri\":\"x://z\",\"text\":\"t\",\"_meta\":{}}," \
    "\"_meta\":{}},{\"type\":\"novel\",\"x\":1}],\"structuredContent\":{\"n\":1.50}}"

#define MAX_SLOW 1024

struct script_server {
    struct loop *loop;
    bool own_loop;
    struct mcp_server *server;
    const struct script_def *def;
    struct {
        struct buf *v;
        size_t n, cap;
    } sent;
    size_t read;
    struct mcp_req *slow[MAX_SLOW];
    size_t nslow;
    unsigned sessions, cancels;
};

struct slow_call {
    struct script_server *s;
    struct mcp_req *r;
};

static void on_slow_cancel(void *ctx)
{
    struct slow_call *call = ctx;
    struct script_server *s = call->s;

    s->cancels++;
    for (size_t i = 0; i < s->nslow; i++)
        if (s->slow[i] == call->r)
            s->slow[i] = s->slow[--s->nslow];
    mcp_reply(call->r, STR("{\"content\":[]}")); /* dropped: the request has ended */
}

static void start_slow(struct script_server *s, struct mcp_req *r, bool deaf)
{
    struct slow_call *call = ARENA_NEW(mcp_req_arena(r), struct slow_call);

    *call = (struct slow_call){ s, r };
    assert_true(s->nslow < MAX_SLOW);
    s->slow[s->nslow++] = r;
    if (!deaf)
        mcp_req_on_cancel(r, on_slow_cancel, call);
}

static void on_last_cancel(void *ctx)
{
    struct script_server *s = ctx;

    s->cancels++;
    mcp_server_free(s->server);
    mcp_server_free(s->server); /* while being freed: no harm */
    s->server = NULL;
}

static void tools_list(void *ctx, struct mcp_req *r)
{
    mcp_reply(r, STR(TOOLS));
}

static void tools_call(void *ctx, struct mcp_req *r, struct str name, yyjson_val *args)
{
    struct script_server *s = ctx;
    auto_buf text = BUF(1 << 20);

    if (str_is(name, "echo")) {
        if (args)
            json_put_val(&text, args);
        else
            buf_addz(&text, "no arguments");
        mcp_reply_text(r, buf_str(&text), false);
    } else if (str_is(name, "slow") || str_is(name, "deaf")) {
        start_slow(s, r, str_is(name, "deaf"));
    } else if (str_is(name, "steps")) {
        mcp_progress(r, 1, 3, STR("one"));
        mcp_progress(r, 1, 3, STR("again"));
        mcp_progress(r, 3, 0, STR("three"));
        mcp_reply_text(r, STR("done"), false);
    } else if (str_is(name, "burst")) {
        for (int i = 1; i <= 40; i++)
            mcp_progress(r, i, 0, STR("s.t"));
        start_slow(s, r, false);
    } else if (str_is(name, "rich")) {
        mcp_reply(r, STR(RICH));
    } else if (str_is(name, "list")) {
        mcp_reply(r, STR("{\"content\":[],\"structuredContent\":[1,2]}"));
    } else if (str_is(name, "gone")) {
        mcp_server_free(s->server);
        s->server = NULL;
        mcp_reply(r, STR("{\"content\":[]}"));
    } else if (str_is(name, "last")) {
        mcp_req_on_cancel(r, on_last_cancel, s);
    } else if (str_is(name, "bad")) {
        mcp_reply_text(r, STR("'x' must be a number"), true);
    } else {
        mcp_reply_error(r, -32602, STR(""), "unknown tool '%.*s'", STR_F(name));
    }
}

static void resources_list(void *ctx, struct mcp_req *r)
{
    mcp_reply(r, STR("{\"resources\":[{\"uri\":\"x://"
                     "a\",\"name\":\"a\",\"title\":\"A\",\"icons\":[],\"_meta\":{}}]}"));
}

static void resources_read(void *ctx, struct mcp_req *r, struct str uri)
{
    if (str_is(uri, "x://a"))
        mcp_reply(r, STR("{\"contents\":[{\"uri\":\"x://"
                         "a\",\"text\":\"t\",\"_meta\":{}}],\"ttlMs\":5}"));
    else
        mcp_reply_no_resource(r, uri);
}

static void on_session(void *ctx)
{
    struct script_server *s = ctx;

    s->sessions++;
}

static bool send_message(void *ctx, struct str message, struct error *e)
{
    struct script_server *s = ctx;
    struct buf *b = &VEC_PUSH(&s->sent);
    auto_json j = { 0 };

    parse(&j, message);
    /* MCP-M7: nothing that we send of ourselves wants an answer, in either era. */
    assert_false(json_get(j.root, "method") && json_get(j.root, "id") && !s->def->asks);
    *b = BUF(64 << 20);
    buf_add(b, message);
    return true;
}

static const struct script_def usual = {
    .mcp = {
        .name = "fixture",
        .title = "Fixture",
        .version = "1.2",
        .instructions = "how to",
        .tools_list_changed = true,
        .on_session = on_session,
        .tools_list = tools_list,
        .tools_call = tools_call,
        .resources_list = resources_list,
        .resources_read = resources_read,
    },
};
static const struct mcp_server_ops ops = { .send = send_message };

static struct script_server *new_as(struct loop *l, const struct script_def *def)
{
    struct script_server *s = NEW(struct script_server);

    s->own_loop = !l;
    s->loop = l ? l : loop_new();
    s->def = def;
    s->server = mcp_server_new(s->loop, &def->mcp, &ops, s);
    return s;
}

struct script_server *script_server_new(struct loop *l)
{
    return new_as(l, &usual);
}

struct mcp_server *script_server_get(struct script_server *s)
{
    return s->server;
}

void script_server_free(struct script_server *s)
{
    mcp_server_free(s->server);
    for (size_t i = 0; i < s->nslow; i++)
        mcp_reply(s->slow[i], STR("{}")); /* the deaf ones, which were not told */
    for (size_t i = 0; i < s->sent.n; i++)
        buf_free(&s->sent.v[i]);
    free(s->sent.v);
    if (s->own_loop)
        loop_free(s->loop);
    free(s);
}

void script_done(struct script_server *s)
{
    if (s->read < s->sent.n)
        fail_msg("not expected: %s", buf_z(&s->sent.v[s->read]));
}

unsigned script_sessions(const struct script_server *s)
{
    return s->sessions;
}

unsigned script_cancels(const struct script_server *s)
{
    return s->cancels;
}

unsigned script_messages(const struct script_server *s)
{
    return (unsigned)s->sent.n;
}

static void act(struct script_server *s, struct str line)
{
    struct str word = line, rest = STR("0");
    int64_t n = 0;

    str_cut(line, ' ', &word, &rest);
    if (s->def->act && s->def->act(s, word, rest))
        return;
    assert_true(str_to_int(rest, 0, 1 << 20, &n));
    if (str_is(word, "finish")) {
        while (s->nslow)
            mcp_reply_text(s->slow[--s->nslow], STR("finished"), false);
    } else if (str_is(word, "changed")) {
        mcp_server_tools_changed(s->server);
    } else if (str_is(word, "eof")) {
        mcp_server_end_listens(s->server);
    } else if (str_is(word, "toolong")) {
        mcp_server_feed_too_long(s->server);
    } else if (str_is(word, "wait")) {
        run_for(s->loop, (int)n);
    } else if (str_is(word, "open")) {
        assert_int_equal(mcp_server_open_requests(s->server), n);
    } else {
        fail_msg("no such action: %.*s", STR_F(line));
    }
}

void script_line(struct script_server *s, const char *line)
{
    struct buf *next;

    switch (line[0]) {
    case '>':
        script_done(s);
        if (!mcp_server_feed(s->server, str_of(line + 1)))
            assert_null(s->server);
        return;
    case '<':
        if (s->read == s->sent.n)
            fail_msg("no message, but expected: %s", line + 1);
        next = &s->sent.v[s->read++];
        assert_null(memchr(next->p, '\n', next->n));
        assert_matches(buf_str(next), line + 1, "message");
        return;
    default:
        act(s, str_of(line + 1));
    }
}

void script_run(const char *const *lines)
{
    script_run_as(&usual, lines);
}

void script_run_as(const struct script_def *def, const char *const *lines)
{
    struct script_server *s = new_as(NULL, def);

    for (; *lines; lines++)
        script_line(s, *lines);
    script_done(s);
    script_server_free(s);
}
