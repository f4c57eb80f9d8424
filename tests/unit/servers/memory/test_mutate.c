/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "graph_check.h"

#define E(name, obs)                                                                         \
    "{\"type\":\"entity\",\"name\":\"" name "\",\"entityType\":\"t\",\"observations\":[" obs \
    "]}\n"
#define R(from, to, type)                                                                     \
    "{\"type\":\"relation\",\"from\":\"" from "\",\"to\":\"" to "\",\"relationType\":\"" type \
    "\"}\n"
#define FILE_AB E("a", "\"1\"") E("b", "") R("a", "b", "r")

struct mutate_case {
    const char *file, *tool, *args;
    const char
        *answer;       /* structuredContent; of an error the text, of bad arguments the error */
    const char *after; /* NULL: nothing changed */
};

static void check(const struct mutate_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct mutate_case *t = &cases[i];
        struct graph *g = load_text(str_of(t->file));
        struct answer a = ANSWER;
        struct error e;
        auto_buf before = BUF(1 << 20), after = BUF(1 << 20);
        bool changed;

        rewrite(&before, g);
        changed = mutate(g, t->tool, t->args, &a, &e);
        rewrite(&after, g);
        assert_str(e.msg[0]     ? str_of(e.msg)
                   : a.is_error ? buf_str(&a.text)
                                : buf_str(&a.structured),
                   t->answer);
        assert_int_equal(changed, t->after != NULL);
        assert_str(buf_str(&after), t->after ? t->after : buf_z(&before));
        answer_free(&a);
        graph_free(g);
    }
}

/* ME-7, ME-16 */
static void create_entities_adds_what_is_new(void **state)
{
    static const struct mutate_case cases[] = {
        { "", "create_entities",
          "{\"entities\":[{\"name\":\"a\",\"entityType\":\"t\",\"observations\":[\"1\"]}]}",
          "{\"entities\":[{\"name\":\"a\",\"entityType\":\"t\",\"observations\":[\"1\"]}]}",
          E("a", "\"1\"") },
        { FILE_AB, "create_entities",
          "{\"entities\":[{\"name\":\"a\",\"entityType\":\"x\",\"observations\":[]}]}",
          "{\"entities\":[]}", NULL },
        /* twice in one call: the first wins; the relations stay behind the entities */
        { FILE_AB, "create_entities",
          "{\"entities\":[{\"name\":\"c\",\"entityType\":\"t\",\"observations\":[]},{\"name\":"
          "\"c\",\"entityType\":\"u\",\"observations\":[\"no\"]}]}",
          "{\"entities\":[{\"name\":\"c\",\"entityType\":\"t\",\"observations\":[]}]}",
          E("a", "\"1\"") E("b", "") E("c", "") R("a", "b", "r") },
        { "", "create_entities", "{\"entities\":[]}", "{\"entities\":[]}", NULL },
    };

    check(cases, ARRAY_LEN(cases));
}

/* ME-8, ME-17 */
static void create_relations_needs_both_ends(void **state)
{
    static const struct mutate_case cases[] = {
        { FILE_AB, "create_relations",
          "{\"relations\":[{\"from\":\"b\",\"to\":\"a\",\"relationType\":\"r\"},{\"from\":"
          "\"a\","
          "\"to\":\"b\",\"relationType\":\"r\"},{\"from\":\"b\",\"to\":\"a\",\"relationType\":"
          "\"r\"}]}",
          "{\"relations\":[{\"from\":\"b\",\"to\":\"a\",\"relationType\":\"r\"}]}",
          FILE_AB R("b", "a", "r") },
        { FILE_AB, "create_relations",
          "{\"relations\":[{\"from\":\"b\",\"to\":\"a\",\"relationType\":\"r\"},{\"from\":"
          "\"a\","
          "\"to\":\"x\",\"relationType\":\"r\"}]}",
          "Entity with name x not found", NULL },
        { FILE_AB, "create_relations",
          "{\"relations\":[{\"from\":\"y\",\"to\":\"a\",\"relationType\":\"r\"}]}",
          "Entity with name y not found", NULL },
        /* stored already, though its ends are gone */
        { R("x", "y", "r"), "create_relations",
          "{\"relations\":[{\"from\":\"x\",\"to\":\"y\",\"relationType\":\"r\"}]}",
          "{\"relations\":[]}", NULL },
    };

    check(cases, ARRAY_LEN(cases));
}

