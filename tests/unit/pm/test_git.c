/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PM-13, CF-5: checkouts of git repositories on this disk, made by the git program itself. */
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "lockdown/keeper.h"
#include "loop/child.h"
#include "pm/git.h"
#include "pm/process.h"
#include "pm/registries.h"

#define PATIENCE_MS 20000

struct bench {
    struct scratch scratch;
    struct loop *loop;
    const char *cache, *repo; /* of our side, of theirs */
    struct git_source source;
    /* of the last fetch */
    char *dir, *commit;
    bool changed;
    struct error why;
    unsigned calls;
};

/* sh -c in the scratch directory, for setting up; quiet, and must succeed. */
static void sh(struct bench *b, const char *script)
{
    const char *line =
        arena_printf(&b->scratch.arena,
                     "cd '%s' && export HOME='%s' GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a "
                     "GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a "
                     "GIT_COMMITTER_EMAIL=a@example.com && "
                     "set -e && { %s\n} >>log 2>&1",
                     b->scratch.dir, b->scratch.dir, script);

    if (system(line) != 0) /* NOLINT(cert-env33-c): the script is ours */
        fail_msg("set-up failed: %s", script);
}

static void source(struct bench *b, const char *rest)
{
    struct error e = { 0 };

    if (!git_source_parse(&b->source, &b->scratch.arena,
                          str_of(arena_printf(&b->scratch.arena, "file://%s%s", b->repo, rest)),
                          &e))
        fail_msg("%s", e.msg);
}

static void set_up(struct bench *b)
{
    *b = (struct bench){ 0 };
    scratch_make(&b->scratch);
    b->loop = loop_new();
    b->cache = scratch_path(&b->scratch, "cache");
    b->repo = scratch_path(&b->scratch, "up/repo");
    setenv("HOME", b->scratch.dir, 1);
    sh(b, "mkdir up && git init -q -b main up/repo && cd up/repo && mkdir -p sub/p && "
          "echo 'name = \"p\"' >sub/p/SYMPOSIUM.toml && echo 1 >version && git add -A && "
          "git commit -q -m one && git tag -a v1 -m v1");
    source(b, "");
}

static void tear_down(struct bench *b)
{
    loop_free(b->loop);
    free(b->dir);
    free(b->commit);
    scratch_free(&b->scratch);
}

static void on_done(void *ctx, const struct git_result *r, const struct error *why)
{
    struct bench *b = ctx;

    free(b->dir);
    free(b->commit);
    b->dir = mem_strdup(r->dir);
    b->commit = str_dup(r->commit_sha);
    b->changed = r->changed;
    b->why = why ? *why : (struct error){ 0 };
    b->calls++;
    loop_stop(b->loop);
}

static struct git_fetch *start(struct bench *b, enum update_level level)
{
    return git_fetch_start(
        b->loop,
        &(struct git_opts){ .cache_dir = b->cache, .source = &b->source, .level = level },
        on_done, b);
}

static void run(struct bench *b, enum update_level level)
{
    unsigned calls = b->calls;

    start(b, level);
    run_until_stopped(b->loop, PATIENCE_MS);
    assert_int_equal(b->calls, calls + 1);
}

static void run_well(struct bench *b, enum update_level level)
{
    run(b, level);
    if (b->why.kind)
        fail_msg("%s", b->why.msg);
    assert_non_null(b->dir);
}

/* The text of a file of the checkout; "" when there is none. */
static const char *text_of(struct bench *b, const char *name)
{
    struct buf text = BUF(10000);
    const char *kept;

    file_read(path_join(&b->scratch.arena,
                        checkout_dir(&b->scratch.arena, b->cache, &b->source), name),
              &text, NULL);
    kept = arena_z(&b->scratch.arena, buf_str(&text));
    buf_free(&text);
    return kept;
}

static bool has(struct bench *b, const char *name)
{
    struct stat st;

    return lstat(path_join(&b->scratch.arena,
                           checkout_dir(&b->scratch.arena, b->cache, &b->source), name),
                 &st) == 0;
}

