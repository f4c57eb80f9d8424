/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sync/config_file.h"

#include "base/path.h"
#include "sync/agent.h"
#include "sync/rewrite.h"
#include "text/toml.h"
#include "text/toml_edit.h"

#define VALUE_MAX ((size_t)64 << 10) /* of one entry */

static const char *const list_keys[] = {
    [CONFIG_AUTO_ENABLE] = "auto-enable",
    [CONFIG_DISABLE] = "disable",
    [CONFIG_USE] = "use",
};

/* What is to be changed; `run` is given the text's tree. */
struct change {
    bool (*run)(const struct change *c, const struct toml_val *root, struct str text,
                struct buf *out, struct error *e);
    struct str agent;
    const char *scope;
    const char *list;
    const struct plugin_ref *ref;
};

static bool edit(void *ctx, struct str text, struct buf *out, struct error *e)
{
    const struct change *c = ctx;
    auto_arena a = ARENA;
    const struct toml_val *root = toml_parse(&a, text, e);

    return root && c->run(c, root, text, out, e);
}

/* A file that does not hold what config_load() accepts is for its user to mend first. */
static bool is_sound(const struct dirs *dirs, struct arena *a, struct error *e)
{
    struct config c;

    config_load(&c, dirs, a);
    return !c.malformed ||
           error_set(e, ERR_INVALID, "%.*s; nothing was written",
                     STR_F(c.warnings.n ? c.warnings.v[0] : STR("config.toml is malformed")));
}

static bool apply(const struct dirs *dirs, struct change c, bool *ret_changed, struct error *e)
{
    auto_arena a = ARENA;
    struct rewrite r = {
        .dirs = dirs,
        .path = path_join(&a, dirs->config, "config.toml"),
        .mode = REWRITE_SECRET_MODE,
        .edit = edit,
        .ctx = &c,
    };
    enum rewrite_end end = REWRITE_SAME;
    bool ok = is_sound(dirs, &a, e) && rewrite_file(&r, &end, NULL, NULL, e);

    if (ret_changed)
        *ret_changed = ok && end == REWRITE_DONE;
    return ok;
}

static bool leave(struct str text, struct buf *out, struct error *e)
{
    buf_add(out, text);
    return buf_ok(out, e);
}

/* ---- agents ---- */

static const struct toml_val *find_agent(const struct toml_val *agents, struct str name)
{
    for (size_t i = 0; i < toml_len(agents); i++)
        if (str_eq(toml_str(toml_get(toml_at(agents, i), "name")), name))
            return toml_at(agents, i);
    return NULL;
}

static bool run_add_agent(const struct change *c, const struct toml_val *root, struct str text,
                          struct buf *out, struct error *e)
{
    const struct toml_val *agents = toml_get(root, "agent");
    auto_buf line = BUF(VALUE_MAX);

    if (find_agent(agents, c->agent))
        return leave(text, out, e);
    if (agents && agents->origin == TOML_VALUE) {
        buf_addf(&line, "{ name = \"%.*s\" }", STR_F(c->agent));
        return toml_edit_append(out, text, EDIT_AT({ "agent" }), buf_str(&line), e);
    }
    buf_addf(&line, "name = \"%.*s\"", STR_F(c->agent));
    buf_addz(&line, str_find(text, STR("\r\n")) == SIZE_MAX ? "\n" : "\r\n");
    return toml_edit_append_table(out, text, EDIT_AT({ "agent" }), buf_str(&line), e);
}

static bool run_remove_agent(const struct change *c, const struct toml_val *root,
                             struct str text, struct buf *out, struct error *e)
{
    const struct toml_val *found = find_agent(toml_get(root, "agent"), c->agent);
    struct edit_step step = { .index = found ? found->pos : 0 };
    auto_buf once = BUF(TOML_MAX_BYTES);
    auto_arena a = ARENA;
    const struct toml_val *again;

    if (!found)
        return leave(text, out, e);
    if (!toml_edit_remove(&once, text, EDIT_AT({ "agent" }, step), e))
        return false;
    again = toml_parse(&a, buf_str(&once), e);
    return again && run_remove_agent(c, again, buf_str(&once), out, e);
}

static bool is_known(struct str name, struct error *e)
{
    auto_arena a = ARENA;

    return agent_find(name) || error_set(e, ERR_INVALID, "unknown agent '%.*s'; known are %s",
                                         STR_F(name), agent_names(&a));
}

bool config_add_agent(const struct dirs *dirs, struct str name, bool *ret_changed,
                      struct error *e)
{
    return is_known(name, e) &&
           apply(dirs, (struct change){ .run = run_add_agent, .agent = name }, ret_changed, e);
}

