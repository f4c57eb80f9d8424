/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "graph_check.h"

#define E(name, type, obs)                                              \
    "{\"type\":\"entity\",\"name\":\"" name "\",\"entityType\":\"" type \
    "\",\"observations\":[" obs "]}\n"
#define R(from, to) \
    "{\"type\":\"relation\",\"from\":\"" from "\",\"to\":\"" to "\",\"relationType\":\"r\"}\n"

static const char graph_text[] = E("Alice", "person", "\"likes green tea\",\"lives in ΑΘΉΝΑ\"")
    E("Bob", "person", "\"likes coffee\",\"works on Projekt STRAẞE\"")
        E("tea", "drink", "\"green or black\"") E("Dagmar", "PERSON", "") R("Alice", "Bob")
            R("Bob", "tea") R("Dagmar", "gone") R("gone", "lost");

static bool never(void *ctx)
{
    return false;
}

static bool always(void *ctx)
{
    return true;
}

/* "Alice Bob / Alice>Bob": what the query finds. */
static void found(struct buf *out, query_fn run, const struct request *r,
                  bool (*cancelled)(void *ctx))
{
    struct graph *g = load_text(str_of(graph_text));
    auto_arena a = ARENA;
    const struct query q = { r, &a, cancelled, NULL };
    struct view v = run(&q, g);

    for (size_t i = 0; i < v.nentities; i++)
        buf_addf(out, "%.*s ", STR_F(v.entities[i]->name));
    buf_addc(out, '/');
    for (size_t i = 0; i < v.nrelations; i++)
        buf_addf(out, " %.*s>%.*s", STR_F(v.relations[i]->from), STR_F(v.relations[i]->to));
    graph_free(g);
}

/* ME-14, ME-20 */
static void search_finds_the_query_in_any_case_or_its_words(void **state)
{
    static const struct {
        const char *query, *found;
    } cases[] = {
        { "", "Alice Bob tea Dagmar / Alice>Bob Bob>tea Dagmar>gone" },
        { "ALICE", "Alice / Alice>Bob" },
        { "person", "Alice Bob Dagmar / Alice>Bob Bob>tea Dagmar>gone" },
        { "αθήνα", "Alice / Alice>Bob" },
        { "straße", "Bob / Alice>Bob Bob>tea" },
        { "likes coffee", "Bob / Alice>Bob Bob>tea" },
        { " tea", "Alice / Alice>Bob" }, /* the whole query, blanks included */
        { "gone", "/" },                 /* no entity */
        { "teacoffee", "/" },            /* one word, nothing */
        { "teaperson", "/" },            /* nothing across two fields */
        { "tea green zebra",
          "Alice tea / Alice>Bob Bob>tea" }, /* two words each, stored order */
        { "coffee  LIKES\tDrink", "Bob Alice tea / Alice>Bob Bob>tea" }, /* two, one, one */
        { "zebra dagmar dagmar", "Dagmar / Dagmar>gone" },
        { "zebra giraffe", "/" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct request r = { .query = str_of(cases[i].query) };
        auto_buf out = BUF(1 << 12);

        found(&out, query_search, &r, never);
        assert_str(buf_str(&out), cases[i].found);
    }
}

/* ME-15, ME-21 */
static void open_finds_names_in_stored_order(void **state)
{
    struct str names[] = { STR("tea"), STR("Alice"), STR("gone"), STR("tea"), STR("alice") };
    struct request r = { .names = { names, ARRAY_LEN(names) } }, none = { 0 };
    auto_buf out = BUF(1 << 12), nothing = BUF(1 << 12);

    found(&out, query_open, &r, never);
    assert_str(buf_str(&out), "Alice tea / Alice>Bob Bob>tea");
    found(&nothing, query_open, &none, never);
    assert_str(buf_str(&nothing), "/");
}

/* ME-13, ME-3: a relation to nobody is shown */
static void all_is_all(void **state)
{
    struct request r = { 0 };
    auto_buf out = BUF(1 << 12);

    found(&out, query_all, &r, never);
    assert_str(buf_str(&out), "Alice Bob tea Dagmar / Alice>Bob Bob>tea Dagmar>gone gone>lost");
}

static void a_cancelled_search_stops(void **state)
{
    struct request r = { .query = STR("a") };
    auto_buf out = BUF(1 << 12);

    found(&out, query_search, &r, always);
    assert_str(buf_str(&out), "/");
}

static void of_many_words_the_first_64_are_looked_for(void **state)
{
    auto_buf query = BUF(1 << 12), out = BUF(1 << 12);
    struct request r = { 0 };

    for (int i = 0; i < QUERY_WORDS_MAX; i++)
        buf_addf(&query, "zebra%d ", i);
    buf_addz(&query, "alice");
    r.query = buf_str(&query);
    found(&out, query_search, &r, never);
    assert_str(buf_str(&out), "/");
}

/* ME-13: key order, no `type`, no fields of others */
static void a_view_is_json_in_declaration_order(void **state)
{
    struct graph *g = load_text(STR(
        "{\"observations\":[\"o\"],\"x\":1,\"entityType\":\"t\",\"type\":\"entity\",\"name\":"
        "\"n\"}\n{\"to\":\"b\",\"type\":\"relation\",\"from\":\"a\",\"relationType\":\"r\"}"));
    auto_arena a = ARENA;
    const struct query q = { NULL, &a, never, NULL };
    struct view v = query_all(&q, g);
    auto_buf compact = BUF(1 << 12), pretty = BUF(1 << 12);

    output_view(&compact, &v);
    output_pretty(&pretty, buf_str(&compact));
    assert_str(buf_str(&compact),
               "{\"entities\":[{\"name\":\"n\",\"entityType\":\"t\",\"observations\":[\"o\"]}],"
               "\"relations\":[{\"from\":\"a\",\"to\":\"b\",\"relationType\":\"r\"}]}");
    assert_str(buf_str(&pretty), "{\n"
                                 "  \"entities\": [\n"
                                 "    {\n"
                                 "      \"name\": \"n\",\n"
                                 "      \"entityType\": \"t\",\n"
                                 "      \"observations\": [\n"
                                 "        \"o\"\n"
                                 "      ]\n"
                                 "    }\n"
                                 "  ],\n"
                                 "  \"relations\": [\n"
                                 "    {\n"
                                 "      \"from\": \"a\",\n"
                                 "      \"to\": \"b\",\n"
                                 "      \"relationType\": \"r\"\n"
                                 "    }\n"
                                 "  ]\n"
                                 "}");
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_finds_the_query_in_any_case_or_its_words),
        cmocka_unit_test(open_finds_names_in_stored_order),
        cmocka_unit_test(all_is_all),
        cmocka_unit_test(a_cancelled_search_stops),
        cmocka_unit_test(of_many_words_the_first_64_are_looked_for),
        cmocka_unit_test(a_view_is_json_in_declaration_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
