/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the two halves of a backend share: backend.c has what is wanted of it and decides what
 * comes next, backend_life.c has the process, from the first installation to its end.
 */
#ifndef SYM_META_BACKEND_IMPL_H
#define SYM_META_BACKEND_IMPL_H

#include "meta/backend.h"
#include "meta/inventory.h"
#include "pm/acquire.h"

enum want_kind { WANT_TOOLS, WANT_CALL };

/* One description or call that has not ended. */
struct want {
    struct want *next;
    uint64_t handle;
    enum want_kind kind;
    backend_known_fn known;
    backend_answer_fn answer;
    void *ctx;
    struct str key; /* owned */
    char *args;
    uint64_t client_call; /* 0: not sent */
    const struct tool *tool;
    struct inventory *inv; /* keeps `tool` alive */
    struct backend *b;
};

struct backend {
    struct backend_env *env;
    struct backend *next_all;
    int refs;
    struct arena arena; /* the definition */
    struct active_server def;
    struct tool_filter filter;
    struct str cache_key;

    enum backend_state state;
    struct mcp_client *client;
    struct mcp_route route; /* of the client before */
    struct inventory *inv;
    bool last_modern, cache_known;
    int attempts;
    int64_t next_try_ms; /* monotonic; 0: at once */
    int64_t started_ms, ready_ms;
    bool called;   /* since the start: not a server started only to be described */
    bool stopping; /* the coming end is ours */
    bool shut;
    bool listing, list_again;
    bool queued;           /* waits for one of the BACKEND_MAX_STARTS places */
    bool holds_start;      /* has one of them */
    struct error *failure; /* of the last start, or the crash that was one too many; owned,
                            * and NULL before: most of a backend's size, and few have one */

    struct acquire *acquire; /* what has to be there before the start; then client is NULL */
    bool prepared;           /* that was done or tried once */
    char *installing;        /* for people; NULL: nothing is */
    char *unmet;             /* requirements that failed; NULL: none */

    struct want *wants;
    uint64_t last_handle;
    struct timer *kick, *idle;
};

/* ---- backend.c ---- */

/* What the state and the wants call for now: a timer's callback, `ctx` is the backend. */
void backend_progress(void *ctx);
/* Ends every want that is not at the server. */
void backend_fail_waiting(struct backend *b, const struct error *why);
/* The tools as listed now, in the place of the former ones. */
void backend_adopt(struct backend *b, struct toolset *tools, struct str note);

/* ---- backend_life.c ---- */

void backend_enter(struct backend *b, enum backend_state to); /* the only writer of the state */
/* One of the BACKEND_MAX_STARTS places; false: none is free, and it stands in the queue. */
bool backend_take_start(struct backend *b);
/* Gives it to those that wait for one. */
void backend_release_start(struct backend *b);
/* From COLD: first what has to be there, then the program. */
void backend_start(struct backend *b);
void backend_end_acquire(struct backend *b);
/* Kills what runs and ends the calls in flight. */
void backend_drop_client(struct backend *b);
void backend_on_idle(void *ctx); /* a timer's callback */

#endif
