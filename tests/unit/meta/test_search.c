/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ranked search (MS-64). */
#include "../check.h"

#include "base/arena.h"
#include "meta/search.h"

static const struct search_doc tools[] = {
    { STR("github"), STR("create_issue"), STR("Create a new issue in a repository"), 0, 0 },
    { STR("github"), STR("list_issues"), STR("List issues of a repository"), 0, 1 },
    { STR("fs"), STR("readFile"), STR("Read the complete contents of a file"), 0, 2 },
    { STR("fs"), STR("write_file"), STR("Create or overwrite a file"), 0, 3 },
    { STR("memory"), STR("read_graph"), STR("Read the whole knowledge graph"), 0, 4 },
    { STR("memory"), STR("issue"), STR("something else"), 0, 5 },
    { STR("zz"), STR("\xc3\x84rger"), STR("Umlaute"), 0, 6 },
};

/* The names of all hits, best first. */
static void check(const char *query, const char *want)
{
    struct search_doc docs[ARRAY_LEN(tools)];
    auto_buf got = BUF(4096);
    size_t n;

    memcpy(docs, tools, sizeof docs);
    n = search_rank(docs, ARRAY_LEN(docs), str_of(query));
    for (size_t i = 0; i < n; i++)
        buf_addf(&got, "%s%.*s", i ? " " : "", STR_F(docs[i].name));
    if (strcmp(buf_z(&got), want))
        fail_msg("'%s' gives '%s', expected '%s'", query, buf_z(&got), want);
}

static void hits_come_best_first(void **state)
{
    (void)state;
    check("issue",
          "issue create_issue list_issues"); /* exact name, then whole word, then prefix */
    check("create issue", "create_issue issue write_file list_issues");
    check("read file",
          "readFile write_file read_graph"); /* a name whose words are the query comes first */
    check("readfile", "readFile");           /* the unsplit name is a word too */
    check("GRAPH", "read_graph");
    check("gra", "read_graph"); /* prefix of three letters */
    check("gr", "");            /* two letters are no prefix */
    check("\xc3\xa4rger", "\xc3\x84rger");
    check("github", "list_issues create_issue");
    check("", "");
    check(" \t", "");
    check("xylophone qqq", "");
}

/* Ties by server, then tool: the same for every order of input. */
static void ties_are_broken_by_server_and_tool(void **state)
{
    struct search_doc docs[] = {
        { STR("b"), STR("same"), STR("x"), 0, 0 },
        { STR("a"), STR("same"), STR("x"), 0, 1 },
        { STR("a"), STR("same_"), STR("x"), 0, 2 },
    };

    (void)state;
    assert_int_equal(search_rank(docs, 3, STR("x")), 3);
    assert_int_equal(docs[0].index, 1);
    assert_int_equal(docs[1].index, 2);
    assert_int_equal(docs[2].index, 0);
}

static void five_thousand_tools_are_searched_quickly(void **state)
{
    enum { N = 5000 };
    struct search_doc *docs = mem_alloc(N * sizeof *docs);
    auto_arena a = ARENA;
    int64_t from;

    (void)state;
    for (size_t i = 0; i < N; i++)
        docs[i] = (struct search_doc){
            STR("server"), str_of(arena_printf(&a, "tool_number_%zu", i)),
            STR("Searches records by field and date range and returns them"), 0, i
        };
    from = clock_ms();
    assert_true(search_rank(docs, N, STR("date records 4711")) > 0);
    assert_true(clock_ms() - from <= 30 * slack());
    assert_int_equal(docs[0].index, 4711);
    free(docs);
}

int main(void)
{
    const struct CMUnitTest unit[] = {
        cmocka_unit_test(hits_come_best_first),
        cmocka_unit_test(ties_are_broken_by_server_and_tool),
        cmocka_unit_test(five_thousand_tools_are_searched_quickly),
    };

    return cmocka_run_group_tests(unit, NULL, NULL);
}
