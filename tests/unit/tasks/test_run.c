/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run_check.h"

#include <signal.h>

#include "base/file.h"
#include "base/path.h"
#include "lockdown/keeper.h"

/* TK-2, TK-16, TK-32: what a turn comes to, and which events tell it. */
static void each_end_of_a_turn_has_its_status_and_events(void **state)
{
    static const struct {
        struct job_opts o;
        const char *end, *events, *result;
    } cases[] = {
        { { "" },
          "succeeded end_turn 0 -",
          "process_started session_started agent_message process_exited",
          "hello" },
        { { "stop=refusal" },
          "failed refusal 0 -",
          "process_started session_started agent_message process_exited",
          "hello" },
        { { "stop=max_tokens" }, "failed max_tokens 0 -", NULL, "hello" },
        { { "stop=cancelled" }, "failed cancelled 0 -", NULL, "hello" },
        { { "stop=whatever" },
          "failed whatever 0 -",
          "process_started session_started agent_message !ended for an unknown reason: "
          "'whatever' process_exited",
          "hello" },
        { { "ask=edit", .options = "{\"allow\":[\"edit\"]}" },
          "succeeded end_turn 0 -",
          "process_started session_started agent_message permission agent_message "
          "process_exited",
          "allowed" },
        { { "ask=edit" }, "succeeded end_turn 0 -", NULL, "rejected" },
        { { "ask=edit reject" },
          "failed cancelled 0 -",
          "process_started session_started agent_message permission agent_message !ended after "
          "a rejected permission process_exited",
          "rejected" },
        { { "die" }, "failed - 3 -", NULL, "hello" },
    };
    struct stage s;

    stage_open(&s, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct job j;

        job_do(&s, &j, &cases[i].o);
        assert_string_equal(job_end(&j), cases[i].end);
        if (cases[i].events)
            assert_string_equal(job_events(&j), cases[i].events);
        assert_string_equal(job_result(&j), cases[i].result);
        assert_int_equal(j.running, 1);
        assert_int_equal(j.queued, 0);
        check_dense(&s.w, j.id);
    }
    stage_close(&s);
    (void)state;
}

static void an_agent_that_dies_in_its_turn_fails_with_a_word(void **state)
{
    static const struct {
        const char *words, *want;
    } cases[] = {
        { "die", "the agent exited with status 3" },
        { "closed", "the agent closed its stdout" },
    };
    struct stage s;

    stage_open(&s, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct job j;

        job_do(&s, &j, &(struct job_opts){ cases[i].words });
        assert_has(job_events(&j), cases[i].want);
        assert_has(job_end(&j), "failed");
    }
    stage_close(&s);
    (void)state;
}

/* TK-17: `error` without process_started and process_exited. */
static void a_failed_start_is_an_error_alone(void **state)
{
    static const struct {
        struct job_opts o;
        const char *events;
    } cases[] = {
        { { .agent = "qwen" },
          "!there is no 'qwen' in PATH for agent 'qwen': install it with 'npm install -g "
          "@qwen-code/qwen-code'" },
        { { "", .workspace = "/nowhere/at/all" }, "!cannot start '" },
    };
    struct stage s;

    stage_open(&s, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct job j;

        job_do(&s, &j, &cases[i].o);
        assert_string_equal(job_end(&j), "failed - - -");
        assert_has(job_events(&j), cases[i].events);
        assert_lacks(job_events(&j), "process_");
        assert_int_equal(j.running, 0);
    }
    stage_close(&s);
    (void)state;
}

/* TK-2, TK-18 */
static void a_cli_agents_output_and_status_are_its_result(void **state)
{
    static const struct {
        struct job_opts o;
        const char *end, *events, *out, *err;
    } cases[] = {
        { { .script = "cat; echo oops >&2", .prompt = "the prompt" },
          "succeeded - 0 -",
          NULL,
          "the prompt",
          "oops\n" },
        { { .script = "echo no; exit 7" },
          "failed - 7 -",
          "process_started stdout process_exited",
          "no\n",
          "" },
        { { .script = "kill -KILL $$" },
          "failed - - 9",
          "process_started process_exited",
          "",
          "" },
        { { .script = "printf 'a\\377b\\303'; sleep 0.4; printf '\\274c'" },
          "succeeded - 0 -",
          NULL,
          "a\xef\xbf\xbd"
          "b\xc3\xbc"
          "c",
          "" },
        { { .script = "printf 'a\\303'" }, "succeeded - 0 -", NULL, "a\xef\xbf\xbd", "" },
        { { .script = "printf '\\033[1mbold\\033[0m'" },
          "succeeded - 0 -",
          NULL,
          "\033[1mbold\033[0m",
          "" },
    };
    struct stage s;

    stage_open(&s, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct job j;

        job_do(&s, &j, &cases[i].o);
        assert_string_equal(job_end(&j), cases[i].end);
        if (cases[i].events)
            assert_string_equal(job_events(&j), cases[i].events);
        assert_string_equal(job_text(&j, TASK_EV_STDOUT), cases[i].out);
        assert_string_equal(job_text(&j, TASK_EV_STDERR), cases[i].err);
    }
    stage_close(&s);
    (void)state;
}

