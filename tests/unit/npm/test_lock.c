/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "lock.h"

/* "name version -> target", or "none". */
static void assert_found(const struct npm_lock *l, const char *from, const char *key,
                         const char *want)
{
    auto_buf got = BUF(4096);
    struct lock_entry entry;

    if (!lock_find(l, str_of(from), str_of(key), &entry))
        buf_addz(&got, "none");
    else
        buf_addf(&got, "%.*s %.*s%s%.*s", STR_F(entry.name), STR_F(entry.version),
                 entry.is_link ? " -> " : "", STR_F(entry.target));
    if (strcmp(buf_z(&got), want) != 0)
        fail_msg("'%s' from '%s': '%s' instead of '%s'", key, from, buf_z(&got), want);
}

/* PM-19 */
static void an_entry_is_looked_for_from_the_member_upward(void **state)
{
    struct npm_lock l;

    (void)state;
    assert_true(lock_parse(&l,
                           STR("{\"packages\":{"
                               "\"node_modules/a\":{\"version\":\"1.0.0\"},"
                               "\"p/node_modules/a\":{\"version\":\"2.0.0\"},"
                               "\"p/q/node_modules/a\":{\"version\":\"3.0.0\"},"
                               "\"node_modules/n\":{\"name\":\"real\",\"version\":\"1.0.0\"},"
                               "\"node_modules/f\":{\"link\":true,\"resolved\":\"file:../f\"},"
                               "\"../f\":{\"name\":\"eff\",\"version\":\"0.1.0\"},"
                               "\"node_modules/m\":{\"link\":true,\"resolved\":\"p/q\"},"
                               "\"p/q\":{\"version\":\"4.0.0\"},"
                               "\"node_modules/odd\":{\"version\":\"v1\"}}}"),
                           NULL));
    assert_found(&l, "", "a", "a 1.0.0");
    assert_found(&l, "p", "a", "a 2.0.0");
    assert_found(&l, "p/q", "a", "a 3.0.0");
    assert_found(&l, "p/r", "a", "a 2.0.0");
    assert_found(&l, "x/y/z", "a", "a 1.0.0");
    assert_found(&l, "p", "n", "real 1.0.0");
    assert_found(&l, "p", "f", "eff 0.1.0 -> ../f");
    assert_found(&l, "", "m", "m 4.0.0 -> p/q");
    assert_found(&l, "", "odd", "odd ");
    assert_found(&l, "p", "b", "none");
    lock_free(&l);
}

static void what_is_no_lockfile_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "null",
        "[]",
        "{}",
        "{\"packages\":[]}",
        "{\"dependencies\":7}",
        "{\"packages\":{",
        "\xff",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error e = { 0 };
        struct npm_lock l;

        assert_false(lock_parse(&l, str_of(texts[i]), &e));
        assert_int_equal(e.kind, ERR_INVALID);
    }
}

static void garbage_in_a_lockfile_finds_nothing(void **state)
{
    auto_buf deep = BUF(1 << 20), name = BUF(20000);
    struct error e = { 0 };
    struct npm_lock l;

    (void)state;
    for (int i = 0; i < 5000; i++)
        buf_addz(&deep, "{\"dependencies\":");
    assert_false(lock_parse(&l, buf_str(&deep), &e));

    buf_fill(&name, 'x', 10000);
    buf_clear(&deep);
    buf_addf(&deep, "{\"packages\":{\"node_modules/%s\":{\"version\":\"1.0.0\"},\"\":3}}",
             buf_z(&name));
    assert_true(lock_parse(&l, buf_str(&deep), &e));
    assert_found(&l, "", buf_z(&name), "none");
    assert_found(&l, buf_z(&name), "a", "none");
    lock_free(&l);
}

/* PM-19: a link that leads to itself is no way round in circles. */
static void links_in_circles_end(void **state)
{
    struct npm_lock l;

    (void)state;
    assert_true(lock_parse(
        &l,
        STR("{\"packages\":{\"node_modules/a\":{\"link\":true,\"resolved\":\"node_modules/b\"},"
            "\"node_modules/b\":{\"link\":true,\"resolved\":\"node_modules/a\"}}}"),
        NULL));
    assert_found(&l, "", "a", "a  -> node_modules/b");
    lock_free(&l);
}

static void entries_are_bounded(void **state)
{
    auto_buf text = BUF(64 << 20);
    struct error e = { 0 };
    struct npm_lock l;

    (void)state;
    buf_addz(&text, "{\"packages\":{\"0\":{}");
    for (int i = 1; i <= LOCK_MAX_ENTRIES; i++)
        buf_addf(&text, ",\"%d\":{}", i);
    buf_addz(&text, "}}");
    assert_false(lock_parse(&l, buf_str(&text), &e));
    assert_int_equal(e.kind, ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_is_looked_for_from_the_member_upward),
        cmocka_unit_test(what_is_no_lockfile_is_refused),
        cmocka_unit_test(garbage_in_a_lockfile_finds_nothing),
        cmocka_unit_test(links_in_circles_end),
        cmocka_unit_test(entries_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
