/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A result on its way to the client, which may be large: it is put into the form of the
 * client's revision on a pool thread, waits there while the client is slow to read (outlet.h),
 * and is handed over on the loop's thread, which does not look inside.
 *
 *     loop   sending_begin()
 *     pool   sending_put(), sending_enter()
 *     loop   sending_reply(), or sending_drop() when the request is gone
 */
#ifndef SYM_SERVERS_SENDING_H
#define SYM_SERVERS_SENDING_H

#include "loop/work.h"
#include "servers/server.h"

struct sending {
    struct server *server;
    struct mcp_form form;
    struct buf json;
    size_t entered; /* the outlet, of json */
};

void sending_begin(struct sending *g, struct server *s, const struct mcp_req *r);

/* `result` is what mcp_reply() takes. False: it cannot be sent, *e says why; another may be put
 * in its place. */
bool sending_put(struct sending *g, struct str result, struct error *e);

/* Waits for room; no longer once the job is cancelled and sending_wake() told so. */
void sending_enter(struct sending *g, const struct work *w);
void sending_wake(struct sending *g); /* on the loop's thread, behind work_cancel() */

/* Both end it. */
void sending_reply(struct sending *g, struct mcp_req *r);
void sending_drop(struct sending *g);

#endif
