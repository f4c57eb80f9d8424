/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "graph_check.h"

#define ENTITY_A "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\",\"observations\":[]}"
#define ENTITY_B \
    "{\"type\":\"entity\",\"name\":\"b\",\"entityType\":\"t\",\"observations\":[\"1\",\"2\"]}"
#define RELATION "{\"type\":\"relation\",\"from\":\"a\",\"to\":\"b\",\"relationType\":\"r\"}"
#define DUMP_A   "E a:t[]\n"
#define DUMP_B   "E b:t[1|2]\n"
#define DUMP_R   "R a>b:r\n"
#define NO_ENTITY                                                                         \
    "is an entity without a string 'name', a string 'entityType' or an array of strings " \
    "'observations'\n"
#define NO_RELATION "is a relation without the strings 'from', 'to' and 'relationType'\n"

struct load_case {
    const char *text;
    const char *dump;
    const char *rewritten; /* NULL: as `text` */
};

static void check(const struct load_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct graph *g = load_text(str_of(cases[i].text));
        auto_buf got = BUF(1 << 20), file = BUF(1 << 20);

        dump(&got, g);
        assert_str(buf_str(&got), cases[i].dump);
        rewrite(&file, g);
        assert_str(buf_str(&file), cases[i].rewritten ? cases[i].rewritten : cases[i].text);
        graph_free(g);
    }
}

/* ME-2 */
static void the_usual_form_is_read_and_written_byte_for_byte(void **state)
{
    static const struct load_case cases[] = {
        { "", "", NULL },
        { ENTITY_A "\n", DUMP_A, NULL },
        { ENTITY_A "\n" ENTITY_B "\n" RELATION "\n", DUMP_A DUMP_B DUMP_R, NULL },
        /* entities first, a newline after the last line */
        { RELATION "\n" ENTITY_B "\n" ENTITY_A, DUMP_B DUMP_A DUMP_R,
          ENTITY_B "\n" ENTITY_A "\n" RELATION "\n" },
        { "{\"type\":\"entity\",\"name\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/é\u2028😀\","
          "\"entityType\":\"\",\"observations\":[\"\x7f\"]}\n",
          "E \"\\\b\f\n\r\t\x01\x1f/é\u2028😀:[\x7f]\n", NULL },
    };

    check(cases, ARRAY_LEN(cases));
}

/* ME-3 */
static void other_forms_are_read_and_written_in_the_usual_one(void **state)
{
    static const struct load_case cases[] = {
        { "\xef\xbb\xbf" ENTITY_A "\r\n\r\n \t\n" RELATION "\r\n", DUMP_A DUMP_R,
          ENTITY_A "\n" RELATION "\n" },
        { " { \"name\" : \"a\", \"entityType\":\"t\" ,\"type\":\"entity\"}  ", DUMP_A,
          ENTITY_A "\n" },
        { "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\",\"observations\":null}",
          DUMP_A, ENTITY_A "\n" },
        { "{\"type\":\"x\",\"type\":\"entity\",\"name\":1,\"name\":\"\\u0061\",\"entityType\":"
          "\"t\",\"observations\":[]}\n",
          DUMP_A, ENTITY_A "\n" },
        { "{\"type\":\"relation\",\"relationType\":\"r\",\"from\":\"a\",\"to\":\"b\"}\n",
          DUMP_R, RELATION "\n" },
        { "{\"type\":\"entity\",\"name\":\"\\u00E4\\/"
          "\",\"entityType\":\"t\",\"observations\":[]}",
          "E ä/:t[]\n",
          "{\"type\":\"entity\",\"name\":\"ä/\",\"entityType\":\"t\",\"observations\":[]}\n" },
        /* glued */
        { ENTITY_A ENTITY_B RELATION "{\"x\":[{}]} " ENTITY_A "\n",
          DUMP_A DUMP_B DUMP_R "K {\"x\":[{}]}\nK " ENTITY_A "\n",
          ENTITY_A "\n" ENTITY_B "\n" RELATION "\n{\"x\":[{}]}\n" ENTITY_A "\n" },
    };

    check(cases, ARRAY_LEN(cases));
}

/* ME-3 */
static void what_is_not_ours_is_kept_as_it_stands(void **state)
{
#define EXTRA                                                                                \
    "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\",\"observations\":[],\"id\":1." \
    "50, "                                                                                   \
    "\"tags\":[\"\\u00e9\"]}"
    static const struct load_case cases[] = {
        { ENTITY_A "\n{\"type\":\"note\", \"n\": 12345678901234567890123, \"n\":-0}\n",
          DUMP_A "K {\"type\":\"note\", \"n\": 12345678901234567890123, \"n\":-0}\n", NULL },
        { "{\"type\":5}\n{}\n{\"name\":\"a\"}\n", "K {\"type\":5}\nK {}\nK {\"name\":\"a\"}\n",
          NULL },
        { EXTRA "\n", "E a:t[],\"id\":1.50,\"tags\":[\"é\"]\n", NULL },
        /* the first of a name wins, the later line stays */
        { ENTITY_A "\n{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"other\","
                   "\"observations\":[\"x\"] }\n",
          DUMP_A "K {\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"other\","
                 "\"observations\":[\"x\"] }\n",
          NULL },
        /* a relation to nobody, twice, with a field of its own */
        { RELATION "\n" RELATION "\n"
                   "{\"type\":\"relation\",\"from\":\"a\",\"to\":\"b\",\"relationType\":\"r\","
                   "\"since\":2020}\n",
          DUMP_R DUMP_R DUMP_R, NULL },
        /* half a surrogate pair */
        { "{\"type\":\"entity\",\"name\":\"\\ud83d\",\"entityType\":\"t\",\"observations\":[]}"
          "\n",
          "E \ufffd:t[]\n", NULL },
    };

    check(cases, ARRAY_LEN(cases));
}

