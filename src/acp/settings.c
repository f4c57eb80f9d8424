/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Pins, model and effort, one after the other, each looked for in the list that the agent
 * returned last and verified in the next (docs/spec/tasks.md ACP-8, TK-29): a setting that is
 * silently not applied, or taken back by a later one, must never reach the prompt.
 */
#include "acp/internal.h"

#include <string.h>

static void next_setting(struct acp_session *s);

static const struct acp_setting *setting_now(const struct acp_session *s)
{
    return &s->turn.settings[s->setting];
}

/* ---- what it is to the agent ---- */

/* How this agent wants it. */
struct target {
    enum acp_setting_how how;
    struct acp_option option; /* ACP_CONFIG */
};

static struct acp_option option_of_mode(const struct acp_session *s)
{
    struct acp_option o = acp_option_find(s->config.v, s->codec->option_id, STR("mode"));

    return o.id.n ? o : acp_option_of_category(s->config.v, s->codec->option_id, "mode");
}

static struct acp_option option_of(const struct acp_session *s, const struct acp_setting *set)
{
    switch (set->how) {
    case ACP_CONFIG:
        return acp_option_find(s->config.v, s->codec->option_id, str_of(set->id));
    case ACP_MODE:
        return option_of_mode(s);
    case ACP_SET_MODEL:
        return acp_option_find(s->config.v, s->codec->option_id, STR("model"));
    }
    return (struct acp_option){ 0 };
}

/* False: the agent has nothing of the kind. */
static bool find_target(const struct acp_session *s, const struct acp_setting *set,
                        struct target *ret)
{
    bool is_mode = set->how == ACP_MODE, is_model = set->how == ACP_SET_MODEL;

    ret->how = ACP_CONFIG;
    ret->option = option_of(s, set);
    if (ret->option.id.n)
        return true;
    if (set->how == ACP_CONFIG && !s->config.v) {
        is_mode = strcmp(set->id, "mode") == 0;
        is_model = strcmp(set->id, "model") == 0 && s->models.v;
    }
    ret->how = is_mode ? ACP_MODE : ACP_SET_MODEL;
    return (is_mode && s->modes.v) || is_model;
}

/* The legacy call is answered by agents that do not list their models. */
static bool offers(const struct acp_session *s, const struct target *t, const char *value)
{
    switch (t->how) {
    case ACP_CONFIG:
        return acp_option_offers(&t->option, value);
    case ACP_MODE:
        return acp_list_has(json_get(s->modes.v, "availableModes"), "id", value);
    case ACP_SET_MODEL:
        return !s->models.v ||
               acp_list_has(json_get(s->models.v, "availableModels"), "modelId", value);
    }
    return false;
}

static void put_offers(struct buf *b, const struct acp_session *s, const struct target *t)
{
    switch (t->how) {
    case ACP_CONFIG:
        acp_option_put_values(b, &t->option);
        break;
    case ACP_MODE:
        acp_list_put(b, json_get(s->modes.v, "availableModes"), "id");
        break;
    case ACP_SET_MODEL:
        acp_list_put(b, json_get(s->models.v, "availableModels"), "modelId");
        break;
    }
}

static bool in_force(const struct acp_session *s, const struct target *t, const char *value)
{
    switch (t->how) {
    case ACP_CONFIG:
        return acp_option_is(&t->option, value);
    case ACP_MODE:
        return str_is(buf_str(&s->mode), value);
    case ACP_SET_MODEL:
        return str_is(buf_str(&s->model), value);
    }
    return false;
}

/* ---- failures ---- */

static const char *name_of(const struct acp_setting *set)
{
    return set->id ? set->id : set->how == ACP_MODE ? "mode" : "model";
}

static void fail_missing(struct acp_session *s, const struct acp_setting *set)
{
    auto_buf text = BUF(8 * ACP_TEXT_SHOWN);

    buf_addf(&text, "the agent has no setting '%s'", name_of(set));
    acp_fail_setting(s, set, buf_str(&text));
}

static void fail_value(struct acp_session *s, const struct acp_setting *set,
                       const struct target *t)
{
    auto_buf text = BUF(64 * ACP_TEXT_SHOWN);

    buf_addf(&text, "the agent's setting '%s' has no value '%s', but: ", name_of(set),
             set->value);
    put_offers(&text, s, t);
    acp_fail_setting(s, set, buf_str(&text));
}

