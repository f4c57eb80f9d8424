/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mcp/http_fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"

#define ANNOTATION     "x-mcp-header"
#define SENTINEL_BEGIN STR("=?base64?")
#define SENTINEL_END   STR("?=")

/* ---- values ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_plain(struct str s)
{
    if (s.n && (is_blank(s.p[0]) || is_blank(s.p[s.n - 1])))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c != '\t' && (c < ' ' || c > '~'))
            return false;
    }
    return !(str_starts(s, SENTINEL_BEGIN) && str_ends(s, SENTINEL_END));
}

void http_put_value(struct buf *out, struct str value)
{
    if (is_plain(value)) {
        buf_add(out, value);
        return;
    }
    buf_add(out, SENTINEL_BEGIN);
    base64_put(out, value);
    buf_add(out, SENTINEL_END);
}

/* ---- annotations ---- */

/* RFC 9110, 5.6.2. */
static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_alnum((unsigned char)s.p[i]) && !strchr("!#$%&'*+-.^_`|~", s.p[i]))
            return false;
    return s.n > 0 && !memchr(s.p, '\0', s.n);
}

/* Where in the schema we are: the property names so far. */
struct place {
    const struct place *up;
    struct str name;
    size_t depth;
};

static bool refuse(struct error *why, struct str name, const char *what)
{
    return error_set(why, ERR_INVALID, "its " ANNOTATION " '%.*s' %s",
                     STR_F(str_upto(name, 64)), what);
}

static bool is_taken(const struct tool_params *p, const char *field)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_icase_eq(str_of(p->v[i].field), str_of(field)))
            return true;
    return false;
}

static char **path_of(const struct place *at)
{
    char **path = mem_alloc((at->depth + 1) * sizeof *path);

    for (; at && at->depth; at = at->up)
        path[at->depth - 1] = str_dup(at->name);
    return path;
}

static bool annotated(struct tool_params *ret, yyjson_val *schema, const struct place *at,
                      struct error *why)
{
    yyjson_val *note = json_get(schema, ANNOTATION);
    struct str name = json_str(note), type = json_str(json_get(schema, "type"));
    auto_free char *field = NULL;

    if (!note)
        return true;
    if (!json_is_str(note) || !is_token(name))
        return refuse(why, name, "is no name of a header field");
    if (!at || at->depth == 0)
        return refuse(why, name, "does not belong to a plain property");
    if (!str_is(type, "string") && !str_is(type, "integer") && !str_is(type, "boolean"))
        return refuse(why, name, "is on something else than a string, integer or boolean");
    field = mem_printf("Mcp-Param-%.*s", STR_F(name));
    if (is_taken(ret, field))
        return refuse(why, name, "is used twice");
    if (ret->n == HTTP_PARAMS_MAX)
        return refuse(why, name, "is one too many");
    VEC_PUSH(ret) = (struct tool_param){ take_ptr(&field), path_of(at) };
    return true;
}

/* Members that hold data, not schemas. */
static bool is_data(struct str key)
{
    static const char *const data[] = { "default", "const", "enum", "examples", ANNOTATION };

    for (size_t i = 0; i < ARRAY_LEN(data); i++)
        if (str_is(key, data[i]))
            return true;
    return false;
}

/* `at` is NULL off the chain of "properties", where no annotation may stand. The depth is
 * bounded by that of a document. */
static bool visit(struct tool_params *ret, yyjson_val *v, const struct place *at,
                  struct error *why)
{
    if (json_is_obj(v) && !annotated(ret, v, at, why))
        return false;
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        bool props = json_is_obj(v) && str_is(it.key, "properties") && json_is_obj(it.val);

        if (json_is_obj(v) && is_data(it.key))
            continue;
        if (!props) {
            if (!visit(ret, it.val, NULL, why))
                return false;
            continue;
        }
        for (struct json_iter p = json_iter(it.val); json_next(&p);) {
            struct place here = { at, p.key, at ? at->depth + 1 : 0 };

            if (!visit(ret, p.val, at ? &here : NULL, why))
                return false;
        }
    }
    return true;
}

bool tool_params_read(struct tool_params *ret, yyjson_val *input_schema, struct error *why)
{
    struct place root = { 0 };

    *ret = (struct tool_params){ 0 };
    if (visit(ret, input_schema, &root, why))
        return true;
    tool_params_free(ret);
    return false;
}

void tool_params_free(struct tool_params *p)
{
    for (size_t i = 0; i < p->n; i++) {
        for (char **name = p->v[i].path; *name; name++)
            free(*name);
        free(p->v[i].path);
        free(p->v[i].field);
    }
    free(p->v);
    *p = (struct tool_params){ 0 };
}

bool tool_param_value(const struct tool_param *p, yyjson_val *arguments, struct buf *out)
{
    yyjson_val *v = arguments;
    int64_t n;

    for (char **name = p->path; *name; name++)
        v = json_get(v, *name);
    if (json_is_str(v))
        buf_add(out, json_str(v));
    else if (json_is_bool(v))
        buf_addz(out, json_is_true(v) ? "true" : "false");
    else if (json_int(v, &n))
        buf_addf(out, "%lld", (long long)n);
    else if (json_is_num(v))
        buf_add(out, json_num_text(v));
    else
        return false;
    return true;
}
