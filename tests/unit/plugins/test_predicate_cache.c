/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "plugins/predicate_cache.h"
#include "text/json.h"

#define ROOT STR("/some/workspace")

struct place {
    struct arena a;
    char dir[64];
    const char *file, *watched;
};

static struct place *place_new(void)
{
    struct place *p = NEW(struct place);
    char hex[SHA256_HEX_SIZE];

    strcpy(p->dir, "/tmp/symposium-pcache-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    sha256_hex(ROOT, hex);
    p->file = arena_printf(&p->a, "%s/predicates/%s.json", p->dir, hex);
    p->watched = arena_printf(&p->a, "%s/watched", p->dir);
    assert_true(file_write_atomic(p->watched, STR("12345"), 0600, NULL));
    return p;
}

static void place_free(struct place *p)
{
    auto_free char *cmd = mem_printf("rm -rf '%s'", p->dir);

    assert_int_equal(system(cmd), 0);
    arena_free(&p->a);
    free(p);
}

static void put(struct place *p, struct predicate_cache *c, const char *key)
{
    struct predicate_answer ans = { .result = true, .stale_at_ms = 5000 };

    setenv("SYM_C", "secret value", 1);
    unsetenv("SYM_GONE");
    assert_true(answer_watch_file(&ans, &p->a, p->watched));
    assert_true(answer_watch_file(&ans, &p->a, p->watched));
    assert_true(answer_watch_file(&ans, &p->a, "/no/such/file"));
    assert_true(answer_watch_env(&ans, &p->a, STR("SYM_C")));
    assert_true(answer_watch_env(&ans, &p->a, STR("SYM_GONE")));
    predicate_cache_put(c, str_of(key), &ans);
}

static void fill(struct place *p)
{
    struct predicate_cache *c = predicate_cache_load(p->dir, ROOT);
    struct error e = { 0 };

    put(p, c, "probe(x)");
    if (!predicate_cache_save(c, &e))
        fail_msg("%s", e.msg);
    predicate_cache_free(c);
}

static bool known_at(struct place *p, const char *key, int64_t now_ms)
{
    struct predicate_cache *c = predicate_cache_load(p->dir, ROOT);
    const struct predicate_answer *ans = predicate_cache_get(c, str_of(key), now_ms);
    bool known = ans != NULL;

    assert_true(!ans || ans->result);
    predicate_cache_free(c);
    return known;
}

/* PL-26: the file's name, shape and mode; values of the environment are never in it. */
static void the_file_has_the_documented_shape(void **state)
{
    struct place *p = place_new();
    struct file_stamp stamp = file_stamp(p->watched);
    auto_buf text = BUF(1 << 16);
    char hex[SHA256_HEX_SIZE];
    struct stat st;

    (void)state;
    fill(p);
    sha256_hex(STR("secret value"), hex);
    assert_true(file_read(p->file, &text, NULL));
    assert_string_equal(
        buf_z(&text),
        arena_printf(&p->a,
                     "{\"version\":1,\"entries\":{\"probe(x)\":{\"result\":true,"
                     "\"fingerprints\":{\"files\":{\"%s\":{\"mtime_ns\":%lld,\"size\":5},"
                     "\"/no/such/file\":{\"mtime_ns\":null,\"size\":null}},"
                     "\"env\":{\"SYM_C\":\"%s\",\"SYM_GONE\":null}},\"stale_at_ms\":5000}}}",
                     p->watched, (long long)stamp.mtime_ns, hex));
    assert_int_equal(stat(p->file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    place_free(p);
}

/* PL-26: valid while fingerprints are equal and the deadline is not reached */
static void an_entry_holds_until_a_fingerprint_or_the_time_says_no(void **state)
{
    struct place *p = place_new();

    (void)state;
    fill(p);
    assert_true(known_at(p, "probe(x)", 4999));
    assert_false(known_at(p, "probe(x)", 5000));
    assert_false(known_at(p, "probe(y)", 0));
    setenv("SYM_C", "other", 1);
    assert_false(known_at(p, "probe(x)", 0));
    setenv("SYM_C", "secret value", 1);
    setenv("SYM_GONE", "", 1);
    assert_false(known_at(p, "probe(x)", 0));
    unsetenv("SYM_GONE");
    assert_true(known_at(p, "probe(x)", 0));
    assert_true(file_write_atomic(p->watched, STR("123456"), 0600, NULL));
    assert_false(known_at(p, "probe(x)", 0));
    place_free(p);
}

/* PL-26: written only when something changed */
static void an_unchanged_cache_is_not_written_again(void **state)
{
    struct place *p = place_new();
    struct predicate_cache *c;
    struct file_stamp before, after;

    (void)state;
    fill(p);
    before = file_stamp(p->file);
    c = predicate_cache_load(p->dir, ROOT);
    assert_non_null(predicate_cache_get(c, STR("probe(x)"), 0));
    predicate_cache_drop(c, STR("never(there)"));
    assert_true(predicate_cache_save(c, NULL));
    after = file_stamp(p->file);
    assert_true(file_stamp_eq(&before, &after));
    predicate_cache_drop(c, STR("probe(x)"));
    assert_true(predicate_cache_save(c, NULL));
    after = file_stamp(p->file);
    assert_false(file_stamp_eq(&before, &after));
    predicate_cache_free(c);
    assert_false(known_at(p, "probe(x)", 0));
    place_free(p);
}

#define ENTRY(body)      "{\"version\":1,\"entries\":{\"a()\":" body "}}"
#define SEEN(files, env) "\"fingerprints\":{\"files\":" files ",\"env\":" env "}"

/* PL-26: unreadable or of another version is empty; one bad entry does not spoil the others */
static void what_does_not_read_as_ours_is_empty(void **state)
{
    static const struct {
        const char *text;
        bool known;
    } cases[] = {
        { ENTRY("{\"result\":true," SEEN("{}", "{}") ",\"stale_at_ms\":null}"), true },
        { ENTRY("{\"result\":true," SEEN("{}", "{}") "}"), false },
        { ENTRY("{\"result\":1," SEEN("{}", "{}") ",\"stale_at_ms\":null}"), false },
        { ENTRY("{\"result\":true,\"stale_at_ms\":null}"), false },
        { ENTRY("{\"result\":true," SEEN("{\"rel\":{\"mtime_ns\":null}}",
                                         "{}") ",\"stale_at_ms\":null}"),
          false },
        { ENTRY("{\"result\":true," SEEN("{\"/no/such\":{\"mtime_ns\":1.5,\"size\":1}}",
                                         "{}") ",\"stale_at_ms\":null}"),
          false },
        { ENTRY("{\"result\":true," SEEN("{}",
                                         "{\"SYM_GONE\":\"abc\"}") ",\"stale_at_ms\":null}"),
          false },
        { "{\"version\":1,\"entries\":{\"b()\":7,\"a()\":{\"result\":true," SEEN(
              "{}", "{}") ",\"stale_at_ms\":null}}}",
          true },
        { "{\"version\":2,\"entries\":{\"a()\":{\"result\":true," SEEN(
              "{}", "{}") ",\"stale_at_ms\":null}}}",
          false },
        { "{\"version\":1,\"entries\":[]}", false },
        { "{\"version\":1", false },
        { "", false },
        { "[]", false },
    };
    struct place *p = place_new();

    (void)state;
    fill(p);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(file_write_atomic(p->file, str_of(cases[i].text), 0600, NULL));
        if (known_at(p, "a()", 0) != cases[i].known)
            fail_msg("%s", cases[i].text);
    }
    place_free(p);
}

static void what_is_cached_and_watched_has_a_ceiling(void **state)
{
    struct place *p = place_new();
    struct predicate_cache *c = predicate_cache_load(p->dir, ROOT);
    struct predicate_answer ans = { .result = true };
    auto_buf key = BUF(1 << 16);

    (void)state;
    for (int i = 0; i < PREDICATE_MAX_WATCHES; i++)
        assert_true(answer_watch_file(&ans, &p->a, arena_printf(&p->a, "/w/%d", i)));
    assert_false(answer_watch_file(&ans, &p->a, "/w/more"));
    assert_false(answer_watch_env(&ans, &p->a, STR("MORE")));
    for (int i = 0; i < 120; i++) { /* about 40 KB each: more than the file may hold */
        buf_clear(&key);
        buf_addf(&key, "p(%d)", i);
        predicate_cache_put(c, buf_str(&key), &ans);
    }
    assert_false(predicate_cache_save(c, NULL));
    assert_false(file_exists(p->file));
    for (int i = 0; i < 60; i++) {
        buf_clear(&key);
        buf_addf(&key, "p(%d)", i);
        predicate_cache_drop(c, buf_str(&key));
    }
    assert_true(predicate_cache_save(c, NULL));
    predicate_cache_free(c);

    /* A later run asks for one old entry and adds too many: only what it asked for stays. */
    c = predicate_cache_load(p->dir, ROOT);
    assert_non_null(predicate_cache_get(c, STR("p(77)"), 0));
    for (int i = 0; i < 60; i++) {
        buf_clear(&key);
        buf_addf(&key, "q(%d)", i);
        predicate_cache_put(c, buf_str(&key), &ans);
    }
    assert_true(predicate_cache_save(c, NULL));
    predicate_cache_free(c);
    assert_true(known_at(p, "p(77)", 0));
    assert_true(known_at(p, "q(59)", 0));
    assert_false(known_at(p, "p(78)", 0));
    place_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_has_the_documented_shape),
        cmocka_unit_test(an_entry_holds_until_a_fingerprint_or_the_time_says_no),
        cmocka_unit_test(an_unchanged_cache_is_not_written_again),
        cmocka_unit_test(what_does_not_read_as_ours_is_empty),
        cmocka_unit_test(what_is_cached_and_watched_has_a_ceiling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
