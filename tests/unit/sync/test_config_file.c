/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CF-4: what the commands write into config.toml. Each row is the whole file before and after.
 */
#include "../check.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"
#include "sync/config_file.h"

static char home[PATH_MAX];
static struct dirs dirs;
static struct arena arena;

static int set_up(void **state)
{
    make_temp_dir(home);
    dirs = (struct dirs){ .config = path_join(&arena, home, "c"),
                          .state = path_join(&arena, home, "c/state") };
    return 0;
}

static int tear_down(void **state)
{
    remove_tree(home);
    arena_free(&arena);
    return 0;
}

static const char *file(void)
{
    return path_join(&arena, dirs.config, "config.toml");
}

/* NULL: no file. */
static void put(const char *text)
{
    if (!text) {
        unlink(file());
        return;
    }
    assert_true(file_mkdirs(dirs.config, NULL));
    assert_true(file_write_cache(file(), str_of(text), NULL));
}

static void assert_file(const char *want)
{
    auto_buf b = BUF(1 << 20);

    if (want)
        assert_true(file_read(file(), &b, NULL));
    assert_str(buf_str(&b), want);
}

static void assert_sound(void)
{
    struct config c;

    config_load(&c, &dirs, &arena);
    if (c.malformed)
        fail_msg("%.*s", STR_F(c.warnings.v[0]));
}

