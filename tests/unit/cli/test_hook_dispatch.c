/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../plugins/world.h"

#include <signal.h>

#include "../loop_check.h"

#include "cli/hook_dispatch.h"
#include "lockdown/keeper.h"

/* One dispatch over the world's resolution; what it decided, as text. */
struct bench {
    struct world *w;
    struct hook_dispatch *dispatch;
    const char *agent, *native;
    enum hook_event event;
    int timeout_ms;
    char said[8192]; /* "plugin/hook: denied" lines */
    char out[8192];  /* the answer for the agent */
    bool decided;
};

static void on_decided(void *ctx, const struct hook_decided *d)
{
    struct bench *b = ctx;
    struct hook_answer answer;
    auto_buf said = BUF(sizeof b->said - 1);

    for (size_t i = 0; i < d->outcomes.n; i++) {
        const struct hook_outcome *o = &d->outcomes.v[i];

        buf_addf(&said, "%.*s/%.*s: %s%s%s\n", STR_F(o->plugin), STR_F(o->hook), o->what,
                 o->why ? ": " : "", o->why ? o->why : "");
    }
    snprintf(b->said, sizeof b->said, "%s", buf_z(&said));
    hook_answer_put(&answer, hook_dialect_find(str_of(b->agent)), b->event, &d->verdict);
    snprintf(b->out, sizeof b->out, "%s", buf_z(&answer.out));
    hook_answer_free(&answer);
    b->decided = true;
    hook_dispatch_free(b->dispatch);
    loop_stop(b->w->loop);
}

static void dispatch(struct bench *b)
{
    struct hook_input in;
    struct hook_dispatch_opts o = { .res = b->w->res,
                                    .cache_dir = b->w->dirs.cache,
                                    .input = &in,
                                    .native = str_of(b->native),
                                    .timeout_ms =
                                        b->timeout_ms ? b->timeout_ms : 5000 * slack() };
    auto_json j = { 0 };

    b->decided = false;
    assert_true(json_parse(&j, o.native, NULL));
    assert_true(
        hook_input_read(&in, hook_dialect_find(str_of(b->agent)), b->event, j.root, NULL));
    b->dispatch = hook_dispatch_start(b->w->loop, &o, on_decided, b);
    assert_false(b->decided); /* never from inside */
    run_until_stopped(b->w->loop, 15000);
    assert_true(b->decided);
    hook_input_free(&in);
}

#define BASH_TOOL "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"cwd\":\"/\"}"

#define HOOK_HEAD(name, event) "[[hooks]]\nname = \"" name "\"\nevent = \"" event "\"\n"
#define HOOK_SH(name, event, script) \
    HOOK_HEAD(name, event)           \
    "command = { executable = \"/bin/sh\", args = [\"-c\", '''" script "'''] }\n"

static struct bench bench_new(const char *agent, enum hook_event event)
{
    return (
        struct bench){ .w = world_new(), .agent = agent, .event = event, .native = BASH_TOOL };
}

#define DENY_BECAUSE(text) \
    "echo '{\"PreToolUse\":{\"decision\":\"deny\",\"additionalContext\":\"" text "\"}}'"

static void a_hook_gets_our_form_and_its_word_counts(void **state) /* HK-3, HK-5 */
{
    struct bench b = bench_new("claude", HOOK_PRE_TOOL_USE);

    user_plugin(b.w, "p",
                ANY HOOK_SH("h", "PreToolUse", "cat > stdin; pwd > pwd; " DENY_BECAUSE("no")));
    resolve(b.w);
    b.native = arena_printf(&b.w->t.a,
                            "{\"tool_name\":\"Bash\",\"tool_input\":{},\"session_id\":\"s\","
                            "\"cwd\":\"%s\"}",
                            tree_put(&b.w->t, "ws/sub/", ""));
    dispatch(&b);
    assert_string_equal(b.said, "p/h: denied\n");
    assert_string_equal(
        b.out, "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
               "\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"no\"}}");
    {
        auto_buf in = BUF(4096), pwd = BUF(4096);

        assert_true(file_read(tree_path(&b.w->t, "ws/sub/stdin"), &in, NULL));
        assert_string_equal(
            buf_z(&in), arena_printf(&b.w->t.a,
                                     "{\"PreToolUse\":{\"tool_name\":\"Bash\","
                                     "\"tool_input\":{},\"session_id\":\"s\",\"cwd\":\"%s\"}}",
                                     tree_path(&b.w->t, "ws/sub")));
        assert_true(file_read(tree_path(&b.w->t, "ws/sub/pwd"), &pwd, NULL));
        assert_str(str_trim(buf_str(&pwd)), tree_path(&b.w->t, "ws/sub"));
    }
    world_free(b.w);
}