/* ME-9, ME-18 */
static void add_observations_leaves_out_what_is_stored(void **state)
{
    static const struct mutate_case cases[] = {
        { FILE_AB, "add_observations",
          "{\"observations\":[{\"entityName\":\"a\",\"contents\":[\"1\",\"2\",\"2\"]}]}",
          "{\"results\":[{\"entityName\":\"a\",\"addedObservations\":[\"2\",\"2\"]}]}",
          E("a", "\"1\",\"2\",\"2\"") E("b", "") R("a", "b", "r") },
        /* the second item sees what the first one added */
        { FILE_AB, "add_observations",
          "{\"observations\":[{\"entityName\":\"b\",\"contents\":[\"x\"]},{\"entityName\":"
          "\"a\","
          "\"contents\":[]},{\"entityName\":\"b\",\"contents\":[\"x\",\"y\"]}]}",
          "{\"results\":[{\"entityName\":\"b\",\"addedObservations\":[\"x\"]},{\"entityName\":"
          "\"a\",\"addedObservations\":[]},{\"entityName\":\"b\",\"addedObservations\":[\"y\"]}"
          "]}",
          E("a", "\"1\"") E("b", "\"x\",\"y\"") R("a", "b", "r") },
        { FILE_AB, "add_observations",
          "{\"observations\":[{\"entityName\":\"a\",\"contents\":[\"2\"]},{\"entityName\":"
          "\"x\","
          "\"contents\":[\"2\"]}]}",
          "Entity with name x not found", NULL },
        { FILE_AB, "add_observations",
          "{\"observations\":[{\"entityName\":\"a\",\"contents\":[\"1\"]}]}",
          "{\"results\":[{\"entityName\":\"a\",\"addedObservations\":[]}]}", NULL },
        { FILE_AB, "add_observations", "{\"observations\":[]}", "{\"results\":[]}", NULL },
        /* fields that are not ours survive (ME-3) */
        { "{\"id\":1.50,\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\","
          "\"observations\":[],\"z\":{\"k\":[1e400]}}",
          "add_observations",
          "{\"observations\":[{\"entityName\":\"a\",\"contents\":[\"1\"]}]}",
          "{\"results\":[{\"entityName\":\"a\",\"addedObservations\":[\"1\"]}]}",
          "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\",\"observations\":[\"1\"],"
          "\"id\":1.50,\"z\":{\"k\":[1e400]}}\n" },
    };

    check(cases, ARRAY_LEN(cases));
}

#define DELETED(what) "{\"success\":true,\"message\":\"" what " deleted successfully\"}"

/* ME-10, ME-11, ME-12, ME-19 */
static void deletions_ignore_what_is_unknown(void **state)
{
    static const struct mutate_case cases[] = {
        { FILE_AB, "delete_entities", "{\"entityNames\":[\"b\",\"nobody\"]}",
          DELETED("Entities"), E("a", "\"1\"") },
        { FILE_AB, "delete_entities", "{\"entityNames\":[\"nobody\"]}", DELETED("Entities"),
          NULL },
        /* relations of a name that is no entity's go too, and so do lines hidden by the entity
         */
        { E("a", "") R("a", "x", "r") R("x", "y", "r"), "delete_entities",
          "{\"entityNames\":[\"x\"]}", DELETED("Entities"), E("a", "") },
        { E("a", "") E("a", "\"2\"") "{\"k\":1}\n", "delete_entities",
          "{\"entityNames\":[\"a\",\"a\"]}", DELETED("Entities"), "{\"k\":1}\n" },
        { E("a", "\"1\",\"2\",\"1\",\"3\""), "delete_observations",
          "{\"deletions\":[{\"entityName\":\"a\",\"observations\":[\"1\"]},{\"entityName\":"
          "\"a\","
          "\"observations\":[\"3\",\"9\"]},{\"entityName\":\"x\",\"observations\":[\"1\"]}]}",
          DELETED("Observations"), E("a", "\"2\"") },
        { FILE_AB, "delete_observations",
          "{\"deletions\":[{\"entityName\":\"a\",\"observations\":[\"9\"]}]}",
          DELETED("Observations"), NULL },
        { FILE_AB R("a", "b", "s"), "delete_relations",
          "{\"relations\":[{\"from\":\"a\",\"to\":\"b\",\"relationType\":\"r\"},{\"from\":"
          "\"a\","
          "\"to\":\"b\",\"relationType\":\"x\"}]}",
          DELETED("Relations"), E("a", "\"1\"") E("b", "") R("a", "b", "s") },
        /* each time it is stored */
        { R("a", "b", "r") R("a", "b", "s") R("a", "b", "r"), "delete_relations",
          "{\"relations\":[{\"from\":\"a\",\"to\":\"b\",\"relationType\":\"r\"}]}",
          DELETED("Relations"), R("a", "b", "s") },
        { FILE_AB, "delete_relations", "{\"relations\":[]}", DELETED("Relations"), NULL },
    };

    check(cases, ARRAY_LEN(cases));
}

