/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tasks/service_args.h"

#include "base/mem.h"
#include "base/path.h"

#define SHOWN_KEY 100 /* bytes of a key that a message repeats */

/* ---- fields as a table ---- */

enum field_kind { FIELD_TEXT, FIELD_ID, FIELD_INT, FIELD_BOOL, FIELD_ANY };

struct field {
    const char *name; /* NULL ends a table */
    enum field_kind kind;
    size_t at;        /* offsetof in the caller's struct */
    int64_t min, max; /* of an integer; bytes of a text */
    bool required;
};

/* A text: copied. An integer: int64_t. Any: yyjson_val *, as long as the document. */
#define TEXT(type, member, key, most)                           \
    {                                                           \
        key, FIELD_TEXT, offsetof(type, member), 0, most, false \
    }
#define REQUIRED(type, member, key, most)                      \
    {                                                          \
        key, FIELD_TEXT, offsetof(type, member), 1, most, true \
    }
#define ID(type, member)                                        \
    {                                                           \
        "task_id", FIELD_ID, offsetof(type, member), 0, 0, true \
    }
#define INT(type, member, key, low, high)                        \
    {                                                            \
        key, FIELD_INT, offsetof(type, member), low, high, false \
    }
#define ANY(type, member, key)                              \
    {                                                       \
        key, FIELD_ANY, offsetof(type, member), 0, 0, false \
    }

static bool fail(struct error *e, const char *key, const char *expected)
{
    return error_set(e, ERR_INVALID, "'%s' must be %s", key, expected);
}

static bool read_text(struct arena *a, const struct field *f, yyjson_val *v, struct str *ret,
                      struct error *e)
{
    struct str s = json_str(v);

    if (!json_is_str(v))
        return fail(e, f->name, "a string");
    if (s.n < (size_t)f->min)
        return fail(e, f->name, "a string that is not empty");
    if (s.n > (size_t)f->max)
        return error_set(e, ERR_INVALID, "'%s' has %zu bytes, at most %lld are allowed",
                         f->name, s.n, (long long)f->max);
    *ret = arena_str(a, s);
    return true;
}

/* An id of another form cannot be one of ours: it is looked up all the same, so that the answer
 * is the one of an unknown task. */
static bool read_id(struct arena *a, const char *key, yyjson_val *v, struct str *ret,
                    struct error *e)
{
    if (!json_is_str(v))
        return fail(e, key, "a string");
    *ret = arena_str(a, str_upto(json_str(v), SHOWN_KEY));
    return true;
}

static bool read_field(struct arena *a, const struct field *f, yyjson_val *v, void *at,
                       struct error *e)
{
    switch (f->kind) {
    case FIELD_TEXT:
        return read_text(a, f, v, at, e);
    case FIELD_ID:
        return read_id(a, f->name, v, at, e);
    case FIELD_INT:
        if (json_int(v, at) && *(int64_t *)at >= f->min && *(int64_t *)at <= f->max)
            return true;
        return error_set(e, ERR_INVALID, "'%s' must be an integer from %lld to %lld", f->name,
                         (long long)f->min, (long long)f->max);
    case FIELD_BOOL:
        *(bool *)at = json_is_true(v);
        return json_is_bool(v) || fail(e, f->name, "true or false");
    case FIELD_ANY:
        *(yyjson_val **)at = v;
        return true;
    }
    return false;
}

static const struct field *field_of(const struct field *table, struct str key)
{
    while (table->name && !str_is(key, table->name))
        table++;
    return table->name ? table : NULL;
}

static bool read_fields(struct arena *a, yyjson_val *args, const struct field *table, void *ret,
                        struct error *e)
{
    for (const struct field *f = table; f->name; f++) {
        yyjson_val *v = json_get(args, f->name);

        if (!v && f->required)
            return error_set(e, ERR_INVALID, "'%s' is missing", f->name);
        if (v && !read_field(a, f, v, (char *)ret + f->at, e))
            return false;
    }
    return true;
}

static bool unknown(struct error *e, struct str key)
{
    return error_set(e, ERR_INVALID, "unknown key '%.*s'", STR_F(str_upto(key, SHOWN_KEY)));
}

/* The same, and no other key. */
static bool read_only_fields(struct arena *a, yyjson_val *args, const struct field *table,
                             void *ret, struct error *e)
{
    for (struct json_iter it = json_iter(args); json_next(&it);)
        if (!field_of(table, it.key))
            return unknown(e, it.key);
    return read_fields(a, args, table, ret, e);
}

/* A word of a closed set; `name` gives the words from 0 on, up to `n`. */
struct words {
    const char *(*name)(int i);
    int from, n;
};

static bool read_word(yyjson_val *v, const char *key, const struct words *w, int *ret,
                      struct error *e)
{
    auto_buf all = BUF(1024);

