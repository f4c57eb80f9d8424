/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/request.h"

/* An array of objects of one shape; the elements, `size` bytes each, go to *ret_v. */
struct shape {
    const char *array;
    size_t size;
    const struct arg *fields;
};

static bool read_objects(struct arena *a, yyjson_val *args, const struct shape *s, void **ret_v,
                         size_t *ret_n, struct error *e)
{
    const struct arg table[] = { { s->array, ARG_ARRAY, 0, 0 }, { 0 } };
    yyjson_val *array = NULL;
    char *v;

    if (!args_read(a, args, table, false, &array, e))
        return false;
    *ret_v = v = arena_array(a, s->size, json_len(array));
    *ret_n = json_len(array);
    for (struct json_iter it = json_iter(array); json_next(&it); v += s->size) {
        if (!json_is_obj(it.val))
            return error_set(e, ERR_INVALID, "%s[%zu]: expected an object, found %s", s->array,
                             it.i - 1, json_type_name(it.val));
        if (!args_read(a, it.val, s->fields, false, v, e))
            return error_wrap(e, "%s[%zu]", s->array, it.i - 1);
    }
    return true;
}

bool request_entities(struct arena *a, yyjson_val *args, struct request *ret, struct error *e)
{
    static const struct arg fields[] = {
        { "name", ARG_STRING, offsetof(struct new_entity, name), 0 },
        { "entityType", ARG_STRING, offsetof(struct new_entity, type), 0 },
        { "observations", ARG_STRINGS, offsetof(struct new_entity, obs), 0 },
        { 0 },
    };
    static const struct shape shape = { "entities", sizeof(struct new_entity), fields };
    void *v;
    bool ok = read_objects(a, args, &shape, &v, &ret->n, e);

    ret->entities = ok ? v : NULL;
    return ok;
}

bool request_relations(struct arena *a, yyjson_val *args, struct request *ret, struct error *e)
{
    static const struct arg fields[] = {
        { "from", ARG_STRING, offsetof(struct triple, from), 0 },
        { "to", ARG_STRING, offsetof(struct triple, to), 0 },
        { "relationType", ARG_STRING, offsetof(struct triple, type), 0 },
        { 0 },
    };
    static const struct shape shape = { "relations", sizeof(struct triple), fields };
    void *v;
    bool ok = read_objects(a, args, &shape, &v, &ret->n, e);

    ret->triples = ok ? v : NULL;
    return ok;
}

static bool read_abouts(struct arena *a, yyjson_val *args, const struct shape *shape,
                        struct request *ret, struct error *e)
{
    void *v;
    bool ok = read_objects(a, args, shape, &v, &ret->n, e);

    ret->abouts = ok ? v : NULL;
    return ok;
}

bool request_observations(struct arena *a, yyjson_val *args, struct request *ret,
                          struct error *e)
{
    static const struct arg fields[] = {
        { "entityName", ARG_STRING, offsetof(struct about, name), 0 },
        { "contents", ARG_STRINGS, offsetof(struct about, obs), 0 },
        { 0 },
    };
    static const struct shape shape = { "observations", sizeof(struct about), fields };

    return read_abouts(a, args, &shape, ret, e);
}

bool request_deletions(struct arena *a, yyjson_val *args, struct request *ret, struct error *e)
{
    static const struct arg fields[] = {
        { "entityName", ARG_STRING, offsetof(struct about, name), 0 },
        { "observations", ARG_STRINGS, offsetof(struct about, obs), 0 },
        { 0 },
    };
    static const struct shape shape = { "deletions", sizeof(struct about), fields };

    return read_abouts(a, args, &shape, ret, e);
}

static bool read_names(struct arena *a, yyjson_val *args, const char *key, struct request *ret,
                       struct error *e)
{
    const struct arg table[] = { { key, ARG_STRINGS, offsetof(struct request, names), 0 },
                                 { 0 } };

    return args_read(a, args, table, false, ret, e);
}

bool request_entity_names(struct arena *a, yyjson_val *args, struct request *ret,
                          struct error *e)
{
    return read_names(a, args, "entityNames", ret, e);
}

bool request_names(struct arena *a, yyjson_val *args, struct request *ret, struct error *e)
{
    return read_names(a, args, "names", ret, e);
}

bool request_query(struct arena *a, yyjson_val *args, struct request *ret, struct error *e)
{
    static const struct arg table[] = {
        { "query", ARG_STRING, offsetof(struct request, query), 0 },
        { 0 },
    };

    return args_read(a, args, table, false, ret, e);
}

bool request_nothing(struct arena *a, yyjson_val *args, struct request *ret, struct error *e)
{
    (void)a, (void)args, (void)ret, (void)e;
    return true;
}
