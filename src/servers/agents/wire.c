/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/agents/wire.h"

#include "base/mem.h"

/* ---- what is common ---- */

const char *wire_path(enum wire_api w)
{
    static const char *const paths[] = { [WIRE_RESPONSES] = "/responses",
                                         [WIRE_MESSAGES] = "/v1/messages",
                                         [WIRE_CHAT] = "/chat/completions" };

    return paths[w];
}

void wire_put_items(struct buf *history, struct str items)
{
    if (history->n && items.n)
        buf_addc(history, ',');
    buf_add(history, items);
}

static void put_list(struct jw *w, const char *key, struct str first, struct str items)
{
    jw_key(w, key);
    jw_arr(w);
    if (first.n)
        jw_raw(w, first);
    if (items.n)
        jw_raw(w, items); /* as many as there are: it brings its own commas */
    jw_end(w);
}

/* What every dialect says of a tool; `schema`: under which name. */
static void put_tool(struct jw *w, const struct wire_tool *t, const char *schema)
{
    jw_kstr(w, "name", t->name);
    jw_kstr(w, "description", t->description);
    jw_key(w, schema);
    jw_raw(w, t->schema);
}

static void put_effort(struct jw *w, const char *key, const struct agent_def *d)
{
    if (!d->effort.n)
        return;
    jw_key(w, key);
    jw_obj(w);
    jw_kstr(w, "effort", d->effort);
    jw_end(w);
}

static bool bad(struct error *e, const char *what)
{
    return error_set(e, ERR_PROTOCOL, "%s", what);
}

static bool add_call(struct arena *a, struct wire_turn *t, struct wire_call call,
                     struct error *e)
{
    if (!call.id.n || !call.name.n)
        return bad(e, "the provider sent a call without id or name");
    if (t->ncalls == WIRE_CALLS_MAX)
        return bad(e, "the provider sent too many calls at once");
    t->calls = arena_grow(a, t->calls, sizeof *t->calls, t->ncalls + 1, &t->cap);
    t->calls[t->ncalls++] = call;
    return true;
}

static struct str as_text(struct arena *a, yyjson_val *v)
{
    auto_buf out = BUF(2 * WIRE_BODY_MAX);

    json_put_val(&out, v);
    return arena_str(a, buf_str(&out));
}

/* JSON text in a string; some compatible servers send the object itself. */
static struct str args_text(struct arena *a, yyjson_val *v)
{
    return !v || json_is_null(v) || json_is_str(v) ? json_str(v) : as_text(a, v);
}

/* What the elements hold, in the form they came. */
static struct str elements(struct arena *a, yyjson_val *list)
{
    struct str s = as_text(a, list);

    return s.n >= 2 ? str_part(s, 1, s.n - 1) : (struct str){ 0 };
}

/* ---- OpenAI responses (AG-22) ---- */

static void responses_request(struct jw *w, const struct wire_request *r)
{
    jw_kstr(w, "model", r->def->model);
    jw_kstr(w, "instructions", r->system);
    put_list(w, "input", (struct str){ 0 }, r->history);
    jw_key(w, "tools");
    jw_arr(w);
    for (size_t i = 0; i < r->ntools; i++) {
        jw_obj(w);
        jw_kstrz(w, "type", "function");
        put_tool(w, &r->tools[i], "parameters");
        jw_end(w);
    }
    jw_end(w);
    jw_kstrz(w, "tool_choice", "auto");
    jw_kbool(w, "parallel_tool_calls", true);
    jw_kbool(w, "store", false);
    put_effort(w, "reasoning", r->def);
}

static void responses_user(struct jw *w, struct str text)
{
    jw_obj(w);
    jw_kstrz(w, "role", "user");
    jw_key(w, "content");
    jw_arr(w);
    jw_obj(w);
    jw_kstrz(w, "type", "input_text");
    jw_kstr(w, "text", text);
    jw_end(w);
    jw_end(w);
    jw_end(w);
}

static void responses_result(struct jw *w, const struct wire_result *v)
{
    jw_obj(w);
    jw_kstrz(w, "type", "function_call_output");
    jw_kstr(w, "call_id", v->id);
    jw_kstr(w, "output", v->output);
    jw_end(w);
}

static void add_parts(struct buf *text, yyjson_val *content)
{
    for (struct json_iter it = json_iter(content); json_next(&it);)
        if (str_is(json_str(json_get(it.val, "type")), "output_text"))
            buf_add(text, json_str(json_get(it.val, "text")));
}

