/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/entry.h"

#include <sys/stat.h>

#include "base/path.h"
#include "sync/document.h"

#define ENTRY_MAX ((size_t)64 << 10) /* of one member's new value */

#define ADDED   "MCP entry added"
#define UPDATED "MCP entry updated"
#define REMOVED "MCP entry removed"

/* ---- commands ---- */

static bool runs_symposium(const struct sync_env *env, struct str command)
{
    auto_arena a = ARENA;
    const char *path = arena_z(&a, command);

    if (!sync_is_ours(path))
        return false;
    if (str_find_char(command, '/') != SIZE_MAX && !path_is_abs(path)) {
        if (!env->root)
            return false;
        path = path_join(&a, env->root, path);
    }
    return path_search(&a, path, env->path ? env->path : "") != NULL;
}

/* ---- what a member should be ---- */

static bool is_right_command(const struct entry *t, yyjson_val *v)
{
    return json_is_str(v) &&
           (str_is(json_str(v), t->command) || runs_symposium(t->env, json_str(v)));
}

static bool are_right_args(const struct entry *t, yyjson_val *v, size_t from)
{
    size_t n = 0;

    while (t->agent->args[n])
        n++;
    if (!json_is_arr(v) || json_len(v) != n + from)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!str_is(json_str(json_at(v, i + from)), t->agent->args[i]))
            return false;
    return true;
}

static void put_args(struct jw *w, const struct entry *t)
{
    for (const char *const *arg = t->agent->args; *arg; arg++)
        jw_strz(w, *arg);
}

/* The value of a member; `there` is what stands there, or NULL. */
static void put_member(struct jw *w, const struct entry *t, const struct sync_shape *m,
                       yyjson_val *there)
{
    const struct key_values *carried = &t->env->carried;

    switch (m->what) {
    case MEMBER_FIXED:
        jw_strz(w, m->text);
        return;
    case MEMBER_COMMAND:
        jw_strz(w, t->command);
        return;
    case MEMBER_ARGS:
        jw_arr(w);
        put_args(w, t);
        jw_end(w);
        return;
    case MEMBER_COMMAND_LINE:
        jw_arr(w);
        if (is_right_command(t, json_at(there, 0)))
            jw_str(w, json_str(json_at(there, 0)));
        else
            jw_strz(w, t->command);
        put_args(w, t);
        jw_end(w);
        return;
    case MEMBER_ENV:
        jw_obj(w);
        for (size_t i = 0; i < carried->n; i++) {
            jw_key_s(w, carried->v[i].key);
            jw_str(w, carried->v[i].value);
        }
        jw_end(w);
        return;
    case MEMBER_TRUE:
        jw_bool(w, true);
        return;
    case MEMBER_TIMEOUT:
        jw_int(w, t->tool_timeout_secs);
        return;
    }
}

static bool is_right(const struct entry *t, const struct sync_shape *m, yyjson_val *there)
{
    switch (m->what) {
    case MEMBER_FIXED:
        return json_is_str(there) && str_is(json_str(there), m->text);
    case MEMBER_COMMAND:
        return is_right_command(t, there);
    case MEMBER_ARGS:
        return are_right_args(t, there, 0);
    case MEMBER_COMMAND_LINE:
        return is_right_command(t, json_at(there, 0)) && are_right_args(t, there, 1);
    case MEMBER_ENV:
    case MEMBER_TRUE:
    case MEMBER_TIMEOUT:
        break;
    }
    return true;
}

/* ---- edits ---- */

/* Several edits one after the other, each on the text that the last one made. */
struct chain {
    enum sync_format format;
    struct buf now, next;
};

static bool chain_set(struct chain *c, struct edit_at at, struct str json, struct error *e)
{
    buf_clear(&c->next);
    if (!document_set(c->format, &c->next, buf_str(&c->now), at, json, e))
        return false;
    buf_swap(&c->now, &c->next);
    return true;
}

static bool add(const struct entry *t, struct chain *c, struct error *e)
{
    const struct agent *g = t->agent;
    auto_buf value = BUF(ENTRY_MAX);
    struct jw w = jw_to(&value);

    jw_obj(&w);
    for (size_t i = 0; i < SHAPE_MAX && g->shape[i].key; i++)
        if (g->shape[i].what != MEMBER_ENV || t->env->carried.n) {
            jw_key(&w, g->shape[i].key);
            put_member(&w, t, &g->shape[i], NULL);
        }
    jw_end(&w);
    return buf_ok(&value, e) &&
           chain_set(c, EDIT_AT({ g->container }, { SYNC_ENTRY }), buf_str(&value), e);
}

static bool set_variables(const struct entry *t, struct chain *c, const struct sync_shape *m,
                          yyjson_val *there, struct error *e)
{
    const struct key_values *carried = &t->env->carried;
    auto_arena a = ARENA;

    for (size_t i = 0; i < carried->n; i++) {
        const struct key_value *kv = &carried->v[i];
        yyjson_val *v = json_get_s(there, kv->key);
        auto_buf value = BUF(ENTRY_MAX);

        if (json_is_str(v) && str_eq(json_str(v), kv->value))
            continue;
        json_put_str(&value, kv->value);
        if (!buf_ok(&value, e) || !chain_set(c,
                                             EDIT_AT({ t->agent->container }, { SYNC_ENTRY },
                                                     { m->key }, { arena_z(&a, kv->key) }),
                                             buf_str(&value), e))
            return false;
    }
    return true;
}