static void agents_come_and_go(void **state)
{
    static const struct {
        const char *before, *name;
        bool remove;
        const char *after;
    } rows[] = {
        { NULL, "claude", false, "[[agent]]\nname = \"claude\"\n" },
        { "# mine\nauto-sync = false # so\n", "pi", false,
          "# mine\nauto-sync = false # so\n\n[[agent]]\nname = \"pi\"\n" },
        { "[[agent]]\nname = 'pi'\n", "pi", false, "[[agent]]\nname = 'pi'\n" },
        { "[[agent]]\r\nname = 'pi'\r\n", "kiro", false,
          "[[agent]]\r\nname = 'pi'\r\n\r\n[[agent]]\r\nname = \"kiro\"\r\n" },
        { "agent = [{ name = 'pi' }]\n", "kiro", false,
          "agent = [{ name = 'pi' }, { name = \"kiro\" }]\n" },
        { "x = 1\n\n[[agent]]\nname = 'pi'\n\n[[agent]]\nname = 'kiro'\n\n[plugins]\n", "pi",
          true, "x = 1\n\n[[agent]]\nname = 'kiro'\n\n[plugins]\n" },
        { "[[agent]]\nname = 'pi'\n[[agent]]\nname = 'pi'\n", "pi", true, "" },
        { "agent = [{ name = 'pi' }]\n", "pi", true, "agent = []\n" },
        { "auto-sync = true\n", "pi", true, "auto-sync = true\n" },
        { NULL, "pi", true, NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error e = { 0 };
        bool changed, ok;

        put(rows[i].before);
        ok = rows[i].remove ? config_remove_agent(&dirs, str_of(rows[i].name), &changed, &e)
                            : config_add_agent(&dirs, str_of(rows[i].name), &changed, &e);
        if (!ok)
            fail_msg("%zu: %s", i, e.msg);
        assert_int_equal(changed, !str_eq(str_of(rows[i].before), str_of(rows[i].after)));
        assert_file(rows[i].after);
        assert_sound();
    }
}

static void an_unknown_agent_is_refused_with_the_known_ones(void **state) /* SY-2 */
{
    struct error e;

    assert_false(config_add_agent(&dirs, STR("emacs"), NULL, &e));
    assert_has(e.msg, "unknown agent 'emacs'; known are claude, codex, copilot");
    assert_false(file_exists(file()));
}

static void the_scope_is_set(void **state)
{
    bool changed;

    put("# c\n[plugins]\nuse = []\n");
    assert_true(config_set_hook_scope(&dirs, true, &changed, NULL));
    assert_true(changed);
    assert_file("hook-scope = \"project\"\n# c\n[plugins]\nuse = []\n");
    assert_true(config_set_hook_scope(&dirs, true, &changed, NULL));
    assert_false(changed);
    assert_true(config_set_hook_scope(&dirs, false, &changed, NULL));
    assert_file("hook-scope = \"global\"\n# c\n[plugins]\nuse = []\n");
    assert_sound();
}

#define REF(n, p, w)                                            \
    {                                                           \
        .name = BYTES(n), .pm = BYTES(p), .workspace = BYTES(w) \
    }

static void references_come_and_go(void **state)
{
    static const struct {
        const char *before;
        enum config_list list;
        struct plugin_ref ref;
        bool remove;
        const char *after;
    } rows[] = {
        { NULL, CONFIG_USE, REF("a", "", ""), false, "[plugins]\nuse = [\"a\"]\n" },
        { "[plugins]\n# why\nuse = [ 'a' ]\n", CONFIG_USE, REF("b", "cargo", "/w"), false,
          "[plugins]\n# why\nuse = [ 'a', { name = \"b\", pm = \"cargo\", workspace = \"/w\" } "
          "]\n" },
        { "[plugins]\nuse = ['a']\n", CONFIG_DISABLE, REF("@x/y", "npm", ""), false,
          "[plugins]\nuse = ['a']\ndisable = [{ name = \"@x/y\", pm = \"npm\" }]\n" },
        { "[plugins]\nauto-enable = [\n  'a', # x\n]\n", CONFIG_AUTO_ENABLE, REF("b", "", ""),
          false, "[plugins]\nauto-enable = [\n  'a', # x\n  \"b\",\n]\n" },
        { "[plugins]\nuse = [{ name = 'a' }]\n", CONFIG_USE, REF("a", "", ""), false,
          "[plugins]\nuse = [{ name = 'a' }]\n" },
        { "[plugins]\nuse = ['a', { name = 'a', workspace = '/w' }]\n", CONFIG_USE,
          REF("a", "", "/w"), true, "[plugins]\nuse = ['a']\n" },
        { "[plugins]\nuse = ['a', { name = 'a', workspace = '/w' }]\n", CONFIG_USE,
          REF("a", "", ""), true, "[plugins]\nuse = [{ name = 'a', workspace = '/w' }]\n" },
        { "[plugins]\nuse = ['a']\n", CONFIG_USE, REF("a", "cargo", ""), true,
          "[plugins]\nuse = ['a']\n" },
        { "plugins.use = ['a']\n", CONFIG_USE, REF("b\"\\", "", ""), false,
          "plugins.use = ['a', \"b\\\"\\\\\"]\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error e = { 0 };
        bool changed, ok;

        put(rows[i].before);
        ok = rows[i].remove ? config_remove_ref(&dirs, rows[i].list, &rows[i].ref, &changed, &e)
                            : config_add_ref(&dirs, rows[i].list, &rows[i].ref, &changed, &e);
        if (!ok)
            fail_msg("%zu: %s", i, e.msg);
        assert_int_equal(changed, !str_eq(str_of(rows[i].before), str_of(rows[i].after)));
        assert_file(rows[i].after);
        assert_sound();
    }
}

static void a_malformed_file_stays(void **state)
{
    static const char *const texts[] = {
        "[plugins\n",
        "hook-scope = \"everywhere\"\n",
        "[[agent]]\nname = 'emacs'\n",
        "[plugins]\nuse = 'a'\n",
        "agent = 1\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct plugin_ref ref = REF("a", "", "");
        struct error e = { 0 };

        put(texts[i]);
        assert_false(config_add_agent(&dirs, STR("pi"), NULL, &e));
        assert_int_equal(e.kind, ERR_INVALID);
        assert_has(e.msg, "config.toml: line ");
        assert_has(e.msg, "; nothing was written");
        assert_false(config_add_ref(&dirs, CONFIG_USE, &ref, NULL, &e));
        assert_false(config_set_hook_scope(&dirs, true, NULL, &e));
        assert_file(texts[i]);
    }
}

static void the_file_is_its_owners_alone(void **state) /* CF-1 */
{
    struct stat st;

    assert_true(config_add_agent(&dirs, STR("pi"), NULL, NULL));
    assert_int_equal(stat(file(), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(stat(dirs.config, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(agents_come_and_go),     TEST(an_unknown_agent_is_refused_with_the_known_ones),
        TEST(the_scope_is_set),       TEST(references_come_and_go),
        TEST(a_malformed_file_stays), TEST(the_file_is_its_owners_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
