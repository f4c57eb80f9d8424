/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs one script in a real worker (this very image, started as `worker`) against a small
 * pretended backend. */
#ifndef SYM_TEST_SANDBOX_SUPPORT_H
#define SYM_TEST_SANDBOX_SUPPORT_H

#include "../check.h"

#include "loop/loop.h"
#include "loop/timer.h"
#include "sandbox/host.h"

/*
 * The servers `srv` and `two` are in scope; `srv` declares a tool "catch". What a tool does is
 * told by its name:
 *
 *     echo    answers its arguments
 *     delay   the same after args.ms milliseconds
 *     fail    fails with "srv.fail: boom"
 *     never   does not answer
 *     big     answers a string of args.n bytes
 *     others  answer {"tool":name,"args":arguments}
 *
 * results.get("known") is {"kept":[1,2]}, any other id an error.
 */
struct run {
    struct sandbox_limits limits; /* set before run_start(); RUN() has the defaults */
    struct loop *loop;
    struct sandbox *sandbox;
    struct script *script;
    struct timer *limit; /* of the test itself */
    struct delayed *delayed;

    bool ended;
    int end_count;
    enum script_outcome outcome;
    char *result, *message, *stack, *console;
    size_t total;
    unsigned refused;
    struct buf loose; /* "id:open" or "id:message", one a line */
    int ms;           /* from run to end */
    struct buf calls; /* "global.key args" a line, in order of arrival */
    unsigned ncalls, in_flight, max_in_flight, dropped;
    int64_t started_us;
};

#define DEFAULT_LIMITS                                          \
    ((struct sandbox_limits){ .timeout_ms = 5000,               \
                              .memory_bytes = (size_t)64 << 20, \
                              .stack_bytes = (size_t)1 << 20,   \
                              .console_bytes = 8192,            \
                              .result_bytes = 32768,            \
                              .max_calls = 100 })

void run_open(struct run *r, const struct sandbox_limits *limits);
/* Starts the script; the loop is to be run until r->ended. */
void run_begin(struct run *r, struct str source);
void run_wait(struct run *r);
void run_close(struct run *r);

/* All of it with default limits. Ends with run_close(). */
void run_script(struct run *r, const char *source);
void run_with(struct run *r, const char *source, const struct sandbox_limits *limits);

/* A script and what it must come to. Of result (exact), message, console (parts) those not NULL
 * are checked. */
struct row {
    const char *source;
    enum script_outcome outcome;
    const char *result, *message, *console;
};
void run_rows(const struct row *rows, size_t n);
#define RUN_ROWS(rows) run_rows(rows, ARRAY_LEN(rows))

#define assert_z(got, want) check_z((got), (want), __FILE__, __LINE__)
void check_z(const char *got, const char *want, const char *file, int line);

/* The test's main: acts as the worker when started as one. */
#define TEST_MAIN(tests)                                  \
    int main(int argc, char **argv)                       \
    {                                                     \
        if (argc > 1 && strcmp(argv[1], "worker") == 0)   \
            return worker_main(argc, argv);               \
        return cmocka_run_group_tests(tests, NULL, NULL); \
    }

#endif
