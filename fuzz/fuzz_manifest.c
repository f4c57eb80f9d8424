/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any bytes: a whole plugin or a message. What holds for every accepted one is checked. */
#include <stdlib.h>
#include <string.h>

#include "plugins/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool has_installation(const struct plugin *p, struct str name)
{
    for (size_t i = 0; i < p->installations.n; i++)
        if (str_eq(p->installations.v[i].name, name))
            return true;
    return false;
}

static void check_server(const struct server_def *s)
{
    int ways =
        (s->command.n != 0) + (s->installation.n != 0) + (s->builtin.n != 0) + (s->url.n != 0);

    must(s->name.n && ways == 1 && s->startup_timeout_secs >= 0);
    must(s->url.n ? s->transport != TRANSPORT_STDIO : s->transport == TRANSPORT_STDIO);
    must(!(s->has_enabled_tools && s->disabled_tools.n));
    for (size_t i = 0; i < s->args.n; i++)
        must(!memchr(s->args.v[i].p, '\0', s->args.v[i].n));
}

static void check(const struct plugin *p)
{
    must(p->name.n != 0);
    for (size_t i = 0; i < p->servers.n; i++)
        check_server(&p->servers.v[i]);
    for (size_t i = 0; i < p->hooks.n; i++)
        must(has_installation(p, p->hooks.v[i].command));
    for (size_t i = 0; i < p->predicates.n; i++)
        must(p->predicates.v[i].owner == p && has_installation(p, p->predicates.v[i].command));
    for (size_t i = 0; i < p->skills.n; i++)
        must((p->skills.v[i].path.n != 0) != (p->skills.v[i].git.n != 0));
    for (size_t i = 0; i < p->edges.n; i++)
        must(p->edges.v[i].pm.n && p->edges.v[i].name.n);
}

/* The first byte chooses the origin. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena a = ARENA;
    struct error e = { 0 };
    struct manifest_source src = { .dir = STR("/d"), .fallback_name = STR("f") };
    struct str text = { (const char *)data, size };
    struct plugin *p;

    if (size == 0)
        return 0;
    src.origin = data[0] % 3;
    src.agents_syncing = data[0] & 4;
    p = manifest_parse(&a, str_from(text, 1), &src, &e);
    must(p || e.kind != ERR_NONE);
    if (p)
        check(p);
    return 0;
}