/* TK-18: pieces of at most 1 MiB, cut between characters. */
static void a_long_line_comes_in_pieces_between_characters(void **state)
{
    struct stage s;
    struct job j;
    struct got g;
    size_t total = 0;
    int pieces = 0;

    stage_open(&s, NULL);
    job_do(&s, &j,
           &(struct job_opts){
               .script = "printf x; head -c 3000000 /dev/zero | sed 's/\\x00/\xc3\xbc/g'" });
    assert_string_equal(job_end(&j), "succeeded - 0 -");
    g = (struct got){ .loop = s.w.loop };
    ask_events(&s.w, j.id, 0, LEDGER_EVENTS_MAX, &g);
    for (size_t i = 0; i < g.a.nevents; i++) {
        auto_json data = { 0 };
        struct str text;

        if (g.a.events[i].type != TASK_EV_STDOUT)
            continue;
        assert_true(json_parse(&data, g.a.events[i].data, NULL));
        text = json_str(json_get(data.root, "text"));
        assert_true(text.n <= TASK_PIECE_MAX);
        assert_int_equal(str_find(text, STR("\xef\xbf\xbd")), SIZE_MAX);
        total += text.n;
        pieces++;
    }
    assert_int_equal(total, 1 + 2 * 3000000);
    assert_true(pieces >= 6);
    got_free(&g);
    assert_int_equal(strlen(job_result(&j)), TASK_RESULT_MAX);
    stage_close(&s);
    (void)state;
}

static void stderr_of_an_acp_agent_is_kept_as_text(void **state)
{
    struct stage s;
    struct job j;

    stage_open(&s, NULL);
    job_do(&s, &j, &(struct job_opts){ "bytes" });
    assert_string_equal(job_text(&j, TASK_EV_STDERR),
                        "ok \xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd");
    stage_close(&s);
    (void)state;
}

/* ---- the end of processes ---- */

static pid_t left_by(struct job *j)
{
    const char *text = strstr(job_text(j, TASK_EV_STDERR), "left ");

    return text ? (pid_t)atoi(text + 5) : 0;
}

/* TK-21, SEC-54: swept also after success. */
static void nothing_of_an_agent_is_left_after_its_task(void **state)
{
    static const char *const words[] = { "setsid", "orphan", "setsid stop=refusal",
                                         "orphan die" };
    struct stage s;

    stage_open(&s, NULL);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct job j;

        job_do(&s, &j, &(struct job_opts){ words[i] });
        assert_true(pid_is_gone(left_by(&j)));
        assert_has(job_end(&j), i < 2 ? "succeeded end_turn 0 -" : "failed");
    }
    stage_close(&s);
    (void)state;
}

/* TK-33: an agent that obeys ends at once. */
static void a_cancelled_turn_ends_as_the_agent_does(void **state)
{
    struct stage s;
    struct job j;

    stage_open(&s, NULL);
    job_start(&s, &j, &(struct job_opts){ "hang setsid" });
    job_wait_event(&j, TASK_EV_MESSAGE, "hanging");
    j.began = clock_ms();
    run_cancel(j.run, STR("enough"));
    run_cancel(j.run, STR("again"));
    job_wait(&j);
    assert_true(j.ended - j.began < 1000 * slack());
    assert_has(job_end(&j), "cancelled cancelled "); /* a slow one gets its SIGTERM first */
    assert_has(job_text(&j, TASK_EV_CANCELLED), "{\"reason\":\"enough\"}");
    assert_lacks(job_text(&j, TASK_EV_CANCELLED), "again");
    assert_true(pid_is_gone(left_by(&j)));
    stage_close(&s);
    (void)state;
}

