/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The scripts hold what the table holds; that shells run them is proven in tests/e2e. */
#include "../check.h"

#include "cli/command.h"

static char *script(const char *shell)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    assert_true(cli_put_completion(f, str_of(shell)));
    fclose(f);
    return text;
}

static void every_command_and_option_is_in_both_scripts(void **state)
{
    static const char *const shells[] = { "bash", "zsh" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
        auto_free char *text = script(shells[i]);

        for (const struct command *c = cli_commands; c->name; c++) {
            auto_free char *branch = mem_printf("\n    %s) ", c->name);

            assert_non_null(strstr(text, branch));
            for (const struct option *o = c->options; o && o->name; o++)
                assert_non_null(strstr(text, o->name));
        }
        for (const struct option *o = cli_globals; o->name; o++)
            assert_non_null(strstr(text, o->name));
    }
}

static void other_shells_have_none(void **state)
{
    static const char *const shells[] = { "fish", "", "Bash", "bash " };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        assert_false(cli_put_completion(stderr, str_of(shells[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_and_option_is_in_both_scripts),
        cmocka_unit_test(other_shells_have_none),
    };

    return cmocka_run_group_tests_name("cli/completion", tests, NULL, NULL);
}
