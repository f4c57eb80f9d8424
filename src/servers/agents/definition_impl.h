/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the readers of a definition share: the file as JSON, and where it all goes. */
#ifndef SYM_SERVERS_AGENTS_DEFINITION_IMPL_H
#define SYM_SERVERS_AGENTS_DEFINITION_IMPL_H

#include "servers/agents/definition.h"

struct reader {
    struct arena *a;
    const struct agent_source *src;
    const struct agent_settings *settings;
    yyjson_val *root;
    struct str body; /* of Markdown */
    struct agent_def *def;
    struct strs *warnings;
    struct error *e;
};

__attribute__((format(printf, 2, 3))) void reader_warn(struct reader *r, const char *fmt, ...);

/* The first of the NULL-terminated keys that is there and not null; *ret_key is its name. */
yyjson_val *reader_get(yyjson_val *obj, const char *const *keys, const char **ret_key);

/* A list of texts, or one text with commas between them (not those in parentheses). Absent is
 * fine. */
bool reader_list(struct reader *r, yyjson_val *v, const char *key, struct strs *ret);

/* ---- definition_servers.c ---- */

bool reader_servers(struct reader *r);

/* ---- definition_tools.c: allow, deny, permissions, our own servers (AG-4) ---- */

bool reader_tools(struct reader *r);
/* Is it one of the everyday servers? */
bool agent_is_builtin(struct str name);
/* Adds the server of ours unless it is there, or they are turned off. */
void reader_add_builtin(struct reader *r, struct str name);

#endif
