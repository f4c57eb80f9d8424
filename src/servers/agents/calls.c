/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The three tools, and the two of them that are answered at once (AG-5, AG-6, AG-8). */
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "mcp/content.h"
#include "servers/agents/impl.h"
#include "servers/args.h"

#define TOOL_TEXT_MAX (2 * ROSTER_MAX_TEXT + ((size_t)64 << 10))

/* clang-format off */
#define STRING "{\"type\":\"string\"}"
#define INTEGER "{\"type\":\"integer\"}"
#define STATUS "{\"enum\":[\"running\",\"completed\",\"failed\"]}"
#define PHASE \
    "{\"enum\":[\"starting\",\"model\",\"tool\",\"waiting\",\"completed\",\"failed\"]}"

#define SPAWNED \
    "{\"type\":\"object\",\"properties\":{\"agent_id\":" STRING ",\"name\":" STRING \
    ",\"status\":" STATUS "},\"required\":[\"agent_id\",\"name\",\"status\"]}"

#define SEND_INPUT \
    "{\"type\":\"object\",\"properties\":{\"target\":{\"type\":\"string\",\"description\":" \
    "\"agent_id of the agent\"},\"message\":{\"type\":\"string\",\"minLength\":1," \
    "\"description\":\"What it shall do next\"},\"interrupt\":{\"type\":\"boolean\"," \
    "\"default\":false,\"description\":\"Drop what it is doing now\"}}," \
    "\"required\":[\"target\",\"message\"],\"additionalProperties\":false}"
#define SENT \
    "{\"type\":\"object\",\"properties\":{\"agent_id\":" STRING ",\"accepted\":{\"type\":" \
    "\"boolean\"},\"status\":" STATUS "},\"required\":[\"agent_id\",\"accepted\",\"status\"]}"

#define WAIT \
    "{\"type\":\"object\",\"properties\":{\"targets\":{\"type\":\"array\",\"minItems\":1," \
    "\"uniqueItems\":true,\"items\":{\"type\":\"string\",\"minLength\":1},\"description\":" \
    "\"agent_id of each agent\"},\"timeout_ms\":{\"type\":\"integer\",\"minimum\":0," \
    "\"maximum\":300000,\"default\":30000,\"description\":\"0: as it is now\"}}," \
    "\"required\":[\"targets\"],\"additionalProperties\":false}"
#define WAITED \
    "{\"type\":\"object\",\"properties\":{\"agents\":{\"type\":\"array\",\"items\":" \
    "{\"type\":\"object\",\"properties\":{\"agent_id\":" STRING ",\"name\":" STRING \
    ",\"status\":" STATUS ",\"result\":" STRING ",\"error\":{\"type\":\"object\"," \
    "\"properties\":{\"kind\":" STRING ",\"message\":" STRING "},\"required\":[\"kind\"," \
    "\"message\"]},\"total_elapsed_ms\":" INTEGER ",\"activity\":{\"type\":\"object\"," \
    "\"properties\":{\"phase\":" PHASE ",\"summary\":" STRING ",\"tool\":" STRING \
    ",\"target\":" STRING ",\"activity_elapsed_ms\":" INTEGER \
    ",\"operation_timeout_remaining_ms\":" INTEGER "},\"required\":[\"phase\",\"summary\"," \
    "\"activity_elapsed_ms\"]}},\"required\":[\"agent_id\",\"status\"," \
    "\"total_elapsed_ms\"]}},\"timed_out\":{\"type\":\"boolean\"}}," \
    "\"required\":[\"agents\",\"timed_out\"]}"
/* clang-format on */

/* ---- answers ---- */

static void put_text_block(struct buf *out, struct str text)
{
    struct jw w = jw_to(out);

    mcp_put_text_block(&w, text);
}

void agents_accept(const struct agents *s, struct mcp_req *r, struct str result)
{
    struct answer a = ANSWER;

    buf_add(&a.structured, result);
    put_text_block(&a.content, result);
    buf_addc(&a.content, ',');
    put_text_block(&a.content, STR("Agent request accepted."));
    tool_reply(r, s->def, &a);
}

void agents_refuse(const struct agents *s, struct mcp_req *r, const struct fault *f)
{
    struct answer a = ANSWER;
    struct jw w = jw_to(&a.text);

    jw_obj(&w);
    jw_kstrz(&w, "kind", fault_name(f->kind));
    jw_kstrz(&w, "message", f->msg);
    jw_end(&w);
    a.is_error = true;
    tool_reply(r, s->def, &a);
}

static void refuse_args(const struct agents *s, struct mcp_req *r, const char *why)
{
    struct fault f;

    fault_set(&f, FAULT_INVALID_REQUEST, "%s", why);
    agents_refuse(s, r, &f);
}

/* A text with something in it that a C string can hold. */
static const char *wrong_text(struct str s, const char *blank, const char *nul)
{
    return !str_trim(s).n ? blank : str_find_char(s, '\0') != SIZE_MAX ? nul : NULL;
}

/* ---- spawn_agent ---- */

