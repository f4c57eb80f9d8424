/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The names tools are declared and called by (MS-25, MS-43, MS-45), and which are visible
 * (MS-21, MS-62). */
#include "../check.h"

#include "meta/names.h"

static void load(struct toolset *set, struct names *n, const char *tools,
                 const struct tool_filter *f)
{
    static const struct tool_filter all = { 0 };

    assert_true(toolset_load(set, str_of(tools), NULL));
    names_build(n, set, f ? f : &all);
}

static void drop(struct toolset *set, struct names *n)
{
    names_free(n);
    toolset_free(set);
}

/* MS-45: the exact key, else without case and non-alphanumerics; SEC-33. */
static void keys_resolve_exactly_first_then_loosely(void **state)
{
    static const struct {
        const char *key, *tool;
    } cases[] = {
        { "read_file", "read_file" }, { "readFile", "readFile" },   { "list-dir", "list-dir" },
        { "list_dir", "list-dir" },   { "listDir", "list-dir" },    { "LISTDIR", "list-dir" },
        { "toString", "toString" },   { "__proto__", "__proto__" }, { "then_", "then" },
        { "toJSON_", "toJSON" },
    };
    struct toolset set;
    struct names n;
    struct error e;

    (void)state;
    load(&set, &n,
         "[{\"name\":\"read_file\"},{\"name\":\"readFile\"},{\"name\":\"list-dir\"},{\"name\":"
         "\"toString\"},"
         "{\"name\":\"__proto__\"},{\"name\":\"then\"},{\"name\":\"toJSON\"}]",
         NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct tool *t = names_resolve(&n, str_of(cases[i].key), &e);

        assert_non_null(t);
        assert_str(t->name, cases[i].tool);
    }
    assert_null(names_resolve(&n, STR("read-file"), &e));
    assert_non_null(strstr(e.msg, "'read_file', 'readFile'"));
    assert_null(names_resolve(&n, STR("list_dri"), &e));
    assert_non_null(strstr(e.msg, "closest is 'list-dir'"));
    assert_non_null(strstr(e.msg, "list_tools"));
    assert_null(names_resolve(&n, STR("nothing_like_it"), &e));
    assert_null(strstr(e.msg, "closest"));
    drop(&set, &n);
}

/* MS-25: primaries claim names before aliases; a clash gets a number; a repeated wire name
 * counts once. */
static void aliases_never_take_a_primary(void **state)
{
    struct toolset set;
    struct names n;

    (void)state;
    load(&set, &n,
         "[{\"name\":\"a-b\"},{\"name\":\"a_b\"},{\"name\":\"a.b\"},{\"name\":\"a_b\"},{"
         "\"name\":\"\"},{\"name\":\"9x\"},{\"no\":1}]",
         NULL);
    assert_int_equal(n.n, 5);
    assert_int_equal(set.bad, 1);
    assert_str(n.v[0].alias, "a_b_2");
    assert_str(n.v[1].alias, "");
    assert_str(n.v[2].alias, "a_b_3");
    assert_str(n.v[3].alias, "_");
    assert_str(n.v[4].alias, "_9x");
    drop(&set, &n);
}

/* A server whose names all come to one alias keeps nobody waiting (MS-72). */
static void thousands_of_clashing_names_are_told_apart_quickly(void **state)
{
    enum { MANY = 9000 };
    static const char odd[] = "!#%&()*+,-./:;<=>?@~^{|}";
    auto_buf tools = BUF(1 << 20);
    struct toolset set;
    struct names n;
    int64_t began;

    (void)state;
    for (int i = 0; i < MANY; i++)
        buf_addf(&tools, "%c{\"name\":\"a%c%c%c\"}", i ? ',' : '[', odd[i % 20],
                 odd[i / 20 % 20], odd[i / 400]);
    buf_addc(&tools, ']');
    began = clock_ms();
    load(&set, &n, buf_z(&tools), NULL);
    assert_in_range(clock_ms() - began, 0, 100 * slack());
    assert_int_equal(n.n, MANY);
    assert_str(n.v[MANY - 1].alias, "a____9000");
    drop(&set, &n);
}

/* MS-21, MS-62: the same filter for listing, search and calls; an empty allow-list exposes
 * nothing. */
