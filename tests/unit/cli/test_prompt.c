/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Keys, and what they do to a list (SY-2, PL-35). */
#include "../check.h"

#include "cli/prompt.h"

static void bytes_are_taken_as_keys(void **state)
{
    static const struct {
        const char *bytes;
        bool complete;
        enum key key;
        size_t n;
    } cases[] = {
        { "", false, KEY_NONE, 0 },
        { "\r", false, KEY_ENTER, 1 },
        { "\nx", false, KEY_ENTER, 1 },
        { " ", false, KEY_SPACE, 1 },
        { "\033[A", false, KEY_UP, 3 },
        { "\033OB", false, KEY_DOWN, 3 },
        { "j", false, KEY_DOWN, 1 },
        { "\003", false, KEY_INTERRUPT, 1 },
        { "\004", false, KEY_ESCAPE, 1 },
        { "q", false, KEY_ESCAPE, 1 },
        { "a", false, KEY_ALL, 1 },
        { "x", false, KEY_NONE, 1 },
        { "\xc3\xa4", false, KEY_NONE, 1 },
        /* A lone escape is the key only when nothing follows it in time. */
        { "\033", false, KEY_NONE, 0 },
        { "\033", true, KEY_ESCAPE, 1 },
        { "\033x", false, KEY_ESCAPE, 1 },
        { "\033[", false, KEY_NONE, 0 },
        { "\033[", true, KEY_NONE, 2 },
        { "\033[1;5C", false, KEY_NONE, 6 }, /* one that we do not know, as a whole */
        { "\033[1;5C\r", false, KEY_NONE, 6 },
        { "\033[1234567", false, KEY_NONE, 8 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n;

        assert_int_equal(key_read(str_of(cases[i].bytes), cases[i].complete, &n), cases[i].key);
        assert_int_equal(n, cases[i].n);
    }
}

/* "x" and "." for chosen and not, the row of the cursor in upper case or as "_". */
static void press(struct choosing *c, const char *keys, enum choosing_end want)
{
    static const struct {
        char name;
        enum key key;
    } names[] = { { 'u', KEY_UP },    { 'd', KEY_DOWN },   { 's', KEY_SPACE }, { 'a', KEY_ALL },
                  { 'e', KEY_ENTER }, { 'q', KEY_ESCAPE }, { 'n', KEY_NONE } };
    enum choosing_end end = CHOOSING_ON;

    for (; *keys; keys++)
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            if (names[i].name == *keys)
                end = choosing_key(c, names[i].key);
    assert_int_equal(end, want);
}

static void SY_2_some_of_a_list_are_chosen(void **state)
{
    static const struct {
        const char *keys, *chosen; /* of three, the second is preselected */
        size_t at;
        enum choosing_end end;
    } cases[] = {
        { "e", ".x.", 0, CHOOSING_DONE },   { "se", "xx.", 0, CHOOSING_DONE },
        { "dse", "...", 1, CHOOSING_DONE }, { "use", ".xx", 2, CHOOSING_DONE },
        { "ddds", "xx.", 0, CHOOSING_ON },  { "a", "xxx", 0, CHOOSING_ON },
        { "aa", "...", 0, CHOOSING_ON },    { "sq", "xx.", 0, CHOOSING_ESCAPED },
        { "nnn", ".x.", 0, CHOOSING_ON },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct choice v[3] = { { .name = "a" },
                               { .name = "b", .chosen = true },
                               { .name = "c" } };
        struct choosing c = { .v = v, .n = 3, .several = true };

        press(&c, cases[i].keys, cases[i].end);
        assert_int_equal(c.at, cases[i].at);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(v[k].chosen, cases[i].chosen[k] == 'x');
    }
}

static void PL_35_one_of_a_few_is_the_row_of_the_cursor(void **state)
{
    struct choice v[3] = { { .name = "later" }, { .name = "enable" }, { .name = "never" } };
    struct choosing c = { .v = v, .n = 3 };

    (void)state;
    press(&c, "sa", CHOOSING_ON);
    assert_false(v[0].chosen);
    press(&c, "de", CHOOSING_DONE);
    assert_int_equal(c.at, 1);
    assert_true(v[1].chosen);
    assert_false(v[0].chosen || v[2].chosen);
}

static void rows_fit_the_terminal_and_hold_nothing_that_it_acts_on(void **state)
{
    struct choice v[2] = {
        { .name = "with \033[31mcolour", .note = "(found here)", .chosen = true },
        { .name = "another one that is long" }
    };
    struct choosing c = { .v = v, .n = 2, .several = true, .at = 1 };
    auto_buf wide = BUF(4096), narrow = BUF(4096), least = BUF(4096);

    (void)state;
    choosing_draw(&c, 80, &wide);
    assert_str(buf_str(&wide), "  [x] with colour  (found here)\033[K\r\n"
                               "> [ ] another one that is long\033[K\r\n");
    choosing_draw(&c, 12, &narrow);
    assert_str(buf_str(&narrow), "  [x] with \033[K\r\n> [ ] anoth\033[K\r\n");
    choosing_draw(&c, 1, &least);
    assert_str(buf_str(&least), "  [x] wi\033[K\r\n> [ ] an\033[K\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_taken_as_keys),
        cmocka_unit_test(SY_2_some_of_a_list_are_chosen),
        cmocka_unit_test(PL_35_one_of_a_few_is_the_row_of_the_cursor),
        cmocka_unit_test(rows_fit_the_terminal_and_hold_nothing_that_it_acts_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
