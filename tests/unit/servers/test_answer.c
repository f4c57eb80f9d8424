/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include "base/utf8.h"
#include "servers/server.h"

static const struct server_spec def = { .split_advice = "use head or tail" };

static void check(struct answer *a, const char *want)
{
    auto_buf json = answer_json(a, &def);

    assert_str(buf_str(&json), want);
    answer_free(a);
}

/* SV-19: isError is there, and false on success. */
static void an_answer_has_one_text_or_its_own_blocks(void **state)
{
    struct answer text = ANSWER, blocks = ANSWER, nothing = ANSWER;

    buf_addz(&text.text, "a\"b");
    check(&text, "{\"content\":[{\"type\":\"text\",\"text\":\"a\\\"b\"}],\"isError\":false}");
    buf_addz(&blocks.text, "not shown");
    buf_addz(&blocks.content, "{\"type\":\"image\"},{\"type\":\"audio\"}");
    buf_addz(&blocks.structured, "{\"n\":1}");
    check(&blocks, "{\"content\":[{\"type\":\"image\"},{\"type\":\"audio\"}],"
                   "\"structuredContent\":{\"n\":1},\"isError\":false}");
    check(&nothing, "{\"content\":[{\"type\":\"text\",\"text\":\"\"}],\"isError\":false}");
    (void)state;
}

static void structured_text_is_the_text_again(void **state)
{
    struct answer a = ANSWER;

    a.structured_text = true;
    buf_add(&a.text, BYTES("one\n\xff"));
    check(&a, "{\"content\":[{\"type\":\"text\",\"text\":\"one\\n\xef\xbf\xbd\"}],"
              "\"structuredContent\":{\"content\":\"one\\n\xef\xbf\xbd\"},\"isError\":false}");
    (void)state;
}

static void an_error_replaces_all_that_was_there(void **state)
{
    struct answer a = ANSWER;

    a.structured_text = true;
    buf_addz(&a.text, "before");
    buf_addz(&a.structured, "{}");
    /* its own text may be in the message */
    assert_false(answer_error(&a, "%s: it failed", buf_z(&a.text)));
    check(&a, "{\"content\":[{\"type\":\"text\",\"text\":\"before: it failed\"}],"
              "\"isError\":true}");
    (void)state;
}

/* What is quoted may be as long as a request; there is a text all the same. */
static void a_long_error_is_cut_between_characters(void **state)
{
    auto_buf long_name = BUF(100000);
    struct answer a = ANSWER;

    buf_addc(&long_name, 'x');
    for (int i = 0; i < 30000; i++)
        buf_addz(&long_name, "\xe2\x82\xac");
    assert_false(answer_error(&a, "%s", buf_z(&long_name)));
    assert_in_range(a.text.n, (64 << 10) - 8, 64 << 10);
    assert_true(utf8_valid(buf_str(&a.text)));
    assert_true(str_starts(buf_str(&long_name), buf_str(&a.text)));
    answer_free(&a);
    (void)state;
}

/* SV-30: as large as the line may be, with room for what stands around the result. */
static void an_answer_too_large_names_its_size_and_the_way_out(void **state)
{
    static const struct {
        size_t text;
        char fill;
        bool structured, fits;
    } cases[] = {
        { ANSWER_MAX - ((size_t)8 << 10), 'x', false, true },
        { ANSWER_MAX - ((size_t)1 << 10), 'x', false, false },
        { ANSWER_MAX + 1, 'x', false, false },           /* did not even fit the buffer */
        { ANSWER_MAX / 2, 'x', true, false },            /* twice in the answer */
        { ANSWER_MAX / 2 - (8 << 10), 'x', true, true }, /* and twice it fits */
        { ANSWER_MAX / 5, '\1', false, false },          /* six bytes each */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a = ANSWER;
        auto_buf json = { 0 };

        a.structured_text = cases[i].structured;
        if (cases[i].text > ANSWER_MAX)
            buf_addc(&a.text, 'x');
        buf_fill(&a.text, cases[i].fill,
                 cases[i].text > ANSWER_MAX ? ANSWER_MAX : cases[i].text);
        json = answer_json(&a, &def);
        assert_true(json.n < ANSWER_MAX - 2048);
        if (cases[i].fits) {
            assert_true(json.n > cases[i].text);
        } else {
            assert_has(buf_z(&json), "\"isError\":true");
            assert_has(buf_z(&json), "bytes, an answer at most 9961472.");
            assert_has(buf_z(&json), "To get it in parts: use head or tail");
        }
        answer_free(&a);
    }
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_has_one_text_or_its_own_blocks),
        cmocka_unit_test(structured_text_is_the_text_again),
        cmocka_unit_test(an_error_replaces_all_that_was_there),
        cmocka_unit_test(a_long_error_is_cut_between_characters),
        cmocka_unit_test(an_answer_too_large_names_its_size_and_the_way_out),
    };

    return cmocka_run_group_tests_name("servers/answer", tests, NULL, NULL);
}