/* TK-21: session/cancel, 5 s, SIGTERM, 3 s, SIGKILL. */
static void an_agent_that_refuses_to_die_is_killed_and_its_task_cancelled(void **state)
{
    struct stage s;
    struct job j;

    stage_open(&s, NULL);
    job_start(&s, &j, &(struct job_opts){ "hang deaf setsid orphan" });
    job_wait_event(&j, TASK_EV_MESSAGE, "hanging");
    j.began = clock_ms();
    run_cancel(j.run, (struct str){ 0 });
    while (!j.done)
        run_until_stopped(s.w.loop, RUN_SHUTDOWN_MS);
    assert_true(j.ended - j.began >= RUN_CANCEL_MS + RUN_TERM_MS);
    assert_true(j.ended - j.began <= RUN_SHUTDOWN_MS + 1000 * slack());
    assert_string_equal(job_end(&j), "cancelled - - 9");
    assert_true(pid_is_gone(left_by(&j)));
    stage_close(&s);
    (void)state;
}

/* Before the prompt there is no turn to cancel: the process is ended at once. */
static void a_cancel_before_the_turn_ends_the_process(void **state)
{
    struct stage s;
    struct job j;

    stage_open(&s, NULL);
    job_start(&s, &j, &(struct job_opts){ "mute" });
    job_wait_running(&j);
    run_cancel(j.run, (struct str){ 0 });
    job_wait(&j);
    assert_has(job_end(&j), "cancelled - ");
    assert_string_equal(job_events(&j), "process_started task_cancelled process_exited");
    job_start(&s, &j, &(struct job_opts){ "" });
    run_cancel(j.run, (struct str){ 0 }); /* not even claimed */
    job_wait(&j);
    assert_string_equal(job_end(&j), "cancelled - - -");
    assert_string_equal(job_events(&j), "task_cancelled");
    stage_close(&s);
    (void)state;
}

static void a_cancelled_cli_agent_gets_sigterm_then_sigkill(void **state)
{
    struct stage s;
    struct job j;

    stage_open(&s, NULL);
    job_start(&s, &j, &(struct job_opts){ .script = "echo on; sleep 1000" });
    job_wait_event(&j, TASK_EV_STDOUT, "on");
    run_cancel(j.run, (struct str){ 0 });
    job_wait(&j);
    assert_string_equal(job_end(&j), "cancelled - - 15");
    job_start(&s, &j, &(struct job_opts){ .script = "trap '' TERM; echo on; sleep 1000" });
    job_wait_event(&j, TASK_EV_STDOUT, "on");
    run_cancel(j.run, (struct str){ 0 });
    job_wait(&j);
    assert_string_equal(job_end(&j), "cancelled - - 9");
    stage_close(&s);
    (void)state;
}

/* TK-20 */
static void at_the_deadline_the_task_is_called_off_and_fails(void **state)
{
    struct stage s;
    struct job j;

    stage_open(&s, NULL);
    job_do(&s, &j, &(struct job_opts){ "hang", .deadline_s = 1 });
    assert_has(job_end(&j), "failed cancelled ");
    assert_has(job_events(&j), "!deadline: the task did not end within 1 s process_exited");
    assert_lacks(job_events(&j), "task_cancelled");
    assert_true(j.ended - j.began >= 1000);
    job_do(&s, &j, &(struct job_opts){ .script = "sleep 1000", .deadline_s = 1 });
    assert_string_equal(job_end(&j), "failed - - 15");
    stage_close(&s);
    (void)state;
}

/* TK-22: in parallel. */
static void a_shutdown_ends_all_runs_at_once(void **state)
{
    static const char *const words[] = { "hang", "hang deaf setsid", "mute", "hang deaf", "" };
    struct job jobs[ARRAY_LEN(words)];
    struct stage s;
    int64_t began;

    stage_open(&s, NULL);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        job_start(&s, &jobs[i], &(struct job_opts){ words[i] });
    job_wait_event(&jobs[1], TASK_EV_MESSAGE, "hanging");
    job_wait_event(&jobs[3], TASK_EV_MESSAGE, "hanging");
    began = clock_ms();
    runs_shutdown(s.runs);
    while (s.runs->n)
        run_until_stopped(s.w.loop, RUN_SHUTDOWN_MS);
    assert_true(clock_ms() - began <= RUN_SHUTDOWN_MS + 1000 * slack());
    for (size_t i = 0; i + 1 < ARRAY_LEN(words); i++) {
        assert_has(job_end(&jobs[i]), "cancelled");
        assert_has(job_text(&jobs[i], TASK_EV_CANCELLED), "symposium is shutting down");
    }
    assert_true(pid_is_gone(left_by(&jobs[1])));
    /* spawned after it began */
    job_do(&s, &jobs[0], &(struct job_opts){ "" });
    assert_string_equal(job_end(&jobs[0]), "failed - - -");
    assert_string_equal(job_events(&jobs[0]), "!symposium is shutting down");
    stage_close(&s);
    (void)state;
}

