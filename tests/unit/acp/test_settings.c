/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pins, model, effort. */
#include "script.h"

#define MODE(now)                                                                     \
    "{\"id\":\"mode\",\"name\":\"Mode\",\"category\":\"mode\",\"type\":\"select\","   \
    "\"currentValue\":\"" now "\",\"options\":[{\"value\":\"ask\",\"name\":\"Ask\"}," \
    "{\"value\":\"yolo\",\"name\":\"Yolo\"}]}"
#define GROUPS(now)                                                                      \
    "{\"id\":\"mode\",\"name\":\"Mode\",\"type\":\"select\",\"currentValue\":\"" now     \
    "\",\"options\":[{\"group\":\"g\",\"name\":\"G\",\"options\":[{\"value\":\"yolo\","  \
    "\"name\":\"Y\"}]},{\"group\":\"h\",\"name\":\"H\",\"options\":[{\"value\":\"ask\"," \
    "\"name\":\"A\"}]}]}"
#define MODEL(now)                                                                             \
    "{\"id\":\"model\",\"name\":\"Model\",\"type\":\"select\",\"currentValue\":\"" now         \
    "\",\"options\":[{\"value\":\"small\",\"name\":\"S\"},{\"value\":\"big\",\"name\":\"B\"}]" \
    "}"
#define EFFORT(now)                                                                      \
    "{\"id\":\"effort\",\"name\":\"Effort\",\"type\":\"select\",\"currentValue\":\"" now \
    "\",\"options\":[{\"value\":\"low\",\"name\":\"L\"},{\"value\":\"high\",\"name\":\"H\"}]}"
#define FLAG(now) \
    "{\"id\":\"flag\",\"name\":\"Flag\",\"type\":\"boolean\",\"currentValue\":" now "}"

#define CONFIG(list)  "{\"configOptions\":[" list "]}"
#define SESSION(list) "{\"sessionId\":\"s1\",\"configOptions\":[" list "]}"
#define MODES                                                                             \
    "\"modes\":{\"currentModeId\":\"yolo\",\"availableModes\":[{\"id\":\"ask\",\"name\":" \
    "\"A\"},"                                                                             \
    "{\"id\":\"yolo\",\"name\":\"Y\"}]}"

#define TURN(...)                                                                       \
    (&(const struct acp_turn){ .settings = (const struct acp_setting[]){ __VA_ARGS__ }, \
                               .nsettings =                                             \
                                   ARRAY_LEN(((const struct acp_setting[]){ __VA_ARGS__ })) })

#define PIN                              \
    {                                    \
        "pin", ACP_CONFIG, "mode", "ask" \
    }
#define MODEL_                              \
    {                                       \
        "model", ACP_CONFIG, "model", "big" \
    }
#define EFFORT_                                \
    {                                          \
        "effort", ACP_CONFIG, "effort", "high" \
    }

/* ACP-8: pins, then the model, then the effort, which the list shows only by then. */
static void each_setting_is_looked_for_in_the_list_that_the_one_before_it_returned(void **state)
{
    PLAY(TURN(PIN, MODEL_, EFFORT_), TO_NEW,
         { ANSWER, SESSION(MODE("yolo") "," MODEL("small")) }, { EVENT, "session" },
         { GOT, "session/set_config_option",
           "{\"sessionId\":\"s1\",\"configId\":\"mode\",\"type\":\"<absent>\",\"value\":"
           "\"ask\"}" },
         { ANSWER, CONFIG(MODE("ask") "," MODEL("small")) },
         { GOT, "session/set_config_option", "{\"configId\":\"model\",\"value\":\"big\"}" },
         { ANSWER, CONFIG(MODE("ask") "," MODEL("big") "," EFFORT("low")) },
         { GOT, "session/set_config_option", "{\"configId\":\"effort\",\"value\":\"high\"}" },
         { ANSWER, CONFIG(MODE("ask") "," MODEL("big") "," EFFORT("high")) },
         { GOT, "session/prompt" }, { PROMPTS }, TO_END);
}

static void what_is_set_already_is_set_all_the_same(void **state)
{
    PLAY(TURN(PIN), TO_NEW, { ANSWER, SESSION(MODE("ask")) }, { EVENT, "session" },
         { GOT, "session/set_config_option" }, { ANSWER, CONFIG(MODE("ask")) },
         { GOT, "session/prompt" }, { PROMPTS }, TO_END);
}

/* TK-29, ACP-8: a setting that is not there or not in force never reaches the prompt, and the
 * failure names it and the value. */
