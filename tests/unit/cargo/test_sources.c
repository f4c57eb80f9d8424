/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PM-16: names, vendored directories, what lies on the shelf, which version an id means. */
#include "../check.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "catalog.h"
#include "checkout.h"
#include "fixture.h"
#include "lock.h"
#include "name.h"
#include "shelf.h"
#include "store.h"
#include "vendor.h"

static void a_name_of_a_crate_is_ascii_without_separators(void **state)
{
    static const struct {
        const char *name;
        bool sound;
    } cases[] = {
        { "serde", true }, { "a-b_C9", true }, { "_x", true },   { "", false },
        { "-x", false },   { "../x", false },  { "a/b", false }, { "a b", false },
        { ".", false },    { "@s/x", false },  { "é", false },   { "a\nb", false },
        { "a=b", false },  { "a\"b", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(name_is_sound(str_of(cases[i].name)), cases[i].sound);
    assert_false(name_is_sound(BYTES("a\0b")));
}

static void the_default_registry_is_told_by_its_index(void **state)
{
    static const struct {
        const char *source;
        bool is_default;
    } cases[] = {
        { "registry+https://host.example/owner/crates.example-index", true },
        { "registry+https://host.example/owner/crates-index", true },
        { "registry+https://host.example/owner/my-index", false },
        { "registry+https://host.example/crates-index/other", false },
        { "sparse+https://host.example/owner/crates-index", false },
        { "git+https://host.example/owner/crates-index", false },
        { "", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(lock_is_default(str_of(cases[i].source)), cases[i].is_default);
}

static void put(struct fixture *f, const char *path, const char *text)
{
    fixture_write(f, path, str_of(text));
}

/* Joined by blanks, without the temporary directory. */
static void vendored(struct fixture *f, const char *home, struct buf *out)
{
    struct inputs in = { .arena = &f->arena };
    struct dir_list dirs = { 0 };

    vendor_dirs(&in, f->root, home ? path_join(&f->arena, f->top, home) : NULL, &dirs);
    for (size_t i = 0; i < dirs.n; i++)
        buf_addf(out, "%s%s", i ? " " : "", dirs.v[i] + strlen(f->top) + 1);
}

static void vendored_directories_are_those_that_replace_something(void **state)
{
    static const struct {
        const char *near, *far, *home; /* root/.cargo, top/.cargo, home */
        const char *want;
    } cases[] = {
        { NULL, NULL, NULL, "" },
        { "[source.a]\nreplace-with='b'\n[source.b]\ndirectory='v'", NULL, NULL, "root/v" },
        { "[source.b]\ndirectory='v'", NULL, NULL, "" },
        { "[source.a]\nreplace-with='b'", "[source.b]\ndirectory='v'", NULL, "v" },
        { "[source.a]\nreplace-with='b'", NULL, "[source.b]\ndirectory='v'", "v" },
        { "[source.b]\ndirectory='near'", "[source.a]\nreplace-with='b'",
          "[source.b]\ndirectory='far'", "root/near" },
        { "[source.a]\nreplace-with='b'\n[source.b]\nreplace-with='c'\n"
          "[source.c]\ndirectory='v/../w'",
          NULL, NULL, "root/w" },
        /* two replaced by one; circles; what is not there; other kinds */
        { "[source.a]\nreplace-with='b'\n[source.c]\nreplace-with='b'\n"
          "[source.b]\ndirectory='v'",
          NULL, NULL, "root/v" },
        { "[source.a]\nreplace-with='b'\n[source.b]\nreplace-with='a'", NULL, NULL, "" },
        { "[source.a]\nreplace-with='a'", NULL, NULL, "" },
        { "[source.a]\nreplace-with='nothing'", NULL, NULL, "" },
        { "source = 7", NULL, "[source.a]\nreplace-with=7\ndirectory=[]", "" },
        { "not toml", "[source.a]\nreplace-with='b'\n[source.b]\ndirectory='v'", NULL, "v" },
        { "[source.a]\nreplace-with='b'\n[source.b]\ndirectory='/abs'", NULL, NULL, NULL },
    };

    (void)state;
    log_set_level(LOG_OFF);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        auto_buf got = BUF(4096);

        fixture_make(&f, NULL);
        if (cases[i].near)
            put(&f, ".cargo/config.toml", cases[i].near);
        if (cases[i].far)
            put(&f, "../.cargo/config.toml", cases[i].far);
        if (cases[i].home)
            put(&f, "../home/config.toml", cases[i].home);
        if (cases[i].want) {
            vendored(&f, "home", &got);
            assert_str(buf_str(&got), cases[i].want);
        }
        fixture_free(&f);
    }
}

/* The older name counts where both are, as in cargo. */
static void the_older_name_of_the_configuration_wins(void **state)
{
    struct fixture f;
    auto_buf got = BUF(4096);

    (void)state;
    fixture_make(&f, NULL);
    put(&f, ".cargo/config", "[source.a]\nreplace-with='b'\n[source.b]\ndirectory='old'");
    put(&f, ".cargo/config.toml", "[source.a]\nreplace-with='b'\n[source.b]\ndirectory='new'");
    vendored(&f, NULL, &got);
    assert_str(buf_str(&got), "root/old");
    fixture_free(&f);
}

static void unpacked_directories_are_taken_apart_into_name_and_version(void **state)
{
    static const struct {
        const char *dir, *name, *version; /* NULL: no package */
    } cases[] = {
        { "serde-1.0.0", "serde", "1.0.0" },
        { "a-b-1.0.0-rc.1", "a-b", "1.0.0-rc.1" },
        { "sha-1-0.10.0", "sha-1", "0.10.0" },
        { "x-1.0.0+build.5", "x", "1.0.0+build.5" },
        { "x-1.0.0-9-1.0.0", "x", "1.0.0-9-1.0.0" },
        { "noversion", NULL, NULL },
        { "x-1.0", NULL, NULL },
        { "-1.0.0", NULL, NULL },
        { "x-", NULL, NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        const char *home;
        struct shelf *s;
        const struct shelved *e;

        fixture_make(&f, NULL);
        home = path_join(&f.arena, f.top, "home");
        put(&f, arena_printf(&f.arena, "../home/registry/src/r-0/%s/Cargo.toml", cases[i].dir),
            "");
        s = shelf_new(home);
        shelf_refresh(s, &(struct dir_list){ 0 }, false);
        e = shelf_find(s, str_of(cases[i].name ? cases[i].name : "x"));
        assert_int_equal(e != NULL, cases[i].name != NULL);
        if (e)
            assert_str(e->version, cases[i].version);
        shelf_free(s);
        fixture_free(&f);
    }
}

static void a_checkout_is_found_by_repository_and_commit(void **state)
{
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
    static const struct {
        const char *dir, *source, *commit;
        bool found;
    } cases[] = {
        { "r-0af9/0123456", "git+https://h/o/r", COMMIT, true },
        { "r-0af9/0123456", "git+https://h/o/r.git?branch=x", COMMIT, true },
        { "r-0af9/0123456", "git+https://h/o/R/", COMMIT, true },
        { "r-0af9/0123456", "git+ssh://git@h/r.git?tag=a/b", COMMIT, true },
        { "r-0af9/" COMMIT, "git+https://h/o/r", COMMIT, true },
        { "r-0af9/0123457", "git+https://h/o/r", COMMIT, false },
        { "r-0af9/0123", "git+https://h/o/r", COMMIT, false },
        { "r-x-0af9/0123456", "git+https://h/o/r", COMMIT, false },
        { "s-0af9/0123456", "git+https://h/o/r", COMMIT, false },
        { "r-0af9/0123456", "git+https://h/o/r", "", false },
        { "r-0af9/0123456", "git+https://h/o/r", "0", false },
        { "r-0af9/0123456", "git+", COMMIT, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct checkouts *c;
        struct known k = { .name = STR("p"),
                           .version = STR("1.0.0"),
                           .source = str_of(cases[i].source),
                           .commit = str_of(cases[i].commit) };

        fixture_make(&f, NULL);
        put(&f, arena_printf(&f.arena, "../home/git/checkouts/%s/sub/Cargo.toml", cases[i].dir),
            "[package]\nname='p'\nversion.workspace=true");
        c = checkouts_new(path_join(&f.arena, f.top, "home"));
        if ((checkouts_find(c, &k) != NULL) != cases[i].found)
            fail_msg("case %zu", i);
        checkouts_free(c);
        fixture_free(&f);
    }
}

static void of_several_packages_of_a_repository_the_locked_version_counts(void **state)
{
    static const struct {
        const char *version, *dir;
    } cases[] = { { "1.0.0", "a/one" }, { "2.0.0", "b/c/two" }, { "3.0.0", "." } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct checkouts *c;
        struct known k = { .name = STR("p"),
                           .version = str_of(cases[i].version),
                           .source = STR("git+https://h/r"),
                           .commit = STR(COMMIT) };
        const char *home, *top, *got;

        fixture_make(&f, NULL);
        home = path_join(&f.arena, f.top, "home");
        top = path_join(&f.arena, home, "git/checkouts/r-0/0123456");
        put(&f, "../home/git/checkouts/r-0/0123456/Cargo.toml",
            "[workspace]\n[package]\nname='p'");
        put(&f, "../home/git/checkouts/r-0/0123456/a/one/Cargo.toml",
            "[package]\nname='p'\nversion='1.0.0'");
        put(&f, "../home/git/checkouts/r-0/0123456/b/c/two/Cargo.toml",
            "[package]\nname='p'\nversion='2.0.0'");
        put(&f, "../home/git/checkouts/r-0/0123456/target/p/Cargo.toml",
            "[package]\nname='p'\nversion='3.0.0'");
        c = checkouts_new(home);
        got = checkouts_find(c, &k);
        assert_str(str_of(got), path_clean(&f.arena, path_join(&f.arena, top, cases[i].dir)));
        checkouts_free(c);
        fixture_free(&f);
    }
}

/* What would be fetched, for what is not on the disk. */
static void what_is_needed_is_said_for_cargo(void **state)
{
    static const struct {
        const char *name, *version, *need, *requirement, *source;
    } cases[] = {
        { "locked", "*", "locked", "=1.2.0", "registry+https://h/i" },
        { "locked", "1", "locked", "=1.2.0", "registry+https://h/i" },
        { "locked", "1.0.0", "locked", "=1.2.0", "registry+https://h/i" },
        { "locked", "2", "locked", "2", "" },
        { "locked", "2.0.0", "locked", "=2.0.0", "" },
        { "far", "*", "far", "*", "" },
        { "far", " ==1.0.0 , <2", "far", "=1.0.0 , <2", "" },
        { "../far", "*", "", "", "" },
        { "gitted", "*", "gitted", "=0.1.0", "git+https://h/r?rev=x" },
    };
    struct fixture f;
    struct store *s;

    (void)state;
    fixture_make(&f, NULL);
    put(&f, "Cargo.toml", "[package]\nname='app'\nversion='0.1.0'");
    put(&f, "Cargo.lock",
        "[[package]]\nname='locked'\nversion='1.2.0'\nsource='registry+https://h/i'\n"
        "[[package]]\nname='gitted'\nversion='0.1.0'\nsource='git+https://h/r?rev=x#" COMMIT
        "'");
    s = store_new(f.root, path_join(&f.arena, f.top, "home"));
    store_refresh(s);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct id id = { STR("cargo"), str_of(cases[i].name), str_of(cases[i].version) };
        struct crate crate;
        struct need need = { 0 };
        struct error e = { 0 };

        assert_false(store_find(s, &f.arena, &id, LENIENT, &crate, &need, &e));
        assert_int_equal(e.kind, ERR_NOT_FOUND);
        assert_str(need.name, cases[i].need);
        assert_str(need.requirement, cases[i].requirement);
        assert_str(need.source, cases[i].source);
    }
    store_free(s);
    fixture_free(&f);
}

/* PM-17: an id of list_deps is that very version, or nothing. */
static void a_strict_version_is_no_requirement(void **state)
{
    static const struct {
        const char *version;
        enum strictness how;
        bool found;
    } cases[] = {
        { "1.2.0", STRICT, true }, { "1.0.0", STRICT, false }, { "1.0.0", LENIENT, true },
        { "*", STRICT, true },     { "1", STRICT, true },      { "3.0.0", LENIENT, false },
    };
    struct fixture f;
    struct store *s;

    (void)state;
    fixture_make(&f, NULL);
    put(&f, "p/Cargo.toml", "[package]\nname='p'\nversion='1.2.0'");
    put(&f, "Cargo.toml",
        "[package]\nname='app'\nversion='0.1.0'\n[dependencies]\np={path='p'}");
    s = store_new(f.root, NULL);
    store_refresh(s);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct id id = { STR("cargo"), STR("p"), str_of(cases[i].version) };
        struct crate crate;
        struct need need;
        bool found = store_find(s, &f.arena, &id, cases[i].how, &crate, &need, NULL);

        if (found != cases[i].found)
            fail_msg("case %zu", i);
        if (found)
            assert_str(crate.id.version, "1.2.0");
    }
    store_free(s);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_of_a_crate_is_ascii_without_separators),
        cmocka_unit_test(the_default_registry_is_told_by_its_index),
        cmocka_unit_test(vendored_directories_are_those_that_replace_something),
        cmocka_unit_test(the_older_name_of_the_configuration_wins),
        cmocka_unit_test(unpacked_directories_are_taken_apart_into_name_and_version),
        cmocka_unit_test(a_checkout_is_found_by_repository_and_commit),
        cmocka_unit_test(of_several_packages_of_a_repository_the_locked_version_counts),
        cmocka_unit_test(what_is_needed_is_said_for_cargo),
        cmocka_unit_test(a_strict_version_is_no_requirement),
    };

    log_set_level(LOG_OFF);
    return cmocka_run_group_tests_name("cargo/sources", tests, NULL, NULL);
}
