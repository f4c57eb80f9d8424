/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A package manager's program: newline-delimited JSON-RPC on stdin and stdout, warnings on
 * stderr (docs/spec/plugins.md section 9.1). `initialize` is answered here, once and first
 * (PM-6); every other request is handed to the method of its name, which answers it at once or
 * later: several may be open (PM-1). A malformed line is logged and never answered (PM-8).
 *
 * The end of stdin, SIGTERM, SIGINT and SIGHUP end the program: open requests are told
 * (request_on_end()) and have PMS_END_MS to be answered; whatever process is still left after
 * that is killed.
 */
#ifndef PMS_COMMON_SERVE_H
#define PMS_COMMON_SERVE_H

#include "base/arena.h"
#include "base/error.h"
#include "loop/loop.h"
#include "text/json.h"

#define PMS_PROTOCOL_VERSION 1
#define PMS_MAX_LINE         ((size_t)16 << 20) /* both ways (PM-1) */
#define PMS_MAX_OPEN         1024 /* requests not yet answered; one more is refused */
#define PMS_END_MS           3000

enum { /* the protocol's own codes (PM-5) */
       PMS_NOT_FOUND = -32001,
       PMS_NETWORK = -32002,
       PMS_INVALID_INPUT = -32003,
       PMS_AUTH_REQUIRED = -32004,
       PMS_NO_PROGRAM = -32005,
};

/* What initialize said; lives until the program ends. */
struct session {
    struct loop *loop;
    const char *workspace; /* absolute and clean; NULL: there is none */
    const char *cache_dir; /* absolute and clean; NULL: none was given. May be deleted at any
                              time, and need not exist yet */
    yyjson_val *env;       /* NULL when absent */
    struct runs *runs;     /* of run.h */
};

/* A variable as initialize sent it (PM-10), else of our environment; NULL: neither has it. */
const char *session_env(const struct session *s, const char *name);

/* An open request. It ends by exactly one of the answers below, which frees it and may be given
 * from inside run(). */
struct request {
    struct arena arena; /* freed with it */
    yyjson_val *params; /* an object; NULL when absent */
    void *state;        /* what open() gave */
    const struct session *session;
};

void request_reply(struct request *r, struct str json); /* one JSON value */

/*
 * The kind becomes the code: ERR_NOT_FOUND -32001; ERR_TIMEOUT, ERR_CLOSED -32002;
 * ERR_INVALID, ERR_LIMIT -32003; ERR_DENIED -32004; ERR_SYS with ENOPKG, a program that is not
 * installed, -32005; others -32603.
 */
void request_fail(struct request *r, const struct error *why);
void request_bad_params(struct request *r, const char *message); /* -32602 */

/* Called once when the program must end and the request is still open; it then has to be
 * answered soon. NULL, as at first: nothing to tell, it is dropped. */
void request_on_end(struct request *r, void (*fn)(void *ctx), void *ctx);

/* The program ends: start nothing for this request any more. */
bool request_ending(const struct request *r);

struct method {
    const char *name;
    void (*run)(struct request *r);
};

struct pms_program {
    const char *name;                       /* "cargo" */
    const char *help;                       /* what --help prints */
    const char *const *capabilities;        /* NULL-terminated (PM-2) */
    const struct method *methods;           /* ends with a NULL name */
    void *(*open)(const struct session *s); /* at initialize */
    void (*close)(void *state);             /* no request is open any more */
};

/* The whole of main(): --help, --version, or the conversation. */
int pms_main(const struct pms_program *p, int argc, char **argv);

#endif
