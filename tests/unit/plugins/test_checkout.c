/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PM-13, CF-5: how a git source is written, and which checkout is its. */
#include "../check.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "plugins/checkout.h"

/* PM-13, CF-5 */
static void sources_are_split_into_url_ref_and_path(void **state)
{
    static const struct {
        const char *text, *url, *ref, *path, *key;
    } cases[] = {
        { "owner/repo", "https://github.com/owner/repo", "", "", "owner--repo" },
        { "owner/repo/", "https://github.com/owner/repo", "", "", "owner--repo" },
        { "owner/repo/tree/main", "https://github.com/owner/repo", "main", "",
          "owner--repo@main" },
        { "owner/repo/tree/v1.2/a/b", "https://github.com/owner/repo", "v1.2", "a/b",
          "owner--repo@v1.2--a--b" },
        { "https://github.com/owner/repo.git", "https://github.com/owner/repo", "", "",
          "owner--repo" },
        { "https://github.com/owner/repo/tree/main//sub/", "https://github.com/owner/repo",
          "main", "sub", "owner--repo@main--sub" },
        { "https://github.com/owner/tree", "https://github.com/owner/tree", "", "",
          "owner--tree" },
        /* elsewhere the hash keeps equal names apart */
        { "https://example.com/owner/repo/tree/main/sub", "https://example.com/owner/repo",
          "main", "sub", "owner--repo@main--sub+" },
        { "https://example.com/group/sub/repo/-/tree/main/x",
          "https://example.com/group/sub/repo", "main", "x", "sub--repo@main--x+" },
        { "https://example.com/a/b/c.git/tree/dev", "https://example.com/a/b/c.git", "dev", "",
          "b--c@dev+" },
        { "https://example.com/a/b/c/tree/dev", "https://example.com/a/b/c/tree/dev", "", "",
          "tree--dev+" },
        { "ssh://git@example.com:22/owner/repo/tree/main",
          "ssh://git@example.com:22/owner/repo", "main", "", "owner--repo@main+" },
        { "git@example.com:owner/repo.git", "git@example.com:owner/repo.git", "", "",
          "owner--repo+" },
        { "git@example.com:owner/repo/tree/main/p", "git@example.com:owner/repo", "main", "p",
          "owner--repo@main--p+" },
        { "git://example.com/repo", "git://example.com/repo", "", "", "local--repo+" },
        { "file:///srv/x.git/tree/main/p", "file:///srv/x.git", "main", "p",
          "srv--x@main--p+" },
        { "/srv/gone/tree/main/x", "/srv/gone", "main", "x", "srv--gone@main--x+" },
        { "/srv/tree/gone/tree/main", "/srv/tree/gone", "main", "", "tree--gone@main+" },
        { "/srv/x y.git", "/srv/x y.git", "", "", "srv--x_y+" },
        { "https://github.com/o/r/tree/feature%2Fx", "https://github.com/o/r", "feature%2Fx",
          "", "o--r@feature_2Fx+" },
        { "https://github.com/o--p/r", "https://github.com/o--p/r", "", "", "o--p--r+" },
        { "https://github.com/.o/r", "https://github.com/.o/r", "", "", "_o--r+" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct git_source s;
        struct error e = { 0 };
        size_t n = strlen(cases[i].key);

        if (!git_source_parse(&s, &a, str_of(cases[i].text), &e))
            fail_msg("%s: %s", cases[i].text, e.msg);
        assert_str(s.url, cases[i].url);
        assert_str(s.ref, cases[i].ref);
        assert_str(s.path, cases[i].path);
        if (cases[i].key[n - 1] != '+') {
            assert_str(s.key, cases[i].key);
            continue;
        }
        assert_true(str_starts(s.key, str_of(cases[i].key)));
        assert_int_equal(s.key.n, n + 16);
    }
}

/* PM-13: nothing that git could take for an option, no helper, no control bytes */
static void what_git_could_misread_is_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        { "", "1 to 2048 bytes" },
        { "--upload-pack=touch x", "begins with '-'" },
        { "-c/x", "begins with '-'" },
        { "ext::sh -c touch% x", "calls a helper" },
        { "fd::17/x", "calls a helper" },
        { "transport::https://example.com/x", "calls a helper" },
        { "ext://example.com/x", "scheme" },
        { "HTTPS://example.com/x", "scheme" },
        { "ftp://example.com/a/b", "scheme" },
        { "ssh://-oProxyCommand=touch/x", "no host" },
        { "ssh://git@-oProxyCommand=touch/x", "no host" },
        { "https:///x", "no host" },
        { "git@-oProxyCommand=touch:x", "no host" },
        { "host:-x", "no repository" },
        { "host:", "no repository" },
        { "https://example.com", "no repository" },
        { "https://example.com/", "no repository" },
        { "/", "no repository" },
        { "file://host/x", "three slashes" },
        { "https://example.com/a/b\nc", "control characters" },
        { "a/b\x7f", "control characters" },
        { "word", "no URL" },
        { "./a/b", "no URL" },
        { "../a/b", "no URL" },
        { "a/b/c", "no URL" },
        { "a/b/tree", "no URL" },
        { "a/b/tree/-x", "no name of a branch" },
        { "a/b/tree/+x", "no name of a branch" },
        { "a/b/tree/x:y", "no name of a branch" },
        { "a/b/tree/x^{}", "no name of a branch" },
        { "a/b/tree/x..y", "no name of a branch" },
        { "a/b/tree/x.lock", "no name of a branch" },
        { "a/b/tree/x?y", "no name of a branch" },
        { "a/b/tree/main/../../x", "'..' in the path" },
        { "a/b/tree/main/./x", "'.' in the path" },
        { "a/b/tree/main/.git", "'.git' in the path" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct git_source s;
        struct error e = { 0 };

        if (git_source_parse(&s, &a, str_of(cases[i].text), &e))
            fail_msg("taken: %s", cases[i].text);
        assert_int_equal(e.kind, ERR_INVALID);
        assert_has(e.msg, cases[i].why);
    }
}

