/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The parent's side of the script workers: one script, one locked-down single-use process
 * (security.md section 4). Workers are started and locked down ahead, so a script only travels
 * over a warm socket. Whatever a worker does, on_end comes at the latest at the deadline + 500
 * ms. The worker is treated as hostile: every frame is checked (WK-5), one violation is SIGKILL
 * and an `internal` end.
 *
 *   queued -> running --value settled--> (waiting for calls not awaited) -> ended
 */
#ifndef SYM_SANDBOX_HOST_H
#define SYM_SANDBOX_HOST_H

#include "loop/loop.h"
#include "text/json.h"

#define SANDBOX_MAX_RUNNING   64
#define SANDBOX_MAX_WAITING   192 /* one more is refused: "too many scripts" (MS-35) */
#define SANDBOX_MAX_INFLIGHT  64  /* calls of one script; more wait in the worker (MS-51) */
#define SANDBOX_MAX_SOURCE    ((size_t)256 << 10)
#define SANDBOX_KILL_GRACE_MS 250 /* after the deadline: SIGKILL */
#define SANDBOX_WARM          2   /* workers kept ready; one until a first script has come */

struct sandbox_limits {
    int timeout_ms; /* T, from the moment the script starts, waiting for calls included */
    size_t memory_bytes, stack_bytes;
    size_t console_bytes;
    size_t result_bytes; /* what the caller will show; a result over 8 MiB is sent as this much
                            of it */
    unsigned max_calls;
};

struct sandbox;

struct sandbox *sandbox_new(struct loop *l, const struct sandbox_limits *limits);
/* Starts and locks down the warm workers, off the path of any script. Idempotent. */
void sandbox_prewarm(struct sandbox *s);
/* No script runs or waits. */
bool sandbox_idle(const struct sandbox *s);
/* Kills what runs; scripts end without a callback. */
void sandbox_free(struct sandbox *s);

/* One script variable of a backing server. `exact`: declared tool names (or aliases) among
 * those that it otherwise hides (sandbox/hidden.h), which are to be callable. */
struct script_global {
    struct str name;
    const struct str *exact;
    size_t nexact;
};

struct script_job {
    struct str source; /* as submitted; intake (MS-29..33) happens in the worker */
    const struct script_global *globals;
    size_t nglobals;
};

enum script_outcome {
    SCRIPT_OK,
    SCRIPT_ERROR, /* thrown, did not parse, never settles: message, stack */
    SCRIPT_TIMEOUT,
    SCRIPT_MEMORY,
    SCRIPT_CALL_LIMIT, /* ended by the uncaught rejection of MS-69 */
    SCRIPT_CRASHED,    /* message: "script engine crashed (signal N)" or the violated rule */
    SCRIPT_CANCELLED,  /* never reported: script_cancel() was called */
};

/* A call whose promise nobody handled (MS-70). */
struct script_loose_call {
    uint32_t id;        /* as in on_call */
    bool finished;      /* false: was still in flight at the deadline and has been cancelled */
    struct str message; /* finished: why it failed */
};

struct script_end {
    enum script_outcome outcome;
    struct str result;         /* SCRIPT_OK: JSON text, whole unless result_total > result.n */
    size_t result_total;       /* bytes of the whole JSON */
    struct str message, stack; /* stack names only script:line:col, together <= 4,096 bytes */
    struct str console;     /* lines as MS-40, with the overflow mark; partial output is here on
                               every outcome */
    unsigned calls_refused; /* beyond max_calls (MS-69) */
    const struct script_loose_call *loose;
    size_t nloose;
};

struct script;

struct script_ops {
    /* `await server.key(args)`. args is the text of one JSON object, on one line. Answer with
     * script_reply() or script_reply_error(), in any order. */
    void (*on_call)(void *ctx, uint32_t id, struct str global, struct str key, struct str args);
    /* results.get(id) (MS-68): answer at once in the same way. */
    void (*on_get_result)(void *ctx, uint32_t id, struct str key);
    /* Calls still open when the script is over, before on_end: cancel the backend call. */
    void (*on_drop)(void *ctx, uint32_t id);
    /* Once; everything in *end is valid during the call. */
    void (*on_end)(void *ctx, const struct script_end *end);
};

/* NULL with ERR_LIMIT "too many scripts" or "source over 256 KiB", ERR_DENIED when the host
 * cannot lock a worker down (and SYMPOSIUM_ALLOW_UNSANDBOXED=1 is not set). Otherwise on_end
 * follows, never from inside. The job is copied. */
struct script *sandbox_run(struct sandbox *s, const struct script_job *job,
                           const struct script_ops *ops, void *ctx, struct error *e);

void script_reply(struct script *s, uint32_t id, struct str value_json);
void script_reply_error(struct script *s, uint32_t id, struct str message);

/* Kills the worker (< 300 ms even in a native loop); on_drop for open calls, no on_end. */
void script_cancel(struct script *s);

/* What protects the worker on this machine, for doctor. */
struct sandbox_layers {
    bool seccomp, no_new_privs, mdwe, pidfd;
    int landlock_abi; /* 0: absent */
    bool usable;      /* the worker may start */
};
struct sandbox_layers sandbox_probe_layers(void);
const char *sandbox_engine(void); /* "quickjs-ng 0.11.0" */

/* `symposium worker`: the child's side; never returns to a shell. */
int worker_main(int argc, char **argv);

#endif
