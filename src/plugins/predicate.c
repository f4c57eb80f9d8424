/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "plugins/predicate.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define SHOWN 80 /* bytes of a predicate that a message quotes */

typedef bool (*arg_fn)(struct arena *a, struct predicate *p, unsigned depth, struct error *e);

static const struct predicate *parse(struct arena *a, struct str text, unsigned depth,
                                     struct error *e);

static bool bad(struct error *e, struct str text, const char *why)
{
    return error_set(e, ERR_INVALID, "predicate '%.*s': %s", STR_F(utf8_cut(text, SHOWN)), why);
}

/* ---- arguments of the built-ins ---- */

static bool arg_atom(struct arena *a, struct predicate *p, unsigned depth, struct error *e)
{
    return atom_parse(a, p->arg, &p->atom, e) ||
           error_wrap(e, "predicate '%.*s'", STR_F(utf8_cut(p->text, SHOWN)));
}

static bool arg_raw(struct arena *a, struct predicate *p, unsigned depth, struct error *e)
{
    return true;
}

static bool arg_env(struct arena *a, struct predicate *p, unsigned depth, struct error *e)
{
    p->has_value = str_cut(p->arg, '=', &p->arg, &p->value);
    return p->arg.n || bad(e, p->text, "the variable's name is missing");
}

static bool arg_none(struct arena *a, struct predicate *p, unsigned depth, struct error *e)
{
    return !p->arg.n || bad(e, p->text, "takes no argument");
}

static bool add_inner(struct arena *a, struct predicate *p, struct str text, unsigned depth,
                      struct error *e)
{
    const struct predicate *inner = parse(a, text, depth + 1, e);

    if (inner)
        ARENA_PUSH(a, p) = inner;
    return inner != NULL;
}

/* p, q, ...: split at the commas outside of parentheses. */
static bool arg_list(struct arena *a, struct predicate *p, unsigned depth, struct error *e)
{
    size_t start = 0, open = 0;

    if (!p->arg.n)
        return bad(e, p->text, "needs at least one predicate");
    for (size_t i = 0; i < p->arg.n; i++) {
        char c = p->arg.p[i];

        if (c == '(') {
            open++;
        } else if (c == ')' && open-- == 0) {
            return bad(e, p->text, "')' without '('");
        } else if (c == ',' && !open) {
            if (!add_inner(a, p, str_upto(str_from(p->arg, start), i - start), depth, e))
                return false;
            start = i + 1;
        }
    }
    if (open)
        return bad(e, p->text, "'(' without ')'");
    return add_inner(a, p, str_from(p->arg, start), depth, e);
}

static bool arg_one(struct arena *a, struct predicate *p, unsigned depth, struct error *e)
{
    return arg_list(a, p, depth, e) && (p->n == 1 || bad(e, p->text, "takes one predicate"));
}

static bool arg_renamed(struct arena *a, struct predicate *p, unsigned depth, struct error *e)
{
    return bad(e, p->text, "'crate(..)' is now written 'depends-on(..)'");
}

static const struct builtin {
    const char *name;
    enum predicate_kind kind;
    arg_fn arg;
} builtins[] = {
    { "depends-on", PRED_DEPENDS_ON, arg_atom },
    { "shell", PRED_SHELL, arg_raw },
    { "path_exists", PRED_PATH_EXISTS, arg_raw },
    { "env", PRED_ENV, arg_env },
    { "workspace-member", PRED_WORKSPACE_MEMBER, arg_none },
    { "not", PRED_NOT, arg_one },
    { "any", PRED_ANY, arg_list },
    { "all", PRED_ALL, arg_list },
    { "crate", PRED_CUSTOM, arg_renamed },
};

static const struct builtin *find_builtin(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(builtins); i++)
        if (str_is(name, builtins[i].name))
            return &builtins[i];
    return NULL;
}

/* ---- the whole ---- */

static bool is_custom_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!ascii_letter(c) && (i == 0 || (c != '_' && !ascii_digit(c))))
            return false;
    }
    return name.n > 0;
}

bool predicate_custom_name(struct str name, struct error *e)
{
    struct str shown = utf8_cut(name, SHOWN);

    if (find_builtin(name))
        return error_set(e, ERR_INVALID, "predicate '%.*s' is built in", STR_F(shown));
    if (!is_custom_name(name))
        return error_set(e, ERR_INVALID,
                         "predicate name '%.*s' must be a letter, then letters, digits and '_'",
                         STR_F(shown));
    return true;
}

