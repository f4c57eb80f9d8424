/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "script.h"

#include "../mcp/support.h"

#include "base/file.h"
#include "base/map.h"
#include "base/path.h"
#include "rpc/message.h"
#include "text/schema.h"

/* ---- the protocol's schemas ---- */

static struct json schemas[3]; /* by version */

static bool load_schema(int version)
{
    const char *shared = getenv("SYMPOSIUM_SHARED");
    auto_arena a = ARENA;
    auto_buf text = BUF((size_t)16 << 20);
    struct error e;
    char *path =
        path_join(&a, shared && *shared ? shared : "../shared",
                  version == 1 ? "data/acp-schema/v1.json" : "data/acp-schema/v2.json");

    if (schemas[version].root)
        return true;
    if (access(path, R_OK) != 0)
        return false;
    assert_true(file_read(path, &text, &e));
    parse(&schemas[version], buf_str(&text));
    return true;
}

bool schemas_found(void)
{
    return load_schema(1) && load_schema(2);
}

static const struct {
    const char *method, *v1, *v2; /* NULL: not in the schema */
} definitions[] = {
    { "initialize", "InitializeRequest", "InitializeRequest" },
    { "authenticate", "AuthenticateRequest", NULL },
    { "auth/login", NULL, "LoginAuthRequest" },
    { "session/new", "NewSessionRequest", "NewSessionRequest" },
    { "session/load", "LoadSessionRequest", NULL },
    { "session/resume", "ResumeSessionRequest", "ResumeSessionRequest" },
    { "session/list", "ListSessionsRequest", "ListSessionsRequest" },
    { "session/set_mode", "SetSessionModeRequest", NULL },
    { "session/set_config_option", "SetSessionConfigOptionRequest",
      "SetSessionConfigOptionRequest" },
    { "session/prompt", "PromptRequest", "PromptRequest" },
    { "session/cancel", "CancelNotification", "CancelSessionNotification" },
    { "$/cancel_request", "CancelRequestNotification", "CancelRequestNotification" },
};

static const char *definition_of(struct str method, int version)
{
    for (size_t i = 0; i < ARRAY_LEN(definitions); i++) {
        if (str_is(method, definitions[i].method))
            return version == 1 ? definitions[i].v1 : definitions[i].v2;
    }
    return NULL;
}

/* The definitions that `v` leads to, of the whole schema's. */
static void collect(yyjson_val *defs, yyjson_val *v, struct map *names)
{
    struct str prefix = STR("#/$defs/"), ref = json_str(json_get(v, "$ref"));

    if (str_starts(ref, prefix)) {
        ref = str_from(ref, prefix.n);
        assert_non_null(json_get_s(defs, ref));
        if (!map_has(names, ref)) {
            map_put(names, ref, json_get_s(defs, ref));
            collect(defs, json_get_s(defs, ref), names);
        }
    }
    for (struct json_iter it = json_iter(v); json_next(&it);)
        collect(defs, it.val, names);
}

/* The whole schema is more than schema_check() works through, so it gets one with no more in it
 * than the definition needs. */
static void cut_out(struct json *ret, int version, const char *name)
{
    yyjson_val *defs = json_get(schemas[version].root, "$defs");
    auto_buf text = BUF((size_t)16 << 20);
    struct jw w = jw_to(&text);
    struct map names = MAP;
    struct str key;
    void *def;

    assert_non_null(json_get(defs, name));
    collect(defs, json_get(defs, name), &names);
    jw_obj(&w);
    jw_key(&w, "allOf");
    jw_arr(&w);
    jw_val(&w, json_get(defs, name));
    jw_end(&w);
    jw_key(&w, "$defs");
    jw_obj(&w);
    for (size_t i = 0; map_next(&names, &i, &key, &def);) {
        jw_key_s(&w, key);
        jw_val(&w, def);
    }
    jw_end(&w);
    jw_end(&w);
    map_free(&names);
    parse(ret, buf_str(&text));
}