static void the_end_of_a_hook_decides_what_it_means(void **state) /* HK-5 */
{
    static const struct {
        const char *script, *said, *out;
    } rows[] = {
        { "exit 0", "p/h: answered\n", "" },
        { "echo why >&2; exit 2", "p/h: blocked\n", "why" },
        { "echo crashed >&2; kill -SEGV $$", "p/h: blocked\n", "crashed" },
        { "exit 2", "p/h: blocked\n", "gave no reason" },
        { "echo '{\"PreToolUse\":{\"decision\":\"deny\"}}'; exit 1",
          "p/h: failed: exited with status 1\n", "" },
        { "exit 127", "p/h: failed: exited with status 127\n", "" },
        { "echo hello", "p/h: failed: its output is no JSON", "" },
        { "echo '{}'", "p/h: failed: its output has no object 'PreToolUse'\n", "" },
        { "head -c 2000000 /dev/zero", "p/h: failed: printed more than 1048576 bytes\n", "" },
        { "exec <&-; exit 0", "p/h: answered\n", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bench b = bench_new("claude", HOOK_PRE_TOOL_USE);

        user_plugin(b.w, "p",
                    arena_printf(&b.w->t.a,
                                 ANY HOOK_HEAD("h", "PreToolUse") "command = { executable = "
                                                                  "\"/bin/sh\", args = "
                                                                  "[\"-c\", '''%s'''] }\n",
                                 rows[i].script));
        resolve(b.w);
        dispatch(&b);
        assert_has(b.said, rows[i].said);
        if (rows[i].out[0])
            assert_has(b.out, rows[i].out);
        else
            assert_string_equal(b.out, "");
        world_free(b.w);
    }
}

static void a_program_that_is_not_there_has_no_say(void **state) /* PL-11, HK-5 */
{
    struct bench b = bench_new("claude", HOOK_PRE_TOOL_USE);

    user_plugin(
        b.w, "p",
        ANY HOOK_HEAD("a", "PreToolUse") "command = { executable = \"./gone\" }\n" HOOK_HEAD(
            "b", "PreToolUse") "command = { source = \"cargo\", crate = "
                               "\"tool\", version = \"1\" }\n");
    resolve(b.w);
    dispatch(&b);
    assert_has(b.said, "p/a: failed: cannot be executed: No such file");
    assert_has(b.said, "p/b: failed: installation 'b' is not there yet; run 'symposium sync'");
    assert_string_equal(b.out, "");
    world_free(b.w);
}

/* PL-13: event, agent, format. HK-5: per plugin the native format beats ours. */
static void the_hooks_of_event_agent_and_format_are_chosen(void **state)
{
    static const struct {
        const char *agent, *said;
    } rows[] = {
        { "claude", "other/ours: answered\np/mine: answered\np/mine2: answered\n" },
        { "codex", "other/ours: answered\np/ours: answered\n" },
        { "gemini", "other/ours: answered\np/forgemini: answered\np/ours: answered\n" },
    };
    struct bench b = bench_new("", HOOK_PRE_TOOL_USE);

    user_plugin(
        b.w, "p",
        ANY HOOK_SH("forgemini", "PreToolUse",
                    "exit 0") "agent = \"gemini\"\n" HOOK_SH("ours", "PreToolUse", "exit 0")
            HOOK_SH("mine", "PreToolUse", "exit 0") "format = \"claude\"\n" HOOK_SH(
                "mine2", "PreToolUse",
                "exit 0") "format = \"claude\"\n" HOOK_SH("kiros", "PreToolUse",
                                                          "exit 0") "format = "
                                                                    "\"kiro\"\n" HOOK_SH("late"
                                                                                         "r",
                                                                                         "PostT"
                                                                                         "oolUs"
                                                                                         "e",
                                                                                         "exit "
                                                                                         "0"));
    user_plugin(b.w, "other", ANY HOOK_SH("ours", "PreToolUse", "exit 0"));
    resolve(b.w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        b.agent = rows[i].agent;
        dispatch(&b);
        assert_string_equal(b.said, rows[i].said);
    }
    world_free(b.w);
}

static void a_hook_in_the_agents_form_gets_what_came_and_speaks_for_itself(void **state)
{
    struct bench b = bench_new("claude", HOOK_PRE_TOOL_USE);

    user_plugin(b.w, "p",
                ANY HOOK_SH("h", "PreToolUse",
                            "cat > /proc/self/cwd/in; echo '{\"hookSpecificOutput\":"
                            "{\"permissionDecision\":\"ask\",\"permissionDecisionReason\":"
                            "\"sure?\"},\"systemMessage\":\"m\"}'") "format = \"claude\"\n");
    resolve(b.w);
    b.native = arena_printf(&b.w->t.a, "{\"cwd\" : \"%s\", \"unknown\":[1.50]}",
                            tree_path(&b.w->t, "ws"));
    dispatch(&b);
    assert_string_equal(b.said, "p/h: asked\n");
    assert_has(b.out, "\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"sure?\"");
    assert_has(b.out, "\"systemMessage\":\"m\"");
    {
        auto_buf in = BUF(4096);

        assert_true(file_read(tree_path(&b.w->t, "ws/in"), &in, NULL));
        assert_string_equal(buf_z(&in), b.native);
    }
    world_free(b.w);
}

static void matcher_and_predicates_come_before_the_program(void **state) /* HK-5, PL-23 */
{
    struct bench b = bench_new("claude", HOOK_PRE_TOOL_USE);

    user_plugin(
        b.w, "p",
        ANY HOOK_SH("edit", "PreToolUse", "exit 2") "matcher = \"Edit|Write\"\n" HOOK_SH(
            "bad", "PreToolUse",
            "exit 2") "matcher = \"(\"\n" HOOK_SH("off", "PreToolUse",
                                                  "exit 2") "matcher = \"Bash\"\n"
                                                            "predicates = [\"shell(test -f "
                                                            "on)\"]\n" HOOK_SH(
                                                                "dep", "PreToolUse",
                                                                "exit 2") "predicates = "
                                                                          "[\"depends-on(x)\"]"
                                                                          "\n" HOOK_SH(
                                                                              "custom",
                                                                              "PreTool"
                                                                              "Use",
                                                                              "exit 2") "predic"
                                                                                        "ates "
                                                                                        "= "
                                                                                        "[\"no_"
                                                                                        "such()"
                                                                                        "\", "
                                                                                        "\"ours"
                                                                                        "(a)\"]"
                                                                                        "\n"
                                                                                        "[["
                                                                                        "predic"
                                                                                        "ate]]"
                                                                                        "\nname"
                                                                                        " "
                                                                                        "= "
                                                                                        "\"ours"
                                                                                        "\"\nco"
                                                                                        "mmand "
                                                                                        "= { "
                                                                                        "execut"
                                                                                        "able "
                                                                                        "= "
                                                                                        "\"/"
                                                                                        "bin/"
                                                                                        "true\""
                                                                                        " }\n");
    resolve(b.w);
    dispatch(&b);
    assert_has(b.said, "p/bad: failed: matcher '(':");
    assert_has(b.said, "p/off: gated\np/dep: gated\np/custom: gated\n");
    assert_lacks(b.said, "edit");
    assert_string_equal(b.out, "");
    /* At each dispatch anew. */
    tree_put(&b.w->t, "ws/on", "");
    dispatch(&b);
    assert_has(b.said, "p/off: blocked\n");
    world_free(b.w);
}

/* PL-15, PL-23: also that of a plugin whose own gate does not hold here, as for servers. */
static void a_custom_predicate_of_another_plugin_counts(void **state)
{
#define HAS "[[predicate]]\nname = \"has\"\ncommand = { executable = \"/bin/true\" }\n"
    static const char *const others[] = { ANY HAS,
                                          ANY "predicates = [\"env(NOT_SET)\"]\n" HAS };

    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct bench b = bench_new("claude", HOOK_PRE_TOOL_USE);

        user_plugin(b.w, "a",
                    ANY HOOK_SH("h", "PreToolUse", "exit 2") "predicates = [\"has(x)\"]\n");
        user_plugin(b.w, "b", others[i]);
        resolve(b.w);
        dispatch(&b);
        assert_string_equal(b.said, "a/h: blocked\n");
        world_free(b.w);
    }
#undef HAS
}

