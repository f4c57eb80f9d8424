/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "adapter_check.h"

static const char everything[] =
    "[[task-agent]]\n"
    "name = \"mine\"\ncommand = \"my-agent\"\nargs = [\"serve\", \"--acp\"]\n"
    "env = { MINE = \"1\", PINNED = \"x=y\" }\nprotocol = \"acp2\"\n"
    "pins = { approvals = \"ask\", auto = false }\nmode-pin = \"safe\"\n"
    "model = \"config:llm\"\neffort = { set = \"arg:--think\", values = [\"low\", \"high\"] }\n"
    "resume = true\n"
    "[task-agent.options]\n"
    "fast = { type = \"bool\", flag = \"--fast\" }\n"
    "profile = { type = \"string\", flag = \"--profile\", pattern = \"^[a-z]+$\" }\n"
    "[[task-agent]]\n"
    "name = \"pipe\"\ncommand = \"/opt/pipe\"\nprotocol = \"cli\"\nprompt = \"stdin\"\n"
    "model = \"arg2:-m\"\neffort = \"arg:--effort\"\n"
    "[[task-agent]]\n"
    "name = \"flag\"\ncommand = \"flag\"\nprotocol = \"cli\"\nprompt = \"arg:--ask\"\n";

/* TK-30 */
static void a_declared_agent_behaves_as_a_built_in_one(void **state)
{
    static const struct {
        struct asked asked;
        const char *want;
    } cases[] = {
        { { "mine" }, "my-agent serve --acp | mode:safe approvals=ask auto=false | v=2" },
        { { "mine",
            "{\"model\":\"m\",\"effort\":\"low\",\"fast\":true,\"profile\":\"abc\","
            "\"allow\":[\"edit\"]}",
            .session_id = "s" },
          "my-agent serve --acp --think=low --fast --profile=abc | mode:safe approvals=ask "
          "auto=false llm=m | allow=2 resume=s v=2" },
        { { "mine", "{\"fast\":\"true\"}" }, "! option 'fast' must be true or false, not" },
        { { "mine", "{\"profile\":\"ABC\"}" }, "! option 'profile' must match ^[a-z]+$, not" },
        { { "mine", "{\"effort\":\"max\"}" },
          "! option 'effort' must be one of low, high, not" },
        { { "mine", "{\"approvals\":\"never\"}" },
          "! option 'approvals' of agent 'mine' is pinned and cannot be set" },
        { { "mine", "{\"mode\":\"wild\"}" }, "! option 'mode' of agent 'mine' is pinned" },
        { { "mine", "{\"colour\":1}" },
          "! agent 'mine' has no option 'colour'; it has 'model', 'effort', 'allow', "
          "'symposium', 'follow', 'fast', 'profile'" },
        { { "pipe", "{\"model\":\"m\",\"effort\":\"e\"}", "text\nof two lines" },
          "/opt/pipe -m m --effort=e | | stdin=text\nof two lines" },
        { { "pipe", "{\"model\":\"-m\"}" }, "! option 'model' must begin with a letter" },
        { { "pipe", .session_id = "s" }, "! agent 'pipe' cannot resume a session" },
        { { "flag", .prompt = "hello" }, "flag --ask=hello | |" },
        { { "flag", "{\"model\":\"m\"}" }, "! agent 'flag' has no option 'model'; it has" },
    };
    auto_arena a = ARENA;
    struct adapters all;

    load_adapters(&all, &a, everything);
    assert_int_equal(all.n, 12);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = plan_text(&a, &all, &cases[i].asked);

        if (strncmp(got, cases[i].want, strlen(cases[i].want)) != 0)
            fail_msg("%zu: got '%s', want '%s'", i, got, cases[i].want);
    }
    (void)state;
}

static void its_environment_beats_ours(void **state)
{
    static const char *const ours[] = { "PATH=/bin", "PINNED=other", "PINNEDNOT=1", NULL };
    auto_arena a = ARENA;
    struct adapters all;

    load_adapters(&all, &a, everything);
    assert_string_equal(plan_env(&a, &all, &(struct asked){ "mine", .env = ours }),
                        "PATH=/bin\nPINNEDNOT=1\nMINE=1\nPINNED=x=y\n");
    (void)state;
}

/* ACP-16: the setting is for the built-in ones. */
static void the_version_of_acp_is_the_configs_or_its_own(void **state)
{
    auto_arena a = ARENA;
    struct adapters all;

    load_adapters(&all, &a,
                  "[tasks]\nacp-version = 2\n[[task-agent]]\nname = \"old\"\n"
                  "command = \"x\"\n");
    assert_string_equal(plan_text(&a, &all, &(struct asked){ "qwen" }),
                        "qwen --acp | mode=default | v=2");
    assert_string_equal(plan_text(&a, &all, &(struct asked){ "old" }), "x | |");
    (void)state;
}

static void its_missing_program_is_told(void **state)
{
    auto_arena a = ARENA;
    struct adapters all;
    struct error e = { 0 };

    load_adapters(&all, &a, everything);
    assert_null(adapter_program(adapter_find(&all, STR("pipe")), "/bin", &a, &e));
    assert_has(e.msg, "there is no '/opt/pipe' for agent 'pipe': install it, or correct");
    (void)state;
}