    for (int i = w->from; i < w->n; i++) {
        if (json_is_str(v) && str_is(json_str(v), w->name(i))) {
            *ret = i;
            return true;
        }
        buf_addf(&all, "%s%s", i == w->from ? "" : " ", w->name(i));
    }
    return error_set(e, ERR_INVALID, "'%s' must be one of: %s", key, buf_z(&all));
}

static const char *status_word(int i)
{
    return task_status_name((enum task_status)i);
}

static const char *resolution_word(int i)
{
    return task_resolution_name((enum task_resolution)i);
}

static const char *kind_word(int i)
{
    return task_kind_name((enum task_kind)i);
}

static const char *event_word(int i)
{
    return task_event_name((enum task_event)i);
}

/* ---- spawn_task ---- */

struct spawn_raw {
    struct spawn_args out;
    yyjson_val *options, *labels;
};

/* clang-format off */
static const struct field spawn_fields[] = {
    REQUIRED(struct spawn_raw, out.agent, "agent", TASK_LABEL_MAX),
    REQUIRED(struct spawn_raw, out.prompt, "prompt", TASK_PROMPT_MAX),
    TEXT(struct spawn_raw, out.workspace, "workspace", SERVICE_WORKSPACE_MAX),
    TEXT(struct spawn_raw, out.session_id, "session_id", SERVICE_SESSION_MAX),
    TEXT(struct spawn_raw, out.initiator_id, "initiator_id", TASK_LABEL_MAX),
    TEXT(struct spawn_raw, out.executor_id, "executor_id", TASK_LABEL_MAX),
    TEXT(struct spawn_raw, out.parent_id, "parent_task_id", TASK_LABEL_MAX),
    TEXT(struct spawn_raw, out.key, "idempotency_key", TASK_KEY_MAX),
    INT(struct spawn_raw, out.deadline_s, "deadline_s", 1, SERVICE_DEADLINE_S_MAX),
    INT(struct spawn_raw, out.priority, "priority", -SERVICE_PRIORITY_MAX,
        SERVICE_PRIORITY_MAX),
    INT(struct spawn_raw, out.max_output, "max_output_bytes", SERVICE_OUTPUT_MIN,
        TASK_OUTPUT_MAX),
    { "worktree", FIELD_BOOL, offsetof(struct spawn_raw, out.worktree), 0, 0, false },
    ANY(struct spawn_raw, options, "options"),
    ANY(struct spawn_raw, labels, "labels"),
    { 0 },
};
/* clang-format on */

static bool read_labels(struct arena *a, yyjson_val *v, struct str *ret, struct error *e)
{
    auto_buf out = BUF(SERVICE_OPTIONS_MAX);
    struct jw w = jw_to(&out);

    if (v && !json_is_arr(v))
        return fail(e, "labels", "an array of strings");
    if (json_len(v) > TASK_LABELS)
        return error_set(e, ERR_INVALID, "'labels' has %zu items, at most %d are allowed",
                         json_len(v), TASK_LABELS);
    jw_arr(&w);
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        struct str s = json_str(it.val);

        if (!s.n || s.n > TASK_LABEL_LEN_MAX)
            return error_set(e, ERR_INVALID, "'labels' must hold strings of 1 to %d bytes",
                             TASK_LABEL_LEN_MAX);
        jw_str(&w, s);
    }
    jw_end(&w);
    *ret = arena_str(a, buf_str(&out));
    return true;
}

static bool put_option(struct jw *w, struct str key, yyjson_val *v, bool *follow,
                       struct error *e)
{
    if (str_is(key, "follow")) {
        *follow = json_is_true(v);
        return json_is_bool(v) || fail(e, "follow", "true or false");
    }
    jw_key_s(w, key);
    jw_val(w, v);
    return true;
}

/* Options stand in `options` or at the top level, but not in both (TK-8). Of a key that stands
 * twice in one object the last one counts. */
static bool read_options(struct arena *a, yyjson_val *args, struct spawn_raw *raw,
                         struct error *e)
{
    auto_buf out = BUF(SERVICE_OPTIONS_MAX);
    struct jw w = jw_to(&out);

    if (raw->options && !json_is_obj(raw->options))
        return fail(e, "options", "an object");
    jw_obj(&w);
    for (struct json_iter it = json_iter(raw->options); json_next(&it);)
        if (json_get_s(raw->options, it.key) == it.val &&
            !put_option(&w, it.key, it.val, &raw->out.follow, e))
            return false;
    for (struct json_iter it = json_iter(args); json_next(&it);) {
        if (field_of(spawn_fields, it.key) || json_get_s(args, it.key) != it.val)
            continue;
        if (json_get_s(raw->options, it.key))
            return error_set(e, ERR_INVALID, "'%.*s' stands both in 'options' and beside it",
                             STR_F(str_upto(it.key, SHOWN_KEY)));
        if (!put_option(&w, it.key, it.val, &raw->out.follow, e))
            return false;
    }
    jw_end(&w);
    if (!buf_ok(&out, NULL))
        return error_set(e, ERR_INVALID, "'options' have more than %zu bytes",
                         SERVICE_OPTIONS_MAX);
    raw->out.options = arena_str(a, buf_str(&out));
    return true;
}

