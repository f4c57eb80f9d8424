/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The public toml-test corpus: every file that a TOML 1.0.0 parser must accept is compared,
 * value by value, with the tagged JSON beside it, and every file it must reject is rejected.
 * Skipped by name where the corpus is absent.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "text/toml.h"

#define SKIPPED 77

static const char *corpus_dir(struct arena *a)
{
    const char *shared = getenv("SYMPOSIUM_SHARED");

    return path_join(a, shared && *shared ? shared : "../shared", "data/toml-test/tests");
}

static bool same(const struct toml_val *v, yyjson_val *want);

/* The expected text of a number, date or time is read by the same parser, then compared by
 * value. */
static bool same_scalar(const struct toml_val *v, struct str text)
{
    auto_arena a = ARENA;
    const struct toml_val *w;

    w = toml_get(toml_parse(&a, str_of(arena_printf(&a, "x = %.*s", STR_F(text))), NULL), "x");
    if (v->kind == TOML_FLOAT && w && w->kind == TOML_INT)
        return v->f == (double)w->i;
    if (!w || w->kind != v->kind)
        return false;
    switch (v->kind) {
    case TOML_INT:
        return v->i == w->i;
    case TOML_FLOAT:
        return v->f == w->f || (isnan(v->f) && isnan(w->f));
    case TOML_BOOL:
        return v->b == w->b;
    default:
        return memcmp(&v->time, &w->time, sizeof v->time) == 0;
    }
}

static bool same_tagged(const struct toml_val *v, struct str type, struct str text)
{
    static const struct {
        const char *name;
        enum toml_kind kind;
    } types[] = {
        { "string", TOML_STRING },
        { "integer", TOML_INT },
        { "float", TOML_FLOAT },
        { "bool", TOML_BOOL },
        { "datetime", TOML_OFFSET_DATETIME },
        { "datetime-local", TOML_LOCAL_DATETIME },
        { "date-local", TOML_LOCAL_DATE },
        { "time-local", TOML_LOCAL_TIME },
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(type, types[i].name))
            return v->kind == types[i].kind &&
                   (v->kind == TOML_STRING ? str_eq(v->s, text) : same_scalar(v, text));
    return false;
}

static bool is_tagged(yyjson_val *v)
{
    return json_is_obj(v) && json_len(v) == 2 && json_is_str(json_get(v, "type")) &&
           json_is_str(json_get(v, "value"));
}

static bool same(const struct toml_val *v, yyjson_val *want)
{
    size_t i = 0;

    if (!v)
        return false;
    if (is_tagged(want))
        return same_tagged(v, json_str(json_get(want, "type")),
                           json_str(json_get(want, "value")));
    if (v->kind != (json_is_obj(want) ? TOML_TABLE : TOML_ARRAY) ||
        toml_len(v) != json_len(want))
        return false;
    for (struct json_iter it = json_iter(want); json_next(&it); i++)
        if (!same(json_is_obj(want) ? toml_get_s(v, it.key) : toml_at(v, i), it.val))
            return false;
    return true;
}

static bool must_reject(struct str text, const char *path)
{
    auto_arena a = ARENA;
    struct error e = { 0 };

    if (!toml_parse(&a, text, &e))
        return true;
    printf("accepted: %s\n", path);
    return false;
}

static bool must_accept(struct str text, const char *path)
{
    auto_arena a = ARENA;
    auto_buf expected = BUF(1 << 20);
    auto_json j = { 0 };
    struct error e = { 0 };
    struct toml_val *root = toml_parse(&a, text, &e);
    char *json = arena_printf(&a, "%.*sjson", (int)strlen(path) - 4, path);

    if (root && file_read(json, &expected, &e) && json_parse(&j, buf_str(&expected), &e) &&
        same(root, j.root))
        return true;
    printf("wrong: %s: %s\n", path, root ? "another value" : e.msg);
    return false;
}

static bool check(struct arena *a, const char *dir, struct str name)
{
    auto_buf text = BUF(TOML_MAX_BYTES);
    const char *path = path_join(a, dir, arena_z(a, name));
    struct error e = { 0 };

    if (!file_read(path, &text, &e)) {
        printf("%s\n", e.msg);
        return false;
    }
    return str_starts(name, STR("valid/")) ? must_accept(buf_str(&text), path)
                                           : must_reject(buf_str(&text), path);
}

int main(void)
{
    auto_arena a = ARENA;
    auto_buf list = BUF(1 << 20);
    const char *dir = corpus_dir(&a);
    struct str line, rest;
    int good = 0, bad = 0;

    if (!file_read(path_join(&a, dir, "files-toml-1.0.0"), &list, NULL)) {
        printf("skipped: toml-test corpus is absent (%s)\n", dir);
        return SKIPPED;
    }
    for (rest = buf_str(&list); str_cut(rest, '\n', &line, &rest);) {
        if (!str_ends(line, STR(".toml")))
            continue;
        if (check(&a, dir, line))
            good++;
        else
            bad++;
    }
    printf("toml-test 1.0.0: %d right, %d wrong\n", good, bad);
    return bad || !good;
}
