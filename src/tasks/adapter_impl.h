/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of adapter.h share: an adapter is data, and the plan is made from it. */
#ifndef SYM_TASKS_ADAPTER_IMPL_H
#define SYM_TASKS_ADAPTER_IMPL_H

#include "tasks/adapter.h"

#define ADAPTER_VALUE_MAX  256 /* bytes of an option's string */
#define ADAPTER_ITEMS_MAX  64  /* args, env, pins, options, values of one declaration */
#define ADAPTER_ARG_PROMPT ((size_t)100000) /* bytes of a prompt in argv (TK-27) */

/* How a model, an effort or an option gets to the agent. */
enum adapter_via {
    VIA_NONE,   /* not at all */
    VIA_CONFIG, /* session/set_config_option; name: its id */
    VIA_JOINED, /* argv "name=value" */
    VIA_SPLIT,  /* argv "name" "value" */
    VIA_SWITCH, /* argv "name" when true: a boolean */
    VIA_AUTH,   /* `authenticate` with the value first */
};

/* One thing that a caller may set. */
struct adapter_option {
    const char *key; /* in `options` */
    enum adapter_via via;
    const char *name;
    const char *const *values; /* the only ones; NULL: any */
    const char *pattern;       /* of text/regex.h; NULL: any */
    const char *fallback;      /* when it is not given; NULL: nothing */
};

struct adapter_pin {
    enum acp_setting_how how;
    const char *id, *value;
};

struct planner;

struct adapter {
    const char *name;
    enum task_kind kind;
    int version;             /* of ACP */
    const char *program;     /* a name for PATH, or an absolute path */
    const char *second;      /* tried when there is no `program`; NULL: none */
    const char *install;     /* what to do when there is none */
    const char *const *args; /* fixed, after the program; NULL: none */
    const struct adapter_pin *pins;
    size_t npins;
    struct adapter_option model, effort;
    const struct adapter_option *options;
    size_t noptions;
    bool resume;
    bool prompt_stdin;          /* CLI: else joined to prompt_flag */
    const char *prompt_flag;    /* "--print" */
    const char *const *env;     /* "NAME=value", added; NULL: none */
    const char *const *without; /* variables that would undo a pin, or the start; NULL: none */
    /* What no table says; NULL: nothing. Called last. */
    bool (*finish)(struct planner *p);
};

struct words {
    const char **v;
    size_t n, cap;
};

struct planner {
    struct arena *a;
    const struct adapter *ad;
    const struct plan_request *req;
    struct error *e;
    struct words argv, env;
    struct {
        struct acp_setting *v;
        size_t n, cap;
    } settings;
    struct task_plan *plan;
};

/* What the planner found in the environment that the agent inherits, NULL: not there. */
const char *planner_env(const struct planner *p, const char *name);
void planner_set_env(struct planner *p, const char *name, struct str value);

/* The finishing touches of the built-in table. */
bool adapter_finish_cursor(struct planner *p);
bool adapter_finish_opencode(struct planner *p);

/* A value that may stand in argv (TK-29). */
bool adapter_is_token(struct str s);

/* One `[[task-agent]]` (TK-30); `taken`: those that already have a name. NULL with *e. */
const struct adapter *adapter_declared(struct arena *a, const struct task_agent_config *c,
                                       const struct adapters *taken, struct error *e);

/* The options that every adapter knows, beside its own. */
bool adapter_is_common_key(struct str key);

#endif
