/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ledger_check.h"

/* TK-3: what was answered is there after the process has ended. */
static void a_task_goes_through_its_life_and_is_there_after_reopening(void **state)
{
    char id[TASK_ID_LEN + 1];
    struct got g = { 0 };
    struct world w;

    (void)state;
    world_open(&w);
    ok_submit(&w, id);
    ok_run(&w, id);
    ok_append(&w, id, TASK_EV_MESSAGE, "{\"text\":\"hello\"}");
    ok_append(&w, id, TASK_EV_PERMISSION, "{\"kind\":\"edit\"}");
    ok_end(&w, id, TASK_SUCCEEDED);
    world_reopen(&w);
    ask_get(&w, id, &g);
    assert_int_equal(g.e.kind, ERR_NONE);
    assert_int_equal(g.a.tasks[0].status, TASK_SUCCEEDED);
    assert_str(g.a.tasks[0].agent, "qwen");
    assert_str(g.a.tasks[0].prompt, "do it");
    assert_str(g.a.tasks[0].labels, "[\"red\",\"big\"]");
    assert_int_equal(g.a.tasks[0].exit_code, -1);
    assert_true(g.a.tasks[0].created_ms > 0);
    assert_true(g.a.tasks[0].finished_ms >= g.a.tasks[0].started_ms);
    assert_int_equal(g.a.tasks[0].last_seq, 6);
    ask_events(&w, id, 0, 100, &g);
    assert_int_equal(g.a.nevents, 6);
    static const enum task_event types[] = { TASK_EV_CREATED,    TASK_EV_STATUS,
                                             TASK_EV_STATUS,     TASK_EV_MESSAGE,
                                             TASK_EV_PERMISSION, TASK_EV_STATUS };
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(g.a.events[i].type, types[i]);
    assert_str(g.a.events[0].data,
               "{\"agent\":\"qwen\",\"workspace\":\"/w\",\"labels\":[\"red\",\"big\"]}");
    assert_str(g.a.events[5].data, "{\"from\":\"running\",\"to\":\"succeeded\"}");
    assert_int_equal(check_dense(&w, id), 6);
    got_free(&g);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_goes_through_its_life_and_is_there_after_reopening),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
