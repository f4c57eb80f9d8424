/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Two layers of an embedded manifest, parted by a NUL. What merges is JSON of bounded depth
 * with the keys of both, and merging it with nothing again changes nothing.
 */
#include <stdlib.h>

#include "common/layers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static const struct toml_val *good(struct arena *a, struct str text)
{
    struct error e = { 0 };
    const struct toml_val *v = toml_parse(a, text, &e);

    if (v && layer_check(v, &e))
        return v;
    must(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
    return NULL;
}

static void has_keys(yyjson_val *merged, const struct toml_val *layer)
{
    for (size_t i = 0; i < toml_len(layer); i++)
        must(json_get_s(merged, toml_at(layer, i)->key) != NULL);
}

/* inf and nan are null in JSON, and what is null is absent when it is read. */
static bool is_lossy(const struct toml_val *v)
{
    if (toml_is(v, TOML_FLOAT))
        return true;
    for (size_t i = 0; i < toml_len(v); i++)
        if (is_lossy(toml_at(v, i)))
            return true;
    return false;
}

static void is_stable(struct arena *a, yyjson_val *merged, struct str text)
{
    struct error e = { 0 };
    const struct toml_val *again = toml_from_json(a, merged, &e);
    auto_buf out = BUF(LAYERS_MAX_JSON * 2), third = BUF(LAYERS_MAX_JSON * 2);
    auto_json doc = { 0 };

    must(again && layer_check(again, &e));
    layers_merge(&out, again, NULL);
    must(json_parse(&doc, buf_str(&out), &e));
    layers_merge(&third, toml_from_json(a, doc.root, &e), NULL);
    must(str_eq(buf_str(&out), buf_str(&third)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena a = ARENA;
    auto_buf out = BUF(LAYERS_MAX_JSON);
    auto_json doc = { 0 };
    struct str first = { (const char *)data, size }, second = { 0 };
    const struct toml_val *one, *two;
    struct error e = { 0 };

    str_cut(first, '\0', &first, &second);
    one = good(&a, first);
    two = good(&a, second);
    layers_merge(&out, one, two);
    if (!buf_ok(&out, &e))
        return 0;
    must(json_parse(&doc, buf_str(&out), &e) && json_is_obj(doc.root));
    has_keys(doc.root, one);
    has_keys(doc.root, two);
    if (!is_lossy(one) && !is_lossy(two))
        is_stable(&a, doc.root, buf_str(&out));
    return 0;
}
