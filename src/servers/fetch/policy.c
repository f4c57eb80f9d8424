/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/fetch/policy.h"

#include <string.h>

static bool is_bare_ipv6(const char *spec)
{
    const char *first = strchr(spec, ':');

    return spec[0] != '[' && first && strchr(first + 1, ':');
}

static bool has_port(const char *spec)
{
    const char *end = strrchr(spec, ']');

    return strchr(end ? end : spec, ':') != NULL;
}

bool policy_allow_host(struct policy *p, struct arena *a, const char *spec, struct error *e)
{
    bool bare = is_bare_ipv6(spec);
    struct http_url u;

    /* Written like a URL's host, it must be read like one. */
    if (spec[strcspn(spec, "/?#@\\")] || (!bare && str_ends(str_of(spec), STR(":"))) ||
        !http_url_parse(a, str_of(arena_printf(a, bare ? "http://[%s]/" : "http://%s/", spec)),
                        &u, e))
        return error_set(e, ERR_INVALID, "'%s' is no HOST or HOST:PORT", spec);
    ARENA_PUSH(a, p) = (struct policy_host){
        .host = u.host,
        .written = u.written,
        .port = !bare && has_port(spec) ? u.port : 0,
    };
    return true;
}

bool policy_names(const struct policy *p, const struct http_url *u)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct policy_host *h = &p->v[i];

        if (strcmp(h->host, u->host) == 0 && strcmp(h->written, u->written) == 0 &&
            (!h->port || h->port == u->port))
            return true;
    }
    return false;
}

bool policy_admits(const struct policy *p, const struct netaddr *a)
{
    switch (netaddr_classify(a)) {
    case NETADDR_PUBLIC:
        return true;
    case NETADDR_PRIVATE:
    case NETADDR_LOOPBACK:
    case NETADDR_LINK_LOCAL:
        return p->allow_private;
    case NETADDR_METADATA:
    case NETADDR_RESERVED:
        return false;
    }
    return false;
}