/* name, "(", argument, ")" at the very end. */
static bool take_apart(struct predicate *p, struct error *e)
{
    size_t open = str_find_char(p->text, '(');

    if (open == SIZE_MAX || p->text.p[p->text.n - 1] != ')')
        return bad(e, p->text, "must be written 'name(argument)'");
    p->name = str_upto(p->text, open);
    p->arg = str_from(p->text, open + 1);
    p->arg = str_trim(str_upto(p->arg, p->arg.n - 1));
    return true;
}

/* The text is a slice of what predicate_parse() copied. */
static const struct predicate *parse(struct arena *a, struct str text, unsigned depth,
                                     struct error *e)
{
    struct predicate *p = ARENA_NEW(a, struct predicate);
    const struct builtin *b;

    p->text = str_trim(text);
    if (depth > PREDICATE_MAX_DEPTH) {
        error_set(e, ERR_LIMIT, "predicates within one another deeper than %d",
                  PREDICATE_MAX_DEPTH);
        return NULL;
    }
    if (!p->text.n) {
        error_set(e, ERR_INVALID, "a predicate must not be empty");
        return NULL;
    }
    if (!take_apart(p, e))
        return NULL;
    b = find_builtin(p->name);
    if (b) {
        p->kind = b->kind;
        return b->arg(a, p, depth, e) ? p : NULL;
    }
    p->kind = PRED_CUSTOM;
    if (!is_custom_name(p->name)) {
        bad(e, p->text, "unknown; a name is a letter, then letters, digits and '_'");
        return NULL;
    }
    return p;
}

const struct predicate *predicate_parse(struct arena *a, struct str text, struct error *e)
{
    if (text.n > PREDICATE_MAX_BYTES) {
        error_set(e, ERR_LIMIT, "a predicate of more than %zu bytes", PREDICATE_MAX_BYTES);
        return NULL;
    }
    /* A NUL would cut the command of shell() short without a word. */
    if (text.n && memchr(text.p, '\0', text.n)) {
        bad(e, text, "it holds a NUL byte");
        return NULL;
    }
    return parse(a, arena_str(a, text), 1, e);
}

/* ---- gates ---- */

bool gate_add_atoms(struct arena *a, struct gate *gate, const struct strs *atoms,
                    struct error *e)
{
    struct predicate *any = ARENA_NEW(a, struct predicate);

    any->kind = PRED_ANY;
    any->name = any->text = STR("any");
    for (size_t i = 0; i < atoms->n; i++) {
        struct predicate *p = ARENA_NEW(a, struct predicate);

        if (!atom_parse(a, atoms->v[i], &p->atom, e))
            return false;
        p->kind = PRED_DEPENDS_ON;
        p->name = STR("depends-on");
        p->arg = p->text = p->atom.text;
        ARENA_PUSH(a, any) = p;
    }
    if (any->n)
        ARENA_PUSH(a, gate) = any->n == 1 ? any->v[0] : any;
    return true;
}

bool gate_add_predicates(struct arena *a, struct gate *gate, const struct strs *texts,
                         struct error *e)
{
    for (size_t i = 0; i < texts->n; i++) {
        const struct predicate *p = predicate_parse(a, texts->v[i], e);

        if (!p)
            return false;
        ARENA_PUSH(a, gate) = p;
    }
    return true;
}

/* ---- mentions (PL-24) ---- */

static bool mentions(const struct predicate *p, bool custom_counts)
{
    for (size_t i = 0; i < p->n; i++)
        if (mentions(p->v[i], custom_counts))
            return true;
    return p->kind == PRED_DEPENDS_ON || (custom_counts && p->kind == PRED_CUSTOM);
}

bool gate_mentions_dependency(const struct gate *gate, bool custom_counts)
{
    for (size_t i = 0; i < gate->n; i++)
        if (mentions(gate->v[i], custom_counts))
            return true;
    return false;
}

bool plugin_mentions_dependency(const struct plugin *p)
{
    bool found = gate_mentions_dependency(&p->gate, true);

    for (size_t i = 0; i < p->skills.n; i++)
        found |= gate_mentions_dependency(&p->skills.v[i].gate, false);
    for (size_t i = 0; i < p->hooks.n; i++)
        found |= gate_mentions_dependency(&p->hooks.v[i].gate, false);
    for (size_t i = 0; i < p->servers.n; i++)
        found |= gate_mentions_dependency(&p->servers.v[i].gate, false);
    for (size_t i = 0; i < p->edges.n; i++)
        found |= gate_mentions_dependency(&p->edges.v[i].gate, false);
    return found;
}