static bool check_workspace(struct arena *a, struct str *workspace, struct error *e)
{
    if (!workspace->n)
        return true;
    if (str_find_char(*workspace, '\0') != SIZE_MAX || !path_is_abs(workspace->p))
        return error_set(e, ERR_INVALID, "'workspace' must be an absolute path, not '%.*s'",
                         STR_F(str_upto(*workspace, SHOWN_KEY)));
    *workspace = str_of(path_clean(a, workspace->p));
    return true;
}

bool spawn_args_read(struct spawn_args *ret, struct arena *a, yyjson_val *args, struct error *e)
{
    struct spawn_raw raw = { 0 };

    if (!read_fields(a, args, spawn_fields, &raw, e) || !read_options(a, args, &raw, e) ||
        !read_labels(a, raw.labels, &raw.out.labels, e) ||
        !check_workspace(a, &raw.out.workspace, e))
        return false;
    if (raw.out.parent_id.n && !task_id_valid(raw.out.parent_id))
        return fail(e, "parent_task_id", "the id of a task");
    *ret = raw.out;
    return true;
}

/* ---- of one task ---- */

bool id_args_read(struct str *ret_id, struct arena *a, yyjson_val *args, struct error *e)
{
    static const struct field fields[] = { { "task_id", FIELD_ID, 0, 0, 0, true }, { 0 } };

    return read_only_fields(a, args, fields, ret_id, e);
}

bool cancel_args_read(struct cancel_args *ret, struct arena *a, yyjson_val *args,
                      struct error *e)
{
    static const struct field fields[] = {
        ID(struct cancel_args, id),
        TEXT(struct cancel_args, reason, "reason", SERVICE_REASON_MAX),
        { 0 },
    };

    *ret = (struct cancel_args){ 0 };
    return read_only_fields(a, args, fields, ret, e);
}

bool resolve_args_read(struct resolve_args *ret, struct arena *a, yyjson_val *args,
                       struct error *e)
{
    struct raw {
        struct str id, note;
        yyjson_val *resolution;
    } raw = { 0 };
    static const struct field fields[] = {
        ID(struct raw, id),
        TEXT(struct raw, note, "note", TASK_NOTE_MAX),
        { "resolution", FIELD_ANY, offsetof(struct raw, resolution), 0, 0, true },
        { 0 },
    };
    static const struct words words = { resolution_word, TASK_ACCEPTED, TASK_SUPERSEDED + 1 };
    int word = 0;

    if (!read_only_fields(a, args, fields, &raw, e) ||
        !read_word(raw.resolution, "resolution", &words, &word, e))
        return false;
    *ret = (struct resolve_args){ raw.id, raw.note, (enum task_resolution)word };
    return true;
}

static bool read_types(yyjson_val *v, uint32_t *ret, struct error *e)
{
    static const struct words words = { event_word, 0, TASK_EVENTS };
    int type = 0;

    if (v && (!json_is_arr(v) || !json_len(v)))
        return fail(e, "types", "an array of types of events");
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        if (!read_word(it.val, "types", &words, &type, e))
            return false;
        *ret |= 1u << type;
    }
    return true;
}

bool events_args_read(struct events_query *ret, struct arena *a, yyjson_val *args,
                      struct error *e)
{
    struct raw {
        struct str id;
        int64_t after, limit, max_bytes;
        yyjson_val *types;
    } raw = { .limit = SERVICE_EVENTS, .max_bytes = SERVICE_EVENT_BYTES };
    static const struct field fields[] = {
        ID(struct raw, id),
        INT(struct raw, after, "after_seq", 0, SERVICE_SEQ_MAX),
        INT(struct raw, limit, "limit", 1, LEDGER_EVENTS_MAX),
        INT(struct raw, max_bytes, "max_bytes", 1, SERVICE_EVENT_BYTES_MAX),
        ANY(struct raw, types, "types"),
        { 0 },
    };

    *ret = (struct events_query){ 0 };
    if (!read_only_fields(a, args, fields, &raw, e) || !read_types(raw.types, &ret->types, e))
        return false;
    ret->id = raw.id;
    ret->after = raw.after;
    ret->limit = (int)raw.limit;
    ret->max_bytes = (size_t)raw.max_bytes;
    return true;
}

