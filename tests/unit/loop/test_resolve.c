/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../loop_check.h"

#include <arpa/inet.h>
#include <stdatomic.h>

#include "loop/resolve.h"
#include "loop/work.h"

struct seen {
    struct loop *loop;
    int calls;
    size_t n;
    struct netaddr first;
    struct error why;
};

static void on_resolved(void *ctx, const struct netaddr *v, size_t n, const struct error *why)
{
    struct seen *s = ctx;

    s->calls++;
    s->n = n;
    if (n)
        s->first = v[0];
    s->why = why ? *why : (struct error){ 0 };
    loop_stop(s->loop);
}

static void look_up(struct seen *s, const char *host)
{
    s->calls = 0;
    resolve_start(s->loop, host, 5000 * slack(), on_resolved, s);
    assert_int_equal(s->calls, 0);
    run_until_stopped(s->loop, 6000);
    assert_int_equal(s->calls, 1);
}

static void the_system_is_asked(void **state)
{
    struct seen s = { .loop = loop_new() };

    look_up(&s, "127.0.0.1");
    assert_int_equal(s.n, 1);
    assert_int_equal(netaddr_classify(&s.first), NETADDR_LOOPBACK);
    look_up(&s, "localhost");
    assert_true(s.n >= 1);
    look_up(&s, "no such name");
    assert_int_equal(s.why.kind, ERR_NOT_FOUND);
    assert_has(s.why.msg, "'no such name'");
    loop_free(s.loop);
    (void)state;
}

static bool give_addresses(const char *host, struct netaddr *v, size_t *n, struct error *e)
{
    size_t count = (size_t)atoi(host);

    for (size_t i = 0; i < count && *n <= RESOLVE_MAX; i++)
        v[(*n)++] = (struct netaddr){ { 10, 0, 0, (uint8_t)i }, 4 };
    (void)e;
    return true;
}

static void no_address_and_too_many_are_errors(void **state)
{
    struct seen s = { .loop = loop_new() };

    resolve_use(give_addresses);
    look_up(&s, "64");
    assert_int_equal(s.n, 64);
    look_up(&s, "65");
    assert_int_equal(s.why.kind, ERR_LIMIT);
    look_up(&s, "0");
    assert_int_equal(s.why.kind, ERR_NOT_FOUND);
    resolve_use(NULL);
    loop_free(s.loop);
    (void)state;
}

static atomic_bool go_on;
static atomic_int hanging_now;

static bool hang(const char *host, struct netaddr *v, size_t *n, struct error *e)
{
    hanging_now++;
    while (!go_on)
        usleep(1000);
    hanging_now--;
    return give_addresses("1", v, n, e);
}

static void a_lookup_that_hangs_ends_at_its_deadline_and_its_result_is_dropped(void **state)
{
    struct seen s = { .loop = loop_new() };
    struct resolve *r;

    go_on = false;
    resolve_use(hang);
    resolve_start(s.loop, "h", 50, on_resolved, &s);
    r = resolve_start(s.loop, "h", 50, on_resolved, &s);
    resolve_forget(r);
    run_until_stopped(s.loop, 1000);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.why.kind, ERR_TIMEOUT);
    assert_has(s.why.msg, "50 ms");
    go_on = true;
    while (work_open(s.loop))
        run_for(s.loop, 5);
    assert_int_equal(s.calls, 1);
    resolve_use(NULL);
    loop_free(s.loop);
    (void)state;
}

/* SV-11, SV-14: nothing but its owner waits for a name that nobody answers for. */
static void a_lookup_that_hangs_holds_up_no_end_no_address_and_no_other_name(void **state)
{
    struct seen s = { .loop = loop_new() }, other = { .loop = s.loop };
    struct resolve *hanging[WORK_LONG_MAX + WORK_THREADS];
    int64_t before;

    go_on = false;
    resolve_use(hang);
    for (size_t i = 0; i < ARRAY_LEN(hanging); i++)
        hanging[i] = resolve_start(s.loop, "h", 60000, on_resolved, &s);
    while (hanging_now < (int)ARRAY_LEN(hanging))
        usleep(1000);
    resolve_use(give_addresses);
    look_up(&other, "1");
    assert_int_equal(other.n, 1);
    resolve_use(NULL);
    look_up(&other, "127.1");
    assert_int_equal(netaddr_classify(&other.first), NETADDR_LOOPBACK);

    resolve_forget(resolve_start(s.loop, "127.0.0.1", 60000, on_resolved, &s));
    for (size_t i = 0; i < ARRAY_LEN(hanging); i++)
        resolve_forget(hanging[i]);
    before = clock_ms();
    assert_false(work_settle(s.loop, 30000));
    assert_in_range(clock_ms() - before, 0, 500 * slack());
    go_on = true;
    while (work_open(s.loop))
        run_for(s.loop, 5);
    assert_int_equal(s.calls, 0);
    loop_free(s.loop);
    (void)state;
}

/* SEC-70: every notation that glibc reads as an address is known as one without a lookup. */
static void addresses_in_any_notation_are_literals(void **state)
{
    static const struct {
        const char *host, *address; /* NULL: a name */
    } rows[] = {
        { "2130706433", "127.0.0.1" },
        { "0x7f000001", "127.0.0.1" },
        { "0x7f.1", "127.0.0.1" },
        { "017700000001", "127.0.0.1" },
        { "0177.0.0.1", "127.0.0.1" },
        { "127.1", "127.0.0.1" },
        { "0", "0.0.0.0" },
        { "127.0.0.01", "127.0.0.1" },
        { "0xa9fea9fe", "169.254.169.254" },
        { "2852039166", "169.254.169.254" },
        { "::ffff:7f00:1", "::ffff:127.0.0.1" },
        { "::127.0.0.1", "::127.0.0.1" },
        { "64:ff9b::7f00:1", "64:ff9b::7f00:1" },
        { "example.com", NULL },
        { "localhost", NULL },
        { "1.2.3.4.example", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[NETADDR_TEXT] = "";
        struct netaddr a;
        bool is = resolve_literal(rows[i].host, &a);

        if (is)
            netaddr_text(&a, text);
        if (is != (rows[i].address != NULL) || (is && strcmp(text, rows[i].address) != 0))
            fail_msg("%s is '%s'", rows[i].host, text);
        if (is)
            assert_int_not_equal(netaddr_classify(&a), NETADDR_PUBLIC);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_is_asked),
        cmocka_unit_test(no_address_and_too_many_are_errors),
        cmocka_unit_test(a_lookup_that_hangs_ends_at_its_deadline_and_its_result_is_dropped),
        cmocka_unit_test(a_lookup_that_hangs_holds_up_no_end_no_address_and_no_other_name),
        cmocka_unit_test(addresses_in_any_notation_are_literals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
