/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "meta/tsref.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define CANONICAL_MAX ((size_t)32 << 20)

void tsref_init(struct tsref *r, yyjson_val *root)
{
    *r = (struct tsref){ .root = root };
}

void tsref_done(struct tsref *r)
{
    map_free(&r->anchors);
}

static void note_anchors(struct tsref *r, yyjson_val *v)
{
    struct str name = json_str(json_get(v, "$anchor"));

    if (name.n && !map_has(&r->anchors, name))
        map_put(&r->anchors, name, v);
    for (struct json_iter it = json_iter(v); json_next(&it);)
        note_anchors(r, it.val);
}

/* One pointer segment with %XX, then ~1 and ~0 decoded (RFC 6901 section 6). */
static struct str decoded(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0, m = 0;

    while (s.n) {
        int byte = str_percent(s);

        p[n++] = byte >= 0 ? (char)byte : s.p[0];
        s = str_from(s, byte >= 0 ? 3 : 1);
    }
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '~' && i + 1 < n && (p[i + 1] == '0' || p[i + 1] == '1'))
            p[m++] = p[++i] == '0' ? '~' : '/';
        else
            p[m++] = p[i];
    }
    return (struct str){ p, m };
}

static yyjson_val *step(yyjson_val *at, struct str key)
{
    int64_t i;

    if (json_is_obj(at))
        return json_get_s(at, key);
    if (json_is_arr(at) && str_to_int(key, 0, INT32_MAX, &i))
        return json_at(at, (size_t)i);
    return NULL;
}

yyjson_val *tsref_find(struct tsref *r, struct arena *a, struct str ref, struct str *ret_name)
{
    yyjson_val *at = r->root;
    struct str rest, segment;

    *ret_name = STR("Root");
    if (!ref.n || ref.p[0] != '#')
        return NULL;
    rest = str_from(ref, 1);
    if (rest.n && rest.p[0] != '/') {
        if (!r->anchors_known)
            note_anchors(r, r->root);
        r->anchors_known = true;
        *ret_name = decoded(a, rest);
        return map_get(&r->anchors, *ret_name);
    }
    while (at && rest.n) {
        rest = str_from(rest, 1);
        if (!str_cut(rest, '/', &segment, &rest)) {
            segment = rest;
            rest = (struct str){ 0 };
        } else {
            rest = (struct str){ rest.p - 1, rest.n + 1 };
        }
        *ret_name = decoded(a, segment);
        at = step(at, *ret_name);
    }
    return at;
}

/* The bodies a definition consists of, each once, in order of discovery. */
struct closure {
    struct tsref *refs;
    struct arena a;
    yyjson_val *v[TSREF_CLOSURE_MAX];
    size_t n;
    bool too_wide;
};

static void add_body(struct closure *c, yyjson_val *v)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i] == v)
            return;
    if (c->n == TSREF_CLOSURE_MAX)
        c->too_wide = true;
    else
        c->v[c->n++] = v;
}

static void add_references(struct closure *c, yyjson_val *v)
{
    struct str name;
    yyjson_val *target = tsref_find(c->refs, &c->a, json_str(json_get(v, "$ref")), &name);

    if (target)
        add_body(c, target);
    for (struct json_iter it = json_iter(v); !c->too_wide && json_next(&it);)
        add_references(c, it.val);
}

uint64_t tsref_closure_hash(struct tsref *r, yyjson_val *schema)
{
    struct closure c = { .refs = r };
    auto_buf text = BUF(CANONICAL_MAX);

    add_body(&c, schema);
    for (size_t i = 0; i < c.n && !c.too_wide; i++)
        add_references(&c, c.v[i]);
    arena_free(&c.a);
    if (c.too_wide && !r->root_hash) {
        json_put_canonical(&text, r->root);
        r->root_hash = str_hash(buf_str(&text)) | 1;
    }
    if (c.too_wide)
        return r->root_hash;
    for (size_t i = 0; i < c.n; i++)
        json_put_canonical(&text, c.v[i]);
    return str_hash(buf_str(&text));
}
