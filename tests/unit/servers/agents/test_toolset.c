/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which tools an agent may use, and what they are called towards the provider. */
#include "../../check.h"

#include "base/mem.h"
#include "servers/agents/toolset.h"

#define READS "\"annotations\":{\"readOnlyHint\":true}"

/* The names offered for these tools of servers "fs" (a server of its own) and "b" (one of
 * ours).
 */
static const char *offered(struct arena *a, struct agent_def *d, const char *fs, const char *b)
{
    static struct agent_server servers[2];
    struct toolset t = { .a = a, .def = d };
    const char *lists[] = { fs, b };
    const char *all = "";
    struct error e;

    servers[0] = (struct agent_server){ .name = STR("fs"), .command = STR("x") };
    servers[1] = (struct agent_server){ .name = STR("b"), .builtin = STR("filesystem") };
    d->servers.v = servers;
    d->servers.n = 2;
    for (size_t i = 0; i < 2; i++) {
        auto_json doc = { 0 };

        assert_true(json_parse(&doc, str_of(lists[i]), &e));
        if (!toolset_add(&t, i, doc.root, &e))
            return arena_printf(a, "!%s", e.msg);
    }
    toolset_close(&t);
    for (size_t i = 0; i < t.n; i++) {
        all = arena_printf(a, "%s%s%.*s", all, i ? " " : "", STR_F(t.v[i].tool.name));
        assert_ptr_equal(toolset_find(&t, t.v[i].tool.name), &t.v[i]);
    }
    assert_null(toolset_find(&t, STR("none")));
    return all;
}

static struct strs list_of(struct arena *a, const char *words)
{
    struct strs l = { 0 };
    struct str rest = str_of(words), word;

    while (str_next(&rest, ' ', &word))
        ARENA_PUSH(a, &l) = word;
    return l;
}

/* AG-4, AG-27: allow-lists, deny-lists, reading alone. */
static void lists_and_hints_decide(void **state)
{
    static const char fs[] = "[{\"name\":\"look\"," READS "},{\"name\":\"change\"},"
                             "{\"name\":\"both\",\"annotations\":{\"readOnlyHint\":true,"
                             "\"destructiveHint\":true}},{\"name\":7},{}]";
    static const char ours[] = "[{\"name\":\"read_file\"," READS "},{\"name\":\"write_file\"}]";
    static const struct {
        const char *allow; /* NULL: no list */
        const char *deny;
        bool read_only;
        const char *want;
    } cases[] = {
        { NULL, "", false, "fs__both fs__change fs__look" },
        { "", "", false, "" },
        { "look", "", false, "fs__look" },
        { "fs__*", "", false, "fs__both fs__change fs__look" },
        { "fs_look", "", false, "fs__look" },
        { "*", "", false, "b__read_file b__write_file fs__both fs__change fs__look" },
        { "*", "change b__write_file", false, "b__read_file fs__both fs__look" },
        { "*", "*", false, "" },
        { "*", "", true, "b__read_file fs__look" },
        { "b__read_file", "", true, "b__read_file" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct agent_def d = { .has_allow = cases[i].allow != NULL,
                               .read_only = cases[i].read_only };

        if (cases[i].allow)
            d.allow = list_of(&a, cases[i].allow);
        d.deny = list_of(&a, cases[i].deny);
        assert_string_equal(offered(&a, &d, fs, ours), cases[i].want);
    }
}

/* AG-27: [A-Za-z0-9_-], at most 64 bytes, each one once. */
static void names_fit_the_provider(void **state)
{
    auto_arena a = ARENA;
    struct agent_def d = { 0 };
    struct str part, rest;

    (void)state;
    assert_string_equal(
        offered(&a, &d, "[{\"name\":\"a.b\"},{\"name\":\"a/b\"},{\"name\":\"a b\"}]", "[]"),
        "fs__a_b fs__a_b_2 fs__a_b_3");
    assert_string_equal(offered(&a, &d, "[{\"name\":\"\xc3\xbc\"}]", "[]"), "fs____");
    rest = str_of(offered(
        &a, &d,
        "[{\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1\"},"
        "{\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2\"}]",
        "[]"));
    for (int i = 0; str_next(&rest, ' ', &part); i++) {
        assert_int_equal(part.n, i ? 2 + 2 + TOOLSET_PART_MAX + 2 : 2 + 2 + TOOLSET_PART_MAX);
        assert_true(str_starts(part, STR("fs__aaa")));
    }
}

/* AG-26, AG-27 */
static void what_is_too_much_is_said(void **state)
{
    auto_arena a = ARENA;
    auto_buf many = BUF(1 << 20), large = BUF(2 << 20), all = BUF(8 << 20);
    struct agent_def d = { 0 };

    (void)state;
    for (int i = 0; i <= TOOLSET_MAX; i++)
        buf_addf(&many, "%c{\"name\":\"t%d\"}", i ? ',' : '[', i);
    buf_addc(&many, ']');
    assert_has(offered(&a, &d, buf_z(&many), "[]"), "!more than 256 tools");
    buf_addz(&large,
             "[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"description\":\"");
    for (size_t i = 0; i < TOOLSET_SCHEMA_MAX; i++)
        buf_addc(&large, 'x');
    buf_addz(&large, "\"}}]");
    assert_has(offered(&a, &d, buf_z(&large), "[]"), "!the schema of tool 't' has more than");
    for (int i = 0; i < 5; i++) {
        buf_addf(&all,
                 "%c{\"name\":\"t%d\",\"inputSchema\":{\"type\":\"object\",\"description\":\"",
                 i ? ',' : '[', i);
        for (size_t k = 0; k < TOOLSET_SCHEMA_MAX - 100; k++)
            buf_addc(&all, 'x');
        buf_addz(&all, "\"}}");
    }
    buf_addc(&all, ']');
    assert_has(offered(&a, &d, buf_z(&all), "[]"), "!the schemas of all tools have more than");
}

/* AG-27: control characters are blanks, and 4,096 bytes are enough, whole characters. */
static void descriptions_are_cleaned_and_cut(void **state)
{
    auto_arena a = ARENA;
    auto_json doc = { 0 };
    auto_buf list = BUF(1 << 16);
    struct agent_server server = { .name = STR("s"), .command = STR("x") };
    struct agent_def d = { .servers = { .v = &server, .n = 1 } };
    struct toolset t = { .a = &a, .def = &d };
    struct error e;

    (void)state;
    buf_addz(&list, "[{\"name\":\"a\",\"description\":\"1\\u0000\\u001b2\\n\\t3\\u007f\"},{"
                    "\"name\":\"b\",\"description\":\"x");
    for (int i = 0; i < 3000; i++)
        buf_addz(&list, "\xc3\xbc");
    buf_addz(&list, "\"}]");
    assert_true(json_parse(&doc, buf_str(&list), &e));
    assert_true(toolset_add(&t, 0, doc.root, &e));
    toolset_close(&t);
    assert_bytes(t.offered[0].description, STR("1  2\n\t3 "));
    assert_int_equal(t.offered[1].description.n, TOOLSET_DESCRIPTION_MAX - 1);
    assert_bytes(t.offered[0].schema, STR("{\"type\":\"object\",\"properties\":{}}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_hints_decide),
        cmocka_unit_test(names_fit_the_provider),
        cmocka_unit_test(what_is_too_much_is_said),
        cmocka_unit_test(descriptions_are_cleaned_and_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
