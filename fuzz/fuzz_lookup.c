/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Lines: the key a script uses, then a server's tool names. Every declared key reaches its own
 * tool, aliases are identifiers and unique, a tool name as written reaches that tool, and no
 * key is ever ambiguous and resolved at once.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "meta/names.h"

#define INPUT_MAX 256 /* the checks are quadratic */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_names(const struct names *n)
{
    struct error e;

    for (size_t i = 0; i < n->n; i++) {
        const struct tool_names *t = &n->v[i];

        must(t->primary.p || t->alias.n);
        if (t->primary.p)
            must(names_resolve(n, t->primary, &e) == t->tool);
        if (!t->alias.n)
            continue;
        must(is_identifier(t->alias));
        must(names_resolve(n, t->alias, &e) == t->tool);
        for (size_t k = 0; k < i; k++)
            must(!str_eq(n->v[k].alias, t->alias) && !str_eq(n->v[k].primary, t->alias));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tool_filter all = { 0 };
    struct str rest = { (const char *)data, size }, line, key;
    auto_buf tools = BUF(64 * INPUT_MAX);
    struct toolset set;
    struct names n;
    struct error e = { 0 };

    if (size > INPUT_MAX || !str_cut(rest, '\n', &key, &rest))
        return 0;
    buf_addc(&tools, '[');
    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        buf_addz(&tools, tools.n > 1 ? ",{\"name\":" : "{\"name\":");
        json_put_str(&tools, more ? line : rest);
        buf_addc(&tools, '}');
    }
    buf_addc(&tools, ']');
    must(toolset_load(&set, buf_str(&tools), &e));
    names_build(&n, &set, &all);
    check_names(&n);
    must(names_resolve(&n, key, &e) || e.msg[0]);
    names_free(&n);
    toolset_free(&set);
    return 0;
}