/* PL-32: the manifest of a workspace that nobody consented to. */
static void hooks_of_an_untrusted_workspace_never_run(void **state)
{
    struct bench b = bench_new("claude", HOOK_PRE_TOOL_USE);

    tree_put(&b.w->t, "ws/SYMPOSIUM.toml", ANY HOOK_SH("h", "PreToolUse", "touch ran; exit 2"));
    resolve(b.w);
    b.native = arena_printf(&b.w->t.a, "{\"cwd\":\"%s\"}", tree_path(&b.w->t, "ws"));
    dispatch(&b);
    assert_string_equal(b.said, "");
    assert_string_equal(b.out, "");
    assert_false(file_exists(tree_path(&b.w->t, "ws/ran")));
    tree_put(&b.w->t, "cfg/config.toml", "[plugins]\ntrust-workspace = \"always\"\n");
    resolve(b.w);
    dispatch(&b);
    assert_has(b.said, "/h: blocked\n");
    assert_true(file_exists(tree_path(&b.w->t, "ws/ran")));
    world_free(b.w);
}

/* HK-6, with a requirement's and the command's own program. */
static void the_environment_names_programs_and_puts_them_in_front_of_the_path(void **state)
{
    struct bench b = bench_new("claude", HOOK_PRE_TOOL_USE);
    auto_buf got = BUF(4096);

    user_plugin(b.w, "p",
                ANY "[[installations]]\nname = \"my-tool\"\nexecutable = \"tools/my-tool\"\n"
                    "[[installations]]\nname = \"HOME\"\nexecutable = \"tools/home\"\n"
                    "[[installations]]\nname = \"main\"\nscript = \"hook.sh\"\n"
                    "requirements = [\"my-tool\", \"HOME\"]\n" HOOK_HEAD(
                        "h", "PreToolUse") "command = \"main\"\n");
    tree_put(&b.w->t, "cfg/plugins/p/tools/my-tool", "");
    tree_put(&b.w->t, "cfg/plugins/p/tools/home", "");
    tree_put(&b.w->t, "cfg/plugins/p/hook.sh",
             "echo \"$SYMPOSIUM_my_tool $SYMPOSIUM_main $PATH ${SYMPOSIUM_HOME-unset} "
             "$CANARY\" > got");
    setenv("CANARY", "sings", 1);
    unsetenv("SYMPOSIUM_HOME");
    resolve(b.w);
    b.native = arena_printf(&b.w->t.a, "{\"cwd\":\"%s\"}", tree_path(&b.w->t, "ws"));
    dispatch(&b);
    assert_string_equal(b.said, "p/h: answered\n");
    assert_true(file_read(tree_path(&b.w->t, "ws/got"), &got, NULL));
    assert_string_equal(
        buf_z(&got), arena_printf(&b.w->t.a, "%s %s %s:%s:%s:%s unset sings\n",
                                  tree_path(&b.w->t, "cfg/plugins/p/tools/my-tool"),
                                  tree_path(&b.w->t, "cfg/plugins/p/hook.sh"),
                                  tree_path(&b.w->t, "cfg/plugins/p"),
                                  tree_path(&b.w->t, "cfg/plugins/p/tools"),
                                  tree_path(&b.w->t, "cfg/plugins/p/tools"), getenv("PATH")));
    world_free(b.w);
}