/* ME-4, SEC-68 */
static void a_bad_line_is_set_aside_with_its_number_and_the_rest_is_read(void **state)
{
    static const struct load_case cases[] = {
        { ENTITY_A "\n" ENTITY_B "\n{\"type\":\"ent", DUMP_A DUMP_B "B 3 is cut off\n",
          ENTITY_A "\n" ENTITY_B "\n" },
        { "\n\nhello\n" ENTITY_A "\n", DUMP_A "B 3 is not a JSON object\n", ENTITY_A "\n" },
        { "[]\n42\n" ENTITY_A "\n",
          DUMP_A "B 1 is not a JSON object\nB 2 is not a JSON object\n", ENTITY_A "\n" },
        { "{\"a\":}\n" ENTITY_A "\n", DUMP_A "B 1 is not valid JSON\n", ENTITY_A "\n" },
        { "{\"a\":\"\xff\"}\n" ENTITY_A "\n", DUMP_A "B 1 is not UTF-8\n", ENTITY_A "\n" },
        { ENTITY_A "{\"type\":\"ent\n" ENTITY_B "\n", DUMP_A DUMP_B "B 1 is cut off\n",
          ENTITY_A "\n" ENTITY_B "\n" },
        { ENTITY_A "}\n", DUMP_A "B 1 is not a JSON object\n", ENTITY_A "\n" },
        { "{\"type\":\"entity\",\"name\":7,\"entityType\":\"t\",\"observations\":[]}\n",
          "B 1 " NO_ENTITY, "" },
        { "{\"type\":\"entity\",\"name\":\"a\",\"observations\":[]}\n", "B 1 " NO_ENTITY, "" },
        { "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\",\"observations\":[1]}\n",
          "B 1 " NO_ENTITY, "" },
        { "{\"type\":\"relation\",\"from\":\"a\",\"to\":\"b\"}\n", "B 1 " NO_RELATION, "" },
    };

    check(cases, ARRAY_LEN(cases));
}

static void add_entity_of(struct buf *b, char name, size_t observation)
{
    buf_addf(b,
             "{\"type\":\"entity\",\"name\":\"%c\",\"entityType\":\"t\",\"observations\":[\"",
             name);
    buf_fill(b, 'x', observation);
    buf_addz(b, "\"]}\n");
}

/* ME-3, SEC-68: 100 MB on one line */
static void a_line_of_16_mib_is_read_and_a_longer_one_is_bad(void **state)
{
    size_t around = strlen(ENTITY_A) + 2;
    auto_buf text = BUF((size_t)160 << 20), got = BUF(1 << 10);
    struct graph *g;

    add_entity_of(&text, 'a', MEMORY_LINE_MAX - around);
    add_entity_of(&text, 'b', MEMORY_LINE_MAX - around + 1);
    add_entity_of(&text, 'c', (size_t)100 << 20);
    add_entity_of(&text, 'd', 1);
    g = load_text(buf_str(&text));
    assert_int_equal(g->entities.n, 2);
    assert_str(g->entities.v[0]->name, "a");
    assert_str(g->entities.v[1]->name, "d");
    g->entities.n = 0;
    dump(&got, g);
    assert_str(buf_str(&got), "B 2 is longer than 16 MiB\nB 3 is longer than 16 MiB\n");
    graph_free(g);
}

static void nesting_without_end_and_many_objects_on_a_line_do_no_harm(void **state)
{
    auto_buf text = BUF((size_t)16 << 20);
    struct graph *g;

    buf_fill(&text, '[', 1 << 20);
    buf_addz(&text, "\n{\"a\":");
    buf_fill(&text, '[', 1 << 20);
    buf_fill(&text, ']', 1 << 20);
    buf_addz(&text, "}\n");
    for (int i = 0; i < 100000; i++)
        buf_addz(&text, i % 2 ? "{}" : RELATION);
    g = load_text(buf_str(&text));
    assert_int_equal(g->bad.n, 2);
    assert_int_equal(g->kept.n, 50000);
    assert_int_equal(g->relations.n, 50000);
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_form_is_read_and_written_byte_for_byte),
        cmocka_unit_test(other_forms_are_read_and_written_in_the_usual_one),
        cmocka_unit_test(what_is_not_ours_is_kept_as_it_stands),
        cmocka_unit_test(a_bad_line_is_set_aside_with_its_number_and_the_rest_is_read),
        cmocka_unit_test(a_line_of_16_mib_is_read_and_a_longer_one_is_bad),
        cmocka_unit_test(nesting_without_end_and_many_objects_on_a_line_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
