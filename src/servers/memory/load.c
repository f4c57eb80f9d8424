/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * From the text of the file to a graph (ME-3). A line as we and the TypeScript server write it
 * is read in place, its strings are slices of the text; any other goes through the JSON parser.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "servers/memory/graph.h"
#include "text/json.h"

#define REPLACEMENT STR("\xef\xbf\xbd")

struct loader {
    struct graph *g;
    struct {
        struct str *v;
        size_t n, cap;
    } obs; /* of the entity being read */
    struct buf scratch;
    const char *why; /* of the last failure */
};

/* ---- lines in the usual form ---- */

/* A place in the text; p == NULL once something did not match. */
struct cursor {
    const char *p, *end;
};

static bool eat(struct cursor *c, struct str literal)
{
    if (!c->p || (size_t)(c->end - c->p) < literal.n ||
        memcmp(c->p, literal.p, literal.n) != 0) {
        c->p = NULL;
        return false;
    }
    c->p += literal.n;
    return true;
}

/* A string without escapes. */
static struct str eat_plain(struct cursor *c)
{
    const char *start;

    if (!eat(c, STR("\"")))
        return (struct str){ 0 };
    start = c->p;
    for (const char *p = start; p < c->end && (unsigned char)*p >= ' ' && *p != '\\'; p++) {
        if (*p == '"') {
            c->p = p + 1;
            return (struct str){ start, (size_t)(p - start) };
        }
    }
    c->p = NULL;
    return (struct str){ 0 };
}

static struct str *take_obs(struct loader *l)
{
    struct str *v = ARENA_ARRAY(&l->g->arena, struct str, l->obs.n);

    if (l->obs.n)
        memcpy(v, l->obs.v, l->obs.n * sizeof *v);
    return v;
}

static bool eat_observations(struct loader *l, struct cursor *c)
{
    l->obs.n = 0;
    if (!eat(c, STR(",\"observations\":[")))
        return false;
    while (c->p < c->end && *c->p != ']') {
        struct str s;

        if (l->obs.n && !eat(c, STR(",")))
            return false;
        s = eat_plain(c);
        if (!c->p)
            return false;
        VEC_PUSH(&l->obs) = s;
    }
    return eat(c, STR("]}"));
}

static void add_entity(struct loader *l, const struct entity *values, struct str source)
{
    uint64_t hash = str_hash(values->name);
    struct entity *e;

    if (graph_entity(l->g, hash, values->name)) {
        VEC_PUSH(&l->g->kept) =
            (struct kept){ .line = source, .name = values->name, .hash = hash };
        return;
    }
    e = ARENA_NEW(&l->g->arena, struct entity);
    *e = *values;
    e->hash = hash;
    e->nobs = l->obs.n;
    e->obs = take_obs(l);
    graph_add_entity(l->g, e);
}

static void add_relation(struct loader *l, const struct relation *values)
{
    struct relation *r = ARENA_NEW(&l->g->arena, struct relation);

    *r = *values;
    r->from_hash = str_hash(r->from);
    r->to_hash = str_hash(r->to);
    graph_add_relation(l->g, r);
}

/* The bytes of the object at the front of s, which was added; 0: it has another form. */
static size_t read_usual(struct loader *l, struct str s)
{
    struct cursor entity = { s.p, s.p + s.n }, relation = entity;

    if (eat(&entity, STR("{\"type\":\"entity\",\"name\":"))) {
        struct entity e = { .name = eat_plain(&entity) };

        eat(&entity, STR(",\"entityType\":"));
        e.type = eat_plain(&entity);
        if (!eat_observations(l, &entity))
            return 0;
        e.line = str_upto(s, (size_t)(entity.p - s.p));
        add_entity(l, &e, e.line);
        return e.line.n;
    }
    if (eat(&relation, STR("{\"type\":\"relation\",\"from\":"))) {
        struct relation r = { .from = eat_plain(&relation) };

        eat(&relation, STR(",\"to\":"));
        r.to = eat_plain(&relation);
        eat(&relation, STR(",\"relationType\":"));
        r.type = eat_plain(&relation);
        if (!eat(&relation, STR("}")))
            return 0;
        r.line = str_upto(s, (size_t)(relation.p - s.p));
        add_relation(l, &r);
        return r.line.n;
    }
    return 0;
}

/* ---- any other form ---- */

/* Of the object at the front of s, by its brackets and strings alone; 0: it does not end. */
static size_t object_length(struct str s)
{
    size_t depth = 0;
    bool inside = false;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (inside) {
            i += c == '\\';
            inside = c != '"';
        } else if (c == '"') {
            inside = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (--depth == 0)
                return i + 1;
        }
    }
    return 0;
}

/* The members of ours; of a repeated one the last counts. */
struct fields {
    yyjson_val *type, *name, *entity_type, *observations, *from, *to, *relation_type;
};

static yyjson_val **field_of(struct fields *f, struct str key, bool entity)
{
    if (str_is(key, "type"))
        return &f->type;
    if (entity)
        return str_is(key, "name")           ? &f->name
               : str_is(key, "entityType")   ? &f->entity_type
               : str_is(key, "observations") ? &f->observations
                                             : NULL;
    return str_is(key, "from")           ? &f->from
           : str_is(key, "to")           ? &f->to
           : str_is(key, "relationType") ? &f->relation_type
                                         : NULL;
}

static struct fields fields_of(yyjson_val *obj, bool entity)
{
    struct fields f = { 0 };

    for (struct json_iter it = json_iter(obj); json_next(&it);) {
        yyjson_val **at = field_of(&f, it.key, entity);

        if (at)
            *at = it.val;
    }
    return f;
}