/* HK-5: what hangs has no say, and the others' words count all the same. Nothing of it is left.
 */
static void a_hook_that_hangs_is_ended_with_all_of_its_group(void **state)
{
    struct bench b = bench_new("claude", HOOK_PRE_TOOL_USE);
    auto_buf pid = BUF(64);
    int64_t began = clock_ms(), number = 0;

    user_plugin(b.w, "p",
                ANY HOOK_SH("hangs", "PreToolUse",
                            "trap '' TERM; sleep 100 & echo $! > pid; wait; sleep 100")
                    HOOK_SH("quick", "PreToolUse", DENY_BECAUSE("quick")));
    resolve(b.w);
    b.native = arena_printf(&b.w->t.a, "{\"cwd\":\"%s\"}", tree_path(&b.w->t, "ws"));
    b.timeout_ms = 700;
    dispatch(&b);
    assert_has(b.said, "p/hangs: failed: ");
    assert_has(b.said, "p/quick: denied\n");
    assert_has(b.out, "quick");
    assert_true(clock_ms() - began < 1500 * slack());
    assert_true(file_read(tree_path(&b.w->t, "ws/pid"), &pid, NULL));
    assert_true(str_to_int(str_trim(buf_str(&pid)), 2, INT32_MAX, &number));
    for (int i = 0; i < 100 * slack() && kill((pid_t)number, 0) == 0; i++)
        run_for(b.w->loop, 10);
    assert_int_equal(kill((pid_t)number, 0), -1);
    world_free(b.w);
}

