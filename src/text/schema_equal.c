/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "text/schema_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int schema_compare_numbers(yyjson_val *a, yyjson_val *b)
{
    int64_t ai, bi;
    double ad = 0, bd = 0;

    if (json_int(a, &ai) && json_int(b, &bi))
        return (ai > bi) - (ai < bi);
    json_num(a, &ad);
    json_num(b, &bd);
    return (ad > bd) - (ad < bd);
}

static bool equal_numbers(yyjson_val *a, yyjson_val *b)
{
    double d;

    if (str_eq(json_num_text(a), json_num_text(b)))
        return true;
    /* Two different overflows are both infinite, which makes them the same double but not the
     * same number. */
    return schema_compare_numbers(a, b) == 0 && json_num(a, &d) && isfinite(d);
}

static bool equal_arrays(struct check *c, yyjson_val *a, yyjson_val *b)
{
    struct json_iter x = json_iter(a), y = json_iter(b);

    if (json_len(a) != json_len(b))
        return false;
    while (json_next(&x) && json_next(&y)) {
        if (!schema_equal(c, x.val, y.val))
            return false;
    }
    return true;
}

/* Every member of a has its equal in b. Duplicates are compared through json_get_s(), which
 * finds the last. */
static bool within(struct check *c, yyjson_val *a, yyjson_val *b)
{
    for (struct json_iter it = json_iter(a); json_next(&it);) {
        yyjson_val *other;

        if (!schema_spend(c, schema_find_steps(a, it.key) + schema_find_steps(b, it.key)))
            return false;
        other = json_get_s(b, it.key);
        if (!other || !schema_equal(c, json_get_s(a, it.key), other))
            return false;
    }
    return true;
}

/* True also when the work ran out. */
static bool has_duplicates(struct check *c, yyjson_val *obj)
{
    for (struct json_iter it = json_iter(obj); json_next(&it);) {
        if (!schema_spend(c, schema_find_steps(obj, it.key)) ||
            json_get_s(obj, it.key) != it.val)
            return true;
    }
    return false;
}

/* With as many members on both sides and no duplicates, one direction says it all. */
static bool equal_objects(struct check *c, yyjson_val *a, yyjson_val *b)
{
    if (json_len(a) == json_len(b) && !has_duplicates(c, a))
        return within(c, a, b);
    return within(c, a, b) && within(c, b, a);
}

static bool equal_strings(struct check *c, struct str a, struct str b)
{
    return a.n == b.n && schema_spend(c, schema_text_steps(a.n)) && str_eq(a, b);
}

bool schema_equal(struct check *c, yyjson_val *a, yyjson_val *b)
{
    size_t digits = json_num_text(a).n + json_num_text(b).n;

    if (!schema_spend(c, 1 + schema_text_steps(digits)))
        return false;
    if (json_is_obj(a))
        return json_is_obj(b) && equal_objects(c, a, b);
    if (json_is_arr(a))
        return json_is_arr(b) && equal_arrays(c, a, b);
    if (json_is_str(a))
        return json_is_str(b) && equal_strings(c, json_str(a), json_str(b));
    if (json_is_num(a))
        return json_is_num(b) && equal_numbers(a, b);
    if (json_is_bool(a))
        return json_is_bool(b) && json_is_true(a) == json_is_true(b);
    return json_is_null(a) && json_is_null(b);
}

/* ---- unique elements: only those with equal hashes are compared ---- */

struct hashed {
    uint64_t hash;
    yyjson_val *val;
};

static uint64_t hash_word(uint64_t w)
{
    return str_hash((struct str){ (const char *)&w, sizeof w });
}

static uint64_t hash_value(struct check *c, yyjson_val *v);

/* A sum does not depend on the order of members; only the last of duplicates counts. */
static uint64_t hash_object(struct check *c, yyjson_val *v)
{
    uint64_t sum = 1;

    for (struct json_iter it = json_iter(v); json_next(&it);) {
        if (!schema_spend(c, schema_find_steps(v, it.key) + schema_text_steps(it.key.n)))
            break;
        if (json_get_s(v, it.key) == it.val)
            sum += hash_word(str_hash(it.key) ^ hash_value(c, it.val));
    }
    return sum;
}

static uint64_t hash_array(struct check *c, yyjson_val *v)
{
    uint64_t hash = 2;

    for (struct json_iter it = json_iter(v); json_next(&it);)
        hash = hash_word(hash + hash_value(c, it.val));
    return hash;
}

/* Equal numbers have equal doubles, whatever their text. */
static uint64_t hash_number(yyjson_val *v)
{
    double d = 0;
    uint64_t bits;

    json_num(v, &d);
    d += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &d, sizeof bits);
    return hash_word(bits);
}

/* Recursion ends with the value, which is at most JSON_MAX_DEPTH deep. */
static uint64_t hash_value(struct check *c, yyjson_val *v)
{
    if (!schema_spend(c, 1 + schema_text_steps(json_str(v).n + json_num_text(v).n)))
        return 0;
    if (json_is_obj(v))
        return hash_object(c, v);
    if (json_is_arr(v))
        return hash_array(c, v);
    if (json_is_str(v))
        return str_hash(json_str(v));
    if (json_is_num(v))
        return hash_number(v);
    return hash_word(json_is_null(v) ? 3 : json_is_true(v) ? 4 : 5);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = ((const struct hashed *)a)->hash, y = ((const struct hashed *)b)->hash;

    return (x > y) - (x < y);
}

static bool unique_within_hash(struct check *c, const struct hashed *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n && h[k].hash == h[i].hash; k++) {
            if (schema_equal(c, h[i].val, h[k].val))
                return false;
        }
    }
    return true;
}

bool schema_unique(struct check *c, yyjson_val *array)
{
    size_t n = json_len(array), i = 0;
    auto_free struct hashed *h = NULL;

    if (!schema_spend(c, n))
        return true;
    h = mem_alloc(n * sizeof *h);
    for (struct json_iter it = json_iter(array); json_next(&it); i++)
        h[i] = (struct hashed){ hash_value(c, it.val), it.val };
    if (c->unchecked)
        return true;
    qsort(h, n, sizeof *h, compare_hashes);
    return unique_within_hash(c, h, n);
}
