/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "world.h"

#include "plugins/checkout.h"
#include "plugins/skills_active.h"
#include "plugins/trust.h"

#define SKILL(name, more) "---\nname: " name "\ndescription: d\n" more "---\n"

struct asked {
    struct world *w;
    struct active_skills *s;
};

static void on_skills(void *ctx, struct active_skills *s)
{
    struct asked *q = ctx;

    q->s = s;
    loop_stop(q->w->loop);
}

/* Resolves the world anew. The caller frees it. */
static struct active_skills *skills(struct world *w)
{
    struct asked asked = { .w = w };
    struct skills_query q = { .dirs = &w->dirs };

    q.res = resolve(w);
    active_skills_find(w->loop, &q, on_skills, &asked);
    assert_null(asked.s); /* never from inside */
    loop_run(w->loop);
    assert_non_null(asked.s);
    return asked.s;
}

static void assert_skills(struct world *w, const char *names, const char *warning)
{
    struct active_skills *s = skills(w);
    auto_buf b = BUF(1 << 16);

    for (size_t i = 0; i < s->n; i++)
        buf_addf(&b, "%s%.*s", i ? " " : "", STR_F(s->v[i].skill.name));
    assert_string_equal(buf_z(&b), names);
    if (!warning)
        assert_int_equal(s->warnings.n, 0);
    else
        assert_has(s->warnings.n ? s->warnings.v[0].p : "", warning);
    active_skills_free(s);
}

/* PL-8, PL-23: gates of plugin, group and skill all have to hold, that of the skill after it is
 * loaded. */
static void a_skill_applies_when_all_gates_hold(void **state)
{
    struct world *w = world_new();

    user_plugin(w, "p",
                ANY "[[skills]]\nsource.path = \"all\"\n"
                    "[[skills]]\ndepends-on = [\"serde\"]\nsource.path = \"serde\"\n");
    tree_put(&w->t, "cfg/plugins/p/all/free/SKILL.md", SKILL("free", ""));
    tree_put(&w->t, "cfg/plugins/p/all/tokio/SKILL.md", SKILL("tokio", "depends-on: tokio\n"));
    tree_put(&w->t, "cfg/plugins/p/all/env/SKILL.md",
             SKILL("env", "predicates: env(SKILLS_TEST), shell(true)\n"));
    tree_put(&w->t, "cfg/plugins/p/serde/s/SKILL.md", SKILL("s", ""));
    user_plugin(w, "gone", "depends-on = [\"nothing\"]\n[[skills]]\nsource.path = \".\"\n");
    tree_put(&w->t, "cfg/plugins/gone/x/SKILL.md", SKILL("x", ""));
    assert_skills(w, "free", NULL);
    add_dep(w, "cargo", "serde", "1.0.0");
    setenv("SKILLS_TEST", "1", 1);
    assert_skills(w, "env free s", NULL);
    add_dep(w, "cargo", "tokio", "1.0.0");
    assert_skills(w, "env free tokio s", NULL);
    unsetenv("SKILLS_TEST");
    world_free(w);
}

/* SY-13 */
static void one_skill_through_two_groups_counts_once(void **state)
{
    struct world *w = world_new();
    struct active_skills *s;

    user_plugin(w, "p",
                ANY "[[skills]]\nsource.path = \"a\"\n[[skills]]\nsource.path = \".\"\n");
    tree_put(&w->t, "cfg/plugins/p/a/x/SKILL.md", SKILL("x", ""));
    tree_put(&w->t, "cfg/plugins/p/b/x/SKILL.md", SKILL("x", ""));
    s = skills(w);
    assert_int_equal(s->n, 2); /* one name, two origins */
    assert_string_not_equal(s->v[0].skill.origin, s->v[1].skill.origin);
    active_skills_free(s);
    world_free(w);
}

/* PL-4, PL-5, PL-27 */
static void a_workspace_brings_its_own_skills(void **state)
{
    struct world *w = world_new();

    tree_put(&w->t, "ws/skills/plain/SKILL.md", "# Plain\n");
    tree_put(&w->t, "ws/.agents/skills/own/SKILL.md", SKILL("own", ""));
    tree_put(&w->t, "ws/.agents/skills/copy/SKILL.md", SKILL("copy", ""));
    tree_put(&w->t, "ws/.agents/skills/copy/.symposium", "");
    assert_skills(w, "plain own", NULL);
    tree_put(&w->t, "cfg/config.toml", "agents-syncing = false\n");
    assert_skills(w, "plain", NULL);
    world_free(w);
}

/* PL-32: a clone's skill does not run a program by its mere presence, nor because a manifest
 * beside it is trusted. */