/* A member of the object that the schema knows: our objects have no members of our own. */
static bool knows(yyjson_val *def, struct str key)
{
    static const char *const arms[] = { "anyOf", "oneOf" };

    if (json_get_s(json_get(def, "properties"), key))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(arms); i++) {
        for (struct json_iter it = json_iter(json_get(def, arms[i])); json_next(&it);)
            if (json_get_s(json_get(it.val, "properties"), key))
                return true;
    }
    return false;
}

static bool allows(int version, const char *name, yyjson_val *v)
{
    yyjson_val *def = json_get(json_get(schemas[version].root, "$defs"), name);
    auto_json cut = { 0 };

    cut_out(&cut, version, name);
    if (schema_check(cut.root, cut.root, v) != SCHEMA_OK)
        return false;
    for (struct json_iter it = json_iter(v); json_is_obj(v) && json_next(&it);) {
        if (!knows(def, it.key))
            return false;
    }
    return true;
}

bool schema_allows(int version, const char *name, const char *text)
{
    auto_json j = { 0 };

    parse(&j, str_of(text));
    return allows(version, name, j.root);
}

static void check_value(int version, const char *name, yyjson_val *v)
{
    auto_buf text = BUF((size_t)1 << 20);

    json_put_val(&text, v);
    if (schemas[version].root && !allows(version, name, v))
        fail_msg("not %s of version %d: %s", name, version, buf_z(&text));
}

/* The old session/set_model is in no schema. */
static void check_message(int version, yyjson_val *m)
{
    struct str method = json_str(json_get(m, "method"));
    const char *name = definition_of(method, version);

    assert_str(json_str(json_get(m, "jsonrpc")), "2.0");
    for (struct json_iter it = json_iter(m); json_next(&it);)
        assert_true(str_is(it.key, "jsonrpc") || str_is(it.key, "id") ||
                    str_is(it.key, "method") || str_is(it.key, "params") ||
                    str_is(it.key, "result") || str_is(it.key, "error"));
    if (method.n && !str_is(method, "session/set_model")) {
        if (!name)
            fail_msg("version %d has no '%.*s'", version, STR_F(method));
        check_value(version, name, json_get(m, "params"));
    } else if (json_get(m, "result")) {
        check_value(version, "RequestPermissionResponse", json_get(m, "result"));
    } else if (json_get(m, "error")) {
        check_value(version, "Error", json_get(m, "error"));
    }
}

/* ---- the stage ---- */

#define LINES_MAX 4096

struct stage {
    struct loop *loop;
    struct acp_session *session;
    int version;
    const struct row *row;
    const char *file;
    int line;
    char *sent[LINES_MAX], *told[LINES_MAX];
    size_t nsent, sent_at, ntold, told_at;
    uint64_t ask;
    bool deaf;
    char id[RPC_ID_MAX];
};

static bool on_send(void *ctx, struct str line, struct error *e)
{
    struct stage *st = ctx;

    if (st->deaf)
        return error_set(e, ERR_CLOSED, "the pipe is closed");
    assert_true(st->nsent < LINES_MAX);
    st->sent[st->nsent++] = str_dup(line);
    return true;
}

__attribute__((format(printf, 2, 3))) static void tell(struct stage *st, const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;

    assert_true(st->ntold < LINES_MAX);
    va_start(ap, fmt);
    assert_true(vasprintf(&text, fmt, ap) >= 0);
    va_end(ap);
    st->told[st->ntold++] = text;
}

static void on_event(void *ctx, enum acp_event type, struct str data)
{
    static const char *const names[] = { "session",     "message", "thought", "tool_call",
                                         "tool_update", "plan",    "update" };

    tell(ctx, "event %s %.*s", names[type], STR_F(data));
}

static void on_permission(void *ctx, uint64_t id, const struct acp_permission *p)
{
    struct stage *st = ctx;

    st->ask = id;
    if (p->decision.selected)
        tell(st, "permission %s %s %.*s", acp_kind_name(p->kind), p->decision.option_kind,
             STR_F(p->decision.option_id));
    else
        tell(st, "permission %s cancelled", acp_kind_name(p->kind));
}

static void on_prompting(void *ctx)
{
    tell(ctx, "prompting");
}

