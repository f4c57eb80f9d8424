/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The predicate language (docs/spec/plugins.md PL-22), parsed: name(arg), where arg is the raw
 * text between the first "(" and the final ")". Evaluation is in predicate_eval.h.
 *
 *     any(depends-on(cargo:serde>=1,<2), not(env(CI=true)), has_tool(wasm-pack))
 *
 *     PRED_ANY ── PRED_DEPENDS_ON  atom
 *              ├─ PRED_NOT ─ PRED_ENV  arg "CI", value "true"
 *              └─ PRED_CUSTOM  name "has_tool", arg "wasm-pack"
 */
#ifndef SYM_PLUGINS_PREDICATE_H
#define SYM_PLUGINS_PREDICATE_H

#include "plugins/atom.h"

#define PREDICATE_MAX_BYTES ((size_t)64 << 10) /* text of one predicate */
#define PREDICATE_MAX_DEPTH 64                 /* of not, any, all within one another */

enum predicate_kind {
    PRED_DEPENDS_ON,
    PRED_SHELL,
    PRED_PATH_EXISTS,
    PRED_ENV,
    PRED_WORKSPACE_MEMBER,
    PRED_NOT,
    PRED_ANY,
    PRED_ALL,
    PRED_CUSTOM,
};

struct predicate {
    enum predicate_kind kind;
    struct str text;  /* trimmed, as written */
    struct str name;  /* as written: "any", or a custom predicate's */
    struct str arg;   /* trimmed; PRED_ENV: the variable */
    struct str value; /* PRED_ENV with has_value */
    bool has_value;
    struct atom atom;           /* PRED_DEPENDS_ON */
    const struct predicate **v; /* PRED_NOT, PRED_ANY, PRED_ALL: at least one */
    size_t n, cap;
};

/* Copies the text into the arena. NULL: ERR_INVALID, ERR_LIMIT. */
const struct predicate *predicate_parse(struct arena *a, struct str text, struct error *e);

/* PL-15: [A-Za-z][A-Za-z0-9_]*, and no built-in; else ERR_INVALID. */
bool predicate_custom_name(struct str name, struct error *e);

/* PL-21: no atom adds nothing, one adds its predicate, several add any(..) of them. */
bool gate_add_atoms(struct arena *a, struct gate *gate, const struct strs *atoms,
                    struct error *e);

/* Each adds one predicate that must hold (PL-8). */
bool gate_add_predicates(struct arena *a, struct gate *gate, const struct strs *texts,
                         struct error *e);

/*
 * PL-24: whether the gate mentions a dependency, at any depth and whatever it asks of it. A
 * custom predicate counts only where custom_counts (the gate of the plugin itself).
 */
bool gate_mentions_dependency(const struct gate *gate, bool custom_counts);

/* The same over a whole plugin: its own gate, groups, hooks, servers and edges. */
bool plugin_mentions_dependency(const struct plugin *p);

#endif
