/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One command line, sorted by the table (CL-2). */
#include "../check.h"

#include "cli/command.h"

#define WORDS_MAX 10

struct line {
    char *argv[WORDS_MAX + 1];
    int argc;
};

/* Splits at blanks; argv[0] is the program. */
static struct line split(struct arena *a, const char *text)
{
    struct line l = { .argv = { (char *)"symposium" }, .argc = 1 };
    struct str word, rest = str_of(text);

    while (rest.n && l.argc < WORDS_MAX) {
        if (!str_cut(rest, ' ', &word, &rest)) {
            word = rest;
            rest = (struct str){ 0 };
        }
        l.argv[l.argc++] = arena_z(a, word);
    }
    return l;
}

/* "command|words|options with values": what a line was taken for. */
static void describe(struct buf *out, const struct args *args)
{
    buf_addz(out, args->command ? args->command->name : "-");
    buf_addc(out, '|');
    for (size_t i = 0; i < args->nwords; i++)
        buf_addf(out, "%s%s", i ? " " : "", args->words[i]);
    buf_addc(out, '|');
    for (size_t i = 0; i < args->ngiven; i++)
        buf_addf(out, "%s%s%s%s", i ? " " : "", args->given[i].option->name,
                 args->given[i].value ? "=" : "",
                 args->given[i].value ? args->given[i].value : "");
}

