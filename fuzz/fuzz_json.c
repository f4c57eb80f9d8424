/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Any bytes: a document that writes itself the same way twice, whose numbers agree with
 * themselves and which the JSONC reader takes too, or a message.
 */
#include <math.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "text/json.h"

#define OUT_MAX (64u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_number(yyjson_val *v)
{
    int64_t i;
    double d;

    must(json_num(v, &d) && !isnan(d));
    if (json_int(v, &i))
        must(fabs(d - (double)i) <= fabs(d) * 1e-15);
}

static void check_value(yyjson_val *v)
{
    size_t n = 0;

    if (json_is_num(v))
        check_number(v);
    must(utf8_valid(json_str(v)));
    for (struct json_iter it = json_iter(v); json_next(&it); n++) {
        must(utf8_valid(it.key));
        must(!json_is_obj(v) || json_get_s(v, it.key) != NULL);
        check_value(it.val);
    }
    must(n == json_len(v));
}

static void check_round(const struct json *j, void (*put)(struct buf *, yyjson_val *))
{
    auto_buf once = BUF(OUT_MAX), twice = BUF(OUT_MAX);
    auto_json again = { 0 };

    put(&once, j->root);
    must(json_parse(&again, buf_str(&once), NULL));
    put(&twice, again.root);
    must(!once.over && str_eq(buf_str(&once), buf_str(&twice)));
}

static void check_string(struct str s)
{
    auto_buf b = BUF(OUT_MAX);
    auto_json j = { 0 };

    json_put_str(&b, s);
    must(json_parse(&j, buf_str(&b), NULL));
    must(!utf8_valid(s) || str_eq(json_str(j.root), s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { (const char *)data, size };
    auto_json strict = { 0 }, loose = { 0 };
    struct error e = { 0 };
    bool ok = json_parse(&strict, text, &e);

    check_string(text);
    if (!ok)
        must(e.kind != ERR_NONE && e.msg[0] && utf8_valid(str_of(e.msg)));
    if (json_parse_jsonc(&loose, text, &e))
        check_round(&loose, json_put_val);
    if (!ok)
        return 0;
    must(loose.root != NULL);
    check_value(strict.root);
    check_round(&strict, json_put_val);
    check_round(&strict, json_put_canonical);
    return 0;
}