static void a_condition_that_runs_a_program_needs_trust(void **state)
{
    struct world *w = world_new();
    const char *proof = tree_path(&w->t, "ran");
    struct trust_entry consent;
    char hex[SHA256_HEX_SIZE];
    struct error e;

    tree_put(&w->t, "ws/skills/s/SKILL.md",
             arena_printf(&w->t.a, SKILL("s", "predicates: shell(touch %s)\n"), proof));
    assert_skills(w, "", "not trusted yet");
    assert_false(file_exists(proof));
    sha256_hex(STR("name = \"w\"\n"), hex);
    tree_put(&w->t, "ws/SYMPOSIUM.toml", "name = \"w\"\n");
    consent = (struct trust_entry){ w->res->workspace.root, STR("/m"), str_of(hex) };
    assert_true(trust_set(&w->dirs, &consent, 1, true, &e));
    assert_skills(w, "", "not trusted yet");
    assert_false(file_exists(proof));
    tree_put(&w->t, "cfg/config.toml", "[plugins]\ntrust-workspace = \"always\"\n");
    assert_skills(w, "s", NULL);
    assert_true(file_exists(proof));
    world_free(w);
}

static void a_custom_predicate_decides_across_plugins(void **state)
{
    struct world *w = world_new();

    user_plugin(w, "has",
                ANY "[[predicate]]\nname = \"has_it\"\n"
                    "command = { executable = \"/bin/test\", args = [\"x\", \"=\"] }\n");
    user_plugin(w, "p", ANY "[[skills]]\nsource.path = \".\"\n");
    tree_put(&w->t, "cfg/plugins/p/yes/SKILL.md", SKILL("yes", "predicates: has_it(x)\n"));
    tree_put(&w->t, "cfg/plugins/p/no/SKILL.md", SKILL("no", "predicates: has_it(y)\n"));
    assert_skills(w, "yes", NULL);
    world_free(w);
}

/* A git group counts with the checkout that is there; nothing connects. */
static void skills_of_a_git_group_come_from_its_checkout(void **state)
{
    struct world *w = world_new();
    struct active_skills *s;
    struct git_source source;
    struct error e;
    const char *dir;

    user_plugin(w, "p", ANY "[[skills]]\nsource.git = \"https://git.example/o/skills.git\"\n");
    s = skills(w);
    assert_int_equal(s->n, 0);
    assert_true(s->incomplete);
    assert_has(s->warnings.v[0].p, "plugin 'p': its skills: ");
    assert_has(s->warnings.v[0].p, "symposium plugin sync");
    active_skills_free(s);

    assert_true(
        git_source_parse(&source, &w->t.a, STR("https://git.example/o/skills.git"), &e));
    dir = checkout_dir(&w->t.a, w->dirs.cache, &source);
    assert_true(file_mkdirs(path_join(&w->t.a, dir, "s"), &e));
    assert_true(file_write_atomic(path_join(&w->t.a, dir, "s/SKILL.md"),
                                  str_of(SKILL("from-git", "")), 0644, &e));
    assert_true(file_write_atomic(
        path_join(&w->t.a, dir, CHECKOUT_META),
        str_of(arena_printf(&w->t.a,
                            "{\"commit_sha\":\"%040d\",\"fetched_at\":\"2026-01-01T00:00:00Z\","
                            "\"source_url\":\"%.*s\"}",
                            1, STR_F(source.shown))),
        0644, &e));
    assert_skills(w, "from-git", NULL);
    world_free(w);
}

static void a_cancelled_search_is_forgotten(void **state)
{
    struct world *w = world_new();
    struct asked asked = { .w = w };
    struct skills_query q = { .dirs = &w->dirs };

    user_plugin(w, "p", ANY "[[skills]]\nsource.path = \".\"\n");
    tree_put(&w->t, "cfg/plugins/p/s/SKILL.md", SKILL("s", "predicates: shell(sleep 60)\n"));
    q.res = resolve(w);
    active_skills_cancel(active_skills_find(w->loop, &q, on_skills, &asked));
    active_skills_cancel(NULL);
    active_skills_free(NULL);
    assert_null(asked.s);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_skill_applies_when_all_gates_hold),
        cmocka_unit_test(one_skill_through_two_groups_counts_once),
        cmocka_unit_test(a_workspace_brings_its_own_skills),
        cmocka_unit_test(a_condition_that_runs_a_program_needs_trust),
        cmocka_unit_test(a_custom_predicate_decides_across_plugins),
        cmocka_unit_test(skills_of_a_git_group_come_from_its_checkout),
        cmocka_unit_test(a_cancelled_search_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