static void a_password_is_in_no_text_for_people(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        { "https://user:hunter22@example.com/a/b/tree/m/p",
          "https://example.com/a/b/tree/m/p" },
        { "https://ghp_hunter22@example.com/a/b", "https://example.com/a/b" },
        { "https://u:hunter22@x@example.com/a/b", "https://example.com/a/b" },
        { "git@example.com:a/b", "example.com:a/b" },
        { "/srv/a@b/c", "/srv/a@b/c" },
    };
    auto_arena a = ARENA;
    struct git_source s;
    struct error e = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(git_source_parse(&s, &a, str_of(cases[i].text), NULL));
        assert_str(s.shown, cases[i].shown);
        assert_lacks(s.key.p, "hunter22");
    }
    assert_false(git_source_parse(&s, &a, STR("ftp://u:hunter22@example.com/a"), &e));
    assert_lacks(e.msg, "hunter22");
}

/* Of a repository on this disk the directory decides, whatever it is called. */
static void a_local_repository_is_where_its_directory_is(void **state)
{
    static const struct {
        const char *made, *text, *url, *ref, *path;
    } cases[] = {
        { "a/tree/b/.git", "a/tree/b", "a/tree/b", "", "" },
        { "repo/.git", "repo/tree/main/sub/dir", "repo", "main", "sub/dir" },
        { "bare/HEAD", "bare/tree/v1", "bare", "v1", "" },
        { "tree/tree/x/HEAD", "tree/tree/x/tree/main", "tree/tree/x", "main", "" },
    };
    char dir[PATH_MAX];

    make_temp_dir(dir);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int file = 0; file < 2; file++) {
            auto_arena a = ARENA;
            struct git_source s;
            const char *scheme = file ? "file://" : "",
                       *base = path_join(&a, dir, arena_printf(&a, "%zu", i));
            struct error e = { 0 };

            assert_true(file_mkdirs(path_join(&a, base, cases[i].made), &e));
            if (!git_source_parse(
                    &s, &a, str_of(arena_printf(&a, "%s%s/%s", scheme, base, cases[i].text)),
                    &e))
                fail_msg("%s", e.msg);
            assert_str(s.url, arena_printf(&a, "%s%s/%s", scheme, base, cases[i].url));
            assert_str(s.ref, cases[i].ref);
            assert_str(s.path, cases[i].path);
        }
    remove_tree(dir);
}

/* CF-5 */
static void different_sources_have_different_keys(void **state)
{
    static const char *const texts[] = {
        "a/b",
        "https://example.com/a/b",
        "https://example.org/a/b",
        "http://example.com/a/b",
        "ssh://example.com/a/b",
        "git@example.com:a/b",
        "other@example.com:a/b",
        "https://u@example.com/a/b",
        "https://example.com/a/b/tree/x",
        "https://example.com/a/b/tree/x/y",
        "a/b/tree/x/y",
        "a/b/tree/x--y",
        "a/b/tree/x",
        "a/b--x",
        "a--b/x",
        "a/b/tree/x/y--z",
        "a/b/tree/x/y/z",
        "https://github.com/x/a/b",
        "/a/b",
        "file:///a/b",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab/b",
    };
    auto_arena a = ARENA;
    struct git_source s[ARRAY_LEN(texts)];

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_true(git_source_parse(&s[i], &a, str_of(texts[i]), NULL));
        assert_true(s[i].key.n < 255 - strlen(".fetch"));
        assert_null(memchr(s[i].key.p, '/', s[i].key.n));
        for (size_t k = 0; k < i; k++)
            if (str_eq(s[i].key, s[k].key))
                fail_msg("%s and %s: %s", texts[i], texts[k], s[i].key.p);
    }
}

