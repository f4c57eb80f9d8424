/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a command ended, and what it says about that (SH-3, SH-4). */
#ifndef SYM_SERVERS_SHELL_OUTCOME_H
#define SYM_SERVERS_SHELL_OUTCOME_H

#include "servers/server.h"
#include "servers/shell/capture.h"

/* Of a stream the text form shows all that has so many characters, else its first and last. */
#define OUTCOME_SHOWN_MAX   ((size_t)16000)
#define OUTCOME_SHOWN_FIRST ((size_t)6000)
#define OUTCOME_SHOWN_LAST  ((size_t)10000)
/* A stream that takes more as a JSON string is as short in the structure as in the text, so
 * that both are one answer (SV-30): 1 MiB of control characters would take six. */
#define OUTCOME_JSON_MAX ((size_t)4 << 20)

struct outcome {
    int code;   /* -1: none */
    int signal; /* 0: none */
    bool timed_out;
    int64_t duration_ms;
    struct capture out, err;
};

/* Both forms of it. On any thread. */
void outcome_put(const struct outcome *o, struct answer *a);

/* "SIGKILL"; NULL for 0. */
const char *outcome_signal_name(int signal);

#endif
