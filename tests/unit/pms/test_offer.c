/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PM-2 to PM-5: ids, offers and params as JSON. */
#include "../check.h"

#include "common/offer.h"

static void an_id_is_read_or_refused(void **state)
{
    static const struct {
        const char *json, *name, *version;
        enum err_kind kind;
    } cases[] = {
        { "{\"pm\":\"p\",\"name\":\"n\",\"version\":\"1\"}", "n", "1", ERR_NONE },
        { "{\"pm\":\"p\",\"name\":\"@s/n\",\"more\":[]}", "@s/n", "*", ERR_NONE },
        { "{\"pm\":\"p\",\"name\":\"n\",\"version\":\"\"}", "n", "*", ERR_NONE },
        { "{\"pm\":\"q\",\"name\":\"n\"}", "n", "*", ERR_NOT_FOUND },
        { "{\"name\":\"n\"}", "", "", ERR_INVALID },
        { "{\"pm\":\"p\"}", "", "", ERR_INVALID },
        { "{\"pm\":\"p\",\"name\":\"\"}", "", "", ERR_INVALID },
        { "{\"pm\":\"p\",\"name\":7}", "", "", ERR_INVALID },
        { "{\"pm\":\"p\",\"name\":\"n\",\"version\":1}", "", "", ERR_INVALID },
        { "\"n\"", "", "", ERR_INVALID },
        { "null", "", "", ERR_INVALID },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json doc = { 0 };
        struct error e = { 0 };
        struct id id;

        assert_true(json_parse(&doc, str_of(cases[i].json), &e));
        assert_int_equal(id_read(doc.root, "p", &id, &e), cases[i].kind == ERR_NONE);
        assert_int_equal(e.kind, cases[i].kind);
        if (cases[i].kind != ERR_INVALID) {
            assert_str(id.name, cases[i].name);
            assert_str(id.version, cases[i].version);
        }
    }
    assert_false(id_read(NULL, "p", &(struct id){ 0 }, &(struct error){ 0 }));
}

static void deps_leave_out_those_of_others_and_refuse_what_is_no_id(void **state)
{
    static const struct {
        const char *json;
        int n; /* -1: refused */
    } cases[] = {
        { "{\"deps\":[]}", 0 },
        { "{\"deps\":[{\"pm\":\"p\",\"name\":\"a\"},{\"pm\":\"q\",\"name\":\"b\"},"
          "{\"pm\":\"p\",\"name\":\"c\"}]}",
          2 },
        { "{\"deps\":[{\"pm\":\"p\",\"name\":\"a\"},7]}", -1 },
        { "{\"deps\":{}}", -1 },
        { "{}", -1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_json doc = { 0 };
        struct error e = { 0 };
        struct ids ids;
        bool ok;

        assert_true(json_parse(&doc, str_of(cases[i].json), &e));
        ok = ids_read(&a, doc.root, "p", &ids, &e);
        assert_int_equal(ok, cases[i].n >= 0);
        if (ok)
            assert_int_equal(ids.n, cases[i].n);
        else
            assert_int_equal(e.kind, ERR_INVALID);
    }
}

static void texts_and_counts_are_bounded(void **state)
{
    auto_arena a = ARENA;
    auto_buf text = BUF(8 << 20);
    auto_json doc = { 0 };
    struct error e = { 0 };
    struct ids ids;

    (void)state;
    buf_addz(&text, "{\"deps\":[");
    for (int i = 0; i <= ID_MAX_COUNT; i++)
        buf_addf(&text, "%s{\"pm\":\"p\",\"name\":\"n\"}", i ? "," : "");
    buf_addz(&text, "]}");
    assert_true(json_parse(&doc, buf_str(&text), &e));
    assert_false(ids_read(&a, doc.root, "p", &ids, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    json_free(&doc);

    buf_clear(&text);
    buf_addz(&text, "{\"pm\":\"p\",\"name\":\"");
    buf_fill(&text, 'n', ID_MAX_TEXT + 1);
    buf_addz(&text, "\"}");
    assert_true(json_parse(&doc, buf_str(&text), &e));
    assert_false(id_read(doc.root, "p", &(struct id){ 0 }, &e));
    assert_int_equal(e.kind, ERR_INVALID);
}

static void update_is_one_of_three_words(void **state)
{
    static const struct {
        const char *json;
        int want; /* -1: refused */
    } cases[] = {
        { "{}", UPDATE_NONE },
        { "{\"update\":\"none\"}", UPDATE_NONE },
        { "{\"update\":\"check\"}", UPDATE_CHECK },
        { "{\"update\":\"fetch\"}", UPDATE_FETCH },
        { "{\"update\":\"NONE\"}", -1 },
        { "{\"update\":\"\"}", -1 },
        { "{\"update\":true}", -1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json doc = { 0 };
        struct error e = { 0 };
        enum update got;

        assert_true(json_parse(&doc, str_of(cases[i].json), &e));
        if (!update_read(doc.root, &got, &e))
            assert_int_equal(cases[i].want, -1);
        else
            assert_int_equal(got, cases[i].want);
    }
    assert_true(update_read(NULL, &(enum update){ 0 }, NULL));
}

static void an_offer_is_written_as_the_protocol_has_it(void **state)
{
    auto_buf out = BUF(4096);
    struct jw w = jw_to(&out);

    (void)state;
    offer_put(&w, &(struct id){ STR("p"), STR("n"), STR("1.0.0") }, "/a \"b\"",
              STR("{\"x\":1}"));
    assert_str(buf_str(&out), "{\"id\":{\"pm\":\"p\",\"name\":\"n\",\"version\":\"1.0.0\"},"
                              "\"root\":\"/a \\\"b\\\"\",\"manifest\":{\"x\":1}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_read_or_refused),
        cmocka_unit_test(deps_leave_out_those_of_others_and_refuse_what_is_no_id),
        cmocka_unit_test(texts_and_counts_are_bounded),
        cmocka_unit_test(update_is_one_of_three_words),
        cmocka_unit_test(an_offer_is_written_as_the_protocol_has_it),
    };

    return cmocka_run_group_tests_name("pms/offer", tests, NULL, NULL);
}
