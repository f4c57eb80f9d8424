/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the fuzz targets of the span editors share. The input chooses a value, a way and a text:
 *
 *     value   number of steps   one byte a step   text ...
 *
 * An edit gives a text in which only that place differs in meaning, which says there what was
 * wanted, and which the same edit does not change again; or a message, and no byte.
 */
#ifndef SYM_FUZZ_EDIT_CHECK_H
#define SYM_FUZZ_EDIT_CHECK_H

#include <stdlib.h>

#include "base/mem.h"
#include "sync/document.h"

#define EDIT_OUT_MAX ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct edit_case {
    enum sync_format format;
    struct edit_at at;
    struct str value;
    struct str text;
};

typedef bool (*edit_run)(const struct edit_case *c, struct str text, struct buf *out,
                         struct error *e);

static inline void must(bool ok)
{
    if (!ok)
        abort();
}

static inline bool run_set(const struct edit_case *c, struct str text, struct buf *out,
                           struct error *e)
{
    return document_set(c->format, out, text, c->at, c->value, e);
}

static inline bool run_append(const struct edit_case *c, struct str text, struct buf *out,
                              struct error *e)
{
    return document_append(c->format, out, text, c->at, c->value, e);
}

static inline bool run_remove(const struct edit_case *c, struct str text, struct buf *out,
                              struct error *e)
{
    return document_remove(c->format, out, text, c->at, e);
}

/* NULL when it is not there. */
static inline yyjson_val *value_at(const struct edit_case *c, const struct json *j)
{
    yyjson_val *v = j->root;

    for (size_t i = 0; v && i < c->at.n; i++)
        v = json_get(v, c->at.v[i].key);
    return v;
}

static inline void must_equal(yyjson_val *got, struct str want)
{
    auto_json j = { 0 };
    auto_buf a = BUF(EDIT_OUT_MAX), b = BUF(EDIT_OUT_MAX);

    must(got && json_parse(&j, want, NULL));
    json_put_canonical(&a, got);
    json_put_canonical(&b, j.root);
    must(str_eq(buf_str(&a), buf_str(&b)));
}

/* False: the edit was refused. */
static inline bool check_edit(const struct edit_case *c, edit_run run, struct buf *out)
{
    struct error e = { 0 };

    if (!run(c, c->text, out, &e)) {
        must(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
        must(e.msg[0] && out->n == 0);
        return false;
    }
    must(document_same_but(c->format, c->text, buf_str(out), c->at, &e));
    return true;
}

static inline void check_settled(const struct edit_case *c, edit_run run, struct str text)
{
    auto_buf again = BUF(EDIT_OUT_MAX);

    must(run(c, text, &again, NULL));
    must(str_eq(buf_str(&again), text));
}

static inline void check_set(const struct edit_case *c)
{
    auto_buf out = BUF(EDIT_OUT_MAX);
    auto_json j = { 0 };

    if (!check_edit(c, run_set, &out))
        return;
    must(document_read(c->format, buf_str(&out), &j, NULL));
    must_equal(value_at(c, &j), c->value);
    check_settled(c, run_set, buf_str(&out));
}

static inline void check_append(const struct edit_case *c)
{
    auto_buf out = BUF(EDIT_OUT_MAX);
    auto_json before = { 0 }, after = { 0 };
    size_t n;

    if (!check_edit(c, run_append, &out))
        return;
    must(document_read(c->format, c->text, &before, NULL));
    must(document_read(c->format, buf_str(&out), &after, NULL));
    n = json_len(value_at(c, &before));
    must(json_len(value_at(c, &after)) == n + 1);
    must_equal(json_at(value_at(c, &after), n), c->value);
}

static inline void check_remove(const struct edit_case *c)
{
    auto_buf out = BUF(EDIT_OUT_MAX);
    auto_json j = { 0 };

    if (!check_edit(c, run_remove, &out))
        return;
    must(document_read(c->format, buf_str(&out), &j, NULL));
    must(!value_at(c, &j));
    check_settled(c, run_remove, buf_str(&out));
}

static inline int fuzz_edits(enum sync_format format, const uint8_t *data, size_t size)
{
    static const char *const keys[] = { "a", "b", "m", "s", "x y", "", "a.b", "\xc3\xbc" };
    static const char *const values[] = {
        "\"v\"",
        "true",
        "7",
        "[\"p\",\"q\"]",
        "{\"c\":\"x\",\"d\":[\"y\"],\"e\":{\"f\":\"z\"}}",
        "\"a: #b\\\"\\\\\\n\"",
        "\"\"",
        "[]",
    };
    struct edit_step steps[4] = { 0 };
    struct edit_case c = { .format = format, .at = { steps, 1 } };
    auto_json j = { 0 };

    if (size < 6)
        return 0;
    c.value = str_of(values[data[0] % ARRAY_LEN(values)]);
    c.at.n = 1 + data[1] % ARRAY_LEN(steps);
    for (size_t i = 0; i < c.at.n; i++)
        steps[i].key = keys[data[2 + i] % ARRAY_LEN(keys)];
    c.text = (struct str){ (const char *)data + 6, size - 6 };
    if (!document_read(format, c.text, &j, NULL))
        return 0;
    check_set(&c);
    if (format != SYNC_YAML)
        check_append(&c);
    check_remove(&c);
    return 0;
}

#endif