static void filters_hide_tools(void **state)
{
    static const char tools[] =
        "[{\"name\":\"r\",\"annotations\":{\"readOnlyHint\":true}},"
        "{\"name\":\"d\",\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":true}},"
        "{\"name\":\"n\"}]";
    const struct str r = STR("r");
    const struct {
        struct tool_filter f;
        size_t visible;
    } cases[] = {
        { { 0 }, 3 },
        { { .has_enabled = true }, 0 },
        { { .has_enabled = true, .enabled = &r, .nenabled = 1 }, 1 },
        { { .disabled = &r, .ndisabled = 1 }, 2 },
        { { .read_only = true }, 1 },
        { { .read_only = true, .disabled = &r, .ndisabled = 1 }, 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct toolset set;
        struct names n;
        struct error e;

        load(&set, &n, tools, &cases[i].f);
        assert_int_equal(n.n, cases[i].visible);
        assert_int_equal(n.hidden, 3 - cases[i].visible);
        if (cases[i].visible == 1) {
            assert_null(names_resolve(&n, STR("N"), &e));
            assert_non_null(strstr(e.msg, "(2 hidden by "));
        }
        drop(&set, &n);
    }
}

/* MS-74, MS-62: a changed tool is marked, stays marked, and is hidden in read-only mode. */
static void changed_tools_are_marked(void **state)
{
    static const char before[] = "[{\"name\":\"a\",\"description\":\"x\",\"annotations\":{"
                                 "\"readOnlyHint\":true}},{\"name\":\"b\"}]";
    static const char after[] = "[{\"description\":\"y\",\"name\":\"a\",\"annotations\":{"
                                "\"readOnlyHint\":true}},{\"name\":\"b\"},{\"name\":\"c\"}]";
    const struct tool_filter read_only = { .read_only = true };
    struct toolset old, now, again;

    (void)state;
    assert_true(toolset_load(&old, str_of(before), NULL));
    assert_true(toolset_load(&now, str_of(after), NULL));
    assert_true(toolset_load(&again, str_of(after), NULL));
    assert_int_equal(toolset_mark_changes(&now, &old), 1);
    assert_true(now.v[0].changed);
    assert_false(now.v[1].changed || now.v[2].changed);
    assert_false(tool_visible(&now.v[0], &read_only));
    assert_int_equal(toolset_mark_changes(&again, &now), 1);
    assert_true(again.v[0].changed);
    toolset_free(&old);
    toolset_free(&now);
    toolset_free(&again);
}

/* MS-74: the hash is over canonical JSON of four members: order of keys and other members do
 * not matter. */
static void hashes_ignore_order_and_other_members(void **state)
{
    static const char tools[] =
        "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"x\":1}}]";
    static const char same[] =
        "[{\"inputSchema\":{\"x\":1,\"type\":\"object\"},\"title\":\"T\",\"name\":\"a\"}]";
    struct toolset one, two;

    (void)state;
    assert_true(toolset_load(&one, str_of(tools), NULL));
    assert_true(toolset_load(&two, str_of(same), NULL));
    assert_string_equal(tool_hash(&one.v[0]), tool_hash(&two.v[0]));
    toolset_free(&one);
    toolset_free(&two);
}

/* MS-48: which output schemas are a wrapper around the result. */
static void wrappers_are_recognised_by_their_schema(void **state)
{
    static const struct {
        const char *schema;
        bool unwrap;
    } cases[] = {
        { "{\"type\":\"object\",\"properties\":{\"result\":{\"type\":\"string\"}},\"required\":"
          "[\"result\"]}",
          true },
        { "{\"type\":\"object\",\"properties\":{\"result\":{},\"more\":{}}}", false },
        { "{\"type\":\"object\",\"properties\":{\"result\":{},\"more\":{}},\"x-fastmcp-wrap-"
          "result\":true}",
          true },
        { "{\"type\":\"object\",\"properties\":{\"value\":{}}}", false },
        { "{\"type\":\"string\"}", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf text = BUF(4096);
        struct toolset set;

        buf_addf(&text, "[{\"name\":\"t\",\"outputSchema\":%s}]", cases[i].schema);
        assert_true(toolset_load(&set, buf_str(&text), NULL));
        assert_int_equal(set.v[0].unwrap, cases[i].unwrap);
        toolset_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_resolve_exactly_first_then_loosely),
        cmocka_unit_test(aliases_never_take_a_primary),
        cmocka_unit_test(thousands_of_clashing_names_are_told_apart_quickly),
        cmocka_unit_test(filters_hide_tools),
        cmocka_unit_test(changed_tools_are_marked),
        cmocka_unit_test(hashes_ignore_order_and_other_members),
        cmocka_unit_test(wrappers_are_recognised_by_their_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
