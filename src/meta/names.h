/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The names under which a server's visible tools are declared and called: one table for
 * declarations and dispatch (MS-25, MS-43, MS-45). Every tool has a primary, its wire name; one
 * that is no identifier also has an alias. Primaries claim names before aliases, clashes get
 * _2, _3. `then` and `toJSON` are declared only as `then_` and `toJSON_`, so that a proxy is
 * never thenable.
 */
#ifndef SYM_META_NAMES_H
#define SYM_META_NAMES_H

#include "base/map.h"
#include "meta/toolset.h"

struct tool_names {
    const struct tool *tool;
    struct str primary; /* wire name; empty for then and toJSON */
    struct str alias;   /* empty: none */
};

struct names {
    struct arena arena;
    struct tool_names *v; /* visible tools in the server's order */
    size_t n;
    size_t hidden;    /* tools the filter took away */
    struct map exact; /* declared key -> struct tool_names */
    struct map loose; /* key without case and non-alphanumerics -> struct names_bucket */
};

void names_build(struct names *ret, const struct toolset *tools,
                 const struct tool_filter *filter);
void names_free(struct names *n);

/* Resolves a key as MS-45 says: exact, else loose with one hit. On failure NULL; *e names all
 * candidates, or the closest match if one is near, says how many tools are hidden, and points
 * to list_tools; the caller puts "server.key: " in front. */
const struct tool *names_resolve(const struct names *n, struct str key, struct error *e);

/* [A-Za-z_$][A-Za-z0-9_$]* */
bool is_identifier(struct str s);

#endif
