/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Any bytes: a tree whose spans, lines and links are sound and that survives a round through
 * JSON, or a message.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool has_text(const struct toml_val *v)
{
    return v->origin == TOML_VALUE || v->origin == TOML_HEADER || v->origin == TOML_ROOT;
}

static void check(const struct toml_val *v, struct str text, bool *odd)
{
    must(v->span.start <= v->span.end && v->span.end <= text.n);
    must(v->key_span.end <= text.n && v->stmt <= text.n);
    must(v->line >= 1 && has_text(v) == (v->span.end > 0 || text.n == 0 || !v->parent));
    *odd |= v->kind == TOML_FLOAT && !isfinite(v->f);
    for (size_t i = 0; i < toml_len(v); i++) {
        const struct toml_val *child = toml_at(v, i);

        must(child->parent == v && child->pos == i && child->line);
        must(v->kind != TOML_TABLE || toml_get_s(v, child->key) == child);
        must(v->origin != TOML_VALUE || child->span.end <= v->span.end);
        check(child, text, odd);
    }
}

static struct toml_val *through_json(struct arena *a, const struct toml_val *v, struct buf *out)
{
    struct error e = { 0 };
    auto_json j = { 0 };
    struct toml_val *again;

    toml_put_json(out, v);
    must(buf_ok(out, &e) && json_parse(&j, buf_str(out), &e));
    again = toml_from_json(a, j.root, &e);
    must(again != NULL);
    return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena a = ARENA;
    auto_buf first = BUF(64 << 20), second = BUF(64 << 20), third = BUF(64 << 20);
    struct str text = { (const char *)data, size };
    struct error e = { 0 };
    struct toml_val *root = toml_parse(&a, text, &e), *copy;
    bool odd = false;

    if (!root) {
        must(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
        must(e.msg[0]);
        return 0;
    }
    check(root, text, &odd);
    if (odd)
        return 0; /* inf and nan become strings, which JSON cannot give back */
    copy = through_json(&a, root, &first);
    copy = through_json(&a, copy, &second);
    toml_put_json(&third, copy);
    must(str_eq(buf_str(&second), buf_str(&third)));
    return 0;
}
