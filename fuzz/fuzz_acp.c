/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An ACP session under any lines of an agent, v1 and v2, new and resumed. Whatever comes: each
 * message of ours is one JSON object on one line, each event one JSON object, a session ends
 * once, and nothing is granted that was not allowed, and never for good.
 *
 * The first byte chooses the turn. A line of one letter is the owner's: c cancel, m mute, f
 * flush, l a line that was too long, g the agent is gone.
 */
#include <stdlib.h>
#include <string.h>

#include "acp/session.h"
#include "base/mem.h"

#define LINES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct acp_session *session;
    acp_allow allow;
    int ends, prompts;
    size_t asks;
    bool granting;     /* the decision is recorded, its answer goes out */
    struct str option; /* of it */
};

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool send_message(void *ctx, struct str message, struct error *e)
{
    struct run *run = ctx;
    auto_json j = { 0 };
    struct str option;

    must(!memchr(message.p, '\n', message.n));
    must(json_parse(&j, message, NULL) && json_is_obj(j.root));
    must(str_is(json_str(json_get(j.root, "jsonrpc")), "2.0"));
    must(json_get(j.root, "method") || json_get(j.root, "id"));
    option = json_str(json_path(j.root, "result.outcome.optionId"));
    must(!json_get(json_path(j.root, "result.outcome"), "optionId") ||
         (run->granting && str_eq(option, run->option)));
    return true;
}

static void on_event(void *ctx, enum acp_event type, struct str data)
{
    auto_json j = { 0 };

    must(json_parse(&j, data, NULL) && json_is_obj(j.root));
    must(json_str(json_get(j.root, "text")).n <= ACP_PIECE_MAX);
}

static void on_permission(void *ctx, uint64_t id, const struct acp_permission *p)
{
    struct run *run = ctx;

    must(run->prompts == 1 && run->ends == 0);
    must(!p->decision.selected || !str_is(STR("allow_once"), p->decision.option_kind) ||
         (run->allow & 1u << p->kind));
    must(!p->decision.selected || !strstr(p->decision.option_kind, "always"));
    run->granting = run->asks++ % 3 == 0;
    run->option = p->decision.option_id;
    if (run->asks % 3)
        acp_session_permit(run->session, id, run->granting);
    run->granting = false;
}

static void on_prompting(void *ctx)
{
    struct run *run = ctx;

    must(++run->prompts == 1 && run->ends == 0);
}

static void on_failed(void *ctx, const struct acp_failure *why)
{
    struct run *run = ctx;

    must(++run->ends == 1 && why->step && why->text.n);
}

static void on_stopped(void *ctx, const struct acp_stop *how)
{
    struct run *run = ctx;

    must(++run->ends == 1 && run->prompts == 1);
}

static void act(struct acp_session *s, char what)
{
    struct error e;

    switch (what) {
    case 'c':
        acp_session_cancel(s);
        break;
    case 'm':
        acp_session_mute(s);
        break;
    case 'f':
        acp_session_flush(s);
        break;
    case 'l':
        must(acp_session_feed_too_long(s));
        break;
    case 'g':
        error_set(&e, ERR_CLOSED, "gone");
        acp_session_closed(s, &e);
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct acp_session_ops ops = { send_message, on_event,  on_permission,
                                                on_prompting, on_failed, on_stopped };
    static const struct acp_setting settings[] = {
        { "pin", ACP_MODE, NULL, "ask" },
        { "model", ACP_CONFIG, "model", "big" },
    };
    static struct loop *loop;
    struct str line, rest = { (const char *)data, size };
    unsigned choice = size ? data[0] : 0;
    struct run run = { .allow = choice & 1 ? 1u << ACP_EDIT | 1u << ACP_EXECUTE : 0 };
    struct acp_turn turn = {
        .version = choice & 2 ? 2 : 1,
        .cwd = "/",
        .prompt = STR("x"),
        .resume = choice & 4 ? "s1" : NULL,
        .auth_method = choice & 8 ? "key" : NULL,
        .settings = settings,
        .nsettings = choice & 16 ? ARRAY_LEN(settings) : 0,
        .allow = run.allow,
    };

    if (!loop)
        loop = loop_new();
    run.session = acp_session_new(loop, &turn, &ops, &run);
    rest = str_from(rest, 1);
    for (int i = 0; i < LINES_MAX && str_cut(rest, '\n', &line, &rest); i++) {
        if (line.n == 1)
            act(run.session, line.p[0]);
        else
            must(acp_session_feed(run.session, line));
    }
    act(run.session, 'g');
    must(run.ends == 1);
    acp_session_free(run.session);
    loop_run(loop); /* lets go of its timers */
    return 0;
}
