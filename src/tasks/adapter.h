/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How each agent is started, pinned and asked (docs/spec/tasks.md 5): one table for the
 * built-in ones, the same shape made from `[[task-agent]]` for declared ones (TK-30). A
 * request's options become a plan here, or an `invalid_request` that names the option.
 */
#ifndef SYM_TASKS_ADAPTER_H
#define SYM_TASKS_ADAPTER_H

#include "acp/session.h"
#include "plugins/config.h"
#include "tasks/task.h"

struct adapter;

/* The built-in adapters and the config's. All in the arena. */
struct adapters {
    const struct adapter *const *v;
    size_t n;
    struct strs problems; /* a bad declaration is left out, and is named here with the key */
};
void adapters_load(struct adapters *ret, struct arena *a, const struct config *c);
const struct adapter *adapter_find(const struct adapters *all, struct str name);
const char *adapter_name(const struct adapter *ad);

/* The program as TK-19 finds it in `path` (a PATH value), in `a`; NULL: *e names what to
 * install (TK-17). Touches the disk. */
const char *adapter_program(const struct adapter *ad, const char *path, struct arena *a,
                            struct error *e);

/* Properties of `options` with their schemas, into an open object, for tools/list: the union of
 * all adapters' (TK-8). */
void adapters_put_option_keys(struct jw *w, const struct adapters *all);

/* All that is needed to run one task; in the arena of the request. */
struct task_plan {
    const struct adapter *adapter;
    enum task_kind kind;
    const char *const *argv; /* argv[0] is the name to look up by adapter_program() */
    const char *const *env;  /* complete, without the adapter's pinned names, with
                                SYMPOSIUM_TASK_CHAIN */
    bool prompt_stdin;       /* CLI: the prompt is written to stdin, else it is in argv */
    struct str prompt_text;  /* what is written then */
    struct acp_turn turn;    /* ACP: settings, allow, resume, cwd, servers */
};

struct plan_request {
    struct str prompt, workspace, session_id; /* session_id empty: new */
    yyjson_val *options;                      /* object or NULL; top-level keys merged in */
    const char *const *env;                   /* ours */
    const char *chain;                        /* for SYMPOSIUM_TASK_CHAIN */
    const char *self; /* our executable, for session/new.mcpServers when asked for */
};

/* ERR_INVALID: unknown key, wrong type, unsafe token, pinned setting, missing resume ...
 * (TK-15, TK-27, TK-29, TK-32): the text after "invalid_request: ". No I/O. */
bool adapter_plan(struct task_plan *ret, struct arena *a, const struct adapter *ad,
                  const struct plan_request *req, struct error *e);

/* With all it points to but the adapter, in `a`. */
void task_plan_copy(struct task_plan *ret, struct arena *a, const struct task_plan *plan);

#endif
