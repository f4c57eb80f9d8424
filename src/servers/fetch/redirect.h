/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where a Location leads (FE-14). */
#ifndef SYM_SERVERS_FETCH_REDIRECT_H
#define SYM_SERVERS_FETCH_REDIRECT_H

#include "loop/http.h"

/* ret may be `from`. ERR_INVALID, ERR_DENIED: no http or https URL; https to http. */
bool redirect(struct arena *a, const struct http_url *from, const char *location,
              struct http_url *ret, struct error *e);

#endif