/* The check of a minute ago is one of an hour ago. */
static void forget_last_check(struct bench *b)
{
    const char *lock =
        arena_printf(&b->scratch.arena, "%s.fetch",
                     checkout_lock_path(&b->scratch.arena, b->cache, &b->source));
    struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

    assert_int_equal(utimensat(AT_FDCWD, lock, old, 0), 0);
}

/* ---- the ordinary ---- */

/* PM-13, CF-5 */
static void a_checkout_holds_the_files_of_the_commit(void **state)
{
    static const struct {
        const char *rest, *present, *absent;
    } cases[] = {
        { "", "sub/p/SYMPOSIUM.toml", "SYMPOSIUM.toml" },
        { "/tree/main", "sub/p/SYMPOSIUM.toml", "SYMPOSIUM.toml" },
        { "/tree/v1", "version", "extra" },
        { "/tree/dev", "extra", "nothing" },
        { "/tree/main/sub", "p/SYMPOSIUM.toml", "version" },
        { "/tree/main/sub/p", "SYMPOSIUM.toml", "version" },
    };
    struct bench b;

    set_up(&b);
    sh(&b, "cd up/repo && git checkout -q -b dev && echo >extra && git add -A && git commit -q "
           "-m dev && git checkout -q main");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        source(&b, cases[i].rest);
        run_well(&b, UPDATE_CHECK);
        assert_true(b.changed);
        assert_int_equal(strlen(b.commit), 40);
        assert_string_equal(b.dir, checkout_dir(&b.scratch.arena, b.cache, &b.source));
        assert_true(has(&b, cases[i].present));
        assert_false(has(&b, cases[i].absent));
        assert_false(has(&b, ".git"));
        assert_has(text_of(&b, CHECKOUT_META), b.commit);
        assert_has(text_of(&b, CHECKOUT_META), "\"fetched_at\":\"20");
        assert_has(text_of(&b, CHECKOUT_META), "\"source_url\":\"file:///");
    }
    /* nothing but checkouts and locks stays */
    sh(&b, "test -z \"$(ls cache/plugin-sources/.new)\"");
    tear_down(&b);
}

/* A commit by its number, also one that no branch has any more. */
static void a_commit_is_a_ref_too(void **state)
{
    struct bench b;
    char rest[100];

    set_up(&b);
    run_well(&b, UPDATE_FETCH);
    snprintf(rest, sizeof rest, "/tree/%s", b.commit);
    sh(&b, "cd up/repo && echo 2 >version && git commit -q -a --amend -m two");
    source(&b, rest);
    run_well(&b, UPDATE_CHECK);
    assert_string_equal(text_of(&b, "version"), "1\n");
    forget_last_check(&b);
    sh(&b, "mv up gone");
    run_well(&b, UPDATE_CHECK); /* it cannot change: nobody is asked */
    tear_down(&b);
}

/* PM-13: none never connects, check at most once a minute and only what changed, fetch always
 */
static void each_level_does_no_more_than_it_says(void **state)
{
    struct bench b;
    ino_t before;
    struct stat st;

    set_up(&b);
    run(&b, UPDATE_NONE);
    assert_null(b.dir);
    assert_int_equal(b.why.kind, ERR_NOT_FOUND);
    assert_has(b.why.msg, "is not fetched yet");
    assert_false(file_exists(b.cache));

    run_well(&b, UPDATE_CHECK);
    assert_true(b.changed);
    sh(&b, "cd up/repo && echo 2 >version && git commit -q -a -m two");
    run_well(&b, UPDATE_CHECK); /* too soon */
    assert_false(b.changed);
    assert_string_equal(text_of(&b, "version"), "1\n");
    forget_last_check(&b);
    run_well(&b, UPDATE_NONE);
    assert_string_equal(text_of(&b, "version"), "1\n");
    run_well(&b, UPDATE_CHECK);
    assert_true(b.changed);
    assert_string_equal(text_of(&b, "version"), "2\n");

    forget_last_check(&b);
    assert_int_equal(stat(b.dir, &st), 0);
    before = st.st_ino;
    run_well(&b, UPDATE_CHECK); /* asked, and the same: not replaced */
    assert_false(b.changed);
    assert_int_equal(stat(b.dir, &st), 0);
    assert_int_equal(st.st_ino, before);
    run_well(&b, UPDATE_FETCH); /* within the minute, the same commit */
    assert_false(b.changed);
    assert_int_equal(stat(b.dir, &st), 0);
    assert_int_not_equal(st.st_ino, before);
    tear_down(&b);
}