static bool update(const struct entry *t, struct chain *c, yyjson_val *entry, struct error *e)
{
    const struct agent *g = t->agent;

    for (size_t i = 0; i < SHAPE_MAX && g->shape[i].key; i++) {
        const struct sync_shape *m = &g->shape[i];
        yyjson_val *there = json_get(entry, m->key);
        auto_buf value = BUF(ENTRY_MAX);
        struct jw w = jw_to(&value);

        if (m->once || is_right(t, m, there))
            continue;
        put_member(&w, t, m, there);
        if (!buf_ok(&value, e) ||
            !chain_set(c, EDIT_AT({ g->container }, { SYNC_ENTRY }, { m->key }),
                       buf_str(&value), e))
            return false;
    }
    return true;
}

static bool put_all(const struct entry *t, struct chain *c, bool *ret_new, struct error *e)
{
    auto_json j = { 0 };
    yyjson_val *entry;

    if (!document_read(c->format, buf_str(&c->now), &j, e))
        return false;
    entry = json_get(json_get(j.root, t->agent->container), SYNC_ENTRY);
    *ret_new = entry == NULL;
    if (!entry)
        return add(t, c, e);
    if (!update(t, c, entry, e))
        return false;
    for (size_t i = 0; i < SHAPE_MAX && t->agent->shape[i].key; i++) {
        const struct sync_shape *m = &t->agent->shape[i];

        if (m->what == MEMBER_ENV && !set_variables(t, c, m, json_get(entry, m->key), e))
            return false;
    }
    return true;
}

bool sync_entry_put(const struct entry *t, struct str text, struct buf *out,
                    const char **ret_what, struct error *e)
{
    struct chain c = { t->agent->format, BUF(out->max), BUF(out->max) };
    bool is_new, ok;

    *ret_what = NULL;
    buf_add(&c.now, text);
    ok = put_all(t, &c, &is_new, e) && buf_ok(&c.now, e);
    if (ok && !str_eq(buf_str(&c.now), text)) {
        *ret_what = is_new ? ADDED : UPDATED;
        ok = document_same_but(c.format, text, buf_str(&c.now),
                               EDIT_AT({ t->agent->container }, { SYNC_ENTRY }), e);
    }
    if (ok)
        buf_add(out, buf_str(&c.now));
    buf_free(&c.now);
    buf_free(&c.next);
    return ok && buf_ok(out, e);
}

/* ---- taking out ---- */

/* A name alone is not enough to take something away. */
static bool is_ours(yyjson_val *entry)
{
    static const char *const keys[] = { "command", "cmd" };
    auto_arena a = ARENA;

    for (size_t i = 0; i < 2; i++) {
        yyjson_val *v = json_get(entry, keys[i]);
        yyjson_val *args = json_is_arr(v) ? v : json_get(entry, "args");
        size_t first = json_is_arr(v) ? 1 : 0;

        if (sync_is_ours(arena_z(&a, json_str(first ? json_at(v, 0) : v))) ||
            str_is(json_str(json_at(args, first)), "mcp-serve"))
            return true;
    }
    return false;
}

static size_t count_of(struct str text, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == c;
    return n;
}

/* Each comment of the three formats has one of these, and no container's key does. */
static bool has_fewer_comments(struct str text, struct str than)
{
    return count_of(text, '/') < count_of(than, '/') ||
           count_of(text, '#') < count_of(than, '#');
}

/* Appends the text without a container that holds nothing, or as it is. */
static bool drop_empty(const struct entry_place *p, struct str text, struct buf *out,
                       struct error *e)
{
    auto_buf without = BUF(out->max);
    auto_json j = { 0 };
    yyjson_val *of;

    if (!document_read(p->format, text, &j, e))
        return false;
    of = p->container && !p->keeps_container ? json_get(j.root, p->container) : NULL;
    if (json_is_obj(of) && json_len(of) == 0) {
        if (!document_remove(p->format, &without, text, EDIT_AT({ p->container }), e))
            return false;
        if (!has_fewer_comments(buf_str(&without), text))
            text = buf_str(&without);
    }
    buf_add(out, text);
    return buf_ok(&without, e) && buf_ok(out, e);
}

bool sync_entry_take(const struct entry_place *p, struct str text, struct buf *out,
                     const char **ret_what, struct error *e)
{
    struct edit_at at =
        p->container ? EDIT_AT({ p->container }, { SYNC_ENTRY }) : EDIT_AT({ SYNC_ENTRY });
    auto_buf without = BUF(out->max);
    auto_json j = { 0 };
    yyjson_val *of;
    size_t before = out->n;

    *ret_what = NULL;
    if (!document_read(p->format, text, &j, e))
        return false;
    of = p->container ? json_get(j.root, p->container) : j.root;
    if (!is_ours(json_get(of, SYNC_ENTRY))) {
        buf_add(out, text);
        return buf_ok(out, e);
    }
    *ret_what = REMOVED;
    return document_remove(p->format, &without, text, at, e) && buf_ok(&without, e) &&
           drop_empty(p, buf_str(&without), out, e) &&
           document_same_but(p->format, text, str_from(buf_str(out), before), at, e);
}
