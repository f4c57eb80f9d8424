/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any bytes as an agent's definition, of each vendor: within its bounds, or refused with a
 * reason. The first byte is the vendor and the form. */
#include <stdlib.h>

#include "servers/agents/definition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_whole(const struct agent_def *d)
{
    return d->name.n && d->name.n <= AGENT_NAME_MAX && d->description.n && d->instructions.n &&
           d->model.n && d->base_url.n &&
           (d->env_key.n || agent_url_is_loopback(d->base_url)) && d->max_turns >= 1 &&
           d->max_turns <= AGENT_TURNS_MAX && d->max_tokens >= 1 &&
           d->max_tokens <= AGENT_TOKENS_MAX && d->servers.n <= AGENT_SERVERS_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct key_value models[] = { { STR("sonnet"), STR("m") },
                                         { STR("inherit"), STR("openai/m") } };
    static const struct key_values known = { .v = models, .n = 2 };
    static const struct agent_settings settings = { .models = &known };
    auto_arena a = ARENA;
    struct strs warnings = { 0 };
    struct error e = { 0 };
    struct agent_def d;
    struct agent_source src;
    bool ignored, ok;

    if (!size)
        return 0;
    src = (struct agent_source){ .vendor = (enum agent_vendor)(data[0] & 3),
                                 .toml = data[0] & 4,
                                 .file = "/w/name.md",
                                 .text = { (const char *)data + 1, size - 1 } };
    ok = agent_parse(&a, &src, &settings, &d, &warnings, &ignored, &e);
    if ((!ok && e.kind == ERR_NONE) || (ok && (ignored || !is_whole(&d))) ||
        warnings.n > AGENT_WARNINGS_MAX)
        abort();
    return 0;
}