bool list_args_read(struct list_query *ret, struct arena *a, yyjson_val *args, struct error *e)
{
    struct raw {
        struct str workspace, label, initiator_id, cursor;
        int64_t limit;
        yyjson_val *status, *kind;
    } raw = { .limit = SERVICE_LIST };
    static const struct field fields[] = {
        TEXT(struct raw, workspace, "workspace", SERVICE_WORKSPACE_MAX),
        TEXT(struct raw, label, "label", TASK_LABEL_LEN_MAX),
        TEXT(struct raw, initiator_id, "initiator_id", TASK_LABEL_MAX),
        TEXT(struct raw, cursor, "cursor", SERVICE_CURSOR_MAX),
        INT(struct raw, limit, "limit", 1, LEDGER_LIST_MAX),
        ANY(struct raw, status, "status"),
        ANY(struct raw, kind, "kind"),
        { 0 },
    };
    static const struct words statuses = { status_word, 0, TASK_CANCELLED + 1 };
    static const struct words kinds = { kind_word, 0, TASK_AGENT + 1 };

    *ret = (struct list_query){ .status = -1, .kind = -1 };
    if (!read_only_fields(a, args, fields, &raw, e) ||
        (raw.status && !read_word(raw.status, "status", &statuses, &ret->status, e)) ||
        (raw.kind && !read_word(raw.kind, "kind", &kinds, &ret->kind, e)) ||
        !check_workspace(a, &raw.workspace, e))
        return false;
    ret->workspace = raw.workspace;
    ret->label = raw.label;
    ret->initiator_id = raw.initiator_id;
    ret->cursor = raw.cursor;
    ret->limit = (int)raw.limit;
    return true;
}

/* ---- wait_tasks ---- */

struct wait_raw {
    yyjson_val *ids, *mode, *until, *after;
    int64_t timeout_s;
};

static const char *mode_word(int i)
{
    return i ? "all" : "any";
}

static const char *until_word(int i)
{
    return i ? "event" : "terminal";
}

static bool read_choice(yyjson_val *v, const char *key, const char *(*name)(int i), bool *ret,
                        struct error *e)
{
    const struct words words = { name, 0, 2 };
    int i = 0;

    if (v && !read_word(v, key, &words, &i, e))
        return false;
    *ret = i;
    return true;
}

static bool read_ids(struct arena *a, yyjson_val *v, struct wait_args *ret, struct error *e)
{
    if (!json_is_arr(v) || !json_len(v) || json_len(v) > SERVICE_WAIT_IDS)
        return error_set(e, ERR_INVALID, "'task_ids' must be an array of 1 to %d ids",
                         SERVICE_WAIT_IDS);
    ret->ids = ARENA_ARRAY(a, struct str, json_len(v));
    ret->after = ARENA_ARRAY(a, int64_t, json_len(v));
    for (struct json_iter it = json_iter(v); json_next(&it); ret->n++) {
        if (!read_id(a, "task_ids", it.val, &ret->ids[ret->n], e))
            return false;
        ret->after[ret->n] = -1;
    }
    return true;
}

static bool read_after(yyjson_val *v, struct wait_args *ret, struct error *e)
{
    if (v && !json_is_obj(v))
        return fail(e, "after", "an object: task_id to seq");
    for (struct json_iter it = json_iter(v); json_next(&it);) {
        bool found = false;
        int64_t seq;

        if (!json_int(it.val, &seq) || seq < 0)
            return fail(e, "after", "an object: task_id to seq");
        for (size_t i = 0; i < ret->n; i++)
            if (str_eq(ret->ids[i], it.key)) {
                ret->after[i] = seq;
                found = true;
            }
        if (!found)
            return error_set(e, ERR_INVALID, "'after' names '%.*s', which is not in 'task_ids'",
                             STR_F(str_upto(it.key, SHOWN_KEY)));
    }
    return true;
}

bool wait_args_read(struct wait_args *ret, struct arena *a, yyjson_val *args, struct error *e)
{
    static const struct field fields[] = {
        { "task_ids", FIELD_ANY, offsetof(struct wait_raw, ids), 0, 0, true },
        ANY(struct wait_raw, mode, "mode"),
        ANY(struct wait_raw, until, "until"),
        ANY(struct wait_raw, after, "after"),
        INT(struct wait_raw, timeout_s, "timeout_s", 0, SERVICE_WAIT_S_MAX),
        { 0 },
    };
    struct wait_raw raw = { .timeout_s = SERVICE_WAIT_S };

    *ret = (struct wait_args){ 0 };
    if (!read_only_fields(a, args, fields, &raw, e) || !read_ids(a, raw.ids, ret, e) ||
        !read_after(raw.after, ret, e) ||
        !read_choice(raw.mode, "mode", mode_word, &ret->all, e) ||
        !read_choice(raw.until, "until", until_word, &ret->until_event, e))
        return false;
    ret->timeout_s = raw.timeout_s;
    ret->timeout_given = json_get(args, "timeout_s") != NULL;
    return true;
}
