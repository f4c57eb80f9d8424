/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * JSON, read and written. The only module that knows yyjson; elsewhere `yyjson_val *` is a
 * read-only view used through the json_* accessors below.
 *
 * Reading (security.md 3.1): one scan before parsing checks strict UTF-8 and depth <=
 * JSON_MAX_DEPTH and turns a lone \udXXX escape into \ufffd. Of duplicate keys the last one
 * counts. Numbers keep their text in every document ("raw"), so ids and pass-through values are
 * exact; json_int() and json_num() interpret them.
 *
 * Every accessor accepts NULL (absent) and values of another type, and then answers "absent".
 */
#ifndef SYM_TEXT_JSON_H
#define SYM_TEXT_JSON_H

#include <yyjson.h>

#include "base/arena.h"
#include "base/buf.h"

#define JSON_MAX_DEPTH 128

/* A parsed document; owns all its values. */
struct json {
    yyjson_doc *doc;
    yyjson_val *root;
};

/* Parses the whole text (copied first). ERR_INVALID names byte offset, line and column, and
 * what is wrong; ERR_LIMIT, in the same form, is for the depth. *ret is empty on failure. */
bool json_parse(struct json *ret, struct str text, struct error *e);

/* The same, accepting // and block comments and trailing commas (agents' JSONC files). */
bool json_parse_jsonc(struct json *ret, struct str text, struct error *e);

void json_free(struct json *j);
void json_cleanup(struct json *j);
#define auto_json __attribute__((cleanup(json_cleanup))) struct json

/* ---- reading ---- */

yyjson_val *json_get(yyjson_val *obj, const char *key); /* last duplicate; NULL when absent */
yyjson_val *json_get_s(yyjson_val *obj, struct str key);
yyjson_val *json_path(yyjson_val *v, const char *dotted); /* "a.b.c"; keys without dots only */
yyjson_val *json_at(yyjson_val *arr, size_t i);           /* O(i) */
size_t json_len(yyjson_val *v);                           /* members or elements; 0 otherwise */

bool json_is_obj(yyjson_val *v);
bool json_is_arr(yyjson_val *v);
bool json_is_str(yyjson_val *v);
bool json_is_num(yyjson_val *v);
bool json_is_bool(yyjson_val *v);
bool json_is_null(yyjson_val *v);
bool json_is_true(yyjson_val *v);
const char *json_type_name(yyjson_val *v); /* "object" ... "nothing", for messages */

struct str json_str(yyjson_val *v); /* empty unless a string */
bool json_bool(yyjson_val *v, bool fallback);

/* An integer that fits; 1.0 and 1e2 count as integers (JSON Schema does so too). */
bool json_int(yyjson_val *v, int64_t *ret);
bool json_num(yyjson_val *v, double *ret); /* 1e400 gives infinity */
struct str json_num_text(yyjson_val *v);   /* the number as written */

/* Absent keeps the default and is fine; wrong is ERR_INVALID naming the key and what was
 * expected. */
bool json_opt_str(yyjson_val *obj, const char *key, struct str *ret, struct error *e);
bool json_opt_bool(yyjson_val *obj, const char *key, bool *ret, struct error *e);
bool json_opt_int(yyjson_val *obj, const char *key, int64_t min, int64_t max, int64_t *ret,
                  struct error *e);

/* for (struct json_iter it = json_iter(v); json_next(&it);) uses it.key (objects; every
 * duplicate is visited) and it.val. it.i counts from 1; it.key_val is the key as a value, NULL
 * in an array. */
struct json_iter {
    yyjson_val *v;
    size_t i, n;
    struct str key;
    yyjson_val *key_val;
    yyjson_val *val;
    yyjson_val *next_;
};
struct json_iter json_iter(yyjson_val *v); /* nothing to visit unless object or array */
bool json_next(struct json_iter *it);

/* ---- writing: straight into a buf, compact, no tree ---- */

void json_put_str(struct buf *b, struct str s); /* quoted; invalid UTF-8 becomes U+FFFD */
void json_put_int(struct buf *b, int64_t n);
void json_put_num(struct buf *b, double d); /* shortest form that reads back; NaN, inf: null */
/* As parsed: order of keys, duplicates and the text of numbers are kept. */
void json_put_val(struct buf *b, yyjson_val *v);
/* Keys sorted bytewise, duplicates resolved. */
void json_put_canonical(struct buf *b, yyjson_val *v);

#define JSON_EQUAL_MAX ((size_t)256 << 20) /* bytes of one of them, canonical */

/* Equal but for the order of keys; of duplicates the last one counts, of a number its text.
 * Absent equals absent alone. False also for what is longer than JSON_EQUAL_MAX. */
bool json_equal(yyjson_val *a, yyjson_val *b);

/*
 * A writer that places commas. Opening and closing must match (asserted). jw_key is for objects
 * only.
 *
 *     struct jw w = jw_to(&out);
 *     jw_obj(&w); jw_key(&w, "id"); jw_int(&w, 7); jw_end(&w);          // {"id":7}
 */
struct jw {
    struct buf *b;
    unsigned depth;
    uint64_t is_obj, has_item; /* one bit a level, JW_MAX_DEPTH levels */
    bool after_key;
};
#define JW_MAX_DEPTH 64

struct jw jw_to(struct buf *b);
void jw_obj(struct jw *w);
void jw_arr(struct jw *w);
void jw_end(struct jw *w); /* closes the innermost */
void jw_key(struct jw *w, const char *key);
void jw_key_s(struct jw *w, struct str key);
void jw_str(struct jw *w, struct str s);
void jw_strz(struct jw *w, const char *z); /* NULL writes null */
void jw_int(struct jw *w, int64_t n);
void jw_num(struct jw *w, double d);
void jw_bool(struct jw *w, bool v);
void jw_null(struct jw *w);
void jw_val(struct jw *w, yyjson_val *v);   /* NULL writes null */
void jw_raw(struct jw *w, struct str json); /* trusted: must be one valid JSON value */
/* key and value in one call, for the commonest kinds */
void jw_kstr(struct jw *w, const char *key, struct str s);
void jw_kstrz(struct jw *w, const char *key, const char *z);
void jw_kint(struct jw *w, const char *key, int64_t n);
void jw_kbool(struct jw *w, const char *key, bool v);

#endif
