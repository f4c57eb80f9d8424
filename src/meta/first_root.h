/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The last resort of docs/spec/plugins.md CF-2: a meta-server that was started outside of every
 * workspace takes the first root that a legacy client names. Clients start their servers in any
 * directory (desktop ones in "/"), and roots are all they have to say where the user works.
 *
 *   a request ─> start directory in a workspace, or the client has no roots ─> goes on at once
 *            └─> roots/list ─> first file:// root that is a directory ─> gateway_move() ─> goes
 * on
 *
 * Asked once, and again after the client said that its roots changed. Requests wait
 * FIRST_ROOT_WAIT_MS at most, all together: a client that is silent costs no more.
 */
#ifndef SYM_META_FIRST_ROOT_H
#define SYM_META_FIRST_ROOT_H

#include "mcp/server.h"
#include "meta/gateway.h"

#define FIRST_ROOT_WAIT_MS 2000
#define FIRST_ROOT_MAX     100 /* roots looked at */

struct first_root;

struct first_root *first_root_new(struct gateway *g, const char *start_dir);
/* After the server, whose end calls back once more. Nothing that waits is called. */
void first_root_free(struct first_root *f);

/* In mcp_server_def.roots_changed. */
void first_root_changed(struct first_root *f);
/* In mcp_server_def.input_ended: no answer can come any more, so what waits goes on. */
void first_root_input_ended(struct first_root *f);

/* Asks if there is reason to; nobody waits. */
void first_root_ask(struct first_root *f, struct mcp_server *s, const struct mcp_req *r);

/* The same; true: `go` is called later, unless first_root_forget(f, ctx) comes before. */
bool first_root_wait(struct first_root *f, struct mcp_server *s, const struct mcp_req *r,
                     void (*go)(void *ctx), void *ctx);
void first_root_forget(struct first_root *f, const void *ctx);

#endif