static void on_failed(void *ctx, const struct acp_failure *why)
{
    tell(ctx, "failed %s|%.*s|%s=%s", why->step, STR_F(why->text),
         why->setting ? why->setting : "", why->value ? why->value : "");
}

static void on_stopped(void *ctx, const struct acp_stop *how)
{
    tell(ctx, "stopped %.*s|%.*s%.*s%s", STR_F(how->reason), STR_F(how->error),
         STR_F(how->usage), how->after_reject ? "after a reject" : "");
}

static const struct acp_session_ops ops = {
    on_send, on_event, on_permission, on_prompting, on_failed, on_stopped,
};

static void bad(struct stage *st, const char *what, const char *got)
{
    print_error("%s:%d, row %d (%s, %s): %s\n  got: %.900s\n", st->file, st->line, st->row->n,
                st->row->a ? st->row->a : "", st->row->b ? st->row->b : "", what,
                got ? got : "nothing");
    for (size_t i = 0; i < st->ntold; i++)
        print_error("  told: %.200s\n", st->told[i]);
    fail();
}

/* ---- rows ---- */

static const char *next_told(struct stage *st, const char *begins)
{
    const char *got = st->told_at < st->ntold ? st->told[st->told_at++] : NULL;

    if (!got || strncmp(got, begins, strlen(begins)) != 0)
        bad(st, begins, got);
    return got + strlen(begins);
}

static void check_sent(struct stage *st)
{
    const struct row *r = st->row;
    const char *got = st->sent_at < st->nsent ? st->sent[st->sent_at++] : NULL;
    bool is_call = r->does == GOT || r->does == GOT_NOTICE;
    auto_json j = { 0 }, want = { 0 };
    auto_buf id = BUF(RPC_ID_MAX);
    yyjson_val *body;

    if (!got)
        bad(st, "a message", got);
    parse(&j, str_of(got));
    check_message(st->version, j.root);
    if (json_get(j.root, "id"))
        json_put_val(&id, json_get(j.root, "id"));
    if (is_call != (json_get(j.root, "method") != NULL) || (r->does == GOT_NOTICE) != !id.n)
        bad(st, "another kind of message", got);
    if (!str_is(is_call ? json_str(json_get(j.root, "method")) : buf_str(&id), r->a))
        bad(st, "another message", got);
    if (r->does == GOT)
        snprintf(st->id, sizeof st->id, "%s", buf_z(&id));
    body = json_get(j.root, is_call ? "params" : r->does == GOT_ANSWER ? "result" : "error");
    if (!is_call && !body)
        bad(st, "the other kind of answer", got);
    if (r->b)
        parse(&want, str_of(r->b));
    if (r->b && !matches(body, want.root))
        bad(st, "the pattern", got);
}

static void check_event(struct stage *st)
{
    auto_buf begins = BUF(64);
    auto_json got = { 0 }, want = { 0 };
    const char *data;

    buf_addf(&begins, "event %s ", st->row->a);
    data = next_told(st, buf_z(&begins));
    parse(&got, str_of(data));
    if (!st->row->b)
        return;
    parse(&want, str_of(st->row->b));
    if (!matches(got.root, want.root))
        bad(st, "the pattern", data);
}

static void check_text(struct stage *st, const char *what)
{
    auto_buf begins = BUF(256);
    const char *rest;

    buf_addf(&begins, "%s %s|", what, st->row->a);
    rest = next_told(st, buf_z(&begins));
    if (st->row->b ? !strstr(rest, st->row->b) : strcmp(what, "stopped") == 0 && *rest)
        bad(st, "the text", rest);
}

static void check_permission(struct stage *st)
{
    const char *got = next_told(st, "permission ");

    if (strcmp(got, st->row->a) != 0)
        bad(st, "the decision", got);
    if (st->row->does != KEPT)
        acp_session_permit(st->session, st->ask, st->row->does == PERMIT);
}