bool config_remove_agent(const struct dirs *dirs, struct str name, bool *ret_changed,
                         struct error *e)
{
    return is_known(name, e) &&
           apply(dirs, (struct change){ .run = run_remove_agent, .agent = name }, ret_changed,
                 e);
}

/* ---- scope ---- */

static bool run_set_scope(const struct change *c, const struct toml_val *root, struct str text,
                          struct buf *out, struct error *e)
{
    return toml_edit_set(out, text, EDIT_AT({ "hook-scope" }), str_of(c->scope), e);
}

bool config_set_hook_scope(const struct dirs *dirs, bool project, bool *ret_changed,
                           struct error *e)
{
    const char *scope = project ? "\"project\"" : "\"global\"";

    return apply(dirs, (struct change){ .run = run_set_scope, .scope = scope }, ret_changed, e);
}

/* ---- references ---- */

static bool same_place(struct str x, struct str y)
{
    auto_arena a = ARENA;
    const char *real_x, *real_y;

    if (str_eq(x, y) || !x.n || !y.n)
        return str_eq(x, y);
    real_x = path_real(&a, arena_z(&a, x), NULL);
    real_y = path_real(&a, arena_z(&a, y), NULL);
    return real_x && real_y && str_is(str_of(real_x), real_y);
}

static bool is_ref(const struct toml_val *v, const struct plugin_ref *ref)
{
    if (toml_is(v, TOML_STRING))
        return !ref->pm.n && !ref->workspace.n && str_eq(toml_str(v), ref->name);
    return str_eq(toml_str(toml_get(v, "name")), ref->name) &&
           str_eq(toml_str(toml_get(v, "pm")), ref->pm) &&
           same_place(toml_str(toml_get(v, "workspace")), ref->workspace);
}

static const struct toml_val *find_ref(const struct change *c, const struct toml_val *root)
{
    const struct toml_val *list = toml_get(toml_get(root, "plugins"), c->list);

    for (size_t i = 0; i < toml_len(list); i++)
        if (is_ref(toml_at(list, i), c->ref))
            return toml_at(list, i);
    return NULL;
}

static void put_member(struct buf *out, const char *key, struct str value)
{
    if (!value.n)
        return;
    buf_addf(out, ", %s = ", key);
    toml_put_str(out, value);
}

static void put_ref(struct buf *out, const struct plugin_ref *ref)
{
    if (!ref->pm.n && !ref->workspace.n) {
        toml_put_str(out, ref->name);
        return;
    }
    buf_addz(out, "{ name = ");
    toml_put_str(out, ref->name);
    put_member(out, "pm", ref->pm);
    put_member(out, "workspace", ref->workspace);
    buf_addz(out, " }");
}

static bool run_add_ref(const struct change *c, const struct toml_val *root, struct str text,
                        struct buf *out, struct error *e)
{
    auto_buf value = BUF(VALUE_MAX);

    if (find_ref(c, root))
        return leave(text, out, e);
    if (toml_len(toml_get(toml_get(root, "plugins"), c->list)) >= CONFIG_MAX_ITEMS)
        return error_set(e, ERR_LIMIT, "'%s' holds %d entries already", c->list,
                         CONFIG_MAX_ITEMS);
    put_ref(&value, c->ref);
    return buf_ok(&value, e) &&
           toml_edit_append(out, text, EDIT_AT({ "plugins" }, { c->list }), buf_str(&value), e);
}

static bool run_remove_ref(const struct change *c, const struct toml_val *root, struct str text,
                           struct buf *out, struct error *e)
{
    const struct toml_val *found = find_ref(c, root);
    struct edit_step step = { .index = found ? found->pos : 0 };

    if (!found)
        return leave(text, out, e);
    return toml_edit_remove(out, text, EDIT_AT({ "plugins" }, { c->list }, step), e);
}

static bool change_ref(const struct dirs *dirs, struct change c, bool *ret_changed,
                       struct error *e)
{
    if (!c.ref->name.n)
        return error_set(e, ERR_INVALID, "a plugin's name must not be empty");
    return apply(dirs, c, ret_changed, e);
}

bool config_add_ref(const struct dirs *dirs, enum config_list list,
                    const struct plugin_ref *ref, bool *ret_changed, struct error *e)
{
    return change_ref(
        dirs, (struct change){ .run = run_add_ref, .list = list_keys[list], .ref = ref },
        ret_changed, e);
}

bool config_remove_ref(const struct dirs *dirs, enum config_list list,
                       const struct plugin_ref *ref, bool *ret_changed, struct error *e)
{
    return change_ref(
        dirs, (struct change){ .run = run_remove_ref, .list = list_keys[list], .ref = ref },
        ret_changed, e);
}
