/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Reading what an agent says of its settings (docs/spec/tasks.md ACP-7, ACP-8): config options
 * (select, flat or grouped, and boolean) and the older modes and models. Views of a document;
 * what is not well-formed does not exist (ACP-4).
 */
#ifndef SYM_ACP_OPTIONS_H
#define SYM_ACP_OPTIONS_H

#include "text/json.h"

struct acp_option {
    struct str id; /* empty: not found */
    bool boolean;
    bool on;             /* current value of a boolean one */
    struct str current;  /* of a select */
    yyjson_val *options; /* of a select: values or groups of values */
};

/* The option of that id in a configOptions array; `id_key` is the codec's. */
struct acp_option acp_option_find(yyjson_val *config, const char *id_key, struct str id);
/* The first one of that category. */
struct acp_option acp_option_of_category(yyjson_val *config, const char *id_key,
                                         const char *category);

bool acp_option_offers(const struct acp_option *o, const char *value);
bool acp_option_is(const struct acp_option *o, const char *value); /* it has that value */
void acp_option_put_current(struct buf *b, const struct acp_option *o);
/* "'a', 'b'": at most ACP_VALUES_SHOWN of them, made safe to show. */
void acp_option_put_values(struct buf *b, const struct acp_option *o);
#define ACP_VALUES_SHOWN 24

/* A list of objects that `id_key` names: availableModes by "id", availableModels by "modelId".
 */
bool acp_list_has(yyjson_val *list, const char *id_key, const char *id);
void acp_list_put(struct buf *b, yyjson_val *list, const char *id_key); /* as put_values */

#endif
