/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A scripted MCP server over stdio: what it is, and how it misbehaves, is one JSON file
 * (argv[1]).
 *
 * Every event (start, a method, a tool's call) runs a program: an array of steps, each an
 * object with one key. Programs of several requests run side by side; only a `sleep` lets
 * another one in. Keys of the file, all optional:
 *
 *   log, record          paths; "start PID", "eof PID", "term PID" / every line received, as
 * "PID LINE" counter, fail_starts each start adds a byte to the file `counter`; the first
 * `fail_starts` of them exit 1 with a word on stderr start_delay_ms       nothing is read
 * before on_start             program era                  "legacy" (default), "dual", "modern"
 *   versions             legacy revisions spoken, latest first; default all four
 *   info, capabilities, instructions
 *   tools, page          tool objects as they are to be sent; tools a page (default all)
 *   generate             {count, page, tool}: `count` tools, text `tool` with $I replaced
 *   calls                {tool: program, "*": program}; default [{"echo": true}]
 *   on                   {method: program} instead of the built-in answer, notifications
 * included ignore_term, ignore_eof
 *
 * Steps: echo, text, result (JSON), result_text (raw JSON text), fail (isError text), error
 * (JSON-RPC error), line, hex, flood {bytes, text, fd}, nest (depth), bloat (bytes), sleep
 * (ms), exit (status), signal, daemon (path for its pid), fork (path: a plain grandchild), deaf
 * (stop reading stdin), close_stdout, stderr (text), builtin (the usual answer), repeat {times,
 * line, every_ms}, set_tools (array), unless_cancelled (end here if the request was cancelled).
 *
 * In texts of line and result_text, $ID, $ARGS, $TOKEN and $PID stand for the request's id, its
 * arguments, its progress token and our pid.
 */
#ifndef SYM_TESTS_PEER_H
#define SYM_TESTS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#define MODERN_VERSION "2026-07-28"

struct text {
    char *p;
    size_t n, cap;
};

/* One request (or event) whose program runs. */
struct run {
    struct run *next;
    yyjson_val *steps; /* array of the configuration */
    size_t at;
    int64_t due_ms;
    size_t repeated;                  /* how often the current `repeat` step has written */
    char *id, *args, *token, *method; /* JSON text; id NULL: a notification or event */
    yyjson_doc *doc;                  /* the message, for built-in answers; may be NULL */
    bool modern, cancelled;
};

struct peer {
    yyjson_val *cfg;
    yyjson_val *tools; /* now; `set_tools` replaces them */
    struct run *runs;
    bool deaf, eof;
    const char *listen_id; /* of the last subscriptions/listen */
};

extern struct peer peer;

int64_t now_ms(void);
void die(const char *what);

void text_add(struct text *t, const char *s, size_t n);
void text_addz(struct text *t, const char *s);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

void write_all(int fd, const char *p, size_t n);
void log_line(const char *what);
char *json_text(yyjson_val *v); /* "null" for NULL; malloc */

void answer_result(const struct run *r,
                   const char *json); /* adds resultType on a modern request */
void answer_builtin(struct run *r);

/* Runs until the program ends or sleeps. True: it has ended. */
bool run_steps(struct run *r);

#endif