static bool responses_read(struct arena *a, yyjson_val *v, struct wire_turn *t, struct error *e)
{
    yyjson_val *output = json_get(v, "output");
    struct str status = json_str(json_get(v, "status"));
    auto_buf text = BUF(WIRE_BODY_MAX);

    if (!json_is_arr(output))
        return bad(e, "the provider's answer has no 'output'");
    for (struct json_iter it = json_iter(output); json_next(&it);) {
        struct str type = json_str(json_get(it.val, "type"));

        if (str_is(type, "message"))
            add_parts(&text, json_get(it.val, "content"));
        else if (str_is(type, "function_call") &&
                 !add_call(a, t,
                           (struct wire_call){ json_str(json_get(it.val, "call_id")),
                                               json_str(json_get(it.val, "name")),
                                               args_text(a, json_get(it.val, "arguments")) },
                           e))
            return false;
    }
    t->items = elements(a, output);
    t->text = json_str(json_get(v, "output_text"));
    if (!t->text.n)
        t->text = arena_str(a, buf_str(&text));
    if (!t->ncalls && status.n && !str_is(status, "completed"))
        return bad(e, "the provider did not complete its answer");
    return true;
}

/* ---- Anthropic messages (AG-23) ---- */

static void messages_request(struct jw *w, const struct wire_request *r)
{
    jw_kstr(w, "model", r->def->model);
    jw_kint(w, "max_tokens", r->max_tokens);
    jw_kstr(w, "system", r->system);
    put_list(w, "messages", (struct str){ 0 }, r->history);
    jw_key(w, "tools");
    jw_arr(w);
    for (size_t i = 0; i < r->ntools; i++) {
        jw_obj(w);
        put_tool(w, &r->tools[i], "input_schema");
        jw_end(w);
    }
    jw_end(w);
    put_effort(w, "output_config", r->def);
}

static void plain_user(struct jw *w, struct str text)
{
    jw_obj(w);
    jw_kstrz(w, "role", "user");
    jw_kstr(w, "content", text);
    jw_end(w);
}

/* One message with all of them: the interface wants them together. */
static void messages_results(struct jw *w, const struct wire_result *v, size_t n)
{
    jw_obj(w);
    jw_kstrz(w, "role", "user");
    jw_key(w, "content");
    jw_arr(w);
    for (size_t i = 0; i < n; i++) {
        jw_obj(w);
        jw_kstrz(w, "type", "tool_result");
        jw_kstr(w, "tool_use_id", v[i].id);
        jw_kstr(w, "content", v[i].output);
        if (v[i].is_error)
            jw_kbool(w, "is_error", true);
        jw_end(w);
    }
    jw_end(w);
    jw_end(w);
}

/* An answer without a block is no message that could be replayed. */
static struct str assistant_item(struct arena *a, yyjson_val *content)
{
    auto_buf out = BUF(2 * WIRE_BODY_MAX);
    struct jw w = jw_to(&out);

    if (!json_len(content))
        return (struct str){ 0 };
    jw_obj(&w);
    jw_kstrz(&w, "role", "assistant");
    jw_key(&w, "content");
    jw_val(&w, content);
    jw_end(&w);
    return arena_str(a, buf_str(&out));
}

static bool messages_read(struct arena *a, yyjson_val *v, struct wire_turn *t, struct error *e)
{
    yyjson_val *content = json_get(v, "content");
    struct str stop = json_str(json_get(v, "stop_reason"));
    auto_buf text = BUF(WIRE_BODY_MAX);

    if (!json_is_arr(content))
        return bad(e, "the provider's answer has no 'content'");
    for (struct json_iter it = json_iter(content); json_next(&it);) {
        struct str type = json_str(json_get(it.val, "type"));

        if (str_is(type, "text"))
            buf_add(&text, json_str(json_get(it.val, "text")));
        else if (str_is(type, "tool_use") &&
                 !add_call(a, t,
                           (struct wire_call){ json_str(json_get(it.val, "id")),
                                               json_str(json_get(it.val, "name")),
                                               as_text(a, json_get(it.val, "input")) },
                           e))
            return false;
    }
    t->items = assistant_item(a, content);
    t->text = arena_str(a, buf_str(&text));
    t->again = str_is(stop, "pause_turn") && !t->ncalls;
    if (t->ncalls || t->again)
        return true;
    if (str_is(stop, "max_tokens"))
        return bad(e, "the model stopped at max_tokens");
    if (str_is(stop, "refusal"))
        return bad(e, "the model refused");
    return !str_is(stop, "error") || bad(e, "the provider stopped with an error");
}

/* ---- chat completions (AG-24) ---- */

static void chat_request(struct jw *w, const struct wire_request *r)
{
    auto_buf system = BUF(WIRE_BODY_MAX);
    struct jw s = jw_to(&system);

    jw_obj(&s);
    jw_kstrz(&s, "role", "system");
    jw_kstr(&s, "content", r->system);
    jw_end(&s);
    jw_kstr(w, "model", r->def->model);
    put_list(w, "messages", buf_str(&system), r->history);
    if (r->ntools) { /* several servers refuse an empty list */
        jw_key(w, "tools");
        jw_arr(w);
        for (size_t i = 0; i < r->ntools; i++) {
            jw_obj(w);
            jw_kstrz(w, "type", "function");
            jw_key(w, "function");
            jw_obj(w);
            put_tool(w, &r->tools[i], "parameters");
            jw_end(w);
            jw_end(w);
        }
        jw_end(w);
    }
    if (r->def->effort.n)
        jw_kstr(w, "reasoning_effort", r->def->effort);
}

