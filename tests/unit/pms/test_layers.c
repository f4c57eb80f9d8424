/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PL-29, PL-30: the layers of an embedded manifest, merged. No I/O. */
#include "../check.h"

#include "common/layers.h"

/* The default group of skills, as it ends the list. */
#define GROUP "{\"source\":{\"path\":\"skills\"}}"

static const struct toml_val *layer(struct arena *a, const char *text)
{
    struct error e = { 0 };
    struct toml_val *v = text ? toml_parse(a, str_of(text), &e) : NULL;

    if (text && !v)
        fail_msg("%s", e.msg);
    return v;
}

static void layers_are_merged_key_by_key(void **state)
{
    static const struct {
        const char *first, *second, *want;
    } cases[] = {
        { NULL, NULL, "{\"skills\":[" GROUP "]}" },
        { "", "", "{\"skills\":[" GROUP "]}" },
        /* scalars: the later one */
        { "name='a'\nx=1", "name='b'", "{\"name\":\"b\",\"x\":1,\"skills\":[" GROUP "]}" },
        { NULL, "name='b'", "{\"name\":\"b\",\"skills\":[" GROUP "]}" },
        { "name='a'", NULL, "{\"name\":\"a\",\"skills\":[" GROUP "]}" },
        /* gates are concatenated, a string being a list of one */
        { "depends-on='a'", "depends-on=['b','c']",
          "{\"depends-on\":[\"a\",\"b\",\"c\"],\"skills\":[" GROUP "]}" },
        { "predicates=['p']", "predicates='q'",
          "{\"predicates\":[\"p\",\"q\"],\"skills\":[" GROUP "]}" },
        { "depends-on='a'", NULL, "{\"depends-on\":[\"a\"],\"skills\":[" GROUP "]}" },
        /* arrays are appended, first layer first; unknown ones too */
        { "[[hooks]]\nname='1'", "[[hooks]]\nname='2'",
          "{\"hooks\":[{\"name\":\"1\"},{\"name\":\"2\"}],\"skills\":[" GROUP "]}" },
        { "later=[1]", "later=[2]", "{\"later\":[1,2],\"skills\":[" GROUP "]}" },
        { "later=[1]", "later=2", "{\"later\":2,\"skills\":[" GROUP "]}" },
        /* tables are united, member by member */
        { "[subcommand.a]\nx=1\n[subcommand.b]\nx=1", "[subcommand.a]\ny=2",
          "{\"subcommand\":{\"b\":{\"x\":1},\"a\":{\"y\":2}},\"skills\":[" GROUP "]}" },
        /* skills: the default group is last, unless it is turned off or there already */
        { "[[skills]]\nsource.path='m'", "[[skills]]\nsource.path='f'",
          "{\"skills\":[{\"source\":{\"path\":\"m\"}},{\"source\":{\"path\":\"f\"}}," GROUP
          "]}" },
        { "[defaults]\nskills=false", NULL, "{\"defaults\":{\"skills\":false}}" },
        { "[defaults]\nskills=false\n[[skills]]\nsource.path='m'", "",
          "{\"defaults\":{\"skills\":false},\"skills\":[{\"source\":{\"path\":\"m\"}}]}" },
        { "[defaults]\nskills=false", "[defaults]\nskills=true",
          "{\"defaults\":{\"skills\":true},\"skills\":[" GROUP "]}" },
        { "[defaults]\nskills=true", "[defaults]\nskills=false",
          "{\"defaults\":{\"skills\":false}}" },
        { "[defaults]\nskills='odd'", NULL,
          "{\"defaults\":{\"skills\":\"odd\"},\"skills\":[" GROUP "]}" },
        { "[[skills]]\nsource.path='skills'", NULL, "{\"skills\":[" GROUP "]}" },
        { "[[skills]]\nsource.path='skills'\ndepends-on='x'", NULL,
          "{\"skills\":[{\"source\":{\"path\":\"skills\"},\"depends-on\":\"x\"}," GROUP "]}" },
        /* odd but well-formed keys and values */
        { "\"a b\\u0000\"=\"\\u0001\"", NULL,
          "{\"a b\\u0000\":\"\\u0001\",\"skills\":[" GROUP "]}" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_buf out = BUF(LAYERS_MAX_JSON);

        layers_merge(&out, layer(&a, cases[i].first), layer(&a, cases[i].second));
        assert_str(buf_str(&out), cases[i].want);
    }
}

static void a_layer_of_the_wrong_shape_is_refused_by_its_key(void **state)
{
    static const struct {
        const char *text, *key;
    } cases[] = {
        { "depends-on=7", "depends-on" },       { "depends-on=['a', 7]", "depends-on" },
        { "predicates=[[]]", "predicates" },    { "skills='x'", "skills" },
        { "skills=['x']", "skills" },           { "[skills]\nx=1", "skills" },
        { "installations=1", "installations" }, { "hooks={}", "hooks" },
        { "mcp_servers=[1]", "mcp_servers" },   { "predicate=''", "predicate" },
        { "plugins=[[]]", "plugins" },          { "defaults=[]", "defaults" },
        { "subcommand='x'", "subcommand" },
    };
    struct error e = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;

        assert_false(layer_check(layer(&a, cases[i].text), &e));
        assert_int_equal(e.kind, ERR_INVALID);
        assert_has(e.msg, cases[i].key);
    }
    assert_false(layer_check(NULL, &e));
}

/* What is nested deeper could make the whole message too deep for its reader. */
static void layers_are_bounded_in_depth(void **state)
{
    static const struct {
        size_t levels;
        bool good;
    } cases[] = { { LAYERS_MAX_DEPTH - 1, true },
                  { LAYERS_MAX_DEPTH + 1, false },
                  { 120, false } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_buf text = BUF(4096);

        buf_addz(&text, "x=");
        buf_fill(&text, '[', cases[i].levels);
        buf_fill(&text, ']', cases[i].levels);
        assert_int_equal(layer_check(layer(&a, buf_z(&text)), NULL), cases[i].good);
    }
}

/* PL-30: the layer of package.json is JSON with the same key names. */
static void a_layer_may_come_from_json(void **state)
{
    auto_arena a = ARENA;
    auto_buf out = BUF(LAYERS_MAX_JSON);
    auto_json doc = { 0 };
    struct error e = { 0 };
    const struct toml_val *first;

    (void)state;
    assert_true(json_parse(
        &doc, STR("{\"name\":\"a\",\"depends-on\":[\"x\"],\"skills\":null,\"n\":1}"), &e));
    first = toml_from_json(&a, doc.root, &e);
    assert_true(layer_check(first, &e));
    layers_merge(&out, first, layer(&a, "depends-on='y'"));
    assert_str(buf_str(&out),
               "{\"name\":\"a\",\"depends-on\":[\"x\",\"y\"],\"n\":1,\"skills\":[" GROUP "]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_merged_key_by_key),
        cmocka_unit_test(a_layer_of_the_wrong_shape_is_refused_by_its_key),
        cmocka_unit_test(layers_are_bounded_in_depth),
        cmocka_unit_test(a_layer_may_come_from_json),
    };

    return cmocka_run_group_tests_name("pms/layers", tests, NULL, NULL);
}