/* ---- floods ---- */

/* ACP-17, SEC-53: the cap is told once, permissions and the end are still handled. */
static void a_flood_ends_at_the_cap_and_the_task_goes_on(void **state)
{
    static const struct {
        struct job_opts o;
        bool decided;
    } cases[] = {
        { { "flood=2000 ask=edit", .max_output = 100000 }, true },
        { { "messages=2000 ask=edit", .max_output = 100000 }, true },
        { { .script = "head -c 3000000 /dev/zero | tr '\\0' x", .max_output = 100000 }, false },
    };
    struct stage s;

    stage_open(&s, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct job j;
        const char *events, *cap;

        job_do(&s, &j, &cases[i].o);
        events = job_events(&j);
        assert_has(job_end(&j), "succeeded");
        cap = strstr(events, "!output cap");
        assert_non_null(cap);
        assert_null(strstr(cap + 1, "!output cap"));
        if (cases[i].decided)
            assert_has(cap, "permission");
        check_dense(&s.w, j.id);
    }
    stage_close(&s);
    (void)state;
}

/* ---- others ---- */

/* TK-24: no more than so many at once; the best of those that wait comes next. */
static void tasks_beyond_the_capacity_wait_by_priority_and_age(void **state)
{
    struct job first, low, high, late;
    struct stage s;

    stage_open(&s, &(struct run_env){ .max_concurrent = 1 });
    job_start(&s, &first, &(struct job_opts){ "hang" });
    job_wait_running(&first);
    job_start(&s, &low, &(struct job_opts){ "", .priority = -1 });
    job_start(&s, &high, &(struct job_opts){ "", .priority = 3 });
    job_start(&s, &late, &(struct job_opts){ "", .priority = 3 });
    while (!low.queued || !high.queued || !late.queued)
        run_until_stopped(s.w.loop, RUN_MS);
    assert_has(job_end(&low), "created");
    job_wait_event(&first, TASK_EV_MESSAGE, "hanging");
    run_cancel(first.run, (struct str){ 0 });
    job_wait(&low);
    assert_true(high.done && late.done);
    assert_true(high.ended <= late.ended && late.ended <= low.ended);
    assert_int_equal(low.queued + high.queued + late.queued, 3);
    stage_close(&s);
    (void)state;
}

/* TK-24 */
static void without_free_memory_nothing_starts(void **state)
{
    struct stage s;
    struct job j;

    stage_open(&s, &(struct run_env){ .min_free_mb = 1 << 30 });
    job_start(&s, &j, &(struct job_opts){ "" });
    while (!j.queued)
        run_until_stopped(s.w.loop, RUN_MS);
    run_for(s.w.loop, 100);
    assert_has(job_end(&j), "created");
    run_cancel(j.run, (struct str){ 0 });
    job_wait(&j);
    assert_int_equal(j.running, 0);
    assert_has(job_end(&j), "cancelled");
    stage_close(&s);
    (void)state;
}

/* TK-4 */
static void a_cancel_asked_for_in_the_ledger_is_carried_out(void **state)
{
    struct stage s;
    struct job j;
    struct got g;
    struct task_change c = { .to = TASK_RUNNING,
                             .from = 1u << TASK_RUNNING,
                             .set.cancel_requested = true };

    stage_open(&s, NULL);
    g = (struct got){ .loop = s.w.loop };
    job_start(&s, &j, &(struct job_opts){ "hang" });
    job_wait_event(&j, TASK_EV_MESSAGE, "hanging");
    c.id = str_of(j.id);
    ask_change(&s.w, &c, &g);
    assert_true(g.a.yes);
    got_free(&g);
    job_wait(&j);
    assert_has(job_end(&j), "cancelled");
    stage_close(&s);
    (void)state;
}

