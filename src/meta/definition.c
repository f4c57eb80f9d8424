/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/definition.h"

static void copy_strs(struct arena *a, struct strs *to, const struct strs *from)
{
    *to = (struct strs){ 0 };
    for (size_t i = 0; i < from->n; i++)
        ARENA_PUSH(a, to) = arena_str(a, from->v[i]);
}

static void copy_pairs(struct arena *a, struct key_values *to, const struct key_values *from)
{
    for (size_t i = 0; i < from->n; i++)
        ARENA_PUSH(a, to) =
            (struct key_value){ arena_str(a, from->v[i].key), arena_str(a, from->v[i].value) };
}

struct active_server definition_copy(struct arena *a, const struct active_server *s)
{
    struct active_server copy = {
        .name = arena_str(a, s->name),
        .path = arena_str(a, s->path),
        .cwd = arena_str(a, s->cwd),
        .startup_timeout_ms = s->startup_timeout_ms,
        .tool_call_timeout_ms = s->tool_call_timeout_ms,
        .plan = install_plan_copy(a, &s->plan),
        .nprogram = s->nprogram,
        .url = arena_str(a, s->url),
        .sse = s->sse,
        .private_addresses = s->private_addresses,
        .proxy_url = arena_str(a, s->proxy_url),
        .ca_file = arena_str(a, s->ca_file),
    };

    copy_strs(a, &copy.argv, &s->argv);
    copy_pairs(a, &copy.env, &s->env);
    copy_pairs(a, &copy.headers, &s->headers);
    return copy;
}

static bool same_list(const struct str *x, size_t xn, const struct str *y, size_t yn)
{
    bool same = xn == yn;

    for (size_t i = 0; same && i < xn; i++)
        same = str_eq(x[i], y[i]);
    return same;
}

/* An installation is the same before and after it was acquired: the plan says what it is. */
static bool same_argv(const struct active_server *x, const struct active_server *y)
{
    size_t i = x->nprogram, k = y->nprogram;

    return install_plan_same(&x->plan, &y->plan) && (i != 0) == (k != 0) &&
           same_list(x->argv.v + i, x->argv.n - i, y->argv.v + k, y->argv.n - k);
}

static bool same_pairs(const struct key_values *x, const struct key_values *y)
{
    bool same = x->n == y->n;

    for (size_t i = 0; same && i < x->n; i++)
        same = str_eq(x->v[i].key, y->v[i].key) && str_eq(x->v[i].value, y->v[i].value);
    return same;
}

bool definition_same(const struct active_server *x, const struct active_server *y)
{
    return str_eq(x->name, y->name) && str_eq(x->cwd, y->cwd) && str_eq(x->path, y->path) &&
           same_pairs(&x->env, &y->env) && same_argv(x, y) && str_eq(x->url, y->url) &&
           x->sse == y->sse && x->private_addresses == y->private_addresses &&
           str_eq(x->proxy_url, y->proxy_url) && str_eq(x->ca_file, y->ca_file) &&
           same_pairs(&x->headers, &y->headers);
}

struct tool_filter filter_copy(struct arena *a, const struct server_def *def, bool read_only)
{
    struct strs enabled, disabled;

    copy_strs(a, &enabled, &def->enabled_tools);
    copy_strs(a, &disabled, &def->disabled_tools);
    return (struct tool_filter){
        .has_enabled = def->has_enabled_tools,
        .enabled = enabled.v,
        .nenabled = enabled.n,
        .disabled = disabled.v,
        .ndisabled = disabled.n,
        .read_only = read_only,
    };
}

bool filter_same(const struct tool_filter *x, const struct tool_filter *y)
{
    return x->has_enabled == y->has_enabled && x->read_only == y->read_only &&
           same_list(x->enabled, x->nenabled, y->enabled, y->nenabled) &&
           same_list(x->disabled, x->ndisabled, y->disabled, y->ndisabled);
}