/* An annotated tag is compared by what it points to, and a tag is taken before a branch, as git
 * itself does. */
static void asking_understands_tags_as_fetching_does(void **state)
{
    struct bench b;

    set_up(&b);
    sh(&b, "cd up/repo && git branch v1 && git checkout -q v1 -- 2>/dev/null; "
           "git checkout -q heads/v1 && echo b >version && git commit -q -a -m branch && "
           "git checkout -q main");
    source(&b, "/tree/v1");
    run_well(&b, UPDATE_CHECK);
    assert_string_equal(text_of(&b, "version"), "1\n");
    forget_last_check(&b);
    run_well(&b, UPDATE_CHECK);
    assert_false(b.changed);
    sh(&b,
       "cd up/repo && echo 2 >version && git commit -q -a -m two && git tag -f -a v1 -m v1");
    forget_last_check(&b);
    run_well(&b, UPDATE_CHECK);
    assert_true(b.changed);
    assert_string_equal(text_of(&b, "version"), "2\n");
    tear_down(&b);
}

/* ---- what goes wrong ---- */

/* PM-5: each kind with what to do next; the old checkout stays */
static void a_failure_keeps_what_is_there(void **state)
{
    static const struct {
        const char *rest, *break_it;
        enum err_kind kind;
        const char *says;
    } cases[] = {
        { "", "mv up gone", ERR_NOT_FOUND, "check address, ref and path" },
        { "/tree/dev", "git -C up/repo branch -D dev", ERR_NOT_FOUND, "remote ref" },
        { "/tree/main/sub", "cd up/repo && git rm -rq sub && git commit -qm x", ERR_NOT_FOUND,
          "check address, ref and path" },
        { "/tree/main/sub/p",
          "cd up/repo && git rm -rq sub/p && mkdir -p sub && echo >sub/p && git add -A && git "
          "commit -qm x",
          ERR_NOT_FOUND, "check address, ref and path" },
        { "", "find up/repo/.git/objects -type f -exec sh -c 'chmod u+w $0; echo >$0' {} \\;",
          ERR_NONE, "" },
        { "", "chmod -R a= up/repo/.git/HEAD; echo >up/repo/.git/HEAD", ERR_NOT_FOUND, "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;

        set_up(&b);
        sh(&b, "git -C up/repo branch dev");
        source(&b, cases[i].rest);
        run_well(&b, UPDATE_FETCH);
        sh(&b, cases[i].break_it);
        run(&b, UPDATE_FETCH);
        assert_int_not_equal(b.why.kind, ERR_NONE);
        if (cases[i].kind)
            assert_int_equal(b.why.kind, cases[i].kind);
        assert_has(b.why.msg, cases[i].says);
        assert_has(b.why.msg, "file:///");
        assert_non_null(b.dir);
        assert_true(has(&b, CHECKOUT_META));
        sh(&b, "test -z \"$(ls cache/plugin-sources/.new)\"");
        tear_down(&b);
    }
}

/* Nothing listens there: soon, without a word to a terminal. */
static void a_host_that_is_not_there_is_a_network_failure(void **state)
{
    static const char *const urls[] = { "http://127.0.0.1:1/a/b", "git://127.0.0.1:1/a/b" };
    struct bench b;

    set_up(&b);
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        assert_true(git_source_parse(&b.source, &b.scratch.arena, str_of(urls[i]), NULL));
        run(&b, UPDATE_CHECK);
        assert_null(b.dir);
        assert_int_equal(b.why.kind, ERR_CLOSED);
        assert_has(b.why.msg, "when the network is there");
    }
    tear_down(&b);
}

/* Whatever is asked of this host fails `failures` times; `tries` counts. Then it is the
 * repository. */
