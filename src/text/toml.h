/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * TOML 1.0.0 (toml.io/en/v1.0.0), read into a tree that remembers where each piece stands in
 * the text.
 *
 * One tree serves every settings file: toml_from_json() builds the same tree from JSON (a
 * package manager sends its manifest so, PM-4), and whoever reads a manifest knows only this
 * header. Errors made by toml_fail() and the toml_opt_* accessors begin with "line N: " when
 * the value came from TOML and always name the whole key path.
 *
 * The tree, its strings and its hash indexes live in the arena given to the parser; nothing is
 * freed singly. Members and elements keep the order of the text. Lookups in a table are O(1),
 * so n keys cost O(n).
 *
 * Spans are byte offsets [start, end) into the text as it was given (a byte order mark counts),
 * so that an editor can replace or insert and leave every other byte as it was:
 *
 *     [server.a]          # span: the header; body_end: behind the line of 'list'
 *     host.name = "x"     # 'host' is TOML_DOTTED, its span empty; 'name': stmt at 'host',
 *                         # key_span 'name', span '"x"'
 *     port = 80           # key_span 'port', span '80'; the whole statement: [stmt, span.end)
 *     list = [ 1, 2, ]    # span with brackets; tail behind the last comma
 */
#ifndef SYM_TEXT_TOML_H
#define SYM_TEXT_TOML_H

#include "base/arena.h"
#include "base/error.h"
#include "text/json.h"

#define TOML_MAX_BYTES  (4u << 20) /* of the text */
#define TOML_MAX_DEPTH  128        /* levels of tables and arrays; the root is the first */
#define TOML_MAX_VALUES (1u << 19) /* tables and arrays included */
#define TOML_MAX_NUMBER 1024       /* bytes of one number, date or time as written */

enum toml_kind {
    TOML_STRING,
    TOML_INT,
    TOML_FLOAT,
    TOML_BOOL,
    TOML_OFFSET_DATETIME,
    TOML_LOCAL_DATETIME,
    TOML_LOCAL_DATE,
    TOML_LOCAL_TIME,
    TOML_ARRAY,
    TOML_TABLE,
};

/* How a table or array came to be: what may still be added to it, here and by an editor. */
enum toml_origin {
    TOML_VALUE, /* scalar, [ .. ] or { .. }: closed for good; all that came from JSON */
    TOML_ROOT,
    TOML_HEADER,   /* [t], or one element of an array of tables: [[t]] */
    TOML_TABLES,   /* the array behind [[t]]; has no text of its own */
    TOML_IMPLICIT, /* named only on the way to a longer header; no text of its own */
    TOML_DOTTED,   /* made by a dotted key a.b = v; no text of its own */
};

struct toml_span {
    uint32_t start, end;
};

/* Fields that the kind lacks are 0. A fraction is cut to nanoseconds; second may be 60. */
struct toml_time {
    uint16_t year;
    uint8_t month, day, hour, minute, second;
    uint32_t nanos;
    int16_t offset_min; /* east of UTC; TOML_OFFSET_DATETIME only */
};

/* Children of a table or array; read them with toml_get, toml_at and toml_len. */
struct toml_items {
    struct toml_val **v;
    uint32_t n, cap;
    uint32_t *index; /* tables of more than a few keys: open addressing, number + 1 */
    uint32_t index_cap;
    uint32_t body_end; /* TOML_ROOT, TOML_HEADER: behind the line of its last own statement */
    uint32_t tail;     /* TOML_VALUE arrays: behind the last element or its comma */
};

