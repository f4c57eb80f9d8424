/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "acp/permission.h"

#include "base/mem.h"

static const char *const kind_names[ACP_KINDS] = {
    [ACP_READ] = "read",     [ACP_EDIT] = "edit",
    [ACP_DELETE] = "delete", [ACP_MOVE] = "move",
    [ACP_SEARCH] = "search", [ACP_EXECUTE] = "execute",
    [ACP_THINK] = "think",   [ACP_FETCH] = "fetch",
    [ACP_OTHER] = "other",   [ACP_SWITCH_MODE] = "switch_mode",
};

const char *acp_kind_name(enum acp_kind k)
{
    return kind_names[k];
}

bool acp_kind_parse(struct str name, enum acp_kind *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(kind_names); i++) {
        if (str_is(name, kind_names[i])) {
            *ret = (enum acp_kind)i;
            return true;
        }
    }
    *ret = ACP_OTHER;
    return false;
}

/* A change of mode would change what is asked for at all. */
static bool is_allowed(enum acp_kind kind, acp_allow allow)
{
    return kind != ACP_SWITCH_MODE && (allow & 1u << kind);
}

/* The same id for something else as well: who knows what the agent would take it for. */
static bool is_ambiguous(yyjson_val *options, struct str id, const char *kind)
{
    for (struct json_iter it = json_iter(options); json_next(&it);) {
        if (str_eq(json_str(json_get(it.val, "optionId")), id) &&
            !str_is(json_str(json_get(it.val, "kind")), kind))
            return true;
    }
    return false;
}

struct acp_decision acp_decide(yyjson_val *options, enum acp_kind kind, acp_allow allow)
{
    const char *wanted = is_allowed(kind, allow) ? "allow_once" : "reject_once";
    struct json_iter it = json_iter(options);

    if (!json_is_arr(options) || json_len(options) > ACP_OPTIONS_MAX)
        return (struct acp_decision){ 0 };
    while (json_next(&it)) {
        yyjson_val *id = json_get(it.val, "optionId");

        if (json_is_str(id) && str_is(json_str(json_get(it.val, "kind")), wanted) &&
            !is_ambiguous(options, json_str(id), wanted))
            return (struct acp_decision){ true, json_str(id), wanted };
    }
    return (struct acp_decision){ 0 };
}