static void chat_result(struct jw *w, const struct wire_result *v)
{
    jw_obj(w);
    jw_kstrz(w, "role", "tool");
    jw_kstr(w, "tool_call_id", v->id);
    jw_kstr(w, "content", v->output);
    jw_end(w);
}

static bool chat_read(struct arena *a, yyjson_val *v, struct wire_turn *t, struct error *e)
{
    yyjson_val *choice = json_at(json_get(v, "choices"), 0);
    yyjson_val *message = json_get(choice, "message");
    struct str finish = json_str(json_get(choice, "finish_reason"));

    if (!json_is_obj(message))
        return bad(e, "the provider's answer has no 'choices[0].message'");
    for (struct json_iter it = json_iter(json_get(message, "tool_calls")); json_next(&it);) {
        yyjson_val *f = json_get(it.val, "function");

        if (!add_call(a, t,
                      (struct wire_call){ json_str(json_get(it.val, "id")),
                                          json_str(json_get(f, "name")),
                                          args_text(a, json_get(f, "arguments")) },
                      e))
            return false;
    }
    t->items = as_text(a, message);
    t->text = json_str(json_get(message, "content"));
    if (t->ncalls)
        return true;
    if (str_is(finish, "length"))
        return bad(e, "the model stopped at its length limit");
    if (str_is(finish, "content_filter"))
        return bad(e, "the provider's content filter stopped the answer");
    return true;
}

/* ---- the table ---- */

static const struct dialect {
    void (*request)(struct jw *w, const struct wire_request *r);
    void (*user)(struct jw *w, struct str text);
    void (*result)(struct jw *w, const struct wire_result *v); /* each, or `results` */
    void (*results)(struct jw *w, const struct wire_result *v, size_t n);
    bool (*read)(struct arena *a, yyjson_val *v, struct wire_turn *t, struct error *e);
} dialects[] = {
    [WIRE_RESPONSES] = { responses_request, responses_user, responses_result, NULL,
                         responses_read },
    [WIRE_MESSAGES] = { messages_request, plain_user, NULL, messages_results, messages_read },
    [WIRE_CHAT] = { chat_request, plain_user, chat_result, NULL, chat_read },
};

void wire_put_request(struct buf *out, const struct wire_request *r)
{
    struct jw w = jw_to(out);

    jw_obj(&w);
    dialects[r->def->wire].request(&w, r);
    if (r->def->temperature.n) {
        jw_key(&w, "temperature");
        jw_raw(&w, r->def->temperature);
    }
    jw_end(&w);
}

/* A writer of its own for each item: the history places the commas. */
void wire_put_user(struct buf *history, enum wire_api w, struct str text)
{
    struct jw item = jw_to(history);

    if (history->n)
        buf_addc(history, ',');
    dialects[w].user(&item, text);
}

void wire_put_results(struct buf *history, enum wire_api w, const struct wire_result *v,
                      size_t n)
{
    if (dialects[w].results) {
        struct jw item = jw_to(history);

        if (history->n)
            buf_addc(history, ',');
        dialects[w].results(&item, v, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct jw item = jw_to(history);

        if (history->n)
            buf_addc(history, ',');
        dialects[w].result(&item, &v[i]);
    }
}

bool wire_read(struct arena *a, enum wire_api w, yyjson_val *answer, struct wire_turn *ret,
               struct error *e)
{
    *ret = (struct wire_turn){ 0 };
    if (!json_is_obj(answer))
        return bad(e, "the provider's answer is no JSON object");
    return dialects[w].read(a, answer, ret, e);
}

/* ---- errors ---- */

#define ERROR_LOOKED_AT ((size_t)64 << 10)

static bool mentions(struct str body, const char *const *phrases)
{
    struct str text = str_upto(body, ERROR_LOOKED_AT);

    for (; *phrases; phrases++) {
        struct str phrase = str_of(*phrases);

        for (size_t i = 0; i + phrase.n <= text.n; i++)
            if (str_icase_eq(str_part(text, i, i + phrase.n), phrase))
                return true;
    }
    return false;
}

bool wire_is_context_limit(int status, struct str body)
{
    static const char *const phrases[] = { "context length",
                                           "context_length",
                                           "context window",
                                           "context_window",
                                           "context limit",
                                           "prompt is too long",
                                           NULL };

    return status == 413 || (status >= 400 && status < 500 && mentions(body, phrases));
}

bool wire_names_max_tokens(int status, struct str body)
{
    static const char *const phrases[] = { "max_tokens", NULL };

    return status == 400 && mentions(body, phrases);
}
