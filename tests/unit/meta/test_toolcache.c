/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tool cache on disk (MS-61): what is fresh, and that nothing of the environment's values
 * is written. */
#include "../check.h"

#include <sys/stat.h>

#include "base/file.h"
#include "meta/toolcache.h"

static struct active_server server(struct arena *a, const char *secret)
{
    struct active_server s = { .name = STR("fs"), .cwd = STR("/tmp") };

    ARENA_PUSH(a, &s.argv) = STR("/bin/sh");
    ARENA_PUSH(a, &s.argv) = STR("-c");
    ARENA_PUSH(a, &s.env) = (struct key_value){ STR("Z"), STR("1") };
    ARENA_PUSH(a, &s.env) = (struct key_value){ STR("A_TOKEN"), str_of(secret) };
    return s;
}

static const char tools[] =
    "[{\"name\":\"a\",\"n\":1.50,\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"b\"}]";

static void only_file(const char *dir, char path[PATH_MAX])
{
    char cmd[PATH_MAX + 32];
    FILE *f;

    snprintf(cmd, sizeof cmd, "ls %s/tools/*.json", dir);
    f = popen(cmd, "r");
    assert_non_null(fgets(path, PATH_MAX, f));
    path[strcspn(path, "\n")] = 0;
    pclose(f);
}

static void what_was_stored_is_fresh_for_the_same_key_alone(void **state)
{
    auto_arena a = ARENA;
    char dir[PATH_MAX], path[PATH_MAX];
    auto_buf text = BUF(1 << 20);
    struct active_server one = server(&a, "hunter2-hunter2"),
                         other = server(&a, "another-secret");
    struct str key = toolcache_key(&a, &one);
    struct toolcache_entry entry;
    struct toolset set;
    struct stat st;
    struct error e;

    (void)state;
    make_temp_dir(dir);
    assert_false(toolcache_load(dir, key, &entry));
    assert_true(toolset_load(&set, str_of(tools), NULL));
    assert_true(toolcache_store(dir, key, &set, true, STR("{\"name\":\"x\"}"), &e));
    assert_true(toolcache_load(dir, key, &entry));
    assert_true(entry.modern);
    assert_int_equal(entry.tools.n, 2);
    assert_str(json_num_text(json_get(entry.tools.v[0].raw, "n")), "1.50");
    assert_string_equal(tool_hash(&entry.tools.v[0]), tool_hash(&set.v[0]));
    toolset_free(&entry.tools);
    assert_false(toolcache_load(dir, toolcache_key(&a, &other), &entry));

    only_file(dir, path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(file_read(path, &text, &e));
    assert_null(strstr(buf_z(&text), "hunter2"));
    assert_non_null(strstr(buf_z(&text), tool_hash(&set.v[1])));
    toolset_free(&set);
    remove_tree(dir);
}

static void anything_damaged_counts_as_absent(void **state)
{
    static const char *const contents[] = {
        "",
        "{",
        "[]",
        "{\"version\":2}",
        "{\"version\":1,\"key\":1,\"tools\":[]}",
        "{\"version\":1,\"tools\":{}}",
    };
    auto_arena a = ARENA;
    char dir[PATH_MAX], path[PATH_MAX];
    struct active_server one = server(&a, "x");
    struct str key = toolcache_key(&a, &one);
    struct toolcache_entry entry;
    struct toolset set;
    struct error e;

    (void)state;
    make_temp_dir(dir);
    assert_true(toolset_load(&set, str_of(tools), NULL));
    assert_true(toolcache_store(dir, key, &set, false, STR("{}"), &e));
    only_file(dir, path);
    for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
        assert_true(file_write_atomic(path, str_of(contents[i]), 0600, &e));
        assert_false(toolcache_load(dir, key, &entry));
    }
    assert_int_equal(truncate(path, (off_t)TOOLCACHE_MAX_BYTES + 1), 0);
    assert_false(toolcache_load(dir, key, &entry));
    toolset_free(&set);
    remove_tree(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_stored_is_fresh_for_the_same_key_alone),
        cmocka_unit_test(anything_damaged_counts_as_absent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
