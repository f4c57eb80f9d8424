/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fetch/redirect.h"

#include <string.h>

#include "base/buf.h"
#include "text/url.h"

#define SHOWN 200 /* bytes of a Location in a message */

bool redirect(struct arena *a, const struct http_url *from, const char *location,
              struct http_url *ret, struct error *e)
{
    auto_buf text = BUF(4 * HTTP_URL_MAX); /* http_url_parse() has the exact limit */
    struct http_url to;

    url_resolve(str_of(from->text), str_of(location), &text);
    if (!http_url_parse(a, buf_str(&text), &to, e))
        return error_wrap(e, "redirect to '%.*s'", STR_F(str_upto(str_of(location), SHOWN)));
    if (strcmp(from->scheme, "https") == 0 && strcmp(to.scheme, "http") == 0)
        return error_set(e, ERR_DENIED, "redirect from https to http ('%.*s') is not followed",
                         STR_F(str_upto(str_of(to.text), SHOWN)));
    *ret = to;
    return true;
}