struct toml_val {
    enum toml_kind kind;
    enum toml_origin origin;
    uint32_t line; /* of the key, or of the value in an array; from 1; 0: not from TOML text */
    uint32_t pos;  /* place among the parent's children, from 0 */
    uint32_t depth;
    struct toml_val *parent;   /* NULL for the root */
    struct str key;            /* decoded; empty for elements */
    struct toml_span key_span; /* its last part as written, quotes included */
    uint32_t stmt;             /* where its whole key, with all dotted parts, begins */
    struct toml_span span;     /* the value; of TOML_HEADER the header; empty without text */
    union {
        struct {
            struct str s;          /* TOML_STRING; date-times: as written */
            struct toml_time time; /* date-times */
        };
        int64_t i;
        double f;
        bool b;
        struct toml_items items; /* arrays, tables */
    };
};

/*
 * Parses the whole text, which is copied. The result is the root table, or NULL: ERR_INVALID
 * "line L, column C: ..." for text that is not TOML 1.0.0, ERR_LIMIT for a ceiling above.
 */
struct toml_val *toml_parse(struct arena *a, struct str text, struct error *e);

/*
 * The same tree from a JSON object. Of duplicate keys the last counts, a null member counts as
 * absent, a null in an array is ERR_INVALID; a number that is a whole 64-bit one is TOML_INT,
 * any other TOML_FLOAT.
 */
struct toml_val *toml_from_json(struct arena *a, yyjson_val *v, struct error *e);

/* Appends the value as JSON; date-times as strings as written, inf and nan as the strings "inf"
 * and "nan". */
void toml_put_json(struct buf *b, const struct toml_val *v);

/* ---- reading; each accepts NULL and other kinds, and then answers "absent" ---- */

struct toml_val *toml_get(const struct toml_val *table, const char *key);
struct toml_val *toml_get_s(const struct toml_val *table, struct str key);
struct toml_val *toml_at(const struct toml_val *v, size_t i); /* NULL past the end */
size_t toml_len(const struct toml_val *v); /* elements or members; 0 otherwise */
bool toml_is(const struct toml_val *v, enum toml_kind kind);
bool toml_is_time(const struct toml_val *v);          /* any of the four date-time kinds */
struct str toml_str(const struct toml_val *v);        /* empty unless a string */
const char *toml_kind_name(const struct toml_val *v); /* "a string" .. "nothing" */

/* Absent keeps *ret and is fine; a wrong kind or range is ERR_INVALID by toml_fail, saying what
 * was expected. */
bool toml_opt_str(const struct toml_val *table, const char *key, struct str *ret,
                  struct error *e);
bool toml_opt_bool(const struct toml_val *table, const char *key, bool *ret, struct error *e);
bool toml_opt_table(const struct toml_val *table, const char *key, struct toml_val **ret,
                    struct error *e);

struct toml_range {
    int64_t min, max;
};
bool toml_opt_int(const struct toml_val *table, const char *key, struct toml_range range,
                  int64_t *ret, struct error *e);

/* The value must be an array and every element of that kind. */
bool toml_opt_array(const struct toml_val *table, const char *key, enum toml_kind of,
                    struct toml_val **ret, struct error *e);

/*
 * The first member that is not in the NULL-terminated list (NULL when all are): the caller
 * words the error, or logs and goes on by asking again from `from`, which moves behind the one
 * returned. Start with *from == 0.
 */
struct toml_val *toml_unknown(const struct toml_val *table, const char *const *known,
                              size_t *from);

/* The known key that was mistyped as `key`; NULL when it is near none. */
const char *toml_meant(struct str key, const char *const *known);

/* ERR_INVALID naming the first unknown member, and the key that it nearly is or all keys known
 * here; true when there is none. */
bool toml_known_only(const struct toml_val *table, const char *const *known, struct error *e);

/* Appends the path of the value, "mcp_servers[1].env"; keys that are not bare are quoted,
 * controls removed. */
void toml_put_path(struct buf *b, const struct toml_val *v);

/* Sets ERR_INVALID "line N: 'path' " + text and returns false; of the root "the document " +
 * text. */
__attribute__((format(printf, 3, 4))) bool toml_fail(struct error *e, const struct toml_val *at,
                                                     const char *fmt, ...);

#endif
