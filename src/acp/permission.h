/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Answers to session/request_permission (docs/spec/tasks.md TK-31, ACP-14): by the kinds of
 * tool that the spawner allowed, once each time, never "always".
 */
#ifndef SYM_ACP_PERMISSION_H
#define SYM_ACP_PERMISSION_H

#include "text/json.h"

/* ToolKind of the schema, in its order. ACP_SWITCH_MODE can never be allowed. */
enum acp_kind {
    ACP_READ,
    ACP_EDIT,
    ACP_DELETE,
    ACP_MOVE,
    ACP_SEARCH,
    ACP_EXECUTE,
    ACP_THINK,
    ACP_FETCH,
    ACP_SWITCH_MODE,
    ACP_OTHER,
};
#define ACP_KINDS 10

const char *acp_kind_name(enum acp_kind k);
/* Any other word is ACP_OTHER (ACP-12), and false. */
bool acp_kind_parse(struct str name, enum acp_kind *ret);

typedef unsigned acp_allow; /* bits 1u << enum acp_kind */

struct acp_decision {
    bool selected;           /* false: the outcome is "cancelled" */
    struct str option_id;    /* of the options' document */
    const char *option_kind; /* "allow_once" or "reject_once"; NULL when cancelled */
};

#define ACP_OPTIONS_MAX 64 /* a request with more is answered "cancelled" */

/* `options` is the request's array. An option without a string optionId is skipped, and so is
 * one whose id is another option's of another kind. */
struct acp_decision acp_decide(yyjson_val *options, enum acp_kind kind, acp_allow allow);

#endif
