/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Verdicts: read from what one hook printed, merged, and said to the agent in its own form.
 *
 * What an agent refuses is left out rather than said wrong: Codex rejects an answer with a
 * member it does not know, and any failure of a hook of Copilot's denies the tool.
 */
#include "plugins/hook_wire.h"

#include "base/mem.h"
#include "plugins/hook_impl.h"

#define SPECIFIC  "hookSpecificOutput"
#define NO_REASON "a hook of a plugin denied this and gave no reason"

/* ---- reading ---- */

/* The first word of each is the one we say. */
static const struct {
    const char *word;
    enum hook_decision decision;
} decision_words[] = {
    { "allow", HOOK_ALLOW }, { "approve", HOOK_ALLOW }, { "ask", HOOK_ASK },
    { "deny", HOOK_DENY },   { "block", HOOK_DENY },
};

static const char *decision_word(enum hook_decision d)
{
    size_t i = 0;

    while (decision_words[i].decision != d)
        i++;
    return decision_words[i].word;
}

static bool parse_decision(yyjson_val *v, enum hook_decision *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(decision_words); i++)
        if (json_is_str(v) && str_is(json_str(v), decision_words[i].word)) {
            *ret = decision_words[i].decision;
            return true;
        }
    return false;
}

static struct str json_text(struct arena *a, yyjson_val *v)
{
    auto_buf b = BUF(HOOK_MAX_ANSWER);

    json_put_val(&b, v);
    return arena_str(a, buf_str(&b));
}

/* One member of the agent's own form. False: it means nothing to us. What we write ourselves is
 * never left to it, whatever stands there: said twice, the wrong one might count. */
static bool take_member(struct hook_verdict *ret, struct arena *a, struct str key,
                        yyjson_val *v)
{
    static const struct {
        const char *key;
        enum { DECISION, REASON, INPUT, CONTEXT, NOTHING } what;
    } members[] = {
        { "permissionDecision", DECISION },
        { "decision", DECISION },
        { "permissionDecisionReason", REASON },
        { "reason", REASON },
        { "updatedInput", INPUT },
        { "modifiedArgs", INPUT },
        { "tool_input", INPUT },
        { "additionalContext", CONTEXT },
        { "hookEventName", NOTHING },
        { SPECIFIC, NOTHING },
    };
    size_t i = 0;

    while (i < ARRAY_LEN(members) && !str_is(key, members[i].key))
        i++;
    if (i == ARRAY_LEN(members))
        return false;
    if (members[i].what == DECISION)
        parse_decision(v, &ret->decision);
    else if (members[i].what == INPUT && json_is_obj(v))
        ret->updated_input = json_text(a, v);
    else if (members[i].what == REASON && json_is_str(v))
        ret->reason = arena_str(a, json_str(v));
    else if (members[i].what == CONTEXT && json_is_str(v))
        ret->context = arena_str(a, json_str(v));
    return true;
}

static void put_own(struct arena *a, struct key_values *list, struct str key, struct str json)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].key, key)) {
            list->v[i].value = json;
            return;
        }
    ARENA_PUSH(a, list) = (struct key_value){ arena_str(a, key), json };
}

static void take_members(struct hook_verdict *ret, struct arena *a, yyjson_val *of,
                         struct key_values *own)
{
    for (struct json_iter it = json_iter(of); json_next(&it);)
        if (!take_member(ret, a, it.key, it.val) && !json_is_null(it.val))
            put_own(a, own, it.key, json_text(a, it.val));
}

static bool read_native(struct hook_verdict *v, struct arena *a, yyjson_val *root,
                        struct error *e)
{
    if (!json_is_obj(root))
        return error_set(e, ERR_INVALID, "its output must be a JSON object, not %s",
                         json_type_name(root));
    take_members(v, a, root, &v->own);
    take_members(v, a, json_get(root, SPECIFIC), &v->own_specific);
    return true;
}

/* HK-4. Whoever denies says why in the context: there is no other place for it. */
static bool read_canonical(struct hook_verdict *v, struct arena *a, enum hook_event event,
                           yyjson_val *root, struct error *e)
{
    const char *name = hook_event_name(event);
    yyjson_val *of = json_get(root, name), *decision = json_get(of, "decision");
    yyjson_val *input = json_get(of, "updatedInput");

    if (!json_is_obj(of))
        return error_set(e, ERR_INVALID, "its output has no object '%s'", name);
    if (decision && !json_is_null(decision) && !parse_decision(decision, &v->decision))
        return error_set(e, ERR_INVALID, "its decision must be \"allow\" or \"deny\"");
    v->context = arena_str(a, json_str(json_get(of, "additionalContext")));
    if (event == HOOK_PRE_TOOL_USE && json_is_obj(input))
        v->updated_input = json_text(a, input);
    if (v->decision == HOOK_DENY) {
        v->reason = v->context;
        v->context = STR("");
    }
    return true;
}

static bool is_text(const struct hook_input *in, struct str format, struct str text)
{
    if (str_is(format, "symposium"))
        return false;
    return in->dialect->prints == PRINTS_TEXT ||
           (in->dialect->prints == PRINTS_JSON_OR_TEXT && text.p[0] != '{');
}

