/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "mcp/http_link.h"

/* "localhost", 127.x in four parts, [::1]. Other spellings of these addresses ("127.1",
 * "2130706433") are how checks are got around, and nobody needs them. */
static bool says_loopback(const struct http_url *u)
{
    struct str written = str_of(u->written);
    struct in_addr four;

    if (str_is(written, "localhost") || str_is(written, "::1") || str_is(written, "[::1]"))
        return true;
    return str_starts(written, STR("127.")) && inet_pton(AF_INET, u->written, &four) == 1;
}

bool mcp_place_read(struct place *p, struct arena *a, const struct mcp_remote *r,
                    struct error *e)
{
    struct netaddr literal;

    if (!http_url_parse(a, str_of(r->url), &p->url, e))
        return error_wrap(e, "'url'");
    p->loopback = says_loopback(&p->url);
    /* Behind a proxy names are its business; addresses, and what is always one, are ours. */
    p->proxied = r->proxy && !p->loopback && !resolve_literal(p->url.host, &literal) &&
                 !resolve_is_localhost(p->url.host);
    if (strcmp(p->url.scheme, "http") == 0 && !p->loopback)
        return error_set(e, ERR_DENIED,
                         "plain http is only for localhost; give 'url' as https");
    return true;
}

bool mcp_place_is_vetted(const struct place *p)
{
    return p->proxied || (p->npins && clock_ms() - p->vetted_ms < MCP_HTTP_VETTED_MS);
}

static bool admits(const struct place *p, const struct mcp_remote *r, const struct netaddr *a)
{
    switch (netaddr_classify(a)) {
    case NETADDR_PUBLIC:
        return !p->loopback;
    case NETADDR_PRIVATE:
        return r->allow_private && !p->loopback;
    case NETADDR_LOOPBACK:
        return p->loopback;
    case NETADDR_LINK_LOCAL:
    case NETADDR_METADATA:
    case NETADDR_RESERVED:
        return false;
    }
    return false;
}

/* One address that may not be reached refuses the name: which one a later lookup would take is
 * not ours to guess. */
bool mcp_place_vet(struct place *p, const struct mcp_remote *r, const struct netaddr *v,
                   size_t n, struct error *e)
{
    char text[NETADDR_TEXT];

    for (size_t i = 0; i < n; i++) {
        if (admits(p, r, &v[i]))
            continue;
        netaddr_text(&v[i], text);
        return error_set(
            e, ERR_DENIED, "'%.100s' leads to %s, an address that %s", p->url.host, text,
            netaddr_classify(&v[i]) == NETADDR_PRIVATE ? "a dependency's plugin may not reach"
                                                       : "no remote server may have");
    }
    free(p->pins);
    p->pins = mem_alloc(n * sizeof *v);
    memcpy(p->pins, v, n * sizeof *v);
    p->npins = n;
    p->vetted_ms = clock_ms();
    return true;
}

void mcp_place_free(struct place *p)
{
    free(take_ptr(&p->pins));
    p->npins = 0;
}
