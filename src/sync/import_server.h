/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One entry of an agent's file as a server of ours (SY-22). Pure. */
#ifndef SYM_SYNC_IMPORT_SERVER_H
#define SYM_SYNC_IMPORT_SERVER_H

#include "base/buf.h"
#include "sync/agent.h"
#include "text/json.h"

/*
 * Strings are the arena's. False: *e says why it must stay where it is (disabled, asks for
 * input, a member or variable that a plugin cannot say).
 */
bool import_server_read(struct server_def *ret, struct arena *a, const struct agent *agent,
                        yyjson_val *entry, struct error *e);

/* A literal secret in its environment, arguments, headers or URL; the name of where, or NULL.
 */
const char *import_server_secret(struct arena *a, const struct server_def *def);

/* `${env:VAR}`, `{env:VAR}` as `${VAR}`; for agents that expand it, `$VAR` too. */
bool import_expand(struct str *ret, struct arena *a, const struct agent *agent, struct str text,
                   struct error *e);

/* The lines below a [[mcp_servers]]. */
void import_put_toml(struct buf *out, const struct server_def *def);

/* What makes it this server, its name and timeouts left out. */
void import_put_json(struct buf *out, const struct server_def *def);

#endif
