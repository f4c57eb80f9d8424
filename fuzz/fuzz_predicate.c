/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Any bytes as one predicate, as one atom and as a YAML list of both. What is accepted must be
 * accepted again as it was understood, and every atom must be comparable.
 */
#include <stdlib.h>
#include <string.h>

#include "plugins/predicate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool within(struct str part, struct str whole)
{
    return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void check(const struct predicate *p, struct str whole, unsigned depth)
{
    bool list = p->kind == PRED_NOT || p->kind == PRED_ANY || p->kind == PRED_ALL;

    must(depth <= PREDICATE_MAX_DEPTH && p->text.n && p->name.n);
    must(within(p->text, whole) && within(p->name, p->text) && within(p->arg, p->text));
    must(list == (p->n > 0) && (p->kind != PRED_NOT || p->n == 1));
    must(p->kind != PRED_ENV || p->arg.n);
    must(p->kind != PRED_CUSTOM || predicate_custom_name(p->name, NULL));
    for (size_t i = 0; i < p->n; i++)
        check(p->v[i], p->text, depth + 1);
}

static void try_predicate(struct arena *a, struct str text)
{
    struct error e = { 0 };
    const struct predicate *p = predicate_parse(a, text, &e), *again;
    struct gate gate = { .v = &p, .n = 1 };

    if (!p) {
        must(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
        must(e.msg[0]);
        return;
    }
    check(p, p->text, 1);
    again = predicate_parse(a, p->text, &e);
    must(again && again->kind == p->kind && again->n == p->n && str_eq(again->arg, p->arg));
    must(gate_mentions_dependency(&gate, true) || !gate_mentions_dependency(&gate, false));
}

static void try_atom(struct arena *a, struct str text)
{
    static struct dep list[] = {
        { { "cargo", 5 }, { "serde", 5 }, { "1.0.219", 7 } },
        { { "npm", 3 }, { "@a/b", 4 }, { "2.0.0-rc.1", 10 } },
        { { "cargo", 5 }, { "x", 1 }, { "*", 1 } },
    };
    static const struct deps deps = { .v = list, .n = 3 };
    struct error e = { 0 };
    struct atom atom, again;

    if (!atom_parse(a, text, &atom, &e)) {
        must(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
        must(e.msg[0]);
        return;
    }
    must(atom_parse(a, atom.text, &again, &e) && str_eq(again.name, atom.name));
    must(atom_matches(&atom, &deps) == atom_matches(&again, &deps));
    must(dep_name_eq(atom.pm, atom.name, dep_name_key(a, atom.pm, atom.name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena a = ARENA;
    struct str text = { (const char *)data, size };
    struct strs pieces = { 0 };

    try_predicate(&a, text);
    try_atom(&a, text);
    atom_list_split(&a, text, &pieces);
    for (size_t i = 0; i < pieces.n && i < 100; i++) {
        must(within(pieces.v[i], text));
        try_predicate(&a, pieces.v[i]);
        try_atom(&a, pieces.v[i]);
    }
    return 0;
}