static void fail_not_applied(struct acp_session *s, const struct acp_setting *set,
                             const struct target *t)
{
    auto_buf text = BUF(8 * ACP_TEXT_SHOWN);

    buf_addf(&text, "the agent did not apply '%s' = '%s'; it says ", name_of(set), set->value);
    if (t->how == ACP_CONFIG)
        acp_option_put_current(&text, &t->option);
    else
        buf_addf(&text, "'%s'", buf_z(t->how == ACP_MODE ? &s->mode : &s->model));
    acp_fail_setting(s, set, buf_str(&text));
}

static void fail_refused(struct acp_session *s, const struct acp_setting *set,
                         const struct rpc_msg *reply, const struct error *e)
{
    auto_buf text = BUF(16 * ACP_TEXT_SHOWN);

    buf_addf(&text, "'%s' = '%s': ", name_of(set), set->value);
    acp_put_error(&text, s, reply, e);
    acp_fail_setting(s, set, buf_str(&text));
}

/* Verified against what the agent returned last. False: failed. */
static bool verify(struct acp_session *s, const struct acp_setting *set)
{
    struct target t;

    if (!find_target(s, set, &t))
        fail_missing(s, set);
    else if (!in_force(s, &t, set->value))
        fail_not_applied(s, set, &t);
    else
        return true;
    return false;
}

/* ---- making one ---- */

static void made(struct acp_session *s)
{
    if (!verify(s, setting_now(s)))
        return;
    s->setting++;
    next_setting(s);
}

static void config_is_set(struct acp_session *s, const struct rpc_msg *reply)
{
    yyjson_val *config = json_get(reply->result, "configOptions");

    if (json_is_arr(config))
        acp_keep(&s->config, reply->doc, config);
    made(s);
}

static void on_config_set(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct acp_session *s = ctx;

    if (!acp_answered(s))
        return;
    acp_hold(s);
    if (e)
        fail_refused(s, setting_now(s), reply, e);
    else
        config_is_set(s, reply);
    acp_release(s);
}

/* These two return nothing: that they are no error is all there is. */
static void on_other_set(struct acp_session *s, struct buf *now, const struct rpc_msg *reply,
                         const struct error *e)
{
    if (!acp_answered(s))
        return;
    acp_hold(s);
    if (e) {
        fail_refused(s, setting_now(s), reply, e);
    } else {
        buf_clear(now);
        buf_addz(now, setting_now(s)->value);
        made(s);
    }
    acp_release(s);
}

static void on_mode_set(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct acp_session *s = ctx;

    on_other_set(s, &s->mode, reply, e);
}

static void on_model_set(void *ctx, const struct rpc_msg *reply, const struct error *e)
{
    struct acp_session *s = ctx;

    on_other_set(s, &s->model, reply, e);
}

static void request(struct acp_session *s, const struct acp_setting *set,
                    const struct target *t)
{
    auto_buf params = BUF(ACP_REQUEST_BYTES);
    struct jw w = jw_to(&params);

    jw_obj(&w);
    jw_kstr(&w, "sessionId", s->id);
    switch (t->how) {
    case ACP_CONFIG:
        jw_kstr(&w, "configId", t->option.id);
        s->codec->put_value(&w, t->option.boolean, set->value);
        jw_end(&w);
        acp_call(s, "session/set_config_option", set->what, &params, on_config_set);
        break;
    case ACP_MODE:
        jw_kstrz(&w, "modeId", set->value);
        jw_end(&w);
        acp_call(s, "session/set_mode", set->what, &params, on_mode_set);
        break;
    case ACP_SET_MODEL:
        jw_kstrz(&w, "modelId", set->value);
        jw_end(&w);
        acp_call(s, "session/set_model", set->what, &params, on_model_set);
        break;
    }
}

/* One may have taken back another (ACP-8): all are looked at once more before the prompt. */
static bool verify_all(struct acp_session *s)
{
    for (size_t i = 0; i < s->turn.nsettings; i++) {
        if (!verify(s, &s->turn.settings[i]))
            return false;
    }
    return true;
}

static void next_setting(struct acp_session *s)
{
    const struct acp_setting *set = setting_now(s);
    struct target t;

    if (s->setting == s->turn.nsettings) {
        if (verify_all(s))
            acp_prompt(s);
    } else if (!find_target(s, set, &t)) {
        fail_missing(s, set);
    } else if (!offers(s, &t, set->value)) {
        fail_value(s, set, &t);
    } else {
        request(s, set, &t);
    }
}

void acp_settings_begin(struct acp_session *s)
{
    s->setting = 0;
    next_setting(s);
}
