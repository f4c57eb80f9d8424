/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/catalog.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

/* clang-format off */
/* What a script finds in its global scope before ours, what every object inherits, and the
 * words of the language (MS-12). */
static const char *const taken_globals[] = {
    "AggregateError", "Array", "ArrayBuffer", "AsyncDisposableStack", "Atomics", "BigInt",
    "BigInt64Array", "BigUint64Array", "Boolean", "DOMException", "DataView", "Date",
    "DisposableStack", "Error", "EvalError", "FinalizationRegistry", "Float16Array",
    "Float32Array", "Float64Array", "Function", "Infinity", "Int16Array", "Int32Array",
    "Int8Array", "InternalError", "Iterator", "JSON", "Map", "Math", "NaN", "Number",
    "Object", "Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp",
    "Set", "SharedArrayBuffer", "String", "SuppressedError", "Symbol", "SyntaxError",
    "TextDecoder", "TextEncoder", "TypeError", "URIError", "URL", "URLSearchParams",
    "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray", "WeakMap", "WeakRef",
    "WeakSet", "__defineGetter__", "__defineSetter__", "__lookupGetter__",
    "__lookupSetter__", "__proto__", "arguments", "atob", "await", "break", "btoa", "case",
    "catch", "class", "clearTimeout", "console", "const", "constructor", "continue",
    "debugger", "decodeURI", "decodeURIComponent", "default", "delete", "do", "else",
    "encodeURI", "encodeURIComponent", "enum", "escape", "eval", "export", "extends",
    "false", "finally", "for", "function", "globalThis", "hasOwnProperty", "if",
    "implements", "import", "in", "instanceof", "interface", "isFinite", "isNaN",
    "isPrototypeOf", "let", "new", "null", "package", "parseFloat", "parseInt", "private",
    "propertyIsEnumerable", "protected", "public", "queueMicrotask", "results", "return",
    "setTimeout", "static", "structuredClone", "super", "switch", "this", "throw",
    "toLocaleString", "toString", "true", "try", "typeof", "undefined", "unescape",
    "valueOf", "var", "void", "while", "with", "yield",
};
/* clang-format on */

static struct str global_base(struct arena *a, struct str name)
{
    char *p = arena_alloc(a, name.n + 2);
    size_t n = 0;

    if (!name.n || ascii_digit(name.p[0]))
        p[n++] = '_';
    for (size_t i = 0; i < name.n; i++)
        p[n++] = ascii_alnum(name.p[i]) ? name.p[i] : '_';
    return (struct str){ p, n };
}

static void assign_globals(struct catalog *c)
{
    struct arena *a = &c->res->arena;
    struct map taken = MAP;

    for (size_t i = 0; i < ARRAY_LEN(taken_globals); i++)
        map_put(&taken, str_of(taken_globals[i]), c);
    for (size_t i = 0; i < c->n; i++) {
        struct str base = global_base(a, c->v[i].name), global = base;

        for (unsigned k = 2; map_has(&taken, global); k++)
            global = str_of(arena_printf(a, "%.*s_%u", STR_F(base), k));
        map_put(&taken, global, c);
        c->v[i].global = c->globals[i] = global;
        if (!str_eq(global, base))
            ARENA_PUSH(a, &c->problems) =
                str_of(arena_printf(a, "%.*s: use the script variable %.*s (%.*s is taken)",
                                    STR_F(c->v[i].name), STR_F(global), STR_F(base)));
    }
    map_free(&taken);
}

static struct backend *backend_for(struct backend_env *env, const struct active_server *def,
                                   const struct catalog *before)
{
    for (size_t i = 0; before && i < before->n; i++) {
        struct backend *b = before->v[i].backend;

        if (backend_same(b, def)) {
            backend_update(b, def);
            return backend_ref(b);
        }
    }
    return backend_new(env, def);
}

struct catalog *catalog_new(struct backend_env *env, struct resolution *res,
                            const struct catalog *before)
{
    struct catalog *c = NEW(struct catalog);
    struct arena *a = &res->arena;

    *c = (struct catalog){
        .refs = 1, .res = res, .n = res->servers.n, .problems = res->problems
    };
    c->v = ARENA_ARRAY(a, struct catalog_server, c->n + 1);
    c->globals = ARENA_ARRAY(a, struct str, c->n + 1);
    for (size_t i = 0; i < c->n; i++) {
        const struct active_server *def = &res->servers.v[i];

        c->v[i] = (struct catalog_server){ backend_for(env, def, before), def->name,
                                           (struct str){ 0 }, def };
    }
    assign_globals(c);
    return c;
}

struct catalog *catalog_ref(struct catalog *c)
{
    c->refs++;
    return c;
}

void catalog_unref(struct catalog *c)
{
    if (!c || --c->refs)
        return;
    for (size_t i = 0; i < c->n; i++)
        backend_unref(c->v[i].backend);
    resolution_free(c->res);
    free(c);
}

const struct catalog_server *catalog_by_global(const struct catalog *c, struct str global)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->v[i].global, global))
            return &c->v[i];
    return NULL;
}

const struct catalog_server *catalog_find(const struct catalog *c, struct str name)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->v[i].name, name))
            return &c->v[i];
    return catalog_by_global(c, name);
}

bool catalog_is_remark(const struct catalog *c, struct str line)
{
    for (size_t i = 0; i < c->res->remarks.n; i++)
        if (str_eq(c->res->remarks.v[i], line))
            return true;
    return false;
}

void catalog_put_problems(const struct catalog *c, void (*line)(void *ctx, struct str text),
                          void *ctx)
{
    for (size_t i = 0; i < c->problems.n; i++)
        line(ctx, c->problems.v[i]);
    for (size_t i = 0; i < c->n; i++)
        backend_put_problems(c->v[i].backend, line, ctx);
}
