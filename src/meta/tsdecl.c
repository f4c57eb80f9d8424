/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/tsdecl.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "meta/tsschema.h"

#define ROOT_REQUIRED_DEPTH 8
#define ALIAS_NAME_SHOWN    200 /* characters of a wire name */
#define DOC_MAX_BYTES       ((size_t)16 << 10)

/* ---- does a tool take parameters, and must it get them? (MS-26) ---- */

static bool takes_parameters(yyjson_val *s)
{
    static const char *const shaping[] = { "properties", "patternProperties",
                                           "required",   "allOf",
                                           "anyOf",      "oneOf" };

    for (size_t i = 0; i < ARRAY_LEN(shaping); i++)
        if (json_len(json_get(s, shaping[i])))
            return true;
    return false;
}

static bool some_required(yyjson_val *s, unsigned depth)
{
    static const char *const choices[] = { "anyOf", "oneOf" };
    bool every;

    if (!json_is_obj(s) || depth > ROOT_REQUIRED_DEPTH)
        return false;
    if (json_len(json_get(s, "required")))
        return true;
    for (struct json_iter it = json_iter(json_get(s, "allOf")); json_next(&it);)
        if (some_required(it.val, depth + 1))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
        yyjson_val *list = json_get(s, choices[i]);

        every = json_len(list) > 0;
        for (struct json_iter it = json_iter(list); every && json_next(&it);)
            every = some_required(it.val, depth + 1);
        if (every)
            return true;
    }
    return false;
}

/* ---- one tool ---- */

struct rendered {
    const struct ts_type *params; /* NULL: takes none */
    bool optional;
    const struct ts_type *result;
};

struct tsdecl {
    struct ts_output types;
    struct arena a;
    enum list_detail detail;
    struct buf *out;
    const struct decl_server *servers;
    size_t n;
    size_t server;      /* under way; n: all done */
    size_t tool;        /* the next one of it */
    struct rendered *r; /* its tools; NULL: not begun */
    bool rendered;      /* all of them: they are being printed */
};

static struct rendered render_tool(struct tsdecl *d, const struct tool *t)
{
    struct ts_budget budget = { .nodes = TS_MAX_NODES };
    yyjson_val *root = ts_resolve_root(t->input);
    struct rendered r = { 0 };

    if (takes_parameters(root)) {
        r.params = d->detail == DETAIL_FULL
                       ? ts_of_schema(&d->types, t->input, t->input, &budget)
                       : ts_word(&d->a, "object");
        r.optional = !some_required(root, 0);
    }
    r.result = t->output ? ts_of_schema(&d->types, json_get(t->raw, "outputSchema"), t->output,
                                        &budget)
                         : ts_word(&d->a, "unknown");
    return r;
}

/* Without shapes: scalars and arrays of them stay, objects are `object` (MS-18). */
static const struct ts_type *summary(struct tsdecl *d, const struct ts_type *t)
{
    switch (t->kind) {
    case TS_WORD:
        return t;
    case TS_ARRAY:
        return t->items.v[0]->kind == TS_WORD ? t : ts_word(&d->a, "unknown");
    case TS_OBJECT:
    case TS_RECORD:
        return ts_word(&d->a, "object");
    case TS_UNION:
    case TS_INTERSECTION:
    case TS_TUPLE:
    case TS_ALIAS:
        return ts_word(&d->a, "unknown");
    }
    return t;
}

static void put_method(struct tsdecl *d, struct str key, const struct rendered *r)
{
    const struct ts_type *result = d->detail == DETAIL_FULL ? r->result : summary(d, r->result);

    buf_addz(d->out, "  ");
    ts_put_key(d->out, key);
    buf_addc(d->out, '(');
    if (r->params) {
        buf_addz(d->out, r->optional ? "params?: " : "params: ");
        ts_print(d->out, r->params, 2);
    }
    buf_addz(d->out, "): Promise<");
    ts_print(d->out, result, 2);
    buf_addz(d->out, ">;\n");
}