static void a_bad_declaration_is_refused_by_name_and_key(void **state)
{
    static const struct {
        const char *toml, *want; /* the table; it begins with name and command if not "!" */
    } cases[] = {
        { "colour = 1", "unknown key 'colour'" },
        { "protocol = \"mcp\"", "'protocol' must be \"acp\", \"acp2\" or \"cli\"" },
        { "args = \"x\"", "'args' must be an array" },
        { "args = [1]", "'args' must hold strings" },
        { "env = []", "'env' must be a table" },
        { "env = { A = 1 }", "'env.A' must be a string" },
        { "env = { \"A=B\" = \"1\" }", "'env' has a name that is none" },
        { "pins = { a = 1 }", "'pins.a' must be a string or a boolean" },
        { "pins = \"a\"", "'pins' must be a table" },
        { "model = \"llm\"", "'model' must be \"config:<id>\", \"arg:<flag>\" or" },
        { "model = \"arg:model\"", "'model' must be \"config:<id>\"" },
        { "model = \"config:\"", "'model' must be \"config:<id>\"" },
        { "model = 1", "'model' must be" },
        { "effort = { values = [\"a\"] }", "'effort' needs a 'set'" },
        { "effort = { set = \"config:e\", x = 1 }", "unknown key 'x'" },
        { "resume = \"yes\"", "'resume' must be" },
        { "prompt = \"stdin\"", "'prompt' is for \"cli\" agents" },
        { "protocol = \"cli\"", "'prompt' of a cli agent must be" },
        { "protocol = \"cli\"\nprompt = \"arg:x\"", "'prompt' of a cli agent must be" },
        { "protocol = \"cli\"\nprompt = \"stdin\"\nresume = true", "cannot 'resume'" },
        { "protocol = \"cli\"\nprompt = \"stdin\"\nmode-pin = \"x\"", "has no 'pins'" },
        { "protocol = \"cli\"\nprompt = \"stdin\"\nmodel = \"config:x\"", "no config options" },
        { "options = { a = 1 }", "'options.a': must be a table" },
        { "options = { a = { type = \"int\", flag = \"--a\" } }",
          "'options.a': 'type' must be" },
        { "options = { a = { type = \"bool\" } }", "'options.a': needs a 'flag'" },
        { "options = { a = { type = \"bool\", flag = \"a\" } }",
          "'options.a': needs a 'flag'" },
        { "options = { a = { type = \"bool\", flag = \"-a=b\" } }", "needs a 'flag'" },
        { "options = { a = { type = \"string\", flag = \"-a\", pattern = \"(\" } }",
          "'options.a': 'pattern'" },
        { "options = { a = { type = \"bool\", flag = \"-a\", pattern = \"x\" } }",
          "a bool has no 'pattern'" },
        { "options = { model = { type = \"bool\", flag = \"-a\" } }",
          "'options.model': has the" },
        { "options = { a = { type = \"bool\", flag = \"-a\", x = 1 } }", "unknown key 'x'" },
        { "!name = \"qwen\"\ncommand = \"x\"", "[[task-agent]] 'qwen': 'name' is that of" },
        { "!name = \"Mine\"\ncommand = \"x\"", "'name' must have 1 to 32 of a-z, 0-9" },
        { "!name = \"a b\"\ncommand = \"x\"", "'name' must have 1 to 32" },
        { "!name = \"a23456789012345678901234567890123\"\ncommand = \"x\"",
          "'name' must have" },
        { "!name = \"a\"", "[[task-agent]] 'a': needs a 'command'" },
        { "!name = \"a\"\ncommand = \"bin/x\"", "'command' must be a name that is searched" },
        { "!name = \"a\"\ncommand = \"x\"\n[[task-agent]]\nname = \"a\"\ncommand = \"y\"",
          "'name' is that of another agent" },
    };
    auto_arena a = ARENA;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *t = cases[i].toml;
        const char *toml = *t == '!' ? arena_printf(&a, "[[task-agent]]\n%s\n", t + 1)
                                     : arena_printf(&a,
                                                    "[[task-agent]]\nname = \"mine\"\n"
                                                    "command = \"x\"\n%s\n",
                                                    t);
        const char *got = load_refusal(&a, toml);

        if (!got || !strstr(got, cases[i].want) || !strstr(got, "[[task-agent]] '"))
            fail_msg("'%s': got '%s', want '%s'", t, got ? got : "(nothing)", cases[i].want);
    }
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declared_agent_behaves_as_a_built_in_one),
        cmocka_unit_test(its_environment_beats_ours),
        cmocka_unit_test(the_version_of_acp_is_the_configs_or_its_own),
        cmocka_unit_test(its_missing_program_is_told),
        cmocka_unit_test(a_bad_declaration_is_refused_by_name_and_key),
    };

    return cmocka_run_group_tests_name("tasks/adapter_declared", tests, NULL, NULL);
}