static void flaky_host(struct bench *b, int failures)
{
    sh(b, arena_printf(
              &b->scratch.arena,
              "printf '#!/bin/sh\\necho >>%s/tries\\n[ $(wc -l <%s/tries) -gt %d ] || exit "
              "255\\nexec git-upload-pack %s\\n' >ssh; chmod +x ssh",
              b->scratch.dir, b->scratch.dir, failures, b->repo));
    setenv("GIT_SSH_COMMAND", scratch_path(&b->scratch, "ssh"), 1);
    assert_true(
        git_source_parse(&b->source, &b->scratch.arena, STR("ssh://h.example/r"), NULL));
}

static void assert_tries(struct bench *b, int want)
{
    sh(b, arena_printf(&b->scratch.arena, "test $(wc -l <tries) = %d; rm tries", want));
}

/* PM-5, PM-13: a first fetch is tried again, three times at most; a refresh is not. */
static void a_first_fetch_that_the_network_fails_is_tried_again(void **state)
{
    struct bench b;

    set_up(&b);
    flaky_host(&b, 2);
    run_well(&b, UPDATE_CHECK);
    assert_tries(&b, 3);
    flaky_host(&b, 1);
    run(&b, UPDATE_FETCH);
    assert_int_equal(b.why.kind, ERR_CLOSED);
    assert_non_null(b.dir);
    assert_tries(&b, 1);
    sh(&b, "rm -rf cache");
    flaky_host(&b, 100);
    run(&b, UPDATE_CHECK);
    assert_int_equal(b.why.kind, ERR_CLOSED);
    assert_null(b.dir);
    assert_tries(&b, 1 + PM_NETWORK_RETRIES);
    unsetenv("GIT_SSH_COMMAND");
    tear_down(&b);
}

static void without_git_it_says_to_install_it(void **state)
{
    char *path = mem_strdup(getenv("PATH"));
    struct bench b;

    set_up(&b);
    setenv("PATH", b.scratch.dir, 1);
    run(&b, UPDATE_CHECK);
    setenv("PATH", path, 1);
    assert_int_equal(b.why.kind, ERR_NOT_FOUND);
    assert_has(b.why.msg, "no 'git' in PATH; install it");
    free(path);
    tear_down(&b);
}

static void a_cache_that_cannot_be_written_is_an_error(void **state)
{
    struct bench b;

    set_up(&b);
    sh(&b, "echo >cache");
    run(&b, UPDATE_FETCH);
    assert_int_not_equal(b.why.kind, ERR_NONE);
    assert_null(b.dir);
    tear_down(&b);
}

static void a_remote_that_never_answers_is_given_up(void **state)
{
    struct bench b;
    int64_t began;

    set_up(&b);
    sh(&b,
       "mkdir bin && printf '#!/bin/sh\\nsetsid sleep 1000 & exec sleep 1000\\n' >bin/git && "
       "chmod +x bin/git");
    setenv("PATH", arena_printf(&b.scratch.arena, "%s/bin:%s", b.scratch.dir, getenv("PATH")),
           1);
    began = clock_ms();
    git_fetch_start(b.loop,
                    &(struct git_opts){ .cache_dir = b.cache,
                                        .source = &b.source,
                                        .level = UPDATE_FETCH,
                                        .timeout_ms = 300 },
                    on_done, &b);
    run_until_stopped(b.loop, PATIENCE_MS);
    setenv("PATH", strchr(getenv("PATH"), ':') + 1, 1);
    assert_true(clock_ms() - began < 2000 * slack());
    assert_int_equal(b.why.kind, ERR_TIMEOUT);
    tear_down(&b);
}

/* ---- hostile repositories ---- */