static bool takes_context(const struct hook_input *in)
{
    return in->event == HOOK_USER_PROMPT_SUBMIT || in->event == HOOK_SESSION_START;
}

bool hook_verdict_read(struct hook_verdict *ret, struct arena *a, const struct hook_input *in,
                       struct str format, struct str text, struct error *e)
{
    bool canonical = str_is(format, "symposium");
    struct hook_verdict v = { 0 };
    auto_json j = { 0 };

    text = str_trim(text);
    if (text.n && is_text(in, format, text)) {
        v.context = takes_context(in) ? arena_str(a, text) : STR("");
    } else if (text.n) {
        if (!json_parse(&j, text, e))
            return error_wrap(e, "its output is no JSON");
        if (canonical ? !read_canonical(&v, a, in->event, j.root, e)
                      : !read_native(&v, a, j.root, e))
            return false;
    }
    *ret = v;
    return true;
}

/* ---- merging ---- */

static struct str joined(struct arena *a, struct str x, struct str y)
{
    auto_buf b = BUF(HOOK_MAX_TEXT);

    if (!x.n || !y.n)
        return x.n ? x : y;
    buf_add(&b, x);
    buf_addc(&b, '\n');
    buf_add(&b, y);
    return b.over ? x : arena_str(a, buf_str(&b));
}

void hook_verdict_merge(struct hook_verdict *into, struct arena *a,
                        const struct hook_verdict *later)
{
    if (later->decision > into->decision)
        into->reason = later->reason;
    else if (later->decision == into->decision)
        into->reason = joined(a, into->reason, later->reason);
    if (later->decision > into->decision)
        into->decision = later->decision;
    into->context = joined(a, into->context, later->context);
    if (later->updated_input.n)
        into->updated_input = later->updated_input;
    for (size_t i = 0; i < later->own.n; i++)
        put_own(a, &into->own, later->own.v[i].key, later->own.v[i].value);
    for (size_t i = 0; i < later->own_specific.n; i++)
        put_own(a, &into->own_specific, later->own_specific.v[i].key,
                later->own_specific.v[i].value);
}

/* ---- saying it ---- */

static struct str reason_of(const struct hook_verdict *v)
{
    return v->reason.n ? v->reason : STR(NO_REASON);
}

static bool denied(const struct answering *w)
{
    return w->v->decision == HOOK_DENY;
}

static void put_raw(struct jw *w, const char *key, struct str json)
{
    jw_key(w, key);
    jw_raw(w, json);
}

static void put_owns(struct jw *w, const struct key_values *own)
{
    for (size_t i = 0; i < own->n; i++) {
        jw_key_s(w, own->v[i].key);
        jw_raw(w, own->v[i].value);
    }
}

static bool says_anything(const struct hook_verdict *v)
{
    return v->decision != HOOK_UNDECIDED || v->context.n || v->updated_input.n || v->own.n ||
           v->own_specific.n;
}

/* The decision before a tool, as Claude Code and those after it word it. */
static void put_permission(struct jw *w, const struct hook_verdict *v)
{
    if (v->decision == HOOK_UNDECIDED)
        return;
    jw_kstrz(w, "permissionDecision", decision_word(v->decision));
    if (v->decision == HOOK_DENY || v->reason.n)
        jw_kstr(w, "permissionDecisionReason", reason_of(v));
}

static void put_block(struct jw *w, const struct answering *a, const char *word)
{
    if (!denied(a))
        return;
    jw_kstrz(w, "decision", word);
    jw_kstr(w, "reason", reason_of(a->v));
}

static void put_context(struct jw *w, const struct hook_verdict *v)
{
    if (v->context.n)
        jw_kstr(w, "additionalContext", v->context);
}

/* An empty object says nothing; whatever has something to say in it comes with the name. */
static void put_specific(struct jw *w, const struct answering *a, const char *input_key,
                         bool permission)
{
    const struct hook_verdict *v = a->v;
    bool input = a->event == HOOK_PRE_TOOL_USE && v->updated_input.n && !denied(a);

    permission &= a->event == HOOK_PRE_TOOL_USE && v->decision != HOOK_UNDECIDED;
    if (!permission && !input && !v->context.n && !v->own_specific.n)
        return;
    jw_key(w, SPECIFIC);
    jw_obj(w);
    jw_kstrz(w, "hookEventName", a->dialect->events[a->event]);
    if (permission)
        put_permission(w, v);
    if (input)
        put_raw(w, input_key, v->updated_input);
    put_context(w, v);
    put_owns(w, &v->own_specific);
    jw_end(w);
}

void answer_claude(const struct answering *a)
{
    struct jw w = jw_to(&a->to->out);

    if (!says_anything(a->v))
        return;
    jw_obj(&w);
    if (a->event != HOOK_PRE_TOOL_USE && a->event != HOOK_SESSION_START)
        put_block(&w, a, "block");
    put_specific(&w, a, "updatedInput", true);
    put_owns(&w, &a->v->own);
    jw_end(&w);
}