/* The members that are not ours, each with a comma before it. */
static struct str extra_of(struct loader *l, yyjson_val *obj, bool entity)
{
    struct fields f;

    buf_clear(&l->scratch);
    for (struct json_iter it = json_iter(obj); json_next(&it);) {
        if (field_of(&f, it.key, entity))
            continue;
        buf_addc(&l->scratch, ',');
        json_put_str(&l->scratch, it.key);
        buf_addc(&l->scratch, ':');
        json_put_val(&l->scratch, it.val);
    }
    return l->scratch.n ? arena_str(&l->g->arena, buf_str(&l->scratch)) : (struct str){ 0 };
}

static bool read_observations(struct loader *l, yyjson_val *v)
{
    l->obs.n = 0;
    if (!v || json_is_null(v))
        return true;
    if (!json_is_arr(v))
        return false;
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        if (!json_is_str(it.val))
            return false;
        VEC_PUSH(&l->obs) = arena_str(&l->g->arena, json_str(it.val));
    }
    return true;
}

/*
 * The line to keep for a record that was read from `source`: in the usual form, so that other
 * programs can read it. With fields that are not ours, or with half a surrogate pair, which no
 * string of ours can hold, it stays as it is.
 */
static struct str line_for(struct loader *l, struct str source, bool has_extra)
{
    struct str made = buf_str(&l->scratch);
    bool halves = (str_find(source, STR("\\ud")) != SIZE_MAX ||
                   str_find(source, STR("\\uD")) != SIZE_MAX) &&
                  str_find(made, REPLACEMENT) != SIZE_MAX;

    if (has_extra || halves || str_eq(made, source))
        return source;
    return arena_str(&l->g->arena, made);
}

static bool read_entity(struct loader *l, yyjson_val *obj, struct str source)
{
    struct fields f = fields_of(obj, true);
    struct entity e = { 0 };

    l->why = "is an entity without a string 'name', a string 'entityType' or an array of "
             "strings 'observations'";
    if (!json_is_str(f.name) || !json_is_str(f.entity_type) ||
        !read_observations(l, f.observations))
        return false;
    e.name = arena_str(&l->g->arena, json_str(f.name));
    e.type = arena_str(&l->g->arena, json_str(f.entity_type));
    e.extra = extra_of(l, obj, true);
    e.obs = l->obs.v;
    e.nobs = l->obs.n;
    buf_clear(&l->scratch);
    entity_put_line(&l->scratch, &e);
    e.line = line_for(l, source, e.extra.n && json_is_arr(f.observations));
    add_entity(l, &e, source);
    return true;
}

static bool read_relation(struct loader *l, yyjson_val *obj, struct str source)
{
    struct fields f = fields_of(obj, false);
    struct relation r = { 0 };
    bool has_extra = extra_of(l, obj, false).n > 0;

    l->why = "is a relation without the strings 'from', 'to' and 'relationType'";
    if (!json_is_str(f.from) || !json_is_str(f.to) || !json_is_str(f.relation_type))
        return false;
    r.from = arena_str(&l->g->arena, json_str(f.from));
    r.to = arena_str(&l->g->arena, json_str(f.to));
    r.type = arena_str(&l->g->arena, json_str(f.relation_type));
    buf_clear(&l->scratch);
    relation_put_line(&l->scratch, &r);
    r.line = line_for(l, source, has_extra);
    add_relation(l, &r);
    return true;
}

static size_t read_any(struct loader *l, struct str s)
{
    size_t n = s.p[0] == '{' ? object_length(s) : 0;
    struct str source = str_upto(s, n), type;
    auto_json j = { 0 };
    bool ok = true;

    l->why = s.p[0] == '{' ? "is cut off" : "is not a JSON object";
    if (!n)
        return 0;
    l->why = "is not valid JSON";
    if (!json_parse(&j, source, NULL))
        return 0;
    type = json_str(fields_of(j.root, true).type);
    if (str_is(type, "entity"))
        ok = read_entity(l, j.root, source);
    else if (str_is(type, "relation"))
        ok = read_relation(l, j.root, source);
    else
        VEC_PUSH(&l->g->kept) = (struct kept){ .line = source };
    return ok ? n : 0;
}

/* ---- the text ---- */

/* Objects glued together, as a writer leaves them that forgot a newline, are all read; from the
 * first that cannot be, the rest of the line is bad. */
static void read_line(struct loader *l, struct str line, size_t number)
{
    l->why = "is longer than 16 MiB";
    if (line.n > MEMORY_LINE_MAX) {
        VEC_PUSH(&l->g->bad) = (struct bad_line){ number, line, l->why };
        return;
    }
    l->why = "is not UTF-8";
    if (!utf8_valid(line)) {
        VEC_PUSH(&l->g->bad) = (struct bad_line){ number, line, l->why };
        return;
    }
    while ((line = str_trim(line)).n) {
        size_t n = read_usual(l, line);

        if (!n)
            n = read_any(l, line);
        if (!n) {
            VEC_PUSH(&l->g->bad) = (struct bad_line){ number, line, l->why };
            return;
        }
        line = str_from(line, n);
    }
}

struct graph *graph_load(char *text, size_t n)
{
    struct loader l = { .g = NEW(struct graph), .scratch = BUF(4 * MEMORY_LINE_MAX) };
    struct str rest = utf8_skip_bom((struct str){ text, n }), line;

    l.g->text = text;
    for (size_t number = 1; str_next(&rest, '\n', &line); number++)
        read_line(&l, line, number);
    free(l.obs.v);
    buf_free(&l.scratch);
    return l.g;
}
