/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "plugins/predicate.h"

/* The tree in one line: what was understood, not what was written. */
static void put(struct buf *b, const struct predicate *p)
{
    static const char *const kinds[] = {
        [PRED_DEPENDS_ON] = "dep",
        [PRED_SHELL] = "shell",
        [PRED_PATH_EXISTS] = "path",
        [PRED_ENV] = "env",
        [PRED_NOT] = "not",
        [PRED_ANY] = "any",
        [PRED_WORKSPACE_MEMBER] = "member",
        [PRED_ALL] = "all",
        [PRED_CUSTOM] = "custom",
    };

    buf_addf(b, "%s", kinds[p->kind]);
    if (p->kind == PRED_CUSTOM)
        buf_addf(b, " %.*s", STR_F(p->name));
    if (!p->n)
        buf_addf(b, " <%.*s>", STR_F(p->arg));
    if (p->has_value)
        buf_addf(b, "=<%.*s>", STR_F(p->value));
    for (size_t i = 0; i < p->n; i++) {
        buf_addz(b, i ? ", " : " [");
        put(b, p->v[i]);
    }
    buf_addz(b, p->n ? "]" : "");
}

/* PL-22 */
static void a_predicate_is_a_name_and_raw_text_in_parentheses(void **state)
{
    static const struct {
        const char *in, *tree;
    } cases[] = {
        { "depends-on(serde>=1,<2)", "dep <serde>=1,<2>" },
        { "depends-on( * )", "dep <*>" },
        { "shell(command -v cargo)", "shell <command -v cargo>" },
        { "shell(test \"$(uname)\" = Linux)", "shell <test \"$(uname)\" = Linux>" },
        { "shell(echo \\))", "shell <echo \\)>" },
        { " shell( a ( b ) ) ", "shell <a ( b )>" },
        { "shell()", "shell <>" },
        { "path_exists(Cargo.toml)", "path <Cargo.toml>" },
        { "path_exists()", "path <>" },
        { "env(CI)", "env <CI>" },
        { "env(N=a=b)", "env <N>=<a=b>" },
        { "env(N=)", "env <N>=<>" },
        { "workspace-member()", "member <>" },
        { "not(env(A))", "not [env <A>]" },
        { "any(env(A), all(env(B),not(depends-on(c>=1,<2))))",
          "any [env <A>, all [env <B>, not [dep <c>=1,<2>]]]" },
        { "has_tool(wasm-pack, quietly)", "custom has_tool <wasm-pack, quietly>" },
        { "X9_()", "custom X9_ <>" },
        { "any(shell(a, b), env(X))", "any [shell <a, b>, env <X>]" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_buf got = BUF(4096);
        struct error e = { 0 };
        const struct predicate *p = predicate_parse(&a, str_of(cases[i].in), &e);

        if (!p)
            fail_msg("%s: %s", cases[i].in, e.msg);
        put(&got, p);
        assert_string_equal(buf_z(&got), cases[i].tree);
    }
}

/* PL-22 */
static void a_wrong_predicate_says_what_is_wrong(void **state)
{
    static const struct {
        const char *in, *msg;
    } cases[] = {
        { "", "must not be empty" },
        { "serde", "must be written 'name(argument)'" },
        { "env(A) x", "must be written 'name(argument)'" },
        { "env()", "the variable's name is missing" },
        { "env(=x)", "the variable's name is missing" },
        { "workspace-member(x)", "takes no argument" },
        { "not()", "needs at least one predicate" },
        { "any()", "needs at least one predicate" },
        { "all( )", "needs at least one predicate" },
        { "not(env(A), env(B))", "takes one predicate" },
        { "any(env(A),)", "must not be empty" },
        { "any(env(A)), env(B))", "')' without '('" },
        { "any(shell(a (), env(B))", "'(' without ')'" },
        { "crate(serde)", "'depends-on(..)'" },
        { "depends-on()", "must not be empty" },
        { "depends-on(serde@1)", "write 'serde==1'" },
        { "my-own(x)", "unknown" },
        { "9x()", "unknown" },
        { "(x)", "unknown" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct error e = { 0 };
        const struct predicate *p = predicate_parse(&a, str_of(cases[i].in), &e);

        assert_null(p);
        if (!strstr(e.msg, cases[i].msg))
            fail_msg("%s: %s", cases[i].in, e.msg);
    }
}

static enum err_kind nested(size_t depth)
{
    auto_arena a = ARENA;
    auto_buf text = BUF(PREDICATE_MAX_BYTES);
    struct error e = { 0 };

    for (size_t i = 0; i < depth - 1; i++)
        buf_addz(&text, "not(");
    buf_addz(&text, "env(A)");
    buf_fill(&text, ')', depth - 1);
    return predicate_parse(&a, buf_str(&text), &e) ? ERR_NONE : e.kind;
}

/* PL-22: nesting up to 64 */
static void nesting_and_size_have_a_ceiling(void **state)
{
    auto_arena a = ARENA;
    auto_buf big = BUF(PREDICATE_MAX_BYTES * 2);
    struct error e = { 0 };

    (void)state;
    assert_int_equal(nested(64), ERR_NONE);
    assert_int_equal(nested(65), ERR_LIMIT);
    assert_int_equal(nested(10000), ERR_LIMIT);
    buf_addz(&big, "shell(");
    buf_fill(&big, 'a', PREDICATE_MAX_BYTES);
    buf_addz(&big, ")");
    assert_null(predicate_parse(&a, buf_str(&big), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    assert_null(predicate_parse(&a, (struct str){ "shell(a\0b)", 10 }, &e));
    assert_int_equal(e.kind, ERR_INVALID);
}

/* PL-15 */
static void a_custom_name_is_an_identifier_and_no_built_in(void **state)
{
    static const struct {
        const char *name;
        bool good;
    } cases[] = {
        { "has_tool", true }, { "X", true },
        { "a9", true },       { "9a", false },
        { "_a", false },      { "a-b", false },
        { "", false },        { "shell", false },
        { "any", false },     { "path_exists", false },
        { "crate", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(predicate_custom_name(str_of(cases[i].name), NULL), cases[i].good);
}

static bool add(struct arena *a, struct gate *g, const char *atoms, const char *predicates)
{
    struct strs list = { 0 }, texts = { 0 };

    atom_list_split(a, str_of(atoms), &list);
    atom_list_split(a, str_of(predicates), &texts);
    return gate_add_atoms(a, g, &list, NULL) && gate_add_predicates(a, g, &texts, NULL);
}

/* PL-21, PL-8 */
static void atoms_are_alternatives_and_predicates_add_up(void **state)
{
    static const struct {
        const char *atoms, *predicates, *gate;
    } cases[] = {
        { "", "", "" },
        { "serde", "", "dep <serde>;" },
        { "a, b>=1,<2, *", "", "any [dep <a>, dep <b>=1,<2>, dep <*>];" },
        { "", "env(A), env(B)", "env <A>;env <B>;" },
        { "a, b", "env(A)", "any [dep <a>, dep <b>];env <A>;" },
        { "a, b c", "", NULL },
        { "", "a", NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_buf got = BUF(4096);
        struct gate g = { 0 };
        bool ok = add(&a, &g, cases[i].atoms, cases[i].predicates);

        assert_int_equal(ok, cases[i].gate != NULL);
        for (size_t k = 0; ok && k < g.n; k++) {
            put(&got, g.v[k]);
            buf_addc(&got, ';');
        }
        if (ok)
            assert_string_equal(buf_z(&got), cases[i].gate);
    }
}

/* PL-24 */
static void a_dependency_is_mentioned_at_any_depth(void **state)
{
    static const struct {
        const char *atoms, *predicates;
        bool mentions, with_custom;
    } cases[] = {
        { "", "", false, false },
        { "serde", "", true, true },
        { "*", "", true, true },
        { "", "depends-on(*)", true, true },
        { "", "not(depends-on(x))", true, true },
        { "", "env(A), any(env(B), all(not(depends-on(x))))", true, true },
        { "", "env(A), shell(x), path_exists(y), workspace-member()", false, false },
        { "", "has_tool(x)", false, true },
        { "", "not(any(env(A), has_tool(x)))", false, true },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct gate g = { 0 };

        assert_true(add(&a, &g, cases[i].atoms, cases[i].predicates));
        assert_int_equal(gate_mentions_dependency(&g, false), cases[i].mentions);
        assert_int_equal(gate_mentions_dependency(&g, true), cases[i].with_custom);
    }
}

/* PL-24: anywhere in the plugin, but a custom predicate only on the plugin itself. */
static void a_plugin_mentions_what_any_of_its_parts_mentions(void **state)
{
    auto_arena a = ARENA;
    struct plugin plain = { 0 };
    struct skill_group group = { 0 };
    struct hook hook = { 0 };
    struct server_def server = { 0 };
    struct plugin_edge edge = { 0 };
    struct gate *gates[] = { &plain.gate, &group.gate, &hook.gate, &server.gate, &edge.gate };

    (void)state;
    plain.skills.v = &group;
    plain.hooks.v = &hook;
    plain.servers.v = &server;
    plain.edges.v = &edge;
    plain.skills.n = plain.hooks.n = plain.servers.n = plain.edges.n = 1;
    assert_false(plugin_mentions_dependency(&plain));
    for (size_t i = 0; i < ARRAY_LEN(gates); i++) {
        assert_true(add(&a, gates[i], "serde", ""));
        assert_true(plugin_mentions_dependency(&plain));
        *gates[i] = (struct gate){ 0 };
        assert_true(add(&a, gates[i], "", "has_tool()"));
        assert_int_equal(plugin_mentions_dependency(&plain), i == 0);
        *gates[i] = (struct gate){ 0 };
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_predicate_is_a_name_and_raw_text_in_parentheses),
        cmocka_unit_test(a_wrong_predicate_says_what_is_wrong),
        cmocka_unit_test(nesting_and_size_have_a_ceiling),
        cmocka_unit_test(a_custom_name_is_an_identifier_and_no_built_in),
        cmocka_unit_test(atoms_are_alternatives_and_predicates_add_up),
        cmocka_unit_test(a_dependency_is_mentioned_at_any_depth),
        cmocka_unit_test(a_plugin_mentions_what_any_of_its_parts_mentions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