static void a_setting_that_is_not_in_force_is_a_failure_that_names_it(void **state)
{
    static const struct {
        const char *session, *answer, *step, *text; /* answer: of the first setting, or NULL */
    } cases[] = {
        { SESSION(""), NULL, "pin", "has no setting 'mode'|mode=ask" },
        { "{\"sessionId\":\"s1\"}", NULL, "pin", "has no setting 'mode'|mode=ask" },
        { SESSION(MODEL("small")), NULL, "pin", "has no setting 'mode'|mode=ask" },
        /* ACP-8: of an unknown type, so it does not exist */
        { SESSION(
              "{\"id\":\"mode\",\"name\":\"M\",\"type\":\"slider\",\"currentValue\":\"ask\"}"),
          NULL, "pin", "has no setting 'mode'" },
        { SESSION("{\"id\":\"mode\",\"name\":\"M\",\"type\":\"select\",\"currentValue\":\"on\","
                  "\"options\":[{\"value\":\"on\",\"name\":\"O\"},7,{\"name\":\"x\"}]}"),
          NULL, "pin", "'mode' has no value 'ask', but: 'on'|mode=ask" },
        { SESSION(
              "{\"id\":\"mode\",\"name\":\"M\",\"type\":\"boolean\",\"currentValue\":true}"),
          NULL, "pin", "'mode' has no value 'ask', but: 'true', 'false'" },
        { SESSION(MODE("yolo")), CONFIG(MODE("yolo")), "pin",
          "did not apply 'mode' = 'ask'; it says 'yolo'|mode=ask" },
        { SESSION(MODE("yolo")), "{}", "pin", "did not apply 'mode' = 'ask'; it says 'yolo'" },
        { SESSION(MODE("yolo")), "null", "pin", "did not apply" },
        { SESSION(MODE("yolo")), CONFIG(MODEL("big")), "pin", "has no setting 'mode'" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (cases[i].answer)
            PLAY(TURN(PIN), TO_NEW, { ANSWER, cases[i].session }, { EVENT, "session" },
                 { GOT, "session/set_config_option" }, { ANSWER, cases[i].answer },
                 { FAILS, cases[i].step, cases[i].text });
        else
            PLAY(TURN(PIN), TO_NEW, { ANSWER, cases[i].session }, { EVENT, "session" },
                 { FAILS, cases[i].step, cases[i].text });
    }
    PLAY(TURN(PIN), TO_NEW, { ANSWER, SESSION(MODE("yolo")) }, { EVENT, "session" },
         { GOT, "session/set_config_option" },
         { REFUSE, "{\"code\":-32602,\"message\":\"not today\"}" },
         { FAILS, "pin", "'mode' = 'ask': not today (code -32602)|mode=ask" });
    PLAY(TURN(MODEL_, EFFORT_), TO_NEW, { ANSWER, SESSION(MODEL("small") "," EFFORT("low")) },
         { EVENT, "session" }, { GOT, "session/set_config_option" },
         { ANSWER, CONFIG(MODEL("big")) },
         { FAILS, "effort", "has no setting 'effort'|effort=high" });
}

/* ACP-8: setting one may change others. */
static void a_pin_that_a_later_setting_takes_back_is_found(void **state)
{
    PLAY(TURN(PIN, MODEL_), TO_NEW, { ANSWER, SESSION(MODE("yolo") "," MODEL("small")) },
         { EVENT, "session" }, { GOT, "session/set_config_option" },
         { ANSWER, CONFIG(MODE("ask") "," MODEL("small")) },
         { GOT, "session/set_config_option" },
         { ANSWER, CONFIG(MODE("yolo") "," MODEL("big")) },
         { FAILS, "pin", "did not apply 'mode' = 'ask'; it says 'yolo'" });
    /* by itself, between two answers */
    PLAY(TURN(PIN, MODEL_), TO_NEW, { ANSWER, SESSION(MODE("yolo") "," MODEL("small")) },
         { EVENT, "session" }, { GOT, "session/set_config_option" },
         { ANSWER, CONFIG(MODE("ask") "," MODEL("small")) },
         { GOT, "session/set_config_option" },
         { UPDATE, "{\"sessionUpdate\":\"config_option_update\",\"configOptions\":"
                   "[" MODE("yolo") "]}" },
         { EVENT, "update", "{\"update\":{\"sessionUpdate\":\"config_option_update\"}}" },
         { ANSWER, CONFIG(MODE("yolo") "," MODEL("big")) }, { FAILS, "pin", "did not apply" });
}

static void options_may_be_grouped_and_may_be_boolean(void **state)
{
    static const struct {
        const char *value, *sent, *now;
    } cases[] = {
        { "true", "true", "true" },
        { "on", "true", "true" },
        { "false", "false", "false" },
        { "off", "false", "false" },
    };

    PLAY(TURN(PIN), TO_NEW, { ANSWER, SESSION(GROUPS("yolo")) }, { EVENT, "session" },
         { GOT, "session/set_config_option", "{\"value\":\"ask\"}" },
         { ANSWER, CONFIG(GROUPS("ask")) }, { GOT, "session/prompt" }, { PROMPTS }, TO_END);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf sent = BUF(256), answer = BUF(256);

        buf_addf(&sent, "{\"type\":\"boolean\",\"value\":%s}", cases[i].sent);
        buf_addf(&answer, CONFIG(FLAG("%s")), cases[i].now);
        PLAY(TURN({ "pin", ACP_CONFIG, "flag", cases[i].value }), TO_NEW,
             { ANSWER, SESSION(FLAG("true")) }, { EVENT, "session" },
             { GOT, "session/set_config_option", buf_z(&sent) }, { ANSWER, buf_z(&answer) },
             { GOT, "session/prompt" }, { PROMPTS }, TO_END);
    }
    PLAY(TURN({ "pin", ACP_CONFIG, "mode", "nix" }), TO_NEW,
         { ANSWER, SESSION(GROUPS("yolo")) }, { EVENT, "session" },
         { FAILS, "pin", "no value 'nix', but: 'yolo', 'ask'" });
    PLAY(TURN({ "pin", ACP_CONFIG, "flag", "off" }), TO_NEW, { ANSWER, SESSION(FLAG("true")) },
         { EVENT, "session" }, { GOT, "session/set_config_option" },
         { ANSWER, CONFIG(FLAG("true")) },
         { FAILS, "pin", "did not apply 'flag' = 'off'; it says 'true'" });
}

