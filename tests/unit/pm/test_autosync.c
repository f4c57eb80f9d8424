/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SY-20, CF-5 */
#include "../check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/path.h"
#include "pm/autosync.h"
#include "pm/deps_cache.h"

static char dir[PATH_MAX];
static struct arena arena;
static struct workspace w;
static const char *cache;

static const char *in_dir(const char *rel)
{
    return path_join(&arena, dir, rel);
}

static void put(const char *rel, const char *text)
{
    assert_true(file_mkdirs(path_dir(&arena, in_dir(rel)), NULL));
    assert_true(file_write_cache(in_dir(rel), str_of(text), NULL));
}

static int set_up(void **state)
{
    static struct str members[2];

    make_temp_dir(dir);
    put("ws/Cargo.toml", "[workspace]\n");
    put("ws/Cargo.lock", "a");
    put("ws/a/Cargo.toml", "x");
    members[0] = str_of(in_dir("ws/a"));
    members[1] = str_of(in_dir("ws/b"));
    w = (struct workspace){ .root = str_of(in_dir("ws")),
                            .found = true,
                            .members = { members, 2, 2 } };
    cache = in_dir("cache");
    return 0;
}

static int tear_down(void **state)
{
    remove_tree(dir);
    arena_free(&arena);
    return 0;
}

static void set_mtime(const char *rel, time_t sec, long ns)
{
    struct timespec both[2] = { { sec, ns }, { sec, ns } };

    assert_int_equal(utimensat(AT_FDCWD, in_dir(rel), both, 0), 0);
}

static void a_workspace_never_synced_is_due(void **state)
{
    assert_true(autosync_due(cache, &w));
    autosync_note(cache, &w, (struct str){ 0 });
    assert_false(autosync_due(cache, &w));
}

static void a_lockfile_or_manifest_that_changed_makes_it_due(void **state)
{
    static const struct {
        const char *file, *text;
    } rows[] = {
        { "ws/Cargo.lock", "bb" },        { "ws/Cargo.toml", "[workspace]\n#\n" },
        { "ws/package-lock.json", "{}" }, { "ws/package.json", "{}" },
        { "ws/a/Cargo.toml", "y" },       { "ws/b/package.json", "{}" },
        { "ws/SYMPOSIUM.toml", "" },      { "ws/npm-shrinkwrap.json", "{}" },
        { "ws/a/symposium.toml", "" },
    };

    autosync_note(cache, &w, (struct str){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        put(rows[i].file, rows[i].text);
        assert_true(autosync_due(cache, &w));
        autosync_note(cache, &w, (struct str){ 0 });
        assert_false(autosync_due(cache, &w));
    }
    put("ws/src/main.rs", "fn main() {}");
    put("ws/a/Cargo.lock", "not a root's");
    assert_false(autosync_due(cache, &w));
    assert_int_equal(unlink(in_dir("ws/Cargo.lock")), 0);
    assert_true(autosync_due(cache, &w));
}

static void a_nanosecond_counts(void **state) /* CF-5 */
{
    put("ws/Cargo.lock", "ab");
    set_mtime("ws/Cargo.lock", 1700000000, 1);
    autosync_note(cache, &w, (struct str){ 0 });
    set_mtime("ws/Cargo.lock", 1700000000, 2);
    assert_true(autosync_due(cache, &w));
    set_mtime("ws/Cargo.lock", 1700000000, 1);
    assert_false(autosync_due(cache, &w));
    put("ws/Cargo.lock", "abc");
    set_mtime("ws/Cargo.lock", 1700000000, 1);
    assert_true(autosync_due(cache, &w));
}

static void a_change_during_the_sync_is_seen_by_the_next(void **state)
{
    struct str before = autosync_stamp(&arena, &w);

    put("ws/Cargo.lock", "changed meanwhile");
    autosync_note(cache, &w, before);
    assert_true(autosync_due(cache, &w));
}

static void the_state_names_the_root_and_the_times(void **state) /* CF-5 */
{
    const char *path =
        path_join(&arena, workspace_cache_dir(&arena, cache, w.root), "state.json");
    struct workspace other = w;
    auto_buf text = BUF(1 << 16);

    set_mtime("ws/Cargo.lock", 1700000000, 5);
    autosync_note(cache, &w, (struct str){ 0 });
    assert_true(file_read(path, &text, NULL));
    assert_has(buf_z(&text), arena_printf(&arena, "\"workspace-root\":\"%s\"", w.root.p));
    assert_has(buf_z(&text), "\"last-sync-lock-mtime-ns\":{\"Cargo.lock\":{\"mtime_ns\":"
                             "1700000000000000005,\"size\":");
    assert_has(buf_z(&text), "\"a/Cargo.toml\":");
    /* Another workspace, or a damaged file, is due. */
    other.root = str_of(in_dir("ws/a"));
    assert_true(autosync_due(cache, &other));
    assert_true(file_write_cache(path, str_upto(buf_str(&text), text.n / 2), NULL));
    assert_true(autosync_due(cache, &w));
    assert_true(file_write_cache(path, STR(""), NULL));
    assert_true(autosync_due(cache, &w));
    assert_int_equal(unlink(path), 0);
    assert_true(autosync_due(cache, &w));
}

static void many_members_are_looked_at_quickly(void **state)
{
    struct str *many = ARENA_ARRAY(&arena, struct str, WORKSPACE_MAX_MEMBERS);
    struct workspace big = w;
    int64_t began;

    for (size_t i = 0; i < WORKSPACE_MAX_MEMBERS; i++)
        many[i] = str_of(arena_printf(&arena, "%s/m%zu", w.root.p, i));
    big.members.v = many;
    big.members.n = WORKSPACE_MAX_MEMBERS;
    autosync_note(cache, &big, (struct str){ 0 });
    began = clock_ms();
    assert_false(autosync_due(cache, &big));
    assert_true(clock_ms() - began < 100 * slack());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_workspace_never_synced_is_due),
        cmocka_unit_test(a_lockfile_or_manifest_that_changed_makes_it_due),
        cmocka_unit_test(a_nanosecond_counts),
        cmocka_unit_test(a_change_during_the_sync_is_seen_by_the_next),
        cmocka_unit_test(the_state_names_the_root_and_the_times),
        cmocka_unit_test(many_members_are_looked_at_quickly),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
