/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "acp/permission.h"

#define ONCE                                                              \
    "[{\"optionId\":\"a\",\"name\":\"Allow\",\"kind\":\"allow_once\"},"   \
    "{\"optionId\":\"A\",\"name\":\"Always\",\"kind\":\"allow_always\"}," \
    "{\"optionId\":\"r\",\"name\":\"Reject\",\"kind\":\"reject_once\"},"  \
    "{\"optionId\":\"R\",\"name\":\"Never\",\"kind\":\"reject_always\"}]"

#define BIT(kind) (1u << (kind))
#define ALL       ((1u << ACP_KINDS) - 1)

/* TK-31: the option of one time, by kind; never an "always"; SEC-52: else cancelled. */
static void a_permission_is_granted_once_to_the_kinds_allowed_and_never_for_good(void **state)
{
    static const struct {
        const char *options;
        enum acp_kind kind;
        acp_allow allow;
        const char *id, *option_kind; /* NULL: cancelled */
    } cases[] = {
        { ONCE, ACP_EDIT, BIT(ACP_EDIT), "a", "allow_once" },
        { ONCE, ACP_EDIT, 0, "r", "reject_once" },
        { ONCE, ACP_EDIT, BIT(ACP_READ) | BIT(ACP_EXECUTE), "r", "reject_once" },
        { ONCE, ACP_OTHER, BIT(ACP_OTHER), "a", "allow_once" },
        { ONCE, ACP_SWITCH_MODE, ALL, "r", "reject_once" },
        /* SEC-52: only for good, so not at all */
        { "[{\"optionId\":\"A\",\"kind\":\"allow_always\"}]", ACP_EDIT, ALL, NULL, NULL },
        { "[{\"optionId\":\"A\",\"kind\":\"allow_always\"},"
          "{\"optionId\":\"r\",\"kind\":\"reject_once\"}]",
          ACP_EDIT, ALL, NULL, NULL },
        { "[{\"optionId\":\"R\",\"kind\":\"reject_always\"},"
          "{\"optionId\":\"a\",\"kind\":\"allow_once\"}]",
          ACP_EDIT, 0, NULL, NULL },
        /* one id for two things: not once, and then not at all */
        { "[{\"optionId\":\"x\",\"kind\":\"allow_once\"},"
          "{\"optionId\":\"x\",\"kind\":\"allow_always\"}]",
          ACP_EDIT, ALL, NULL, NULL },
        { "[{\"optionId\":\"x\",\"kind\":\"allow_once\"},"
          "{\"optionId\":\"y\",\"kind\":\"allow_once\"},"
          "{\"optionId\":\"x\",\"kind\":\"allow_always\"}]",
          ACP_EDIT, ALL, "y", "allow_once" },
        /* ACP-4: bad items are skipped */
        { "[7,null,{\"kind\":\"allow_once\"},{\"optionId\":1,\"kind\":\"allow_once\"},"
          "{\"optionId\":\"b\",\"kind\":\"allow_once\"}]",
          ACP_READ, ALL, "b", "allow_once" },
        { "[]", ACP_READ, ALL, NULL, NULL },
        { "{\"x\":{\"optionId\":\"b\",\"kind\":\"allow_once\"}}", ACP_READ, ALL, NULL, NULL },
        { "null", ACP_READ, ALL, NULL, NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json j = { 0 };
        struct acp_decision d;

        assert_true(json_parse(&j, str_of(cases[i].options), NULL));
        d = acp_decide(j.root, cases[i].kind, cases[i].allow);
        assert_int_equal(d.selected, cases[i].id != NULL);
        assert_str(d.option_id, cases[i].id ? cases[i].id : "");
        assert_str(str_of(d.option_kind), cases[i].option_kind ? cases[i].option_kind : "");
    }
    assert_false(acp_decide(NULL, ACP_READ, ALL).selected);
}

static void a_request_with_too_many_options_is_answered_cancelled(void **state)
{
    auto_buf text = BUF(64 << 10);
    auto_json j = { 0 };

    buf_addz(&text, "[{\"optionId\":\"a\",\"kind\":\"allow_once\"}");
    for (int i = 0; i < ACP_OPTIONS_MAX; i++)
        buf_addz(&text, ",{\"optionId\":\"a\",\"kind\":\"allow_once\"}");
    buf_addz(&text, "]");
    assert_true(json_parse(&j, buf_str(&text), NULL));
    assert_false(acp_decide(j.root, ACP_READ, ALL).selected);
}

static void each_kind_of_tool_has_its_word_and_any_other_word_is_other(void **state)
{
    enum acp_kind k;

    for (int i = 0; i < ACP_KINDS; i++) {
        assert_true(acp_kind_parse(str_of(acp_kind_name((enum acp_kind)i)), &k));
        assert_int_equal(k, i);
    }
    assert_false(acp_kind_parse(STR("Edit"), &k));
    assert_int_equal(k, ACP_OTHER);
    assert_false(acp_kind_parse(STR(""), &k));
    assert_int_equal(k, ACP_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_permission_is_granted_once_to_the_kinds_allowed_and_never_for_good),
        cmocka_unit_test(a_request_with_too_many_options_is_answered_cancelled),
        cmocka_unit_test(each_kind_of_tool_has_its_word_and_any_other_word_is_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
