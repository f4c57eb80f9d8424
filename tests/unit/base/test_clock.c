/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../check.h"

#include <time.h>

static void monotonic_time_goes_forward_in_its_unit(void **state)
{
    int64_t ms = clock_ms(), us = clock_us();
    struct timespec nap = { .tv_nsec = 20 * 1000 * 1000 };

    nanosleep(&nap, NULL);
    assert_true(clock_ms() - ms >= 19);
    assert_true(clock_us() - us >= 19000);
    assert_true(clock_ms() - ms < 1000 * slack());
}

static void wall_time_is_the_systems(void **state)
{
    int64_t before = (int64_t)time(NULL) * 1000, now = clock_wall_ms();

    assert_true(now >= before - 1000 && now < before + 5000 * slack());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_time_goes_forward_in_its_unit),
        cmocka_unit_test(wall_time_is_the_systems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
