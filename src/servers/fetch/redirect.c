/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fetch/redirect.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "text/url.h"

#define SHOWN 200 /* bytes of a Location in a message */

/* It is another's text, and may hold anything. */
static struct str shown(const char *location, struct buf *room)
{
    utf8_put_clean(room, str_upto(str_of(location), SHOWN));
    return buf_str(room);
}

bool redirect(struct arena *a, const struct http_url *from, const char *location,
              struct http_url *ret, struct error *e)
{
    auto_buf text = BUF(4 * HTTP_URL_MAX); /* http_url_parse() has the exact limit */
    auto_buf room = BUF(4 * SHOWN);
    struct str name = shown(location, &room);
    struct http_url to;

    url_resolve(str_of(from->text), str_of(location), &text);
    if (!http_url_parse(a, buf_str(&text), &to, e))
        return error_wrap(e, "redirect to '%.*s'", STR_F(name));
    if (strcmp(from->scheme, "https") == 0 && strcmp(to.scheme, "http") == 0)
        return error_set(e, ERR_DENIED, "redirect from https to http ('%.*s') is not followed",
                         STR_F(name));
    /* One within the site stays with the host as it was written. */
    if (strcmp(from->host, to.host) == 0 && !url_split(str_of(location)).authority.p)
        to.written = from->written;
    *ret = to;
    return true;
}
