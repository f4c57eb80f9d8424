/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tree.h"

#include "plugins/predicate.h"
#include "plugins/skill.h"

#define ND "name: n\ndescription: d\n"

/* PL-27, PL-19 */
static void front_matter_gives_name_description_and_gate(void **state)
{
    static const struct {
        const char *front, *name, *description, *gates;
    } cases[] = {
        { ND, "n", "d", "" },
        { "name: 'quoted'\ndescription: >\n  folded\n  text\n", "quoted", "folded text", "" },
        { "name: n\ndescription: Use this: it helps\n", "n", "Use this: it helps", "" },
        { ND "depends-on: serde\n", "n", "d", "depends-on(serde);" },
        { ND "depends-on: serde>=1,<2, tokio\n", "n", "d",
          "any(depends-on(serde>=1,<2), depends-on(tokio));" },
        { ND "depends-on: [serde, 'npm:x']\n", "n", "d",
          "any(depends-on(serde), depends-on(npm:x));" },
        { ND "predicates: env(A=1), any(env(B), env(C))\n", "n", "d",
          "env(A=1);any(env(B), env(C));" },
        { ND "predicates:\n  - env(A)\n  - shell(true, 1)\n", "n", "d",
          "env(A);shell(true, 1);" },
        { ND "depends-on: []\n", "n", "d", "" },
        { ND "license: MIT\nmetadata:\n  deep: [1, {a: b}]\n", "n", "d", "" },
        { "x: 1\n", "", "", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_buf gates = BUF(4096);
        struct error e = { 0 };
        struct skill_front f;
        const char *text = arena_printf(&a, "---\n%s---\nbody: [\n", cases[i].front);

        if (!skill_front_parse(&a, str_of(text), &f, &e))
            fail_msg("%s: %s", cases[i].front, e.msg);
        for (size_t k = 0; k < f.gate.n; k++) {
            put_predicate(&gates, f.gate.v[k]);
            buf_addc(&gates, ';');
        }
        assert_str(f.name, cases[i].name);
        assert_str(f.description, cases[i].description);
        assert_string_equal(buf_z(&gates), cases[i].gates);
    }
}

/* PL-27 */
static void bad_front_matter_is_named(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "", "no front matter" },
        { "# Title\n---\nname: n\n---\n", "no front matter" },
        { "---\nname: n\n", "no closing '---'" },
        { "---\n- a\n---\n", "must be a mapping" },
        { "---\nname: [a\n---\n", "front matter: line " },
        { "---\nname: ''\n---\n", "line 2: 'name' must be a string that is not empty" },
        { "---\nx: 1\nname: [a]\n---\n", "line 3: 'name'" },
        { "---\ncrates: serde\n---\n", "line 2: 'crates' was renamed to 'depends-on'" },
        { "---\ndepends-on: {a: b}\n---\n", "line 2: 'depends-on' must be" },
        { "---\ndepends-on: serde@1\n---\n", "line 2: 'depends-on'" },
        { "---\npredicates: nonsense(\n---\n", "line 2: 'predicates'" },
        { "---\na: &x 1\nb: *x\n---\n", "anchors" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct error e = { 0 };
        struct skill_front f;

        if (skill_front_parse(&a, str_of(cases[i].text), &f, &e))
            fail_msg("accepted: %s", cases[i].text);
        assert_has(e.msg, cases[i].error);
    }
}

static void a_description_has_at_most_1024_bytes(void **state)
{
    for (size_t n = 1024; n <= 1025; n++) {
        auto_arena a = ARENA;
        auto_buf text = BUF(4096);
        struct skill_front f;

        buf_addz(&text, "---\nname: n\ndescription: ");
        buf_fill(&text, 'd', n);
        buf_addz(&text, "\n---\n");
        assert_int_equal(skill_front_parse(&a, buf_str(&text), &f, NULL), n == 1024);
    }
}

static void a_byte_order_mark_and_crlf_are_accepted(void **state)
{
    auto_arena a = ARENA;
    struct skill_front f;

    assert_true(skill_front_parse(
        &a, STR("\xEF\xBB\xBF---\r\nname: n\r\ndescription: d\r\n---\r\n"), &f, NULL));
    assert_str(f.name, "n");
    assert_str(f.description, "d");
}

/* PL-6 */
static void a_lone_skill_is_a_plugin(void **state)
{
    static const struct {
        const char *front, *name;
        bool mentions;
    } cases[] = {
        { ND, "n", false },
        { "description: d\n", "dirname", false },
        { ND "depends-on: serde\n", "n", true },
        { ND "predicates: env(A)\n", "n", false },
        { ND "predicates: my_check(1)\n", "n", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tree t = tree_new();
        struct manifest_source src = { .origin = ORIGIN_REGISTRY,
                                       .registry = STR("r"),
                                       .dir = str_of(tree_path(&t, "dirname")) };
        const char *path = tree_put(&t, "dirname/SKILL.md",
                                    arena_printf(&t.a, "---\n%s---\n", cases[i].front));
        struct plugin *p = skill_plugin_load(&t.a, path, &src, NULL);

        assert_non_null(p);
        assert_str(p->name, cases[i].name);
        assert_true(p->standalone_skill);
        assert_int_equal(p->mentions_dependency, cases[i].mentions);
        assert_int_equal(p->skills.n, 1);
        assert_str(p->skills.v[0].path, ".");
        tree_free(&t);
    }
}

static void a_lone_skill_needs_a_description(void **state)
{
    struct tree t = tree_new();
    struct manifest_source src = { .origin = ORIGIN_REGISTRY, .dir = STR("/d") };
    struct error e = { 0 };

    assert_null(
        skill_plugin_load(&t.a, tree_put(&t, "SKILL.md", "---\nname: n\n---\n"), &src, &e));
    assert_has(e.msg, "'description'");
    tree_free(&t);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(front_matter_gives_name_description_and_gate),
        cmocka_unit_test(bad_front_matter_is_named),
        cmocka_unit_test(a_description_has_at_most_1024_bytes),
        cmocka_unit_test(a_byte_order_mark_and_crlf_are_accepted),
        cmocka_unit_test(a_lone_skill_is_a_plugin),
        cmocka_unit_test(a_lone_skill_needs_a_description),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
