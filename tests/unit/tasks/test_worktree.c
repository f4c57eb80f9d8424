/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* TK-19: a worktree for a task, made and removed by the git program. */
#include "../loop_check.h"

#include "base/file.h"
#include "base/path.h"
#include "lockdown/keeper.h"
#include "tasks/worktree.h"

#define GRACE_MS 10000

static const struct str id = STR("0190c3c5-7e34-7000-8000-0123456789ab");

struct place {
    struct loop *loop;
    struct arena arena;
    char dir[PATH_MAX];
    const char *repo, *path, *branch;
    bool over;
    struct error why; /* kind is ERR_NONE: it went well */
};

static void sh(const char *dir, const char *script)
{
    auto_arena a = ARENA;

    assert_int_equal(
        system(arena_printf(&a, "cd '%s' && { %s; } >/dev/null 2>&1", dir, script)), 0);
}

static void place_make(struct place *p)
{
    p->loop = loop_new();
    make_temp_dir(p->dir);
    p->repo = path_join(&p->arena, p->dir, "repo");
    assert_true(file_mkdirs(p->repo, NULL));
    sh(p->repo,
       "git init -q . && git config user.email a@example.org && git config user.name a "
       "&& echo one > file && git add . && git commit -qm one");
    p->path = worktree_path(&p->arena, p->dir, id);
    p->branch = worktree_branch(&p->arena, id);
}

static void place_end(struct place *p)
{
    loop_free(p->loop);
    remove_tree(p->dir);
    arena_free(&p->arena);
}

static void on_done(void *ctx, const struct error *e)
{
    struct place *p = ctx;

    p->over = true;
    p->why = e ? *e : (struct error){ 0 };
    loop_stop(p->loop);
}

static enum err_kind run(struct place *p, bool add)
{
    struct worktree_opts o = { p->loop, p->repo, p->path, p->branch };

    p->over = false;
    (add ? worktree_add : worktree_remove)(&o, on_done, p);
    assert_false(p->over);
    while (!p->over)
        run_until_stopped(p->loop, GRACE_MS);
    return p->why.kind;
}

static bool there(struct place *p, const char *rel)
{
    return file_exists(path_join(&p->arena, p->path, rel));
}

static bool has_branch(struct place *p)
{
    return !system(arena_printf(&p->arena, "git -C '%s' rev-parse -q --verify '%s' >/dev/null",
                                p->repo, p->branch));
}

static void it_is_made_on_its_own_branch_and_removed_with_it(void **state)
{
    struct place p = { 0 };

    place_make(&p);
    sh(p.repo, "printf '#!/bin/sh\\ntouch ran\\n' > .git/hooks/post-checkout && "
               "chmod +x .git/hooks/post-checkout");
    assert_int_equal(run(&p, true), ERR_NONE);
    assert_true(there(&p, "file"));
    assert_false(there(&p, "ran")); /* no hooks */
    assert_true(has_branch(&p));
    assert_string_equal(p.branch, "symposium/0190c3c5-7e34-7000-8000-0123456789ab");
    assert_has(p.path, "/worktrees/0190c3c5-7e34-7000-8000-0123456789ab");
    assert_int_equal(run(&p, false), ERR_NONE);
    assert_false(there(&p, ""));
    assert_false(has_branch(&p));
    place_end(&p);
    (void)state;
}

static void what_is_not_committed_keeps_it(void **state)
{
    static const char *const changes[] = { "echo two > file", "echo new > other" };

    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        struct place p = { 0 };

        place_make(&p);
        assert_int_equal(run(&p, true), ERR_NONE);
        sh(p.path, changes[i]);
        assert_int_equal(run(&p, false), ERR_CLOSED);
        assert_has(p.why.msg, "cannot remove the worktree '");
        assert_true(there(&p, "file"));
        assert_true(has_branch(&p));
        place_end(&p);
    }
    (void)state;
}

static void commits_that_are_nowhere_else_keep_the_branch(void **state)
{
    struct place p = { 0 };

    place_make(&p);
    assert_int_equal(run(&p, true), ERR_NONE);
    sh(p.path, "echo two > file && git commit -qam two");
    assert_int_equal(run(&p, false), ERR_NONE);
    assert_false(there(&p, ""));
    assert_true(has_branch(&p));
    place_end(&p);
    (void)state;
}

static void a_failure_is_told_in_gits_words(void **state)
{
    struct place p = { 0 };

    place_make(&p);
    assert_int_equal(run(&p, true), ERR_NONE);
    assert_int_equal(run(&p, true), ERR_CLOSED); /* the branch exists */
    assert_has(p.why.msg, "cannot make the worktree '");
    assert_has(p.why.msg, "already exists");
    p.repo = "/";
    assert_int_equal(run(&p, true), ERR_CLOSED);
    assert_has(p.why.msg, "not a git repository");
    place_end(&p);
    (void)state;
}

static void a_place_outside_of_any_repository_is_invalid(void **state)
{
    struct place p = { 0 };
    struct error e;

    place_make(&p);
    assert_true(file_mkdirs(path_join(&p.arena, p.repo, "a/b"), NULL));
    assert_true(worktree_possible(p.repo, &e));
    assert_true(worktree_possible(path_join(&p.arena, p.repo, "a/b"), &e));
    assert_false(worktree_possible(p.dir, &e));
    assert_int_equal(e.kind, ERR_INVALID);
    assert_has(e.msg, p.dir);
    place_end(&p);
    (void)state;
}

static void a_job_may_be_given_up(void **state)
{
    struct place p = { 0 };
    struct worktree_opts o;

    place_make(&p);
    o = (struct worktree_opts){ p.loop, p.repo, p.path, p.branch };
    worktree_job_free(worktree_add(&o, on_done, &p));
    run_for(p.loop, 50);
    assert_false(p.over);
    worktree_job_free(NULL);
    place_end(&p);
    (void)state;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_made_on_its_own_branch_and_removed_with_it),
        cmocka_unit_test(what_is_not_committed_keeps_it),
        cmocka_unit_test(commits_that_are_nowhere_else_keep_the_branch),
        cmocka_unit_test(a_failure_is_told_in_gits_words),
        cmocka_unit_test(a_place_outside_of_any_repository_is_invalid),
        cmocka_unit_test(a_job_may_be_given_up),
    };

    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    return cmocka_run_group_tests_name("tasks/worktree", tests, NULL, NULL);
}