/* ACP-8: configOptions beat modes; agents that have no options are asked in the older ways. */
static void modes_are_used_where_there_are_no_config_options(void **state)
{
#define BY_MODE { "pin", ACP_MODE, NULL, "ask" }
    PLAY(TURN(BY_MODE), TO_NEW, { ANSWER, "{\"sessionId\":\"s1\"," MODES "}" },
         { EVENT, "session" },
         { GOT, "session/set_mode", "{\"sessionId\":\"s1\",\"modeId\":\"ask\"}" },
         { ANSWER, "{}" }, { GOT, "session/prompt" }, { PROMPTS }, TO_END);
    PLAY(TURN(PIN), TO_NEW, { ANSWER, "{\"sessionId\":\"s1\"," MODES "}" },
         { EVENT, "session" }, { GOT, "session/set_mode", "{\"modeId\":\"ask\"}" },
         { ANSWER, "null" }, { GOT, "session/prompt" }, { PROMPTS }, TO_END);
    PLAY(TURN(BY_MODE), TO_NEW,
         { ANSWER, "{\"sessionId\":\"s1\"," MODES ",\"configOptions\":[" MODE("yolo") "]}" },
         { EVENT, "session" }, { GOT, "session/set_config_option", "{\"configId\":\"mode\"}" },
         { ANSWER, CONFIG(MODE("ask")) }, { GOT, "session/prompt" }, { PROMPTS }, TO_END);
    /* an option of that category, whatever its name */
    PLAY(TURN(BY_MODE), TO_NEW,
         { ANSWER, SESSION("{\"id\":\"approval\",\"name\":\"A\",\"category\":\"mode\","
                           "\"type\":\"select\",\"currentValue\":\"x\",\"options\":"
                           "[{\"value\":\"ask\",\"name\":\"A\"}]}") },
         { EVENT, "session" },
         { GOT, "session/set_config_option", "{\"configId\":\"approval\"}" },
         { GONE, "exited" }, { FAILS, "pin", "'mode' = 'ask': exited" });
    PLAY(TURN(BY_MODE), TO_NEW, { ANSWER, "{\"sessionId\":\"s1\"}" }, { EVENT, "session" },
         { FAILS, "pin", "has no setting 'mode'|mode=ask" });
    PLAY(TURN({ "pin", ACP_MODE, NULL, "plan" }), TO_NEW,
         { ANSWER, "{\"sessionId\":\"s1\"," MODES "}" }, { EVENT, "session" },
         { FAILS, "pin", "'mode' has no value 'plan', but: 'ask', 'yolo'|mode=plan" });
    PLAY(TURN(BY_MODE), TO_NEW, { ANSWER, "{\"sessionId\":\"s1\"," MODES "}" },
         { EVENT, "session" }, { GOT, "session/set_mode" },
         { REFUSE, "{\"code\":-32603,\"message\":\"no\"}" },
         { FAILS, "pin", "'mode' = 'ask': no (code -32603)|mode=ask" });
    /* what the agent says later counts */
    PLAY(TURN(BY_MODE, { "model", ACP_SET_MODEL, NULL, "big" }), TO_NEW,
         { ANSWER, "{\"sessionId\":\"s1\"," MODES "}" }, { EVENT, "session" },
         { GOT, "session/set_mode" }, { ANSWER, "{}" },
         { GOT, "session/set_model", "{\"sessionId\":\"s1\",\"modelId\":\"big\"}" },
         { UPDATE, "{\"sessionUpdate\":\"current_mode_update\",\"currentModeId\":\"yolo\"}" },
         { EVENT, "update" }, { ANSWER, "{}" },
         { FAILS, "pin", "did not apply 'mode' = 'ask'; it says 'yolo'" });
    PLAY(TURN({ "model", ACP_SET_MODEL, NULL, "huge" }), TO_NEW,
         { ANSWER, "{\"sessionId\":\"s1\",\"models\":{\"currentModelId\":\"a\","
                   "\"availableModels\":[{\"modelId\":\"a\",\"name\":\"A\"}]}}" },
         { EVENT, "session" }, { FAILS, "model", "'model' has no value 'huge', but: 'a'" });
}