/* SV-15, SV-17 */
static void bad_arguments_are_named_and_unknown_fields_are_not_minded(void **state)
{
    static const struct mutate_case cases[] = {
        { "", "create_entities", "{}", "missing field `entities`", NULL },
        { "", "create_entities", "{\"entities\":{}}",
          "field `entities`: expected an array, found object", NULL },
        { "", "create_entities", "{\"entities\":[\"a\"]}",
          "entities[0]: expected an object, found string", NULL },
        { "", "create_entities",
          "{\"entities\":[{\"name\":\"a\",\"entityType\":\"t\",\"observations\":[]},{\"name\":"
          "\"a\"}]}",
          "entities[1]: missing field `entityType`", NULL },
        { "", "create_relations", "{\"relations\":[{\"from\":1,\"to\":\"b\"}]}",
          "relations[0]: field `from`: expected a string, found 1", NULL },
        { "", "add_observations", "{\"observations\":[{\"entityName\":\"a\"}]}",
          "observations[0]: missing field `contents`", NULL },
        { "", "delete_observations",
          "{\"deletions\":[{\"entityName\":\"a\",\"observations\":[true]}]}",
          "deletions[0]: field `observations`: expected an array of strings, found boolean at "
          "index 0",
          NULL },
        { "", "delete_entities", "{\"entityNames\":\"a\"}",
          "field `entityNames`: expected an array of strings, found string", NULL },
        { "", "create_entities",
          "{\"why\":1,\"entities\":[{\"name\":\"a\",\"entityType\":\"t\",\"observations\":[],"
          "\"id\":7}]}",
          "{\"entities\":[{\"name\":\"a\",\"entityType\":\"t\",\"observations\":[]}]}",
          E("a", "") },
    };

    check(cases, ARRAY_LEN(cases));
}

/* ME-7: the text is the array as JSON.stringify(array, null, 2) writes it */
static void texts_are_indented_by_two(void **state)
{
    struct graph *g = load_text(STR(""));
    struct answer a = ANSWER;
    struct error e;

    assert_true(mutate(g, "create_entities",
                       "{\"entities\":[{\"name\":\"a{\\\"\\\\\",\"entityType\":\"\","
                       "\"observations\":[\"x,y\",\"[]\"]},"
                       "{\"name\":\"b\",\"entityType\":\"t\",\"observations\":[]}]}",
                       &a, &e));
    assert_str(buf_str(&a.text), "[\n"
                                 "  {\n"
                                 "    \"name\": \"a{\\\"\\\\\",\n"
                                 "    \"entityType\": \"\",\n"
                                 "    \"observations\": [\n"
                                 "      \"x,y\",\n"
                                 "      \"[]\"\n"
                                 "    ]\n"
                                 "  },\n"
                                 "  {\n"
                                 "    \"name\": \"b\",\n"
                                 "    \"entityType\": \"t\",\n"
                                 "    \"observations\": []\n"
                                 "  }\n"
                                 "]");
    answer_free(&a);
    a = ANSWER;
    assert_false(mutate(g, "delete_entities", "{\"entityNames\":[]}", &a, &e));
    assert_str(buf_str(&a.text), "Entities deleted successfully");
    answer_free(&a);
    graph_free(g);
}