/* '@' stands for the id of the last request. */
static void say(struct stage *st, const char *before, const char *text, const char *after)
{
    auto_buf line = BUF((size_t)32 << 20);

    buf_addz(&line, before);
    buf_addz(&line, text);
    buf_addz(&line, after);
    for (char *at; (at = line.p ? memchr(line.p, '@', line.n) : NULL);) {
        auto_buf rest = BUF((size_t)32 << 20);

        buf_addz(&rest, at + 1);
        buf_truncate(&line, (size_t)(at - line.p));
        buf_addz(&line, st->id);
        buf_add(&line, buf_str(&rest));
    }
    assert_true(acp_session_feed(st->session, buf_str(&line)));
}

#define V "{\"jsonrpc\":\"2.0\","

static void ask(struct stage *st)
{
    auto_buf params = BUF((size_t)1 << 20);

    buf_addf(&params,
             V "\"id\":%s,\"method\":\"session/request_permission\",\"params\":"
               "{\"sessionId\":\"s1\",",
             st->row->a);
    say(st, buf_z(&params), st->row->b, "}}");
}

static void check_quiet(struct stage *st)
{
    if (st->sent_at < st->nsent)
        bad(st, "nothing sent", st->sent[st->sent_at]);
    if (st->told_at < st->ntold)
        bad(st, "nothing told", st->told[st->told_at]);
}

static void is_gone(struct stage *st)
{
    struct error e;

    error_set(&e, ERR_CLOSED, "%s", st->row->a);
    acp_session_closed(st->session, &e);
}

static void act(struct stage *st)
{
    const struct row *r = st->row;

    switch (r->does) {
    case GOT:
    case GOT_NOTICE:
    case GOT_ANSWER:
    case GOT_REFUSAL:
        check_sent(st);
        break;
    case SAY:
        say(st, "", r->a, "");
        break;
    case ANSWER:
        say(st, V "\"id\":@,\"result\":", r->a, "}");
        break;
    case REFUSE:
        say(st, V "\"id\":@,\"error\":", r->a, "}");
        break;
    case UPDATE:
        say(st, V "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":",
            r->a, "}}");
        break;
    case ASK:
        ask(st);
        break;
    case LONG:
        assert_true(acp_session_feed_too_long(st->session));
        break;
    case EVENT:
        check_event(st);
        break;
    case PERMIT:
    case UNSAVED:
    case KEPT:
        check_permission(st);
        break;
    case PROMPTS:
        next_told(st, "prompting");
        break;
    case FAILS:
        check_text(st, "failed");
        break;
    case STOPS:
        check_text(st, "stopped");
        break;
    case CANCEL:
        acp_session_cancel(st->session);
        break;
    case MUTE:
        acp_session_mute(st->session);
        break;
    case FLUSH:
        acp_session_flush(st->session);
        break;
    case WAIT:
        run_for(st->loop, r->n);
        break;
    case GONE:
        is_gone(st);
        break;
    case NOTHING:
        check_quiet(st);
        break;
    case DROPPED:
        assert_int_equal(acp_session_dropped(st->session), r->n);
        break;
    case DEAF:
        st->deaf = true;
        break;
    case SPEAKS:
        st->version = r->n;
        break;
    case END:
        break;
    }
}

void play(const struct acp_turn *turn, const struct row *rows, const char *file, int line)
{
    struct stage *st = NEW(struct stage);
    struct acp_turn t = *turn;
    struct row now;

    t.version = t.version ? t.version : 1;
    t.cwd = t.cwd ? t.cwd : "/work";
    t.prompt = t.prompt.n ? t.prompt : STR("do it");
    *st = (struct stage){ .version = t.version, .file = file, .line = line };
    schemas_found();
    st->loop = loop_new();
    st->row = &rows[0];
    st->session = acp_session_new(st->loop, &t, &ops, st);
    for (int i = 0; rows[i].does != END; i++) {
        now = rows[i];
        if (!now.n)
            now.n = i;
        st->row = &now;
        act(st);
    }
    check_quiet(st);
    acp_session_free(st->session);
    loop_free(st->loop);
    while (st->nsent)
        free(st->sent[--st->nsent]);
    while (st->ntold)
        free(st->told[--st->ntold]);
    free(st);
}