static void a_long_path_still_has_a_short_key(void **state)
{
    auto_arena a = ARENA;
    auto_buf text = BUF(4000);
    struct git_source s;

    buf_addz(&text, "a/b/tree/main");
    while (text.n < GIT_SOURCE_MAX - 15)
        buf_addz(&text, "/directory");
    assert_true(git_source_parse(&s, &a, buf_str(&text), NULL));
    assert_true(s.key.n < 255 - strlen(".fetch"));
    buf_addz(&text, "/directory/directory");
    assert_false(git_source_parse(&s, &a, buf_str(&text), NULL));
    buf_clear(&text);
    while (text.n < 1500)
        buf_addz(&text, "/a");
    assert_false(git_source_parse(&s, &a, buf_str(&text), NULL)); /* segments */
}

/* CF-5: a directory that says it is another source's is nobody's. */
static void a_checkout_belongs_to_the_source_it_names(void **state)
{
    static const struct {
        const char *meta;
        bool found;
    } cases[] = {
        { "{\"commit_sha\":\"1\",\"source_url\":\"https://github.com/a/b\"}", true },
        { "{\"commit_sha\":\"1\",\"source_url\":\"https://github.com/a/c\"}", false },
        { "{\"source_url\":\"https://github.com/a/b\"}", false },
        { "", false },
        { "[]", false },
        { "{\"commit_sha\":[],\"source_url\":{}}", false },
    };
    char dir[PATH_MAX];
    auto_arena a = ARENA;
    struct git_source s;

    make_temp_dir(dir);
    assert_true(git_source_parse(&s, &a, STR("a/b"), NULL));
    assert_null(checkout_find(&a, dir, &s, NULL));
    assert_true(file_mkdirs(checkout_dir(&a, dir, &s), NULL));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error e = { 0 };
        const char *found;

        assert_true(file_write_cache(path_join(&a, checkout_dir(&a, dir, &s), CHECKOUT_META),
                                     str_of(cases[i].meta), NULL));
        found = checkout_find(&a, dir, &s, &e);
        assert_int_equal(found != NULL, cases[i].found);
        if (!found)
            assert_has(e.msg, "is not fetched yet; run 'symposium plugin sync'");
    }
    remove_tree(dir);
}

static void readers_share_the_lock_and_never_wait_for_long(void **state)
{
    char dir[PATH_MAX];
    auto_arena a = ARENA;
    struct git_source s;
    int64_t began;
    int one, two, writer;

    make_temp_dir(dir);
    assert_true(git_source_parse(&s, &a, STR("a/b"), NULL));
    assert_int_equal(checkout_read_lock(dir, &s), -1); /* nothing to lock */
    assert_true(file_mkdirs(path_dir(&a, checkout_lock_path(&a, dir, &s)), NULL));
    assert_true(file_write_cache(checkout_lock_path(&a, dir, &s), STR(""), NULL));
    one = checkout_read_lock(dir, &s);
    two = checkout_read_lock(dir, &s);
    assert_true(one >= 0 && two >= 0);
    writer = open(checkout_lock_path(&a, dir, &s), O_RDWR | O_CLOEXEC);
    assert_int_not_equal(flock(writer, LOCK_EX | LOCK_NB), 0);
    checkout_unlock(one);
    checkout_unlock(two);
    assert_int_equal(flock(writer, LOCK_EX | LOCK_NB), 0);
    began = clock_ms();
    assert_int_equal(checkout_read_lock(dir, &s), -1);
    assert_true(clock_ms() - began <= 10 * CHECKOUT_LOCK_MS * slack());
    close(writer);
    remove_tree(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_are_split_into_url_ref_and_path),
        cmocka_unit_test(what_git_could_misread_is_refused),
        cmocka_unit_test(a_password_is_in_no_text_for_people),
        cmocka_unit_test(a_local_repository_is_where_its_directory_is),
        cmocka_unit_test(different_sources_have_different_keys),
        cmocka_unit_test(a_long_path_still_has_a_short_key),
        cmocka_unit_test(a_checkout_belongs_to_the_source_it_names),
        cmocka_unit_test(readers_share_the_lock_and_never_wait_for_long),
    };

    return cmocka_run_group_tests_name("plugins/checkout", tests, NULL, NULL);
}