static void CL_2_options_stand_before_or_after_the_name_of_the_command(void **state)
{
    static const struct {
        const char *line, *meaning;
    } cases[] = {
        { "tools", "tools||" },
        { "tools a b", "tools|a b|" },
        { "-v tools --full a", "tools|a|--verbose --full" },
        { "-q tools", "tools||--quiet" },
        { "--json tools", "tools||--json" },
        { "tools --json", "tools||--json" },
        { "--workspace /w tools", "tools||--workspace=/w" },
        { "--workspace tools tools", "tools||--workspace=tools" },
        { "tools --workspace=/w x", "tools|x|--workspace=/w" },
        { "tools --query=a=b", "tools||--query=a=b" },
        { "tools --query --full", "tools||--query=--full" },
        { "tools -- --full", "tools|--full|" },
        { "exec -", "exec|-|" },
        { "crate-info serde --version 1", "package-info|serde|--version=1" }, /* CL-1: alias */
        { "sync --update none --agent pi", "sync||--update=none --agent=pi" },
        { "--update=check status", "status||--update=check" },
        { "plugin validate . --check-names", "plugin|validate .|--check-names" },
        { "init --add-agent a --add-agent=b", "init||--add-agent=a --add-agent=b" },
        { "trust -y", "trust||--yes" },
        { "help call", "help|call|" },
        { "--help", "-||--help" },
        { "-h call", "call||--help" },
        { "", "-||" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        auto_buf out = BUF(4096);
        struct line l = split(&a, cases[i].line);
        struct args args;
        struct error e = { 0 };

        if (!args_parse(&args, &a, l.argc, l.argv, &e))
            fail_msg("%s: %s", cases[i].line, e.msg);
        describe(&out, &args);
        assert_str(buf_str(&out), cases[i].meaning);
    }
}

/* --json of `call` is its arguments when an object follows, and the global flag otherwise. */
static void CL_1_CL_2_the_two_meanings_of_json_do_not_meet(void **state)
{
    static const struct {
        const char *line, *object;
        bool flag;
    } cases[] = {
        { "call a.b --json {\"x\":1}", "{\"x\":1}", false },
        { "call a.b --json={\"x\":1}", "{\"x\":1}", false },
        { "call a.b --json", NULL, true },
        { "call a.b --json x=1", NULL, true },
        { "call --json a.b x=1", NULL, true },
        { "--json call a.b x=1", NULL, true },
        { "--json call a.b --json {\"x\":1}", "{\"x\":1}", true },
        { "call a.b --json {\"x\":1} --json", "{\"x\":1}", true },
        { "tools --json", NULL, true },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct line l = split(&a, cases[i].line);
        struct args args;
        struct error e = { 0 };
        const char *object;

        assert_true(args_parse(&args, &a, l.argc, l.argv, &e));
        object = args_value(&args, "--json");
        assert_int_equal(object != NULL, cases[i].object != NULL);
        if (object)
            assert_string_equal(object, cases[i].object);
        assert_int_equal(args_has(&args, "--json"), cases[i].flag);
    }
}

static void CL_2_a_wrong_command_line_is_told_what_is_wrong_with_it(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        { "nonsense", "no command 'nonsense'; 'symposium help' lists them" },
        { "worker", "no command 'worker'; 'symposium help' lists them" },
        { "tools --fill", "no option '--fill' here" },
        { "doctor --full", "no option '--full' here" },
        { "--full tools --nope", "no option '--nope' here" },
        { "tools -x", "no option '-x' here" },
        { "tools --full=yes", "'--full' takes no value" },
        { "tools --query", "'--query' needs a value: --query Q" },
        { "tools --workspace", "'--workspace' needs a value: --workspace DIR" },
        { "call a.b --json=[1]", "'--json=' must be a JSON object" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_arena a = ARENA;
        struct line l = split(&a, cases[i].line);
        struct args args;
        struct error e = { 0 };

        assert_false(args_parse(&args, &a, l.argc, l.argv, &e));
        assert_string_equal(e.msg, cases[i].message);
    }
}

/* No line of it wraps on a terminal of 80 columns. */
static void assert_narrow(const char *text)
{
    struct str line, rest = str_of(text);

    while (str_cut(rest, '\n', &line, &rest))
        if (line.n > 80)
            fail_msg("over 80 columns: %.*s", STR_F(line));
}

/* Help can only be right when the rows are whole. */
static void CL_2_every_command_has_help_with_an_example(void **state)
{
    (void)state;
    for (const struct command *c = cli_commands; c->name; c++) {
        auto_free char *text = NULL;
        size_t n;
        FILE *f = open_memstream(&text, &n);

        cli_put_help(f, c);
        fclose(f);
        assert_non_null(c->run);
        assert_ptr_equal(strstr(c->usage, c->name), c->usage);
        assert_narrow(text);
        assert_non_null(strstr(text, "\nExample:\n  "));
        assert_non_null(strstr(c->example, c->name));
        for (const struct option *o = c->options; o && o->name; o++)
            assert_non_null(strstr(text, o->name));
        for (const struct option *o = c->server ? cli_server_globals : cli_globals; o->name;
             o++)
            assert_non_null(strstr(text, o->name));
    }
}

static void CL_2_the_overview_has_a_section_for_people_and_one_for_agents(void **state)
{
    auto_free char *text = NULL;
    const char *people, *agents;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    cli_put_overview(f);
    fclose(f);
    assert_narrow(text);
    people = strstr(text, "\nFor people:\n");
    agents = strstr(text, "\nFor agents:\n");
    assert_true(people && agents && people < agents);
    for (const struct command *c = cli_commands; c->name; c++) {
        auto_free char *row = mem_printf("\n  %-13s %s\n", c->name, c->summary);
        const char *at = strstr(text, row);

        assert_int_equal(at != NULL, !c->hidden);
        if (at)
            assert_int_equal(at > agents, c->for_agents);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(CL_2_options_stand_before_or_after_the_name_of_the_command),
        cmocka_unit_test(CL_1_CL_2_the_two_meanings_of_json_do_not_meet),
        cmocka_unit_test(CL_2_a_wrong_command_line_is_told_what_is_wrong_with_it),
        cmocka_unit_test(CL_2_every_command_has_help_with_an_example),
        cmocka_unit_test(CL_2_the_overview_has_a_section_for_people_and_one_for_agents),
    };

    return cmocka_run_group_tests_name("cli/args", tests, NULL, NULL);
}