/* Whatever the repository and the user's own configuration would have run, it does not run. */
static void nothing_of_the_repository_is_run(void **state)
{
    struct bench b;

    set_up(&b);
    sh(&b,
       "mkdir -p tpl/hooks && for h in post-checkout post-index-change reference-transaction "
       "pre-auto-gc post-merge fsmonitor-watchman; do printf '#!/bin/sh\\ntouch %s/ran\\n' "
       "\"$PWD\" "
       ">tpl/hooks/$h; chmod +x tpl/hooks/$h; done\n"
       "git config --global init.templateDir \"$PWD/tpl\"\n"
       "git config --global core.hooksPath \"$PWD/tpl/hooks\"\n"
       "git config --global core.fsmonitor \"$PWD/tpl/hooks/fsmonitor-watchman\"\n"
       "git config --global filter.evil.smudge \"touch $PWD/ran; cat\"\n"
       "git config --global filter.evil.process \"touch $PWD/ran\"\n"
       "git config --global filter.lfs.smudge \"touch $PWD/ran\"\n"
       "git config --global filter.lfs.required true\n"
       "git config --global protocol.ext.allow always\n"
       "git config --global core.autocrlf true\n"
       "git config --global submodule.recurse true\n");
    sh(&b,
       "cd up/repo && export HOME=/dev/null/none && printf '* filter=evil\\n*.bin "
       "filter=lfs\\n*.txt "
       "text eol=crlf\\n*.w working-tree-encoding=UTF-16\\n*.i ident\\n' >.gitattributes && "
       "echo x >a.bin && "
       "echo y >a.txt && echo z | iconv -t UTF-16 >a.w && echo '$Id$' >a.i && git add -A && "
       "printf '[submodule \"subm\"]\n\tpath = subm\n\turl = %s\n' \"$PWD\" >.gitmodules && "
       "git add .gitmodules && git update-index --add --cacheinfo 160000,$(git rev-parse "
       "HEAD),subm && git commit -q -m evil");
    run_well(&b, UPDATE_FETCH);
    assert_false(file_exists(scratch_path(&b.scratch, "ran")));
    assert_string_equal(text_of(&b, "a.bin"), "x\n");
    assert_string_equal(text_of(&b, "a.txt"), "y\n");
    assert_string_equal(text_of(&b, "a.i"), "$Id$\n");
    assert_false(has(&b, "subm/version"));
    tear_down(&b);
}

/* Links stay links: who reads a checkout does not follow them out. No name of the repository
 * stands in our way. */
