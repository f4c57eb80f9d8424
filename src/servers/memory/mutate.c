/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "servers/memory/mutate.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "servers/memory/output.h"

#define NAME_SHOWN_MAX 1000 /* bytes of a name in an error */

static bool no_entity(struct answer *a, struct str name)
{
    return answer_error(a, "Entity with name %.*s not found",
                        STR_F(utf8_cut(name, NAME_SHOWN_MAX)));
}

/* ---- answers ---- */

/* {"<key>":[...]} with the array as text. */
static void array_begin(struct answer *a, const char *key)
{
    buf_addf(&a->structured, "{\"%s\":[", key);
}

static void array_next(struct answer *a)
{
    if (a->structured.n && a->structured.p[a->structured.n - 1] != '[')
        buf_addc(&a->structured, ',');
}

static void array_end(struct answer *a)
{
    size_t from;

    buf_addc(&a->structured, ']');
    from = str_find_char(buf_str(&a->structured), '[');
    output_pretty(&a->text, str_from(buf_str(&a->structured), from));
    buf_addc(&a->structured, '}');
}

static bool deleted(struct answer *a, const char *what)
{
    buf_addf(&a->text, "%s deleted successfully", what);
    buf_addf(&a->structured, "{\"success\":true,\"message\":\"%s\"}", buf_z(&a->text));
    return true;
}

/* ---- create ---- */

bool mutate_create_entities(const struct request *r, struct change *c, struct answer *a)
{
    array_begin(a, "entities");
    for (size_t i = 0; i < r->n; i++) {
        const struct new_entity *in = &r->entities[i];
        const struct entity *e =
            change_add_entity(c, in->name, in->type, (struct strings){ in->obs.v, in->obs.n });

        if (!e)
            continue;
        array_next(a);
        output_entity(&a->structured, e);
    }
    array_end(a);
    return true;
}

bool mutate_create_relations(const struct request *r, struct change *c, struct answer *a)
{
    array_begin(a, "relations");
    for (size_t i = 0; i < r->n; i++) {
        const struct triple *t = &r->triples[i];
        const struct relation *made = change_add_relation(c, t);

        if (!made)
            continue;
        if (!change_find(c, t->from))
            return no_entity(a, t->from);
        if (!change_find(c, t->to))
            return no_entity(a, t->to);
        array_next(a);
        output_relation(&a->structured, made);
    }
    array_end(a);
    return true;
}

/* ---- observations ---- */

/* An entity that the call names, perhaps several times. */
struct touched {
    const struct entity *e;
    struct {
        struct str *v;
        size_t n, cap;
    } obs;            /* as they will be */
    struct index set; /* of obs; or of those to delete */
};

struct touches {
    struct {
        struct touched **v;
        size_t n, cap;
    } all;
    struct index by_name;
};

static struct touched *touch(struct touches *t, const struct entity *e)
{
    size_t at = INDEX_FIRST;
    struct touched *one;

    while ((one = index_next(&t->by_name, e->hash, &at)))
        if (one->e == e)
            return one;
    one = NEW(struct touched);
    one->e = e;
    VEC_PUSH(&t->all) = one;
    index_put(&t->by_name, e->hash, one);
    return one;
}

static void touches_free(struct touches *t)
{
    for (size_t i = 0; i < t->all.n; i++) {
        free(t->all.v[i]->obs.v);
        index_free(&t->all.v[i]->set);
        free(t->all.v[i]);
    }
    free(t->all.v);
    index_free(&t->by_name);
}

static void set_put(struct index *set, struct str *s)
{
    uint64_t hash = str_hash(*s);

    if (!index_find_str(set, hash, *s))
        index_put(set, hash, s);
}

static bool set_has(const struct index *set, struct str s)
{
    return index_find_str(set, str_hash(s), s) != NULL;
}

static void start_from_stored(struct touched *t)
{
    for (size_t i = 0; i < t->e->nobs; i++) {
        VEC_PUSH(&t->obs) = t->e->obs[i];
        set_put(&t->set, &t->e->obs[i]);
    }
}

/* What was stored before this item is left out; what it repeats itself is not (ME-18). */
static void add_about(struct touched *t, const struct about *in, struct answer *a)
{
    size_t before = t->obs.n;

    if (!before && !t->set.n)
        start_from_stored(t);
    before = t->obs.n;
    for (size_t i = 0; i < in->obs.n; i++)
        if (!set_has(&t->set, in->obs.v[i]))
            VEC_PUSH(&t->obs) = in->obs.v[i];
    for (size_t i = 0; i < in->obs.n; i++)
        set_put(&t->set, &in->obs.v[i]);
    array_next(a);
    buf_addz(&a->structured, "{\"entityName\":");
    json_put_str(&a->structured, in->name);
    buf_addz(&a->structured, ",\"addedObservations\":");
    output_strings(&a->structured, t->obs.n ? t->obs.v + before : NULL, t->obs.n - before);
    buf_addc(&a->structured, '}');
}

bool mutate_add_observations(const struct request *r, struct change *c, struct answer *a)
{
    struct touches touches = { 0 };
    const struct entity *e = NULL;

    array_begin(a, "results");
    for (size_t i = 0; i < r->n; i++) {
        e = change_find(c, r->abouts[i].name);
        if (!e) {
            no_entity(a, r->abouts[i].name);
            break;
        }
        add_about(touch(&touches, e), &r->abouts[i], a);
    }
    if (r->n == 0 || e) {
        for (size_t i = 0; i < touches.all.n; i++) {
            struct touched *t = touches.all.v[i];
            size_t stored = t->e->nobs;

            if (t->obs.n > stored)
                change_set_observations(
                    c, t->e, (struct strings){ t->obs.v, stored },
                    (struct strings){ t->obs.v + stored, t->obs.n - stored });
        }
        array_end(a);
    }
    touches_free(&touches);
    return !a->is_error;
}

bool mutate_delete_observations(const struct request *r, struct change *c, struct answer *a)
{
    struct touches touches = { 0 };

    for (size_t i = 0; i < r->n; i++) {
        const struct about *in = &r->abouts[i];
        const struct entity *e = change_find(c, in->name);
        struct touched *t = e ? touch(&touches, e) : NULL;

        for (size_t k = 0; t && k < in->obs.n; k++)
            set_put(&t->set, &in->obs.v[k]);
    }
    for (size_t i = 0; i < touches.all.n; i++) {
        struct touched *t = touches.all.v[i];

        for (size_t k = 0; k < t->e->nobs; k++)
            if (!set_has(&t->set, t->e->obs[k]))
                VEC_PUSH(&t->obs) = t->e->obs[k];
        if (t->obs.n < t->e->nobs)
            change_set_observations(c, t->e, (struct strings){ t->obs.v, t->obs.n },
                                    (struct strings){ 0 });
    }
    touches_free(&touches);
    return deleted(a, "Observations");
}

/* ---- delete ---- */

bool mutate_delete_entities(const struct request *r, struct change *c, struct answer *a)
{
    change_delete_entities(c, (struct strings){ r->names.v, r->names.n });
    return deleted(a, "Entities");
}

bool mutate_delete_relations(const struct request *r, struct change *c, struct answer *a)
{
    change_delete_relations(c, r->triples, r->n);
    return deleted(a, "Relations");
}