/* ---- many changes ---- */

static unsigned rnd(unsigned n)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (unsigned)(x >> 11) % n;
}

static void random_args(struct buf *b, const char *tool)
{
    unsigned a = rnd(12), c = rnd(12), k = rnd(5), n = rnd(5);

    if (strcmp(tool, "create_entities") == 0)
        buf_addf(
            b,
            "{\"entities\":[{\"name\":\"n%u\",\"entityType\":\"t\",\"observations\":[\"%u\"]},"
            "{\"name\":\"n%u\",\"entityType\":\"u\",\"observations\":[]}]}",
            a, k, c);
    else if (strstr(tool, "_relations"))
        buf_addf(b,
                 "{\"relations\":[{\"from\":\"n%u\",\"to\":\"n%u\",\"relationType\":\"%u\"},"
                 "{\"from\":\"n%u\",\"to\":\"n%u\",\"relationType\":\"%u\"}]}",
                 a, c, k, c, a, n);
    else if (strcmp(tool, "add_observations") == 0)
        buf_addf(b,
                 "{\"observations\":[{\"entityName\":\"n%u\",\"contents\":[\"%u\",\"%u\"]},"
                 "{\"entityName\":\"n%u\",\"contents\":[\"%u\"]}]}",
                 a, k, n, c, k);
    else if (strcmp(tool, "delete_observations") == 0)
        buf_addf(b,
                 "{\"deletions\":[{\"entityName\":\"n%u\",\"observations\":[\"%u\",\"%u\"]}]}",
                 a, k, n);
    else
        buf_addf(b, "{\"entityNames\":[\"n%u\",\"n%u\"]}", a, rnd(4) ? 99 : c);
}

/* The graph after each change is the one that its file gives, and so are its indexes. */
static void check_against_reload(const struct graph *g, struct str file)
{
    struct graph *again = load_text(file);
    auto_buf is = BUF(1 << 20), should = BUF(1 << 20);

    dump(&is, g);
    dump(&should, again);
    assert_bytes(buf_str(&is), buf_str(&should));
    assert_int_equal(g->by_name.n, again->by_name.n);
    assert_int_equal(g->by_triple.n, again->by_triple.n);
    assert_int_equal(g->live, again->live);
    for (size_t i = 0; i < g->entities.n; i++)
        assert_ptr_equal(graph_entity(g, g->entities.v[i]->hash, g->entities.v[i]->name),
                         g->entities.v[i]);
    graph_free(again);
}

static void after_20000_random_changes_memory_and_file_are_one(void **state)
{
    struct graph *g = load_text(STR(E("n1", "\"0\",\"0\"") E("n1", "") R("n1", "n2", "0")
                                        R("n1", "n2", "0") "{\"type\":\"note\"}\n"));
    size_t changes = 0;

    for (int i = 0; i < 20000; i++) {
        const char *tool = mutation_rows[rnd(ARRAY_LEN(mutation_rows))].tool;
        auto_buf args = BUF(1 << 12), file = BUF(1 << 20);
        struct answer a = ANSWER;
        struct error e;

        random_args(&args, tool);
        changes += mutate(g, tool, buf_z(&args), &a, &e);
        rewrite(&file, g);
        check_against_reload(g, buf_str(&file));
        assert_true(graph_is_text(g, buf_str(&file)));
        answer_free(&a);
    }
    assert_true(changes > 5000);
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_entities_adds_what_is_new),
        cmocka_unit_test(create_relations_needs_both_ends),
        cmocka_unit_test(add_observations_leaves_out_what_is_stored),
        cmocka_unit_test(deletions_ignore_what_is_unknown),
        cmocka_unit_test(bad_arguments_are_named_and_unknown_fields_are_not_minded),
        cmocka_unit_test(texts_are_indented_by_two),
        cmocka_unit_test(after_20000_random_changes_memory_and_file_are_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