static void spawn_agent(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    struct spawn {
        struct str name, task;
    } in;
    static const struct arg table[] = {
        { "name", ARG_STRING, offsetof(struct spawn, name), 0 },
        { "task", ARG_STRING, offsetof(struct spawn, task), 0 },
        { 0 },
    };
    struct agents *s = ctx;
    auto_buf out = BUF(4096);
    struct jw w = jw_to(&out);
    struct session *session;
    const char *wrong;
    struct fault f;
    struct error e;

    wrong = args_read(mcp_req_arena(r), args, table, true, &in, &e)
                ? wrong_text(in.task, "`task` is blank", "`task` holds a NUL")
                : e.msg;
    if (wrong) {
        refuse_args(s, r, wrong);
        return;
    }
    session = sessions_spawn(s->sessions, in.name, in.task, &f);
    if (!session) {
        agents_refuse(s, r, &f);
        return;
    }
    jw_obj(&w);
    jw_kstrz(&w, "agent_id", session->id);
    jw_kstr(&w, "name", session->def->name);
    jw_kstrz(&w, "status", session_state_name(SESSION_RUNNING));
    jw_end(&w);
    agents_accept(s, r, buf_str(&out));
}

/* ---- send_input ---- */

static void send_input(void *ctx, struct mcp_req *r, yyjson_val *args)
{
    struct input {
        struct str target, message;
        bool interrupt, given;
    } in = { .interrupt = false };
    static const struct arg table[] = {
        { "target", ARG_STRING, offsetof(struct input, target), 0 },
        { "message", ARG_STRING, offsetof(struct input, message), 0 },
        { "interrupt", ARG_BOOL, offsetof(struct input, interrupt),
          offsetof(struct input, given) },
        { 0 },
    };
    struct agents *s = ctx;
    auto_buf out = BUF(4096);
    struct jw w = jw_to(&out);
    struct session *session;
    const char *wrong;
    struct fault f;
    struct error e;

    wrong = args_read(mcp_req_arena(r), args, table, true, &in, &e)
                ? wrong_text(in.message, "`message` is blank", "`message` holds a NUL")
                : e.msg;
    if (wrong) {
        refuse_args(s, r, wrong);
        return;
    }
    session = sessions_find(s->sessions, in.target);
    if (!session)
        fault_set(&f, FAULT_UNKNOWN_AGENT, "there is no agent with the id '%.*s'",
                  STR_F(str_upto(in.target, 100)));
    if (!session || !sessions_send(s->sessions, session, in.message, in.interrupt, &f)) {
        agents_refuse(s, r, &f);
        return;
    }
    jw_obj(&w);
    jw_kstrz(&w, "agent_id", session->id);
    jw_kbool(&w, "accepted", true);
    jw_kstrz(&w, "status", session_state_name(SESSION_RUNNING));
    jw_end(&w);
    agents_accept(s, r, buf_str(&out));
}

/* ---- the definitions ---- */

static void put_spawn_schema(struct buf *out, const struct roster *c)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    jw_kstrz(&w, "type", "object");
    jw_key(&w, "properties");
    jw_obj(&w);
    jw_key(&w, "name");
    jw_obj(&w);
    jw_kstrz(&w, "type", "string");
    jw_key(&w, "enum");
    jw_arr(&w);
    for (size_t i = 0; i < c->n; i++)
        jw_str(&w, c->v[i].name);
    jw_end(&w);
    jw_end(&w);
    jw_key(&w, "task");
    jw_obj(&w);
    jw_kstrz(&w, "type", "string");
    jw_kint(&w, "minLength", 1);
    jw_kstrz(&w, "description", "What to do; the agent knows nothing of this conversation");
    jw_end(&w);
    jw_end(&w);
    jw_key(&w, "required");
    jw_arr(&w);
    jw_strz(&w, "name");
    jw_strz(&w, "task");
    jw_end(&w);
    jw_kbool(&w, "additionalProperties", false);
    jw_end(&w);
}

static void put_spawn_description(struct buf *out, const struct roster *c)
{
    buf_addz(out, "Start an agent in the background; it answers at once with an agent_id. Keep "
                  "that for send_input and wait_agent.\n\nAvailable agents:\n");
    for (size_t i = 0; i < c->n; i++) {
        buf_addf(out, "%s- %.*s: ", i ? "\n" : "", STR_F(c->v[i].name));
        utf8_put_clean(out, c->v[i].description);
    }
}

void agents_tools_make(struct tool ret[AGENTS_TOOLS], struct arena *a, const struct roster *c)
{
    static const struct tool tools[AGENTS_TOOLS] = {
        { "spawn_agent", "Spawn Agent", NULL, NULL, SPAWNED, HINT_FALSE, HINT_TRUE, HINT_FALSE,
          HINT_TRUE, spawn_agent },
        { "send_input", "Send Input",
          "Send a message to an agent: one that works takes it up when it is done with what it "
          "does now, or at once with interrupt; one that has ended goes on with it.",
          SEND_INPUT, SENT, HINT_FALSE, HINT_TRUE, HINT_FALSE, HINT_TRUE, send_input },
        { "wait_agent", "Wait for Agents",
          "Wait until all of these agents have ended, and get their results. It never stops "
          "one: after timed_out just wait again.",
          WAIT, WAITED, HINT_TRUE, HINT_FALSE, HINT_ABSENT, HINT_FALSE, agents_wait },
    };
    auto_buf schema = BUF(TOOL_TEXT_MAX), description = BUF(TOOL_TEXT_MAX);

    memcpy(ret, tools, sizeof tools);
    put_spawn_schema(&schema, c);
    put_spawn_description(&description, c);
    ret[0].input = arena_z(a, buf_str(&schema));
    ret[0].description = arena_z(a, buf_str(&description));
}