/* TK-19, TK-24: cwd and chain reach the agent. */
static void the_agent_runs_in_its_workspace_or_worktree(void **state)
{
    struct stage s;
    struct job j;
    struct got g;
    const char *repo;

    stage_open(&s, NULL);
    repo = path_join(&s.arena, s.w.dir, "repo");
    assert_true(file_mkdirs(repo, NULL));
    assert_int_equal(system(arena_printf(&s.arena,
                                         "cd '%s' && git init -q && git -c user.name=a -c "
                                         "user.email=a@example.org commit -q --allow-empty -m "
                                         "one",
                                         repo)),
                     0);
    job_do(&s, &j, &(struct job_opts){ "chain", .workspace = repo, .chain = "a,b" });
    assert_string_equal(job_text(&j, TASK_EV_MESSAGE),
                        arena_printf(&s.arena, "helloa,b%s", repo));
    job_do(&s, &j,
           &(struct job_opts){ "chain", .workspace = repo, .chain = "c", .worktree = true });
    assert_string_equal(job_text(&j, TASK_EV_MESSAGE),
                        arena_printf(&s.arena, "helloc%s/worktrees/%s", s.w.state, j.id));
    g = (struct got){ .loop = s.w.loop };
    ask_get(&s.w, j.id, &g);
    assert_str(g.a.tasks[0].branch, arena_printf(&s.arena, "symposium/%s", j.id));
    assert_str(g.a.tasks[0].worktree,
               arena_printf(&s.arena, "%s/worktrees/%s", s.w.state, j.id));
    assert_str(g.a.tasks[0].session_id, "s1");
    assert_has(arena_z(&s.arena, g.a.tasks[0].usage), "totalTokens");
    got_free(&g);
    job_do(&s, &j, &(struct job_opts){ "", .worktree = true });
    assert_string_equal(job_end(&j), "failed - - -");
    assert_has(job_events(&j), "!cannot make the worktree '");
    stage_close(&s);
    (void)state;
}

/* TK-25 */
static void an_agent_that_cannot_resume_fails_before_the_prompt(void **state)
{
    struct stage s;
    struct job j;

    stage_open(&s, NULL);
    job_do(&s, &j, &(struct job_opts){ "", .session_id = "old" });
    assert_has(job_end(&j), "failed - 0 -");
    assert_has(job_events(&j), "process_started !");
    assert_lacks(job_events(&j), "agent_message");
    stage_close(&s);
    (void)state;
}

/* Never answers, never ends: the owner goes, and with it all (TK-22, SEC-55 in small). */
static void fifty_tasks_at_once_end_as_one_does(void **state)
{
    struct job jobs[50];
    struct stage s;

    stage_open(&s, &(struct run_env){ .max_concurrent = 20 });
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
        job_start(&s, &jobs[i], &(struct job_opts){ i % 3 ? "" : "setsid" });
    while (s.runs->n)
        run_until_stopped(s.w.loop, 10 * RUN_MS);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        assert_string_equal(job_end(&jobs[i]), "succeeded end_turn 0 -");
        check_dense(&s.w, jobs[i].id);
    }
    stage_close(&s);
    (void)state;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_end_of_a_turn_has_its_status_and_events),
        cmocka_unit_test(an_agent_that_dies_in_its_turn_fails_with_a_word),
        cmocka_unit_test(a_failed_start_is_an_error_alone),
        cmocka_unit_test(a_cli_agents_output_and_status_are_its_result),
        cmocka_unit_test(a_long_line_comes_in_pieces_between_characters),
        cmocka_unit_test(stderr_of_an_acp_agent_is_kept_as_text),
        cmocka_unit_test(nothing_of_an_agent_is_left_after_its_task),
        cmocka_unit_test(a_cancelled_turn_ends_as_the_agent_does),
        cmocka_unit_test(an_agent_that_refuses_to_die_is_killed_and_its_task_cancelled),
        cmocka_unit_test(a_cancel_before_the_turn_ends_the_process),
        cmocka_unit_test(a_cancelled_cli_agent_gets_sigterm_then_sigkill),
        cmocka_unit_test(at_the_deadline_the_task_is_called_off_and_fails),
        cmocka_unit_test(a_shutdown_ends_all_runs_at_once),
        cmocka_unit_test(a_flood_ends_at_the_cap_and_the_task_goes_on),
        cmocka_unit_test(tasks_beyond_the_capacity_wait_by_priority_and_age),
        cmocka_unit_test(without_free_memory_nothing_starts),
        cmocka_unit_test(a_cancel_asked_for_in_the_ledger_is_carried_out),
        cmocka_unit_test(the_agent_runs_in_its_workspace_or_worktree),
        cmocka_unit_test(an_agent_that_cannot_resume_fails_before_the_prompt),
        cmocka_unit_test(fifty_tasks_at_once_end_as_one_does),
    };

    if (argc > 1 && strcmp(argv[1], "keeper") == 0)
        return keeper_main(argc - 1, argv + 1);
    return cmocka_run_group_tests_name("tasks/run", tests, NULL, NULL);
}