/*
 * As Claude Code, but strict: "allow" is said with a new input and only then, nobody can be
 * asked, and at the end there is no place for context.
 */
void answer_codex(const struct answering *a)
{
    struct hook_verdict v = *a->v;
    struct answering strict = *a;

    if (a->event == HOOK_PRE_TOOL_USE && v.decision != HOOK_DENY)
        v.decision = v.updated_input.n ? HOOK_ALLOW : HOOK_UNDECIDED;
    if (v.decision == HOOK_ALLOW)
        v.reason = STR("");
    if (a->event == HOOK_STOP) {
        v.context = STR("");
        v.own_specific.n = 0;
    }
    if (a->event != HOOK_PRE_TOOL_USE && v.decision != HOOK_DENY)
        v.decision = HOOK_UNDECIDED;
    strict.v = &v;
    answer_claude(&strict);
}

void answer_gemini(const struct answering *a)
{
    struct jw w = jw_to(&a->to->out);

    if (!says_anything(a->v))
        return;
    jw_obj(&w);
    if (a->event == HOOK_PRE_TOOL_USE && a->v->decision && !denied(a))
        jw_kstrz(&w, "decision", decision_word(a->v->decision));
    else if (a->event != HOOK_SESSION_START)
        put_block(&w, a, "deny");
    put_specific(&w, a, "tool_input", false);
    put_owns(&w, &a->v->own);
    jw_end(&w);
}

/* Flat. After a tool nothing can be denied any more: the reason is something to know. */
void answer_copilot(const struct answering *a)
{
    struct hook_verdict v = *a->v;
    auto_arena arena = ARENA;
    struct jw w = jw_to(&a->to->out);

    if (!says_anything(&v))
        return;
    if (a->event == HOOK_POST_TOOL_USE && denied(a))
        v.context = joined(&arena, reason_of(&v), v.context);
    jw_obj(&w);
    if (a->event == HOOK_PRE_TOOL_USE)
        put_permission(&w, &v);
    if (a->event == HOOK_PRE_TOOL_USE && v.updated_input.n && !denied(a))
        put_raw(&w, "modifiedArgs", v.updated_input);
    if (a->event == HOOK_USER_PROMPT_SUBMIT)
        put_block(&w, a, "block");
    put_context(&w, &v);
    put_owns(&w, &v.own);
    jw_end(&w);
}

/* Text, not JSON: stdout is context where it is taken, and status 2 before a tool denies it,
 * with the reason on stderr. */
void answer_kiro(const struct answering *a)
{
    const struct hook_verdict *v = a->v;

    if (a->event == HOOK_PRE_TOOL_USE && denied(a)) {
        buf_add(&a->to->err, reason_of(v));
        a->to->status = 2;
    } else if (a->event != HOOK_PRE_TOOL_USE && a->event != HOOK_POST_TOOL_USE) {
        buf_add(&a->to->out, v->context);
    }
}

static void put_step(struct jw *w, struct str message)
{
    if (!message.n)
        return;
    jw_key(w, "injectSteps");
    jw_arr(w);
    jw_obj(w);
    jw_kstr(w, "ephemeralMessage", message);
    jw_end(w);
    jw_end(w);
}

/* Silence, or an object without a decision, denies the tool: there is always one. A call of the
 * model cannot be denied. */
void answer_antigravity(const struct answering *a)
{
    const struct hook_verdict *v = a->v;
    auto_arena arena = ARENA;
    struct jw w = jw_to(&a->to->out);

    jw_obj(&w);
    switch (a->event) {
    case HOOK_PRE_TOOL_USE:
        jw_kstrz(&w, "decision", decision_word(v->decision ? v->decision : HOOK_ALLOW));
        if (denied(a) || v->reason.n)
            jw_kstr(&w, "reason", reason_of(v));
        if (v->updated_input.n && !denied(a))
            put_raw(&w, "overwrite", v->updated_input);
        break;
    case HOOK_POST_TOOL_USE:
        break;
    case HOOK_USER_PROMPT_SUBMIT:
    case HOOK_SESSION_START:
        put_step(&w, denied(a) ? joined(&arena, reason_of(v), v->context) : v->context);
        break;
    case HOOK_STOP:
        put_block(&w, a, "continue");
        break;
    }
    put_owns(&w, &v->own);
    jw_end(&w);
}

void hook_answer_put(struct hook_answer *ret, const struct hook_dialect *d, enum hook_event e,
                     const struct hook_verdict *v)
{
    const struct answering w = { ret, d, e, v };

    *ret = (struct hook_answer){ .out = BUF(HOOK_MAX_ANSWER), .err = BUF(HOOK_MAX_ANSWER) };
    d->answer(&w);
    if (ret->out.over) { /* the decision is what must not be lost */
        const struct hook_verdict bare = { .decision = v->decision, .reason = v->reason };

        hook_answer_free(ret);
        hook_answer_put(ret, d, e, &bare);
    }
}

void hook_answer_free(struct hook_answer *answer)
{
    buf_free(&answer->out);
    buf_free(&answer->err);
}