static void many_hooks_run_at_the_same_time_and_merge_in_order(void **state) /* HK-5 */
{
    struct bench b = bench_new("claude", HOOK_SESSION_START);
    auto_buf text = BUF(1 << 20), want = BUF(1 << 20);
    int64_t began = clock_ms();

    buf_addz(&text, ANY);
    for (int i = 0; i < HOOK_MAX + 5; i++) {
        buf_addf(
            &text,
            HOOK_HEAD("h%d", "SessionStart") "command = { executable = \"/bin/sh\", args = "
                                             "[\"-c\", '''sleep 0.%d; echo "
                                             "'{\"SessionStart\":{\"additionalContext\":"
                                             "\"%d\"}}' '''] }\n",
            i, 2 - i % 3, i);
        if (i < HOOK_MAX)
            buf_addf(&want, "%s%d", i ? "\\n" : "", i);
    }
    user_plugin(b.w, "p", buf_z(&text));
    resolve(b.w);
    b.native = "{}";
    b.timeout_ms = 10000 * slack();
    dispatch(&b);
    assert_has(b.out, arena_printf(&b.w->t.a, "\"additionalContext\":\"%s\"", buf_z(&want)));
    assert_true(clock_ms() - began < 4000 * slack());
    world_free(b.w);
}

static void without_a_hook_nothing_is_decided(void **state)
{
    struct bench b = bench_new("antigravity", HOOK_PRE_TOOL_USE);

    user_plugin(b.w, "p", ANY RUN("s") HOOK_SH("dormant", "Stop", "exit 2"));
    user_plugin(b.w, "sleeper", HOOK_SH("h", "PreToolUse", "exit 2"));
    resolve(b.w);
    dispatch(&b);
    assert_string_equal(b.said, "");
    assert_string_equal(b.out, "{\"decision\":\"allow\"}");
    world_free(b.w);
}

static void a_dispatch_may_be_dropped_at_any_time(void **state)
{
    for (int ms = 0; ms < 60; ms += 10) {
        struct bench b = bench_new("claude", HOOK_PRE_TOOL_USE);
        struct hook_input in;
        struct hook_dispatch_opts o = {
            .cache_dir = b.w->dirs.cache, .input = &in, .native = STR("{}"), .timeout_ms = 5000
        };
        auto_json j = { 0 };

        user_plugin(b.w, "p",
                    ANY HOOK_SH("h", "PreToolUse", "sleep 5") HOOK_SH(
                        "g", "PreToolUse", "exit") "predicates = [\"shell(sleep 5)\"]\n");
        o.res = resolve(b.w);
        assert_true(json_parse(&j, o.native, NULL));
        assert_true(
            hook_input_read(&in, hook_dialect_find(STR("claude")), b.event, j.root, NULL));
        b.dispatch = hook_dispatch_start(b.w->loop, &o, on_decided, &b);
        if (ms)
            run_for(b.w->loop, ms);
        hook_dispatch_free(b.dispatch);
        run_for(b.w->loop, 20);
        assert_false(b.decided);
        world_free(b.w);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_gets_our_form_and_its_word_counts),
        cmocka_unit_test(the_end_of_a_hook_decides_what_it_means),
        cmocka_unit_test(a_program_that_is_not_there_has_no_say),
        cmocka_unit_test(the_hooks_of_event_agent_and_format_are_chosen),
        cmocka_unit_test(a_hook_in_the_agents_form_gets_what_came_and_speaks_for_itself),
        cmocka_unit_test(matcher_and_predicates_come_before_the_program),
        cmocka_unit_test(a_custom_predicate_of_another_plugin_counts),
        cmocka_unit_test(hooks_of_an_untrusted_workspace_never_run),
        cmocka_unit_test(the_environment_names_programs_and_puts_them_in_front_of_the_path),
        cmocka_unit_test(a_hook_that_hangs_is_ended_with_all_of_its_group),
        cmocka_unit_test(many_hooks_run_at_the_same_time_and_merge_in_order),
        cmocka_unit_test(without_a_hook_nothing_is_decided),
        cmocka_unit_test(a_dispatch_may_be_dropped_at_any_time),
    };

    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
