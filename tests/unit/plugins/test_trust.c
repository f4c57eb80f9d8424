/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tree.h"

#include "plugins/trust.h"

struct home {
    struct tree t;
    struct dirs dirs;
};

static struct home home_new(void)
{
    struct home h = { .t = tree_new() };

    h.dirs = (struct dirs){ .state = tree_path(&h.t, "state") };
    return h;
}

static bool set(struct home *h, const char *root, const char *manifest, const char *hash,
                bool on)
{
    struct trust_entry entry = { str_of(root), str_of(manifest), str_of(hash) };

    return trust_set(&h->dirs, &entry, 1, on, NULL);
}

static bool has(struct home *h, const char *root, const char *hash)
{
    return trust_has(&h->dirs, str_of(root), str_of(hash));
}

/* PL-32: one consent per (root, hash of the manifest). */
static void consent_is_for_one_text_in_one_workspace(void **state)
{
    struct home h = home_new();

    assert_false(has(&h, "/w", "aa"));
    assert_true(set(&h, "/w", "/w/SYMPOSIUM.toml", "aa", true));
    assert_true(has(&h, "/w", "aa"));
    assert_false(has(&h, "/w", "bb"));
    assert_false(has(&h, "/v", "aa"));
    assert_false(has(&h, "/w", ""));
    assert_true(set(&h, "/w", "/w/m/SYMPOSIUM.toml", "cc", true));
    assert_true(set(&h, "/v", "/v/SYMPOSIUM.toml", "aa", true));
    assert_true(has(&h, "/w", "aa") && has(&h, "/w", "cc") && has(&h, "/v", "aa"));
    tree_free(&h.t);
}

/* PL-32: `trust --remove`, and a former text that comes back after a new one was trusted. */
static void consent_is_taken_back(void **state)
{
    struct home h = home_new();

    set(&h, "/w", "/w/S", "aa", true);
    set(&h, "/w", "/w/S", "bb", true);
    assert_false(has(&h, "/w", "aa"));
    assert_true(has(&h, "/w", "bb"));
    set(&h, "/v", "/v/S", "bb", true);
    assert_true(set(&h, "/w", "/w/S", "zz", false));
    assert_false(has(&h, "/w", "bb"));
    assert_true(has(&h, "/v", "bb"));
    tree_free(&h.t);
}

static void the_file_is_private(void **state)
{
    struct home h = home_new();
    struct stat st;

    set(&h, "/w", "/w/S", "aa", true);
    assert_int_equal(stat(tree_path(&h.t, "state/trusted.json"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(tree_path(&h.t, "state"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    tree_free(&h.t);
}

static void a_file_that_cannot_be_read_trusts_nothing(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"version\":2,\"trusted\":[{\"root\":\"/w\",\"sha256\":\"aa\"}]}",
        "{\"version\":1,\"trusted\":{\"root\":\"/w\"}}",
        "{\"version\":1,\"trusted\":[7,{\"root\":1,\"sha256\":\"aa\"}]}",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct home h = home_new();

        tree_put(&h.t, "state/trusted.json", texts[i]);
        assert_false(has(&h, "/w", "aa"));
        assert_true(set(&h, "/w", "/w/S", "aa", true)); /* and is replaced by a good one */
        assert_true(has(&h, "/w", "aa"));
        tree_free(&h.t);
    }
}

static void a_state_directory_that_cannot_be_made_is_an_error(void **state)
{
    struct home h = home_new();
    struct trust_entry entry = { STR("/w"), STR("/w/S"), STR("aa") };
    struct error e = { 0 };

    tree_put(&h.t, "state", "a file");
    assert_false(trust_set(&h.dirs, &entry, 1, true, &e));
    assert_int_not_equal(e.kind, ERR_NONE);
    tree_free(&h.t);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(consent_is_for_one_text_in_one_workspace),
        cmocka_unit_test(consent_is_taken_back),
        cmocka_unit_test(the_file_is_private),
        cmocka_unit_test(a_file_that_cannot_be_read_trusts_nothing),
        cmocka_unit_test(a_state_directory_that_cannot_be_made_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