static void odd_names_are_only_names(void **state)
{
    struct bench b;
    struct stat st;

    set_up(&b);
    sh(&b, "cd up/repo && ln -s /etc/passwd out && ln -s ../../.. up && ln -s . loop && "
           "mkdir " CHECKOUT_META " && echo >" CHECKOUT_META "/x && "
           "echo n >\"$(printf 'new\\nline')\" && echo t >\"$(printf 'tab\\tname')\" && "
           "echo d >./-rf && printf 'x' >\"$(printf 'bad\\377utf8')\" && git add -A && "
           "git commit -q -m odd");
    run_well(&b, UPDATE_FETCH);
    assert_int_equal(lstat(path_join(&b.scratch.arena, b.dir, "out"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_true(has(&b, "new\nline"));
    assert_true(has(&b, "tab\tname"));
    assert_true(has(&b, "-rf"));
    assert_has(text_of(&b, CHECKOUT_META), b.commit);

    /* the meta file as a link out of the checkout */
    sh(&b, "cd up/repo && git rm -rq " CHECKOUT_META " && echo keep >../../victim && "
           "ln -s ../../../victim " CHECKOUT_META " && git add -A && git commit -q -m link");
    run_well(&b, UPDATE_FETCH);
    assert_has(text_of(&b, CHECKOUT_META), b.commit);
    sh(&b, "grep -q keep victim");
    tear_down(&b);
}

/* A link on the way to the sub-path is no way to it. */
static void the_sub_path_follows_no_link(void **state)
{
    struct bench b;

    set_up(&b);
    sh(&b,
       "cd up/repo && ln -s sub link && ln -s /etc etc && git add -A && git commit -q -m l");
    source(&b, "/tree/main/link/p");
    run(&b, UPDATE_FETCH);
    assert_int_equal(b.why.kind, ERR_NOT_FOUND);
    source(&b, "/tree/main/etc");
    run(&b, UPDATE_FETCH);
    assert_int_equal(b.why.kind, ERR_NOT_FOUND);
    tear_down(&b);
}

static void a_checkout_that_is_too_large_is_refused_before_it_is_made(void **state)
{
    static const struct {
        const char *script, *says;
    } cases[] = {
        /* a few bytes in the pack, 300 MiB on disk */
        { "head -c 300000000 /dev/zero >zeros && git add -A && git commit -q -m z && rm zeros",
          "larger than 256 MiB" },
        /* the same file under very many names, by trees that hold one tree many times */
        { "set +e; b=$(echo | git hash-object -w --stdin); "
          "t=$(for i in $(seq 100); do printf '100644 blob %s\\tf%s\\n' $b $i; done | git "
          "mktree); "
          "t=$(for i in $(seq 100); do printf '040000 tree %s\\td%s\\n' $t $i; done | git "
          "mktree); "
          "t=$(for i in $(seq 100); do printf '040000 tree %s\\td%s\\n' $t $i; done | git "
          "mktree); "
          "git update-ref refs/heads/main $(git commit-tree -m bomb $t)",
          "more than" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;

        set_up(&b);
        run_well(&b, UPDATE_FETCH);
        sh(&b, arena_printf(&b.scratch.arena, "cd up/repo && %s", cases[i].script));
        run(&b, UPDATE_FETCH);
        assert_int_equal(b.why.kind, ERR_LIMIT);
        assert_has(b.why.msg, cases[i].says);
        assert_string_equal(text_of(&b, "version"), "1\n");
        sh(&b,
           "test -z \"$(ls cache/plugin-sources/.new)\" && test $(du -sk cache | cut -f1) -lt "
           "1000");
        tear_down(&b);
    }
}

/* A pack that never ends, as it grows. */
static void what_comes_in_is_watched(void **state)
{
    struct bench b;

    set_up(&b);
    sh(&b, "mkdir bin && cat >bin/git <<'END'\n#!/bin/sh\nfor a; do case $a in --git-dir=*) "
           "dir=${a#*=};; fetch) mkdir -p $dir/objects/pack; truncate -s 300M "
           "$dir/objects/pack/tmp_pack_x; exec sleep 1000;; esac; done\nEND\nchmod +x bin/git");
    setenv("PATH", arena_printf(&b.scratch.arena, "%s/bin:%s", b.scratch.dir, getenv("PATH")),
           1);
    run(&b, UPDATE_FETCH);
    setenv("PATH", strchr(getenv("PATH"), ':') + 1, 1);
    assert_int_equal(b.why.kind, ERR_LIMIT);
    assert_has(b.why.msg, "larger than 256 MiB");
    sh(&b, "test -z \"$(ls cache/plugin-sources/.new)\"");
    tear_down(&b);
}

/* ---- several at a time, and ends in the middle ---- */

static void two_fetches_of_one_source_take_turns(void **state)
{
    struct bench b;

    set_up(&b);
    start(&b, UPDATE_CHECK);
    start(&b, UPDATE_CHECK);
    run_until_stopped(b.loop, PATIENCE_MS);
    if (b.calls < 2)
        run_until_stopped(b.loop, PATIENCE_MS);
    assert_int_equal(b.calls, 2);
    assert_int_equal(b.why.kind, ERR_NONE);
    assert_non_null(b.dir);
    tear_down(&b);
}

static void a_cancelled_fetch_says_nothing_and_leaves_the_lock(void **state)
{
    struct bench b;

    set_up(&b);
    for (int ms = 0; ms < 60; ms += 3) {
        struct git_fetch *f = start(&b, UPDATE_FETCH);

        run_for(b.loop, ms);
        if (!b.calls)
            git_fetch_cancel(f);
        b.calls = 0;
    }
    run_well(&b, UPDATE_FETCH);
    assert_string_equal(text_of(&b, "version"), "1\n");
    tear_down(&b);
}

/* A process of its own that fetches, to be killed. */
static pid_t fetch_in_process(struct bench *b)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    b->loop = loop_new();
    start(b, UPDATE_FETCH);
    loop_run(b->loop);
    _exit(b->why.kind ? 1 : 0);
}

/* The whole of one commit: both files say the same. */
static void assert_whole(struct bench *b)
{
    const char *first = text_of(b, "version"), *last = text_of(b, "zz/version");

    if (strcmp(first, last) != 0)
        fail_msg("half of one: '%s' and '%s'", first, last);
    assert_true(checkout_find(&b->scratch.arena, b->cache, &b->source, NULL) != NULL);
}

static void a_fetch_killed_at_any_moment_leaves_the_old_or_the_new(void **state)
{
    struct bench b;
    int kills = getenv("TEST_SLOW") ? 100 : 25, killed = 0;
    int64_t took;

    set_up(&b);
    sh(&b, "cd up/repo && mkdir zz && for i in $(seq 300); do echo $i >f$i; done && echo 1 "
           ">zz/version && git add -A && git commit -q -m files");
    run_well(&b, UPDATE_FETCH);
    took = clock_ms();
    run_well(&b, UPDATE_FETCH);
    took = clock_ms() - took;
    for (int i = 0; i < kills; i++) {
        struct timespec pause = { .tv_nsec = took * 1000000 * i / kills };
        int status;
        pid_t pid;

        sh(&b, arena_printf(&b.scratch.arena,
                            "cd up/repo && echo %d >version && cp version zz/version && "
                            "git commit -q -a -m %d",
                            i + 2, i));
        pid = fetch_in_process(&b);
        pause.tv_sec = pause.tv_nsec / 1000000000;
        pause.tv_nsec %= 1000000000;
        nanosleep(&pause, NULL);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        killed += WIFSIGNALED(status);
        assert_whole(&b);
    }
    assert_true(killed > 0);
    run_well(&b, UPDATE_FETCH);
    assert_string_equal(text_of(&b, "version"),
                        arena_printf(&b.scratch.arena, "%d\n", kills + 1));
    assert_whole(&b);
    sh(&b, "test -z \"$(ls cache/plugin-sources/.new)\"");
    tear_down(&b);
}

static void processes_that_fetch_together_all_end_well(void **state)
{
    struct bench b;
    pid_t pid[4];

    set_up(&b);
    sh(&b, "cd up/repo && mkdir zz && cp version zz && git add -A && git commit -q -m zz");
    for (size_t i = 0; i < ARRAY_LEN(pid); i++)
        pid[i] = fetch_in_process(&b);
    for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
        int status;

        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
    assert_whole(&b);
    tear_down(&b);
}

/* A reader that holds the lock sees one commit to its end. */
static void a_checkout_in_use_is_not_replaced(void **state)
{
    struct bench b;
    int lock;

    set_up(&b);
    run_well(&b, UPDATE_FETCH);
    sh(&b, "cd up/repo && echo 2 >version && git commit -q -a -m two");
    lock = checkout_read_lock(b.cache, &b.source);
    assert_true(lock >= 0);
    start(&b, UPDATE_FETCH);
    run_for(b.loop, 300);
    assert_int_equal(b.calls, 1);
    assert_string_equal(text_of(&b, "version"), "1\n");
    checkout_unlock(lock);
    run_until_stopped(b.loop, PATIENCE_MS);
    assert_int_equal(b.why.kind, ERR_NONE);
    assert_string_equal(text_of(&b, "version"), "2\n");
    tear_down(&b);
}

/* ---- registries ---- */

struct gathered {
    struct bench *b;
    size_t current, changed, failed;
    struct buf warnings, progress;
};

static void on_refreshed(void *ctx, const struct refresh_result *r)
{
    struct gathered *g = ctx;

    g->current = r->current;
    g->changed = r->changed;
    g->failed = r->failed;
    for (size_t i = 0; i < r->warnings.n; i++)
        buf_addf(&g->warnings, "%.*s\n", STR_F(r->warnings.v[i]));
    loop_stop(g->b->loop);
}

static void on_progress(void *ctx, struct str line)
{
    struct gathered *g = ctx;

    buf_addf(&g->progress, "%.*s\n", STR_F(line));
}

static struct gathered refresh(struct bench *b, const struct config *c, enum update_level level,
                               bool force, const char *only)
{
    static const struct refresh_ops ops = { .progress = on_progress, .done = on_refreshed };
    struct gathered g = { .b = b, .warnings = BUF(10000), .progress = BUF(10000) };
    struct dirs dirs = { .cache = b->cache };

    registries_refresh(
        b->loop,
        &(struct registries_opts){
            .dirs = &dirs, .config = c, .level = level, .force = force, .only = str_of(only) },
        &ops, &g);
    run_until_stopped(b->loop, PATIENCE_MS);
    return g;
}

static void gathered_free(struct gathered *g)
{
    buf_free(&g->warnings);
    buf_free(&g->progress);
}

/* CF-3, PM-13, PM-8: best effort, auto-update honoured unless forced */
static void registries_are_refreshed_together(void **state)
{
    struct bench b;
    struct config c = { .recommendations = true };
    struct gathered g;

    set_up(&b);
    c.recommendations_git =
        str_of(arena_printf(&b.scratch.arena, "file://%s/up/repo", b.scratch.dir));
    ARENA_PUSH(&b.scratch.arena, &c.registries) = (struct registry_config){
        .name = STR("still"),
        .git = str_of(arena_printf(&b.scratch.arena, "%s/tree/v1", b.repo))
    };
    ARENA_PUSH(&b.scratch.arena, &c.registries) = (struct registry_config){
        .name = STR("gone"), .git = STR("/nowhere/repo"), .auto_update = true
    };
    ARENA_PUSH(&b.scratch.arena, &c.registries) = (struct registry_config){
        .name = STR("odd"), .git = STR("ext::x"), .auto_update = true
    };
    ARENA_PUSH(&b.scratch.arena, &c.registries) =
        (struct registry_config){ .name = STR("path"), .path = STR("/x"), .auto_update = true };

    g = refresh(&b, &c, UPDATE_NONE, false, NULL);
    assert_int_equal(g.changed, 0);
    assert_false(file_exists(b.cache));
    gathered_free(&g);

    g = refresh(&b, &c, UPDATE_CHECK, false, NULL);
    assert_int_equal(g.changed, 2);
    assert_int_equal(g.failed, 2);
    assert_has(buf_z(&g.warnings), "registry 'gone': cannot fetch '/nowhere/repo'");
    assert_has(buf_z(&g.warnings), "registry 'odd': git source");
    assert_has(buf_z(&g.progress), "registry 'symposium-recommendations': checking");
    gathered_free(&g);

    sh(&b, "cd up/repo && echo 2 >version && git commit -q -a -m two && git tag -f v1");
    g = refresh(&b, &c, UPDATE_FETCH, false, NULL);
    assert_int_equal(g.changed, 1); /* 'still' has auto-update = false */
    gathered_free(&g);
    g = refresh(&b, &c, UPDATE_FETCH, true, "still");
    assert_int_equal(g.changed, 1);
    assert_int_equal(g.failed, 0);
    gathered_free(&g);

    sh(&b, "mv up gone");
    g = refresh(&b, &c, UPDATE_FETCH, true, "still");
    assert_int_equal(g.failed, 1);
    assert_has(buf_z(&g.warnings), "the copy from earlier is used");
    gathered_free(&g);
    tear_down(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checkout_holds_the_files_of_the_commit),
        cmocka_unit_test(a_commit_is_a_ref_too),
        cmocka_unit_test(each_level_does_no_more_than_it_says),
        cmocka_unit_test(asking_understands_tags_as_fetching_does),
        cmocka_unit_test(a_failure_keeps_what_is_there),
        cmocka_unit_test(a_host_that_is_not_there_is_a_network_failure),
        cmocka_unit_test(a_first_fetch_that_the_network_fails_is_tried_again),
        cmocka_unit_test(without_git_it_says_to_install_it),
        cmocka_unit_test(a_cache_that_cannot_be_written_is_an_error),
        cmocka_unit_test(a_remote_that_never_answers_is_given_up),
        cmocka_unit_test(nothing_of_the_repository_is_run),
        cmocka_unit_test(odd_names_are_only_names),
        cmocka_unit_test(the_sub_path_follows_no_link),
        cmocka_unit_test(a_checkout_that_is_too_large_is_refused_before_it_is_made),
        cmocka_unit_test(what_comes_in_is_watched),
        cmocka_unit_test(two_fetches_of_one_source_take_turns),
        cmocka_unit_test(a_cancelled_fetch_says_nothing_and_leaves_the_lock),
        cmocka_unit_test(a_fetch_killed_at_any_moment_leaves_the_old_or_the_new),
        cmocka_unit_test(processes_that_fetch_together_all_end_well),
        cmocka_unit_test(a_checkout_in_use_is_not_replaced),
        cmocka_unit_test(registries_are_refreshed_together),
    };

    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    return cmocka_run_group_tests_name("pm/git", tests, NULL, NULL);
}