/* ACP-16 */
static void in_version_2_an_option_has_another_name_for_its_id_and_a_value_a_type(void **state)
{
#define V2_MODE(now)                                                                       \
    "{\"configId\":\"mode\",\"name\":\"Mode\",\"type\":\"select\",\"currentValue\":\"" now \
    "\",\"options\":[{\"value\":\"ask\",\"name\":\"A\"}]}"
    struct acp_turn t = *TURN(PIN);

    t.version = 2;
    PLAY(&t, { GOT, "initialize" },
         { ANSWER, "{\"protocolVersion\":2,\"capabilities\":{\"session\":{}}}" },
         { GOT, "session/new" }, { ANSWER, SESSION(V2_MODE("x")) }, { EVENT, "session" },
         { GOT, "session/set_config_option",
           "{\"configId\":\"mode\",\"type\":\"id\",\"value\":\"ask\"}" },
         { ANSWER, CONFIG(V2_MODE("ask")) }, { GOT, "session/prompt" }, { PROMPTS });
    t = *TURN({ "pin", ACP_CONFIG, "flag", "off" });
    t.version = 2;
    PLAY(&t, { GOT, "initialize" },
         { ANSWER, "{\"protocolVersion\":2,\"capabilities\":{\"session\":{}}}" },
         { GOT, "session/new" },
         { ANSWER, SESSION("{\"configId\":\"flag\",\"name\":\"F\",\"type\":\"boolean\","
                           "\"currentValue\":true}") },
         { EVENT, "session" },
         { GOT, "session/set_config_option", "{\"type\":\"boolean\",\"value\":false}" });
}

static void a_long_list_of_values_is_cut_in_the_message(void **state)
{
    auto_buf session = BUF(64 << 10);

    buf_addz(&session, "{\"sessionId\":\"s1\",\"configOptions\":[{\"id\":\"mode\",\"type\":"
                       "\"select\",\"currentValue\":\"v\",\"options\":[");
    for (int i = 0; i < 100; i++)
        buf_addf(&session, "%s{\"value\":\"v%d\",\"name\":\"V\"}", i ? "," : "", i);
    buf_addz(&session, "]}]}");
    PLAY(TURN(PIN), TO_NEW, { ANSWER, buf_z(&session) }, { EVENT, "session" },
         { FAILS, "pin", "'v22', 'v23', ...|mode=ask" });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            each_setting_is_looked_for_in_the_list_that_the_one_before_it_returned),
        cmocka_unit_test(what_is_set_already_is_set_all_the_same),
        cmocka_unit_test(a_setting_that_is_not_in_force_is_a_failure_that_names_it),
        cmocka_unit_test(a_pin_that_a_later_setting_takes_back_is_found),
        cmocka_unit_test(options_may_be_grouped_and_may_be_boolean),
        cmocka_unit_test(modes_are_used_where_there_are_no_config_options),
        cmocka_unit_test(in_version_2_an_option_has_another_name_for_its_id_and_a_value_a_type),
        cmocka_unit_test(a_long_list_of_values_is_cut_in_the_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
