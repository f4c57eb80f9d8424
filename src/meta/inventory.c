/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/inventory.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

#define SHOWN_NAME_CHARS 100

/* The tools of one list, under every filter they are looked at through. */
struct shared_tools {
    int refs;
    struct toolset set;
};

static void add_problem(struct inventory *inv, struct str server, const char *before,
                        struct str name, const char *after)
{
    auto_buf clean = BUF(1024);

    utf8_put_clean(&clean, utf8_cut_chars(name, SHOWN_NAME_CHARS));
    ARENA_PUSH(&inv->arena, &inv->problems) = str_of(
        arena_printf(&inv->arena, "%.*s: %s%s%s", STR_F(server), before, buf_z(&clean), after));
}

/* A server that changed all its tools does not fill every reply with it. */
static void add_changes(struct inventory *inv, struct str server)
{
    const struct toolset *set = &inv->tools->set;
    size_t n = 0;

    for (size_t i = 0; i < set->n; i++)
        if (set->v[i].changed && n++ < INVENTORY_CHANGED_SHOWN)
            add_problem(inv, server, "tool ", set->v[i].name, " changed since last seen");
    if (n > INVENTORY_CHANGED_SHOWN)
        ARENA_PUSH(&inv->arena, &inv->problems) =
            str_of(arena_printf(&inv->arena, "%.*s: %zu more tools changed since last seen",
                                STR_F(server), n - INVENTORY_CHANGED_SHOWN));
}

struct inventory *inventory_new(struct str server, struct toolset *tools,
                                const struct inventory *before,
                                const struct tool_filter *filter, struct str note)
{
    struct inventory *inv = NEW(struct inventory);
    struct toolset *set;

    inv->refs = 1;
    inv->tools = NEW(struct shared_tools);
    inv->tools->refs = 1;
    set = &inv->tools->set;
    *set = *tools;
    if (before)
        toolset_mark_changes(set, &before->tools->set);
    names_build(&inv->names, set, filter);
    add_changes(inv, server);
    if (set->bad)
        ARENA_PUSH(&inv->arena, &inv->problems) =
            str_of(arena_printf(&inv->arena, "%.*s: %zu entries of its tool list are no tools",
                                STR_F(server), set->bad));
    if (note.n)
        ARENA_PUSH(&inv->arena, &inv->problems) =
            str_of(arena_printf(&inv->arena, "%.*s: %.*s", STR_F(server), STR_F(note)));
    if (before && before->tools->set.n && !set->n)
        add_problem(inv, server, "lists no tools now, it had some before", (struct str){ 0 },
                    "");
    return inv;
}

struct inventory *inventory_refilter(const struct inventory *inv,
                                     const struct tool_filter *filter)
{
    struct inventory *new = NEW(struct inventory);

    new->refs = 1;
    new->tools = inv->tools;
    new->tools->refs++;
    names_build(&new->names, &inv->tools->set, filter);
    for (size_t i = 0; i < inv->problems.n; i++)
        ARENA_PUSH(&new->arena, &new->problems) = arena_str(&new->arena, inv->problems.v[i]);
    return new;
}

const struct toolset *inventory_tools(const struct inventory *inv)
{
    return &inv->tools->set;
}

struct inventory *inventory_ref(struct inventory *inv)
{
    inv->refs++;
    return inv;
}

void inventory_unref(struct inventory *inv)
{
    if (!inv || --inv->refs)
        return;
    names_free(&inv->names);
    if (--inv->tools->refs == 0) {
        toolset_free(&inv->tools->set);
        free(inv->tools);
    }
    arena_free(&inv->arena);
    free(inv);
}