static void put_comment(struct tsdecl *d, const struct tool *t)
{
    auto_buf text = BUF(DOC_MAX_BYTES);

    ts_put_doc(&text, t->description, TS_DOC_TOOL_MAX);
    if (t->needs_task)
        buf_addz(&text, text.n ? " (runs only as a task: cannot be called here)"
                               : "Runs only as a task: cannot be called here.");
    if (text.n)
        buf_addf(d->out, "  /** %s */\n", buf_z(&text));
}

static void put_tool(struct tsdecl *d, const struct tool_names *n, const struct rendered *r)
{
    if (d->detail == DETAIL_FULL)
        put_comment(d, n->tool);
    if (n->primary.p)
        put_method(d, n->primary, r);
    if (!n->alias.n)
        return;
    buf_addz(d->out, "  /** Alias for ");
    ts_put_doc(d->out, n->tool->name, ALIAS_NAME_SHOWN);
    buf_addz(d->out, ". */\n");
    put_method(d, n->alias, r);
}

/* ---- one server ---- */

static void put_new_aliases(struct tsdecl *d)
{
    for (size_t i = 0; i < d->types.aliases.n; i++) {
        struct ts_alias *alias = d->types.aliases.v[i];

        if (alias->printed)
            continue;
        alias->printed = true;
        buf_addf(d->out, "type %.*s = ", STR_F(alias->name));
        ts_print(d->out, alias->body, 0);
        buf_addz(d->out, ";\n");
    }
}

static bool is_chosen(const struct decl_server *s, size_t tool)
{
    return !s->chosen || s->chosen[tool];
}

/* All types of a server come before its methods, so it takes two passes. */
static void begin_server(struct tsdecl *d, const struct decl_server *s)
{
    if (d->server)
        buf_addc(d->out, '\n');
    d->r = ARENA_ARRAY(&d->a, struct rendered, s->names->n ? s->names->n : 1);
    d->tool = 0;
    d->rendered = false;
}

static void begin_methods(struct tsdecl *d, const struct decl_server *s)
{
    if (d->detail == DETAIL_FULL)
        put_new_aliases(d);
    buf_addf(d->out, "declare const %.*s: {\n", STR_F(s->global));
    d->tool = 0;
    d->rendered = true;
}

static void end_server(struct tsdecl *d)
{
    buf_addz(d->out, "};\n");
    d->r = NULL;
    d->server++;
}

static void step(struct tsdecl *d)
{
    const struct decl_server *s = &d->servers[d->server];

    if (!d->r)
        begin_server(d, s);
    if (d->tool < s->names->n) {
        size_t i = d->tool++;

        if (is_chosen(s, i) && d->rendered)
            put_tool(d, &s->names->v[i], &d->r[i]);
        else if (is_chosen(s, i))
            d->r[i] = render_tool(d, s->names->v[i].tool);
    } else if (!d->rendered) {
        begin_methods(d, s);
    } else {
        end_server(d);
    }
}

struct tsdecl *tsdecl_new(struct buf *out, const struct decl_server *servers, size_t n,
                          enum list_detail detail, const struct str *globals, size_t nglobals)
{
    struct tsdecl *d = NEW(struct tsdecl);

    d->detail = detail;
    d->out = out;
    d->servers = servers;
    d->n = n;
    ts_output_init(&d->types, &d->a);
    for (size_t i = 0; i < nglobals; i++)
        ts_output_reserve(&d->types, globals[i]);
    return d;
}

bool tsdecl_step(struct tsdecl *d, int64_t until_us)
{
    bool more = d->server < d->n;

    while (more) {
        step(d);
        more = d->server < d->n && !d->out->over;
        if (clock_us() >= until_us)
            break;
    }
    return !more;
}

void tsdecl_free(struct tsdecl *d)
{
    if (!d)
        return;
    ts_output_done(&d->types);
    arena_free(&d->a);
    free(d);
}

void tsdecl_put(struct buf *out, const struct decl_server *servers, size_t n,
                enum list_detail detail, const struct str *globals, size_t nglobals)
{
    struct tsdecl *d = tsdecl_new(out, servers, n, detail, globals, nglobals);

    tsdecl_step(d, INT64_MAX);
    tsdecl_free(d);
}
